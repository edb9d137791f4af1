"""Delassus operator and free accelerations of all force elements in closed form, bilateral constraints eliminated.

Which contact forces of a mode are unknown, and what the laws of friction make of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import sympy

from hybrid.automaton.structure import SLIDE, NodeMode, eliminated_rows, rows_of_node
from hybrid.contact.table import VELOCITIES, ElementMode, ForceElement, ForceRow, force_law
from hybrid.dynamics.rational import Element, Fractions, Row, SingularError, TooLongError, fractions_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    mean : tuple of Expr, (r,)
        Forces from which the unknown ones are counted: the middle of the range of friction elements.
    places : mapping of ForceRow to int
        Number of the row of each component of a force.
    """

    W: sympy.Matrix
    zeta: sympy.Matrix
    drift: sympy.Matrix
    mean: tuple[sympy.Expr, ...]
    places: dict[ForceRow, int]


@attrs.frozen(eq=False)
class Algebra:
    """Closed forms shared by all modes: ``a = G lambda + c`` and ``v' = a_free + response lambda``.

    The letters are those of docs/reference/notation.md.

    Attributes
    ----------
    fractions : Fractions
        The field in which the quotients are computed.
    G : tuple of Row, length r
        Delassus operator of all force rows.
    c : Row, length r
        Contact accelerations without contact forces.
    a_free : Row, length n
        Accelerations without contact forces.
    response : tuple of Row, (n, r)
        Accelerations for each contact force.
    """

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
    mean: list[sympy.Expr] = []
    places: dict[ForceRow, int] = {}
    at_rest = dict.fromkeys(model.velocities, sympy.Integer(0))
    for row in (row for part in parts for row in part.rows):
        block, column = row.place
        places[row] = len(columns)
        columns.append(model.J[column, :].T if block == "B" else getattr(model, f"W_{block}")[:, column])
        zeta.append(getattr(model, f"zeta_{block}")[column])
        drift.append(getattr(model, VELOCITIES[block])[column].xreplace(at_rest))
        mean.append(model.coefficients["mean_T"][column] if block == "T" else sympy.Integer(0))
    W = sympy.Matrix.hstack(*columns) if columns else sympy.zeros(dynamics.n, 0)
    size = len(columns)
    return RowTable(W, sympy.Matrix(size, 1, zeta), sympy.Matrix(size, 1, drift), tuple(mean), places)


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
    M, J, W = (fractions.elements(matrix) for matrix in (model.M, model.J.extract(rows, range(n)), table.W))
    zero = fractions.field.zero
    loads = [[fractions.element(force), *row] for force, row in zip(model.h, W, strict=True)]
    offsets = [[-fractions.element(model.zeta_B[row]), *(zero for _ in W[0])] for row in rows]
    solved = fractions.solve_held(M, J, loads, offsets)
    a_free = [row[0] for row in solved]
    response = tuple(row[1:] for row in solved)
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

    law = force_law(
        rows_of_node(parts, node),
        friction=lambda element: friction_of(dynamics, element, is_static=False),
        direction=direction,
    )
    unknown = [table.places[row] for row in law.unknown]
    zero = sympy.Integer(0)
    matrix = [[sympy.Integer(int(row == other)) for other in unknown] for row in range(table.W.cols)]
    constant = [zero] * table.W.cols
    for given in law.given:
        if given.leader is None:
            constant[table.places[given.row]] = given.factor
        else:
            matrix[table.places[given.row]][unknown.index(table.places[given.leader])] = given.factor
    slides = dict.fromkeys(given.row.element.name for given in law.given if given.leader is not None)
    return ForceMatrix(tuple(unknown), tuple(map(tuple, matrix)), tuple(constant), tuple(slides))
