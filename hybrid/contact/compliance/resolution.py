"""What a compliant contact does where the rigid problem has no answer or several."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.contact.activity import closed_contacts
from hybrid.contact.compliance.law import KelvinVoigtLimit
from hybrid.contact.impacts.impact import AbstractImpactLaw, Impact, resolve_impact
from hybrid.contact.modes import ContactMode
from hybrid.contact.selection import select
from hybrid.contact.sliding import sliding_terms
from hybrid.contact.verdict import Selection, Verdict
from hybrid.dynamics.derive import bound
from hybrid.dynamics.pins import state_of
from hybrid.dynamics.scales import scales_of
from hybrid.errors import StateError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hybrid.contact.branches import Branch
    from hybrid.contact.problem import ContactProblem
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.state import State


class Outcome(Enum):
    """What becomes of a state; the value is the sentence shown to the user."""

    PERSISTS = "the contact mode is unique: there is nothing to resolve"
    IMPACT = "an impact"
    IMPACT_WITHOUT_COLLISION = "an impact without collision"
    LIFT_OFF = "the contact lifts off"
    UNRESOLVED = "the compliant limit does not choose here"


@attrs.frozen(eq=False)
class Resolution:
    """A resolved state with its reason.

    Attributes
    ----------
    outcome : Outcome
    reason : str
        In a sentence, with the numbers that decide.
    selection : Selection or None
        The rigid problem's answer; None where a contact approaches.
    impact : Impact or None
        The velocities after, if there is an impact.
    critical_approach : float or None
        ``w_crit sqrt(K)`` of an indeterminate state: a contact that approaches faster than ``-w_crit`` passes through
        an impact without collision, a slower one lifts off (Hogan and Kristiansen 2017). In units of velocity times
        square root of stiffness, of a contact with ``stiffness_ratio = 1``.
    """

    outcome: Outcome
    reason: str
    selection: Selection | None = None
    impact: Impact | None = None
    critical_approach: float | None = None


@checks_arguments
def resolve(
    dynamics: Dynamics,
    state: State | Mapping[str, str | float],
    *,
    law: AbstractImpactLaw | None = None,
    approach: float = 0.0,
    stiffness: float | None = None,
    parameters: Values | None = None,
    tolerances: Tolerances = Tolerances(),
) -> Resolution:
    """Resolve a state in which the rigid contact problem has no solution or several, and say why.

    Parameters
    ----------
    dynamics : Dynamics
    state : State, or mapping of str to float or str
        With a closed contact. Pins stand for the state that they fix (:func:`hybrid.solve_state`).
    law : AbstractImpactLaw, optional
        The law that gives the velocities after an impact without collision; by default :class:`KelvinVoigtLimit`.
    approach : float, default 0
        Normal velocity, not above 0, with which the contact of an indeterminate state is met.
    stiffness : float, optional
        In N/m, of a contact with ``stiffness_ratio = 1``, to compare the approach with ``w_crit``; without it the
        limit of infinite stiffness, in which every approach below zero is enough.
    parameters, tolerances : optional

    Returns
    -------
    Resolution

    Raises
    ------
    StateError
        No contact is closed, or the only ones separate already; an approach above 0.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("painleve_rod"))
    >>> state = solve_state(rod, {"theta": 1, "theta_dot": 0.5, "slip.tip": 1}, parameters={"mu": 1.4})
    >>> resolve(rod, state, parameters={"mu": 1.4}).outcome.name
    'IMPACT_WITHOUT_COLLISION'
    """
    dynamics = bound(dynamics, parameters)
    if not approach <= 0.0:
        raise StateError(f"the approach of a contact is a normal velocity not above 0, got {approach:g}")
    if stiffness is not None and not stiffness > 0.0:
        raise StateError(f"the stiffness of a compliant contact must be above 0, got {stiffness:g}")
    law = KelvinVoigtLimit() if law is None else law
    state = state_of(dynamics, state, tolerances=tolerances)
    closed = closed_contacts(dynamics, state, wanted="paradox", tolerances=tolerances)
    terms = dynamics.terms(state.q, state.v, t=state.t)
    slow = tolerances.velocity * scales_of(dynamics, terms, state.q, state.v, t=state.t).gap_dot
    rates = terms.gap_dot[closed]
    if (rates < -slow[closed]).any():
        impact = resolve_impact(dynamics, state, law=law, tolerances=tolerances)
        return Resolution(Outcome.IMPACT, f"a contact approaches with gap_dot = {np.min(rates):.6g}", impact=impact)
    return resolve_selection(
        select(dynamics, state, tolerances=tolerances),
        lambda: resolve_impact(dynamics, state, law=law, tolerances=tolerances),
        law=law,
        approach=approach,
        stiffness=stiffness,
    )


def resolve_selection(
    selection: Selection,
    impact: Callable[[], Impact],
    *,
    law: AbstractImpactLaw,
    approach: float = 0.0,
    stiffness: float | None = None,
) -> Resolution:
    """Resolve a state whose contacts rest against each other and whose rigid contact problem has been decided.

    Parameters
    ----------
    selection : Selection
        The rigid problem's answer there.
    impact : callable
        Gives the impact of the closed contacts under the law.
    law : AbstractImpactLaw
    approach, stiffness : optional
        As for :func:`resolve`.

    Returns
    -------
    Resolution
    """
    match selection.verdict:
        case Verdict.INCONSISTENT:
            return _without_solution(selection, impact())
        case Verdict.INDETERMINATE:
            return _with_several(selection, impact, approach, stiffness, law)
        case _:
            outcome = Outcome.UNRESOLVED if selection.verdict is Verdict.UNDECIDED else Outcome.PERSISTS
            return Resolution(outcome, selection.verdict.value, selection)


def lift_off(selection: Selection) -> Branch | None:
    """The branch that a contact takes which does not approach, where it slips alone and several modes are consistent.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    Branch or None
        None where the compliant limit does not choose.
    """
    if selection.verdict is not Verdict.INDETERMINATE or _slipping(selection.problem) is None:
        return None
    free = (b for b in selection.branches if all(label is ContactMode.FREE for label in b.mode.values()))
    return next(free, None)


def _without_solution(selection: Selection, impact: Impact) -> Resolution:
    moved = float(np.max(np.abs(impact.v_after - impact.v_before)))
    if moved == 0.0:
        return Resolution(
            Outcome.UNRESOLVED,
            f"no contact mode is consistent, and the {impact.law} law gives no impulse at a vanishing approach (with "
            "vanishing slip the impact without collision is itself vanishing: the contact comes to rest)",
            selection,
        )
    terms = _slipping(selection.problem)
    why = "" if terms is None else f" (A = {terms[0]:.6g} < 0, b = {terms[1]:.6g} < 0)"
    reason = (
        f"no contact mode is consistent: in sliding, the normal force drives the contact deeper into the surface{why}, "
        f"until the slip stops; the {impact.law} law then gives "
        + ", ".join(f"gap_dot.{name} = {rate:.6g}" for name, rate in impact.gap_dot_after.items())
    )
    return Resolution(Outcome.IMPACT_WITHOUT_COLLISION, reason, selection, impact)


def _slipping(problem: ContactProblem) -> tuple[float, float] | None:
    """``A_s`` and ``b`` of the contact, if it is one and slips."""
    if len(problem.elements) != 1 or problem.elements[0].direction is None or problem.elements[0].normal is None:
        return None
    element = problem.elements[0]
    terms = sliding_terms(problem, element.name)
    is_minus = len(element.tangential) == 1 and element.direction is not None and element.direction[0] < 0
    return float(terms.A_minus if is_minus else terms.A_plus), float(terms.b)


def _with_several(
    selection: Selection,
    impact: Callable[[], Impact],
    approach: float,
    stiffness: float | None,
    law: AbstractImpactLaw,
) -> Resolution:
    found, free = _slipping(selection.problem), lift_off(selection)
    if found is None or free is None:
        labels = ", ".join(branch.mode.label for branch in selection.branches)
        reason = f"several modes are consistent ({labels}) and it is not one contact that slips"
        return Resolution(Outcome.UNRESOLVED, reason, selection)
    critical = _separatrix(*found, selection.problem, law)
    if stiffness is None:
        passes, bound = approach < 0.0, "in the limit of infinite stiffness w_crit is 0"
    else:
        w_crit = critical / np.sqrt(stiffness)
        passes, bound = approach < w_crit, f"w_crit = {w_crit:.6g}"
    if passes:
        reason = f"several modes are consistent, and the approach {approach:.6g} lies below the separatrix ({bound})"
        return Resolution(Outcome.IMPACT_WITHOUT_COLLISION, reason, selection, impact(), critical)
    reason = f"several modes are consistent, and the approach {approach:.6g} is not below the separatrix ({bound})"
    return Resolution(Outcome.LIFT_OFF, reason, selection, None, critical)


def _separatrix(A: float, b: float, problem: ContactProblem, law: AbstractImpactLaw) -> float:
    """``w_crit sqrt(K)`` with the damping and the relative stiffness of the one contact."""
    terms, index = problem.terms, problem.names.index(problem.elements[0].name)
    given = law.damping if isinstance(law, KelvinVoigtLimit) else None
    damping = float(terms.damping[index]) if given is None else given
    return critical_approach(A, b, damping=damping) / math.sqrt(float(terms.stiffness_ratio[index]))


def critical_approach(A: float, b: float, *, damping: float) -> float:
    """``w_crit sqrt(K)``: the approach that separates impact without collision from lift-off (``A < 0 < b``).

    The stable direction of the saddle at the penetration ``-b / (A K)`` (Hogan and Kristiansen 2017, section 4).

    Parameters
    ----------
    A, b : float
        Inertia factor of sliding and free normal acceleration.
    damping : float
        ``d``.

    Returns
    -------
    float
        Negative.

    Examples
    --------
    >>> critical_approach(-1.0, 1.0, damping=0.0)
    -1.0
    """
    from hybrid.contact.compliance.linear import exponents

    return float(exponents(float(A), float(damping))[1] * b / abs(A))
