"""Roots of many functions of one variable at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_MAX_STEPS = 200


def bracketed_roots(f: Callable[[Array], Array], low: Array, high: Array, *, width: float = 0.0) -> Array:
    """Find one root between each pair of ends at which a function has opposite signs.

    Chandrupatla's method (Advances in Engineering Software 28, 1997, 145-149): inverse quadratic interpolation where
    it is safe, bisection elsewhere. A change of sign across a pole is found too.

    Parameters
    ----------
    f : callable
        Maps points (k,) to values (k,); elementwise, point ``i`` belongs to bracket ``i``.
    low, high : array, (k,)
    width : float, optional
        Stop when every bracket is this narrow; 0 stops at the spacing of floating-point numbers.

    Returns
    -------
    array, (k,)

    Examples
    --------
    >>> bracketed_roots(lambda x: x**2 - [2.0, 9.0], np.array([0.0, 0.0]), np.array([2.0, 4.0])).round(12).tolist()
    [1.414213562373, 3.0]
    """
    a, b = np.array(high, dtype=float), np.array(low, dtype=float)
    if not a.size:
        return a
    f_a, f_b = f(a), f(b)
    c, f_c = a, f_a
    share = np.full(a.shape, 0.5)
    for _ in range(_MAX_STEPS):
        best, f_best = np.where(np.abs(f_a) < np.abs(f_b), (a, f_a), (b, f_b))
        narrow = 2 * np.finfo(float).eps * np.abs(best) + max(width, np.finfo(float).tiny)
        open_ = (np.abs(b - a) > narrow) & (f_best != 0)
        if not open_.any():
            break
        least = np.minimum(narrow / 2 / np.where(open_, np.abs(b - a), narrow), 0.5)
        x = np.where(open_, a + np.clip(share, least, 1 - least) * (b - a), a)
        value = np.where(open_, f(x), f_a)
        same = np.sign(value) == np.sign(f_a)
        c, f_c = np.where(open_, np.where(same, (a, f_a), (b, f_b)), (c, f_c))
        b, f_b = np.where(open_ & ~same, (a, f_a), (b, f_b))
        a, f_a = x, value
        share = _step(a, b, c, f_a, f_b, f_c)
    return np.asarray(best)


def _step(a: Array, b: Array, c: Array, f_a: Array, f_b: Array, f_c: Array) -> Array:
    """Share of the way from a to b at which to look next."""
    with np.errstate(all="ignore"):
        xi = (a - b) / (c - b)
        phi = (f_a - f_b) / (f_c - f_b)
        interpolates = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        step = f_a / (f_b - f_a) * f_c / (f_b - f_c) + (c - a) / (b - a) * f_a / (f_c - f_a) * f_b / (f_c - f_b)
    return np.where(interpolates & np.isfinite(step), step, 0.5)
