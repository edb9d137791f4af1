"""One problem of up to four unknowns by its principal minors."""

from __future__ import annotations

from lcp.arrays import FloatArray
from lcp.kernels.compiled import compiled
from lcp.kernels.minors import bases_one, bases_three, bases_two
from lcp.kernels.minors_four import bases_four

__all__ = ["CLEAR", "bases_of_small"]

CLEAR = 1e-11  # minors and numerators of the scaled problem above this decide by their signs alone


@compiled
def bases_of_small(M: FloatArray, q: FloatArray, s: float, t: float, z: FloatArray) -> tuple[int, float]:
    """The solving bases of (M, q) as bits and their clearance; the z of the lowest basis is written into z.

    Parameters
    ----------
    M, q : ndarray
        1 to 4 unknowns.
    s, t : float
        Reciprocals of the largest entries of M and q.
    z : ndarray, shape (n,)
        Overwritten; zeros if there is no basis.
    """
    n = q.shape[0]
    if n == 1:
        one = bases_one(s * M[0, 0], t * q[0])
        z[0] = one[2]
        mask, clearance = one[0], one[1]
    elif n == 2:
        two = bases_two(s * M[0, 0], s * M[0, 1], s * M[1, 0], s * M[1, 1], t * q[0], t * q[1])
        z[0], z[1] = two[2], two[3]
        mask, clearance = two[0], two[1]
    elif n == 3:
        a, b, c = M[0], M[1], M[2]
        three = bases_three(
            s * a[0], s * a[1], s * a[2], s * b[0], s * b[1], s * b[2], s * c[0], s * c[1], s * c[2],
            t * q[0], t * q[1], t * q[2],
        )  # fmt: skip
        z[0], z[1], z[2] = three[2], three[3], three[4]
        mask, clearance = three[0], three[1]
    else:
        a, b, c, d = M[0], M[1], M[2], M[3]
        four = bases_four(
            s * a[0], s * a[1], s * a[2], s * a[3], s * b[0], s * b[1], s * b[2], s * b[3],
            s * c[0], s * c[1], s * c[2], s * c[3], s * d[0], s * d[1], s * d[2], s * d[3],
            t * q[0], t * q[1], t * q[2], t * q[3],
        )  # fmt: skip
        z[0], z[1], z[2], z[3] = four[2], four[3], four[4], four[5]
        mask, clearance = four[0], four[1]
    unit = s / t
    for i in range(n):
        z[i] *= unit
    return mask, clearance
