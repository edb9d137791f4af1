"""Linear algebra on nodes: elimination written out, zeros and ones skipped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hybrid.expressions.derivatives import Nodes
from hybrid.expressions.graph import Builder

__all__ = ["dot", "solve_definite"]


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
    n = len(M)
    L: list[list[int]] = [[] for _ in range(n)]
    D: list[int] = []
    for i in range(n):
        scaled: list[int] = []  # L_ij D_j
        for j in range(i):
            scaled.append(_less(build, int(M[i, j]), scaled[:j], L[j]))
            L[i].append(build.divide(scaled[j], D[j]))
        D.append(_less(build, int(M[i, i]), L[i], scaled))
    solved = []
    for column in columns:
        x: list[int] = []
        for i in range(n):
            x.append(_less(build, int(column[i]), L[i], x))
        x = [build.divide(value, D[i]) for i, value in enumerate(x)]
        for i in reversed(range(n)):
            x[i] = _less(build, x[i], [L[k][i] for k in range(i + 1, n)], x[i + 1 :])
        solved.append(x)
    return solved


def _less(build: Builder, start: int, left: Sequence[int], right: Sequence[int]) -> int:
    return build.subtract(start, dot(build, left, right))
