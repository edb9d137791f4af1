"""A recorded motion followed once more, with everything that its derivatives need.

Its smooth arcs are followed by Gauss collocation, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.accumulation_limit import open_sum
from hybrid.analysis.sensitivities.event_derivatives import event_map
from hybrid.analysis.sensitivities.event_map import EventMap, Replay
from hybrid.analysis.sensitivities.gauss import (
    NODES,
    SLOW,
    STAGES,
    TO_SERIES,
    Segment,
    carried,
    interpolation,
    sign_changes,
    sizes_of,
    stage_states,
    start_loads,
    step_inverses,
    vanishing,
    zero_between,
)
from hybrid.analysis.sensitivities.jumps import ImpactSite
from hybrid.analysis.sensitivities.mode_system import ModeSystem, evaluate_point
from hybrid.analysis.sensitivities.refusal import NoDerivative, Refusal
from hybrid.analysis.sensitivities.reversals import passed_reversal, reverses
from hybrid.analysis.sensitivities.smoothness import check_end, check_smooth
from hybrid.analysis.sensitivities.surfaces import EventSurface, event_surfaces, is_spatial, with_limits
from hybrid.contact.table import rows_of
from hybrid.errors import ComputationError
from hybrid.motion.arguments import FINE
from hybrid.motion.recorded import MOMENT, Event, EventKind, Termination
from hybrid.tolerances import AGREEING, CANCELLED, CLEAR, ROUNDING, SQUARED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.analysis.sensitivities.passes import Integrand
    from hybrid.dynamics.partials import Partials, Switches
    from hybrid.motion.recorded import Arc
    from hybrid.motion.trajectory import Trajectory

__all__ = ["integrate_segment", "replay"]


Array = NDArray[np.float64]
Sampler = Callable[[Array], Array]
Surface = Callable[[float, Array], tuple[float, float]]

_ITERATIONS = 12
_CONVERGED = CANCELLED  # of the size of the states; Newton's method is quadratic: Jacobians are exact to rounding
_ACCEPTED = CLEAR  # where rounding stops the iteration earlier, as in a bounce so low that its gap is hardly resolved
_TAIL = SQUARED  # of the last Legendre coefficient of the flow; the error at the end of a step is about its square
_REFINEMENTS = 24
_ONE_KNOT = ROUNDING  # of the times of an arc: what the iteration leaves of a kink that a knot marks already
_MOST_STEPS = 4096  # of one arc: an integrand that is not resolved then has no smooth scale


def integrate_segment(
    system: ModeSystem,
    knots: Array,
    sample: Sampler,
    start: Array,
    *,
    surface: Surface | None = None,
    measure: Integrand | None = None,
) -> Segment:
    """Solve an arc by collocation, from values close to it.

    Parameters
    ----------
    system : ModeSystem
    knots : array, (S + 1,)
        Where steps begin; they are halved where the flow is not resolved.
    sample : callable
        Approximate states (N, 2n) at times (N,).
    start : array, (2n,)
    surface : callable, optional
        Value and rate of the guard that ends the arc, at a time and state; the end is moved to its zero.
    measure : Integrand, optional
        What is to be integrated: steps resolve it as well, and end at its kinks and those of the equations. To see
        these, they resolve the quantities of kinks too.

    Returns
    -------
    Segment

    Raises
    ------
    ComputationError
        The iteration does not converge.
    NoDerivative
        The measure has no finite value somewhere.
    """
    for _ in range(_REFINEMENTS):
        segment = _solved(system, knots, sample, start, surface)
        added = _kink_times(segment, measure)
        if not added.size:
            coarse = _unresolved(segment, measure)
            if not coarse.any():
                return segment
            if len(coarse) > _MOST_STEPS:
                if _unresolved(segment, None).any():  # the reason, in the equations, is found later
                    return segment
                t = float(segment.knots[np.argmax(coarse)])
                raise NoDerivative(f"{len(coarse)} steps do not resolve the integrand", t, is_proven=False)
            added = (segment.knots[:-1] + segment.knots[1:])[coarse] / 2
        knots = np.sort(np.concatenate([segment.knots, added]))
        sample = interpolation(segment)
    return segment


def _unresolved(segment: Segment, measure: Integrand | None) -> NDArray[np.bool_]:
    S = len(segment.lengths)
    flow = segment.at.f.reshape(S, STAGES, -1)
    tail = _tails(flow)
    n = flow.shape[2] // 2
    duration = float(segment.knots[-1] - segment.knots[0])
    speeds = sizes_of(np.max(np.abs(segment.states), axis=0), duration)[n:]
    accelerations = np.full(n, max(float(np.max(np.abs(flow[..., n:]))), SLOW * float(speeds[0]) / duration))
    coarse = (tail > _TAIL * np.concatenate([speeds, accelerations])).any(axis=1)
    if measure is not None:
        values = measure.values(segment.at)
        if not np.isfinite(values).all():
            t = float(segment.at.t[np.argmin(np.isfinite(values))])
            raise NoDerivative("the integrand has no finite value", t, is_proven=False)  # it may only overflow
        values = values.reshape(S, STAGES)
        size = max(float(np.max(np.abs(values), initial=0.0)), SLOW * measure.size)
        coarse |= _tails(values[..., None])[:, 0] > _TAIL * size
    for switches in _sources(segment, measure):
        if switches.texts:
            coarse |= _unresolved_switches(segment, switches)
    return np.asarray(coarse)


def _tails(values: Array) -> Array:
    """Sizes of the last Legendre coefficients of functions at the stages (S, s, k), in every step (S, k).

    The last one vanishes where a function is even about the middle of its step, as in a flight from bounce to bounce:
    the one before counts too, by as much as it is greater where coefficients fall geometrically to the limit.
    """
    before, last = np.abs(np.einsum("ci,zik->czk", TO_SERIES[-2:], values))
    return np.asarray(np.maximum(last, _TAIL ** (1 / (STAGES - 1)) * before))


def _unresolved_switches(segment: Segment, switches: Switches) -> NDArray[np.bool_]:
    """Steps in which a switch may change sign unseen between the stages."""
    t, y = segment.at.t, segment.at.y
    zero = vanishing(switches, segment, t, y, float(segment.knots[-1] - segment.knots[0]))
    values = np.where(zero, 0.0, switches.values(t, y, segment.system.dynamics))
    tail = _tails(values.reshape(len(segment.lengths), STAGES, -1))
    return np.asarray((tail > _TAIL * np.max(np.abs(values), axis=0)).any(axis=1))


def _sources(segment: Segment, measure: Integrand | None) -> list[Switches]:
    return [segment.system.switches(), *([] if measure is None else [measure.switches])]


def _kink_times(segment: Segment, measure: Integrand | None) -> Array:
    """Times at which the equations or the measure have a kink, those of knots left out."""
    found = np.sort([time for switches in _sources(segment, measure) for time in _crossings(segment, switches)])
    same = _ONE_KNOT * np.max(np.abs(segment.knots))
    found = found[np.diff(found, prepend=-np.inf) > same]  # several kinks at once, as of x and of -x
    return np.asarray(found[np.abs(found[:, None] - segment.knots).min(axis=1, initial=np.inf) > same])


def _crossings(segment: Segment, switches: Switches) -> list[float]:
    """Times at which quantities of kinks change sign."""
    kinks = sign_changes(switches, segment, range(switches.n_jumps, len(switches.texts)))
    found = [zero_between(switches, segment, column, *change) for column, changes in kinks for change in changes]
    return [time for time in found if time is not None]


def _solved(system: ModeSystem, knots: Array, sample: Sampler, start: Array, surface: Surface | None) -> Segment:
    knots = np.array(knots)
    size = len(start)
    Y = sample((knots[:-1, None] + np.diff(knots)[:, None] * NODES).ravel()).reshape(-1, STAGES, size)
    previous = np.inf
    for _ in range(_ITERATIONS):
        h = np.diff(knots)
        times = knots[:-1, None] + h[:, None] * NODES
        segment, updated = _newton_step(system, knots, times, Y, start)
        if not np.isfinite(updated).all():
            raise ComputationError(
                f"the motion has no finite derivative between t = {knots[0]:.9g} and {knots[-1]:.9g}"
            )
        scale = sizes_of(np.max(np.abs(updated), axis=(0, 1)), float(knots[-1] - knots[0]))
        change = float(np.max(np.abs(updated - Y) / scale))
        Y = updated
        if surface is not None:
            value, rate = surface(float(knots[-1]), segment.states[-1])
            shift = -value / rate if rate else 0.0
            if abs(shift) < h[-1] / 2:
                knots[-1] += shift
                change = max(change, abs(shift) / max(abs(knots[-1]), h[-1]))
        if change <= _CONVERGED or (change <= _ACCEPTED and change >= previous / 2):
            return segment
        previous = change
    raise ComputationError(
        f"collocation does not converge between t = {knots[0]:.9g} and {knots[-1]:.9g}: changes of {change:.3g} remain"
    )


def _newton_step(system: ModeSystem, knots: Array, times: Array, Y: Array, start: Array) -> tuple[Segment, Array]:
    """One step of Newton's method for all stages of all steps."""
    S, s, size = Y.shape
    n = size // 2
    at = system.respond(times.ravel(), Y.reshape(-1, size))
    found = system.partials.state(at.t, at.y, at.forces, system.dynamics)
    jacobian = system.unknown_slopes(at, found)[:, :n, :size].reshape(S, s, n, size)
    segment = Segment(
        system, knots.copy(), np.empty((S + 1, size)), at, jacobian, step_inverses(np.diff(knots), jacobian)
    )
    constant = at.f[:, n:].reshape(S, s, n) - np.einsum("ziab,zib->zia", jacobian, Y)
    k_0 = np.einsum("zab,zb->za", segment.inverse, constant.reshape(S, -1))
    k_x = segment.inverse @ start_loads(segment)
    segment.states[0] = start
    k = np.empty((S, s, n))
    for step, h in enumerate(segment.lengths):
        x = segment.states[step]
        k[step] = (k_0[step] + k_x[step] @ x).reshape(s, n)
        segment.states[step + 1] = carried(h, x[:, None], k[step][:, :, None])[:, 0]
    return segment, stage_states(segment.lengths, segment.states[:-1, :, None], k[..., None])[..., 0]


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


