"""The part of the state space that a report shows: axes of its map around a state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis import Axis
from hybrid.contact.reduction import free_motion
from hybrid.reporting.around import closed_contacts, pins_around, rank, slip_rows
from hybrid.tolerances import NOTHING, ROUNDING

if TYPE_CHECKING:
    from hybrid.analysis import RegionMap
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values

__all__ = ["can_be_traced", "default_axes"]

CELLS = 240
"""Cells along each axis of a report's map; curves are refined by root finding, so more are not sharper."""

_MAX_TRACING = 5.0
"""Seconds of tracing curves, as estimated: the whole report of a robot with seven coordinates takes under ten."""
_CLASSIFYING = 2e-5
"""Seconds for one state of a curve whose posture is explicit; measured 6 to 39 microseconds over the catalogue."""
_SOLVING = 1e-5
"""Seconds for one whose posture is solved for on its branch, by the square of the number of coordinates; measured 14
(two-link arm) and 6 to 13 microseconds (two legs, seven coordinates)."""
_PROBES = 65


def default_axes(
    dynamics: Dynamics, state: State, *, parameters: Values | None = None, cells: int = CELLS
) -> tuple[Axis, Axis] | None:
    """The two quantities of a map around a state, and their ranges.

    The first is the coordinate, preferably an angle, that the closed contacts leave free and on which their Delassus
    terms depend; the second is its velocity or, where that changes nothing, the coefficient of friction.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping, optional
    cells : int
        Along either axis.

    Returns
    -------
    tuple of Axis, or None
        None if no contact has friction or the closed contacts fix the posture.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> first, second = default_axes(rod, solve_state(rod, {"phi": 1, "phi_dot": 0, "slip.tip": 0}))
    >>> first.name, round(first.low, 3), round(first.high, 3), second.name, second.low, second.high
    ('phi', 0.0, 3.142, 'phi_dot', -3.0, 3.0)
    """
    closed = closed_contacts(dynamics, state, parameters)
    frictional = [name for name in closed if dynamics.dimension(name)]
    if not frictional and not any(name not in dynamics.contacts for name in dynamics.columns):
        return None
    index = _posture_coordinate(dynamics, state, parameters, closed)
    if index is None:
        return None
    first = _reachable(dynamics, state, _position_axis(dynamics, state, index, cells), parameters)
    second = _velocity_axis(dynamics, state, index, first, parameters, cells)
    second = second or _friction_axis(dynamics, state, parameters, cells)
    return None if second is None else (first, second)


def can_be_traced(dynamics: Dynamics, found: RegionMap) -> bool:
    """Whether the regions of a map are bounded by so few curves that tracing them takes seconds.

    Counted in states, so that the answer is the same on every machine.

    Parameters
    ----------
    dynamics : Dynamics
    found : RegionMap
        Without curves.

    Returns
    -------
    bool
    """
    # every edge between two regions costs some forty states, every square in which three regions meet 13 000
    region = found.region
    edges = np.count_nonzero(region[1:] != region[:-1]) + np.count_nonzero(region[:, 1:] != region[:, :-1])
    corners = np.sort(np.stack([region[1:, 1:], region[1:, :-1], region[:-1, 1:], region[:-1, :-1]]), axis=0)
    meetings = np.count_nonzero(np.count_nonzero(np.diff(corners, axis=0), axis=0) > 1)
    each = _CLASSIFYING if found.branch is None else _CLASSIFYING + _SOLVING * dynamics.n**2
    return bool((40 * edges + 13_000 * meetings) * each <= _MAX_TRACING)


def _posture_coordinate(dynamics: Dynamics, state: State, parameters: Values | None, closed: list[str]) -> int | None:
    """Index of the free coordinate that changes the Delassus terms; G_NN before G_NT, angles before others."""
    terms = dynamics.terms(state.q, state.v, t=state.t, parameters=parameters)
    fixed = [*terms.J, *(terms.W_N[:, dynamics.contacts.index(name)] for name in closed)]
    free = [i for i in range(dynamics.n) if rank([*fixed, np.eye(dynamics.n)[i]]) > rank(fixed)]
    found = []
    for index in free:
        steps = np.array([0.0, 0.3, 0.7])[:, None] * np.eye(dynamics.n)[index]
        terms = dynamics.terms(state.q + steps, state.v, t=state.t, parameters=parameters)
        response = free_motion(terms, eliminated=tuple(range(len(dynamics.rigid)))).response
        varies = [_varies(np.swapaxes(terms.W_N, -1, -2) @ response @ W) for W in (terms.W_N, terms.W_T)]
        if any(varies):
            found.append((not varies[0], dynamics.mechanism.coordinates[index] not in dynamics.mechanism.angles, index))
    return min(found)[-1] if found else None


