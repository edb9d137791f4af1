"""Existence, all solutions, and Lemke's method with symbolic perturbation, in rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import attrs

from lcp.dictionary import Dictionary, Face, Refuted, explore
from lcp.errors import LCPError
from lcp.exact.certificate import NoSolutionCertificate, Number, RationalLCP, Refutation, rational, rational_vector
from lcp.polytopes import face_generators
from lcp.problem import LCP, Status

__all__ = [
    "ExactPiece",
    "ExactSolution",
    "ExactSolutionSet",
    "basic_point",
    "basic_solution",
    "enumerate_solutions",
    "find_solution",
    "integer_dictionary",
    "lemke",
    "refutation_by",
    "refute",
]


Vector = tuple[Fraction, ...]


def refute(problem: LCP | RationalLCP) -> NoSolutionCertificate | None:
    """A proof that the problem has no solution, or None if it has one.

    Parameters
    ----------
    problem : LCP or RationalLCP
        Floats are taken as the rationals they are.

    Returns
    -------
    NoSolutionCertificate or None

    Examples
    --------
    >>> from lcp import LCP
    >>> refute(LCP([[1.0]], [-1.0])) is None
    True
    """
    outcome = _search(problem)
    return outcome if isinstance(outcome, NoSolutionCertificate) else None


def find_solution(problem: LCP | RationalLCP) -> Vector | None:
    """One solution in rational numbers, or None if there is none.

    Parameters
    ----------
    problem : LCP or RationalLCP
        Floats are taken as the rationals they are.

    Returns
    -------
    tuple of Fraction or None
        z, of length n.

    Examples
    --------
    >>> from lcp import LCP
    >>> find_solution(LCP([[2.0]], [-1.0]))
    (Fraction(1, 2),)
    """
    outcome = _search(problem)
    return None if isinstance(outcome, NoSolutionCertificate) else outcome


def _search(problem: LCP | RationalLCP) -> NoSolutionCertificate | Vector:
    exact = rational(problem)
    refutations: list[Refutation] = []
    for leaf in explore(integer_dictionary(exact), exhaustive=False):
        if isinstance(leaf, Face):
            return basic_point(leaf.dictionary)
        refutations.append(_refutation(exact, leaf))
    return NoSolutionCertificate(tuple(refutations))


def _refutation(problem: RationalLCP, leaf: Refuted[int]) -> Refutation:
    n, fixed = problem.n, leaf.dictionary.fixed
    raw = leaf.dictionary.multipliers(leaf.row)
    divisor = math.gcd(*raw)
    zero_w, zero_z = (tuple(i for i in range(n) if start + i in fixed) for start in (0, n))
    return refutation_by(problem, zero_w, zero_z, [Fraction(value // divisor) for value in raw])


def refutation_by(
    problem: RationalLCP, zero_w: tuple[int, ...], zero_z: tuple[int, ...], y: Sequence[Fraction]
) -> Refutation:
    """The refutation of a part by given multipliers, whether or not it is one.

    Parameters
    ----------
    problem : RationalLCP
    zero_w, zero_z : tuple of int
        The part: indices of w and of z that are zero in it.
    y : sequence of Fraction

    Returns
    -------
    Refutation
        With ``y^T M`` and ``y^T q``.
    """
    *combination, constant = (
        sum((a * b for a, b in zip(y, column, strict=True)), Fraction(0))
        for column in (*zip(*problem.M, strict=True), problem.q)
    )
    return Refutation(zero_w, zero_z, tuple(y), combination, constant)


def basic_point(dictionary: Dictionary[int]) -> Vector:
    """z of a dictionary whose nonbasic variables are zero.

    Parameters
    ----------
    dictionary : Dictionary of int

    Returns
    -------
    tuple of Fraction, length n
    """
    n, denominator = dictionary.n, dictionary.denominator
    return tuple(Fraction(dictionary.value(n + i), denominator) for i in range(n))


@attrs.frozen
class ExactPiece:
    """A convex set of solutions: the hull of its vertices plus the cone of its rays.

    Attributes
    ----------
    vertices, rays : tuple of tuple of Fraction
        Of length n each.
    """

    vertices: tuple[Vector, ...]
    rays: tuple[Vector, ...]


@attrs.frozen
class ExactSolutionSet:
    """All solutions in rational numbers.

    Parameters
    ----------
    isolated : tuple of tuples of Fraction
        The isolated solutions, sorted.
    continua : tuple of ExactPiece
        The maximal faces of positive dimension.
    """

    isolated: tuple[Vector, ...]
    continua: tuple[ExactPiece, ...]


def enumerate_solutions(problem: LCP | RationalLCP) -> ExactSolutionSet:
    """Every solution in rational arithmetic.

    Parameters
    ----------
    problem : LCP or RationalLCP

    Returns
    -------
    ExactSolutionSet

    Examples
    --------
    >>> from lcp import LCP
    >>> [z[0] for z in enumerate_solutions(LCP([[-2.0]], [1.0])).isolated]
    [Fraction(0, 1), Fraction(1, 2)]
    """
    exact = rational(problem)
    leaves = explore(integer_dictionary(exact), exhaustive=True)
    pieces = {_piece(leaf.dictionary) for leaf in leaves if isinstance(leaf, Face)}
    zeros = {piece: _zeros(exact, piece) for piece in pieces}
    maximal = [piece for piece in pieces if not any(zeros[other] < zeros[piece] for other in pieces)]
    points = {piece for piece in maximal if len(piece.vertices) == 1 and not piece.rays}
    isolated = sorted(piece.vertices[0] for piece in points)
    continua = [piece for piece in maximal if piece not in points]
    continua.sort(key=lambda piece: (piece.vertices, piece.rays))
    return ExactSolutionSet(isolated=tuple(isolated), continua=tuple(continua))


def _piece(dictionary: Dictionary[int]) -> ExactPiece:
    vertices, rays = [], []
    for scale, z in face_generators(dictionary):
        if scale:
            vertices.append(tuple(Fraction(entry, scale * dictionary.denominator) for entry in z))
        elif any(z):
            largest = max(abs(entry) for entry in z)
            rays.append(tuple(Fraction(entry, largest) for entry in z))
    return ExactPiece(vertices=tuple(sorted(set(vertices))), rays=tuple(sorted(set(rays))))


def _zeros(problem: RationalLCP, piece: ExactPiece) -> frozenset[int]:
    """Variables that vanish on the whole piece; a piece with fewer zeros contains those with more."""
    n = problem.n
    zeros = set(range(2 * n))
    for vector, constant in [(v, 1) for v in piece.vertices] + [(r, 0) for r in piece.rays]:
        w = [
            sum((a * b for a, b in zip(row, vector, strict=True)), constant * q)
            for row, q in zip(problem.M, problem.q, strict=True)
        ]
        zeros -= {i for i in range(n) if w[i]} | {n + i for i in range(n) if vector[i]}
    return frozenset(zeros)


def integer_dictionary(problem: LCP | RationalLCP) -> Dictionary[int]:
    """The dictionary of a problem with M and q multiplied by their least common denominator F.

    That leaves z and the directions of Farkas vectors unchanged and multiplies w by F.

    Parameters
    ----------
    problem : LCP or RationalLCP

    Returns
    -------
    Dictionary
        Of integers, with nothing fixed and tolerance zero.

    Examples
    --------
    >>> integer_dictionary(RationalLCP([[Fraction(1, 2)]], [-1])).rows
    [[1, -2]]
    """
    exact = rational(problem)
    factor = math.lcm(*(entry.denominator for row in (*exact.M, exact.q) for entry in row))
    M = [[int(entry * factor) for entry in row] for row in exact.M]
    q = [int(entry * factor) for entry in exact.q]
    return Dictionary(M, q, tolerance=0, unit=1)


def basic_solution(problem: LCP | RationalLCP, basis: Sequence[int]) -> tuple[Vector, Vector] | None:
    """The point (z, w) of one complementary basis, or None if its matrix is singular.

    Its negative entries are the inequalities the basis violates (Cottle, Pang and Stone 1992, section 1.3).

    Parameters
    ----------
    problem : LCP or RationalLCP
    basis : sequence of int
        The indices with z_i basic; w_i is basic for the others.

    Returns
    -------
    z, w : tuple of Fraction
        Of length n each, with w = M z + q; or None instead of both.

    Raises
    ------
    LCPError
        If an index is repeated, or is not below n.

    Examples
    --------
    >>> from lcp import LCP
    >>> basic_solution(LCP([[-2.0]], [-1.0]), [0])
    ((Fraction(-1, 2),), (Fraction(0, 1),))
    """
    exact = rational(problem)
    n = exact.n
    if len(set(basis)) != len(basis) or not all(0 <= i < n for i in basis):
        raise LCPError(f"a basis must consist of different indices below {n}, got {tuple(basis)}")
    dictionary = integer_dictionary(exact)
    for j in basis:
        column = dictionary.nonbasic.index(n + j)
        rows = enumerate(zip(dictionary.basic, dictionary.rows, strict=True))
        able = [r for r, (variable, row) in rows if variable in basis and row[column]]
        if not able:
            return None
        dictionary.pivot(able[0], column)
    z = basic_point(dictionary)
    return z, exact.w(z)


MAX_PIVOTS = 100_000  # no problem cycles; this bounds the exponential ones


@attrs.frozen
class ExactSolution:
    """The end of one run of Lemke's method (1965), in rational numbers.

    Attributes
    ----------
    z, w : tuple of Fraction
        Of length n each, with w = M z + q.
    status : Status
    ray : tuple of Fraction, or None
        The direction of a secondary ray.
    n_pivots : int
        All as in :class:`lcp.Solution`.
    """

    z: tuple[Fraction, ...]
    w: tuple[Fraction, ...]
    status: Status
    ray: tuple[Fraction, ...] | None
    n_pivots: int


def lemke(
    problem: LCP | RationalLCP, *, covering: Sequence[Number] | None = None, max_pivots: int = MAX_PIVOTS
) -> ExactSolution:
    """Lemke's method with q replaced by q + (eps, eps**2, ...) for an infinitely small eps.

    The perturbation makes every ratio test unique, so the path is the one of a nondegenerate problem
    and the method ends. If the artificial variable is among the rows with the least unperturbed ratio, it
    leaves.

    Parameters
    ----------
    problem : LCP or RationalLCP
    covering : sequence of numbers, length n, optional
        Covering vector d >= 0, positive wherever q is negative; all ones by default.
    max_pivots : int

    Returns
    -------
    ExactSolution

    References
    ----------
    Lemke 1965; Cottle, Pang and Stone 1992, section 4.9.

    Examples
    --------
    >>> from lcp import LCP
    >>> lemke(LCP([[3.0]], [-1.0])).z
    (Fraction(1, 3),)
    """
    exact = rational(problem)
    n = exact.n
    d = [Fraction(1)] * n if covering is None else list(rational_vector(covering))
    if len(d) != n or any(a < 0 or (a == 0 and b < 0) for a, b in zip(d, exact.q, strict=True)):
        raise LCPError("the covering vector must be >= 0, of the order of q, and > 0 wherever q < 0")
    if all(value >= 0 for value in exact.q):
        return ExactSolution((Fraction(0),) * n, exact.q, Status.SOLVED, None, 0)
    dictionary = _with_artificial(exact, d)
    column, n_pivots = n, 0
    covered = [i for i in range(n) if d[i] > 0]
    row: int | None = _least_row(dictionary, covered, sign=1, column=n, artificial=-1)
    while row is not None and n_pivots < max_pivots:
        left = dictionary.basic[row]
        dictionary.pivot(row, column)
        n_pivots += 1
        if left == 2 * n:
            return _end(exact, dictionary, Status.SOLVED, None, n_pivots)
        column = dictionary.nonbasic.index(left + n if left < n else left - n)
        able = [i for i in range(n) if dictionary.rows[i][column] < 0]
        row = _least_row(dictionary, able, sign=-1, column=column, artificial=2 * n) if able else None
    if row is None:
        return _end(exact, dictionary, Status.RAY, column, n_pivots)
    return _end(exact, dictionary, Status.MAX_PIVOTS, None, n_pivots)


def _with_artificial(problem: RationalLCP, d: list[Fraction]) -> Dictionary[int]:
    dictionary = integer_dictionary(problem)
    factor = math.lcm(*(value.denominator for value in d))  # scales the artificial variable only
    for row, value in zip(dictionary.rows, d, strict=True):
        row.insert(-1, int(value * factor))
    dictionary.nonbasic.append(2 * problem.n)
    return dictionary


def _least_row(dictionary: Dictionary[int], rows: list[int], *, sign: int, column: int, artificial: int) -> int:
    """The row whose (constant, row of the inverse basis) / rate is lexicographically least."""
    rates = {i: sign * dictionary.rows[i][column] for i in rows}
    rows = _least(rows, {i: Fraction(dictionary.rows[i][-1], rates[i]) for i in rows})
    for i in rows:
        if dictionary.basic[i] == artificial:
            return i
    for w in range(dictionary.n):
        if len(rows) == 1:
            break
        rows = _least(rows, {i: Fraction(_inverse(dictionary, i, w), rates[i]) for i in rows})
    return rows[0]


def _least(rows: list[int], ratios: dict[int, Fraction]) -> list[int]:
    least = min(ratios.values())
    return [i for i in rows if ratios[i] == least]


def _inverse(dictionary: Dictionary[int], row: int, w: int) -> int:
    """Entry of the inverse basis: how the basic variable of `row` answers to a change of q_w."""
    if dictionary.basic[row] == w:
        return dictionary.denominator
    if w in dictionary.nonbasic:
        return -dictionary.rows[row][dictionary.nonbasic.index(w)]
    return 0


def _end(
    problem: RationalLCP, dictionary: Dictionary[int], status: Status, column: int | None, n_pivots: int
) -> ExactSolution:
    n = problem.n
    z = basic_point(dictionary)
    ray = None
    if column is not None:
        direction = [Fraction(0)] * (2 * n + 1)
        direction[dictionary.nonbasic[column]] = Fraction(1)
        for variable, row in zip(dictionary.basic, dictionary.rows, strict=True):
            direction[variable] = Fraction(row[column], dictionary.denominator)
        ray = tuple(direction[n : 2 * n])
    return ExactSolution(z, problem.w(z), status, ray, n_pivots)
