"""Events that wait for what follows them: completed by the mode that was selected, or dropped if nothing changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from hybrid.contact.guards import possible_exit
from hybrid.contact.table import rows_of
from hybrid.motion.recorded import Event, EventKind
from hybrid.motion.transitions import named_by_modes

if TYPE_CHECKING:
    from hybrid.contact.modes import Mode
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.selecting import Decision

__all__ = ["LASTING", "complete"]

_PENDING = 8  # events at one instant: an impact, the accumulation it completes, a choice
_JUMPS = (EventKind.IMPACT, EventKind.PASSAGE, EventKind.ACCUMULATION)
LASTING = (*_JUMPS, EventKind.WATCH)


def complete(dynamics: Dynamics, events: list[Event], t: float, after: Mode | None, decision: Decision) -> int:
    """Complete the last events with the mode that follows them, in place, and drop those that changed nothing.

    Parameters
    ----------
    dynamics : Dynamics
    events : list of Event
    t : float
        Of the decision.
    after : Mode or None
        None where the motion ends.
    decision : Decision

    Returns
    -------
    int
        Number of events that were dropped.

    Raises
    ------
    RuntimeError
        The mode that was selected is none that may follow: a defect.
    """
    dropped = 0
    recent = events[-_PENDING:]
    for event in recent:
        if event.mode_after is not None or not (event.t == t or event.kind is EventKind.ACCUMULATION):
            continue
        at = events.index(event)
        known = named_by_modes(event, after)
        jumps = any(later.kind in _JUMPS for later in events[at + 1 :])
        if after is not None and not jumps:
            _check_exit(dynamics, known, after)
        note = "; ".join(part for part in (known.note, decision.note) if part)
        events[at] = attrs.evolve(known, mode_after=after, verdict=decision.verdict, note=note)
        if after is not None and after == known.mode_before and known.kind not in LASTING:
            del events[at]
            dropped += 1
    return dropped


def _check_exit(dynamics: Dynamics, event: Event, after: Mode) -> None:
    """The verdict selects among the exits of the guards that fired, however it was reached."""
    if event.mode_before is None or not event.guards:
        return
    if not possible_exit(rows_of(dynamics, event.mode_before), event.guards).admits(after):
        fired = ", ".join(f"{guard.kind.value} of {guard.element}" for guard in event.guards)
        raise RuntimeError(f"t = {event.t:.10g}: {after} is no exit of {event.mode_before} at {fired}")
