"""Classes of matrices that decide how many solutions there are, each with a witness where a matrix is not in it.

Everything is decided in rational arithmetic; floats are taken as the rationals they are.

Whether every feasible problem with a matrix is solvable (the class Q0), where that can be decided.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from lcp.dictionary import Face, explore
from lcp.errors import LCPError
from lcp.exact.certificate import Number, RationalLCP, rational
from lcp.exact.search import basic_point, find_solution, integer_dictionary
from lcp.polytopes import face_generators
from lcp.problem import LCP

__all__ = [
    "Matrix",
    "Membership",
    "Rows",
    "Solvability",
    "is_copositive",
    "is_copositive_plus",
    "is_nondegenerate",
    "is_p_matrix",
    "is_q0_matrix",
    "is_strictly_semimonotone",
    "matrix_rows",
]


MAX_N = 14  # 2**14 principal minors: about a second
Matrix: TypeAlias = npt.ArrayLike | Sequence[Sequence[Number]]
Rows: TypeAlias = tuple[tuple[Fraction, ...], ...]


@attrs.frozen
class Membership:
    """Whether a matrix belongs to a class; true or false in a condition.

    Parameters
    ----------
    holds : bool
    minor : tuple of int, or None
        Indices of a principal minor that has the wrong sign.
    vector : tuple of Fraction, or None
        A vector that the class forbids.
    """

    holds: bool
    minor: tuple[int, ...] | None = None
    vector: tuple[Fraction, ...] | None = None

    def __bool__(self) -> bool:
        return self.holds


def matrix_rows(M: Matrix) -> Rows:
    """The rows of a matrix in rational numbers; refused if too large for its principal minors.

    Parameters
    ----------
    M : matrix of order n up to 14, of floats or of rational numbers
        Floats are taken as the rationals they are.

    Returns
    -------
    tuple of tuples of Fraction
        n rows of n.

    Raises
    ------
    LCPError
        If M is not a square matrix of finite numbers, or its order is larger than 14.
    """
    if isinstance(M, np.ndarray):
        floats = LCP(M, np.zeros(M.shape[0] if M.ndim else 0))  # refuses what is no square matrix of numbers
        # integers beyond 2**53 are no floats
        rows = RationalLCP(M.tolist(), [0] * floats.n).M if M.dtype.kind in "iu" else rational(floats).M
    else:
        try:
            listed = [list(row) for row in M]  # type: ignore[union-attr, arg-type]
        except TypeError as error:
            raise LCPError(f"M must be a square matrix of numbers: {error}") from error
        wrong = next((row for row in listed if len(row) != len(listed)), None)
        if wrong is not None:
            raise LCPError(f"M must be square: its rows are {len(listed)}, and one has {len(wrong)} entries")
        rows = RationalLCP(listed, [0] * len(listed)).M
    if len(rows) > MAX_N:
        raise LCPError(f"order {len(rows)} has {2 ** len(rows) - 1} principal minors; at most {MAX_N} is decided")
    return rows


def is_p_matrix(M: Matrix) -> Membership:
    """Whether every principal minor is positive: the problem has exactly one solution for every q.

    Parameters
    ----------
    M : matrix of order up to 14, of floats or of rational numbers

    Returns
    -------
    Membership
        With a minor that is not positive if there is one.

    References
    ----------
    Cottle, Pang and Stone 1992, theorem 3.3.7; Tsatsomeros and Li, BIT 40 (2000) 587 (Schur complements).

    Examples
    --------
    >>> bool(is_p_matrix([[1, 2], [0, 1]])), is_p_matrix([[1, 2], [1, 1]]).minor
    (True, (0, 1))
    """
    failing = next((subset for subset, minor in _principal_minors(matrix_rows(M)) if minor <= 0), None)
    return Membership(failing is None, minor=failing)


def is_nondegenerate(M: Matrix) -> Membership:
    """Whether no principal minor vanishes: every problem has finitely many solutions.

    Parameters
    ----------
    M : matrix of order up to 14, of floats or of rational numbers

    Returns
    -------
    Membership
        With a minor that vanishes if there is one.

    References
    ----------
    Cottle, Pang and Stone 1992, theorem 3.6.3.

    Examples
    --------
    >>> is_nondegenerate([[0, 1], [1, 0]]).minor
    (0,)
    """
    failing = next((subset for subset, minor in _principal_minors(matrix_rows(M)) if minor == 0), None)
    return Membership(failing is None, minor=failing)


def _principal_minors(rows: Rows) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every principal minor, by Schur complements along the tree of subsets; zero pivots by elimination."""
    stack: list[tuple[tuple[int, ...], int, Fraction, Rows]] = [((), 0, Fraction(1), rows)]
    while stack:
        chosen, start, minor, schur = stack.pop()
        for k in range(len(schur)):
            pivot = schur[k][k]
            subset = (*chosen, start + k)
            yield subset, minor * pivot
            rest = range(k + 1, len(schur))
            if pivot:
                below = tuple(tuple(schur[i][j] - schur[i][k] * schur[k][j] / pivot for j in rest) for i in rest)
                stack.append((subset, start + k + 1, minor * pivot, below))
            else:
                for size in range(1, len(rest) + 1):
                    for more in itertools.combinations(rest, size):
                        indices = (k, *more)
                        sub = [[schur[i][j] for j in indices] for i in indices]
                        yield (*chosen, *(start + i for i in indices)), minor * _determinant(sub)


