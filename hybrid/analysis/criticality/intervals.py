"""Intervals on which a function of one variable is negative."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SCAN_CELLS = 4096


def negative_intervals(f: Callable[[Array], Array], low: float, high: float) -> tuple[tuple[float, float], ...]:
    """Find where a continuous function is negative between two ends, ends included.

    Parameters
    ----------
    f : callable
        Maps points (k,) to values (k,). Where it is undefined (NaN) it counts as not negative.
    low, high : float

    Returns
    -------
    tuple of (float, float)
        In order. Also intervals that fall between two points of the scan are found, when the function shows a dip.

    Examples
    --------
    >>> ((low, high),) = negative_intervals(lambda x: (x - 0.3) ** 2 - 1e-10, 0.0, 1.0)
    >>> round(low, 12), round(high, 12)
    (0.29999, 0.30001)
    >>> negative_intervals(lambda x: x - 2.0, 0.0, 1.0)
    ((0.0, 1.0),)
    """
    from scipy.optimize.elementwise import find_root

    def defined(x: Array) -> Array:
        value = f(x) if x.size else x
        return np.where(np.isfinite(value), value, 1.0)

    x = np.linspace(low, high, _SCAN_CELLS + 1)
    values = defined(x)
    for side in (1.0, -1.0):
        extra = _dips(partial(_signed, defined, side), x, side * values)
        x = np.concatenate([x, extra])
        values = np.concatenate([values, defined(extra)])
    order = np.argsort(x)
    x, values = x[order], values[order]
    negative = values < 0
    before = np.nonzero(negative[1:] != negative[:-1])[0]
    after = before + 1
    found = find_root(defined, (x[before], x[after]))
    # where a sign of the scan was rounding there is no bracket: that end is the root
    nearer = np.where(np.abs(values[before]) <= np.abs(values[after]), x[before], x[after])
    roots = np.where(found.success, found.x, nearer)
    ends = [*([low] if negative[0] else []), *roots.tolist(), *([high] if negative[-1] else [])]
    return tuple(zip(ends[::2], ends[1::2], strict=True))


def _signed(f: Callable[[Array], Array], sign: float, x: Array) -> Array:
    return sign * f(x)


def _dips(f: Callable[[Array], Array], x: Array, values: Array) -> Array:
    """Points between those of a scan at which a positive function is negative: its lowest points near a minimum."""
    from scipy.optimize.elementwise import find_minimum

    before, here, after = values[:-2], values[1:-1], values[2:]
    # a parabola through the three points dips below the middle one by at most an eighth of its second difference
    depth = (before - 2 * here + after) / 8
    lowest = np.nonzero((here > 0) & (here <= before) & (here <= after) & (here < 4 * depth))[0]
    found = find_minimum(f, (x[lowest], x[lowest + 1], x[lowest + 2]))
    return np.asarray(found.x[found.f_x < 0])
