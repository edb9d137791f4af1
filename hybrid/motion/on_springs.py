"""What follows a singular configuration at which springs take the place of rigid constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.dynamics.derive import derive
from hybrid.errors import ComputationError
from hybrid.motion.context import Choice
from hybrid.motion.rank_guard import rank_guard
from hybrid.motion.recorded import Event, EventKind, Termination
from hybrid.motion.run import Run
from hybrid.motion.singular_passage import describe_singular
from hybrid.motion.springs import Springs
from hybrid.motion.transitions import moment_after, moment_at_start

if TYPE_CHECKING:
    from hybrid.motion.context import Context
    from hybrid.motion.selecting import Moment
    from hybrid.motion.springs import ElasticRealisation
    from hybrid.motion.trajectory import Trajectory
    from hybrid.motion.watched_signs import WatchedSigns

__all__ = ["continued_on_springs"]

_Progress = Callable[[float, float], None]


def continued_on_springs(
    context: Context,
    signs: WatchedSigns,
    rigid: Trajectory,
    rule: ElasticRealisation,
    t_end: float,
    *,
    progress: _Progress | None = None,
) -> Trajectory:
    """Go on from the singular configuration at which a rigid motion ended, with springs.

    Parameters
    ----------
    context : Context
        That of the rigid motion.
    signs : WatchedSigns
        Signs of the user's functions where it ended.
    rigid : Trajectory
    rule : ElasticRealisation
    t_end : float
    progress : callable, optional
        Called with the time that has passed since the rigid motion's start, and the whole time.

    Returns
    -------
    Trajectory
        The rigid motion with its continuation: arcs from its end on follow ``springs.dynamics``. Where the springs
        cannot be followed at all, the rigid motion, and why.
    """
    try:
        realised = derive(rule.realised(rigid.dynamics.mechanism)).at(context.dynamics.given)
        springs = Springs(rigid.t, rule.names(rigid.dynamics.mechanism), realised)
        rank = rank_guard(realised, rigid.t, rigid.q)
        elastic = attrs.evolve(context, dynamics=realised, rank=rank, singular="stop", flows={})
        run = Run(elastic, t_end, progress=_since(progress, rigid.t - rigid.t_start), signs=signs)
        return _joined(rigid, run.follow(_moment(elastic, rigid)), springs)
    except KeyboardInterrupt:
        return _ended(rigid, Termination.INTERRUPTED, "")
    except ComputationError as error:
        return _ended(rigid, Termination.NOT_COMPUTED, str(error))


def _since(progress: _Progress | None, before: float) -> _Progress | None:
    return None if progress is None else lambda passed, whole: progress(before + passed, before + whole)


def _moment(context: Context, rigid: Trajectory) -> Moment:
    """The end of the rigid motion, with what its last arc tells of the contacts."""
    if not rigid.arcs:
        return moment_at_start(context, rigid.t, rigid.q, rigid.v, {})
    last = Choice(rigid.arcs[-1].mode, rigid.arcs[-1].force_signs)
    y = np.concatenate([rigid.q, rigid.v])
    return moment_after(context, last, context.flow(last).parts, (), rigid.t, y)


def _joined(rigid: Trajectory, elastic: Trajectory, springs: Springs) -> Trajectory:
    """Both motions as one, with the hand-over marked."""
    before = rigid.arcs[-1].mode if rigid.arcs else None
    after = elastic.arcs[0].mode if elastic.arcs else None
    note = describe_singular(rigid.dynamics.at(rigid.parameters), rigid.t, rigid.q)
    kind, elements = EventKind.SINGULAR_CONFIGURATION, rigid.dynamics.rigid
    event = Event(rigid.t, kind, elements, before, after, rigid.q, rigid.v, elastic.v_start)
    event = attrs.evolve(event, note=f"{note}; goes on with {springs.describe()}")
    events = [event for event in rigid.events if event.kind is not EventKind.SINGULAR_CONFIGURATION]
    return attrs.evolve(
        elastic,
        dynamics=rigid.dynamics,
        arcs=(*rigid.arcs, *elastic.arcs),
        events=(*events, event, *elastic.events),
        cause=f"{elastic.cause}; since t = {rigid.t:.12g} with {springs.describe()}",
        t_start=rigid.t_start,
        q_start=rigid.q_start,
        v_start=rigid.v_start,
        warnings=(*rigid.warnings, *elastic.warnings),
        springs=springs,
    )


def _ended(rigid: Trajectory, termination: Termination, detail: str) -> Trajectory:
    cause = f"{termination.value} where springs were to take over; {rigid.cause}"
    return attrs.evolve(rigid, termination=termination, cause=f"{cause}: {detail}" if detail else cause)
