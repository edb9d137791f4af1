"""Exact values of functions of numbers, and where expressions are defined."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

from hybrid.expressions.functions import FUNCTIONS

if TYPE_CHECKING:
    from hybrid.expressions.graph import Builder

__all__ = ["exact_value", "is_defined_everywhere", "value_of"]

# sin(k*pi/6) where it is rational (Niven 1956, corollary 3.12): all other rational multiples of pi have irrational ones
_SINES = {0: Fraction(0), 1: Fraction(1, 2), 3: Fraction(1), 5: Fraction(1, 2), 6: Fraction(0)} | {
    7: Fraction(-1, 2),
    9: Fraction(-1),
    11: Fraction(-1, 2),
}
_AT_ZERO = {"sinh": 0, "cosh": 1, "tanh": 0, "tan": 0, "exp": 1, "asin": 0, "atan": 0}


def exact_value(build: Builder, function: str, arguments: tuple[int, ...]) -> int | Fraction | None:
    """The value of a function of numbers, where it is rational and known.

    Parameters
    ----------
    build : Builder
    function : str
    arguments : tuple of int

    Returns
    -------
    int, Fraction or None
    """
    if function in ("sin", "cos"):
        turn = _turn(build, arguments[0])
        twelfth = None if turn is None else (6 * turn + (3 if function == "cos" else 0)) % 12
        return None if twelfth is None or twelfth.denominator != 1 else _SINES.get(int(twelfth))
    x = build.value(arguments[0])
    if x is None or len(arguments) > 1:
        return None
    if function == "sqrt" and x >= 0:
        above, below = isqrt(x.numerator), isqrt(x.denominator)
        is_square = above**2 == x.numerator and below**2 == x.denominator
        return Fraction(above, below) if is_square else None
    if function == "abs":
        return abs(Fraction(x))
    if function == "sign":
        return Fraction((x > 0) - (x < 0))
    if function == "step":
        return Fraction(1, 2) if x == 0 else Fraction(int(x > 0))
    if function == "log" and x == 1:
        return Fraction(0)
    return Fraction(_AT_ZERO[function]) if x == 0 and function in _AT_ZERO else None


def _turn(build: Builder, node: int) -> int | Fraction | None:
    """The rational number that a node is times pi."""
    if build.value(node) == 0:
        return 0
    if build.operation(node) == "pi":
        return 1
    if build.operation(node) == "*" and len(build.arguments(node)) == 2:
        first, second = build.arguments(node)
        return build.value(first) if build.operation(second) == "pi" else None
    return None


def is_defined_everywhere(build: Builder, node: int) -> bool:
    """True if an expression has a value for all real values of its names."""
    pending, seen = [node], set[int]()
    while pending:
        item = pending.pop()
        if item in seen:
            continue
        seen.add(item)
        operation, arguments = build.operation(item), build.arguments(item)
        if operation == "**":
            exponent = build.value(arguments[1])
            if exponent is None or exponent.denominator != 1 or exponent < 0:
                return False
        elif operation == "/" or (operation in FUNCTIONS and not FUNCTIONS[operation].is_entire):
            return False
        pending += arguments
    return True


_OPERATIONS: Mapping[str, Callable[..., float]] = {
    "+": lambda *terms: sum(terms),
    "*": lambda *factors: math.prod(factors),
    "/": lambda a, b: a / b,
    "**": math.pow,
    "abs": abs,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "step": lambda x: 0.5 if x == 0 else float(x > 0),
    "min": min,
    "max": max,
}


def value_of(operation: str, value: int | Fraction | str | None, arguments: Sequence[float]) -> float:
    """The float of an operation on numbers; NaN where it is infinite, undefined or not real."""
    if operation == "pi":
        return math.pi
    try:
        if isinstance(value, int | Fraction):
            return float(value)
        return float((_OPERATIONS.get(operation) or getattr(math, operation))(*arguments))
    except OverflowError:
        return math.inf
    except (ArithmeticError, ValueError):
        return math.nan
