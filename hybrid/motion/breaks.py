"""Functions that jump, or have no value from some time on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hybrid.motion.chebyshev import NODES, first_descent
from hybrid.motion.steps import PLACES
from hybrid.tolerances import CLEAR

__all__ = ["change_of_sign", "jump", "loss"]

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

_HALVINGS = 60
_SMALL = CLEAR  # of its usual size over the step: a function this large where it changes its sign jumps


def loss(function: Function, row: Array, *, start: float | None = None, floor: float = 0.0) -> tuple[float, bool]:
    """Where a function of [0, 1] falls below zero, or is finite for the last time.

    Parameters
    ----------
    function : callable
        Array of points in [0, 1] to array of values.
    row : array, (19,)
        Its values at ``PLACES``, not all of them finite.
    start : float, optional
        Its value at 0 if that is a known zero.
    floor : float
        What counts as below zero only beyond this.

    Returns
    -------
    s : float
    is_lost : bool
        False if the function falls below zero before.

    Examples
    --------
    >>> root = lambda s: np.sqrt(np.where(s > 0.3, np.nan, 0.3 - s))
    >>> s, is_lost = loss(root, root(PLACES))
    >>> round(s, 12), is_lost
    (0.3, True)
    """
    first = int(np.argmin(np.isfinite(row)))
    if first == 0:
        return 0.0, True
    low, _ = _halved(float(PLACES[first - 1]), float(PLACES[first]), lambda s: bool(np.isfinite(function(s)[0])))
    values = function(NODES * low)
    if not np.isfinite(values).all():
        return low, True
    zero = first_descent(lambda s: function(s * low), values, start=start, floor=floor)
    return (low, True) if zero is None else (zero * low, False)


def jump(function: Function, row: Array, s: float) -> float | None:
    """Just after the first jump of a function of [0, 1] to negative values; ``s`` where it vanishes there, else None.

    Parameters
    ----------
    function : callable
    row : array, (19,)
        Its values at ``PLACES``.
    s : float
        About where it falls below zero.

    Returns
    -------
    float or None

    Examples
    --------
    >>> step = lambda s: np.sign(0.3 - s)
    >>> round(jump(step, step(PLACES), 0.31), 12)
    0.3
    """
    if abs(float(function(np.array([s]))[0])) <= _SMALL * np.median(np.abs(row)):
        return s
    return change_of_sign(function, row)


def change_of_sign(function: Function, row: Array) -> float | None:
    """Just after the first point from which a function of [0, 1] is negative.

    Only the signs of its values count, so that it may jump or have a pole.

    Parameters
    ----------
    function : callable
        Array of points in [0, 1] to array of values.
    row : array, (19,)
        Its values at ``PLACES``.

    Returns
    -------
    float or None
        None if no value is negative, or the first one is.
    """
    negative = np.flatnonzero(row < 0.0)
    if negative.size == 0 or negative[0] == 0:
        return None
    last, first = float(PLACES[negative[0] - 1]), float(PLACES[negative[0]])
    _, high = _halved(last, first, lambda s: bool(function(s)[0] >= 0.0))
    return high


def _halved(low: float, high: float, holds: Callable[[Array], bool]) -> tuple[float, float]:
    """Two numbers next to each other between which something ceases to hold."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(np.array([middle])) else (low, middle)
    return low, high
