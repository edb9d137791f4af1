"""One solution by Lemke's method or by Gauss' principle, and what it proves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

import lcp
from hybrid.contact.complementarity import contact_lcp
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.smooth import label_at_rest
from hybrid.errors import ComputationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.contact.modes import ActiveElement
    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

_MAX_P_TEST = 12  # 2**12 principal minors in rational arithmetic; larger matrices are not tested


@attrs.frozen(eq=False)
class MethodAnswer:
    """What a method that returns at most one solution found.

    Attributes
    ----------
    forces : array, (r,), or None
    is_unique : bool
        True if the method, or a property of the matrix, proves that there is no other solution.
    notes : tuple of str
    """

    forces: NDArray[np.float64] | None
    is_unique: bool
    notes: tuple[str, ...]


def by_lemke(problem: ContactProblem) -> MethodAnswer:
    """Solve the contact problem by Lemke's method.

    A secondary ray proves nothing about this problem and is reported as such. Several spatial contacts at rest are
    solved over friction pyramids.

    Parameters
    ----------
    problem : ContactProblem
        At one state.

    Returns
    -------
    MethodAnswer
    """
    if not problem.elements:
        return MethodAnswer(np.zeros(0), True, ())
    posed = contact_lcp(problem)
    solution = lcp.Lemke().solve(posed.question)
    said = (posed.note,) if posed.note else ()
    if solution.status is not lcp.Status.SOLVED:
        return MethodAnswer(None, False, (*said, _ended(solution.status)))
    forces = posed.forces(solution.z)
    if said:
        return MethodAnswer(forces, False, said)
    is_p = (
        not any(element.is_resting for element in problem.elements)
        and posed.question.n <= _MAX_P_TEST
        and bool(lcp.is_p_matrix(posed.question.M))
    )
    note = "the matrix is a P-matrix: no other solution" if is_p else "further solutions were not searched for"
    return MethodAnswer(forces, is_p, (note,))


def by_gauss(problem: ContactProblem) -> MethodAnswer:
    """Solve a contact problem without friction as Gauss' quadratic programme of least constraint.

    Parameters
    ----------
    problem : ContactProblem
        At one state.

    Returns
    -------
    MethodAnswer

    Raises
    ------
    ComputationError
        A force element with friction takes part: Gauss' principle then does not apply.
    """
    frictional = [element.name for element in problem.elements if element.tangential]
    if frictional:
        raise ComputationError(
            f"Gauss' principle of least constraint holds without friction only; {', '.join(frictional)} has friction: "
            "use the enumeration or Lemke's method"
        )
    if not problem.elements:
        return MethodAnswer(np.zeros(0), True, ())
    from lcp.convex import gauss_least_constraint  # cvxpy takes most of a second to import

    terms, contacts = problem.terms, len(problem.elements)
    normals = [problem.names.index(element.name) for element in problem.elements]
    W = np.hstack([terms.W_N[:, normals], terms.J.T, -terms.J.T])
    zeta = np.concatenate([terms.zeta_N[normals], terms.zeta_B, -terms.zeta_B])
    answer = gauss_least_constraint(terms.M, terms.h, W, zeta)
    unit = np.sqrt(np.diagonal(problem.G))
    unit = np.where(unit > 0.0, unit, 1.0)
    is_unique = bool(np.linalg.matrix_rank(problem.G / np.outer(unit, unit), hermitian=True) == contacts)
    note = f"residual of the optimality conditions {answer.residual:.1e}"
    return MethodAnswer(answer.lambda_N[:contacts], is_unique, (note,))


def mode_from_forces(problem: ContactProblem, forces: NDArray[np.float64], tolerances: Tolerances) -> Mode:
    """The mode of a solution: which force elements press, stick or slide.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    forces : array, (r,)
        In physical units.
    tolerances : Tolerances
        ``merge`` is the share of the largest force, or acceleration, up to which one is zero.

    Returns
    -------
    Mode
    """
    a = problem.G @ forces + problem.c
    size = float(np.max(np.abs(forces), initial=0.0)), float(np.max(np.abs(a), initial=0.0))
    labels = {element.name: _label(element, forces, a, size, tolerances.merge) for element in problem.elements}
    return Mode({name: labels.get(name, ContactMode.FREE) for name in problem.names})


def _label(
    element: ActiveElement,
    forces: NDArray[np.float64],
    a: NDArray[np.float64],
    size: tuple[float, float],
    merge: float,
) -> ContactMode:
    if element.normal is not None and abs(forces[element.normal]) <= merge * size[0]:
        return ContactMode.FREE
    if not element.tangential:
        return ContactMode.CLOSED
    if element.direction is not None:
        return ContactMode.of_slip(element.direction, len(element.tangential))
    return label_at_rest(a[list(element.tangential)], merge * max(size[1], 1.0))


def _ended(status: lcp.Status) -> str:
    if status is lcp.Status.RAY:
        return "Lemke's method ended in a secondary ray, which proves nothing: it occurs on problems with solutions"
    return "Lemke's method reached its limit of pivots"
