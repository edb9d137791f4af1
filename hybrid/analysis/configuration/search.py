"""Singular configurations of a mechanism, found by search.

The configuration space of a mechanism with one degree of freedom as curves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.declaration.names import suggestion
from hybrid.dynamics.configuration import ConfigurationSpace, independent_rows
from hybrid.dynamics.derive import bound
from hybrid.dynamics.singular_points import SingularPoint, classify_configuration
from hybrid.errors import StateError
from hybrid.tolerances import LAST_PLACE, NEARLY

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values

__all__ = ["Box", "ConfigurationCurves", "box_ends", "configuration_curves", "singular_configurations", "spread"]


Array = NDArray[np.float64]
Box = Mapping[str, tuple[float, float]]

_STARTS = 100
_TRIED = 1e-2  # share of the reach from a known point within which a candidate is that one
_SAME = 1e-3  # share of the reach within which two singular points are one
_EVALUATIONS = 60
_FINEST = LAST_PLACE


@checks_arguments
def singular_configurations(
    dynamics: Dynamics,
    *,
    box: Box,
    parameters: Values | None = None,
    t: float = 0.0,
    starts: int = _STARTS,
    reach: float = 0.05,
) -> tuple[SingularPoint, ...]:
    """Search a box of postures for singular configurations of the rigid constraints.

    Solves ``f(q) = 0, J(q)^T w = 0, |w| = 1`` by the method of Levenberg and Marquardt from evenly spread starts
    (Marquardt 1963).
    The search is not exhaustive: a point whose neighbourhood no start falls into is missed.

    Parameters
    ----------
    dynamics : Dynamics
    box : mapping of str to (float, float)
        Interval of every coordinate.
    parameters : mapping, optional
    t : float
        The time, in s, at which constraints that depend on it are looked at.
    starts : int
        Number of starts.
    reach : float
        Distance at which the neighbourhood of a point is looked at to classify it, in the units of the coordinates.

    Returns
    -------
    tuple of SingularPoint
        Classified, with the tangents of their branches, in the order of their coordinates.

    Raises
    ------
    StateError
        The mechanism has no rigid constraint, or the box lacks a coordinate.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, singular_configurations
    >>> pendulum = derive(mechanisms.load("singular_pendulum"))
    >>> (point,) = singular_configurations(pendulum, box={"u": (-1, 1), "theta": (-1, 1)}, starts=20)
    >>> point.kind.value
    'transversal crossing'
    """
    dynamics = bound(dynamics, parameters)
    from scipy.optimize import least_squares

    low, high = box_ends(dynamics, box)
    space = ConfigurationSpace(dynamics, t, reach)
    from_where = spread(low, high, starts)
    rows = independent_rows(space, from_where)
    found: list[SingularPoint] = []
    for start in from_where:
        left = np.linalg.svd(space.jacobian(start)[rows])[0]
        guess = np.concatenate([start, left[:, -1]])
        options = {"method": "lm", "xtol": _FINEST, "ftol": _FINEST, "gtol": _FINEST, "max_nfev": _EVALUATIONS}
        try:
            solved = least_squares(_residual(space, rows), guess, jac=_slope(space, rows), **options)
        except ValueError:  # a residual without a finite value on the way
            continue
        q = solved.x[: space.n]
        if (q < low - reach).any() or (q > high + reach).any() or not space.contains(q):
            continue
        if any(np.linalg.norm(point.q - q) <= _TRIED * reach for point in found):
            continue
        point = _confirmed(space, q)
        if point is None or (point.q < low - _SAME * reach).any() or (point.q > high + _SAME * reach).any():
            continue
        if all(np.linalg.norm(other.q - point.q) > _SAME * reach for other in found):
            found.append(point)
    return tuple(sorted(found, key=lambda point: tuple(np.round(point.q, 6))))


def _confirmed(space: ConfigurationSpace, q: Array) -> SingularPoint | None:
    """The singular point near a candidate, which a degenerate one leaves only approximately known."""
    point = classify_configuration(space, q, lost=NEARLY)
    return point if point is not None and space.regularity(point.q).is_singular else None


def box_ends(dynamics: Dynamics, box: Box) -> tuple[Array, Array]:
    """Lower and upper ends of a box of postures, checked.

    Parameters
    ----------
    dynamics : Dynamics
    box : mapping of str to (float, float)
        An interval for every coordinate.

    Returns
    -------
    low, high : array, (n,)

    Raises
    ------
    StateError
        The mechanism has no rigid constraint; or the box lacks a coordinate, has another name, or is empty or infinite.
    """
    names = dynamics.mechanism.coordinates
    if not dynamics.rigid:
        raise StateError(f"{dynamics.name} has no rigid constraint, so no singular configuration")
    for name in box:
        if name not in names:
            hint = suggestion(name, names) or f"the coordinates are {', '.join(names)}"
            raise StateError(f"the box names {name!r}, which is no coordinate of {dynamics.name}; {hint}")
    missing = [name for name in names if name not in box]
    if missing:
        raise StateError(f"the box needs an interval for every coordinate; missing: {', '.join(missing)}")
    low, high = (np.array([float(box[name][end]) for name in names]) for end in (0, 1))
    if not (low < high).all() or not np.isfinite(low + high).all():
        raise StateError("every interval of the box must be finite, with its lower end first")
    return low, high


def spread(low: Array, high: Array, count: int) -> list[Array]:
    """Postures that fill a box evenly (Halton 1960).

    Parameters
    ----------
    low, high : array, (n,)
        Ends of the box.
    count : int

    Returns
    -------
    list of array, (n,)
        ``count`` of them.

    Raises
    ------
    StateError
        ``count`` is below 1.
    """
    if count < 1:
        raise StateError(f"starts is the number of postures to start from: at least 1, not {count}")
    from scipy.stats.qmc import Halton

    return [low + share * (high - low) for share in Halton(len(low), scramble=False).random(count + 1)[1:]]


def _residual(space: ConfigurationSpace, rows: list[int]) -> Callable[[Array], Array]:
    def residual(x: Array) -> Array:
        q, w = x[: space.n], x[space.n :]
        return np.concatenate([space.values(q)[rows], space.jacobian(q)[rows].T @ w, [(w @ w - 1) / 2]])

    return residual


def _slope(space: ConfigurationSpace, rows: list[int]) -> Callable[[Array], Array]:
    def slope(x: Array) -> Array:
        q, w = x[: space.n], x[space.n :]
        J, m = space.jacobian(q)[rows], len(rows)
        curvatures = np.array([w @ space.curvature(q, direction)[rows] for direction in np.eye(space.n)])
        top = np.hstack([J, np.zeros((m, m))])
        middle = np.hstack([curvatures, J.T])
        return np.vstack([top, middle, np.concatenate([np.zeros(space.n), w])])

    return slope


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


@checks_arguments
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
    dynamics = bound(dynamics, parameters)
    low, high = box_ends(dynamics, box)
    space = ConfigurationSpace(dynamics, t)
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
