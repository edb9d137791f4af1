"""Where functions along many steps first fall below zero: the search of one step, on intervals of all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from hybrid.motion.chebyshev import NODES, TANGENT, series
from hybrid.tolerances import CANCELLED, NOTHING

__all__ = ["KNOWN", "first_descents"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

KNOWN = NOTHING
"""A guard this small next to its values over the first step is the zero from which the arc starts."""

_DEEPEST = 7  # halvings of a step: what is not settled by then, a shorter step settles
_BEYOND = 100.0  # what a series may lack, in units of its last coefficients
_RESOLVED = CANCELLED  # relative size of the last coefficients of a series that tells the function
_NEWTON = 40
_INDISTINCT = 16.0  # values of so many roundings are those of a function that stays at its zero
_EPSILON = float(np.finfo(float).eps)
_DERIVATIVE = chebyshev.chebder(np.eye(len(NODES)))
_AT_ZERO = (-1.0) ** np.arange(len(NODES))


def first_descents(
    values: Callable[[NDArray[np.intp], Array], Array], starts: Array, is_zero: Flags, may_be_zero: Flags, floors: Array
) -> tuple[Array, Flags]:
    """Earliest points of [0, 1] from which functions fall below zero.

    Parameters
    ----------
    values : callable
        From numbers of functions (r,) and points (17, r) to values (17, r).
    starts : array, (k,)
        Values of the functions at 0.
    is_zero : array of bool, (k,)
        Functions whose value at 0 is a known zero, up to rounding: it is divided out, and is not found again.
    may_be_zero : array of bool, (k,)
        Functions of which a value at 0 that is little next to the others counts as one. A little below zero is one
        always: the rounding between two steps.
    floors : array, (k,)
        Rounding of the functions, beyond that of the values themselves.

    Returns
    -------
    places : array, (k,)
        Infinite for functions that do not fall.
    is_open : array of bool, (k,)
        True where the search did not end: a function grazes zero, starts below it, or has no series.
    """
    k = len(starts)
    found, is_open, is_zero = np.full(k, np.inf), ~np.isfinite(starts), is_zero.copy()
    number, low, high = np.arange(k), np.zeros(k), np.ones(k)
    for depth in range(_DEEPEST):
        useful = low < found[number]
        number, low, high = number[useful], low[useful], high[useful]
        if not len(number):
            return found, is_open
        with np.errstate(all="ignore"):
            row = values(number, low + NODES[:, None] * (high - low)).T
            if depth == 0:
                is_little = np.abs(starts) <= KNOWN * np.max(np.abs(row), axis=-1)
                is_zero |= is_little & (may_be_zero | (starts < 0.0))
                is_open |= (starts < 0.0) & ~is_zero
            begins = is_zero[number] & (low == 0.0)
            reduced, noise = _reduced(row, starts[number], begins, floors[number])
            place, is_done, is_bad = _searched(reduced, noise)
            # a zero that lasts, not one from which the function falls
            is_flat = begins & (np.max(np.abs(row), axis=-1) <= _INDISTINCT * floors[number])
            place[is_flat], is_done, is_bad = np.inf, is_done | is_flat, is_bad & ~is_flat
        # what is below zero where an interval begins has fallen in the one before it, at the latest at their boundary
        is_past = is_bad & (low > 0.0)
        place[is_past], is_done, is_bad = 0.0, is_done | is_past, is_bad & ~is_past
        is_bad |= is_open[number] | ~np.isfinite(row).all(axis=-1)
        falls = is_done & np.isfinite(place)
        np.minimum.at(found, number[falls], (low + place * (high - low))[falls])
        is_open[number[is_bad]] = True
        rest = ~is_done & ~is_bad
        number, low, high = (np.repeat(item[rest], 2) for item in (number, low, high))
        middle = (low + high) / 2
        low[1::2], high[::2] = middle[1::2], middle[::2]
    is_open[number] = True
    return found, is_open


def _reduced(row: Array, starts: Array, is_zero: Flags, floors: Array) -> tuple[Array, Array]:
    """Values (r, 17) with known zeros at the left divided out, twice where a function starts tangentially; noise."""
    size = np.max(np.abs(row), axis=-1)
    noise = 8.0 * _EPSILON * size + floors
    if not is_zero.any():
        return row, noise
    once = (row - starts[:, None]) / NODES
    slope = series(once) @ _AT_ZERO
    twice = (once - slope[:, None]) / NODES
    is_steep = np.abs(slope) > TANGENT * np.max(np.abs(once), axis=-1)
    reduced = np.where(is_zero[:, None], np.where(is_steep[:, None], once, twice), row)
    order = np.where(is_zero, np.where(is_steep, 1, 2), 0)
    return reduced, noise / NODES[0] ** order


def _searched(row: Array, noise: Array) -> tuple[Array, Flags, Flags]:
    """Where series fall (infinite if nowhere), whether that is settled, and which start below zero."""
    c = series(row)
    sizes = np.abs(c)
    size, tail = sizes.sum(axis=-1), np.maximum(sizes[:, -1], sizes[:, -2])
    slope = c @ _DERIVATIVE.T
    is_monotone = 2.0 * np.abs(slope[:, 0]) > (1.0 - KNOWN) * np.abs(slope).sum(axis=-1)  # or turns at its end
    at_low, at_high = c @ _AT_ZERO, c.sum(axis=-1)
    is_resolved = tail <= _RESOLVED * size + noise
    is_positive = 2.0 * c[:, 0] - size > np.where(is_resolved, 0.0, _BEYOND * tail)
    is_settled = is_resolved & is_monotone
    falls = is_settled & (at_low >= -noise) & (at_high <= 0.0) & (slope[:, 0] < 0.0)
    is_bad = is_settled & (at_low < -noise) & (at_high < 0.0)
    place = np.full(len(c), np.inf)
    place[falls] = _zeros(c[falls], slope[falls])
    return place, is_positive | is_settled & ~is_bad, is_bad


def _zeros(c: Array, slope: Array) -> Array:
    """Zeros of falling series by Newton's method kept within brackets, in [0, 1]."""
    low, high = np.full(len(c), -1.0), np.ones(len(c))
    x = np.zeros(len(c))
    c, slope = np.ascontiguousarray(c.T), np.ascontiguousarray(slope.T)
    for _ in range(_NEWTON):
        value = chebyshev.chebval(x, c, tensor=False)
        low, high = np.where(value > 0.0, x, low), np.where(value > 0.0, high, x)
        before, x = x, x - value / chebyshev.chebval(x, slope, tensor=False)
        x = np.where((x >= low) & (x <= high), x, (low + high) / 2)
        if not (np.abs(x - before) > 4.0 * _EPSILON).any():
            break
    return np.asarray((x + 1.0) / 2)
