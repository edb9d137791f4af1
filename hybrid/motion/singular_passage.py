"""What an arc does when its rigid constraints are about to become dependent: end there, go through, or go on.

The smooth motion through a singular configuration, where accelerations are the quotient of two zeros.

Along a smooth branch the motion is an analytic function of time, although the constraints do not give its acceleration
at the singular configuration itself. It is found by collocation over a window that is centred there: the acceleration
is a polynomial through its values in the outer parts of the window, on the branch, and is interpolated in between.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.dynamics.configuration import ConfigurationSpace
from hybrid.dynamics.singular_points import SingularPoint, classify_configuration
from hybrid.errors import ComputationError
from hybrid.motion.arcs import FollowedArc
from hybrid.motion.events import first_event
from hybrid.motion.recorded import Event, EventKind
from hybrid.motion.steps import Step, resampled, step_along
from hybrid.tolerances import NOTHING, ROOT, SUMMED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.contact.modes import Mode
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.context import Choice, Context
    from hybrid.motion.events import Watch
    from hybrid.motion.numeric import Flow
    from hybrid.motion.projection import Constraints
    from hybrid.motion.rank_guard import RankGuard
    from hybrid.motion.selecting import Moment
    from hybrid.motion.trajectory import Trajectory

__all__ = [
    "SingularCrossing",
    "cross",
    "describe_singular",
    "pass_singular",
    "singular_end",
    "singular_points_of",
]


Array = NDArray[np.float64]

_GAP = 0.35  # inner part of the window in which no acceleration is evaluated: the constraints lose digits there
_DEGREE = 15
_PER_SIDE = 12
_ROUNDS = 60
_ATTEMPTS = 4
_SETTLED = SUMMED
_SMOOTH = ROOT  # what a window may lack, relative to its size, and still be the smooth motion
_CENTRED = 0.1
_ROOT_ROUNDS = 20
_PIECES = 3

_S = np.cos((2 * np.arange(_PER_SIDE) + 1) * np.pi / (2 * _PER_SIDE))
_OUTER: Array = np.concatenate([side * (1 + _GAP) / 2 + _S[::-1] * (1 - _GAP) / 2 for side in (-1, 1)])
_FIT: Array = np.asarray(np.linalg.pinv(chebyshev.chebvander(_OUTER, _DEGREE)), dtype=float)


@attrs.frozen(eq=False)
class SingularCrossing:
    """The motion through a singular configuration.

    Attributes
    ----------
    t : float
        When it is singular.
    q, v : array, (n,)
        Position and velocity then.
    before, after : tuple of Step
        The motion up to then and on from there.
    """

    t: float
    q: Array
    v: Array
    before: tuple[Step, ...]
    after: tuple[Step, ...]


@attrs.frozen(eq=False)
class _Window:
    """Accelerations as Chebyshev series in ``s = (t - start)/half - 1`` from a state on."""

    start: float
    half: float
    q: Array
    v: Array
    series: Array  # (degree + 1, n)

    def states(self, t: Array) -> Array:
        """``(q, v)`` at times, (2n, N)."""
        s = (t - self.start) / self.half - 1
        rate = chebyshev.chebint(self.series, lbnd=-1, axis=0) * self.half
        rate[0] += self.v
        place = chebyshev.chebint(rate, lbnd=-1, axis=0) * self.half
        place[0] += self.q
        return np.concatenate([chebyshev.chebval(s, place), chebyshev.chebval(s, rate)])

    @property
    def times(self) -> Array:
        """Where accelerations are evaluated."""
        return np.asarray(self.start + self.half * (1 + _OUTER))


def cross(
    flow: Flow, constraints: Constraints, guard: RankGuard, steps: Sequence[Step], t: float, y: Array
) -> SingularCrossing | None:
    """Continue a motion smoothly through the singular configuration that is ahead.

    Parameters
    ----------
    flow : Flow
    constraints : Constraints
    guard : RankGuard
    steps : sequence of Step
        The motion that leads there.
    t : float
    y : array, (2n,)
        Where it has come to.

    Returns
    -------
    SingularCrossing or None
        None if there is no singular configuration ahead, or no smooth motion through it.
    """
    half = _time_left(guard, steps, t)
    for _ in range(_ATTEMPTS):
        if half is None or not np.isfinite(half) or half <= 0.0:
            return None
        with np.errstate(all="ignore"):  # an iterate may stray far before it is given up
            window = _collocated(flow, constraints, _start(flow, steps, t, y, half))
        if window is None:
            half *= 0.5
            continue
        centre = _singular_place(guard, window.times, _placed(constraints, window)[:, : len(window.q)])
        if centre is None:
            return None
        if abs(centre) <= _CENTRED:
            return _crossing(guard, window, t + half * (1 + centre))
        half *= 1 + centre
    return None


def _time_left(guard: RankGuard, steps: Sequence[Step], t: float) -> float | None:
    """Time until the guard's size vanishes as ``(t_s - t)^p``: its logarithmic derivative is ``p/(t_s - t)``."""
    step = next((step for step in reversed(steps) if step.end > step.start), None)
    if step is None:
        return None
    s = np.array([0.5, 0.75, 1.0]) if step.end >= t else np.array([0.0, 0.5, 1.0])
    width = 1e-4
    n = guard.space.n

    def sizes(places: Array) -> Array:
        return guard.sizes(step.time(places), step.at(places)[:n].T)

    at = s - width
    rates = (sizes(at + width) - sizes(at - width)) / (2 * width * (step.end - step.start))
    inverse = sizes(at) / rates  # -(t_s - t)/p
    slope = float(np.polyfit(step.time(at), inverse, 1)[0])
    return -float(inverse[-1]) / slope if slope > 0.0 and rates[-1] < 0.0 else None


