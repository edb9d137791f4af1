"""All postures that pins allow at one place, and the one that a start names.

Postures followed along straight lines in what is pinned, without leaving their branch.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.arithmetic import solve_each
from hybrid.dynamics.positions import (
    PositionProblem,
    is_explicit,
    linearised,
    newton,
    newton_from,
    position_problem,
    solve_positions,
)
from hybrid.dynamics.scales import coordinate_sizes
from hybrid.dynamics.state import read_one_number, sort_pins
from hybrid.errors import StateError
from hybrid.tolerances import CLEAR, NEARLY, NOTHING, SQUARED, SUMMED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hybrid.dynamics.derive import Dynamics
    from hybrid.tolerances import Tolerances

__all__ = [
    "Steps",
    "distinct_postures",
    "first_postures",
    "is_same_posture",
    "named_posture",
    "orientation",
    "polished",
    "read_start",
    "taken",
]


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
    radians = problem.bound.radians
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


_SAME_POSTURE = CLEAR  # of the size of each coordinate


def read_start(
    dynamics: Dynamics,
    start: Mapping[str, Any],
    *,
    unknown: Collection[str],
    swept: Collection[str],
) -> dict[str, float]:
    """The values that name a branch.

    Parameters
    ----------
    dynamics : Dynamics
    start : mapping of str to float or str
    unknown : collection of str
        Coordinates that the pins leave to the equations.
    swept : collection of str
        Quantities with a value at which the branch starts.

    Returns
    -------
    dict of str to float

    Raises
    ------
    StateError
        Another name, or a value that is not one finite number.
    """
    known = dynamics.values
    scalars = {name: np.ravel(value)[0] if np.ndim(value) else value for name, value in known.items()}
    for name in start:
        if name not in (*unknown, *swept):
            raise StateError(
                f"branch {name}: a branch is named by coordinates that the pins leave open and by what is swept; "
                f"here these are {', '.join((*unknown, *swept)) or 'none'}"
            )
    return {name: read_one_number(f"branch {name}", value, scalars) for name, value in start.items()}


def is_same_posture(problem: PositionProblem, first: Array, second: Array, *, rounding: Array | float = 0.0) -> bool:
    """Whether positions are alike: all kinematics are, which full turns of an angle leave unchanged.

    Parameters
    ----------
    problem : PositionProblem
        With one row of pins.
    first, second : array, (n,)
    rounding : array, (n,), or float
        What the coordinates from which one was solved may have left in it.

    Returns
    -------
    bool
    """
    dynamics = problem.dynamics
    rest, time = np.zeros(dynamics.n), problem.time[0]
    values = {name: np.ravel(value)[0] if np.ndim(value) else value for name, value in problem.parameters.items()}
    sizes = coordinate_sizes(dynamics.at(values), np.maximum(np.abs(first), np.abs(second)), t=time)
    if (np.abs(first - second) <= _SAME_POSTURE * sizes + rounding).all():
        return True
    terms = [dynamics.terms(q, rest, t=time, parameters=values) for q in (first, second)]
    extents = {"gap": np.abs(terms[0].W_N).T @ sizes, "constraint": np.abs(terms[0].J) @ sizes}
    return all(
        np.allclose(one, other, rtol=NOTHING, atol=NOTHING * float(np.max(np.abs(extents.get(name, one)), initial=0.0)))
        for name in ("M", "h", "gap", "W_N", "W_T", "constraint", "J")
        for one, other in ((getattr(terms[0], name), getattr(terms[1], name)),)
    )


def distinct_postures(
    problem: PositionProblem, known: list[Array], tolerances: Tolerances, named: Mapping[str, float] | None = None
) -> list[Array]:
    """Known postures and those that Newton's method finds from its starts; full turns of an angle count once.

    Parameters
    ----------
    problem : PositionProblem
        Of one state.
    known : list of array, (n,)
    tolerances : Tolerances
    named : mapping of str to float, optional
        Coordinates that are put into every start.

    Returns
    -------
    list of array, (n,)
    """
    found = list(known)
    if not problem.free:
        return found
    index = {name: k for k, name in enumerate(problem.dynamics.mechanism.coordinates)}
    for start in problem.starts:
        q = problem.started(start)
        begin = np.abs(q[0])
        rounding = np.finfo(float).eps * begin
        if named:
            q[:, [index[name] for name in named]] = list(named.values())
            (trial,), (converged,) = newton_from(problem, q, tolerances)
        else:
            (trial,), (converged,) = newton(problem, start, tolerances)
        if converged and not any(
            is_same_posture(problem, trial, other, rounding=rounding)
            or _is_one_root(problem, trial, other, np.maximum(np.abs(trial), begin))
            for other in found
        ):
            found.append(trial)
    return found


def first_postures(
    dynamics: Dynamics, pins: Mapping[str, Any], *, tolerances: Tolerances
) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    """What is to be known of the postures that pins of many states are solved to first.

    Parameters
    ----------
    dynamics : Dynamics
        At the values of the parameters, which may be arrays.
    pins : mapping of str to array_like
    tolerances : Tolerances

    Returns
    -------
    has_others : array of bool, (N,)
        Newton's method comes to another posture from one of its starts, be it only a full turn of an angle away.
    side : array of int, (N,)
        Of the folds, by :func:`orientation`: different on different branches.
    """
    placed = sort_pins(dynamics, pins)
    problem, _ = position_problem(dynamics, placed)
    has_others = np.zeros(len(problem.time), dtype=bool)
    if is_explicit(dynamics, placed):
        return has_others, has_others.astype(np.int8)
    q, reached = solve_positions(problem, tolerances)
    begin = reduce(np.maximum, (np.abs(problem.started(start)) for start in problem.starts))  # its rounding is left
    for start in problem.starts:
        other, converged = newton(problem, start, tolerances)
        apart = np.abs(other - q) > NEARLY * np.maximum(np.abs(other), np.abs(q)) + SUMMED * begin
        has_others |= converged & reached & apart.any(axis=-1)
    return has_others, orientation(problem, q)


def _is_one_root(problem: PositionProblem, first: Array, second: Array, reach: Array) -> bool:
    """Whether postures (n,), which Newton's method found no better than to a root of rounding, are one multiple root.

    Between two roots the pins do not hold; halfway between two approximations of one root they hold as well as there.
    """
    if not (np.abs(first - second) <= NEARLY * reach).all():
        return False
    free = np.array(problem.free, dtype=np.intp)
    three = np.array([first, second, (first + second) / 2])
    A, residual, *_ = linearised(problem.take(np.zeros(3, dtype=np.intp)), three, free)
    size = np.max(np.abs(A) @ reach[free], axis=0)
    missed = np.max(np.abs(residual) / np.where(size > 0.0, size, 1.0), axis=1)
    return bool(missed[2] <= max(missed[:2]) + SUMMED)


def named_posture(
    problem: PositionProblem, named: Mapping[str, float], tolerances: Tolerances
) -> tuple[Array, tuple[Array, ...]]:
    """The posture nearest to named coordinates, or the first one if none is named.

    Parameters
    ----------
    problem : PositionProblem
        Of one state.
    named : mapping of str to float
    tolerances : Tolerances

    Returns
    -------
    q : array, (n,)
    others : tuple of array, (n,)

    Raises
    ------
    StateError
        There is no posture.
    """
    dynamics = problem.dynamics
    near = distinct_postures(problem, [], tolerances, named) if named else []
    found = distinct_postures(problem, near, tolerances)
    if not found:
        raise StateError(f"no posture of {dynamics.name} satisfies the pins where the branch starts")
    columns = [dynamics.mechanism.coordinates.index(name) for name in named]
    distances = [float(np.max(np.abs(q[columns] - list(named.values())), initial=0.0)) for q in found]
    chosen = int(np.argmin(distances))
    return found[chosen] + 0.0, tuple(q + 0.0 for k, q in enumerate(found) if k != chosen)
