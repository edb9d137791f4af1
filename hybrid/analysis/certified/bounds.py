"""What is proved about a box: which sets of modes hold in it, on shares between which bounds, and which verdicts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hybrid.tolerances import LEAST, NOTHING, ROUNDING, SUMMED
from lcp.kernels.compiled import rigorous

__all__ = ["CLOSED_KEYS", "MAX_PATTERNS", "PENETRATING", "SEVERAL", "bound_boxes", "bound_shares", "halve"]

Batch = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

SEVERAL = 1 << 60
"""Bit of a set with one label but several solutions."""

PENETRATING = 1 << 61
"""Bit of states in which a contact penetrates."""

CLOSED_KEYS = ("INCONSISTENT", "INDETERMINATE", "HYPERSTATIC")
"""Verdicts of which it is asked whether a closed box is without them."""

_MOST_UNKNOWN = 5  # functions without a sign of which all combinations are looked at
MAX_PATTERNS = 1 << _MOST_UNKNOWN
_MOST_ZEROS = 4  # of which also those with zeros are
_UNKNOWN = 2
_ROUNDING = SUMMED  # of shares between 0 and 1, from some ten operations
_TILT = NOTHING  # ratio of slopes below which the squares of the area's formula would cancel
_SLACK = 1.0 + 2.0**-40  # far above the rounding of half widths and of sums of a few terms


@rigorous
def _beyond(value: float, first: float, second: float) -> float:
    """Share of the square ``[-1, 1]^2`` in which ``value + first u + second v`` is positive: a trapezoid's area."""
    long, short = max(abs(first), abs(second)), min(abs(first), abs(second))
    if value >= long + short:
        return 1.0
    if value <= -long - short:
        return 0.0
    if long == 0.0:
        return 1.0 if value > 0.0 else 0.0
    size = abs(value)
    if short <= _TILT * long:  # the share is off by half of their ratio at most
        found = min(1.0, 0.5 + size / (2.0 * long))
    elif size <= long - short:
        found = 0.5 + size / (2.0 * long)
    else:
        found = 1.0 - (long + short - size) ** 2 / (8.0 * long * short)
    return found if value >= 0.0 else 1.0 - found


@rigorous
def bound_shares(boxes: Batch, values: Batch, slopes: Batch, centre: Batch, broken: Marks, shares: Batch) -> None:
    """Bounds of the share of each box in which each function is positive.

    With the value ``c`` at the centre and slopes in ``g + [-e, e]``, a function is ``c + g u`` up to ``e |u|``.

    Parameters
    ----------
    boxes : array, (N, k, 2)
    values : array, (N, f, 2)
        Enclosures over the boxes.
    slopes : array, (N, f, k, 2)
        Enclosures of the derivatives over the boxes.
    centre : array, (N, f, 2)
        Enclosures at the centres.
    broken : array of bool, (N,)
        Where derivatives say nothing.
    shares : array, (N, f, 2)
        Overwritten; 1 or 0 at both ends only where the sign is proved for the closed box.

    Returns
    -------
    None
    """
    k = boxes.shape[1]
    along = np.zeros(k)
    for n in range(boxes.shape[0]):
        for f in range(values.shape[1]):
            shares[n, f, 0], shares[n, f, 1] = 0.0, 1.0
            if values[n, f, 0] > 0.0:
                shares[n, f, 0] = 1.0
                continue
            if values[n, f, 1] < 0.0:
                shares[n, f, 1] = 0.0
                continue
            if broken[n]:
                continue
            middle = 0.5 * (centre[n, f, 0] + centre[n, f, 1])
            error = 0.5 * (centre[n, f, 1] - centre[n, f, 0])
            range_ = 0.0
            for axis in range(k):
                half = 0.5 * (boxes[n, axis, 1] - boxes[n, axis, 0])
                low, high = slopes[n, f, axis, 0], slopes[n, f, axis, 1]
                along[axis] = (
                    abs(0.5 * (low + high)) * half
                )  # as it is: a steeper function has other shares, not wider ones
                error += 0.5 * (high - low) * half
                range_ += along[axis]
            if not error < np.inf:
                continue
            error = error * _SLACK + 2.0**-48 * (abs(middle) + range_) + LEAST
            if middle - error - range_ > 0.0:
                shares[n, f, 0] = 1.0
                continue
            if middle + error + range_ < 0.0:
                shares[n, f, 1] = 0.0
                continue
            first, second = 0.0, 0.0
            for axis in range(k):  # the two steepest; what the others add may have any sign
                if along[axis] > first:
                    first, second = along[axis], first
                elif along[axis] > second:
                    second = along[axis]
            error += (range_ - first - second) * _SLACK
            margin = _ROUNDING + (second / first if 0.0 < second <= _TILT * first else 0.0)
            shares[n, f, 0] = max(0.0, _beyond(middle - error, first, second) - margin)
            shares[n, f, 1] = min(1.0, _beyond(middle + error, first, second) + margin)


