"""Principal-minor kernels of order one to three, straight-line and free of branches; written by generate.py.

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

__all__ = ["bases_one", "bases_three", "bases_two", "entries_one", "entries_three", "entries_two"]


@inlined
def entries_one(M: FloatArray, q: FloatArray, stride: int, k: int) -> tuple[float, ...]:
    """Entries of problem k of order 1, those of M row by row; each is `stride` behind the one before."""
    return (read(M, k), read(q, k))


@inlined
def _holds_one(d: float, x0: float) -> int:
    """Whether all x / d are >= 0 for a d that is not zero."""
    sign = math.copysign(1.0, d)
    return int((x0 * sign >= 0.0) & (d != 0.0))


@inlined
def bases_one(m00: float, q0: float) -> tuple[int, float, float]:
    """Bases that solve a problem of order 1, as bits, their clearance, and z of the lowest."""
    clearance = min(1.0, abs(q0), abs(m00))
    divisor = 1.0
    mask = 0
    z0 = 0.0
    holds = _holds_one(m00, -q0)
    mask |= holds << 1
    divisor = m00 if holds else divisor
    z0 = -q0 if holds else z0
    holds = _holds_one(1.0, q0)
    mask |= holds
    divisor = 1.0 if holds else divisor
    z0 = 0.0 if holds else z0
    return mask, clearance, z0 / divisor


@inlined
def entries_two(M: FloatArray, q: FloatArray, stride: int, k: int) -> tuple[float, ...]:
    """Entries of problem k of order 2, those of M row by row; each is `stride` behind the one before."""
    return (
        read(M, k), read(M, stride + k), read(M, 2 * stride + k), read(M, 3 * stride + k), read(q, k),
        read(q, stride + k),
    )  # fmt: skip


@inlined
def _holds_two(d: float, x0: float, x1: float) -> int:
    """Whether all x / d are >= 0 for a d that is not zero."""
    sign = math.copysign(1.0, d)
    return int((smaller(x0 * sign, x1 * sign) >= 0.0) & (d != 0.0))


@inlined
def bases_two(
    m00: float, m01: float, m10: float, m11: float, q0: float, q1: float,
) -> tuple[int, float, float, float]:  # fmt: skip
    """Bases that solve a problem of order 2, as bits, their clearance, and z of the lowest."""
    d01 = m00 * m11 - m01 * m10
    n1_0 = q1 * m00 - m10 * q0
    n0_1 = q0 * m11 - m01 * q1
    c0_0 = min(abs(q0), abs(q1), abs(n1_0), abs(n0_1))
    c0_1 = min(abs(m00), abs(m11), abs(d01))
    clearance = min(1.0, c0_0, c0_1)
    divisor = 1.0
    mask = 0
    z0 = z1 = 0.0
    holds = _holds_two(d01, -n0_1, -n1_0)
    mask |= holds << 3
    divisor = d01 if holds else divisor
    z0 = -n0_1 if holds else z0
    z1 = -n1_0 if holds else z1
    holds = _holds_two(m11, n0_1, -q1)
    mask |= holds << 2
    divisor = m11 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -q1 if holds else z1
    holds = _holds_two(m00, -q0, n1_0)
    mask |= holds << 1
    divisor = m00 if holds else divisor
    z0 = -q0 if holds else z0
    z1 = 0.0 if holds else z1
    holds = _holds_two(1.0, q0, q1)
    mask |= holds
    divisor = 1.0 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    return mask, clearance, z0 / divisor, z1 / divisor


@inlined
def entries_three(M: FloatArray, q: FloatArray, stride: int, k: int) -> tuple[float, ...]:
    """Entries of problem k of order 3, those of M row by row; each is `stride` behind the one before."""
    return (
        read(M, k), read(M, stride + k), read(M, 2 * stride + k), read(M, 3 * stride + k),
        read(M, 4 * stride + k), read(M, 5 * stride + k), read(M, 6 * stride + k), read(M, 7 * stride + k),
        read(M, 8 * stride + k), read(q, k), read(q, stride + k), read(q, 2 * stride + k),
    )  # fmt: skip


@inlined
def _holds_three(d: float, x0: float, x1: float, x2: float) -> int:
    """Whether all x / d are >= 0 for a d that is not zero."""
    sign = math.copysign(1.0, d)
    return int((smaller(smaller(x0 * sign, x1 * sign), x2 * sign) >= 0.0) & (d != 0.0))


@inlined
def bases_three(
    m00: float, m01: float, m02: float, m10: float, m11: float, m12: float, m20: float, m21: float, m22: float,
    q0: float, q1: float, q2: float,
) -> tuple[int, float, float, float, float]:  # fmt: skip
    """Bases that solve a problem of order 3, as bits, their clearance, and z of the lowest."""
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
    c0_0 = min(abs(q0), abs(q1), abs(q2), abs(n1_0))
    c0_1 = min(abs(n2_0), abs(n0_1), abs(n2_1), abs(n0_2))
    c0_2 = min(abs(n1_2), abs(n2_01), abs(n1_02), abs(n0_12))
    c0_3 = min(abs(m00), abs(m11), abs(m22), abs(d01))
    c0_4 = min(abs(d02), abs(d12), abs(d012))
    c1_0 = min(c0_0, c0_1, c0_2, c0_3)
    c1_1 = c0_4
    clearance = min(1.0, c1_0, c1_1)
    divisor = 1.0
    mask = 0
    z0 = z1 = z2 = 0.0
    holds = _holds_three(d012, -n0_12, -n1_02, -n2_01)
    mask |= holds << 7
    divisor = d012 if holds else divisor
    z0 = -n0_12 if holds else z0
    z1 = -n1_02 if holds else z1
    z2 = -n2_01 if holds else z2
    holds = _holds_three(d12, n0_12, -n1_2, -n2_1)
    mask |= holds << 6
    divisor = d12 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -n1_2 if holds else z1
    z2 = -n2_1 if holds else z2
    holds = _holds_three(d02, -n0_2, n1_02, -n2_0)
    mask |= holds << 5
    divisor = d02 if holds else divisor
    z0 = -n0_2 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -n2_0 if holds else z2
    holds = _holds_three(m22, n0_2, n1_2, -q2)
    mask |= holds << 4
    divisor = m22 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = -q2 if holds else z2
    holds = _holds_three(d01, -n0_1, -n1_0, n2_01)
    mask |= holds << 3
    divisor = d01 if holds else divisor
    z0 = -n0_1 if holds else z0
    z1 = -n1_0 if holds else z1
    z2 = 0.0 if holds else z2
    holds = _holds_three(m11, n0_1, -q1, n2_1)
    mask |= holds << 2
    divisor = m11 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = -q1 if holds else z1
    z2 = 0.0 if holds else z2
    holds = _holds_three(m00, -q0, n1_0, n2_0)
    mask |= holds << 1
    divisor = m00 if holds else divisor
    z0 = -q0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    holds = _holds_three(1.0, q0, q1, q2)
    mask |= holds
    divisor = 1.0 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    return mask, clearance, z0 / divisor, z1 / divisor, z2 / divisor
