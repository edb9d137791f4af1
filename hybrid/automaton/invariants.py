"""Whether states satisfy the invariant of a mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import Measure, Quantity
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.automaton.guards import Condition
    from hybrid.automaton.location import Location
    from hybrid.automaton.numeric import SolvedMode
    from hybrid.dynamics.derive import Values

_SLIPS = {Measure.SLIP, Measure.SLIP_NORM}


def holds(
    location: Location,
    q: Any,
    v: Any,
    *,
    t: Any = 0.0,
    sides: Mapping[str, tuple[float, ...]] | None = None,
    parameters: Values | None = None,
    tolerances: Tolerances = Tolerances(),
) -> NDArray[np.bool_]:
    """Whether a mode is consistent at each of several states.

    Parameters
    ----------
    location : Location
    q, v : array_like, (..., N, n)
        An array also of one state: a slip without direction is that of no mode there, and of a state alone an error.
    t : array_like, (...), default 0
    sides : mapping of str to tuple of float, optional
        Sides from which slips vanish; a contact that is not listed and does not slip is at rest.
    parameters : mapping of str to array_like, optional
    tolerances : Tolerances, optional

    Returns
    -------
    array of bool, (..., N)
        The parameters broadcast against the states.
    """
    sides = sides or {}
    solved = location.system.solve(q, v, t=t, parameters=parameters, sides=sides)
    with np.errstate(invalid="ignore"):
        met = [_met(condition, solved, sides, tolerances) for condition in location.invariant]
    arrays = [np.shape(value) for value in (parameters or {}).values()]
    met.append(np.ones(np.broadcast_shapes(np.shape(q)[:-1], np.shape(v)[:-1], np.shape(t), *arrays), dtype=bool))
    return np.asarray(np.logical_and.reduce(np.broadcast_arrays(*met)))


def _met(
    condition: Condition, solved: SolvedMode, sides: Mapping[str, tuple[float, ...]], tolerances: Tolerances
) -> NDArray[np.bool_]:
    """The first quantity that does not vanish decides."""
    decided: NDArray[np.bool_] = np.zeros((), dtype=bool)
    answer: NDArray[np.bool_] = np.zeros((), dtype=bool)
    for quantity in condition.quantities:
        sign = _sign(quantity, solved, tolerances)
        side = sides.get(condition.contact)
        if side is not None and quantity.measure in (Measure.SLIP, Measure.SLIP_NORM):
            limit = quantity.sign * np.sign(side[quantity.axis]) if quantity.measure is Measure.SLIP else 1.0
            sign = np.where(sign == 0, limit, sign)
        answer = np.where(decided, answer, sign > 0)
        decided = decided | (sign != 0)
    if condition.relation == "= 0":
        return ~decided
    return np.asarray(answer if condition.relation == "> 0" else answer | ~decided)


def _sign(quantity: Quantity, solved: SolvedMode, tolerances: Tolerances) -> NDArray[np.float64]:
    """Sign of a quantity, 0 within the tolerance and NaN where it does not exist."""
    value = np.asarray(quantity.of(solved.view))
    return np.where(np.abs(value) <= _threshold(quantity, solved, tolerances), 0.0, np.sign(value))


def _threshold(quantity: Quantity, solved: SolvedMode, tolerances: Tolerances) -> Any:
    if quantity.part is None:
        return tolerances.sign
    if quantity.measure is Measure.GAP:
        return tolerances.gap * solved.scales.gap[..., quantity.part.index]
    if quantity.measure is Measure.GAP_DOT:
        return tolerances.velocity * solved.scales.gap_dot[..., quantity.part.index]
    if quantity.measure in _SLIPS:
        return tolerances.velocity * np.max(solved.scales.slip[..., list(quantity.part.columns)], axis=-1)
    if quantity.measure is Measure.NORMAL_ACCELERATION:
        return tolerances.sign * solved.acceleration_size(quantity.part.index)
    rows = solved.rows(quantity.part)
    if quantity.measure is Measure.TANGENTIAL_ACCELERATION:
        return tolerances.sign * solved.scale.size * solved.scale.row[..., rows[-1]]
    return tolerances.sign * solved.scale.size / solved.scale.row[..., rows[0]]
