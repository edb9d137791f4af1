"""A lattice of pins over which one branch of postures spreads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.continuation import Steps, polished
from hybrid.dynamics.positions import PositionProblem, solve_positions
from hybrid.dynamics.postures import is_same_posture
from hybrid.tolerances import CLEAR

if TYPE_CHECKING:
    from hybrid.tolerances import Tolerances

__all__ = ["Lattice"]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_SAME = CLEAR  # of coordinates: two ways to a regular posture agree to 1e-13
_LEFT_OUT = 64  # nodes that the branch does not reach at which other postures are looked for


@attrs.define(eq=False)
class Lattice:
    """Postures at the nodes of a lattice, filled from one of them.

    Attributes
    ----------
    problem : PositionProblem
        Pins at the nodes, the last axis fastest.
    shape : tuple of int, length d
    sign : int
        Orientation of the branch.
    q : array, (N, n)
        NaN where the branch does not come.
    reached : array of bool, (N,)
    ends : mapping of (int, int) to float
        Neighbouring nodes between which the branch ends, and the share of the way at which it does.
    """

    problem: PositionProblem
    shape: tuple[int, ...]
    sign: int
    q: Array = attrs.field(init=False)
    reached: NDArray[np.bool_] = attrs.field(init=False)
    ends: dict[tuple[int, int], float] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        n = int(np.prod(self.shape))
        self.q, self.reached = np.full((n, self.problem.dynamics.n), np.nan), np.zeros(n, dtype=bool)

    def fill(self, start: int, q: Array, tolerances: Tolerances) -> None:
        """Spread along one axis after the other, in turn, until nothing is left to reach."""
        self.q[start], self.reached[start] = q, True
        idle = axis = 0
        while idle < len(self.shape):
            idle = 0 if self._spread(axis) else idle + 1
            axis = (axis + 1) % len(self.shape)
        rows = np.flatnonzero(self.reached)
        self.q[rows], _ = polished(self.problem.take(rows), self.q[rows], tolerances)

    def _neighbours(self, rows: Rows, axis: int, side: int) -> Rows:
        """The next node (N,) along an axis to one side, -1 beyond the rim."""
        index = list(np.unravel_index(rows, self.shape))
        index[axis] = index[axis] + side
        inside = (index[axis] >= 0) & (index[axis] < self.shape[axis])
        index[axis] = np.where(inside, index[axis], 0)
        return np.where(inside, np.ravel_multi_index(tuple(index), self.shape), -1)

    def _spread(self, axis: int) -> bool:
        """Go along an axis from all nodes; whether any was reached."""
        source, target = self._edges(np.flatnonzero(self.reached), axis)
        if not len(source):
            return False
        steps = Steps(self.problem, self.problem, source, target, self.q[source])
        found = False
        while len(steps.source):
            steps.advance(self.sign)
            arrived = np.flatnonzero(steps.has_arrived & ~self.reached[steps.target])
            new, place = np.unique(steps.target[arrived], return_index=True)
            self.q[new], self.reached[new] = steps.q[arrived[place]], True
            found |= bool(len(new))
            for line in np.flatnonzero(~steps.is_underway & ~steps.has_arrived):
                self.ends[int(steps.source[line]), int(steps.target[line])] = float(steps.share[line])
            steps.keep(steps.is_underway & ~self.reached[steps.target])
            source, target = self._edges(new, axis)
            steps.add(source, target, self.q[source])
        return found

    def _edges(self, rows: Rows, axis: int) -> tuple[Rows, Rows]:
        """Edges from nodes along an axis to those neighbours that are neither reached nor tried."""
        source = np.concatenate([rows, rows])
        target = np.concatenate([self._neighbours(rows, axis, side) for side in (1, -1)])
        free = (target >= 0) & ~self.reached[target]
        if self.ends:
            free &= np.array([edge not in self.ends for edge in zip(source, target, strict=True)], dtype=bool)
        return source[free], target[free]

    def folds(self, nodes: Sequence[Array]) -> Array:
        """Places (f, d) between neighbouring nodes at which the branch ends."""
        found = [(*edge, share) for edge, share in self.ends.items() if not self.reached[edge[1]]]
        return np.array(
            [
                (1.0 - share) * _place(nodes, source, self.shape) + share * _place(nodes, target, self.shape)
                for source, target, share in found
            ]
        ).reshape(-1, len(nodes))

    def seams(self, nodes: Sequence[Array]) -> Array:
        """Middles (s, d) of the edges whose ends are both reached but not followed into each other."""
        found = []
        for axis in range(len(self.shape)) if len(self.shape) > 1 else ():
            rows = np.flatnonzero(self.reached)
            target = self._neighbours(rows, axis, 1)
            both = (target >= 0) & self.reached[target]
            source, target = rows[both], target[both]
            steps = Steps(self.problem, self.problem, source, target, self.q[source])
            steps.finish(self.sign)
            apart = np.max(np.abs(steps.q - self.q[target]), axis=1, initial=0.0)
            size = 1.0 + np.max(np.abs(self.q[target]), axis=1, initial=0.0)
            for line in np.flatnonzero(~(steps.has_arrived & (apart <= _SAME * size))):
                edge = (int(source[line]), int(target[line]))
                problem = self.problem.take(np.array(edge[1:]))
                if not is_same_posture(problem, steps.q[line], self.q[edge[1]]):
                    found.append(sum(_place(nodes, row, self.shape) for row in edge) / 2)
        return np.array(found).reshape(-1, len(nodes))

    def leaves_out(self, tolerances: Tolerances) -> bool:
        """Whether Newton's method finds postures at nodes that the branch does not reach."""
        left = np.flatnonzero(~self.reached)
        if not len(left):
            return False
        chosen = left[np.unique(np.linspace(0, len(left) - 1, _LEFT_OUT).astype(np.intp))]
        return bool(solve_positions(self.problem.take(chosen), tolerances)[1].any())


def _place(nodes: Sequence[Array], row: int, shape: tuple[int, ...]) -> Array:
    index = np.unravel_index(row, shape)
    return np.array([column[i] for column, i in zip(nodes, index, strict=True)])
