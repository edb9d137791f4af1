"""Curves of solutions: where equations of unknown coordinates hold beside a solution, too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import LEAST, NEARLY, RANK, ROUNDING, SUMMED

__all__ = ["on_curves"]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Booleans = NDArray[np.bool_]

_ASIDE = 0.03  # of the reach: beside a root of order five, equations fail by 1e-10 or so; along a curve they hold
_CORRECTIONS = 32  # of a step aside; along a curve of double roots each halves its error, else squares it


def on_curves(
    linearised: Callable[[Array], tuple[Array, Array, Array]],
    satisfies: Callable[[Array], Booleans],
    q: Array,
    free: Rows,
    radians: Array,
) -> Booleans:
    """Where equations hold along a curve through given positions, or through others near to them.

    A step aside, along what the equations do not feel, is corrected by the smallest steps of Gauss and Newton's method.
    On a curve it ends at another position, where they are dependent, too. From a multiple root it does not.

    Parameters
    ----------
    linearised : callable
        The Jacobian (N, f, f) of the equations of the unknown coordinates at positions (N, n), their residuals (N, f)
        and the sizes of their terms (N, f).
    satisfies : callable
        Where further equations hold.
    q : array, (N, n)
    free : array of int, (f,)
        The unknown coordinates.
    radians : array, (n,) or (N, n)
        What turns an angle by one radian; 0 for a length.

    Returns
    -------
    array of bool, (N,)
    """
    A, *_ = linearised(q)
    radians = np.broadcast_to(radians, q.shape)
    reach = _reach(q[:, free], radians[:, free], A, np.max(np.where(radians > 0.0, 0.0, np.abs(q)), axis=1))
    _, singular_values, right = np.linalg.svd(_equilibrated(A, reach)[0])
    found = np.zeros(len(q), dtype=bool)
    if not (singular_values <= NEARLY).any():
        return found
    # where they are several, pins may hold along some of their sums only: no two are alike
    weights = np.cos(1.0 + np.arange(len(free))) * (singular_values <= NEARLY)
    aside = (weights[:, None] @ right)[:, 0]
    aside /= np.maximum(np.max(np.abs(aside), axis=1, keepdims=True), LEAST)
    for step in (_ASIDE, -_ASIDE):  # a curve may end here
        way = step * aside
        for _ in range(_CORRECTIONS):
            beside = q.copy()
            beside[:, free] += reach * way
            A, residual, scale = linearised(beside)
            B, sizes = _equilibrated(A, reach)
            missed = np.where(np.isfinite(residual), residual, 0.0) / np.where(sizes > 0.0, sizes, 1.0)
            change = (np.linalg.pinv(B, rcond=NEARLY) @ missed[..., None])[..., 0]
            if not ((np.abs(change) > SUMMED).any(axis=1) & (np.max(np.abs(way), axis=1) >= _ASIDE / 2)).any():
                break
            way = way - change
        # a coordinate of no size, as on x y = 0, has one beside it
        holds = (np.abs(residual) <= ROUNDING * np.maximum(scale, sizes)).all(axis=1)
        holds &= satisfies(beside)
        is_singular = np.linalg.svd(B, compute_uv=False)[:, -1] <= RANK
        found |= holds & is_singular & (np.max(np.abs(way), axis=1) >= _ASIDE / 2)
    return found


def _reach(q: Array, radians: Array, A: Array, longest: Array) -> Array:
    """How far unknown coordinates (N, f) go: an angle by one radian, a length as far as the longest one (N,).

    And as far as the angles of an equation take it; 1 if all are zero but for rounding.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # a gap may have no gradient there
        turned = np.abs(A) @ radians[..., None]
        taken = np.where(A != 0.0, turned / np.abs(A), np.inf).min(axis=1, initial=np.inf)
    length = np.maximum(longest[:, None], np.where(np.isfinite(taken), taken, 0.0))
    return np.where(radians > 0.0, radians, np.where(length > ROUNDING, length, 1.0))


def _equilibrated(A: Array, reach: Array) -> tuple[Array, Array]:
    """A Jacobian (N, f, f) with columns per reach and rows of sum 1, and the sums; the identity if undefined."""
    with np.errstate(invalid="ignore"):
        A = A * reach[:, None]
        sizes = np.abs(A).sum(axis=2)
        A = A / np.where(sizes > 0.0, sizes, 1.0)[..., None]
    defined: Booleans = np.asarray(np.isfinite(A).all(axis=(1, 2)))
    return A if defined.all() else np.where(defined[:, None, None], A, np.eye(A.shape[-1])), sizes
