"""One problem of up to four unknowns by the signs of its principal minors, as a batch of one."""

from __future__ import annotations

import numpy as np

from lcp.arrays import FloatArray
from lcp.kernels.compiled import compiled
from lcp.kernels.signs import entries_one, entries_two, signs_one, signs_two
from lcp.kernels.signs_four import entries_four, signs_four
from lcp.kernels.signs_three import entries_three, signs_three

__all__ = ["UNCLEAR", "clear_bases"]

UNCLEAR = -1


@compiled
def clear_bases(M: FloatArray, q: FloatArray, z: FloatArray) -> int:
    """The solving bases as bits, and the z of the lowest in z; UNCLEAR where a minor or numerator may be zero.

    Parameters
    ----------
    M, q : ndarray
        1 to 4 unknowns.
    z : ndarray, shape (n,)
        Overwritten; zeros if there is no basis.

    Returns
    -------
    int
        Bit b is set if the complementary basis b solves the problem; UNCLEAR (-1).
    """
    n, A, b = q.shape[0], np.ascontiguousarray(M), np.ascontiguousarray(q)
    if n == 1:
        one = signs_one(*entries_one(A, b, 1, 0))
        z[0] = one[3]
        return one[2] if one[0] else UNCLEAR
    if n == 2:
        two = signs_two(*entries_two(A, b, 1, 0))
        z[0], z[1] = two[3], two[4]
        return two[2] if two[0] else UNCLEAR
    if n == 3:
        three = signs_three(*entries_three(A, b, 1, 0))
        z[0], z[1], z[2] = three[3], three[4], three[5]
        return three[2] if three[0] else UNCLEAR
    four = signs_four(*entries_four(A, b, 1, 0))
    z[0], z[1], z[2], z[3] = four[3], four[4], four[5], four[6]
    return four[2] if four[0] else UNCLEAR
