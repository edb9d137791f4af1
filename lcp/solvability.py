"""Whether every feasible problem with a matrix is solvable (the class Q0), where that can be decided."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import attrs

from lcp.classes import (
    Matrix,
    Rows,
    is_copositive_plus,
    is_p_matrix,
    is_strictly_semimonotone,
    matrix_rows,
)
from lcp.exact.rational import RationalLCP
from lcp.exact.search import find_solution

__all__ = ["Solvability", "is_q0_matrix"]

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
