"""Lemke's method in rational arithmetic with symbolic perturbation.

Problems in rational numbers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import attrs

from lcp.dictionary import Dictionary
from lcp.errors import LCPError
from lcp.problem import LCP, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "ExactSolution",
    "Number",
    "RationalLCP",
    "fraction",
    "integer_dictionary",
    "integer_row",
    "lemke",
    "rational",
    "rational_vector",
]


Number: TypeAlias = int | float | Fraction


def rational_vector(values: Iterable[Number]) -> tuple[Fraction, ...]:
    """The numbers as fractions; floats are the rationals they are.

    Parameters
    ----------
    values : iterable of int, float or Fraction

    Returns
    -------
    tuple of Fraction

    Raises
    ------
    LCPError
        If one is not a finite rational number.

    Examples
    --------
    >>> rational_vector([0.5, 2])
    (Fraction(1, 2), Fraction(2, 1))
    """
    try:
        return tuple(fraction(value) for value in values)
    except (TypeError, ValueError, OverflowError) as error:
        raise LCPError(f"a rational problem needs finite rational numbers: {error}") from error


def fraction(value: Number | str) -> Fraction:
    """The number as a fraction of Python's integers; those of NumPy would remain in it and overflow there.

    Parameters
    ----------
    value : int, float, Fraction or str
        Integers of NumPy too; a string such as "1/3".

    Returns
    -------
    Fraction
    """
    return Fraction(operator.index(value)) if hasattr(value, "__index__") else Fraction(value)


def _matrix(rows: Sequence[Sequence[Number]]) -> tuple[tuple[Fraction, ...], ...]:
    try:
        return tuple(rational_vector(row) for row in rows)
    except TypeError as error:
        raise LCPError(f"a matrix must be a sequence of rows: {error}") from error


def integer_row(values: Sequence[Fraction]) -> list[int]:
    """The smallest multiple of a row of fractions by their denominators that is a row of integers.

    Parameters
    ----------
    values : sequence of Fraction

    Returns
    -------
    list of int
        With the signs of the fractions.

    Examples
    --------
    >>> integer_row([Fraction(1, 2), Fraction(-2, 3)])
    [3, -4]
    """
    factor = math.lcm(*(value.denominator for value in values))
    return [int(value * factor) for value in values]


@attrs.frozen
class RationalLCP:
    """The problem (M, q) in rational numbers; floats are taken as the rationals they are.

    Attributes
    ----------
    M : tuple of tuple of Fraction
        n rows of length n.
    q : tuple of Fraction
        Of length n.

    Examples
    --------
    >>> RationalLCP([[Fraction(1, 3)]], [-1]).q
    (Fraction(-1, 1),)
    """

    M: tuple[tuple[Fraction, ...], ...] = attrs.field(converter=_matrix)
    q: tuple[Fraction, ...] = attrs.field(converter=rational_vector)

    @q.validator
    def _matches(self, attribute: object, value: tuple[Fraction, ...]) -> None:
        if len(self.M) != len(value) or any(len(row) != len(value) for row in self.M):
            raise LCPError(f"M must be square and of the order of q, which is {len(value)}")

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return len(self.q)

    def w(self, z: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """The complementary variable M z + q.

        Parameters
        ----------
        z : sequence of Fraction, (n,)

        Returns
        -------
        tuple of Fraction, (n,)
        """
        return tuple(
            sum((a * b for a, b in zip(row, z, strict=True)), constant)
            for row, constant in zip(self.M, self.q, strict=True)
        )


def rational(problem: LCP | RationalLCP) -> RationalLCP:
    """The same problem in rational numbers, without rounding.

    Parameters
    ----------
    problem : LCP or RationalLCP

    Returns
    -------
    RationalLCP

    Examples
    --------
    >>> rational(LCP([[0.5]], [-1.0])).M
    ((Fraction(1, 2),),)
    """
    if isinstance(problem, RationalLCP):
        return problem
    return RationalLCP(problem.M.tolist(), problem.q.tolist())


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
