"""The cross-check of a verdict: Lemke's method on the same problem, compared by forces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

import lcp
from hybrid.contact.complementarity import planar_lcp
from hybrid.contact.continua import contains
from hybrid.errors import ComputationError

if TYPE_CHECKING:
    from hybrid.contact.conditions import Scale
    from hybrid.contact.problem import ContactProblem
    from hybrid.contact.solutions import PhysicalSolution
    from hybrid.tolerances import Tolerances


_LEMKE = lcp.Lemke()


@attrs.frozen
class Crosscheck:
    """What Lemke's method found next to the enumeration of modes.

    Attributes
    ----------
    status : lcp.Status
    agrees : bool or None
        True if its solution accelerates the mechanism like one of the modes found; None if it found none, which
        contradicts nothing.
    sentence : str
    """

    status: lcp.Status
    agrees: bool | None
    sentence: str


def crosscheck(
    problem: ContactProblem, solutions: Sequence[PhysicalSolution], scale: Scale, tolerances: Tolerances
) -> Crosscheck | None:
    """The same problem by Lemke's method, compared with the solutions that the enumeration of modes found.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    solutions : sequence of PhysicalSolution
        All that were found.
    scale : Scale
    tolerances : Tolerances
        ``merge`` is the share up to which scaled accelerations agree, here times 100.

    Returns
    -------
    Crosscheck or None
        None where the problem is not one LCP, or has no unknowns.
    """
    if not problem.elements:
        return None
    try:
        posed = planar_lcp(problem)
    except ComputationError:
        return None
    if not posed.question.n:
        return None
    solution = _LEMKE.solve(posed.question)
    if solution.status is not lcp.Status.SOLVED:
        found = "although a mode is consistent" if solutions else "as it may where no mode is consistent"
        return Crosscheck(solution.status, None, f"Lemke's method {solution.status.value}, {found}")
    forces = posed.forces(solution.z)
    a = ((problem.G @ forces + problem.c) / (scale.row * scale.size)).tolist()
    limit = 100 * tolerances.merge * (1.0 + max(map(abs, a)))
    agrees = any(
        max(abs(x - y) for x, y in zip(a, item.contact_acceleration.tolist(), strict=True)) <= limit
        or (item.is_continuum and contains(problem, item.leading, forces, scale, tolerances))
        for item in solutions
    )
    word = "finds the same accelerations" if agrees else "finds accelerations that no mode has"
    return Crosscheck(solution.status, agrees, f"Lemke's method {word}")
