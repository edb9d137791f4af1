"""Where a function along a step first falls below zero: the search of one motion, compiled."""

from __future__ import annotations

from math import isfinite

import numpy as np
import numpy.typing as npt

from hybrid.motion.chebyshev import BEYOND, INDISTINCT, LAST, NODES, TANGENT, series
from hybrid.motion.steps import N_COEFFICIENTS
from hybrid.motion.together.lanes import Operations, Table, carry_out
from hybrid.tolerances import CANCELLED, NOTHING
from lcp.kernels.compiled import released

__all__ = ["KNOWN", "N_POINTS", "first_descent"]

KNOWN = NOTHING
"""A guard this small next to its values over the first step is the zero from which the arc starts."""

N_POINTS = len(NODES)
_NODES = np.ascontiguousarray(NODES)
_TRANSFORM = np.ascontiguousarray(series(np.eye(N_POINTS)))
_DEEPEST = 6  # halvings of a step: what is not settled by then, a shorter step settles
_RESOLVED = CANCELLED  # relative size of the last coefficients of a series that tells the function
_NEWTON = 40
_EPSILON = float(np.finfo(float).eps)
_TANGENT, _KNOWN = TANGENT, KNOWN
_NOWHERE, _OPEN, _DEEPER = np.inf, -1.0, -2.0

Blocks = npt.NDArray[np.float64]


@released
def fill_row(
    guards: Operations, registers: Table, which: int, coefficients: Table, t: float, h: float, low: float, high: float,
    row: Table,
) -> None:  # fmt: skip
    """Values of a guard at the Chebyshev points of a part of a step.

    Parameters
    ----------
    guards : Operations
    registers : array
        Prepared for them, with what is known of one motion.
    which : int
    coefficients : array, (8, 2n)
        Series of the state.
    t, h : float
    low, high : float
        Ends of the part, in [0, 1].
    row : array, (17,)
        Filled in.

    Returns
    -------
    None
    """
    n = coefficients.shape[1]
    polynomials = np.empty((N_COEFFICIENTS, N_POINTS))
    for p in range(N_POINTS):
        s = low + _NODES[p] * (high - low)
        registers[n, p] = t + s * h
        polynomials[0, p], polynomials[1, p] = 1.0, 2.0 * s - 1.0
    for k in range(2, N_COEFFICIENTS):
        for p in range(N_POINTS):
            polynomials[k, p] = 2.0 * polynomials[1, p] * polynomials[k - 1, p] - polynomials[k - 2, p]
    for i in range(n):
        for p in range(N_POINTS):
            registers[i, p] = coefficients[0, i]
        for k in range(1, N_COEFFICIENTS):
            weight = coefficients[k, i]
            for p in range(N_POINTS):
                registers[i, p] += weight * polynomials[k, p]
    carry_out(guards[0], registers, len(row))
    place = guards[1][which]
    for p in range(N_POINTS):
        row[p] = registers[place, p]


@released
def value_at(c: Table, x: float) -> float:
    """A Chebyshev series at a point.

    Parameters
    ----------
    c : array, (k,)
        Coefficients, the lowest first.
    x : float
        In [-1, 1].

    Returns
    -------
    float
    """
    first, second = 0.0, 0.0
    for k in range(len(c) - 1, 0, -1):
        first, second = c[k] + 2.0 * x * first - second, first
    return float(c[0] + x * first - second)


@released
def searched(row: Table, noise: float, c: Table, slope: Table) -> float:
    """Where a function falls below zero, by its values at the Chebyshev points of a part of a step.

    Parameters
    ----------
    row : array, (17,)
    noise : float
        Their rounding.
    c, slope : array, (17,) and (16,)
        For the series and that of its derivative.

    Returns
    -------
    float
        A point in [0, 1]; infinite if it stays above; -1 where it is below from the start; -2 if not settled.
    """
    size = 0.0
    for k in range(N_POINTS):
        c[k] = 0.0
    for p in range(N_POINTS):
        for k in range(N_POINTS):
            c[k] += _TRANSFORM[p, k] * row[p]
    for k in range(N_POINTS):
        size += abs(c[k])
    tail = max(abs(c[N_POINTS - 1]), abs(c[N_POINTS - 2]))
    is_resolved = tail <= _RESOLVED * size + noise
    lacking = 0.0
    if not is_resolved:
        for k in range(N_POINTS - LAST, N_POINTS):
            lacking = max(lacking, BEYOND * abs(c[k]))
    if 2.0 * c[0] - size > lacking:
        return _NOWHERE
    if not is_resolved:
        return _DEEPER
    after, total = 0.0, 0.0
    at_low = c[0]
    for k in range(N_POINTS - 1, 0, -1):
        slope[k - 1] = 2.0 * k * c[k] + (slope[k + 1] if k + 1 < N_POINTS - 1 else 0.0)
    slope[0] /= 2.0
    for k in range(N_POINTS - 1):
        total += abs(slope[k])
        after += c[k + 1]
        at_low += c[k + 1] if k % 2 else -c[k + 1]
    if not 2.0 * abs(slope[0]) > (1.0 - _KNOWN) * total:  # neither monotone nor turning at its end
        return _DEEPER
    at_high = c[0] + after
    if at_low < -noise and at_high < 0.0:
        return _OPEN
    if not (at_high <= 0.0 and slope[0] < 0.0 and at_low >= -noise):
        return _NOWHERE
    low, high, x = -1.0, 1.0, 0.0
    for _ in range(_NEWTON):
        value = value_at(c, x)
        if value > 0.0:
            low = x
        else:
            high = x
        before = x
        x -= value / value_at(slope, x)
        if not low <= x <= high:
            x = (low + high) / 2.0
        if abs(x - before) <= 4.0 * _EPSILON:
            break
    return (x + 1.0) / 2.0


