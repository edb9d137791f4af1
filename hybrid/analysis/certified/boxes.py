"""The functions of a set of conditions over boxes: values, slopes and centres, enclosed; then what they prove."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.certified.bounds import (
    AT_BOUNDARY,
    CLOSED_KEYS,
    KNOWN,
    MAX_PATTERNS,
    NO_POSTURE,
    UNDEFINED,
    UNKNOWN,
    UNREACHABLE,
    WITH_ZEROS,
    NumberedConditions,
    bound_boxes,
)
from hybrid.analysis.certified.postures import ClosedPostures, closed_postures
from hybrid.analysis.certified.shares import bound_shares, halve
from hybrid.analysis.certified.tape import Tape, tape_of
from hybrid.analysis.certified.zeros import may_vanish
from hybrid.expressions import Nodes, determinant, dot, jacobian

if TYPE_CHECKING:
    from hybrid.analysis.certified.conditions import Clause, SignConditions
    from hybrid.analysis.maps.node_states import NodeStates

__all__ = ["BATCH", "BoxBounds", "BoxReader", "PointReader", "box_reader"]

Array = NDArray[np.float64]

BATCH = 20_000
"""Boxes read at once."""

# By their numbers, from one on, before those of what a state requires.
_REASONS = (
    "too many signs are open at once",
    "a function may vanish on a part of the box, where conditions are met with equality",
    "all signs are known, and floats leave the verdict undecided at the states tried",
    "a function is undefined, or jumps",
    "the branch of postures is not proved to exist, or to be the only one nearby",
    "a sign is open, on or beside a boundary of regions",
    "a slip or a gap vanishes on a set without volume, where other modes hold",
    "the equations of a mode without load are singular, where it has many solutions",
)


@attrs.frozen(eq=False)
class BoxBounds:
    """What is proved about some boxes.

    Attributes
    ----------
    codes : array of int64, (N, p)
        Sets of labels as bits.
    bounds : array, (N, p, 2)
        Bounds of their shares of the box.
    counts : array of int64, (N,)
        How many sets there are; 0 where nothing is known.
    possible : array of bool, (N, 3)
        Which of ``CLOSED_KEYS`` may occur in the closed box.
    across : array of bool, (N, k)
        Along which axes every function rises or falls whose zeros are left out: none fills a part of a slice that keeps
        such an axis. All, where the sets hold in the whole closed box; none, where nothing is known.
    bends : array, (N, k)
        How much slopes along each axis vary, times half its length; NaN where that is unknown, minus infinity where no
        division helps.
    inner : array, (N, m, 3)
        What is known of coordinates without a closed form, for the halves of the boxes.
    why : array of int64, (N,)
        Why too little is known: the number, from one on, of one of the reader's ``reasons``; else 0. Negative where no
        state exists in the whole box.
    """

    codes: NDArray[np.int64]
    bounds: Array
    counts: NDArray[np.int64]
    possible: NDArray[np.bool_]
    across: NDArray[np.bool_]
    bends: Array
    inner: Array
    why: NDArray[np.int64]


@attrs.frozen(eq=False)
class BoxReader:
    """Reads the conditions of all modes over boxes.

    Attributes
    ----------
    labels : tuple of str
        Those of the bits of a code.
    values, slopes : Tape
        Of the functions, and of their derivatives along the axes.
    conditions : NumberedConditions
    reasons : tuple of str
        Why nothing may be known of a box.
    may_vanish : array of bool
        Functions whose zeros may fill a part of a box.
    switches : array of int64
        Functions whose sign is a direction of slip, or that of a gap.
    singular : array of int64
        Functions that are factors of the determinants of modes all of whose numerators vanish throughout.
    postures : ClosedPostures
        Of the coordinates without a closed form.
    needed : array of int64
        Functions that are positive wherever a state exists.
    needs : tuple of Tape
        Their values and slopes alone.
    """

    labels: tuple[str, ...]
    n_axes: int
    values: Tape
    slopes: Tape
    conditions: NumberedConditions
    reasons: tuple[str, ...]
    may_vanish: NDArray[np.bool_]
    switches: NDArray[np.int64]
    singular: NDArray[np.int64]
    postures: ClosedPostures
    needed: NDArray[np.int64]
    needs: tuple[Tape, Tape]

    def __call__(self, boxes: Array, inner: Array) -> BoxBounds:
        """Bounds for boxes (N, k, 2), with what is known (N, m, 3) of coordinates without a closed form."""
        u, inner, is_proved = self.postures.enclosed(boxes, inner)
        states = np.concatenate([boxes, u], axis=1)
        shares, bends, is_broken, zeros, steep, side = self._shares(
            self.values, self.slopes, boxes, states, inner, is_proved
        )
        open_ = np.flatnonzero((shares[:, self.needed, 0] != 1.0).any(axis=1))
        if len(open_):  # without what else is undefined there
            own, own_bends, *_ = self._shares(*self.needs, boxes[open_], states[open_], inner[open_], is_proved[open_])
            shares[open_[:, None], self.needed] = own
            is_open = (own[..., 0] != 1.0).any(axis=1)
            bends[open_[is_open]] = own_bends[is_open]
        n = len(boxes)
        codes = np.zeros((n, MAX_PATTERNS), dtype=np.int64)
        bounds, counts = np.zeros((n, MAX_PATTERNS, 2)), np.zeros(n, dtype=np.int64)
        possible = np.zeros((n, len(CLOSED_KEYS)), dtype=np.bool_)
        hangs, why = np.zeros(zeros.shape, dtype=np.bool_), np.zeros(n, dtype=np.int64)
        zeros[:, ~self.may_vanish] = 0
        signs = np.where(shares[..., 0] == 1.0, 1, np.where(shares[..., 1] == 0.0, -1, UNKNOWN))
        signs[zeros == 2] = 0
        is_edge = (signs == UNKNOWN) & (zeros == 0) & (side != 0) & ~is_broken[:, None]
        shares[is_edge] = (side[is_edge] > 0)[:, None]  # its zeros have no volume
        bound_boxes(shares, signs, zeros, *self.conditions, codes, bounds, counts, possible, hangs, why)
        across = (steep | ~(hangs & (zeros == 0))[..., None]).all(axis=1) & (counts != 0)[:, None]
        why[((why == 0) | (why == WITH_ZEROS)) & is_broken & (counts != 1)] = UNDEFINED
        if not is_proved.all():
            counts[~is_proved], possible[~is_proved], across[~is_proved] = 0, True, False
            bends[~is_proved] = np.where(self.postures.moves | ~self.postures.moves.any(), np.nan, -np.inf)
            why[~is_proved] = NO_POSTURE
            is_void = ~is_proved
            is_void[is_void] = self.postures.are_unreachable(boxes[is_void])
            codes[is_void, 0], bounds[is_void, 0], counts[is_void] = UNREACHABLE, 1.0, 1
            possible[is_void], across[is_void], why[is_void] = False, True, 0
        return BoxBounds(codes, bounds, counts, possible, across, bends, inner, why)

    def _shares(
        self, tape: Tape, slope_tape: Tape, boxes: Array, states: Array, inner: Array, is_proved: NDArray[np.bool_]
    ) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
        """Bounds of the shares of boxes in which functions are positive; how slopes vary; where something jumps.

        And 1 where zeros may fill a part of a box, as no slope has a sign; 2 where they fill it; which slopes have one;
        1 where a function is nowhere negative, -1 where it is nowhere positive.
        """
        values, broken = tape(states)
        values[~is_proved] = (-np.inf, np.inf)
        n, n_functions = values.shape[:2]
        shares = np.zeros((n, n_functions, 2))
        shares[..., 0], shares[..., 1] = values[..., 0] > 0.0, values[..., 1] >= 0.0
        bends = np.full((n, self.n_axes), np.nan)
        zeros = np.where((values == 0.0).all(axis=-1), 2, np.where(shares[..., 0] != shares[..., 1], 1, 0))
        steep = np.zeros((n, n_functions, self.n_axes), dtype=np.bool_)
        side = (values[..., 0] >= 0.0).astype(np.int64) - (values[..., 1] <= 0.0)
        open_ = np.flatnonzero(zeros.any(axis=-1))
        if not len(open_):
            return shares, bends, broken, zeros, steep, side
        centres = (boxes[open_, :, 0] + boxes[open_, :, 1]) / 2
        at_centres, is_met = self._at_points(tape, centres, inner[open_])
        slopes, broken_slopes = slope_tape(states[open_])
        slopes = slopes.reshape(len(open_), n_functions, self.n_axes, 2)
        found = np.empty((len(open_), n_functions, 2))
        is_broken = broken[open_] | broken_slopes | ~is_met | ~is_proved[open_]
        bound_shares(boxes[open_], values[open_], slopes, at_centres, is_broken, found)
        shares[open_] = found
        half = (boxes[open_, :, 1] - boxes[open_, :, 0]) / 2
        is_open = found[..., 0] != found[..., 1]
        with np.errstate(invalid="ignore", over="ignore"):
            variation = np.where(is_open[..., None], slopes[..., 1] - slopes[..., 0], 0.0).max(axis=1) * half
        bends[open_] = np.where(is_broken[:, None] | ~np.isfinite(variation), np.nan, variation)
        has_sign = (slopes > 0.0).all(axis=-1) | (slopes < 0.0).all(axis=-1)
        steep[open_] = has_sign & ~is_broken[:, None, None]
        zeros[open_] *= is_open & ~steep[open_].any(axis=-1)
        return shares, bends, broken, zeros, steep, side

    def _at_points(self, tape: Tape, points: Array, inner: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Enclosures of the functions at values of the axes (N, k), and where the posture there is proved."""
        boxes = np.stack([points, points], axis=-1)
        u, _, is_proved = self.postures.enclosed(boxes, inner)
        values, _ = tape(np.concatenate([boxes, u], axis=1))
        return values, is_proved

    def explained(
        self, boxes: Array, inner: Array, why: NDArray[np.int64], is_asked: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Numbers of reasons, those of boxes whose verdicts are asked for and open all the same among them; else 0."""
        found = np.abs(why)
        found[(found == KNOWN) & ~is_asked] = 0
        open_ = np.flatnonzero((found == 0) & is_asked)
        found[open_] = AT_BOUNDARY + self.vanishing(boxes[open_], inner[open_])
        return found

    def vanishing(self, boxes: Array, inner: Array) -> NDArray[np.int64]:
        """What vanishes in a box (N, k, 2), so that no division helps: 1 a slip or a gap, 2 a determinant; else 0.

        Other modes hold there, or a mode has many solutions.
        """
        found = np.zeros(len(boxes), dtype=np.int64)
        asked = np.concatenate([self.switches, self.singular])
        is_shown = np.isfinite(inner).all(axis=(1, 2))  # else to follow the branch to all corners is in vain mostly
        if not (len(asked) and is_shown.any()):
            return found
        boxes, inner = boxes[is_shown], inner[is_shown]
        least, most = (np.full((len(boxes), len(asked)), end) for end in (np.inf, -np.inf))
        for ends in itertools.product((0, 1), repeat=self.n_axes):
            corner = np.stack([boxes[:, axis, end] for axis, end in enumerate(ends)], axis=-1)
            values, is_proved = self._at_points(self.values, corner, inner)
            ends_ = np.where(is_proved[:, None, None], values[:, asked], np.nan)
            least, most = np.fmin(least, ends_[..., 0]), np.fmax(most, ends_[..., 1])
        is_met, n_switches = (least <= 0.0) & (most >= 0.0), len(self.switches)
        is_switch, is_singular = is_met[:, :n_switches].any(axis=1), is_met[:, n_switches:].any(axis=1)
        found[is_shown] = np.where(is_switch, 1, np.where(is_singular, 2, 0))
        return found

    def divided(self, boxes: Array, widths: Array, bends: Array) -> Array:
        """Both halves of each box."""
        halves = np.empty((2 * len(boxes), self.n_axes, 2))
        halve(boxes, widths, bends, np.asarray(np.isfinite(bends).all(axis=-1)), halves)
        return halves


@attrs.frozen(eq=False)
class PointReader:
    """Reads which region is proved at single states of boxes.

    Attributes
    ----------
    reader : BoxReader
    inner : array, (boxes, m, 3)
        What is known of coordinates without a closed form in each box.
    numbers : mapping of int to int
        Numbers of regions by their codes.
    """

    reader: BoxReader
    inner: Array
    numbers: Mapping[int, int]

    def __call__(self, points: Array, boxes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Regions at states (N, k) in boxes of these numbers (N,), -1 where none is proved, and ``across`` (N, k)."""
        region, across = np.full(len(points), -1), np.zeros(points.shape, dtype=np.bool_)
        for start in range(0, len(points), BATCH):
            of = slice(start, start + BATCH)
            found = self.reader(np.repeat(points[of, :, None], 2, axis=-1), self.inner[boxes[of]])
            across[of] = found.across
            for code, number in self.numbers.items():
                region[of][(found.counts == 1) & (found.codes[:, 0] == code)] = number
        return region, across


def box_reader(states: NodeStates, conditions: SignConditions, named: Callable[[Array], Array]) -> BoxReader:
    """Write the functions of conditions, and their derivatives, as operations on intervals.

    Parameters
    ----------
    states : NodeStates
    conditions : SignConditions
    named : callable
        Coordinates (N, m) without a closed form on the branch that is meant, at values of the axes (N, k).

    Returns
    -------
    BoxReader
    """
    build, names, n_axes = states.build, states.names, len(states.axes)
    slopes = _slopes(states, conditions.functions)
    postures = closed_postures(states, named)
    graph = build.graph()
    labels = sorted({mode.label for mode in conditions.modes})
    clauses: dict[Clause, int] = {}
    required, gates = _numbered(conditions.required, clauses), _numbered(conditions.open, clauses)
    modes = [
        _numbered([mode.determinant, mode.independence, *mode.directions, *mode.numerators], clauses)
        for mode in conditions.modes
    ]
    roles = [[-1, -1, *[0] * len(mode.directions), *[1] * len(mode.numerators)] for mode in conditions.modes]
    padded = _padded(modes)
    same = np.zeros((*padded.shape, len(modes)), dtype=np.bool_)
    for number, mode in enumerate(conditions.modes):
        for place, others in enumerate(mode.shared, 2 + len(mode.directions)):
            same[number, place, list(others)] = True
    needed = sorted({f for clause in conditions.required for f in clause.functions})
    switching = [*conditions.open, *(clause for mode in conditions.modes for clause in mode.directions)]
    without_load = [mode for mode in conditions.modes if not any(item.sign for item in mode.numerators)]
    return BoxReader(
        tuple(labels),
        n_axes,
        tape_of(graph, conditions.functions, names),
        tape_of(graph, slopes.ravel().tolist(), names),
        NumberedConditions(
            required=_codes(required),
            gates=_codes(gates),
            labels=_codes(labels.index(mode.label) for mode in conditions.modes),
            modes=padded,
            roles=_padded(roles),
            clauses=_padded([[clause.sign, *clause.functions] for clause in clauses]),
            same=same,
        ),
        (*_REASONS, *(clause.why for clause in conditions.required)),
        np.array(may_vanish(states, list(conditions.functions)), dtype=np.bool_),
        _codes(sorted({f for clause in switching for f in clause.functions})),
        _codes(sorted({f for mode in without_load for f in mode.determinant.functions})),
        postures,
        _codes(needed),
        (
            tape_of(graph, [conditions.functions[k] for k in needed], names),
            tape_of(graph, slopes[needed].ravel().tolist(), names),
        ),
    )


def _slopes(states: NodeStates, functions: Sequence[int]) -> Nodes:
    """Derivatives (functions, axes), coordinates that equations fix taken along: ``u_x = -F_u^-1 F_x``."""
    build, n_axes = states.build, len(states.axes)
    axes, unknown = states.names[:n_axes], states.names[n_axes:]
    slopes = jacobian(build, functions, axes)
    if not unknown:
        return slopes
    by_unknown = jacobian(build, functions, unknown)
    F_u, F_x = (jacobian(build, states.conditions, names) for names in (unknown, axes))
    divisor = determinant(build, F_u.tolist())
    for j in range(n_axes):
        rates = []
        for place in range(len(unknown)):
            rows = F_u.copy()
            rows[:, place] = [build.negate(int(node)) for node in F_x[:, j]]
            rates.append(build.divide(determinant(build, rows.tolist()), divisor))
        slopes[:, j] = [
            dot(build, row, rates, int(own)) for row, own in zip(by_unknown.tolist(), slopes[:, j], strict=True)
        ]
    return slopes


def _numbered(new: Sequence[Clause], clauses: dict[Clause, int]) -> list[int]:
    """Numbers of clauses, of which equal ones have the same."""
    return [clauses.setdefault(clause, len(clauses)) for clause in new]


def _codes(numbers: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(numbers), dtype=np.int64)


def _padded(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Rows of different lengths, -1 behind the last number of each."""
    found = np.full((len(rows), max(map(len, rows), default=0)), -1, dtype=np.int64)
    for row, numbers in zip(found, rows, strict=True):
        row[: len(numbers)] = numbers
    return found
