"""The configuration space of a mechanism with one degree of freedom as curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.configuration.search import Box, sides, spread
from hybrid.dynamics.configuration import ConfigurationSpace
from hybrid.dynamics.redundancy import independent_rows
from hybrid.errors import StateError

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values

__all__ = ["ConfigurationCurves", "configuration_curves"]

Array = NDArray[np.float64]

_STEPS_ACROSS = 200  # steps of a curve across the longest side of the box
_LONGEST = 20_000
_SHORTEST = 1e-3
_PASSED = 0.05  # share of its usual size below which the Jacobian no longer tells a curve's direction
_FITTED = 5  # postures behind through which a curve is continued there


@attrs.frozen(eq=False)
class ConfigurationCurves:
    """The configuration space of a mechanism with one degree of freedom, in a box.

    Attributes
    ----------
    coordinates : tuple of str
    curves : tuple of array, (N, n)
        Postures in order along each curve.
    low, high : array, (n,)
        The box.
    """

    coordinates: tuple[str, ...]
    curves: tuple[Array, ...]
    low: Array
    high: Array


def configuration_curves(
    dynamics: Dynamics, *, box: Box, parameters: Values | None = None, t: float = 0.0, starts: int = 40
) -> ConfigurationCurves:
    """Follow the curves of postures that the rigid constraints allow, through singular configurations too.

    Parameters
    ----------
    dynamics : Dynamics
        With one degree of freedom.
    box : mapping of str to (float, float)
        Interval of every coordinate.
    parameters : mapping, optional
    t : float
        The time, in s, at which constraints that depend on it are looked at.
    starts : int
        Number of spread postures from which curves are looked for; one that no start leads to is missed.

    Returns
    -------
    ConfigurationCurves

    Raises
    ------
    StateError
        The mechanism has not one degree of freedom, or the box lacks a coordinate.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import configuration_curves, derive
    >>> pendulum = derive(mechanisms.load("singular_pendulum"))
    >>> found = configuration_curves(pendulum, box={"u": (-0.5, 0.5), "theta": (-0.5, 0.5)}, starts=8)
    >>> len(found.curves)
    2
    """
    low, high = sides(dynamics, box)
    space = ConfigurationSpace(dynamics.at(parameters), t)
    postures = spread(low, high, starts)
    freedom = space.n - len(independent_rows(space, postures))
    if freedom != 1:
        raise StateError(f"{dynamics.name} has {freedom} degrees of freedom; its configuration space is no curve")
    step = float(np.max(high - low)) / _STEPS_ACROSS
    seeds = [q for q in map(space.nearest, postures) if q is not None and (q >= low).all() and (q <= high).all()]
    sizes = [_direction(space, q)[1] for q in seeds]
    usual = float(np.median(sizes)) if sizes else 0.0
    curves: list[Array] = []
    for seed, size in zip(seeds, sizes, strict=True):
        if size < _PASSED * usual or any(np.min(np.linalg.norm(c - seed, axis=1)) < step for c in curves):
            continue
        curve = [seed]
        if not _extend(space, curve, 1.0, step, (low, high), usual):
            curve.reverse()
            _extend(space, curve, -1.0, step, (low, high), usual)
        points = np.array(curve)
        if np.max(np.linalg.norm(points - points[0], axis=1)) > step:  # an isolated point is no curve
            curves.append(points)
    return ConfigurationCurves(dynamics.mechanism.coordinates, tuple(curves), low, high)


def _extend(
    space: ConfigurationSpace, curve: list[Array], side: float, step: float, box: tuple[Array, Array], usual: float
) -> bool:
    """Append postures to a curve until it leaves the box; True if it closes instead."""
    seed = curve[-1] if len(curve) == 1 else None
    q, (tangent, size) = curve[-1], _direction(space, curve[-1])
    direction = side * tangent
    first, length = direction, step
    if len(curve) > 1:
        direction = direction * np.sign(direction @ (curve[-1] - curve[-2]) or 1.0)
    while len(curve) < _LONGEST and length >= _SHORTEST * step:
        guess = q + length * direction if size >= _PASSED * usual else _continued(curve, length)
        ahead = space.nearest(guess, hold=direction)
        if ahead is None or np.linalg.norm(ahead - q) > 1.5 * length:
            length /= 2
            continue
        direction, length = (ahead - q) / np.linalg.norm(ahead - q), min(step, 2 * length)
        q = ahead
        curve.append(q)
        if (q < box[0]).any() or (q > box[1]).any():
            return False
        tangent, size = _direction(space, q)
        if size >= _PASSED * usual:
            direction = tangent * np.sign(tangent @ direction)
        if seed is not None and len(curve) > 4 and np.linalg.norm(q - seed) < 0.75 * step and direction @ first > 0.5:
            curve.append(seed)
            return True
    return False


def _continued(curve: list[Array], length: float) -> Array:
    """The next posture by a polynomial through the last ones, for where the constraints tell no direction."""
    last = np.array(curve[-_FITTED:])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(last, axis=0), axis=1))])
    fitted = np.polynomial.polynomial.polyfit(along - along[-1], last, len(last) - 1)
    return np.asarray(np.polynomial.polynomial.polyval(length, fitted))


def _direction(space: ConfigurationSpace, q: Array) -> tuple[Array, float]:
    """Tangent of a curve, and the size of the singular value that tells it."""
    _, sizes, right = np.linalg.svd(space.jacobian(q))
    return right[-1], float(sizes[space.n - 2])
