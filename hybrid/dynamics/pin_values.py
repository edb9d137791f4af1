"""Pins read and completed: what each fixes, its value, and the limits of vanishing slip.

Quantities of a mechanism that may be swept, with their units.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.declaration import evaluate, parse_expression
from hybrid.dynamics.consistency import independent_constraints
from hybrid.dynamics.equations import read
from hybrid.errors import StateError
from hybrid.expressions import Builder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.dynamics.derive import Dynamics

__all__ = [
    "Pins",
    "cyclic_coordinates",
    "n_velocity_pins",
    "pin_names",
    "quantities_with_units",
    "read_number",
    "sort_pins",
]


def quantities_with_units(dynamics: Dynamics) -> dict[str, str]:
    """Units of everything that may be swept: parameters, coordinates, velocities, gaps, slips and the time.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    dict of str to str
        Empty where the declaration does not say enough.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> found = quantities_with_units(derive(mechanisms.load("rod_on_incline")))
    >>> found["phi"], found["gap.tip"], found["gap_dot.tip"], found["slip.tip"]
    ('rad', 'm', 'm/s', 'm/s')
    """
    units = dynamics.mechanism.units()
    found = {"t": units.time} | {name: item.unit for name, item in dynamics.mechanism.parameters.items()}
    for name, rate in units.contact_accelerations.items():
        length = rate.removesuffix("/s²")
        found |= {f"gap.{name}": length, f"gap_dot.{name}": f"{length}/s" if length else ""}
    for name, rate in units.tangential_accelerations.items():
        pins = [f"slip.{name}", *(f"slip.{name}.{axis + 1}" for axis in range(dynamics.dimension(name)))]
        found |= dict.fromkeys(pins, rate.replace("/s²", "/s"))
    return found | dict(units.coordinates)


_LIMITS = {"+0": 1.0, "-0": -1.0, "+0.0": 1.0, "-0.0": -1.0}


@attrs.frozen(eq=False)
class Pins:
    """Pins sorted by what they fix; every value is a float or an array that broadcasts.

    ``independent`` are the rows of the rigid constraints that fix something besides.
    """

    positions: Mapping[str, Any]
    velocities: Mapping[str, Any]
    time: Any
    sides: Mapping[str, tuple[float, ...]]
    independent: tuple[int, ...]


def pin_names(dynamics: Dynamics) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of all position pins and of all velocity pins of a mechanism.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    positions : tuple of str
        The coordinates and ``gap.NAME`` of each contact.
    velocities : tuple of str
        The velocities, ``gap_dot.NAME``, and ``slip.NAME``, or ``slip.NAME.1`` and ``slip.NAME.2`` in space.
    """
    positions = [*dynamics.mechanism.coordinates, *(f"gap.{name}" for name in dynamics.contacts)]
    velocities = [*dynamics.mechanism.velocities, *(f"gap_dot.{name}" for name in dynamics.contacts)]
    for name in dynamics.columns:
        size = dynamics.dimension(name)
        velocities += [f"slip.{name}"] if size == 1 else [f"slip.{name}.{axis}" for axis in range(1, size + 1)]
    return tuple(positions), tuple(velocities)


def cyclic_coordinates(dynamics: Dynamics) -> tuple[str, ...]:
    """Coordinates on which no term of the equations depends.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    tuple of str
        In the order of the coordinates.
    """
    used = dynamics.equations.all_names
    return tuple(name for name in dynamics.mechanism.coordinates if name not in used)


def sort_pins(dynamics: Dynamics, pins: Mapping[str, Any]) -> Pins:
    """Pins as read, with the defaults added; as many as the mechanism needs.

    Parameters
    ----------
    dynamics : Dynamics
    pins : mapping of str to float, str or array

    Returns
    -------
    Pins

    Raises
    ------
    StateError
        Unknown, too few or too many pins, or values that are not finite numbers.
    """
    position_names, velocity_names = pin_names(dynamics)
    unknown = [name for name in pins if name not in (*position_names, *velocity_names, "t")]
    if unknown:
        raise StateError("\n".join(_unknown_pin(name, (*position_names, *velocity_names, "t")) for name in unknown))
    sides: dict[str, list[float]] = {}
    values: dict[str, Any] = {}
    for name, value in pins.items():
        limit = _LIMITS.get(value.replace(" ", "")) if isinstance(value, str) and name.startswith("slip.") else None
        values[name] = 0.0 if limit is not None else read_number(f"pin {name}", value, dynamics.values)
        if limit is not None:
            _add_side(dynamics, sides, name, limit)
    _check_sides(sides, values)
    positions = {name: value for name, value in values.items() if name in position_names}
    velocities = {name: value for name, value in values.items() if name in velocity_names}
    time = values.get("t", 0.0)
    independent = _independent(dynamics, max(len(positions), len(velocities)), time)
    _complete(dynamics, positions, velocities, (position_names, velocity_names), len(independent))
    return Pins(positions, velocities, time, {name: tuple(side) for name, side in sides.items()}, independent)


