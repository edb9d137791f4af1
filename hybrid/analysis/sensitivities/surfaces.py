"""The surfaces in state space on which a motion changes, with their first derivatives.

Where the slip of a spatial contact begins or ends: the direction that it has there in the limit, and what follows.

With the slip ``r u(theta)`` the motion obeys ``r' = A(x, theta)`` and ``r theta' = B(x, theta)``, the components of the
tangential acceleration along the slip and to its left. In the time ``sigma`` with ``dt = r d sigma`` the points
``r = 0, B = 0`` are equilibria, which attract where ``A < 0`` and ``B_theta < 0``. Their stable fibres are as smooth as
the equations, so that time and place at which the slip ends have derivatives (Fenichel 1979, Journal of Differential
Equations 31). The same holds where the direction does not turn at all, ``B = 0`` for every ``theta``, as for a ball.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.jumps import Jump
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.guards import CONES, RELEASES, ArrayView, Guard, GuardKind, guards_of, outer_guard
from hybrid.contact.modes import ContactMode
from hybrid.dynamics.crossing import crossing
from hybrid.dynamics.partials import CompiledExpression, compile_expression
from hybrid.expressions import changes, duals
from hybrid.motion.recorded import Event, EventKind
from hybrid.tolerances import LAST_PLACE, NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.analysis.sensitivities.mode_system import ModeSystem, Point, Response
    from hybrid.contact.table import ElementMode
    from hybrid.dynamics.derive import Dynamics

__all__ = [
    "CONES",
    "EventSurface",
    "element_surface",
    "event_surfaces",
    "is_spatial",
    "mode_surfaces",
    "possible_ends",
    "settled_jump",
    "settling_aim",
    "with_limits",
]


Array = NDArray[np.float64]

_SCAN = 128  # directions among which the sign of B is looked at; between four roots at most
_STILL = NOTHING  # of the accelerations: a direction that turns no faster does not turn


def is_spatial(part: ElementMode) -> bool:
    """True for a force element whose slip has two components.

    Parameters
    ----------
    part : ElementMode

    Returns
    -------
    bool
    """
    return len(part.columns) == 2


def with_limits(system: ModeSystem, t: float, y: Array, nearby: Mapping[str, Array], *, ends: bool) -> ModeSystem:
    """The mode where spatial slips vanish, with the directions that they have there in the limit.

    Parameters
    ----------
    system : ModeSystem
    t : float
    y : array, (2n,)
        Where the slips vanish.
    nearby : mapping of str to array, (2,)
        Slips a moment before their end, or after their start, by force element.
    ends : bool
        Whether they end there, or begin.

    Returns
    -------
    ModeSystem

    Raises
    ------
    NoDerivative
        Several slips vanish at once, or none of the directions is one that neighbouring motions share.
    """
    if not nearby:
        return system
    if len(nearby) > 1:
        raise NoDerivative(
            f"the slips of {' and '.join(nearby)} vanish at once, and with them their directions", t, is_proven=False
        )
    ((name, slip),) = nearby.items()
    part = next(part for part in system.parts if part.name == name)
    angle = _limit_angle(system, part, t, y, float(np.arctan2(slip[1], slip[0])))
    limited = attrs.evolve(system, limits={name: _unit(np.array([angle]))})
    along, _, turn, size = _rates(limited, part, t, y, np.array([angle]))
    if ends and not (along[0] < 0.0 and turn[0] <= _STILL * size):
        raise NoDerivative(f"the slip of {name!r} passes zero in a direction that neighbouring motions turn from", t)
    if not ends and not along[0] > _STILL * size:
        raise NoDerivative(
            f"the slip of {name!r} begins without acceleration (its static friction is the kinetic one), and its "
            f"direction is not resolved there",
            t,
            is_proven=False,
        )
    return limited


def possible_ends(system: ModeSystem, part: ElementMode, t: float, y: Array) -> list[Array]:
    """The directions in which a slip may end at a state, for an event alone, which does not tell the direction.

    Parameters
    ----------
    system : ModeSystem
        Of the mode in which it slips.
    part : ElementMode
        The spatial contact.
    t : float
    y : array, (2n,)

    Returns
    -------
    list of array, (2,)
        Unit vectors: those that attract their neighbours; two of all where the direction does not turn.
    """
    angles = np.linspace(1.0, 1.0 + 2 * np.pi, _SCAN + 1)  # 1 is no likely direction: a zero on the seam would be lost
    along, across, turn, size = _rates(system, part, t, y, angles)
    if np.max(np.abs(across)) <= _STILL * size:
        return [_unit(angles)[0], _unit(angles)[_SCAN // 4]]
    falls = np.flatnonzero((across[:-1] > 0.0) & (across[1:] <= 0.0) & (along[1:] < 0.0) & (turn[1:] < 0.0))
    return [_unit(angles)[place + 1] for place in falls]


def settling_aim(point: Point, part: ElementMode) -> Array:
    """The direction ``a`` for which a change of slip ``ds`` delays the end of the slip by ``-a . ds / A``.

    It is the direction of the slip but for the turn that ``ds`` takes on its way to zero.

    Parameters
    ----------
    point : Point
        At the end of the slip, with its limit direction.
    part : ElementMode
        The spatial contact.

    Returns
    -------
    array, (2,)

    Raises
    ------
    NoDerivative
        The mode has no limit direction: the slip was more than rounding where the motion ended it.
    """
    left, turned = _left(point, part), _turned(point, part)
    direction = _limit(point, part)
    return np.asarray(direction - (turned @ direction) / (turned @ left) * left)


def settled_jump(point: Point, part: ElementMode) -> Jump:
    """Jump that takes away what a changed motion slips beside the limit direction.

    The last of that slip decays as the slip ends.

    Parameters
    ----------
    point : Point
        At the end of the slip, with its limit direction.
    part : ElementMode
        The spatial contact.

    Returns
    -------
    Jump
    """
    size, n = len(point.f), len(point.f) // 2
    left = _left(point, part)
    across = left @ point.slopes("slip")[list(part.columns)]
    effect = point.system.rotation_slopes(point.at, part)[0, :n]
    slopes = np.zeros((size, len(across)))
    slopes[:, :size] = np.eye(size)
    slopes[n:] -= np.outer(effect / (_turned(point, part) @ left), across)
    return Jump(np.array(point.at.y[0]), slopes)


def _limit(point: Point, part: ElementMode) -> Array:
    if part.name not in point.system.limits:
        reason = f"the slip of {part.name!r} ends at a size at which its direction in the limit does not show"
        raise NoDerivative(reason, float(point.at.t[0]), is_proven=False)
    return np.ravel(point.system.limits[part.name])


def _left(point: Point, part: ElementMode) -> Array:
    direction = _limit(point, part)
    return np.array([-direction[1], direction[0]])


def _turned(point: Point, part: ElementMode) -> Array:
    """What a turn of the slip adds to its tangential acceleration, (2,)."""
    W = point.at.terms.W_T.reshape(-1, point.at.terms.W_T.shape[-1])[: len(point.f) // 2, list(part.columns)]
    return np.asarray(W.T @ point.system.rotation_slopes(point.at, part)[0, : len(W)])


def _unit(angles: Array) -> Array:
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _rates(
    system: ModeSystem, part: ElementMode, t: float, y: Array, angles: Array
) -> tuple[Array, Array, Array, float]:
    """``A``, ``B`` and ``B_theta`` for N directions of a vanishing slip, and the size of what is added in them."""
    N, n = len(angles), system.dynamics.n
    u = _unit(angles)
    left = np.stack([-u[:, 1], u[:, 0]], axis=1)
    limited = attrs.evolve(system, limits={**system.limits, part.name: u})
    at = limited.respond(np.full(N, t), np.broadcast_to(y, (N, len(y))))
    columns = list(part.columns)
    W = np.broadcast_to(at.terms.W_T, (N, n, at.terms.W_T.shape[-1]))[..., columns]
    zeta = np.broadcast_to(at.terms.zeta_T, (N, at.terms.zeta_T.shape[-1]))[:, columns]
    a = np.einsum("znd,zn->zd", W, at.f[:, n:]) + zeta
    turned = np.einsum("znd,zn->zd", W, limited.rotation_slopes(at, part)[:, :n])
    along, across = np.sum(a * u, axis=1), np.sum(a * left, axis=1)
    size = float(np.max(np.linalg.norm(a, axis=1)) + np.max(np.linalg.norm(turned, axis=1)))
    return along, across, np.sum(turned * left, axis=1) - along, size


def _limit_angle(system: ModeSystem, part: ElementMode, t: float, y: Array, nearby: float) -> float:
    """The zero of ``B`` nearest to a direction that is close to it already; that direction where nothing turns."""
    angles = nearby + np.linspace(-np.pi, np.pi, _SCAN + 1)
    _, across, _, size = _rates(system, part, t, y, angles)
    if np.max(np.abs(across)) <= _STILL * size:
        return nearby
    changes = np.flatnonzero(across[1:] * across[:-1] <= 0.0)
    if not changes.size:
        raise NoDerivative(f"the slip of {part.name!r} vanishes without a direction", t, is_proven=False)
    middles = (angles[changes] + angles[changes + 1]) / 2
    nearest = changes[np.argmin(np.abs(middles - nearby))]
    low, high = angles[nearest : nearest + 2].tolist()
    return crossing(
        lambda angle: float(_rates(system, part, t, y, np.array([angle]))[1][0]), low, high, xtol=LAST_PLACE
    )


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

    def values(self, at: Response, dynamics: Dynamics) -> Array:
        """Its values (N,) along a mode."""
        if self.expression is not None:
            return self.expression.value(at.t, at.y, dynamics)
        value = self.guard.distance(ArrayView(at.terms, at.forces, self._directions))
        return np.array(np.broadcast_to(value, len(at.t)))

    def value(self, point: Point) -> float:
        """Its value at a point of the mode before."""
        return float(self.values(point.at, point.system.dynamics)[0])

    def slope(self, point: Point) -> Array:
        """Its derivatives with respect to ``(q, v, t, parameters)`` at a point, (2n + 1 + c,)."""
        if self.expression is not None:
            return np.asarray(self.expression.slope(point.at.t, point.at.y, point.system.dynamics)[0])
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
    EventKind.PASSAGE: (GuardKind.TOUCHDOWN,),
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
        return (EventSurface(outer_guard(GuardKind.UNTIL, text), expression=expression),)
    parts = {part.name: part for part in system.parts}
    return tuple(element_surface(point, event, parts[name]) for name in event.elements if name in parts)


def element_surface(point: Point, event: Event, part: ElementMode) -> EventSurface:
    """The surface of one force element for an event.

    Parameters
    ----------
    point : Point
        At the event, in the mode that ends.
    event : Event
    part : ElementMode
        The row of the force element in that mode.

    Returns
    -------
    EventSurface
        Of its guards for the kind of the event, or of those that fired if these are others, the one with the least
        value.
    """
    kinds = _GUARDS.get(event.kind, CONES)
    fired = tuple(guard.kind for guard in event.guards if guard.element == part.name)
    if fired and not set(fired) & set(kinds):
        kinds = fired  # a contact may leave at the edge of its friction cone
    if GuardKind.TOUCHDOWN in kinds:
        own = guards_of((attrs.evolve(part, label=ContactMode.FREE),))
    else:
        own = guards_of((part,))  # where several fire at once, the kind of the event may be that of another
    faces = [EventSurface(guard, part) for guard in own if guard.kind in kinds] or [EventSurface(g, part) for g in own]
    surface = min(faces, key=lambda one: one.value(point))
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
