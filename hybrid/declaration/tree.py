"""Parsed expressions: their nodes in postfix order, every operand before its operator.

The functions and constants that expressions know, and other names that people write for them.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import attrs

import hybrid.expressions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from hybrid.expressions import Function

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

    @property
    def names(self) -> frozenset[str]:
        """The names that occur, without constants and functions."""
        return frozenset(node.name for node in self.tree if isinstance(node, Name))

    def __str__(self) -> str:
        return self.text