def _varies(values: NDArray[np.float64]) -> bool:
    """Whether stacked matrices differ; what depends on nothing that is swept is a single one."""
    return values.ndim > 2 and not np.allclose(values, values[:1], rtol=NOTHING, atol=ROUNDING)


def _position_axis(dynamics: Dynamics, state: State, index: int, cells: int) -> Axis:
    name, value = dynamics.mechanism.coordinates[index], float(state.q[index])
    if name not in dynamics.mechanism.angles:
        reach = max(1.0, abs(value))
        return Axis(name, value - reach, value + reach, cells)
    low = math.floor(value / math.pi) * math.pi
    # a state near the end of a half turn is put in the middle of one
    if not 0.03 < (value - low) / math.pi < 0.97:
        low = (round(2 * value / math.pi) - 1) * math.pi / 2
    return Axis(name, low, low + math.pi, cells)


def _reachable(dynamics: Dynamics, state: State, axis: Axis, parameters: Values | None) -> Axis:
    """The part of an axis around the state at which the closed contacts can be closed."""
    from hybrid.dynamics import solve_states

    pins = pins_around(dynamics, state, [axis.name], parameters=parameters)
    values = axis.at(np.linspace(0.0, 1.0, 2 * _PROBES))
    reached = solve_states(dynamics, {**pins, axis.name: values}, parameters=parameters).reached
    reached = np.broadcast_to(reached, values.shape)
    own = float(state.q[dynamics.mechanism.coordinates.index(axis.name)])
    below, above = values[~reached & (values < own)], values[~reached & (values > own)]
    low, high = float(np.max(below, initial=axis.low)), float(np.min(above, initial=axis.high))
    return axis if high - low < (axis.high - axis.low) / _PROBES else Axis(axis.name, low, high, axis.n)


def _velocity_axis(
    dynamics: Dynamics, state: State, index: int, first: Axis, parameters: Values | None, cells: int
) -> Axis | None:
    """The coordinate's velocity, up to a few times that at which it changes the sign of the normal acceleration."""
    name = dynamics.mechanism.velocities[index]
    terms = dynamics.terms(state.q, state.v, t=state.t, parameters=parameters)
    closed = [dynamics.contacts.index(contact) for contact in closed_contacts(dynamics, state, parameters)]
    sided = [row for _, row, value in slip_rows(dynamics, state, terms) if isinstance(value, str)]
    fixed = [*terms.J, *(terms.W_N[:, contact] for contact in closed), *sided]
    if rank([*fixed, np.eye(dynamics.n)[index]]) == rank(fixed):
        return None
    speed = _critical_speed(dynamics, state, name, first, parameters, closed)
    if speed is None:
        return None
    high = _rounded_up(max(2.5 * speed, 1.5 * abs(float(state.v[index]))))
    return Axis(name, -high, high, cells)


def _critical_speed(
    dynamics: Dynamics, state: State, name: str, first: Axis, parameters: Values | None, closed: list[int]
) -> float | None:
    """Median over the postures of the speed at which inertia balances the free normal acceleration."""
    from hybrid.dynamics import solve_states

    swept = {first.name: first.at((np.arange(_PROBES) + 0.5) / _PROBES), name: np.array([[0.0], [1.0]])}
    pins = pins_around(dynamics, state, [first.name, name], parameters=parameters)
    states = solve_states(dynamics, pins | swept, parameters=parameters)
    terms = dynamics.terms(states.q, states.v, t=states.t, parameters=parameters)
    free = free_motion(terms, eliminated=tuple(range(len(dynamics.rigid)))).a_free
    normal = (np.swapaxes(terms.W_N, -1, -2) @ free[..., None])[..., 0] + terms.zeta_N
    rest, moving = np.broadcast_to(normal, (2, _PROBES, normal.shape[-1]))  # speeds may change nothing
    with np.errstate(divide="ignore", invalid="ignore"):
        speeds = np.sqrt(np.abs(rest / (moving - rest)))[..., closed]
    finite = speeds[np.isfinite(speeds) & (speeds > 0)]
    return float(np.median(finite)) if finite.size else None


def _friction_axis(dynamics: Dynamics, state: State, parameters: Values | None, cells: int) -> Axis | None:
    """The first parameter that is a number and changes a coefficient of friction."""
    mechanism = dynamics.mechanism
    values = mechanism.parameter_values(parameters or {})
    plain = dynamics.terms(state.q, state.v, t=state.t, parameters=parameters)
    for name, value in values.items():
        changed = {**(parameters or {}), name: float(value) + 0.01}
        terms = dynamics.terms(state.q, state.v, t=state.t, parameters=changed)
        if not np.array_equal(terms.friction, plain.friction):
            return Axis(name, 0.0, _rounded_up(max(2.0, 1.5 * float(value))), cells)
    return None


def _rounded_up(value: float) -> float:
    """The next number with one digit."""
    unit = 10.0 ** math.floor(math.log10(value))
    return math.ceil(value / unit - NOTHING) * unit
