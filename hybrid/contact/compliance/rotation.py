"""The rotating slip of a spatial compliant contact, by Taylor series of high order, compiled.

Every term of the fast system is a product of its unknowns, an exponential, a sine or a cosine: the coefficients of its
series follow from one another by convolution. A step is as long as the series is exact to rounding, and is its own
interpolant, on which events are found to rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lcp.kernels.compiled import compiled

__all__ = ["PATH", "RELEASED", "STOPPED", "turn"]

# Unknowns: Y, w, log of the slip relative to its start, angle, P_N, P_1, P_2, fast time, work of friction.
PATH = 9
RELEASED, STOPPED = 1, 2
# With 24 terms a step spans about two radians of an oscillation; more terms lengthen it less than they cost.
_ORDER = 24
_EXACT = 1e-17  # of the last terms, next to the unknowns themselves
_MAX_STEPS = 100_000
_ITERATIONS = 80
_F, _RHO, _U1, _U2, _LIFT, _PUSH1, _PUSH2, _DRIVE, _TURN, _PACE = range(PATH, PATH + 10)


@compiled
def _series(c: Any, G: Any, mu: float, d: float, speed: float) -> None:
    """Fill the coefficients over ``sigma``, ``ds = abs(slip) d sigma``, from those of order 0 of the unknowns."""
    for k in range(_ORDER):
        c[_F, k] = -c[0, k] - 2 * d * c[1, k]
        if k == 0:
            c[_RHO, 0] = speed * math.exp(c[2, 0])
            c[_U1, 0], c[_U2, 0] = math.cos(c[3, 0]), math.sin(c[3, 0])
        else:
            growth, turning_1, turning_2 = 0.0, 0.0, 0.0
            for j in range(1, k + 1):
                growth += j * c[2, j] * c[_RHO, k - j]
                turning_1 += j * c[3, j] * c[_U1, k - j]
                turning_2 += j * c[3, j] * c[_U2, k - j]
            c[_RHO, k], c[_U1, k], c[_U2, k] = growth / k, -turning_2 / k, turning_1 / k
        for row in range(3):
            free = G[row, 0] if k == 0 else 0.0
            c[_LIFT + row, k] = free - mu * (G[row, 1] * c[_U1, k] + G[row, 2] * c[_U2, k])
        drive, rotating, pace = 0.0, 0.0, 0.0
        for j in range(k + 1):
            drive += c[_PUSH1, j] * c[_U1, k - j] + c[_PUSH2, j] * c[_U2, k - j]
            rotating += c[_PUSH2, j] * c[_U1, k - j] - c[_PUSH1, j] * c[_U2, k - j]
            pace += c[_F, j] * c[_RHO, k - j]
        c[_DRIVE, k], c[_TURN, k], c[_PACE, k] = drive, rotating, pace
        c[:PATH, k + 1] = 0.0
        for j in range(k + 1):
            c[0, k + 1] += c[1, j] * c[_RHO, k - j]
            c[1, k + 1] += c[_LIFT, j] * c[_PACE, k - j]
            c[2, k + 1] += c[_DRIVE, j] * c[_F, k - j]
            c[3, k + 1] += c[_TURN, j] * c[_F, k - j]
            c[5, k + 1] -= mu * c[_PACE, j] * c[_U1, k - j]
            c[6, k + 1] -= mu * c[_PACE, j] * c[_U2, k - j]
            c[8, k + 1] -= mu * c[_PACE, j] * c[_RHO, k - j]
        c[4, k + 1], c[7, k + 1] = c[_PACE, k], c[_RHO, k]
        c[:PATH, k + 1] /= k + 1
    c[_F, _ORDER] = -c[0, _ORDER] - 2 * d * c[1, _ORDER]


@compiled
def _value(c: Any, row: int, x: float) -> float:
    total = float(c[row, _ORDER])
    for k in range(_ORDER - 1, -1, -1):
        total = total * x + c[row, k]
    return total


@compiled
def _slope(c: Any, row: int, x: float) -> float:
    total = float(_ORDER * c[row, _ORDER])
    for k in range(_ORDER - 1, 0, -1):
        total = total * x + k * c[row, k]
    return total


@compiled
def _length(c: Any) -> float:
    """Length of a step: the last two terms of penetration, velocity, slip and angle are below rounding."""
    motion = abs(c[0, 0]) + abs(c[1, 0])
    longest = math.inf
    for row in range(4):
        size = _EXACT * (motion if row < 2 else 1.0)
        for k in (_ORDER - 1, _ORDER):
            term = abs(c[row, k])
            if term > 0.0:
                longest = min(longest, (size / term) ** (1.0 / k))
    return longest


@compiled
def _fall(c: Any, kind: int, level: float, end: float) -> float:
    """Where the force, or the slip less a level, falls through zero up to an end."""
    low, high = 0.0, end
    x = end
    for _ in range(_ITERATIONS):
        if kind == RELEASED:
            value, slope = _value(c, _F, x), _slope(c, _F, x)
        else:
            value, slope = _value(c, 2, x) - level, _slope(c, 2, x)
        if value < 0.0:
            high = x
        else:
            low = x
        new = x - value / slope if slope < 0.0 else 0.5 * (low + high)
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - x) <= 1e-16 * end:
            return new
        x = new
    return x


@compiled
def _least(c: Any, end: float) -> float:
    """Least logarithm of the slip on a step on which it first falls and then grows."""
    low, high = 0.0, end
    for _ in range(_ITERATIONS):
        x = 0.5 * (low + high)
        if _slope(c, 2, x) < 0.0:
            low = x
        else:
            high = x
    return _value(c, 2, low)


@compiled
def turn(
    start: Any, G: Any, mu: float, d: float, speed: float, floor: float, marks: Any, sampled: Any
) -> tuple[int, float, float]:
    """Follow the slip until the force vanishes or the slip has stopped.

    Parameters
    ----------
    start : array, (9,)
        Unknowns at the start; overwritten by those at the end.
    G : array, (3, 3)
        Delassus operator, normal row first.
    mu, d, speed : float
        Friction, damping, and slip speed at the start.
    floor : float
        Logarithm of the slip, relative to its start, at which it has stopped.
    marks : array, (m,)
        Ascending places ``sigma`` at which the unknowns are wanted.
    sampled : array, (m, 9)
        Gets the unknowns there.

    Returns
    -------
    event : int
        ``RELEASED``, ``STOPPED``, or 0 if neither came.
    sigma : float
        Where.
    least : float
        Least logarithm of the slip met.
    """
    c = np.zeros((PATH + 10, _ORDER + 1))
    sigma, least, mark = 0.0, start[2], 0
    for _ in range(_MAX_STEPS):
        c[:PATH, 0] = start
        _series(c, G, mu, d, speed)
        step, event = _length(c), 0
        if not (step > 0.0 and step < math.inf):
            break
        if _value(c, _F, step) < 0.0:
            step, event = _fall(c, RELEASED, 0.0, step), RELEASED
        if _value(c, 2, step) < floor:
            step, event = _fall(c, STOPPED, floor, step), STOPPED
        while mark < len(marks) and marks[mark] <= sigma + step:
            for row in range(PATH):
                sampled[mark, row] = _value(c, row, marks[mark] - sigma)
            mark += 1
        if _slope(c, 2, 0.0) < 0.0 and _slope(c, 2, step) > 0.0:
            least = min(least, _least(c, step))
        for row in range(PATH):
            start[row] = _value(c, row, step)
        sigma += step
        least = min(least, start[2])
        if event:
            while mark < len(marks):
                sampled[mark] = start
                mark += 1
            return event, sigma, least
    return 0, sigma, least
