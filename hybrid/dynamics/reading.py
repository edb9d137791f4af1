"""From the texts of a declaration to nodes of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.declaration.functions import CONSTANTS
from hybrid.declaration.tree import Apply, Expression, Name, Number
from hybrid.errors import DeclarationError, Problem
from hybrid.expressions import Builder, Nodes

if TYPE_CHECKING:
    from hybrid.declaration.mechanism import Mechanism

__all__ = ["TIME", "Reader", "read", "texts_of"]

TIME = "t"


@attrs.frozen(eq=False)
class Reader:
    """Reads the texts of one mechanism into one builder; definitions are nodes that all of them share."""

    build: Builder
    mechanism: Mechanism
    _known: dict[str, int] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        mechanism = self.mechanism
        for name in (*mechanism.coordinates, *mechanism.velocities, TIME, *mechanism.parameters):
            self._known[name] = self.build.name(name)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """The nodes of the coordinates."""
        return tuple(self._known[name] for name in self.mechanism.coordinates)

    @property
    def velocities(self) -> tuple[int, ...]:
        """The nodes of the velocities."""
        return tuple(self._known[name] for name in self.mechanism.velocities)

    @property
    def time(self) -> int:
        """The node of time."""
        return self._known[TIME]

    def expression(self, text: str, *, field: str = "") -> int:
        """The node of a text in the mechanism's names.

        Raises
        ------
        DeclarationError
            It is no expression, or is infinite, undefined or not real whatever the state.
        """
        parsed = self.mechanism.expression(text, field=field)
        pending = self._missing(parsed)
        while pending:
            definition = self.mechanism.read_definitions[pending[-1]]
            missing = self._missing(definition)
            if missing:
                pending += missing
            else:
                self._known[pending.pop()] = read(self.build, definition, self._known)
        return read(self.build, parsed, self._known)

    def _missing(self, expression: Expression) -> list[str]:
        """The definitions in an expression that have not been read."""
        return [name for name in expression.names if name not in self._known and name not in CONSTANTS]

    def column(self, texts: Iterable[str]) -> Nodes:
        """Nodes of several texts, (number of texts,)."""
        return np.array([self.expression(text) for text in texts], dtype=np.intp)


def texts_of(texts: str | tuple[str, ...]) -> tuple[str, ...]:
    """One text or several, as several.

    Parameters
    ----------
    texts : str or tuple of str

    Returns
    -------
    tuple of str
    """
    return (texts,) if isinstance(texts, str) else texts


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
            stack.append(_applied(build, node, arguments, expression))
    return stack[0]


def _applied(build: Builder, node: Apply, arguments: list[int], expression: Expression) -> int:
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