def _determinant(rows: list[list[Fraction]]) -> Fraction:
    result = Fraction(1)
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            rows[k], rows[pivot] = rows[pivot], rows[k]
            result = -result
        result *= rows[k][k]
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return result


def is_copositive(M: Matrix) -> Membership:
    """Whether x^T M x >= 0 for all x >= 0.

    Decided by the complementarity problem of a stationary point: M is not copositive if and only if, with S the
    symmetric part of M, some x >= 0 with sum(x) = 1 has S x >= lambda e, x^T S x = lambda < 0.

    Parameters
    ----------
    M : matrix of order up to 14, of floats or of rational numbers
        It need not be symmetric.

    Returns
    -------
    Membership
        With such an x if there is one.

    References
    ----------
    Cottle, Pang and Stone 1992, definition 3.8.1; Gaddum, Proceedings of the American Mathematical Society 9
    (1958) 898.

    Examples
    --------
    >>> is_copositive([[0, -1], [0, 0]]).vector
    (Fraction(1, 2), Fraction(1, 2))
    """
    rows = matrix_rows(M)
    n = len(rows)
    symmetric = [[(rows[i][j] + rows[j][i]) / 2 for j in range(n)] for i in range(n)]
    # scaled by -lambda > 0, a stationary point solves the problem (S, e) and is not zero
    for x in _solutions(symmetric, [Fraction(1)] * n):
        if any(x):
            total = sum(x, Fraction(0))
            return Membership(False, vector=tuple(value / total for value in x))
    return Membership(True)


def is_copositive_plus(M: Matrix) -> Membership:
    """Whether M is copositive and x >= 0, x^T M x = 0 imply (M + M^T) x = 0: a Lemke ray proves infeasibility.

    Parameters
    ----------
    M : matrix of order up to 14, of floats or of rational numbers
        It need not be symmetric.

    Returns
    -------
    Membership
        With a vector that violates one of both.

    References
    ----------
    Cottle, Pang and Stone 1992, definition 3.8.1 and theorem 4.4.13.

    Examples
    --------
    >>> bool(is_copositive_plus([[0, 1], [-1, 0]])), is_copositive_plus([[0, 1], [0, 0]]).vector
    (True, (Fraction(0, 1), Fraction(1, 1)))
    """
    rows = matrix_rows(M)
    n = len(rows)
    doubled = [[rows[i][j] + rows[j][i] for j in range(n)] for i in range(n)]
    if _is_positive_semidefinite(doubled):
        return Membership(True)
    copositive = is_copositive(rows)
    if not copositive:
        return copositive
    # zeros of a copositive form are the solutions of (M + M^T, 0); they are generated by their rays
    for face in explore(integer_dictionary(RationalLCP(doubled, [0] * n)), exhaustive=True):
        if isinstance(face, Face):
            for scale, ray in face_generators(face.dictionary):
                image = [sum(a * b for a, b in zip(row, ray, strict=True)) for row in doubled]
                if not scale and any(image):
                    largest = max(ray)
                    return Membership(False, vector=tuple(Fraction(value, largest) for value in ray))
    return Membership(True)


def _is_positive_semidefinite(symmetric: Sequence[Sequence[Fraction]]) -> bool:
    """By elimination: no pivot is negative, and the row of one that is zero is zero."""
    rows = [list(row) for row in symmetric]
    while rows:
        pivot, *rest = rows[0]
        if pivot < 0 or (pivot == 0 and any(rest)):
            return False
        factors = [a / pivot if pivot else Fraction(0) for a in rest]
        rows = [
            [a - factor * b for a, b in zip(row[1:], rest, strict=True)]
            for row, factor in zip(rows[1:], factors, strict=True)
        ]
    return True


