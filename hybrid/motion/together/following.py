"""The loop: decide, step, take events, collide, until every motion has ended or is handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity, element_activities
from hybrid.contact.classification import CellVerdict, classify
from hybrid.dynamics.arithmetic import definiteness
from hybrid.dynamics.kinks import surface_kinks
from hybrid.dynamics.scales import scales_of
from hybrid.dynamics.state import States
from hybrid.motion.arguments import approach, penetration
from hybrid.motion.together.deciding import decide
from hybrid.motion.together.fleet import NOWHERE, Fleet, Stage
from hybrid.motion.together.stepping import ready, step
from hybrid.motion.together.transitions import begin, collide, take_events

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hybrid.contact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.arguments import Settings

__all__ = ["Starts", "follow_together"]

Array = NDArray[np.float64]

_BLOCK = 8192  # motions stepped at once: their stages stay in the cache
_SPATIAL = (Activity.SLIPPING, Activity.TENDING)


@attrs.frozen(eq=False)
class Starts:
    """Where motions start.

    Attributes
    ----------
    states : States
        N of them.
    varied : mapping of str to array, (N,)
        Parameters that differ.
    """

    states: States
    varied: Mapping[str, Array]


def follow_together(
    dynamics: Dynamics,
    starts: Starts,
    *,
    t_end: float,
    law: AbstractImpactLaw | None,
    settings: Settings,
    progress: Callable[[int], None] | None = None,
) -> Fleet:
    """Follow motions side by side.

    Every motion goes as :func:`hybrid.simulate` has it go, with events at the same zeros and modes by the same verdict,
    or it is handed over.

    Parameters
    ----------
    dynamics : Dynamics
        At the parameters that all have in common.
    starts : Starts
    t_end : float
        When every motion ends, in s.
    law : AbstractImpactLaw or None
    settings : Settings
    progress : callable, optional
        Called now and then with the number of motions that have ended.

    Returns
    -------
    Fleet
        Every motion has ended, or is handed over with a reason.
    """
    states = starts.states
    shape = states.shape
    q, v = (np.broadcast_to(array, (*shape, dynamics.n)) for array in (states.q, states.v))
    t = np.array(np.broadcast_to(states.t, shape), dtype=float)
    fleet = Fleet(dynamics, starts.varied, settings, t_end, t, np.ascontiguousarray(np.concatenate([q.T, v.T])))
    everyone = np.arange(shape[0])
    reached = np.broadcast_to(states.reached, shape) & np.isfinite(fleet.y).all(axis=0)
    reached &= fleet.t < t_end
    fleet.single_out(everyone[~reached], "a start that is refused, or has no posture")
    at_zero = reached & ~fleet.y.any(axis=0)  # errors are shares of sizes, which are not known before the motion
    fleet.single_out(everyone[at_zero], "a start at rest at zero")
    reached &= ~at_zero
    alone = {
        "rigid constraints": bool(dynamics.rigid),
        "slips that vanish from a side": bool(states.sides),
        "surfaces with kinks": surface_kinks(dynamics) is not None,
    }
    if any(alone.values()):
        fleet.single_out(everyone[reached], next(reason for reason, holds in alone.items() if holds))
        return fleet
    if reached.any():
        fleet.compile_seconds += ready()
        _start(fleet, everyone[reached], collides=law is not None)
    while _round(fleet, law):
        if progress is not None:
            progress(int(np.count_nonzero(fleet.stage >= Stage.ENDED)))
    _report_verdicts(fleet)
    return fleet


def _start(fleet: Fleet, lanes: NDArray[np.intp], *, collides: bool) -> None:
    dynamics, tolerances = fleet.at(lanes), fleet.settings.tolerances
    q, v, t = fleet.states(lanes)
    terms = dynamics.terms(q, v, t=t)
    heavy = np.broadcast_to(definiteness(terms.M) > tolerances.rank, lanes.shape)
    if not heavy.all():
        fleet.single_out(lanes[~heavy], "a mass matrix that is not positive definite")
        if heavy.any():
            _start(fleet, lanes[heavy], collides=collides)
        return
    scales = scales_of(dynamics, terms, q, v, t=t)
    activities = np.broadcast_to(
        element_activities(dynamics, terms, scales, sides={}, tolerances=tolerances), (len(lanes), len(fleet.names))
    )
    closed = np.broadcast_to(np.abs(terms.gap) <= tolerances.gap * scales.gap, (len(lanes), len(dynamics.contacts)))
    begin(fleet, lanes, activities, closed)
    fleet.single_out(lanes[np.isin(activities, _SPATIAL).any(axis=-1)], "slips in space")
    for index, name in enumerate(dynamics.contacts):
        waits = fleet.stage[lanes] == Stage.DECIDE
        within = waits & (activities[:, index] == Activity.PENETRATING)
        gaps = np.broadcast_to(terms.gap[..., index], lanes.shape)[within]
        fleet.refuse(lanes[within], [penetration(name, gap) for gap in gaps.tolist()])
        strikes = waits & (activities[:, index] == Activity.APPROACHING) & ~np.bool_(collides)
        rates = np.broadcast_to(terms.gap_dot[..., index], lanes.shape)[strikes]
        fleet.refuse(lanes[strikes], [approach(name, rate) for rate in rates.tolist()])


def _round(fleet: Fleet, law: AbstractImpactLaw | None) -> bool:
    """One step of every motion, and what its events ask for; False if none is left."""
    waiting = np.flatnonzero(fleet.stage == Stage.DECIDE)
    if len(waiting):
        approaching = (fleet.activities[:, waiting] == Activity.APPROACHING).any(axis=0)
        if approaching.any():
            collide(fleet, waiting[approaching], law)
        waiting = waiting[fleet.stage[waiting] == Stage.DECIDE]
    if len(waiting):
        decide(fleet, waiting)
    followed = np.flatnonzero(fleet.stage == Stage.FOLLOW)
    for mode in np.unique(fleet.mode[followed]).tolist():
        lanes = followed[fleet.mode[followed] == mode]
        for start in range(0, len(lanes), _BLOCK):
            take_events(fleet, step(fleet, mode, lanes[start : start + _BLOCK]))
    return len(followed) > 0 or bool((fleet.stage == Stage.DECIDE).any())


def _report_verdicts(fleet: Fleet) -> None:
    """The verdicts where motions ended, as far as the last decision has not found them."""
    lanes = np.flatnonzero((fleet.stage == Stage.ENDED) & (fleet.verdict == NOWHERE))
    if not len(lanes):
        return
    q, v, t = fleet.states(lanes)
    varied = {name: values[lanes] for name, values in fleet.varied.items()}
    found = classify(fleet.dynamics, States(q, v, t), parameters=varied, tolerances=fleet.settings.tolerances)
    fleet.verdict[lanes] = np.minimum(found.verdict, CellVerdict.UNDECIDED)