def _start(flow: Flow, steps: Sequence[Step], t: float, y: Array, half: float) -> _Window:
    """A window whose acceleration goes on as it did before."""
    n = len(y) // 2
    times, states = [], []
    for step in reversed(steps):
        if step.end > step.start:
            s = np.linspace(0.0, 1.0, 5)
            times.append(step.time(s))
            states.append(step.at(s))
        if step.start < t - half:
            break
    all_times, all_states = np.concatenate(times), np.concatenate(states, axis=1)
    recent = all_times >= t - half
    acceleration = flow.observe(all_times[recent], all_states[:, recent]).acceleration
    degree = min(4, max(len(set(all_times[recent].tolist())) - 2, 0))
    series = chebyshev.chebfit((all_times[recent] - t) / half - 1, acceleration.T, degree)
    return _Window(t, half, y[:n], y[n:], np.vstack([series, np.zeros((_DEGREE - degree, n))]))


def _collocated(flow: Flow, constraints: Constraints, window: _Window) -> _Window | None:
    """Picard's iteration of the acceleration, on the constraints; None where it finds no smooth motion."""
    n = len(window.q)
    for _ in range(_ROUNDS):
        placed = _placed(constraints, window)
        if not np.isfinite(placed).all():
            return None
        try:
            rates = np.array([flow.derivative(t, y)[n:] for t, y in zip(window.times, placed, strict=True)])
        except (ValueError, ArithmeticError, TypeError):  # undefined there, as in a step of the integrator
            return None
        if not np.isfinite(rates).all():
            return None
        series = _FIT @ rates
        change = float(np.max(np.abs(series - window.series)))
        window = attrs.evolve(window, series=series)
        if change <= _SETTLED * (1.0 + float(np.max(np.abs(series)))) / window.half:
            break
    return window if _is_smooth(constraints, window) else None


def _placed(constraints: Constraints, window: _Window) -> Array:
    """The window's states, brought back onto the constraints, (N, 2n)."""
    n = len(window.q)
    states = window.states(window.times).T
    return np.array(
        [np.concatenate(constraints.project(t, y[:n], y[n:])) for t, y in zip(window.times, states, strict=True)]
    )


