"""The path of a planar impact along the normal impulse: slip, stick and reversal (Routh 1860, Keller 1986)."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError

_NEVER = float("inf")
_ROUNDING = 1e-12  # of sums of terms that cancel; the entries of a Delassus operator of condition 1e3 have 1e-13


@attrs.frozen
class Leg:
    """A stretch of the path on which contact velocities are linear in the normal impulse ``P``.

    Attributes
    ----------
    kind : str
        ``"slide+"``, ``"slide-"`` or ``"stick"``.
    length : float
        Normal impulse on this stretch; infinite for the last one.
    gamma_N, gamma_T : float
        Velocities at its start.
    rate_N, rate_T : float
        Their derivatives with respect to ``P``.
    ratio : float
        Tangential impulse per normal impulse.
    """

    kind: str
    length: float
    gamma_N: float
    gamma_T: float
    rate_N: float
    rate_T: float
    ratio: float


def routh_path(G: NDArray[np.float64], gamma: NDArray[np.float64], mu: float) -> tuple[Leg, ...]:
    """Legs of the path of one planar contact; at most three.

    Parameters
    ----------
    G : array, (2, 2)
        Delassus operator of the contact, 1/mass.
    gamma : array, (2,)
        Normal and tangential velocity before the impact.
    mu : float
        Friction coefficient.

    Returns
    -------
    tuple of Leg
        The last has infinite length.

    Examples
    --------
    >>> import numpy as np
    >>> [leg.kind for leg in routh_path(np.array([[1.0, 0.2], [0.2, 1.0]]), np.array([-1.0, 0.1]), 0.5)]
    ['slide+', 'stick']
    """
    legs: list[Leg] = []
    gamma_N, gamma_T = float(gamma[0]), float(gamma[1])
    while not legs or np.isfinite(legs[-1].length):
        leg = _next_leg(G, gamma_N, gamma_T, mu)
        legs.append(leg)
        gamma_N, gamma_T = _sum(gamma_N, leg.rate_N * leg.length), 0.0
    return tuple(legs)


def _sum(first: float, second: float) -> float:
    """A sum, zero where it is but the rounding of its terms: of a contact on a circle the normal velocity ends so."""
    total = first + second
    return total if abs(total) > _ROUNDING * (abs(first) + abs(second)) else 0.0


def _next_leg(G: NDArray[np.float64], gamma_N: float, gamma_T: float, mu: float) -> Leg:
    G_NN, G_NT, G_TT = float(G[0, 0]), float(G[0, 1]), float(G[1, 1])
    sign = float(np.sign(gamma_T))
    if sign == 0.0:
        if abs(G_NT) <= mu * G_TT:
            return Leg("stick", _NEVER, gamma_N, 0.0, _sum(G_NN, -(G_NT**2) / G_TT), 0.0, -G_NT / G_TT)
        sign = float(np.sign(G_NT))  # slip is driven by the coupling, against friction that cannot hold it
    rate_N, rate_T = G_NN - sign * mu * G_NT, G_NT - sign * mu * G_TT
    length = -gamma_T / rate_T if gamma_T * rate_T < 0 else _NEVER
    return Leg("slide+" if sign > 0 else "slide-", length, gamma_N, gamma_T, rate_N, rate_T, -sign * mu)


def end_of_compression(legs: tuple[Leg, ...]) -> float:
    """Normal impulse at which the normal velocity returns to zero from below; 0 if it never falls below.

    A contact that separates has no impact, even if impulses would first bring it back. One without normal velocity
    that impulses press into the surface has (an impact without collision).

    Raises
    ------
    ComputationError
        It does not return, which no positive semidefinite Delassus operator allows.
    """
    if legs[0].gamma_N > 0.0 or (legs[0].gamma_N == 0.0 and legs[0].rate_N >= 0.0):
        return 0.0
    start = 0.0
    for number, leg in enumerate(legs):
        if number and leg.gamma_N >= 0.0:
            return start
        if leg.rate_N > 0.0 and (zero := -leg.gamma_N / leg.rate_N) <= leg.length:
            return start + zero
        start += leg.length
    raise ComputationError("compression does not end: the Delassus operator is not positive semidefinite")


def normal_work(legs: tuple[Leg, ...], start: float, end: float) -> float:
    """Work of the normal impulse between two values of it, the integral of the normal velocity."""
    work, at = 0.0, 0.0
    for leg in legs:
        low, high = max(start - at, 0.0), min(end - at, leg.length)
        if high > low:
            work += leg.gamma_N * (high - low) + leg.rate_N * (high**2 - low**2) / 2
        at += leg.length
    return work


def impulse_of_work(legs: tuple[Leg, ...], start: float, work: float) -> float:
    """Normal impulse at which the work since ``start`` reaches a value; the normal velocity must be positive there."""
    if work <= 0.0:
        return start
    at, remaining = 0.0, work
    for leg in legs:
        low = max(start - at, 0.0)
        if low <= leg.length:
            velocity = leg.gamma_N + leg.rate_N * low
            rate = leg.rate_N
            # velocity x + rate x^2/2 = remaining, smallest x >= 0, written without cancellation
            discriminant = velocity**2 + 2 * rate * remaining
            if discriminant >= 0 and (root := velocity + np.sqrt(discriminant)) > 0:
                x = 2 * remaining / root
                if low + x <= leg.length:
                    return float(at + low + x)
            remaining -= (
                velocity * (leg.length - low) + rate * (leg.length**2 - low**2 - 2 * low * (leg.length - low)) / 2
            )
        at += leg.length
    return start


def tangential_impulse(legs: tuple[Leg, ...], end: float) -> tuple[float, tuple[tuple[str, float], ...]]:
    """Tangential impulse up to a normal impulse, and the normal impulse spent in each phase."""
    total, at = 0.0, 0.0
    phases: list[tuple[str, float]] = []
    for leg in legs:
        share = min(end - at, leg.length)
        if share <= 0:
            break
        total += leg.ratio * share
        phases.append((leg.kind, share))
        at += leg.length
    return total, tuple(phases)
