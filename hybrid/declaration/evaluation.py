"""Evaluation of expressions in floating point, over arrays, without SymPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybrid.declaration.intervals import Interval
from hybrid.declaration.tree import CONSTANTS, FUNCTIONS, Apply, Expression, Name, Number
from hybrid.errors import DeclarationError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Value: TypeAlias = float | complex | NDArray[Any]


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
