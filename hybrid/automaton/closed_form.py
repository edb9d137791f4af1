"""Forces and accelerations of one mode as expressions: closed forms, or unknowns with their linear equations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import sympy

from hybrid.automaton.algebra import Algebra, ForceMatrix, RowTable, force_matrix
from hybrid.automaton.structure import NodeMode, eliminated_rows
from hybrid.dynamics.notation import fresh_symbol, text
from hybrid.dynamics.rational import Element, Row, SingularError, TooLongError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.contact.table import ForceElement
    from hybrid.dynamics.derive import Dynamics

_MAX_UNKNOWNS = 4  # Cramer's rule takes k! k products for k unknowns
_MAX_WRITTEN = 30  # terms of a quotient; beyond, linear functions of the forces are easier to read


@attrs.frozen(eq=False)
class Motion:
    """The motion in one mode as SymPy expressions.

    Attributes
    ----------
    acceleration : tuple of Expr, length n
    forces : tuple of Expr, length r
        Of every force row; zero for open contacts.
    contact_acceleration : tuple of Expr, length r
    determinant : Expr or None
        Determinant of the equations of the mode: the ``A_s`` of Genot and Brogliato (1999) of a single sliding contact.
        None if it vanishes identically or nothing slides with friction.
    is_hyperstatic : bool
        The equations leave forces undetermined at every state.
    definitions : tuple of str
        Equations of the unknowns in the expressions above; empty for closed forms.
    slack : Symbol or None
        Of a hyperstatic mode: how well its inequalities can be met, a linear programme explained in the definitions.
    unknowns : mapping of Symbol to Expr
        Unknowns in the accelerations that have a closed form of their own.
    equations : tuple of Expr
        Expressions whose zeros are the other unknowns.
    """

    acceleration: tuple[sympy.Expr, ...]
    forces: tuple[sympy.Expr, ...]
    contact_acceleration: tuple[sympy.Expr, ...]
    determinant: sympy.Expr | None
    is_hyperstatic: bool
    definitions: tuple[str, ...] = ()
    slack: sympy.Symbol | None = None
    unknowns: Mapping[sympy.Symbol, sympy.Expr] = attrs.field(factory=dict)
    equations: tuple[sympy.Expr, ...] = ()


def motion_of(
    dynamics: Dynamics,
    parts: Sequence[ForceElement],
    table: RowTable,
    algebra: Algebra | None,
    node: NodeMode,
    *,
    is_hyperstatic: bool = False,
) -> Motion:
    """The forces and accelerations of one mode.

    Parameters
    ----------
    dynamics : Dynamics
    parts : sequence of ForceElement
    table : RowTable
    algebra : Algebra or None
    node : NodeMode
    is_hyperstatic : bool, default False
        Known to leave forces undetermined wherever the contacts of the mode touch.

    Returns
    -------
    Motion
        In closed form if it is short enough; else in terms of named unknowns with their equations.
    """
    law = force_matrix(dynamics, parts, table, node)
    determinant: sympy.Expr | None = None
    if algebra is not None and not is_hyperstatic and len(law.unknown) <= _MAX_UNKNOWNS:
        try:
            system = _system(algebra, law)
            determinant = algebra.fractions.expression(system.determinant)
            return _closed(dynamics, table, algebra, law, system, with_names=len(node.mode) > 1)
        except SingularError:
            is_hyperstatic = True
        except TooLongError:
            pass
    return _stated(dynamics, table, law, node, determinant, is_hyperstatic)


@attrs.frozen(eq=False)
class _SlideSystem:
    """The equations of the unknown forces over the field of fractions."""

    A: list[Row]
    determinant: Element
    matrix: list[Row]
    constant: Row


def _system(algebra: Algebra, law: ForceMatrix) -> _SlideSystem:
    held = algebra.fractions
    matrix = [[held.element(entry) for entry in row] for row in law.matrix]
    columns = [list(column) for column in zip(*matrix, strict=True)]
    A = [[held.dot(algebra.G[row], column) for column in columns] for row in law.unknown]
    determinant = held.determinant(A)
    if held.is_zero(determinant):
        raise SingularError
    return _SlideSystem(A, determinant, matrix, [held.element(entry) for entry in law.constant])


def _closed(
    dynamics: Dynamics, table: RowTable, algebra: Algebra, law: ForceMatrix, system: _SlideSystem, *, with_names: bool
) -> Motion:
    held = algebra.fractions
    right = [-held.short(held.dot(algebra.G[row], system.constant) + algebra.c[row]) for row in law.unknown]
    x = held.solve_by_cramer(system.A, right, system.determinant)
    forces = [held.short(held.dot(row, x) + known) for row, known in zip(system.matrix, system.constant, strict=True)]
    determinant = held.expression(system.determinant) if law.slides else None
    try:
        v_dot, a = (tuple(map(held.expression, row)) for row in _accelerations(algebra, law, forces))
        return Motion(v_dot, tuple(map(held.expression, forces)), a, determinant, False)
    except TooLongError:
        return _in_forces(dynamics, table, algebra, law, forces, determinant, with_names=with_names)


def _accelerations(algebra: Algebra, law: ForceMatrix, forces: Row) -> tuple[Row, Row]:
    held = algebra.fractions
    if any(held.length(force) > _MAX_WRITTEN for force in forces):
        raise TooLongError
    response = zip(algebra.response, algebra.a_free, strict=True)
    v_dot = [held.short(held.dot(row, forces) + free) for row, free in response]
    a = [
        held.field.zero if row in law.unknown else held.short(held.dot(algebra.G[row], forces) + algebra.c[row])
        for row in range(len(algebra.c))
    ]
    if any(held.length(element) > _MAX_WRITTEN for element in (*v_dot, *a)):
        raise TooLongError
    return v_dot, a


def _in_forces(
    dynamics: Dynamics,
    table: RowTable,
    algebra: Algebra,
    law: ForceMatrix,
    forces: Row,
    determinant: sympy.Expr | None,
    *,
    with_names: bool,
) -> Motion:
    """Accelerations as linear functions of named forces, which are defined by their closed forms."""
    held = algebra.fractions
    names = unknown_names(table, with_names=with_names)
    taken = _taken(dynamics)
    unknowns = {fresh_symbol(names[row], taken): held.expression(forces[row]) for row in law.unknown}
    symbols = law.forces(list(unknowns))
    write = held.expression

    def sum_of(row: Row, free: Element) -> sympy.Expr:
        terms = [write(entry) * force for entry, force in zip(row, symbols, strict=True) if entry]
        return sympy.Add(write(free), *terms)

    v_dot = tuple(sum_of(row, free) for row, free in zip(algebra.response, algebra.a_free, strict=True))
    a = tuple(
        sympy.Integer(0) if row in law.unknown else sum_of(algebra.G[row], algebra.c[row])
        for row in range(len(algebra.c))
    )
    definitions = tuple(f"{symbol} = {text(value)}" for symbol, value in unknowns.items())
    written = tuple(
        write(force) if held.length(force) <= _MAX_WRITTEN else symbol
        for force, symbol in zip(forces, symbols, strict=True)
    )
    return Motion(v_dot, written, a, determinant, False, definitions, unknowns=unknowns)


def _taken(dynamics: Dynamics) -> set[str]:
    model = dynamics.model
    symbols = (*model.coordinates, *model.velocities, model.time)
    return {*model.parameters, *(str(symbol) for symbol in symbols)}


def _stated(
    dynamics: Dynamics,
    table: RowTable,
    law: ForceMatrix,
    node: NodeMode,
    determinant: sympy.Expr | None,
    is_hyperstatic: bool,
) -> Motion:
    """Name the unknowns and state their linear equations."""
    model = dynamics.model
    taken = _taken(dynamics)
    v_dot = sympy.Matrix([fresh_symbol(f"{name}_ddot", taken) for name in model.coordinates])
    names = unknown_names(table, with_names=len(node.mode) > 1)
    forces = law.forces([fresh_symbol(names[row], taken) for row in law.unknown])
    rigid = eliminated_rows(dynamics)
    multipliers = [fresh_symbol(f"lambda_B_{dynamics.rigid[row]}", taken) for row in rigid]
    balance = model.M * v_dot - model.h - table.W * sympy.Matrix(table.W.cols, 1, forces)
    for row, multiplier in zip(rigid, multipliers, strict=True):
        balance -= model.J[row, :].T * multiplier
    a = table.W.T * v_dot + table.zeta
    equations = [*balance, *(a[row] for row in law.unknown)]
    equations += [(model.J[row, :] * v_dot)[0] + model.zeta_B[row] for row in rigid]
    rows = ", ".join(names[row] for row in law.unknown)
    named = fresh_symbol("A_slide", taken) if law.slides and determinant is None and not is_hyperstatic else None
    slack = fresh_symbol("slack", taken) if is_hyperstatic else None
    a_dot = tuple(sympy.Integer(0) if row in law.unknown else a[row] for row in range(table.W.cols))
    return Motion(
        acceleration=tuple(v_dot),
        forces=forces,
        contact_acceleration=a_dot,
        determinant=(named or determinant) if law.slides else None,
        is_hyperstatic=is_hyperstatic,
        definitions=_in_words(equations, rows, named, slack),
        slack=slack,
        equations=tuple(equations),
    )


def _in_words(
    equations: Sequence[sympy.Expr], rows: str, determinant: sympy.Symbol | None, slack: sympy.Symbol | None
) -> tuple[str, ...]:
    """What the unknowns are."""
    words = [f"{text(equation)} = 0" for equation in equations]
    if determinant is not None:
        words.append(f"{determinant} = determinant of d(accelerations)/d({rows}) by the equations above")
    if slack is not None:
        words.append(
            f"{slack} = largest s <= 1 such that some {rows} meet the equations above and every inequality of the "
            "mode (where a slip starts from rest, that of its acceleration too), in units of the data, by at least s"
        )
    return tuple(words)


def force_names(table: RowTable, *, with_names: bool) -> Mapping[int, str]:
    """Names of the forces of all rows: ``lambda_N``, with the element's name when there are several elements.

    Parameters
    ----------
    table : RowTable
    with_names : bool
        Append the name of the force element.

    Returns
    -------
    mapping of int to str
        Names by row of the table; the two rows of a spatial contact end in ``_1`` and ``_2``.
    """
    names: dict[int, str] = {}
    for row, place in table.places.items():
        stem = "lambda_N" if row.axis is None else "lambda_T"
        name = f"{stem}_{row.element.name}" if with_names else stem
        names[place] = f"{name}_{row.axis + 1}" if row.axis is not None and len(row.element.columns) > 1 else name
    return names


def unknown_names(table: RowTable, *, with_names: bool) -> Mapping[int, str]:
    """As :func:`force_names`, with other names for forces that are counted from the middle of their range.

    Parameters
    ----------
    table : RowTable
    with_names : bool
        Append the name of the force element.

    Returns
    -------
    mapping of int to str
    """
    names = force_names(table, with_names=with_names)
    return {row: f"{name}_from_mean" if table.mean[row] else name for row, name in names.items()}
