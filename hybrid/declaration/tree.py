"""Parsed expressions: their nodes in postfix order, every operand before its operator.

The functions and constants that expressions know, and other names that people write for them.

Their evaluation in floating point, over arrays, without SymPy.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

import hybrid.expressions
from hybrid.arguments import explains_arguments
from hybrid.declaration.intervals import Interval
from hybrid.errors import DeclarationError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from hybrid.expressions import Function


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {name: function for name, function in hybrid.expressions.FUNCTIONS.items() if name != "step"}
)
"""Those of the table that people write; ``step`` occurs in derivatives only."""

CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi})

# What users of other systems write.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "ln": "log",
        "arcsin": "asin",
        "arccos": "acos",
        "arctan": "atan",
        "arctan2": "atan2",
        "tg": "tan",
        "sgn": "sign",
        "signum": "sign",
        "fabs": "abs",
        "Abs": "abs",
        "Max": "max",
        "Min": "min",
        "maximum": "max",
        "minimum": "min",
    }
)


@attrs.frozen
class Number:
    """A literal number.

    Attributes
    ----------
    exact : Fraction
        As it was written.
    nearest : float
        The float nearest to that.
    """

    exact: Fraction
    nearest: float


@attrs.frozen
class Name:
    """A name and its column in the text (0 where a definition was put in)."""

    name: str
    column: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Apply:
    """An operator or function that takes the last ``arity`` results.

    ``operation`` is one of ``+ - * / **``, ``negate``, or the name of a function.
    """

    operation: str
    arity: int
    column: int = attrs.field(default=0, eq=False)


Node: TypeAlias = Number | Name | Apply


@attrs.frozen
class Expression:
    """A parsed expression.

    Postfix order instead of nested objects: a sum of a thousand terms needs no recursion a thousand deep to be
    evaluated, compared, hashed or sent to another process.

    Attributes
    ----------
    text : str
        As written.
    tree : tuple of Node
        Postfix order.
    """

    text: str = attrs.field(eq=False)
    tree: tuple[Node, ...] = attrs.field(repr=False)

    @property
    def names(self) -> frozenset[str]:
        """The names that occur, without constants and functions."""
        return frozenset(node.name for node in self.tree if isinstance(node, Name))

    def __str__(self) -> str:
        return self.text


Value: TypeAlias = float | complex | NDArray[Any]


@explains_arguments
def evaluate(expression: Expression, values: Mapping[str, Any]) -> Any:
    """The value of an expression.

    Parameters
    ----------
    expression : Expression
    values : mapping of str to array_like, (...)
        A value for every name but ``pi``; arrays broadcast against each other. Complex values give the analytic
        continuation of the real expression, an ``Interval`` gives bounds of it.

    Returns
    -------
    float, array, (...), or Interval
        Undefined values are NaN or infinite, as everywhere in NumPy, without a warning.

    Raises
    ------
    DeclarationError
        If a name has no value.

    Examples
    --------
    >>> from hybrid.declaration import parse_expression
    >>> length = parse_expression("sqrt(x**2 + 16)", known=["x"])
    >>> float(evaluate(length, {"x": 3.0}))
    5.0
    >>> evaluate(length, {"x": np.array([0.0, 3.0])})
    array([4., 5.])
    """
    first, *more = expression.tree
    if not more and not isinstance(first, Apply):  # a bare name or number, which watched functions often are
        return _leaf(first, values)
    stack: list[Any] = []
    with np.errstate(all="ignore"):
        for node in expression.tree:
            if isinstance(node, Apply):
                arguments = stack[-node.arity :]
                del stack[-node.arity :]
                stack.append(_applied(node.operation, arguments))
            else:
                stack.append(_leaf(node, values))
    return stack[0]


def apply(operation: str, arguments: Sequence[Any]) -> Any:
    """The value of one operator or function of floats or arrays.

    Parameters
    ----------
    operation : str
        ``+``, ``-``, ``*``, ``/``, ``**``, ``negate`` or the name of a function of the table.
    arguments : sequence of float or array, (...)
        As many as the operation takes; arrays broadcast against each other.

    Returns
    -------
    float or array, (...)
        NaN or infinite where undefined, without a warning.

    Examples
    --------
    >>> float(apply("**", [np.float64(2), np.float64(-1)]))
    0.5
    """
    with np.errstate(all="ignore"):
        return _applied(operation, arguments)


def _leaf(node: Name | Number, values: Mapping[str, Any]) -> Any:
    return _value(node.name, values) if isinstance(node, Name) else np.float64(node.nearest)


def _value(name: str, values: Mapping[str, Any]) -> Any:
    if name in values:
        value = values[name]
        if isinstance(value, float):
            return np.float64(value)
        if isinstance(value, Interval):
            return value
        value = np.asarray(value)
        return value if value.dtype.kind in "fc" and value.ndim else (value * 1.0)[()]
    if name in CONSTANTS:
        return np.float64(CONSTANTS[name])
    raise DeclarationError(Problem(f"no value was given for '{name}'"))


def _applied(operation: str, arguments: Sequence[Any]) -> Any:
    if operation == "+":
        return arguments[0] + arguments[1]
    if operation == "-":
        return arguments[0] - arguments[1]
    if operation == "*":
        return arguments[0] * arguments[1]
    if operation == "/":
        return arguments[0] / arguments[1]
    if operation == "**":
        return arguments[0] ** arguments[1]
    if operation == "negate":
        return -arguments[0]
    return FUNCTIONS[operation].arrays(*arguments)
