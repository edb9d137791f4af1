"""A motion as the alternation of smooth legs and of junctions, with the derivatives of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.event_map import EventMap
    from hybrid.analysis.sensitivities.gauss import Leg
    from hybrid.dynamics.partials import Partials
    from hybrid.motion.outcome import Event
    from hybrid.motion.trajectory import Trajectory

__all__ = ["Junction", "Replay"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Junction:
    """Events at one instant between two legs, with the derivatives through them.

    Attributes
    ----------
    events : tuple of Event
    map : EventMap
    """

    events: tuple[Event, ...]
    map: EventMap


@attrs.frozen(eq=False)
class Replay:
    """A motion as an alternation of legs and junctions.

    Attributes
    ----------
    trajectory : Trajectory
    partials : Partials
    opening : Junction or None
        Events at the very start.
    legs : tuple of Leg
    junctions : tuple of Junction
        After each leg but the last; after the last as well where an event ends the motion.
    """

    trajectory: Trajectory
    partials: Partials
    opening: Junction | None
    legs: tuple[Leg, ...]
    junctions: tuple[Junction, ...]

    @property
    def t_end(self) -> float:
        """Time at which the motion ends."""
        return float(self.legs[-1].knots[-1])

    @property
    def end(self) -> Array:
        """State (2n,) at the end."""
        return np.asarray(self.legs[-1].states[-1])
