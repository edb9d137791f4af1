"""What the low-level calls check: that no array is read or written beyond its end, and that the numbers are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lcp.errors import LCPError
from lcp.kernels.compiled import compiled, unordered

if TYPE_CHECKING:
    from lcp.problem import FloatArray

__all__ = ["admit", "admit_vector", "is_finite", "reciprocal"]

HUGE = 1e300


def admit_vector(M: object, q: object, z: object) -> None:
    """The refusal of what is not an array of float64, or of a vector z that cannot be written.

    Parameters
    ----------
    M, q, z : object
        Arrays of float64 with 2, 1 and 1 axes are admitted; shapes and entries are not looked at.

    Returns
    -------
    None

    Raises
    ------
    LCPError
        If one is not such an array, or z is read-only.
    """
    _admit_array("M", M, 2, is_written=False)
    _admit_array("q", q, 1, is_written=False)
    _admit_array("z", z, 1, is_written=True)


def _admit_array(name: str, array: object, ndim: int, *, is_written: bool) -> None:
    if not isinstance(array, np.ndarray):
        raise LCPError(f"{name} must be a NumPy array of float64, got {type(array).__name__}")
    if array.dtype != np.float64 or array.ndim != ndim:
        axes = "axis" if ndim == 1 else "axes"
        raise LCPError(
            f"{name} must be an array of float64 with {ndim} {axes}, got {array.dtype} and shape {array.shape}"
        )
    if is_written and not array.flags.writeable:
        raise LCPError(f"{name}, the array for the answer, must not be read-only")


@compiled
def admit(M: FloatArray, q: FloatArray, answer: FloatArray) -> None:
    """The refusal of a problem that is not square or not finite, and of an answer of another width or written over it.

    Parameters
    ----------
    M : ndarray of float64, two axes
    q : ndarray of float64, one axis
    answer : ndarray of float64
        What the answer will be written into; its last axis must be as long as q.

    Returns
    -------
    None

    Raises
    ------
    LCPError
        If shapes do not match, an entry is not finite, or the answer shares memory with M or q.
    """
    if M.shape[0] != q.shape[0] or M.shape[1] != q.shape[0]:
        raise LCPError("M must be square and of the order of q")
    if answer.shape[-1] != q.shape[0]:
        raise LCPError("the array for the answer must have as many columns as there are unknowns")
    if not is_finite(M, q):
        raise LCPError("M and q must be finite")
    if not (_are_apart(M, answer) and _are_apart(q, answer)):
        raise LCPError("the array for the answer must not share memory with M or q")


@compiled
def _are_apart(array: FloatArray, other: FloatArray) -> bool:
    """Whether one ends before the other begins; an array without entries is apart from all."""
    first, end = _extent(array)
    other_first, other_end = _extent(other)
    return first == end or other_first == other_end or end <= other_first or other_end <= first


@compiled
def _extent(array: FloatArray) -> tuple[int, int]:
    """The address of the first byte of an array, and that behind its last one."""
    if array.size == 0:
        return 0, 0
    first = end = array.ctypes.data
    for axis in range(array.ndim):
        span = array.strides[axis] * (array.shape[axis] - 1)
        first, end = first + min(span, 0), end + max(span, 0)
    return first, end + array.itemsize


@unordered
def is_finite(M: FloatArray, q: FloatArray) -> bool:
    """Whether no entry is infinite or not a number: these times zero are not zero.

    Parameters
    ----------
    M, q : ndarray of float64, shapes (n, n) and (n,)

    Returns
    -------
    bool
    """
    total = 0.0
    for i in range(q.shape[0]):
        total += 0.0 * q[i]
        row = M[i]
        for j in range(q.shape[0]):
            total += 0.0 * row[j]
    return total == 0.0


@compiled
def reciprocal(size: float) -> float:
    """One over a size, as a scale: one for zero, and finite where the quotient is not.

    Parameters
    ----------
    size : float
        Not negative.

    Returns
    -------
    float
        At most 1e300.
    """
    return min(1.0 / size, HUGE) if size > 0.0 else 1.0
