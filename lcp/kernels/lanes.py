"""Problems along the last axis, entry by entry, so that one instruction serves several of them.

Each kernel takes M (n * n, stride) and q (n, stride) row by row as vectors and the problems first to last - 1 of them,
and tells whether all their entries are finite and zero or of a size whose products can be formed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray
from lcp.kernels.compiled import compiled, inlined
from lcp.kernels.minors import bases_one, bases_three, bases_two, entries_one, entries_three, entries_two
from lcp.kernels.minors_four import bases_four, entries_four
from lcp.kernels.vectors import write

__all__ = ["count_lanes", "solve_lanes"]

Counts = npt.NDArray[np.uint8]
Bases = npt.NDArray[np.uint16]
# Moduli compared as integers, in which floats without sign are in order and NaN comes last. One is subtracted
# from what must not be small, so that zero is large.
MODULUS = np.uint64(0x7FFFFFFFFFFFFFFF)
ONE, NONE, ALL = np.uint64(1), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
SMALL, LARGE = np.float64(1e-70), np.float64(1e70)  # products of four such entries neither vanish nor overflow
LEAST, MOST = SMALL.view(np.uint64) - ONE, LARGE.view(np.uint64)


@inlined
def _range(entries: tuple[float, ...], low: np.uint64, high: np.uint64) -> tuple[np.uint64, np.uint64]:
    for entry in entries:
        size = np.float64(entry).view(np.uint64) & MODULUS
        low, high = min(low, size - ONE), max(high, size)
    return low, high


@compiled
def count_lanes(M: FloatArray, q: FloatArray, stride: int, n: int, first: int, last: int, counts: Counts) -> bool:
    """The number of solving bases of each problem."""
    if n == 1:
        return _count_one(M, q, stride, first, last, counts)
    if n == 2:
        return _count_two(M, q, stride, first, last, counts)
    if n == 3:
        return _count_three(M, q, stride, first, last, counts)
    return _count_four(M, q, stride, first, last, counts)


@compiled
def solve_lanes(
    M: FloatArray, q: FloatArray, stride: int, n: int, first: int, last: int, z: FloatArray, bases: Bases
) -> bool:
    """The solving bases of each problem as bits, and z of the lowest one: z_i of problem k at z[stride * i + k]."""
    if n == 1:
        return _solve_one(M, q, stride, first, last, z, bases)
    if n == 2:
        return _solve_two(M, q, stride, first, last, z, bases)
    if n == 3:
        return _solve_three(M, q, stride, first, last, z, bases)
    return _solve_four(M, q, stride, first, last, z, bases)


@compiled
def _count_one(M: FloatArray, q: FloatArray, stride: int, first: int, last: int, counts: Counts) -> bool:
    low, high = ALL, NONE
    for k in range(first, last):
        entries = entries_one(M, q, stride, k)
        low, high = _range(entries, low, high)
        write(counts, k, np.uint8(bases_one(*entries)[1]))
    return bool((low >= LEAST) & (high <= MOST))


@compiled
def _solve_one(M: FloatArray, q: FloatArray, stride: int, first: int, last: int, z: FloatArray, bases: Bases) -> bool:
    low, high = ALL, NONE
    for k in range(first, last):
        entries = entries_one(M, q, stride, k)
        low, high = _range(entries, low, high)
        found = bases_one(*entries)
        write(bases, k, np.uint16(found[0]))
        write(z, k, found[3])
    return bool((low >= LEAST) & (high <= MOST))


@compiled
def _count_two(M: FloatArray, q: FloatArray, stride: int, first: int, last: int, counts: Counts) -> bool:
    low, high = ALL, NONE
    for k in range(first, last):
        entries = entries_two(M, q, stride, k)
        low, high = _range(entries, low, high)
        write(counts, k, np.uint8(bases_two(*entries)[1]))
    return bool((low >= LEAST) & (high <= MOST))


@compiled
def _solve_two(M: FloatArray, q: FloatArray, stride: int, first: int, last: int, z: FloatArray, bases: Bases) -> bool:
    low, high = ALL, NONE
    for k in range(first, last):
        entries = entries_two(M, q, stride, k)
        low, high = _range(entries, low, high)
        found = bases_two(*entries)
        write(bases, k, np.uint16(found[0]))
        write(z, k, found[3])
        write(z, stride + k, found[4])
    return bool((low >= LEAST) & (high <= MOST))


@compiled
def _count_three(M: FloatArray, q: FloatArray, stride: int, first: int, last: int, counts: Counts) -> bool:
    low, high = ALL, NONE
    for k in range(first, last):
        entries = entries_three(M, q, stride, k)
        low, high = _range(entries, low, high)
        write(counts, k, np.uint8(bases_three(*entries)[1]))
    return bool((low >= LEAST) & (high <= MOST))


@compiled
def _solve_three(M: FloatArray, q: FloatArray, stride: int, first: int, last: int, z: FloatArray, bases: Bases) -> bool:
    low, high = ALL, NONE
    for k in range(first, last):
        entries = entries_three(M, q, stride, k)
        low, high = _range(entries, low, high)
        found = bases_three(*entries)
        write(bases, k, np.uint16(found[0]))
        write(z, k, found[3])
        write(z, stride + k, found[4])
        write(z, 2 * stride + k, found[5])
    return bool((low >= LEAST) & (high <= MOST))


@compiled
def _count_four(M: FloatArray, q: FloatArray, stride: int, first: int, last: int, counts: Counts) -> bool:
    low, high = ALL, NONE
    for k in range(first, last):
        entries = entries_four(M, q, stride, k)
        low, high = _range(entries, low, high)
        write(counts, k, np.uint8(bases_four(*entries)[1]))
    return bool((low >= LEAST) & (high <= MOST))


@compiled
def _solve_four(M: FloatArray, q: FloatArray, stride: int, first: int, last: int, z: FloatArray, bases: Bases) -> bool:
    low, high = ALL, NONE
    for k in range(first, last):
        entries = entries_four(M, q, stride, k)
        low, high = _range(entries, low, high)
        found = bases_four(*entries)
        write(bases, k, np.uint16(found[0]))
        write(z, k, found[3])
        write(z, stride + k, found[4])
        write(z, 2 * stride + k, found[5])
        write(z, 3 * stride + k, found[6])
    return bool((low >= LEAST) & (high <= MOST))
