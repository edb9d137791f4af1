"""Units of coordinates, velocities and forces, found from the units of the parameters by scaling them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.declaration.unit_names import UnitError, read_unit
from hybrid.errors import DeclarationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Terms, Values

__all__ = ["Units", "is_angle", "quantity_units", "unit_powers"]

_SCALE = 2 / 3  # below 1, so that a coefficient of restitution whose unit is not given stays one
_FORCES: Mapping[int | None, str] = {0: "N m", 1: "N"}
_RATES: Mapping[int | None, str] = {0: "rad/s²", 1: "m/s²"}
_GENERIC = 0.37  # added to every velocity, so that no term vanishes by chance


@attrs.frozen
class Units:
    """Units of a mechanism's quantities; empty where the declaration does not say enough.

    Attributes
    ----------
    coordinates : mapping of str to str
        Of coordinates and velocities.
    accelerations : mapping of str to str
        Of the second derivatives, by coordinate.
    forces, contact_accelerations : mapping of str to str
        Normal to every contact and to every bilateral constraint with friction.
    tangential_forces, tangential_accelerations : mapping of str to str
        Along every contact, friction element and bilateral constraint with friction.
    """

    coordinates: Mapping[str, str]
    accelerations: Mapping[str, str]
    forces: Mapping[str, str]
    contact_accelerations: Mapping[str, str]
    tangential_forces: Mapping[str, str]
    tangential_accelerations: Mapping[str, str]


def quantity_units(dynamics: Dynamics, state: State, *, parameters: Values | None = None) -> Units:
    """Find the units of coordinates and forces.

    The kinetic energy ``M_ii v_i^2 / 2`` is in joules: how ``M_ii`` changes when every parameter is scaled as its unit
    says, tells the unit of coordinate ``i``; a force direction then tells that of a contact's gap.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping, optional

    Returns
    -------
    Units

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 1, "phi_dot": 0, "slip.tip": 0})
    >>> units = quantity_units(rod, state)
    >>> units.coordinates["phi_dot"], units.coordinates["x"], units.forces["tip"]
    ('rad/s', 'm', 'N')
    """
    mechanism = dynamics.mechanism
    powers = _coordinate_powers(dynamics, state, parameters)
    coordinates: dict[str, str] = {}
    accelerations: dict[str, str] = {}
    for index, (name, rate) in enumerate(zip(mechanism.coordinates, mechanism.velocities, strict=True)):
        power = powers[index]
        unit = {0: "rad", 1: "m"}.get(power, "") if power is not None else ""
        if power is None and is_angle(dynamics, state, index, parameters=parameters):
            unit = "rad"
        coordinates |= {name: unit, rate: f"{unit}/s" if unit else ""}
        accelerations[name] = f"{unit}/s²" if unit else ""
    normal = {name: ("W_N", index) for index, name in enumerate(dynamics.contacts)}
    normal |= {name: ("J", row) for row, name in enumerate(dynamics.rigid) if name in dynamics.columns}
    tangential = {name: ("W_T", columns.start) for name, columns in dynamics.columns.items()}
    along = [
        {name: _direction_power(dynamics, state, parameters, powers, place) for name, place in places.items()}
        for places in (normal, tangential)
    ]
    forces, tangential_forces = ({name: _FORCES.get(power, "") for name, power in found.items()} for found in along)
    rates, tangential_rates = ({name: _RATES.get(power, "") for name, power in found.items()} for found in along)
    return Units(coordinates, accelerations, forces, rates, tangential_forces, tangential_rates)


def unit_powers(unit: str) -> tuple[float, float, float] | None:
    """Powers of metre, kilogram and second of a unit; None if it cannot be read.

    Examples
    --------
    >>> unit_powers("kg m^2"), unit_powers("m/s^2"), unit_powers("furlong")
    ((2.0, 1.0, 0.0), (1.0, 0.0, -2.0), None)
    """
    try:
        powers = read_unit(unit)
    except UnitError:
        return None
    if not unit.strip() or not powers.keys() <= {"m", "kg", "s"}:
        return None
    return (float(powers.get("m", 0)), float(powers.get("kg", 0)), float(powers.get("s", 0)))


def is_angle(dynamics: Dynamics, state: State, index: int, *, parameters: Values | None = None) -> bool:
    """Tell whether the equations depend on a coordinate and repeat after a full turn of it.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 1, "phi_dot": 0, "slip.tip": 0})
    >>> [is_angle(rod, state, index) for index in range(3)]
    [False, False, True]
    """
    turn = np.eye(dynamics.n)[index]
    here, part, full = (
        dynamics.terms(state.q + angle * turn, state.v + _GENERIC, t=state.t, parameters=parameters)
        for angle in (0.0, 1.0, 2 * math.pi)
    )
    names = ("M", "h", "gap", "W_N", "slip", "W_T", "constraint", "J")

    def is_same(first: Terms, second: Terms) -> bool:
        return all(np.allclose(getattr(first, name), getattr(second, name), rtol=1e-9, atol=1e-9) for name in names)

    return is_same(here, full) and not is_same(here, part)


def _rescaled(dynamics: Dynamics, parameters: Values | None, base: int | None) -> dict[str, float]:
    """All parameters with one base unit made larger, or (``None``) those changed whose unit cannot be read."""
    mechanism = dynamics.mechanism
    scaled = {}
    for name, value in mechanism.parameter_values(parameters or {}).items():
        powers = unit_powers(mechanism.parameters[name].unit)
        factor = 1.0
        if powers is not None and base is not None:
            factor = _SCALE ** powers[base]
        elif powers is None and base is None:
            factor = _SCALE
        scaled[name] = float(value) * factor
    return scaled


def _rescaled_terms(
    dynamics: Dynamics, state: State, parameters: Values | None, base: int | None, name: str
) -> NDArray[Any]:
    """One of the terms after rescaling; not a number where a parameter then leaves its range, which tells no unit."""
    try:
        terms = dynamics.terms(state.q, state.v, t=state.t, parameters=_rescaled(dynamics, parameters, base))
    except DeclarationError:
        return np.full_like(getattr(dynamics.terms(state.q, state.v, t=state.t, parameters=parameters), name), np.nan)
    return np.asarray(getattr(terms, name))


def _coordinate_powers(dynamics: Dynamics, state: State, parameters: Values | None) -> list[int | None]:
    """Power of the metre of every coordinate; None where it is not known or the mass is not in kilograms."""
    declared = dynamics.terms(state.q, state.v, t=state.t, parameters=parameters).M
    rescaled = [_rescaled_terms(dynamics, state, parameters, base, "M") for base in (0, 1, None)]
    masses = [np.diagonal(matrix) for matrix in (declared, *rescaled)]
    powers: list[int | None] = []
    for plain, longer, heavier, blind in np.transpose(masses).tolist():
        is_known = plain > 0 and longer > 0 and math.isclose(blind, plain, rel_tol=1e-9)
        is_known = is_known and math.isclose(heavier, _SCALE * plain, rel_tol=1e-9)
        powers.append(_whole(1 - math.log(longer / plain, _SCALE) / 2) if is_known else None)
    return powers


def _direction_power(
    dynamics: Dynamics, state: State, parameters: Values | None, powers: list[int | None], place: tuple[str, int]
) -> int | None:
    """Power of the metre of the displacement along a force direction: a column of ``W_N``, ``W_T`` or ``J^T``."""
    matrix, column = place
    declared = getattr(dynamics.terms(state.q, state.v, t=state.t, parameters=parameters), matrix)
    rescaled = [_rescaled_terms(dynamics, state, parameters, base, matrix) for base in (0, None)]
    if matrix == "J":
        declared, rescaled = declared.T, [terms.T for terms in rescaled]
    index = int(np.argmax(np.abs(declared[:, column])))
    plain, longer, blind = (float(terms[index, column]) for terms in (declared, *rescaled))
    own = powers[index]
    if own is None or plain == 0 or not longer / plain > 0 or not math.isclose(blind, plain, rel_tol=1e-9):
        return None
    return _whole(own + math.log(longer / plain, _SCALE))


def _whole(power: float) -> int | None:
    return round(power) if abs(power - round(power)) < 1e-6 else None
