"""The derived equations as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import attrs
import sympy

from hybrid.dynamics.notation import text
from hybrid.dynamics.rational import Element, Fractions, Row, SingularError, TooLongError, fractions_of

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.model import SymbolicModel

__all__ = ["TOO_LONG", "readable_equations"]

TOO_LONG = "too long to be shown"
"""How the sentence begins that stands in place of a formula."""

_MAX_SHOWN = 100  # operations: some five lines of text, more than anybody reads
_MAX_READ = 150  # operations of an expression that is looked through for a shorter form
_MAX_TERMS = 40  # above and below the line together; arithmetic with longer quotients takes seconds
_MAX_SYSTEM = 600  # operations of all equations of motion that are solved in closed form

Text = str | list["Text"] | dict[str, "Text"]


def readable_equations(dynamics: Dynamics) -> dict[str, Text]:
    """The equations of motion and the closed form of every contact, written out.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    dict of str to text
        In the language of mechanism files. ``M`` (rows) and ``h``; ``gap``, ``W_N``, ``zeta_N``, ``slip``, ``W_T``,
        ``zeta_T`` by contact; ``constraint`` by constraint; and ``contact``: for each contact the Delassus terms
        ``G_NN``, ``G_NT``, ``G_TT``, the free normal acceleration ``b`` and, if planar, ``A_slide+`` and ``A_slide-``
        (``A_s = G_NN - s mu G_NT``, Genot and Brogliato 1999), the critical friction ``G_NN / abs(G_NT)``, and these
        three once more ``by_name`` of the Delassus terms. Bilateral constraints are eliminated; all other contacts are
        open, and friction elements slip: ``b`` holds their forces. Where the dry friction of a constraint pushes the
        contact along its normal, there are the Delassus terms alone: ``a_N = A_s lambda_N + b`` is not true there. A
        formula that nobody could read is not worked out: what follows from the Delassus terms is given by their names,
        and in place of any other stands a sentence that begins with :data:`TOO_LONG`.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid.dynamics import derive
    >>> equations = readable_equations(derive(mechanisms.load("bouncing_ball")))
    >>> equations["M"], equations["contact"]["floor"]
    ([['m']], {'G_NN': '1/m', 'b': '-g'})
    """
    model = dynamics.model
    planar = {name: dynamics.columns[name] for name in dynamics.columns}
    held = _field(model)

    def write(name: str, row: int, column: int = 0) -> str:
        matrix = getattr(model, name)
        place = f"[{row}]" if matrix.cols == 1 else f"[{row}, {column}]"
        return _text(held, matrix[row, column], f"model.{name}{place}")

    def columns(name: str, column: int) -> Text:
        return [write(name, row, column) for row in range(len(model.coordinates))]

    answer: dict[str, Text] = {
        "M": [[write("M", row, column) for column in range(model.M.cols)] for row in range(model.M.rows)],
        "h": [write("h", row) for row in range(model.h.rows)],
        "gap": {name: write("gap", index) for index, name in enumerate(dynamics.contacts)},
        "W_N": {name: columns("W_N", index) for index, name in enumerate(dynamics.contacts)},
        "zeta_N": {name: write("zeta_N", index) for index, name in enumerate(dynamics.contacts)},
        "slip": {name: _few([write("slip", i) for i in _indices(at)]) for name, at in planar.items()},
        "W_T": {name: _few([columns("W_T", i) for i in _indices(at)]) for name, at in planar.items()},
        "zeta_T": {name: _few([write("zeta_T", i) for i in _indices(at)]) for name, at in planar.items()},
        "constraint": {name: write("constraint", index) for index, name in enumerate(dynamics.rigid)},
    }
    mean = model.coefficients["mean_T"]
    if any(mean):  # h holds the force in the middle between two limits
        answer["mean_T"] = {
            name: _text(held, mean[at.start], f"model.coefficients['mean_T'][{at.start}]")
            for name, at in planar.items()
            if mean[at.start]
        }
    response = _Response.of(model, held)
    answer["contact"] = {name: _closed_form(dynamics, response, name) for name in dynamics.contacts}
    return answer


def _field(model: SymbolicModel) -> Fractions:
    """The field in which short expressions are looked through."""
    matrices = (model.M, model.h, model.gap, model.W_N, model.zeta_N, model.slip, model.W_T, model.zeta_T)
    expressions = [entry for matrix in (*matrices, model.constraint, model.J, model.zeta_B) for entry in matrix]
    return fractions_of((entry for entry in expressions if _operations(entry) <= _MAX_READ), max_terms=_MAX_TERMS)


@attrs.frozen(eq=False)
class _Response:
    """Accelerations without contact forces, and per unit contact force, with the constraints kept.

    Attributes
    ----------
    held : Fractions
    normal, tangential : tuple of rows (n, k) and (n, p), or None
        Force directions.
    free : row (n), or None
        None where the closed form is too long.
    to_normal, to_tangential : tuple of rows (n, k) and (n, p), or None
    """

    held: Fractions
    normal: Sequence[Row] | None = None
    tangential: Sequence[Row] | None = None
    free: Row | None = None
    to_normal: Sequence[Row] | None = None
    to_tangential: Sequence[Row] | None = None

    @classmethod
    def of(cls, model: SymbolicModel, held: Fractions) -> _Response:
        directions = (*model.M, *model.J, *model.W_N, *model.W_T)
        if not _is_short(directions):
            return cls(held)
        k = model.W_N.cols
        try:
            M, J, W_N, W_T = map(held.elements, (model.M, model.J, model.W_N, model.W_T))
            none = [[held.field.zero] * (k + model.W_T.cols) for _ in J]
            solved = held.solve_held(M, J, [[*row, *other] for row, other in zip(W_N, W_T, strict=True)], none)
        except (TooLongError, SingularError):
            return cls(held)
        free: Row | None = None
        try:
            if _is_short((*directions, *model.h, *model.zeta_B)):
                free = [row[0] for row in held.solve_held(M, J, *map(held.elements, (model.h, -model.zeta_B)))]
        except TooLongError:
            free = None
        return cls(held, W_N, W_T, free, [row[:k] for row in solved], [row[k:] for row in solved])


def _closed_form(dynamics: Dynamics, response: _Response, name: str) -> Text:
    model, held = dynamics.model, response.held
    index = dynamics.contacts.index(name)
    kept = ", the constraints kept" if dynamics.rigid else ""
    is_pushed = _is_pushed(dynamics, response, index)

    def delassus(left: str, i: int, right: str, j: int) -> sympy.Expr | None:
        columns, answers = {"N": response.normal, "T": response.tangential}[left], response.to_normal
        answers = answers if right == "N" else response.to_tangential
        if columns is None or answers is None:
            return None
        return _expression(held, [row[i] for row in columns], [row[j] for row in answers])

    def shown(value: sympy.Expr | None, words: str) -> str:
        return f"{TOO_LONG}: {words}{kept}" if value is None else text(value)

    G_NN = delassus("N", index, "N", index)
    free: dict[str, Text] = {}
    if not is_pushed:
        zeta = model.zeta_N[index]
        b = None
        if response.normal is not None and response.free is not None and _operations(zeta) <= _MAX_READ:
            b = _expression(held, [row[index] for row in response.normal], response.free, zeta)
        slips = _push_of_slips(dynamics, response, index)
        b = None if b is None or slips is None or not _is_shown(b + slips) else b + slips
        forces = "h" if slips == 0 else "(h + W_T lambda_T of the friction elements)"
        free["b"] = shown(b, f"W_N^T M^-1 {forces} + zeta_N")
    answer: dict[str, Text] = {"G_NN": shown(G_NN, "W_N^T M^-1 W_N")}
    if name not in dynamics.columns:
        return answer | free
    columns = _indices(dynamics.columns[name])
    G_NT = [delassus("N", index, "T", i) for i in columns]
    G_TT: list[list[Text]] = [
        [shown(delassus("T", min(i, j), "T", max(i, j)), "W_T^T M^-1 W_T") for j in columns] for i in columns
    ]
    crossed: list[Text] = [shown(entry, "W_N^T M^-1 W_T") for entry in G_NT]
    if len(columns) == 2:
        rows: list[Text] = list(G_TT)
        return answer | {"G_NT": crossed, "G_TT": rows} | free
    answer |= {"G_NT": crossed[0], "G_TT": G_TT[0][0]} | free
    return answer if is_pushed else answer | _sliding(G_NN, G_NT[0], model.coefficients["friction"][index])


def _sliding(G_NN: sympy.Expr | None, G_NT: sympy.Expr | None, mu: sympy.Expr) -> dict[str, Text]:
    """What decides about sliding: in full where that is short, and by name of the Delassus terms."""
    is_coupled = G_NT is None or G_NT != 0
    factor = f"({text(mu)})" if mu.is_Add else text(mu)
    names: dict[str, Text] = dict.fromkeys(("A_slide+", "A_slide-"), "G_NN")
    if is_coupled:
        if mu != 0:
            names = {"A_slide+": f"G_NN - {factor}*G_NT", "A_slide-": f"G_NN + {factor}*G_NT"}
        names["critical_friction"] = "G_NN/abs(G_NT)"
    if G_NN is None or G_NT is None or not _is_shown(G_NN - mu * G_NT):
        return {**names, "by_name": names}
    full = {"A_slide+": text(G_NN - mu * G_NT), "A_slide-": text(G_NN + mu * G_NT)}
    if is_coupled:
        full["critical_friction"] = text(G_NN / sympy.Abs(G_NT))
    return {**full, "by_name": names}


def _is_pushed(dynamics: Dynamics, response: _Response, index: int) -> bool:
    """Whether the dry friction of a constraint may push along a normal: unless that is seen to vanish, it may."""
    friction = dynamics.model.coefficients["constraint_friction"]
    rough = [name for name in dynamics.rigid if name in dynamics.columns and friction[dynamics.rigid.index(name)] != 0]
    if response.normal is None or response.to_tangential is None:
        return bool(rough)
    normal = [row[index] for row in response.normal]
    for name in rough:
        column = dynamics.columns[name].start
        try:
            pushing = response.held.dot(normal, [row[column] for row in response.to_tangential])
        except TooLongError:
            return True
        if not response.held.is_zero(pushing):
            return True
    return False


def _push_of_slips(dynamics: Dynamics, response: _Response, index: int) -> sympy.Expr | None:
    """Acceleration along a normal by the known forces of friction elements that slip; None if it is too long."""
    total = sympy.Integer(0)
    for place, name in enumerate(dynamics.elements):
        columns = _indices(dynamics.columns[name])
        slips = [dynamics.model.slip[column] for column in columns]
        speed = sympy.sqrt(sympy.Add(*(slip**2 for slip in slips)))
        for column, slip in zip(columns, slips, strict=True):
            pushing = None
            if response.normal is not None and response.to_tangential is not None:
                answers = [row[column] for row in response.to_tangential]
                pushing = _expression(response.held, [row[index] for row in response.normal], answers)
            if pushing is None:
                return None
            along = sympy.sign(slip) if len(slips) == 1 else slip / speed
            total -= dynamics.model.coefficients["limit"][place] * along * pushing
    return total


def _expression(held: Fractions, left: Row, right: Row, rest: sympy.Expr | None = None) -> sympy.Expr | None:
    """A sum of products and a rest; None if it is too long."""
    try:
        total: Element = held.dot(left, right)
        value = held.expression(total if rest is None else held.short(total + held.element(rest)))
    except TooLongError:
        return None
    return value if _is_shown(value) else None


def _is_short(expressions: Iterable[sympy.Expr]) -> bool:
    counts = [_operations(expression) for expression in expressions]
    return max(counts, default=0) <= _MAX_READ and sum(counts) <= _MAX_SYSTEM


def _is_shown(expression: sympy.Expr) -> bool:
    return _operations(expression) <= _MAX_SHOWN


def _operations(expression: sympy.Expr) -> int:
    return int(expression.count_ops())


def _indices(columns: slice) -> range:
    return range(columns.start, columns.stop)


def _few(items: list[Text]) -> Text:
    """A planar quantity as one text, a spatial one as a list."""
    return items[0] if len(items) == 1 else items


def _text(held: Fractions, expression: sympy.Expr, place: str) -> str:
    """The shorter of an expression and its quotient, or where in a ``Dynamics`` it is."""
    count = _operations(expression)
    if count <= _MAX_READ:
        expression = min(expression, held.tidied(expression), key=_operations)
    if _is_shown(expression):
        return text(expression)
    return f"{TOO_LONG}: {count} operations, in Python {place} of what derive() gives"
