"""The linear oscillator of a compliant contact in fast time, in closed form and compiled: motion, end and impulse.

While a contact keeps its mode, penetration ``Y`` and normal velocity ``w`` obey ``Y' = w``, ``w' = A F`` with the force
``F = -Y - 2 d w`` (Miller and Rubinovich 2017); the inertia factor ``A`` may have either sign. Numbers are single ones:
loops over states are compiled too.

The phases of planar compliant impacts, state by state, compiled.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hybrid.tolerances import ROUNDING, SUMMED
from lcp.kernels.compiled import compiled

__all__ = [
    "COLUMNS",
    "end_of_contact",
    "exponents",
    "impulse_until",
    "lift_of_stick",
    "limits",
    "propagators",
    "sampled",
    "time_of_impulse",
]


_SERIES_BELOW = 0.05  # of abs(A) s^2 and (d A s)^2: the closed forms lose more than 1e-14 by cancellation below
_TERMS = 16  # of the series: 0.3^16 / 16! is far below rounding
_MAX_ITERATIONS = 100  # bisection alone halves 1e9 to rounding in 80
_ROUNDING = 4e-16
_LARGEST = 700.0  # exponents beyond overflow; any bracket that holds them is only being shrunk


@compiled
def exponents(A: float, d: float) -> tuple[float, float]:
    """Real eigenvalues ``lam_+ >= lam_-`` of the oscillator; NaN where it oscillates.

    For ``A < 0`` one is positive and one negative: a saddle (Hogan and Kristiansen 2017).

    Parameters
    ----------
    A, d : float
        Inertia factor, 1/mass, and damping.

    Returns
    -------
    float, float
        Per fast time; roots of ``lam^2 + 2 d A lam + A = 0``.
    """
    alpha = d * A
    root = math.sqrt(alpha * alpha - A) if alpha * alpha >= A else math.nan
    # the sum without cancellation; the other from the product of both, which is A
    fast = -(alpha + root) if A > 0 else root - alpha
    slow = A / fast if fast != 0 else 0.0
    return (slow, fast) if A > 0 else (fast, slow)


@compiled
def propagators(A: float, d: float, s: float) -> tuple[float, float]:
    """``C = exp(-dAs) cosh(r s)`` and ``S = exp(-dAs) sinh(r s)/r`` with ``r^2 = (dA)^2 - A`` of either sign.

    ``Y = Y0 (C + dA S) + w0 S`` and ``w = w0 (C - dA S) - A Y0 S``.

    Parameters
    ----------
    A, d : float
        Inertia factor, 1/mass, and damping.
    s : float
        Fast time since the start.

    Returns
    -------
    float, float
        ``C``, without dimension, and ``S``, a fast time.
    """
    alpha = d * A
    z = alpha * alpha - A
    if z < 0:
        omega, decay = math.sqrt(-z), math.exp(-alpha * s)
        return decay * math.cos(omega * s), decay * math.sin(omega * s) / omega
    root = math.sqrt(z)
    upper, lower = exponents(A, d)
    growing = math.exp(min(upper * s, _LARGEST))
    S = -growing * math.expm1(-2 * root * s) / (2 * root) if root * s > 0 else s * math.exp(-alpha * s)
    return (growing + math.exp(lower * s)) / 2, S


@compiled
def _integral_of_S(A: float, d: float, s: float, C: float, S: float) -> float:
    """Integral of ``S`` from 0 to ``s``, without cancellation for small ``A``."""
    alpha = d * A
    if max(abs(A) * s * s, (alpha * s) ** 2) < _SERIES_BELOW:
        # S = sum c_k s^k with (k + 2)(k + 1) c_(k+2) = -2 alpha (k + 1) c_(k+1) - A c_k
        before, term, total = 0.0, s, s * s / 2
        for k in range(1, _TERMS):
            before, term = term, -(2 * alpha * k * s * term + A * s * s * before) / (k * (k + 1))
            total += term * s / (k + 2)
        return total
    if A < 0:
        upper, lower = exponents(A, d)
        grown = math.expm1(min(upper * s, _LARGEST)) / upper
        return (grown - math.expm1(lower * s) / lower) / (upper - lower)
    return (1.0 - C - alpha * S) / A


@compiled
def end_of_contact(A: float, d: float, Y: float, w: float) -> float:
    """First time at which the force vanishes; infinite where it grows (``A <= 0``).

    Parameters
    ----------
    A, d : float
        Inertia factor, 1/mass, and damping.
    Y, w : float
        Penetration (not above 0) and normal velocity, with a force that is not negative.

    Returns
    -------
    float
        Fast time.

    Examples
    --------
    >>> end_of_contact(1.0, 0.0, 0.0, -1.0)
    3.141592653589793
    """
    alpha = d * A
    z = alpha * alpha - A
    F = max(-Y - 2 * d * w, 0.0)
    h = w + alpha * F  # F(s) = F C(s) - h S(s)
    if z < 0:
        omega = math.sqrt(-z)
        return math.atan2(omega * F, h) / omega
    if not (A > 0 and h > 0):
        return math.inf
    root = math.sqrt(z)
    if root == 0:
        return F / h
    share = root * F / h
    if share < 0.5:
        return math.atanh(share) / root
    # log((h + r F) / (h - r F)) / 2 with the difference of squares written without cancellation
    return math.log((h + root * F) / math.sqrt(w * w - A * F * Y)) / root


@compiled
def impulse_until(A: float, d: float, Y: float, w: float, s: float) -> float:
    """Normal impulse up to a time: the integral of the force.

    Parameters
    ----------
    A, d : float
        Inertia factor, 1/mass, and damping.
    Y, w : float
        Penetration (not above 0) and normal velocity at the start.
    s : float
        Fast time.

    Returns
    -------
    float
        Infinite for an infinite time.
    """
    if s == math.inf:
        return math.inf
    C, S = propagators(A, d, s)
    return -w * (2 * d * S + _integral_of_S(A, d, s, C, S)) - Y * S


@compiled
def time_of_impulse(A: float, d: float, w: float, impulse: float, latest: float) -> float:
    """Time at which the normal impulse reaches a value, from ``Y = 0`` and ``w < 0``.

    The impulse grows monotonically until the force vanishes: Halley's method, kept inside a shrinking bracket.

    Parameters
    ----------
    A, d : float
        Inertia factor, 1/mass, and damping.
    w : float
        Normal velocity at the start, below 0.
    impulse : float
        The value, which is reached before ``latest``.
    latest : float
        Fast time at which the force vanishes; may be infinite.

    Returns
    -------
    float
        Fast time.
    """
    target, alpha = impulse / -w, d * A
    # 2 d s + s^2 / 2 bounds it from below where A <= 0
    guess = 2 * target / (2 * d + math.sqrt(4 * d * d + 2 * target))
    s = min(guess, latest)
    if A < 0:
        upper = exponents(A, d)[0]
        root = math.sqrt(alpha * alpha - A)
        s = min(guess, math.log1p(2 * target * root / (2 * d + 1 / upper)) / upper)
    low, high = 0.0, latest if latest < math.inf else 1.0 + guess
    for _ in range(_MAX_ITERATIONS):
        C, S = propagators(A, d, s)
        value = 2 * d * S + _integral_of_S(A, d, s, C, S) - target
        slope = S + 2 * d * (C - alpha * S)
        bend = C - alpha * S + 2 * d * ((2 * alpha * alpha - A) * S - 2 * alpha * C)
        if value <= 0:
            low = s
        else:
            high = s
        step = math.inf
        if slope != 0:
            newton = value / slope
            step = s - newton / max(1 - newton * bend / (2 * slope), 0.5)
        new = step if low <= step <= high else (low + high) / 2
        if abs(new - s) <= _ROUNDING * abs(new):
            return new
        s = new
    return s


@compiled
def sampled(A: float, d: float, Y: float, w: float, times: Any) -> Any:
    """Penetration and normal velocity at times.

    Parameters
    ----------
    A, d : float
        Inertia factor, 1/mass, and damping.
    Y, w : float
        Penetration and normal velocity at the start.
    times : array, (N,)
        Fast times since the start.

    Returns
    -------
    array, (2, N)
        Penetrations, then normal velocities.
    """
    found = np.empty((2, len(times)))
    for i in range(len(times)):
        C, S = propagators(A, d, times[i])
        found[0, i] = Y * (C + d * A * S) + w * S
        found[1, i] = w * (C - d * A * S) - A * Y * S
    return found


# Columns of the answers: velocities, impulses, and by phase normal impulse, duration, works of both forces.
COLUMNS = 12
_SLIDE_PLUS, _SLIDE_MINUS, _STICK = 1, 2, 3
_SINGULAR = SUMMED  # a mobility below this share is rounding of a mechanism that friction locks
_VANISHING = ROUNDING  # an approach below this share of the slip velocity is the limit of none


@compiled
def _kind_of_slip(G_NT: float, G_TT: float, holds: float, u: float) -> int:
    """Sliding along the slip; at rest sticking where friction can hold, else sliding where the coupling drives it."""
    along = u
    if u == 0.0 and abs(G_NT) > holds * G_TT:
        along = G_NT
    return _SLIDE_PLUS if along > 0 else _SLIDE_MINUS if along < 0 else _STICK


@compiled
def lift_of_stick(lift: float, G_NN: float) -> float:
    """Rate of the normal velocity in sticking, exactly 0 where friction locks the mechanism.

    Parameters
    ----------
    lift : float
        The rate per normal impulse as computed, ``G_NN - G_NT^2/G_TT``; 1/mass.
    G_NN : float
        Of the Delassus operator.

    Returns
    -------
    float
    """
    return lift if lift > _SINGULAR * G_NN else 0.0


@compiled
def _factors(G_NN: float, G_NT: float, G_TT: float, mu: float, kind: int) -> tuple[float, float, float]:
    """Rates of normal and tangential velocity, and the tangential impulse, per normal impulse."""
    if kind == _STICK:
        held = -G_NT / G_TT if G_TT > 0 else 0.0
        lift = G_NN + held * G_NT
        return lift_of_stick(lift, G_NN), 0.0, held
    ratio = -mu if kind == _SLIDE_PLUS else mu
    return G_NN + ratio * G_NT, G_NT + ratio * G_TT, ratio


@compiled
def _until(A: float, d: float, Y: float, w: float, stop: float) -> tuple[float, float, float]:
    """Impulse, duration and final penetration of a phase that ends by force zero or at a given impulse."""
    duration = end_of_contact(A, d, Y, w)
    impulse = impulse_until(A, d, Y, w, duration)
    if stop < impulse:  # only from Y = 0: the slip stops once
        duration, impulse = time_of_impulse(A, d, w, stop, duration), stop
    if duration == math.inf:
        return impulse, duration, -math.inf
    C, S = propagators(A, d, duration)
    return impulse, duration, Y * (C + d * A * S) + w * S


@compiled
def _phase(
    out: Any, phase: int, A: float, B: float, ratio: float, w: float, u: float, P: float, duration: float
) -> tuple[float, float]:
    """Record a phase of given impulse; velocities after it, before a slip that stopped is made zero."""
    w_end, u_end = w + A * P, u + B * P
    out[2] += P
    out[3] += ratio * P
    out[4 + phase], out[6 + phase] = P, duration
    out[8 + phase] = P * (w + w_end) / 2
    out[10 + phase] = ratio * P * (u + u_end) / 2 + 0.0
    return w_end, u_end


@compiled
def _limit(
    G_NN: float, G_NT: float, G_TT: float, w: float, u: float, mu: float, holds: float, d: float, out: Any, kinds: Any
) -> None:
    """One state."""
    out[:] = 0.0
    kinds[:] = 0
    out[0], out[1] = w, u
    kind = _kind_of_slip(G_NT, G_TT, holds, u)
    A, B, ratio = _factors(G_NN, G_NT, G_TT, mu, kind)
    is_grazing = abs(w) <= _VANISHING * abs(u)
    dives = is_grazing and A < 0 and u != 0
    if not (dives or (w < 0 and not is_grazing)):
        return
    stop = -u / B if u * B < 0 else math.inf
    if dives:
        # it leaves along the unstable direction, for which no time is finite (Hogan and Kristiansen 2017)
        P, duration, Y = stop, math.inf, A * stop / exponents(A, d)[0]
    else:
        P, duration, Y = _until(A, d, 0.0, w, stop)
    stops = stop == P and stop < math.inf
    kinds[0] = kind
    w, u = _phase(out, 0, A, B, ratio, w, u, P, duration)
    if stops:
        u = 0.0
        out[10] = ratio * P * out[1] / 2 + 0.0
        kinds[1] = _kind_of_slip(G_NT, G_TT, holds, 0.0)
        A, B, ratio = _factors(G_NN, G_NT, G_TT, mu, kinds[1])
        P, duration, Y = _until(A, d, Y, w, math.inf)
        w, u = _phase(out, 1, A, B, ratio, w, u, P, duration)
    out[0], out[1] = w, u


@compiled
def limits(
    G_NN: Any, G_NT: Any, G_TT: Any, w: Any, u: Any, mu: Any, holds: Any, d: Any, answers: Any, kinds: Any
) -> None:
    """Compliant limits of planar impacts at N states, of which each has at most two phases.

    Parameters
    ----------
    G_NN, G_NT, G_TT : array, (N,)
        Delassus operator, 1/mass.
    w, u : array, (N,)
        Normal velocity and slip before.
    mu, holds : array, (N,)
        Kinetic and static friction coefficient.
    d : array, (N,)
        Damping.
    answers : array, (N, 12)
        Overwritten: normal velocity and slip after, normal and tangential impulse, then for the first and the second
        phase normal impulse, duration in fast time, work of the normal and work of the tangential force, two columns
        each.
    kinds : array of int, (N, 2)
        Overwritten by what the phases are: 0 none, 1 ``slide+``, 2 ``slide-``, 3 ``stick``.

    Returns
    -------
    None
        ``answers`` and ``kinds`` have been written.
    """
    for i in range(len(w)):
        _limit(G_NN[i], G_NT[i], G_TT[i], w[i], u[i], mu[i], holds[i], d[i], answers[i], kinds[i])
