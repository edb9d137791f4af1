"""One solution by Lemke's method or by Gauss' principle, and what it proves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

import lcp
from hybrid.contact.complementarity import contact_lcp
from hybrid.contact.conditions import problem_scale
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.smooth import label_at_rest
from hybrid.errors import ComputationError
from lcp.polytopes import polytope

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
    is_unique : bool or None
        True if there is no other solution, False if there are other forces, None if that is not known.
    notes : tuple of str
    """

    forces: NDArray[np.float64] | None
    is_unique: bool | None
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
        return MethodAnswer(None, None, (*said, _ended(solution.status)))
    forces = posed.forces(solution.z)
    if said:
        return MethodAnswer(forces, None, said)
    is_p = (
        not any(element.is_resting for element in problem.elements)
        and posed.question.n <= _MAX_P_TEST
        and bool(lcp.is_p_matrix(posed.question.M))
    )
    note = "the matrix is a P-matrix: no other solution" if is_p else "further solutions were not searched for"
    return MethodAnswer(forces, is_p or None, (note,))


def by_gauss(problem: ContactProblem, tolerances: Tolerances) -> MethodAnswer:
    """Solve a contact problem without friction as Gauss' quadratic programme of least constraint.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    tolerances : Tolerances
        ``merge`` is the share of the largest up to which a force, or an acceleration, is zero.

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
    forces, note = answer.lambda_N[:contacts], f"residual of the optimality conditions {answer.residual:.1e}"
    return MethodAnswer(forces, _has_no_others(problem, forces, tolerances), (note,))


def _has_no_others(problem: ContactProblem, forces: NDArray[np.float64], tolerances: Tolerances) -> bool:
    """Whether no other normal forces give the same accelerations: of what separates there are none."""
    scale = problem_scale(problem)
    x, a = forces * scale.row / scale.size, (problem.G @ forces + problem.c) / (scale.row * scale.size)
    limit = tolerances.merge * (1.0 + np.max(np.abs(x)))
    closed = (x > limit) | (a <= limit)
    values, vectors = np.linalg.eigh(problem.G[np.ix_(closed, closed)] / np.outer(scale.row[closed], scale.row[closed]))
    kernel = vectors[:, values <= tolerances.rank * np.max(values, initial=0.0)]
    kernel = np.where(np.abs(kernel) <= tolerances.rank, 0.0, kernel)
    others = polytope(kernel, np.where(x[closed] > limit, x[closed], 0.0)) if kernel.size else None
    return others is None or not (len(others.rays) or np.max(np.abs(others.vertices @ kernel.T)) > limit)


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
