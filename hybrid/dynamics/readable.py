"""The derived equations as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import sympy

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

__all__ = ["readable_equations"]

# Beyond this many operations simplification takes seconds, and nobody reads what it returns.
_MAX_OPERATIONS = 150

Text = str | list["Text"] | dict[str, "Text"]


def readable_equations(dynamics: Dynamics) -> dict[str, Text]:
    """Write out the equations of motion and the closed form of every contact.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    dict of str to text
        ``M`` (rows) and ``h``; ``gap``, ``W_N``, ``zeta_N``, ``slip``, ``W_T``, ``zeta_T`` by contact;
        ``constraint`` by constraint; and ``contact``: for each contact the Delassus terms ``G_NN``, ``G_NT``,
        ``G_TT``, the free normal acceleration ``b`` and, if planar, ``A_slide+`` and ``A_slide-``
        (``A_s = G_NN - s mu G_NT``, Genot and Brogliato 1999) and the critical friction ``G_NN / abs(G_NT)``.
        Bilateral constraints are eliminated; all other contacts are open. Where the dry friction of a constraint pushes
        the contact along its normal, there are the Delassus terms alone: ``a_N = A_s lambda_N + b`` is not true there.

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
    answer: dict[str, Text] = {
        "M": [[_text(entry) for entry in model.M.row(row)] for row in range(model.M.rows)],
        "h": [_text(entry) for entry in model.h],
        "gap": {name: _text(model.gap[index]) for index, name in enumerate(dynamics.contacts)},
        "W_N": {name: _column(model.W_N, index) for index, name in enumerate(dynamics.contacts)},
        "zeta_N": {name: _text(model.zeta_N[index]) for index, name in enumerate(dynamics.contacts)},
        "slip": {name: _few([_text(model.slip[i]) for i in _indices(at)]) for name, at in planar.items()},
        "W_T": {name: _few([_column(model.W_T, i) for i in _indices(at)]) for name, at in planar.items()},
        "zeta_T": {name: _few([_text(model.zeta_T[i]) for i in _indices(at)]) for name, at in planar.items()},
        "constraint": {name: _text(model.constraint[index]) for index, name in enumerate(dynamics.rigid)},
    }
    response = _Response.of(dynamics)
    answer["contact"] = {name: _closed_form(dynamics, response, name) for name in dynamics.contacts}
    return answer


@attrs.frozen(eq=False)
class _Response:
    """Accelerations without contact forces, and per unit contact force, with the constraints kept.

    Attributes
    ----------
    free : Matrix, (n, 1)
    normal, tangential : Matrix, (n, k) and (n, p)
    """

    free: sympy.Matrix
    normal: sympy.Matrix
    tangential: sympy.Matrix

    @classmethod
    def of(cls, dynamics: Dynamics) -> _Response:
        model = dynamics.model
        n, m = model.M.rows, model.J.rows
        # Simplified before they are combined: what comes out of the solve is then short enough to simplify again.
        forces = sympy.Matrix.hstack(model.h.applyfunc(_simple), model.W_N, model.W_T)
        bordered = model.M.row_join(-model.J.T).col_join(model.J.row_join(sympy.zeros(m, m)))
        right = forces.col_join(sympy.zeros(m, forces.cols))
        right[n:, 0] = -model.zeta_B
        solved = bordered.LUsolve(right)[:n, :]
        k = model.W_N.cols
        return cls(solved[:, :1], solved[:, 1 : 1 + k], solved[:, 1 + k :])


def _closed_form(dynamics: Dynamics, response: _Response, name: str) -> Text:
    model = dynamics.model
    index = dynamics.contacts.index(name)
    normal = model.W_N[:, index].T
    G_NN = _simple((normal * response.normal[:, index])[0])
    is_pushed = _is_pushed(dynamics, response, normal)
    free: dict[str, Text] = {}
    if not is_pushed:
        free["b"] = str(_simple((normal * response.free)[0] + model.zeta_N[index]))
    if name not in dynamics.columns:
        return {"G_NN": str(G_NN), **free}
    columns = _indices(dynamics.columns[name])
    G_NT = [_simple((normal * response.tangential[:, i])[0]) for i in columns]
    # Symmetric: what lies below the diagonal is not simplified a second time.
    upper = {
        (i, j): _simple((model.W_T[:, i].T * response.tangential[:, j])[0]) for i in columns for j in columns if i <= j
    }
    G_TT = [[upper[min(i, j), max(i, j)] for j in columns] for i in columns]
    if len(columns) == 2:
        rows: list[Text] = [[str(entry) for entry in row] for row in G_TT]
        return {"G_NN": str(G_NN), "G_NT": [str(entry) for entry in G_NT], "G_TT": rows, **free}
    mu = model.coefficients["friction"][index]
    answer: dict[str, Text] = {"G_NN": str(G_NN), "G_NT": str(G_NT[0]), "G_TT": str(G_TT[0][0]), **free}
    if is_pushed:
        return answer
    answer |= {"A_slide+": str(G_NN - mu * G_NT[0]), "A_slide-": str(G_NN + mu * G_NT[0])}
    if G_NT[0] != 0:
        answer["critical_friction"] = str(G_NN / sympy.Abs(G_NT[0]))
    return answer


def _is_pushed(dynamics: Dynamics, response: _Response, normal: sympy.Matrix) -> bool:
    """Whether the dry friction of a constraint may push along a normal: unless that is seen to vanish, it may."""
    friction = dynamics.model.coefficients["constraint_friction"]
    rough = [name for name in dynamics.rigid if name in dynamics.columns and friction[dynamics.rigid.index(name)] != 0]
    return any(_simple((normal * response.tangential[:, dynamics.columns[name].start])[0]) != 0 for name in rough)


def _indices(columns: slice) -> range:
    return range(columns.start, columns.stop)


def _few(items: list[Text]) -> Text:
    """A planar quantity as one text, a spatial one as a list."""
    return items[0] if len(items) == 1 else items


def _column(matrix: sympy.Matrix, index: int) -> Text:
    return [_text(entry) for entry in matrix.col(index)]


def _text(expression: sympy.Expr) -> str:
    return str(_simple(expression))


def _simple(expression: sympy.Expr) -> sympy.Expr:
    return sympy.simplify(expression) if expression.count_ops() <= _MAX_OPERATIONS else expression
