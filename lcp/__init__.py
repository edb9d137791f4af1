"""Linear complementarity problems: one solution, every solution, or a proof that there is none.

The problem is to find z with w = M z + q, z >= 0, w >= 0 and z_i w_i = 0. The package knows no mechanics.
"""

from lcp import exact, polytopes
from lcp.block_pivoting import solve
from lcp.classes import (
    Membership,
    Solvability,
    is_copositive,
    is_copositive_plus,
    is_nondegenerate,
    is_p_matrix,
    is_q0_matrix,
    is_strictly_semimonotone,
)
from lcp.enumeration import SolutionSet, enumerate_solutions
from lcp.errors import LCPError
from lcp.lemke import Lemke
from lcp.polytopes import Polytope
from lcp.problem import LCP, Solution, Status

__all__ = [
    "LCP",
    "LCPError",
    "Lemke",
    "Membership",
    "Polytope",
    "Solution",
    "SolutionSet",
    "Solvability",
    "Status",
    "enumerate_solutions",
    "exact",
    "is_copositive",
    "is_copositive_plus",
    "is_nondegenerate",
    "is_p_matrix",
    "is_q0_matrix",
    "is_strictly_semimonotone",
    "polytopes",
    "solve",
]
