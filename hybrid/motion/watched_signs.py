"""On which side of zero the user's functions are, from one arc to the next: a jump may take them across."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from hybrid.contact.guards import USERS, Guard, GuardKind
from hybrid.motion.recorded import Event, EventKind
from hybrid.motion.transitions import event_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.contact.modes import Mode
    from hybrid.motion.arcs import FollowedArc
    from hybrid.motion.context import Context
    from hybrid.motion.events import Watch
    from hybrid.motion.selecting import Moment

__all__ = ["WatchedSigns"]

_RECENT = 8  # events at one instant


@attrs.define
class WatchedSigns:
    """The signs of the user's functions where a motion has come to.

    Attributes
    ----------
    known : dict of Guard to float
        +1 or -1 of every function that has differed from zero.
    """

    known: dict[Guard, float] = attrs.field(factory=dict)

    def crossed(self, context: Context, moment: Moment, mode: Mode | None, events: Sequence[Event]) -> list[Event]:
        """Functions whose sign at a moment is not the one they had before, as an event.

        Parameters
        ----------
        context : Context
        moment : Moment
            After an impact, or any other jump.
        mode : Mode or None
        events : sequence of Event
            Those so far.

        Returns
        -------
        list of Event
            At most one.
        """
        return self._switches(dict(context.watched_at(moment.t, moment.q, moment.v)), moment, mode, events)

    def followed(
        self, watch: Watch, followed: FollowedArc, moment: Moment, mode: Mode, events: Sequence[Event]
    ) -> list[Event]:
        """Functions that were zero where an arc began and have the other sign on it than before, as an event there.

        Those that ended the arc have the other sign from there on; at a touchdown that is for what follows to tell.

        Parameters
        ----------
        watch : Watch
            Of the arc.
        followed : FollowedArc
        moment : Moment
            Where the arc began.
        mode : Mode
        events : sequence of Event
            Those so far.

        Returns
        -------
        list of Event
            At most one.
        """
        if watch.signs is None:
            return []
        signs = zip(watch.guards, watch.signs[:, 0].tolist(), strict=True)
        found = self._switches(
            {guard: sign for guard, sign in signs if guard.kind in USERS and sign}, moment, mode, events
        )
        if not any(guard.kind is GuardKind.TOUCHDOWN for guard in followed.fired):
            self.known |= {guard: -self.known[guard] for guard in followed.fired if guard in self.known}
        return found

    def _switches(
        self, signs: dict[Guard, float], moment: Moment, mode: Mode | None, events: Sequence[Event]
    ) -> list[Event]:
        changed = tuple(guard for guard, sign in signs.items() if self.known.get(guard, sign) != sign)
        self.known |= signs
        at_once = [event for event in events[-_RECENT:] if event.t == moment.t and event.kind is not EventKind.IMPACT]
        known = {name for event in at_once for name in event.elements}
        new = tuple(guard for guard in changed if guard.element not in known)
        if not new:
            return []
        names = tuple(guard.element for guard in new)
        return [Event(moment.t, event_kind(new), names, mode, None, moment.q, moment.v, moment.v)]
