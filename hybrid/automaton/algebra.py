"""Delassus operator and free accelerations of all force elements in closed form, bilateral constraints eliminated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import attrs
import sympy

from hybrid.automaton.structure import eliminated_rows
from hybrid.contact.active_elements import ElementKind
from hybrid.contact.table import ForceElement
from hybrid.dynamics.rational import Element, Fractions, Row, SingularError, TooLongError, fractions_of

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

_MAX_OPERATIONS = 3000  # reading longer equations of motion into the field takes seconds


@attrs.frozen(eq=False)
class RowTable:
    """Force rows of all force elements: direction, drift, and where each force element's rows are.

    Attributes
    ----------
    W : Matrix, (n, r)
        Force directions.
    zeta : Matrix, (r, 1)
        Acceleration remainders.
    drift : Matrix, (r, 1)
        Contact velocities at ``v = 0``: those of moving guides.
    normal, tangential : mapping of str to row numbers
    """

    W: sympy.Matrix
    zeta: sympy.Matrix
    drift: sympy.Matrix
    normal: dict[str, int]
    tangential: dict[str, tuple[int, ...]]


@attrs.frozen(eq=False)
class Algebra:
    """Closed forms shared by all modes: ``a = G lambda + c`` and ``v' = a_free + response lambda``."""

    fractions: Fractions
    G: tuple[Row, ...]
    c: Row
    a_free: Row
    response: tuple[Row, ...]


def row_table(dynamics: Dynamics, parts: Sequence[ForceElement]) -> RowTable:
    """The force rows of all force elements, each with its normal row first.

    Parameters
    ----------
    dynamics : Dynamics
    parts : sequence of ForceElement

    Returns
    -------
    RowTable
    """
    model = dynamics.model
    columns: list[sympy.Matrix] = []
    zeta: list[sympy.Expr] = []
    drift: list[sympy.Expr] = []
    normal: dict[str, int] = {}
    tangential: dict[str, tuple[int, ...]] = {}
    at_rest = dict.fromkeys(model.velocities, sympy.Integer(0))
    for part in parts:
        if part.has_normal:
            normal[part.name] = len(columns)
            if part.kind is ElementKind.CONTACT:
                found = model.W_N[:, part.index], model.zeta_N[part.index], model.gap_dot[part.index]
            else:
                found = model.J[part.index, :].T, model.zeta_B[part.index], model.constraint_dot[part.index]
            columns.append(found[0])
            zeta.append(found[1])
            drift.append(found[2].xreplace(at_rest))
        tangential[part.name] = tuple(range(len(columns), len(columns) + len(part.columns)))
        for column in part.columns:
            columns.append(model.W_T[:, column])
            zeta.append(model.zeta_T[column])
            drift.append(model.slip[column].xreplace(at_rest))
    W = sympy.Matrix.hstack(*columns) if columns else sympy.zeros(dynamics.n, 0)
    size = len(columns)
    return RowTable(W, sympy.Matrix(size, 1, zeta), sympy.Matrix(size, 1, drift), normal, tangential)


def contact_algebra(dynamics: Dynamics, parts: Sequence[ForceElement], table: RowTable) -> Algebra | None:
    """The response of the mechanism to contact forces in closed form.

    Parameters
    ----------
    dynamics : Dynamics
    parts : sequence of ForceElement
    table : RowTable
        Of the same force elements.

    Returns
    -------
    Algebra or None
        None if the closed form is too long to be read or the constraints are redundant everywhere.
    """
    expressions = [*dynamics.model.M, *dynamics.model.h, *table.W, *table.zeta, *_laws(dynamics, parts)]
    expressions += [*dynamics.model.J, *dynamics.model.zeta_B]
    if sum(int(expression.count_ops()) for expression in expressions) > _MAX_OPERATIONS:
        return None
    fractions = fractions_of(expressions)
    try:
        return _response(dynamics, table, fractions)
    except (TooLongError, SingularError):
        return None


def _laws(dynamics: Dynamics, parts: Sequence[ForceElement]) -> Iterator[sympy.Expr]:
    """What else enters the forces: friction coefficients, limits and directions of slip."""
    coefficients = dynamics.model.coefficients
    for name in ("friction", "static_friction", "limit", "static_limit", "constraint_friction"):
        yield from coefficients[name]
    for part in parts:
        if len(part.columns) == 2:
            yield from slip_direction(dynamics, part)


def slip_direction(dynamics: Dynamics, part: ForceElement) -> tuple[sympy.Expr, ...]:
    """Unit direction of the slip of a spatial contact.

    Parameters
    ----------
    dynamics : Dynamics
    part : ForceElement
        With two tangential rows.

    Returns
    -------
    tuple of Expr
        Two components, without unit; undefined where the slip vanishes.
    """
    slip = [dynamics.model.slip[column] for column in part.columns]
    norm = sympy.sqrt(sum(component**2 for component in slip))
    return tuple(component / norm for component in slip)


def _response(dynamics: Dynamics, table: RowTable, fractions: Fractions) -> Algebra:
    model, n = dynamics.model, dynamics.n
    rows = eliminated_rows(dynamics)
    J = [[fractions.element(model.J[row, j]) for j in range(n)] for row in rows]
    zero = fractions.field.zero
    left: list[Row] = [
        [*(fractions.element(model.M[i, j]) for j in range(n)), *(-constraint[i] for constraint in J)] for i in range(n)
    ]
    left += [[*constraint, *(zero for _ in rows)] for constraint in J]
    W = [[fractions.element(entry) for entry in table.W.row(i)] for i in range(n)]
    right: list[Row] = [[fractions.element(model.h[i]), *W[i]] for i in range(n)]
    right += [[-fractions.element(model.zeta_B[row]), *(zero for _ in W[0])] for row in rows]
    solved = fractions.solve_definite(left, right)
    a_free = [solved[i][0] for i in range(n)]
    response = tuple(solved[i][1:] for i in range(n))
    size = table.W.cols
    columns = [[W[i][j] for i in range(n)] for j in range(size)]
    answers = [[response[i][j] for i in range(n)] for j in range(size)]
    G: list[Row] = [[zero] * size for _ in range(size)]
    for i in range(size):
        for j in range(i, size):
            G[i][j] = G[j][i] = fractions.dot(columns[i], answers[j])
    c: list[Element] = [
        fractions.short(fractions.dot(columns[i], a_free) + fractions.element(table.zeta[i])) for i in range(size)
    ]
    return Algebra(fractions, tuple(G), c, a_free, response)