@rigorous
def _sign_of(clause: int, starts: Codes, members: Codes, outer: Codes, signs: Codes) -> int:
    """Sign of a product of functions, ``_UNKNOWN`` where one has none."""
    found = int(outer[clause])
    for place in range(starts[clause], starts[clause + 1]):
        sign = int(signs[members[place]])
        if sign == 0:
            return 0
        found = _UNKNOWN if sign == _UNKNOWN or found == _UNKNOWN else found * sign
    return found


@rigorous
def _standing(
    mode: int, parts: Codes, listed: Codes, roles: Codes, starts: Codes, members: Codes, outer: Codes, signs: Codes
) -> int:
    """1 for a mode whose conditions hold, -1 for one of which one fails, else 0 or ``_UNKNOWN``.

    The parts of a mode are its determinant, the independence of its forces, then directions (role 0), then numerators
    (role 1). It is 0 where nothing fails and something vanishes, and 3 where its equations are singular and may have a
    set of solutions.
    """
    first = parts[mode]
    divisor = _sign_of(listed[first], starts, members, outer, signs)
    found, all_vanish = 1, True
    for place in range(first + 2, parts[mode + 1]):
        sign = _sign_of(listed[place], starts, members, outer, signs)
        if roles[place] == 0:
            if sign == -1:
                return -1
        else:
            all_vanish = all_vanish and sign == 0
            if sign != _UNKNOWN and divisor != _UNKNOWN:
                sign *= divisor
            elif sign != 0:
                sign = _UNKNOWN
            if sign == -1:
                return -1
        if sign == _UNKNOWN:
            found = _UNKNOWN
        elif sign == 0 and found != _UNKNOWN:
            found = 0
    if divisor == 0:
        return 3 if all_vanish else -1
    return _UNKNOWN if divisor == _UNKNOWN else found


@rigorous
def _zeros_of(
    mode: int, parts: Codes, listed: Codes, roles: Codes, starts: Codes, members: Codes, signs: Codes, unknown: Codes
) -> int:
    """Which of the unknown functions vanish in a numerator of a mode, as bits."""
    found = 0
    for place in range(parts[mode] + 1, parts[mode + 1]):
        if roles[place] == 1:
            for member in range(starts[listed[place]], starts[listed[place] + 1]):
                for bit in range(unknown.shape[0]):
                    if unknown[bit] == members[member] and signs[members[member]] == 0:
                        found |= 1 << bit
    return found


@rigorous
def _look_for_verdicts(
    signs: Codes,
    unknown: Codes,
    parts: Codes,
    listed: Codes,
    roles: Codes,
    starts: Codes,
    members: Codes,
    outer: Codes,
    adjacent: Marks,
    possible: Marks,
) -> None:
    """Which verdicts a pattern of signs and zeros of the unknown functions admits."""
    n_modes, n_patterns = parts.shape[0] - 1, 3 ** unknown.shape[0]
    weak, zeros, group = np.zeros(n_modes, np.int64), np.zeros(n_modes, np.int64), np.zeros(n_modes, np.int64)
    for pattern in range(n_patterns):
        rest, has_zero = pattern, False
        for bit in range(unknown.shape[0]):
            signs[unknown[bit]] = rest % 3 - 1
            has_zero = has_zero or rest % 3 == 1
            rest //= 3
        count = 0
        for mode in range(n_modes):
            found = _standing(mode, parts, listed, roles, starts, members, outer, signs)
            if found == 3:
                possible[1] = True
                independence = _sign_of(listed[parts[mode] + 1], starts, members, outer, signs)
                possible[2] = possible[2] or independence == 0
            for place in range(parts[mode] + 1, parts[mode + 1]):
                if has_zero and roles[place] == 0 and _sign_of(listed[place], starts, members, outer, signs) == 0:
                    possible[:] = True  # a slip that vanishes: another set of modes
            if found in (0, 1):
                weak[count], zeros[count], group[count] = mode, 0, count
                if found == 0:
                    zeros[count] = _zeros_of(mode, parts, listed, roles, starts, members, signs, unknown)
                count += 1
        if count == 0:
            possible[0] = True
        # two solutions are one where the modes are neighbours and what tells them apart vanishes
        n_groups = count
        for i in range(count):
            for j in range(i):
                if adjacent[weak[i], weak[j]] and zeros[i] & zeros[j] and group[i] != group[j]:
                    old, new = group[i], group[j]
                    for other in range(count):
                        if group[other] == old:
                            group[other] = new
                    n_groups -= 1
        if n_groups > 1:
            possible[1] = True
    for bit in range(unknown.shape[0]):
        signs[unknown[bit]] = _UNKNOWN


