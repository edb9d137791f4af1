"""All solutions of one problem, compiled, and whether rounding may have decided.

Up to four unknowns by minors, up to eight by principal pivot transforms; beyond that, and where rounding may have
decided there, by the search of `lcp.dictionary` in floating point, each number with a bound of its error.

Powers of two that bring rows and columns to one size, as in `lcp.problem`, compiled.

Maxima formed in any order.

One problem of up to four unknowns by the signs of its principal minors, as a batch of one.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lcp.kernels.admission import reciprocal
from lcp.kernels.compiled import compiled, finite
from lcp.kernels.relaxation import branching_index, fix, is_positive, is_stale, renew, restore
from lcp.kernels.signs import lowest_four, lowest_one, lowest_three, lowest_two
from lcp.kernels.sizes import are_near
from lcp.kernels.transforms import MAX_TRANSFORMS, point_of_basis, room, solving_bases
from lcp.problem import FloatArray
from lcp.tolerances import ZERO

__all__ = ["UNCLEAR", "clear_bases", "equilibrate", "every_solution", "largest_entry", "largest_matrix_entry"]


MEANS = 12  # rounds of the least-squares problem, which the last rounds start from
MAXIMA = 4
HIDDEN = 1e-200  # an entry of this size would not survive much arithmetic with those of size one
ABSENT = -100_000  # exponent of zero: below those of all floats, however shifted
IntArray = npt.NDArray[np.int64]


@compiled
def equilibrate(M: FloatArray, q: FloatArray, A: FloatArray, b: FloatArray, exponents: IntArray) -> bool:
    """R M C and R q / s, with R, C diagonal and s > 0, written into A and b, and the exponents of s C.

    So z solves (M, q) if and only if (s C)^-1 z solves (A, b). Powers of two make every product exact, and the result
    tells whether they do: where sizes are too far apart, entries may vanish.

    Parameters
    ----------
    M, q : ndarray of float64, shapes (n, n) and (n,)
    A, b : ndarray of float64, shapes (n, n) and (n,)
        Overwritten.
    exponents : ndarray of int64, shape (n,)
        Overwritten.

    Returns
    -------
    bool
        Whether every product is exact.
    """
    n = q.shape[0]
    rows = np.zeros(n, np.int64)
    _balance(M, q, rows, exponents)
    for _ in range(MAXIMA):
        for i in range(n):
            largest = ABSENT
            for j in range(n):
                largest = max(largest, _exponent(M[i, j]) + exponents[j])
            rows[i] = -largest if largest > ABSENT // 2 else rows[i]
        for j in range(n):
            largest = ABSENT
            for i in range(n):
                largest = max(largest, _exponent(M[i, j]) + rows[i])
            exponents[j] = -largest if largest > ABSENT // 2 else exponents[j]
    size = ABSENT
    for i in range(n):
        size = max(size, _exponent(q[i]) + rows[i])
    size = size if size > ABSENT // 2 else 0
    is_exact = True
    for i in range(n):
        b[i] = math.ldexp(q[i], rows[i] - size)
        is_exact = is_exact and (q[i] == 0.0 or abs(b[i]) > HIDDEN)
        for j in range(n):
            A[i, j] = math.ldexp(M[i, j], rows[i] + exponents[j])
            is_exact = is_exact and (M[i, j] == 0.0 or abs(A[i, j]) > HIDDEN)
    for j in range(n):
        exponents[j] += size
    return is_exact


@compiled
def _balance(M: FloatArray, q: FloatArray, rows: IntArray, columns: IntArray) -> None:
    """Least squares of the exponents of R M C and R q / s: what scaling has made unequal becomes equal again.

    Source: Curtis and Reid, Journal of the Institute of Mathematics and its Applications 10 (1972) 118.
    """
    n = q.shape[0]
    r, c = np.zeros(n), np.zeros(n + 1)  # the last column is q
    for _ in range(MEANS):
        for j in range(n + 1):
            total, count = 0.0, 0
            for i in range(n):
                entry = q[i] if j == n else M[i, j]
                if entry != 0.0:
                    total += _exponent(entry) + r[i]
                    count += 1
            c[j] = -total / count if count > 0 else 0.0
        for i in range(n):
            total, count = 0.0, 0
            for j in range(n + 1):
                entry = q[i] if j == n else M[i, j]
                if entry != 0.0:
                    total += _exponent(entry) + c[j]
                    count += 1
            r[i] = -total / count if count > 0 else 0.0
    for i in range(n):
        rows[i], columns[i] = round(r[i]), round(c[i])


@compiled
def _exponent(x: float) -> int:
    return math.frexp(x)[1] if x != 0.0 else ABSENT


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
    if n <= 2:
        mask: int = lowest_one(A, b, z) if n == 1 else lowest_two(A, b, z)
    else:
        mask = lowest_three(A, b, z) if n == 3 else lowest_four(A, b, z)
    return mask


LEAST = 2.0**-1022  # the least float with all its digits


@compiled
def every_solution(M: FloatArray, q: FloatArray, Z: FloatArray) -> int:
    """The isolated solutions, written into the rows of Z.

    Parameters
    ----------
    M, q : ndarray of float64, shapes (n, n) and (n,), finite
        At most 30 unknowns.
    Z : ndarray of float64, shape (k, n)
        Overwritten.

    Returns
    -------
    int
        The number of solutions c if bounds of all rounding errors prove that these are all, isolated, and
        different; -1 - c if that is undecided: there may be continua (then some are points of them), or fewer or
        more solutions than those c that double precision finds. Of more than k solutions the rest is counted only.
        -1 where an entry other than zero is not between 1e-70 and 1e70 in modulus: products of a few may vanish.
    """
    if not (are_near(M.ravel()) and are_near(q)):
        return -1
    found = _found(M, q, Z)
    total = 0.0
    for k in range(min(found, Z.shape[0])):
        for i in range(q.shape[0]):
            total += 0.0 * Z[k, i]
    # a solution beyond the largest float is not written
    return found if total == 0.0 else -1 - found


@compiled
def _found(M: FloatArray, q: FloatArray, Z: FloatArray) -> int:
    n = q.shape[0]
    if n == 0:
        return 1
    if n <= 4 and Z.shape[0] > 0:
        mask = clear_bases(M, q, Z[0])
        if mask != UNCLEAR:
            return _store_bases(M, q, Z, mask)
    elif n <= MAX_TRANSFORMS:
        count = _by_transforms(M, q, Z, reciprocal(largest_matrix_entry(M)), reciprocal(largest_entry(q)))
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
    is_exact = equilibrate(M, q, A, b, exponents)
    found = _leaves(A, b, Z)
    count = found if found >= 0 else -1 - found
    for k in range(min(count, Z.shape[0])):
        for i in range(n):
            Z[k, i] = math.ldexp(Z[k, i], exponents[i])
    return found if is_exact or found < 0 else -1 - found


@compiled
def _leaves(A: FloatArray, b: FloatArray, Z: FloatArray) -> int:
    """Solutions of an equilibrated problem, depth first over the complementary cones; -1 - c as above."""
    n = b.shape[0]
    T, floats = np.zeros((n + 2, 2, n, n + 1)), np.empty(2 * n + max(3 * (n + 1), n * (n + 1)))
    values, work = floats[: 2 * n], floats[2 * n :]
    integers = np.zeros((n + 2, 5 * n + 3), np.int64)  # basic, columns, dead, fixed; width, index, branch
    T[0, 0, :, :n], T[0, 0, :, n] = A, b
    for i in range(n):
        integers[0, i], integers[0, n + i] = i, n + i
    integers[0, 5 * n], integers[0, 5 * n + 2] = n, -1
    count, level, doubt = 0, 0, np.zeros(1, np.int64)
    if not restore(T[0], integers[0, :n], integers[0, n : 2 * n], integers[0, 2 * n : 3 * n], n, work, doubt):
        level = -1
    while level >= 0:
        node = integers[level]
        width, basic, dead = node[5 * n], node[:n], node[2 * n : 3 * n]
        if node[5 * n + 2] == -1:
            if is_stale(T[level], width) and not dead.any():
                renew(A, b, T[level], basic, node[n : 2 * n], width, work)
            index = branching_index(T[level], basic, dead, node[3 * n : 5 * n], width, values)
            if index < 0:
                if index == -2:
                    doubt[0] = 1
                count = _store(A, b, T[level], basic, width, Z, count, work, doubt)
                level -= 1
                continue
            node[5 * n + 1] = index
        node[5 * n + 2] += 1
        if node[5 * n + 2] == 2:
            level -= 1
            continue
        variable = node[5 * n + 1] + (n if node[5 * n + 2] == 0 else 0)
        if _descend(A, b, T[level], T[level + 1], node, integers[level + 1], variable, work, doubt):
            level += 1
    return -1 - count if doubt[0] else count


@compiled
def _descend(
    A: FloatArray,
    b: FloatArray,
    T: FloatArray,
    below: FloatArray,
    node: IntArray,
    child: IntArray,
    variable: int,
    work: FloatArray,
    doubt: IntArray,
) -> bool:
    """The dictionary `below` of a child, in which one more variable is zero; False if it is infeasible."""
    n = b.shape[0]
    width, before = node[5 * n], doubt[0]
    child[:] = node
    child[3 * n + variable], child[5 * n + 2] = 1, -1
    for part in range(2):
        for i in range(n):
            below[part, i, : width + 1] = T[part, i, : width + 1]
    basic, columns, dead = child[:n], child[n : 2 * n], child[2 * n : 3 * n]
    width = fix(below, basic, columns, dead, width, variable, work, doubt)
    child[5 * n] = width
    if width < 0:
        return False
    if restore(below, basic, columns, dead, width, work, doubt):
        return True
    if doubt[0] == before or dead.any():
        return False
    doubt[0] = before  # with fresh errors it may be proved
    renew(A, b, below, basic, columns, width, work)
    return restore(below, basic, columns, dead, width, work, doubt)


@compiled
def _store(
    A: FloatArray,
    b: FloatArray,
    T: FloatArray,
    basic: IntArray,
    width: int,
    Z: FloatArray,
    count: int,
    work: FloatArray,
    doubt: IntArray,
) -> int:
    """Add the vertex of a dictionary to the rows of Z unless it is there; what of it is not proved is a doubt.

    Two vertices are one if the same entries of z are positive: if not, all between them would be solutions,
    and a leaf with open columns has them.
    """
    n = b.shape[0]
    basis, is_degenerate = 0, False
    for i in range(n):
        value, error = T[0, i, width], T[1, i, width]
        if is_positive(value, error):
            if not value > 2.0 * error:
                doubt[0] = 1
            if basic[i] >= n:
                basis |= 1 << (basic[i] - n)
        else:
            is_degenerate = True
            if value != 0.0 or error != 0.0:
                doubt[0] = 1
    if count >= Z.shape[0]:
        if is_degenerate:
            doubt[0] = 1
        return count + 1
    z = Z[count]
    if _basic_point(A, b, basis, z, work[: n * (n + 1)].reshape(n, n + 1)) == 0.0:
        for i in range(n):
            if basic[i] >= n and basis >> (basic[i] - n) & 1:
                z[basic[i] - n] = T[0, i, width]
    for other in range(count):
        gap, size, is_same = 0.0, 1.0, True
        for i in range(n):
            gap = max(gap, abs(Z[other, i] - z[i]))
            size = max(size, abs(z[i]))
            is_same = is_same and (Z[other, i] > 0.0) == (z[i] > 0.0)
        if is_same or gap <= ZERO * size:
            if not is_same:
                doubt[0] = 1
            return count
    return count + 1


@compiled
def _basic_point(M: FloatArray, q: FloatArray, basis: int, z: FloatArray, work: FloatArray) -> float:
    """The z of a basis whose z are positive, so that what is not is rounding; its smallest pivot."""
    smallest = point_of_basis(M, q, basis, z, work)
    for i in range(q.shape[0]):
        if basis >> i & 1:
            z[i] = max(z[i], LEAST)
    return smallest
