"""States from pins: one fixed quantity each, solved for the coordinates and velocities.

The branch of postures that a start names, followed from there to the pins of one state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments, explains_arguments
from hybrid.dynamics.arithmetic import equilibrated, is_numerically_singular, solve_each
from hybrid.dynamics.consistency import check_angles
from hybrid.dynamics.derive import bound
from hybrid.dynamics.positions import is_explicit, position_problem, solve_positions
from hybrid.dynamics.scales import may_turn_far, scales_of
from hybrid.dynamics.state import Pins, State, States, check_state, pin_names, read_one_number, sort_pins
from hybrid.errors import ArgumentError, StateError
from hybrid.tolerances import CLEAR, NEARLY, ROUNDING, Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.posture_branch import PostureBranch

__all__ = ["named_branch", "solve_state", "solve_states", "state_of"]

Array = NDArray[np.float64]


def named_branch(
    dynamics: Dynamics,
    pins: Mapping[str, Any],
    start: Mapping[str, Any],
    *,
    tolerances: Tolerances,
) -> PostureBranch | None:
    """A branch followed from where it is named to the pins, along one named quantity after the other.

    Where this way ends, those around it are tried that a map over the named quantities goes, too.

    Parameters
    ----------
    dynamics : Dynamics
    pins : mapping of str to float or str
        Of one state.
    start : mapping of str to float or str
        Unknown coordinates, and pinned positions, the time or parameters that have other values there.
    tolerances : Tolerances

    Returns
    -------
    PostureBranch, or None
        Over the last of the named quantities, or over all of them.

    Raises
    ------
    StateError
        A bad start, or the branch ends before it comes to the pins.
    """
    from hybrid.dynamics.posture_branch import follow_branch  # a branch is seldom named

    known = dynamics.values
    sorted_pins = sort_pins(dynamics, pins)
    ends = {**known, **sorted_pins.positions, "t": sorted_pins.time}
    begin = {name: read_one_number(f"branch {name}", value, known) for name, value in start.items() if name in ends}
    unknown = {name: value for name, value in start.items() if name not in ends}
    if not begin:
        return follow_branch(dynamics, {}, lambda _: (dict(pins), dynamics), start=unknown, tolerances=tolerances)
    place, here = dict(begin), unknown
    branch: PostureBranch | None = None
    for name in begin:
        branch, q = _followed(dynamics, pins, place, {name: float(ends[name])}, here, tolerances)
        if branch is None:
            return None
        if q is None:
            break
        here = {coordinate: float(q[i]) for i, coordinate in enumerate(dynamics.mechanism.coordinates)}
        here = {coordinate: here[coordinate] for coordinate in branch.start if coordinate in here}
        here.pop(name, None)
        place[name] = float(ends[name])
    else:
        return branch
    around, q = _followed(dynamics, pins, begin, {key: float(ends[key]) for key in begin}, unknown, tolerances)
    if q is not None:
        return around
    where = ", ".join(f"{name} = {fold[0]:g}" for fold in branch.folds) or "a singular posture"
    raise StateError(
        f"the branch of {dynamics.name} that is named ends before {name} = {ends[name]:g}: it meets another one at "
        f"{where}"
    )


def _followed(
    dynamics: Dynamics,
    pins: Mapping[str, Any],
    place: Mapping[str, float],
    ends: Mapping[str, float],
    start: Mapping[str, Any],
    tolerances: Tolerances,
) -> tuple[PostureBranch | None, Array | None]:
    """A branch from a place over some quantities, and the posture at their ends, None if it does not come there."""
    from hybrid.dynamics.posture_branch import follow_branch

    def placed(values: Sequence[Array]) -> tuple[dict[str, Any], Dynamics]:
        at = {**place, **dict(zip(ends, values, strict=True))}
        declared = dynamics.mechanism.parameters
        own = {key: value for key, value in at.items() if key in declared}
        return {**pins, **{key: at[key] for key in at.keys() - own.keys()}}, dynamics.at(own)

    ranges = {name: (min(place[name], end), max(place[name], end)) for name, end in ends.items()}
    at_start = {**{name: place[name] for name in ends}, **start}
    branch = follow_branch(dynamics, ranges, placed, start=at_start, tolerances=tolerances)
    if branch is None:
        return None, None
    own_pins, own = placed([np.full(1, end) for end in ends.values()])
    problem, _ = position_problem(own, sort_pins(own, own_pins))
    (q,), (is_reached,) = branch.solve(problem, tolerances)
    return branch, q if is_reached else None


_SINGULAR = ROUNDING  # determinant of an equilibrated matrix; rounding leaves about 1e-16
_ROUNDING = 8 * float(np.finfo(np.float64).eps)  # of the terms of a linear solve of some unknowns


@checks_arguments
def solve_state(
    dynamics: Dynamics,
    pins: Mapping[str, str | float],
    *,
    parameters: Values | None = None,
    branch: Mapping[str, str | float] | None = None,
    tolerances: Tolerances = Tolerances(),
) -> State:
    """The state that pins fix.

    A pin fixes a coordinate (``phi``), a velocity (``phi_dot``), ``gap.tip``, ``gap_dot.tip``, ``slip.tip`` (or
    ``slip.tip.1`` and ``slip.tip.2`` of a spatial contact) or the time ``t``. A mechanism of ``n`` coordinates needs
    ``n`` position pins and ``n`` velocity pins; every independent rigid constraint supplies one of each. With exactly
    one contact, ``gap`` and ``gap_dot`` default to 0 when they alone are missing, and so does a cyclic coordinate.

    Parameters
    ----------
    dynamics : Dynamics
    pins : mapping of str to float or str
        A string is an expression of parameters (``"pi/3"``, ``"sqrt(g/l)"``). For a slip, ``"+0"`` and ``"-0"`` are the
        limits of vanishing slip from one side, ``0`` is rest.
    parameters : mapping, optional
        Parameter values that replace the declared ones.
    branch : mapping of str to float or str, optional
        Where several positions satisfy the pins, chooses one: that nearest to the named values of unknown coordinates.
        Values of pinned positions, of the time or of parameters name another place at which the choice is made; from
        there the branch is followed to the pins, along one named quantity after the other, or around where that way
        ends, within the ranges between the two places. The ``start`` of a map's branch gives the position of the map,
        or is refused where the map went further around.
    tolerances : Tolerances, optional

    Returns
    -------
    State
        Where several positions satisfy the pins and no branch is named, the one that Newton's method reaches from zero
        or the start nearest to it; others that it finds from a few starts are listed in ``alternatives``.

    Raises
    ------
    StateError
        Unknown, too few, too many, dependent or contradictory pins, or a position that cannot be reached.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": "pi/6", "phi_dot": 1, "slip.tip": 0})
    >>> round(float(state.q[1]), 12)
    0.5
    """
    dynamics = bound(dynamics, parameters)
    followed = named_branch(dynamics, pins, branch, tolerances=tolerances) if branch else None
    sorted_pins = sort_pins(dynamics, pins)
    solved = _solved(dynamics, sorted_pins, followed, tolerances)
    if not solved.reached.all():
        raise _unreached(dynamics, sorted_pins, solved.q)
    others: tuple[Array, ...] = ()
    if not is_explicit(dynamics, sorted_pins):
        from hybrid.dynamics.postures import distinct_postures  # explicit pins have one position

        problem, _ = position_problem(dynamics, sorted_pins)
        others = tuple(distinct_postures(problem, [solved.q], tolerances)[1:])
    return State(solved.q, solved.v, float(solved.t), solved.sides, others, pins)


@explains_arguments
def state_of(
    dynamics: Dynamics,
    given: State | Mapping[str, str | float],
    *,
    parameters: Values | None = None,
    tolerances: Tolerances = Tolerances(),
) -> State:
    """The state that is given, or that given pins fix.

    Parameters
    ----------
    dynamics : Dynamics
    given : State, or mapping of str to float or str
        A state as it is, or pins as for :func:`solve_state`.
    parameters : mapping, optional
        Values that replace the declared ones.
    tolerances : Tolerances, optional

    Returns
    -------
    State

    Raises
    ------
    ArgumentError
        A parameter that was bound is an array.
    StateError
        As :func:`solve_state`; or the state has another shape, is not finite, or has sides of what does not slip.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> round(float(state_of(rod, {"phi": "30 deg", "phi_dot": 0, "slip.tip": "+0"}).q[1]), 12)
    0.5
    """
    for name in dynamics.given:
        value = dynamics.values[name]
        if not isinstance(value, float):
            raise ArgumentError(f"parameters: {name} must be one real number at one state, got {value!r:.60}")
    if isinstance(given, State) or not isinstance(given, Mapping):
        check_state(dynamics, given)
        return given
    return solve_state(dynamics, given, parameters=parameters, tolerances=tolerances)


@checks_arguments
def solve_states(
    dynamics: Dynamics,
    pins: Mapping[str, Any],
    *,
    parameters: Values | None = None,
    branch: PostureBranch | None = None,
    tolerances: Tolerances = Tolerances(),
) -> States:
    """Arrays of states that pins fix, solved at once, for maps.

    Parameters
    ----------
    dynamics : Dynamics
    pins : mapping of str to float, str or array
        As for :func:`solve_state`; arrays broadcast against each other and against array-valued parameters. Positions
        are solved once per distinct set of position pins, not once per state.
    parameters : mapping of str to float or array, optional
    branch : PostureBranch, optional
        Takes positions from a branch that was followed over the pins. Without it every position is solved on its own:
        where several satisfy the pins, neighbours may belong to different branches.
    tolerances : Tolerances, optional

    Returns
    -------
    States
        ``reached`` is False where no position (of the branch) or no velocity satisfies the pins.

    Raises
    ------
    StateError
        Unknown, too few or too many pins, or arrays of shapes that do not go together.
    """
    dynamics = bound(dynamics, parameters)
    sorted_pins = sort_pins(dynamics, pins)
    values = {**sorted_pins.positions, **sorted_pins.velocities, "t": sorted_pins.time}
    values.update((name, dynamics.values[name]) for name in dynamics.given)
    shapes = {name: np.shape(value) for name, value in values.items() if np.ndim(value)}
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise StateError(f"the shapes of pins and parameters must broadcast against each other: {listed}") from None
    return _solved(dynamics, sorted_pins, branch, tolerances)


def _solved(dynamics: Dynamics, pins: Pins, branch: PostureBranch | None, tolerances: Tolerances) -> States:
    q, reached = _solve_positions(dynamics, pins, tolerances, branch)
    if may_turn_far(dynamics, q, pins.time):
        check_angles(dynamics, q, t=pins.time)
    v = _solve_velocities(dynamics, pins, q)
    v = np.where(_repeats(dynamics, pins, q, v, tolerances)[..., None], v, np.nan)
    velocity_reached = np.isfinite(v).all(axis=-1)
    sides = {**pins.sides, **_slow_sides(dynamics, pins, q, v, tolerances)}
    if sides and max(len(dynamics.columns), len(dynamics.contacts)) > 1:
        from hybrid.dynamics.vanishing_slips import tied_sides

        change = _solve_velocities(dynamics, pins, q, along=sides)
        sides |= tied_sides(dynamics, q, v, change, t=pins.time, given=sides, tolerances=tolerances)
    return States(q, v, np.asarray(pins.time, dtype=float), sides, reached & velocity_reached)


def _slow_sides(
    dynamics: Dynamics, pins: Pins, q: Array, v: Array, tolerances: Tolerances
) -> dict[str, tuple[float, ...]]:
    """Directions of slips that are pinned so low that the state alone would not tell them from rest."""
    pinned: dict[str, list[float]] = {}
    for name, value in pins.velocities.items():
        parts = name.split(".")
        if parts[0] == "slip" and np.ndim(value) == 0 and value != 0.0:
            slip = pinned.setdefault(parts[1], [0.0] * dynamics.dimension(parts[1]))
            slip[int(parts[2]) - 1 if len(parts) == 3 else 0] = float(value)
    if not pinned or not np.isfinite(v).all() or not np.isfinite(q).all():
        return {}
    terms = dynamics.terms(q, v, t=pins.time)
    scales = scales_of(dynamics, terms, q, v, t=pins.time)
    found = {}
    for element, slip in pinned.items():
        size = math.hypot(*slip)  # squares of tiny components would vanish
        if (size <= tolerances.velocity * np.max(scales.slip[..., dynamics.columns[element]], axis=-1)).any():
            found[element] = tuple(component / size for component in slip)
    return found


def _solve_positions(
    dynamics: Dynamics, pins: Pins, tolerances: Tolerances, branch: PostureBranch | None = None
) -> tuple[Array, NDArray[np.bool_]]:
    problem, shape = position_problem(dynamics, pins)
    q, reached = solve_positions(problem, tolerances) if branch is None else branch.solve(problem, tolerances)
    return q.reshape((*shape, dynamics.n)), reached.reshape(shape)


def _solve_velocities(
    dynamics: Dynamics, pins: Pins, q: Array, *, along: Mapping[str, tuple[float, ...]] | None = None
) -> Array:
    """Velocities that pins fix, or their change where slips change along directions and nothing else that is pinned."""
    rows, right = _velocity_system(dynamics, pins, q)
    if along is not None:
        right = [np.zeros(())] * len(rows)
        for place, (_, name, *axis) in ((i, pin.split(".")) for i, pin in enumerate(pins.velocities) if "slip." in pin):
            right[place] = np.asarray(along[name][int(axis[0]) - 1 if axis else 0] if name in along else 0.0)
    A = np.stack(np.broadcast_arrays(*rows), axis=-2)
    b = np.stack(np.broadcast_arrays(*right), axis=-1)
    n = dynamics.n
    if A.shape[-2] != n:
        raise StateError(f"{A.shape[-2]} velocity conditions for {n} velocities")
    with np.errstate(invalid="ignore"):  # unreached positions are NaN
        well_posed = np.abs(np.linalg.det(equilibrated(A))) > _SINGULAR
        found = solve_each(A, np.concatenate([np.broadcast_to(np.eye(n), (*b.shape, n)), b[..., None]], axis=-1))
        # a velocity that vanishes must not keep the rounding of those that its conditions add up (Higham 2002, 7.2)
        inverse, v = found[..., :n], found[..., n]
        terms = (np.abs(inverse) @ (np.abs(A) @ np.abs(v)[..., None]))[..., 0]
        v = np.where(np.abs(v) <= _ROUNDING * terms, 0.0, v)
    return np.where(well_posed[..., None], v + 0.0, np.nan)


def _repeats(dynamics: Dynamics, pins: Pins, q: Array, v: Array, tolerances: Tolerances) -> NDArray[np.bool_]:
    """Where the rates of all constraints vanish, also of those that repeat others and were left out."""
    if len(pins.independent) == len(dynamics.rigid):
        return np.ones(v.shape[:-1], dtype=bool)
    terms = dynamics.terms(q, v, t=pins.time)
    scales = scales_of(dynamics, terms, q, v, t=pins.time)
    with np.errstate(invalid="ignore"):
        slow = np.abs(terms.constraint_dot) <= tolerances.velocity * scales.constraint_dot
    return np.asarray(slow.all(axis=-1))


def _velocity_system(dynamics: Dynamics, pins: Pins, q: Array) -> tuple[list[Array], list[Array]]:
    velocities = dynamics.mechanism.velocities
    drift = dynamics.kinematics(q, np.zeros(dynamics.n), t=pins.time)
    rows: list[Array] = []
    right: list[Array] = []
    for name, value in pins.velocities.items():
        if name in velocities:
            rows.append(np.eye(dynamics.n)[velocities.index(name)])
            right.append(np.asarray(value, dtype=float))
        elif name.startswith("gap_dot."):
            index = dynamics.contacts.index(name.removeprefix("gap_dot."))
            rows.append(drift["W_N"][..., :, index])
            right.append(value - drift["gap_dot"][..., index])
        else:
            parts = name.split(".")
            index = dynamics.columns[parts[1]].start + (int(parts[2]) - 1 if len(parts) == 3 else 0)
            rows.append(drift["W_T"][..., :, index])
            right.append(value - drift["slip"][..., index])
    for index in pins.independent:
        rows.append(drift["J"][..., index, :])
        right.append(-drift["constraint_dot"][..., index])
    return rows, right


def _unreached(dynamics: Dynamics, sorted_pins: Pins, q: Array) -> StateError:
    """Say which of the pins cannot be met together, at a position (n,) or, where it is NaN, at any."""
    given = ", ".join(f"{name}={_shown(value)}" for name, value in sorted_pins.positions.items())
    rigid = f"the constraints {', '.join(dynamics.rigid)}" if dynamics.rigid else ""
    left_out = [name for row, name in enumerate(dynamics.rigid) if row not in sorted_pins.independent]
    only = f"; {', '.join(left_out)} has no gradient of its own beside the others" if left_out else ""
    if not np.isfinite(q).all():
        problem, _ = position_problem(dynamics, sorted_pins)
        return StateError(
            f"no position of {dynamics.name} satisfies {' and '.join(filter(None, (given, rigid)))}: it cannot be "
            "reached, or they contradict each other, or they depend on each other and leave a coordinate open "
            f"(tried {len(problem.starts)} starts){only}"
        )
    rows, _ = _velocity_system(dynamics, sorted_pins, q)
    names = [*sorted_pins.velocities, *(dynamics.rigid[row] for row in sorted_pins.independent)]
    A = np.stack(np.broadcast_arrays(*rows), axis=-2)
    at = f" at {given}" if given else ""
    if not np.isfinite(A).all():
        undefined = [name for name, row in zip(names, A, strict=True) if not np.isfinite(row).all()]
        return StateError(f"the coefficients of {', '.join(undefined)} are not finite{at}: take a state beside it")
    if not is_numerically_singular(A, rank=_SINGULAR):
        pinned = ", ".join(f"{name}={_shown(value)}" for name, value in sorted_pins.velocities.items())
        wanted = " and ".join(filter(None, (pinned, rigid)))
        return StateError(f"no velocity of {dynamics.name} satisfies {wanted}{at}: they contradict each other{only}")
    _, _, right = np.linalg.svd(A.T)
    dependent = [name for name, weight in zip(names, right[-1], strict=True) if abs(weight) > CLEAR]
    if set(dependent) <= set(dynamics.rigid):
        from hybrid.dynamics.configuration import ConfigurationSpace
        from hybrid.dynamics.singular_points import classify_configuration

        space = ConfigurationSpace(dynamics, float(sorted_pins.time))
        point = classify_configuration(space, q, lost=NEARLY)
        kind = "" if point is None else f", a {point.describe()}"
        return StateError(
            f"the constraints {', '.join(dynamics.rigid)} are dependent{at}{kind}; take a state beside it"
        )
    return StateError(
        f"velocity pins {', '.join(dependent)} are dependent{at}: together they leave a velocity undetermined; "
        f"replace one of them by one of {', '.join(name for name in pin_names(dynamics)[1] if name not in names)}"
    )


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)
