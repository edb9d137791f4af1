"""Surfaces that are met at one instant: whether the order in which a changed motion meets them matters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.event_map import EventMap, admissible, agreed_map, passing
from hybrid.analysis.sensitivities.jumps import Jump
from hybrid.analysis.sensitivities.mode_system import ModeSystem, Point, evaluate_point
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.analysis.sensitivities.surfaces import EventSurface
from hybrid.contact.guards import guards_of
from hybrid.contact.modes import ContactMode

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["ordered_map"]

Array = NDArray[np.float64]

_MOST = 3  # surfaces at once of which every order is tried
_SAME = 1e-8  # of the velocities after the events


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
        passings = [passing(before, surface, joint[0], following) for surface in surfaces]
        crossings = tuple(item.map().orders[0][0] for item in passings)
        return attrs.evolve(agreed_map(passings[:1], reason), orders=(crossings,))
    if len(joint) == 1 and _are_one(before, following, surfaces, joint[0]):
        return agreed_map([passing(before, surfaces[0], joint[0], following)], reason)
    maps = [_in_order(before, following, order, resets, reason) for order in permutations(surfaces)]
    first = maps[0]
    scale = float(np.max(np.abs(first.after)))
    size = max(float(np.max(np.abs(first.matrix))), 1.0)
    if any(np.max(np.abs(item.after - joint[0].y)) > _SAME * scale for item in maps):
        raise NoDerivative(reason)
    for item in maps[1:]:
        if np.max(np.abs(item.matrix - first.matrix)) > _SAME * size:
            raise NoDerivative(reason)
        if np.max(np.abs(item.parameter - first.parameter), initial=0.0) > _SAME * size:
            raise NoDerivative(reason)
    return attrs.evolve(first, orders=tuple(item.orders[0] for item in maps))


def _are_one(before: Point, following: ModeSystem, surfaces: Sequence[EventSurface], jump: Jump) -> bool:
    """True if every motion that the mode allows meets the surfaces at the same time, like the slips of a rigid body."""
    free, follow = admissible(before)
    crossings = [passing(before, surface, jump, following).map().orders[0][0] for surface in surfaces]
    times = [np.concatenate([item.state @ free, item.state @ follow + item.parameter]) for item in crossings]
    size = _SAME * max(float(np.max(np.abs(item), initial=0.0)) for item in times)
    return all(np.max(np.abs(item - times[0]), initial=0.0) <= size for item in times[1:])


def _is_smooth(before: Point, following: ModeSystem, jump: Jump) -> bool:
    """True if neither the state nor the flow jumps: then a shift of the event time is of second order."""
    size = len(before.f)
    after = evaluate_point(following, float(before.at.t[0]), jump.y)
    scale = float(np.max(np.abs(before.f)))
    identity = np.allclose(jump.slopes[:, :size], np.eye(size), rtol=0, atol=0)
    return bool(identity and np.max(np.abs(after.f - before.f)) <= _SAME * scale)


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
            raise NoDerivative(reason)
        jumps = resets(point, here)
        after = _changed(point.system, following, here) if left else following
        steps = [passing(point, here, jump, after) for jump in jumps]
        step = agreed_map(steps, reason, keeps=False)
        total = step if total is None else _composed(total, step)
        point = evaluate_point(after, step.t, step.after)
    if total is None:
        raise NoDerivative(reason)
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
    late = attrs.evolve(
        last, state=first.matrix.T @ last.state, parameter=last.parameter + first.parameter.T @ last.state
    )
    return EventMap(
        t=first.t,
        matrix=second.matrix @ first.matrix,
        parameter=second.matrix @ first.parameter + second.parameter,
        orders=((*first.orders[0], late),),
    )
