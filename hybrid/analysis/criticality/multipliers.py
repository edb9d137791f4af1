"""The first multiplier of friction at which a determinant becomes negative."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import AGREEING, ROUNDING

__all__ = ["determinants", "first_below", "first_negative"]

Array = NDArray[np.float64]

# Rounding of a determinant of order m, relative to the product of its columns (Hadamard): some tens of operations on
# entries that are themselves results of a linear solve.
_BLOCK = 16_384  # matrices that are looked at together: their numbers stay in the processor's cache
# A pair of roots that rounding may have parted from the real axis: the root of rounding.
_IMAGINARY = AGREEING


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
    return first_below(determinants(G, B, size), np.asarray(np.inf))


def determinants(G: Array, B: Array, size: Array) -> Array:
    """Coefficients of ``det(G - f B)`` in powers of ``f``, rows and columns in units of their sizes.

    Parameters
    ----------
    G, B : array, (..., m, m)
    size : array, (..., m)

    Returns
    -------
    array, (..., m + 1)
        Those of rounding are 0; NaN where a number is not finite.
    """
    unit = np.maximum(size, np.finfo(float).tiny)
    G, B = (part / (unit[..., :, None] * unit[..., None, :]) for part in (G, B))
    shape, m = np.broadcast_shapes(G.shape[:-2], B.shape[:-2]), G.shape[-1]
    G, B = (np.broadcast_to(part, (*shape, m, m)).reshape(-1, m, m) for part in (G, B))
    found = np.empty((len(G), m + 1))
    for first in range(0, len(G), _BLOCK):
        block = slice(first, first + _BLOCK)
        found[block] = _coefficients(G[block], B[block])
    return found.reshape(*shape, m + 1)


def first_below(coefficients: Array, below: Array) -> Array:
    """Find the least place beyond which polynomials are negative, where it is less than given ones.

    Parameters
    ----------
    coefficients : array, (..., d + 1)
        Of powers that grow.
    below : array, (...)
        Positive; infinite ones allow all places.

    Returns
    -------
    array, (...)
        Infinite where there is no such place; NaN where a coefficient is.
    """
    shape = coefficients.shape[:-1]
    flat = coefficients.reshape(-1, coefficients.shape[-1])
    finite = np.isfinite(flat).all(axis=-1)
    found = np.where(finite, np.inf, np.nan)
    some = finite & _may_be_negative(flat, np.broadcast_to(below, shape).ravel())
    if some.any():
        found[some] = _first(flat[some])
    return found.reshape(shape)


def _may_be_negative(coefficients: Array, below: Array) -> NDArray[np.bool_]:
    """Where a polynomial is not proved to be non-negative from 0 to a place: Bernstein coefficients bound it.

    They bound the values on the interval (Lorentz 1986, chapter 1); on all of the half line, the coefficients do.
    """
    degree = coefficients.shape[1] - 1
    bounded = np.isfinite(below)
    at = coefficients * np.where(bounded, below, 1.0)[:, None] ** np.arange(degree + 1)
    shares = np.array([[comb(k, i) / comb(degree, i) for i in range(degree + 1)] for k in range(degree + 1)])
    with np.errstate(invalid="ignore"):
        inside = (at @ shares.T < 0.0).any(axis=1)
        return np.asarray(np.where(bounded, inside, (coefficients < 0.0).any(axis=1)))


def _coefficients(G: Array, B: Array) -> Array:
    """Coefficients (N, m + 1) of the determinant in powers of ``f``, those of rounding set to 0.

    Minors of the first rows are expanded along their last one, so that each is found once.
    """
    m = G.shape[-1]
    G, B = (np.ascontiguousarray(np.moveaxis(part, 0, -1)) for part in (G, B))
    minors: dict[tuple[int, ...], list[Array]] = {(): [np.ones(G.shape[-1])]}
    for row in range(m):
        larger: dict[tuple[int, ...], list[Array]] = {}
        for columns in combinations(range(m), row + 1):
            total = [np.zeros(G.shape[-1]) for _ in range(row + 2)]
            for place, column in enumerate(columns):
                sign = (-1.0) ** (row + place)
                for power, term in enumerate(minors[columns[:place] + columns[place + 1 :]]):
                    total[power] += sign * G[row, column] * term
                    total[power + 1] -= sign * B[row, column] * term
            larger[columns] = total
        minors = larger
    bound = [np.ones(G.shape[-1])]
    for column in range(m):  # of every coefficient, by Hadamard: products of the lengths of columns of both
        lengths = np.sqrt(np.sum(G[:, column] ** 2, axis=0)), np.sqrt(np.sum(B[:, column] ** 2, axis=0))
        grown = [np.zeros(G.shape[-1]) for _ in range(column + 2)]
        for power, term in enumerate(bound):
            grown[power] += lengths[0] * term
            grown[power + 1] += lengths[1] * term
        bound = grown
    value, most = np.stack(minors[tuple(range(m))], axis=-1), np.stack(bound, axis=-1)
    return np.where(np.abs(value) <= ROUNDING * most, 0.0, value)


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
    inverse: NDArray[Any] = -coefficients[:, 1:] / coefficients[:, :1]
    if degree == 2:
        inverse = _both_roots(inverse[:, 0], inverse[:, 1])
    elif degree > 2:
        companion = np.zeros((len(coefficients), degree, degree))
        companion[:, 0, :] = inverse
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
            negative = np.sum(terms, axis=1) < -ROUNDING * np.sum(np.abs(terms), axis=1)
        hit = np.isfinite(here) & negative & (result > 0.0)
        result = np.where(hit, here, result)
    return result


def _both_roots(p: Array, q: Array) -> NDArray[np.complex128]:
    """Roots (N, 2) of ``x**2 = p x + q``, the smaller one without cancellation."""
    root = np.sqrt(p * p / 4 + q + 0j)
    larger = p / 2 + np.where(p >= 0, root, -root)
    smaller = -q / np.where(larger == 0, 1.0, larger)
    return np.stack([larger, smaller], axis=-1)
