"""Nodes in rational numbers; what is not rational says so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from hybrid.expressions.graph import Graph

__all__ = ["NotRationalError", "exact_values"]

_LARGEST_POWER = 64  # exponents beyond it would fill the memory with digits before they decide anything


class NotRationalError(ArithmeticError):
    """A node has no rational value, or none is known; the text names the operation."""


def exact_values(graph: Graph, roots: Sequence[int], known: dict[int, Fraction]) -> list[Fraction]:
    """Evaluate nodes in rational numbers.

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
        found = _applied(graph.operations[node], arguments)
        if found is None:
            raise NotRationalError(f"{graph.operations[node]} of {', '.join(map(str, arguments))}")
        known[node] = found
    return [known[int(root)] for root in roots]


_FIXED: Mapping[str, tuple[int, int]] = {  # the argument at which a transcendental function is rational, and its value
    **dict.fromkeys(("sin", "tan", "asin", "atan", "sinh", "tanh"), (0, 0)),
    **dict.fromkeys(("cos", "cosh", "exp"), (0, 1)),
    **dict.fromkeys(("log", "acos"), (1, 0)),
}


def _applied(operation: str, arguments: Sequence[Fraction]) -> Fraction | None:
    """The value of an operation, None if it is irrational, unknown or undefined."""
    if not arguments:  # pi
        return None
    x, y = arguments[0], arguments[-1]
    if operation in _FIXED:
        place, value = _FIXED[operation]
        return Fraction(value) if x == place else None
    match operation:
        case "+":
            return sum(arguments, Fraction(0))
        case "*":
            return math.prod(arguments, start=Fraction(1))
        case "/":
            return x / y if y else None
        case "**" | "sqrt":
            return _power(x, y if operation == "**" else Fraction(1, 2))
        case "abs":
            return abs(x)
        case "sign":
            return Fraction((x > 0) - (x < 0))
        case "step":
            return None if x == 0 else Fraction(int(x > 0))
        case "max":
            return max(arguments)
        case "min":
            return min(arguments)
        case "atan2":
            return x if x == 0 and y > 0 else None
    return None


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if abs(exponent) > _LARGEST_POWER or (base == 0 and exponent < 0):
        return None
    if exponent.denominator == 2 and base >= 0:
        root = Fraction(math.isqrt(base.numerator), math.isqrt(base.denominator))
        if root * root != base:
            return None
        base, exponent = root, exponent * 2
    return Fraction(base**exponent.numerator) if exponent.denominator == 1 else None
