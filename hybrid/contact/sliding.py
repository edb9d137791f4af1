"""The closed form of one sliding contact: A_s, b and the critical friction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.bilateral import (
    BilateralContactError,
    beside_smooth_constraints,
    bilateral_beside,
    without_rounding,
)
from hybrid.contact.conditions import lost_share, row_scale
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.contact.problem import ContactProblem


@attrs.frozen(eq=False)
class SlidingTerms:
    """Terms of ``a_N = A_s lambda_N + b`` of one planar contact, all others open (Genot and Brogliato 1999).

    Bilateral constraints hold. Friction elements are set aside.

    Attributes
    ----------
    A_plus, A_minus : array, (...)
        ``A_s = G_NN - s mu G_NT`` for slip in the positive and negative direction; 1/mass.
    b : array, (...)
        Normal acceleration without contact forces.
    critical_friction : array, (...)
        ``G_NN / abs(G_NT)``: above it one of the ``A_s`` is negative. Infinite where normal and tangential motion are
        not coupled.
    """

    A_plus: NDArray[np.float64]
    A_minus: NDArray[np.float64]
    b: NDArray[np.float64]
    critical_friction: NDArray[np.float64]


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
    if rails := bilateral_beside(problem, name):
        raise BilateralContactError(problem.mechanism, name, rails)
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
        b=np.asarray(c[..., element.normal]),
        critical_friction=critical,
    )


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
    directions = np.linalg.cholesky(problem.terms.M).T @ problem.response_W / row_scale(problem)
    normals = directions[:, [element.normal for element in problem.elements if element.normal is not None]]
    tangents = directions[:, list(problem.element(name).tangential)]
    left = tangents - normals @ np.linalg.lstsq(normals, tangents, rcond=None)[0]
    least = max(Tolerances().rank, float(lost_share(problem)))
    return bool(np.any(np.linalg.norm(left, axis=0) > least))
