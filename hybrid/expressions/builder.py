"""Arithmetic on the nodes of a graph, which adds the nodes that it needs.

A node with operators, for laws that are written once for numbers and for nodes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

from hybrid.expressions.functions import FUNCTIONS, exact_value
from hybrid.expressions.graph import GrowingGraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hybrid.expressions.graph import Graph, Number

__all__ = ["Builder", "Term"]

_COLLECTED = 400  # terms of a sum that are gathered; a longer one is left as it was written
_POWER_BITS = 20_000  # of an exact number that a power may have; 9**100 has 317


class Builder(GrowingGraph):
    """Adds nodes to a :class:`GrowingGraph` by arithmetic.

    It is no algebra system. Numbers are combined exactly and stand in front of a product, ``x + 0``, ``x*1`` and
    ``x**1`` are ``x``, the factors of a product are sorted and equal ones counted, and two equal terms added are one.
    Even powers leave roots by their magnitude, as in ``sqrt(x**2)``; ``tan`` of an angle with an exact sine and cosine
    is their quotient. Nothing else is rewritten, and nothing is expanded.

    Parameters
    ----------
    graph : Graph, optional
        The one to start from.

    Examples
    --------
    >>> build = Builder()
    >>> x, two = build.name("x"), build.number(2)
    >>> build.multiply(x, two) == build.add(x, x)
    True
    """

    def __init__(self, graph: Graph | None = None) -> None:
        super().__init__(graph)
        self._terms: dict[int, tuple[Number, int]] = {}
        self._products: dict[tuple[int, int], int] = {}
        self._defined: dict[int, bool] = {}
        self.known_partials: dict[int, tuple[int, ...]] = {}

    def add(self, first: int, second: int) -> int:
        """Sum of two nodes.

        Parameters
        ----------
        first, second : int

        Returns
        -------
        int
        """
        a, left = self._term(first)
        b, right = self._term(second)
        if left == right:
            return self._scaled(a + b, left)
        if self._values[first] == 0:
            return second
        if self._values[second] == 0:
            return first
        return self._node("+", (first, second) if first < second else (second, first))

    def subtract(self, first: int, second: int) -> int:
        """Difference of two nodes.

        Parameters
        ----------
        first, second : int
            The second is taken from the first.

        Returns
        -------
        int
        """
        return self.add(first, self.negate(second))

    def negate(self, node: int) -> int:
        """A node times -1.

        Parameters
        ----------
        node : int

        Returns
        -------
        int
        """
        return self.multiply(self.number(-1), node)

    def total(self, nodes: Iterable[int]) -> int:
        """Sum of nodes, from the left.

        Parameters
        ----------
        nodes : iterable of int

        Returns
        -------
        int
            The node of zero if there are none.
        """
        result = self.number(0)
        for node in nodes:
            result = self.add(result, node)
        return result

    def multiply(self, first: int, second: int) -> int:
        """Product of two nodes.

        Parameters
        ----------
        first, second : int

        Returns
        -------
        int
        """
        product = self._products.get((first, second))
        if product is None:
            product = self._products[first, second] = self._multiplied(first, second)
        return product

    def _multiplied(self, first: int, second: int) -> int:
        a, left = self._term(first)
        b, right = self._term(second)
        if a == b == 1 and (self._values[left] == 1 or self._values[right] == 1):
            return second if self._values[left] == 1 else first
        if a * b == 0 and self.is_defined(first) and self.is_defined(second):
            return self.number(0)
        counted: dict[int, int] = {}
        for factor in (*self._factors(left), *self._factors(right)):
            base, exponent = self._power(factor)
            counted[base] = counted.get(base, 0) + exponent
        factors = [self._node("**", (base, self.number(k))) if k > 1 else base for base, k in counted.items()]
        return self._product(a * b, tuple(sorted(factors)))

    def divide(self, first: int, second: int) -> int:
        """Quotient of two nodes.

        Parameters
        ----------
        first, second : int
            The first is divided by the second.

        Returns
        -------
        int
            A quotient without a value, as 1/0, stays one.
        """
        value = self.value(second)
        if value:
            return self._scaled(Fraction(1) / value, first)
        a, left = self._term(first)
        b, right = self._term(second)
        if not b or (not a and not self.is_defined(second)):
            return self._node("/", (first, second))
        return self._scaled(Fraction(a) / b, self._node("/", (left, right)))

    def power(self, base: int, exponent: int) -> int:
        """Power of two nodes.

        Parameters
        ----------
        base, exponent : int

        Returns
        -------
        int

        Raises
        ------
        OverflowError
            The exact power of a number has too many digits.
        """
        k, x = self.value(exponent), self.value(base)
        if k == 1:
            return base
        if k == 0:
            return self.number(1)
        if k == Fraction(1, 2):
            return self.call("sqrt", base)
        if k is not None and x is not None and k.denominator == 1 and (x or k > 0):
            _check_digits(x, k)
            return self.number(Fraction(x) ** int(k))
        if k is not None and k.denominator == 1 and k > 1:
            a, rest = self._term(base)
            _check_digits(a, k)
            counted = [(bare, n * int(k)) for bare, n in map(self._power, self._factors(rest))]
            factors = [self._node("**", (bare, self.number(n))) for bare, n in counted]
            return self._product(Fraction(a) ** int(k), tuple(sorted(factors)))
        rooted = None if k is None or k.denominator == 1 else self._rooted(base, k)
        return self._node("**", (base, exponent)) if rooted is None else rooted

    def call(self, function: str, *arguments: int) -> int:
        """A function of nodes.

        Parameters
        ----------
        function : str
            One of :data:`hybrid.expressions.FUNCTIONS`, or ``min`` or ``max``.
        *arguments : int
            ``min`` and ``max`` take any number of them, two at a time.

        Returns
        -------
        int

        Examples
        --------
        >>> build = Builder()
        >>> sine = build.call("sin", build.multiply(build.pi(), build.number(Fraction(1, 6))))
        >>> build.value(sine)
        Fraction(1, 2)
        """
        if function in ("min", "max"):
            result = arguments[0]
            for other in arguments[1:]:
                result = result if other == result else self._node(function, tuple(sorted((result, other))))
            return result
        if FUNCTIONS[function].is_odd:  # the sign of a float is exact
            coefficient, rest = self._term(arguments[0])
            if coefficient < 0:
                return self.negate(self.call(function, self._scaled(-coefficient, rest)))
        if function == "sqrt" and (rooted := self._rooted(arguments[0], Fraction(1, 2))) is not None:
            return rooted
        if function == "tan":  # infinite at odd multiples of pi/2, though no float is one
            sine, cosine = self.call("sin", *arguments), self.call("cos", *arguments)
            if self.value(sine) is not None and self.value(cosine) is not None:
                return self.divide(sine, cosine)
        if not all(map(self.is_constant, arguments)):
            return self._node(function, arguments)
        value = exact_value(function, [self.value(item) for item in arguments], self._turn(arguments[0]))
        return self._node(function, arguments) if value is None else self.number(value)

    def _rooted(self, base: int, k: Number) -> int | None:
        """A fractional power with even powers taken out as those of ``abs``, which has a kink; None if it has none."""
        a, rest = self._term(base)
        powers = {bare: n for bare, n in map(self._power, self._factors(rest)) if n % 2 == 0}
        if not powers:
            return None
        others = tuple(factor for factor in self._factors(rest) if self._power(factor)[0] not in powers)
        result = self.power(self._product(a, others), self.number(k)) if others or a != 1 else self.number(1)
        for bare, n in powers.items():
            is_smooth = (n * k).denominator == 1 and n * k % 2 == 0
            result = self.multiply(
                result, self.power(bare if is_smooth else self.call("abs", bare), self.number(n * k))
            )
        return result

    def collected(self, node: int) -> int:
        """A sum with equal terms gathered, so that what cancels identically is exactly zero.

        Parameters
        ----------
        node : int

        Returns
        -------
        int
            The node itself if it has more than 400 terms.
        """
        terms: dict[int, Number] = {}
        pending: list[tuple[Number, int]] = [(1, node)]
        visited = 0
        while pending:
            factor, item = pending.pop()
            coefficient, rest = self._term(item)
            visited += 1
            if visited > _COLLECTED:
                return node
            if self._operations[rest] == "+":
                pending += [(factor * coefficient, part) for part in self._arguments[rest]]
            else:
                terms[rest] = terms.get(rest, 0) + factor * coefficient
        return self.total(self._scaled(terms[rest], rest) for rest in sorted(terms))

    def replaced(self, root: int, others: Mapping[int, int]) -> int:
        """A node with some of those that it is computed from replaced by others.

        Parameters
        ----------
        root : int
        others : mapping of int to int
            The replacements, by what they replace.

        Returns
        -------
        int
        """
        known = dict(others)
        for node in self.needed([root]):
            if node not in known:
                arguments = self._arguments[node]
                moved = tuple(known[argument] for argument in arguments)
                known[node] = node if moved == arguments else self._made(node, moved)
        return known[root]

    def _made(self, node: int, arguments: tuple[int, ...]) -> int:
        operation = self._operations[node]
        if operation == "+":
            return self.total(arguments)
        if operation == "*":
            result = self.number(1)
            for argument in arguments:
                result = self.multiply(result, argument)
            return result
        made = {"/": self.divide, "**": self.power}.get(operation)
        return self.call(operation, *arguments) if made is None else made(*arguments)

    def _turn(self, node: int) -> Number | None:
        """The rational number that a node is times pi."""
        if self._values[node] == 0:
            return 0
        coefficient, rest = self._term(node)
        return coefficient if self._operations[rest] == "pi" else None

    def is_defined(self, node: int) -> bool:
        """Whether an expression has a value for all real values of its names.

        Parameters
        ----------
        node : int

        Returns
        -------
        bool
        """
        known = self._defined
        if node not in known:
            for item in self.needed([node]):
                if item not in known:
                    known[item] = self._is_entire(item) and all(known[part] for part in self._arguments[item])
        return known[node]

    def _is_entire(self, node: int) -> bool:
        """Whether an operation has a value for all values of its arguments."""
        operation = self._operations[node]
        if operation == "**":
            exponent = self.value(self._arguments[node][1])
            return exponent is not None and exponent.denominator == 1 and exponent >= 0
        return operation != "/" and (operation not in FUNCTIONS or FUNCTIONS[operation].is_entire)

    def _term(self, node: int) -> tuple[Number, int]:
        """A node as a number times a node without one."""
        term = self._terms.get(node)
        if term is None:
            term = self._terms[node] = self._split(node)
        return term

    def _split(self, node: int) -> tuple[Number, int]:
        operation = self._operations[node]
        value = self.value(self._arguments[node][0] if operation == "*" else node)
        if value is None:
            return 1, node
        return value, self._product(1, self._arguments[node][1:]) if operation == "*" else self.number(1)

    def _scaled(self, coefficient: Number, node: int) -> int:
        if coefficient == 1:
            return node
        return self.multiply(self.number(coefficient), node)

    def _factors(self, node: int) -> tuple[int, ...]:
        if self._values[node] == 1:
            return ()
        return self._arguments[node] if self._operations[node] == "*" else (node,)

    def _power(self, node: int) -> tuple[int, int]:
        if self._operations[node] == "**":
            base, exponent = self._arguments[node]
            value = self.value(exponent)
            if value is not None and value.denominator == 1 and value > 0:
                return base, int(value)
        return node, 1

    def _product(self, coefficient: Number, factors: tuple[int, ...]) -> int:
        if not factors:
            return self.number(coefficient)
        if coefficient == 1:
            return factors[0] if len(factors) == 1 else self._node("*", factors)
        return self._node("*", (self.number(coefficient), *factors))


def _check_digits(number: Number, exponent: Number) -> None:
    """Refuse a power whose exact value would not fit into memory."""
    bits = max(abs(number.numerator), number.denominator).bit_length()
    if bits > 1 and bits * abs(Fraction(exponent)) > _POWER_BITS:
        raise OverflowError


@attrs.frozen(eq=False)
class Term:
    """A node of a graph under construction, with the operators of arithmetic.

    Attributes
    ----------
    build : Builder
    node : int

    Examples
    --------
    >>> build = Builder()
    >>> x, y = (Term(build, build.name(name)) for name in "xy")
    >>> (x * y - x).node == build.subtract(build.multiply(x.node, y.node), x.node)
    True
    """

    build: Builder
    node: int

    def __add__(self, other: Term) -> Term:
        return Term(self.build, self.build.add(self.node, other.node))

    def __sub__(self, other: Term) -> Term:
        return Term(self.build, self.build.subtract(self.node, other.node))

    def __mul__(self, other: Term | float) -> Term:
        factor = other.node if isinstance(other, Term) else self.build.number(Fraction(other))
        return Term(self.build, self.build.multiply(self.node, factor))

    __rmul__ = __mul__

    def __neg__(self) -> Term:
        return Term(self.build, self.build.negate(self.node))
