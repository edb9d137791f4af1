"""A motion as the alternation of smooth segments and of groups of events, with the derivatives of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.event_map import EventMap
    from hybrid.analysis.sensitivities.gauss import Segment
    from hybrid.dynamics.partials import Partials
    from hybrid.motion.outcome import Event
    from hybrid.motion.trajectory import Trajectory

__all__ = ["EventGroup", "Replay"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class EventGroup:
    """Events at one instant between two segments, with the derivatives through them.

    Attributes
    ----------
    events : tuple of Event
    map : EventMap
    """

    events: tuple[Event, ...]
    map: EventMap


@attrs.frozen(eq=False)
class Replay:
    """A motion as an alternation of segments and groups of events.

    Attributes
    ----------
    trajectory : Trajectory
    partials : Partials
    opening : EventGroup or None
        Events at the very start.
    segments : tuple of Segment
    event_groups : tuple of EventGroup
        After each segment but the last; after the last as well where an event ends the motion.
    """

    trajectory: Trajectory
    partials: Partials
    opening: EventGroup | None
    segments: tuple[Segment, ...]
    event_groups: tuple[EventGroup, ...]

    @property
    def t_end(self) -> float:
        """Time at which the motion ends."""
        return float(self.segments[-1].knots[-1])

    @property
    def end(self) -> Array:
        """State (2n,) at the end."""
        return np.asarray(self.segments[-1].states[-1])
