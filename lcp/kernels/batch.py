"""Many small problems at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
import numpy.typing as npt

from lcp.errors import LCPError
from lcp.kernels import loops

if TYPE_CHECKING:
    from lcp.problem import FloatArray

__all__ = [
    "UNDECIDED",
    "BatchEnumeration",
    "BatchSolution",
    "enumerate_batch",
    "solve_batch",
]

MAX_MINORS = 4  # beyond, `enumerate_batch` is faster than 2**n principal minors
MAX_N = 30
FIRST_GUESS = 2  # solutions a problem, on the average of a chunk; doubled where it does not do
OUT_OF_RANGE = "M and q must be finite, and their entries zero or between 1e-70 and 1e70 in modulus"
UNDECIDED = loops.UNDECIDED  # in `BatchSolution.count`: rounding may have decided


@attrs.frozen(eq=False)
class BatchSolution:
    """Answers to N problems of order n.

    Parameters
    ----------
    z : ndarray, shape (N, n), or (n, N) if the problems were along the last axis
        One solution each; zeros where there is none, or where that is undecided.
    count : ndarray of int, shape (N,)
        Number of complementary bases that solve the problem; `UNDECIDED` (-1) where rounding may have decided:
        `lcp.enumerate_solutions` knows.
    bases : ndarray of uint16, shape (N,)
        Bit b is set if the complementary basis b solves the problem; z_i is basic in b if bit i of b is set. z belongs
        to the lowest one.
    """

    z: FloatArray
    count: npt.NDArray[np.int8]
    bases: npt.NDArray[np.uint16]


@attrs.frozen(eq=False)
class BatchEnumeration:
    """Every solution of N problems of order n.

    Parameters
    ----------
    z : ndarray, shape (solutions, n)
        Those of problem k are z[first[k]:first[k + 1]].
    first : ndarray of int, shape (N + 1,)
        Where the solutions of each problem begin.
    is_undecided : ndarray of bool, shape (N,)
        Whether rounding may have decided, or there may be a continuum: `lcp.enumerate_solutions` knows. Of the
        other problems these are all solutions, isolated and different.
    """

    z: FloatArray
    first: npt.NDArray[np.int64]
    is_undecided: npt.NDArray[np.bool_]


def _checked(
    M: npt.ArrayLike, q: npt.ArrayLike, *, max_n: int, problems_last: bool = False
) -> tuple[FloatArray, FloatArray]:
    try:
        raw = np.asarray(M), np.asarray(q)
        for array in raw:
            if array.dtype.kind not in "biufO":
                raise LCPError(f"M and q must be arrays of real numbers, got entries of type {array.dtype}")
        matrices, vectors = (np.ascontiguousarray(array, dtype=np.float64) for array in raw)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, LCPError):
            raise
        raise LCPError(f"M and q must be arrays of real numbers: {error}") from error
    if vectors.ndim != 2 or matrices.ndim != 3:
        raise LCPError(f"M and q must have 3 and 2 axes, got shapes {matrices.shape} and {vectors.shape}")
    N, n = vectors.shape[::-1] if problems_last else vectors.shape
    if matrices.shape != ((n, n, N) if problems_last else (N, n, n)):
        raise LCPError(f"M and q do not match: {matrices.shape} and {vectors.shape}")
    if not 1 <= n <= max_n:
        more = "; enumerate_batch takes more" if max_n < MAX_N else ""
        raise LCPError(f"the problems must have 1 to {max_n} unknowns, got {n}{more}")
    return matrices, vectors


def solve_batch(M: npt.ArrayLike, q: npt.ArrayLike, *, problems_last: bool = False) -> BatchSolution:
    """Answers to many problems of up to four unknowns: one z each, how many complementary bases solve it, and which.

    By the signs of principal minors: singular bases (continua) do not count, and one degenerate solution may have
    several bases. Where rounding may have decided, the count is `UNDECIDED`; that of an exact zero is not, if no
    product is rounded (small integers, say) or only zeros are added up (friction laws, say). `enumerate_batch` takes
    more unknowns.

    Parameters
    ----------
    M : array_like, shape (N, n, n), or (n, n, N) if `problems_last`, n <= 4
        Entries other than zero between 1e-70 and 1e70 in modulus, as products of four are formed.
    q : array_like, shape (N, n), or (n, N)
    problems_last : bool
        The layout in which problems follow each other in memory, entry by entry: the faster one.

    Returns
    -------
    BatchSolution

    Raises
    ------
    LCPError
        If shapes do not match, n is not between 1 and 4, or an entry is not finite or out of range.

    Examples
    --------
    >>> batch = solve_batch([[[1.0]], [[-1.0]], [[-1.0]]], [[-2.0], [3.0], [-1.0]])
    >>> batch.count, batch.z.ravel()
    (array([1, 2, 0], dtype=int8), array([2., 0., 0.]))
    """
    matrices, vectors = _checked(M, q, max_n=MAX_MINORS, problems_last=problems_last)
    n = vectors.shape[0] if problems_last else vectors.shape[1]
    z = np.empty(vectors.shape)
    bases, counts = np.empty(vectors.size // n, np.uint16), np.empty(vectors.size // n, np.int8)
    # one unknown: both layouts are the same in memory
    solve = loops.solve_last if problems_last or n == 1 else loops.solve_first
    _refuse_unless(solve(matrices.reshape(-1), vectors.reshape(-1), n, z.reshape(-1), bases, counts))
    return BatchSolution(z=z, count=counts, bases=bases)


def enumerate_batch(M: npt.ArrayLike, q: npt.ArrayLike) -> BatchEnumeration:
    """Every solution of many problems, if all are isolated, with bounds of all rounding errors for a proof.

    By signs of minors up to four unknowns, by principal pivot transforms up to eight; beyond, and where these leave a
    doubt, by a depth-first search over the complementary cones. One solution that is too large for a float is a doubt.

    Parameters
    ----------
    M : array_like, shape (N, n, n)
    q : array_like, shape (N, n)

    Returns
    -------
    BatchEnumeration

    Raises
    ------
    LCPError
        If shapes do not match, n is not between 1 and 30, or an entry is not finite.

    Examples
    --------
    >>> batch = enumerate_batch([[[1.0]], [[-1.0]], [[-1.0]]], [[-2.0], [3.0], [-1.0]])
    >>> batch.first, batch.z.ravel()
    (array([0, 1, 3, 3]), array([2., 0., 3.]))
    """
    matrices, vectors = _checked(M, q, max_n=MAX_N)
    N, n = vectors.shape
    counts, is_undecided = np.zeros(N, np.int64), np.zeros(N, np.bool_)
    n_chunks, rows = -(-N // loops.PART), FIRST_GUESS * loops.PART
    Z = np.empty((n_chunks * rows, n))
    while misfits := loops.enumerate_many(matrices, vectors, Z, counts, is_undecided):
        _refuse_unless(misfits > 0, "M and q must be finite")
        rows *= 2
        Z = np.empty((n_chunks * rows, n))
    first = np.concatenate(([0], np.cumsum(counts)))
    solutions = np.empty((first[-1], n))
    loops.gather(Z, first, solutions)
    return BatchEnumeration(z=solutions, first=first, is_undecided=is_undecided)


def _refuse_unless(is_fine: bool, reason: str = OUT_OF_RANGE) -> None:
    if not is_fine:
        raise LCPError(reason)
