"""Parsed expressions: their nodes in postfix order, every operand before its operator.

The functions and constants that expressions know, and other names that people write for them.

Their readings: values in floating point, over arrays, without SymPy; nodes of a graph; bounds.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

import hybrid.expressions
from hybrid.arguments import explains_arguments
from hybrid.errors import DeclarationError, Problem
from hybrid.expressions.functions import value_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.expressions import Builder, Function


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

    @cached_property
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
        continuation of the real expression.

    Returns
    -------
    float or array, (...)
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


def read(build: Builder, expression: Expression, names: Mapping[str, int]) -> int:
    """The node of a parsed expression.

    Parameters
    ----------
    build : Builder
    expression : Expression
    names : mapping of str to int
        A node for every name but ``pi``.

    Returns
    -------
    int

    Raises
    ------
    DeclarationError
        A name has no node, or the expression is infinite, undefined or not real whatever the state.

    Examples
    --------
    >>> from hybrid.declaration import parse_expression
    >>> from hybrid.expressions import Builder
    >>> build = Builder()
    >>> node = read(build, parse_expression("0.5*4", known=()), {})
    >>> build.value(node)
    2
    """
    stack: list[int] = []
    for node in expression.tree:
        if isinstance(node, Number):
            stack.append(build.number(Fraction(node.exact)))
        elif isinstance(node, Name):
            if node.name not in names and node.name not in CONSTANTS:
                raise DeclarationError(Problem(f"no symbol was given for '{node.name}'"))
            stack.append(names[node.name] if node.name in names else build.pi())
        else:
            arguments = stack[-node.arity :]
            del stack[-node.arity :]
            stack.append(_applied_node(build, node, arguments, expression))
    return stack[0]


def read_with_definitions(
    build: Builder, expression: Expression, known: dict[str, int], definitions: Mapping[str, Expression]
) -> int:
    """The node of a parsed expression in which names may stand for other expressions.

    Parameters
    ----------
    build : Builder
    expression : Expression
    known : dict of str to int
        Nodes of names; those of the definitions that are needed are added, so that each is read once.
    definitions : mapping of str to Expression
        Free of circles.

    Returns
    -------
    int

    Raises
    ------
    DeclarationError
        As of :func:`read`.

    Examples
    --------
    >>> from hybrid.declaration import parse_expression
    >>> from hybrid.expressions import Builder
    >>> texts = {"a": "2*b", "b": "3", "c": "a + 1"}
    >>> definitions = {name: parse_expression(text, known=texts) for name, text in texts.items()}
    >>> build, known = Builder(), {}
    >>> build.value(read_with_definitions(build, definitions["a"], known, definitions)), sorted(known)
    (6, ['b'])
    """

    def missing(item: Expression) -> list[str]:
        return [name for name in sorted(item.names) if name in definitions and name not in known]

    pending = missing(expression)
    while pending:
        definition = definitions[pending[-1]]
        others = missing(definition)
        if others:
            pending += others
        else:
            known[pending.pop()] = read(build, definition, known)
    return read(build, expression, known)


def _applied_node(build: Builder, node: Apply, arguments: list[int], expression: Expression) -> int:
    two = {"+": build.add, "-": build.subtract, "*": build.multiply, "/": build.divide}
    if node.operation in two:
        result = two[node.operation](*arguments)
    elif node.operation == "negate":
        result = build.negate(arguments[0])
    elif node.operation == "**":
        try:
            result = build.power(*arguments)
        except OverflowError:
            raise _unusable(expression, "holds a power with too many digits") from None
    else:
        result = build.call(node.operation, *arguments)
    if not build.has_value(result):
        raise _unusable(expression, "is infinite, undefined or not real")
    return result


def _unusable(expression: Expression, reason: str) -> DeclarationError:
    text = expression.text if len(expression.text) <= 80 else f"{expression.text[:77]}..."
    return DeclarationError(Problem(f"'{text}' {reason}"))


Bounds: TypeAlias = tuple[float, float]

_ANYTHING: Bounds = (-math.inf, math.inf)


def bounds(expression: Expression) -> Bounds:
    """Between which values an expression stays, whatever those of its names.

    Natural interval extensions, each operation by itself (Moore 1966, Interval Analysis): sharp where every name occurs
    once, else possibly too wide.

    Parameters
    ----------
    expression : Expression

    Returns
    -------
    least, most : float
        Infinite where nothing is known, or the expression is undefined somewhere.

    Examples
    --------
    >>> from hybrid.declaration import parse_expression
    >>> bounds(parse_expression("abs(sin(x*y))", known=["x", "y"]))
    (0.0, 1.0)
    """
    stack: list[tuple[int, Bounds]] = []  # with the place at which the operand begins
    for place, node in enumerate(expression.tree):
        if isinstance(node, Apply):
            operands = stack[-node.arity :]
            del stack[-node.arity :]
            first, last = operands[0][0], operands[-1][0]
            is_square = node.operation == "*" and expression.tree[first:last] == expression.tree[last:place]
            found = _power(operands[0][1], 2.0) if is_square else _bounded(node.operation, [o for _, o in operands])
            stack.append((first, _ANYTHING if math.isnan(sum(found)) else found))
        elif isinstance(node, Number) or node.name in CONSTANTS:
            value = node.nearest if isinstance(node, Number) else CONSTANTS[node.name]
            stack.append((place, (value, value)))
        else:
            stack.append((place, _ANYTHING))
    return stack[0][1]


def _bounded(operation: str, arguments: Sequence[Bounds]) -> Bounds:
    (a, b), (c, d) = arguments[0], arguments[-1]
    match operation:
        case "negate":
            return -b, -a
        case "+":
            return _outwards(a + c, b + d)
        case "-":
            return _outwards(a - d, b - c)
        case "*":
            return _outwards(*_hull(a * c, a * d, b * c, b * d))
        case "/":
            return _ANYTHING if c <= 0.0 <= d else _outwards(*_hull(a / c, a / d, b / c, b / d))
        case "**":
            return _power((a, b), c) if c == d else _ANYTHING
        case "abs":
            return (0.0 if a <= 0.0 <= b else min(abs(a), abs(b))), max(abs(a), abs(b))
        case "min" | "max":
            choose = min if operation == "min" else max
            return choose(low for low, _ in arguments), choose(high for _, high in arguments)
    if not FUNCTIONS[operation].is_increasing:
        return FUNCTIONS[operation].values
    return _outwards(value_of(operation, None, [a]), value_of(operation, None, [b]))


def _power(base: Bounds, exponent: float) -> Bounds:
    """Of a fixed exponent: monotone in the base, or in its modulus if the exponent is even."""
    low, high = _bounded("abs", [base]) if exponent % 2.0 == 0.0 else base
    if (low < 0.0 and (exponent < 0.0 or exponent % 1.0 != 0.0)) or (low == 0.0 and exponent < 0.0):
        return _ANYTHING
    return _outwards(*_hull(value_of("**", None, [low, exponent]), value_of("**", None, [high, exponent])))


def _hull(*ends: float) -> Bounds:
    return (math.nan, math.nan) if any(map(math.isnan, ends)) else (min(ends), max(ends))


def _outwards(low: float, high: float) -> Bounds:
    """A rounding unit further, as the ends are rounded."""
    unit = math.ulp(1.0)
    return low - unit * abs(low), high + unit * abs(high)
