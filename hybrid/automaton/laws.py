"""Which contact forces of a mode are unknown, and what the laws of friction make of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import sympy

from hybrid.automaton.algebra import RowTable, slip_direction
from hybrid.automaton.structure import FREE, SLIDE, SLIDES, STICK, NodeMode, Part
from hybrid.contact.carriers import CarrierKind

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics


@attrs.frozen(eq=False)
class ForceLaw:
    """Forces in terms of the unknown ones, ``lambda_i = sum_k matrix[i, k] x_k + constant_i``.

    Attributes
    ----------
    unknown : tuple of int
        Rows whose force is unknown and whose acceleration vanishes.
    matrix : tuple of rows, (r, number of unknowns)
    constant : tuple, (r,)
    slides : tuple of str
        Carriers that slide and press.
    """

    unknown: tuple[int, ...]
    matrix: tuple[tuple[sympy.Expr, ...], ...]
    constant: tuple[sympy.Expr, ...]
    slides: tuple[str, ...]

    def forces(self, x: Sequence[sympy.Expr]) -> tuple[sympy.Expr, ...]:
        """Forces of all rows for given unknown ones."""
        products = (sympy.Add(*(a * b for a, b in zip(row, x, strict=True))) for row in self.matrix)
        return tuple(product + known for product, known in zip(products, self.constant, strict=True))


def friction_of(dynamics: Dynamics, part: Part, *, is_static: bool) -> sympy.Expr:
    """Friction coefficient of a carrier, or the limit force of a friction element."""
    coefficients = dynamics.model.coefficients
    if part.kind is CarrierKind.BILATERAL:
        return coefficients["constraint_friction"][part.index]
    name = "limit" if part.kind is CarrierKind.ELEMENT else "friction"
    return coefficients[f"static_{name}" if is_static else name][part.index]


def force_law(dynamics: Dynamics, parts: Sequence[Part], table: RowTable, node: NodeMode) -> ForceLaw:
    """Which forces are unknown in a mode, and what the laws of friction make of the others."""
    unknown: list[int] = []
    slides: list[str] = []
    follows: dict[int, tuple[int | None, sympy.Expr]] = {}
    for part in parts:
        label = node.mode[part.name]
        if label is FREE:
            continue
        rows = table.tangential[part.name]
        normal = table.normal.get(part.name)
        unknown += [] if normal is None else [normal]
        if label is STICK:
            unknown += rows
        elif label is SLIDE or label in SLIDES:
            direction = slip_direction(dynamics, part) if label is SLIDE else (sympy.Integer(label.slip_sign),)
            friction = friction_of(dynamics, part, is_static=False) * node.side(part.name)
            follows |= {row: (normal, -friction * u) for row, u in zip(rows, direction, strict=True)}
            slides += [] if normal is None else [part.name]
    place = {row: k for k, row in enumerate(unknown)}
    matrix, constant = [], []
    for row in range(table.W.cols):
        entries = [sympy.Integer(int(place.get(row) == k)) for k in range(len(unknown))]
        leader, factor = follows.get(row, (None, sympy.Integer(0)))
        if leader is not None:
            entries[place[leader]] = factor
        matrix.append(tuple(entries))
        constant.append(factor if leader is None else sympy.Integer(0))
    return ForceLaw(tuple(unknown), tuple(matrix), tuple(constant), tuple(slides))
