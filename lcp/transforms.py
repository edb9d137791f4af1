"""All complementary bases of a small problem by principal pivot transforms in plain numbers.

Breadth first, as in `lcp.kernels.transforms`: from the dictionaries of all bases within the first k indices, one pivot
each at (k, k) gives those that have the index k, and column k, by then zero, is dropped from both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from lcp.path import REMOTE
from lcp.tolerances import ACCURACY, BOUND, PIVOT

__all__ = ["basic_point", "clear_bases"]

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
        for basis, growth, columns in level:
            column, *rest = columns
            pivot = column[k]
            if -PIVOT * growth < pivot < PIVOT * growth:
                return None
            inverse, fresh = 1.0 / pivot, []
            factors = [other[k] * inverse for other in rest]
            for factor, other in zip(factors, rest, strict=True):
                moved = [a - factor * b for a, b in zip(other, column, strict=True)]
                moved[k] = -factor
                fresh.append(moved)
            below.append((basis, growth, rest))
            below.append((basis | 1 << k, growth * _growth(column, inverse) * (1.0 + _size(factors)), fresh))
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
        moved = [a - factor * b for a, b in zip(constants, column, strict=True)]
        moved[k] = -factor
        least, bound = min(moved), ACCURACY + BOUND * growth * _growth(column, inverse) * (1.0 + abs(factor))
        if least > bound:
            bases.append(basis | 1 << k)
        elif least >= -bound:
            return None
    return bases


def _size(numbers: list[float]) -> float:
    largest, least = max(numbers), min(numbers)
    return largest if largest > -least else -least


def _growth(column: list[float], inverse: float) -> float:
    """How much a pivot may enlarge errors, but for the factors of the other columns."""
    inverse = abs(inverse)
    spread = 1.0 + _size(column) * inverse
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
        best = max(range(k, m), key=lambda i: abs(rows[i][k]))
        if best != k:
            rows[k], rows[best] = rows[best], rows[k]
        over = rows[k]
        pivot = over[k]
        if pivot == 0.0:
            return None
        for i in range(k + 1, m):
            factor = rows[i][k] / pivot
            rows[i] = [a - factor * b for a, b in zip(rows[i], over, strict=True)]
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
