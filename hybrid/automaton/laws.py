"""Which contact forces of a mode are unknown, and what the laws of friction make of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import sympy

from hybrid.automaton.algebra import RowTable, slip_direction
from hybrid.automaton.structure import SLIDE, NodeMode, rows_of_node
from hybrid.contact.table import ElementMode, ForceElement, ForceRow, force_law

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics


@attrs.frozen(eq=False)
class ForceMatrix:
    """Forces in terms of the unknown ones, ``lambda_i = sum_k matrix[i, k] x_k + constant_i``.

    Attributes
    ----------
    unknown : tuple of int
        Rows whose force is unknown and whose acceleration vanishes.
    matrix : tuple of rows, (r, number of unknowns)
    constant : tuple, (r,)
    slides : tuple of str
        Force elements that slide and press.
    """

    unknown: tuple[int, ...]
    matrix: tuple[tuple[sympy.Expr, ...], ...]
    constant: tuple[sympy.Expr, ...]
    slides: tuple[str, ...]

    def forces(self, x: Sequence[sympy.Expr]) -> tuple[sympy.Expr, ...]:
        """Forces of all rows for given unknown ones."""
        products = (sympy.Add(*(a * b for a, b in zip(row, x, strict=True))) for row in self.matrix)
        return tuple(product + known for product, known in zip(products, self.constant, strict=True))


def friction_of(dynamics: Dynamics, part: ForceElement, *, is_static: bool) -> sympy.Expr:
    """Friction coefficient of a force element, or the limit force of a friction element.

    Parameters
    ----------
    dynamics : Dynamics
    part : ForceElement
    is_static : bool
        That up to which sticking persists.

    Returns
    -------
    Expr
        A pure number; in units of the force for a friction element.
    """
    return dynamics.model.coefficients[part.friction_term(is_static=is_static)][part.index]


def force_matrix(dynamics: Dynamics, parts: Sequence[ForceElement], table: RowTable, node: NodeMode) -> ForceMatrix:
    """Which forces are unknown in a mode, and what the laws of friction make of the others.

    Parameters
    ----------
    dynamics : Dynamics
    parts : sequence of ForceElement
    table : RowTable
        Of the same force elements.
    node : NodeMode

    Returns
    -------
    ForceMatrix
    """

    def direction(row: ElementMode) -> tuple[sympy.Expr, ...]:
        if row.label is SLIDE:
            return slip_direction(dynamics, row.element)
        return (sympy.Integer(row.label.slip_sign),)

    def place(row: ForceRow) -> int:
        name = row.element.name
        return table.normal[name] if row.axis is None else table.tangential[name][row.axis]

    law = force_law(
        rows_of_node(parts, node),
        friction=lambda element: friction_of(dynamics, element, is_static=False),
        direction=direction,
    )
    unknown = [place(row) for row in law.unknown]
    zero = sympy.Integer(0)
    matrix = [[sympy.Integer(int(row == other)) for other in unknown] for row in range(table.W.cols)]
    constant = [zero] * table.W.cols
    for given in law.given:
        if given.leader is None:
            constant[place(given.row)] = given.factor
        else:
            matrix[place(given.row)][unknown.index(place(given.leader))] = given.factor
    slides = dict.fromkeys(given.row.element.name for given in law.given if given.leader is not None)
    return ForceMatrix(tuple(unknown), tuple(map(tuple, matrix)), tuple(constant), tuple(slides))
