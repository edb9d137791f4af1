"""Dictionaries of the linear relaxation, in floating-point or in integer arithmetic, and the search through them.

A dictionary writes the basic variables through the others, basic = constant + T nonbasic, for the
system w - M z = q, w >= 0, z >= 0. The variables are numbered w_i = i and z_i = n + i. One code
serves both kinds of numbers: integers share a positive common denominator and are pivoted without
division (Edmonds), floats have the denominator one and a tolerance.

The search goes depth first over the complementary cones, pruned by their linear relaxation. A node fixes some w_i
(index i belongs to the basis) and some z_i (it does not) at zero and leaves the other indices open. If the linear
system w = M z + q, w >= 0, z >= 0 with these equations has no point, one Farkas vector refutes every complementary
basis below the node at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import attrs

__all__ = ["Dictionary", "Face", "PivotLimitError", "Refuted", "explore"]

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


@attrs.frozen(eq=False)
class Face(Generic[T]):
    """All solutions of the problem within one node: the feasible points of its dictionary."""

    dictionary: Dictionary[T]


@attrs.frozen(eq=False)
class Refuted(Generic[T]):
    """A node without a feasible point, and the row of its dictionary that proves it."""

    dictionary: Dictionary[T]
    row: int


def explore(root: Dictionary[T], *, exhaustive: bool) -> Iterator[Face[T] | Refuted[T]]:
    """Every leaf of the search tree; together they cover all complementary bases.

    Parameters
    ----------
    root : Dictionary
        The dictionary of the problem with nothing fixed; changed.
    exhaustive : bool
        Go on below a solution until the nodes hold nothing but solutions. Otherwise the search ends with the
        first face found, whose vertex is a solution though not every point of it need be.

    Returns
    -------
    iterator of Face or Refuted

    References
    ----------
    Cottle, Pang and Stone 1992, section 1.3 (complementary cones); Judice and Faustino,
    Computers & Operations Research 15 (1988) 1 (enumeration by linear relaxations).
    """
    row = root.restore()
    if row is not None:
        yield Refuted(root, row)
        return
    stack = [root]
    while stack:
        node = stack.pop()
        index = _branching_index(node, exhaustive=exhaustive)
        if index is None:
            yield Face(node)
            if not exhaustive:
                return
            continue
        for variable, child in ((index, node.copy()), (index + node.n, node)):
            row = child.fix(variable)
            if row is None:
                stack.append(child)
            else:
                yield Refuted(child, row)


def _branching_index(node: Dictionary[T], *, exhaustive: bool) -> int | None:
    """The open index whose complementarity the vertex violates most, else any open one if it matters."""
    n, tolerance = node.n, node.tolerance
    values = [tolerance * 0] * (2 * n)
    for variable, row in zip(node.basic, node.rows, strict=True):
        values[variable] = row[-1]
    violations = [min(values[i], values[n + i]) for i in range(n)]
    worst = max(range(n), key=violations.__getitem__, default=None)
    if worst is None:
        return None
    if violations[worst] > tolerance:
        return worst
    free = node.free_columns()
    if not exhaustive or not free:
        return None
    zero = node.fixed | _vanishing(node, free)
    return next((i for i in range(n) if i not in zero and n + i not in zero), None)


def _vanishing(node: Dictionary[T], free: list[int]) -> frozenset[int]:
    """Basic variables that are zero at every feasible point: no constant and no positive coefficient."""
    tolerance = node.tolerance
    return frozenset(
        variable
        for variable, row in zip(node.basic, node.rows, strict=True)
        if row[-1] <= tolerance and all(row[j] <= tolerance for j in free)
    )
