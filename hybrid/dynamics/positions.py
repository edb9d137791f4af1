"""Pinned positions of many states at once, solved by Newton's method, and what their equations depend on."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.arithmetic import solve_each
from hybrid.dynamics.consistency import far_angles
from hybrid.dynamics.counting import counts, those_that_count
from hybrid.dynamics.scales import coordinate_sizes, may_turn_far
from hybrid.dynamics.solution_curves import on_curves
from hybrid.expressions import Builder, Nodes, jacobian
from hybrid.tolerances import CLEAR, ROUNDING, UNSEEN, Tolerances

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.state import Pins

__all__ = [
    "STARTS",
    "PositionProblem",
    "Start",
    "depends_on",
    "has_kinks",
    "is_explicit",
    "linearised",
    "newton",
    "newton_from",
    "position_problem",
    "solve_positions",
]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Booleans = NDArray[np.bool_]

Start = tuple[float, float]

STARTS: tuple[Start, ...] = (
    *((value, 0.0) for value in (0.0, 0.5, -0.5, 1.2, -1.2, 2.2, -2.2, 3.0)),
    *((value, spread) for spread in (0.8, -0.8) for value in (0.3, 1.3, -1.3, -2.7)),
)
"""Value of the first unknown coordinate from which Newton's method starts, and step to each next one, in this order.

