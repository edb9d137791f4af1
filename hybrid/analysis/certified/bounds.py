"""What signs prove about a box: which sets of modes hold in it, on shares between which bounds, and which verdicts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hybrid.tolerances import SUMMED
from lcp.kernels.compiled import rigorous

__all__ = ["CLOSED_KEYS", "MAX_PATTERNS", "PENETRATING", "SEVERAL", "UNREACHABLE", "NumberedConditions", "bound_boxes"]

Batch = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

SEVERAL = 1 << 60
"""Bit of a set with one label but several solutions."""

PENETRATING = 1 << 61
"""Bit of states in which a contact penetrates."""

UNREACHABLE = 1 << 62
"""Bit of pins that no posture satisfies."""

CLOSED_KEYS = ("INCONSISTENT", "INDETERMINATE", "HYPERSTATIC")
"""Verdicts of which it is asked whether a closed box is without them."""

_MOST_UNKNOWN = 5  # functions without a sign of which all combinations are looked at
MAX_PATTERNS = 1 << _MOST_UNKNOWN
_MOST_ZEROS = 4  # of which also those with zeros are
UNKNOWN = 2
_ROUNDING = SUMMED  # of shares between 0 and 1, from some ten operations
# Numbers of reasons why too little is known of a box: three tell boundaries apart, required clauses are last.
TOO_MANY, WITH_ZEROS, KNOWN, UNDEFINED, NO_POSTURE, AT_BOUNDARY, FIRST_REQUIRED = 1, 2, 3, 4, 5, 6, 9


class NumberedConditions(NamedTuple):
    """Clauses of the modes, as numbers.

    Attributes
    ----------
    required, gates : array of int64
        Clauses that are positive wherever a state exists; gaps.
    labels : array of int64, (modes,)
        Number of the label of each mode.
    modes, roles : array of int64, (modes, c)
        Clauses of each mode: the determinant, the independence of the forces, then directions (role 0), then numerators
        (role 1); -1 behind the last.
    clauses : array of int64, (clauses, 1 + f)
        Sign of each product, and its functions; -1 behind the last.
    same : array of bool, (modes, c, modes)
        Where that clause of a mode vanishes, its solution is also one of the other mode.
    """

    required: Codes
    gates: Codes
    labels: Codes
    modes: Codes
    roles: Codes
    clauses: Codes
    same: Marks


@rigorous
def _write_signs(clauses: Codes, chosen: Codes, signs: Codes, of: Codes) -> None:
    """Signs of some products of functions, ``UNKNOWN`` where one has none."""
    for clause in chosen:
        found = clauses[clause, 0]
        for place in range(1, clauses.shape[1]):
            if clauses[clause, place] < 0:
                break
            sign = signs[clauses[clause, place]]
            if sign == 0:
                found = 0
                break
            found = UNKNOWN if sign == UNKNOWN or found == UNKNOWN else found * sign
        of[clause] = found


@rigorous
def _mode_status(modes: Codes, roles: Codes, mode: int, of: Codes) -> int:
    """1 for a mode whose conditions hold, -1 for one of which one fails, else 0 or ``UNKNOWN``.

    It is 0 where nothing fails and something vanishes, and 3 where its equations are singular and may have a set of
    solutions.
    """
    divisor = of[modes[mode, 0]]
    found, all_vanish, has_load = 1, True, False
    for place in range(2, modes.shape[1]):
        if modes[mode, place] < 0:
            break
        sign = of[modes[mode, place]]
        if roles[mode, place] == 0:
            if sign == -1:
                return -1
        else:
            all_vanish, has_load = all_vanish and sign == 0, has_load or sign in (-1, 1)
            if sign != UNKNOWN and divisor != UNKNOWN:
                sign *= divisor
            elif sign != 0:
                sign = UNKNOWN
            if sign == -1:
                return -1
        if sign == UNKNOWN:
            found = UNKNOWN
        elif sign == 0 and found != UNKNOWN:
            found = 0
    if divisor == 0:
        return 3 if all_vanish else -1 if has_load else UNKNOWN
    return UNKNOWN if divisor == UNKNOWN else found


@rigorous
def _look_for_verdicts(
    modes: Codes,
    roles: Codes,
    clauses: Codes,
    same: Marks,
    alive: Codes,
    open_: Codes,
    unknown: Codes,
    signs: Codes,
    of: Codes,
    room: Codes,
    possible: Marks,
) -> None:
    """Which verdicts a pattern of signs and zeros of the unknown functions admits."""
    weak, group = room[0], room[1]
    for pattern in range(3 ** unknown.shape[0]):
        rest = pattern
        for f in unknown:
            signs[f] = rest % 3 - 1
            rest //= 3
        _write_signs(clauses, open_, signs, of)
        if _has_slip_zero(modes, roles, of):
            possible[:] = True  # another set of modes
        count = 0
        for mode in alive:
            found = _mode_status(modes, roles, mode, of)
            if found == 3:
                possible[1] = True
                possible[2] = possible[2] or of[modes[mode, 1]] == 0
            if found in (0, 1):
                weak[count] = mode
                count += 1
        if count == 0:
            possible[0] = True
        if count > 1 and _n_solutions(modes, same, of, weak, group, count) > 1:
            possible[1] = True


@rigorous
def _has_slip_zero(modes: Codes, roles: Codes, of: Codes) -> bool:
    found = False
    for mode in range(modes.shape[0]):
        for place in range(2, modes.shape[1]):
            found = found or (roles[mode, place] == 0 and of[modes[mode, place]] == 0)
    return found


@rigorous
def _n_solutions(modes: Codes, same: Marks, of: Codes, held: Codes, group: Codes, count: int) -> int:
    """How many solutions modes that hold are: two are one where what tells them apart vanishes."""
    n_groups = count
    group[:count] = np.arange(count)
    for i in range(count):
        for place in range(2, modes.shape[1]):
            if modes[held[i], place] < 0 or of[modes[held[i], place]] != 0:
                continue
            for j in range(count):
                if same[held[i], place, held[j]] and group[i] != group[j]:
                    old, new = group[i], group[j]
                    for other in range(count):
                        if group[other] == old:
                            group[other] = new
                    n_groups -= 1
    return n_groups


@rigorous
def _unmet(required: Codes, of: Codes) -> int:
    """Reason of a required clause that is not proved positive, negative if it is proved not to be; else 0."""
    found = 0
    for place in range(required.shape[0]):
        sign = of[required[place]]
        if sign in (-1, 0):
            return -FIRST_REQUIRED - place
        if sign != 1 and found == 0:
            found = FIRST_REQUIRED + place
    return found


@rigorous
def _mark_open(gates: Codes, modes: Codes, roles: Codes, of: Codes, alive: Codes, is_open: Marks) -> tuple[int, bool]:
    """List modes that may hold, and mark the clauses without a sign of these, of gaps and of slips.

    How many modes they are, and whether one holds for certain.
    """
    count, has_certain = 0, False
    is_open[:] = False
    for gate in gates:
        is_open[gate] = of[gate] == UNKNOWN
    for mode in range(modes.shape[0]):
        found = _mode_status(modes, roles, mode, of)
        if found == 1:
            has_certain = True
        if found != -1:
            alive[count] = mode
            count += 1
            for clause in modes[mode]:
                if clause >= 0 and of[clause] == UNKNOWN:
                    is_open[clause] = True
        for place in range(2, modes.shape[1]):
            if roles[mode, place] == 0 and of[modes[mode, place]] == UNKNOWN:
                is_open[modes[mode, place]] = True
    return count, has_certain


@rigorous
def _list_open(clauses: Codes, is_open: Marks, signs: Codes, open_: Codes, unknown: Codes) -> tuple[int, int]:
    """List marked clauses, and their functions without a sign; how many they are."""
    count, n_unknown = 0, 0
    for clause in range(is_open.shape[0]):
        if not is_open[clause]:
            continue
        open_[count] = clause
        count += 1
        for place in range(1, clauses.shape[1]):
            f = clauses[clause, place]
            if f >= 0 and signs[f] == UNKNOWN:
                is_new = True
                for other in unknown[:n_unknown]:
                    is_new = is_new and other != f
                if is_new:
                    unknown[n_unknown] = f
                    n_unknown += 1
    return count, n_unknown


@rigorous
def _least_gate(gates: Codes, of: Codes) -> int:
    """-1 where a contact penetrates for certain, 1 where none can, else ``UNKNOWN``."""
    found = 1
    for gate in gates:
        if of[gate] == -1:
            return -1
        if of[gate] != 1:
            found = UNKNOWN
    return found


@rigorous
def bound_boxes(
    shares: Batch,
    closed: Codes,
    zeros: Codes,
    required: Codes,
    gates: Codes,
    labels: Codes,
    modes: Codes,
    roles: Codes,
    clauses: Codes,
    same: Marks,
    codes: Codes,
    bounds: Batch,
    counts: Codes,
    possible: Marks,
    hangs: Marks,
    unmet: Codes,
) -> None:
    """Sets of modes that are possible in each box, and bounds of their shares of it.

    Parameters
    ----------
    shares : array, (N, f, 2)
        Bounds of the share in which each function is positive.
    closed : array of int64, (N, f)
        Sign of each function in the closed box, or ``UNKNOWN``.
    zeros : array of int64, (N, f)
        Not 0 for a function whose zeros may fill a part of the box.
    required, gates, labels, modes, roles, clauses, same : array
        As :class:`NumberedConditions` has them; a class among arguments would be named in what the compiler keeps.
    codes : array of int64, (N, MAX_PATTERNS)
        Overwritten: sets of labels as bits.
    bounds : array, (N, MAX_PATTERNS, 2)
        Overwritten: their shares.
    counts : array of int64, (N,)
        Overwritten: how many sets; 0 where nothing is known.
    possible : array of bool, (N, 3)
        Overwritten: which of ``CLOSED_KEYS`` may occur in the closed box.
    hangs : array of bool, (N, f)
        Overwritten: functions without a sign on which the sets hang.
    unmet : array of int64, (N,)
        Overwritten: why nothing is known, else 0; negative where a required clause is proved not to be positive.

    Returns
    -------
    None
    """
    n_functions, n_clauses, n_modes = shares.shape[1], clauses.shape[0], modes.shape[0]
    signs, of, all_ = np.zeros(n_functions, np.int64), np.zeros(n_clauses, np.int64), np.arange(n_clauses)
    is_open, living, room = np.zeros(n_clauses, np.bool_), np.zeros(n_modes, np.int64), np.zeros((2, n_modes), np.int64)
    places, functions = np.zeros(n_clauses, np.int64), np.zeros(n_functions, np.int64)
    before, verdicts = np.zeros(n_functions, np.int64), np.ones(3, np.bool_)
    n_alive, n_open, n_unknown, gate, why = 0, 0, 0, 0, 0
    for n in range(shares.shape[0]):
        is_like_before = n > 0
        for f in range(n_functions):
            is_like_before = is_like_before and closed[n, f] == before[f]
            before[f] = closed[n, f]
        if not is_like_before:  # what follows hangs on the signs alone
            signs[:], verdicts[:] = before, True
            _write_signs(clauses, all_, signs, of)
            why, gate = _unmet(required, of), _least_gate(gates, of)
            if why == 0 and gate == -1:
                verdicts[:] = False
            elif why == 0:
                n_alive, has_certain = _mark_open(gates, modes, roles, of, living, is_open)
                n_open, n_unknown = _list_open(clauses, is_open, signs, places, functions)
                alive, open_, unknown = living[:n_alive], places[:n_open], functions[:n_unknown]
                if n_unknown <= _MOST_ZEROS and gate == 1:
                    verdicts[:] = False
                    _look_for_verdicts(modes, roles, clauses, same, alive, open_, unknown, signs, of, room, verdicts)
                elif gate == 1 or n_unknown > _MOST_UNKNOWN:
                    verdicts[0] = not has_certain
        counts[n], unmet[n], possible[n, :], hangs[n, :] = 0, why, verdicts, False
        if why == 0 and gate == -1:
            counts[n], codes[n, 0], bounds[n, 0, 0], bounds[n, 0, 1] = 1, PENETRATING, 1.0, 1.0
        elif why == 0 and _n_patterns(zeros[n], functions[:n_unknown]) > MAX_PATTERNS:
            unmet[n] = TOO_MANY
        elif why == 0:
            alive, open_, unknown = living[:n_alive], places[:n_open], functions[:n_unknown]
            counts[n] = _collect_sets(
                shares[n],
                zeros[n],
                gates,
                labels,
                modes,
                roles,
                clauses,
                same,
                alive,
                open_,
                unknown,
                signs,
                of,
                room,
                codes[n],
                bounds[n],
            )
            hangs[n, unknown] = True
            if n_unknown == 0 and counts[n] == 1 and verdicts.any():
                unmet[n] = KNOWN
            if counts[n] != 1 and (counts[n] == 0 or _n_patterns(zeros[n], unknown) > 1 << n_unknown):
                unmet[n] = WITH_ZEROS


@rigorous
def _n_patterns(zeros: Codes, unknown: Codes) -> int:
    """How many combinations of signs, up to one too many; zero is one of them where zeros may fill a part of a box."""
    count = 1
    for f in unknown:
        count = min(MAX_PATTERNS + 1, count * (2 + (zeros[f] != 0)))
    return count


@rigorous
def _set_of(
    gates: Codes, labels: Codes, modes: Codes, roles: Codes, same: Marks, alive: Codes, of: Codes, room: Codes
) -> int:
    """The modes that hold, as bits of their labels; negative where a gap, a slip or a determinant vanishes."""
    if _least_gate(gates, of) == -1:
        return PENETRATING
    for gate in gates:
        if of[gate] == 0:
            return -1
    if _has_slip_zero(modes, roles, of):
        return -1
    code, count, n_labels = 0, 0, 0
    for mode in alive:
        found = _mode_status(modes, roles, mode, of)
        if found >= UNKNOWN:
            return -1
        if found in (0, 1):
            room[0, count] = mode
            count += 1
            n_labels += not code >> labels[mode] & 1
            code |= 1 << labels[mode]
    if count > 1 and n_labels == 1 and _n_solutions(modes, same, of, room[0], room[1], count) > 1:
        code |= SEVERAL
    return code


@rigorous
def _collect_sets(
    shares: Batch,
    zeros: Codes,
    gates: Codes,
    labels: Codes,
    modes: Codes,
    roles: Codes,
    clauses: Codes,
    same: Marks,
    alive: Codes,
    open_: Codes,
    unknown: Codes,
    signs: Codes,
    of: Codes,
    room: Codes,
    codes: Codes,
    bounds: Batch,
) -> int:
    """Sets of modes by pattern of the unknown signs, shares by Frechet's inequalities; how many there are.

    None where the modes of some pattern are not known.
    """
    count = 0
    for pattern in range(_n_patterns(zeros, unknown)):
        least, most, rest = 1.0, 1.0, pattern
        for f in unknown:
            n_signs = 2 + (zeros[f] != 0)
            sign = (-1, 1, 0)[rest % n_signs]
            rest //= n_signs
            signs[f] = sign
            low = shares[f, 0] if sign == 1 else 1.0 - shares[f, 1] if sign == -1 else 0.0
            high = shares[f, 1] if sign == 1 else 1.0 - shares[f, 0] if sign == -1 else shares[f, 1] - shares[f, 0]
            least += low - 1.0
            most = min(most, high)
        if most == 0.0:  # states without volume
            continue
        least = max(0.0, least - _ROUNDING * (unknown.shape[0] > 0))
        _write_signs(clauses, open_, signs, of)
        code, place = _set_of(gates, labels, modes, roles, same, alive, of, room), 0
        if code < 0:
            return 0
        while place < count and codes[place] != code:
            place += 1
        if place == count:
            codes[place], bounds[place, 0], bounds[place, 1] = code, 0.0, 0.0
            count += 1
        bounds[place, 0] += least
        bounds[place, 1] += most
    bounds[:count, 0] = np.minimum(1.0, bounds[:count, 0])
    bounds[:count, 1] = np.minimum(1.0, bounds[:count, 1] + _ROUNDING * (count > 1))
    if count == 1:
        bounds[0, 0] = 1.0
    return count
