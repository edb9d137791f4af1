"""The highest maximum that a scan of a box sees, of a smooth function or of a family of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import CANCELLED, LONG_STEP

Array = NDArray[np.float64]

# Points of the scan: one swept quantity gets 4097, two get 181 each, more share as many as two.
_LINE_POINTS = 4097
_SCAN_POINTS = 32_768
# Peaks of the scan that are polished: more than any mechanism of the catalogue has over its postures.
_MAX_PEAKS = 32
_MAX_STEPS = 60
# Central differences of order 8 (Fornberg 1988, Mathematics of Computation 51, table 1).
_OFFSETS = np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0])
_FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
_SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
_SECOND_CENTRE = -205 / 72
# Truncation (h k)^8 of waves of k = 10 over the box and rounding 1e-16 / h are both below 1e-13. A narrow peak needs
# shorter differences: they are cut where the parabola that they give misses the values beside the point.
_DIFFERENCE = LONG_STEP
_MISSED = 0.25  # of the change that the parabola predicts; a quarter still halves the distance to the maximum
_ROUNDING = 64 * float(np.finfo(np.float64).eps)  # of two values of a function of some tens of operations


@attrs.frozen(eq=False)
class _Folded:
    """The function over angles ``u``: ``x = low + (high - low) (1 - cos u) / 2`` never leaves the box.

    A maximum on a face of the box becomes a stationary point, so one method serves both.
    """

    f: Callable[[Array], Array]
    low: Array
    high: Array

    def x(self, u: Array) -> Array:
        return np.asarray(self.low + (self.high - self.low) * (1 - np.cos(u)) / 2)

    def __call__(self, u: Array) -> Array:
        """Values at angles (..., d); minus infinity where the function is undefined."""
        values = self.f(self.x(u).reshape(-1, len(self.low))).reshape(u.shape[:-1])
        return np.where(np.isfinite(values), values, -np.inf)


def global_maximum(f: Callable[[Array], Array], low: Sequence[float], high: Sequence[float]) -> tuple[Array, float]:
    """Scan a box and climb to the top of the peaks that are seen.

    A peak that lies between the points of the scan and raises none of them is not seen: the answer is then too low.

    Parameters
    ----------
    f : callable
        Maps points (k, d) to values (k,); NaN where undefined. Smooth where defined.
    low, high : sequence of float, length d

    Returns
    -------
    x : array, (d,)
        Good to about 1e-12 of the box where the maximum is regular. Of several equal maxima the first in order.
    value : float
        Minus infinity if the function is undefined everywhere.

    Examples
    --------
    >>> x, value = global_maximum(lambda x: np.sin(3 * x[:, 0]) - (x[:, 1] - 0.5) ** 2, [0, 0], [1, 1])
    >>> x.round(9).tolist(), value
    ([0.523598776, 0.5], 1.0)
    """
    x, value, _ = global_maximum_of(lambda at: f(at)[:, None], low, high)
    return x, value


def global_maximum_of(
    family: Callable[[Array], Array], low: Sequence[float], high: Sequence[float]
) -> tuple[Array, float, int]:
    """The same for the largest of several functions, whose maxima are those of its members.

    Parameters
    ----------
    family : callable
        Maps points (k, d) to values (k, m).
    low, high : sequence of float, length d

    Returns
    -------
    x, value
        As from :func:`global_maximum`.
    member : int
        The function that is largest there; -1 if all are undefined everywhere.
    """
    ends = np.asarray(low, dtype=float), np.asarray(high, dtype=float)

    def largest(x: Array) -> Array:
        values = family(x)
        return np.asarray(np.max(np.where(np.isfinite(values), values, -np.inf), axis=-1))

    u, spacing = _peaks(_Folded(largest, *ends))
    if not len(u):
        return np.full(len(ends[0]), np.nan), -np.inf, -1
    values = family(_Folded(largest, *ends).x(u))
    members = np.argmax(np.where(np.isfinite(values), values, -np.inf), axis=-1)
    value = np.empty(len(u))
    for member in np.unique(members):
        own = members == member
        folded = _Folded(partial(_member, family, int(member)), *ends)
        u[own], value[own] = _polished(folded, u[own], spacing)
    near = value >= np.max(value) - CANCELLED * abs(np.max(value))
    x = _Folded(largest, *ends).x(u[near])
    first = np.lexsort(x.round(9).T[::-1])[0]
    return x[first], float(np.max(value)), int(members[near][first])


def _member(family: Callable[[Array], Array], member: int, x: Array) -> Array:
    return family(x)[:, member]


def scan_points(d: int) -> int:
    """Points of the scan along each of d quantities.

    Parameters
    ----------
    d : int

    Returns
    -------
    int
        At least 3.
    """
    return _LINE_POINTS if d == 1 else max(3, int(_SCAN_POINTS ** (1 / d)))


def _peaks(folded: _Folded) -> tuple[Array, float]:
    """Highest local maxima of a scan, (k, d), and its spacing."""
    from scipy.ndimage import maximum_filter

    d = len(folded.low)
    line = np.linspace(0.0, np.pi, scan_points(d))
    grid = np.stack(np.meshgrid(*[line] * d, indexing="ij"), axis=-1)
    values = folded(grid)
    places = np.argwhere(np.isfinite(values) & (values >= maximum_filter(values, size=3, mode="nearest")))
    highest = np.argsort(-values[tuple(places.T)], kind="stable")[:_MAX_PEAKS]
    return line[places[highest]], float(line[1])


def _polished(folded: _Folded, u: Array, radius: float) -> tuple[Array, Array]:
    """Climb from points (k, d): a Newton step where it is trusted, else a step along an axis, never downhill."""
    value = folded(u)
    radii, reach = np.full(len(u), radius), np.full(len(u), _DIFFERENCE)
    compass = np.concatenate([np.eye(u.shape[1]), -np.eye(u.shape[1])])
    rows = np.arange(len(u))
    for _ in range(_MAX_STEPS):
        around = u[:, None] + radii[:, None, None] * compass
        at_around = folded(around)
        newton, fits = _newton_step(folded, u, value, reach, radii, at_around)
        size = np.max(np.abs(newton), axis=-1)
        trusted = fits & (size <= radii)
        reach = np.where(fits, reach, reach / 4)
        # rounding of the function must not reject the last, small Newton steps
        floor = value - 8 * np.finfo(float).eps * np.abs(value)
        trial = np.where(trusted[:, None], u + newton, u)
        at_trial = folded(trial)
        accepted = trusted & (at_trial >= floor)
        best = np.argmax(at_around, axis=1)
        better = ~accepted & (at_around[rows, best] > value)
        u = np.where(accepted[:, None], trial, np.where(better[:, None], around[rows, best], u))
        value = np.where(accepted, at_trial, np.where(better, at_around[rows, best], value))
        radii = np.where(accepted, np.minimum(radii, 4 * size), np.where(better, radii, radii / 4))
        if np.all(np.where(accepted, size, radii) < CANCELLED):
            break
    return u, value


def _newton_step(
    folded: _Folded, u: Array, value: Array, reach: Array, radii: Array, at_around: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Newton steps (k, d) from differences (k,) of a reach; infinite where undefined nearby or not concave.

    With them, whether the parabolas along the axes meet the values (k, 2 d) at some radii (k,) around the points.
    """
    k, d = u.shape
    h = reach[:, None]
    axes = np.eye(d) * reach[:, None, None]
    line = folded(u[:, None, None] + _OFFSETS[:, None] * axes[:, :, None, :])
    with np.errstate(invalid="ignore"):
        gradient = line @ _FIRST / h
        hessian = np.zeros((k, d, d))
        hessian[:, range(d), range(d)] = (line @ _SECOND + _SECOND_CENTRE * value[:, None]) / h**2
        for i in range(d):
            for j in range(i):
                ends = ((1, 1), (1, -1), (-1, 1), (-1, -1))
                corners = [folded(u + a * axes[:, i] + b * axes[:, j]) for a, b in ends]
                mixed = (corners[0] - corners[1] - corners[2] + corners[3]) / (4 * reach**2)
                hessian[:, i, j] = hessian[:, j, i] = mixed
        slope, bend = gradient * radii[:, None], np.diagonal(hessian, axis1=1, axis2=2) * radii[:, None] ** 2 / 2
        missed = np.abs(at_around - value[:, None] - np.concatenate([slope + bend, bend - slope], axis=1))
        change = np.max(np.abs(slope) + np.abs(bend), axis=1, keepdims=True)
        fits = np.all(missed <= _MISSED * change + _ROUNDING * np.abs(value[:, None]), axis=1)
    step = np.full((k, d), np.inf)
    defined = np.isfinite(gradient).all(axis=-1) & np.isfinite(hessian).all(axis=(-2, -1))
    concave = np.linalg.eigvalsh(np.where(defined[:, None, None], hessian, np.eye(d)))[:, -1] < 0
    if concave.any():
        step[concave] = -np.linalg.solve(hessian[concave], gradient[concave][..., None])[..., 0]
    return step, np.asarray(fits)