Bars that are all parallel are a singular posture of a linkage, where equal values of its angles get stuck.
"""

_MAX_STEPS = 60
_PATIENCE = 6  # steps in which the residual must halve; Newton's method doubles its digits in one
_SETTLED = 4 * float(np.finfo(np.float64).eps)  # of a coordinate: a step that changes nothing any more
_ROUNDED = 8 * float(np.finfo(np.float64).eps)  # of the terms of an equation, and of a coordinate
_LONGEST_STEP = 1.0  # radians or so: longer steps leave the basin of an angle


@attrs.frozen(eq=False)
class PositionProblem:
    """Pinned positions of N states in a row.

    Attributes
    ----------
    dynamics : Dynamics
    pinned : mapping of coordinate index to array, (N,)
    gaps : mapping of contact index to array, (N,)
        Pinned gaps.
    time : array, (N,)
    parameters : mapping of str to float or array, (N,)
    independent : tuple of int
        Rigid constraints to solve; the others, which repeat them, are checked.
    """

    dynamics: Dynamics
    pinned: dict[int, NDArray[np.float64]]
    gaps: dict[int, NDArray[np.float64]]
    time: NDArray[np.float64]
    parameters: dict[str, Any]
    independent: tuple[int, ...]

    @cached_property
    def bound(self) -> Dynamics:
        """The equations at the values of the parameters."""
        return self.dynamics.at(self.parameters)

    @property
    def free(self) -> list[int]:
        """Indices of the coordinates to solve for."""
        return [index for index in range(self.dynamics.n) if index not in self.pinned]

    def take(self, rows: NDArray[np.intp]) -> PositionProblem:
        """The problem of some of the states, whose numbers are an array of any shape."""
        return PositionProblem(
            self.dynamics,
            {index: value[rows] for index, value in self.pinned.items()},
            {index: value[rows] for index, value in self.gaps.items()},
            self.time[rows],
            {name: value[rows] if np.ndim(value) else value for name, value in self.parameters.items()},
            self.independent,
        )

    @property
    def starts(self) -> tuple[Start, ...]:
        """Where to start: with one unknown at most, steps between unknowns tell nothing apart."""
        return STARTS if len(self.free) > 1 else tuple(start for start in STARTS if not start[1])

    def started(self, start: Start) -> NDArray[np.float64]:
        """Positions (N, n) with the pinned coordinates in place and the others at ``start``."""
        q = np.empty((len(self.time), self.dynamics.n))
        q[:, self.free] = start[0] + start[1] * np.arange(len(self.free))
        for index, value in self.pinned.items():
            q[:, index] = value
        return q


def position_problem(dynamics: Dynamics, pins: Pins) -> tuple[PositionProblem, tuple[int, ...]]:
    """The position pins of an array of states, in a row.

    Parameters
    ----------
    dynamics : Dynamics
    pins : Pins

    Returns
    -------
    problem : PositionProblem
    shape : tuple of int
        Broadcast shape of what the positions depend on.
    """
    coordinates = dynamics.mechanism.coordinates
    values: dict[str, Any] = {}
    if not set(pins.positions) <= set(coordinates) or dynamics.rigid:
        values = dict(dynamics.given)
    if any(np.ndim(value) for value in values.values()):
        values = those_that_count(dynamics, values, dynamics.equations.names(_equations(dynamics, pins.positions)))
    arrays = [np.asarray(value, dtype=float) for value in (*pins.positions.values(), pins.time)]
    shape = np.broadcast_shapes(*(array.shape for array in arrays), *(np.shape(value) for value in values.values()))

    def flat(value: Any) -> NDArray[np.float64]:
        return np.full(shape, value, dtype=float).reshape(-1)

    # of the parameters on which no position depends, whose arrays have other axes, any value will do
    plain = {name: np.ravel(value)[0] for name, value in dynamics.given.items() if np.ndim(value) and np.size(value)}
    problem = PositionProblem(
        dynamics.at(plain),
        {coordinates.index(name): flat(value) for name, value in pins.positions.items() if name in coordinates},
        {
            dynamics.contacts.index(name.removeprefix("gap.")): flat(value)
            for name, value in pins.positions.items()
            if name not in coordinates
        },
        flat(pins.time),
        {name: flat(value) if np.ndim(value) else value for name, value in values.items()},
        pins.independent,
    )
    return problem, shape


def solve_positions(problem: PositionProblem, tolerances: Tolerances) -> tuple[Array, Booleans]:
    """The unknown coordinates, solved for from each start in turn until every state is reached.

    Parameters
    ----------
    problem : PositionProblem
        Of N states.
    tolerances : Tolerances

    Returns
    -------
    q : array, (N, n)
        NaN where no start leads to a solution.
    reached : array of bool, (N,)
    """
    q = np.full((len(problem.time), problem.dynamics.n), np.nan)
    pending = np.arange(len(problem.time))
    for start in problem.starts:
        trial, converged = newton(problem.take(pending), start, tolerances)
        q[pending[converged]] = trial[converged]
        pending = pending[~converged]
        if not len(pending) or not problem.free:
            break
    return q + 0.0, ~np.isnan(q[:, 0])


def newton(problem: PositionProblem, start: Start, tolerances: Tolerances) -> tuple[Array, Booleans]:
    """Newton's method from one start; states that have converged, or make no progress, are left alone.

    Parameters
    ----------
    problem : PositionProblem
        Of N states.
    start : Start
        Value of the first unknown coordinate, and step to each next one.
    tolerances : Tolerances

    Returns
    -------
    q : array, (N, n)
    converged : array of bool, (N,)
    """
    # a linear gap is solved by one step of any length; only later starts, for angles, are kept short
    longest = np.inf if start == STARTS[0] else _LONGEST_STEP
    return newton_from(problem, problem.started(start), tolerances, longest=longest)


def newton_from(
    problem: PositionProblem, q: Array, tolerances: Tolerances, *, longest: float = _LONGEST_STEP
) -> tuple[Array, Booleans]:
    """Newton's method from given positions.

    Parameters
    ----------
    problem : PositionProblem
        Of N states.
    q : array, (N, n)
        With the pinned coordinates in place; overwritten.
    tolerances : Tolerances
    longest : float
        Of a step, in any coordinate; a longer one is shortened to it.

    Returns
    -------
    q : array, (N, n)
    converged : array of bool, (N,)
        Where all equations are satisfied, those that repeat others too, and leave no coordinate open.
    """
    free = np.array(problem.free, dtype=np.intp)
    radians = problem.bound.radians
    if not len(free):
        return q, np.asarray(np.isfinite(q).all(axis=1))
    converged, doubtful = np.zeros((2, len(q)), dtype=bool)
    active, own = np.arange(len(q)), problem
    milestone, first = np.full(len(q), np.inf), None
    for step in range(_MAX_STEPS):
        A, residual, scale, sizes = linearised(own, q[active], free, radians=radians)
        if first is None:
            first = tolerances.gap * np.abs(residual)
        # a coordinate that converges to a double zero has no size there: that of where it came from is left
        scale = np.maximum(scale, first[active])
        change = solve_each(A, residual[..., None])[..., 0]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            size = (np.abs(residual) / np.where(scale > 0.0, scale, 1.0)).max(axis=1)
            converged[active[size <= tolerances.gap]] = True
            settled = (np.abs(change) <= _SETTLED * sizes).all(axis=1)
            done = (size <= UNSEEN * tolerances.gap) | settled | ~np.isfinite(change).all(axis=1)
            if step % _PATIENCE == _PATIENCE - 1:
                done |= ~(size <= milestone[active] / 2)
                milestone[active] = size
            if done.any():
                doubtful[active[done]] = _may_be_singular(A[done]) | _is_faint(A, scale, sizes)[done]
                if done.all():
                    break
                keep = ~done
                active, change, own = active[keep], change[keep], own.take(np.flatnonzero(keep))
            if longest < np.inf:
                length = np.abs(change).max(axis=1, keepdims=True)
                change = np.where(length > longest, change * (longest / length), change)
        q[np.ix_(active, free)] -= change
    if may_turn_far(problem.bound, q, problem.time):  # every residual is small there
        converged &= ~far_angles(problem.bound, q, problem.time)[:, free].any(axis=1)
    converged &= _satisfies_the_rest(problem, q, tolerances)
    rows = np.flatnonzero(converged & doubtful)
    if len(rows):
        converged[rows] = ~_left_open(problem.take(rows), q[rows], tolerances)
    return q, converged


def _is_faint(A: Array, scale: Array, sizes: Array) -> Booleans:
    """Where what an unknown coordinate adds to an equation is less than the rounding of its terms, and not zero."""
    added = np.abs(A) * sizes[:, None]
    return np.asarray(((A != 0.0) & (added <= _ROUNDED * scale[..., None])).any(axis=(1, 2)))


def _left_open(problem: PositionProblem, q: Array, tolerances: Tolerances) -> Booleans:
    """Where the pins hold along a curve through given positions (N, n), or through others near to them."""
    free = np.array(problem.free, dtype=np.intp)
    radians = problem.bound.radians_at(q, problem.time)
    A, _, _, sizes = linearised(problem, q, free)
    error = _ROUNDED * np.abs(q)
    error[:, free] += ROUNDING * sizes
    with np.errstate(invalid="ignore"):  # a gap may have no gradient there
        spread = [np.abs(linearised(problem, q + off, free)[0] - A) for off in (error, -error)]
    is_rounding = (A != 0.0) & (np.abs(A) <= np.maximum(*spread))  # as sin(pi) is

    def without(slopes: Booleans) -> Booleans:
        def equations(q: Array) -> tuple[Array, Array, Array]:
            A, residual, scale, _ = linearised(problem, q, free)
            return np.where(slopes, 0.0, A), residual, scale

        return on_curves(equations, lambda q: _satisfies_the_rest(problem, q, tolerances), q, free, radians)

    is_open = without(np.zeros_like(is_rounding))
    return is_open | without(is_rounding) if is_rounding.any() else is_open


def _may_be_singular(A: Array) -> Booleans:
    """Where a determinant (N, f, f) is small beside the bound of Hadamard: where it vanishes, whatever the units."""
    bound = np.sqrt(np.einsum("nij,nij->ni", A, A).prod(axis=1))
    determinant = np.linalg.det(A) if A.shape[-1] > 1 else A[:, 0, 0]  # LAPACK is slow at single numbers
    return np.asarray(np.abs(determinant) <= CLEAR * bound)


def _satisfies_the_rest(problem: PositionProblem, q: Array, tolerances: Tolerances) -> Booleans:
    """Where the constraints hold that were left out because they repeat others."""
    dynamics = problem.dynamics
    rest = [row for row in range(len(dynamics.rigid)) if row not in problem.independent]
    if not rest:
        return np.ones(len(q), dtype=bool)
    at = problem.bound.kinematics(q, np.zeros(dynamics.n), t=problem.time)
    sizes = coordinate_sizes(problem.bound, q, t=problem.time)
    scale = (np.abs(at["J"]) @ sizes[..., None])[..., rest, 0]
    left = np.abs(at["constraint"][..., rest]) <= tolerances.gap * scale
    return np.broadcast_to(left.all(axis=-1), len(q))


def linearised(
    problem: PositionProblem,
    q: Array,
    free: Rows,
    *,
    radians: Array | None = None,
) -> tuple[Array, Array, Array, Array]:
    """The equations of the unknown coordinates, pinned gaps first and then independent constraints, to first order.

    Parameters
    ----------
    problem : PositionProblem
        Of N states.
    q : array, (N, n)
    free : array of int, (f,)
        The unknown coordinates.
    radians : array, (n,), optional
        What turns angles by one radian, where that is known to be the same everywhere.

    Returns
    -------
    A : array, (N, f, f)
        Jacobian.
    residual : array, (N, f)
        In the units of gaps and constraints.
    scale : array, (N, f)
        Size of the terms of each equation, to which its residual compares.
    sizes : array, (N, f)
        Of the unknown coordinates.
    """
    dynamics = problem.dynamics
    at = problem.bound.kinematics(q, np.zeros(dynamics.n), t=problem.time)
    sizes = coordinate_sizes(problem.bound, q, t=problem.time, radians=radians)
    A = np.empty((len(q), len(problem.gaps) + len(problem.independent), dynamics.n))
    residual = np.empty(A.shape[:2])
    for row, (gap, target) in enumerate(problem.gaps.items()):
        A[:, row], residual[:, row] = at["W_N"][..., gap], at["gap"][..., gap] - target
    for row, index in enumerate(problem.independent, len(problem.gaps)):
        A[:, row], residual[:, row] = at["J"][..., index, :], at["constraint"][..., index]
    sizes = np.broadcast_to(sizes, q.shape)
    with np.errstate(invalid="ignore"):  # a gap may have no gradient there
        scale = (np.abs(A) @ sizes[..., None])[..., 0]
    for column, target in enumerate(problem.gaps.values()):
        scale[:, column] += np.abs(target)
    return A[..., free], residual, scale, sizes[:, free]


def _equations(dynamics: Dynamics, positions: Iterable[str]) -> Nodes:
    equations = dynamics.equations
    gaps = [dynamics.contacts.index(name.removeprefix("gap.")) for name in positions if name.startswith("gap.")]
    return np.concatenate([equations.gap[gaps], equations.constraint])


def is_explicit(dynamics: Dynamics, pins: Pins) -> bool:
    """Whether the pins fix the coordinates by linear equations, so that there is one posture at most.

    Parameters
    ----------
    dynamics : Dynamics
    pins : Pins
        Only which quantities they fix counts.

    Returns
    -------
    bool
        False too where the graph does not show it.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> from hybrid.dynamics.state import sort_pins
    >>> rod, arm = (derive(mechanisms.load(name)) for name in ("rod_on_incline", "two_link_arm"))
    >>> is_explicit(rod, sort_pins(rod, {"phi": 1, "phi_dot": 0, "slip.tip": 0}))
    True
    >>> is_explicit(arm, sort_pins(arm, {"theta1": 1, "theta1_dot": 0}))
    False
    """
    return dynamics.once(_is_explicit, tuple(pins.positions))


def _is_explicit(dynamics: Dynamics, positions: tuple[str, ...]) -> bool:
    free = [name for name in dynamics.mechanism.coordinates if name not in positions]
    build = Builder(dynamics.equations.graph)
    slopes = jacobian(build, _equations(dynamics, positions), [build.name(name) for name in free])
    return build.graph().names(slopes.ravel()).isdisjoint(free)


def has_kinks(dynamics: Dynamics) -> bool:
    """Whether a kink or a jump is in a gap or a rigid constraint, or a jump in a slip or a load, as in few.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    bool
        True also where it bends no direction; :mod:`hybrid.dynamics.kinks` knows.
    """
    return dynamics.once(_has_kinks)


def _has_kinks(dynamics: Dynamics) -> bool:
    equations, graph = dynamics.equations, dynamics.equations.graph
    surfaces = [*equations.gap, *equations.constraint]
    return graph.bends(surfaces) or graph.jumps(equations.h) or graph.jumps([*surfaces, *equations.slip], poles=True)


def depends_on(dynamics: Dynamics, pins: Pins, name: str) -> bool:
    """Whether the unknown coordinates depend on a pin, the time or a parameter.

    Parameters
    ----------
    dynamics : Dynamics
    pins : Pins
    name : str
        Of a pin, a parameter, or ``t``.

    Returns
    -------
    bool
        True for a parameter too if one that is declared as an expression of it counts.
    """
    used = dynamics.equations.names(_equations(dynamics, pins.positions))
    if name in dynamics.mechanism.parameters:
        return counts(dynamics, name, np.broadcast_to(dynamics.values[name], (2,)), used)
    return name in used or (name in pins.positions and name.startswith("gap."))
