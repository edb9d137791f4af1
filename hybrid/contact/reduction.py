"""Elimination of the bilateral constraints: free motion and Delassus operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.linear import solve_each

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Terms

_RANK = 1e-10  # relative singular value below which constraint rows count as dependent; rounding gives about 1e-15

_VANISHING = 1e-12  # length of a gradient relative to the longest; rounding leaves 1e-16


@attrs.frozen(eq=False)
class FreeMotion:
    """How the mechanism accelerates without contact forces and how it answers to them.

    ``v' = a_free + response f`` for generalised contact forces ``f``, with the eliminated constraints satisfied.

    Attributes
    ----------
    a_free : array, (..., n)
    response : array, (..., n, n)
        ``M^-1 - M^-1 J^T (J M^-1 J^T)^+ J M^-1`` over the eliminated constraints (Glocker 2001, section 5).
    redundancy : array of int, (...)
        Number of dependent rows among the eliminated constraints.
    inconsistency : array, (...)
        Largest acceleration residual of the eliminated constraints; above rounding only where constraints contradict.
    """

    a_free: NDArray[Any]
    response: NDArray[Any]
    redundancy: NDArray[Any]
    inconsistency: NDArray[Any]


def free_motion(terms: Terms, *, eliminated: tuple[int, ...] = ()) -> FreeMotion:
    """Eliminate bilateral constraints from the equations of motion.

    Parameters
    ----------
    terms : Terms
        At one state or many.
    eliminated : tuple of int
        Rows of ``J`` that act without friction and are eliminated.

    Returns
    -------
    FreeMotion
        NaN where the mass matrix is singular.
    """
    n = terms.M.shape[-1]
    identity = np.broadcast_to(np.eye(n), terms.M.shape)
    inverse = solve_each(terms.M, identity)
    inverse = (inverse + np.swapaxes(inverse, -1, -2)) / 2
    a_free = (inverse @ terms.h[..., None])[..., 0]
    if not eliminated:
        zero = np.zeros(a_free.shape[:-1])
        return FreeMotion(a_free, inverse, zero.astype(int), zero)
    rows = list(eliminated)
    J, zeta = terms.J[..., rows, :], terms.zeta_B[..., rows]
    finite = np.isfinite(inverse).all(axis=(-2, -1), keepdims=True)
    mobility = np.where(finite, J @ inverse @ np.swapaxes(J, -1, -2), 0.0)
    units = _units(J, mobility)
    lift = inverse @ np.swapaxes(J, -1, -2) @ pseudo_inverse(mobility, J)
    response = inverse - lift @ J @ inverse
    a_free = a_free - (lift @ ((J @ a_free[..., None])[..., 0] + zeta)[..., None])[..., 0]
    residual = (J @ a_free[..., None])[..., 0] + zeta
    redundancy = len(rows) - np.linalg.matrix_rank(mobility / units, tol=None, rtol=_RANK, hermitian=True)
    return FreeMotion(
        a_free, (response + np.swapaxes(response, -1, -2)) / 2, redundancy, np.max(np.abs(residual), axis=-1)
    )


def pseudo_inverse(mobility: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """Generalised inverse (..., k, k) of the mobility ``J M^-1 J^T`` of constraints (..., k, n), dependent ones too."""
    units = _units(J, mobility)
    return np.asarray(np.linalg.pinv(mobility / units, rcond=_RANK, hermitian=True) / units)


def _units(J: NDArray[Any], mobility: NDArray[Any]) -> NDArray[Any]:
    """Units (..., k, k) of a mobility: whether rows are dependent must hang neither on units nor on the masses held.

    A gradient that is mere rounding beside the others keeps the largest unit: it vanishes, in a singular configuration.
    """
    lengths = np.linalg.norm(J, axis=-1)
    size = np.sqrt(np.abs(np.diagonal(mobility, axis1=-2, axis2=-1)))
    largest = np.max(size, axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        is_told = lengths > _VANISHING * np.max(lengths, axis=-1, keepdims=True)
    size = np.where(is_told & (size > 0.0), size, np.where(largest > 0.0, largest, 1.0))
    return np.asarray(size[..., :, None] * size[..., None, :])
