"""Every solution of a linear complementarity problem.

All complementary bases of a small problem by principal pivot transforms in plain numbers.

Breadth first, as in `lcp.kernels.transforms`: from the dictionaries of all bases within the first k indices, one pivot
each at (k, k) gives those that have the index k, and column k, by then zero, is dropped from both.
"""

from __future__ import annotations

import math
from itertools import compress
from typing import TYPE_CHECKING

import attrs
import numpy as np
import numpy.typing as npt

from lcp import loaded
from lcp.dictionary import Dictionary, Face, PivotLimitError, Refuted, explore
from lcp.errors import LCPError
from lcp.path import REMOTE
from lcp.polytopes import Piece, Polytope, piece_of, union
from lcp.problem import TOO_LARGE, FloatArray, Scaling, checked, float_array, scaled, value_key
from lcp.tolerances import ACCURACY, BOUND, CLEARLY_ZERO, HIDDEN, PIVOT, ZERO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lcp.problem import LCP

__all__ = ["SolutionSet", "basic_point", "clear_bases", "enumerate_solutions"]


Columns = list[list[float]]


def clear_bases(M: Sequence[Sequence[float]], q: Sequence[float]) -> list[int] | None:
    """The complementary bases that solve the problem, by sets of bits, if no number of any dictionary is a close one.

    Parameters
    ----------
    M, q : finite numbers, n rows of n and n, n >= 1

    Returns
    -------
    list of int or None
        None where a constant of a dictionary, or a pivot, is near zero next to the size of the entries, or near the
        bound of its rounding errors.

    Examples
    --------
    >>> clear_bases([[-2.0]], [1.0]), clear_bases([[-2.0]], [-1.0]), clear_bases([[2.0]], [0.0])
    ([0, 1], [], None)
    """
    n, size = len(q), max(map(abs, q))
    largest = max([max(map(abs, row)) for row in M])
    if not (1.0 / REMOTE < largest < REMOTE and 1.0 / REMOTE < size < REMOTE):
        return None
    s, t = 1.0 / largest, 1.0 / size
    columns = [[s * entry for entry in column] for column in zip(*M, strict=True)]
    columns.append([t * entry for entry in q])
    level: list[tuple[int, float, Columns]] = [(0, 1.0, columns)]
    for k in range(n - 1):
        below: list[tuple[int, float, Columns]] = []
        for basis, growth, (column, *rest) in level:
            pivot = column[k]
            if -PIVOT * growth < pivot < PIVOT * growth:
                return None
            inverse, fresh, largest = 1.0 / pivot, [], 0.0
            for other in rest:
                factor = other[k] * inverse
                moved = [a - factor * b for a, b in zip(other, column)]  # noqa: B905  # strict costs a fifth of it all
                moved[k] = -factor
                fresh.append(moved)
                largest = max(largest, factor, -factor)
            below.append((basis, growth, rest))
            below.append((basis | 1 << k, growth * _growth(column, inverse) * (1.0 + largest), fresh))
        level = below
    bases, k = [], n - 1
    for basis, growth, (column, constants) in level:
        pivot = column[k]
        if -PIVOT * growth < pivot < PIVOT * growth:
            return None
        least, bound = min(constants), ACCURACY + BOUND * growth
        if least > bound:
            bases.append(basis)
        elif least >= -bound:
            return None
        inverse = 1.0 / pivot
        factor = constants[k] * inverse
        moved = [a - factor * b for a, b in zip(constants, column)]  # noqa: B905  # as above
        moved[k] = -factor
        least, bound = min(moved), ACCURACY + BOUND * growth * _growth(column, inverse) * (1.0 + abs(factor))
        if least > bound:
            bases.append(basis | 1 << k)
        elif least >= -bound:
            return None
    return bases


def _growth(column: list[float], inverse: float) -> float:
    """How much a pivot may enlarge errors, but for the factors of the other columns."""
    inverse, largest, least = abs(inverse), max(column), -min(column)
    spread = 1.0 + (largest if largest > least else least) * inverse
    return spread if spread > inverse else inverse


