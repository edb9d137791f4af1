"""Where the force of a bilateral contact with friction passes zero, and its mode goes on.

The friction ``mu abs(lambda_N)`` has a kink there, and no jump: a changed motion differs in its acceleration from what
the equations on either side say by the square of the change, and for a time of its size. The saltation is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.analysis.sensitivities.event_map import Crossing, EventMap, check_jumps
from hybrid.analysis.sensitivities.mode_system import evaluate_point
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.analysis.sensitivities.surfaces import mode_surfaces
from hybrid.contact.guards import GuardKind
from hybrid.contact.modes import ContactMode
from hybrid.tolerances import AGREEING, NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.analysis.sensitivities.gauss import Segment
    from hybrid.analysis.sensitivities.mode_system import ModeSystem
    from hybrid.contact.table import ElementMode

__all__ = ["passed_reversal", "reverses"]

_VANISHED = NOTHING  # of the largest value of a guard along its arc


def reverses(first: Sequence[ElementMode], second: Sequence[ElementMode]) -> bool:
    """Whether two modes differ in signs of normal forces, and in nothing else.

    Parameters
    ----------
    first, second : sequence of ElementMode
        Their rows.

    Returns
    -------
    bool
    """
    return any(one.side != other.side for one, other in zip(first, second, strict=True)) and all(
        one.label is other.label for one, other in zip(first, second, strict=True)
    )


def passed_reversal(segment: Segment, following: ModeSystem) -> EventMap:
    """What happens to a small change where an arc ends with a normal force of zero, and another follows: nothing.

    Parameters
    ----------
    segment : Segment
        The arc.
    following : ModeSystem
        Of the arc after it, which differs in signs of normal forces only.

    Returns
    -------
    EventMap
        The identity.

    Raises
    ------
    NoDerivative
        Something else happens there, too.
    """
    system, t, y = segment.system, float(segment.knots[-1]), segment.states[-1]
    before, after = evaluate_point(system, t, y), evaluate_point(following, t, y)
    check_jumps(before)
    turned = {one.name for one, other in zip(system.parts, following.parts, strict=True) if one.side != other.side}
    released = evaluate_point(_without_friction(system, turned), t, y)
    size = AGREEING * np.max(before.summands)
    if max(np.max(np.abs(point.f - before.f)) for point in (after, released)) > size:
        reason = f"the equations jump where the force of {' and '.join(sorted(turned))} passes zero"
        raise NoDerivative(reason, t, is_proven=False)
    for surface in mode_surfaces(released.system):
        largest = np.max(np.abs(surface.values(segment.at, system.dynamics)))
        if surface.kind is not GuardKind.REVERSAL and abs(surface.value(released)) <= _VANISHED * largest:
            raise NoDerivative(f"{surface.element!r} grazes: its guard ({surface.words}) touches zero there", t)
    if before.rank() != released.rank():
        raise NoDerivative(f"the friction that holds {' and '.join(sorted(turned))} falls to zero", t)
    slopes = np.eye(len(y), before.unknown_slopes.shape[1])
    return EventMap(t, slopes, ((Crossing(y, y, np.zeros(slopes.shape[1])),),))


def _without_friction(system: ModeSystem, names: set[str]) -> ModeSystem:
    """The mode in which force elements hold no slip at rest: they have no normal force to hold it with."""
    parts = (
        attrs.evolve(part, label=ContactMode.CLOSED) if part.name in names and part.sticks else part
        for part in system.parts
    )
    return attrs.evolve(system, parts=tuple(parts))
