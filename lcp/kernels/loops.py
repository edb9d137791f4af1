"""Parallel loops over many problems."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import prange

from lcp.arrays import FloatArray
from lcp.kernels.compiled import threaded
from lcp.kernels.cones import solutions_into
from lcp.kernels.lanes import LANES, bases_of_block, is_in_range, solutions_of_block, transpose

__all__ = ["NO_BASIS", "STORED", "problems_first", "problems_last", "solve_many"]

CHUNK = 16 * LANES  # problems a thread takes at once with one set of buffers
STORED = 64  # solutions compared with each other; those beyond are counted one by one
NO_BASIS = 0xFFFFFFFF
IntArray = npt.NDArray[np.int64]


@threaded
def problems_last(M: FloatArray, q: FloatArray, z: FloatArray, bases: npt.NDArray[np.uint16]) -> bool:
    """Problems along the last axis: M (n * n, N), q (n, N), z (n, N) or empty; False if an entry is out of range."""
    n, N, bad = q.shape[0], q.shape[1], 0
    for chunk in prange((N + CHUNK - 1) // CHUNK):
        block, masks = np.zeros((n * n + n) * LANES), np.empty(LANES, np.int64)
        answer = np.empty(n * LANES)
        for start in range(chunk * CHUNK, min(chunk * CHUNK + CHUNK, N), LANES):
            stop = min(start + LANES, N)
            length = stop - start
            for r in range(n * n):
                block[r * LANES : r * LANES + length] = M[r, start:stop]
            for r in range(n):
                block[(n * n + r) * LANES : (n * n + r) * LANES + length] = q[r, start:stop]
            bad += 0 if is_in_range(block, block.shape[0]) else 1
            if z.shape[0] > 0:
                solutions_of_block(block, masks, answer, n)
                for i in range(n):
                    z[i, start:stop] = answer[i * LANES : i * LANES + length]
            else:
                bases_of_block(block, masks, n)
            for k in range(length):
                bases[start + k] = masks[k]
    return bad == 0


@threaded
def problems_first(M: FloatArray, q: FloatArray, z: FloatArray, bases: npt.NDArray[np.uint16]) -> bool:
    """Problems along the first axis: M (N, n * n), q (N, n), z (N, n) or empty; False if an entry is out of range."""
    N, n, bad = q.shape[0], q.shape[1], 0
    for chunk in prange((N + CHUNK - 1) // CHUNK):
        block, masks = np.zeros((n * n + n) * LANES), np.empty(LANES, np.int64)
        answer = np.empty(n * LANES)
        for start in range(chunk * CHUNK, min(chunk * CHUNK + CHUNK, N), LANES):
            length = min(start + LANES, N) - start
            transpose(M, start, length, block, 0)
            transpose(q, start, length, block, n * n)
            bad += 0 if is_in_range(block, block.shape[0]) else 1
            if z.shape[0] > 0:
                solutions_of_block(block, masks, answer, n)
                for k in range(length):
                    for i in range(n):
                        z[start + k, i] = answer[i * LANES + k]
            else:
                bases_of_block(block, masks, n)
            for k in range(length):
                bases[start + k] = masks[k]
    return bad == 0


@threaded
def solve_many(M: FloatArray, q: FloatArray, z: FloatArray, count: IntArray, bases: npt.NDArray[np.uint32]) -> bool:
    """Problems along the first axis, each by its own search; False if an entry is not finite.

    `bases` (N, k) has the supports of the first k solutions, padded with NO_BASIS.
    """
    bad = 0
    for k in prange(q.shape[0]):
        problem, vector = M[k], q[k]
        is_finite = True
        bases[k] = NO_BASIS
        for i in range(q.shape[1]):
            is_finite = is_finite and abs(vector[i]) < np.inf
            z[k, i] = 0.0
            for j in range(q.shape[1]):
                is_finite = is_finite and abs(problem[i, j]) < np.inf
        if is_finite:
            Z = np.empty((STORED, q.shape[1]))
            found = solutions_into(problem, vector, Z)
            count[k] = found if found >= 0 else -1 - found
            if count[k] > 0:
                z[k] = Z[0]
            for s in range(min(count[k], bases.shape[1], STORED)):
                support = 0
                for i in range(q.shape[1]):
                    if Z[s, i] > 0.0:
                        support |= 1 << i
                bases[k, s] = support
        else:
            bad += 1
    return bad == 0
