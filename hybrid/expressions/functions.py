"""The table of functions: for each its partial derivatives, where it is defined, where it jumps or bends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from hybrid.expressions.graph import Builder

__all__ = ["FUNCTIONS", "Function"]

Partials = Callable[["Builder", int, tuple[int, ...]], tuple[int, ...]]


@attrs.frozen
class Function:
    """A function of expressions.

    Attributes
    ----------
    partials : callable
        Of a builder, the node of the function and its arguments: the derivatives with respect to these. That of a
        function which jumps is zero, as wherever it exists.
    is_entire : bool
        Whether it is defined for all real arguments.
    is_odd : bool
        Whether ``f(-x) = -f(x)``.
    has_unitless_argument : bool
        Whether its argument is a pure number: ``sin(x/l)`` has a sense, ``sin(x)`` of a length has none.
    jumps, bends : bool
        Whether it jumps, or has a kink, where its argument (the difference of two) is zero.
    slope : float or None
        A bound of its derivative, if one is known.
    """

    partials: Partials
    is_entire: bool = True
    is_odd: bool = False
    has_unitless_argument: bool = False
    jumps: bool = False
    bends: bool = False
    slope: float | None = None


def _square(build: Builder, node: int) -> int:
    return build.multiply(node, node)


def _over(build: Builder, numerator: int, denominator: int) -> int:
    return build.divide(numerator, denominator)


def _shifted(build: Builder, start: int, sign: int, node: int) -> int:
    """``start + sign*node``."""
    return build.add(build.number(start), build.multiply(build.number(sign), node))


def _arcsine(build: Builder, sign: int, x: int) -> int:
    return _over(build, build.number(sign), build.call("sqrt", _shifted(build, 1, -1, _square(build, x))))


def _arctangent2(build: Builder, y: int, x: int) -> tuple[int, int]:
    radius = build.add(_square(build, x), _square(build, y))
    return _over(build, x, radius), build.negate(_over(build, y, radius))


def _chosen(build: Builder, sign: int, first: int, second: int) -> tuple[int, int]:
    difference = build.multiply(build.number(sign), build.subtract(first, second))
    step = build.call("step", difference)
    return step, _shifted(build, 1, -1, step)


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "sin": Function(
            lambda build, _, x: (build.call("cos", *x),), is_odd=True, has_unitless_argument=True, slope=1.0
        ),
        "cos": Function(
            lambda build, _, x: (build.negate(build.call("sin", *x)),), has_unitless_argument=True, slope=1.0
        ),
        "tan": Function(
            lambda build, f, _: (_shifted(build, 1, 1, _square(build, f)),),
            is_entire=False,
            is_odd=True,
            has_unitless_argument=True,
        ),
        "asin": Function(lambda build, _, x: (_arcsine(build, 1, *x),), is_entire=False, is_odd=True),
        "acos": Function(lambda build, _, x: (_arcsine(build, -1, *x),), is_entire=False),
        "atan": Function(
            lambda build, _, x: (_over(build, build.number(1), _shifted(build, 1, 1, _square(build, *x))),),
            is_odd=True,
            slope=1.0,
        ),
        "atan2": Function(lambda build, _, x: _arctangent2(build, *x)),
        "sinh": Function(lambda build, _, x: (build.call("cosh", *x),), is_odd=True, has_unitless_argument=True),
        "cosh": Function(lambda build, _, x: (build.call("sinh", *x),), has_unitless_argument=True),
        "tanh": Function(
            lambda build, f, _: (_shifted(build, 1, -1, _square(build, f)),),
            is_odd=True,
            has_unitless_argument=True,
            slope=1.0,
        ),
        "exp": Function(lambda _, f, __: (f,), has_unitless_argument=True),
        "log": Function(lambda build, _, x: (_over(build, build.number(1), *x),), is_entire=False),
        "sqrt": Function(
            lambda build, f, _: (_over(build, build.number(1), build.add(f, f)),),
            is_entire=False,
        ),
        "abs": Function(lambda build, _, x: (build.call("sign", *x),), bends=True),
        "sign": Function(lambda build, _, __: (build.number(0),), is_odd=True, jumps=True),
        "step": Function(lambda build, _, __: (build.number(0),), jumps=True),
        "min": Function(lambda build, _, x: _chosen(build, -1, *x), bends=True),
        "max": Function(lambda build, _, x: _chosen(build, 1, *x), bends=True),
    }
)
