"""Whether contact forces that are not determined can be chosen so that a mode holds."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.conditions import Conditions
from hybrid.tolerances import HIGHS_FEASIBILITY

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Start:
    """A condition ``A x + b >= 0`` that counts only where a slip starts from rest.

    Attributes
    ----------
    A, b : array, (..., r) and (...)
    is_active : array of bool, (...)
    """

    A: Array
    b: Array
    is_active: NDArray[np.bool_]


def least_slack(mode: Conditions, starts: Sequence[Start]) -> Array:
    """By how much all inequalities of a mode can be met at once, over all forces that meet its equations.

    Parameters
    ----------
    mode : Conditions
        At one state or many.
    starts : sequence of Start

    Returns
    -------
    array, (...)
        In units of the data, at most 1; negative where some inequality must fail, minus infinity where no forces meet
        the equations. One linear programme per state.
    """
    shape = np.broadcast_shapes(
        mode.E.shape[:-2],
        mode.e.shape[:-1],
        mode.A.shape[:-2],
        mode.b.shape[:-1],
        *(array.shape for start in starts for array in (start.b, start.is_active)),
    )
    ranks = ((mode.E, 2), (mode.e, 1), (mode.A, 2), (mode.b, 1))
    E, e, A, b = (np.broadcast_to(array, (*shape, *array.shape[array.ndim - rank :])) for array, rank in ranks)
    least = np.empty(shape)
    for place in np.ndindex(shape):
        rows, constants = [A[place]], [b[place]]
        for start in starts:
            if np.broadcast_to(start.is_active, shape)[place]:
                rows.append(np.broadcast_to(start.A, (*shape, start.A.shape[-1]))[place][None])
                constants.append(np.broadcast_to(start.b, shape)[place][None])
        least[place] = _largest_least(E[place], e[place], np.concatenate(rows), np.concatenate(constants))
    return least


def _largest_least(E: Array, e: Array, A: Array, b: Array) -> float:
    from scipy.optimize import linprog

    if not all(np.isfinite(array).all() for array in (E, e, A, b)):
        return float("nan")
    m, r = A.shape
    answer = linprog(
        np.append(np.zeros(r), -1.0),
        A_ub=np.hstack([-A, np.ones((m, 1))]),
        b_ub=b,
        A_eq=np.hstack([E, np.zeros((len(E), 1))]),
        b_eq=-e,
        bounds=[(None, None)] * r + [(None, 1.0)],
        options={"primal_feasibility_tolerance": HIGHS_FEASIBILITY, "dual_feasibility_tolerance": HIGHS_FEASIBILITY},
    )
    return float(-answer.fun) if answer.status == 0 else -np.inf
