"""The linear oscillator of a compliant contact in stretched time: its motion, its end and its impulse in closed form.

While a contact keeps its mode, penetration ``Y`` and normal velocity ``w`` obey ``Y' = w``, ``w' = A F`` with the force
``F = -Y - 2 d w`` (Miller and Rubinovich 2017); the inertia factor ``A`` may have either sign.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance_scalar import stop_of_one

Array = NDArray[np.float64]

_SERIES_BELOW = 0.05  # of abs(A) s^2 and (d A s)^2: the closed forms lose more than 1e-14 by cancellation below
_TERMS = 16  # of the series: 0.3^16 / 16! is far below rounding
_MAX_ITERATIONS = 100  # bisection alone halves 1e9 to rounding in 80
_ROUNDING = 4e-16


def exponents(A: Array, d: Array) -> tuple[Array, Array]:
    """Real eigenvalues ``lam_+ >= lam_-`` of the oscillator; NaN where it oscillates.

    For ``A < 0`` one is positive and one negative: a saddle (Hogan and Kristiansen 2017).
    """
    alpha = d * A
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(alpha**2 - A)
        fast = np.where(A > 0, -(alpha + root), root - alpha)
        slow = np.where(fast != 0, A / np.where(fast != 0, fast, 1.0), 0.0)
    return np.where(A > 0, slow, fast), np.where(A > 0, fast, slow)


@attrs.frozen(eq=False)
class Oscillator:
    """Constants of the oscillator at many states: ``alpha = d A``, ``z = alpha^2 - A``, its roots and eigenvalues."""

    A: Array
    d: Array
    alpha: Array
    z: Array
    omega: Array
    root: Array
    upper: Array
    lower: Array

    @classmethod
    def of(cls, A: Array, d: Array) -> Oscillator:
        """From inertia factor and damping."""
        alpha = d * A
        z = alpha**2 - A
        upper, lower = exponents(A, d)
        return cls(A, d, alpha, z, np.sqrt(np.maximum(-z, 0.0)), np.sqrt(np.maximum(z, 0.0)), upper, lower)

    def at(self, index: NDArray[np.intp]) -> Oscillator:
        """The same at some of the states."""
        return Oscillator(*(getattr(self, field.name)[index] for field in attrs.fields(Oscillator)))

    def propagators(self, s: Array) -> tuple[Array, Array]:
        """``C = exp(-dAs) cosh(r s)`` and ``S = exp(-dAs) sinh(r s)/r`` with ``r^2 = z`` of either sign.

        ``Y = Y0 (C + dA S) + w0 S`` and ``w = w0 (C - dA S) - A Y0 S``.
        """
        z, omega, root = self.z, self.omega, self.root
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            growing, decay = np.exp(self.upper * s), np.exp(-self.alpha * s)
            C_real = (growing + np.exp(self.lower * s)) / 2
            S_real = np.where(root * s > 0, -growing * np.expm1(-2 * root * s) / (2 * root), s * decay)
            phase = omega * s
            S_turning = np.where(omega > 0, decay * np.sin(phase) / np.where(omega > 0, omega, 1.0), s * decay)
        return np.where(z < 0, decay * np.cos(phase), C_real), np.where(z < 0, S_turning, S_real)

    def integral_of_S(self, s: Array, C: Array, S: Array) -> Array:
        """Integral of ``S`` from 0 to ``s``, without cancellation for small ``A``."""
        A, alpha, upper, lower = self.A, self.alpha, self.upper, self.lower
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            closed = np.where(
                A < 0,
                (np.expm1(upper * s) / upper - np.expm1(lower * s) / lower) / (upper - lower),
                (1.0 - C - alpha * S) / A,
            )
            is_small = np.maximum(np.abs(A) * s**2, (alpha * s) ** 2) < _SERIES_BELOW
        if not is_small.any():
            return np.asarray(closed)
        # S = sum c_k s^k with (k + 2)(k + 1) c_(k+2) = -2 alpha (k + 1) c_(k+1) - A c_k
        x = np.where(is_small, s, 0.0)
        before, term, total = np.zeros_like(x), x, x * x / 2
        for k in range(1, _TERMS):
            before, term = term, -(2 * alpha * k * x * term + A * x * x * before) / (k * (k + 1))
            total = total + term * x / (k + 2)
        return np.where(is_small, total, closed)


def propagators(A: Array, d: Array, s: Array) -> tuple[Array, Array]:
    """``C`` and ``S`` of :meth:`Oscillator.propagators`."""
    return Oscillator.of(A, d).propagators(s)


def end_of_contact(A: Array, d: Array, Y: Array, w: Array) -> Array:
    """First time at which the force vanishes; infinite where it grows (``A <= 0``).

    Parameters
    ----------
    A, d : array, (...)
        Inertia factor, 1/mass, and damping.
    Y, w : array, (...)
        Penetration (not above 0) and normal velocity, with a force that is not negative.

    Returns
    -------
    array, (...)
        Stretched time.

    Examples
    --------
    >>> float(end_of_contact(np.array(1.0), np.array(0.0), np.array(0.0), np.array(-1.0)))
    3.141592653589793
    """
    alpha = d * A
    z = alpha**2 - A
    F = np.maximum(-Y - 2 * d * w, 0.0)
    h = w + alpha * F  # F(s) = F C(s) - h S(s)
    omega, root = np.sqrt(np.maximum(-z, 0.0)), np.sqrt(np.maximum(z, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        turning = np.arctan2(omega * F, h) / np.where(omega > 0, omega, 1.0)
        share = root * F / h
        # log((h + r F) / (h - r F)) / 2 with the difference of squares written without cancellation
        far = np.log((h + root * F) / np.sqrt(w**2 - A * F * Y))
        near = np.arctanh(np.minimum(share, 0.5))
        real = np.where(root > 0, np.where(share < 0.5, near, far) / np.where(root > 0, root, 1.0), F / h)
    return np.asarray(np.where(z < 0, turning, np.where((A > 0) & (h > 0), real, np.inf)))


def impulse_until(A: Array, d: Array, Y: Array, w: Array, s: Array) -> Array:
    """Normal impulse up to a time: the integral of the force; infinite for an infinite time."""
    is_finite = np.isfinite(s)
    at = np.where(is_finite, s, 0.0)
    oscillator = Oscillator.of(A, d)
    C, S = oscillator.propagators(at)
    return np.where(is_finite, -w * (2 * d * S + oscillator.integral_of_S(at, C, S)) - Y * S, np.inf)


def time_of_impulse(A: Array, d: Array, w: Array, impulse: Array, latest: Array) -> Array:
    """Time at which the normal impulse reaches a value, from ``Y = 0`` and ``w < 0``; all arrays of shape (N,).

    The impulse grows monotonically until the force vanishes: Halley's method, kept inside a shrinking bracket.
    """
    target = impulse / -w
    if A.size == 1:
        return np.array([stop_of_one(float(A[0]), float(d[0]), target=float(target[0]), latest=float(latest[0]))])
    oscillator = Oscillator.of(A, d)
    # 2 d s + s^2 / 2 bounds it from below where A <= 0
    guess = 2 * target / (2 * d + np.sqrt(4 * d**2 + 2 * target))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        growing = np.log1p(2 * target * oscillator.root / (2 * d + 1 / oscillator.upper)) / oscillator.upper
    s = np.where(A < 0, np.minimum(guess, growing), np.minimum(guess, latest))
    low, high = np.zeros_like(s), np.where(np.isfinite(latest), latest, 1.0 + guess)
    result, open_ = s.copy(), np.arange(s.size)
    for _ in range(_MAX_ITERATIONS):
        value, slope, bend = _excess(oscillator, s, target)
        low, high = np.where(value <= 0, s, low), np.where(value > 0, s, high)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            newton = value / slope
            step = s - newton / np.maximum(1 - newton * bend / (2 * slope), 0.5)
        is_inside = (step >= low) & (step <= high)  # False for NaN
        new = np.where(is_inside, step, (low + high) / 2)
        is_open = np.abs(new - s) > _ROUNDING * np.abs(new)
        result[open_] = s = new
        if not is_open.any():
            break
        if np.count_nonzero(is_open) < 0.7 * s.size:
            kept = np.flatnonzero(is_open)
            oscillator, open_ = oscillator.at(kept), open_[kept]
            s, low, high, target = s[kept], low[kept], high[kept], target[kept]
    return result


def _excess(oscillator: Oscillator, s: Array, target: Array) -> tuple[Array, Array, Array]:
    """Impulse per approach less its target, and its two derivatives."""
    d, alpha = oscillator.d, oscillator.alpha
    C, S = oscillator.propagators(s)
    rate = C - alpha * S
    with np.errstate(invalid="ignore", over="ignore"):
        value = 2 * d * S + oscillator.integral_of_S(s, C, S) - target
        bend = rate + 2 * d * ((2 * alpha**2 - oscillator.A) * S - 2 * alpha * C)
        return value, S + 2 * d * rate, bend
