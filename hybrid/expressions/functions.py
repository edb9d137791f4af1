"""The table of functions: values, partial derivatives, where each is defined, where it jumps or bends."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Protocol

import attrs
import numpy as np

__all__ = ["FUNCTIONS", "Function", "Rules", "applied", "exact_value", "value_of"]


MAX_ARGUMENTS = 10
"""Arguments of ``min`` and ``max`` at most."""


class Rules(Protocol):
    """What derivatives are written in: the arithmetic of nodes of a graph under construction."""

    def number(self, value: int) -> int:
        """The node of a number."""

    def add(self, first: int, second: int) -> int:
        """Sum of two nodes."""

    def subtract(self, first: int, second: int) -> int:
        """Difference of two nodes."""

    def negate(self, node: int) -> int:
        """A node times -1."""

    def multiply(self, first: int, second: int) -> int:
        """Product of two nodes."""

    def divide(self, first: int, second: int) -> int:
        """Quotient of two nodes."""

    def call(self, function: str, *arguments: int) -> int:
        """A function of nodes."""


Partials = Callable[[Rules, int, tuple[int, ...]], tuple[int, ...]]


@attrs.frozen
class Function:
    """A function of expressions.

    Attributes
    ----------
    partials : callable
        Of a builder, the node of the function and its arguments: the derivatives with respect to these. That of a
        function which jumps is zero, as wherever it exists.
    arrays : callable
        Its value for arrays, real or complex. On complex input it is the analytic continuation of the real branch, so
        that complex-step derivatives are right.
    floats : callable
        Its value for plain floats; raises where it is undefined.
    least, most : int
        Number of arguments.
    is_entire : bool
        Whether it is defined for all real arguments.
    is_odd : bool
        Whether ``f(-x) = -f(x)``.
    has_unitless_argument : bool
        Whether its argument is a pure number: ``sin(x/l)`` has a sense, ``sin(x)`` of a length has none.
    jumps, bends : bool
        Whether it jumps, or has a kink, where its argument (the difference of two) is zero; ``atan2`` jumps at its cut
        and ``tan`` at its poles.
    slope : float or None
        A bound of its derivative, if one is known.
    is_increasing : bool
        Whether it never falls where its argument grows: over a range of arguments its bounds are its values at the
        ends.
    values : pair of float
        Between which its values lie.
    """

    partials: Partials
    arrays: Callable[..., Any]
    floats: Callable[..., float]
    least: int = 1
    most: int = 1
    is_entire: bool = True
    is_odd: bool = False
    has_unitless_argument: bool = False
    jumps: bool = False
    bends: bool = False
    slope: float | None = None
    is_increasing: bool = False
    values: tuple[float, float] = (-math.inf, math.inf)


def _square(build: Rules, node: int) -> int:
    return build.multiply(node, node)


def _over(build: Rules, numerator: int, denominator: int) -> int:
    return build.divide(numerator, denominator)


def _shifted(build: Rules, start: int, sign: int, node: int) -> int:
    """``start + sign*node``."""
    return build.add(build.number(start), build.multiply(build.number(sign), node))


def _arcsine(build: Rules, sign: int, x: int) -> int:
    return _over(build, build.number(sign), build.call("sqrt", _shifted(build, 1, -1, _square(build, x))))


def _arctangent2(build: Rules, y: int, x: int) -> tuple[int, int]:
    radius = build.add(_square(build, x), _square(build, y))
    return _over(build, x, radius), build.negate(_over(build, y, radius))


def _chosen(build: Rules, sign: int, first: int, second: int) -> tuple[int, int]:
    difference = build.multiply(build.number(sign), build.subtract(first, second))
    step = build.call("step", difference)
    return step, _shifted(build, 1, -1, step)


def _abs(z: Any) -> Any:
    return z * np.sign(np.real(z)) if np.iscomplexobj(z) else np.abs(z)


def _sign(z: Any) -> Any:
    return np.sign(np.real(z)) if np.iscomplexobj(z) else np.sign(z)


def _atan2(y: Any, x: Any) -> Any:
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return np.arctan2(y, x)
    steep = np.abs(np.real(y)) > np.abs(np.real(x))
    half_turns = np.where(steep, np.sign(np.real(y)) / 2, np.where(np.real(x) < 0, _side(y), 0.0))
    ratio = np.where(steep, x, y) / np.where(steep, y, x)
    return half_turns * np.pi + np.where(steep, -1.0, 1.0) * np.arctan(ratio)


def _side(y: Any) -> Any:
    return np.where(np.real(y) < 0, -1.0, 1.0)


def _minimum(*arguments: Any) -> Any:
    return _select(lambda left, right: left <= right, np.minimum, arguments)


def _maximum(*arguments: Any) -> Any:
    return _select(lambda left, right: left >= right, np.maximum, arguments)


def _select(prefers: Callable[[Any, Any], Any], real: Callable[[Any, Any], Any], arguments: Any) -> Any:
    result = arguments[0]
    for other in arguments[1:]:
        if np.iscomplexobj(result) or np.iscomplexobj(other):
            result = np.where(prefers(np.real(result), np.real(other)), result, other)
        else:
            result = real(result, other)
    return result


def _step(z: Any) -> Any:
    return np.heaviside(np.real(z), 0.5)


def _float_sign(x: float) -> float:
    return math.copysign(1.0, x) if x else x


def _float_step(x: float) -> float:
    return 0.5 if x == 0 else float(x > 0)


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "sin": Function(
            lambda build, _, x: (build.call("cos", *x),),
            np.sin,
            math.sin,
            is_odd=True,
            has_unitless_argument=True,
            slope=1.0,
            values=(-1.0, 1.0),
        ),
        "cos": Function(
            lambda build, _, x: (build.negate(build.call("sin", *x)),),
            np.cos,
            math.cos,
            has_unitless_argument=True,
            slope=1.0,
            values=(-1.0, 1.0),
        ),
        "tan": Function(
            lambda build, f, _: (_shifted(build, 1, 1, _square(build, f)),),
            np.tan,
            math.tan,
            is_entire=False,
            is_odd=True,
            has_unitless_argument=True,
            jumps=True,
        ),
        "asin": Function(
            lambda build, _, x: (_arcsine(build, 1, *x),),
            np.arcsin,
            math.asin,
            is_entire=False,
            is_odd=True,
            is_increasing=True,
        ),
        "acos": Function(
            lambda build, _, x: (_arcsine(build, -1, *x),),
            np.arccos,
            math.acos,
            is_entire=False,
            values=(0.0, math.pi),
        ),
        "atan": Function(
            lambda build, _, x: (_over(build, build.number(1), _shifted(build, 1, 1, _square(build, *x))),),
            np.arctan,
            math.atan,
            is_odd=True,
            slope=1.0,
            is_increasing=True,
        ),
        "atan2": Function(
            lambda build, _, x: _arctangent2(build, *x),
            _atan2,
            math.atan2,
            2,
            2,
            jumps=True,
            values=(-math.pi, math.pi),
        ),
        "sinh": Function(
            lambda build, _, x: (build.call("cosh", *x),),
            np.sinh,
            math.sinh,
            is_odd=True,
            has_unitless_argument=True,
            is_increasing=True,
        ),
        "cosh": Function(
            lambda build, _, x: (build.call("sinh", *x),),
            np.cosh,
            math.cosh,
            has_unitless_argument=True,
            values=(1.0, math.inf),
        ),
        "tanh": Function(
            lambda build, f, _: (_shifted(build, 1, -1, _square(build, f)),),
            np.tanh,
            math.tanh,
            is_odd=True,
            has_unitless_argument=True,
            slope=1.0,
            is_increasing=True,
        ),
        "exp": Function(
            lambda _, f, __: (f,),
            np.exp,
            math.exp,
            has_unitless_argument=True,
            is_increasing=True,
        ),
        "log": Function(
            lambda build, _, x: (_over(build, build.number(1), *x),),
            np.log,
            math.log,
            is_entire=False,
            is_increasing=True,
        ),
        "sqrt": Function(
            lambda build, f, _: (_over(build, build.number(1), build.add(f, f)),),
            np.sqrt,
            math.sqrt,
            is_entire=False,
            is_increasing=True,
        ),
        "abs": Function(lambda build, _, x: (build.call("sign", *x),), _abs, abs, bends=True),
        "sign": Function(
            lambda build, _, __: (build.number(0),),
            _sign,
            _float_sign,
            is_odd=True,
            jumps=True,
            is_increasing=True,
        ),
        "step": Function(
            lambda build, _, __: (build.number(0),),
            _step,
            _float_step,
            jumps=True,
            is_increasing=True,
        ),
        "min": Function(lambda build, _, x: _chosen(build, -1, *x), _minimum, min, 2, MAX_ARGUMENTS, bends=True),
        "max": Function(lambda build, _, x: _chosen(build, 1, *x), _maximum, max, 2, MAX_ARGUMENTS, bends=True),
    }
)


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