def _is_smooth(constraints: Constraints, window: _Window) -> bool:
    """True if the window's motion satisfies the constraints by itself and its last terms are small."""
    n = len(window.q)
    states = window.states(window.times).T
    moved = np.abs(_placed(constraints, window) - states)[:, :n]
    travelled = float(np.max(np.abs(states[:, :n] - window.q)))
    tail = float(np.max(np.abs(window.series[-2:]))) * window.half**2
    return bool(max(float(np.max(moved)), tail) <= _SMOOTH * travelled)


def _singular_place(guard: RankGuard, t: Array, q: Array) -> float | None:
    """Where in the window the rank is lost: the Jacobian's oriented measure vanishes there as ``(s - s_0)^p``.

    Its root of order ``p`` with a sign is smooth and has a simple zero, whose place keeps the digits.
    """
    measure = _oriented(guard, t, q)
    place = 0.0
    for _ in range(_ROOT_ROUNDS):
        distance = _OUTER - place
        with np.errstate(divide="ignore"):
            slope = np.polyfit(np.log(np.abs(distance)), np.log(np.abs(measure)), 1)[0]
        power = max(round(float(slope)), 1)
        root = np.sign(distance) * np.abs(measure) ** (1 / power)
        if (np.sign(measure) != np.sign(distance) ** power).any():  # it lies elsewhere, if anywhere
            return float(_OUTER[np.argmin(np.abs(measure))])
        series = _FIT @ root
        zeros = chebyshev.chebroots(series)
        real = zeros.real[(np.abs(zeros.imag) < NOTHING) & (np.abs(zeros.real) < _GAP)]
        if len(real) != 1:
            return None
        moved, place = abs(float(real[0]) - place), float(real[0])
        if moved <= _SETTLED:
            break
    return place if np.max(np.abs(chebyshev.chebval(_OUTER, series) - root)) <= _SMOOTH * np.max(np.abs(root)) else None


def _oriented(guard: RankGuard, t: Array, q: Array) -> Array:
    """``det(U^T J(s) M^-1 J(1)^T U)`` in the outer parts, with the independent rows U at the end of the window."""
    J = guard.jacobians(t, q)
    last = J[-1]
    independent = np.linalg.svd(last)[0][:, : guard.rank]
    products = np.swapaxes(independent, 0, 1) @ J @ guard.metric @ last.T @ independent
    return np.asarray(np.linalg.det(products))


def _crossing(guard: RankGuard, window: _Window, t: float) -> SingularCrossing | None:
    n = len(window.q)
    state = window.states(np.array([t]))[:, 0]
    space = attrs.evolve(guard.space, t=t)
    if not space.contains(state[:n]):
        return None

    def pieces(start: float, end: float) -> tuple[Step, ...]:
        knots = np.linspace(start, end, _PIECES + 1).tolist()
        return tuple(step_along(window.states, a, b) for a, b in pairwise(knots))

    return SingularCrossing(t, state[:n], state[n:], pieces(window.start, t), pieces(t, window.start + 2 * window.half))


def pass_singular(
    context: Context, rank: RankGuard, choice: Choice, constraints: Constraints, passage: FollowedArc, t_end: float
) -> tuple[FollowedArc, Event | None]:
    """What becomes of an arc whose constraints are nearly dependent.

    Parameters
    ----------
    context : Context
    rank : RankGuard
        What has fired.
    choice : Choice
        What is followed.
    constraints : Constraints
    passage : FollowedArc
        The arc so far.
    t_end : float

    Returns
    -------
    passage : FollowedArc
        Ends at the singular configuration with that guard fired; or beyond it, without, where the rule is to go on
        smoothly; or where it ended, without, where there is no such configuration.
    event : Event or None
        The passage through a singular configuration.
    """
    crossing = cross(context.flow(choice), constraints, rank, passage.steps, passage.t, passage.y)
    if crossing is None:
        return attrs.evolve(passage, fired=()), None
    first, n = passage.steps[0], context.dynamics.n
    others = context.watch(choice, first.start, first.first[:n], first.first[n:], with_rank=False)
    reached = _along(others, passage, crossing.before, t_end)
    if reached.fired or reached.t < crossing.t:
        return reached, None
    if context.singular == "stop":
        return attrs.evolve(reached, y=np.concatenate([crossing.q, crossing.v]), fired=passage.fired), None
    note = f"{describe_singular(context.dynamics, crossing.t, crossing.q)}; passed smoothly"
    event = Event(
        crossing.t, EventKind.SINGULAR_CONFIGURATION, context.dynamics.rigid, choice.mode, choice.mode, crossing.q,
        crossing.v, crossing.v, note=note,
    )  # fmt: skip
    return _along(others, reached, crossing.after, t_end), event


