"""Evaluation of expressions in floating point, over arrays, without SymPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybrid.declaration.functions import CONSTANTS, FUNCTIONS
from hybrid.declaration.intervals import Interval
from hybrid.declaration.tree import Apply, Expression, Name, Number
from hybrid.errors import DeclarationError, Problem

Value: TypeAlias = float | complex | NDArray[Any]


def evaluate(expression: Expression, values: Mapping[str, Any]) -> Any:
    """Evaluate an expression.

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
    >>> from hybrid.declaration.expressions import parse_expression
    >>> length = parse_expression("sqrt(x**2 + 16)", known=["x"])
    >>> float(evaluate(length, {"x": 3.0}))
    5.0
    >>> evaluate(length, {"x": np.array([0.0, 3.0])})
    array([4., 5.])
    """
    stack: list[Any] = []
    with np.errstate(all="ignore"):
        for node in expression.tree:
            if isinstance(node, Number):
                stack.append(np.float64(node.nearest))
            elif isinstance(node, Name):
                stack.append(_value(node.name, values))
            elif isinstance(node, Apply):
                arguments = stack[-node.arity :]
                del stack[-node.arity :]
                stack.append(_applied(node.operation, arguments))
    return stack[0]


def apply(operation: str, arguments: Sequence[Any]) -> Any:
    """Apply one operator or function to floats or arrays.

    Examples
    --------
    >>> float(apply("**", [np.float64(2), np.float64(-1)]))
    0.5
    """
    with np.errstate(all="ignore"):
        return _applied(operation, arguments)


def _value(name: str, values: Mapping[str, Any]) -> Any:
    if name in values:
        if isinstance(values[name], Interval):
            return values[name]
        value = np.asarray(values[name])
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
    return FUNCTIONS[operation].evaluate(*arguments)
