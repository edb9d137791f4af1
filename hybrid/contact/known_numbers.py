"""Numbers that are known exactly: what a float was written as, and expressions in fractions.

A number of the state or of the parameters is *known* if it is given as an expression of numbers, such as ``"4/3"``, or
as a float with a short decimal, which is then the number that was written: 0.3 is 3/10. A float of many digits is the
outcome of a computation and stands for a number that it only approximates. Nothing is decided from those.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

from hybrid.declaration.parser import parse_expression
from hybrid.declaration.tree import read
from hybrid.expressions import Builder, Graph, NotRationalError, exact_values
from lcp.exact.certificate import integer_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Clock", "Matrix", "UnknownNumberError", "dot", "evaluate", "known_number", "number_of", "solve"]


_DIGITS = 12
"""A computed float has so short a decimal by accident once in ten thousand; what people write is shorter."""

Matrix = list[list[Fraction]]


class UnknownNumberError(Exception):
    """A number that the decision needs is not known exactly, or not rational; the text says which."""


@attrs.define
class Clock:
    """Processor time that a decision may still take in its thread: what it decides must not hang on other work."""

    seconds: float
    _start: float = attrs.field(factory=time.thread_time)

    def check(self) -> None:
        """Raise UnknownNumberError if the time is over."""
        if time.thread_time() - self._start > self.seconds:
            raise UnknownNumberError(f"exact arithmetic takes more than {self.seconds:g} s")


def known_number(value: float) -> Fraction | None:
    """The number that a float was written as, or None if it has more digits than people write.

    Parameters
    ----------
    value : float

    Returns
    -------
    Fraction or None
        Of the shortest decimal that rounds to the float, if that has at most 12 significant digits.

    Examples
    --------
    >>> known_number(0.3), known_number(1 / 3), known_number(-2.0)
    (Fraction(3, 10), None, Fraction(-2, 1))
    """
    exact = Fraction(repr(float(value)))
    digits = repr(float(value)).partition("e")[0].replace(".", "").lstrip("-0").rstrip("0")
    return exact if len(digits) <= _DIGITS else None


def number_of(name: str, value: str | float, values: Mapping[str, Fraction]) -> Fraction:
    """The number that a text or a float gives.

    Parameters
    ----------
    name : str
        What it is the value of, for messages.
    value : str or float
        An expression of the names in ``values``, or a number.
    values : mapping of str to Fraction

    Returns
    -------
    Fraction

    Raises
    ------
    UnknownNumberError
        The expression is not rational at these values, or the float is the outcome of a computation.
    """
    if isinstance(value, str):
        expression = parse_expression(value, known=values.keys(), field=name)
        build = Builder()
        nodes = {other: build.name(other) for other in expression.names}
        root = read(build, expression, nodes)
        return evaluate(build.graph(), root, {node: values[other] for other, node in nodes.items()}, name)
    known = known_number(float(value))
    if known is None:
        raise UnknownNumberError(f"{name} = {float(value)!r} is the outcome of a computation")
    return known


def evaluate(graph: Graph, root: int, known: dict[int, Fraction], name: str) -> Fraction:
    """Value of a node of a graph in rational numbers.

    Parameters
    ----------
    graph : Graph
    root : int
        The node.
    known : dict of int to Fraction
        Values of nodes, at least of the names; those of all nodes that were met are added.
    name : str
        What the node is, for messages.

    Returns
    -------
    Fraction

    Raises
    ------
    UnknownNumberError
        The value is not rational.
    """
    try:
        return exact_values(graph, [root], known)[0]
    except NotRationalError as error:
        raise UnknownNumberError(f"{name} is not rational here: {error}") from None


def solve(table: Matrix, unknowns: int, clock: Clock | None = None, *, is_unique: bool = False) -> Matrix | None:
    """Solutions of a linear system for several right sides, by elimination without fractions (Bareiss 1968).

    Parameters
    ----------
    table : list of list of Fraction, (m, unknowns + k)
        The matrix with the right sides next to it.
    unknowns : int
    clock : Clock, optional
        Raises UnknownNumberError once its time is over.
    is_unique : bool
        Refuse equations that leave something undetermined; it is set to zero otherwise.

    Returns
    -------
    list of list of Fraction, (unknowns, k), or None
        None if the equations contradict each other for one of the right sides, or have further solutions.
    """
    lines, pivots, before = [integer_row(line) for line in table], list[int](), 1
    for column in range(unknowns):
        if clock is not None:
            clock.check()
        rank = len(pivots)
        place = next((i for i in range(rank, len(lines)) if lines[i][column]), None)
        if place is None:
            if is_unique:
                return None
            continue
        lines[rank], lines[place] = lines[place], lines[rank]
        pivot = lines[rank]
        for i, line in enumerate(lines):
            if i != rank:
                lines[i] = [(pivot[column] * a - line[column] * b) // before for a, b in zip(line, pivot, strict=True)]
        before = pivot[column]
        pivots.append(column)
    if any(any(line[unknowns:]) for line in lines[len(pivots) :]):
        return None
    found = [[Fraction(0)] * (len(lines[0]) - unknowns) for _ in range(unknowns)]
    for line, column in zip(lines, pivots, strict=False):
        found[column] = [Fraction(value, line[column]) for value in line[unknowns:]]
    return found


def dot(first: Iterable[Fraction | int], second: Iterable[Fraction | int]) -> Fraction:
    """Scalar product.

    Parameters
    ----------
    first, second : iterable of Fraction or int
        Of one length.

    Returns
    -------
    Fraction
    """
    return Fraction(sum(a * b for a, b in zip(first, second, strict=True) if a and b))
