"""Accumulations of impacts: completed where they end, said where they may begin.

Accumulations of impacts: their limit by extrapolation.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity, element_names
from hybrid.contact.impacts.impact import resolve_impact
from hybrid.contact.impacts.laws import AbstractRestitutionLaw, NewtonImpact
from hybrid.contact.impacts.reverse_chatter import reverse_chatter
from hybrid.contact.modes import ContactMode
from hybrid.contact.problem import pose
from hybrid.dynamics.state import State
from hybrid.motion.recorded import Event, EventKind
from hybrid.motion.transitions import SLIPPING, closed_again
from hybrid.tolerances import CANCELLED, INTEGRATED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.dynamics.equations import Terms
    from hybrid.motion.context import Context
    from hybrid.motion.recorded import Arc
    from hybrid.motion.selecting import Moment

Array = NDArray[np.float64]

_FLIGHTS = 5  # durations that must shrink alike
_ALIKE = 0.05  # change of the ratio allowed, relative to its distance from 1


@attrs.frozen
class Accumulation:
    """A convergent sequence of impact times.

    Attributes
    ----------
    t : float
        Its limit.
    ratio : float
        Of successive durations.
    rest : float
        Time from the last impact to the limit.
    elapsed : float
        Time from the first impact of the sequence to the limit.
    """

    t: float
    ratio: float
    rest: float
    elapsed: float


def accumulation(times: Sequence[float]) -> Accumulation | None:
    """Recognise a sequence whose durations shrink geometrically and extrapolate it (Aitken's process).

    Parameters
    ----------
    times : sequence of float
        Times of the impacts of one contact, ascending.

    Returns
    -------
    Accumulation or None

    Examples
    --------
    >>> found = accumulation([2 - 2.0**-j for j in range(12)])
    >>> found.t, found.ratio
    (2.0, 0.5)
    """
    durations = [later - earlier for earlier, later in pairwise(times)]
    first = len(durations)
    while first > 1 and 0.0 < durations[first - 1] < durations[first - 2]:
        first -= 1
    durations = durations[max(first - 1, 0) :]
    if len(durations) < _FLIGHTS or not durations[-1] > 0.0:
        return None
    recent = durations[-_FLIGHTS:]
    ratios = [later / earlier for earlier, later in pairwise(recent)]
    ratio = ratios[-1]
    if not ratio < 1.0 or max(ratios) - min(ratios) > _ALIKE * (1.0 - ratio):
        return None
    rest = durations[-1] * ratio / (1.0 - ratio)
    return Accumulation(times[-1] + rest, ratio, rest, sum(durations) + rest)


def is_accumulating(times: Sequence[float], last: int) -> bool:
    """True if impacts accumulate where they did already without the last of them.

    Bounces that become shorter without end, but not geometrically, as between surfaces that close in, push
    the extrapolated limit before them.

    Parameters
    ----------
    times : sequence of float
        Times of the impacts of one contact, ascending.
    last : int
        So many are left out.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_accumulating([2 - 2.0**-j for j in range(24)], 10), is_accumulating([1 - 1 / j for j in range(1, 400)], 200)
    (True, False)
    """
    earlier, now = accumulation(times[: len(times) - last]), accumulation(times)
    return earlier is not None and now is not None and abs(now.t - earlier.t) <= _ALIKE * earlier.rest


def limits_in_order(times: Array, are_limits: NDArray[np.bool_]) -> Array:
    """Times of events with those of accumulations no later than what follows them.

    The mode after an accumulation begins at its last impact that was computed. An event may come before the limit
    of the impacts that were left out; it comes within the time that they would have lasted.

    Parameters
    ----------
    times : array, (N,)
        Of events in the order in which they were met.
    are_limits : array of bool, (N,)
        Which are accumulations, and not the last of a motion.

    Returns
    -------
    array, (N,)

    Examples
    --------
    >>> limits_in_order(np.array([1.0, 3.0, 2.0]), np.array([False, True, False])).tolist()
    [1.0, 2.0, 2.0]
    """
    times = times.copy()
    while len(late := np.flatnonzero(are_limits[:-1] & (times[:-1] > times[1:]))):
        times[late] = times[late + 1]
    return times


_INSTANTS = 3
_AN_INSTANT = INTEGRATED  # of the time of the sequence: what event times are told apart by
_STRIKES = 5000  # single impacts at one instant: velocities that shrink by 0.4 percent each are below 1e-9 by then
_APART = (Activity.OPEN, Activity.APPROACHING)
_SLIGHT = CANCELLED  # of the energy that free fall gains in the time of the sequence


def completed(
    context: Context, moment: Moment, impacts: Mapping[str, list[float]], t_end: float
) -> tuple[Moment, Event | None]:
    """The moment itself, or what follows the impacts that accumulate right after it.

    The closed mode begins at the last impact that was computed; what the remaining bounces would add is below rounding.
    Where only their durations are, as of a ball squeezed between two others, the impacts that are left are made at
    once. The event carries the limit time.

    Parameters
    ----------
    context : Context
    moment : Moment
        After an impact.
    impacts : mapping of str to list of float
        Times of the impacts of every contact; emptied for those that come to rest.
    t_end : float

    Returns
    -------
    Moment, Event or None
    """
    found: dict[str, Accumulation] = {}
    for name, times in impacts.items():
        limit = accumulation(times) if times and times[-1] == moment.t else None
        if limit is None or not limit.t < t_end:
            continue
        # where every bounce has become too low for floating point, all that is left is to tell when the last would end
        is_near = limit.rest <= context.settings.zeno_rest * limit.elapsed
        if is_near or not _any_open(moment, impacts, limit.t - limit.elapsed):
            found[name] = limit
    if not found:
        return moment, None
    limit = max(found.values(), key=lambda item: item.t)
    terms = context.terms(moment.t, moment.q, moment.v)
    reached = _rested(context, moment, set(found))
    if not _is_slight(terms, reached.v - moment.v, limit.elapsed):
        # velocities that fall more slowly than the times between impacts are not small yet when time stands still
        converging = _converging(impacts, limit)
        if not limit.rest <= _AN_INSTANT * limit.elapsed or not converging:
            return moment, None
        found |= converging
        at_once = _struck(context, moment, set(found))
        if at_once is None:
            return moment, None
        reached = _rested(context, attrs.evolve(moment, v=at_once), set(found))
        if not _is_slight(terms, reached.v - at_once, limit.elapsed):
            return moment, None
    count = max(len(impacts[name]) for name in found)
    note = f"{count} impacts; their durations shrink by the factor {limit.ratio:.6g}"
    event = Event(limit.t, EventKind.ACCUMULATION, tuple(found), None, None, reached.q, moment.v, reached.v, note=note)
    for name in found:
        impacts[name].clear()
    return attrs.evolve(reached, held=moment.held | reached.held), event


def _rested(context: Context, moment: Moment, names: set[str]) -> Moment:
    """The moment with some contacts closed."""
    slipping = {name for name, activity in moment.activities.items() if activity in SLIPPING}
    return closed_again(context, moment.activities, slipping | names, moment.t, moment.q, moment.v)


def _converging(impacts: Mapping[str, list[float]], limit: Accumulation) -> dict[str, Accumulation]:
    """All sequences of impacts that converge to the same limit."""
    found = {name: accumulation(times) for name, times in impacts.items()}
    return {name: item for name, item in found.items() if item is not None and abs(item.t - limit.t) <= limit.rest}


def _struck(context: Context, moment: Moment, names: set[str]) -> Array | None:
    """Velocities after all the impacts that are left, one after the other at one position; None if they do not end.

    Between them nothing moves: they take less time than what tells the times of impacts apart.
    """
    if context.law is None:
        return None
    contacts, tolerance = context.dynamics.contacts, context.settings.tolerances
    resting = [name for name in contacts if moment.activities[name] not in _APART and name not in names]
    v = moment.v
    for _ in range(_STRIKES):
        rates = context.terms(moment.t, moment.q, v).gap_dot
        first = min(names, key=lambda name: float(rates[contacts.index(name)]))
        if rates[contacts.index(first)] >= -tolerance.velocity:
            return v
        state = State(moment.q, v, moment.t)
        v = resolve_impact(
            context.dynamics, state, law=context.law, tolerances=tolerance,
            closed=(*resting, first),
        ).v_after  # fmt: skip
    return None


def _any_open(moment: Moment, impacts: Mapping[str, list[float]], since: float) -> bool:
    """True if a contact with impacts since a time is open."""
    return any(
        moment.activities[name] in (Activity.OPEN, Activity.APPROACHING)
        for name, times in impacts.items()
        if times and times[-1] >= since
    )


def _is_slight(terms: Terms, change: Array, elapsed: float) -> bool:
    """True if the energy of a change of velocity is nothing next to what moved the mechanism so far."""
    fall = elapsed * np.linalg.solve(terms.M, terms.h)
    return bool(change @ terms.M @ change <= _SLIGHT * (fall @ terms.M @ fall))


def right_accumulation(context: Context, arc: Arc) -> str | None:
    """Whether impacts may grow out of the contact that sticks during an arc, which makes its future not unique.

    Looked for at a few instants of the arc, so a possibility that lasts for less than their distance may be missed.

    Parameters
    ----------
    context : Context
    arc : Arc

    Returns
    -------
    str or None
        A sentence with the first such instant.
    """
    law, closed = context.law, [name for name, label in arc.mode.items() if label is not ContactMode.FREE]
    if law is None or len(closed) != 1 or arc.mode[closed[0]] is not ContactMode.STICK:
        return None
    if closed[0] not in context.dynamics.contacts or isinstance(law, NewtonImpact):
        return None
    index = context.dynamics.contacts.index(closed[0])
    activities = tuple(
        Activity.RESTING if name in closed else Activity.OPEN for name in element_names(context.dynamics)
    )
    for t in np.linspace(arc.start, arc.end, _INSTANTS):
        terms = context.terms(float(t), *arc.sample(t))
        if isinstance(law, AbstractRestitutionLaw):
            declared = terms.restitution[index]
            if (declared if law.restitution is None else law.restitution) == 0.0:
                continue  # impacts give nothing back
        found = reverse_chatter(pose(context.dynamics, terms, activities, sides={}), law)
        if found is not None:
            return f"t = {t:.10g}: the motion is not unique: {found}"
    return None
