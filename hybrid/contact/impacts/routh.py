"""The path of a planar impact along the normal impulse: slip, stick and reversal (Routh 1860, Keller 1986)."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError
from hybrid.expressions import must_not_change, plain, tie_means
from hybrid.tolerances import ROUNDING

_NEVER = float("inf")


@attrs.frozen
class RouthPhase:
    """A stretch of the path on which contact velocities are linear in the normal impulse ``P``.

    Attributes
    ----------
    kind : str
        ``"slide+"``, ``"slide-"`` or ``"stick"``.
    length : float
        Normal impulse on this stretch; infinite for the last one.
    gamma_N : float
        Normal velocity at its start.
    rate_N : float
        Its derivative with respect to ``P``.
    ratio : float
        Tangential impulse per normal impulse.
    stop : float
        Tangential impulse at its start, which takes away a slip of zero: zero, unless that slip is a dual number.
    """

    kind: str
    length: float
    gamma_N: float
    rate_N: float
    ratio: float
    stop: float = 0.0


def routh_path(G: NDArray[np.float64], gamma: NDArray[np.float64], mu: float) -> tuple[RouthPhase, ...]:
    """Phases of the path of one planar contact; at most three.

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
    tuple of RouthPhase
        The last has infinite length.

    Examples
    --------
    >>> import numpy as np
    >>> [segment.kind for segment in routh_path(np.array([[1.0, 0.2], [0.2, 1.0]]), np.array([-1.0, 0.1]), 0.5)]
    ['slide+', 'stick']
    """
    segments: list[RouthPhase] = []
    gamma_N, gamma_T = gamma.tolist()
    while True:
        segment = _next_segment(G.tolist(), gamma_N, gamma_T, mu)
        segments.append(segment)
        if segment.length == _NEVER:
            return tuple(segments)
        gamma_N, gamma_T = _sum(gamma_N, segment.rate_N * segment.length), 0.0


def _sum(first: float, second: float) -> float:
    """A sum, zero where it is but the rounding of its terms: of a contact on a circle the normal velocity ends so."""
    total = first + second
    is_nothing = abs(plain(total)) <= ROUNDING * (abs(plain(first)) + abs(plain(second)))
    return total - plain(total) if is_nothing else total


def _next_segment(G: list[list[float]], gamma_N: float, gamma_T: float, mu: float) -> RouthPhase:
    (G_NN, G_NT), (_, G_TT) = G
    sign = float(np.sign(plain(gamma_T)))
    if sign == 0.0:
        with tie_means("friction can just hold the contact in the impact", is_proven=True):
            is_held = -mu * G_TT <= G_NT <= mu * G_TT
        if is_held:
            stop = -gamma_T / G_TT
            rate_N = _sum(G_NN, -(G_NT**2) / G_TT)
            return RouthPhase("stick", _NEVER, gamma_N + G_NT * stop, rate_N, -G_NT / G_TT, stop)
        must_not_change(gamma_T, "an impact without slip in which friction cannot hold: it slips to either side")
        sign = float(np.sign(plain(G_NT)))  # slip is driven by the coupling, against friction that cannot hold it
    rate_N, rate_T = G_NN - sign * mu * G_NT, G_NT - sign * mu * G_TT
    length = -gamma_T / rate_T if gamma_T * rate_T < 0 else _NEVER
    return RouthPhase("slide+" if sign > 0 else "slide-", length, gamma_N, rate_N, -sign * mu)


def end_of_compression(segments: tuple[RouthPhase, ...]) -> float:
    """Normal impulse at which the normal velocity returns to zero from below; 0 if it never falls below.

    A contact that separates has no impact, even if impulses would first bring it back. One without normal velocity
    that impulses press into the surface has (an impact without collision).

    Parameters
    ----------
    segments : tuple of RouthPhase
        The path, as :func:`routh_path` finds it.

    Returns
    -------
    float

    Raises
    ------
    ComputationError
        It does not return, which no positive semidefinite Delassus operator allows.
    """
    first = segments[0]
    with tie_means("an impact of a contact that does not approach"):
        if first.gamma_N > 0.0 or (first.gamma_N == 0.0 and first.rate_N >= 0.0):
            return 0.0
    start = 0.0
    for number, segment in enumerate(segments):
        if number and segment.gamma_N >= 0.0:
            return start
        if segment.rate_N > 0.0 and (zero := -segment.gamma_N / segment.rate_N) <= segment.length:
            return start + zero
        start += segment.length
    raise ComputationError("compression does not end: the Delassus operator is not positive semidefinite")


def end_of_restitution(segments: tuple[RouthPhase, ...], compression: float, e: float) -> float:
    """Normal impulse at which restitution has given back ``e**2`` times the work of compression (Stronge 1990).

    The normal velocity is zero where compression ends.

    Parameters
    ----------
    segments : tuple of RouthPhase
        The path, as :func:`routh_path` finds it.
    compression : float
        Normal impulse at the end of compression.
    e : float
        Energetic coefficient of restitution.

    Returns
    -------
    float
        Counted from the start of the impact, so not below ``compression``.
    """
    stored = _stored_work(segments, compression)
    at, remaining = 0.0, e**2 * stored
    for segment in segments:
        low = compression - at
        if low > segment.length:
            at += segment.length
            continue
        if low > 0.0:
            share: float = e * (2 * stored / segment.rate_N) ** 0.5  # from velocity zero: linear in e
            velocity = 0.0
        else:
            low, velocity, share = 0.0, segment.gamma_N, _share_of_work(segment, remaining)
        if share < _NEVER and low + share <= segment.length:
            return at + low + share
        rest = segment.length - low
        remaining -= velocity * rest + segment.rate_N * rest**2 / 2
        at += segment.length
    return compression


def _share_of_work(segment: RouthPhase, work: float) -> float:
    """Normal impulse from the start of a segment on which it does a positive work; infinite if there is none."""
    discriminant = segment.gamma_N**2 + 2 * segment.rate_N * work
    if discriminant < 0.0:
        return _NEVER
    # gamma_N x + rate_N x^2/2 = work, smallest x >= 0, written without cancellation
    root: float = segment.gamma_N + discriminant**0.5
    return 2 * work / root if root > 0.0 else _NEVER


def _stored_work(segments: tuple[RouthPhase, ...], compression: float) -> float:
    """Work that compression takes from the normal motion."""
    work = 0.0
    for segment, share in _up_to(segments, compression):
        work -= segment.gamma_N * share + segment.rate_N * share**2 / 2
    return work


def _up_to(segments: tuple[RouthPhase, ...], end: float) -> Iterator[tuple[RouthPhase, float]]:
    """The phases that are entered up to a normal impulse, each with what is spent of it there."""
    at = 0.0
    for segment in segments:
        share = min(end - at, segment.length)
        if share <= 0.0:
            return
        yield segment, share
        at += segment.length


def tangential_impulse(segments: tuple[RouthPhase, ...], end: float) -> tuple[float, tuple[tuple[str, float], ...]]:
    """Tangential impulse up to a normal impulse, and the normal impulse spent in each phase.

    Parameters
    ----------
    segments : tuple of RouthPhase
        The path, as :func:`routh_path` finds it.
    end : float
        Normal impulse at which the path ends.

    Returns
    -------
    impulse_T : float
    phases : tuple of (str, float)
        Kind and normal impulse of every phase that is entered.
    """
    entered = list(_up_to(segments, end))
    total = sum((segment.stop + segment.ratio * share for segment, share in entered), 0.0)
    return total, tuple((segment.kind, share) for segment, share in entered)
