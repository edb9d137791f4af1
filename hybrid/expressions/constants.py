"""Values of operations on numbers: exact where they are rational, else the nearest float."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from hybrid.expressions.functions import FUNCTIONS

__all__ = ["applied", "exact_value", "value_of"]

# sin(k*pi/6) where it is rational (Niven 1956, corollary 3.12): all other rational multiples of pi have irrational ones
_SINES = {0: Fraction(0), 1: Fraction(1, 2), 3: Fraction(1), 5: Fraction(1, 2), 6: Fraction(0)} | {
    7: Fraction(-1, 2),
    9: Fraction(-1),
    11: Fraction(-1, 2),
}
_LARGEST_POWER = 64  # exponents beyond it would fill the memory with digits before they decide anything


def exact_value(
    function: str, arguments: Sequence[int | Fraction | None], turn: int | Fraction | None
) -> int | Fraction | None:
    """The value of a function of numbers, where it is rational and known.

    Parameters
    ----------
    function : str
    arguments : sequence of int, Fraction or None
        None for one that is no number.
    turn : int, Fraction or None
        The number that the first argument is times pi, if it is.

    Returns
    -------
    int, Fraction or None
    """
    if function in ("sin", "cos"):
        twelfth = None if turn is None else (6 * turn + (3 if function == "cos" else 0)) % 12
        return None if twelfth is None or twelfth.denominator != 1 else _SINES.get(int(twelfth))
    known = [Fraction(value) for value in arguments if value is not None]
    return applied(function, known) if len(known) == len(arguments) else None


_FIXED: Mapping[str, tuple[int, int]] = {  # the argument at which a transcendental function is rational, and its value
    **dict.fromkeys(("sin", "tan", "asin", "atan", "sinh", "tanh"), (0, 0)),
    **dict.fromkeys(("cos", "cosh", "exp"), (0, 1)),
    **dict.fromkeys(("log", "acos"), (1, 0)),
}


def applied(operation: str, arguments: Sequence[Fraction]) -> Fraction | None:
    """The value of an operation, None if it is irrational, unknown or undefined.

    Parameters
    ----------
    operation : str
        An operator or a function of the table.
    arguments : sequence of Fraction
        None for ``pi``.

    Returns
    -------
    Fraction or None
    """
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


_OPERATORS: Mapping[str, Callable[..., float]] = {
    "+": lambda *terms: sum(terms),
    "*": lambda *factors: math.prod(factors),
    "/": lambda a, b: a / b,
    "**": math.pow,
}


def value_of(operation: str, value: int | Fraction | str | None, arguments: Sequence[float]) -> float:
    """The float of an operation on numbers; NaN where it is infinite, undefined or not real.

    Parameters
    ----------
    operation : str
        An operator, a function of the table, ``number`` or ``pi``.
    value : int, Fraction, str or None
        Of a number; a name or None for anything else.
    arguments : sequence of float

    Returns
    -------
    float
        Infinite where it exceeds the largest float.
    """
    if operation == "pi":
        return math.pi
    try:
        if isinstance(value, int | Fraction):
            return float(value)
        return float((_OPERATORS.get(operation) or FUNCTIONS[operation].floats)(*arguments))
    except OverflowError:
        return math.inf
    except (ArithmeticError, ValueError):
        return math.nan
