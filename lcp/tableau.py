"""Lemke's method in a condensed tableau of arrays, careful at every tie."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray
from lcp.problem import LCP
from lcp.solution import Status
from lcp.tolerances import NEARLY_SOLVED

__all__ = ["Tableau", "polished"]

PIVOTS_BETWEEN_FACTORISATIONS = 40


def polished(problem: LCP, z: FloatArray, support: npt.NDArray[np.intp]) -> FloatArray:
    """The solution of M_aa z_a = -q_a on the final support if its residual is smaller than z's, else z.

    Many pivots accumulate rounding; one fresh factorisation removes it.

    Parameters
    ----------
    problem : LCP
    z : ndarray, shape (n,)
        The point at the end of the pivots.
    support : ndarray of int
        Indices a of the basic z.

    Returns
    -------
    ndarray, shape (n,)
        Non-negative.
    """
    fresh = np.zeros(problem.n)
    clipped: FloatArray = np.maximum(z, 0.0)
    try:
        fresh[support] = np.linalg.solve(problem.M[np.ix_(support, support)], -problem.q[support])
    except np.linalg.LinAlgError:
        return clipped
    fresh = np.maximum(fresh, 0.0)
    return fresh if problem.residual(fresh) <= problem.residual(clipped) else clipped


class Tableau:
    """The dictionary basic = constant + T nonbasic; variables w_i = i, z_i = n + i, z_0 = 2 n."""

    def __init__(self, problem: LCP, covering: FloatArray, *, tie_tolerance: float, residual_tolerance: float) -> None:
        n = problem.n
        self.n = n
        self.problem = problem
        self.columns: FloatArray = np.column_stack([np.eye(n), -problem.M, -covering])
        self.residual_tolerance = residual_tolerance
        self.T: FloatArray = np.column_stack([problem.M, covering])
        self.constant: FloatArray = problem.q.copy()
        self.basic = np.arange(n)
        self.nonbasic = np.append(np.arange(n, 2 * n), 2 * n)
        self.tolerance = tie_tolerance
        self.n_pivots = 0
        self.column = n  # the artificial variable enters first

    def follow(self, max_pivots: int) -> Status | None:
        """Pivot to the end; None if rounding has made the path return to an earlier basis."""
        row = self._first_row()
        key, visited = (1 << self.n) - 1, set[int]()
        while True:
            if self.n_pivots >= max_pivots:
                return Status.MAX_PIVOTS
            left, entered = int(self.basic[row]), int(self.nonbasic[self.column])
            self._pivot(row, self.column)
            key ^= (1 << left) | (1 << entered)
            if key in visited:
                return None
            visited.add(key)
            if left == 2 * self.n:
                return Status.SOLVED
            entering = left + self.n if left < self.n else left - self.n
            self.column = int(np.flatnonzero(self.nonbasic == entering)[0])
            if self.n_pivots % PIVOTS_BETWEEN_FACTORISATIONS == 0:
                self._factorise()
            blocking = self._blocking_row()
            if blocking is None and self._factorise():
                blocking = self._blocking_row()
            if self._is_nearly_solved(blocking):
                return Status.SOLVED
            if blocking is None:
                return Status.RAY
            row = blocking

    def _first_row(self) -> int:
        covered = np.flatnonzero(self.T[:, self.n] > 0)
        rates = self.T[covered, self.n]
        self.first_value = float((-self.constant[covered] / rates).max())
        return self._lexicographic_minimum(covered, rates, artificial=-1)

    def _blocking_row(self) -> int | None:
        rates = -self.T[:, self.column]
        rows = np.flatnonzero(rates > self.tolerance * max(1.0, float(np.abs(rates).max())))
        if rows.size == 0:
            return None
        return self._lexicographic_minimum(rows, rates[rows], artificial=2 * self.n)

    def _lexicographic_minimum(self, rows: npt.NDArray[np.intp], rates: FloatArray, *, artificial: int) -> int:
        """The row whose (constant, row of the inverse basis) / rate is lexicographically least."""
        rows, rates = self._least(rows, rates, self.constant[rows] / rates)
        if rows.size > 1:
            chosen = np.flatnonzero(self.basic[rows] == artificial)
            if chosen.size:
                return int(rows[chosen[0]])
        for w in range(self.n):
            if rows.size == 1:
                break
            where = np.flatnonzero(self.nonbasic == w)
            if where.size:
                inverse = -self.T[rows, where[0]]
            else:
                inverse = (self.basic[rows] == w).astype(np.float64)
            rows, rates = self._least(rows, rates, inverse / rates)
        return int(rows[0])

    def _least(
        self, rows: npt.NDArray[np.intp], rates: FloatArray, ratios: FloatArray
    ) -> tuple[npt.NDArray[np.intp], FloatArray]:
        least = float(ratios.min())
        # entries of the dictionary are known to the tolerance: the smaller the rate, the less is known of the ratio
        keep = ratios <= least + self.tolerance * max(1.0, abs(least)) * np.maximum(1.0, 1.0 / rates)
        return rows[keep], rates[keep]

    def _pivot(self, row: int, column: int) -> None:
        pivot = self.T[row, column]
        over = self.T[:, column] / pivot
        over[row] = 0.0
        scale = self.T[row].copy()
        self.constant -= over * self.constant[row]
        self.T -= np.outer(over, scale)
        self.constant[row] /= -pivot
        self.T[row] = scale / -pivot
        self.T[:, column] = over
        self.T[row, column] = 1.0 / pivot
        self.basic[row], self.nonbasic[column] = self.nonbasic[column], self.basic[row]
        self.n_pivots += 1

    def _is_nearly_solved(self, blocking: int | None) -> bool:
        """Whether the artificial variable has missed its tie by rounding: the point without it is a solution."""
        value = float(self.constant[self.basic == 2 * self.n][0])
        if blocking is not None and value > NEARLY_SOLVED * self.first_value:
            return False
        z = polished(self.problem, self.point(), self.support())
        return self.problem.residual(z) <= NEARLY_SOLVED * self.residual_tolerance

    def _factorise(self) -> bool:
        """Compute the dictionary afresh from its basis, without the rounding of the pivots, if possible."""
        try:
            fresh = np.linalg.solve(
                self.columns[:, self.basic], np.column_stack([-self.columns[:, self.nonbasic], self.problem.q])
            )
        except np.linalg.LinAlgError:
            return False
        self.T = np.array(fresh[:, :-1], dtype=np.float64)
        self.constant = np.array(fresh[:, -1], dtype=np.float64)
        return True

    def support(self) -> npt.NDArray[np.intp]:
        """Indices of the basic z."""
        inside = self.basic[(self.basic >= self.n) & (self.basic < 2 * self.n)]
        return np.sort(inside) - self.n

    def point(self) -> FloatArray:
        """The z of this basis, not negative."""
        values = np.zeros(2 * self.n + 1)
        values[self.basic] = self.constant
        return np.maximum(values[self.n : 2 * self.n], 0.0)

    def ray(self) -> FloatArray:
        """The direction in z of the entering variable."""
        values = np.zeros(2 * self.n + 1)
        values[self.basic] = self.T[:, self.column]
        values[self.nonbasic[self.column]] = 1.0
        return values[self.n : 2 * self.n]
