"""What an expression depends on, with squares of sines and cosines of one angle put together."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybrid.expressions.graph import Graph

__all__ = ["dependencies"]

Atom = tuple[str, tuple[int, ...]]  # a function with its arguments, or a name with its node
Monomial = tuple[tuple[Atom, int], ...]  # sorted, with exponents
Polynomial = dict[Monomial, Fraction]

_MOST_TERMS = 4096
_MOST_PRODUCTS = 2**14  # of a term with a term: more take seconds, as many terms as there may be take hours


class _Large(Exception):
    """A polynomial has too many terms, or a product takes too many."""


def dependencies(graph: Graph, root: int) -> frozenset[str]:
    """Names on which the value of a node may depend, wherever it is defined.

    It is written as a quotient of polynomials in names, sines, cosines and other functions, in which squares of cosines
    are replaced by those of sines. A name that is left in neither has no influence; one that is left may have none.

    Parameters
    ----------
    graph : Graph
    root : int

    Returns
    -------
    frozenset of str

    Examples
    --------
    >>> from hybrid.expressions import Builder
    >>> build = Builder()
    >>> x, y = build.name("x"), build.name("y")
    >>> squares = [build.power(build.call(name, x), build.number(2)) for name in ("sin", "cos")]
    >>> root = build.multiply(y, build.add(*squares))
    >>> sorted(dependencies(build.graph(), root))
    ['y']
    """
    forms: dict[int, tuple[Polynomial, Polynomial]] = {}
    try:
        for node in graph.needed([root]):
            forms[node] = _form(graph, node, [forms[item] for item in graph.arguments[node]])
    except _Large:
        return graph.names([root])
    return graph.names(
        {node for part in forms[root] for monomial in part for (_, nodes), _ in monomial for node in nodes}
    )


def _form(graph: Graph, node: int, given: list[tuple[Polynomial, Polynomial]]) -> tuple[Polynomial, Polynomial]:
    """Numerator and denominator of a node, from those of its arguments."""
    operation, value, arguments = graph.operations[node], graph.values[node], graph.arguments[node]
    one: Polynomial = {(): Fraction(1)}
    if operation == "number" and isinstance(value, int | Fraction):
        return ({(): Fraction(value)} if value else {}), one
    exponent = graph.values[arguments[1]] if operation == "**" else 1
    if operation not in ("+", "*", "/", "**") or not isinstance(exponent, int):
        return {(((operation, arguments or (node,)), 1),): Fraction(1)}, one
    if operation == "+":
        numerator, denominator = given[0]
        for above, below in given[1:]:
            if below == denominator:
                numerator = _sum(numerator, above)
            else:
                numerator = _sum(_product(numerator, below), _product(above, denominator))
                denominator = _product(denominator, below)
    else:
        if operation == "/":
            given = [given[0], given[1][::-1]]
        elif operation == "**":
            given = [given[0] if exponent > 0 else given[0][::-1]] * abs(exponent)
        numerator, denominator = one, one
        for above, below in given:
            numerator, denominator = _product(numerator, above), _product(denominator, below)
    return numerator, denominator if numerator else one


def _sum(*parts: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for part in parts:
        for monomial, factor in part.items():
            total[monomial] = total.get(monomial, Fraction(0)) + factor
        if len(total) > _MOST_TERMS:
            raise _Large
    return {monomial: factor for monomial, factor in total.items() if factor}


def _product(one: Polynomial, two: Polynomial) -> Polynomial:
    """With ``cos(x)**2`` replaced by ``1 - sin(x)**2``."""
    if len(one) * len(two) > _MOST_PRODUCTS:
        raise _Large
    found = []
    for first, factor in one.items():
        for second, other in two.items():
            powers = dict(first)
            for atom, power in second:
                powers[atom] = powers.get(atom, 0) + power
            found.append(_reduced(powers, factor * other))
    return _sum(*found)


def _reduced(powers: dict[Atom, int], factor: Fraction) -> Polynomial:
    for (name, nodes), power in powers.items():
        if name == "cos" and power > 1:
            fewer = {**powers, (name, nodes): power - 2}
            squared = {**fewer, ("sin", nodes): fewer.get(("sin", nodes), 0) + 2}
            return _sum(_reduced(fewer, factor), _reduced(squared, -factor))
    return {tuple(sorted((atom, power) for atom, power in powers.items() if power)): factor}
