"""Dictionaries of the linear relaxation, in floating-point or in integer arithmetic.

A dictionary writes the basic variables through the others, basic = constant + T nonbasic, for the
system w - M z = q, w >= 0, z >= 0. The variables are numbered w_i = i and z_i = n + i. One code
serves both kinds of numbers: integers share a positive common denominator and are pivoted without
division (Edmonds), floats have the denominator one and a tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

__all__ = ["Dictionary", "PivotLimitError"]

T = TypeVar("T", int, float)

BLAND_AFTER = 8  # pivots per unknown by largest violation before the finite least-index rule takes over
LIMIT = 200  # pivots per unknown in floating point, where rounding may defeat the least-index rule


class PivotLimitError(ArithmeticError):
    """The floating-point simplex did not come to an end; exact arithmetic always does."""


class Dictionary(Generic[T]):
    """Basic variables through nonbasic ones, some of them fixed at zero.

    Parameters
    ----------
    M, q : sequences of int or of float
        The problem.
    tolerance : int or float
        Entries up to this size count as zero; 0 for integers.
    unit : int or float
        The number one of the arithmetic.
    """

    __slots__ = ("basic", "denominator", "fixed", "n", "nonbasic", "rows", "tolerance")
    basic: list[int]
    denominator: T
    fixed: frozenset[int]
    n: int
    nonbasic: list[int]
    rows: list[list[T]]
    tolerance: T

    def __init__(self, M: Sequence[Sequence[T]], q: Sequence[T], *, tolerance: T, unit: T) -> None:
        self.n = len(q)
        self.rows = [list(row) for row in M]
        for extended, constant in zip(self.rows, q, strict=True):
            extended.append(constant)
        self.basic = list(range(self.n))
        self.nonbasic = list(range(self.n, 2 * self.n))
        self.fixed = frozenset()
        self.tolerance = tolerance
        self.denominator = unit

    def copy(self) -> Dictionary[T]:
        """An independent copy."""
        twin: Dictionary[T] = object.__new__(Dictionary)
        twin.n = self.n
        twin.rows = [row[:] for row in self.rows]
        twin.basic = self.basic[:]
        twin.nonbasic = self.nonbasic[:]
        twin.fixed = self.fixed
        twin.tolerance = self.tolerance
        twin.denominator = self.denominator
        return twin

    def free_columns(self) -> list[int]:
        """Columns whose variable is not fixed at zero."""
        return [j for j, variable in enumerate(self.nonbasic) if variable not in self.fixed]

    def value(self, variable: int) -> T:
        """Value of a variable at this vertex, times the common denominator."""
        if variable in self.nonbasic:
            return self.tolerance * 0
        return self.rows[self.basic.index(variable)][-1]

    def pivot(self, r: int, c: int) -> None:
        """Exchange the basic variable of row r and the nonbasic variable of column c."""
        if isinstance(self.denominator, int):
            self.denominator = _pivot_integers(self.rows, self.denominator, r, c)
        else:
            _pivot_floats(self.rows, r, c)
        self.basic[r], self.nonbasic[c] = self.nonbasic[c], self.basic[r]

    def fix(self, variable: int) -> int | None:
        """Add the equation variable = 0 and restore feasibility; the contradictory row, or None."""
        self.fixed = self.fixed | {variable}
        if variable in self.basic:
            r = self.basic.index(variable)
            row, tolerance = self.rows[r], self.tolerance
            free = self.free_columns()
            if row[-1] > tolerance:
                c = min(free, key=lambda j: row[j], default=-1)
                if c < 0 or not row[c] < -tolerance:
                    return r
                self.pivot(r, c)
            else:
                c = max(free, key=lambda j: abs(row[j]), default=-1)
                if c >= 0 and abs(row[c]) > tolerance:
                    self.pivot(r, c)
        return self.restore()

    def restore(self) -> int | None:
        """Dual simplex until every constant is >= 0; a row that proves there is no point, or None."""
        free = self.free_columns()
        steps = 0
        while True:
            least_index = steps > BLAND_AFTER * self.n
            if not isinstance(self.denominator, int) and steps > LIMIT * self.n:
                raise PivotLimitError
            r = self._violated_row(least_index=least_index)
            if r is None:
                return None
            row, tolerance = self.rows[r], self.tolerance
            able = [j for j in free if row[j] > tolerance]
            if not able:
                return r
            if least_index:
                c = min(able, key=lambda j: self.nonbasic[j])
            else:
                c = max(able, key=lambda j: row[j])
            self.pivot(r, c)
            steps += 1

    def _violated_row(self, *, least_index: bool) -> int | None:
        best: int | None = None
        for i, row in enumerate(self.rows):
            if row[-1] < -self.tolerance and self.basic[i] not in self.fixed:
                if best is None:
                    best = i
                elif least_index:
                    if self.basic[i] < self.basic[best]:
                        best = i
                elif row[-1] < self.rows[best][-1]:
                    best = i
        return best

    def multipliers(self, r: int) -> list[T]:
        """Row r as a combination y of the equations w - M z = q, times the common denominator.

        Signed so that y^T q < 0: a Farkas vector when row r is contradictory.
        """
        row = self.rows[r]
        zero = self.tolerance * 0
        y = [zero] * self.n
        for j, variable in enumerate(self.nonbasic):
            if variable < self.n:
                y[variable] = -row[j]
        if self.basic[r] < self.n:
            y[self.basic[r]] += self.denominator
        return [-value for value in y] if row[-1] > 0 else y


def _pivot_integers(rows: list[list[T]], d: T, r: int, c: int) -> T:
    """Pivot integer rows with common denominator d > 0; the new denominator."""
    row = rows[r]
    sign, size = (1, row[c]) if row[c] > 0 else (-1, -row[c])
    for i, other in enumerate(rows):
        if i == r:
            continue
        # every numerator is a minor of the integer system, so the division by d leaves no remainder
        f = sign * other[c]
        if f:
            new = [(a * size - f * b) // d for a, b in zip(other, row, strict=True)]
            new[c] = f
            rows[i] = new
        elif size != d:
            rows[i] = [a * size // d for a in other]
    pivoted = [-sign * a for a in row]
    pivoted[c] = sign * d
    rows[r] = pivoted
    return size


def _pivot_floats(rows: list[list[Any]], r: int, c: int) -> None:
    row = rows[r]
    p = row[c]
    for i, other in enumerate(rows):
        if i == r or not other[c]:
            continue
        f = other[c] / p
        new = [a - f * b for a, b in zip(other, row, strict=True)]
        new[c] = f
        rows[i] = new
    pivoted = [-a / p for a in row]
    pivoted[c] = 1 / p
    rows[r] = pivoted
