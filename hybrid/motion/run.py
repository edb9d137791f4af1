"""The loop of a simulation: decide, follow an arc, handle the event.

How fast events follow each other, and when they are too many.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity
from hybrid.contact.guards import GuardKind
from hybrid.contact.impacts.impact import resolve_impact
from hybrid.contact.modes import ContactMode
from hybrid.dynamics.arithmetic import decided_definiteness
from hybrid.dynamics.kinks import kink_at, kink_sentence
from hybrid.dynamics.positions import has_kinks
from hybrid.dynamics.state import State, posture
from hybrid.errors import ComputationError, HybridError
from hybrid.motion.accumulating import completed, is_accumulating, limits_in_order, right_accumulation
from hybrid.motion.arcs import FollowedArc, Rest, Trial, first_step_limit, follow
from hybrid.motion.arguments import check_start
from hybrid.motion.compliant_passage import pass_inconsistent, pass_jamming
from hybrid.motion.failure import explain_failure, in_words, led_back, negative_friction, singular_point
from hybrid.motion.recorded import Arc, Event, EventKind, Termination, complete
from hybrid.motion.selecting import Decision, Moment, continued_beside_others, decide, indefinite_forces
from hybrid.motion.simultaneous import order_of_impacts
from hybrid.motion.singular_passage import describe_singular, pass_singular, singular_end
from hybrid.motion.trajectory import Trajectory
from hybrid.motion.transitions import besides_touch, closed_in, event_kind, moment_after, moment_after_impact
from hybrid.motion.watched_signs import WatchedSigns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hybrid.contact.modes import Mode
    from hybrid.contact.verdict import Selection
    from hybrid.motion.arguments import Settings
    from hybrid.motion.context import Choice, Context

__all__ = ["EventRate", "Run"]


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


_PATIENCE = 3  # times a decision may be taken again, where the rounding of a projection may turn it


@attrs.define(eq=False)
class Run:
    """One simulation under way: everything computed so far, and how it goes on.

    Attributes
    ----------
    context : Context
    t_end : float
    arcs, events, warnings : list
    impacts : dict of str to list of float
        Times of the impacts of every contact.
    event_rate : EventRate
        How many events there were, and how fast they followed.
    selection : Selection or None
        The verdict that ended the motion.
    last : Moment or None
        Where it ended, with what its history tells.
    is_one_of_several : bool
        Others were consistent while a mode went on.
    progress : callable or None
        Called after every step with the time that has passed and the whole time.
    signs : WatchedSigns
        Signs of the user's functions.
    """

    context: Context
    t_end: float
    arcs: list[Arc] = attrs.field(factory=list)
    events: list[Event] = attrs.field(factory=list)
    warnings: list[str] = attrs.field(factory=list)
    impacts: dict[str, list[float]] = attrs.field(factory=dict)
    selection: Selection | None = None
    last: Moment | None = None
    is_one_of_several: bool = False
    progress: Callable[[float, float], None] | None = None
    signs: WatchedSigns = attrs.field(factory=WatchedSigns)
    _start: Moment | None = None
    _kept: Choice | None = None
    _said: set[tuple[Mode | tuple[str, ...], str]] = attrs.field(factory=set)
    event_rate: EventRate = attrs.field(init=False)

    @event_rate.default
    def _rate_of_settings(self) -> EventRate:
        return EventRate(self.context.settings)

    def follow(self, moment: Moment) -> Trajectory:
        """Follow the motion from its start to its end."""
        self._start = moment
        context, state = self.context, State(moment.q, moment.v, moment.t)
        check_start(
            context.dynamics,
            state,
            moment.activities,
            collides=context.law is not None,
            tolerances=context.settings.tolerances,
        )
        mode: Mode | None = None
        try:
            while True:
                ended, moment, mode = self._continue(moment, mode)
                if ended is not None:
                    return self._trajectory(moment, *ended)
                self._report(moment.t)
        except KeyboardInterrupt:
            return self._trajectory(self._reached(moment), Termination.INTERRUPTED, "")
        except (HybridError, ArithmeticError, ValueError) as error:
            reached, cause = self._reached(moment), in_words(error)
            if self.arcs or self.events:
                return self._trajectory(reached, Termination.NOT_COMPUTED, cause)
            if isinstance(error, HybridError):
                raise
            where = posture(context.dynamics, reached.q)
            raise ComputationError(
                f"{Termination.NOT_COMPUTED.value} at t = {reached.t:.12g} ({where}): {cause}"
            ) from error

    def _reached(self, moment: Moment) -> Moment:
        """Where the motion has got to if it is cut short after a moment: to the end of its last arc."""
        if not self.arcs or self.arcs[-1].end <= moment.t:
            return moment
        t = self.arcs[-1].end
        q, v = self.arcs[-1].sample(t)
        return attrs.evolve(moment, t=t, q=q, v=v)

    def _report(self, t: float) -> None:
        if self.progress is not None and self._start is not None:
            self.progress(t - self._start.t, self.t_end - self._start.t)

    def _continue(
        self, moment: Moment, before: Mode | None
    ) -> tuple[tuple[Termination, str] | None, Moment, Mode | None]:
        """One impact, or one decision and the arc after it."""
        context = self.context
        undefined = _undefined_at(context, moment)
        if undefined is not None:
            return undefined, moment, before
        if any(activity is Activity.APPROACHING for activity in moment.activities.values()):
            return self._collide(moment, before)
        if context.watched and self._ends(self.signs.crossed(context, moment, before, self.events)):
            return (Termination.UNTIL, ""), moment, before
        decision, unresolved = decide(context, moment, self.t_end), ""
        kept, self._kept = self._kept, None
        if kept is not None and (decision.chosen_by_rule or decision.ending is Termination.INDETERMINATE):
            decision = Decision(kept, decision.selection)  # to record an instant changes no motion
        if decision.ending is Termination.INCONSISTENT:
            passage = pass_inconsistent(context, moment, decision.selection, before)
            if isinstance(passage, str):
                unresolved = passage
            elif (passed := self._passed(passage)) is not None:
                return None, passed, before
        self._note(decision, moment, before)
        if decision.choice is None or decision.ending is not None:
            self.selection = decision.selection
            notes = () if decision.selection is None else decision.selection.notes
            said = "; ".join(part for part in (*notes, unresolved) if part)
            return (decision.ending or Termination.UNDECIDED, said), moment, before
        if not moment.t < self.t_end:
            return (Termination.END_TIME, ""), moment, decision.choice.mode
        followed = self._arc(decision.choice, moment, None if self.context.watched else decision.trial)
        if followed is None:
            return (Termination.UNTIL, ""), moment, decision.choice.mode
        return self._after(followed, decision.choice, moment)

    def _ends(self, crossed: list[Event]) -> bool:
        """Record what a jump took across zero; True if that is the condition to stop at."""
        self.events += crossed
        return any(event.kind is EventKind.UNTIL for event in crossed)

    def _arc(self, choice: Choice, moment: Moment, trial: Trial | None) -> FollowedArc | None:
        """Follow a mode; None if the condition to stop at was met where it begins."""
        context, n = self.context, self.context.dynamics.n
        if trial is None:
            constraints = context.constraints(choice, moment.t, moment.q)
            q, v = constraints.project(moment.t, moment.q, moment.v)
            watch = context.watch(choice, moment.t, q, v)
            rests = constraints.hold_everything(moment.t, q, v)
            y = np.concatenate([q, v])
        else:
            constraints, watch, y = trial.constraints, trial.watch, trial.step.first
            watch.signs, watch.is_decided, rests = None, False, isinstance(trial.stepper, Rest)
        if context.jumps is not None:
            met = context.jumps.met(context.dynamics, y[:n], y[n:], moment.t)
            self._say(choice.mode, "jump", lambda: f"t = {moment.t:.10g}: {met[0].sentence}" if met else None)
        limit = None if rests else first_step_limit(context, choice, moment.t, y)
        followed = follow(
            watch, constraints, moment.t, y, self.t_end, first_step=limit, rests=rests, directions=choice.directions,
            progress=self._report, trial=trial if limit is None else None,
            led_back=None if rests or context.jumps is None else lambda t, y: led_back(context, watch.flow, t, y),
        )  # fmt: skip
        if context.watched and self._ends(self.signs.followed(watch, followed, moment, choice.mode, self.events)):
            return None
        if context.rank is not None and followed.loses_rank:
            followed, event = pass_singular(context, context.rank, choice, constraints, followed, self.t_end)
            self.events += [] if event is None else [event]
        steps = [step for step in followed.steps if step.end > step.start]
        if steps:
            knots = np.array([steps[0].start, *(step.end for step in steps)])
            self.arcs.append(
                Arc(choice.mode, knots, np.array([step.coefficients for step in steps]), choice.force_signs)
            )
            self.event_rate.at_once, arc, done = 0, self.arcs[-1], followed
            beside = self._say(choice.mode, "others", lambda: continued_beside_others(context, arc, done, watch))
            self.is_one_of_several |= beside
            if context.rebounds and ContactMode.STICK in choice.mode.values():
                self._say(choice.mode, "accumulation", lambda: right_accumulation(context, arc))
        if followed.error is not None:
            raise followed.error
        return followed

    def _too_many(self, t: float, elements: tuple[str, ...]) -> tuple[Termination, str] | None:
        """Count an event, and tell how the motion ends if there are too many or too fast ones."""
        span = self.t_end - (t if self._start is None else self._start.t)
        return self.event_rate.exceeded(t, elements, recorded=len(self.events), impacts=self.impacts, span=span)

    def _say(self, mode: Mode, subject: str, found: Callable[[], str | None]) -> bool:
        """Warn, once of every mode and subject; True if there was anything to say."""
        sentence = None if (mode, subject) in self._said else found()
        if sentence is not None:
            self._said.add((mode, subject))
            self.warnings.append(sentence)
        return sentence is not None

    def _after(
        self, followed: FollowedArc, choice: Choice, moment: Moment
    ) -> tuple[tuple[Termination, str] | None, Moment, Mode | None]:
        context, n = self.context, self.context.dynamics.n
        flow = context.flow(choice)
        if followed.loses_rank:
            singular, arrived = singular_end(context, followed, choice.mode, moment)
            self.events.append(singular)
            return (Termination.SINGULAR_CONFIGURATION, singular.note), arrived, choice.mode
        kinds = {guard.kind for guard in followed.fired}
        if GuardKind.KINK in kinds:
            name = next(guard.element for guard in followed.fired if guard.kind is GuardKind.KINK)
            there = attrs.evolve(moment, t=followed.t, q=followed.y[:n], v=followed.y[n:])
            return (Termination.NOT_COMPUTED, kink_sentence(name)), there, choice.mode
        arrived = moment_after(context, choice, flow.parts, followed.fired, followed.t, followed.y)
        if followed.interrupted:
            return (Termination.INTERRUPTED, ""), arrived, choice.mode
        if followed.failure is not None:
            return explain_failure(context, flow, followed), arrived, choice.mode
        if not followed.fired:
            return (None if followed.t < self.t_end else (Termination.END_TIME, "")), arrived, choice.mode
        if GuardKind.FRICTION in kinds:
            return (Termination.NOT_COMPUTED, negative_friction(followed.fired)), arrived, choice.mode
        elements = tuple(dict.fromkeys(guard.element for guard in followed.fired))
        v_before = followed.y[n:]
        ended = self._too_many(followed.t, elements)
        if ended is None and self.event_rate.at_once > _PATIENCE and arrived.repeats(moment):
            ended = Termination.CROWDED, f"the last at {', '.join(elements)}"
        if ended is not None:
            return ended, arrived, choice.mode
        event = Event(
            followed.t, event_kind(followed.fired), elements, choice.mode, None, arrived.q, v_before, arrived.v,
            guards=tuple(guard for guard in followed.fired if guard.quantity is not None),
        )  # fmt: skip
        if Activity.APPROACHING in arrived.activities.values():
            self.events += besides_touch(event, followed.fired)
        if GuardKind.SINGULAR in kinds:
            t, grows, note = singular_point(flow, followed)
            passed = self._passed(pass_jamming(context, arrived, choice.mode, note) if grows else None)
            if passed is not None:
                return None, passed, choice.mode
            self.events.append(attrs.evolve(event, note=note, t=t))
            return (Termination.SINGULAR, note), arrived, choice.mode
        self.events.append(event)
        self._kept = choice if kinds == {GuardKind.WATCH} and not choice.directions else None
        if GuardKind.UNTIL in kinds:
            return (Termination.UNTIL, ""), arrived, choice.mode
        return None, arrived, choice.mode

    def _collide(
        self, moment: Moment, before: Mode | None
    ) -> tuple[tuple[Termination, str] | None, Moment, Mode | None]:
        context = self.context
        closed = tuple(name for name in closed_in(moment) if name in context.dynamics.contacts)
        touching = tuple(name for name in closed if moment.activities[name] is Activity.APPROACHING)
        if context.law is None:
            return (Termination.NO_IMPACT_LAW, f"at {', '.join(touching)}"), moment, before
        ended = self._too_many(moment.t, touching)
        if ended is not None:
            return ended, moment, before
        state, tolerances = State(moment.q, moment.v, moment.t), context.settings.tolerances
        impact = resolve_impact(context.dynamics, state, law=context.law, tolerances=tolerances, closed=closed)
        after = moment_after_impact(context, moment, impact)
        known = (*impact.warnings, *self._depends_on_order(moment, touching, impact.v_after))
        self.warnings += [f"t = {moment.t:.10g}: {text}" for text in known]
        if self.events and self.events[-1].t == moment.t and self.events[-1].kind is EventKind.TOUCHDOWN:
            self.events.pop()
        hit = Event(moment.t, EventKind.IMPACT, touching, before, None, moment.q, moment.v, after.v, impact)
        self.events.append(attrs.evolve(hit, note="; ".join(known)))
        for name in touching:
            self.impacts.setdefault(name, []).append(moment.t)
        after, event = completed(context, after, self.impacts, self.t_end)
        if event is not None:
            self.events.append(event)
        return None, after, before

    def _depends_on_order(
        self, moment: Moment, touching: tuple[str, ...], together: NDArray[np.float64]
    ) -> tuple[str, ...]:
        """Whether the order of impacts at one instant would matter; said once of every set of contacts."""
        is_said = len(touching) < 2 or (touching, "order") in self._said
        depends = None if is_said else order_of_impacts(self.context, moment, touching, together)
        if depends is None:
            return ()
        self._said.add((touching, "order"))
        return (depends,)

    def _passed(self, passage: tuple[Moment, Event] | None) -> Moment | None:
        """Record an impact of the compliant contact; None if there is none, or one too many at one instant."""
        if passage is None or self._too_many(passage[0].t, passage[1].elements) is not None:
            return None
        self.events.append(passage[1])
        return passage[0]

    def _note(self, decision: Decision, moment: Moment, before: Mode | None) -> None:
        """Complete the last event with the mode that follows it, or drop it if nothing changed."""
        after = None if decision.choice is None else decision.choice.mode
        if after is not None:
            self._say(after, "forces", lambda: indefinite_forces(decision, moment.t))
        if decision.chosen_by_rule and after is not None:
            self._said.add((after, "others"))
            kind, v = EventKind.CHOICE, moment.v
            self.events.append(Event(moment.t, kind, (), before, after, moment.q, v, v, note=decision.note))
        self.event_rate.dropped += complete(
            self.context.dynamics, self.events, moment.t, after, verdict=decision.verdict, note=decision.note
        )

    def _trajectory(self, moment: Moment, termination: Termination, detail: str) -> Trajectory:
        start = moment if self._start is None else self._start
        self.last = moment
        cause = f"{termination.value} at t = {moment.t:.12g} ({posture(self.context.dynamics, moment.q)})"
        return Trajectory(
            dynamics=self.context.dynamics, parameters=self.context.dynamics.given, law=self.context.law,
            arcs=tuple(self.arcs), events=_in_order(self.events), warnings=tuple(self.warnings),
            selection=self.selection, termination=termination, cause=f"{cause}: {detail}" if detail else cause,
            t_start=start.t, q_start=start.q, v_start=start.v, t=moment.t, q=moment.q, v=moment.v,
            settings=self.context.settings,
        )  # fmt: skip


def _in_order(events: Sequence[Event]) -> tuple[Event, ...]:
    are_limits = np.array([event.kind is EventKind.ACCUMULATION for event in events], dtype=bool)
    if not are_limits.any():
        return tuple(events)
    times = limits_in_order(np.array([event.t for event in events]), are_limits).tolist()
    return tuple(event if event.t == t else attrs.evolve(event, t=t) for event, t in zip(events, times, strict=True))


def _undefined_at(context: Context, moment: Moment) -> tuple[Termination, str] | None:
    """What stops a motion at a state: a quantity without a finite value, a singular mass matrix or configuration.

    Why, and a phrase about it; None if nothing does.
    """
    terms = context.terms(moment.t, moment.q, moment.v)
    undefined, rank = terms.undefined, context.settings.tolerances.rank
    if undefined is not None:
        return Termination.UNDEFINED, f"{undefined} is undefined there"
    if has_kinks(context.dynamics):
        limit = context.settings.tolerances.gap * context.scales(moment.t, moment.q, moment.v, terms).gap
        kinked = kink_at(context.dynamics, moment.q, moment.t, terms.gap <= limit)
        if kinked is not None:
            return Termination.NOT_COMPUTED, kink_sentence(kinked)
    smallest = decided_definiteness(terms.M, rank=rank)
    if smallest <= rank:
        return Termination.SINGULAR_MASS, f"its smallest scaled eigenvalue is {smallest:.3g}"
    if context.rank is not None and context.rank.is_lost(moment.t, moment.q):
        described = describe_singular(context.dynamics, moment.t, moment.q)
        return Termination.SINGULAR_CONFIGURATION, described
    return None
