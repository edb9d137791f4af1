"""The closed form of one sliding contact, A_s, b and the critical friction, beside constraints that hold.

The friction of a rail, a bilateral constraint, acts on the magnitude of the rail's own force, against its slip. Where
it pushes a contact along the normal, ``a_N`` is no linear function of ``lambda_N``: the sign of the rail's force may
change, and a rail at rest may start to slip. Then the contact has neither an ``A_s`` nor a critical friction of its
own. Where it does not, a rail is to the contact a constraint without friction.

The force of a friction element that slips is known, and belongs to ``b``. That of one at rest answers to the contact's:
where it pushes a contact along the normal, the contact has no closed form of its own either.

What happens at vanishing slip: algebraic and dynamic paradoxes of a contact at rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.contact.conditions import least_size, problem_scale
from hybrid.contact.modes import ActiveElement, ContactMode, ElementKind
from hybrid.contact.reduction import free_motion, pseudo_inverse
from hybrid.dynamics.arithmetic import decided_definiteness
from hybrid.errors import ComputationError
from hybrid.tolerances import CANCELLED, CLEAR, Tolerances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.contact.branches import Branch
    from hybrid.contact.problem import ContactProblem
    from hybrid.contact.reduction import FreeMotion
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms


@attrs.frozen(eq=False)
class SlidingTerms:
    """Terms of ``a_N = A_s lambda_N + b`` of one planar contact, all others open (Genot and Brogliato 1999).

    Bilateral constraints hold. Friction elements slip, or push the contact nowhere along its normal.

    Attributes
    ----------
    A_plus, A_minus : array, (...)
        ``A_s = G_NN - s mu G_NT`` for slip in the positive and negative direction; 1/mass.
    b : array, (...)
        Normal acceleration without contact forces, under those of the friction elements.
    critical_friction : array, (...)
        ``G_NN / abs(G_NT)``: above it one of the ``A_s`` is negative. Infinite where normal and tangential motion are
        not coupled.
    """

    A_plus: NDArray[np.float64]
    A_minus: NDArray[np.float64]
    b: NDArray[np.float64]
    critical_friction: NDArray[np.float64]


@checks_arguments
def sliding_terms(problem: ContactProblem, name: str) -> SlidingTerms:
    """Evaluate the closed form of one contact that takes part in a problem.

    Parameters
    ----------
    problem : ContactProblem
        At one state or many.
    name : str
        A contact. For a slipping spatial contact the tangential direction is that of its slip (``A_plus`` is then the
        actual one); for a spatial contact at rest it is the direction most coupled to the normal.

    Returns
    -------
    SlidingTerms

    Raises
    ------
    KeyError
        The contact takes no part (it is open).
    BilateralContactError
        The dry friction of a bilateral constraint pushes the contact along its normal: it has no such closed form.
    ComputationError
        Nor has it one where a friction element at rest does.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import contact_problem, derive, sliding_terms, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": "pi/4", "phi_dot": 0, "slip.tip": 0})
    >>> round(float(sliding_terms(contact_problem(rod, state), "tip").critical_friction), 12)
    1.666666666667
    """
    element = problem.element(name)
    if element.normal is None:
        raise KeyError(f"{name} is a friction element: it has no normal force")
    if names := bilateral_beside(problem, name):
        raise BilateralContactError(problem.mechanism, name, names)
    if reason := held_beside(problem, name):
        raise ComputationError(f"{problem.mechanism}: {reason}")
    G, c = beside_smooth_constraints(problem, name)
    G_NN = G[..., element.normal, element.normal]
    rows = list(element.tangential)
    G_TT = G[..., rows, rows]
    coupling = without_rounding(G[..., element.normal, rows], G_NN[..., None], G_TT)
    strongest = np.linalg.norm(coupling, axis=-1)
    if len(element.tangential) == 1:
        G_NT = coupling[..., 0]
    elif element.direction is not None:
        G_NT = np.sum(coupling * np.stack(element.direction, axis=-1), axis=-1)
    else:
        G_NT = strongest
    mu = np.asarray(element.friction)
    with np.errstate(divide="ignore"):
        critical = np.asarray(G_NN / strongest)
    return SlidingTerms(
        A_plus=np.asarray(G_NN - mu * G_NT),
        A_minus=np.asarray(G_NN + mu * G_NT),
        b=np.asarray(c[..., element.normal] + _push_of_slips(problem, G[..., element.normal, :])),
        critical_friction=critical,
    )


@checks_arguments
def can_slip(problem: ContactProblem, name: str) -> bool:
    """Whether a force element can slip while all that touches stays closed: its slip is not fixed by normal velocities.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    name : str
        A force element that takes part.

    Returns
    -------
    bool

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import contact_problem, derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": "pi/4", "phi_dot": 0, "slip.tip": 0})
    >>> can_slip(contact_problem(rod, state), "tip")
    True
    """
    scale, tangential = problem_scale(problem), list(problem.element(name).tangential)
    least = max(Tolerances().rank, float(scale.lost))
    clear = decided_definiteness(problem.G, rank=CLEAR)  # bounds the squared distance from the span of all others
    if clear > CLEAR and any(clear * problem.G[row, row] > (least * scale.row[row]) ** 2 for row in tangential):
        return True
    directions = np.linalg.cholesky(problem.terms.M).T @ problem.response_W / scale.row
    normals = directions[:, [element.normal for element in problem.elements if element.normal is not None]]
    tangents = directions[:, tangential]
    left = tangents - normals @ np.linalg.lstsq(normals, tangents, rcond=None)[0]
    return bool(np.any(np.linalg.norm(left, axis=0) > least))


Array = NDArray[np.float64]

_ROUNDING = CANCELLED  # of sqrt(G_NN G_TT); sums over the coordinates leave a few 1e-16


class BilateralContactError(ComputationError):
    """A contact has no sliding factor of its own, because the dry friction of a rail pushes it along its normal.

    Parameters
    ----------
    mechanism, contact : str
    names : sequence of str
    """

    def __init__(self, mechanism: str, contact: str, names: tuple[str, ...]) -> None:
        super().__init__(
            f"{mechanism}: the critical friction of {contact} is not a single number: the dry friction of "
            f"{', '.join(names)} pushes {contact} along its normal, and depends on the constraint's own load and slip, "
            f"so that a_N = A lambda_N + b does not hold; map the verdicts over the friction of {contact} instead, as "
            f"painleve map MECH --axis mu=0:2:200 --axis NAME=LOW:HIGH:CELLS"
        )


def without_rounding(coupling: Array, G_NN: Array, G_TT: Array) -> Array:
    """The coupling ``G_NT``, exactly zero where it is only rounding: such a contact has no critical friction.

    Parameters
    ----------
    coupling : array, (...)
        ``G_NT``.
    G_NN, G_TT : array, (...)
        Diagonal entries of the Delassus operator that belong to it, without cancellation.

    Returns
    -------
    array, (...)
        Zero where it is at most 1e-13 of ``sqrt(G_NN G_TT)``.
    """
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(coupling) <= _ROUNDING * np.sqrt(np.abs(G_NN * G_TT)), 0.0, coupling)


def bilateral_contacts(dynamics: Dynamics, terms: Terms, motion: FreeMotion, w_N: Array) -> tuple[str, ...]:
    """Constraints whose dry friction pushes along a normal at one of the states.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state or many; those with NaN do not count.
    motion : FreeMotion
        With every rigid constraint eliminated.
    w_N : array, (..., n)

    Returns
    -------
    tuple of str
    """
    rough = [name for name in dynamics.rigid if name in dynamics.columns]
    if not rough:
        return ()
    w_T = terms.W_T[..., :, [dynamics.columns[name].start for name in rough]]
    friction = terms.constraint_friction[..., [dynamics.rigid.index(name) for name in rough]]
    # cancellation leaves rounding of the terms that cancel: those of the mechanism without its constraints
    inverse = free_motion(terms).response
    G_NN = np.sum(w_N * (inverse @ w_N[..., None])[..., 0], axis=-1)[..., None]
    G_TT = np.sum(w_T * (inverse @ w_T), axis=-2)
    coupling = np.sum((motion.response @ w_N[..., None]) * w_T, axis=-2)
    pushes = _pushes(coupling, G_NN, G_TT, friction)
    return tuple(name for index, name in enumerate(rough) if np.any(pushes[..., index]))


def bilateral_beside(problem: ContactProblem, name: str) -> tuple[str, ...]:
    """Constraints whose dry friction pushes along the normal of a force element of a problem, at one of its states.

    Parameters
    ----------
    problem : ContactProblem
        At one state or many.
    name : str
        The force element, which takes part.

    Returns
    -------
    tuple of str
        Empty for a force element without a normal.
    """
    return _pushing(problem, name, _other_bilateral(problem, name))


def held_beside(problem: ContactProblem, name: str) -> str:
    """Why a contact has no closed form of sliding, where a friction element at rest pushes along its normal.

    Parameters
    ----------
    problem : ContactProblem
        At one state or many.
    name : str
        A force element that takes part.

    Returns
    -------
    str
        A sentence; empty where none pushes, and for a force element without a normal or a tangent.
    """
    resting = [item for item in problem.elements if item.kind is ElementKind.ELEMENT and item.is_resting]
    found = _pushing(problem, name, resting)
    if not found or not problem.element(name).tangential:
        return ""
    rest, force = ("is", "its force depends") if len(found) == 1 else ("are", "their forces depend")
    return (
        f"{name} alone has neither a closed form of sliding nor a critical friction: {', '.join(found)} {rest} at "
        f"rest, and {force} on that of {name}"
    )


def _pushing(problem: ContactProblem, name: str, others: list[ActiveElement]) -> tuple[str, ...]:
    """Those of some other elements whose dry friction pushes along the normal of an element, at one of the states."""
    row = problem.element(name).normal
    if row is None or not others:
        return ()
    G, _ = beside_smooth_constraints(problem, name)

    def pushes(other: ActiveElement) -> bool:
        most = np.asarray(other.static_friction if other.is_resting else other.friction)
        return any(
            bool(np.any(_pushes(G[..., row, t], problem.G[..., row, row], problem.G[..., t, t], most)))
            for t in other.tangential
        )

    return tuple(other.name for other in others if pushes(other))


def _push_of_slips(problem: ContactProblem, mobility: Array) -> Any:
    """Acceleration by the known forces of the friction elements that slip, from a row of the Delassus operator."""
    return -sum(
        mobility[..., row] * np.asarray(item.friction) * along
        for item in problem.elements
        if item.kind is ElementKind.ELEMENT and item.direction is not None
        for row, along in zip(item.tangential, item.direction, strict=True)
    )


def beside_smooth_constraints(problem: ContactProblem, name: str) -> tuple[Array, Array]:
    """Delassus operator and contact accelerations with every rail but the named force element held without friction.

    Parameters
    ----------
    problem : ContactProblem
    name : str

    Returns
    -------
    G : array, (..., r, r)
    c : array, (..., r)
    """
    rows = np.array([item.normal for item in _other_bilateral(problem, name) if item.normal is not None], dtype=int)
    if not rows.size:
        return problem.G, problem.c
    held = problem.G[..., rows, :]
    gradients = np.swapaxes(problem.W[..., :, rows], -1, -2)
    lift = np.swapaxes(held, -1, -2) @ pseudo_inverse(np.nan_to_num(held[..., rows]), gradients)
    G = problem.G - lift @ held
    return np.asarray(G), np.asarray(problem.c - (lift @ problem.c[..., rows, None])[..., 0])


def _other_bilateral(problem: ContactProblem, name: str) -> list[ActiveElement]:
    return [item for item in problem.elements if item.kind is ElementKind.BILATERAL and item.name != name]


def _pushes(coupling: Array, G_NN: Array, G_TT: Array, friction: Any) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(without_rounding(coupling, G_NN, G_TT) * friction) > 0.0)


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