def replay(trajectory: Trajectory, partials: Partials, *, measure: Integrand | None = None) -> Replay | Refusal:
    """Follow a motion once more by collocation, event by event, and differentiate every event.

    Parameters
    ----------
    trajectory : Trajectory
    partials : Partials
    measure : Integrand, optional
        What is to be integrated over the motion.

    Returns
    -------
    Replay, or Refusal
        The latter where a derivative does not exist.
    """
    refusal = _coarse(trajectory) or _unfinished(trajectory)
    if refusal is not None:
        return refusal
    arcs, law, dynamics = trajectory.arcs, trajectory.law, trajectory.dynamics
    systems = [ModeSystem(partials, rows_of(dynamics, arc.mode, arc.force_signs), dynamics) for arc in arcs]
    events = [event for event in trajectory.events if event.kind is not EventKind.WATCH]
    t = trajectory.t_start
    try:
        groups = _grouped(trajectory, events, systems)
        site = ImpactSite(partials, dynamics, t, trajectory.q_start, trajectory.v_start)
        y, opening = site.y, None
        if groups[0]:
            found = event_map(site, law, None, _beginning(systems[0], arcs[0], y), groups[0])
            opening = attrs.evolve(found, events=groups[0])
            y = opening.after
        segments: list[Segment] = []
        event_groups: list[EventMap] = []
        for index, (arc, system, here) in enumerate(zip(arcs, systems, groups[1:], strict=True)):
            begun, t = t, arc.end
            later = systems[index + 1] if index + 1 < len(arcs) else None
            segment = _segment(system, arc, begun, y, here[0] if here else None, measure)
            t = arc.start
            check_smooth(segment, _beginning(system, arc, y), is_free=not groups[index])
            t, end = float(segment.knots[-1]), segment.states[-1]
            segments.append(segment)
            if not here and later is not None:
                event_groups.append(passed_reversal(segment, later))
                y = end
                continue
            if not here:
                check_end(segment, _close(t))
                break
            last = _ending(system, arc, t, end)
            following = None if later is None else _beginning(later, arcs[index + 1], end)
            site = ImpactSite(partials, dynamics, t, *np.split(end, 2))
            event_groups.append(attrs.evolve(event_map(site, law, last, following, here), events=here))
            y = event_groups[-1].after
    except NoDerivative as refused:
        t = t if refused.t is None else refused.t
        return Refusal(t, str(refused), is_proven=refused.is_proven)
    return Replay(trajectory, partials, opening, tuple(segments), tuple(event_groups))


