"""Numbers that are known exactly: what a float was written as, and expressions of SymPy in fractions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import isqrt
from typing import Any

import attrs

from hybrid.declaration.parser import parse_expression
from hybrid.declaration.symbolic import to_sympy

__all__ = ["Clock", "UnknownNumberError", "evaluate", "known_number", "number_of", "solve"]

_DIGITS = 12
"""A computed float has so short a decimal by accident once in ten thousand; what people write is shorter."""
_LARGEST_POWER = 64
"""Exponents beyond it would fill the memory with digits before they decide anything."""

Matrix = list[list[Fraction]]


class UnknownNumberError(Exception):
    """A number that the decision needs is not known exactly, or not rational; the text says which."""


@attrs.define
class Clock:
    """Processor time that a decision may still take: what it decides must not hang on what else the machine does."""

    seconds: float
    _start: float = attrs.field(factory=time.process_time)

    def check(self) -> None:
        """Raise UnknownNumberError if the time is over."""
        if time.process_time() - self._start > self.seconds:
            raise UnknownNumberError(f"exact arithmetic takes more than {self.seconds:g} s")


def known_number(value: float) -> Fraction | None:
    """The number that a float was written as, or None if it has more digits than people write.

    Examples
    --------
    >>> known_number(0.3), known_number(1 / 3), known_number(-2.0)
    (Fraction(3, 10), None, Fraction(-2, 1))
    """
    exact = Fraction(repr(float(value)))
    digits = repr(float(value)).partition("e")[0].replace(".", "").lstrip("-0").rstrip("0")
    return exact if len(digits) <= _DIGITS else None


def number_of(name: str, value: str | float, values: Mapping[str, Fraction]) -> Fraction:
    """The number that a text or a float gives."""
    import sympy

    if isinstance(value, str):
        expression = parse_expression(value, known=values.keys(), field=name)
        symbols = {other: sympy.Symbol(other, real=True) for other in expression.names}
        return evaluate(to_sympy(expression, symbols), {symbols[other]: values[other] for other in symbols}, {}, name)
    known = known_number(float(value))
    if known is None:
        raise UnknownNumberError(f"{name} = {float(value)!r} is the outcome of a computation")
    return known


def evaluate(expression: Any, values: Mapping[Any, Fraction], memory: dict[Any, Fraction], name: str) -> Fraction:
    """A SymPy expression in rational numbers."""
    if expression.is_Rational:
        return Fraction(int(expression.p), int(expression.q))
    if expression.is_Symbol:
        return values[expression]
    if expression not in memory:
        arguments = [evaluate(item, values, memory, name) for item in expression.args]
        found = _applied(type(expression).__name__, arguments)
        if found is None:
            raise UnknownNumberError(f"{name} is not rational here: {type(expression).__name__} of {arguments}")
        memory[expression] = found
    return memory[expression]


def _applied(operation: str, arguments: Sequence[Fraction]) -> Fraction | None:
    """The value of an operation, None if it is irrational, unknown or undefined."""
    if not arguments:  # pi
        return None
    x = arguments[0]
    match operation:
        case "Add":
            return sum(arguments, Fraction(0))
        case "Mul":
            return reduce(lambda a, b: a * b, arguments)
        case "Pow":
            return _power(x, arguments[1])
        case "Abs":
            return abs(x)
        case "sign":
            return Fraction((x > 0) - (x < 0))
        case "Max":
            return max(arguments)
        case "Min":
            return min(arguments)
        case "Heaviside":
            return None if x == 0 else Fraction(x > 0)
        case "sin" | "tan" | "asin" | "atan" | "sinh" | "tanh":
            return x if x == 0 else None
        case "cos" | "cosh" | "exp":
            return Fraction(1) if x == 0 else None
        case "log" | "acos":
            return Fraction(0) if x == 1 else None
        case "atan2":
            return x if x == 0 and arguments[1] > 0 else None
        case _:
            return None


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if abs(exponent) > _LARGEST_POWER or (base == 0 and exponent < 0):
        return None
    if exponent.denominator == 2 and base >= 0:
        root = Fraction(isqrt(base.numerator), isqrt(base.denominator))
        if root * root != base:
            return None
        base, exponent = root, exponent * 2
    return Fraction(base**exponent.numerator) if exponent.denominator == 1 else None


def solve(table: Matrix, unknowns: int, clock: Clock) -> Matrix | None:
    """Solutions of a linear system for several right sides by elimination; what is undetermined is set to zero."""
    pivots: list[int] = []
    for column in range(unknowns):
        clock.check()
        rank = len(pivots)
        pivot = next((i for i in range(rank, len(table)) if table[i][column]), None)
        if pivot is None:
            continue
        table[rank], table[pivot] = table[pivot], table[rank]
        lead = table[rank][column]
        table[rank] = [value / lead for value in table[rank]]
        for i, line in enumerate(table):
            if i != rank and line[column]:
                table[i] = [a - line[column] * b for a, b in zip(line, table[rank], strict=True)]
        pivots.append(column)
    if any(any(line[unknowns:]) for line in table[len(pivots) :]):
        return None
    found = [[Fraction(0)] * (len(table[0]) - unknowns) for _ in range(unknowns)]
    for line, column in zip(table, pivots, strict=False):
        found[column] = line[unknowns:]
    return found