def basic_point(M: Sequence[Sequence[float]], q: Sequence[float], basis: int) -> list[float] | None:
    """The z of a complementary basis, by elimination with row exchanges; None where a pivot is zero.

    Parameters
    ----------
    M, q : finite numbers, n rows of n and n
    basis : int
        Bit i is set if z_i is basic.

    Returns
    -------
    list of float or None
        n numbers, zero outside the basis. Not checked for signs: negative entries are violated inequalities.

    Examples
    --------
    >>> basic_point([[2.0, 1.0], [1.0, 4.0]], [-1.0, -1.0], 1)
    [0.5, 0.0]
    """
    n = len(q)
    is_inside = [basis >> i & 1 for i in range(n)]
    rows = [[*compress(M[i], is_inside), -q[i]] for i in range(n) if is_inside[i]]
    m = len(rows)
    for k in range(m):
        sizes = [abs(row[k]) for row in rows[k:]]
        best = k + sizes.index(max(sizes))
        rows[k], rows[best] = rows[best], rows[k]
        over = rows[k]
        pivot = over[k]
        if pivot == 0.0:
            return None
        for row in rows[k + 1 :]:
            factor = row[k] / pivot
            for j in range(k + 1, m + 1):
                row[j] -= factor * over[j]
    values = [0.0] * m
    for k in range(m - 1, -1, -1):
        row = rows[k]
        total = row[m]
        for j in range(k + 1, m):
            total -= row[j] * values[j]
        values[k] = total / row[k]
    z, at = [0.0] * n, 0
    for i in range(n):
        if is_inside[i]:
            z[i] = values[at]
            at += 1
    return z


MAX_N = 20  # 2**20 complementary bases: minutes at worst
PLAIN_MAX_N = 6  # up to here all bases are looked at sooner than the search has refuted most of them
ROWS = 64  # solutions for which the compiled search has room at first
EXACT_MAX_N = 12  # up to here doubtful problems are settled in rational arithmetic, in about a second


def _points(values: npt.ArrayLike) -> FloatArray:
    return float_array(values, name="isolated", ndim=2)


@attrs.frozen
class SolutionSet:
    """All solutions of a problem.

    Parameters
    ----------
    isolated : ndarray, shape (N, n)
        The isolated solutions, each once, in lexicographic order.
    continua : tuple of Polytope
        The maximal faces of positive dimension; every other solution lies in one of them.
    complete : bool
        Whether it is proved that there is no other solution.
    n_bases : int
        Number of complementary bases covered by the search, 2**n.
    """

    isolated: FloatArray = attrs.field(converter=_points, eq=value_key)
    continua: tuple[Polytope, ...]
    complete: bool
    n_bases: int

    @property
    def is_empty(self) -> bool:
        """Whether no solution was found; a proof that there is none if also `complete`."""
        return not len(self.isolated) and not self.continua

    @property
    def points(self) -> FloatArray:
        """The isolated solutions and the vertices of the continua, shape (N, n)."""
        return np.vstack([self.isolated, *(piece.vertices for piece in self.continua)])


