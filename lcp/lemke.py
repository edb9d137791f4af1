"""Lemke's complementary pivoting."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from lcp import loaded
from lcp.arrays import FloatArray, float_array, value_key
from lcp.errors import LCPError
from lcp.path import follow
from lcp.problem import LCP
from lcp.scaling import scaled
from lcp.solution import Solution, Status
from lcp.tableau import Tableau, polished
from lcp.tolerances import RESIDUAL, TIE

__all__ = ["Lemke"]

PLAIN_MAX_N = 16  # from here on arrays are faster than lists
PIVOTS_PER_UNKNOWN = 1000  # Murty's and Fathi's examples need 2**n pivots, every other one tried below 10 n


def _covering(values: npt.ArrayLike | None) -> FloatArray | None:
    return None if values is None else float_array(values, name="covering", ndim=1)


@attrs.frozen
class Lemke:
    """Lemke's method: follow the path of almost complementary bases from a covering vector.

    The ratio test is lexicographic, so that no problem cycles; ratios that differ by less than
    the tie tolerance count as equal, and the artificial variable leaves first among equals.

    Parameters
    ----------
    covering : array_like, shape (n,), optional
        Covering vector d >= 0, positive wherever q is negative; all ones by default.
    tie_tolerance : float
        Relative difference below which two ratios, or an entry and zero, count as equal.
    max_pivots : int, optional
        By default 1000 n.
    residual_tolerance : float
        Largest natural residual with which an answer is called SOLVED.

    References
    ----------
    Lemke, Management Science 11 (1965) 681; Cottle, Pang and Stone 1992, algorithm 4.4.5 and
    section 4.9 (lexicographic degeneracy resolution).

    Examples
    --------
    >>> from lcp import LCP, Lemke
    >>> solution = Lemke().solve(LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]))
    >>> solution.status.name, solution.z.round(6).tolist()
    ('SOLVED', [1.333333, 2.333333])
    """

    covering: FloatArray | None = attrs.field(
        default=None,
        converter=_covering,
        eq=lambda value: None if value is None else value_key(value),
        kw_only=True,
    )
    tie_tolerance: float = attrs.field(default=TIE, kw_only=True)
    max_pivots: int | None = attrs.field(default=None, kw_only=True)
    residual_tolerance: float = attrs.field(default=RESIDUAL, kw_only=True)

    def solve(self, problem: LCP) -> Solution:
        """Run the method on `problem`.

        Raises
        ------
        LCPError
            If the covering vector does not fit the problem, or the scaled solution overflows.
        """
        q = problem.q.tolist()
        if min(q, default=0.0) >= 0.0:
            return Solution(z=_frozen(np.zeros(problem.n)), w=problem.q, status=Status.SOLVED)
        if self.covering is None and self.max_pivots is None and self.tie_tolerance == TIE:
            found = _without_close_decisions(problem, q, self.residual_tolerance)
            if found is not None:
                return found
        covering = np.ones(problem.n) if self.covering is None else self.covering
        if covering.shape != problem.q.shape or (covering < 0).any() or (covering[problem.q < 0] <= 0).any():
            raise LCPError("the covering vector must be >= 0, of the order of q, and > 0 wherever q < 0")
        scaling = scaled(problem, always=True)
        limit = PIVOTS_PER_UNKNOWN * problem.n if self.max_pivots is None else self.max_pivots
        path = self._path(scaling.problem, scaling.rows * covering)
        status, n_pivots = path.follow(limit), 0
        if status is None:
            n_pivots = path.n_pivots
            path = self._path(_perturbed(scaling.problem), scaling.rows * covering)
            status = path.follow(limit - n_pivots) or Status.MAX_PIVOTS
        is_solved = status is Status.SOLVED
        z = polished(scaling.problem, path.point(), path.support()) if is_solved else path.point()
        point = _frozen(scaling.point(z))
        # of the given problem, too: rounding that is small next to the entries of a row may be large next to q
        if is_solved and max(scaling.problem.residual(z), problem.residual(point)) > self.residual_tolerance:
            status = Status.INACCURATE
        n_pivots += path.n_pivots
        ray = scaling.direction(path.ray()) if status is Status.RAY else None
        return Solution(z=point, w=_frozen(problem.w(point)), status=status, ray=ray, n_pivots=n_pivots)

    def _path(self, problem: LCP, covering: FloatArray) -> Tableau:
        return Tableau(problem, covering, tie_tolerance=self.tie_tolerance, residual_tolerance=self.residual_tolerance)


def _without_close_decisions(problem: LCP, q: list[float], residual_tolerance: float) -> Solution | None:
    """The end of the path on the numbers as they are, compiled if kernels are loaded; None if it wants more care."""
    n = len(q)
    if loaded.kernels:
        point, other = np.empty(n), np.empty(n)
        code = loaded.kernels[0].follow(problem.M, problem.q, point, other)
        z, w = point.tolist(), other.tolist()
    elif n <= PLAIN_MAX_N:
        z, w = [0.0] * n, [0.0] * n
        code = follow(problem.M.tolist(), q, z, w, [[0.0] * (n + 2) for _ in range(n + 1)], [0] * (2 * n + 1))
        point, other = np.array(z), np.array(w)
    else:
        return None
    if code < 0:
        w_there = _frozen(problem.w(_frozen(point)))
        return Solution(z=point, w=w_there, status=Status.RAY, ray=_frozen(other), n_pivots=-code)
    residual = max(map(abs, map(min, z, w))) / max(1.0, max(q), -min(q))
    if code == 0 or not residual <= residual_tolerance:
        return None
    return Solution(z=_frozen(point), w=_frozen(other), status=Status.SOLVED, n_pivots=code)


def _perturbed(problem: LCP) -> LCP:
    """The problem with q raised by unequal amounts that the residual check of the answer cannot see."""
    size = RESIDUAL * float(np.abs(problem.q).max())
    # multiples of the golden ratio modulo one are spread evenly and never equal
    return LCP(problem.M, problem.q + size * (1.0 + np.arange(problem.n) * 0.6180339887498949 % 1.0))


def _frozen(array: FloatArray) -> FloatArray:
    array.flags.writeable = False
    return array
