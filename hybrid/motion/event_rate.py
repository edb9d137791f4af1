"""How fast events follow each other, and when they are too many."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import attrs

from hybrid.motion.outcome import Termination
from hybrid.motion.settings import Settings
from hybrid.motion.zeno import is_accumulating

__all__ = ["EventRate"]

_SHORT = 1e-4  # of the time asked for: a burst in it is a hundred times what max_events allows on average


@attrs.define(eq=False)
class EventRate:
    """Counts what happens, also what is not recorded.

    Attributes
    ----------
    settings : Settings
    at_once : int
        Events since time last advanced.
    dropped : int
        Events that turned out to change nothing and were not kept.
    """

    settings: Settings
    at_once: int = 0
    dropped: int = 0
    _instants: deque[float] = attrs.field(init=False, repr=False)

    @_instants.default
    def _no_instants(self) -> deque[float]:
        return deque(maxlen=self.settings.burst)

    def exceeded(
        self,
        t: float,
        elements: tuple[str, ...],
        *,
        recorded: int,
        impacts: Mapping[str, Sequence[float]],
        span: float,
    ) -> tuple[Termination, str] | None:
        """Count an event, and say how the motion ends if that is one too many.

        Parameters
        ----------
        t : float
            When it happens.
        elements : tuple of str
            Where it happens.
        recorded : int
            Number of events that were kept.
        impacts : mapping of str to sequence of float
            Times of the impacts of every contact. Those that converge may be many: a motion passes their limit.
        span : float
            The time asked for.

        Returns
        -------
        (Termination, str) or None
        """
        self.at_once += 1
        if not self._instants or t > self._instants[-1]:
            self._instants.append(t)
        if recorded + self.dropped >= self.settings.max_events:
            return Termination.MAX_EVENTS, f"with those that changed nothing, {recorded + self.dropped}"
        last = f"the last at {', '.join(elements)}"
        if self.at_once > self.settings.crowd:
            return Termination.CROWDED, last
        burst, lasted = self.settings.burst, t - self._instants[0]
        if len(self._instants) < burst or lasted >= _SHORT * span:
            return None
        if any(is_accumulating(times, burst // 2) for times in impacts.values()):
            return None
        return Termination.CROWDED, f"{burst} within {lasted:.3g} units of time, {last}"
