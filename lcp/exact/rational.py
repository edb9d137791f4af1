"""Problems in rational numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

import attrs

from lcp.dictionary import Dictionary
from lcp.errors import LCPError
from lcp.problem import LCP

__all__ = ["Number", "RationalLCP", "fraction", "integer_dictionary", "integer_row", "rational", "rational_vector"]

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
        """The complementary variable M z + q, length n."""
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
