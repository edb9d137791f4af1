"""How closely branches touch: the lost constraint along the curve on which it is stationary across their tangent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import NDArray

from hybrid.tolerances import AGREEING, RESOLVED, SQUARED, SUMMED

if TYPE_CHECKING:
    from hybrid.dynamics.configuration import ConfigurationSpace

__all__ = ["Spine", "spine_of"]

Array = NDArray[np.float64]

_NODES = 21
_DEGREE = 10
_LEADING = 1e-2  # the leading term dominates on a short curve; what is below this share of it is of higher or no order
_PLACED = SQUARED  # of the curve's half length: the point is found when it moves by less
_APART = AGREEING  # share of the leading term above which a lower one is no misplaced point (its square)
_ROUNDS = 8
_ITERATIONS = 40


@attrs.frozen(eq=False)
class Spine:
    """The curve on which a lost constraint is stationary across a degenerate direction (splitting lemma).

    Attributes
    ----------
    q : array, (n,)
        The singular point on it.
    along : array, (n,)
        Its tangent.
    points : array, (7, n)
        Its postures as a polynomial in the length along the tangent.
    power : int
        ``p`` of the constraint's growth ``e s^p`` along it.
    ratio : float
        ``e / a`` with the growth ``a r^2`` across it: branches lie at ``r^2 = -(e/a) s^p``.
    """

    q: Array
    along: Array
    points: Array
    power: int
    ratio: float

    def at(self, s: float) -> Array:
        """The posture at a length along the tangent."""
        return np.asarray(polynomial.polyval(s, self.points))


def spine_of(space: ConfigurationSpace, q: Array, w: Array, rank: int, along: Array, across: Array) -> Spine | None:
    """The stationary curve through a degenerate singular point, and the point placed on it.

    Parameters
    ----------
    space : ConfigurationSpace
    q : array, (n,)
        Near the singular point.
    w : array, (m,)
        The lost combination of constraints.
    rank : int
        Number of constraints that stay independent.
    along, across : array, (n,)
        Zero direction of the quadratic form, and the other one.

    Returns
    -------
    Spine or None
    """
    half = space.reach
    s = half * np.cos((2 * np.arange(_NODES) + 1) * np.pi / (2 * _NODES))
    curvature = float(w @ space.curvature(q, across) @ across) / 2
    first: tuple[Array, Array, Array] | None = None
    for _ in range(_ROUNDS):
        postures = [_stationary(space, q, w, rank, along, across, float(length)) for length in s]
        if any(posture is None for posture in postures):
            return None
        values = np.array([float(w @ space.values(posture)) for posture in postures if posture is not None])
        growth = polynomial.polyfit(s / half, values, _DEGREE)
        sizes = np.abs(growth)
        power = int(np.argmax(sizes > _LEADING * sizes.max()))
        if sizes.max() == 0.0 or power > _DEGREE - 2:
            return None
        points = polynomial.polyfit(s, np.array(postures), 6)
        first = first or (q, points, growth)
        # completing the power: (s - c)^p = s^p - p c s^(p-1) + ...
        shift = -float(growth[power - 1]) / (power * float(growth[power])) if power else 1.0
        if power < 2 or abs(shift) > 0.5:
            return None
        q = np.asarray(polynomial.polyval(shift * half, points))
        if abs(shift) <= _PLACED:
            if np.max(sizes[: power - 1]) > _APART * sizes[power]:  # not all roots of the growth lie at one point
                q, points, growth = first
                power = int(np.argmax(np.abs(growth) > _APART * np.max(np.abs(growth))))
            if power < 2:
                return None
            return Spine(q, along, points, power, float(growth[power]) / half**power / curvature)
    return None


def _stationary(
    space: ConfigurationSpace, q: Array, w: Array, rank: int, along: Array, across: Array, s: float
) -> Array | None:
    """The posture at a length ``s`` along the tangent where the lost constraint is stationary across it."""
    x = np.asarray(q + s * along)
    for _ in range(_ITERATIONS):
        left = np.linalg.svd(space.jacobian(x))[0]
        kept = left[:, :rank].T
        rows = np.vstack([kept @ space.jacobian(x), along])
        free = np.linalg.svd(rows)[2][rank + 1 :]  # what may vary: the kernel but the tangent
        free = free[np.argmax(np.abs(free @ across))]
        slope = float(w @ space.jacobian(x) @ free)
        bend = w @ space.curvature(x, free)
        system = np.vstack([rows, bend])
        residual = np.concatenate([kept @ space.values(x), [float(along @ (x - q)) - s], [slope]])
        change, *_ = np.linalg.lstsq(system, residual, rcond=None)
        if not np.isfinite(change).all():
            return None
        x = np.asarray(x - change)
        if np.max(np.abs(change)) <= SUMMED * (1.0 + np.max(np.abs(x))):
            return x
    return x if np.max(np.abs(change)) <= RESOLVED else None