def _beginning(system: ModeSystem, arc: Arc, y: Array) -> ModeSystem:
    """The mode of an arc where it begins, with the direction of a slip that begins there."""
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
        system.dynamics.terms(q, v, t=np.array([*arc.knots, inside])).slip,
        (len(q), max(max(part.columns) for part in spatial) + 1),
    )
    found = {}
    for part in spatial:
        own = slip[:, list(part.columns)]
        sizes = np.linalg.norm(own, axis=1)
        if sizes[end if end == 0 else -2] <= _VANISHED * np.max(sizes):
            found[part.name] = own[-1]
    return found


def _coarse(trajectory: Trajectory) -> Refusal | None:
    # A spatial slip ends at 1e-9 of the velocities, and of that its direction must be known, to a few digits. Of events
    # known less finely some seem to graze, or to be none that the law of impacts gives.
    settings = trajectory.settings
    if settings is None or max(settings.rtol, settings.atol) <= (most := FINE[settings.stepper]):
        return None
    reason = (
        f"the motion was computed with rtol={settings.rtol:g} and atol={settings.atol:g}, so that its events are known "
        f"too coarsely for derivatives: simulate with {settings.stepper} and {most:g} at most for both"
    )
    return Refusal(trajectory.t_start, reason, is_proven=False)


