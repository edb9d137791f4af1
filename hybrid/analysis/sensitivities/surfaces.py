"""The surfaces in state space on which a motion changes, with their first derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.functional import CompiledExpression, compile_expression
from hybrid.analysis.sensitivities.spatial_slip import is_spatial, settling_aim
from hybrid.contact.carriers import CarrierKind
from hybrid.motion.outcome import Event, EventKind
from hybrid.motion.parts import GuardKind, guards_of

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.mode_system import ModeSystem, Response
    from hybrid.dynamics.derive import Values
    from hybrid.motion.parts import Part

__all__ = ["CONES", "EventSurface", "Point", "carrier_surface", "evaluate_point", "event_surfaces", "mode_surfaces"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Point:
    """One state in one mode with all first derivatives.

    Attributes
    ----------
    system : ModeSystem
    at : Response
        With N = 1.
    state, parameter : dict of array
        Derivatives of every quantity with respect to ``(q, v, t)`` and to the parameters, (1, size, z).
    state_slopes, parameter_slopes : array, (u, z)
        Derivatives of accelerations and forces.
    """

    system: ModeSystem
    at: Response
    state: dict[str, Array]
    parameter: dict[str, Array]
    state_slopes: Array
    parameter_slopes: Array

    @property
    def f(self) -> Array:
        """Velocities and accelerations, (2n,)."""
        return np.asarray(self.at.f[0])

    def slopes(self, name: str) -> Array:
        """Derivatives of a quantity with respect to ``(q, v, t, parameters)``, (size, 2n + 1 + c)."""
        return np.concatenate([self.state[name][0], self.parameter[name][0]], axis=1)

    @property
    def unknown_slopes(self) -> Array:
        """Derivatives of accelerations and forces with respect to ``(q, v, t, parameters)``, (u, 2n + 1 + c)."""
        return np.concatenate([self.state_slopes, self.parameter_slopes], axis=1)


def evaluate_point(system: ModeSystem, t: float, y: Array) -> Point:
    """Evaluate a mode with all first derivatives at one state.

    Parameters
    ----------
    system : ModeSystem
    t : float
    y : array, (2n,)

    Returns
    -------
    Point
    """
    at = system.respond(np.array([t]), np.asarray(y)[None, :])
    state = system.partials.state(at.t, at.y, at.forces, system.parameters)
    parameter = system.partials.parameter(at.t, at.y, at.forces, system.parameters)
    return Point(
        system, at, state, parameter, system.unknown_slopes(at, state)[0], system.unknown_slopes(at, parameter)[0]
    )


@attrs.frozen(eq=False)
class EventSurface:
    """A function of the state that is zero at an event.

    Attributes
    ----------
    kind : GuardKind
    carrier : str
        Contact, friction element or constraint; the text of the condition for ``UNTIL``.
    part : Part or None
        What the carrier does before the event.
    expression : CompiledExpression or None
        For ``UNTIL``.
    aim : array, (2,) or None
        For the end of a spatial slip: the direction in which it ends.
    """

    kind: GuardKind
    carrier: str
    part: Part | None = None
    expression: CompiledExpression | None = None
    aim: Array | None = None

    def values(self, at: Response, parameters: Values) -> Array:
        """Its values (N,) along a mode."""
        if self.expression is not None:
            return self.expression.value(at.t, at.y, parameters)
        part = self._carrier
        if self.kind is GuardKind.TOUCH:
            return _along(at, at.terms.gap, part.index)
        if self.kind is GuardKind.STOP:
            slips = np.stack([_along(at, at.terms.slip, column) for column in part.columns], axis=1)
            if is_spatial(part) and self.aim is None:
                return np.asarray(np.linalg.norm(slips, axis=1))
            return np.asarray(slips @ self._aim)
        normal = _normal_force(at, part)
        if self.kind is GuardKind.RELEASE:
            return normal
        if self.kind is GuardKind.CONE:
            limit = _along(at, getattr(at.terms, _limit_name(part)), part.index)
            return np.asarray(limit * normal - np.linalg.norm(at.forces.lambda_T[:, list(part.columns)], axis=1))
        sign = 1.0 if self.kind is GuardKind.CONE_PLUS else -1.0
        limit = _along(at, getattr(at.terms, _limit_name(part)), part.index)
        return np.asarray(limit * normal - sign * at.forces.lambda_T[:, part.columns[0]])

    def value(self, point: Point) -> float:
        """Its value at a point of the mode before."""
        return float(self.values(point.at, point.system.parameters)[0])

    @property
    def _carrier(self) -> Part:
        if self.part is None:
            raise ValueError(f"the guard {self.kind.value} belongs to no carrier")
        return self.part

    @property
    def _aim(self) -> Array:
        return np.array([self._carrier.slip_sign]) if self.aim is None else self.aim

    def slope(self, point: Point) -> Array:
        """Its derivatives with respect to ``(q, v, t, parameters)`` at a point, (2n + 1 + c,)."""
        if self.expression is not None:
            return np.asarray(self.expression.slope(point.at.t, point.at.y, point.system.parameters)[0])
        part = self._carrier
        if self.kind is GuardKind.TOUCH:
            return np.asarray(point.slopes("gap")[part.index])
        if self.kind is GuardKind.STOP:
            return np.asarray(self._aim @ point.slopes("slip")[list(part.columns)])
        normal_slope = _normal_slope(point, part)
        if self.kind is GuardKind.RELEASE:
            return normal_slope
        name = _limit_name(part)
        limit = float(_along(point.at, getattr(point.at.terms, name), part.index)[0])
        forces = [point.system.offsets[1] + column for column in part.columns]
        if self.kind is GuardKind.CONE:
            own = point.at.forces.lambda_T[0, list(part.columns)]
            outwards = own / np.linalg.norm(own)
        else:
            outwards = np.array([1.0 if self.kind is GuardKind.CONE_PLUS else -1.0])
        return np.asarray(
            point.slopes(name)[part.index] * float(_normal_force(point.at, part)[0])
            + limit * normal_slope
            - outwards @ point.unknown_slopes[forces]
        )

    def rate(self, point: Point) -> float:
        """Its rate of change along the flow before the event."""
        slope = self.slope(point)
        size = len(point.f)
        return float(slope[:size] @ point.f + slope[size])

    def size(self, point: Point) -> float:
        """The size of the terms that are added to form the rate."""
        slope = self.slope(point)
        size = len(point.f)
        return float(np.abs(slope[:size]) @ np.abs(point.f) + abs(slope[size]))


def _limit_name(part: Part) -> str:
    return {CarrierKind.CONTACT: "static_friction", CarrierKind.ELEMENT: "static_limit"}.get(
        part.kind, "constraint_friction"
    )


def _along(at: Response, values: Array, index: int) -> Array:
    return np.broadcast_to(values[..., index], len(at.t))


def _normal_force(at: Response, part: Part) -> Array:
    if part.kind is CarrierKind.ELEMENT:
        return np.ones(len(at.t))  # its limit is a force, not a coefficient
    block = at.forces.lambda_B if part.kind is CarrierKind.BILATERAL else at.forces.lambda_N
    return np.asarray(part.side * block[:, part.index])


def _normal_slope(point: Point, part: Part) -> Array:
    normal, _, bilateral, _ = point.system.offsets
    if part.kind is CarrierKind.ELEMENT:
        return np.zeros(point.unknown_slopes.shape[1])
    start = bilateral if part.kind is CarrierKind.BILATERAL else normal
    return np.asarray(part.side * point.unknown_slopes[start + part.index])


_GUARDS = {
    EventKind.IMPACT: GuardKind.TOUCH,
    EventKind.TOUCHDOWN: GuardKind.TOUCH,
    EventKind.DETACHMENT: GuardKind.RELEASE,
    EventKind.SLIP_END: GuardKind.STOP,
}
CONES = (GuardKind.CONE_PLUS, GuardKind.CONE_MINUS, GuardKind.CONE)
_DIFFERENTIABLE = (GuardKind.TOUCH, GuardKind.RELEASE, GuardKind.STOP, *CONES)


def event_surfaces(system: ModeSystem, event: Event, point: Point) -> tuple[EventSurface, ...]:
    """The surfaces that a motion met at an event, one for every carrier that the event names.

    Parameters
    ----------
    system : ModeSystem
        Of the mode before the event.
    event : Event
    point : Point
        The state before the event, which tells the two sides of a friction cone apart.

    Returns
    -------
    tuple of EventSurface
    """
    if event.kind is EventKind.UNTIL:
        text = event.carriers[-1]
        expression = compile_expression(system.dynamics, text, parameters=system.partials.parameters, field="until")
        return (EventSurface(GuardKind.UNTIL, text, expression=expression),)
    parts = {part.name: part for part in system.parts}
    return tuple(carrier_surface(point, event.kind, parts[name]) for name in event.carriers if name in parts)


def carrier_surface(point: Point, kind: EventKind, part: Part) -> EventSurface:
    """The surface of one carrier for an event of a kind."""
    if kind is EventKind.SLIP_END and is_spatial(part):
        return EventSurface(GuardKind.STOP, part.name, part, aim=settling_aim(point, part))
    if kind in _GUARDS:
        return EventSurface(_GUARDS[kind], part.name, part)
    if is_spatial(part):
        return EventSurface(GuardKind.CONE, part.name, part)
    sides = [EventSurface(guard, part.name, part) for guard in (GuardKind.CONE_PLUS, GuardKind.CONE_MINUS)]
    return min(sides, key=lambda surface: surface.value(point))


def mode_surfaces(system: ModeSystem) -> tuple[EventSurface, ...]:
    """Every surface that a mode may meet."""
    parts = {part.name: part for part in system.parts}
    return tuple(
        EventSurface(guard.kind, guard.carrier, parts[guard.carrier])
        for guard in guards_of(system.parts)
        if guard.kind in _DIFFERENTIABLE
    )
