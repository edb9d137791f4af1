"""States that satisfy the rigid constraints, the nearest one to a state that does not, and masses that cannot be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.dynamics.arithmetic import definiteness, is_numerically_singular
from hybrid.dynamics.derive import bound
from hybrid.dynamics.scales import FARTHEST, scales_of
from hybrid.dynamics.state import State, check_state
from hybrid.errors import ComputationError, StateError
from hybrid.expressions import Builder, Kernel, compile_kernel, magnitudes, turn_nodes
from hybrid.tolerances import CLEAR, NEARLY, RANK, Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.equations import Terms

__all__ = [
    "check_accuracy",
    "check_angles",
    "check_consistency",
    "check_mass",
    "check_regularity",
    "far_angles",
    "lacks_mass",
    "project_state",
]


Array = NDArray[np.float64]


_ITERATIONS = 50
_CONVERGED = 4.0 * float(np.finfo(float).eps)


@checks_arguments
def project_state(
    dynamics: Dynamics, state: State, *, parameters: Values | None = None, tolerances: Tolerances = Tolerances()
) -> State:
    """The nearest state that satisfies the rigid constraints, in the metric of the mass matrix.

    The position is found by Newton's method with the corrections ``M^-1 J^T (J M^-1 J^T)^+ f``; the velocity by one
    such correction, which is the impulse of least kinetic energy (Ascher, Chin and Reich 1994).

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping, optional
    tolerances : Tolerances, optional

    Returns
    -------
    State

    Raises
    ------
    StateError
        No position nearby satisfies the constraints, or no velocity does: they contradict each other; or the state is
        none of this mechanism.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> pendulum = derive(mechanisms.load("singular_pendulum"))
    >>> near = project_state(pendulum, State([0.5, 0.3], [0.0, 1.0]))
    >>> [round(float(value), 6) for value in (*near.q, *near.v)]
    [0.526358, 0.267797, 0.592894, 0.279388]
    """
    dynamics = bound(dynamics, parameters)
    check_state(dynamics, state)
    q, v = np.array(state.q), np.array(state.v)
    for _ in range(_ITERATIONS):
        terms = dynamics.terms(q, v, t=state.t)
        change = _correction(dynamics, terms.M, terms.J, np.broadcast_to(terms.constraint, len(dynamics.rigid)))
        q = q - change
        if np.max(np.abs(change), initial=0.0) <= _CONVERGED * np.max(np.abs(q), initial=0.0):
            break
    terms = dynamics.terms(q, v, t=state.t)
    scales = scales_of(dynamics, terms, q, v, t=state.t)
    _refuse(dynamics, "position", np.asarray(terms.constraint), tolerances.gap * scales.constraint)
    v = v - _correction(dynamics, terms.M, terms.J, np.broadcast_to(terms.constraint_dot, len(dynamics.rigid)))
    terms = dynamics.terms(q, v, t=state.t)
    _refuse(dynamics, "velocity", np.asarray(terms.constraint_dot), tolerances.velocity * scales.constraint_dot)
    return State(q, v, state.t, state.sides)


def _correction(dynamics: Dynamics, M: Array, J: Array, residual: Array) -> Array:
    finite = np.isfinite(M).all() and np.isfinite(J).all() and np.isfinite(residual).all()
    if not finite or is_numerically_singular(M, rank=float(np.finfo(float).eps)):
        raise StateError(f"{dynamics.name}: the constraints or the mass matrix have no usable value on the way")
    lift = np.linalg.solve(M, J.T)
    mobility = J @ lift
    size = np.sqrt(np.abs(np.diagonal(mobility)))
    units = np.outer(*[np.where(size > 0.0, size, 1.0)] * 2)
    return np.asarray(lift @ (np.linalg.pinv(mobility / units, rcond=RANK, hermitian=True) / units @ residual))


def _refuse(dynamics: Dynamics, what: str, residual: Array, allowed: Array) -> None:
    if not (np.abs(residual) <= allowed).all():
        listed = ", ".join(f"{name} = {value:.3g}" for name, value in zip(dynamics.rigid, residual, strict=True))
        raise StateError(
            f"{dynamics.name}: no {what} nearby satisfies the constraints; they contradict each other there ({listed})"
        )


def check_angles(dynamics: Dynamics, q: Array, *, t: Any = 0.0) -> None:
    """Refuse angles of so many turns that gaps, which are judged next to them, are known no more.

    Parameters
    ----------
    dynamics : Dynamics
    q : array, (..., n)
        NaN where there is no position.
    t : array_like, (...)
        Time.

    Returns
    -------
    None
        No angle of which a gap or a constraint is a function is larger than 1e5 radians.

    Raises
    ------
    StateError
        With the value without whole turns.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> check_angles(derive(mechanisms.load("rod_on_incline")), np.array([0.0, 0.0, 3.0]))
    """
    angles = far_angles(dynamics, q, t)
    if angles.any():
        *_, place = first = tuple(np.argwhere(angles)[0])
        name, value, angle = dynamics.mechanism.coordinates[place], q[first], angles[first]
        within = math.atan2(math.sin(angle), math.cos(angle)) * value / angle
        raise StateError(
            f"{name} = {value:g} turns by more than {FARTHEST:g} radians, next to which gaps are judged too "
            f"coarsely; without whole turns it is {within:.12g}"
        )


def far_angles(dynamics: Dynamics, q: Array, t: Any) -> Array:
    """Angles of gaps and constraints of so many turns that these are known no more.

    Parameters
    ----------
    dynamics : Dynamics
    q : array, (..., n)
    t : array_like, (...)
        Time.

    Returns
    -------
    array, (..., n)
        In radians, of the coordinates that turn by more than 1e5 of them; 0 for others.
    """
    angles = np.zeros(q.shape)
    turns = dynamics.once(_turn_kernel)(dynamics.kernel_arguments(q, np.zeros(dynamics.n), t))
    for place, rates in turns.items():
        angles[..., int(place)] = q[..., int(place)] * np.max(np.abs(rates), axis=-1)
    return np.where(np.abs(angles) > FARTHEST, angles, 0.0)


def _turn_kernel(dynamics: Dynamics) -> Kernel:
    build, equations = Builder(dynamics.equations.graph), dynamics.equations
    roots = [*equations.gap, *equations.constraint]
    turns = turn_nodes(build, roots, equations.coordinates, functions=("sin", "cos", "tan"))
    return compile_kernel(build.graph(), turns, equations.arguments)


def check_consistency(dynamics: Dynamics, state: State, *, tolerances: Tolerances = Tolerances()) -> None:
    """The refusal of a state that violates a rigid constraint: by how much, and which state would do.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    tolerances : Tolerances, optional

    Returns
    -------
    None
        The state satisfies the rigid constraints within the tolerances.

    Raises
    ------
    StateError
        With the values and rates of those that it violates, and the projected state if there is one.
    """
    if not dynamics.rigid:
        return
    terms = dynamics.terms(state.q, state.v, t=state.t)
    scales = scales_of(dynamics, terms, state.q, state.v, t=state.t)
    wrong = [
        f"{name} (value {value:.6g}, rate {rate:.6g})"
        for name, value, rate, size, speed in zip(
            dynamics.rigid,
            terms.constraint,
            terms.constraint_dot,
            scales.constraint,
            scales.constraint_dot,
            strict=True,
        )
        if abs(value) > tolerances.gap * size or abs(rate) > tolerances.velocity * speed
    ]
    if wrong:
        raise StateError(
            f"{dynamics.name}: the state violates the constraint{'s' if len(wrong) > 1 else ''} {', '.join(wrong)}; "
            f"{_offer(dynamics, state, tolerances)}"
        )


def _offer(dynamics: Dynamics, state: State, tolerances: Tolerances) -> str:
    try:
        near = project_state(dynamics, state, tolerances=tolerances)
    except (StateError, ComputationError) as error:
        return str(error)
    mechanism = dynamics.mechanism
    names = (*mechanism.coordinates, *mechanism.velocities)
    shown = ", ".join(f"{name} = {value:.9g}" for name, value in zip(names, (*near.q, *near.v), strict=True))
    return f"projected onto them by hybrid.dynamics.project_state it is {shown}"


_ROUNDED = 8.0 * float(np.finfo(float).eps)  # some roundings of a constraint's terms, of which a posture is found


def check_accuracy(dynamics: Dynamics, state: State, terms: Terms) -> None:
    """The refusal of a state so near to a singular configuration that rounding decides its accelerations.

    A constraint vanishes up to the rounding of its terms, which moves the posture by as much divided by the gradient.
    That changes the gradient itself, all the more the smaller it is.

    Parameters
    ----------
    dynamics : Dynamics
        With rigid constraints, all of them independent.
    state : State
    terms : Terms
        At the state.

    Returns
    -------
    None
        The gradients are known to a share of ``CLEAR``.

    Raises
    ------
    ComputationError
        With the kind of the singular configuration where that is found.
    """
    from hybrid.dynamics.configuration import ConfigurationSpace  # for constraints

    L = _cholesky(terms.M)
    if L is None:
        return  # the mass matrix is refused by its own check
    J = np.broadcast_to(terms.J, (len(dynamics.rigid), dynamics.n))
    W = np.linalg.solve(L, J.T)
    length = np.linalg.norm(W, axis=0)
    if not length.all():
        return  # a constraint without any gradient is refused as redundant
    sizes = dynamics.once(_constraint_sizes)(dynamics.kernel_arguments(state.q, state.v, state.t))["constraint"]
    lift = np.linalg.solve(L.T, np.linalg.pinv(W).T)  # how postures answer to the constraints
    space = ConfigurationSpace(dynamics, state.t)
    moved = [space.curvature(state.q, shift) for shift in (lift * _ROUNDED * sizes).T]
    change = np.linalg.solve(L, np.swapaxes(moved, -1, -2))
    least = float(np.linalg.svd(W / length, compute_uv=False)[-1])
    if least > RANK and np.sum(np.abs(change / length)) > CLEAR * least:  # gradients that repeat others are elsewhere
        check_regularity(dynamics, state, lost=NEARLY)
        raise ComputationError(
            f"{dynamics.name}: the constraints {', '.join(dynamics.rigid)} have gradients here that rounding of the "
            "posture changes: a singular configuration is very near; take a state further beside it"
        )


def _cholesky(M: Array) -> Array | None:
    try:
        return np.asarray(np.linalg.cholesky(M))
    except np.linalg.LinAlgError:
        return None


def _constraint_sizes(dynamics: Dynamics) -> Kernel:
    build, equations = Builder(dynamics.equations.graph), dynamics.equations
    sizes = {"constraint": magnitudes(build, equations.constraint)}
    return compile_kernel(build.graph(), sizes, equations.arguments)


def check_regularity(dynamics: Dynamics, state: State, *, lost: float = CLEAR) -> None:
    """The refusal of a state in a singular configuration, where the constraints give no acceleration.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    lost : float
        Singular value of the Jacobian, as a share of its size nearby, below which the state counts as singular.

    Returns
    -------
    None
        The constraints keep the rank that they have nearby.

    Raises
    ------
    ComputationError
        With the kind of the singular configuration and its branches.
    """
    from hybrid.dynamics.configuration import ConfigurationSpace  # for dependent constraints
    from hybrid.dynamics.singular_points import classify_configuration

    space = ConfigurationSpace(dynamics, state.t)
    point = classify_configuration(space, np.array(state.q), lost=lost)
    if point is not None:
        raise ComputationError(
            f"{dynamics.name}: the constraints {', '.join(dynamics.rigid)} determine no acceleration in a singular "
            f"configuration, or so near to it that rounding decides: a {point.describe()}; take a state beside it"
        )


def lacks_mass(dynamics: Dynamics) -> bool:
    """Whether the mass matrix is not positive definite at any of some postures, at the parameters that are bound.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    bool
        True of a declaration at which no verdict can be given, as with a negative mass; False where no posture that was
        tried has a finite mass matrix.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> [lacks_mass(derive(mechanisms.load("bouncing_ball")).at({"m": m})) for m in (1, -1)]
    [False, True]
    """
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (8, dynamics.n))  # a few, within a unit of the origin
    with np.errstate(all="ignore"):  # an expression may be undefined at some of them
        smallest = definiteness(dynamics.terms(q, np.zeros_like(q)).M)
    known = smallest[np.isfinite(smallest)]
    return bool(known.size) and bool((known <= Tolerances().rank).all())


def check_mass(dynamics: Dynamics, terms: Terms, *, rank: float) -> None:
    """Refuse arrays of states at which the mass matrix is indefinite; singular ones are left to the caller.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At many states.
    rank : float
        Scaled eigenvalue down to whose negative a matrix counts as singular.

    Returns
    -------
    None
        The mass matrix is nowhere indefinite.

    Raises
    ------
    StateError
        With the share of the states.
    """
    indefinite = definiteness(terms.M) < -rank
    if np.any(indefinite):
        share = 100 * float(np.mean(indefinite))
        raise StateError(
            f"{dynamics.name}: the mass matrix is not positive definite at {share:.3g} % of the states: "
            f"check the ranges of masses and inertias"
        )
