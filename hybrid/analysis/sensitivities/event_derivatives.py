"""The derivatives through the events of one instant: one surface, or several that are met at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.accumulation_limit import closing_jump
from hybrid.analysis.sensitivities.event_map import EventMap, Passing, agreed_map, passing
from hybrid.analysis.sensitivities.impact_site import ImpactSite
from hybrid.analysis.sensitivities.jumps import Jump, impact_jumps, no_jump
from hybrid.analysis.sensitivities.mode_system import ModeSystem, Point, evaluate_point
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.analysis.sensitivities.simultaneous import ordered_map
from hybrid.analysis.sensitivities.spatial_slip import settled_jump
from hybrid.analysis.sensitivities.surfaces import EventSurface, event_surfaces
from hybrid.contact.guards import GuardKind
from hybrid.motion.outcome import Event, EventKind

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw, Impact
    from hybrid.dynamics.derive import Values
    from hybrid.dynamics.partials import Partials

__all__ = ["event_map"]

Array = NDArray[np.float64]

_SAME = 1e-7  # of the velocities: the impulses that were differentiated are those of the motion
_EDGE = "a contact neither presses nor separates in the impact: to one side it takes part, to the other not"


def event_map(
    partials: Partials,
    parameters: Values,
    law: AbstractImpactLaw | None,
    system: ModeSystem | None,
    following: ModeSystem | None,
    t: float,
    y: Array,
    events: tuple[Event, ...],
) -> EventMap:
    """Derivatives through everything that happens at one instant.

    Parameters
    ----------
    partials : Partials
    parameters : mapping
    law : AbstractImpactLaw or None
    system, following : ModeSystem or None
        Of the modes before and after; None at the start and at the end of the motion.
    t : float
    y : array, (2n,)
        State before.
    events : tuple of Event

    Returns
    -------
    EventMap

    Raises
    ------
    NoDerivative
    """
    jumps = _jumps(partials, parameters, law, t, y, events)
    if system is not None and system.limits:
        jumps = _settled(evaluate_point(system, t, y), following, jumps)
    if system is None:  # the start: its time is given
        if following is None:
            raise NoDerivative("the motion ends where it starts", t, is_proven=False)
        before = evaluate_point(following, t, y)
        still = attrs.evolve(before, at=attrs.evolve(before.at, f=np.zeros_like(before.at.f)))
        return agreed_map([Passing(still, None, None, jump) for jump in jumps], _EDGE, keeps=False)
    before = evaluate_point(system, t, y)
    surfaces = _surfaces(system, before, events)
    if len(surfaces) == 1:
        return agreed_map([passing(before, surfaces[0], jump, following) for jump in jumps], _EDGE)

    def alone(point: Point, surface: EventSurface) -> tuple[Jump, ...]:
        size = len(y) + 1 + len(partials.parameters)
        state = point.at.y[0]
        impacts = [event for event in events if event.impact is not None]
        if surface.kind is not GuardKind.TOUCHDOWN or not impacts:
            return (no_jump(state, size),)
        open_ = {part.name for part in point.system.parts if part.is_open and part.name != surface.element}
        closed = tuple(name for name in partials.dynamics.contacts if name not in open_)
        return _collision(partials, parameters, law, t, state, closed)

    return ordered_map(before, following, surfaces, alone, jumps)


def _settled(before: Point, following: ModeSystem | None, jumps: tuple[Jump, ...]) -> tuple[Jump, ...]:
    """The jumps where a spatial slip ends: first what a changed motion slips beside it is taken away."""
    ((name, part),) = ((part.name, part) for part in before.system.parts if part.name in before.system.limits)
    if following is not None and not any(item.name == name and item.sticks for item in following.parts):
        raise NoDerivative(f"the slip of {name!r} passes zero without rest, beside motions that stop", is_proven=False)
    first = settled_jump(before, part)
    return tuple(_after(first, jump) for jump in jumps)


def _surfaces(system: ModeSystem, before: Point, events: tuple[Event, ...]) -> list[EventSurface]:
    found: list[EventSurface] = []
    for event in events:
        if event.kind is EventKind.ACCUMULATION:
            continue
        if event.kind is EventKind.TOUCHDOWN:
            raise NoDerivative(f"{', '.join(event.elements)} touches without a velocity: grazing")
        if event.mode_before is not None and found and event.kind is EventKind.IMPACT:
            names = [name for name in event.elements if _was_open(system, name)]
            found += event_surfaces(system, attrs.evolve(event, elements=tuple(names)), before)
            continue
        found += event_surfaces(system, event, before)
    distinct = {(surface.kind, surface.element): surface for surface in found}
    if not distinct:
        raise NoDerivative("an event that no guard of the mode explains", is_proven=False)
    return list(distinct.values())


def _was_open(system: ModeSystem, name: str) -> bool:
    return any(part.name == name and part.is_open for part in system.parts)


def _jumps(
    partials: Partials,
    parameters: Values,
    law: AbstractImpactLaw | None,
    t: float,
    y: Array,
    events: tuple[Event, ...],
) -> tuple[Jump, ...]:
    """The reset at one instant: impacts one after the other, or none."""
    size = len(y) + 1 + len(partials.parameters)
    found: list[Jump] = [no_jump(y, size)]
    n = partials.dynamics.n
    for event in events:
        if event.kind is EventKind.ACCUMULATION:
            sites = [ImpactSite(partials, parameters, t, jump.y[:n], jump.y[n:]) for jump in found]
            found = [_after(jump, closing_jump(site, event)) for jump, site in zip(found, sites, strict=True)]
        if event.impact is None:
            continue
        found = [
            _after(first, second)
            for first in found
            for second in _impact(partials, parameters, law, t, first.y, event.impact)
        ]
    return tuple(found)


def _impact(
    partials: Partials, parameters: Values, law: AbstractImpactLaw | None, t: float, y: Array, impact: Impact
) -> tuple[Jump, ...]:
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
    closed = tuple(name for name in impact.impulse_N if name in partials.dynamics.contacts)
    found = _collision(partials, parameters, law, t, y, closed)
    n = partials.dynamics.n
    scale = float(np.max(np.abs(y[n:])))
    if any(np.max(np.abs(jump.y[n:] - impact.v_after)) > _SAME * scale for jump in found):
        raise NoDerivative("the impact law has several answers, of which the motion took one", is_proven=False)
    return found


def _collision(
    partials: Partials,
    parameters: Values,
    law: AbstractImpactLaw | None,
    t: float,
    y: Array,
    closed: tuple[str, ...],
) -> tuple[Jump, ...]:
    n = partials.dynamics.n
    if law is None:
        raise NoDerivative("an impact without a law", is_proven=False)
    return impact_jumps(ImpactSite(partials, parameters, t, y[:n], y[n:]), law, closed)


def _after(first: Jump, second: Jump) -> Jump:
    """The second jump after the first one, at the same time and with the same parameters."""
    size = len(first.y)
    slopes = second.slopes[:, :size] @ first.slopes
    slopes[:, size:] += second.slopes[:, size:]
    return Jump(second.y, slopes)