def _unfinished(trajectory: Trajectory) -> Refusal | None:
    if trajectory.method != "event-driven":
        reason = "the motion was computed by time-stepping, which locates no events"
        return Refusal(trajectory.t_start, reason, is_proven=False)
    if trajectory.springs is not None:
        reason = "the motion was handed over to springs, which follow other equations"
        return Refusal(trajectory.springs.t, reason, is_proven=False)
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
            return Refusal(event.t, "the mobility of a sliding contact vanishes")
        if event.kind is EventKind.SINGULAR_CONFIGURATION:
            reason = "the motion passes a singular configuration, where its constraints depend on each other"
            return Refusal(event.t, reason, is_proven=False)
    last = [event for event in trajectory.events if abs(event.t - trajectory.t) <= _close(trajectory.t)]
    if trajectory.termination is Termination.END_TIME and any(e.kind is not EventKind.WATCH for e in last):
        return Refusal(trajectory.t, f"the motion is cut off at an event ({last[-1].kind.value}): choose another t_end")
    return None


def _close(t: float) -> float:
    return _SAME * max(abs(t), 1.0)


def _grouped(trajectory: Trajectory, events: Sequence[Event], systems: Sequence[ModeSystem]) -> list[tuple[Event, ...]]:
    """Events at the start, and after every arc; none after one that ends as a normal force passes zero."""
    times = [trajectory.arcs[0].start, *(arc.end for arc in trajectory.arcs)]
    groups: list[list[Event]] = [[] for _ in times]
    at = 0
    for event in events:
        if event.kind is not EventKind.ACCUMULATION:  # this one carries the time of its limit and follows its impact
            at = int(np.argmin(np.abs(np.array(times) - event.t)))
        groups[at].append(event)
    for arc, group, (system, following) in zip(trajectory.arcs, groups[1:], pairwise(systems), strict=False):
        if not group and not reverses(system.parts, following.parts):
            reason = f"a guard was touched and the mode {arc.mode.label} goes on: grazing"
            raise NoDerivative(reason, arc.end)
    return [tuple(group) for group in groups]


def _segment(
    system: ModeSystem, arc: Arc, t: float, y: Array, event: Event | None, measure: Integrand | None
) -> Segment:
    knots = np.append(t, arc.knots[1:])  # from where the segment before has come, which is not quite the motion's time
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

    return integrate_segment(system, knots, sample, y, surface=None if event is None else guard, measure=measure)
