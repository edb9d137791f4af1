"""Exact values of functions of numbers, and where expressions are defined."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from hybrid.expressions.functions import FUNCTIONS

if TYPE_CHECKING:
    from hybrid.expressions.graph import Builder

__all__ = ["applied", "exact_value", "is_defined_everywhere", "value_of"]

# sin(k*pi/6) where it is rational (Niven 1956, corollary 3.12): all other rational multiples of pi have irrational ones
_SINES = {0: Fraction(0), 1: Fraction(1, 2), 3: Fraction(1), 5: Fraction(1, 2), 6: Fraction(0)} | {
    7: Fraction(-1, 2),
    9: Fraction(-1),
    11: Fraction(-1, 2),
}
_LARGEST_POWER = 64  # exponents beyond it would fill the memory with digits before they decide anything


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
    values = [build.value(argument) for argument in arguments]
    known = [Fraction(value) for value in values if value is not None]
    return applied(function, known) if len(known) == len(values) else None


_FIXED: Mapping[str, tuple[int, int]] = {  # the argument at which a transcendental function is rational, and its value
    **dict.fromkeys(("sin", "tan", "asin", "atan", "sinh", "tanh"), (0, 0)),
    **dict.fromkeys(("cos", "cosh", "exp"), (0, 1)),
    **dict.fromkeys(("log", "acos"), (1, 0)),
}


def applied(operation: str, arguments: Sequence[Fraction]) -> Fraction | None:
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
