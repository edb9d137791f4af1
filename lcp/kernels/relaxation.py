"""The linear relaxation of `lcp.dictionary`, compiled: one level of the search is one shrinking tableau.

With every number goes a bound of its rounding error, so that it is known which signs are proved. A number within
both its bound and `PIVOT` counts as zero; one beyond either has its sign. What is concluded from a sign or a
zero that is not proved leaves a mark in `doubt`.

A dictionary anew from its problem: bounds of rounding errors that many pivots have piled up become small again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lcp.kernels.compiled import compiled, inlined
from lcp.tolerances import PIVOT, STALE

if TYPE_CHECKING:
    from lcp.problem import FloatArray

__all__ = ["branching_index", "dictionary_of", "fix", "is_positive", "is_stale", "renew", "restore"]


IntArray = npt.NDArray[np.int64]
LEAST_INDEX_AFTER = 8  # pivots per unknown, then the finite rule
LIMIT = 200
# An operation is wrong by half of 2**-52 of its result. Four times as much makes room for a product and a sum that are
# rounded apart, and for the rounding of the bounds themselves.
ROUNDING = 2.0**-51
UNDERFLOW = 1e-290  # more than products too small for a float can add up to


@inlined
def is_positive(value: float, error: float) -> bool:
    """Whether a number counts as positive; twice its error, so that a pivot is never wrong by half.

    Parameters
    ----------
    value : float
    error : float
        Bound of its rounding error, not negative.

    Returns
    -------
    bool
        False for NaN.
    """
    return (value > 2.0 * error) | (value > PIVOT)


@compiled
def exchange(T: FloatArray, basic: IntArray, columns: IntArray, width: int, row: int, c: int, work: FloatArray) -> None:
    """A pivot of basic = T[0] columns + constant (in column `width`) at (row, c); T[1] are the errors.

    Parameters
    ----------
    T : ndarray, shape (2, n, n + 1)
        Overwritten: numbers of the dictionary and bounds of their rounding errors.
    basic : ndarray of int64, shape (n,)
        Overwritten: the basic variables by rows, w_i = i and z_i = n + i.
    columns : ndarray of int64, shape (n,)
        Overwritten: the nonbasic variables by columns.
    width : int
        Number of columns left; the constants are in the next one.
    row, c : int
        Of the pivot, whose modulus must exceed its error.
    work : ndarray, shape (3 (n + 1),)
        Overwritten.

    Returns
    -------
    None
        T, basic and columns are those of the new dictionary.
    """
    values, errors = T[0], T[1]
    n, pivot, slack = values.shape[0], values[row, c], errors[row, c]
    quotients, moduli, bounds = work[: n + 1], work[n + 1 : 2 * n + 2], work[2 * n + 2 : 3 * n + 3]
    inverse = 1.0 / pivot
    relative = slack * abs(inverse)
    # the reciprocal of the least modulus that the pivot may have
    largest = abs(inverse) / (1.0 - relative) if relative <= 0.5 else np.inf
    for j in range(width + 1):
        x, e = values[row, j] * inverse, errors[row, j]
        tiny = UNDERFLOW if (x != 0.0) | (e != 0.0) | (values[row, j] != 0.0) else 0.0
        bounds[j] = (e + abs(x) * slack) * largest + ROUNDING * abs(x) + tiny
        quotients[j], moduli[j] = x, abs(x) + bounds[j]
    for i in range(n):
        line, error = values[i], errors[i]
        a, b = line[c], error[c]
        if i == row or (a == 0.0 and b == 0.0):
            continue
        size = abs(a)
        for j in range(width + 1):
            product = a * quotients[j]
            line[j] -= product
            error[j] += b * moduli[j] + size * bounds[j] + ROUNDING * (abs(product) + abs(line[j]))
        line[c] = a * inverse
        error[c] = (b + abs(line[c]) * slack) * largest + ROUNDING * abs(line[c]) + UNDERFLOW
    for j in range(width + 1):
        values[row, j], errors[row, j] = -quotients[j], bounds[j]
    values[row, c], errors[row, c] = inverse, (relative * largest) + ROUNDING * abs(inverse)
    basic[row], columns[c] = columns[c], basic[row]


@compiled
def restore(
    T: FloatArray, basic: IntArray, columns: IntArray, dead: IntArray, width: int, work: FloatArray, doubt: IntArray
) -> bool:
    """The dual simplex; False if a row says that there is no feasible point. Dead rows are zero and stay so.

    Parameters
    ----------
    T, basic, columns : ndarray
        A dictionary as in `exchange`; overwritten.
    dead : ndarray of int64, shape (n,)
        Not zero for rows of variables that are fixed at zero.
    width : int
        Number of columns left.
    work : ndarray, shape (3 (n + 1),)
        Overwritten.
    doubt : ndarray of int64, shape (1,)
        Set to 1 where False rests on a sign that is not proved, or the largest number of pivots is reached.

    Returns
    -------
    bool
    """
    values, errors = T[0], T[1]
    n = values.shape[0]
    for step in range(LIMIT * n):
        least_index = step > LEAST_INDEX_AFTER * n
        row = -1
        for i in range(n):
            if is_positive(-values[i, width], errors[i, width]) and dead[i] == 0:
                if row < 0:
                    row = i
                elif least_index:
                    row = i if basic[i] < basic[row] else row
                else:
                    row = i if values[i, width] < values[row, width] else row
        if row < 0:
            return True
        c = -1
        for j in range(width):
            if is_positive(values[row, j], errors[row, j]):
                if c < 0:
                    c = j
                elif least_index:
                    c = j if columns[j] < columns[c] else c
                else:
                    c = j if values[row, j] > values[row, c] else c
        if c < 0:
            _conclude(-1.0, values[row], errors[row], width, doubt)
            return False
        exchange(T, basic, columns, width, row, c, work)
    doubt[0] = 1
    return False


@compiled
def _conclude(sign: float, line: FloatArray, error: FloatArray, width: int, doubt: IntArray) -> None:
    """A row without feasible point: `sign` times the constant is positive, times every coefficient not negative."""
    is_proved = sign * line[width] > 2.0 * error[width]
    for j in range(width):
        is_proved = is_proved and sign * line[j] >= 2.0 * error[j]
    if not is_proved:
        doubt[0] = 1


@compiled
def fix(
    T: FloatArray,
    basic: IntArray,
    columns: IntArray,
    dead: IntArray,
    width: int,
    variable: int,
    work: FloatArray,
    doubt: IntArray,
) -> int:
    """The equation variable = 0 added, `restore` is next; the new number of open columns, or -1 if it is infeasible.

    Parameters
    ----------
    T, basic, columns : ndarray
        A dictionary as in `exchange`; overwritten.
    dead : ndarray of int64, shape (n,)
        The row of the variable is marked by 1 if its number and all its coefficients count as zero.
    width : int
        Number of columns left.
    variable : int
        w_i = i or z_i = n + i.
    work : ndarray, shape (3 (n + 1),)
        Overwritten.
    doubt : ndarray of int64, shape (1,)
        Set to 1 where the answer rests on a sign or a zero that is not proved.

    Returns
    -------
    int
        `width` if the variable was zero already, one less if a column was dropped, or -1.
    """
    values, errors = T[0], T[1]
    n = values.shape[0]
    column = -1
    for j in range(width):
        if columns[j] == variable:
            column = j
    if column < 0:
        row = 0
        while basic[row] != variable:
            row += 1
        line, error = values[row], errors[row]
        value = line[width]
        is_open = is_positive(value, error[width])
        for j in range(width):
            entry = line[j]
            if is_open:
                if is_positive(-entry, error[j]) and (column < 0 or entry < line[column]):
                    column = j
            elif is_positive(abs(entry), error[j]) and (column < 0 or abs(entry) > abs(line[column])):
                column = j
        if column < 0:
            if is_open:
                _conclude(1.0, line, error, width, doubt)
                return -1
            dead[row] = 1
            for j in range(width + 1):
                if line[j] != 0.0 or error[j] != 0.0:
                    doubt[0] = 1
            return width
        exchange(T, basic, columns, width, row, column, work)
    width -= 1
    columns[column] = columns[width]
    for i in range(n):
        for part in (values[i], errors[i]):
            part[column] = part[width]
            part[width] = part[width + 1]
    return width


@compiled
def branching_index(
    T: FloatArray, basic: IntArray, dead: IntArray, fixed: IntArray, width: int, point: FloatArray
) -> int:
    """The open index to branch on; -1 if this vertex is the only solution here, -2 if it is one of a continuum.

    Parameters
    ----------
    T : ndarray, shape (2, n, n + 1)
        A feasible dictionary as in `exchange`.
    basic, dead : ndarray of int64, shape (n,)
        The basic variables by rows, and not zero for rows of those that are fixed at zero.
    fixed : ndarray of int64, shape (2 n,)
        Not zero for variables that are fixed at zero.
    width : int
        Number of columns left.
    point : ndarray, shape (2 n,)
        Overwritten: w and z of the vertex if an index is returned whose product does not vanish there, or `width` is 0;
        else zeros and ones, zero for what vanishes at every feasible point.

    Returns
    -------
    int
    """
    values, errors = T[0], T[1]
    n = values.shape[0]
    for variable in range(2 * n):
        point[variable] = 0.0
    for i in range(n):
        is_open = dead[i] == 0 and is_positive(values[i, width], errors[i, width])
        point[basic[i]] = values[i, width] if is_open else 0.0
    worst, violation = -1, 0.0
    for i in range(n):
        product = min(point[i], point[n + i])
        if product > violation:
            worst, violation = i, product
    if worst >= 0 or width == 0:
        return worst
    # mark what vanishes everywhere: fixed variables, and rows without constant and positive coefficient
    for variable in range(2 * n):
        point[variable] = 0.0 if fixed[variable] else 1.0
    for i in range(n):
        vanishes = not is_positive(values[i, width], errors[i, width])
        for j in range(width):
            vanishes = vanishes and not is_positive(values[i, j], errors[i, j])
        if vanishes:
            point[basic[i]] = 0.0
    for i in range(n):
        if point[i] != 0.0 and point[n + i] != 0.0:
            return i
    return -2


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
