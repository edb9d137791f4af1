"""Signs of principal minors, order four, for several problems at once; written by generate.py.

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

__all__ = ["entries_four", "signs_four", "solve_four"]

Bases = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.int8]


@inlined
def entries_four(M: FloatArray, q: FloatArray, stride: int, k: int) -> tuple[float, ...]:
    """Entries of problem k of order 4, those of M row by row; each is `stride` behind the one before.

    Parameters
    ----------
    M, q : ndarray of float64, shapes (16 * stride,) and (4 * stride,), contiguous
    stride : int
        Distance of the entries of a problem.
    k : int
        0 <= k < stride.

    Returns
    -------
    tuple of float
        20 numbers, those of q last.
    """
    return (
        read(M, k), read(M, stride + k), read(M, 2 * stride + k), read(M, 3 * stride + k),
        read(M, 4 * stride + k), read(M, 5 * stride + k), read(M, 6 * stride + k), read(M, 7 * stride + k),
        read(M, 8 * stride + k), read(M, 9 * stride + k), read(M, 10 * stride + k), read(M, 11 * stride + k),
        read(M, 12 * stride + k), read(M, 13 * stride + k), read(M, 14 * stride + k), read(M, 15 * stride + k),
        read(q, k), read(q, stride + k), read(q, 2 * stride + k), read(q, 3 * stride + k),
    )  # fmt: skip


@inlined
def _difference_four(d: int, x0: int, x1: int, x2: int, x3: int) -> int:
    """Negative if the sign bit of an x differs from that of d."""
    return (x0 ^ d) | (x1 ^ d) | (x2 ^ d) | (x3 ^ d)


@inlined
def signs_four(
    m00: float, m01: float, m02: float, m03: float, m10: float, m11: float, m12: float, m13: float, m20: float,
    m21: float, m22: float, m23: float, m30: float, m31: float, m32: float, m33: float, q0: float, q1: float,
    q2: float, q3: float,
) -> tuple[bool, int, int, float, float, float, float]:  # fmt: skip
    """Whether all signs are clear, and then the number of bases, the bases as bits, and z of the lowest.

    Parameters
    ----------
    m00, m01, ..., q3 : float
        Entries of M row by row, and of q.

    Returns
    -------
    is_clear : bool
        Whether no minor or numerator may be zero and no entry is out of range; else the rest means nothing.
    count : int
        Number of complementary bases that solve the problem.
    mask : int
        Bit b is set if the basis b is one of them; z_i is basic in b if bit i of b is set.
    z0, z1, z2, z3 : float
        The solution of the lowest of these bases; zeros if there is none.
    """
    d01 = m00 * m11 - m01 * m10
    d02 = m00 * m22 - m02 * m20
    d03 = m00 * m33 - m03 * m30
    d12 = m11 * m22 - m12 * m21
    d13 = m11 * m33 - m13 * m31
    d23 = m22 * m33 - m23 * m32
    d012 = m00 * d12 - m01 * (m10 * m22 - m12 * m20) + m02 * (m10 * m21 - m11 * m20)
    d013 = m00 * d13 - m01 * (m10 * m33 - m13 * m30) + m03 * (m10 * m31 - m11 * m30)
    d023 = m00 * d23 - m02 * (m20 * m33 - m23 * m30) + m03 * (m20 * m32 - m22 * m30)
    d123 = m11 * d23 - m12 * (m21 * m33 - m23 * m31) + m13 * (m21 * m32 - m22 * m31)
    d0123 = (
        (m00 * m11 - m01 * m10) * (m22 * m33 - m23 * m32)
        - (m00 * m12 - m02 * m10) * (m21 * m33 - m23 * m31)
        + (m00 * m13 - m03 * m10) * (m21 * m32 - m22 * m31)
        + (m01 * m12 - m02 * m11) * (m20 * m33 - m23 * m30)
        - (m01 * m13 - m03 * m11) * (m20 * m32 - m22 * m30)
        + (m02 * m13 - m03 * m12) * (m20 * m31 - m21 * m30)
    )
    n1_0 = q1 * m00 - m10 * q0
    n2_0 = q2 * m00 - m20 * q0
    n3_0 = q3 * m00 - m30 * q0
    n0_1 = q0 * m11 - m01 * q1
    n2_1 = q2 * m11 - m21 * q1
    n3_1 = q3 * m11 - m31 * q1
    n0_2 = q0 * m22 - m02 * q2
    n1_2 = q1 * m22 - m12 * q2
    n3_2 = q3 * m22 - m32 * q2
    n0_3 = q0 * m33 - m03 * q3
    n1_3 = q1 * m33 - m13 * q3
    n2_3 = q2 * m33 - m23 * q3
    n2_01 = q2 * d01 - m20 * n0_1 - m21 * n1_0
    n3_01 = q3 * d01 - m30 * n0_1 - m31 * n1_0
    n1_02 = q1 * d02 - m10 * n0_2 - m12 * n2_0
    n3_02 = q3 * d02 - m30 * n0_2 - m32 * n2_0
    n1_03 = q1 * d03 - m10 * n0_3 - m13 * n3_0
    n2_03 = q2 * d03 - m20 * n0_3 - m23 * n3_0
    n0_12 = q0 * d12 - m01 * n1_2 - m02 * n2_1
    n3_12 = q3 * d12 - m31 * n1_2 - m32 * n2_1
    n0_13 = q0 * d13 - m01 * n1_3 - m03 * n3_1
    n2_13 = q2 * d13 - m21 * n1_3 - m23 * n3_1
    n0_23 = q0 * d23 - m02 * n2_3 - m03 * n3_2
    n1_23 = q1 * d23 - m12 * n2_3 - m13 * n3_2
    n3_012 = q3 * d012 - m30 * n0_12 - m31 * n1_02 - m32 * n2_01
    n2_013 = q2 * d013 - m20 * n0_13 - m21 * n1_03 - m23 * n3_01
    n1_023 = q1 * d023 - m10 * n0_23 - m12 * n2_03 - m13 * n3_02
    n0_123 = q0 * d123 - m01 * n1_23 - m02 * n2_13 - m03 * n3_12
    r0 = (modulus(m00) + modulus(m01)) + (modulus(m02) + modulus(m03))
    r1 = (modulus(m10) + modulus(m11)) + (modulus(m12) + modulus(m13))
    r2 = (modulus(m20) + modulus(m21)) + (modulus(m22) + modulus(m23))
    r3 = (modulus(m30) + modulus(m31)) + (modulus(m32) + modulus(m33))
    s = (r0 + r1) + (r2 + r3)
    t = (modulus(q0) + modulus(q1)) + (modulus(q2) + modulus(q3))
    is_clear = (s >= LEAST) & (t >= LEAST) & (s <= MOST) & (t <= MOST)
    s2 = s * s
    s4 = s2 * s2
    s6 = s4 * s2
    s8 = s4 * s4
    t2 = t * t
    t4 = t2 * t2
    l0 = modulus(m00 * m11 * m22 * m33 * d0123)
    l1 = modulus(d01 * d02 * d03 * d12)
    l2 = modulus(d012 * d013 * d13)
    l3 = modulus(d023 * d123 * d23)
    l0 = smaller(l0, l1)
    l2 = smaller(l2, l3)
    l0 = smaller(l0, l2)
    is_clear = is_clear & (l0 > 2.0**-8 * ALL_CLEAR * s8 + TINY)
    l0 = modulus(q0 * q1 * n3_012 * n2_013)
    l1 = modulus(q2 * q3 * n1_023 * n0_123)
    l2 = modulus(n1_0 * n2_0 * n2_01 * n3_01)
    l3 = modulus(n3_0 * n0_1 * n1_02 * n3_02)
    l4 = modulus(n2_1 * n3_1 * n1_03 * n2_03)
    l5 = modulus(n0_2 * n1_2 * n0_12 * n3_12)
    l6 = modulus(n3_2 * n0_3 * n0_13 * n2_13)
    l7 = modulus(n1_3 * n2_3 * n0_23 * n1_23)
    l0 = smaller(l0, l1)
    l2 = smaller(l2, l3)
    l4 = smaller(l4, l5)
    l6 = smaller(l6, l7)
    l0 = smaller(l0, l2)
    l4 = smaller(l4, l6)
    l0 = smaller(l0, l4)
    is_clear = is_clear & (l0 > 2.0**-4 * ALL_CLEAR * s6 * t4 + TINY)
    divisor = 1.0
    mask, count = 0, 16
    z0 = z1 = z2 = z3 = 0.0
    difference = _difference_four(bits(d0123), ~bits(n0_123), ~bits(n1_023), ~bits(n2_013), ~bits(n3_012))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 32768, count + (difference >> 63)
    divisor = d0123 if holds else divisor
    z0 = -n0_123 if holds else z0
    z1 = -n1_023 if holds else z1
    z2 = -n2_013 if holds else z2
    z3 = -n3_012 if holds else z3
    difference = _difference_four(bits(d123), bits(n0_123), ~bits(n1_23), ~bits(n2_13), ~bits(n3_12))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 16384, count + (difference >> 63)
    divisor = d123 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -n1_23 if holds else z1
    z2 = -n2_13 if holds else z2
    z3 = -n3_12 if holds else z3
    difference = _difference_four(bits(d023), ~bits(n0_23), bits(n1_023), ~bits(n2_03), ~bits(n3_02))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 8192, count + (difference >> 63)
    divisor = d023 if holds else divisor
    z0 = -n0_23 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -n2_03 if holds else z2
    z3 = -n3_02 if holds else z3
    difference = _difference_four(bits(d23), bits(n0_23), bits(n1_23), ~bits(n2_3), ~bits(n3_2))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 4096, count + (difference >> 63)
    divisor = d23 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -n2_3 if holds else z2
    z3 = -n3_2 if holds else z3
    difference = _difference_four(bits(d013), ~bits(n0_13), ~bits(n1_03), bits(n2_013), ~bits(n3_01))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 2048, count + (difference >> 63)
    divisor = d013 if holds else divisor
    z0 = -n0_13 if holds else z0
    z1 = -n1_03 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = -n3_01 if holds else z3
    difference = _difference_four(bits(d13), bits(n0_13), ~bits(n1_3), bits(n2_13), ~bits(n3_1))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 1024, count + (difference >> 63)
    divisor = d13 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -n1_3 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = -n3_1 if holds else z3
    difference = _difference_four(bits(d03), ~bits(n0_3), bits(n1_03), bits(n2_03), ~bits(n3_0))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 512, count + (difference >> 63)
    divisor = d03 if holds else divisor
    z0 = -n0_3 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = -n3_0 if holds else z3
    difference = _difference_four(bits(m33), bits(n0_3), bits(n1_3), bits(n2_3), ~bits(q3))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 256, count + (difference >> 63)
    divisor = m33 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = -q3 if holds else z3
    difference = _difference_four(bits(d012), ~bits(n0_12), ~bits(n1_02), ~bits(n2_01), bits(n3_012))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 128, count + (difference >> 63)
    divisor = d012 if holds else divisor
    z0 = -n0_12 if holds else z0
    z1 = -n1_02 if holds else z1
    z2 = -n2_01 if holds else z2
    z3 = 0.0 if holds else z3
    difference = _difference_four(bits(d12), bits(n0_12), ~bits(n1_2), ~bits(n2_1), bits(n3_12))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 64, count + (difference >> 63)
    divisor = d12 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -n1_2 if holds else z1
    z2 = -n2_1 if holds else z2
    z3 = 0.0 if holds else z3
    difference = _difference_four(bits(d02), ~bits(n0_2), bits(n1_02), ~bits(n2_0), bits(n3_02))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 32, count + (difference >> 63)
    divisor = d02 if holds else divisor
    z0 = -n0_2 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -n2_0 if holds else z2
    z3 = 0.0 if holds else z3
    difference = _difference_four(bits(m22), bits(n0_2), bits(n1_2), ~bits(q2), bits(n3_2))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 16, count + (difference >> 63)
    divisor = m22 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -q2 if holds else z2
    z3 = 0.0 if holds else z3
    difference = _difference_four(bits(d01), ~bits(n0_1), ~bits(n1_0), bits(n2_01), bits(n3_01))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 8, count + (difference >> 63)
    divisor = d01 if holds else divisor
    z0 = -n0_1 if holds else z0
    z1 = -n1_0 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = 0.0 if holds else z3
    difference = _difference_four(bits(m11), bits(n0_1), ~bits(q1), bits(n2_1), bits(n3_1))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 4, count + (difference >> 63)
    divisor = m11 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -q1 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = 0.0 if holds else z3
    difference = _difference_four(bits(m00), ~bits(q0), bits(n1_0), bits(n2_0), bits(n3_0))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 2, count + (difference >> 63)
    divisor = m00 if holds else divisor
    z0 = -q0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = 0.0 if holds else z3
    difference = _difference_four(bits(1.0), bits(q0), bits(q1), bits(q2), bits(q3))
    holds = difference >= 0
    mask, count = mask | (~difference >> 63) & 1, count + (difference >> 63)
    divisor = 1.0 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = 0.0 if holds else z3
    return is_clear, count, mask, z0 / divisor, z1 / divisor, z2 / divisor, z3 / divisor


@compiled
def solve_four(
    M: FloatArray, q: FloatArray, stride: int, first: int, last: int, z: FloatArray, bases: Bases, counts: Counts
) -> bool:
    """The solving bases of each problem as bits, and z of the lowest one: z_i of problem k at z[stride * i + k].

    Parameters
    ----------
    M, q : ndarray of float64, shapes (16 * stride,) and (4 * stride,), contiguous
    stride : int
        Distance of the entries of a problem.
    first, last : int
        Problems from first to last - 1 are solved.
    z : ndarray of float64, shape (4 * stride,)
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
        found = signs_four(*entries_four(M, q, stride, k))
        write(counts, k, np.int8(found[1] if found[0] else -1))
        write(bases, k, np.uint16(found[2]))
        write(z, k, found[3])
        write(z, stride + k, found[4])
        write(z, 2 * stride + k, found[5])
        write(z, 3 * stride + k, found[6])
    return has_negative(counts, first, last)
