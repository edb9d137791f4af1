"""Derivatives through the events of one instant, on one surface or several at once; the saltation matrix of one."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.accumulation_limit import closing_jump
from hybrid.analysis.sensitivities.event_map import EventMap, admissible, agreed_map, chained, crossing
from hybrid.analysis.sensitivities.jumps import ImpactSite, Jump, impact_jumps, no_jump
from hybrid.analysis.sensitivities.mode_system import ModeSystem, Point, evaluate_point
from hybrid.analysis.sensitivities.refusal import NoDerivative, Refusal
from hybrid.analysis.sensitivities.surfaces import (
    EventSurface,
    event_surfaces,
    is_spatial,
    possible_ends,
    settled_jump,
    with_limits,
)
from hybrid.arguments import checks_arguments
from hybrid.contact.activity import element_names
from hybrid.contact.guards import CONES, RELEASES, GuardKind, guards_of
from hybrid.contact.impacts.impact import resolve_impact
from hybrid.contact.impacts.laws import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.contact.modes import ContactMode
from hybrid.contact.table import rows_of
from hybrid.dynamics.derive import bound
from hybrid.dynamics.partials import partial_derivatives
from hybrid.dynamics.state import State
from hybrid.errors import StateError
from hybrid.motion.recorded import Event, EventKind
from hybrid.tolerances import AGREEING, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hybrid.contact.impacts.impact import AbstractImpactLaw, Impact
    from hybrid.dynamics.derive import Dynamics, Values

__all__ = ["event_map", "ordered_map", "saltation_matrix"]


Array = NDArray[np.float64]

_SAME = AGREEING  # of the velocities: the impulses that were differentiated are those of the motion
_EDGE = "a contact neither presses nor separates in the impact: to one side it takes part, to the other not"


def event_map(
    site: ImpactSite,
    law: AbstractImpactLaw | None,
    system: ModeSystem | None,
    following: ModeSystem | None,
    events: tuple[Event, ...],
) -> EventMap:
    """Derivatives through everything that happens at one instant.

    Parameters
    ----------
    site : ImpactSite
        The state before.
    law : AbstractImpactLaw or None
    system, following : ModeSystem or None
        Of the modes before and after; None at the start and at the end of the motion.
    events : tuple of Event

    Returns
    -------
    EventMap

    Raises
    ------
    NoDerivative
    """
    t, y = site.t, site.y
    jumps = _jumps(site, law, events)
    if system is not None and system.limits:
        jumps = _settled(evaluate_point(system, t, y), following, jumps)
    if system is None:  # the start: its time is given
        if following is None:
            raise NoDerivative("the motion ends where it starts", t, is_proven=False)
        before = evaluate_point(following, t, y)
        still = attrs.evolve(before, at=attrs.evolve(before.at, f=np.zeros_like(before.at.f)))
        return agreed_map(still, None, jumps, None, _EDGE, keeps=False)
    before = evaluate_point(system, t, y)
    surfaces = _surfaces(system, before, events)
    _check_unique(before, surfaces, following, jumps)
    if len(surfaces) == 1:
        return agreed_map(before, surfaces[0], jumps, following, _EDGE)

    def alone(point: Point, surface: EventSurface) -> tuple[Jump, ...]:
        here = attrs.evolve(site, v=point.at.y[0, site.n :])
        impacts = [event for event in events if event.impact is not None]
        if surface.kind is not GuardKind.TOUCHDOWN or not impacts:
            return (no_jump(here),)
        open_ = {part.name for part in point.system.parts if part.is_open and part.name != surface.element}
        closed = tuple(name for name in site.dynamics.contacts if name not in open_)
        return _collision(here, law, closed)

    return ordered_map(before, following, surfaces, alone, jumps)


def _settled(before: Point, following: ModeSystem | None, jumps: tuple[Jump, ...]) -> tuple[Jump, ...]:
    """The jumps where a spatial slip ends: first what a changed motion slips beside it is taken away."""
    ((name, part),) = ((part.name, part) for part in before.system.parts if part.name in before.system.limits)
    if following is not None and not any(item.name == name and item.sticks for item in following.parts):
        raise NoDerivative(f"the slip of {name!r} passes zero without rest, beside motions that stop", is_proven=False)
    first = settled_jump(before, part)
    return tuple(Jump(jump.y, chained(first.slopes, jump.slopes)) for jump in jumps)


def _surfaces(system: ModeSystem, before: Point, events: tuple[Event, ...]) -> list[EventSurface]:
    found: list[EventSurface] = []
    for event in events:
        if event.kind is EventKind.ACCUMULATION:
            continue
        if event.kind is EventKind.TOUCHDOWN:
            raise NoDerivative(f"{', '.join(event.elements)} touches without a velocity: grazing")
        if event.mode_before is not None and found and event.kind is EventKind.IMPACT:
            open_ = {part.name for part in system.parts if part.is_open}
            event = attrs.evolve(event, elements=tuple(name for name in event.elements if name in open_))
        found += event_surfaces(system, event, before)
    distinct = {(surface.kind, surface.element): surface for surface in found}
    if not distinct:
        raise NoDerivative("an event that no guard of the mode explains", is_proven=False)
    return list(distinct.values())


def _check_unique(
    before: Point, surfaces: Sequence[EventSurface], following: ModeSystem | None, jumps: Sequence[Jump]
) -> None:
    """Refuse forces that several elements share where it matters when they reach their bounds."""
    for surface in surfaces:
        if surface.kind not in (*CONES, *RELEASES) or surface.part is None or not before.is_shared(surface.part):
            continue
        if following is None or not all(_is_smooth(before, following, jump) for jump in jumps):
            what = f"the force of {surface.element!r} is not unique, and when it reaches its bound is not derived"
            raise NoDerivative(what, is_proven=False)


def _jumps(site: ImpactSite, law: AbstractImpactLaw | None, events: tuple[Event, ...]) -> tuple[Jump, ...]:
    """The reset at one instant: impacts one after the other, or none."""
    found = [no_jump(site)]
    for event in events:
        steps: list[tuple[Jump, Jump]] = []
        for first in found:
            here = attrs.evolve(site, v=first.y[site.n :])
            if event.kind is EventKind.ACCUMULATION:
                steps.append((first, closing_jump(here, event)))
            elif event.impact is not None:
                steps += [(first, second) for second in _impact(here, law, event.impact)]
        if steps:
            found = [Jump(second.y, chained(first.slopes, second.slopes)) for first, second in steps]
    return tuple(found)


def _impact(site: ImpactSite, law: AbstractImpactLaw | None, impact: Impact) -> tuple[Jump, ...]:
    if law is None:
        raise NoDerivative(
            f"the law {impact.law!r} of its impacts is not known: a file keeps only the name of a law of one's "
            f"own; give the law to load",
            is_proven=False,
        )
    if impact.law != law.name:
        raise NoDerivative(
            "no mode is consistent, and the compliant contact gave an impact without collision", is_proven=False
        )
    closed = tuple(name for name in impact.impulse_N if name in site.dynamics.contacts)
    found = _collision(site, law, closed)
    scale = float(np.max(np.abs(site.v)))
    if any(np.max(np.abs(jump.y[site.n :] - impact.v_after)) > _SAME * scale for jump in found):
        raise NoDerivative("the impact law has several answers, of which the motion took one", is_proven=False)
    return found


def _collision(site: ImpactSite, law: AbstractImpactLaw | None, closed: tuple[str, ...]) -> tuple[Jump, ...]:
    if law is None:
        raise NoDerivative("an impact without a law", is_proven=False)
    return impact_jumps(site, law, closed)


_MOST = 3  # surfaces at once of which every order is tried
_ALIKE = ROOT  # of the velocities after the events


def ordered_map(
    before: Point,
    following: ModeSystem | None,
    surfaces: Sequence[EventSurface],
    resets: Callable[[Point, EventSurface], tuple[Jump, ...]],
    joint: Sequence[Jump],
) -> EventMap:
    """The derivative through several surfaces met at once, if all orders give the same.

    A changed motion meets them one after the other, with a vanishing time in between in the mode that the first leaves
    behind. The orders must end in the same state, that of the motion itself, with the same saltation matrix.

    Parameters
    ----------
    before : Point
    following : ModeSystem or None
    surfaces : sequence of EventSurface
    resets : callable
        Jumps when a surface alone is met at a point.
    joint : sequence of Jump
        Of the motion itself.

    Returns
    -------
    EventMap

    Raises
    ------
    NoDerivative
    """
    names = " and ".join(f"{surface.element} ({surface.words})" for surface in surfaces)
    reason = f"{names} happen at once, and which comes first changes what follows"
    if following is None or len(surfaces) > _MOST:
        raise NoDerivative(f"{names} happen at once, and what that does is not compared", is_proven=False)
    if all(_is_smooth(before, following, jump) for jump in joint):
        found = agreed_map(before, surfaces[0], joint[:1], following, reason)
        return attrs.evolve(found, orders=(tuple(crossing(before, surface, joint[0]) for surface in surfaces),))
    if len(joint) == 1 and _are_one(before, surfaces, joint[0]):
        return agreed_map(before, surfaces[0], joint, following, reason)
    maps = [_in_order(before, following, order, resets, reason) for order in permutations(surfaces)]
    first = maps[0]
    scale = float(np.max(np.abs(first.after)))
    size = max(float(np.max(np.abs(first.matrix))), 1.0)
    if any(np.max(np.abs(item.after - joint[0].y)) > _ALIKE * scale for item in maps):
        raise NoDerivative(reason, is_proven=False)  # of names that move none of the surfaces there may be one
    if any(np.max(np.abs(item.slopes - first.slopes)) > _ALIKE * size for item in maps[1:]):
        raise NoDerivative(reason, is_proven=False)
    return attrs.evolve(first, orders=tuple(item.orders[0] for item in maps))


def _are_one(before: Point, surfaces: Sequence[EventSurface], jump: Jump) -> bool:
    """True if every motion that the mode allows meets the surfaces at the same time, like the slips of a rigid body."""
    allowed = np.concatenate(admissible(before), axis=1)
    times = [crossing(before, surface, jump).slope @ allowed for surface in surfaces]
    size = _ALIKE * max(float(np.max(np.abs(item), initial=0.0)) for item in times)
    return all(np.max(np.abs(item - times[0]), initial=0.0) <= size for item in times[1:])


def _is_smooth(before: Point, following: ModeSystem, jump: Jump) -> bool:
    """True if neither the state nor the flow jumps: then a shift of the event time is of second order."""
    size = len(before.f)
    after = evaluate_point(following, float(before.at.t[0]), jump.y)
    scale = float(np.max(before.summands))
    identity = np.allclose(jump.slopes[:, :size], np.eye(size), rtol=0, atol=0)
    return bool(identity and np.max(np.abs(after.f - before.f)) <= _ALIKE * scale)


def _in_order(
    before: Point,
    following: ModeSystem,
    order: Sequence[EventSurface],
    resets: Callable[[Point, EventSurface], tuple[Jump, ...]],
    reason: str,
) -> EventMap:
    """The map when the surfaces are met one after the other."""
    point, total = before, None
    left = list(order)
    while left:
        surface = left.pop(0)
        here = _in_mode(point.system, surface)
        if here is None or not here.rate(point) < 0.0:
            raise NoDerivative(reason, is_proven=False)
        after = _changed(point.system, following, here) if left else following
        step = agreed_map(point, here, resets(point, here), after, reason, keeps=False)
        total = step if total is None else _composed(total, step)
        point = evaluate_point(after, step.t, step.after)
    if total is None:
        raise NoDerivative(reason, is_proven=False)
    return total


def _in_mode(system: ModeSystem, surface: EventSurface) -> EventSurface | None:
    """The surface as a mode has it; None if it has not."""
    rows = tuple(row for row in system.parts if row.name == surface.element)
    found = (guard for guard in guards_of(rows) if guard.kind is surface.kind)
    return next((attrs.evolve(surface, guard=guard, part=rows[0]) for guard in found), None)


def _changed(system: ModeSystem, following: ModeSystem, surface: EventSurface) -> ModeSystem:
    """The mode between two surfaces: the force element of the first has changed, the others have not."""
    target = {part.name: part for part in following.parts}[surface.element]
    parts = tuple(target if part.name == surface.element else part for part in system.parts)
    if any(part.label is ContactMode.SLIDE and len(part.columns) == 2 for part in parts):
        raise NoDerivative("several events at once beside a spatial slip", is_proven=False)
    return attrs.evolve(system, parts=parts)


def _composed(first: EventMap, second: EventMap) -> EventMap:
    (last,) = second.orders[0]
    late = attrs.evolve(last, slope=chained(first.slopes, last.slope))
    return EventMap(first.t, chained(first.slopes, second.slopes), ((*first.orders[0], late),))


_LAWS: tuple[AbstractImpactLaw, ...] = (NewtonImpact(), PoissonImpact(), EnergeticImpact())


@checks_arguments
def saltation_matrix(
    dynamics: Dynamics,
    event: Event,
    *,
    parameters: Values | None = None,
    law: AbstractImpactLaw | None = None,
) -> NDArray[np.float64] | Refusal:
    """How a small change of the state passes through an event, at the nominal time: ``dx+ = S dx-``.

    ``S = R_x + (f+ - R_x f- - R_t) G_x / (G_x f- + G_t)`` for the reset ``x+ = R(x-, t)`` and the surface
    ``G(x, t) = 0`` (Leine and Nijmeijer 2004, eq. 7.37). The surface of a release is the normal force, that of an
    impact the gap.

    Parameters
    ----------
    dynamics : Dynamics
    event : Event
        Of a simulated motion, between two modes.
    parameters : mapping, optional
        As in the simulation.
    law : AbstractImpactLaw, optional
        As in the simulation; by default the law that the impact names with the declared restitution.

    Returns
    -------
    array, (2n, 2n), or Refusal
        The latter where the event has no derivative. Where a spatial slip ends the matrix is the limit of those that
        carry a change from a moment before the event.

    Raises
    ------
    StateError
        The event does not lie between two modes, is one of another mechanism, or the law does not give the recorded
        velocities.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive, simulate
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> motion = simulate(ball, State([1.0], [0.0]), t_end=0.6, law=NewtonImpact())
    >>> saltation_matrix(ball, motion.events[0]).round(6) + 0.0
    array([[-0.8     ,  0.      ],
           [ 3.986502, -0.8     ]])
    """
    dynamics = bound(dynamics, parameters)
    if event.mode_before is None or event.mode_after is None or event.kind is EventKind.WATCH:
        raise StateError(f"a saltation matrix needs an event between two modes; this one is: {event}")
    _check_whose(dynamics, event)
    partials = dynamics.once(partial_derivatives)
    before, after = (
        ModeSystem(partials, rows_of(dynamics, mode), dynamics) for mode in (event.mode_before, event.mode_after)
    )
    site = ImpactSite(partials, dynamics, event.t, event.q, event.v_before)
    chosen = law if law is not None or event.impact is None else _named_law(event.impact.law)
    if chosen is not None and event.impact is not None:
        _check_law(dynamics, event, chosen)
    try:
        maps = [
            event_map(site, chosen, system, _beginning(after, system, event, site.y), (event,))
            for system in _endings(before, event, site.y)
        ]
    except NoDerivative as refused:
        return Refusal(event.t, str(refused), is_proven=refused.is_proven)
    if not maps or any(not np.allclose(other.matrix, maps[0].matrix, rtol=_SAME, atol=_SAME) for other in maps[1:]):
        return Refusal(
            event.t, "the event does not tell the direction in which the slip ended, and it matters", is_proven=False
        )
    return maps[0].matrix


def _check_whose(dynamics: Dynamics, event: Event) -> None:
    """Refuse an event whose coordinates or force elements are not those of the mechanism."""
    own, of = element_names(dynamics), tuple(event.mode_before or ())
    if sorted(own) != sorted(of) or len(event.q) != dynamics.n:
        raise StateError(
            f"the event is of another mechanism, with {_held(len(event.q), of)}; {dynamics.name} has "
            f"{_held(dynamics.n, own)}"
        )


def _held(n: int, names: tuple[str, ...]) -> str:
    return f"{n} coordinate{'s' * (n != 1)} and the force elements {', '.join(names) or 'none'}"


def _endings(system: ModeSystem, event: Event, y: NDArray[np.float64]) -> list[ModeSystem]:
    """The mode before an event; where a spatial slip ends, once for every direction that it may have had."""
    if event.kind is not EventKind.SLIP_END:
        return [system]
    for part in system.parts:
        if part.name in event.elements and is_spatial(part):
            ends = possible_ends(system, part, event.t, y)
            return [with_limits(system, event.t, y, {part.name: end}, ends=True) for end in ends]
    return [system]


def _beginning(after: ModeSystem, before: ModeSystem, event: Event, y: NDArray[np.float64]) -> ModeSystem:
    """The mode after an event; a spatial slip begins near the direction against the friction that held it."""
    if event.kind is not EventKind.SLIP_START:
        return after
    friction = evaluate_point(before, event.t, y).at.forces.lambda_T[0]
    begun = {part.name: -friction[list(part.columns)] for part in after.parts if part.slides and is_spatial(part)}
    return with_limits(after, event.t, y, {n: s for n, s in begun.items() if n in event.elements}, ends=False)


def _check_law(dynamics: Dynamics, event: Event, law: AbstractImpactLaw) -> None:
    closed = () if event.impact is None else tuple(event.impact.impulse_N)
    state = State(event.q, event.v_before, event.t)
    impact = resolve_impact(dynamics, state, law=law, closed=closed)
    difference = float(np.max(np.abs(impact.v_after - event.v_after)))
    if difference > _SAME * float(np.max(np.abs(event.v_before))):
        raise StateError(
            f"the {law.name} law with this restitution does not give the recorded velocities (difference "
            f"{difference:.3g}); pass law= and parameters= as in the simulation"
        )


def _named_law(name: str) -> AbstractImpactLaw:
    found = next((law for law in _LAWS if law.name == name), None)
    if found is None:
        raise StateError(f"the impact was decided by the law {name!r}: pass law= as in the simulation")
    return found
