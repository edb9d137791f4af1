"""The part of the state space that a report shows: axes of its map around a state.

Pins that hold a state's contacts while something else is swept.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis import Axis
from hybrid.arguments import checks_arguments
from hybrid.contact.reduction import free_motion
from hybrid.dynamics.scales import scales_of
from hybrid.tolerances import LEAST, NOTHING, ROUNDING, Tolerances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.analysis import RegionMap
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values
    from hybrid.dynamics.equations import Terms

__all__ = [
    "Row",
    "can_be_traced",
    "closed_contacts",
    "default_axes",
    "friction_parameter",
    "independent_pins",
    "pins_around",
    "posture_rows",
    "rank",
]


Row = tuple[str, NDArray[np.float64], Any]
"""A pin, the gradient of what it fixes, and its value."""


@checks_arguments
def pins_around(
    dynamics: Dynamics, state: State, names: Sequence[str], *, parameters: Values | None = None
) -> dict[str, Any]:
    """Pins that keep a state's contacts closed and slipping as they are while some quantities are swept.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    names : sequence of str
        The swept pins or parameters.
    parameters : mapping, optional

    Returns
    -------
    dict of str to float or str
        Together with the swept ones as many as the mechanism needs: closed gaps and their rates first, then what
        the state was given by, then slips, coordinates and velocities as they are at the state.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 1, "phi_dot": 0, "slip.tip": "+0"})
    >>> pins_around(rod, state, ["phi", "phi_dot"])
    {'gap.tip': 0.0, 'x': 0.0, 'gap_dot.tip': 0.0, 'slip.tip': '+0'}
    """
    terms = dynamics.terms(state.q, state.v, t=state.t, parameters=parameters)
    closed = closed_contacts(dynamics, state, parameters)
    gaps, rates, positions, velocities = posture_rows(dynamics, terms, closed, state.q, state.v)
    slips = slip_rows(dynamics, state, terms)
    sided = [row for row in slips if isinstance(row[2], str)]
    pins = independent_pins([*gaps, *_as_pinned(state, positions)], terms.J, names, n=dynamics.n)
    pins |= independent_pins([*rates, *_as_pinned(state, [*sided, *slips, *velocities])], terms.J, names, n=dynamics.n)
    return pins | ({"t": state.t} if state.t and "t" not in names else {})


def posture_rows(
    dynamics: Dynamics, terms: Terms, closed: Sequence[str], q: NDArray[np.float64], v: NDArray[np.float64]
) -> tuple[list[Row], list[Row], list[Row], list[Row]]:
    """The pins of closed gaps, of their rates, of coordinates and of velocities, with gradients and values.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one posture.
    closed : sequence of str
        Contacts.
    q, v : array, (n,)
        Values of the coordinates and velocities.

    Returns
    -------
    gaps, rates, positions, velocities : list of (str, array, (n,), float)
    """
    mechanism, unit = dynamics.mechanism, np.eye(dynamics.n)
    normals = {name: terms.W_N[:, dynamics.contacts.index(name)] for name in closed}
    # an angle from a gap has two values, a length from a gap one: angles are pinned first
    order = sorted(range(dynamics.n), key=lambda index: mechanism.coordinates[index] not in mechanism.angles)
    return (
        [(f"gap.{name}", row, 0.0) for name, row in normals.items()],
        [(f"gap_dot.{name}", row, 0.0) for name, row in normals.items()],
        [(mechanism.coordinates[index], unit[index], float(q[index])) for index in order],
        [(mechanism.velocities[index], unit[index], float(v[index])) for index in order],
    )


def _as_pinned(state: State, rows: Sequence[Row]) -> list[Row]:
    """Rows with those first that the state was given by."""
    return sorted(rows, key=lambda row: row[0] not in state.pins)


def independent_pins(
    rows: Sequence[Row], J: NDArray[np.float64], names: Sequence[str] = (), *, n: int
) -> dict[str, Any]:
    """Rows in order, as long as each is independent of the swept ones, the constraints and those before it.

    Parameters
    ----------
    rows : sequence of (str, array, (n,), value)
    J : array, (m, n)
        Gradients of the constraints.
    names : sequence of str, optional
        Of the swept ones.
    n : int
        Number of coordinates.

    Returns
    -------
    dict of str to value
    """
    taken = [*J, *(row for name, row, _ in rows if name in names)]
    pins: dict[str, Any] = {}
    for name, row, value in rows:
        if name in names or name in pins or len(taken) >= n:
            continue
        if rank([*taken, row]) > rank(taken):
            taken.append(row)
            pins[name] = value
    return pins


def rank(rows: Sequence[NDArray[np.float64]]) -> int:
    """Number of independent rows, each taken with length 1.

    Parameters
    ----------
    rows : sequence of array, (n,)

    Returns
    -------
    int
        Rows that are dependent up to ten times ``Tolerances.rank`` count once.
    """
    scaled = [row / max(float(np.linalg.norm(row)), LEAST) for row in rows]
    return int(np.linalg.matrix_rank(np.array(scaled), tol=Tolerances().rank * 10)) if rows else 0


def closed_contacts(dynamics: Dynamics, state: State, parameters: Values | None) -> list[str]:
    """Contacts that take part at a state: gap and gap velocity vanish.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping, or None
        Values that replace declared ones.

    Returns
    -------
    list of str
        In the order of the mechanism.
    """
    terms = dynamics.terms(state.q, state.v, t=state.t, parameters=parameters)
    tolerances, scales = Tolerances(), scales_of(dynamics.at(parameters), terms, state.q, state.v, t=state.t)
    closed = np.abs(terms.gap) <= tolerances.gap * scales.gap
    closed &= np.abs(terms.gap_dot) <= tolerances.velocity * scales.gap_dot
    return [name for name, is_closed in zip(dynamics.contacts, closed, strict=True) if is_closed]


def slip_rows(dynamics: Dynamics, state: State, terms: Terms) -> list[Row]:
    """The slip pins of every force element with friction, with their gradients and values.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    terms : Terms
        At the state.

    Returns
    -------
    list of (str, array, (n,), float or str)
        A pin as ``slip.tip``, the gradient of the slip with respect to the velocities, and its value; ``+0`` or ``-0``
        for a vanishing slip that is a limit.
    """
    rows: list[Row] = []
    for name, columns in dynamics.columns.items():
        sides = state.sides.get(name)
        for axis, column in enumerate(range(columns.start, columns.stop)):
            pin = f"slip.{name}" if dynamics.dimension(name) == 1 else f"slip.{name}.{axis + 1}"
            value: Any = float(terms.slip[column])
            if abs(value) <= Tolerances().velocity:
                side = 0.0 if sides is None else sides[axis]
                value = 0.0 if side == 0 else ("+0" if side > 0 else "-0")
            rows.append((pin, terms.W_T[:, column], value))
    return rows


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


@checks_arguments
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
    corners_shared = np.count_nonzero(np.count_nonzero(np.diff(corners, axis=0), axis=0) > 1)
    each = _CLASSIFYING if found.branch is None else _CLASSIFYING + _SOLVING * dynamics.n**2
    return bool((40 * edges + 13_000 * corners_shared) * each <= _MAX_TRACING)


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
    name = friction_parameter(dynamics, state, parameters)
    if name is None:
        return None
    value = float(dynamics.at(parameters).values[name])
    return Axis(name, 0.0, _rounded_up(max(2.0, 1.5 * value)), cells)


def friction_parameter(
    dynamics: Dynamics, state: State, parameters: Values | None, *, taken: Sequence[str] = ()
) -> str | None:
    """The first parameter that is a number and changes a coefficient of friction.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping, or None
        Values that replace declared ones.
    taken : sequence of str, optional
        Those that are left out.

    Returns
    -------
    str or None
    """
    values = dynamics.at(parameters).values
    plain = dynamics.terms(state.q, state.v, t=state.t, parameters=values)
    for name, value in values.items():
        changed = {**values, name: float(value) + 0.01}  # no other follows it: the coefficient is wanted itself
        if name not in taken:
            terms = dynamics.terms(state.q, state.v, t=state.t, parameters=changed)
            if not np.array_equal(terms.friction, plain.friction):
                return name
    return None


def _rounded_up(value: float) -> float:
    """The next number with one digit."""
    unit = 10.0 ** math.floor(math.log10(value))
    return math.ceil(value / unit - NOTHING) * unit
