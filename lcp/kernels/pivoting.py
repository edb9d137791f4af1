"""One solution of one problem: `lcp.path`, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba.extending import register_jitable

from lcp import path
from lcp.kernels.admission import admit, admit_vector
from lcp.kernels.compiled import compiled, entry

if TYPE_CHECKING:
    from lcp.problem import FloatArray

__all__ = ["FAILED", "RAY", "follow_into", "solve_into"]

RAY = -1
FAILED = -2

for part in path.PARTS:
    register_jitable(part)


@compiled
def follow_into(M: FloatArray, q: FloatArray, z: FloatArray, w: FloatArray) -> int:
    """`lcp.path.follow` on arrays that are known to match, with its work space.

    Parameters
    ----------
    M, q : ndarray of float64, shapes (n, n) and (n,), finite
        With a negative q_i.
    z, w : ndarray of float64, shape (n,)
        Overwritten by the solution, or by the end of the path and the direction of the ray in z.

    Returns
    -------
    int
        The number of pivots if z is a solution, its negative for a secondary ray, `lcp.path.DOUBTFUL` (0) where a
        decision was a close one.
    """
    n = q.shape[0]
    return path.follow(M, q, z, w, np.empty((n + 1, n + 2)), np.empty(2 * n + 1, np.int64))


@entry(admit_vector)
def solve_into(M: FloatArray, q: FloatArray, z: FloatArray) -> int:
    """The low-level call for one solution: write it into z, without objects and without a second attempt.

    Parameters
    ----------
    M : ndarray of float64, shape (n, n), C-contiguous, finite
    q : ndarray of float64, shape (n,), contiguous, finite
    z : ndarray of float64, shape (n,), contiguous
        Overwritten; meaningful only if the result is positive.

    Returns
    -------
    int
        Positive: z solves the problem to the rounding of the terms of M z + q. RAY (-1): Lemke's method stopped on a
        secondary ray, which is no verdict. FAILED (-2): a decision was a close one, ask `lcp.Lemke`.

    Raises
    ------
    LCPError
        If types or shapes do not match or an entry is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.empty(1)
    >>> solve_into(np.array([[2.0]]), np.array([-1.0]), z), z
    (2, array([0.5]))
    >>> solve_into(np.array([[-2.0]]), np.array([-1.0]), z)
    -1
    """
    admit(M, q, z)
    least = 0.0
    for i in range(q.shape[0]):
        least, z[i] = min(least, q[i]), 0.0
    if least == 0.0:
        return 1
    code = follow_into(M, q, z, np.empty(q.shape[0]))
    if code == path.DOUBTFUL:
        return FAILED
    return code if code > 0 else RAY
