"""Principal-minor kernels of order one to three, straight-line and free of branches.

The dictionary of a complementary basis a has w_i = N_i(a) / D(a) for i outside a and z_i = -N_i(a - i) / D(a)
for i in a, with D(a) the principal minor of M and N_i(b) = q_i D(b) - sum over j in b of m_ij N_j(b - j)
(Cramer's rule; Cottle, Pang and Stone 1992, section 2.3). So the signs of n 2**(n-1) numerators and 2**n - 1
minors decide all 2**n bases. The clearance is the smallest modulus of all of them with M multiplied by
`scale`; where it is small, rounding may have decided. In the names below digits are indices:
d01 = D({0, 1}), n2_01 = N_2({0, 1}).

Each kernel writes out the same five steps, as loops over bits would keep the compiler from serving several problems
with one instruction: minors D, numerators N, clearance by size of the index set (each multiplied once more by
`scale`), then for every basis, from the highest to the lowest, its sign test with (D; N_i outside, -N_i inside) and
the selection of z, so that the lowest basis is selected last, and the division. tests/lcp/test_kernels.py checks all
bases against Cramer's rule in integers.
"""

from __future__ import annotations

from lcp.kernels.compiled import inlined

__all__ = ["bases_one", "bases_three", "bases_two"]


@inlined
def _holds_one(d: float, x0: float) -> int:
    """Whether all x / d are >= 0 for a d that is not zero."""
    return int(((d > 0.0) & (x0 >= 0.0)) | ((d < 0.0) & (x0 <= 0.0)))


@inlined
def bases_one(
    m00: float,
    q0: float,
    scale: float,
) -> tuple[int, float, float]:
    """Bases that solve a problem of order 1, as bits, their clearance, and z of the lowest basis."""
    clearance = 1.0
    clearance = min(clearance, abs(q0), abs(m00) * scale)
    mask, divisor = 0, 1.0
    z0 = 0.0
    holds = _holds_one(m00, -q0)
    mask |= holds << 1
    divisor = m00 if holds else divisor
    z0 = -q0 if holds else z0
    holds = _holds_one(1.0, q0)
    mask |= holds << 0
    divisor = 1.0 if holds else divisor
    z0 = 0.0 if holds else z0
    return mask, clearance, z0 / divisor


@inlined
def _holds_two(d: float, x0: float, x1: float) -> int:
    """Whether all x / d are >= 0 for a d that is not zero."""
    return int(((d > 0.0) & (x0 >= 0.0) & (x1 >= 0.0)) | ((d < 0.0) & (x0 <= 0.0) & (x1 <= 0.0)))


@inlined
def bases_two(
    m00: float,
    m01: float,
    m10: float,
    m11: float,
    q0: float,
    q1: float,
    scale: float,
) -> tuple[int, float, float, float]:
    """Bases that solve a problem of order 2, as bits, their clearance, and z of the lowest basis."""
    d01 = m00 * m11 - m01 * m10
    n1_0 = q1 * m00 - m10 * q0
    n0_1 = q0 * m11 - m01 * q1
    clearance = 1.0
    unit = 1.0
    clearance = min(clearance, abs(q0), abs(q1))
    unit *= scale
    clearance = min(clearance, abs(n1_0) * unit, abs(m00) * unit, abs(n0_1) * unit)
    clearance = min(clearance, abs(m11) * unit)
    unit *= scale
    clearance = min(clearance, abs(d01) * unit)
    mask, divisor = 0, 1.0
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
    mask |= holds << 0
    divisor = 1.0 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    return mask, clearance, z0 / divisor, z1 / divisor


@inlined
def _holds_three(d: float, x0: float, x1: float, x2: float) -> int:
    """Whether all x / d are >= 0 for a d that is not zero."""
    return int(
        ((d > 0.0) & (x0 >= 0.0) & (x1 >= 0.0) & (x2 >= 0.0)) | ((d < 0.0) & (x0 <= 0.0) & (x1 <= 0.0) & (x2 <= 0.0))
    )


@inlined
def bases_three(
    m00: float,
    m01: float,
    m02: float,
    m10: float,
    m11: float,
    m12: float,
    m20: float,
    m21: float,
    m22: float,
    q0: float,
    q1: float,
    q2: float,
    scale: float,
) -> tuple[int, float, float, float, float]:
    """Bases that solve a problem of order 3, as bits, their clearance, and z of the lowest basis."""
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
    clearance = 1.0
    unit = 1.0
    clearance = min(clearance, abs(q0), abs(q1), abs(q2))
    unit *= scale
    clearance = min(clearance, abs(n1_0) * unit, abs(n2_0) * unit, abs(m00) * unit)
    clearance = min(clearance, abs(n0_1) * unit, abs(n2_1) * unit, abs(m11) * unit)
    clearance = min(clearance, abs(n0_2) * unit, abs(n1_2) * unit, abs(m22) * unit)
    unit *= scale
    clearance = min(clearance, abs(n2_01) * unit, abs(d01) * unit, abs(n1_02) * unit)
    clearance = min(clearance, abs(d02) * unit, abs(n0_12) * unit, abs(d12) * unit)
    unit *= scale
    clearance = min(clearance, abs(d012) * unit)
    mask, divisor = 0, 1.0
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
    mask |= holds << 0
    divisor = 1.0 if holds else divisor
    z0 = 0.0 if holds else z0
    z1 = 0.0 if holds else z1
    z2 = 0.0 if holds else z2
    return mask, clearance, z0 / divisor, z1 / divisor, z2 / divisor