def is_strictly_semimonotone(M: Matrix) -> Membership:
    """Whether for every x >= 0, x != 0 some index has x_i > 0 and (M x)_i > 0: one solution, zero, for q >= 0.

    Equivalently no principal submatrix B has x > 0 with B x <= 0; Lemke's method then solves every problem.

    Parameters
    ----------
    M : matrix of order up to 14, of floats or of rational numbers

    Returns
    -------
    Membership
        With an x that violates it if there is one.

    References
    ----------
    Cottle, Pang and Stone 1992, theorem 3.9.11 and corollary 4.4.8.

    Examples
    --------
    >>> bool(is_strictly_semimonotone([[1, 0], [5, 1]])), is_strictly_semimonotone([[0]]).vector
    (True, (Fraction(1, 1),))
    """
    rows = matrix_rows(M)
    n = len(rows)
    if is_p_matrix(rows):
        return Membership(True)  # theorem 3.3.4: a P-matrix reverses the sign of no vector
    for size in range(1, n + 1):
        for subset in itertools.combinations(range(n), size):
            # x > 0 with B x <= 0, scaled to x = e + y, y >= 0: the linear system -B y - B e >= 0, y >= 0
            B = [[-rows[i][j] for j in subset] for i in subset]
            dictionary = integer_dictionary(RationalLCP(B, [sum(row, Fraction(0)) for row in B]))
            if dictionary.restore() is None:
                x = [Fraction(0)] * n
                for i, value in zip(subset, basic_point(dictionary), strict=True):
                    x[i] = 1 + value
                return Membership(False, vector=tuple(x))
    return Membership(True)


def _solutions(M: Sequence[Sequence[Fraction]], q: Sequence[Fraction]) -> Iterator[tuple[Fraction, ...]]:
    """A solution of each leaf of the search."""
    problem = RationalLCP(M, q)
    if find_solution(problem) is None:
        return
    for face in explore(integer_dictionary(problem), exhaustive=True):
        if isinstance(face, Face):
            yield basic_point(face.dictionary)


MAX_SUMS = 2000  # right-hand sides tried in search of a witness


@attrs.frozen
class Solvability:
    """Whether a matrix belongs to Q0; true in a condition only if that is proved.

    Parameters
    ----------
    holds : bool or None
        None where neither a reason nor a witness was found.
    reason : str
        The class that decides, or what the witness is.
    vector : tuple of Fraction, or None
        A right-hand side q for which the problem is feasible and has no solution.
    """

    holds: bool | None
    reason: str
    vector: tuple[Fraction, ...] | None = None

    def __bool__(self) -> bool:
        return self.holds is True


def is_q0_matrix(M: Matrix) -> Solvability:
    """Whether the problem (M, q) has a solution whenever it is feasible.

    Decided for every M of order one and two, for P-, copositive-plus, strictly semimonotone, nonpositive and
    Z-matrices, and wherever a sum of columns of (I, -M) is a right-hand side without solution.

    Parameters
    ----------
    M : matrix of order up to 14, of floats or of rational numbers

    Returns
    -------
    Solvability
        With the reason, or with q as witness.

    References
    ----------
    Cottle, Pang and Stone 1992, section 3.2 (Q0: the union of the complementary cones is convex), theorems
    3.3.7, 3.9.11 and 4.4.13, section 3.11 (Z-matrices).

    Examples
    --------
    >>> is_q0_matrix([[0, 1], [-1, 0]]).reason
    'copositive-plus'
    >>> is_q0_matrix([[0, 1], [0, 0]]).vector
    (Fraction(-1, 1), Fraction(1, 1))
    """
    rows = matrix_rows(M)
    reason = _reason(rows)
    if reason:
        return Solvability(True, reason)
    n = len(rows)
    for q in _sums(rows):
        if find_solution(RationalLCP(rows, q)) is None:
            return Solvability(False, "feasible without a solution", q)
    if n <= 2:
        # in the plane a gap between the cones would contain the sum of its two neighbouring columns
        return Solvability(True, "the complementary cones cover the feasible right-hand sides")
    return Solvability(None, "not decided")


def _reason(rows: Rows) -> str:
    n = len(rows)
    if all(value <= 0 for row in rows for value in row):
        return "nonpositive"  # feasible only if q >= 0, which z = 0 solves
    if all(rows[i][j] <= 0 for i in range(n) for j in range(n) if i != j):
        return "Z"
    for name, test in (
        ("P", is_p_matrix),
        ("copositive-plus", is_copositive_plus),
        ("strictly semimonotone", is_strictly_semimonotone),
    ):
        if test(rows):
            return name
    return ""


def _sums(rows: Rows) -> Iterator[tuple[Fraction, ...]]:
    """Sums of two, then three, ... columns of (I, -M): right-hand sides that are feasible by construction."""
    n = len(rows)
    columns = [tuple(Fraction(int(i == j)) for i in range(n)) for j in range(n)]
    columns += [tuple(-row[j] for row in rows) for j in range(n)]
    subsets = itertools.chain.from_iterable(itertools.combinations(columns, k) for k in range(2, n + 1))
    for chosen in itertools.islice(subsets, MAX_SUMS):
        yield tuple(sum(values, Fraction(0)) for values in zip(*chosen, strict=True))
