"""All complementary bases of one problem of up to eight unknowns by principal pivot transforms.

Breadth first: from the dictionaries of all bases within the first k indices, one pivot each at (k, k) gives those
that have the index k, and column k, by then zero, is dropped from both. So 2**n - 1 pivots of a shrinking dictionary
decide all bases, without a branch; a column of up to eight rows is one operand of the processor.

Source: Tucker 1960; Cottle, Pang and Stone 1992, section 2.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lcp.kernels.compiled import compiled
from lcp.kernels.relaxation import dictionary_of
from lcp.kernels.vectors import EIGHT, eliminate, largest_modulus, least
from lcp.tolerances import BOUND, ROUNDING

if TYPE_CHECKING:
    from lcp.problem import FloatArray

__all__ = ["MAX_TRANSFORMS", "is_solving", "point_of_basis", "room", "solving_bases"]

MAX_TRANSFORMS = EIGHT
MAX_DOUBTFUL = 16  # doubtful bases that are looked at one by one
IntArray = npt.NDArray[np.int64]


@compiled
def room(n: int) -> int:
    """Numbers of work space that `solving_bases` takes.

    Parameters
    ----------
    n : int
        Number of unknowns, up to 8.

    Returns
    -------
    int
        2**n dictionaries of n + 1 columns of eight numbers, and 2**n growths of errors.
    """
    return (1 << n) * (EIGHT * (n + 1) + 1)


@compiled
def solving_bases(M: FloatArray, q: FloatArray, s: float, t: float, T: FloatArray, bases: IntArray) -> int:
    """The number of bases that solve (M, q), written into `bases` (2**n); -1 if rounding may have decided.

    Parameters
    ----------
    M, q : ndarray
        1 to 8 unknowns.
    s, t : float
        Reciprocals of the largest entries of M and q.
    T : ndarray, shape (room(n),)
        Overwritten.
    bases : ndarray of int64, shape (2**n,)
        Overwritten: the solving bases first, in no order that counts; bit i of one is set if z_i is basic.

    Returns
    -------
    int
    """
    n = q.shape[0]
    width, growth = _transforms(M, q, s, t, T)
    count, doubtful, last = 0, 0, (1 << n) - 1
    for a in range(1 << n):
        lowest, bound = least(T, a * width + EIGHT * n), BOUND * growth[a]
        # an infinite bound, or not a number, is in doubt
        if not lowest < -bound:
            if lowest > bound:
                bases[count] = a
                count += 1
            else:
                bases[last - doubtful] = a
                doubtful += 1
                if doubtful > MAX_DOUBTFUL or count + doubtful > last:
                    return -1
    if doubtful == 0:
        return count
    integers, size = np.empty(4 * n, np.int64), 2 * n * (n + 1)
    dictionary, work = T[:size].reshape(2, n, n + 1), T[size : size + 3 * (n + 1)]
    for k in range(doubtful):
        code = is_solving(M, q, bases[last - k], dictionary, integers[: 2 * n], integers[2 * n :], work)
        if code < 0:
            return -1
        if code > 0:
            bases[count] = bases[last - k]
            count += 1
    return count


@compiled
def _transforms(M: FloatArray, q: FloatArray, s: float, t: float, T: FloatArray) -> tuple[int, FloatArray]:
    """Write the dictionaries of all bases into T; the numbers of each, and how much its errors may have grown."""
    n = q.shape[0]
    width = EIGHT * (n + 1)
    growth = T[(1 << n) * width :]
    _start(M, q, s, t, T)
    growth[0] = 1.0
    for k in range(n):
        for a in range(1 << k):
            b = a + (1 << k)
            growth[b] = growth[a] * _transform(T, a * width, b * width, k, n, ROUNDING * growth[a])
    return width, growth


@compiled
def _start(M: FloatArray, q: FloatArray, s: float, t: float, T: FloatArray) -> None:
    """The dictionary of the empty basis, column by column; rows that do not exist are w = 1."""
    n = q.shape[0]
    for j in range(n + 1):
        column = T[EIGHT * j : EIGHT * j + EIGHT]
        for i in range(n, EIGHT):
            column[i] = 1.0 if j == n else 0.0
    for i in range(n):
        T[EIGHT * n + i] = t * q[i]
        for j in range(n):
            T[EIGHT * j + i] = s * M[i, j]


@compiled
def _transform(T: FloatArray, source: int, target: int, k: int, n: int, useless: float) -> float:
    """Pivot the dictionary at `source` at (k, k), columns from k + 1, into `target`; how much errors may grow.

    With l the largest entry of column k over the pivot and r that of row k, T_ij - T_ik T_kj / T_kk has at most
    (1 + l) (1 + r) times the error of the entries it is made of, to first order, and row k (1 + r) / abs(T_kk) times.
    """
    column = source + EIGHT * k
    pivot = T[column + k]
    inverse = 1.0 / pivot
    largest = 0.0
    for j in range(EIGHT * (k + 1), EIGHT * (n + 1), EIGHT):
        factor = T[source + j + k] * inverse
        largest = max(largest, abs(factor))
        eliminate(T, source + j, column, k, factor, target + j)
    if not abs(pivot) > useless:
        return np.inf
    return float(max(1.0 + largest_modulus(T, column) * abs(inverse), abs(inverse)) * (1.0 + largest))


@compiled
def is_solving(
    M: FloatArray, q: FloatArray, basis: int, T: FloatArray, is_basic: IntArray, order: IntArray, work: FloatArray
) -> int:
    """Whether a basis solves the problem: 1 or 0, or -1 if that is in doubt.

    Parameters
    ----------
    M, q : ndarray of float64, shapes (n, n) and (n,)
    basis : int
        Bit i is set if z_i is basic.
    T : ndarray, shape (2, n, n + 1)
        Overwritten, as in `dictionary_of`.
    is_basic, order : ndarray of int64, shape (2 n,)
        Overwritten, as in `dictionary_of`.
    work : ndarray, shape (3 (n + 1),)
        Overwritten.

    Returns
    -------
    int
    """
    n = q.shape[0]
    for i in range(n):
        is_basic[n + i] = basis >> i & 1
        is_basic[i] = 1 - is_basic[n + i]
    dictionary_of(M, q, is_basic, T, order, work)
    code = 1
    for i in range(n):
        value, bound = T[0, i, n], 2.0 * T[1, i, n]
        if value < -bound:
            return 0
        if not value > bound:
            code = -1
    return code


@compiled
def point_of_basis(M: FloatArray, q: FloatArray, basis: int, z: FloatArray, A: FloatArray) -> float:
    """The z of a complementary basis by elimination with row exchanges in A (n, n + 1); its smallest pivot.

    Parameters
    ----------
    M, q : ndarray of float64, shapes (n, n) and (n,)
    basis : int
        Bit i is set if z_i is basic.
    z : ndarray of float64, shape (n,)
        Overwritten; zeros outside the basis. Its signs are not checked.
    A : ndarray of float64, shape (n, n + 1)
        Overwritten.

    Returns
    -------
    float
        The modulus of the smallest pivot; infinity for the empty basis, zero if elimination ended at a zero pivot.
    """
    n = q.shape[0]
    m = 0
    for i in range(n):
        z[i] = 0.0
        if basis >> i & 1:
            c = 0
            for j in range(n):
                if basis >> j & 1:
                    A[m, c] = M[i, j]
                    c += 1
            A[m, n] = -q[i]
            m += 1
    smallest = np.inf
    for k in range(m):
        p = k
        for i in range(k + 1, m):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if p != k:
            for j in range(k, n + 1):
                A[k, j], A[p, j] = A[p, j], A[k, j]
        smallest = min(smallest, abs(A[k, k]))
        for i in range(k + 1, m):
            factor = A[i, k] / A[k, k]
            for j in range(k + 1, m):
                A[i, j] -= factor * A[k, j]
            A[i, n] -= factor * A[k, n]
    for k in range(m - 1, -1, -1):
        for j in range(k + 1, m):
            A[k, n] -= A[k, j] * A[j, n]
        A[k, n] /= A[k, k]
    k = 0
    for i in range(n):
        if basis >> i & 1:
            z[i] = A[k, n]
            k += 1
    return smallest
