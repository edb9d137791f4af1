"""Impulses that let a contact approach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import ROUNDING

__all__ = ["approaching_impulse"]

_DEPENDENT = ROUNDING  # eigenvalues of the Delassus operator below this share of the largest are rounding

Array = NDArray[np.float64]


def approaching_impulse(G: Array, row: int, change: Array) -> Array:
    """Impulses that change the normal velocity of a contact, and the others as little as the mechanism permits.

    Parameters
    ----------
    G : array, (..., r, r)
        Delassus operator.
    row : int
        Of the normal velocity.
    change : array, (...)

    Returns
    -------
    array, (..., r)

    Examples
    --------
    With one freedom the slip follows:

    >>> G = np.outer([1.0, 2.0], [1.0, 2.0])
    >>> (G @ approaching_impulse(G, 0, np.array(-0.5))).round(12)
    array([-0.5, -1. ])
    """
    impulse = np.linalg.pinv(G, rcond=_DEPENDENT, hermitian=True)[..., row]
    met = np.sum(G[..., row, :] * impulse, axis=-1)  # 1 where the velocities can be changed one by one
    return np.asarray(impulse * (change / met)[..., None])
