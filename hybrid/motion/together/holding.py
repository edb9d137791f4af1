"""States of many motions brought onto what their modes hold at zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import side_by_side
from hybrid.motion.projection import ENOUGH, rates_that_end
from hybrid.tolerances import RANK

if TYPE_CHECKING:
    from hybrid.contact.table import ElementMode
    from hybrid.dynamics.equations import Terms
    from hybrid.motion.together.fleet import Fleet

__all__ = ["settled"]

Array = NDArray[np.float64]

_ITERATIONS = 3
_DEPENDENT = RANK  # determinant next to the product of the diagonal


def settled(fleet: Fleet, lanes: NDArray[np.intp], rows: Sequence[ElementMode]) -> tuple[Array, Array, Terms]:
    """Nearest positions and velocities, in the metric of the mass matrix, that satisfy what a mode holds.

    Gaps of contacts that press are zero, and so are their rates and the slips of those that stick.

    Parameters
    ----------
    fleet : Fleet
    lanes : array of int, (m,)
    rows : sequence of ElementMode

    Returns
    -------
    q, v : array, (m, n)
    terms : Terms
        There.
    """
    dynamics = fleet.at(lanes)
    q, v, t = fleet.states(lanes)
    held = sorted((force for row in rows for force in row.held), key=lambda force: force.axis is not None)
    normals = [force.element.index for force in held if force.axis is None]
    terms = dynamics.terms(q, v, t=t)
    if not held:
        return q, v, terms
    for _ in range(_ITERATIONS):
        W, gap = terms.W_N[..., normals], terms.gap[..., normals]
        allowed = ENOUGH * (np.swapaxes(np.abs(W), -1, -2) @ np.abs(q)[..., None])[..., 0]
        if not (np.abs(gap) > allowed).any():
            break
        q = q - _correction(terms, W, gap, len(q))
        terms = dynamics.terms(q, v, t=t)
    W = side_by_side([force.direction(terms) for force in held])
    rates = side_by_side([force.velocity(terms) for force in held])
    first = len(normals)
    if first < len(held):
        own = np.sum(W[..., first:] * np.linalg.solve(terms.M, W[..., first:]), axis=-2)
        ended = rates_that_end(rates[..., first:], own, terms.M, fleet.sizes[fleet.n :, lanes].T)
        rates = np.concatenate([np.broadcast_to(rates[..., :first], (*ended.shape[:-1], first)), ended], axis=-1)
    v = v - _correction(terms, W, rates, len(q))
    return q, v, dynamics.terms(q, v, t=t)


def _correction(terms: Terms, W: Array, residual: Array, m: int) -> Array:
    """Least change (m, n), in the metric of the mass matrix, by which rows change as much as a residual (m, c)."""
    M = np.broadcast_to(terms.M, (m, *terms.M.shape[-2:]))
    W = np.broadcast_to(W, (m, *W.shape[-2:]))
    lift = np.linalg.solve(M, W)
    mobility = np.swapaxes(W, -1, -2) @ lift
    sizes = np.prod(np.diagonal(mobility, axis1=-2, axis2=-1), axis=-1)
    if W.shape[-1] < 2 or (np.linalg.det(mobility) > _DEPENDENT * sizes).all():
        share = np.linalg.solve(mobility, residual[..., None])
    else:
        share = np.linalg.pinv(mobility, rcond=_DEPENDENT, hermitian=True) @ residual[..., None]
    return np.asarray((lift @ share)[..., 0])