@rigorous
def bound_boxes(
    shares: Batch,
    required: Codes,
    gates: Codes,
    labels: Codes,
    parts: Codes,
    listed: Codes,
    roles: Codes,
    starts: Codes,
    members: Codes,
    outer: Codes,
    adjacent: Marks,
    codes: Codes,
    bounds: Batch,
    counts: Codes,
    possible: Marks,
) -> None:
    """Sets of modes that are possible in each box, and bounds of their shares of it.

    Parameters
    ----------
    shares : array, (N, f, 2)
        Bounds of the share in which each function is positive.
    required, gates : array of int64
        Clauses that are positive wherever a state exists; gaps.
    labels : array of int64, (modes,)
        Number of the label of each mode.
    parts, listed, roles : array of int64
        Clauses of the modes, one mode after the other.
    starts, members, outer : array of int64
        Functions and signs of the clauses.
    adjacent : array of bool, (modes, modes)
    codes : array of int64, (N, MAX_PATTERNS)
        Overwritten: sets of labels as bits.
    bounds : array, (N, MAX_PATTERNS, 2)
        Overwritten: their shares.
    counts : array of int64, (N,)
        Overwritten: how many sets; 0 where nothing is known.
    possible : array of bool, (N, 3)
        Overwritten: which of ``CLOSED_KEYS`` may occur in the closed box.
    """
    n_functions, n_modes = shares.shape[1], parts.shape[0] - 1
    signs, is_used = np.zeros(n_functions, np.int64), np.zeros(n_functions, np.bool_)
    for n in range(shares.shape[0]):
        counts[n], possible[n, :] = 0, True
        for f in range(n_functions):
            signs[f] = 1 if shares[n, f, 0] == 1.0 else -1 if shares[n, f, 1] == 0.0 else _UNKNOWN
        is_known = True
        for clause in required:
            is_known = is_known and _sign_of(clause, starts, members, outer, signs) == 1
        if not is_known:
            continue
        is_used[:] = False
        is_gone = False
        for clause in gates:
            sign = _sign_of(clause, starts, members, outer, signs)
            is_gone = is_gone or sign == -1
            for place in range(starts[clause], starts[clause + 1]):
                is_used[members[place]] = True
        if is_gone:
            counts[n], codes[n, 0], bounds[n, 0, 0], bounds[n, 0, 1] = 1, PENETRATING, 1.0, 1.0
            possible[n, :] = False
            continue
        has_certain = False
        for mode in range(n_modes):
            found = _standing(mode, parts, listed, roles, starts, members, outer, signs)
            has_certain = has_certain or found == 1
            if found != -1:
                for place in range(parts[mode], parts[mode + 1]):
                    for member in range(starts[listed[place]], starts[listed[place] + 1]):
                        is_used[members[member]] = True
        n_unknown = 0
        for f in range(n_functions):
            n_unknown += is_used[f] and signs[f] == _UNKNOWN
        if n_unknown > _MOST_UNKNOWN:
            possible[n, 0] = not has_certain
            continue
        unknown = np.zeros(n_unknown, np.int64)
        n_unknown = 0
        for f in range(n_functions):
            if is_used[f] and signs[f] == _UNKNOWN:
                unknown[n_unknown] = f
                n_unknown += 1
        _collect_sets(
            shares[n],
            signs,
            unknown,
            gates,
            labels,
            parts,
            listed,
            roles,
            starts,
            members,
            outer,
            codes[n],
            bounds[n],
            counts,
            n,
        )
        if n_unknown <= _MOST_ZEROS:
            possible[n, :] = False
            _look_for_verdicts(signs, unknown, parts, listed, roles, starts, members, outer, adjacent, possible[n])
        else:
            possible[n, 0] = not has_certain
        for clause in gates:
            if _sign_of(clause, starts, members, outer, signs) != 1:
                possible[n, :] = True


