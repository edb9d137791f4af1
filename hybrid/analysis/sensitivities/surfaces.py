"""The surfaces in state space on which a motion changes, with their first derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.functional import CompiledExpression, compile_expression
from hybrid.analysis.sensitivities.spatial_slip import is_spatial, settling_aim
from hybrid.contact.guards import CONES, RELEASES, ArrayView, Guard, GuardKind, guards_of
from hybrid.contact.modes import ContactMode
from hybrid.expressions import changes, duals
from hybrid.motion.outcome import Event, EventKind

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.mode_system import ModeSystem, Point, Response
    from hybrid.contact.table import ElementMode
    from hybrid.dynamics.derive import Values

__all__ = ["CONES", "EventSurface", "element_surface", "event_surfaces", "mode_surfaces"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class EventSurface:
    """A function of the state that is zero at an event.

    Attributes
    ----------
    guard : Guard
        Of the mode before the event, or the condition of the user.
    part : ElementMode or None
        What the force element does before the event.
    expression : CompiledExpression or None
        For ``UNTIL``.
    aim : array, (2,) or None
        For the end of a spatial slip: the direction in which it ends.
    """

    guard: Guard
    part: ElementMode | None = None
    expression: CompiledExpression | None = None
    aim: Array | None = None

    @property
    def kind(self) -> GuardKind:
        """What the guard watches."""
        return self.guard.kind

    @property
    def element(self) -> str:
        """Contact, friction element or constraint; the text of the condition for ``UNTIL``."""
        return self.guard.element

    @property
    def words(self) -> str:
        """What happens on it."""
        return self.kind.sentence

    @property
    def _directions(self) -> dict[str, Array]:
        return {} if self.aim is None else {self.element: self.aim}

    def values(self, at: Response, parameters: Values) -> Array:
        """Its values (N,) along a mode."""
        if self.expression is not None:
            return self.expression.value(at.t, at.y, parameters)
        value = self.guard.distance(ArrayView(at.terms, at.forces, self._directions))
        return np.array(np.broadcast_to(value, len(at.t)))

    def value(self, point: Point) -> float:
        """Its value at a point of the mode before."""
        return float(self.values(point.at, point.system.parameters)[0])

    def slope(self, point: Point) -> Array:
        """Its derivatives with respect to ``(q, v, t, parameters)`` at a point, (2n + 1 + c,)."""
        if self.expression is not None:
            return np.asarray(self.expression.slope(point.at.t, point.at.y, point.system.parameters)[0])
        return np.asarray(changes(self.guard.distance(_dual_view(point, self._directions)))[0])

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


def _dual_view(point: Point, directions: Mapping[str, Array]) -> ArrayView:
    """Quantities of a mode at a point, with their derivatives with respect to ``(q, v, t, parameters)``."""
    terms, forces, (normal, tangential, bilateral, _) = point.at.terms, point.at.forces, point.system.offsets
    named = {name: duals(np.ravel(getattr(terms, name)), point.slopes(name)) for name in _MEASURED}
    slopes = point.unknown_slopes
    return ArrayView(
        attrs.evolve(terms, **named),
        attrs.evolve(
            forces,
            lambda_N=duals(forces.lambda_N[0], slopes[normal:tangential]),
            lambda_T=duals(forces.lambda_T[0], slopes[tangential:bilateral]),
            lambda_B=duals(forces.lambda_B[0], slopes[bilateral:]),
        ),
        directions,
    )


_GUARDS = {
    EventKind.IMPACT: (GuardKind.TOUCHDOWN,),
    EventKind.TOUCHDOWN: (GuardKind.TOUCHDOWN,),
    EventKind.DETACHMENT: RELEASES,
    EventKind.SLIP_END: (GuardKind.SLIP,),
    EventKind.SLIP_START: CONES,
}
_MEASURED = ("gap", "slip", "static_friction", "static_limit", "constraint_friction")
_DIFFERENTIABLE = (GuardKind.TOUCHDOWN, *RELEASES, GuardKind.SLIP, *CONES)


def event_surfaces(system: ModeSystem, event: Event, point: Point) -> tuple[EventSurface, ...]:
    """The surfaces that a motion met at an event, one for every force element that the event names.

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
        text = event.elements[-1]
        expression = compile_expression(system.dynamics, text, parameters=system.partials.parameters, field="until")
        return (EventSurface(Guard(GuardKind.UNTIL, (text,)), expression=expression),)
    parts = {part.name: part for part in system.parts}
    return tuple(element_surface(point, event.kind, parts[name]) for name in event.elements if name in parts)


def element_surface(point: Point, kind: EventKind, part: ElementMode) -> EventSurface:
    """The surface of one force element for an event of a kind.

    Parameters
    ----------
    point : Point
        At the event, in the mode that ends.
    kind : EventKind
    part : ElementMode
        The row of the force element in that mode.

    Returns
    -------
    EventSurface
        Of its guards for that kind the one with the least value.
    """
    kinds = _GUARDS.get(kind, CONES)
    if GuardKind.TOUCHDOWN in kinds:
        own = guards_of((attrs.evolve(part, label=ContactMode.FREE),))
    else:
        own = guards_of((part,))  # where several fire at once, the kind of the event may be that of another
    sides = [EventSurface(guard, part) for guard in own if guard.kind in kinds] or [EventSurface(g, part) for g in own]
    surface = min(sides, key=lambda side: side.value(point))
    is_settling = surface.kind is GuardKind.SLIP and is_spatial(part)
    return attrs.evolve(surface, aim=settling_aim(point, part)) if is_settling else surface


def mode_surfaces(system: ModeSystem) -> tuple[EventSurface, ...]:
    """Every surface that a mode may meet.

    Parameters
    ----------
    system : ModeSystem
        Of the mode.

    Returns
    -------
    tuple of EventSurface
        Those of its guards that have derivatives.
    """
    parts = {part.name: part for part in system.parts}
    return tuple(
        EventSurface(guard, parts[guard.element]) for guard in guards_of(system.parts) if guard.kind in _DIFFERENTIABLE
    )
