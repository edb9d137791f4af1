"""All solutions of one problem, compiled and without proof.

Up to four unknowns by minors, up to eight by principal pivot transforms; beyond that, and where rounding may have
decided, by the search of `lcp.cones` in floating point.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray
from lcp.errors import LCPError
from lcp.kernels.admission import admit, reciprocal
from lcp.kernels.compiled import compiled
from lcp.kernels.equilibrium import equilibrate
from lcp.kernels.reductions import largest_entry, largest_matrix_entry
from lcp.kernels.relaxation import branching_index, fix, restore
from lcp.kernels.small import CLEAR, bases_of_small
from lcp.kernels.transforms import MAX_TRANSFORMS, point_of_basis, room, solving_bases

__all__ = ["every_solution", "solutions_into"]

MAX_BITS = 62
NEAR = 1e-9  # solutions closer than this, relative to their size, are one


@compiled
def solutions_into(M: FloatArray, q: FloatArray, Z: FloatArray) -> int:
    """The thin entry for all solutions: write the isolated ones into the rows of Z.

    Without proof; `lcp.enumerate_solutions` has it, and the continua.

    Parameters
    ----------
    M : ndarray of float64, shape (n, n), C-contiguous, finite, n >= 1
    q : ndarray of float64, shape (n,), contiguous, finite
    Z : ndarray of float64, shape (k, n), C-contiguous
        Overwritten.

    Returns
    -------
    int
        The number of different solutions c; those beyond k are counted without comparing them. If one is a
        degenerate vertex, which may belong to a continuum (then it is one point of it), -1 - c.

    Raises
    ------
    LCPError
        If shapes do not match, an entry is not finite, or n > 62.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.empty((4, 1))
    >>> solutions_into(np.array([[-2.0]]), np.array([1.0]), Z), Z[:2].ravel()
    (2, array([0. , 0.5]))
    """
    admit(M, q, Z.shape[1])
    if q.shape[0] > MAX_BITS:
        raise LCPError("bases of more than 62 unknowns cannot be numbered")
    if Z.itemsize != 8:
        raise LCPError("the array for the answer must be of float64")
    return every_solution(M, q, Z)


@compiled
def every_solution(M: FloatArray, q: FloatArray, Z: FloatArray) -> int:
    """`solutions_into` of arrays that are known to match."""
    n = q.shape[0]
    if n == 0:
        return 1
    scale, q_scale = reciprocal(largest_matrix_entry(M)), reciprocal(largest_entry(q))
    if n <= 4 and Z.shape[0] > 0:
        mask, clearance = bases_of_small(M, q, scale, q_scale, Z[0])
        if clearance > CLEAR:
            return _store_bases(M, q, Z, mask)
    elif n <= MAX_TRANSFORMS:
        count = _by_transforms(M, q, Z, scale, q_scale)
        if count >= 0:
            return count
    return _search(M, q, Z)


@compiled
def _store_bases(M: FloatArray, q: FloatArray, Z: FloatArray, mask: int) -> int:
    """The solutions of the bases in `mask`; that of the lowest one is in place already."""
    rest = mask & (mask - 1)
    if rest == 0:
        return 1 if mask else 0
    n, count, basis = q.shape[0], 1, 0
    work = np.empty((n, n + 1))
    while rest >> basis:
        if rest >> basis & 1:
            if count < Z.shape[0]:
                _basic_point(M, q, basis, Z[count], work)
            count += 1
        basis += 1
    return count


@compiled
def _by_transforms(M: FloatArray, q: FloatArray, Z: FloatArray, scale: float, q_scale: float) -> int:
    n = q.shape[0]
    T, bases = np.empty(room(n)), np.empty(1 << n, np.int64)
    count = solving_bases(M, q, scale, q_scale, T, bases)
    work = T[: n * (n + 1)].reshape(n, n + 1)
    for k in range(min(count, Z.shape[0])):
        _basic_point(M, q, bases[k], Z[k], work)
    return count


@compiled
def _search(M: FloatArray, q: FloatArray, Z: FloatArray) -> int:
    n = q.shape[0]
    A, b, exponents = np.empty((n, n)), np.empty(n), np.empty(n, np.int64)
    equilibrate(M, q, A, b, exponents)
    found = _leaves(A, b, Z)
    count = found if found >= 0 else -1 - found
    for k in range(min(count, Z.shape[0])):
        for i in range(n):
            Z[k, i] = math.ldexp(Z[k, i], exponents[i])
    return found


@compiled
def _leaves(A: FloatArray, b: FloatArray, Z: FloatArray) -> int:
    """Solutions of an equilibrated problem, depth first over the complementary cones; -1 - c as above."""
    n = b.shape[0]
    floats = np.empty((n + 2) * n * (n + 1) + 2 * n + (n + 1) + n * (n + 1))
    T = floats[: (n + 2) * n * (n + 1)].reshape(n + 2, n, n + 1)
    rest = floats[(n + 2) * n * (n + 1) :]
    values, copy, work = rest[: 2 * n], rest[2 * n : 3 * n + 1], rest[3 * n + 1 :].reshape(n, n + 1)
    integers = np.zeros((n + 2, 5 * n + 3), np.int64)  # basic, columns, dead, fixed; width, index, branch
    T[0, :, :n], T[0, :, n] = A, b
    for i in range(n):
        integers[0, i], integers[0, n + i] = i, n + i
    count, level, has_continuum = 0, 0, False
    integers[0, 5 * n], integers[0, 5 * n + 2] = n, -1
    if not restore(T[0], integers[0, :n], integers[0, n : 2 * n], integers[0, 2 * n : 3 * n], n, copy):
        return 0
    while level >= 0:
        node = integers[level]
        width = node[5 * n]
        if node[5 * n + 2] == -1:
            index = branching_index(T[level], node[:n], node[2 * n : 3 * n], node[3 * n : 5 * n], width, values)
            if index < 0:
                has_continuum = has_continuum or index == -2
                count = _store(A, b, T[level], node[:n], width, Z, count, work)
                level -= 1
                continue
            node[5 * n + 1] = index
        node[5 * n + 2] += 1
        if node[5 * n + 2] == 2:
            level -= 1
            continue
        variable = node[5 * n + 1] + (n if node[5 * n + 2] == 0 else 0)
        child = integers[level + 1]
        child[:] = node
        child[3 * n + variable], child[5 * n + 2] = 1, -1
        for i in range(n):
            T[level + 1, i, : width + 1] = T[level, i, : width + 1]
        child[5 * n] = fix(T[level + 1], child[:n], child[n : 2 * n], child[2 * n : 3 * n], width, variable, copy)
        if child[5 * n] >= 0:
            level += 1
    return -1 - count if has_continuum else count


@compiled
def _store(
    A: FloatArray,
    b: FloatArray,
    T: FloatArray,
    basic: npt.NDArray[np.int64],
    width: int,
    Z: FloatArray,
    count: int,
    work: FloatArray,
) -> int:
    """Add the vertex of a dictionary to the rows of Z unless it is there."""
    n = b.shape[0]
    if count >= Z.shape[0]:
        return count + 1
    z, basis = Z[count], 0
    for i in range(n):
        if basic[i] >= n and T[i, width] > 1e-10:
            basis |= 1 << (basic[i] - n)
    if _basic_point(A, b, basis, z, work) == 0.0:
        z[:] = 0.0
        for i in range(n):
            if basic[i] >= n:
                z[basic[i] - n] = max(T[i, width], 0.0)
    for other in range(count):
        gap, size = 0.0, 1.0
        for i in range(n):
            gap = max(gap, abs(Z[other, i] - z[i]))
            size = max(size, abs(z[i]))
        if gap <= NEAR * size:
            return count
    return count + 1


@compiled
def _basic_point(M: FloatArray, q: FloatArray, basis: int, z: FloatArray, work: FloatArray) -> float:
    """The z of a basis that solves the problem, so that what is negative is rounding; its smallest pivot."""
    smallest = point_of_basis(M, q, basis, z, work)
    for i in range(q.shape[0]):
        z[i] = max(z[i], 0.0)
    return smallest
