"""One problem of up to four unknowns that has zeros or numbers near them: what of its signs is proved."""

from __future__ import annotations

import math

import numpy as np

from lcp.arrays import FloatArray
from lcp.kernels.compiled import compiled
from lcp.kernels.sizes import CLEAR, LEAST, MOST
from lcp.kernels.small import bases_of_small

__all__ = ["REFUSED", "UNDECIDED", "proved_bases"]

UNDECIDED = -1
REFUSED = -2


@compiled
def proved_bases(M: FloatArray, q: FloatArray, z: FloatArray) -> int:
    """The solving bases as bits, and the z of the lowest in z; UNDECIDED, or REFUSED for entries out of range.

    Zeros are proved where no product is rounded, or where all products that are added up are zero.
    """
    n = q.shape[0]
    if not (_is_in_range(M.ravel()) and _is_in_range(q)):
        return REFUSED
    # bits with which no minor is rounded: 24 products of four entries of 12 bits have 53 bits, and so on
    few = 25 if n == 2 else 16 if n == 3 else 12
    if n > 1 and not (_is_coarse(M.ravel(), few) and _is_coarse(q, few)) and not _signs_are_proved(M, q):
        return UNDECIDED
    return bases_of_small(M, q, 1.0, 1.0, z)[0]


@compiled
def _is_in_range(entries: FloatArray) -> bool:
    is_in_range = True
    for entry in entries:
        is_in_range = is_in_range and (entry == 0.0 or LEAST <= abs(entry) <= MOST)
    return is_in_range


@compiled
def _is_coarse(entries: FloatArray, few: int) -> bool:
    """Whether all entries are whole multiples of one power of two, of no more bits than these."""
    largest = 0.0
    for entry in entries:
        largest = max(largest, abs(entry))
    exponent = few - math.frexp(largest)[1]
    for entry in entries:
        multiple = math.ldexp(entry, exponent)
        if multiple != math.floor(multiple):
            return False
    return True


@compiled
def _signs_are_proved(M: FloatArray, q: FloatArray) -> bool:
    """Whether each minor and numerator exceeds the rounding of the products it is the sum of, or these are zero.

    N_ic(b) is the numerator of row i in the dictionary of basis b with column c of (M, q) for q, so that
    N_kk(b) = D(b + k); next to it stands the sum of the moduli of its products.
    """
    n = q.shape[0]
    entries = np.empty((n, n + 1))
    entries[:, :n], entries[:, n] = M, q
    minors, numerators = np.ones((2, 1 << n)), np.zeros((2, 1 << n, n, n + 1))
    for b in range(1 << n):
        for k in range(n):
            if b >> k & 1:
                minors[:, b] = numerators[:, b ^ (1 << k), k, k]
        if not abs(minors[0, b]) >= CLEAR * minors[1, b]:
            return False
        for i in range(n):
            if b >> i & 1:
                continue
            for c in range(n + 1):
                if b >> c & 1:
                    continue
                value, size = entries[i, c] * minors[0, b], abs(entries[i, c]) * minors[1, b]
                for j in range(n):
                    if b >> j & 1:
                        value -= entries[i, j] * numerators[0, b ^ (1 << j), j, c]
                        size += abs(entries[i, j]) * numerators[1, b ^ (1 << j), j, c]
                numerators[0, b, i, c], numerators[1, b, i, c] = value, size
            if not abs(numerators[0, b, i, n]) >= CLEAR * numerators[1, b, i, n]:
                return False
    return True
