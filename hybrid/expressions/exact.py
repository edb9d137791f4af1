"""Nodes in rational numbers; what is not rational says so."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hybrid.expressions.functions import applied
from hybrid.expressions.graph import Graph

__all__ = ["NotRationalError", "exact_values"]


class NotRationalError(ArithmeticError):
    """A node has no rational value, or none is known; the text names the operation."""


def exact_values(graph: Graph, roots: Sequence[int], known: dict[int, Fraction]) -> list[Fraction]:
    """Values of nodes in rational numbers.

    Parameters
    ----------
    graph : Graph
    roots : sequence of int
    known : dict of int to Fraction
        The values of the names; those of every node met are added.

    Returns
    -------
    list of Fraction

    Raises
    ------
    NotRationalError

    Examples
    --------
    >>> from hybrid.expressions import Builder
    >>> build = Builder()
    >>> x = build.name("x")
    >>> square = build.multiply(x, x)
    >>> exact_values(build.graph(), [square], {x: Fraction(1, 3)})
    [Fraction(1, 9)]
    """
    for node in graph.needed(roots):
        if node in known:
            continue
        arguments = [known[argument] for argument in graph.arguments[node]]
        value = graph.values[node]
        if isinstance(value, int | Fraction):
            known[node] = Fraction(value)
            continue
        found = applied(graph.operations[node], arguments)
        if found is None:
            raise NotRationalError(f"{graph.operations[node]} of {', '.join(map(str, arguments))}")
        known[node] = found
    return [known[int(root)] for root in roots]
