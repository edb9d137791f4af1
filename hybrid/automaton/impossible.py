"""Combinations of modes that cannot occur, each with its proof; what is not proved impossible is kept.

The proofs hold at every state and for every value of the parameters, because the same automaton serves all of them.
Contacts whose slips are bound to each other lose no mode: of two such contacts at rest one may stick while the other
transmits its full friction, which the verdict lists as a mode of its own.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import attrs
import sympy

from hybrid.automaton.structure import FREE, STICK, NodeMode, eliminated_rows, rows_of_node
from hybrid.dynamics.rational import Fractions, Row, TooLongError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.automaton.algebra import Algebra, RowTable
    from hybrid.contact.table import ForceElement
    from hybrid.dynamics.derive import Dynamics

_MAX_OPERATIONS = 300  # a longer sum is not expanded; then nothing is proved and nothing is left out


@attrs.frozen(eq=False)
class Proofs:
    """Facts about gaps and slips that hold at every state and for all parameters.

    Attributes
    ----------
    never_closed : mapping of str to str
        Contacts whose gap cannot vanish.
    never_together : mapping of (str, str) to str
        Contacts whose gaps cannot vanish at once.
    slip_sign : mapping of str to int
        Force elements whose slip always has one sign.
    """

    never_closed: dict[str, str]
    never_together: dict[tuple[str, str], str]
    slip_sign: dict[str, int]

    def against(self, node: NodeMode) -> str:
        """Why a mode is impossible; empty if it is not known to be."""
        closed = [name for name, label in node.mode.items() if label is not FREE]
        for name in closed:
            if name in self.never_closed:
                return self.never_closed[name]
            label = node.mode[name]
            sign = self.slip_sign.get(name, 0)
            if sign and (label is STICK or label.slip_sign == -sign):
                return f"the slip of {name} always has the sign of {sign:+d}"
        for pair in itertools.combinations(closed, 2):
            if pair in self.never_together:
                return self.never_together[pair]
        return ""


def proofs_of(dynamics: Dynamics, parts: Sequence[ForceElement]) -> Proofs:
    """The facts that make combinations of modes impossible, pair by pair.

    Parameters
    ----------
    dynamics : Dynamics
    parts : sequence of ForceElement

    Returns
    -------
    Proofs
        What SymPy proves for all real values of the symbols; sums of more than ``_MAX_OPERATIONS`` operations are not
        expanded for it.
    """
    model = dynamics.model
    gaps = {part.name: model.gap[part.index] for part in parts if part.is_unilateral}
    slips = {part.name: model.slip[part.columns[0]] for part in parts if len(part.columns) == 1}
    never_closed = {name: f"the gap of {name} cannot vanish" for name, gap in gaps.items() if _sign(_expanded(gap))}
    never_together = {}
    for (one, first), (other, second) in itertools.combinations(gaps.items(), 2):
        if _sign(_expanded(first - second)) or _sign(_expanded(first + second)):
            never_together[one, other] = f"the gaps of {one} and {other} cannot vanish at once"
    signs = {name: _sign(_expanded(slip)) for name, slip in slips.items()}
    return Proofs(never_closed, never_together, {name: sign for name, sign in signs.items() if sign})


def _expanded(expression: sympy.Expr) -> sympy.Expr:
    return sympy.expand(expression) if expression.count_ops() <= _MAX_OPERATIONS else expression


def _sign(expression: sympy.Expr) -> int:
    """+1 or -1 where SymPy proves the sign for all real symbols, else 0."""
    if expression.is_positive:
        return 1
    return -1 if expression.is_negative else 0


def velocities_contradict(
    dynamics: Dynamics, parts: Sequence[ForceElement], table: RowTable, algebra: Algebra | None, node: NodeMode
) -> bool:
    """Whether it is proved that no velocity satisfies all the velocity constraints of a mode, which are dependent.

    A combination with constant coefficients of the directions vanishes identically, while the same combination of the
    prescribed velocities (of moving guides) vanishes nowhere.

    Parameters
    ----------
    dynamics : Dynamics
    parts : sequence of ForceElement
    table : RowTable
    algebra : Algebra or None
        None if there is no closed form; then nothing is proved.
    node : NodeMode

    Returns
    -------
    bool
    """
    if algebra is None:
        return False
    rows = [table.places[row] for mode in rows_of_node(parts, node) for row in mode.held]
    directions = [table.W[:, row] for row in rows]
    drifts = [table.drift[row] for row in rows]
    at_rest = dict.fromkeys(dynamics.model.velocities, sympy.Integer(0))
    for row in eliminated_rows(dynamics):
        directions.append(dynamics.model.J[row, :].T)
        drifts.append(dynamics.model.constraint_dot[row].xreplace(at_rest))
    if not directions:
        return False
    try:
        combinations = _constant_null_vectors(algebra.fractions, directions)
    except (TooLongError, KeyError):
        return False
    return any(
        _sign(_expanded(sympy.Add(*(y * drift for y, drift in zip(vector, drifts, strict=True)))))
        for vector in combinations
    )


def _constant_null_vectors(held: Fractions, columns: Sequence[sympy.Matrix]) -> list[list[sympy.Rational]]:
    """Vectors of numbers ``y`` with ``sum_k y_k column_k = 0``."""
    rows: list[Row] = [[held.element(column[i]) for column in columns] for i in range(len(columns[0]))]
    pivots: list[int] = []
    for k in range(len(columns)):
        at = len(pivots)
        found = next((i for i in range(at, len(rows)) if not held.is_zero(rows[i][k])), None)
        if found is None:
            continue
        rows[at], rows[found] = rows[found], rows[at]
        rows[at] = [held.short(entry / rows[at][k]) for entry in rows[at]]
        for i in range(len(rows)):
            factor = rows[i][k]
            if i != at and factor:
                rows[i] = [held.short(a - factor * b) for a, b in zip(rows[i], rows[at], strict=True)]
        pivots.append(k)
    vectors = []
    for free in (k for k in range(len(columns)) if k not in pivots):
        vector = [sympy.Integer(0)] * len(columns)
        vector[free] = sympy.Integer(1)
        for at, pivot in enumerate(pivots):
            vector[pivot] = -held.expression(rows[at][free])
        if all(entry.is_Rational for entry in vector):
            vectors.append(vector)
    return vectors