@released
def first_descent(
    guards: Operations, registers: Table, which: int, sign: float, level: float, coefficients: Table, t: float,
    h: float, start: float, is_zero: bool, may_be_zero: bool, rises: bool, has_been_above: bool, floor: float,
) -> float:  # fmt: skip
    """Earliest point of [0, 1] from which a guard falls below zero along a step.

    Parameters
    ----------
    guards, registers, which, coefficients, t, h
        As in :func:`fill_row`.
    sign, level : float
        What is asked is whether ``sign * guard - level`` falls.
    start : float
        Its value at 0.
    is_zero : bool
        Whether that is a known zero, up to rounding: it is divided out, and is not found again.
    may_be_zero : bool
        Whether a value at 0 that is little next to the others counts as one. A little below zero is one always, as is
        what is below by the rounding of the guard: steps are joined up to rounding.
    rises : bool
        Whether the arc started from a zero of the guard, so that one at 0 may be what rounding still leaves of it.
    has_been_above : bool
        Whether the step before ended above zero, as far as its series tells: what begins below and falls has fallen
        at their boundary.
    floor : float
        Rounding of the guard, beyond that of the values themselves.

    Returns
    -------
    float
        Infinite for a guard that does not fall, and -1 where the search did not end: it grazes zero, starts below it,
        or has no series.
    """
    row, c, slope = np.empty(N_POINTS), np.empty(N_POINTS), np.empty(N_POINTS - 1)
    lows, highs, depths = np.empty(_DEEPEST + 2), np.empty(_DEEPEST + 2), np.empty(_DEEPEST + 2, np.int64)
    lows[0], highs[0], depths[0], n = 0.0, 1.0, 0, 1
    if not isfinite(start):
        return _OPEN
    while n:
        n -= 1
        low, high, depth = lows[n], highs[n], depths[n]
        fill_row(guards, registers, which, coefficients, t, h, low, high, row)
        size = 0.0
        for p in range(N_POINTS):
            row[p] = sign * row[p] - level
            if not isfinite(row[p]):
                return _OPEN
            size = max(size, abs(row[p]))
        if depth == 0:
            is_zero |= abs(start) <= _KNOWN * size and (may_be_zero or start < 0.0)
            if abs(start) <= INDISTINCT * floor:
                is_zero |= start < 0.0 or (rises and row[N_POINTS - 1] > start)
            if start < 0.0 and not is_zero:
                return 0.0 if has_been_above and row[0] < start else _OPEN
        noise = 8.0 * _EPSILON * size + floor
        if is_zero and low == 0.0:
            if size <= INDISTINCT * floor:
                continue  # a zero that lasts, not one from which the function falls
            noise = divided(row, start, noise)
        place = searched(row, noise, c, slope)
        if place == _OPEN and low > 0.0:
            place = 0.0  # what is below zero here has fallen in the part before it, at the latest at their boundary
        if place == _OPEN:
            return _OPEN
        if place == _DEEPER:
            if depth == _DEEPEST:
                return _OPEN
            middle = (low + high) / 2.0
            lows[n], highs[n], depths[n] = middle, high, depth + 1
            lows[n + 1], highs[n + 1], depths[n + 1] = low, middle, depth + 1
            n += 2
        elif place < _NOWHERE:
            return float(low + place * (high - low))
    return _NOWHERE


@released
def divided(row: Table, start: float, noise: float) -> float:
    """Divide a known zero at the left out of values, twice where a function starts tangentially.

    Parameters
    ----------
    row : array, (17,)
        Values at the Chebyshev points, which are replaced.
    start : float
        The value at the left.
    noise : float
        Rounding of the values.

    Returns
    -------
    float
        Rounding of the quotients.
    """
    largest, slope = 0.0, 0.0
    for p in range(N_POINTS):
        row[p] = (row[p] - start) / _NODES[p]
        largest = max(largest, abs(row[p]))
    for k in range(N_POINTS):
        for p in range(N_POINTS):
            slope += (-1.0 if k % 2 else 1.0) * _TRANSFORM[p, k] * row[p]
    if abs(slope) > _TANGENT * largest:
        return float(noise / _NODES[0])
    for p in range(N_POINTS):
        row[p] = (row[p] - slope) / _NODES[p]
    return float(noise / _NODES[0] ** 2)
