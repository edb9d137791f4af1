"""What a solver hands back."""

from __future__ import annotations

import enum

import attrs

from lcp.arrays import FloatArray, value_key

__all__ = ["Solution", "Status"]


class Status(enum.Enum):
    """What an algorithm did; it says nothing about problems it did not solve.

    A secondary ray occurs on problems that have solutions and on problems that have none.
    """

    SOLVED = "a solution, checked by its residual"
    RAY = "stopped on a secondary ray"
    MAX_PIVOTS = "stopped at the largest allowed number of pivots"
    INACCURATE = "stopped at a complementary basis whose solution fails the residual check"


@attrs.frozen
class Solution:
    """The end of one run of a solver.

    Parameters
    ----------
    z, w : ndarray, shape (n,)
        The last point; a solution if `status` is SOLVED.
    status : Status
        What the algorithm did.
    ray : ndarray, shape (n,), or None
        Direction in z of the secondary ray, only if `status` is RAY.
    n_pivots : int
        Number of pivots made.
    """

    z: FloatArray = attrs.field(eq=value_key)
    w: FloatArray = attrs.field(eq=value_key)
    status: Status
    ray: FloatArray | None = attrs.field(default=None, eq=lambda ray: None if ray is None else value_key(ray))
    n_pivots: int = 0
