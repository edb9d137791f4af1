"""Block principal pivoting, compiled: a few linear systems where Lemke's method takes many pivots.

All indices whose basic variable is negative are exchanged at once. The systems are eliminated without row exchanges:
all pivots are positive if M is a P-matrix, and where one is not, the method gives up at once.

Source: Judice and Pires, Computers & Operations Research 21 (1994) 587.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray
from lcp.kernels.compiled import compiled
from lcp.kernels.reductions import dot, largest_entry, largest_matrix_entry
from lcp.kernels.vectors import EIGHT, eliminate

__all__ = ["GAVE_UP", "blocks_into"]

GAVE_UP = -1
TRIES = 3  # systems without fewer infeasible indices
PIVOT = 1e-10  # of the largest entry of M
SIGN = 1e-12  # as in lcp.block_pivoting
IntArray = npt.NDArray[np.int64]


@compiled
def blocks_into(M: FloatArray, q: FloatArray, z: FloatArray) -> int:
    """Write a point without negative variables into z; the number of linear systems, or GAVE_UP.

    Parameters
    ----------
    M : ndarray of float64, shape (n, n), C-contiguous, finite
    q : ndarray of float64, shape (n,), contiguous, finite
    z : ndarray of float64, shape (n,), contiguous
        Overwritten.
    """
    n = q.shape[0]
    work, integers = np.empty(n * (n + EIGHT + 2)), np.empty(2 * n, np.int64)
    T, x, w = work[: n * (n + EIGHT)], work[n * (n + EIGHT) : n * (n + EIGHT + 1)], work[n * (n + EIGHT + 1) :]
    inside, is_basic = integers[:n], integers[n:]
    smallest, q_size, is_symmetric = PIVOT * largest_matrix_entry(M), largest_entry(q), _is_symmetric(M)
    for i in range(n):
        z[i], w[i], is_basic[i] = 0.0, q[i], 0
    fewest, tries = n + 1, TRIES
    for n_systems in range(n + TRIES):
        w_size, z_size = max(q_size, largest_entry(w)), largest_entry(z)
        m, infeasible = 0, 0
        for i in range(n):
            if w[i] < -SIGN * w_size or z[i] < -SIGN * z_size:
                is_basic[i] = 1 - is_basic[i]
                infeasible += 1
            if is_basic[i]:
                inside[m] = i
                m += 1
        if infeasible == 0:
            for i in range(n):
                z[i] = max(z[i], 0.0)
            return n_systems
        tries = TRIES if infeasible < fewest else tries - 1
        fewest = min(fewest, infeasible)
        if tries < 0 or not _solved(M, q, inside[:m], T, x, smallest, is_symmetric):
            return GAVE_UP
        _spread(M, q, inside[:m], x, z, w, is_symmetric)
    return GAVE_UP


@compiled
def _is_symmetric(M: FloatArray) -> bool:
    for i in range(M.shape[0]):
        for j in range(i):
            if M[i, j] != M[j, i]:
                return False
    return True


@compiled
def _solved(
    M: FloatArray, q: FloatArray, inside: IntArray, T: FloatArray, x: FloatArray, smallest: float, is_symmetric: bool
) -> bool:
    """Solve M x = -q within these indices. False at a pivot that is not clearly positive."""
    m = inside.shape[0]
    width = EIGHT * (m // EIGHT + 1)
    for k in range(m):
        row, line = M[inside[k]], T[k * width : k * width + width]
        for j in range(k if is_symmetric else 0, m):
            line[j] = row[inside[j]]
        line[m] = -q[inside[k]]
        for j in range(m + 1, width):
            line[j] = 0.0
    for k in range(m):
        top = k * width
        if not T[top + k] > smallest:
            return False
        inverse = 1.0 / T[top + k]
        for i in range(k + 1, m):
            line_i = i * width
            # of a symmetric matrix the part left of the diagonal is never read
            factor = (T[top + i] if is_symmetric else T[line_i + k]) * inverse
            first = EIGHT * ((i if is_symmetric else k + 1) // EIGHT)
            for j in range(first, width, EIGHT):
                eliminate(T, line_i + j, top + j, -1, factor, line_i + j)
    for k in range(m - 1, -1, -1):
        line = T[k * width : k * width + width]
        x[k] = (line[m] - dot(line[k + 1 : m], x[k + 1 : m])) / line[k]
    return True


@compiled
def _spread(
    M: FloatArray, q: FloatArray, inside: IntArray, x: FloatArray, z: FloatArray, w: FloatArray, is_symmetric: bool
) -> None:
    """z and w = M z + q from the solution of a system, w being zero where z is basic."""
    n, m = q.shape[0], inside.shape[0]
    for i in range(n):
        z[i], w[i] = 0.0, q[i]
    for k in range(m):
        z[inside[k]] = x[k]
    if is_symmetric:
        for k in range(m):
            column, factor = M[inside[k]], x[k]
            for i in range(n):
                w[i] += factor * column[i]
    else:
        for i in range(n):
            w[i] += dot(M[i], z)
    for k in range(m):
        w[inside[k]] = 0.0
