"""What the force elements of many motions do at their events, and impacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity, contact_velocities, tangential_activity
from hybrid.contact.guards import CONES, RELEASES, GuardKind
from hybrid.contact.impacts.impact import ImpactProblem, activities_in_impact
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.problem import ContactProblem, pose
from hybrid.contact.table import rows_of
from hybrid.dynamics.scales import Scales, coordinate_sizes, motion_sizes, scales_of
from hybrid.errors import ComputationError
from hybrid.motion.accumulating import accumulation, completed
from hybrid.motion.arguments import Stop
from hybrid.motion.context import Context, gap_floors
from hybrid.motion.recorded import EventKind, Termination
from hybrid.motion.selecting import Moment
from hybrid.motion.together.fleet import KIND_NUMBERS, NOWHERE, Stage, distinct_columns
from hybrid.motion.together.holding import settled
from hybrid.motion.transitions import HOLDS, activity_after, event_kind, low_rebounds, may_rebound_low

if TYPE_CHECKING:
    from hybrid.contact import AbstractImpactLaw
    from hybrid.dynamics.equations import Terms
    from hybrid.motion.together.fleet import Fleet
    from hybrid.motion.together.stepping import Met

__all__ = ["begin", "collide", "measured", "take_events"]

Array = NDArray[np.float64]
Lanes = NDArray[np.intp]

_TOUCHING = 16.0  # roundings of a gap: what a gap at rest gathers over the steps of an arc
_MOST_EVENTS = 500
_MOST_PASSES = 8
_SLIPPING = (Activity.SLIPPING_PLUS, Activity.SLIPPING_MINUS)
_KINDS = {GuardKind.TOUCHDOWN, GuardKind.SLIP, *CONES, *RELEASES}


def measured(fleet: Fleet, lanes: Lanes, terms: Terms) -> Scales:
    """Sizes of gaps and contact velocities, with what the motions have had before; they are kept.

    Parameters
    ----------
    fleet : Fleet
    lanes : array of int, (m,)
    terms : Terms

    Returns
    -------
    Scales
    """
    dynamics = fleet.at(lanes)
    q, v, t = fleet.states(lanes)
    found = np.stack([coordinate_sizes(dynamics, q, t=t).T, np.abs(v).T])
    fleet.reach[:, :, lanes] = np.fmax(fleet.reach[:, :, lanes], found)
    reach = fleet.reach[0][:, lanes].T, fleet.reach[1][:, lanes].T
    fleet.sizes[:, lanes] = motion_sizes(terms, *reach).T
    return scales_of(dynamics, terms, q, v, t=t, reach=reach)


def begin(fleet: Fleet, lanes: Lanes, activities: NDArray[np.int8], closed: NDArray[np.bool_]) -> None:
    """Enter what force elements do at starts.

    Parameters
    ----------
    fleet : Fleet
    lanes : array of int, (m,)
    activities : array of int8, (m, number of force elements)
    closed : array of bool, (m, number of contacts)
        Contacts whose gap vanishes.

    Returns
    -------
    None
    """
    fleet.activities[:, lanes] = activities.T
    for index in range(len(fleet.dynamics.contacts)):
        fleet.touches[index, lanes] = closed[:, index] & (activities[:, index] == Activity.OPEN)


def take_events(fleet: Fleet, met: Met) -> None:
    """What force elements do where a guard of their mode has vanished: the guard tells, not small numbers.

    Parameters
    ----------
    fleet : Fleet
    met : Met

    Returns
    -------
    None
    """
    flow = fleet.flow(met.mode)
    if flow is None or not len(met.lanes):
        return
    for fired, here in distinct_columns(met.fired, 2):
        lanes = met.lanes[here]
        guards = tuple(guard for guard, has_fired in zip(flow.guards, fired, strict=True) if has_fired)
        kinds = {guard.kind for guard in guards}
        if not kinds <= _KINDS or (GuardKind.TOUCHDOWN in kinds and len(kinds) > 1):
            fleet.single_out(lanes, f"guards of the kinds {', '.join(sorted(kind.value for kind in kinds))}")
            continue
        fleet.pending[lanes] = KIND_NUMBERS[event_kind(guards)]
        fleet.fire(lanes, guards)
        for part in flow.parts:
            own = {guard.kind for guard in guards if guard.element == part.name}
            found = activity_after(part, own)
            fleet.activities[fleet.names.index(part.name), lanes] = Activity.APPROACHING if found is None else found
        _settle(fleet, lanes)
        if GuardKind.TOUCHDOWN in kinds:
            _check_approach(fleet, lanes)


def _settle(fleet: Fleet, lanes: Lanes) -> Terms:
    """Bring states onto what their force elements hold; an approaching contact is brought to its gap alone."""
    activities = {name: Activity(int(fleet.activities[index, lanes[0]])) for index, name in enumerate(fleet.names)}
    labels = {name: HOLDS.get(activity, ContactMode.CLOSED) for name, activity in activities.items()}
    if Activity.APPROACHING in activities.values():
        touching = {n: ContactMode.CLOSED if a is Activity.APPROACHING else labels[n] for n, a in activities.items()}
        q, _, _ = settled(fleet, lanes, rows_of(fleet.dynamics, Mode(touching)))
        fleet.y[: fleet.n, lanes] = q.T
    q, v, terms = settled(fleet, lanes, rows_of(fleet.dynamics, Mode(labels)))
    fleet.y[:, lanes] = np.concatenate([q.T, v.T])
    measured(fleet, lanes, terms)
    return terms


def _check_approach(fleet: Fleet, lanes: Lanes) -> None:
    """Hand over what touches without a velocity, or while another open contact touches as well."""
    dynamics, tolerances = fleet.at(lanes), fleet.settings.tolerances
    q, v, t = fleet.states(lanes)
    terms = dynamics.terms(q, v, t=t)
    scales = measured(fleet, lanes, terms)
    slow, floors = np.zeros(lanes.shape, dtype=bool), gap_floors(dynamics, terms, q, v, t)
    for other in range(len(fleet.dynamics.contacts)):
        is_slow = terms.gap_dot[..., other] >= -tolerances.velocity * scales.gap_dot[..., other]
        slow |= is_slow & (fleet.activities[other, lanes] == Activity.APPROACHING)
        near = terms.gap[..., other] <= _TOUCHING * floors[..., other]
        slow |= near & (fleet.activities[other, lanes] == Activity.OPEN)
    fleet.single_out(lanes[slow], "a contact that closes without a velocity")


def collide(fleet: Fleet, lanes: Lanes, law: AbstractImpactLaw | None) -> None:
    """Resolve impacts of motions in which a contact approaches.

    Parameters
    ----------
    fleet : Fleet
    lanes : array of int, (m,)
    law : AbstractImpactLaw or None

    Returns
    -------
    None
    """
    if law is None:
        met = lanes[fleet.pending[lanes] != NOWHERE]
        fleet.log.add(met, fleet.t[met], fleet.pending[met], fleet.mode[met], NOWHERE)
        fleet.pending[lanes] = NOWHERE
        fleet.end(lanes, Termination.NO_IMPACT_LAW)
        return
    crowded = fleet.n_events[lanes] > _MOST_EVENTS
    fleet.single_out(lanes[crowded], "very many events")
    for pattern, own in fleet.patterns(lanes[~crowded]).items():
        _collide(fleet, pattern, own, law)


def _collide(fleet: Fleet, pattern: tuple[Activity, ...], lanes: Lanes, law: AbstractImpactLaw) -> None:
    dynamics = fleet.at(lanes)
    q, v, t = fleet.states(lanes)
    terms = dynamics.terms(q, v, t=t)
    closed = [name for name, activity in zip(fleet.names, pattern, strict=True) if activity is not Activity.OPEN]
    posed = pose(dynamics, terms, activities_in_impact(dynamics, closed), sides={})
    gamma = contact_velocities(dynamics, terms, posed.elements, posed.W, v)
    gamma = np.broadcast_to(gamma, (len(v), posed.n_rows))
    after = np.array(v)
    gamma_after = np.zeros_like(gamma)
    failed = np.zeros(len(lanes), dtype=bool)
    for place in range(len(lanes)):
        problem = _single(fleet, posed, terms, gamma[place], place)
        try:
            impulses = law.impulses(problem).values
        except ComputationError:
            failed[place] = True
            continue
        after[place] = v[place] + problem.response_W @ impulses
        gamma_after[place] = problem.velocities_after(impulses)
    fleet.single_out(lanes[failed], "an impact that the law does not resolve")
    lanes, after, gamma_after = lanes[~failed], after[~failed], gamma_after[~failed]
    if not len(lanes):
        return
    measured(fleet, lanes, fleet.at(lanes).terms(*fleet.states(lanes)[:2], t=fleet.t[lanes]))
    fleet.y[fleet.n :, lanes] = after.T
    fleet.pending[lanes] = KIND_NUMBERS[EventKind.IMPACT]
    touching = [name for name, activity in zip(fleet.names, pattern, strict=True) if activity is Activity.APPROACHING]
    _leave(fleet, lanes, posed, gamma_after, touching, law)


def _single(fleet: Fleet, posed: ContactProblem, terms: Terms, gamma: Array, place: int) -> ImpactProblem:
    """The impact of one motion."""

    def of(array: Array, core: int) -> Array:
        return np.asarray(array[place] if array.ndim > core else array)

    elements, restitution = [], []
    for element in posed.elements:
        sliding, static = (float(of(np.asarray(mu), 0)) for mu in (element.friction, element.static_friction))
        elements.append(attrs.evolve(element, friction=sliding, static_friction=static))
        restitution.append(float(of(terms.restitution, 1)[fleet.dynamics.contacts.index(element.name)]))
    own = attrs.evolve(
        posed,
        elements=tuple(elements),
        G=of(posed.G, 2),
        c=of(posed.c, 1),
        rounding=of(posed.rounding, 1),
        W=of(posed.W, 2),
        a_free=of(posed.a_free, 1),
        response_W=of(posed.response_W, 2),
        length=of(posed.length, 1),
        redundancy=int(of(np.asarray(posed.redundancy), 0)),
    )
    return ImpactProblem(own, gamma, np.array(restitution))


def _leave(
    fleet: Fleet, lanes: Lanes, posed: ContactProblem, gamma: Array, touching: list[str], law: AbstractImpactLaw
) -> None:
    """What force elements do after impacts: contacts that leave are open, the others closed with zero velocity."""
    dynamics, tolerances = fleet.at(lanes), fleet.settings.tolerances
    q, v, t = fleet.states(lanes)
    terms = dynamics.terms(q, v, t=t)
    scales = measured(fleet, lanes, terms)
    again = np.zeros(len(lanes), dtype=bool)
    rates = np.zeros((len(lanes), len(fleet.dynamics.contacts)))
    closed = np.full_like(rates, Activity.FRICTIONLESS, dtype=np.int8)  # what those that leave do if they hop too low
    for element in posed.elements:
        index = fleet.dynamics.contacts.index(element.name)
        rate = gamma[:, element.rows[0]]
        limit = tolerances.velocity * scales.gap_dot[..., index]
        again |= rate < -limit
        if element.tangential:
            columns = list(fleet.dynamics.columns_of(element.name))
            slip, scale = gamma[:, list(element.tangential)], scales.slip[..., columns]
            closed[:, index] = tangential_activity(slip, scale, tolerances)
        leaves = rate > limit
        rates[:, index] = np.where(leaves, rate, 0.0)
        fleet.activities[index, lanes] = np.where(leaves, Activity.OPEN, closed[:, index])
        fleet.touches[index, lanes] = leaves
    for name in fleet.dynamics.elements:  # they take no impulse, and slip as the contacts make them
        columns = list(fleet.dynamics.columns_of(name))
        found = tangential_activity(terms.slip[..., columns], scales.slip[..., columns], tolerances)
        fleet.activities[fleet.names.index(name), lanes] = found
    for place in np.flatnonzero(may_rebound_low(dynamics, terms, q, v, t, rates).any(axis=-1) & ~again).tolist():
        lane, opening = int(lanes[place]), dict(zip(fleet.dynamics.contacts, rates[place].tolist(), strict=True))
        for name in low_rebounds(*_alone(fleet, lane, law), {name: rate for name, rate in opening.items() if rate}):
            index = fleet.names.index(name)
            fleet.activities[index, lane], fleet.touches[index, lane] = closed[place, index], False
    fleet.single_out(lanes[again], "an impact after which a contact still approaches")
    lanes = lanes[~again]
    _close(fleet, lanes)
    for lane in lanes[fleet.stage[lanes] == Stage.DECIDE].tolist():
        if _may_accumulate(fleet, lane, touching):
            _rest(fleet, lane, law)


def _close(fleet: Fleet, lanes: Lanes) -> None:
    """Bring closed contacts to rest along their normals, and read their slips off the velocities that satisfy that.

    That one is held at rest may end other slips in turn: they are asked until no more come to rest.
    """
    tolerances = fleet.settings.tolerances
    for _ in range(_MOST_PASSES):
        changed = np.zeros(len(fleet.t), dtype=bool)
        for own in fleet.patterns(lanes).values():
            before = fleet.activities[:, own].copy()
            terms = _settle(fleet, own)
            scales = measured(fleet, own, terms)
            for index, name in enumerate(fleet.names):
                columns = list(fleet.dynamics.columns_of(name))
                if before[index, 0] in _SLIPPING:
                    slip, scale = terms.slip[..., columns], scales.slip[..., columns]
                    fleet.activities[index, own] = tangential_activity(slip, scale, tolerances)
            changed[own] = (fleet.activities[:, own] != before).any(axis=0)
        lanes = lanes[changed[lanes]]
        if not len(lanes):
            return
    fleet.single_out(lanes, "an impact after which slips end in turn")


def _may_accumulate(fleet: Fleet, lane: int, touching: list[str]) -> bool:
    """Keep the times of impacts; True where they may have come to their limit."""
    is_near = False
    for name in touching:
        times = fleet.impacts.setdefault(lane, {}).setdefault(name, [])
        times.append(float(fleet.t[lane]))
        limit = accumulation(times)
        if limit is not None and limit.t < fleet.t_end:
            closed = fleet.activities[fleet.names.index(name), lane] != Activity.OPEN
            is_near |= bool(closed) or limit.rest <= fleet.settings.zeno_rest * limit.elapsed
    return is_near


def _rest(fleet: Fleet, lane: int, law: AbstractImpactLaw) -> None:
    """Complete an accumulation of impacts as that of one motion."""
    context, moment = _alone(fleet, lane, law)
    moment, event = completed(context, moment, fleet.impacts[lane], fleet.t_end)
    if event is None:
        return
    fleet.limit[lane] = event.t
    fleet.y[:, lane] = np.concatenate([moment.q, moment.v])
    fleet.activities[:, lane] = [moment.activities[name] for name in fleet.names]
    fleet.touches[:, lane] &= fleet.activities[: len(fleet.names), lane] == Activity.OPEN


def _alone(fleet: Fleet, lane: int, law: AbstractImpactLaw) -> tuple[Context, Moment]:
    """One of the motions as if it were followed alone."""
    (q,), (v,), (t,) = fleet.states(np.array([lane]))
    dynamics = fleet.dynamics.at({name: float(values[lane]) for name, values in fleet.varied.items()})
    activities = {name: Activity(int(fleet.activities[index, lane])) for index, name in enumerate(fleet.names)}
    return Context(dynamics, fleet.settings, law, Stop()), Moment(float(t), q, v, activities)
