"""How the state at the start of a motion follows what a user changes, and whether it may be differentiated there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.jumps import ImpactSite
from hybrid.analysis.sensitivities.mode_system import Point, evaluate_point
from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.contact.activity import Activity, element_activities, element_names
from hybrid.declaration.names import nearest
from hybrid.declaration.tree import read, read_with_definitions
from hybrid.dynamics.arithmetic import equilibrated, is_numerically_singular
from hybrid.dynamics.partials import Partials, partial_derivatives
from hybrid.dynamics.scales import coordinate_sizes, motion_sizes, scales_of
from hybrid.dynamics.state import sort_pins
from hybrid.errors import StateError
from hybrid.expressions import Builder, compile_kernel, jacobian
from hybrid.tolerances import CLEAR, NOTHING, ROOT, SQUARED, Tolerances

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.event_map import Replay
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.trajectory import Trajectory

__all__ = ["Directions", "base_values", "directions", "parameter_chain", "start_refusal", "text_slopes"]

Array = NDArray[np.float64]
Pins = Mapping[str, str | float]


@attrs.frozen(eq=False)
class Directions:
    """What derivatives are taken with respect to.

    Attributes
    ----------
    names : tuple of str, length m
        Parameters, and coordinates and velocities (or pins) of the start.
    partials : Partials
        With respect to all c parameters that change.
    changes : array, (2n + 1 + c, m)
        How the state at the start, its time (not at all) and these parameters change with the names.
    absent : tuple of str
        Names that occur in no equation.
    """

    names: tuple[str, ...]
    partials: Partials
    changes: Array
    absent: tuple[str, ...]


def directions(trajectory: Trajectory, names: Sequence[str], *, pins: Pins | None = None) -> Directions:
    """Find what the named quantities change.

    Parameters
    ----------
    trajectory : Trajectory
    names : sequence of str
        Parameters; coordinates and velocities of the start, each with all others fixed; or, where ``pins`` are given,
        names of pins.
    pins : mapping, optional
        The pins from which the start was solved.

    Returns
    -------
    Directions

    Raises
    ------
    StateError
        A name that is neither a parameter nor a quantity of the start; the message tells the nearest.
    """
    dynamics = trajectory.dynamics
    known = dynamics.mechanism.parameters
    initial = _initial_names(dynamics, pins)
    _check_names(names, tuple(known), initial, pins is not None)
    chosen = tuple(name for name in names if name in known)
    changing, slopes = parameter_chain(dynamics, chosen)
    chain = np.zeros((len(changing), len(names)))
    chain[:, [names.index(name) for name in chosen]] = slopes
    partials = dynamics.once(partial_derivatives, changing)
    start = (
        _from_state(dynamics, names)
        if pins is None
        else _from_pins(trajectory, partials, chain, tuple(names), pins, chosen)
    )
    changes = np.concatenate([start, np.zeros((1, len(names))), chain])
    absent = tuple(name for name in chosen if not _occurs(dynamics, changing, slopes[:, chosen.index(name)]))
    return Directions(tuple(names), partials, changes, absent)


def _initial_names(dynamics: Dynamics, pins: Pins | None) -> tuple[str, ...]:
    if pins is None:
        return (*dynamics.mechanism.coordinates, *dynamics.mechanism.velocities)
    completed = sort_pins(dynamics, pins)
    return (*completed.positions, *completed.velocities)


def _check_names(names: Sequence[str], parameters: tuple[str, ...], initial: tuple[str, ...], pinned: bool) -> None:
    if not names:
        raise StateError("nothing to differentiate with respect to: name a parameter or a quantity of the start")
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if repeated:
        raise StateError(f"{', '.join(repeated)} named twice")
    known = (*parameters, *initial)
    messages = []
    for name in names:
        if name in known:
            continue
        near = nearest(name, known)
        what = "pin of the start" if pinned else "coordinate or velocity"
        hint = f"did you mean {near!r}? Known" if near else "known"
        messages.append(f"{name!r} is neither a parameter nor a {what}; {hint} are {', '.join(known)}")
    if messages:
        raise StateError("\n".join(messages))


def _from_state(dynamics: Dynamics, names: Sequence[str]) -> Array:
    state = (*dynamics.mechanism.coordinates, *dynamics.mechanism.velocities)
    start = np.zeros((len(state), len(names)))
    for column, name in enumerate(names):
        if name in state:
            start[state.index(name), column] = 1.0
    return start


def _from_pins(
    trajectory: Trajectory,
    partials: Partials,
    chain: Array,
    names: tuple[str, ...],
    pins: Pins,
    chosen: tuple[str, ...],
) -> Array:
    """Implicit differentiation of the conditions that the pins set."""
    dynamics, n = trajectory.dynamics, trajectory.dynamics.n
    completed = sort_pins(dynamics, pins)
    limits = [f"slip.{name}{axis}" for name in completed.sides for axis in ("", ".1", ".2")]
    pinned = (*completed.positions, *completed.velocities)
    site = ImpactSite(partials, dynamics, trajectory.t_start, trajectory.q_start, trajectory.v_start)
    found = {name: slopes[0] for name, slopes in site.slopes(site.v).items()}
    rights = np.zeros((2 * n, len(names)))
    for right, name in zip(rights, pinned, strict=False):  # what the constraints hold follows
        if name in names:
            right[names.index(name)] = 1.0
        elif isinstance(pins.get(name), str) and chosen and name not in limits:
            right[[names.index(item) for item in chosen]] = text_slopes(dynamics, str(pins[name]), chosen)
    held = [found[quantity][index] for quantity in ("constraint", "constraint_dot") for index in completed.independent]
    rows = np.array([*(_pinned(dynamics, found, name) for name in pinned), *held])
    matrix = rows[:, : 2 * n]
    if is_numerically_singular(matrix, rank=SQUARED):
        left, _, _ = np.linalg.svd(equilibrated(matrix))
        conditions = (*pinned, *(dynamics.rigid[index] for _ in range(2) for index in completed.independent))
        dependent = [name for name, weight in zip(conditions, left[:, -1], strict=True) if abs(weight) > CLEAR]
        raise StateError(
            f"the start has no derivative: {', '.join(dict.fromkeys(dependent))} depend on each other there, as at a "
            f"double root, where positions change with the root of what changes; pin another quantity"
        )
    return np.linalg.solve(matrix, rights - rows[:, 2 * n + 1 :] @ chain)


def _pinned(dynamics: Dynamics, found: Mapping[str, Array], name: str) -> Array:
    """Derivatives of a pinned quantity with respect to ``(q, v, t, parameters)``."""
    names = (*dynamics.mechanism.coordinates, *dynamics.mechanism.velocities)
    if name in names:
        return np.asarray(np.eye(found["balance"].shape[1])[names.index(name)])
    quantity, element, *axis = name.split(".")
    index = dynamics.contacts.index(element) if quantity != "slip" else dynamics.columns[element].start
    return np.asarray(found[quantity][index + (int(axis[0]) - 1 if axis else 0)])


def _occurs(dynamics: Dynamics, changing: tuple[str, ...], slopes: Array) -> bool:
    used = {name for name, slope in zip(changing, slopes, strict=True) if slope}
    return not used.isdisjoint(dynamics.equations.all_names)


def base_values(trajectory: Trajectory, names: Sequence[str], *, pins: Pins | None = None) -> dict[str, float]:
    """Values of parameters and quantities of the start, by name.

    Parameters
    ----------
    trajectory : Trajectory
    names : sequence of str
        Parameters, coordinates and velocities, or pins.
    pins : mapping, optional
        By which the start was given; without them names of quantities are coordinates and velocities.

    Returns
    -------
    dict of str to float
    """
    dynamics = trajectory.dynamics
    known = dynamics.values
    state = dict(zip(dynamics.mechanism.coordinates, trajectory.q_start, strict=True))
    state |= dict(zip(dynamics.mechanism.velocities, trajectory.v_start, strict=True))
    if pins is not None:
        completed = sort_pins(dynamics, pins)
        state = {**completed.positions, **completed.velocities}
    return {name: float(known[name] if name in known else state[name]) for name in names}


_HELD = NOTHING  # of the terms of a gap, rate or slip that the start holds at zero
_EDGE = ROOT  # of the accelerations that are added: a slip that begins so slowly may as well not begin


def start_refusal(motion: Replay, chosen: Directions) -> Refusal | None:
    """Why the start has no two-sided derivative: a direction opens, closes or slips what it holds at zero.

    Parameters
    ----------
    motion : Replay
    chosen : Directions

    Returns
    -------
    Refusal or None
    """
    segment = motion.segments[0]
    t = float(segment.knots[0])
    resting = "" if motion.opening is not None else _hardly_sliding(motion)
    if resting:
        return Refusal(t, f"the slip of {resting} may begin at once or a moment later: the start is on the edge")
    point = evaluate_point(segment.system, t, _start(motion))
    held, changes = _held(motion, point), chosen.changes
    terms = np.abs(held) @ np.fmax(np.abs(changes), _like_the_largest(point, changes))
    wrong = np.any(np.abs(held @ changes) > _HELD * terms, axis=0)
    if not wrong.any():
        return None
    guilty = ", ".join(name for name, is_wrong in zip(chosen.names, wrong, strict=True) if is_wrong)
    return Refusal(
        t,
        f"a change of {guilty} leaves what the start holds at zero (a gap, its rate, a constraint or the slip of a "
        f"contact at rest); give the pins of the start to change it along them",
    )


def _start(motion: Replay) -> Array:
    return np.concatenate([motion.trajectory.q_start, motion.trajectory.v_start])


def _like_the_largest(point: Point, changes: Array) -> Array:
    """Changes of all coordinates and velocities that are as large as the largest of their column.

    Pins are solved for together. Where a coordinate does not change, as with a pinned velocity or for a driven crank,
    the rounding of the others is left, and is no size of its own.
    """
    dynamics, y = point.system.dynamics, point.at.y
    q, v = y[:, : dynamics.n], y[:, dynamics.n :]
    (sizes,) = motion_sizes(point.at.terms, coordinate_sizes(dynamics, q, t=point.at.t), np.abs(v))
    like = np.zeros_like(changes)
    like[: len(sizes)] = np.outer(sizes, np.max(np.abs(changes[: len(sizes)]) / sizes[:, None], axis=0))
    return like


def _held(motion: Replay, point: Point) -> Array:
    """Derivatives of what the start holds at zero, (rows, 2n + 1 + c).

    These are constraints and their rates, the gaps of closed contacts, also of those that close or separate with a
    velocity at once, the rates of the others, and slips of contacts that rest or begin to slide.
    """
    dynamics, terms = point.system.dynamics, point.at.terms
    (y,), (t,) = point.at.y, point.at.t
    q, v = y[: dynamics.n], y[dynamics.n :]
    scales = scales_of(dynamics, terms, q, v, t=t)
    tolerances = Tolerances()
    activities = element_activities(dynamics, terms, scales, sides={}, tolerances=tolerances)
    closed = np.ravel(terms.gap <= tolerances.gap * scales.gap)
    gap, gap_dot, slip = (point.slopes(name) for name in ("gap", "gap_dot", "slip"))
    rows = [*point.slopes("constraint"), *point.slopes("constraint_dot")]
    for index, (name, activity) in enumerate(zip(element_names(dynamics), activities.ravel(), strict=True)):
        if index < len(dynamics.contacts) and closed[index]:
            rows += [gap[index]] if activity in {Activity.OPEN, Activity.APPROACHING} else [gap[index], gap_dot[index]]
        if activity == Activity.RESTING:
            rows += [slip[column] for column in range(len(slip))[dynamics.columns[name]]]
    return np.array(rows).reshape(len(rows), gap.shape[1])


def _hardly_sliding(motion: Replay) -> str:
    """A contact whose slip is zero at the start and begins without acceleration; empty if there is none."""
    segment = motion.segments[0]
    point = evaluate_point(segment.system, float(segment.knots[0]), segment.states[0])
    slip, slopes = np.ravel(point.at.terms.slip), point.slopes("slip")
    speed = float(np.max(np.abs(segment.at.terms.slip), initial=0.0))
    size, summands = len(point.f), point.summands
    for part in segment.system.parts:
        columns = list(part.columns)
        if not part.slides or (np.abs(slip[columns]) > _HELD * speed).any():
            continue
        rate = slopes[columns, :size] @ point.f + slopes[columns, size]
        terms = np.abs(slopes[columns, :size]) @ summands + np.abs(slopes[columns, size])
        if (np.abs(rate) <= _EDGE * terms).all():
            return part.name
    return ""


def parameter_chain(dynamics: Dynamics, names: Sequence[str]) -> tuple[tuple[str, ...], Array]:
    """Parameters that change with the named ones, and their derivatives.

    Parameters
    ----------
    dynamics : Dynamics
        A parameter to which it gives a value follows no other unless that is a text.
    names : sequence of str

    Returns
    -------
    changing : tuple of str, length c
        The named ones and those computed from them.
    slopes : array, (c, number of names)

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> changing, slopes = parameter_chain(derive(mechanisms.load("rod_on_incline")), ["l"])
    >>> changing, slopes.round(12).tolist()
    (('l', 'I'), [[1.0], [0.666666666667]])
    """
    build = Builder(dynamics.equations.graph)
    resolved = _resolved(dynamics, build, frozenset(names))
    graph = build.graph()
    changing = tuple(name for name, node in resolved.items() if not graph.names([node]).isdisjoint(names))
    return changing, _slopes(dynamics, build, [resolved[name] for name in changing], names)


def text_slopes(dynamics: Dynamics, text: str, names: Sequence[str]) -> Array:
    """Derivatives of an expression of parameters with respect to the named ones.

    Parameters
    ----------
    dynamics : Dynamics
    text : str
        The expression.
    names : sequence of str
        Parameters.

    Returns
    -------
    array, (number of names,)
        Through parameters that are declared as expressions of others, too.
    """
    build = Builder(dynamics.equations.graph)
    resolved = _resolved(dynamics, build, frozenset(names))
    node = read(build, dynamics.mechanism.expression(text), resolved)
    return np.asarray(_slopes(dynamics, build, [node], names)[0])


def _resolved(dynamics: Dynamics, build: Builder, free: frozenset[str]) -> dict[str, int]:
    """Every parameter as a node of the free ones and of numbers."""
    mechanism, nodes = dynamics.mechanism, dynamics.equations.parameters
    texts = {
        name: mechanism.expression(value)
        for name, parameter in mechanism.parameters.items()
        if name not in free and isinstance(value := dynamics.given.get(name, parameter.value), str)
    }
    resolved = {name: node for name, node in nodes.items() if name not in texts}
    for name, expression in texts.items():
        resolved[name] = read_with_definitions(build, expression, resolved, texts)
    return {name: resolved[name] for name in nodes}


def _slopes(dynamics: Dynamics, build: Builder, roots: Sequence[int], names: Sequence[str]) -> Array:
    nodes = dynamics.equations.parameters
    slopes = jacobian(build, roots, [nodes[name] for name in names])
    kernel = compile_kernel(build.graph(), {"slopes": slopes}, list(nodes.values()))
    return np.array(kernel(dynamics.arguments)["slopes"], dtype=float)
