"""Powers of two that bring rows and columns to one size, as in `lcp.scaling`, compiled."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray
from lcp.kernels.compiled import compiled

__all__ = ["equilibrate"]

MEANS = 12  # rounds of the least-squares problem, which the last rounds start from
MAXIMA = 4
HIDDEN = 1e-200  # an entry of this size would not survive much arithmetic with those of size one
ABSENT = -100_000  # exponent of zero: below those of all floats, however shifted
IntArray = npt.NDArray[np.int64]


@compiled
def equilibrate(M: FloatArray, q: FloatArray, A: FloatArray, b: FloatArray, exponents: IntArray) -> bool:
    """R M C and R q / s, with R, C diagonal and s > 0, written into A and b, and the exponents of s C.

    So z solves (M, q) if and only if (s C)^-1 z solves (A, b). Powers of two make every product exact, and the result
    tells whether they do: where sizes are too far apart, entries may vanish.

    Parameters
    ----------
    M, q : ndarray of float64, shapes (n, n) and (n,)
    A, b : ndarray of float64, shapes (n, n) and (n,)
        Overwritten.
    exponents : ndarray of int64, shape (n,)
        Overwritten.

    Returns
    -------
    bool
        Whether every product is exact.
    """
    n = q.shape[0]
    rows = np.zeros(n, np.int64)
    _balance(M, q, rows, exponents)
    for _ in range(MAXIMA):
        for i in range(n):
            largest = ABSENT
            for j in range(n):
                largest = max(largest, _exponent(M[i, j]) + exponents[j])
            rows[i] = -largest if largest > ABSENT // 2 else rows[i]
        for j in range(n):
            largest = ABSENT
            for i in range(n):
                largest = max(largest, _exponent(M[i, j]) + rows[i])
            exponents[j] = -largest if largest > ABSENT // 2 else exponents[j]
    size = ABSENT
    for i in range(n):
        size = max(size, _exponent(q[i]) + rows[i])
    size = size if size > ABSENT // 2 else 0
    is_exact = True
    for i in range(n):
        b[i] = math.ldexp(q[i], rows[i] - size)
        is_exact = is_exact and (q[i] == 0.0 or abs(b[i]) > HIDDEN)
        for j in range(n):
            A[i, j] = math.ldexp(M[i, j], rows[i] + exponents[j])
            is_exact = is_exact and (M[i, j] == 0.0 or abs(A[i, j]) > HIDDEN)
    for j in range(n):
        exponents[j] += size
    return is_exact


@compiled
def _balance(M: FloatArray, q: FloatArray, rows: IntArray, columns: IntArray) -> None:
    """Least squares of the exponents of R M C and R q / s: what scaling has made unequal becomes equal again.

    Source: Curtis and Reid, Journal of the Institute of Mathematics and its Applications 10 (1972) 118.
    """
    n = q.shape[0]
    r, c = np.zeros(n), np.zeros(n + 1)  # the last column is q
    for _ in range(MEANS):
        for j in range(n + 1):
            total, count = 0.0, 0
            for i in range(n):
                entry = q[i] if j == n else M[i, j]
                if entry != 0.0:
                    total += _exponent(entry) + r[i]
                    count += 1
            c[j] = -total / count if count > 0 else 0.0
        for i in range(n):
            total, count = 0.0, 0
            for j in range(n + 1):
                entry = q[i] if j == n else M[i, j]
                if entry != 0.0:
                    total += _exponent(entry) + c[j]
                    count += 1
            r[i] = -total / count if count > 0 else 0.0
    for i in range(n):
        rows[i], columns[i] = round(r[i]), round(c[i])


@compiled
def _exponent(x: float) -> int:
    return math.frexp(x)[1] if x != 0.0 else ABSENT
