"""The graph of a mechanism's expressions: equal expressions are one node, and every node comes after its arguments."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

from hybrid.expressions.functions import FUNCTIONS, applied, value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Graph", "GrowingGraph", "NotRationalError", "Number", "exact_values", "needed"]


Number = int | Fraction
"""An exact number; an int wherever it is one, which is many times as quick."""


@attrs.frozen(eq=False)
class Graph:
    """Expressions as nodes; a node is an index into these tables, and larger than those of its arguments.

    Attributes
    ----------
    operations : tuple of str
        ``number``, ``name``, ``pi``, ``+``, ``*``, ``/``, ``**``, or the name of a function of the table.
    arguments : tuple of tuple of int
        Arguments of every node.
    values : tuple of int, Fraction, str or None
        Of a number its exact value (an int if it is one), of a name the name itself.
    """

    operations: tuple[str, ...] = ()
    arguments: tuple[tuple[int, ...], ...] = ()
    values: tuple[Number | str | None, ...] = ()

    def __len__(self) -> int:
        return len(self.operations)

    def needed(self, roots: Iterable[int]) -> list[int]:
        """The nodes that the given ones are computed from, themselves included, arguments first.

        Parameters
        ----------
        roots : iterable of int

        Returns
        -------
        list of int
        """
        return needed(self.arguments, roots)

    def bends(self, roots: Iterable[int]) -> bool:
        """Whether a function with a kink is in the given nodes.

        Parameters
        ----------
        roots : iterable of int

        Returns
        -------
        bool
        """
        present = {self.operations[node] for node in self.needed(roots)}
        return any(FUNCTIONS[name].bends for name in present & FUNCTIONS.keys())

    def jumps(self, roots: Iterable[int], *, poles: bool = False) -> bool:
        """Whether a function that jumps is in the given nodes.

        Parameters
        ----------
        roots : iterable of int
        poles : bool
            Whether quotients and negative powers count, too.

        Returns
        -------
        bool
        """
        nodes = self.needed(roots)
        present = {self.operations[node] for node in nodes}
        if any(FUNCTIONS[name].jumps for name in present & FUNCTIONS.keys()):
            return True
        return poles and ("/" in present or any(self._is_inverse(node) for node in nodes))

    def _is_inverse(self, node: int) -> bool:
        """Whether a node is a power with a negative exponent."""
        exponent = self.values[self.arguments[node][1]] if self.operations[node] == "**" else None
        return exponent is not None and not isinstance(exponent, str) and exponent < 0

    def names(self, roots: Iterable[int]) -> frozenset[str]:
        """The names that occur in the given nodes.

        Parameters
        ----------
        roots : iterable of int

        Returns
        -------
        frozenset of str
        """
        return frozenset(str(self.values[node]) for node in self.needed(roots) if self.operations[node] == "name")


def needed(arguments: Sequence[tuple[int, ...]], roots: Iterable[int]) -> list[int]:
    """The nodes that the given ones are computed from, themselves included, arguments first.

    Parameters
    ----------
    arguments : sequence of tuple of int
        Of every node.
    roots : iterable of int

    Returns
    -------
    list of int
    """
    pending, found = [int(root) for root in roots], set[int]()
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += arguments[node]
    return sorted(found)


class GrowingGraph:
    """A graph to which nodes are added; those of the graph that it starts from stay what they are.

    Parameters
    ----------
    graph : Graph, optional
        The one to start from.
    """

    def __init__(self, graph: Graph | None = None) -> None:
        start = graph or Graph()
        self._operations = list(start.operations)
        self._arguments = list(start.arguments)
        self._values = list(start.values)
        keys = zip(start.operations, start.arguments, start.values, strict=True)
        self._known = {key: node for node, key in enumerate(keys)}
        self._constants: set[int] = set()
        self._floats: dict[int, float] = {}
        for node in range(len(start)):
            self._note_constant(node)

    def graph(self) -> Graph:
        """The graph as it stands.

        Returns
        -------
        Graph
        """
        return Graph(tuple(self._operations), tuple(self._arguments), tuple(self._values))

    def _node(self, operation: str, arguments: tuple[int, ...] = (), value: Number | str | None = None) -> int:
        key = (operation, arguments, value)
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = len(self._operations)
            self._operations.append(operation)
            self._arguments.append(arguments)
            self._values.append(value)
            self._note_constant(node)
        return node

    def _note_constant(self, node: int) -> None:
        if self._operations[node] != "name" and self._constants.issuperset(self._arguments[node]):
            self._constants.add(node)

    def is_constant(self, node: int) -> bool:
        """Whether no name occurs in a node.

        Parameters
        ----------
        node : int

        Returns
        -------
        bool
        """
        return node in self._constants

    def has_value(self, node: int) -> bool:
        """Whether a number is finite and real; no state gives a value to one that is not.

        Parameters
        ----------
        node : int

        Returns
        -------
        bool
            True for a node in which a name occurs, too.
        """
        if node not in self._constants or self._operations[node] == "number":
            return True
        for item in self.needed([node]):
            if item not in self._floats:
                values = [self._floats[argument] for argument in self._arguments[item]]
                self._floats[item] = value_of(self._operations[item], self._values[item], values)
        return not math.isnan(self._floats[node])

    def needed(self, roots: Iterable[int]) -> list[int]:
        """The nodes that the given ones are computed from, themselves included.

        Parameters
        ----------
        roots : iterable of int

        Returns
        -------
        list of int
            Arguments first.
        """
        return needed(self._arguments, roots)

    def operation(self, node: int) -> str:
        """What a node is.

        Parameters
        ----------
        node : int

        Returns
        -------
        str
            As in :attr:`Graph.operations`.
        """
        return self._operations[node]

    def arguments(self, node: int) -> tuple[int, ...]:
        """What a node is computed from.

        Parameters
        ----------
        node : int

        Returns
        -------
        tuple of int
            Empty for a number, a name and ``pi``.
        """
        return self._arguments[node]

    def value(self, node: int) -> Number | None:
        """The exact value of a number.

        Parameters
        ----------
        node : int

        Returns
        -------
        int, Fraction or None
            None for any other node.
        """
        value = self._values[node]
        return None if isinstance(value, str) else value

    def number(self, value: Number) -> int:
        """The node of an exact number.

        Parameters
        ----------
        value : int or Fraction

        Returns
        -------
        int
        """
        return self._node("number", (), value.numerator if value.denominator == 1 else value)

    def name(self, name: str) -> int:
        """The node of a name.

        Parameters
        ----------
        name : str

        Returns
        -------
        int
        """
        return self._node("name", (), name)

    def pi(self) -> int:
        """The node of the number pi.

        Returns
        -------
        int
        """
        return self._node("pi")


class NotRationalError(ArithmeticError):
    """A node has no rational value, or none is known; the text names the operation."""


def exact_values(graph: Graph, roots: Sequence[int], known: dict[int, Fraction]) -> list[Fraction]:
    """Values of nodes in rational numbers.

    Parameters
    ----------
    graph : Graph
    roots : sequence of int
    known : dict of int to Fraction
        The values of the names; those of every node met are added.

    Returns
    -------
    list of Fraction

    Raises
    ------
    NotRationalError

    Examples
    --------
    >>> from hybrid.expressions import Builder
    >>> build = Builder()
    >>> x = build.name("x")
    >>> square = build.multiply(x, x)
    >>> exact_values(build.graph(), [square], {x: Fraction(1, 3)})
    [Fraction(1, 9)]
    """
    for node in graph.needed(roots):
        if node in known:
            continue
        arguments = [known[argument] for argument in graph.arguments[node]]
        value = graph.values[node]
        if isinstance(value, int | Fraction):
            known[node] = Fraction(value)
            continue
        found = applied(graph.operations[node], arguments)
        if found is None:
            raise NotRationalError(f"{graph.operations[node]} of {', '.join(map(str, arguments))}")
        known[node] = found
    return [known[int(root)] for root in roots]
