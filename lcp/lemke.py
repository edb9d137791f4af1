"""Lemke's complementary pivoting.

Lemke's method in a condensed tableau of arrays, careful at every tie.
"""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from lcp import loaded
from lcp.errors import LCPError
from lcp.path import PLAIN_MAX_N, end_of_path, residual_of
from lcp.problem import LCP, FloatArray, Scaling, Solution, Status, checked, float_array, scaled, value_key
from lcp.tolerances import LAST_PLACES, NEARLY_SOLVED, RESIDUAL, TIE

__all__ = ["Lemke", "Tableau", "polished"]


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


PIVOTS_PER_UNKNOWN = 1000  # Murty's and Fathi's examples need 2**n pivots, every other one tried below 10 n


def _covering(values: npt.ArrayLike | None) -> FloatArray | None:
    return None if values is None else float_array(values, name="covering", ndim=1)


@attrs.frozen
class Lemke:
    """Lemke's method: follow the path of almost complementary bases from a covering vector.

    The ratio test is lexicographic, so that no problem cycles; ratios that differ by less than
    the tie tolerance count as equal, and the artificial variable leaves first among equals. Where
    that ends on a ray, ratios count as equal only to the last places, and a solution then found is taken.

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

        Parameters
        ----------
        problem : LCP

        Returns
        -------
        Solution

        Raises
        ------
        LCPError
            If it is given no LCP, the covering vector does not fit the problem, or the scaled solution overflows.
        """
        q = checked(problem).q.tolist()
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
        found = self._end_of_path(problem, scaling, covering, limit, self.tie_tolerance)
        if found.status is not Status.RAY or self.tie_tolerance <= LAST_PLACES:
            return found
        # numbers far below the largest are constants of their own: taken for ties they may lead to a ray
        finer = self._end_of_path(problem, scaling, covering, limit - found.n_pivots, LAST_PLACES)
        if finer.status is not Status.SOLVED:
            return found
        return attrs.evolve(finer, n_pivots=found.n_pivots + finer.n_pivots)

    def _end_of_path(
        self, problem: LCP, scaling: Scaling, covering: FloatArray, limit: int, tie_tolerance: float
    ) -> Solution:
        def start(scaled_problem: LCP) -> Tableau:
            return Tableau(
                scaled_problem,
                scaling.rows * covering,
                tie_tolerance=tie_tolerance,
                residual_tolerance=self.residual_tolerance,
            )

        path = start(scaling.problem)
        status, n_pivots = path.follow(limit), 0
        if status is None:
            n_pivots = path.n_pivots
            path = start(_perturbed(scaling.problem))
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


def _without_close_decisions(problem: LCP, q: list[float], residual_tolerance: float) -> Solution | None:
    """The end of the path on the numbers as they are, compiled if kernels are loaded; None if it wants more care."""
    n = len(q)
    if loaded.kernels:
        point, other = np.empty(n), np.empty(n)
        code = loaded.kernels[0].follow(problem.M, problem.q, point, other)
        z, w = point.tolist(), other.tolist()
    elif n <= PLAIN_MAX_N:
        code, z, w = end_of_path(problem.M.tolist(), q)
        point, other = np.array(z), np.array(w)
    else:
        return None
    if code < 0:
        w_there = _frozen(problem.w(_frozen(point)))
        return Solution(z=point, w=w_there, status=Status.RAY, ray=_frozen(other), n_pivots=-code)
    if code == 0 or not residual_of(q, z, w) <= residual_tolerance:
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
