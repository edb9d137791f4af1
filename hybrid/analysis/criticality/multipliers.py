"""The first multiplier of friction at which a determinant becomes negative."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

__all__ = ["first_negative"]

Array = NDArray[np.float64]

# Rounding of a determinant of order m, relative to the product of its columns (Hadamard): some tens of operations on
# entries that are themselves results of a linear solve.
_ROUNDING = 1e-12
# A pair of roots that rounding may have parted from the real axis: the root of rounding.
_IMAGINARY = 1e-7


def first_negative(G: Array, B: Array, size: Array) -> Array:
    """Find the least ``f >= 0`` beyond which ``det(G - f B)`` is negative.

    Parameters
    ----------
    G, B : array, (..., m, m)
    size : array, (..., m)
        Of the rows, so that entry ``(i, j)`` of ``G`` is at most ``size[i] size[j]``.

    Returns
    -------
    array, (...)
        Infinite where the determinant becomes negative nowhere, also where it vanishes identically; 0 where it does at
        once. Roots at which it only touches zero are passed over.

    Examples
    --------
    >>> first_negative(np.eye(2), np.array([[0.0, 2.0], [-0.5, 0.0]]), np.ones(2)).item()
    inf
    >>> first_negative(np.eye(2), np.array([[0.0, 2.0], [0.5, 0.0]]), np.ones(2)).round(12).item()
    1.0
    """
    unit = np.maximum(size, np.finfo(float).tiny)
    G, B = (part / (unit[..., :, None] * unit[..., None, :]) for part in (G, B))
    shape = np.broadcast_shapes(G.shape[:-2], B.shape[:-2])
    m = G.shape[-1]
    flat = [np.broadcast_to(part, (*shape, m, m)).reshape(-1, m, m) for part in (G, B)]
    finite = np.asarray(np.isfinite(flat[0]).all(axis=(-2, -1)) & np.isfinite(flat[1]).all(axis=(-2, -1)))
    found = np.full(len(finite), np.nan)
    if finite.any():
        found[finite] = _first(_coefficients(flat[0][finite], flat[1][finite]))
    return found.reshape(shape)


def _coefficients(G: Array, B: Array) -> Array:
    """Coefficients (N, m + 1) of the determinant in powers of ``f``, those of rounding set to 0."""
    m = G.shape[-1]
    total, bound = np.zeros((len(G), m + 1)), np.zeros((len(G), m + 1))
    for power in range(m + 1):
        for columns in combinations(range(m), power):
            mixed = G.copy()
            mixed[..., list(columns)] = -B[..., list(columns)]
            total[:, power] += np.linalg.det(mixed)
            bound[:, power] += np.prod(np.linalg.norm(mixed, axis=-2), axis=-1)
    return np.where(np.abs(total) > _ROUNDING * bound, total, 0.0)


def _first(coefficients: Array) -> Array:
    """Least positive place beyond which each polynomial (N, d + 1) is negative."""
    result = np.full(len(coefficients), np.inf)
    nonzero = coefficients != 0.0
    some = nonzero.any(axis=1)
    lowest = np.argmax(nonzero, axis=1)
    for order in np.unique(lowest[some]):
        rows = np.flatnonzero(some & (lowest == order))
        result[rows] = _deflated(coefficients[rows, order:])
    return result


def _deflated(coefficients: Array) -> Array:
    """The same for polynomials whose constant is not 0."""
    result = np.where(coefficients[:, 0] < 0.0, 0.0, np.inf)
    degree = coefficients.shape[1] - 1
    if degree == 0:
        return result
    # in 1/f the polynomial is monic, and high coefficients may vanish
    companion = np.zeros((len(coefficients), degree, degree))
    companion[:, 0, :] = -coefficients[:, 1:] / coefficients[:, :1]
    companion[:, range(1, degree), range(degree - 1)] = 1.0
    inverse = np.linalg.eigvals(companion)
    real = (np.abs(inverse.imag) <= _IMAGINARY * np.abs(inverse)) & (inverse.real > 0.0)
    with np.errstate(divide="ignore"):
        roots = np.sort(np.where(real, 1.0 / np.where(real, inverse.real, 1.0), np.inf), axis=1)
    for k in range(degree - 1, -1, -1):
        here = roots[:, k]
        ahead = roots[:, k + 1] if k + 1 < degree else np.full(len(roots), np.inf)
        with np.errstate(invalid="ignore"):
            between = np.where(np.isfinite(ahead), (here + ahead) / 2, 2.0 * here)
            terms = coefficients * between[:, None] ** np.arange(degree + 1)
            # two roots that rounding has parted enclose a value of rounding: the polynomial only touches zero there
            negative = np.sum(terms, axis=1) < -_ROUNDING * np.sum(np.abs(terms), axis=1)
        hit = np.isfinite(here) & negative & (result > 0.0)
        result = np.where(hit, here, result)
    return result
