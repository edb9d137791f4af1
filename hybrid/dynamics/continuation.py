"""Postures followed along straight lines in what is pinned, without leaving their branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.linear import solve_each
from hybrid.dynamics.positions import PositionProblem, linearised, newton_from
from hybrid.tolerances import SQUARED

if TYPE_CHECKING:
    from hybrid.tolerances import Tolerances

__all__ = ["Steps", "orientation", "polished", "taken"]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Newton's corrections must shrink at least so fast, or the step is halved: the local contraction by which Deuflhard
# (Newton Methods for Nonlinear Problems, 2004, section 5.1) controls the steps of a continuation.
_CONTRACTION = 0.25
_CORRECTIONS = 5
# A correction as small as this leaves an error of its square, 1e-12; relative to the coordinates.
_SMALL = SQUARED
# Of the way between two nodes, some hundredth of a sweep. A fold is a square root in what is pinned: so near to it the
# posture is 4e-3 of a node's distance from singular, and what lies between counts as beyond it.
_SHORTEST = 2.0**-16


def orientation(problem: PositionProblem, q: Array) -> NDArray[np.int8]:
    """Sign of the determinant of the position equations, which stays the same on a branch.

    Parameters
    ----------
    problem : PositionProblem
        Of N states.
    q : array, (N, n)

    Returns
    -------
    array of int, (N,)
        +1 or -1; 0 where the determinant vanishes or is undefined.
    """
    A, *_ = linearised(problem, q, np.array(problem.free, dtype=np.intp))
    return _signs(A)


def _signs(A: Array) -> NDArray[np.int8]:
    defined = np.asarray(np.isfinite(A).all(axis=(-2, -1)))
    sign, _ = np.linalg.slogdet(np.where(defined[:, None, None], A, 0.0))
    return np.asarray(sign, dtype=np.int8)


def polished(problem: PositionProblem, q: Array, tolerances: Tolerances) -> tuple[Array, NDArray[np.bool_]]:
    """Positions to rounding from nearby ones, and where they satisfy all equations.

    Parameters
    ----------
    problem : PositionProblem
        Of N states.
    q : array, (N, n)
        Pinned coordinates are put in.
    tolerances : Tolerances

    Returns
    -------
    q : array, (N, n)
    converged : array of bool, (N,)
    """
    q = q.copy()
    for index, value in problem.pinned.items():
        q[:, index] = value
    return newton_from(problem, q, tolerances)


def _between(first: PositionProblem, second: PositionProblem, share: Array) -> PositionProblem:
    """Problems part of the way from one set of pins to another, row by row; the ends are exact."""

    def mixed(one: Any, other: Any) -> Any:
        return (1.0 - share) * one + share * other

    names = {*first.parameters, *second.parameters}
    return attrs.evolve(
        second,
        pinned={index: mixed(first.pinned[index], value) for index, value in second.pinned.items()},
        gaps={index: mixed(first.gaps[index], value) for index, value in second.gaps.items()},
        time=mixed(first.time, second.time),
        parameters={
            name: mixed(first.parameters[name], second.parameters[name])
            if np.ndim(second.parameters[name]) or np.ndim(first.parameters[name])
            else second.parameters[name]
            for name in names
        },
    )


def taken(
    first: PositionProblem, second: PositionProblem, share: Array, q: Array, sign: int
) -> tuple[Array, NDArray[np.bool_]]:
    """One step along each of N lines between pins.

    Parameters
    ----------
    first, second : PositionProblem
        Pins at the two ends of each line.
    share : array, (N,)
        Where on the line the step ends.
    q : array, (N, n)
        Positions where it begins.
    sign : int
        The orientation of the branch.

    Returns
    -------
    q : array, (N, n)
        To about 1e-12.
    kept : array of bool, (N,)
        Where Newton's method converges as fast as it does near its solution, and the orientation stays.
    """
    problem = _between(first, second, share)
    free = np.array(problem.free, dtype=np.intp)
    q = q.copy()
    for index, value in problem.pinned.items():
        q[:, index] = value
    radians = problem.dynamics.at(problem.parameters).radians
    kept, active = np.ones(len(q), dtype=bool), np.arange(len(q))
    last = np.full(len(q), np.inf)
    done = np.zeros(len(q), dtype=bool)
    for _ in range(_CORRECTIONS):
        A, residual, *_ = linearised(problem.take(active), q[active], free, radians=radians)
        change = solve_each(A, residual[..., None])[..., 0]
        q[np.ix_(active, free)] -= change
        with np.errstate(invalid="ignore"):
            size = np.max(np.abs(change), axis=1)
            small = size <= _SMALL * (1.0 + np.max(np.abs(q[np.ix_(active, free)]), axis=1))
            shrinks = small | (size <= _CONTRACTION * last[active])
        good = shrinks & (_signs(A) == sign)
        last[active] = size
        kept[active], done[active] = good, small
        active = active[good & ~small]
        if not len(active):
            break
    return q, kept & done


@attrs.define(eq=False)
class Steps:
    """Postures on their way along lines between pins, each at its own pace.

    Attributes
    ----------
    first, second : PositionProblem
        Tables of pins.
    source, target : array of int, (N,)
        Rows of the tables between which each line runs.
    q : array, (N, n)
        Positions reached so far.
    share : array, (N,)
        How far along the line that is.
    length : array, (N,)
        Of the next step; a line on which it is too short to be taken has ended.
    """

    first: PositionProblem
    second: PositionProblem
    source: Rows
    target: Rows
    q: Array
    share: Array = attrs.field(init=False)
    length: Array = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.share, self.length = np.zeros(len(self.q)), np.ones(len(self.q))

    @property
    def is_underway(self) -> NDArray[np.bool_]:
        """Lines that have neither arrived nor ended."""
        return np.asarray((self.share < 1.0) & (self.length >= _SHORTEST))

    @property
    def has_arrived(self) -> NDArray[np.bool_]:
        """Lines at whose end the branch is known."""
        return np.asarray(self.share == 1.0)

    def advance(self, sign: int) -> None:
        """Take one step on every line that is underway."""
        rows = np.flatnonzero(self.is_underway)
        to = np.minimum(1.0, self.share[rows] + self.length[rows])
        ends = self.first.take(self.source[rows]), self.second.take(self.target[rows])
        q, kept = taken(*ends, to, self.q[rows], sign)
        went, stayed = rows[kept], rows[~kept]
        self.q[went], self.share[went] = q[kept], to[kept]
        self.length[went] *= 2.0
        self.length[stayed] = (to[~kept] - self.share[stayed]) / 4.0

    def finish(self, sign: int) -> NDArray[np.bool_]:
        """Go on until every line has arrived or ended; where they arrived."""
        while self.is_underway.any():
            self.advance(sign)
        return self.has_arrived

    def keep(self, lines: NDArray[np.bool_]) -> None:
        """Drop all other lines."""
        for name in ("source", "target", "q", "share", "length"):
            setattr(self, name, getattr(self, name)[lines])

    def add(self, source: Rows, target: Rows, q: Array) -> None:
        """Set out on further lines."""
        more = (source, target, q, np.zeros(len(q)), np.ones(len(q)))
        for name, values in zip(("source", "target", "q", "share", "length"), more, strict=True):
            setattr(self, name, np.concatenate([getattr(self, name), values]))
