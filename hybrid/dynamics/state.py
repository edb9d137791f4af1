"""The state of a mechanism, one or many, and the pins that fix it: what each fixes, its value, what is missing."""

from __future__ import annotations

import difflib
import math
import re
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments, explains_arguments, is_masked
from hybrid.declaration import evaluate, parse_expression
from hybrid.declaration.tree import read
from hybrid.dynamics.arithmetic import is_finite
from hybrid.dynamics.configuration import independent_constraints
from hybrid.errors import DeclarationError, StateError
from hybrid.expressions import Builder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from hybrid.dynamics.derive import Dynamics

__all__ = [
    "Pins",
    "State",
    "States",
    "check_state",
    "cyclic_coordinates",
    "n_velocity_pins",
    "other_positions",
    "pin_names",
    "posture",
    "read_number",
    "read_one_number",
    "sort_pins",
]


def _frozen_array(values: ArrayLike) -> NDArray[np.float64]:
    if np.iscomplexobj(values) or is_masked(values):  # NumPy would drop imaginary parts, and the mask
        raise TypeError("an array of a state holds real numbers, of which none is masked")
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def _sides(sides: Mapping[str, float | Sequence[float]]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(float(s) for s in np.atleast_1d(np.asarray(side))) for name, side in sides.items()}


def _pins(pins: Mapping[str, str | float]) -> dict[str, str | float]:
    return dict(pins)


@explains_arguments
@attrs.frozen
class State:
    """Position and velocity of a mechanism at a time.

    Attributes
    ----------
    q, v : array, (n,)
        Generalised coordinates and velocities, in the order of the declaration.
    t : float
        Time, in s.
    sides : mapping of str to tuple of float
        For contacts whose slip is a limit: the direction from which it vanishes, ``(1.0,)`` or ``(-1.0,)`` for a planar
        contact (pins ``slip.tip=+0`` and ``-0``), a plane vector for a spatial one; also where a slip was pinned lower
        than numbers tell it from rest. A contact at rest is not listed: what slips with a contact in the limit, as the
        other foot of a body, must be. States from pins list it.
    alternatives : tuple of array, (n,)
        Further positions that satisfy the same pins, of those that Newton's method finds from a few starts; there may
        be more, above all where gaps are pinned. Not compared.
    pins : mapping of str to str or float
        What it was solved from, if it was; a text is known exactly where its float is rounded. Not compared.

    Examples
    --------
    >>> State([0.0, 1.0], [0.0, 0.0], sides={"tip": 1}).sides
    {'tip': (1.0,)}
    """

    q: NDArray[np.float64] = attrs.field(converter=_frozen_array, eq=attrs.cmp_using(eq=np.array_equal))
    v: NDArray[np.float64] = attrs.field(converter=_frozen_array, eq=attrs.cmp_using(eq=np.array_equal))
    t: float = attrs.field(default=0.0, converter=float)
    sides: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict, converter=_sides)
    alternatives: tuple[NDArray[np.float64], ...] = attrs.field(default=(), eq=False, repr=False)
    pins: Mapping[str, str | float] = attrs.field(factory=dict, converter=_pins, eq=False, repr=False)


def check_state(dynamics: Dynamics, state: State) -> None:
    """Refuse what is no single state of a mechanism, is not finite, or has sides of what has no such slip.

    Parameters
    ----------
    dynamics : Dynamics
    state : State

    Returns
    -------
    None
        One finite number for each coordinate and velocity, and directions for sides.

    Raises
    ------
    StateError
        Says what is wrong with which part of the state.
    """
    n = dynamics.n
    if state.q.shape != (n,) or state.v.shape != (n,):
        raise StateError(
            f"{dynamics.name} has {n} coordinates: q and v must have the shape ({n},), "
            f"not {state.q.shape} and {state.v.shape}"
        )
    if not (is_finite(state.q, state.v) and math.isfinite(state.t)):
        raise StateError(f"a state must be finite: q = {state.q}, v = {state.v}, t = {state.t:g}")
    for name, side in state.sides.items():
        if name not in dynamics.columns:
            known = ", ".join(dynamics.columns) or "none"
            raise StateError(f"sides: {dynamics.name} has no slip of {name!r}; the slips are of {known}")
        size = dynamics.dimension(name)
        if len(side) != size or not any(side) or not all(map(math.isfinite, side)):
            numbers = "one finite number" if size == 1 else f"{size} finite numbers"
            raise StateError(f"sides: {name} must have a direction of {numbers}, not zero, got {side}")


