"""Lemke's method in rational arithmetic with symbolic perturbation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import attrs

from lcp.dictionary import Dictionary
from lcp.errors import LCPError
from lcp.exact.rational import Number, RationalLCP, integer_dictionary, rational, rational_vector
from lcp.problem import LCP
from lcp.solution import Status

__all__ = ["ExactSolution", "lemke"]

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
    z = tuple(Fraction(dictionary.value(n + i), dictionary.denominator) for i in range(n))
    ray = None
    if column is not None:
        direction = [Fraction(0)] * (2 * n + 1)
        direction[dictionary.nonbasic[column]] = Fraction(1)
        for variable, row in zip(dictionary.basic, dictionary.rows, strict=True):
            direction[variable] = Fraction(row[column], dictionary.denominator)
        ray = tuple(direction[n : 2 * n])
    return ExactSolution(z, problem.w(z), status, ray, n_pivots)
