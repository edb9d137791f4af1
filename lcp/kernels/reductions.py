"""Maxima formed in any order."""

from __future__ import annotations

from lcp.arrays import FloatArray
from lcp.kernels.compiled import finite

__all__ = ["largest_entry", "largest_matrix_entry"]


@finite
def largest_entry(a: FloatArray) -> float:
    """Largest modulus of a vector of finite numbers; zero if it is empty.

    Parameters
    ----------
    a : ndarray, shape (n,)

    Returns
    -------
    float
    """
    largest = 0.0
    for k in range(a.shape[0]):
        size = abs(a[k])
        largest = size if size > largest else largest
    return largest


@finite
def largest_matrix_entry(A: FloatArray) -> float:
    """Largest modulus of a matrix of finite numbers; zero if it is empty.

    Parameters
    ----------
    A : ndarray, shape (m, n)

    Returns
    -------
    float
    """
    largest = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            size = abs(A[i, j])
            largest = size if size > largest else largest
    return largest
