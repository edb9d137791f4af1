"""Problems along the last axis, entry by entry, so that one instruction serves several of them.

A kernel takes M (n * n, stride) and q (n, stride) row by row as vectors and the problems first to last - 1 of them,
and tells whether all their entries are finite and zero or of a size whose products can be formed. Problems with a
number near zero are looked at one by one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray
from lcp.kernels.careful import REFUSED, UNDECIDED, proved_bases, room
from lcp.kernels.compiled import compiled
from lcp.kernels.signs import solve_one, solve_two
from lcp.kernels.signs_four import solve_four
from lcp.kernels.signs_three import solve_three

__all__ = ["solve_lanes"]

Counts = npt.NDArray[np.int8]
Bases = npt.NDArray[np.uint16]


@compiled
def solve_lanes(
    M: FloatArray,
    q: FloatArray,
    stride: int,
    n: int,
    first: int,
    last: int,
    z: FloatArray,
    bases: Bases,
    counts: Counts,
) -> bool:
    """Many problems of one order by the signs of their minors, those with numbers near zero one by one.

    Parameters
    ----------
    M : ndarray of float64, shape (n n stride,)
        Entry (i, j) of problem k is M[stride * (n * i + j) + k].
    q : ndarray of float64, shape (n stride,)
        Entry i of problem k is q[stride * i + k].
    stride : int
        Distance between entries of a problem.
    n : int
        Number of unknowns, 1 to 4.
    first, last : int
        Problems from first to last - 1 are solved.
    z : ndarray of float64, shape (n stride,)
        Overwritten, laid out like q: the solution of the lowest solving basis; zeros if there is none or it is
        undecided.
    bases : ndarray of uint16, shape (stride,)
        Overwritten: bit b of problem k is set if the complementary basis b solves it.
    counts : ndarray of int8, shape (stride,)
        Overwritten: the number of solving bases, or UNDECIDED.

    Returns
    -------
    bool
        Whether all entries are finite, and zero or of a size whose products can be formed.
    """
    if n == 1:
        has_open = solve_one(M, q, stride, first, last, z, bases, counts)
    elif n == 2:
        has_open = solve_two(M, q, stride, first, last, z, bases, counts)
    elif n == 3:
        has_open = solve_three(M, q, stride, first, last, z, bases, counts)
    else:
        has_open = solve_four(M, q, stride, first, last, z, bases, counts)
    if not has_open:
        return True
    A, b, point, T = np.empty((n, n)), np.empty(n), np.empty(n), np.empty(room(n))
    for k in range(first, last):
        if counts[k] < 0:
            mask = _one(M, q, stride, k, A, b, point, T)
            if mask == REFUSED:
                return False
            counts[k] = _size(mask) if mask != UNDECIDED else UNDECIDED
            bases[k] = mask if mask != UNDECIDED else 0
            for i in range(n):
                z[stride * i + k] = point[i] if mask != UNDECIDED else 0.0
    return True


@compiled
def _one(
    M: FloatArray, q: FloatArray, stride: int, k: int, A: FloatArray, b: FloatArray, point: FloatArray, T: FloatArray
) -> int:
    n = b.shape[0]
    for i in range(n):
        b[i] = q[stride * i + k]
        for j in range(n):
            A[i, j] = M[stride * (n * i + j) + k]
    return proved_bases(A, b, point, T)


@compiled
def _size(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count
