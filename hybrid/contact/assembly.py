"""The rows of a contact problem: force directions and remainders of the force elements that take part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.active_elements import ActiveElement
from hybrid.contact.activity import Activity
from hybrid.contact.table import ForceRow, force_elements

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Terms
    from hybrid.dynamics.structure import AbstractStructure

__all__ = ["Rows", "assemble"]

_SLIP_SIGN = {Activity.SLIPPING_PLUS: 1.0, Activity.SLIPPING_MINUS: -1.0}


@attrs.frozen(eq=False)
class Rows:
    """Force elements that take part, with what their rows contribute to the contact accelerations ``W^T a + zeta``.

    Attributes
    ----------
    elements : tuple of ActiveElement
    W : array, (..., n, r)
        Force directions: normal row, then tangential rows, of each force element in turn.
    zeta : array, (..., r)
        Contact accelerations that velocities and moving guides cause.
    """

    elements: tuple[ActiveElement, ...]
    W: NDArray[np.float64]
    zeta: NDArray[np.float64]


def assemble(
    dynamics: AbstractStructure,
    terms: Terms,
    activities: tuple[Activity, ...],
    *,
    sides: Mapping[str, tuple[float, ...]],
) -> Rows:
    """Collect the rows of the force elements that are not open.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state or many, all with these activities.
    activities : tuple of Activity
        Of every force element, in order.
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
    >>> [element.name for element in rows.elements], rows.W.shape
    (['tip'], (3, 2))
    """
    elements: list[ActiveElement] = []
    columns: list[NDArray[np.float64]] = []
    remainders: list[NDArray[np.float64]] = []
    for element, activity in zip(force_elements(dynamics), activities, strict=True):
        if activity is Activity.OPEN:
            continue
        axes = range(len(element.columns))
        rows = ([ForceRow(element)] if element.has_normal else []) + [ForceRow(element, axis) for axis in axes]
        start = len(columns)
        columns += [row.direction(terms) for row in rows]
        remainders += [row.zeta(terms) for row in rows]
        direction = _direction(terms, list(element.columns), activity, sides.get(element.name))
        friction, static = (
            _number(getattr(terms, element.friction_term(is_static=is_static))[..., element.index])
            for is_static in (False, True)
        )
        tangential = tuple(range(len(columns) - len(axes), len(columns)))
        first = start if element.has_normal else None
        elements.append(ActiveElement(element.name, element.kind, first, tangential, direction, friction, static))
    if not columns:
        return Rows((), np.zeros((dynamics.n, 0)), np.zeros(0))
    return Rows(tuple(elements), side_by_side(columns), side_by_side(remainders))


def _number(value: NDArray[np.float64]) -> Any:
    """A plain float where there is one state."""
    return value.item() if type(value) is np.ndarray and value.ndim == 0 else value


def side_by_side(arrays: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Arrays stacked along a new last axis, some of which may have been evaluated for fewer states.

    Parameters
    ----------
    arrays : list of array
        With shapes that broadcast to one, (...).

    Returns
    -------
    array, (..., number of arrays)
    """
    shape = arrays[0].shape
    if len(shape) < 2 and all(type(array) is np.ndarray and array.shape == shape for array in arrays):
        return np.array(arrays).T
    return np.stack(np.broadcast_arrays(*arrays), axis=-1)


def _direction(
    terms: Terms, columns: list[int], activity: Activity, side: tuple[float, ...] | None
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
    return (_number(unit[..., 0]), _number(unit[..., 1]))
