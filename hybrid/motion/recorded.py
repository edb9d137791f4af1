"""A motion as it is kept: arcs, events, and how it ended.

What happened during a motion and why it ended. Events wait for what follows them: they are completed by the mode that
was selected, or dropped if nothing changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from hybrid.contact.modes import ContactMode
from hybrid.errors import ArgumentError
from hybrid.motion.flow import check_exit, make_flow
from hybrid.motion.numeric import Flow, Observation
from hybrid.motion.rank_guard import rank_guard

if TYPE_CHECKING:
    from hybrid.contact.guards import Guard
    from hybrid.contact.impacts.impact import AbstractImpactLaw, Impact
    from hybrid.contact.modes import Mode
    from hybrid.contact.verdict import Selection, Verdict
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.arguments import Settings
    from hybrid.motion.springs import Springs


class Termination(Enum):
    """Why a motion ended; the value is the sentence shown to the user."""

    END_TIME = "the end of the time was reached"
    UNTIL = "the condition to stop at was met"
    INCONSISTENT = "no contact mode is consistent"
    INDETERMINATE = "several contact modes are consistent, or one in a continuum of ways, with different accelerations"
    UNDECIDED = "which contact mode is consistent hangs on a sign within the tolerance"
    SINGULAR = "a sliding contact reached the point where its mobility A_s vanishes"
    SINGULAR_CONFIGURATION = "the rigid constraints became dependent: a singular configuration"
    NO_IMPACT_LAW = "a contact closed with a velocity, and no impact law was given"
    NOT_COMPUTED = "what comes next could not be computed"
    CROWDED = "events follow each other without progress in time"
    MAX_EVENTS = "the largest number of events was reached"
    UNDEFINED = "an expression has no finite value"
    SINGULAR_MASS = "the mass matrix became singular"
    STEP_SIZE = "the step size fell to where rounding leaves no headway"
    INTERRUPTED = "the computation was interrupted"

    @property
    def is_complete(self) -> bool:
        """True if the motion was followed as far as was asked."""
        return self in (Termination.END_TIME, Termination.UNTIL)

    @property
    def is_given_up(self) -> bool:
        """True if the motion goes on and could not be computed further."""
        return self in (Termination.NOT_COMPUTED, Termination.STEP_SIZE, Termination.CROWDED, Termination.MAX_EVENTS)


class EventKind(Enum):
    """What an event is; the value is the word in tables and JSON."""

    IMPACT = "impact"
    PASSAGE = "impact without collision"
    TOUCHDOWN = "touchdown"
    DETACHMENT = "detachment"
    SLIP_START = "slip start"
    SLIP_END = "slip end"
    SINGULAR = "singular"
    SINGULAR_CONFIGURATION = "singular configuration"
    ACCUMULATION = "accumulation of impacts"
    CHOICE = "choice"
    WATCH = "watch"
    UNTIL = "until"


@attrs.frozen(eq=False)
class Event:
    """An instant at which the motion changed or was looked at.

    Attributes
    ----------
    t : float
        Its time, in s.
    kind : EventKind
    elements : tuple of str
        The contacts, elements or constraints whose guards fired; the names of watched functions.
    mode_before, mode_after : Mode or None
        None before the start and after the end of a motion.
    q : array, (n,)
    v_before, v_after : array, (n,)
    impact : Impact or None
    verdict : Verdict or None
        Of the contact problem after the event.
    note : str
        How a choice was made, at which rate a force grows, what an impact law warned of.
    guards : tuple of Guard
        Those of the mode before that fired together; empty where no guard of a mode ended it.
    """

    t: float
    kind: EventKind
    elements: tuple[str, ...]
    mode_before: Mode | None
    mode_after: Mode | None
    q: NDArray[np.float64]
    v_before: NDArray[np.float64]
    v_after: NDArray[np.float64]
    impact: Impact | None = None
    verdict: Verdict | None = None
    note: str = ""
    guards: tuple[Guard, ...] = ()

    def __str__(self) -> str:
        modes = " -> ".join(str(mode) for mode in (self.mode_before, self.mode_after) if mode is not None)
        text = f"t = {self.t:.10g}: {self.kind.value} at {', '.join(self.elements) or 'no contact'} ({modes})"
        return text + (f"; {self.note}" if self.note else "")


Array = NDArray[np.float64]

MOMENT = 1e-3
"""Of a step: so much within, a slip that vanishes at an end of it has nearly the direction of its limit."""


@attrs.frozen(eq=False)
class Arc:
    """A smooth part of a motion, in one mode.

    Attributes
    ----------
    mode : Mode
    force_signs : mapping of str to float
        Signs of the normal forces of bilateral contacts with friction.
    knots : array, (m + 1,)
        Times between the integrator's steps, strictly increasing.
    coefficients : array, (m, d, 2n)
        Chebyshev series of ``(q, v)`` over each step.
    means : Observation or None
        Mean accelerations and contact forces of every step, where time-stepping gave them; otherwise they follow from
        the mode at any instant.
    """

    mode: Mode
    knots: Array
    coefficients: Array
    force_signs: Mapping[str, float] = attrs.field(factory=dict)
    means: Observation | None = None

    @property
    def start(self) -> float:
        """Time at which it starts."""
        return float(self.knots[0])

    @property
    def end(self) -> float:
        """Time at which it ends."""
        return float(self.knots[-1])

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return int(self.coefficients.shape[-1]) // 2

    def sample(self, t: Any) -> tuple[Array, Array]:
        """Positions and velocities (..., n) at times within the arc.

        Parameters
        ----------
        t : array_like, (...)

        Returns
        -------
        q, v : array, (..., n)
        """
        times = np.asarray(t, dtype=float)
        flat = np.atleast_1d(times).ravel()
        step = self.step_of(flat)
        start, end = self.knots[step], self.knots[step + 1]
        x = 2 * (flat - start) / (end - start) - 1
        basis = chebyshev.chebvander(x, self.coefficients.shape[1] - 1)
        values = np.einsum("ij,ijk->ik", basis, self.coefficients[step])
        values = values.reshape(*times.shape, 2 * self.n)
        return values[..., : self.n], values[..., self.n :]

    def step_of(self, t: Array) -> NDArray[np.intp]:
        """Number of the step in which each time lies.

        Parameters
        ----------
        t : array, (N,)
            Times, in s; one outside the arc counts to its first or last step.

        Returns
        -------
        array of int, (N,)
            At a knot, the step that begins there.
        """
        return np.clip(np.searchsorted(self.knots, t, side="right") - 1, 0, len(self.knots) - 2)


@attrs.frozen(eq=False)
class AbstractMotion:
    """A motion that was followed as far as its law allows.

    Attributes
    ----------
    dynamics : Dynamics
    parameters : mapping
        Values that replace those of the declaration.
    arcs : tuple of Arc
        In order of time. Between two arcs there may be a jump of velocity at one time.
    events : tuple of Event
    termination : Termination
    cause : str
        The termination with time, state and evidence.
    t_start, q_start, v_start : float and arrays, (n,)
        Where it began; time in s.
    t, q, v : float and arrays, (n,)
        Where it ended; time in s.
    selection : Selection or None
        The verdict at the end, where none or several modes were consistent.
    warnings : tuple of str
    law : AbstractImpactLaw or None
        What decided its impacts.
    method : str
        How it was computed, ``event-driven`` or ``time-stepping``.
    springs : Springs or None
        The springs that took the place of rigid constraints at a singular configuration, and when; arcs from then on
        are those of its dynamics.
    settings : Settings or None
        How finely it was computed; None for time-stepping, and where a file of an earlier version does not say.
    """

    dynamics: Dynamics = attrs.field(repr=False)
    parameters: Mapping[str, Any]
    arcs: tuple[Arc, ...] = attrs.field(repr=False)
    events: tuple[Event, ...]
    termination: Termination
    cause: str
    t_start: float
    q_start: Array = attrs.field(repr=False)
    v_start: Array = attrs.field(repr=False)
    t: float
    q: Array
    v: Array
    selection: Selection | None = attrs.field(default=None, repr=False)
    warnings: tuple[str, ...] = ()
    law: AbstractImpactLaw | None = None
    method: str = "event-driven"
    springs: Springs | None = None
    settings: Settings | None = attrs.field(default=None, repr=False)

    def sample(self, t: Any) -> tuple[Array, Array]:
        """Positions and velocities at any times of the motion; after the jump where two arcs meet.

        Parameters
        ----------
        t : array_like, (...)
            Between the start and the end of the motion.

        Returns
        -------
        q, v : array, (..., n)

        Raises
        ------
        ArgumentError
            For a time outside the motion.
        """
        try:
            times = np.asarray(t, dtype=float)
        except (TypeError, ValueError):
            raise ArgumentError(f"t must be a time or an array of times, not {t!r:.60}") from None
        flat = np.atleast_1d(times).ravel()
        if flat.size and not (flat.min() >= self.t_start and flat.max() <= self.t):
            raise ArgumentError(f"the motion lasts from t = {self.t_start:.12g} to {self.t:.12g}")
        n = self.dynamics.n
        q, v = np.tile(self.q, (flat.size, 1)), np.tile(self.v, (flat.size, 1))
        starts = np.array([arc.start for arc in self.arcs])
        which = np.searchsorted(starts, flat, side="right") - 1
        for index in np.unique(which[which >= 0]):
            chosen = which == index
            q[chosen], v[chosen] = self.arcs[index].sample(np.minimum(flat[chosen], self.arcs[index].end))
        at_end = flat == self.t
        q[at_end], v[at_end] = self.q, self.v
        return q.reshape(*times.shape, n), v.reshape(*times.shape, n)

    def forces(self, arc: Arc, t: Any) -> Observation:
        """Accelerations and contact forces within one arc of this motion.

        Parameters
        ----------
        arc : Arc
        t : array_like, (N,)
            Times within the arc, in s.

        Returns
        -------
        Observation
            Forces as they act, in the units of the declaration: those of friction elements are no longer counted from
            the middle of their range.
        """
        times = np.atleast_1d(np.asarray(t, dtype=float))
        found = self._observed(arc, times)
        if not self.dynamics.elements:
            return found
        # those of the flow are counted from the middle of their range
        q, v = arc.sample(times)
        mean = self.dynamics_at(arc.start).terms(q, v, t=times).mean_T
        return attrs.evolve(found, lambda_T=(found.lambda_T.T + mean).T) if mean.any() else found

    def _observed(self, arc: Arc, times: NDArray[np.float64]) -> Observation:
        if arc.means is not None:
            step = arc.step_of(times)
            return Observation(*(values[:, step] for values in attrs.astuple(arc.means, recurse=False)))
        if any(label is ContactMode.SLIDE for label in arc.mode.values()):
            # where a spatial slip begins or ends, friction has the direction of the slip a moment later or before
            ends = arc.knots[[1, -2]] - arc.knots[[0, -1]]
            times = np.clip(times, arc.start + MOMENT * ends[0], arc.end + MOMENT * ends[1])
        q, v = arc.sample(times)
        return self._flow(arc).observe(times, np.vstack([q.T, v.T]))

    def dynamics_at(self, t: float) -> Dynamics:
        """The mechanism that the motion follows from a time on.

        Parameters
        ----------
        t : float
            In s.

        Returns
        -------
        Dynamics
            That with the springs from the time of a hand-over on.
        """
        return self.dynamics if self.springs is None or t < self.springs.t else self.springs.dynamics

    def _flow(self, arc: Arc) -> Flow:
        dynamics = self.dynamics_at(arc.start)
        independent = self._constraints_are_independent(dynamics, arc)
        return make_flow(dynamics, arc.mode, force_signs=arc.force_signs, independent=independent)

    def _constraints_are_independent(self, dynamics: Dynamics, arc: Arc) -> bool:
        """As the run found where it began, so that its own kind of flow tells the forces."""
        if len(dynamics.rigid) < 2:
            return True
        is_first = dynamics is self.dynamics
        t, q = (self.t_start, self.q_start) if is_first else (arc.start, arc.sample(arc.start)[0])
        rank = rank_guard(dynamics, t, q)
        return rank is not None and rank.is_full


_NAMED_BY_MODES = (EventKind.DETACHMENT, EventKind.SLIP_START)
"""Kinds of events that the modes before and after tell from each other, whichever guards have fired."""
_PENDING = 8  # events at one instant: an impact, the accumulation it completes, a choice
_JUMPS = (EventKind.IMPACT, EventKind.PASSAGE, EventKind.ACCUMULATION)
LASTING = (*_JUMPS, EventKind.WATCH)
"""Kinds of events that are kept where the mode stays."""


def named_by_modes(event: Event, after: Mode | None) -> Event:
    """The event with its word and force elements as the modes before and after it tell.

    Where contact forces are not unique, the guards of all contacts that share them fire together. At a jump of a
    load several guards of one contact fall. Where a slide would be a paradox, a contact that sticks leaves at the edge
    of its friction cone.

    Parameters
    ----------
    event : Event
    after : Mode or None
        The mode that follows; None if the motion ends.

    Returns
    -------
    Event
        The same one where the modes tell nothing more.
    """
    if event.kind not in _NAMED_BY_MODES or event.mode_before is None or after is None:
        return event
    before = event.mode_before
    own, others = ([name for name in event.elements if (name in before) is is_own] for is_own in (True, False))
    changed = [name for name in own if before[name] is not after[name]]
    leaves = any(after[name] is ContactMode.FREE for name in changed)
    if not leaves and (not changed or (len(own) < 2 and len(event.guards) < 2)):
        return event
    return attrs.evolve(event, elements=(*changed, *others), kind=_NAMED_BY_MODES[0 if leaves else 1])


def complete(
    dynamics: Dynamics, events: list[Event], t: float, after: Mode | None, *, verdict: Verdict, note: str
) -> int:
    """Complete the last events with the mode that follows them, in place, and drop those that changed nothing.

    Parameters
    ----------
    dynamics : Dynamics
    events : list of Event
    t : float
        Of the decision.
    after : Mode or None
        None where the motion ends.
    verdict : Verdict
    note : str
        Of the decision, which joins those of the events.

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
        if after is not None and known.mode_before is not None and known.guards and not jumps:
            check_exit(dynamics, known.mode_before, known.guards, after, t=known.t)
        notes = "; ".join(part for part in (known.note, note) if part)
        events[at] = attrs.evolve(known, mode_after=after, verdict=verdict, note=notes)
        if after is not None and after == known.mode_before and known.kind not in LASTING:
            del events[at]
            dropped += 1
    return dropped
