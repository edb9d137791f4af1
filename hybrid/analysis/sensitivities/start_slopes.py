"""How the state at the start of a motion follows what a user changes: coordinates, velocities, pins, parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.parameter_chain import parameter_chain, text_slopes
from hybrid.declaration.names import nearest
from hybrid.dynamics.partials import Forces, Partials, partial_derivatives
from hybrid.dynamics.pin_values import sort_pins
from hybrid.errors import StateError

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.motion.trajectory import Trajectory

__all__ = ["Directions", "base_values", "directions"]

Array = NDArray[np.float64]
Pins = Mapping[str, str | float]


@attrs.frozen(eq=False)
class Directions:
    """What derivatives are taken with respect to.

    Attributes
    ----------
    names : tuple of str, length m
        Parameters, and coordinates and velocities (or pins) of the start.
    parameters : tuple of str
        Those of them that are parameters.
    partials : Partials
        With respect to all c parameters that change.
    chain : array, (c, m)
        How these change with the names.
    start : array, (2n, m)
        How the state at the start changes.
    absent : tuple of str
        Names that occur in no equation.
    """

    names: tuple[str, ...]
    parameters: tuple[str, ...]
    partials: Partials
    chain: Array
    start: Array
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
    initial = _initial_names(dynamics, pins, trajectory.parameters)
    _check_names(names, tuple(known), initial, pins is not None)
    chosen = tuple(name for name in names if name in known)
    changing, slopes = parameter_chain(dynamics, chosen, parameters=trajectory.parameters)
    chain = np.zeros((len(changing), len(names)))
    chain[:, [names.index(name) for name in chosen]] = slopes
    partials = partial_derivatives(dynamics, changing)
    start = (
        _from_state(dynamics, names)
        if pins is None
        else _from_pins(trajectory, partials, chain, tuple(names), pins, chosen)
    )
    absent = tuple(name for name in chosen if not _occurs(dynamics, changing, slopes[:, chosen.index(name)]))
    return Directions(tuple(names), chosen, partials, chain, start, absent)


def _initial_names(dynamics: Dynamics, pins: Pins | None, parameters: Values) -> tuple[str, ...]:
    if pins is None:
        return (*dynamics.mechanism.coordinates, *dynamics.mechanism.velocities)
    completed = sort_pins(dynamics.at(parameters), pins)
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
    completed = sort_pins(dynamics.at(trajectory.parameters), pins)
    limits = [f"slip.{name}{axis}" for name in completed.sides for axis in ("", ".1", ".2")]
    rows, rights = [], []
    for name in (*completed.positions, *completed.velocities):
        row, slopes = _pinned(trajectory, partials, name)
        right = -slopes @ chain
        if name in names:
            right[names.index(name)] += 1.0
        elif isinstance(pins.get(name), str) and chosen and name not in limits:
            text = str(pins[name])
            right[[names.index(item) for item in chosen]] += text_slopes(
                dynamics, text, chosen, parameters=trajectory.parameters
            )
        rows.append(row)
        rights.append(right)
    state, parameter = _slopes_at_start(trajectory, partials)
    for quantity in ("constraint", "constraint_dot"):
        for index in completed.independent:
            rows.append(state[quantity][index, : 2 * n])
            rights.append(-parameter[quantity][index] @ chain)
    return np.linalg.solve(np.array(rows), np.array(rights))


def _slopes_at_start(trajectory: Trajectory, partials: Partials) -> tuple[dict[str, Array], dict[str, Array]]:
    dynamics = trajectory.dynamics
    y = np.concatenate([trajectory.q_start, trajectory.v_start])[None, :]
    p = max((columns.stop for columns in dynamics.columns.values()), default=0)
    sizes = (dynamics.n, len(dynamics.contacts), p, len(dynamics.rigid))
    none = Forces(*(np.zeros((1, size)) for size in sizes))
    t = np.array([trajectory.t_start])
    state = partials.state(t, y, none, trajectory.parameters)
    parameter = partials.parameter(t, y, none, trajectory.parameters)
    return {name: value[0] for name, value in state.items()}, {name: value[0] for name, value in parameter.items()}


def _pinned(trajectory: Trajectory, partials: Partials, name: str) -> tuple[Array, Array]:
    """Derivatives of a pinned quantity with respect to the state, (2n,), and the parameters, (c,)."""
    dynamics, n = trajectory.dynamics, trajectory.dynamics.n
    names = (*dynamics.mechanism.coordinates, *dynamics.mechanism.velocities)
    if name in names:
        return np.eye(2 * n)[names.index(name)], np.zeros(len(partials.parameters))
    quantity, element, *axis = name.split(".")
    index = dynamics.contacts.index(element) if quantity != "slip" else dynamics.columns[element].start
    index += int(axis[0]) - 1 if axis else 0
    state, parameter = _slopes_at_start(trajectory, partials)
    return state[quantity][index, : 2 * n], parameter[quantity][index]


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
    known = dynamics.mechanism.parameter_values(trajectory.parameters)
    state = dict(zip(dynamics.mechanism.coordinates, trajectory.q_start, strict=True))
    state |= dict(zip(dynamics.mechanism.velocities, trajectory.v_start, strict=True))
    if pins is not None:
        completed = sort_pins(dynamics.at(trajectory.parameters), pins)
        state = {**completed.positions, **completed.velocities}
    return {name: float(known[name] if name in known else state[name]) for name in names}
