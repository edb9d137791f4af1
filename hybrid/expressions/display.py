"""Nodes as SymPy expressions, for people to read; no number is computed from them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hybrid.expressions.functions import FUNCTIONS

if TYPE_CHECKING:
    import sympy

    from hybrid.expressions.graph import Graph

__all__ = ["sympy_expressions"]


def sympy_expressions(graph: Graph, roots: Sequence[int]) -> list[sympy.Expr]:
    """Nodes in SymPy; names become real symbols.

    Parameters
    ----------
    graph : Graph
    roots : sequence of int

    Returns
    -------
    list of Expr

    Examples
    --------
    >>> from hybrid.expressions import Builder
    >>> build = Builder()
    >>> x = build.name("x")
    >>> node = build.multiply(x, build.call("sin", x))
    >>> sympy_expressions(build.graph(), [node])
    [x*sin(x)]
    """
    import sympy

    operations = _operations()
    found: dict[int, sympy.Expr] = {}
    for node in graph.needed(roots):
        operation, value = graph.operations[node], graph.values[node]
        if operation == "number":
            found[node] = sympy.Rational(value.numerator, value.denominator)  # type: ignore[union-attr]
        elif operation == "name":
            found[node] = sympy.Symbol(value, real=True)
        elif operation == "pi":
            found[node] = sympy.pi
        else:
            found[node] = operations[operation](*(found[argument] for argument in graph.arguments[node]))
    return [found[int(root)] for root in roots]


def _operations() -> dict[str, Callable[..., Any]]:
    import sympy

    operations: dict[str, Callable[..., Any]] = {
        "+": sympy.Add,
        "*": sympy.Mul,
        "/": operator.truediv,
        "**": operator.pow,
        "abs": sympy.Abs,
        "min": sympy.Min,
        "max": sympy.Max,
        "step": sympy.Heaviside,
    }
    return operations | {name: getattr(sympy, name) for name in FUNCTIONS if name not in operations}
