"""Principal-minor kernels of order four, straight-line and free of branches; written by generate.py.

The dictionary of a complementary basis a has w_i = N_i(a) / D(a) for i outside a and z_i = -N_i(a - i) / D(a)
for i in a, with D(a) the principal minor of M and N_i(b) = q_i D(b) - sum over j in b of m_ij N_j(b - j)
(Cramer's rule; Cottle, Pang and Stone 1992, section 2.3). So the signs of n 2**(n-1) numerators and 2**n - 1
minors decide all 2**n bases. The clearance is the smallest modulus of all of them; where it is small, rounding may
have decided. In the names below digits are indices: d01 = D({0, 1}), n2_01 = N_2({0, 1}).

Each kernel is five steps: minors D, numerators N, clearance, then for every basis, from the highest to the lowest,
its sign test with (D; N_i outside, -N_i inside) and the selection of z, so that the lowest basis is selected last,
and the division. tests/lcp/test_kernels.py checks all bases against Cramer's rule in integers.
"""

from __future__ import annotations

import math

from lcp.arrays import FloatArray
from lcp.kernels.compiled import inlined
from lcp.kernels.vectors import read, smaller

__all__ = ["bases_four", "entries_four"]


@inlined
def entries_four(M: FloatArray, q: FloatArray, stride: int, k: int) -> tuple[float, ...]:
    """Entries of problem k of order 4, those of M row by row; each is `stride` behind the one before."""
    return (
        read(M, k), read(M, stride + k), read(M, 2 * stride + k), read(M, 3 * stride + k),
        read(M, 4 * stride + k), read(M, 5 * stride + k), read(M, 6 * stride + k), read(M, 7 * stride + k),
        read(M, 8 * stride + k), read(M, 9 * stride + k), read(M, 10 * stride + k), read(M, 11 * stride + k),
        read(M, 12 * stride + k), read(M, 13 * stride + k), read(M, 14 * stride + k), read(M, 15 * stride + k),
        read(q, k), read(q, stride + k), read(q, 2 * stride + k), read(q, 3 * stride + k),
    )  # fmt: skip


@inlined
def _holds_four(d: float, x0: float, x1: float, x2: float, x3: float) -> int:
    """Whether all x / d are >= 0 for a d that is not zero."""
    sign = math.copysign(1.0, d)
    return int((smaller(smaller(smaller(x0 * sign, x1 * sign), x2 * sign), x3 * sign) >= 0.0) & (d != 0.0))