def n_velocity_pins(dynamics: Dynamics, positions: Mapping[str, Any]) -> int:
    """Number of velocity pins that a state with these position pins, and perhaps the time, needs.

    Parameters
    ----------
    dynamics : Dynamics
    positions : mapping of str to float, str or array
        Position pins, and ``t`` if it is given.

    Returns
    -------
    int
        The number of coordinates less that of independent rigid constraints.
    """
    time = read_number("pin t", positions.get("t", 0.0), dynamics.values)
    return dynamics.n - len(_independent(dynamics, len(positions.keys() - {"t"}), time))


def _independent(dynamics: Dynamics, n_pins: int, time: Any) -> tuple[int, ...]:
    """Independent rigid constraints; on the space of the constraints only if the pins ask for more room."""
    if len(dynamics.rigid) < 2:
        return tuple(range(len(dynamics.rigid)))
    found = independent_constraints(dynamics, t=time)
    if n_pins > dynamics.n - len(found):
        found = independent_constraints(dynamics, t=time, on_space=True)
    return found


def _unknown_pin(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown pin {name!r}; {hint}The pins are {', '.join(known)}"


def read_number(field: str, value: Any, known: Mapping[str, Any]) -> Any:
    """The value of a number, an array or an expression of known values.

    Parameters
    ----------
    field : str
        What the value is for, in messages.
    value : float, array_like or str
    known : mapping of str to float or array
        Values of the names that an expression may use.

    Returns
    -------
    float or array
        An expression of numbers alone is exact until it is rounded once.

    Raises
    ------
    StateError
        If it is not finite.
    """
    if isinstance(value, str):
        expression, build = parse_expression(value, known=known.keys(), field=field), Builder()
        names = {name: build.name(name) for name in expression.names if name in known}
        exact = build.value(read(build, expression, names))
        value = evaluate(expression, known) if exact is None else float(exact)  # 0.1 + 0.2 - 0.3 is 0
    number = np.asarray(value, dtype=float)
    if not np.isfinite(number).all():
        raise StateError(f"{field}: the value must be a finite number, got {value}")
    return float(number) if number.ndim == 0 else number


def _add_side(dynamics: Dynamics, sides: dict[str, list[float]], pin: str, limit: float) -> None:
    parts = pin.split(".")
    axis = int(parts[2]) - 1 if len(parts) == 3 else 0
    sides.setdefault(parts[1], [0.0] * dynamics.dimension(parts[1]))[axis] = limit


def _check_sides(sides: Mapping[str, list[float]], values: Mapping[str, Any]) -> None:
    for contact in sides:
        others = [name for name in values if name.startswith(f"slip.{contact}") and np.any(values[name] != 0.0)]
        if others:
            raise StateError(
                f"pin {others[0]}: a limit of vanishing slip (+0 or -0) of {contact!r} needs its other component "
                f"to be 0, +0 or -0"
            )


def _complete(
    dynamics: Dynamics,
    positions: dict[str, Any],
    velocities: dict[str, Any],
    known: tuple[tuple[str, ...], tuple[str, ...]],
    n_independent: int,
) -> None:
    """Add the defaults, then insist on exactly n pins of either kind, independent constraints among them."""
    needed = dynamics.n - n_independent
    for name in cyclic_coordinates(dynamics):
        if len(positions) < needed:
            positions.setdefault(name, 0.0)
    kinds = (("position", positions, known[0], "gap"), ("velocity", velocities, known[1], "gap_dot"))
    for kind, pins, names, term in kinds:
        default = f"{term}.{dynamics.contacts[0]}" if len(dynamics.contacts) == 1 else ""
        missing = needed - len(pins)
        if default and missing == 1 and default not in pins:
            pins[default], missing = 0.0, 0
        if missing == 0:
            continue
        kept = "independent " if n_independent < len(dynamics.rigid) else ""
        less = f"{n_independent} {kept}constraint{'' if n_independent == 1 else 's'}"
        rigid = f" ({dynamics.n} coordinates less {less})" if dynamics.rigid else ""
        free = [name for name in names if name not in pins]
        many = missing < 0
        fewer = f", or {missing - 1} where {default} = 0" if default and default not in pins else ""
        advice = f"remove {-missing}" if many else f"add {missing} of {', '.join(free)}{fewer}"
        raise StateError(
            f"too {'many' if many else 'few'} {kind} pins: {dynamics.name} needs {needed}{rigid}, got {len(pins)}"
            f"{' (' + ', '.join(pins) + ')' if pins else ''}; {advice}"
        )
