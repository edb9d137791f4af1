"""The linear relaxation of `lcp.dictionary`, compiled: one level of the search is one shrinking tableau."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray
from lcp.kernels.compiled import compiled

__all__ = ["branching_index", "fix", "restore"]

IntArray = npt.NDArray[np.int64]
TOLERANCE = 1e-10  # entries of M and q are scaled to at most one
LEAST_INDEX_AFTER = 8  # pivots per unknown, then the finite rule
LIMIT = 200


@compiled
def exchange(T: FloatArray, basic: IntArray, columns: IntArray, width: int, row: int, c: int, copy: FloatArray) -> None:
    """Pivot basic = T columns + constant (in column `width`) at (row, c)."""
    inverse = 1.0 / T[row, c]
    for j in range(width + 1):
        copy[j] = T[row, j]
    for i in range(T.shape[0]):
        line = T[i]
        factor = line[c] * inverse
        for j in range(width + 1):
            line[j] -= factor * copy[j]
        line[c] = factor
    line = T[row]
    for j in range(width + 1):
        line[j] = -inverse * copy[j]
    line[c] = inverse
    basic[row], columns[c] = columns[c], basic[row]


@compiled
def restore(T: FloatArray, basic: IntArray, columns: IntArray, dead: IntArray, width: int, copy: FloatArray) -> bool:
    """Dual simplex; False if a row proves that there is no feasible point. Dead rows are zero and stay so."""
    n = T.shape[0]
    for step in range(LIMIT * n):
        least_index = step > LEAST_INDEX_AFTER * n
        row = -1
        for i in range(n):
            if T[i, width] < -TOLERANCE and dead[i] == 0:
                if row < 0:
                    row = i
                elif least_index:
                    row = i if basic[i] < basic[row] else row
                else:
                    row = i if T[i, width] < T[row, width] else row
        if row < 0:
            return True
        c = -1
        for j in range(width):
            if T[row, j] > TOLERANCE:
                if c < 0:
                    c = j
                elif least_index:
                    c = j if columns[j] < columns[c] else c
                else:
                    c = j if T[row, j] > T[row, c] else c
        if c < 0:
            return False
        exchange(T, basic, columns, width, row, c, copy)
    return False


@compiled
def fix(
    T: FloatArray, basic: IntArray, columns: IntArray, dead: IntArray, width: int, variable: int, copy: FloatArray
) -> int:
    """Add the equation variable = 0; the new number of open columns, or -1 if that is infeasible."""
    n = T.shape[0]
    column = -1
    for j in range(width):
        if columns[j] == variable:
            column = j
    if column < 0:
        row = 0
        while basic[row] != variable:
            row += 1
        value = T[row, width]
        for j in range(width):
            entry = T[row, j]
            if value > TOLERANCE:
                if entry < -TOLERANCE and (column < 0 or entry < T[row, column]):
                    column = j
            elif abs(entry) > TOLERANCE and (column < 0 or abs(entry) > abs(T[row, column])):
                column = j
        if column < 0:
            dead[row] = 1
            return -1 if value > TOLERANCE else width
        exchange(T, basic, columns, width, row, column, copy)
    width -= 1
    columns[column] = columns[width]
    for i in range(n):
        T[i, column] = T[i, width]
        T[i, width] = T[i, width + 1]
    return width if restore(T, basic, columns, dead, width, copy) else -1


@compiled
def branching_index(
    T: FloatArray, basic: IntArray, dead: IntArray, fixed: IntArray, width: int, values: FloatArray
) -> int:
    """The open index to branch on; -1 if this vertex is the only solution here, -2 if it is one of a continuum."""
    n = T.shape[0]
    for variable in range(2 * n):
        values[variable] = 0.0
    for i in range(n):
        values[basic[i]] = 0.0 if dead[i] else T[i, width]
    worst, violation = -1, TOLERANCE
    for i in range(n):
        product = min(values[i], values[n + i])
        if product > violation:
            worst, violation = i, product
    if worst >= 0 or width == 0:
        return worst
    # mark what vanishes everywhere: fixed variables, and rows without constant and positive coefficient
    for variable in range(2 * n):
        values[variable] = 0.0 if fixed[variable] else 1.0
    for i in range(n):
        if T[i, width] <= TOLERANCE:
            largest = 0.0
            for j in range(width):
                largest = max(largest, T[i, j])
            if largest <= TOLERANCE:
                values[basic[i]] = 0.0
    for i in range(n):
        if values[i] != 0.0 and values[n + i] != 0.0:
            return i
    return -2
