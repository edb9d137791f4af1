"""Parallel loops over many problems.

Problems along the last axis, entry by entry, so that one instruction serves several of them.

A kernel takes M (n * n, stride) and q (n, stride) row by row as vectors and the problems first to last - 1 of them,
and tells whether all their entries are finite and zero or of a size whose products can be formed. Problems with a
number near zero are looked at one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numba import prange

from lcp.kernels.admission import is_finite
from lcp.kernels.careful import REFUSED, UNDECIDED, proved_bases, room
from lcp.kernels.compiled import compiled, threaded
from lcp.kernels.cones import every_solution
from lcp.kernels.signs import solve_four, solve_one, solve_three, solve_two
from lcp.kernels.vectors import read, write

if TYPE_CHECKING:
    from lcp.problem import FloatArray

__all__ = ["PART", "UNDECIDED", "enumerate_many", "gather", "solve_first", "solve_lanes", "solve_last"]


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


LANES = 168  # 20 rows at n = 4 fill 27 kB of the innermost cache; their distance is an odd number of its lines
CHUNK = 16 * LANES  # problems a thread takes at once with one set of buffers
PART = 64  # problems a thread enumerates at once
IntArray = npt.NDArray[np.int64]


@threaded
def solve_last(M: FloatArray, q: FloatArray, n: int, z: FloatArray, bases: Bases, counts: Counts) -> bool:
    """Many problems along the last axis, by all processors; False if an entry is out of range.

    Parameters
    ----------
    M : ndarray of float64, shape (n n N,)
    q : ndarray of float64, shape (n N,)
    n : int
        Number of unknowns, 1 to 4.
    z : ndarray of float64, shape (n N,)
        Overwritten, as `bases` and `counts`; see `solve_lanes`.
    bases : ndarray of uint16, shape (N,)
    counts : ndarray of int8, shape (N,)

    Returns
    -------
    bool
    """
    N, bad = bases.shape[0], 0
    for chunk in prange((N + CHUNK - 1) // CHUNK):
        last = min(chunk * CHUNK + CHUNK, N)
        bad += 0 if solve_lanes(M, q, N, n, chunk * CHUNK, last, z, bases, counts) else 1
    return bad == 0


@threaded
def solve_first(M: FloatArray, q: FloatArray, n: int, z: FloatArray, bases: Bases, counts: Counts) -> bool:
    """Many problems along the first axis, by all processors; False if an entry is out of range.

    Parameters
    ----------
    M : ndarray of float64, shape (N n n,)
    q : ndarray of float64, shape (N n,)
    n : int
        Number of unknowns, 1 to 4.
    z : ndarray of float64, shape (N n,)
        Overwritten, as `bases` and `counts`; see `solve_lanes`.
    bases : ndarray of uint16, shape (N,)
    counts : ndarray of int8, shape (N,)

    Returns
    -------
    bool
    """
    N, bad = bases.shape[0], 0
    for chunk in prange((N + CHUNK - 1) // CHUNK):
        matrices, vectors, answers = np.empty(n * n * LANES), np.empty(n * LANES), np.empty(n * LANES)
        for start in range(chunk * CHUNK, min(chunk * CHUNK + CHUNK, N), LANES):
            length = min(LANES, N - start)
            _transpose(M, n * n, start, length, matrices)
            _transpose(q, n, start, length, vectors)
            parts = bases[start : start + length], counts[start : start + length]
            bad += 0 if solve_lanes(matrices, vectors, LANES, n, 0, length, answers, parts[0], parts[1]) else 1
            _transpose_back(answers, n, start, length, z)
    return bad == 0


@compiled
def _transpose(problems: FloatArray, width: int, start: int, length: int, block: FloatArray) -> None:
    """Entry r of problem start + k, of `width` entries each, becomes block[LANES * r + k]."""
    for k in range(length):
        for r in range(width):
            write(block, LANES * r + k, read(problems, (start + k) * width + r))


@compiled
def _transpose_back(block: FloatArray, width: int, start: int, length: int, problems: FloatArray) -> None:
    for k in range(length):
        for r in range(width):
            write(problems, (start + k) * width + r, read(block, LANES * r + k))


@threaded
def enumerate_many(
    M: FloatArray, q: FloatArray, Z: FloatArray, counts: IntArray, is_undecided: npt.NDArray[np.bool_]
) -> int:
    """Every solution of many problems along the first axis, by all processors.

    Parameters
    ----------
    M, q : ndarray of float64, shapes (N, n, n) and (N, n)
    Z : ndarray of float64, shape (rows, n)
        Overwritten. It has as many rows for each chunk of PART problems; the solutions of a chunk follow each other
        from the first of these rows.
    counts : ndarray of int64, shape (N,)
        Overwritten: the number of solutions found.
    is_undecided : ndarray of bool, shape (N,)
        Overwritten: whether these are not proved to be all, isolated and different.

    Returns
    -------
    int
        -1 if an entry is not finite, else the number of chunks whose solutions did not fit.
    """
    N, misfits, bad = q.shape[0], 0, 0
    n_chunks = (N + PART - 1) // PART
    for chunk in prange(n_chunks):
        rows = Z.shape[0] // n_chunks
        at, end = chunk * rows, chunk * rows + rows
        for k in range(chunk * PART, min(chunk * PART + PART, N)):
            if not is_finite(M[k], q[k]):
                bad += 1
                break
            found = every_solution(M[k], q[k], Z[at:end])
            counts[k], is_undecided[k] = found if found >= 0 else -1 - found, found < 0
            at += counts[k]
            if at > end:
                misfits += 1
                break
    return -1 if bad > 0 else misfits


@threaded
def gather(Z: FloatArray, first: IntArray, solutions: FloatArray) -> None:
    """The rows of Z that `enumerate_many` wrote, one after the other.

    Parameters
    ----------
    Z : ndarray of float64, shape (rows, n)
        As `enumerate_many` has left it.
    first : ndarray of int64, shape (N + 1,)
        Where the solutions of each problem begin, and their number.
    solutions : ndarray of float64, shape (first[N], n)
        Overwritten.

    Returns
    -------
    None
        solutions has the rows.
    """
    N = first.shape[0] - 1
    n_chunks = (N + PART - 1) // PART
    for chunk in prange(n_chunks):
        rows = Z.shape[0] // n_chunks
        start, stop = first[chunk * PART], first[min(chunk * PART + PART, N)]
        solutions[start:stop] = Z[chunk * rows : chunk * rows + stop - start]
