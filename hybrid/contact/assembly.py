"""The rows of a contact problem: force directions and remainders of the carriers that take part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity, carrier_names
from hybrid.contact.carriers import Carrier, CarrierKind

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms

__all__ = ["Rows", "assemble"]

_SLIP_SIGN = {Activity.SLIPPING_PLUS: 1.0, Activity.SLIPPING_MINUS: -1.0}


@attrs.frozen(eq=False)
class Rows:
    """Carriers that take part, with what their rows contribute to the contact accelerations ``W^T a + zeta``.

    Attributes
    ----------
    carriers : tuple of Carrier
    W : array, (..., n, r)
        Force directions: normal row, then tangential rows, of each carrier in turn.
    zeta : array, (..., r)
        Contact accelerations that velocities and moving guides cause.
    """

    carriers: tuple[Carrier, ...]
    W: NDArray[np.float64]
    zeta: NDArray[np.float64]


def assemble(
    dynamics: Dynamics,
    terms: Terms,
    activities: tuple[Activity, ...],
    *,
    sides: Mapping[str, tuple[float, ...]],
) -> Rows:
    """Collect the rows of the carriers that are not open.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state or many, all with these activities.
    activities : tuple of Activity
        Of every carrier, in order.
    sides : mapping of str to tuple of float
        Slip directions of contacts at vanishing slip.

    Returns
    -------
    Rows

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": "pi/2", "phi_dot": 0, "slip.tip": 0})
    >>> rows = assemble(rod, rod.terms(state.q, state.v), (Activity.RESTING,), sides={})
    >>> [carrier.name for carrier in rows.carriers], rows.W.shape
    (['tip'], (3, 2))
    """
    carriers: list[Carrier] = []
    columns: list[NDArray[np.float64]] = []
    remainders: list[NDArray[np.float64]] = []
    for index, (name, activity) in enumerate(zip(carrier_names(dynamics), activities, strict=True)):
        if activity is Activity.OPEN:
            continue
        start = len(columns)
        normal = _normal_row(dynamics, terms, name, index)
        if normal is not None:
            columns.append(normal[0])
            remainders.append(normal[1])
        tangential = dynamics.columns.get(name, slice(0, 0))
        for column in range(tangential.start, tangential.stop):
            columns.append(terms.W_T[..., :, column])
            remainders.append(terms.zeta_T[..., column])
        rows = tuple(range(start + (normal is not None), len(columns)))
        direction = _direction(terms, tangential, activity, sides.get(name))
        friction, static = _friction(dynamics, terms, name, index)
        kind = _kind(dynamics, index)
        carriers.append(Carrier(name, kind, None if normal is None else start, rows, direction, friction, static))
    if not columns:
        return Rows((), np.zeros((dynamics.n, 0)), np.zeros(0))
    return Rows(tuple(carriers), _side_by_side(columns), _side_by_side(remainders))


def _side_by_side(arrays: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Stack along a new last axis what may have been evaluated for fewer states."""
    if len({array.shape for array in arrays}) == 1:
        return np.moveaxis(np.array(arrays), 0, -1)
    return np.stack(np.broadcast_arrays(*arrays), axis=-1)


def _kind(dynamics: Dynamics, index: int) -> CarrierKind:
    if index < len(dynamics.contacts):
        return CarrierKind.CONTACT
    return CarrierKind.ELEMENT if index < len(dynamics.contacts) + len(dynamics.elements) else CarrierKind.BILATERAL


def _normal_row(
    dynamics: Dynamics, terms: Terms, name: str, index: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    kind = _kind(dynamics, index)
    if kind is CarrierKind.CONTACT:
        return terms.W_N[..., :, index], terms.zeta_N[..., index]
    if kind is CarrierKind.BILATERAL:
        row = dynamics.rigid.index(name)
        return terms.J[..., row, :], terms.zeta_B[..., row]
    return None


def _friction(dynamics: Dynamics, terms: Terms, name: str, index: int) -> tuple[Any, Any]:
    kind = _kind(dynamics, index)
    if kind is CarrierKind.CONTACT:
        return terms.friction[..., index], terms.static_friction[..., index]
    if kind is CarrierKind.ELEMENT:
        element = index - len(dynamics.contacts)
        return terms.limit[..., element], terms.static_limit[..., element]
    friction = terms.constraint_friction[..., dynamics.rigid.index(name)]
    return friction, friction


def _direction(
    terms: Terms, columns: slice, activity: Activity, side: tuple[float, ...] | None
) -> tuple[Any, ...] | None:
    if activity in _SLIP_SIGN:
        return (_SLIP_SIGN[activity],)
    if activity is Activity.TENDING and side is not None:
        direction = np.asarray(side)
    elif activity is Activity.SLIPPING:
        direction = terms.slip[..., columns]
    else:
        return None
    unit = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    return (unit[..., 0], unit[..., 1])
