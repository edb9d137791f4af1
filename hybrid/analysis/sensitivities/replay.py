"""A recorded motion followed once more, with everything that its derivatives need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.accumulation_limit import open_sum
from hybrid.analysis.sensitivities.collocation import ErrorMeasure, integrate_segment
from hybrid.analysis.sensitivities.event_derivatives import event_map
from hybrid.analysis.sensitivities.event_map import EventGroup, Replay
from hybrid.analysis.sensitivities.mode_system import ModeSystem, evaluate_point
from hybrid.analysis.sensitivities.refusal import NoDerivative, Refusal
from hybrid.analysis.sensitivities.smoothness import check_end, check_smooth
from hybrid.analysis.sensitivities.surfaces import EventSurface, event_surfaces, is_spatial, with_limits
from hybrid.contact.table import rows_of
from hybrid.motion.recorded import MOMENT, Event, EventKind, Termination
from hybrid.tolerances import AGREEING, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.analysis.sensitivities.gauss import Segment
    from hybrid.dynamics.partials import Partials
    from hybrid.motion.recorded import Arc
    from hybrid.motion.trajectory import Trajectory

__all__ = ["replay", "system_of"]

Array = NDArray[np.float64]

_SAME = ROUNDING  # of the time: events that close happened at once
_VANISHED = AGREEING  # of the greatest slip along an arc
_UNFINISHED = (  # what has stopped the computation, not the motion
    Termination.NOT_COMPUTED,
    Termination.NO_IMPACT_LAW,
    Termination.UNDECIDED,
    Termination.CROWDED,
    Termination.MAX_EVENTS,
    Termination.STEP_SIZE,
    Termination.INTERRUPTED,
)


def replay(trajectory: Trajectory, partials: Partials, *, measure: ErrorMeasure | None = None) -> Replay | Refusal:
    """Follow a motion once more by collocation, event by event, and differentiate every event.

    Parameters
    ----------
    trajectory : Trajectory
    partials : Partials
    measure : ErrorMeasure, optional
        What is to be integrated over the motion.

    Returns
    -------
    Replay, or Refusal
        The latter where a derivative does not exist.
    """
    refusal = _unfinished(trajectory)
    if refusal is not None:
        return refusal
    events = [event for event in trajectory.events if event.kind is not EventKind.WATCH]
    t = trajectory.t_start
    try:
        groups = _grouped(trajectory, events)
        y = np.concatenate([trajectory.q_start, trajectory.v_start])
        opening = None
        if groups[0]:
            opening = _event_group(trajectory, partials, None, y, trajectory.arcs[0], groups[0], t)
            y = opening.map.after
        segments: list[Segment] = []
        event_groups: list[EventGroup] = []
        for index, arc in enumerate(trajectory.arcs):
            t = arc.end
            following = trajectory.arcs[index + 1] if index + 1 < len(trajectory.arcs) else None
            here = groups[index + 1]
            segment = _segment(trajectory, partials, arc, y, here[0] if here else None, measure)
            t = arc.start
            check_smooth(segment, _beginning(trajectory, partials, arc, y))
            t = float(segment.knots[-1])
            segments.append(segment)
            if following is None and not here:
                check_end(segment, _close(t))
                break
            last = _ending(segment.system, arc, t, segment.states[-1])
            event_group = _event_group(trajectory, partials, last, segment.states[-1], following, here, t)
            event_groups.append(event_group)
            y = event_group.map.after
    except NoDerivative as found:
        return Refusal(found.t if found.t is not None else t, str(found), is_proven=found.is_proven)
    return Replay(trajectory, partials, opening, tuple(segments), tuple(event_groups))


def system_of(trajectory: Trajectory, partials: Partials, arc: Arc) -> ModeSystem:
    """The linear system of an arc's mode.

    Parameters
    ----------
    trajectory : Trajectory
    partials : Partials
    arc : Arc
        Of the trajectory.

    Returns
    -------
    ModeSystem
    """
    return ModeSystem(partials, rows_of(trajectory.dynamics, arc.mode, arc.sides), trajectory.parameters)


def _beginning(trajectory: Trajectory, partials: Partials, arc: Arc, y: Array) -> ModeSystem:
    """The mode of an arc where it begins, with the direction of a slip that begins there."""
    system = system_of(trajectory, partials, arc)
    return with_limits(system, arc.start, y, _vanishing(system, arc, 0), ends=False)


def _ending(system: ModeSystem, arc: Arc, t: float, y: Array) -> ModeSystem:
    """The mode of an arc where it ends, with the direction of a slip that ends there."""
    return with_limits(system, t, y, _vanishing(system, arc, -1), ends=True)


def _vanishing(system: ModeSystem, arc: Arc, end: int) -> dict[str, Array]:
    """Spatial slips that vanish at the start (0) or end (-1) of an arc, as they are a moment inside it."""
    spatial = [part for part in system.parts if part.slides and is_spatial(part)]
    if not spatial:
        return {}
    inside = arc.knots[end] + MOMENT * (arc.knots[1 if end == 0 else -2] - arc.knots[end])
    q, v = arc.sample(np.array([*arc.knots, inside]))
    slip = np.broadcast_to(
        system.dynamics.terms(q, v, t=np.array([*arc.knots, inside]), parameters=system.parameters).slip,
        (len(q), max(max(part.columns) for part in spatial) + 1),
    )
    found = {}
    for part in spatial:
        own = slip[:, list(part.columns)]
        sizes = np.linalg.norm(own, axis=1)
        if sizes[end if end == 0 else -2] <= _VANISHED * np.max(sizes):
            found[part.name] = own[-1]
    return found


def _unfinished(trajectory: Trajectory) -> Refusal | None:
    if trajectory.method != "event-driven":
        reason = "the motion was computed by time-stepping, which locates no events"
        return Refusal(trajectory.t_start, reason, is_proven=False)
    if trajectory.handed_over is not None:
        reason = "the motion was handed over to springs, which follow other equations"
        return Refusal(trajectory.handed_over.t, reason, is_proven=False)
    if not trajectory.termination.is_complete:
        is_proven = trajectory.termination not in _UNFINISHED
        return Refusal(trajectory.t, f"the motion ended: {trajectory.cause}", is_proven=is_proven)
    if not trajectory.arcs:
        return Refusal(trajectory.t, "the motion has no arc of any length", is_proven=False)
    for event in trajectory.events:
        if event.kind is EventKind.CHOICE:
            return Refusal(event.t, f"several modes are consistent and a rule chose one ({event.note})")
        if event.kind is EventKind.ACCUMULATION and (reason := open_sum(trajectory.dynamics, event)):
            reason = f"impacts accumulate, and their limit is no sum in closed form: {reason}"
            return Refusal(event.t, reason, is_proven=False)
        if event.kind is EventKind.SINGULAR:
            return Refusal(event.t, "a contact force grows beyond bounds")
        if event.kind is EventKind.SINGULAR_CONFIGURATION:
            reason = "the motion passes a singular configuration, where its constraints depend on each other"
            return Refusal(event.t, reason, is_proven=False)
    last = [event for event in trajectory.events if abs(event.t - trajectory.t) <= _close(trajectory.t)]
    if trajectory.termination is Termination.END_TIME and any(e.kind is not EventKind.WATCH for e in last):
        return Refusal(trajectory.t, f"the motion is cut off at an event ({last[-1].kind.value}): choose another t_end")
    return None


def _close(t: float) -> float:
    return _SAME * max(abs(t), 1.0)


def _grouped(trajectory: Trajectory, events: Sequence[Event]) -> list[tuple[Event, ...]]:
    """Events at the start, and after every arc."""
    times = [trajectory.arcs[0].start, *(arc.end for arc in trajectory.arcs)]
    groups: list[list[Event]] = [[] for _ in times]
    at = 0
    for event in events:
        if event.kind is not EventKind.ACCUMULATION:  # this one carries the time of its limit and follows its impact
            at = int(np.argmin(np.abs(np.array(times) - event.t)))
        groups[at].append(event)
    for index, arc in enumerate(trajectory.arcs[:-1]):
        if not groups[index + 1]:
            reason = f"a guard was touched and the mode {arc.mode.label} goes on: grazing"
            raise NoDerivative(reason, arc.end)
    return [tuple(group) for group in groups]


def _segment(
    trajectory: Trajectory, partials: Partials, arc: Arc, y: Array, event: Event | None, measure: ErrorMeasure | None
) -> Segment:
    system = system_of(trajectory, partials, arc)
    last = system if event is None else _ending(system, arc, arc.end, np.concatenate(arc.sample(arc.end), axis=-1))

    def sample(t: Array) -> Array:
        return np.concatenate(arc.sample(t), axis=-1)

    surface: list[EventSurface] = []

    def guard(t: float, state: Array) -> tuple[float, float]:
        point = evaluate_point(last, t, state)
        if not surface and event is not None:
            surface.extend(event_surfaces(last, event, point)[:1])
        if not surface:
            raise NoDerivative("an event that no guard of the mode explains", t, is_proven=False)
        return surface[0].value(point), surface[0].rate(point)

    return integrate_segment(system, arc.knots, sample, y, surface=None if event is None else guard, measure=measure)


def _event_group(
    trajectory: Trajectory,
    partials: Partials,
    before: ModeSystem | None,
    y: Array,
    following: Arc | None,
    events: tuple[Event, ...],
    t: float,
) -> EventGroup:
    after = None if following is None else _beginning(trajectory, partials, following, y)
    return EventGroup(events, event_map(partials, trajectory.parameters, trajectory.law, before, after, t, y, events))