def _along(watch: Watch, passage: FollowedArc, steps: tuple[Step, ...], t_end: float) -> FollowedArc:
    """Go on along known steps until a guard fires or the time ends."""
    taken = list(passage.steps)
    for known in steps:
        if known.start >= t_end:
            break
        step = known if known.end <= t_end else resampled(known, t_end)
        found = first_event(watch, step, is_first=False, repeats=False)
        taken.append(step if found is None else found[0])
        if found is not None:
            return FollowedArc(tuple(taken), taken[-1].end, taken[-1].last, found[1])
    return FollowedArc(tuple(taken), taken[-1].end, taken[-1].last)


def singular_end(context: Context, passage: FollowedArc, mode: Mode, moment: Moment) -> tuple[Event, Moment]:
    """The event and the moment at which a motion ends at a singular configuration.

    The state stays as it is: the constraints give no correction of it there.

    Parameters
    ----------
    context : Context
    passage : FollowedArc
        The arc that ended there.
    mode : Mode
        What was followed.
    moment : Moment
        With which the arc began.

    Returns
    -------
    event : Event
    moment : Moment
    """
    n = context.dynamics.n
    q, v = passage.y[:n], passage.y[n:]
    note = describe_singular(context.dynamics, passage.t, q)
    kind, elements = EventKind.SINGULAR_CONFIGURATION, context.dynamics.rigid
    return Event(passage.t, kind, elements, mode, None, q, v, v, note=note), attrs.evolve(moment, t=passage.t, q=q, v=v)


def describe_singular(dynamics: Dynamics, t: float, q: Array) -> str:
    """A singular configuration and its branches in one sentence.

    Parameters
    ----------
    dynamics : Dynamics
    t : float
    q : array, (n,)
        At the configuration, or next to it.

    Returns
    -------
    str
    """
    point = classify_configuration(ConfigurationSpace(dynamics, t), q)
    return "the constraints are dependent" if point is None else point.describe()


@checks_arguments
def singular_points_of(motion: Trajectory) -> tuple[SingularPoint, ...]:
    """The singular configurations that a motion met, with their branches.

    Parameters
    ----------
    motion : Trajectory

    Returns
    -------
    tuple of SingularPoint
        In order of time; the last one is where it ended, if it stopped at one.

    Raises
    ------
    ComputationError
        One of them cannot be classified.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, simulate, solve_state
    >>> pendulum = derive(mechanisms.load("singular_pendulum"))
    >>> start = solve_state(pendulum, {"u": 0.5, "u_dot": 0})
    >>> motion = simulate(pendulum, start, t_end=2)
    >>> motion.termination.name, round(motion.t, 9)
    ('SINGULAR_CONFIGURATION', 0.737896267)
    >>> [point.kind.value for point in singular_points_of(motion)]
    ['transversal crossing']
    """
    found = []
    for event in motion.events:
        if event.kind is EventKind.SINGULAR_CONFIGURATION:
            springs = motion.springs
            dynamics = motion.dynamics if springs is None or event.t <= springs.t else springs.dynamics
            point = classify_configuration(ConfigurationSpace(dynamics.at(motion.parameters), event.t), event.q)
            if point is None:
                raise ComputationError(f"the constraints keep their rank at t = {event.t:.12g} up to rounding")
            found.append(point)
    return tuple(found)
