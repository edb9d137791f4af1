"""What happens at vanishing slip: algebraic and dynamic paradoxes of a contact at rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.contact.active_elements import ElementKind
from hybrid.contact.conditions import least_size
from hybrid.contact.modes import ContactMode
from hybrid.contact.sliding import can_slip, sliding_terms
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.contact.branches import Branch
    from hybrid.contact.problem import ContactProblem


@attrs.frozen
class SlidingSide:
    """Infinitesimal slip to one side of a contact at rest.

    Attributes
    ----------
    sign : int
        Direction of the slip.
    A : float
        ``A_s``.
    lambda_N : float or None
        Normal force of the sliding motion; None where it would pull or does not exist.
    slip_acceleration : float or None
        Its tangential acceleration.
    flow : str
        ``"to sticking"``, ``"away"``, ``"lasting"`` (it neither grows nor decays), ``"separates"`` or ``"none"`` (no
        motion with this slip exists).
    """

    sign: int
    A: float
    lambda_N: float | None
    slip_acceleration: float | None
    flow: str


@attrs.frozen
class TangentialReport:
    """The tangential question at zero slip (Mamaev and Ivanova 2013, section 4).

    Attributes
    ----------
    plus, minus : SlidingSide
    algebraic : str
        Empty, or a sentence: the domains of the modes overlap or leave a gap here.
    dynamic : str
        Empty, or a sentence: sticking is a solution, but some infinitesimal slip runs away or has no motion.
    """

    plus: SlidingSide
    minus: SlidingSide
    algebraic: str
    dynamic: str


def tangential_reports(problem: ContactProblem, branches: Sequence[Branch]) -> dict[str, TangentialReport]:
    """Report on the vanishing slip of a planar contact at rest that acts alone.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    branches : sequence of Branch
        The consistent modes.

    Returns
    -------
    dict of str to TangentialReport
        Empty unless exactly one element takes part and it is a planar contact at rest with friction, which is free
        to slip while it is closed and whose normal force changes its acceleration.
    """
    if len(problem.elements) != 1:
        return {}
    element = problem.elements[0]
    if element.kind is not ElementKind.CONTACT or not element.is_resting or element.is_spatial_at_rest:
        return {}
    if element.is_smooth:
        return {}  # no force depends on the slip, and none returns it to sticking
    if not problem.G[element.normal, element.normal] or not can_slip(problem, element.name):
        return {}
    plus, minus = (_side(problem, element.name, sign) for sign in (1, -1))
    labels = [item.mode[element.name] for item in branches]
    algebraic = ""
    if len(labels) > 1:
        algebraic = f"the domains of {' and '.join(labels)} overlap at this state"
    elif not labels:
        algebraic = "the domains of the modes leave a gap at this state"
    dynamic = ""
    if ContactMode.STICK in labels:
        runaways = [side for side in (plus, minus) if side.flow in ("away", "separates", "none")]
        dynamic = "; ".join(_sentence(side) for side in runaways)
    return {element.name: TangentialReport(plus, minus, algebraic, dynamic)}


def _side(problem: ContactProblem, name: str, sign: int) -> SlidingSide:
    """Sliding to one side; a sum within the tolerance of its terms is zero."""
    terms, element = sliding_terms(problem, name), problem.element(name)
    normal, tangent = element.rows
    G, mu, c_T = problem.G, float(element.friction), problem.c[tangent]
    free_N, free_T = least_size(problem.c, problem.rounding)[[normal, tangent]]
    A = _settled(terms.A_plus if sign > 0 else terms.A_minus, G[normal, normal])
    b = _settled(terms.b, free_N)
    force = -b / A if A else None
    if force is None or force < 0:
        return SlidingSide(sign, A, None, None, "separates" if b > 0 else "none")
    slip = (G[tangent, normal] - sign * mu * G[tangent, tangent]) * force + c_T
    slip = _settled(slip, (abs(G[tangent, normal]) + mu * G[tangent, tangent]) * force + free_T)
    return SlidingSide(sign, A, force, slip, "lasting" if not slip else "to sticking" if sign * slip < 0 else "away")


def _settled(value: Any, size: float) -> float:
    """A sum of terms of a size, zero within the tolerance of its sign."""
    return 0.0 if abs(value) <= Tolerances().sign * size else float(value)


def _sentence(side: SlidingSide) -> str:
    direction = "positive" if side.sign > 0 else "negative"
    outcome = {
        "away": "runs away from sticking",
        "separates": "separates instead of returning to sticking",
        "none": "has no consistent motion",
    }[side.flow]
    return f"sticking is a solution, but infinitesimal slip in the {direction} direction {outcome}"
