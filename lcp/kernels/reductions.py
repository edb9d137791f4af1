"""Sums and maxima formed in any order."""

from __future__ import annotations

from lcp.arrays import FloatArray
from lcp.kernels.compiled import finite, unordered

__all__ = ["dot", "largest_entry", "largest_matrix_entry"]


@unordered
def dot(a: FloatArray, b: FloatArray) -> float:
    """Sum of a_k b_k."""
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@finite
def largest_entry(a: FloatArray) -> float:
    """Largest modulus of a vector of finite numbers; zero if it is empty."""
    largest = 0.0
    for k in range(a.shape[0]):
        size = abs(a[k])
        largest = size if size > largest else largest
    return largest


@finite
def largest_matrix_entry(A: FloatArray) -> float:
    """Largest modulus of a matrix of finite numbers; zero if it is empty."""
    largest = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            size = abs(A[i, j])
            largest = size if size > largest else largest
    return largest
