"""Motions of a rigid planar contact that keeps its mode, from many states at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.grid import LABELS
from hybrid.contact.compliance.rates import ContactRates
from hybrid.tolerances import ROUNDING

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

__all__ = ["rigid_motions"]

_STEPS = 24  # the motions compared last no longer than a compliant contact takes to settle
_VANISHING = ROUNDING  # relative to the velocities
_SIGNS = np.array([0.0, 1.0, -1.0, 0.0])
_FREE, _STICK = LABELS.index("free"), LABELS.index("stick")

Array = NDArray[np.float64]


def rigid_motions(
    dynamics: Dynamics,
    q: Array,
    v: Array,
    t: Array,
    *,
    mode: NDArray[np.int8],
    duration: float,
    parameters: Mapping[str, Any],
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Follow the rigid motion of one mode by steps of the fourth order.

    Parameters
    ----------
    dynamics : Dynamics
        Of a mechanism with one contact, planar.
    q, v : array, (N, n)
    t : array, (N,)
    mode : array of int8, (N,)
        Index into the labels of :mod:`hybrid.contact.compliance.grid`.
    duration : float
        In seconds.
    parameters : mapping of str to number or array (N,)

    Returns
    -------
    q, v : array, (N, n)
    kept : array of bool, (N,)
        True where the mode's inequalities held all the way.
    """
    h, kept = duration / _STEPS, np.ones(len(q), dtype=bool)

    def rate(x: Array, u: Array, time: Array) -> tuple[Array, NDArray[np.bool_]]:
        return _accelerations(dynamics, x, u, time, mode, parameters)

    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # motions that have left their mode may leave the range of numbers
        for _ in range(_STEPS):
            a1, holds = rate(q, v, t)
            a2, _ = rate(q + h / 2 * v, v + h / 2 * a1, t + h / 2)
            a3, _ = rate(q + h / 2 * v + h * h / 4 * a1, v + h / 2 * a2, t + h / 2)
            a4, _ = rate(q + h * v + h * h / 2 * a2, v + h * a3, t + h)
            kept &= holds
            q, v, t = q + h * v + h * h / 6 * (a1 + a2 + a3), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), t + h
        return q, v, kept & rate(q, v, t)[1]


def _accelerations(
    dynamics: Dynamics, q: Array, v: Array, t: Array, mode: NDArray[np.int8], parameters: Mapping[str, Any]
) -> tuple[Array, NDArray[np.bool_]]:
    """Generalised accelerations of the modes, and whether their inequalities hold."""
    at = ContactRates.at(dynamics, q, v, t, parameters)
    sign = _SIGNS[mode]
    with np.errstate(divide="ignore", invalid="ignore"):
        A = at.G[:, 0, 0] - sign * at.friction * at.G[:, 0, 1]
        sliding = -at.c[:, 0] / A
        held = (at.G[:, 0, 1] * at.c[:, 1] - at.G[:, 1, 1] * at.c[:, 0]) / (
            at.G[:, 0, 0] * at.G[:, 1, 1] - at.G[:, 0, 1] ** 2
        )
    is_free, is_stuck = mode == _FREE, mode == _STICK
    normal = np.where(is_free, 0.0, np.where(is_stuck, held, sliding))
    tangential = np.where(is_stuck, at.held(normal), -sign * at.friction * normal)
    along, gains = sign * at.slip, sign * (at.c[:, 1] + at.G[:, 1, 0] * normal + at.G[:, 1, 1] * tangential)
    zero = _VANISHING * np.max(np.abs(v), axis=-1, initial=0.0)
    slips = np.where(np.abs(along) <= zero, gains > 0, along > 0)  # a slip may begin at rest
    holds = np.where(
        is_free,
        at.gap_dot >= -ROUNDING,
        (normal >= 0) & np.where(is_stuck, np.abs(tangential) <= at.static_friction * normal, (A > 0) & slips),
    )
    return at.acceleration(np.stack([normal, tangential], axis=-1)), holds
