"""Steps of many motions at once by the method of Dormand and Prince of order 8 (DOP853), each with its own length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853

from hybrid.motion.steps import FROM_DIFFERENCES
from hybrid.tolerances import LAST_PLACE, LEAST

__all__ = ["Rates", "attempted", "first_lengths", "growth", "series_of"]

Array = NDArray[np.float64]
Rates = Callable[[Array, Array], Array]
"""From times (m,) and states (2n, m) to the rates of the states, (2n, m)."""

_STAGES = len(DOP853.B)
_EXTRA = len(DOP853.A_EXTRA)
_ORDER = 7  # of the error estimate
# Of the first step: sizes too small to divide by, a step of no sizes, growth where nothing changes (as SciPy has them).
_SMALL, _SHORT, _STEADY = 1e-5, 1e-6, 1e-3
_SAFETY, _LEAST, _MOST = 0.9, 0.2, 10.0  # as SciPy has them


def _sum(weights: Array, K: Array) -> Array:
    return np.asarray((weights @ K[: len(weights)].reshape(len(weights), -1)).reshape(K.shape[1:]))


def attempted(rates: Rates, t: Array, y: Array, slope: Array, h: Array) -> tuple[Array, Array]:
    """One step of every motion, whether or not it is accurate.

    Parameters
    ----------
    rates : callable
    t, h : array, (m,)
        Times and lengths of the steps.
    y, slope : array, (2n, m)
        States and their rates.

    Returns
    -------
    last : array, (2n, m)
        States at the ends.
    K : array, (16, 2n, m)
        Rates at the stages, of which those of the dense output are still empty.
    """
    K = np.empty((_STAGES + 1 + _EXTRA, *y.shape))
    K[0] = slope
    for stage in range(1, _STAGES):
        K[stage] = rates(t + DOP853.C[stage] * h, y + h * _sum(DOP853.A[stage, :stage], K))
    last = y + h * _sum(DOP853.B, K)
    K[_STAGES] = rates(t + h, last)
    return last, K


def errors(K: Array, y: Array, last: Array, h: Array, *, rtol: float, atol: Array) -> Array:
    """Errors of steps in units of what is allowed, (m,); ``atol`` (2n, m) is added to a share of the states.

    Parameters
    ----------
    K, y, last, h : array
        As in :func:`attempted`.
    rtol : float
    atol : array, (2n, m)

    Returns
    -------
    array, (m,)
        A step whose error is 1 or more has to be repeated; NaN where a rate is undefined.
    """
    scale = atol + rtol * np.maximum(np.abs(y), np.abs(last))
    fifth = np.sum((_sum(DOP853.E5, K) / scale) ** 2, axis=0)
    third = np.sum((_sum(DOP853.E3, K) / scale) ** 2, axis=0)
    size = fifth + 0.01 * third
    return np.asarray(h * fifth / np.sqrt(np.where(size > 0.0, size, 1.0) * len(y)))


def growth(error: Array, was_rejected: NDArray[np.bool_]) -> Array:
    """Factors by which the next steps are longer or shorter.

    Parameters
    ----------
    error : array, (m,)
    was_rejected : array of bool, (m,)
        A step that follows a rejected one grows no longer.

    Returns
    -------
    array, (m,)
    """
    factor = _SAFETY * np.maximum(error, LEAST) ** (-1.0 / (_ORDER + 1))
    most = np.where(was_rejected, 1.0, _MOST)
    return np.where(error < 1.0, np.minimum(most, factor), np.fmax(_LEAST, np.where(np.isfinite(factor), factor, 0.0)))


def series_of(rates: Rates, t: Array, y: Array, last: Array, h: Array, K: Array) -> Array:
    """States along steps as Chebyshev series of degree 7, from three further stages.

    Parameters
    ----------
    rates, t, y, last, h, K
        As in :func:`attempted`; the last entries of ``K`` are filled in.

    Returns
    -------
    array, (8, 2n, m)
        Of polynomials in ``2 s - 1``, where s runs from 0 to 1.
    """
    for extra, (weights, c) in enumerate(zip(DOP853.A_EXTRA, DOP853.C_EXTRA, strict=True), start=_STAGES + 1):
        K[extra] = rates(t + c * h, y + h * _sum(weights[:extra], K))
    change = last - y
    F = np.empty((7, *y.shape))
    F[0], F[1], F[2] = change, h * K[0] - change, 2.0 * change - h * (K[_STAGES] + K[0])
    for place, weights in enumerate(DOP853.D, start=3):
        F[place] = h * _sum(weights, K)
    coefficients = (FROM_DIFFERENCES @ F.reshape(7, -1)).reshape(-1, *y.shape)
    coefficients[0] += y
    return np.asarray(coefficients)


def first_lengths(rates: Rates, t: Array, y: Array, slope: Array, *, rtol: float, atol: Array, rest: Array) -> Array:
    """Lengths of first steps (Hairer, Norsett and Wanner 1993, section II.4).

    Parameters
    ----------
    rates : callable
    t : array, (m,)
    y, slope : array, (2n, m)
    rtol : float
    atol : array, (2n, m)
    rest : array, (m,)
        Times that are left; no step is longer.

    Returns
    -------
    array, (m,)
    """

    def size(vector: Any) -> Array:
        return np.asarray(np.sqrt(np.mean((vector / scale) ** 2, axis=0)))

    scale = atol + rtol * np.abs(y)
    d0, d1 = size(y), size(slope)
    with np.errstate(all="ignore"):
        h0 = np.where((d0 < _SMALL) | (d1 < _SMALL), _SHORT, 0.01 * d0 / d1)
        h0 = np.minimum(h0, rest)
        d2 = size(rates(t + h0, y + h0 * slope) - slope) / h0
        largest = np.maximum(d1, d2)
        h1 = np.where(largest <= LAST_PLACE, np.maximum(_SHORT, _STEADY * h0), (0.01 / largest) ** (1.0 / (_ORDER + 1)))
    found = np.minimum(np.minimum(100.0 * h0, h1), rest)
    return np.where(np.isfinite(found), found, _SHORT * rest)
