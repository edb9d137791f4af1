"""Time-stepping as a cross-check of a motion: it knows no events (Moreau 1988; Jean 1999)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.contact.activity import Activity, activity_pattern, element_names
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.table import force_elements, has_stiction
from hybrid.dynamics import state_of
from hybrid.dynamics.derive import bound
from hybrid.dynamics.scales import scales_of
from hybrid.dynamics.state import posture
from hybrid.errors import HybridError, StateError
from hybrid.motion.arguments import check_arguments, check_start
from hybrid.motion.context import PointTerms
from hybrid.motion.failure import in_words
from hybrid.motion.numeric import Observation
from hybrid.motion.projection import Constraints
from hybrid.motion.recorded import Arc, Event, EventKind, Termination
from hybrid.motion.trajectory import Trajectory, open_balance
from hybrid.motion.velocity_step import VelocityStep, velocity_step
from hybrid.progress import OnInterrupt, comes_to_its_end, keeps_partial
from hybrid.tolerances import NOTHING, Tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.state import State

__all__ = ["time_stepping"]

Array = NDArray[np.float64]

_UNSOLVED = (
    "no impulses were found that obey the laws of contact and friction and that more than rounding decides "
    "(that there are none is not shown)"
)
_MOST_STEPS = 10_000_000  # a gigabyte for a few coordinates


@attrs.define(eq=False)
class _Record:
    """The steps made so far."""

    dynamics: Dynamics
    h: float
    t: list[float]
    q: list[Array]
    v: list[Array]
    middle: list[Array] = attrs.field(factory=list)
    steps: list[VelocityStep] = attrs.field(factory=list)
    modes: list[Mode] = attrs.field(factory=list)
    ending: tuple[Termination, str] | None = None


@checks_arguments
def time_stepping(
    dynamics: Dynamics,
    state: State | Mapping[str, str | float],
    *,
    t_end: float,
    step: float,
    parameters: Values | None = None,
    progress: Callable[[float, float], None] | None = None,
    tolerances: Tolerances = Tolerances(),
    on_interrupt: OnInterrupt = "raise",
) -> Trajectory:
    """Follow a motion by Moreau's midpoint scheme, contact and friction as one complementarity problem a step.

    Accurate to first order in the step. Steps in the same mode form an arc, with the mean contact forces of every
    step; an event stands at the start of the step in which the mode changes or a contact closes. The work of normal
    impulses is what the balance of energy calls impacts.

    Parameters
    ----------
    dynamics : Dynamics
    state : State, or mapping of str to float or str
        Pins stand for the state that they fix (:func:`hybrid.solve_state`).
    t_end : float
        When to stop, in s.
    step : float
        Time step in s, at most; where it does not divide the time, all are shorter, and ``warnings`` say by how much.
    parameters : mapping, optional
    progress : callable, optional
        Called with the time that has passed and the whole time.
    tolerances : Tolerances, optional
    on_interrupt : {"raise", "keep"}, optional
        As for :func:`hybrid.simulate`.

    Returns
    -------
    Trajectory
        Up to the first step for which no impulses are found, if there is one.

    Raises
    ------
    ComputationError
        For bilateral constraints with friction next to spatial contacts.
    StateError
        As :func:`hybrid.simulate`: a start that is no state, that penetrates a contact or violates a constraint; or a
        time that does not advance.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> motion = time_stepping(ball, State([0.0], [0.0]), t_end=0.1, step=0.01)
    >>> round(float(motion.q[0]), 15), motion.arcs[0].mode.label
    (0.0, 'closed')
    """
    dynamics = bound(dynamics, parameters)
    state = state_of(dynamics, state, tolerances=tolerances)
    if not (math.isfinite(step) and step > 0):
        raise StateError(f"step must be a positive time, not {step:g}")
    check_arguments(dynamics, state, t_end=t_end, tolerances=tolerances)
    if (t_end - state.t) / step < 1.0 - NOTHING:
        raise StateError(f"step {step:g} is longer than the motion, which takes {t_end - state.t:g}")
    persisting = _persisting(dynamics, state, tolerances)
    keeps = keeps_partial(on_interrupt)
    count = max(1, math.ceil((t_end - state.t) / step - NOTHING))
    if count > _MOST_STEPS:
        least = (t_end - state.t) / _MOST_STEPS
        raise StateError(f"{count:.3g} steps of {step:g} are too many: take steps of at least {least:.3g}")
    h = (t_end - state.t) / count
    record = _Record(dynamics, h, [state.t], [np.array(state.q)], [np.array(state.v)])
    try:
        if not comes_to_its_end(
            lambda: _march(record, float(t_end), count, persisting, tolerances, progress), keeps=keeps
        ):
            record.ending = (Termination.INTERRUPTED, "")
    except (HybridError, ArithmeticError, ValueError) as error:
        if not record.steps:
            raise
        record.ending = (Termination.NOT_COMPUTED, in_words(error))
    motion = _trajectory(record)
    if abs(h - step) <= NOTHING * step:
        return motion
    shortened = f"{step:.10g} does not divide the time: every step is {h:.10g}"
    return attrs.evolve(motion, warnings=(shortened, *motion.warnings))


def _persisting(dynamics: Dynamics, state: State, tolerances: Tolerances) -> frozenset[str]:
    """Contacts that are closed at a start, which must be admissible."""
    terms = dynamics.terms(state.q, state.v, t=state.t)
    scales = scales_of(dynamics, terms, state.q, state.v, t=state.t)
    found = activity_pattern(dynamics, terms, scales, sides=state.sides, tolerances=tolerances)
    activities = dict(zip(element_names(dynamics), found, strict=True))
    check_start(dynamics, state, activities, collides=True, tolerances=tolerances)
    apart = (Activity.OPEN, Activity.APPROACHING)
    return frozenset(name for name in dynamics.contacts if activities[name] not in apart)


def _march(
    record: _Record,
    t_end: float,
    count: int,
    persisting: frozenset[str],
    tolerances: Tolerances,
    progress: Callable[[float, float], None] | None,
) -> None:
    dynamics, h = record.dynamics, record.h
    terms_at = PointTerms(dynamics)
    held = Constraints(dynamics, (), terms_at)
    start = record.t[0]
    made: VelocityStep | None = None
    for index in range(count):
        q, v = record.q[-1], record.v[-1]
        middle, t = q + h / 2 * v, start + (index + 0.5) * h
        terms = terms_at(t, middle, v)
        undefined = terms.undefined
        if undefined is not None:
            record.ending = (Termination.UNDEFINED, f"{undefined} is undefined at the middle of the step, t = {t:.12g}")
            return
        made = velocity_step(dynamics, terms, v, h, persisting=persisting, tolerances=tolerances, before=made)
        persisting = frozenset(name for name in dynamics.contacts if made.labels[name] is not ContactMode.FREE)
        if not np.isfinite(made.change).all():
            record.ending = (Termination.SINGULAR_MASS, f"at the middle of the step, t = {t:.12g}")
            return
        end = start + (index + 1) * h if index + 1 < count else t_end  # to the bit
        if not made.is_solved:
            record.ending = (Termination.NOT_COMPUTED, f"{_UNSOLVED} in the step to t = {end:.12g}")
            return
        q, v = held.project(end, middle + h / 2 * (v + made.change), v + made.change)
        record.t.append(end)
        record.q.append(q)
        record.v.append(v)
        record.middle.append(middle)
        record.modes.append(Mode(made.labels))
        record.steps.append(made)
        if progress is not None:
            progress(end - start, t_end - start)


def _trajectory(record: _Record) -> Trajectory:
    done = len(record.steps)
    modes = record.modes
    firsts = [index for index in range(done) if index == 0 or modes[index] != modes[index - 1]]
    arcs = tuple(_arc(record, first, last) for first, last in zip(firsts, [*firsts[1:], done], strict=False))
    termination, detail = record.ending or (Termination.END_TIME, "")
    cause = f"{termination.value} at t = {record.t[done]:.12g} ({posture(record.dynamics, record.q[done])})"
    motion = Trajectory(
        dynamics=record.dynamics,
        parameters=record.dynamics.given,
        arcs=arcs,
        events=tuple(event for index in range(done) for event in _events(record, index)),
        termination=termination,
        cause=f"{cause}: {detail}" if detail else cause,
        t_start=record.t[0],
        q_start=record.q[0],
        v_start=record.v[0],
        t=record.t[done],
        q=record.q[done],
        v=record.v[done],
        warnings=_unheard(record),
        method="time-stepping",
    )
    with np.errstate(all="ignore"):
        return attrs.evolve(motion, warnings=(*motion.warnings, *open_balance(motion, motion.energy())))


def _unheard(record: _Record) -> tuple[str, ...]:
    """What steps do not know: static friction above the kinetic one, and which of several motions they follow."""
    dynamics = record.dynamics
    terms = dynamics.terms(np.array(record.q), np.array(record.v), t=np.array(record.t))
    differs = [item.name for item in force_elements(dynamics) if np.any(has_stiction(terms, item))]
    found = [f"time-stepping has no static friction beyond the kinetic one: {', '.join(differs)} slips earlier"]
    first: dict[str, float] = {}
    for t, step in zip(record.t, record.steps, strict=False):
        if step.doubt:
            first.setdefault(step.doubt, t)
    found += [
        f"{doubt} at t = {t:.10g}: the problem of a step may have several solutions or none there, and which motion is "
        "followed may depend on the step"
        for doubt, t in first.items()
    ]
    return tuple(found if differs else found[1:])


def _arc(record: _Record, first: int, last: int) -> Arc:
    """Steps in one mode: parabolas of position through the middle, lines of velocity."""
    q, v = np.array(record.q[first : last + 1]), np.array(record.v[first : last + 1])
    middle = np.array(record.middle[first:last])
    mean = (q[:-1] + q[1:]) / 2
    positions = np.stack([(mean + middle) / 2, (q[1:] - q[:-1]) / 2, (mean - middle) / 2], axis=1)
    velocities = np.stack([(v[:-1] + v[1:]) / 2, (v[1:] - v[:-1]) / 2, np.zeros_like(middle)], axis=1)
    steps, h = record.steps[first:last], record.h
    means = Observation(
        acceleration=(v[1:] - v[:-1]).T / h,
        lambda_N=np.array([step.impulse_N for step in steps]).T / h,
        lambda_T=np.array([step.impulse_T for step in steps]).T / h,
        guards=np.zeros((0, len(steps))),
    )
    knots = np.array(record.t[first : last + 1])
    return Arc(record.modes[first], knots, np.concatenate([positions, velocities], axis=2), means=means)


def _events(record: _Record, index: int) -> list[Event]:
    """What a step changes: contacts that close or open, slip that starts or ends."""
    if index == 0:
        return []
    before, after = record.modes[index - 1], record.modes[index]
    struck = tuple(name for name in record.dynamics.contacts if _closes(record, index, name))
    found: dict[EventKind, list[str]] = {EventKind.IMPACT: list(struck)}
    for name, label in after.items():
        if name in struck or label == before[name]:
            continue
        if label is ContactMode.FREE:
            kind = EventKind.DETACHMENT
        else:
            kind = EventKind.SLIP_END if label is ContactMode.STICK else EventKind.SLIP_START
        found.setdefault(kind, []).append(name)
    return [
        Event(record.t[index], kind, tuple(names), before, after, record.q[index], record.v[index], record.v[index + 1])
        for kind, names in found.items()
        if names
    ]


def _closes(record: _Record, index: int, name: str) -> bool:
    return record.modes[index - 1][name] is ContactMode.FREE and name in record.steps[index].touched
