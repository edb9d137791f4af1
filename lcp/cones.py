"""Depth-first search over the complementary cones, pruned by their linear relaxation.

A node of the search fixes some w_i (index i belongs to the basis) and some z_i (it does not) at zero
and leaves the other indices open. If the linear system w = M z + q, w >= 0, z >= 0 with these
equations has no point, one Farkas vector refutes every complementary basis below the node at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

import attrs

from lcp.dictionary import Dictionary

__all__ = ["Face", "Refuted", "explore"]

T = TypeVar("T", int, float)


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
