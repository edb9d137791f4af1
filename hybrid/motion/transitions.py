"""From the guards that fired to what each force element does next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity, activity_pattern, element_names, tangential_activity
from hybrid.contact.guards import RELEASES, USERS, Guard, GuardKind
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.problem import pose
from hybrid.contact.reduction import free_motion
from hybrid.contact.selection import select_problem
from hybrid.contact.table import ElementMode, has_stiction, rows_of
from hybrid.dynamics.arithmetic import applied
from hybrid.motion.context import gap_floors
from hybrid.motion.recorded import EventKind
from hybrid.motion.selecting import Moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from hybrid.contact.impacts.impact import Impact
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms
    from hybrid.dynamics.scales import Scales
    from hybrid.motion.context import Choice, Context
    from hybrid.motion.recorded import Event

Array = NDArray[np.float64]

_KINDS = (
    (GuardKind.UNTIL, EventKind.UNTIL),
    (GuardKind.SINGULAR, EventKind.SINGULAR),
    (GuardKind.RANK, EventKind.SINGULAR_CONFIGURATION),
    (GuardKind.TOUCHDOWN, EventKind.TOUCHDOWN),
    (GuardKind.RELEASE, EventKind.DETACHMENT),
    (GuardKind.REVERSAL, EventKind.DETACHMENT),
    (GuardKind.SLIP, EventKind.SLIP_END),
    (GuardKind.CONE_PLUS, EventKind.SLIP_START),
    (GuardKind.CONE_MINUS, EventKind.SLIP_START),
    (GuardKind.CONE, EventKind.SLIP_START),
    (GuardKind.WATCH, EventKind.WATCH),
)


_LOWEST_REBOUND = 1024.0  # in units of the rounding of the gap
_LARGEST = 4.0  # times what the forces alone would give a gap: larger accelerations are not looked for
_TOUCHING = 16.0  # in the same units: what a gap at rest gathers over the steps of an arc
SLIPPING = (Activity.SLIPPING, Activity.SLIPPING_PLUS, Activity.SLIPPING_MINUS, Activity.TENDING)

HOLDS = {
    Activity.OPEN: ContactMode.FREE,
    Activity.APPROACHING: ContactMode.FREE,
    Activity.RESTING: ContactMode.STICK,
}
"""The mode that holds what an activity says is zero; of all others it is the normal velocity alone."""


def event_kind(fired: Iterable[Guard]) -> EventKind:
    """The most telling word for guards that fired together.

    Parameters
    ----------
    fired : iterable of Guard
        At least one.

    Returns
    -------
    EventKind
    """
    kinds = {guard.kind for guard in fired}
    return next(word for kind, word in _KINDS if kind in kinds)


def besides_touch(event: Event, fired: Iterable[Guard]) -> list[Event]:
    """What the mechanism's guards tell at a touchdown besides it, as an event that no impact replaces.

    Parameters
    ----------
    event : Event
        The touchdown.
    fired : iterable of Guard
        All guards that fired at it.

    Returns
    -------
    list of Event
        One, or none if touchdowns and the user's functions are all that fired.
    """
    others = [guard for guard in fired if guard.kind is not GuardKind.TOUCHDOWN and guard.kind not in USERS]
    if not others:
        return []
    elements = tuple(dict.fromkeys(guard.element for guard in others))
    return [attrs.evolve(event, kind=event_kind(others), elements=elements)]


def moment_at_start(context: Context, t: float, q: Array, v: Array, sides: Mapping[str, tuple[float, ...]]) -> Moment:
    """What the force elements do at a state without history, from gaps and velocities to the tolerances.

    Parameters
    ----------
    context : Context
    t : float
    q, v : array, (n,)
    sides : mapping of str to tuple of float
        Directions of slips that vanish, by force element.

    Returns
    -------
    Moment
    """
    terms = context.terms(t, q, v)
    scales = context.scales(t, q, v, terms)
    found = activity_pattern(context.dynamics, terms, scales, sides=sides, tolerances=context.settings.tolerances)
    return Moment(t, q, v, dict(zip(element_names(context.dynamics), found, strict=True)), sides)


def moment_after(
    context: Context, choice: Choice, parts: tuple[ElementMode, ...], fired: tuple[Guard, ...], t: float, y: Array
) -> Moment:
    """What the force elements do at an event without impact: the fired guards tell, not small numbers.

    Parameters
    ----------
    context : Context
    choice : Choice
        What was followed.
    parts : tuple of ElementMode
        The rows of its mode.
    fired : tuple of Guard
    t : float
    y : array, (2n,)
        The state at the event.

    Returns
    -------
    Moment
        With the state brought onto the gaps and velocities that are zero from there on.
    """
    n = len(y) // 2
    q, v = y[:n], y[n:]
    terms = context.terms(t, q, v)
    context.reached(t, q, v)
    by_name: dict[str, set[GuardKind]] = {}
    for guard in fired:
        for name in guard.elements:
            by_name.setdefault(name, set()).add(guard.kind)
    activities: dict[str, Activity] = {}
    held: set[str] = set()
    broken: dict[str, ContactMode] = {}
    for part in parts:
        kinds = by_name.get(part.name, set())
        found = activity_after(part, kinds)
        activities[part.name] = _closing(context, terms, part, t, q, v) if found is None else found
        if not has_stiction(terms, part.element):
            continue
        if part.sticks or GuardKind.SLIP in kinds:
            held.add(part.name)
        if part.sticks and GuardKind.CONE_MINUS in kinds:
            broken[part.name] = ContactMode.SLIDE_MINUS
        elif part.sticks and GuardKind.CONE_PLUS in kinds:
            broken[part.name] = ContactMode.SLIDE_PLUS
    if Activity.APPROACHING in activities.values():
        activities |= _touching(context, terms, t, q, v, activities)
    q, v = settle(context, activities, t, q, v)
    if any(guard.kind is GuardKind.TOUCHDOWN for guard in fired):
        held |= _come_to_rest(context, activities, t, q, v)
    released = frozenset(guard.element for guard in fired if guard.kind in RELEASES)
    ended = choice if any(guard.kind not in USERS for guard in fired) else None
    return Moment(t, q, v, activities, {}, frozenset(held), broken, ended, released)


def _touching(
    context: Context, terms: Terms, t: float, q: Array, v: Array, activities: Mapping[str, Activity]
) -> dict[str, Activity]:
    """Contacts that were open without force though they touch, and take part in an impact elsewhere."""
    scales = context.scales(t, q, v, terms)
    found, floors = {}, gap_floors(context.dynamics, terms, q, v, t)
    for index, name in enumerate(context.dynamics.contacts):
        at_rest = abs(terms.gap_dot[index]) <= context.settings.tolerances.velocity * scales.gap_dot[index]
        if activities[name] is Activity.OPEN and at_rest and terms.gap[index] <= _TOUCHING * floors[index]:
            columns = context.dynamics.columns_of(name)
            found[name] = by_slip(context, terms, scales, columns)
    return found


def _come_to_rest(context: Context, activities: dict[str, Activity], t: float, q: Array, v: Array) -> set[str]:
    """Force elements whose slip ends because a contact has closed; their activities are set to resting."""
    terms = context.terms(t, q, v)
    scales = context.scales(t, q, v, terms)
    ended = set()
    for name in context.dynamics.columns:
        if activities[name] in SLIPPING:
            activities[name] = by_slip(context, terms, scales, context.dynamics.columns_of(name))
            if activities[name] is Activity.RESTING:
                ended.add(name)
    return ended


def activity_after(part: ElementMode, kinds: Set[GuardKind]) -> Activity | None:
    """What a force element does after some of its guards have vanished.

    Parameters
    ----------
    part : ElementMode
    kinds : set of GuardKind

    Returns
    -------
    Activity or None
        None for a contact that closes.
    """
    if part.is_open:
        return None if GuardKind.TOUCHDOWN in kinds else Activity.OPEN
    if not part.columns:
        return Activity.FRICTIONLESS
    if part.sticks or GuardKind.SLIP in kinds:
        return Activity.RESTING
    if len(part.columns) == 2:
        return Activity.SLIPPING
    return Activity.SLIPPING_PLUS if part.slip_sign > 0 else Activity.SLIPPING_MINUS


def _closing(context: Context, terms: Terms, part: ElementMode, t: float, q: Array, v: Array) -> Activity:
    """What an open contact does whose gap has fallen to zero."""
    scales = context.scales(t, q, v, terms)
    tolerance = context.settings.tolerances.velocity * scales.gap_dot[part.index]
    if terms.gap_dot[part.index] > tolerance:
        return Activity.OPEN
    if terms.gap_dot[part.index] < -tolerance:
        return Activity.APPROACHING
    return by_slip(context, terms, scales, part.columns)


def by_slip(context: Context, terms: Terms, scales: Scales, columns: tuple[int, ...]) -> Activity:
    """What the slip tells of a contact that has just closed.

    Parameters
    ----------
    context : Context
    terms : Terms
        At the state.
    scales : Scales
        Sizes next to which a slip counts as zero.
    columns : tuple of int
        Tangential columns of the contact; none without friction.

    Returns
    -------
    Activity
        At rest or slipping.
    """
    own, tolerances = list(columns), context.settings.tolerances
    return Activity(tangential_activity(terms.slip[own], scales.slip[own], tolerances))


def moment_after_impact(context: Context, moment: Moment, impact: Impact) -> Moment:
    """What the elements do after an impact: contacts that leave are open, the others closed with zero velocity.

    Parameters
    ----------
    context : Context
    moment : Moment
        Before the impact.
    impact : Impact

    Returns
    -------
    Moment
        With the velocities after it; a contact that still approaches is ``APPROACHING``.
    """
    terms = context.terms(moment.t, moment.q, moment.v)
    context.scales(moment.t, moment.q, moment.v, terms)  # what an impact takes away leaves its rounding
    terms = context.terms(moment.t, moment.q, impact.v_after)
    scales = context.scales(moment.t, moment.q, impact.v_after, terms)
    activities = dict(moment.activities)
    closed: set[str] = set()
    rebounds: dict[str, float] = {}
    for name in element_names(context.dynamics):
        if name not in context.dynamics.contacts:
            closed.add(name)  # a constraint holds, whatever rounding the impact leaves in its rate
            continue
        rate = impact.gap_dot_after.get(name)
        if rate is None:
            continue
        tolerance = context.settings.tolerances.velocity * float(scales.gap_dot[context.dynamics.contacts.index(name)])
        if rate > tolerance:
            activities[name] = Activity.OPEN
            rebounds[name] = rate
        elif rate < -tolerance:
            activities[name] = Activity.APPROACHING
        else:
            closed.add(name)
    after = closed_again(context, activities, closed, moment.t, moment.q, impact.v_after)
    low = low_rebounds(context, after, rebounds)
    return closed_again(context, activities, closed | low, moment.t, moment.q, impact.v_after) if low else after


def closed_again(
    context: Context, activities: Mapping[str, Activity], closed: Iterable[str], t: float, q: Array, v: Array
) -> Moment:
    """The moment at which some force elements press whose slip is not known yet.

    One that an impact has brought to rest is held there. Another slip is read off velocities that satisfy what is held:
    to bring them there moves every slip, and a small one may change its sign. That one is held at rest may end others
    in turn: they are asked until no more come to rest.

    Parameters
    ----------
    context : Context
    activities : mapping of str to Activity
        Of all force elements, as far as they are known.
    closed : iterable of str
        Those that press.
    t : float
    q, v : array, (n,)

    Returns
    -------
    Moment
        Whose ``held`` are the force elements at rest.
    """
    known = dict(activities)
    columns = {name: context.dynamics.columns_of(name) for name in closed}
    known |= dict.fromkeys(columns, Activity.FRICTIONLESS)
    frictional = {name: places for name, places in columns.items() if places}
    terms = context.terms(t, q, v)
    scales = context.scales(t, q, v, terms)
    first = {name: by_slip(context, terms, scales, places) for name, places in frictional.items()}
    known |= {name: activity for name, activity in first.items() if activity is Activity.RESTING}
    while True:
        reached = settle(context, known, t, q, v)
        terms = context.terms(t, *reached)
        scales = context.scales(t, *reached, terms)
        found = {name: by_slip(context, terms, scales, places) for name, places in frictional.items()}
        found |= {name: Activity.RESTING for name in found if known[name] is Activity.RESTING}
        if all(known[name] is activity for name, activity in found.items()):
            break
        known |= found
    resting = frozenset(name for name in frictional if known[name] is Activity.RESTING)
    return Moment(t, *reached, known, {}, resting)


def may_rebound_low(
    dynamics: Dynamics, terms: Terms, q: Array, v: Array, t: float | Array, rates: Array
) -> NDArray[np.bool_]:
    """Where gaps open so slowly that forces like those here may close them at once.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state or many.
    q, v : array, (..., n)
    t : float or array, (...)
    rates : array, (..., number of contacts)
        Of the gaps.

    Returns
    -------
    array of bool, (..., number of contacts)
    """
    motion = free_motion(terms, eliminated=tuple(range(len(dynamics.rigid))))
    force = np.sqrt(np.sum(motion.a_free * applied(terms.M, motion.a_free), axis=-1))[..., None]
    answers = np.sqrt(np.maximum(np.sum(terms.W_N * (motion.response @ terms.W_N), axis=-2), 0.0))
    largest = _LARGEST * (answers * force + np.abs(terms.zeta_N))
    floors = gap_floors(dynamics, terms, q, v, t)
    return np.asarray((rates > 0.0) & (rates * rates <= 2.0 * largest * _LOWEST_REBOUND * floors))


def low_rebounds(context: Context, moment: Moment, rates: Mapping[str, float]) -> set[str]:
    """Contacts that would rebound so low that floating point cannot tell their gaps from zero.

    Parameters
    ----------
    context : Context
    moment : Moment
        After an impact.
    rates : mapping of str to float
        Of the gaps that open, by contact.

    Returns
    -------
    set of str
        What falls back as the contact problem at the moment has it, in which other contacts may press.
    """
    if not rates:
        return set()
    terms, dynamics = context.terms(moment.t, moment.q, moment.v), context.dynamics
    all_rates = np.array([rates.get(name, 0.0) for name in dynamics.contacts])
    if not may_rebound_low(dynamics, terms, moment.q, moment.v, moment.t, all_rates).any():
        return set()
    activities = tuple(moment.activities[name] for name in element_names(dynamics))
    problem = pose(dynamics, terms, activities, sides=moment.sides)
    branches = select_problem(problem, tolerances=context.settings.tolerances).branches
    if not branches:
        return set()
    falls = -np.max([terms.W_N.T @ branch.acceleration + terms.zeta_N for branch in branches], axis=0)
    lowest = _LOWEST_REBOUND * gap_floors(dynamics, terms, moment.q, moment.v, moment.t)
    is_low = (falls > 0.0) & (all_rates**2 <= 2.0 * falls * lowest)
    return {name for name in rates if is_low[dynamics.contacts.index(name)]}


def settle(context: Context, activities: Mapping[str, Activity], t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """Positions and velocities brought onto what the activities of the force elements say is zero.

    A contact that approaches is brought to its gap, and keeps its velocity.

    Parameters
    ----------
    context : Context
    activities : mapping of str to Activity
    t : float
    q, v : array, (n,)

    Returns
    -------
    q, v : array, (n,)
    """
    if any(activity is Activity.APPROACHING for activity in activities.values()):
        closed = {n: Activity.FRICTIONLESS if a is Activity.APPROACHING else a for n, a in activities.items()}
        q, _ = settle(context, closed, t, q, v)
    labels = {name: HOLDS.get(activity, ContactMode.CLOSED) for name, activity in activities.items()}
    context.sized(t, q, v)  # next to which velocities are small
    constraints = context.holding(rows_of(context.dynamics, Mode(labels)))
    constraints.anchor(t, q)
    return constraints.project(t, q, v)


def closed_in(moment: Moment) -> tuple[str, ...]:
    """Names of force elements that are not open.

    Parameters
    ----------
    moment : Moment

    Returns
    -------
    tuple of str
    """
    return tuple(name for name, activity in moment.activities.items() if activity is not Activity.OPEN)
