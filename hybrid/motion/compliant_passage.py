"""Where the rigid problem has no answer: the state is handed to the compliant contact in its limit, and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.compliance.law import KelvinVoigtLimit
from hybrid.contact.compliance.resolution import resolve_selection
from hybrid.contact.impacts.impact import Impact, ImpactProblem, impact_of, impact_problem, resolve_impact
from hybrid.contact.modes import ContactMode
from hybrid.dynamics.state import State
from hybrid.errors import ComputationError
from hybrid.motion.arguments import Penalty
from hybrid.motion.recorded import Event, EventKind
from hybrid.motion.transitions import closed_in, moment_after_impact
from hybrid.tolerances import CLEAR, LAST_PLACE

if TYPE_CHECKING:
    from hybrid.contact.modes import Mode
    from hybrid.contact.verdict import Selection
    from hybrid.motion.context import Context
    from hybrid.motion.selecting import Moment

_BARELY = LAST_PLACE  # mobility below zero, relative, at which the limit from below is taken
_REBOUND = CLEAR  # of the slip: a rebound that vanishes with the square root of the mobility


def pass_inconsistent(
    context: Context, moment: Moment, selection: Selection | None, before: Mode | None
) -> tuple[Moment, Event] | str:
    """The moment after the compliant contact has resolved a state without a consistent mode, and the event.

    Parameters
    ----------
    context : Context
    moment : Moment
    selection : Selection or None
        The rigid problem's answer there.
    before : Mode or None
        The mode that led there.

    Returns
    -------
    Moment and Event, or str
        Why the rule does not resolve the state; empty unless it is :class:`Penalty`.
    """
    if not isinstance(context.rule, Penalty) or selection is None:
        return ""
    closed = tuple(name for name in closed_in(moment) if name in context.dynamics.contacts)
    if not closed:
        return "the rule penalty finds no motion: rigid constraints with friction alone have no surface that gives way"
    state, law = State(moment.q, moment.v, moment.t, sides=moment.sides), context.rule.law or KelvinVoigtLimit()
    tolerances = context.settings.tolerances
    try:
        resolution = resolve_selection(
            selection,
            lambda: resolve_impact(context.dynamics, state, law=law, tolerances=tolerances, closed=closed),
            law=law,
        )
    except ComputationError as error:  # the law has no answer either, as where friction locks the mechanism
        return f"the rule penalty finds no motion: {error}"
    if resolution.impact is None:
        return f"the rule penalty finds no motion: {resolution.reason}"
    return _passed(context, moment, before, resolution.impact, resolution.reason)


def pass_jamming(context: Context, moment: Moment, before: Mode, note: str) -> tuple[Moment, Event] | None:
    """The moment after a contact whose sliding mobility ``A_s`` has fallen to zero, while its force grows.

    As ``A_s`` turns negative an impact without collision begins, and in the limit ``A_s -> 0`` from below it ends when
    the slip has stopped (Hogan and Kristiansen 2017, section 4); the compliant law gives the contact nothing back
    then, Poisson's does.

    Parameters
    ----------
    context : Context
    moment : Moment
        Where the mobility has all but vanished.
    before : Mode
    note : str
        About the singular point.

    Returns
    -------
    Moment and Event, or None
        None unless the rule is :class:`Penalty` and one planar contact slides alone.
    """
    closed = [name for name, label in before.items() if label is not ContactMode.FREE]
    if not isinstance(context.rule, Penalty) or len(closed) != 1 or not before[closed[0]].slip_sign:
        return None
    if closed[0] not in context.dynamics.contacts:
        return None
    state, law = State(moment.q, moment.v, moment.t), context.rule.law or KelvinVoigtLimit()
    problem = impact_problem(context.dynamics, state, closed=tuple(closed))
    answer = law.impulses(_at_vanishing_mobility(problem))
    impact = impact_of(problem, state.v, answer, law=law.name)
    slip = abs(float(problem.gamma[1]))
    rates = {name: rate if rate > _REBOUND * slip else 0.0 for name, rate in impact.gap_dot_after.items()}
    return _passed(context, moment, before, attrs.evolve(impact, gap_dot_after=rates), f"{note}; the slip stops")


def _at_vanishing_mobility(problem: ImpactProblem) -> ImpactProblem:
    """The same contact without normal velocity, ``A_s`` just below zero."""
    G, gamma = np.array(problem.G), np.array(problem.gamma)
    along = float(np.sign(gamma[1])) * float(problem.elements[0].friction) * G[0, 1]
    G[0, 0], gamma[0] = along - _BARELY * abs(along), 0.0
    return attrs.evolve(problem, posed=attrs.evolve(problem.posed, G=G), gamma=gamma)


def _passed(context: Context, moment: Moment, before: Mode | None, impact: Impact, reason: str) -> tuple[Moment, Event]:
    after = moment_after_impact(context, moment, impact)
    elements = tuple(impact.impulse_N)
    kind = EventKind.PASSAGE
    event = Event(moment.t, kind, elements, before, None, moment.q, moment.v, after.v, impact, note=reason)
    return after, event
