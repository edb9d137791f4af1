"""The compliant limit of one planar contact in closed form: slide, stick or reversed slide, for arrays of states."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance_linear import (
    Array,
    end_of_contact,
    exponents,
    impulse_until,
    propagators,
    time_of_impulse,
)

KINDS = ("none", "slide+", "slide-", "stick")
_STICK = 3
_VANISHING = 1e-12  # an approach below this share of the slip velocity is the limit of none: rounding of the velocities
_PIECE = 1 << 16  # states at a time: temporaries stay in the cache


@attrs.frozen(eq=False)
class PlanarLimit:
    """Outcome of the compliant limit at one or many states of a planar contact.

    Attributes
    ----------
    gamma : array, (..., 2)
        Normal and tangential velocity after the impact.
    impulse : array, (..., 2)
        Normal and tangential impulse.
    kind : array of int8, (..., 2)
        Index into ``KINDS`` of the first and second phase.
    impulse_N : array, (..., 2)
        Normal impulse of each phase.
    duration : array, (..., 2)
        Duration of each phase in stretched time; infinite for the first phase of an impact without collision.
    work_N, work_T : array, (..., 2)
        Work of the normal force and of friction in each phase.
    """

    gamma: Array
    impulse: Array
    kind: NDArray[np.int8]
    impulse_N: Array
    duration: Array
    work_N: Array
    work_T: Array


@attrs.frozen(eq=False)
class _Phase:
    kind: NDArray[np.int8]
    impulse: Array
    ratio: Array
    duration: Array
    Y: Array
    w: Array
    u: Array
    work_N: Array
    work_T: Array


def planar_limit(G: Any, gamma: Any, *, friction: Any, damping: Any) -> PlanarLimit:
    """Velocities after the impact of a compliant contact whose stiffness tends to infinity.

    The fast system of Miller and Rubinovich (2017): ``dY/ds = gamma_N``, ``d gamma/ds = G (F_N, F_T)`` with ``F_N = -Y
    - 2 d gamma_N`` and Coulomb friction, at frozen position, until the force vanishes. An approach of zero is its limit
    from below: an impact without collision where ``G_NN - s mu G_NT < 0``, no impact elsewhere.

    Parameters
    ----------
    G : array_like, (..., 2, 2)
        Delassus operator, 1/mass; positive definite, or with a zero tangential row.
    gamma : array_like, (..., 2)
        Normal and tangential velocity before.
    friction, damping : array_like, (...)
        Friction coefficient, and ``d`` in units of the square root of a mass.

    Returns
    -------
    PlanarLimit

    Examples
    --------
    Restitution of a damped contact without friction (Schwager and Poeschel 2007) is ``exp(-pi/2)`` for ``d = 1/sqrt2``:

    >>> planar_limit(np.eye(2), [-1.0, 0.0], friction=0.0, damping=0.5**0.5).gamma[0].round(12)
    np.float64(0.207879576351)
    """
    G, gamma = np.asarray(G, dtype=np.float64), np.asarray(gamma, dtype=np.float64)
    mu, d = np.asarray(friction, dtype=np.float64), np.asarray(damping, dtype=np.float64)
    shape = np.broadcast_shapes(G.shape[:-2], gamma.shape[:-1], mu.shape, d.shape)
    flat = [
        np.ascontiguousarray(np.broadcast_to(item, shape)).reshape(-1)
        for item in (G[..., 0, 0], G[..., 0, 1], G[..., 1, 1], gamma[..., 0], gamma[..., 1], mu, d)
    ]
    size = flat[0].size
    pieces = [_piece(*(item[at : at + _PIECE] for item in flat)) for at in range(0, max(size, 1), _PIECE)]
    joined = {
        field.name: np.concatenate([getattr(piece, field.name) for piece in pieces]).reshape((*shape, 2))
        for field in attrs.fields(PlanarLimit)
    }
    return PlanarLimit(**joined)


def _piece(G_NN: Array, G_NT: Array, G_TT: Array, w: Array, u: Array, mu: Array, d: Array) -> PlanarLimit:
    kind = _kind_of_slip(G_NT, G_TT, mu, u)
    A, B, ratio = _factors(G_NN, G_NT, G_TT, mu, kind)
    is_grazing = np.abs(w) <= _VANISHING * np.abs(u)
    dives = is_grazing & (A < 0) & (u != 0)
    takes_part = dives | ((w < 0) & ~is_grazing)
    kind = np.where(takes_part, kind, 0).astype(np.int8)
    with np.errstate(divide="ignore", invalid="ignore"):
        stop = np.where(u * B < 0, -u / B, np.inf)
    zero = np.zeros_like(w)
    first = _advance(A, B, ratio, d, (zero, w, u), stop, kind, dives)
    goes_on = np.isfinite(stop) & (first.u == 0.0) & takes_part & (first.impulse == stop)
    kind = np.where(goes_on, _kind_of_slip(G_NT, G_TT, mu, zero), 0).astype(np.int8)
    A, B, ratio = _factors(G_NN, G_NT, G_TT, mu, kind)
    second = _advance(A, B, ratio, d, (first.Y, first.w, first.u), np.full_like(w, np.inf), kind, np.zeros_like(dives))
    phases = (first, second)
    impulse_N = np.stack([phase.impulse for phase in phases], axis=-1)
    tangential = first.ratio * first.impulse + second.ratio * second.impulse
    return PlanarLimit(
        gamma=np.stack([second.w, second.u], axis=-1),
        impulse=np.stack([impulse_N.sum(axis=-1), tangential], axis=-1) + 0.0,
        kind=np.stack([phase.kind for phase in phases], axis=-1),
        impulse_N=impulse_N,
        duration=np.stack([phase.duration for phase in phases], axis=-1),
        work_N=np.stack([phase.work_N for phase in phases], axis=-1),
        work_T=np.stack([phase.work_T for phase in phases], axis=-1),
    )


def _kind_of_slip(G_NT: Array, G_TT: Array, mu: Array, u: Array) -> NDArray[np.int8]:
    """Sliding along the slip; at rest sticking where friction can hold, else sliding where the coupling drives it."""
    driven = np.where(np.abs(G_NT) <= mu * G_TT, 0.0, G_NT)
    sign = np.sign(np.where(u != 0.0, u, driven))
    return np.where(sign > 0, 1, np.where(sign < 0, 2, _STICK)).astype(np.int8)


def _factors(G_NN: Array, G_NT: Array, G_TT: Array, mu: Array, kind: NDArray[np.int8]) -> tuple[Array, Array, Array]:
    """Rates of normal and tangential velocity, and the tangential impulse, per normal impulse."""
    held = np.divide(-G_NT, G_TT, out=np.zeros_like(G_NT), where=G_TT > 0)
    ratio = np.where(kind == _STICK, held, np.where(kind == 1, -mu, mu))
    return G_NN + ratio * G_NT, np.where(kind == _STICK, 0.0, G_NT + ratio * G_TT), ratio


def _advance(
    A: Array,
    B: Array,
    ratio: Array,
    d: Array,
    start: tuple[Array, Array, Array],
    stop: Array,
    kind: NDArray[np.int8],
    dives: NDArray[np.bool_],
) -> _Phase:
    """One phase from a start ``(Y, w, u)`` until the force vanishes or the slip stops; nothing where ``kind`` is 0."""
    Y, w, u = start
    impulse, duration, Y_end = np.zeros_like(w), np.zeros_like(w), Y.copy()
    runs = np.flatnonzero((kind != 0) & ~dives)
    if runs.size:
        part = [item[runs] for item in (A, d, Y, w, stop)]
        impulse[runs], duration[runs], Y_end[runs] = _until(*part)
    if dives.any():
        impulse[dives], duration[dives] = stop[dives], np.inf
        # it leaves along the unstable direction, for which no time is finite (Hogan and Kristiansen 2017)
        Y_end[dives] = A[dives] * stop[dives] / exponents(A[dives], d[dives])[0]
    w_end = w + A * impulse
    u_end = np.where(impulse == stop, 0.0, u + B * impulse)
    return _Phase(
        kind=kind,
        impulse=impulse,
        ratio=ratio,
        duration=duration,
        Y=Y_end,
        w=w_end,
        u=u_end,
        work_N=impulse * (w + w_end) / 2,
        work_T=ratio * impulse * (u + u_end) / 2 + 0.0,
    )


def _until(A: Array, d: Array, Y: Array, w: Array, stop: Array) -> tuple[Array, Array, Array]:
    """Impulse, duration and final penetration of a phase that ends by force zero or at a given impulse."""
    duration = end_of_contact(A, d, Y, w)
    impulse = impulse_until(A, d, Y, w, duration)
    early = np.flatnonzero(stop < impulse)  # only from Y = 0: the slip stops once
    if early.size:
        duration[early] = time_of_impulse(A[early], d[early], w[early], stop[early], duration[early])
        impulse[early] = stop[early]
    C, S = propagators(A, d, duration)
    return impulse, duration, Y * (C + d * A * S) + w * S
