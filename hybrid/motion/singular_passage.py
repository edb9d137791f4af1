"""What an arc does when its rigid constraints are about to become dependent: end there, go through, or go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import GuardKind
from hybrid.dynamics.configuration import ConfigurationSpace
from hybrid.dynamics.singular_points import SingularPoint, classify_configuration
from hybrid.errors import ComputationError
from hybrid.motion.arcs import FollowedArc
from hybrid.motion.crossing import cross
from hybrid.motion.events import first_event
from hybrid.motion.outcome import Event, EventKind
from hybrid.motion.steps import Step, resampled

if TYPE_CHECKING:
    from hybrid.contact.modes import Mode
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.context import Choice, Context
    from hybrid.motion.events import Watch
    from hybrid.motion.projection import Constraints
    from hybrid.motion.rank_guard import RankGuard
    from hybrid.motion.selecting import Moment
    from hybrid.motion.trajectory import Trajectory

__all__ = ["describe_singular", "loses_rank", "pass_singular", "singular_end", "singular_points_of"]

Array = NDArray[np.float64]


def loses_rank(passage: FollowedArc) -> bool:
    """True if an arc ended because its constraints are nearly dependent.

    Parameters
    ----------
    passage : FollowedArc

    Returns
    -------
    bool
    """
    return any(guard.kind is GuardKind.RANK for guard in passage.fired)


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
            springs = motion.handed_over
            dynamics = motion.dynamics if springs is None or event.t <= springs.t else springs.dynamics
            point = classify_configuration(ConfigurationSpace(dynamics.at(motion.parameters), event.t), event.q)
            if point is None:
                raise ComputationError(f"the constraints keep their rank at t = {event.t:.12g} up to rounding")
            found.append(point)
    return tuple(found)
