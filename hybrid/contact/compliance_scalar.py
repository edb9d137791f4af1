"""The time at which the slip of one planar contact stops, on plain floats: ten times as quick as on arrays of one."""

from __future__ import annotations

import math

_SERIES_BELOW = 0.05  # as for arrays
_TERMS = 16
_MAX_ITERATIONS = 100
_ROUNDING = 4e-16
_LARGEST = 700.0  # exponents beyond overflow; any bracket that holds them is only being shrunk


def stop_of_one(A: float, d: float, *, target: float, latest: float) -> float:
    """Solve ``2 d S(s) + integral of S = target`` for the oscillator of one contact.

    Parameters
    ----------
    A, d : float
        Inertia factor and damping.
    target : float
        Normal impulse at which the slip stops over the approach velocity.
    latest : float
        End of contact, may be infinite.

    Returns
    -------
    float
        Stretched time.

    Examples
    --------
    >>> round(stop_of_one(1.0, 0.0, target=1.0, latest=math.pi) - math.pi / 2, 12)
    0.0
    """
    guess = 2 * target / (2 * d + math.sqrt(4 * d * d + 2 * target))
    s = min(guess, latest)
    if A < 0:
        root = math.sqrt(d * d * A * A - A)
        upper = root - d * A
        s = min(guess, math.log1p(2 * target * root / (2 * d + 1 / upper)) / upper)
    low, high = 0.0, latest if math.isfinite(latest) else 1.0 + guess
    for _ in range(_MAX_ITERATIONS):
        C, S, integral = _propagate(A, d, s)
        alpha = d * A
        value, slope = 2 * d * S + integral - target, S + 2 * d * (C - alpha * S)
        bend = C - alpha * S + 2 * d * ((2 * alpha * alpha - A) * S - 2 * alpha * C)
        if value <= 0:
            low = s
        else:
            high = s
        newton = value / slope if slope else math.inf
        step = s - newton / max(1 - newton * bend / (2 * slope), 0.5) if slope else math.inf
        new = step if low <= step <= high else (low + high) / 2
        if abs(new - s) <= _ROUNDING * abs(new):
            return new
        s = new
    return s


def _propagate(A: float, d: float, s: float) -> tuple[float, float, float]:
    """``C``, ``S`` and the integral of ``S`` at a time."""
    alpha = d * A
    z = alpha * alpha - A
    if z < 0:
        omega, decay = math.sqrt(-z), math.exp(-alpha * s)
        C, S = decay * math.cos(omega * s), decay * math.sin(omega * s) / omega
        upper = lower = 0.0
    else:
        root = math.sqrt(z)
        lower = root - alpha if A <= 0 else -(alpha + root)
        upper, lower = (lower, A / lower if lower else 0.0) if A <= 0 else (A / lower, lower)
        growing = math.exp(min(upper * s, _LARGEST))
        C = (growing + math.exp(lower * s)) / 2
        S = -growing * math.expm1(-2 * root * s) / (2 * root) if root * s > 0 else s * math.exp(-alpha * s)
    if max(abs(A) * s * s, (alpha * s) ** 2) < _SERIES_BELOW:
        before, term, total = 0.0, s, s * s / 2
        for k in range(1, _TERMS):
            before, term = term, -(2 * alpha * k * s * term + A * s * s * before) / (k * (k + 1))
            total += term * s / (k + 2)
        return C, S, total
    if A < 0:
        return C, S, (math.expm1(min(upper * s, _LARGEST)) / upper - math.expm1(lower * s) / lower) / (upper - lower)
    return C, S, (1.0 - C - alpha * S) / A