@inlined
def bases_four(
    m00: float, m01: float, m02: float, m03: float, m10: float, m11: float, m12: float, m13: float, m20: float,
    m21: float, m22: float, m23: float, m30: float, m31: float, m32: float, m33: float, q0: float, q1: float,
    q2: float, q3: float,
) -> tuple[int, float, float, float, float, float]:  # fmt: skip
    """Bases that solve a problem of order 4, as bits, their clearance, and z of the lowest."""
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
    c0_0 = min(abs(q0), abs(q1), abs(q2), abs(q3))
    c0_1 = min(abs(n1_0), abs(n2_0), abs(n3_0), abs(n0_1))
    c0_2 = min(abs(n2_1), abs(n3_1), abs(n0_2), abs(n1_2))
    c0_3 = min(abs(n3_2), abs(n0_3), abs(n1_3), abs(n2_3))
    c0_4 = min(abs(n2_01), abs(n3_01), abs(n1_02), abs(n3_02))
    c0_5 = min(abs(n1_03), abs(n2_03), abs(n0_12), abs(n3_12))
    c0_6 = min(abs(n0_13), abs(n2_13), abs(n0_23), abs(n1_23))
    c0_7 = min(abs(n3_012), abs(n2_013), abs(n1_023), abs(n0_123))
    c0_8 = min(abs(m00), abs(m11), abs(m22), abs(m33))
    c0_9 = min(abs(d01), abs(d02), abs(d03), abs(d12))
    c0_10 = min(abs(d13), abs(d23), abs(d012), abs(d013))
    c0_11 = min(abs(d023), abs(d123), abs(d0123))
    c1_0 = min(c0_0, c0_1, c0_2, c0_3)
    c1_1 = min(c0_4, c0_5, c0_6, c0_7)
    c1_2 = min(c0_8, c0_9, c0_10, c0_11)
    clearance = min(1.0, c1_0, c1_1, c1_2)
    divisor = 1.0
    mask = 0
    z0 = z1 = z2 = z3 = 0.0
    holds = _holds_four(d0123, -n0_123, -n1_023, -n2_013, -n3_012)
    mask |= holds << 15
    divisor = d0123 if holds else divisor
    z0 = -n0_123 if holds else z0
    z1 = -n1_023 if holds else z1
    z2 = -n2_013 if holds else z2
    z3 = -n3_012 if holds else z3
    holds = _holds_four(d123, n0_123, -n1_23, -n2_13, -n3_12)
    mask |= holds << 14
    divisor = d123 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -n1_23 if holds else z1
    z2 = -n2_13 if holds else z2
    z3 = -n3_12 if holds else z3
    holds = _holds_four(d023, -n0_23, n1_023, -n2_03, -n3_02)
    mask |= holds << 13
    divisor = d023 if holds else divisor
    z0 = -n0_23 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -n2_03 if holds else z2
    z3 = -n3_02 if holds else z3
    holds = _holds_four(d23, n0_23, n1_23, -n2_3, -n3_2)
    mask |= holds << 12
    divisor = d23 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -n2_3 if holds else z2
    z3 = -n3_2 if holds else z3
    holds = _holds_four(d013, -n0_13, -n1_03, n2_013, -n3_01)
    mask |= holds << 11
    divisor = d013 if holds else divisor
    z0 = -n0_13 if holds else z0
    z1 = -n1_03 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = -n3_01 if holds else z3
    holds = _holds_four(d13, n0_13, -n1_3, n2_13, -n3_1)
    mask |= holds << 10
    divisor = d13 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -n1_3 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = -n3_1 if holds else z3
    holds = _holds_four(d03, -n0_3, n1_03, n2_03, -n3_0)
    mask |= holds << 9
    divisor = d03 if holds else divisor
    z0 = -n0_3 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = -n3_0 if holds else z3
    holds = _holds_four(m33, n0_3, n1_3, n2_3, -q3)
    mask |= holds << 8
    divisor = m33 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = -q3 if holds else z3
    holds = _holds_four(d012, -n0_12, -n1_02, -n2_01, n3_012)
    mask |= holds << 7
    divisor = d012 if holds else divisor
    z0 = -n0_12 if holds else z0
    z1 = -n1_02 if holds else z1
    z2 = -n2_01 if holds else z2
    z3 = 0.0 if holds else z3
    holds = _holds_four(d12, n0_12, -n1_2, -n2_1, n3_12)
    mask |= holds << 6
    divisor = d12 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -n1_2 if holds else z1
    z2 = -n2_1 if holds else z2
    z3 = 0.0 if holds else z3
    holds = _holds_four(d02, -n0_2, n1_02, -n2_0, n3_02)
    mask |= holds << 5
    divisor = d02 if holds else divisor
    z0 = -n0_2 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -n2_0 if holds else z2
    z3 = 0.0 if holds else z3
    holds = _holds_four(m22, n0_2, n1_2, -q2, n3_2)
    mask |= holds << 4
    divisor = m22 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -q2 if holds else z2
    z3 = 0.0 if holds else z3
    holds = _holds_four(d01, -n0_1, -n1_0, n2_01, n3_01)
    mask |= holds << 3
    divisor = d01 if holds else divisor
    z0 = -n0_1 if holds else z0
    z1 = -n1_0 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = 0.0 if holds else z3
    holds = _holds_four(m11, n0_1, -q1, n2_1, n3_1)
    mask |= holds << 2
    divisor = m11 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -q1 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = 0.0 if holds else z3
    holds = _holds_four(m00, -q0, n1_0, n2_0, n3_0)
    mask |= holds << 1
    divisor = m00 if holds else divisor
    z0 = -q0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = 0.0 if holds else z3
    holds = _holds_four(1.0, q0, q1, q2, q3)
    mask |= holds
    divisor = 1.0 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    z3 = 0.0 if holds else z3
    return mask, clearance, z0 / divisor, z1 / divisor, z2 / divisor, z3 / divisor
