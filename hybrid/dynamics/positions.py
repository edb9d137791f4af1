"""Positions from pins, by Newton's method on many states at once, and what their equations depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.dynamics.arithmetic import solve_each
from hybrid.dynamics.scales import coordinate_sizes
from hybrid.expressions import FUNCTIONS, Builder, Graph, Nodes, jacobian
from hybrid.tolerances import UNSEEN, Tolerances

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from numpy.typing import NDArray

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
    "parameters_that_count",
    "position_problem",
    "solve_positions",
]

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
        values = parameters_that_count(dynamics, pins, dynamics.given)
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


def solve_positions(problem: PositionProblem, tolerances: Tolerances) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
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
    reached = np.ones(len(q), dtype=bool)
    reached[pending] = False
    return q + 0.0, reached


def newton(
    problem: PositionProblem, start: Start, tolerances: Tolerances
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
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
    problem: PositionProblem, q: NDArray[np.float64], tolerances: Tolerances, *, longest: float = _LONGEST_STEP
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
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
        Where all equations are satisfied, those that repeat others too.
    """
    free = np.array(problem.free, dtype=np.intp)
    radians = problem.dynamics.at(problem.parameters).radians
    if not len(free):
        return q, np.asarray(np.isfinite(q).all(axis=1))
    converged = np.zeros(len(q), dtype=bool)
    active, own = np.arange(len(q)), problem
    milestone, first = np.full(len(q), np.inf), None
    for step in range(_MAX_STEPS):
        A, residual, scale, sizes = linearised(own, q[active], free, radians=radians)
        if first is None:
            first = tolerances.gap * np.abs(residual)
        # a coordinate that converges to a double zero has no size there: that of where it came from is left
        scale = np.maximum(scale, first[active])
        size = (np.abs(residual) / np.where(scale > 0.0, scale, 1.0)).max(axis=1)
        change = solve_each(A, residual[..., None])[..., 0]
        length = np.abs(change).max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            converged[active[size <= tolerances.gap]] = True
            settled = (np.abs(change) <= _SETTLED * sizes).all(axis=1)
            done = (size <= UNSEEN * tolerances.gap) | settled | ~np.isfinite(change).all(axis=1)
            if step % _PATIENCE == _PATIENCE - 1:
                done |= ~(size <= milestone[active] / 2)
                milestone[active] = size
            if longest < np.inf:
                change = np.where(length > longest, change * (longest / length), change)
        keep = ~done
        q[np.ix_(active[keep], free)] -= change[keep]
        if not keep.any():
            break
        if done.any():
            active, own = active[keep], own.take(np.nonzero(keep)[0])
    return q, converged & _satisfies_the_rest(problem, q, tolerances)


def _satisfies_the_rest(problem: PositionProblem, q: NDArray[np.float64], tolerances: Tolerances) -> NDArray[np.bool_]:
    """Where the constraints hold that were left out because they repeat others."""
    dynamics = problem.dynamics
    rest = [row for row in range(len(dynamics.rigid)) if row not in problem.independent]
    if not rest:
        return np.ones(len(q), dtype=bool)
    at = dynamics.kinematics(q, np.zeros(dynamics.n), t=problem.time, parameters=problem.parameters)
    sizes = coordinate_sizes(dynamics.at(problem.parameters), q, t=problem.time)
    scale = (np.abs(at["J"]) @ sizes[..., None])[..., rest, 0]
    left = np.abs(at["constraint"][..., rest]) <= tolerances.gap * scale
    return np.broadcast_to(left.all(axis=-1), len(q))


def linearised(
    problem: PositionProblem,
    q: NDArray[np.float64],
    free: NDArray[np.intp],
    *,
    radians: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
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
    at = dynamics.kinematics(q, np.zeros(dynamics.n), t=problem.time, parameters=problem.parameters)
    sizes = coordinate_sizes(dynamics.at(problem.parameters), q, t=problem.time, radians=radians)
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
    places, loads = graph.needed([*equations.gap, *equations.constraint]), graph.needed(equations.h)
    bends = any(fact and fact.bends for fact in (FUNCTIONS.get(graph.operations[node]) for node in places))
    jumps = any(fact and fact.jumps for fact in (FUNCTIONS.get(graph.operations[node]) for node in loads))
    return bends or jumps or any(_may_jump(graph, node) for node in {*places, *graph.needed(equations.slip)})


def _may_jump(graph: Graph, node: int) -> bool:
    """Whether a node is a function that jumps, or a quotient or power with a pole."""
    operation = graph.operations[node]
    if operation == "**":
        exponent = graph.values[graph.arguments[node][1]]
        return exponent is not None and not isinstance(exponent, str) and exponent < 0
    fact = FUNCTIONS.get(operation)
    return operation == "/" or bool(fact and fact.jumps)


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
    if name in dynamics.mechanism.parameters:
        return name in parameters_that_count(dynamics, pins, {name: np.broadcast_to(dynamics.values[name], (2,))})
    used = dynamics.equations.names(_equations(dynamics, pins.positions))
    return name in used or (name in pins.positions and name.startswith("gap."))


def parameters_that_count(dynamics: Dynamics, pins: Pins, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters without the arrays on which no position depends: positions are solved once for all of them.

    Parameters
    ----------
    dynamics : Dynamics
    pins : Pins
    parameters : mapping of str to float or array

    Returns
    -------
    dict of str to float or array
        Numbers are kept, whether they count or not.
    """
    arrays = [name for name, value in parameters.items() if np.ndim(value)]
    if not arrays:
        return dict(parameters)
    used = dynamics.equations.names(_equations(dynamics, pins.positions))
    left_out = [name for name in arrays if not counts(dynamics, name, parameters[name], used)]
    return {name: value for name, value in parameters.items() if name not in left_out}


def counts(dynamics: Dynamics, name: str, value: Any, used: Collection[str]) -> bool:
    """Whether a parameter that takes several values, or one declared as an expression of it, is among those used.

    Parameters
    ----------
    dynamics : Dynamics
    name : str
    value : array
    used : collection of str

    Returns
    -------
    bool
    """
    if name in used or not np.size(value):
        return True
    others = {other: np.ravel(item)[0] for other, item in dynamics.given.items() if np.ndim(item) and np.size(item)}
    resolved = dynamics.at({**others, name: np.ravel(value)[:1]}).values
    return any(np.ndim(resolved[other]) for other in used if other in resolved)
