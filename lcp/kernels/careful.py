"""One problem of up to four unknowns that has zeros or numbers near them: what of its signs is proved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lcp.kernels.compiled import compiled
from lcp.kernels.sizes import CLEAR, LEAST, MOST

if TYPE_CHECKING:
    from lcp.problem import FloatArray

__all__ = ["REFUSED", "UNDECIDED", "proved_bases", "room"]

UNDECIDED = -1
REFUSED = -2


@compiled
def room(n: int) -> tuple[int, int, int, int]:
    """The shape of the work space that `proved_bases` takes.

    Parameters
    ----------
    n : int
        Number of unknowns.

    Returns
    -------
    tuple of int
        (2, 2**n, n + 1, n + 1).
    """
    return 2, 1 << n, n + 1, n + 1


@compiled
def proved_bases(M: FloatArray, q: FloatArray, z: FloatArray, T: FloatArray) -> int:
    """The solving bases as bits, and the z of the lowest in z; UNDECIDED, or REFUSED for entries out of range.

    Zeros are proved where no product is rounded, or where all products that are added up are zero.

    Parameters
    ----------
    M, q : ndarray of float64, shapes (n, n) and (n,)
        1 to 4 unknowns.
    z : ndarray of float64, shape (n,)
        Overwritten; zeros if there is no basis, meaningless if the result is negative.
    T : ndarray of float64, shape (2, 2**n, n + 1, n + 1)
        Overwritten.

    Returns
    -------
    int
        Bit b is set if the complementary basis b solves the problem; UNDECIDED (-1) where a sign is within its
        rounding; REFUSED (-2) for entries other than zero that are not between 1e-70 and 1e70 in modulus.
    """
    n = q.shape[0]
    if not (_is_in_range(M.ravel()) and _is_in_range(q)):
        return REFUSED
    # bits with which no minor is rounded: 24 products of four entries of 12 bits have 53 bits, and so on
    few = 25 if n == 2 else 16 if n == 3 else 12
    is_exact = n == 1 or (_is_coarse(M.ravel(), few) and _is_coarse(q, few))
    if not _expand(M, q, T, is_exact):
        return UNDECIDED
    return _bases(T[0], z)


@compiled
def _bases(T: FloatArray, z: FloatArray) -> int:
    """The solving bases as bits, and the z of the lowest in z; zeros if there is none."""
    n, mask, lowest = z.shape[0], 0, 0
    for b in range((1 << n) - 1, -1, -1):
        minor = T[b, n, n]
        if minor == 0.0:
            continue
        holds = True
        for i in range(n):
            is_basic = b >> i & 1
            value = T[b ^ (is_basic << i), i, n]
            holds = holds and (value == 0.0 or ((value > 0.0) == (minor > 0.0)) == (is_basic == 0))
        if holds:
            mask, lowest = mask | 1 << b, b
    for i in range(n):
        z[i] = -T[lowest ^ (1 << i), i, n] / T[lowest, n, n] if mask and lowest >> i & 1 else 0.0
    return mask


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
    unit = math.ldexp(1.0, few - math.frexp(largest)[1])
    for entry in entries:
        multiple = unit * entry
        if multiple != math.floor(multiple):
            return False
    return True


@compiled
def _expand(M: FloatArray, q: FloatArray, T: FloatArray, is_exact: bool) -> bool:
    """Write all minors and numerators into T[0]; False if one is within the rounding of the products it is the sum of.

    T[0, b, i, c] is the numerator of row i in the dictionary of basis b with column c of (M, q), behind b, for
    q. So T[0, b, k, k] is the minor of b + k; that of b is T[0, b, n, n]. T[1] has the sums of the moduli of products.
    """
    n, top = q.shape[0], 0
    T[:, 0, n, n] = 1.0
    for b in range(1 << n):
        if b >> top:
            top += 1  # now b is within the first `top` indices
        if b:
            k = top - 1
            T[0, b, n, n], T[1, b, n, n] = T[0, b ^ (1 << k), k, k], T[1, b ^ (1 << k), k, k]
        if not (is_exact or abs(T[0, b, n, n]) >= CLEAR * T[1, b, n, n]):
            return False
        for i in range(n):
            if b >> i & 1:
                continue
            for c in range(top, n + 1):
                entry = q[i] if c == n else M[i, c]
                value, size = entry * T[0, b, n, n], abs(entry) * T[1, b, n, n]
                for j in range(top):
                    if b >> j & 1:
                        value -= M[i, j] * T[0, b ^ (1 << j), j, c]
                        size += abs(M[i, j]) * T[1, b ^ (1 << j), j, c]
                T[0, b, i, c], T[1, b, i, c] = value, size
            if not (is_exact or abs(T[0, b, i, n]) >= CLEAR * T[1, b, i, n]):
                return False
    return True
