"""Distance between motions with jumps."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import LEAST

Array = NDArray[np.float64]


class Curve(Protocol):
    """Anything that can be drawn as a curve in time and state."""

    def graph(self, points: int) -> Array:
        """Points ``(t, q, v)`` of the completed graph, (number, 1 + 2n)."""


def distance(first: Curve, second: Curve, *, points: int = 2000, scale: Any = 1.0) -> float:
    """Hausdorff distance of the completed graphs of two motions.

    In the uniform norm two motions with a jump at slightly different times are never close; as curves in the space
    of time and state, with the jumps filled in by straight lines, they are (Schatzman 1978; Moreau 1988).

    Parameters
    ----------
    first, second : Trajectory
    points : int
        Points on each curve; the distance is exact to about their spacing times the speed.
    scale : float or array, (1 + 2n,)
        Units of time, coordinates and velocities.

    Returns
    -------
    float
        In those units.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive, simulate
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> high, low = (simulate(ball, State([h], [0.0]), t_end=0.1) for h in (1.0, 0.9))
    >>> round(distance(high, low), 6)
    0.1
    """
    from scipy.spatial import cKDTree

    one, other = (_dense(motion.graph(points) / np.asarray(scale), points) for motion in (first, second))
    return float(max(_to_curve(cKDTree, one, other), _to_curve(cKDTree, other, one)))


def _dense(curve: Array, points: int) -> Array:
    """The same polygon with its long sides, the jumps, divided."""
    lengths = np.linalg.norm(np.diff(curve, axis=0), axis=1)
    spacing = float(lengths.sum()) / points
    if spacing <= 0.0:
        return curve
    pieces = np.maximum(np.ceil(lengths / spacing).astype(int), 1)
    start = np.repeat(np.arange(len(pieces)), pieces)
    inside = np.arange(len(start)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    share = (inside / pieces[start])[:, None]
    return np.vstack([curve[start] * (1 - share) + curve[start + 1] * share, curve[-1:]])


def _to_curve(tree: Any, points: Array, curve: Array) -> float:
    """Largest distance of points from a polygonal curve: to the two segments that meet at the nearest vertex."""
    _, nearest = tree(curve).query(points)
    best = np.linalg.norm(points - curve[nearest], axis=1)
    for shift in (-1, 0):
        start = np.clip(nearest + shift, 0, len(curve) - 2)
        a, b = curve[start], curve[start + 1]
        along = b - a
        length = np.maximum(np.sum(along**2, axis=1), LEAST)
        s = np.clip(np.sum((points - a) * along, axis=1) / length, 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(points - a - s[:, None] * along, axis=1))
    return float(np.max(best))
