"""Expressions as text in the language of mechanism files."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import sympy
from sympy.printing.str import StrPrinter

_NAMES = {"Abs": "abs", "Max": "max", "Min": "min"}


class _Printer(StrPrinter):  # type: ignore[misc]
    def _print_Function(self, expr: sympy.Expr) -> str:
        name = type(expr).__name__
        return f"{_NAMES.get(name, name)}({', '.join(self._print(argument) for argument in expr.args)})"

    def _print_Exp1(self, expr: sympy.Expr) -> str:
        return "exp(1)"

    def _print_Heaviside(self, expr: sympy.Heaviside) -> str:
        return f"((1 + sign({self._print(expr.args[0])}))/2)"

    def _print_Mul(self, expr: sympy.Expr) -> Any:
        return _term(expr)

    _print_Abs = _print_Max = _print_Min = _print_LatticeOp = _print_Function


@lru_cache(maxsize=1 << 14)
def _term(expression: sympy.Expr) -> Any:
    """A product; the modes of a mechanism share the long ones of its equations of motion."""
    return StrPrinter._print_Mul(_PRINTER, expression)


_PRINTER = _Printer({"abbrev": False})


def text(expression: sympy.Expr) -> str:
    """An expression of SymPy as a mechanism file could hold it.

    Parameters
    ----------
    expression : Expr

    Returns
    -------
    str

    Examples
    --------
    >>> x = sympy.Symbol("x", real=True)
    >>> text(sympy.Abs(x) ** 2 / sympy.sqrt(1 + x**2))
    'x**2/sqrt(x**2 + 1)'
    """
    return str(_PRINTER.doprint(expression))


def fresh_symbol(name: str, taken: Collection[str]) -> sympy.Symbol:
    """A real symbol of a name that the mechanism does not use; underscores are appended until it is free.

    Parameters
    ----------
    name : str
    taken : collection of str
        Names in use.

    Returns
    -------
    Symbol
    """
    while name in taken:
        name += "_"
    return sympy.Symbol(name, real=True)
