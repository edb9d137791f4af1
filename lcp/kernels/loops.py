"""Parallel loops over many problems."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import prange

from lcp.arrays import FloatArray
from lcp.kernels.compiled import compiled, threaded
from lcp.kernels.cones import solutions_into
from lcp.kernels.lanes import count_lanes, solve_lanes
from lcp.kernels.vectors import read, write

__all__ = ["NO_BASIS", "STORED", "count_first", "count_last", "solve_first", "solve_last", "solve_many"]

LANES = 256  # 20 rows of 256 doubles at n = 4 are 40 kB, the innermost cache of current processors
CHUNK = 16 * LANES  # problems a thread takes at once with one set of buffers
STORED = 64  # solutions compared with each other; those beyond are counted one by one
NO_BASIS = 0xFFFFFFFF
IntArray = npt.NDArray[np.int64]
Counts = npt.NDArray[np.uint8]
Bases = npt.NDArray[np.uint16]


@threaded
def count_last(M: FloatArray, q: FloatArray, n: int, counts: Counts) -> bool:
    """Problems along the last axis: M (n * n * N,), q (n * N,); False if an entry is out of range."""
    N, bad = counts.shape[0], 0
    for chunk in prange((N + CHUNK - 1) // CHUNK):
        bad += 0 if count_lanes(M, q, N, n, chunk * CHUNK, min(chunk * CHUNK + CHUNK, N), counts) else 1
    return bad == 0


@threaded
def solve_last(M: FloatArray, q: FloatArray, n: int, z: FloatArray, bases: Bases) -> bool:
    """Problems along the last axis: M (n * n * N,), q and z (n * N,); False if an entry is out of range."""
    N, bad = bases.shape[0], 0
    for chunk in prange((N + CHUNK - 1) // CHUNK):
        bad += 0 if solve_lanes(M, q, N, n, chunk * CHUNK, min(chunk * CHUNK + CHUNK, N), z, bases) else 1
    return bad == 0


@threaded
def count_first(M: FloatArray, q: FloatArray, n: int, counts: Counts) -> bool:
    """Problems along the first axis: M (N * n * n,), q (N * n,); False if an entry is out of range."""
    N, bad = counts.shape[0], 0
    for chunk in prange((N + CHUNK - 1) // CHUNK):
        matrices, vectors = np.empty(n * n * LANES), np.empty(n * LANES)
        for start in range(chunk * CHUNK, min(chunk * CHUNK + CHUNK, N), LANES):
            length = min(LANES, N - start)
            _transpose(M, n * n, start, length, matrices)
            _transpose(q, n, start, length, vectors)
            part = counts[start : start + length]
            bad += 0 if count_lanes(matrices, vectors, LANES, n, 0, length, part) else 1
    return bad == 0


@threaded
def solve_first(M: FloatArray, q: FloatArray, n: int, z: FloatArray, bases: Bases) -> bool:
    """Problems along the first axis: M (N * n * n,), q and z (N * n,); False if an entry is out of range."""
    N, bad = bases.shape[0], 0
    for chunk in prange((N + CHUNK - 1) // CHUNK):
        matrices, vectors, answers = np.empty(n * n * LANES), np.empty(n * LANES), np.empty(n * LANES)
        for start in range(chunk * CHUNK, min(chunk * CHUNK + CHUNK, N), LANES):
            length = min(LANES, N - start)
            _transpose(M, n * n, start, length, matrices)
            _transpose(q, n, start, length, vectors)
            part = bases[start : start + length]
            bad += 0 if solve_lanes(matrices, vectors, LANES, n, 0, length, answers, part) else 1
            _transpose_back(answers, n, start, length, z)
    return bad == 0


@compiled
def _transpose(problems: FloatArray, width: int, start: int, length: int, block: FloatArray) -> None:
    """Entry r of problem start + k, of `width` entries each, becomes block[LANES * r + k]."""
    for r in range(width):
        for k in range(length):
            write(block, LANES * r + k, read(problems, (start + k) * width + r))


@compiled
def _transpose_back(block: FloatArray, width: int, start: int, length: int, problems: FloatArray) -> None:
    for r in range(width):
        for k in range(length):
            write(problems, (start + k) * width + r, read(block, LANES * r + k))


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
