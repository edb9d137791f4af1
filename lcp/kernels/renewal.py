"""A dictionary anew from its problem: bounds of rounding errors that many pivots have piled up become small again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray
from lcp.kernels.compiled import compiled
from lcp.kernels.relaxation import exchange
from lcp.tolerances import STALE

__all__ = ["dictionary_of", "is_stale", "renew"]

IntArray = npt.NDArray[np.int64]


@compiled
def is_stale(T: FloatArray, width: int) -> bool:
    """Whether an error in the first columns of a dictionary, or in its constants behind them, is worth a renewal.

    Parameters
    ----------
    T : ndarray, shape (2, n, n + 1)
        Numbers of a dictionary and bounds of their rounding errors.
    width : int
        Number of columns left; the constants are in the next one.

    Returns
    -------
    bool
        Whether a bound is larger than `STALE`, of entries of size one.
    """
    largest = 0.0
    for i in range(T.shape[1]):
        for j in range(width + 1):
            largest = max(largest, T[1, i, j])
    return not largest <= STALE


@compiled
def dictionary_of(
    A: FloatArray, b: FloatArray, is_basic: IntArray, T: FloatArray, order: IntArray, work: FloatArray
) -> None:
    """The dictionary of (A, b) with given basic variables, by as few pivots as there are, largest first.

    Parameters
    ----------
    A, b : ndarray of float64, shapes (n, n) and (n,)
    is_basic : ndarray of int64, shape (2 n,)
        One for w_i = i and z_i = n + i if basic, n of them.
    T : ndarray, shape (2, n, n + 1)
        Overwritten: numbers and bounds of their errors; the constants last. Without a pivot these are infinite.
    order : ndarray of int64, shape (2 n,)
        Overwritten: the basic variables by rows, the others by columns.
    work : ndarray, shape (3 (n + 1),)

    Returns
    -------
    None
        T and order are the dictionary.
    """
    n = b.shape[0]
    basic, columns = order[:n], order[n:]
    T[0, :, :n], T[0, :, n], T[1] = A, b, 0.0
    for i in range(n):
        basic[i], columns[i] = i, n + i
    for _ in range(n):
        row, column, largest, is_done = -1, -1, 0.0, True
        for i in range(n):
            if is_basic[basic[i]]:
                continue
            is_done = False
            for j in range(n):
                if is_basic[columns[j]] and abs(T[0, i, j]) > largest:
                    row, column, largest = i, j, abs(T[0, i, j])
        if is_done:
            return
        if row < 0:
            T[1] = np.inf
            return
        exchange(T, basic, columns, n, row, column, work)


@compiled
def renew(
    A: FloatArray, b: FloatArray, T: FloatArray, basic: IntArray, columns: IntArray, width: int, work: FloatArray
) -> None:
    """The same dictionary, of which `width` columns are left, with fresh errors and perhaps other rows first.

    Parameters
    ----------
    A, b : ndarray of float64, shapes (n, n) and (n,)
        The problem of the dictionary.
    T : ndarray, shape (2, n, n + 1)
        Overwritten: numbers and bounds of their errors.
    basic : ndarray of int64, shape (n,)
        Overwritten: the basic variables by rows.
    columns : ndarray of int64, shape (n,)
        The nonbasic variables by columns; the first `width` are left.
    width : int
        Number of columns left; the constants are in the next one.
    work : ndarray, shape (3 (n + 1),)
        Overwritten.

    Returns
    -------
    None
        T and basic are renewed, or as they were if elimination meets a zero pivot.
    """
    n = b.shape[0]
    fresh, integers = np.empty((2, n, n + 1)), np.zeros(4 * n, np.int64)
    is_basic, order = integers[: 2 * n], integers[2 * n :]
    for i in range(n):
        is_basic[basic[i]] = 1
    dictionary_of(A, b, is_basic, fresh, order, work)
    if not np.isfinite(fresh[1]).all():
        return
    for i in range(n):
        basic[i] = order[i]
    for j in range(width + 1):
        source = n
        for k in range(n):
            if j < width and order[n + k] == columns[j]:
                source = k
        for i in range(n):
            T[0, i, j], T[1, i, j] = fresh[0, i, source], fresh[1, i, source]