def enumerate_solutions(problem: LCP, *, max_n: int = MAX_N, tolerance: float = ZERO) -> SolutionSet:
    """Every solution, found depth-first over the complementary cones.

    Where no number of any complementary basis is near zero, their signs are the answer (n <= 6). Kernels that are
    loaded prove by bounds of all rounding errors that no solution is missed. If rounding could overturn a decision of
    the search, it is repeated in rational arithmetic (n <= 12), or else the answer is marked incomplete. One kind of
    doubt is left as it is: continua that are there if numbers below 1e-13 of the entries count as zero are kept, so
    that contacts that are redundant but for rounding have them, and the answer is marked incomplete, because the
    numbers taken literally prove no continuum.

    Parameters
    ----------
    problem : LCP
    max_n : int
        Largest order accepted.
    tolerance : float
        Numbers up to this size, in the problem scaled to entries of about one, count as zero.

    Returns
    -------
    SolutionSet

    Raises
    ------
    LCPError
        If the order is larger than `max_n`, or an argument is of another kind.

    Examples
    --------
    >>> from lcp import LCP, enumerate_solutions
    >>> enumerate_solutions(LCP([[-1.0]], [1.0])).isolated.tolist()
    [[0.0], [1.0]]
    >>> enumerate_solutions(LCP([[1.0, 1.0], [1.0, 1.0]], [-1.0, -1.0])).continua[0].dimension
    1
    """
    given: object = tolerance
    if not isinstance(given, (float, int)) or not 0.0 <= given < 1.0:
        raise LCPError(f"the tolerance must be a number from 0 to 1, got {tolerance!r:.60}")
    given = max_n
    if not isinstance(given, int):
        raise LCPError(f"max_n must be a whole number, got {max_n!r:.60}")
    if checked(problem).n > max_n:
        raise LCPError(
            f"enumeration of order {problem.n} has to cover {_spoken_bases(problem.n)} complementary bases; "
            f"pass max_n={problem.n} to insist, or use Lemke for one solution"
        )
    if tolerance <= ZERO and problem.n >= 1:
        found = _without_close_numbers(problem)
        if found is not None:
            return found
    scaling = scaled(problem, always=True)
    pieces, is_certain, is_literal = _float_pieces(scaling.problem, tolerance)
    is_certain = is_certain and not _has_hidden_entries(problem, scaling.problem)
    is_small = problem.n <= EXACT_MAX_N
    if is_small and not is_certain:
        return _solution_set(problem, *_exact_solutions(problem), complete=True)
    isolated, continua = union(scaling.problem, pieces, tolerance=tolerance)
    if is_small and not is_literal:
        points, exact = _exact_solutions(problem)
        if _dimensions(continua) <= _dimensions(exact):
            return _solution_set(problem, points, exact, complete=True)
    isolated, continua = [scaling.point(z) for z in isolated], [_unscaled(piece, scaling) for piece in continua]
    return _solution_set(problem, isolated, continua, complete=is_certain and is_literal)


def _without_close_numbers(problem: LCP) -> SolutionSet | None:
    """All solutions by the signs of all bases, or by the compiled search; None where one of them wants more care."""
    n = problem.n
    if loaded.kernels:
        points = _by_kernel(problem, loaded.kernels[0].every_solution)
    else:
        points = _by_transforms(problem) if n <= PLAIN_MAX_N else None
    if points is None:
        return None
    isolated = np.array(sorted(points)) if points else np.zeros((0, n))
    return SolutionSet(isolated=isolated, continua=(), complete=True, n_bases=1 << n)


def _by_kernel(
    problem: LCP, every_solution: Callable[[FloatArray, FloatArray, FloatArray], int]
) -> list[list[float]] | None:
    points = np.empty((ROWS, problem.n))
    count = every_solution(problem.M, problem.q, points)
    if count > ROWS:
        points = np.empty((count, problem.n))
        count = every_solution(problem.M, problem.q, points)
    found: list[list[float]] = points[: max(count, 0)].tolist()
    return found if count >= 0 else None


def _by_transforms(problem: LCP) -> list[list[float]] | None:
    M, q = problem.M.tolist(), problem.q.tolist()
    bases = clear_bases(M, q)
    if bases is None:
        return None
    points = []
    for basis in bases:
        z = basic_point(M, q, basis)
        if z is None or not all(0.0 < x < math.inf for i, x in enumerate(z) if basis >> i & 1):
            return None
        points.append(z)
    return points


def _dimensions(continua: list[Polytope]) -> list[int]:
    """Of the continua, the largest first: how much a search has found."""
    return sorted((continuum.dimension for continuum in continua), reverse=True)


def _solution_set(problem: LCP, isolated: list[FloatArray], continua: list[Polytope], *, complete: bool) -> SolutionSet:
    points = np.array(sorted(z.tolist() for z in isolated), dtype=np.float64).reshape(len(isolated), problem.n)
    return SolutionSet(isolated=points, continua=tuple(continua), complete=complete, n_bases=2**problem.n)


