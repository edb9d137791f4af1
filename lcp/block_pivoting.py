"""Block principal pivoting for P-matrices of large order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from lcp.lemke import Lemke
from lcp.problem import LCP, Solution, Status, checked, scaled
from lcp.tolerances import ROUNDING

if TYPE_CHECKING:
    from lcp.problem import FloatArray

__all__ = ["BlockPrincipalPivoting", "solve"]

LARGE = 20  # unknowns from which few linear systems are faster than many pivots
LEMKE = Lemke()
TRIES = 10  # blocks without progress before single pivots take over, as recommended by Judice and Pires


@attrs.frozen
class BlockPrincipalPivoting:
    """Exchange all infeasible variables at once; single ones, by the least-index rule, if that does not help.

    For a P-matrix the least-index rule ends at the solution, and blocks usually end after a few linear systems.
    For any other matrix, and after `max_systems`, Lemke's method takes over.

    Parameters
    ----------
    fallback : Lemke
        What solves the problem otherwise.
    blocks : bool
        False for Murty's least-index method alone.
    max_systems : int, optional
        Linear systems to solve before falling back; 10 n + 100 by default, 2**n for the least-index method.

    References
    ----------
    Judice and Pires, Computers & Operations Research 21 (1994) 587; Murty, Opsearch 11 (1974) 123.

    Examples
    --------
    >>> from lcp import LCP
    >>> BlockPrincipalPivoting().solve(LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])).z.round(6)
    array([1.333333, 2.333333])
    """

    fallback: Lemke = attrs.field(factory=Lemke, kw_only=True)
    blocks: bool = attrs.field(default=True, kw_only=True)
    max_systems: int | None = attrs.field(default=None, kw_only=True)

    def solve(self, problem: LCP) -> Solution:
        """Run the method; `n_pivots` is the number of exchanges of the basis, blocks counted as one."""
        scaling = scaled(problem, always=True)  # signs are judged next to entries of about one
        z, n_systems = self._pivots(scaling.problem)
        tolerance = self.fallback.residual_tolerance
        if z is None or scaling.problem.residual(z) > tolerance:
            return self.fallback.solve(problem)
        point = scaling.point(z)
        if problem.residual(point) > tolerance:
            return self.fallback.solve(problem)
        point.flags.writeable = False
        w = problem.w(point)
        w.flags.writeable = False
        return Solution(z=point, w=w, status=Status.SOLVED, n_pivots=n_systems)

    def _pivots(self, problem: LCP) -> tuple[FloatArray | None, int]:
        n = problem.n
        default = 10 * n + 100 if self.blocks else 2 ** min(n, 20)
        limit = default if self.max_systems is None else self.max_systems
        basic = np.zeros(n, dtype=bool)
        values, fewest, tries = problem.q.copy(), n + 1, TRIES
        for n_systems in range(limit + 1):
            bound = ROUNDING * max(1.0, float(np.abs(values).max(initial=0.0)))
            infeasible = np.flatnonzero(values < -bound)
            if infeasible.size == 0:
                return np.where(basic, np.maximum(values, 0.0), 0.0), n_systems
            if self.blocks and infeasible.size < fewest:
                fewest, tries = infeasible.size, TRIES
            elif self.blocks and tries > 0:
                tries -= 1
            else:
                infeasible = infeasible[:1]
            basic[infeasible] = ~basic[infeasible]
            try:
                values = _basic_values(problem, basic)
            except np.linalg.LinAlgError:
                return None, n_systems
        return None, limit


def _basic_values(problem: LCP, basic: np.ndarray) -> FloatArray:
    """The basic variables: z where `basic`, w elsewhere."""
    inside = np.flatnonzero(basic)
    z = np.zeros(problem.n)
    z[inside] = np.linalg.solve(problem.M[np.ix_(inside, inside)], -problem.q[inside])
    values = problem.M @ z + problem.q
    values[inside] = z[inside]
    return values


def solve(problem: LCP) -> Solution:
    """One solution: block principal pivoting if M is large and surely a P-matrix, Lemke's method otherwise.

    From 20 unknowns on a matrix counts as a P-matrix if its symmetric part has a Cholesky factorisation. That is
    sufficient, not necessary, and decides the method alone: every answer is checked by its residual.

    Parameters
    ----------
    problem : LCP

    Returns
    -------
    Solution
        SOLVED only if z passed the check of its residual; see `Status` for how else Lemke's method may end.

    Examples
    --------
    >>> import numpy as np
    >>> from lcp import LCP
    >>> solution = solve(LCP(2.0 * np.eye(30), -np.ones(30)))
    >>> solution.status.name, solution.n_pivots, float(solution.z.max())
    ('SOLVED', 1, 0.5)
    """
    is_p_matrix = checked(problem).n >= LARGE and _has_definite_symmetric_part(scaled(problem).problem)
    return BlockPrincipalPivoting().solve(problem) if is_p_matrix else LEMKE.solve(problem)


def _has_definite_symmetric_part(problem: LCP) -> bool:
    try:
        np.linalg.cholesky(problem.M / 2 + problem.M.T / 2)
    except np.linalg.LinAlgError:
        return False
    return True
