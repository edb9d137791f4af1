"""One solution of one problem, compiled: the thin entry, and Lemke's method."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray
from lcp.kernels.admission import admit, admit_vector, reciprocal
from lcp.kernels.blocks import GAVE_UP, blocks_into
from lcp.kernels.compiled import compiled, entry
from lcp.kernels.reductions import dot, largest_entry, largest_matrix_entry
from lcp.kernels.small import UNCLEAR, clear_bases

__all__ = ["FAILED", "NONE", "RAY", "lemke_into", "solve_into"]

IntArray = npt.NDArray[np.int64]
NONE = 0
RAY = -1
FAILED = -2
TIE = 1e-11  # as in lcp.Lemke
ACCURACY = 1e-8
PIVOTS_PER_UNKNOWN = 1000
BLOCKS_FROM = 16  # unknowns from which a few linear systems are faster than pivots


@entry(admit_vector)
def solve_into(M: FloatArray, q: FloatArray, z: FloatArray) -> int:
    """The thin entry for one solution: write it into z.

    Up to four unknowns by the signs of all principal minors and numerators, which also finds solutions that
    Lemke's method misses; from sixteen on by block principal pivoting as long as pivots are positive, as those of
    P-matrices are; between, and where that gave up or rounding may decide a sign, by `lemke_into`.

    Parameters
    ----------
    M : ndarray of float64, shape (n, n), C-contiguous, finite
    q : ndarray of float64, shape (n,), contiguous, finite
    z : ndarray of float64, shape (n,), contiguous
        Overwritten; meaningful only if the result is positive.

    Returns
    -------
    int
        Positive: z solves the problem, its natural residual as defined in `lcp.LCP.residual` is at most 1e-8.
        NONE (0): none of the 2**n bases, all nonsingular, solves it. RAY (-1): Lemke's method stopped on a
        secondary ray. FAILED (-2): ask `lcp.Lemke`.

    Raises
    ------
    LCPError
        If types or shapes do not match or an entry is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.empty(1)
    >>> solve_into(np.array([[2.0]]), np.array([-1.0]), z), z
    (1, array([0.5]))
    >>> solve_into(np.array([[-2.0]]), np.array([-1.0]), z)
    0
    """
    admit(M, q, z)
    n = q.shape[0]
    if n == 0:
        return 1
    if n <= 4:
        mask = clear_bases(M, q, z)
        if mask == 0:
            return NONE
        if mask != UNCLEAR and _is_solution(M, q, z, largest_entry(q)):
            return 1
    elif n >= BLOCKS_FROM and blocks_into(M, q, z) > GAVE_UP and _is_solution(M, q, z, largest_entry(q)):
        return 1
    code = _lemke(M, q, z)
    return code if code < 0 else code + 1


@compiled
def _is_solution(M: FloatArray, q: FloatArray, z: FloatArray, size: float) -> bool:
    bound = ACCURACY * size
    for i in range(q.shape[0]):
        w = q[i] + dot(M[i], z)
        if not abs(min(w, z[i])) <= bound:
            return False
    return True


@entry(admit_vector)
def lemke_into(M: FloatArray, q: FloatArray, z: FloatArray) -> int:
    """Lemke's method without ceremony: write a solution into z.

    The method of `lcp.Lemke` with the covering vector of ones, scaled by the largest entries only, without refinement.

    Parameters
    ----------
    M : ndarray of float64, shape (n, n), C-contiguous, finite
    q : ndarray of float64, shape (n,), contiguous, finite
    z : ndarray of float64, shape (n,), contiguous
        Overwritten; meaningful only if the result is not negative.

    Returns
    -------
    int
        The number of pivots if z was found and its natural residual, as defined in `lcp.LCP.residual`, is at
        most 1e-8; RAY (-1) for a secondary ray; FAILED (-2) where the residual or the limit of 1000 n pivots
        failed and `lcp.Lemke` should be asked.

    Raises
    ------
    LCPError
        If types or shapes do not match or an entry is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.empty(1)
    >>> lemke_into(np.array([[2.0]]), np.array([-1.0]), z), z
    (1, array([0.5]))
    """
    admit(M, q, z)
    return _lemke(M, q, z)


@compiled
def _lemke(M: FloatArray, q: FloatArray, z: FloatArray) -> int:
    n = q.shape[0]
    first, least, size = -1, 0.0, 0.0
    for i in range(n):
        z[i] = 0.0
        if q[i] < least:
            first, least = i, q[i]
        size = max(size, abs(q[i]))
    if first < 0:
        return 0
    if n == 1:
        z[0] = -q[0] / M[0, 0]
        return 1 if M[0, 0] > 0.0 and abs(M[0, 0] * z[0] + q[0]) <= ACCURACY * size else RAY
    n_pivots = _path(M, q, z, first, reciprocal(largest_matrix_entry(M)), reciprocal(size))
    if n_pivots < 0:
        return n_pivots
    return n_pivots if _is_solution(M, q, z, size) else FAILED


@compiled
def _path(M: FloatArray, q: FloatArray, z: FloatArray, first: int, s: float, t: float) -> int:
    """Pivots of (s M, t q) from the almost complementary basis without w_first; z on success.

    The dictionary is basic = T nonbasic + last column. Column j starts as z_j, column n as w_first, and row `first`
    as the artificial variable. Variables are w_i = i, z_i = n + i, artificial 2 n.
    """
    n = q.shape[0]
    floats = np.empty((n + 1, n + 2))
    T, copy = floats[:n], floats[n]
    integers = np.empty(5 * n + 2, np.int64)
    basic, candidates = integers[:n], integers[n : 2 * n]
    nonbasic, place = integers[2 * n : 3 * n + 1], integers[3 * n + 1 :]
    for tied in range(first + 1, n):
        # the perturbation (eps, eps**2, ...) makes the last of equal entries the least
        if q[tied] == q[first]:
            first = tied
    for i in range(n):
        basic[i], place[i] = i, i
        nonbasic[i], place[n + i] = n + i, i
        for j in range(n):
            T[i, j] = s * M[i, j] - s * M[first, j]
        T[i, n], T[i, n + 1] = 1.0, t * q[i] - t * q[first]
    for j in range(n):
        T[first, j] = -s * M[first, j]
    T[first, n], T[first, n + 1] = 1.0, -t * q[first]
    basic[first], nonbasic[n], place[first] = 2 * n, first, n
    place[2 * n] = first
    column = first
    n_pivots = 1
    while n_pivots < PIVOTS_PER_UNKNOWN * n:
        row = _blocking_row(T, basic, place, candidates, column)
        if row < 0:
            return RAY
        left = basic[row]
        _pivot(T, row, column, copy)
        n_pivots += 1
        basic[row], nonbasic[column] = nonbasic[column], left
        place[basic[row]], place[left] = row, column
        if left == 2 * n:
            for i in range(n):
                if basic[i] >= n:
                    z[basic[i] - n] = max(T[i, n + 1], 0.0) * (s / t)
            return n_pivots
        column = place[left + n] if left < n else place[left - n]
    return FAILED


@compiled
def _blocking_row(T: FloatArray, basic: IntArray, place: IntArray, candidates: IntArray, column: int) -> int:
    """The lexicographically least ratio; the artificial variable first among near ties; -1 for a ray."""
    n = T.shape[0]
    least, second, row = np.inf, np.inf, -1
    for i in range(n):
        rate = -T[i, column]
        if rate > TIE:
            ratio = T[i, n + 1] / rate
            if ratio < least:
                least, second, row = ratio, least, i
            elif ratio < second:
                second = ratio
    bound = least + TIE * max(1.0, abs(least))
    if row < 0 or second > bound:
        return row
    count = 0
    for i in range(n):
        rate = -T[i, column]
        if rate > TIE and T[i, n + 1] <= bound * rate:
            candidates[count] = i
            count += 1
            if basic[i] == 2 * n:
                return i
    for w in range(n):
        if count == 1:
            break
        count = _least_candidates(T, basic, place[w], candidates, count, column, w)
    return candidates[0] if count > 0 else row


@compiled
def _least_candidates(
    T: FloatArray,
    basic: IntArray,
    place: int,
    candidates: IntArray,
    count: int,
    column: int,
    w: int,
) -> int:
    """Keep the candidates whose entry of the inverse basis at w, over their rate, is least."""
    is_basic = place < T.shape[0] and basic[place] == w
    least = np.inf
    for k in range(count):
        i = candidates[k]
        entry = (1.0 if basic[i] == w else 0.0) if is_basic else -T[i, place]
        least = min(least, entry / -T[i, column])
    kept, bound = 0, least + TIE * max(1.0, abs(least))
    for k in range(count):
        i = candidates[k]
        entry = (1.0 if basic[i] == w else 0.0) if is_basic else -T[i, place]
        if entry / -T[i, column] <= bound:
            candidates[kept] = i
            kept += 1
    return kept


@compiled
def _pivot(T: FloatArray, row: int, column: int, copy: FloatArray) -> None:
    n, width = T.shape
    inverse = 1.0 / T[row, column]
    for j in range(width):
        copy[j] = T[row, j]
    for i in range(n):
        line = T[i]
        factor = line[column] * inverse
        # the copy cannot overlap the line, which lets the compiler use vector instructions: three times faster
        for j in range(width):
            line[j] -= factor * copy[j]
        line[column] = factor
    line = T[row]
    for j in range(width):
        line[j] = -inverse * copy[j]
    line[column] = inverse
