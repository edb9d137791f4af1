"""Functions of one step as Chebyshev series on [0, 1]: where do they first fall below zero?

The zeros of a series are the eigenvalues of its colleague matrix (Good 1961, Quart. J. Math. 12, 61), so no pair of
crossings inside a step is overlooked, however shallow; a sum of the coefficients excludes a zero beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import compress, pairwise

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from hybrid.tolerances import NEARLY, SUMMED

Array = NDArray[np.float64]

N_NODES = 17
MAX_HALVINGS = 12
_EPSILON = float(np.finfo(float).eps)
_RESOLVED = SUMMED  # relative size of the last coefficients of a resolved series
INDISTINCT = 16.0  # values of so many roundings are those of a function that stays at its zero
BEYOND = 100.0  # what an unresolved series may lack, in units of its last coefficients
LAST = 4  # so many of them, because poles between the nodes may leave any two of them small
_HALVINGS = 60
_NEWTON = 60
TANGENT = math.sqrt(_RESOLVED)
"""A slope this small next to the rest of the function counts as none: that of a double zero, as well as it is known."""


def points_and_transform(n: int) -> tuple[Array, Array]:
    """Chebyshev points of [0, 1], and what makes a series of values there.

    Parameters
    ----------
    n : int

    Returns
    -------
    points : array, (n,)
        Ascending, without the ends.
    transform : array, (n, n)
        From values to coefficients of Chebyshev polynomials in ``2 s - 1``, the constant first.
    """
    angles = (2 * np.arange(n) + 1) * np.pi / (2 * n)
    transform = 2 / n * np.cos(np.outer(np.arange(n), np.pi - angles))
    transform[0] /= 2
    return (1 - np.cos(angles)) / 2, transform


NODES, _TRANSFORM = points_and_transform(N_NODES)
BETWEEN: Array = (NODES[1:] + NODES[:-1]) / 2
"""Points halfway between them."""
_AT_ZERO = (-1.0) ** np.arange(N_NODES)
_BETWEEN = _TRANSFORM.T @ chebyshev.chebvander(2 * BETWEEN - 1, N_NODES - 1).T
_DERIVATIVE = chebyshev.chebder(np.eye(N_NODES))


def series(values: Array) -> Array:
    """Coefficients of the series through values at ``NODES``.

    Parameters
    ----------
    values : array, (..., 17)

    Returns
    -------
    array, (..., 17)
        Of Chebyshev polynomials in ``2 s - 1``, the constant first.
    """
    return np.asarray(values @ _TRANSFORM.T)


def between(values: Array) -> Array:
    """Values, halfway between ``NODES``, of the series through values there.

    Parameters
    ----------
    values : array, (..., 17)

    Returns
    -------
    array, (..., 16)
        At ``BETWEEN``.
    """
    return np.asarray(values @ _BETWEEN)


def evaluate(coefficients: Array, s: float | Array) -> Array:
    """Value of a series.

    Parameters
    ----------
    coefficients : array, (m, ...)
        As of :func:`series`, one series or several side by side.
    s : float or array, (N,)
        In [0, 1], or so near that the series still holds.

    Returns
    -------
    array, (...) or (..., N)
    """
    return np.asarray(chebyshev.chebval(2 * np.asarray(s) - 1, coefficients))


def excludes_zero(values: Array) -> NDArray[np.bool_]:
    """Where a function is certainly positive on [0, 1], by the sizes of its coefficients.

    Parameters
    ----------
    values : array, (number, 17)
        Values of functions at ``NODES``, which may be infinite.

    Returns
    -------
    array of bool, (number,)
        True where the constant coefficient exceeds the sum of all others and what the series may lack.
    """
    with np.errstate(invalid="ignore"):  # a watched function may be infinite
        coefficients = series(values)
        sizes = np.abs(coefficients)
        return np.asarray(2 * coefficients[:, 0] - sizes.sum(axis=1) > BEYOND * sizes[:, -LAST:].max(axis=1))


def first_descent(
    function: Callable[[Array], Array], values: Array, *, start: float | None = None, floor: float = 0.0
) -> float | None:
    """Earliest point of [0, 1] from which a function falls below zero.

    Parameters
    ----------
    function : callable
        Array of points in [0, 1] to array of values.
    values : array, (17,)
        Its values at ``NODES``.
    start : float, optional
        Its value at 0 if that is a known zero (up to rounding): this zero is divided out, and is not found again.
    floor : float
        What counts as below zero only beyond this: the rounding of the function.

    Returns
    -------
    float or None

    Examples
    --------
    >>> hop = lambda s: s * (0.25 - s)
    >>> round(first_descent(hop, hop(NODES), start=0.0), 14)
    0.25
    >>> graze = lambda s: (s - 0.5) ** 2 - 1e-10
    >>> round(first_descent(graze, graze(NODES)), 9)
    0.49999
    """
    if start is not None and float(np.abs(values).max()) <= INDISTINCT * floor:
        return None  # a zero that lasts, not one from which the function falls
    return _descend(function, values, 0.0, 1.0, start, floor, 0)


def _descend(
    function: Callable[[Array], Array],
    values: Array,
    low: float,
    high: float,
    start: float | None,
    floor: float,
    depth: int,
) -> float | None:
    if not np.isfinite(values).all():  # a pole at a node
        return bracketed(function, low + NODES * (high - low), values < -floor)
    order, reduced = deflate(values, start)
    coefficients = series(reduced)
    size = float(np.abs(coefficients).sum())
    noise = (floor + _EPSILON * float(np.abs(values).max())) / NODES[0] ** order
    tail = float(np.abs(coefficients[-2:]).max())
    resolved = not tail > _RESOLVED * size + noise
    lacking = 0.0 if resolved else BEYOND * float(np.abs(coefficients[-LAST:]).max())
    if 2 * coefficients[0] - size > lacking:
        return None
    if resolved or depth >= MAX_HALVINGS:
        if not resolved:  # a kink or a jump, to which no series converges
            crossed = bracketed(function, low + NODES * (high - low), values < -floor - _rounding(values))
            if crossed is not None:
                return crossed
        s = _descent_of(
            lambda s: function(low + s * (high - low)), coefficients, order, start or 0.0, floor + _rounding(values)
        )
        return None if s is None else low + s * (high - low)
    middle = (low + high) / 2
    for left, right, known in ((low, middle, start), (middle, high, None)):
        points = left + NODES * (right - left)
        found = _descend(function, function(points), left, right, known, floor, depth + 1)
        if found is not None:
            return found
    return bracketed(function, low + NODES * (high - low), values < -floor - _rounding(values))


def _rounding(values: Array) -> float:
    return 8 * _EPSILON * float(np.abs(values).max())


def bracketed(function: Callable[[Array], Array], points: Array, below: NDArray[np.bool_]) -> float | None:
    """Just after where a function falls below zero before the first of its points that lies there.

    Only the signs of its values count, so that it may jump or have a pole; the halves of a step may both miss it.

    Parameters
    ----------
    function : callable
        Array of points in [0, 1] to array of values.
    points : array, (m,)
        Ascending.
    below : array of bool, (m,)
        Where it lies below zero.

    Returns
    -------
    float or None
        None if it lies there at no point, or at the first one.
    """
    first = int(np.argmax(below))
    if first == 0:
        return None
    _, high = halved(float(points[first - 1]), float(points[first]), lambda s: not function(s)[0] < 0.0)
    return high


def halved(low: float, high: float, holds: Callable[[Array], bool]) -> tuple[float, float]:
    """Two numbers next to each other between which something ceases to hold.

    Parameters
    ----------
    low, high : float
        In [0, 1]; it holds at the first and not at the second.
    holds : callable
        Array of one number to bool.

    Returns
    -------
    float, float
    """
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(np.array([middle])) else (low, middle)
    return low, high


def deflate(values: Array, start: float | None) -> tuple[int, Array]:
    """Values with a known zero at 0 divided out, twice if the function starts tangentially.

    Parameters
    ----------
    values : array, (17,)
        Of the function at ``NODES``.
    start : float or None
        Its value at 0, if that is a known zero up to rounding.

    Returns
    -------
    order : int
        How many times it was divided by ``s``.
    values : array, (17,)
    """
    if start is None:
        return 0, values
    once = (values - start) / NODES
    slope = float(_AT_ZERO @ series(once))
    if abs(slope) > TANGENT * float(np.abs(once).max()):
        return 1, once
    return 2, (once - slope) / NODES


def _descent_of(
    function: Callable[[Array], Array], coefficients: Array, order: int, start: float, floor: float
) -> float | None:
    points: list[float] = [0.0, *sorted(((_zeros(coefficients) + 1) / 2).tolist()), 1.0]
    places = [*((left + right) / 2 for left, right in pairwise(points)), 1.0]
    terms = coefficients.tolist()
    low = [at for at, s in enumerate(places) if _sum(terms, 2 * s - 1) * s**order < -floor]
    if low:  # the series of a double zero or a kink may fall where the function itself does not
        falls = (function(np.array([places[at] for at in low])) < min(start, 0.0)).tolist()
        low = list(compress(low, falls))
    if not low or (len(points) == 2 and low[0]):
        return None
    return points[min(low[0], len(points) - 2)]


def _zeros(coefficients: Array) -> Array:
    """Zeros of a series in (-1, 1), and near misses."""
    slope = _DERIVATIVE @ coefficients
    if 2 * abs(slope[0]) > np.abs(slope).sum():
        return _zero_of_monotone(coefficients.tolist(), slope.tolist())
    trimmed = chebyshev.chebtrim(coefficients, tol=_EPSILON / 4 * float(np.abs(coefficients).max()))
    roots = np.atleast_1d(chebyshev.chebroots(trimmed)) if len(trimmed) > 1 else np.zeros(0)
    return np.asarray(roots.real[(np.abs(roots.imag) < NEARLY) & (np.abs(roots.real) < 1.0)])


def _zero_of_monotone(coefficients: list[float], slope: list[float]) -> Array:
    """The only zero, if there is one, by Newton's method kept within a bracket."""
    low, high = -1.0, 1.0
    at_low, at_high = _sum(coefficients, low), _sum(coefficients, high)
    if (at_low > 0.0) == (at_high > 0.0):
        return np.zeros(0)
    x = low + (high - low) * at_low / (at_low - at_high)
    for _ in range(_NEWTON):
        value = _sum(coefficients, x)
        low, high = (x, high) if (value > 0.0) == (at_low > 0.0) else (low, x)
        before, x = x, x - value / _sum(slope, x)
        if not low <= x <= high:
            x = (low + high) / 2
        if abs(x - before) <= 2 * _EPSILON:
            break
    return np.array([x])


def _sum(coefficients: list[float], x: float) -> float:
    """Clenshaw's recurrence (Clenshaw 1955, Math. Tables Aids Comput. 9, 118), in plain floats."""
    first = second = 0.0
    for coefficient in coefficients[:0:-1]:
        first, second = coefficient + 2 * x * first - second, first
    return coefficients[0] + x * first - second
