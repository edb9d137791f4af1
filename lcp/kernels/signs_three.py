"""Signs of principal minors, order three, for several problems at once; written by generate.py.

The numbers are those of `lcp.kernels.formulas`, sums of products. With the sums s and t of the moduli of M and q, the
products of a number of order k have the sum (s / k)**k of moduli at most, by the means of its rows, and t times
that if it has q as a factor. So the numbers of a group are each larger than their rounding, `ALL_CLEAR` times this, if
their product is larger than `ALL_CLEAR` times the product of these bounds. If all are, no sign is in doubt and none is
zero: a basis solves the problem if and only if no bit that is the sign of a numerator, its opposite for those inside
the basis, differs from that of the minor.

Each problem has its entries `stride` behind each other. A kernel writes -1 as the count of problems that are not
clear, or have an entry that is not finite or out of range, and tells whether there are any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lcp.kernels.compiled import compiled, inlined
from lcp.kernels.sizes import ALL_CLEAR, LEAST, MOST, TINY, bits, has_negative, modulus
from lcp.kernels.vectors import read, smaller, write

if TYPE_CHECKING:
    from lcp.problem import FloatArray

__all__ = ["entries_three", "signs_three", "solve_three"]

Bases = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.int8]


@inlined
def entries_three(M: FloatArray, q: FloatArray, stride: int, k: int) -> tuple[float, ...]:
    """Entries of problem k of order 3, those of M row by row; each is `stride` behind the one before.

    Parameters
    ----------
    M, q : ndarray of float64, shapes (9 * stride,) and (3 * stride,), contiguous
    stride : int
        Distance of the entries of a problem.
    k : int
        0 <= k < stride.

    Returns
    -------
    tuple of float
        12 numbers, those of q last.
    """
    return (
        read(M, k), read(M, stride + k), read(M, 2 * stride + k), read(M, 3 * stride + k),
        read(M, 4 * stride + k), read(M, 5 * stride + k), read(M, 6 * stride + k), read(M, 7 * stride + k),
        read(M, 8 * stride + k), read(q, k), read(q, stride + k), read(q, 2 * stride + k),
    )  # fmt: skip


@inlined
def _difference_three(d: int, x0: int, x1: int, x2: int) -> int:
    """Negative if the sign bit of an x differs from that of d."""
    return (x0 ^ d) | (x1 ^ d) | (x2 ^ d)


@inlined
def signs_three(
    m00: float, m01: float, m02: float, m10: float, m11: float, m12: float, m20: float, m21: float, m22: float,
    q0: float, q1: float, q2: float,
) -> tuple[bool, int, int, float, float, float]:  # fmt: skip
    """Whether all signs are clear, and then the number of bases, the bases as bits, and z of the lowest.

    Parameters
    ----------
    m00, m01, ..., q2 : float
        Entries of M row by row, and of q.

    Returns
    -------
    is_clear : bool
        Whether no minor or numerator may be zero and no entry is out of range; else the rest means nothing.
    count : int
        Number of complementary bases that solve the problem.
    mask : int
        Bit b is set if the basis b is one of them; z_i is basic in b if bit i of b is set.
    z0, z1, z2 : float
        The solution of the lowest of these bases; zeros if there is none.
    """
    d01 = m00 * m11 - m01 * m10
    d02 = m00 * m22 - m02 * m20
    d12 = m11 * m22 - m12 * m21
    d012 = m00 * d12 - m01 * (m10 * m22 - m12 * m20) + m02 * (m10 * m21 - m11 * m20)
    n1_0 = q1 * m00 - m10 * q0
    n2_0 = q2 * m00 - m20 * q0
    n0_1 = q0 * m11 - m01 * q1
    n2_1 = q2 * m11 - m21 * q1
    n0_2 = q0 * m22 - m02 * q2
    n1_2 = q1 * m22 - m12 * q2
    n2_01 = q2 * d01 - m20 * n0_1 - m21 * n1_0
    n1_02 = q1 * d02 - m10 * n0_2 - m12 * n2_0
    n0_12 = q0 * d12 - m01 * n1_2 - m02 * n2_1
    r0 = (modulus(m00) + modulus(m01)) + modulus(m02)
    r1 = (modulus(m10) + modulus(m11)) + modulus(m12)
    r2 = (modulus(m20) + modulus(m21)) + modulus(m22)
    s = (r0 + r1) + r2
    t = (modulus(q0) + modulus(q1)) + modulus(q2)
    is_clear = (s >= LEAST) & (t >= LEAST) & (s <= MOST) & (t <= MOST)
    s2 = s * s
    s4 = s2 * s2
    t2 = t * t
    t4 = t2 * t2
    l0 = modulus(m00 * d012)
    l1 = modulus(m11 * m22 * d01)
    l2 = modulus(d02 * d12)
    l0 = smaller(l0, l1)
    l0 = smaller(l0, l2)
    is_clear = is_clear & (l0 > 2.0**-2 * ALL_CLEAR * s4 + TINY)
    l0 = modulus(q0 * q1 * n2_01 * n1_02)
    l1 = modulus(n1_0 * n2_0 * n0_1 * n2_1)
    l2 = modulus(q2 * n0_2 * n1_2 * n0_12)
    l0 = smaller(l0, l1)
    l0 = smaller(l0, l2)
    is_clear = is_clear & (l0 > ALL_CLEAR * s4 * t4 + TINY)
    divisor = 1.0
    mask, count = 0, 8
    z0 = z1 = z2 = 0.0
    difference = _difference_three(bits(d012), ~bits(n0_12), ~bits(n1_02), ~bits(n2_01))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 128, count + (difference >> 63)
    divisor = d012 if holds else divisor
    z0 = -n0_12 if holds else z0
    z1 = -n1_02 if holds else z1
    z2 = -n2_01 if holds else z2
    difference = _difference_three(bits(d12), bits(n0_12), ~bits(n1_2), ~bits(n2_1))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 64, count + (difference >> 63)
    divisor = d12 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -n1_2 if holds else z1
    z2 = -n2_1 if holds else z2
    difference = _difference_three(bits(d02), ~bits(n0_2), bits(n1_02), ~bits(n2_0))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 32, count + (difference >> 63)
    divisor = d02 if holds else divisor
    z0 = -n0_2 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -n2_0 if holds else z2
    difference = _difference_three(bits(m22), bits(n0_2), bits(n1_2), ~bits(q2))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 16, count + (difference >> 63)
    divisor = m22 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -q2 if holds else z2
    difference = _difference_three(bits(d01), ~bits(n0_1), ~bits(n1_0), bits(n2_01))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 8, count + (difference >> 63)
    divisor = d01 if holds else divisor
    z0 = -n0_1 if holds else z0
    z1 = -n1_0 if holds else z1
    z2 = 0.0 if holds else z2
    difference = _difference_three(bits(m11), bits(n0_1), ~bits(q1), bits(n2_1))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 4, count + (difference >> 63)
    divisor = m11 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -q1 if holds else z1
    z2 = 0.0 if holds else z2
    difference = _difference_three(bits(m00), ~bits(q0), bits(n1_0), bits(n2_0))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 2, count + (difference >> 63)
    divisor = m00 if holds else divisor
    z0 = -q0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    difference = _difference_three(bits(1.0), bits(q0), bits(q1), bits(q2))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 1, count + (difference >> 63)
    divisor = 1.0 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    return is_clear, count, mask, z0 / divisor, z1 / divisor, z2 / divisor


@compiled
def solve_three(
    M: FloatArray, q: FloatArray, stride: int, first: int, last: int, z: FloatArray, bases: Bases, counts: Counts
) -> bool:
    """The solving bases of each problem as bits, and z of the lowest one: z_i of problem k at z[stride * i + k].

    Parameters
    ----------
    M, q : ndarray of float64, shapes (9 * stride,) and (3 * stride,), contiguous
    stride : int
        Distance of the entries of a problem.
    first, last : int
        Problems from first to last - 1 are solved.
    z : ndarray of float64, shape (3 * stride,)
        Overwritten; zeros where no basis solves the problem, meaningless where the count is negative.
    bases : ndarray of uint16, shape (stride,)
        Overwritten: bit b is set if the complementary basis b solves the problem.
    counts : ndarray of int8, shape (stride,)
        Overwritten: the number of these bases, or -1.

    Returns
    -------
    bool
        Whether a count is negative.
    """
    for k in range(first, last):
        found = signs_three(*entries_three(M, q, stride, k))
        write(counts, k, np.int8(found[1] if found[0] else -1))
        write(bases, k, np.uint16(found[2]))
        write(z, k, found[3])
        write(z, stride + k, found[4])
        write(z, 2 * stride + k, found[5])
    return has_negative(counts, first, last)
