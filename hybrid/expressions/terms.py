"""A node with operators, for laws that are written once for numbers and for nodes."""

from __future__ import annotations

from fractions import Fraction

import attrs

from hybrid.expressions.graph import Builder


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
