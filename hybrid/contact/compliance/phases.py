"""The phases of planar compliant impacts, state by state, compiled."""

from __future__ import annotations

import math
from typing import Any

from hybrid.contact.compliance.linear import end_of_contact, exponents, impulse_until, propagators, time_of_impulse
from hybrid.tolerances import ROUNDING, SUMMED
from lcp.kernels.compiled import compiled

__all__ = ["COLUMNS", "lift_of_stick", "limits"]

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
