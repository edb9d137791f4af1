"""What the thin entries check: that no array is read or written beyond its end, and that the numbers are numbers."""

from __future__ import annotations

from lcp.arrays import FloatArray
from lcp.errors import LCPError
from lcp.kernels.compiled import compiled, unordered

__all__ = ["admit", "is_finite", "reciprocal"]

HUGE = 1e300


@compiled
def admit(M: FloatArray, q: FloatArray, width: int) -> None:
    """Refuse a problem that is not square, does not match its answer of this width, or is not finite.

    Raises
    ------
    LCPError
    """
    if M.shape[0] != q.shape[0] or M.shape[1] != q.shape[0]:
        raise LCPError("M must be square and of the order of q")
    if width != q.shape[0]:
        raise LCPError("the array for the answer must have as many columns as there are unknowns")
    if not is_finite(M, q):
        raise LCPError("M and q must be finite")


@unordered
def is_finite(M: FloatArray, q: FloatArray) -> bool:
    """Whether no entry is infinite or not a number: these times zero are not zero."""
    total = 0.0
    for i in range(q.shape[0]):
        total += 0.0 * q[i]
        row = M[i]
        for j in range(q.shape[0]):
            total += 0.0 * row[j]
    return total == 0.0


@compiled
def reciprocal(size: float) -> float:
    """One over a size, as a scale: one for zero, and finite where the quotient is not."""
    return min(1.0 / size, HUGE) if size > 0.0 else 1.0