@rigorous
def _collect_sets(
    shares: Batch,
    signs: Codes,
    unknown: Codes,
    gates: Codes,
    labels: Codes,
    parts: Codes,
    listed: Codes,
    roles: Codes,
    starts: Codes,
    members: Codes,
    outer: Codes,
    codes: Codes,
    bounds: Batch,
    counts: Codes,
    n: int,
) -> None:
    """Sets of modes by pattern of the signs of the unknown functions; shares by Frechet's inequalities."""
    count = 0
    for pattern in range(1 << unknown.shape[0]):
        least, most = 1.0, 1.0
        for bit in range(unknown.shape[0]):
            f = unknown[bit]
            is_positive = pattern >> bit & 1
            signs[f] = 1 if is_positive else -1
            low = shares[f, 0] if is_positive else 1.0 - shares[f, 1]
            high = shares[f, 1] if is_positive else 1.0 - shares[f, 0]
            least += low - 1.0
            most = min(most, high)
        least = max(0.0, least - _ROUNDING * (unknown.shape[0] > 0))
        code, n_solutions, n_labels = 0, 0, 0
        is_gone = False
        for clause in gates:
            is_gone = is_gone or _sign_of(clause, starts, members, outer, signs) == -1
        if is_gone:
            code = PENETRATING
        else:
            for mode in range(parts.shape[0] - 1):
                if _standing(mode, parts, listed, roles, starts, members, outer, signs) == 1:
                    n_solutions += 1
                    n_labels += not code >> labels[mode] & 1
                    code |= 1 << labels[mode]
            if n_solutions > 1 and n_labels == 1:
                code |= SEVERAL
        place = 0
        while place < count and codes[place] != code:
            place += 1
        if place == count:
            codes[place], bounds[place, 0], bounds[place, 1] = code, 0.0, 0.0
            count += 1
        bounds[place, 0] += least
        bounds[place, 1] += most
    for place in range(count):
        bounds[place, 0] = min(1.0, bounds[place, 0])
        bounds[place, 1] = min(1.0, bounds[place, 1] + _ROUNDING * (count > 1))
    if count == 1:
        bounds[0, 0] = 1.0
    counts[n] = count
    for bit in range(unknown.shape[0]):
        signs[unknown[bit]] = _UNKNOWN


@rigorous
def halve(boxes: Batch, widths: Batch, slopes: Batch, finite: Marks, halves: Batch) -> None:
    """Both halves of each box, across the axis along which slopes vary most, or the longest.

    Parameters
    ----------
    boxes : array, (N, k, 2)
    widths : array, (k,)
        Of the whole, by which lengths are compared.
    slopes : array, (N, k)
        How much slopes along each axis vary, times half its length.
    finite : array of bool, (N,)
        Where that is known.
    halves : array, (2N, k, 2)
        Overwritten.

    Returns
    -------
    None
    """
    for n in range(boxes.shape[0]):
        best, most, longest = 0, -1.0, 0.0
        for axis in range(boxes.shape[1]):
            longest = max(longest, (boxes[n, axis, 1] - boxes[n, axis, 0]) / widths[axis])
        for axis in range(boxes.shape[1]):
            length = (boxes[n, axis, 1] - boxes[n, axis, 0]) / widths[axis]
            size = slopes[n, axis] if finite[n] and length > 0.02 * longest else 0.0
            size = length if not finite[n] else size + ROUNDING * length
            if size > most:
                best, most = axis, size
        middle = 0.5 * (boxes[n, best, 0] + boxes[n, best, 1])
        for axis in range(boxes.shape[1]):
            for end in range(2):
                halves[2 * n, axis, end] = halves[2 * n + 1, axis, end] = boxes[n, axis, end]
        halves[2 * n, best, 1] = halves[2 * n + 1, best, 0] = middle
