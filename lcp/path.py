"""Lemke's path in plain numbers, for problems in which no decision of it is a close one.

One text for two readers: Python runs it on lists, and `lcp.kernels` compiles it for arrays. Both do the same
operations in the same order, but that a compiler may round a product and a sum once together; no decision hangs on it.
What is close, or not accurate in the end, is left to `lcp.Lemke`.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from lcp.problem import Status
from lcp.tolerances import NEAR_THE_END, RESIDUAL, ZERO

__all__ = ["DOUBTFUL", "PARTS", "PLAIN_MAX_N", "REMOTE", "end_of_path", "follow", "plain_path", "residual_of"]

DOUBTFUL = 0
# `lcp.Lemke` takes a rate below 1e-11 of the largest one, at least 1, for zero, and ratios that differ by as much for
# equal. It would decide alike from here on, whatever rounding and powers of two there are between the two scalings.
RATE, CLOSE = RESIDUAL, ZERO
LARGE = 1e3  # rates
FAR = 1e5  # values
EVEN = 0.03125  # of the largest entry: rows and columns have an entry as large as this, or want scaling
REMOTE = 1e100  # entries of such sizes are left alone
GROWN = 1e6  # product of the reciprocals of pivots: rounding of 1e-10
ACCURATE = 2.0**-46  # of the terms of w_i: some ten roundings
PIVOTS_PER_UNKNOWN = 10
PLAIN_MAX_N = 16  # from here on arrays are faster than lists
Numbers: TypeAlias = Any
"""A list, or a vector to the compiler."""
Rows: TypeAlias = Any
"""A list of lists, or a matrix."""


def follow(
    M: Rows,
    q: Numbers,
    z: Numbers,
    w: Numbers,
    T: Rows,
    labels: Numbers,
) -> int:
    """Pivots of Lemke's method with the covering vector of ones, from a problem with a negative q_i.

    Parameters
    ----------
    M, q : finite numbers, n rows of n and n
    z, w : n numbers
        Overwritten by the solution, or by the end of the path and the direction of the ray in z.
    T : n + 1 rows of n + 2 numbers
        Overwritten; the last row is room for a copy.
    labels : 2 n + 1 integers
        Overwritten: basic and nonbasic variables, w_i = i, z_i = n + i, the artificial one 2 n.

    Returns
    -------
    int
        The number of pivots if z is a solution, its negative for a secondary ray, DOUBTFUL (0) where a decision was a
        close one.

    Examples
    --------
    >>> z, w = [0.0], [0.0]
    >>> follow([[2.0]], [-1.0], z, w, [[0.0] * 3, [0.0] * 3], [0] * 3), z
    (2, [0.5])
    """
    n = len(q)
    first, scale = _start(M, q, z, T, labels)
    if first < 0:
        return DOUBTFUL
    column, growth = first, 1.0
    near_the_end = NEAR_THE_END * T[first][n + 1]
    for n_pivots in range(1, PIVOTS_PER_UNKNOWN * (n + 1)):
        row = _blocking_row(T, column, first, n)
        if row == -2 or T[first][n + 1] <= near_the_end:
            return DOUBTFUL
        if row == -1:
            _write_point(T, labels, scale, z)
            _write_ray(T, labels, column, w)
            return -n_pivots if growth < GROWN else DOUBTFUL
        pivot = T[row][column]
        growth = growth / -pivot if pivot > -1.0 else growth
        left = labels[row]
        _pivot(T, row, column, n)
        labels[row], labels[n + column] = labels[n + column], left
        if left == 2 * n:
            _write_point(T, labels, scale, z)
            return n_pivots + 1 if _is_solution(M, q, z, w) else DOUBTFUL
        entering = left + n if left < n else left - n
        column = 0
        while labels[n + column] != entering:
            column += 1
    return DOUBTFUL


def _start(
    M: Rows,
    q: Numbers,
    z: Numbers,
    T: Rows,
    labels: Numbers,
) -> tuple[int, float]:
    """The dictionary whose artificial variable has replaced w_first, the least q; first is -1 where that is close.

    Columns are z_0 to z_(n - 1), w_first and the constants. It is that of the matrix and the vector divided by powers
    of two; z is to be multiplied by the second number.
    """
    n = len(q)
    largest, smallest, size, first = 0.0, math.inf, 0.0, 0
    for j in range(n):
        z[j] = 0.0
        entry = abs(q[j])
        size = entry if entry > size else size
        first = j if q[j] < q[first] else first
    for i in range(n):
        of_row = 0.0
        for j, entry in enumerate(M[i]):
            entry = abs(entry)
            if entry > of_row:
                of_row = entry
            if entry > z[j]:
                z[j] = entry
        largest, smallest = of_row if of_row > largest else largest, of_row if of_row < smallest else smallest
    for of_column in z:
        smallest = of_column if of_column < smallest else smallest
    is_fit = 1.0 / REMOTE < largest < REMOTE and 1.0 / REMOTE < size < REMOTE
    if not is_fit or smallest < EVEN * largest or q[first] > -CLOSE * size:
        return -1, 1.0
    # powers of two, so that nothing is rounded
    exponent, of_size = math.frexp(largest)[1], math.frexp(size)[1]
    s, t = math.ldexp(1.0, -exponent), math.ldexp(1.0, -of_size)
    over, least = T[first], t * q[first]
    for j, entry in enumerate(M[first]):
        over[j] = -s * entry
    over[n], over[n + 1] = 1.0, -least
    for i in range(n):
        labels[i], labels[n + i] = i, n + i
        if i != first:
            line = T[i]
            for j, entry in enumerate(M[i]):
                line[j] = s * entry + over[j]
            line[n], line[n + 1] = 1.0, t * q[i] - least
            if line[n + 1] <= CLOSE:
                return -1, 1.0
    labels[first], labels[2 * n] = 2 * n, first
    return first, math.ldexp(1.0, of_size - exponent)


def _blocking_row(T: Rows, column: int, artificial: int, n: int) -> int:
    """The row with the least ratio; -1 if nothing decreases, -2 if that is close.

    Among rows that are close that of the artificial variable is taken, as `lcp.Lemke` does: the path ends there, at a
    point that is looked at in any case.
    """
    row, least, second, slowest = -1, math.inf, math.inf, 1.0
    for i in range(n):
        line = T[i]
        rate, value = -line[column], line[n + 1]
        if rate > 0.0:
            if rate < RATE or rate > LARGE:
                return -2
            slowest = rate if rate < slowest else slowest
            ratio = value / rate
            if ratio < least:
                row, least, second = i, ratio, least
            elif ratio < second:
                second = ratio
        if rate < -LARGE or value > FAR:
            return -2
    close = CLOSE * max(1.0, abs(least)) / slowest
    if second - least <= close:
        rate, value = -T[artificial][column], T[artificial][n + 1]
        return artificial if rate > 0.0 and value / rate - least <= close else -2
    return row


def _pivot(T: Rows, row: int, column: int, n: int) -> None:
    over, copy = T[row], T[n]
    inverse = 1.0 / over[column]
    for j, entry in enumerate(over):
        copy[j] = entry
        over[j] = -inverse * entry
    over[column] = inverse
    for i in range(n):
        line = T[i]
        factor = line[column] * inverse
        if i != row and factor != 0.0:
            # a copy overlaps no line, which lets a compiler use instructions for several numbers
            for j in range(n + 2):
                line[j] -= factor * copy[j]
            line[column] = factor


def _write_point(T: Rows, labels: Numbers, scale: float, z: Numbers) -> None:
    n = len(z)
    for i in range(n):
        z[i] = 0.0
    for i in range(n):
        if n <= labels[i] < 2 * n and T[i][n + 1] > 0.0:
            z[labels[i] - n] = scale * T[i][n + 1]


def _write_ray(T: Rows, labels: Numbers, column: int, ray: Numbers) -> None:
    """The direction in z in which a column moves it, its largest entry one."""
    n, largest = len(ray), 0.0
    for i in range(n):
        ray[i] = 0.0
    for i in range(n):
        if n <= labels[i] < 2 * n:
            ray[labels[i] - n] = T[i][column]
    if n <= labels[n + column] < 2 * n:
        ray[labels[n + column] - n] = 1.0
    for entry in ray:
        largest = max(largest, abs(entry))
    for i in range(n):
        ray[i] = ray[i] / largest if largest > 0.0 else 0.0


def _is_solution(M: Rows, q: Numbers, z: Numbers, w: Numbers) -> bool:
    """Whether w = M z + q, written here, is zero where z is positive and not negative, to the rounding of its terms."""
    for i in range(len(q)):
        total = q[i]
        terms = abs(total)
        for j, entry in enumerate(M[i]):
            if z[j] > 0.0:
                product = entry * z[j]
                total += product
                terms += abs(product)
        w[i] = total
        if (z[i] > 0.0 or total < 0.0) and abs(total) > ACCURATE * terms:
            return False
    return True


PARTS = (_start, _blocking_row, _pivot, _write_point, _write_ray, _is_solution, follow)
"""What has to be compiled."""


def end_of_path(M: list[list[float]], q: list[float]) -> tuple[int, list[float], list[float]]:
    """What `follow` says and writes, on lists.

    Parameters
    ----------
    M : list of list of float, (n, n)
    q : list of float, (n,)

    Returns
    -------
    code : int
    z, w : list of float, (n,)
    """
    n = len(q)
    z, w = [0.0] * n, [0.0] * n
    return follow(M, q, z, w, [[0.0] * (n + 2) for _ in range(n + 1)], [0] * (2 * n + 1)), z, w


def residual_of(q: list[float], z: list[float], w: list[float]) -> float:
    """The largest of ``min(z_i, w_i)``, next to the largest entry of q or to 1.

    Parameters
    ----------
    q, z, w : list of float, (n,)

    Returns
    -------
    float
    """
    return max(map(abs, map(min, z, w))) / max(1.0, max(q), -min(q))


def plain_path(M: list[list[float]], q: list[float]) -> tuple[Status, list[float]] | None:
    """Where `Lemke` ends, in plain numbers and sooner; None where it has to be asked.

    Parameters
    ----------
    M : list of list of float, (n, n)
    q : list of float, (n,)
        Finite numbers; nothing is checked.

    Returns
    -------
    (Status, list of float), or None
        SOLVED or RAY, and z (n,). None where a decision of the path is a close one, and for problems that arrays solve
        sooner.

    Examples
    --------
    >>> plain_path([[2.0]], [-1.0])
    (<Status.SOLVED: 'a solution, checked by its residual'>, [0.5])
    """
    if min(q, default=0.0) >= 0.0:
        return Status.SOLVED, [0.0] * len(q)
    if len(q) > PLAIN_MAX_N:
        return None
    code, z, w = end_of_path(M, q)
    if code < 0:
        return Status.RAY, z
    return (Status.SOLVED, z) if code > 0 and residual_of(q, z, w) <= RESIDUAL else None
