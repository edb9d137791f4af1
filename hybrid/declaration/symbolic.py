"""Expressions as SymPy expressions, built node by node: no text ever reaches SymPy."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hybrid.declaration.functions import CONSTANTS, FUNCTIONS
from hybrid.declaration.tree import Apply, Expression, Name, Number
from hybrid.errors import DeclarationError, Problem

if TYPE_CHECKING:
    import sympy

# Bits of an exact number that a power may have; 9**100 has 317.
MAX_BITS = 20_000


def to_sympy(expression: Expression, symbols: Mapping[str, sympy.Expr]) -> sympy.Expr:
    """Build the SymPy expression.

    Parameters
    ----------
    expression : Expression
    symbols : mapping of str to Expr
        What stands for every name but ``pi``. Make them real (``Symbol(name, real=True)``): ``abs`` and ``sign`` of a
        symbol that may be complex have no derivative.

    Returns
    -------
    Expr
        Literals are exact: ``0.5`` becomes 1/2.

    Raises
    ------
    DeclarationError
        If a name has no symbol, or the expression simplifies to something infinite, undefined or imaginary.

    Examples
    --------
    >>> import sympy
    >>> from hybrid.declaration.expressions import parse_expression
    >>> x = sympy.Symbol("x", real=True)
    >>> to_sympy(parse_expression("0.5*x**2 + sin(pi/4)", known=["x"]), {"x": x})
    x**2/2 + sqrt(2)/2
    """
    import sympy

    # Every entry is a list of summands: adding term by term takes time quadratic in the length of a sum.
    stack: list[list[sympy.Expr]] = []
    for node in expression.tree:
        if isinstance(node, Number):
            stack.append([sympy.Rational(node.exact.numerator, node.exact.denominator)])
        elif isinstance(node, Name):
            stack.append([_symbol(node, symbols)])
        elif isinstance(node, Apply):
            arguments = stack[-node.arity :]
            del stack[-node.arity :]
            stack.append(_summands(node, arguments, expression))
    result = sympy.Add(*stack[0])
    if result.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I):
        raise _unusable(expression, "is infinite, undefined or not real")
    return result


def _unusable(expression: Expression, reason: str) -> DeclarationError:
    text = expression.text if len(expression.text) <= 80 else f"{expression.text[:77]}..."
    return DeclarationError(Problem(f"'{text}' {reason}"))


def _symbol(node: Name, symbols: Mapping[str, sympy.Expr]) -> sympy.Expr:
    import sympy

    if node.name in symbols:
        return symbols[node.name]
    if node.name in CONSTANTS:
        return sympy.pi
    raise DeclarationError(Problem(f"no symbol was given for '{node.name}'"))


def _summands(node: Apply, arguments: list[list[Any]], expression: Expression) -> list[Any]:
    import sympy

    if node.operation == "+":
        arguments[0].extend(arguments[1])
        return arguments[0]
    if node.operation == "-":
        arguments[0].extend(-term for term in arguments[1])
        return arguments[0]
    if node.operation == "negate":
        return [-term for term in arguments[0]]
    closed = [sympy.Add(*terms) for terms in arguments]
    if node.operation == "**":
        _check_power(closed[0], closed[1], expression)
    elif node.operation == "exp":
        for term in sympy.Add.make_args(closed[0]):
            coefficient, rest = term.as_coeff_Mul()
            if isinstance(rest, sympy.log):  # exp(c*log(a)) becomes a**c
                _check_power(rest.args[0], coefficient, expression)
    elif node.operation in ("min", "max") and any(term.is_extended_real is False for term in closed):
        raise _unusable(expression, "compares values that are not real")
    elif node.operation in ("abs", "sign") and closed[0].is_extended_real is None:
        # SymPy cannot differentiate the magnitude of what it does not know to be real, as a root or a logarithm
        if node.operation == "abs":
            return [sympy.Max(closed[0], -closed[0])]
        return [2 * sympy.Heaviside(closed[0]), sympy.Integer(-1)]
    return [_operations()[node.operation](*closed)]


def _check_power(base: sympy.Expr, exponent: sympy.Expr, expression: Expression) -> None:
    """Refuse powers whose exact value would not fit into memory."""
    coefficient, _ = base.as_coeff_Mul()
    if coefficient.is_Rational and exponent.is_Rational:
        bits = max(int(coefficient.p).bit_length(), int(coefficient.q).bit_length())
        if bits > 1 and bits * abs(exponent) > MAX_BITS:
            raise _unusable(expression, "holds a power with too many digits")


def _operations() -> dict[str, Callable[..., Any]]:
    import sympy

    operations: dict[str, Callable[..., Any]] = {
        "*": operator.mul,
        "/": operator.truediv,
        "**": operator.pow,
        "abs": sympy.Abs,
        "min": sympy.Min,
        "max": sympy.Max,
    }
    names = [name for name in FUNCTIONS if name not in operations]
    return operations | {name: getattr(sympy, name) for name in names}
