"""Linear algebra on nodes: elimination written out, zeros and ones skipped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hybrid.expressions.derivatives import Nodes
from hybrid.expressions.graph import Builder

__all__ = ["determinant", "dot", "solve_definite"]


def dot(build: Builder, left: Iterable[int], right: Iterable[int], start: int | None = None) -> int:
    """A sum of products of nodes, plus ``start``.

    Parameters
    ----------
    build : Builder
    left, right : iterable of int
        As many nodes each.
    start : int, optional
        A node.

    Returns
    -------
    int
        A node.
    """
    products = [build.multiply(int(a), int(b)) for a, b in zip(left, right, strict=True)]
    return build.total(products if start is None else [*products, int(start)])


def solve_definite(build: Builder, M: Nodes, columns: Iterable[Sequence[int] | Nodes]) -> list[list[int]]:
    """The solution ``M^-1 B`` by ``L D L^T``, which is safe without pivoting where M is positive definite.

    Parameters
    ----------
    build : Builder
    M : array of int, (n, n)
        Symmetric; the lower half is read.
    columns : iterable of sequence of int, length n each
        The columns of B.

    Returns
    -------
    list of list of int
        The columns of the solution.

    Examples
    --------
    >>> import numpy as np
    >>> build = Builder()
    >>> m, f = build.name("m"), build.name("f")
    >>> solve_definite(build, np.array([[m]]), [[f]]) == [[build.divide(f, m)]]
    True
    """
    n, zero = len(M), build.number(0)

    def shared(value: int, pivot: int) -> int:  # no pivot is zero: of a zero nothing is left
        return zero if value == zero else build.divide(value, pivot)

    L: list[list[int]] = [[] for _ in range(n)]
    D: list[int] = []
    for i in range(n):
        scaled: list[int] = []  # L_ij D_j
        for j in range(i):
            scaled.append(_less(build, int(M[i, j]), scaled[:j], L[j]))
            L[i].append(shared(scaled[j], D[j]))
        D.append(_less(build, int(M[i, i]), L[i], scaled))
    solved = []
    for column in columns:
        x: list[int] = []
        for i in range(n):
            x.append(_less(build, int(column[i]), L[i], x))
        x = list(map(shared, x, D))
        for i in reversed(range(n)):
            x[i] = _less(build, x[i], [L[k][i] for k in range(i + 1, n)], x[i + 1 :])
        solved.append(x)
    return solved


def _less(build: Builder, start: int, left: Sequence[int], right: Sequence[int]) -> int:
    zero = build.number(0)
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if zero not in (a, b)]
    return build.subtract(start, build.total(build.multiply(a, b) for a, b in pairs))


def determinant(build: Builder, rows: Sequence[Sequence[int]]) -> int:
    """A determinant without divisions, so that it has a sign everywhere.

    Rows in which some entry is 1 or -1 eliminate its column; the rest is expanded. Rows in another order, or with
    another sign, give the same node or its opposite.

    Parameters
    ----------
    build : Builder
    rows : sequence of sequence of int, (n, n)

    Returns
    -------
    int
        A node.

    Examples
    --------
    >>> build = Builder()
    >>> a, one, zero = build.name("a"), build.number(1), build.number(0)
    >>> determinant(build, [[one, a, zero], [zero, one, zero], [a, a, a]]) == a
    True
    """
    left = [[int(node) for node in row] for row in rows]
    sign = 1
    while True:
        sign *= _arrange(build, left)
        pivot = next(
            ((i, j) for i, row in enumerate(left) for j, node in enumerate(row) if build.value(node) == 1), None
        )
        if pivot is None:
            break
        i, j = pivot
        sign *= -1 if (i + j) % 2 else 1
        eliminated = left.pop(i)
        left = [
            [
                build.subtract(x, build.multiply(row[j], y))
                for k, (x, y) in enumerate(zip(row, eliminated, strict=True))
                if k != j
            ]
            for row in left
        ]
    found = _expanded(build, left)
    return found if sign > 0 else build.negate(found)


def _arrange(build: Builder, rows: list[list[int]]) -> int:
    """Turn and sort rows, those of most zeros first; the sign by which the determinant changes."""
    sign = 1
    for place, row in enumerate(rows):
        turned = [build.negate(node) for node in row]
        leading = next((node for node in row if build.value(node) in (1, -1)), None)
        if build.value(leading) == -1 if leading is not None else turned < row:
            rows[place] = turned
            sign = -sign
    zero = build.number(0)
    order = sorted(range(len(rows)), key=lambda index: (sum(node != zero for node in rows[index]), rows[index]))
    sign *= -1 if sum(order[i] > order[j] for i in range(len(order)) for j in range(i + 1, len(order))) % 2 else 1
    rows[:] = [rows[index] for index in order]
    return sign


def _expanded(build: Builder, rows: Sequence[Sequence[int]]) -> int:
    zero = build.number(0)
    known: dict[tuple[int, ...], int] = {(): build.number(1)}

    def minor(depth: int, columns: tuple[int, ...]) -> int:
        if columns not in known:
            entries = [(place, rows[depth][column]) for place, column in enumerate(columns)]
            known[columns] = build.total(
                build.multiply(
                    entry if place % 2 == 0 else build.negate(entry),
                    minor(depth + 1, columns[:place] + columns[place + 1 :]),
                )
                for place, entry in entries
                if entry != zero
            )
        return known[columns]

    return minor(0, tuple(range(len(rows))))
