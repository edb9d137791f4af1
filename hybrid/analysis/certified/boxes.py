"""The functions of a set of conditions over boxes: values, slopes and centres, enclosed; then what they prove."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.certified.bounds import CLOSED_KEYS, MAX_PATTERNS, UNREACHABLE, NumberedConditions, bound_boxes
from hybrid.analysis.certified.postures import ClosedPostures, closed_postures
from hybrid.analysis.certified.shares import bound_shares, halve
from hybrid.analysis.certified.tape import Tape, tape_of
from hybrid.expressions import Nodes, determinant, dot, jacobian

if TYPE_CHECKING:
    from hybrid.analysis.certified.conditions import Clause, SignConditions
    from hybrid.analysis.maps.node_states import NodeStates

__all__ = ["BoxBounds", "BoxReader", "box_reader"]

Array = NDArray[np.float64]

# Beside what a state requires; in this order.
_REASONS = (
    "too many signs are open at once",
    "a function is undefined, or jumps",
    "the branch of postures is not proved to exist, or to be the only one nearby",
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
    switches : array of int64
        Functions whose sign is a direction of slip, or that of a gap.
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
    switches: NDArray[np.int64]
    postures: ClosedPostures
    needed: NDArray[np.int64]
    needs: tuple[Tape, Tape]

    def __call__(self, boxes: Array, inner: Array) -> BoxBounds:
        """Bounds for boxes (N, k, 2), with what is known (N, m, 3) of coordinates without a closed form."""
        u, inner, is_proved = self.postures.enclosed(boxes, inner)
        states = np.concatenate([boxes, u], axis=1)
        shares, bends, is_broken = self._shares(self.values, self.slopes, boxes, states, inner, is_proved)
        open_ = np.flatnonzero((shares[:, self.needed, 0] != 1.0).any(axis=1))
        if len(open_):  # without what else is undefined there
            own, own_bends, _ = self._shares(*self.needs, boxes[open_], states[open_], inner[open_], is_proved[open_])
            shares[open_[:, None], self.needed] = own
            is_open = (own[..., 0] != 1.0).any(axis=1)
            bends[open_[is_open]] = own_bends[is_open]
        n = len(boxes)
        codes = np.zeros((n, MAX_PATTERNS), dtype=np.int64)
        bounds, counts = np.zeros((n, MAX_PATTERNS, 2)), np.zeros(n, dtype=np.int64)
        possible = np.zeros((n, len(CLOSED_KEYS)), dtype=np.bool_)
        why = np.zeros(n, dtype=np.int64)
        bound_boxes(shares, *self.conditions, codes, bounds, counts, possible, why)
        why[(why == 0) & is_broken & (counts > 1)] = len(self.reasons) - 1
        if not is_proved.all():
            counts[~is_proved], possible[~is_proved] = 0, True
            bends[~is_proved] = np.where(self.postures.moves | ~self.postures.moves.any(), np.nan, -np.inf)
            why[~is_proved] = len(self.reasons)
            is_void = ~is_proved
            is_void[is_void] = self.postures.are_unreachable(boxes[is_void])
            codes[is_void, 0], bounds[is_void, 0], counts[is_void] = UNREACHABLE, 1.0, 1
            possible[is_void], why[is_void] = False, 0
        return BoxBounds(codes, bounds, counts, possible, bends, inner, why)

    def _shares(
        self, tape: Tape, slope_tape: Tape, boxes: Array, states: Array, inner: Array, is_proved: NDArray[np.bool_]
    ) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Bounds of the shares of boxes in which functions are positive; how slopes vary; where something jumps."""
        values, broken = tape(states)
        values[~is_proved] = (-np.inf, np.inf)
        n, n_functions = values.shape[:2]
        shares = np.zeros((n, n_functions, 2))
        shares[..., 0], shares[..., 1] = values[..., 0] > 0.0, values[..., 1] >= 0.0
        bends = np.full((n, self.n_axes), np.nan)
        open_ = np.flatnonzero((shares[..., 0] != shares[..., 1]).any(axis=-1))
        if not len(open_):
            return shares, bends, broken
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
        return shares, bends, broken

    def _at_points(self, tape: Tape, points: Array, inner: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Enclosures of the functions at values of the axes (N, k), and where the posture there is proved."""
        boxes = np.stack([points, points], axis=-1)
        u, _, is_proved = self.postures.enclosed(boxes, inner)
        values, _ = tape(np.concatenate([boxes, u], axis=1))
        return values, is_proved

    def meets_others(self, boxes: Array, inner: Array) -> NDArray[np.bool_]:
        """Where a slip or a gap vanishes in a box (N, k, 2): other modes hold there, and no division helps."""
        found = np.zeros(len(boxes), dtype=np.bool_)
        is_shown = np.isfinite(inner).all(axis=(1, 2))  # else to follow the branch to all corners is in vain mostly
        if not (len(self.switches) and is_shown.any()):
            return found
        boxes, inner = boxes[is_shown], inner[is_shown]
        least, most = (
            np.full((len(boxes), len(self.switches)), np.inf),
            np.full((len(boxes), len(self.switches)), -np.inf),
        )
        for ends in itertools.product((0, 1), repeat=self.n_axes):
            corner = np.stack([boxes[:, axis, end] for axis, end in enumerate(ends)], axis=-1)
            values, is_proved = self._at_points(self.values, corner, inner)
            ends_ = np.where(is_proved[:, None, None], values[:, self.switches], np.nan)
            least, most = np.fmin(least, ends_[..., 0]), np.fmax(most, ends_[..., 1])
        found[is_shown] = ((least <= 0.0) & (most >= 0.0)).any(axis=1)
        return found

    def divided(self, boxes: Array, widths: Array, bends: Array) -> Array:
        """Both halves of each box."""
        halves = np.empty((2 * len(boxes), self.n_axes, 2))
        halve(boxes, widths, bends, np.asarray(np.isfinite(bends).all(axis=-1)), halves)
        return halves


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
    adjacent = np.array(
        [
            [sum(a != b for a, b in zip(one.modes, two.modes, strict=True)) < 2 for two in conditions.modes]
            for one in conditions.modes
        ],
        dtype=np.bool_,
    ).reshape(len(conditions.modes), len(conditions.modes))
    needed = sorted({f for clause in conditions.required for f in clause.functions})
    switching = [*conditions.open, *(clause for mode in conditions.modes for clause in mode.directions)]
    return BoxReader(
        tuple(labels),
        n_axes,
        tape_of(graph, conditions.functions, names),
        tape_of(graph, slopes.ravel().tolist(), names),
        NumberedConditions(
            required=_codes(required),
            gates=_codes(gates),
            labels=_codes(labels.index(mode.label) for mode in conditions.modes),
            modes=_padded(modes),
            roles=_padded(roles),
            clauses=_padded([[clause.sign, *clause.functions] for clause in clauses]),
            adjacent=adjacent,
        ),
        (*(clause.why for clause in conditions.required), *_REASONS),
        _codes(sorted({f for clause in switching for f in clause.functions})),
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