def _spoken_bases(n: int) -> str:
    return f"2**{n}" + (f" = {2**n}" if n <= 64 else "")


def _has_hidden_entries(problem: LCP, scaled_problem: LCP) -> bool:
    """Whether an entry is too small next to the others to be their rounding, and too small to be seen.

    Scaling may even have made it zero.
    """
    given = np.append(problem.M.ravel(), problem.q)
    entries = np.abs(np.append(scaled_problem.M.ravel(), scaled_problem.q))
    return bool(((given != 0) & (entries < HIDDEN)).any())


def _float_pieces(problem: LCP, tolerance: float) -> tuple[list[Piece], bool, bool]:
    """Solution pieces in floating point, whether no decision was a close one, and whether none met a zero.

    A zero may be a cancellation of numbers that differ beyond their last digit.
    """
    root = Dictionary(problem.M.tolist(), problem.q.tolist(), tolerance=tolerance, unit=1.0)
    pieces: list[Piece] = []
    is_certain, is_literal = True, True
    try:
        for leaf in explore(root, exhaustive=True):
            piece = piece_of(leaf.dictionary) if isinstance(leaf, Face) else None
            if piece is not None and len(piece.vertices):
                pieces.append(piece)
            is_certain = is_certain and not is_doubtful(leaf) and (piece is None or len(piece.vertices) > 0)
            is_literal = is_literal and not _has_zero(leaf)
    except PivotLimitError:
        is_certain = False
    return pieces, is_certain, is_literal


def _deciding_numbers(leaf: Face[float] | Refuted[float]) -> list[float]:
    dictionary = leaf.dictionary
    rows: Iterable[list[float]] = dictionary.rows if isinstance(leaf, Face) else [dictionary.rows[leaf.row]]
    places = (*dictionary.free_columns(), -1)
    return [abs(row[j]) for row in rows for j in places]


def _has_zero(leaf: Face[float] | Refuted[float]) -> bool:
    return any(number <= leaf.dictionary.tolerance for number in _deciding_numbers(leaf))


def is_doubtful(leaf: Face[float] | Refuted[float]) -> bool:
    """Whether a number that decided about this leaf is neither clearly zero nor clearly not.

    Clearly zero is below 1e-4 of the tolerance: the rounding of redundant contacts, some 1e-15 of
    entries of size one, stays there. Clearly not zero is above a hundred times the tolerance.

    Parameters
    ----------
    leaf : Face or Refuted
        Its numbers are floats, of a problem scaled to entries of about one. Of a refuted leaf the contradictory row
        counts.

    Returns
    -------
    bool
        True also where an entry of the dictionary has grown beyond 1e6: rounding then counts as much as the tolerance.
    """
    dictionary = leaf.dictionary
    low, high = CLEARLY_ZERO * dictionary.tolerance, 1e2 * dictionary.tolerance
    if any(low < number < high for number in _deciding_numbers(leaf)):
        return True
    growth = max((abs(a) for row in dictionary.rows for a in row), default=0.0)
    return growth > 1e6


def _exact_solutions(problem: LCP) -> tuple[list[FloatArray], list[Polytope]]:
    """Isolated points and continua in rational arithmetic: what differs at all is not one."""
    from lcp.exact.search import enumerate_solutions as enumerate_exactly

    found = enumerate_exactly(problem)
    try:
        isolated = [np.array(z, dtype=np.float64) for z in found.isolated]
        continua = [Polytope(_matrix(c.vertices, problem.n), _matrix(c.rays, problem.n)) for c in found.continua]
    except OverflowError as error:
        raise LCPError(TOO_LARGE) from error
    return isolated, continua


def _matrix(rows: Sequence[Sequence[object]], width: int) -> FloatArray:
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)


def _unscaled(continuum: Polytope, scaling: Scaling) -> Polytope:
    vertices = [scaling.point(vertex) for vertex in continuum.vertices]
    rays = [scaling.direction(ray) for ray in continuum.rays]
    return Polytope(np.array(vertices), np.array(rays).reshape(-1, continuum.vertices.shape[1]))
