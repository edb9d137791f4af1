"""Pins that hold a state's contacts while something else is swept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.scales import scales_of
from hybrid.tolerances import LEAST, Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Terms, Values

__all__ = ["Row", "closed_contacts", "pins_around", "rank", "slip_rows"]

Row = tuple[str, NDArray[np.float64], Any]
"""A pin, the gradient of what it fixes, and its value."""


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
    mechanism, unit = dynamics.mechanism, np.eye(dynamics.n)
    gaps = [(f"gap.{name}", terms.W_N[:, dynamics.contacts.index(name)], 0.0) for name in closed]
    rates = [(f"gap_dot.{name}", row, 0.0) for (_, row, _), name in zip(gaps, closed, strict=True)]
    # an angle from a gap has two values, a length from a gap one: angles are pinned first
    order = sorted(range(dynamics.n), key=lambda index: mechanism.coordinates[index] not in mechanism.angles)
    positions = [(mechanism.coordinates[index], unit[index], float(state.q[index])) for index in order]
    velocities = [(mechanism.velocities[index], unit[index], float(state.v[index])) for index in order]
    slips = slip_rows(dynamics, state, terms)
    sided = [row for row in slips if isinstance(row[2], str)]
    pins = _independent([*gaps, *_as_pinned(state, positions)], terms.J, names, dynamics)
    pins |= _independent([*rates, *_as_pinned(state, [*sided, *slips, *velocities])], terms.J, names, dynamics)
    return pins | ({"t": state.t} if state.t and "t" not in names else {})


def _as_pinned(state: State, rows: Sequence[Row]) -> list[Row]:
    """Rows with those first that the state was given by."""
    return sorted(rows, key=lambda row: row[0] not in state.pins)


def _independent(
    rows: Sequence[Row], J: NDArray[np.float64], names: Sequence[str], dynamics: Dynamics
) -> dict[str, Any]:
    """Take rows in order as long as each is independent of the swept ones, the constraints and those before it."""
    taken = [*J, *(row for name, row, _ in rows if name in names)]
    pins: dict[str, Any] = {}
    for name, row, value in rows:
        if name in names or name in pins or len(taken) >= dynamics.n:
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