@explains_arguments
@attrs.frozen(eq=False)
class States:
    """Arrays of states for a map; the leading axes of ``q``, ``v`` and ``t`` broadcast against each other.

    Attributes
    ----------
    q, v : array, (..., n)
    t : array, (...)
        Times, in s.
    sides : mapping of str to tuple of float
        As in :class:`State`, common to all states.
    reached : array of bool, (...)
        False where the pins have no solution; ``q`` or ``v`` are NaN there.
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    t: NDArray[np.float64]
    sides: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict, converter=_sides)
    reached: NDArray[np.bool_] = attrs.field(factory=lambda: np.array(True))

    @property
    def shape(self) -> tuple[int, ...]:
        """The broadcast shape of the states."""
        return np.broadcast_shapes(self.q.shape[:-1], self.v.shape[:-1], self.t.shape, self.reached.shape)


_LIMITS = {"+0": 1.0, "-0": -1.0, "+0.0": 1.0, "-0.0": -1.0}
_NOT_FINITE = {"nan", "inf", "infinity"}  # as Python writes and reads them


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


@checks_arguments
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


@checks_arguments
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
        values[name] = 0.0 if limit is not None else _read_pin(name, value, dynamics)
        if limit is not None:
            _add_side(dynamics, sides, name, limit)
    _check_sides(sides, values)
    positions = {name: value for name, value in values.items() if name in position_names}
    velocities = {name: value for name, value in values.items() if name in velocity_names}
    time = values.get("t", 0.0)
    independent = _independent(dynamics, max(len(positions), len(velocities)), time)
    _complete(dynamics, positions, velocities, (position_names, velocity_names), len(independent))
    return Pins(positions, velocities, time, {name: tuple(side) for name, side in sides.items()}, independent)


def _read_pin(name: str, value: Any, dynamics: Dynamics) -> Any:
    try:
        return read_number(f"pin {name}", value, dynamics.values)
    except DeclarationError:
        moving = (*dynamics.mechanism.coordinates, *dynamics.mechanism.velocities)
        named = [other for other in moving if re.search(rf"\b{other}\b", value)]
        if not named:
            raise
        raise StateError(
            f"pin {name}: {value!r} names {named[0]}, which moves; a pin is an expression of numbers and parameters"
        ) from None


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
    hint = f"did you mean {near[0]!r}? The" if near else "the"
    return f"unknown pin {name!r}; {hint} pins are {', '.join(known)}"


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
        If it is no finite number.
    """
    if isinstance(value, str) and value.strip(" +-").lower() not in _NOT_FINITE - known.keys():
        expression, build = parse_expression(value, known=known.keys(), field=field), Builder()
        names = {name: build.name(name) for name in expression.names if name in known}
        exact = build.value(read(build, expression, names))
        value = evaluate(expression, known) if exact is None else float(exact)  # 0.1 + 0.2 - 0.3 is 0
    try:
        array = np.asarray(value)
        number = array.astype(float) if array.dtype.kind in "iufO" else np.asarray(np.nan)
    except (OverflowError, TypeError, ValueError):  # beyond all floats, no number, or rows of different lengths
        number = np.asarray(np.nan)
    if not np.isfinite(number).all():
        raise StateError(f"{field}: the value must be a finite number, got {value!s:.60}")
    return float(number) if number.ndim == 0 else number


def read_one_number(field: str, value: Any, known: Mapping[str, Any]) -> float:
    """As :func:`read_number`, where an array is refused.

    Parameters
    ----------
    field : str
    value : float or str
    known : mapping of str to float

    Returns
    -------
    float

    Raises
    ------
    StateError
        If it is not one finite number.
    """
    number = read_number(field, value, known)
    if np.ndim(number):
        raise StateError(f"{field}: the value must be one finite number, got {value!s:.60}")
    return float(number)


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


def posture(dynamics: Dynamics, q: NDArray[np.float64]) -> str:
    """Coordinates in words.

    Parameters
    ----------
    dynamics : Dynamics
    q : array, (n,)

    Returns
    -------
    str
        ``"x = 1, phi = 0.5"``.
    """
    return ", ".join(f"{name} = {value:.6g}" for name, value in zip(dynamics.mechanism.coordinates, q, strict=True))


def other_positions(dynamics: Dynamics, state: State) -> tuple[str, ...]:
    """What is to be said of a state whose pins have other positions, too.

    Parameters
    ----------
    dynamics : Dynamics
    state : State

    Returns
    -------
    tuple of str
        A sentence for each of its ``alternatives``.
    """
    return tuple(f"the pins have another position: {posture(dynamics, q)}" for q in state.alternatives)
