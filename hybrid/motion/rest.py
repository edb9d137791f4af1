"""Steps of a motion in which nothing moves and only time passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.motion.chebyshev import BETWEEN, NODES, between
from hybrid.motion.steps import Step, constant_step

if TYPE_CHECKING:
    from hybrid.motion.events import Watch

__all__ = ["Rest"]

Array = NDArray[np.float64]

_EPSILON = float(np.finfo(float).eps)
_LACK = 0.05  # of what a guard changes by: what its series may lack, as the search for its zeros refines it further
_ROUNDING = 64.0  # rounding units of a guard's values in those of its series, sums of 17 terms of sums of 17
_SHORTEST = 2.0**-50  # of the first step at which a guard is not resolved: what is not in one so short is a jump
_LEAST = 4.0  # rounding units of the time


class Rest:
    """Steps at rest, in the manner of a ``Stepper``: so long that a series resolves every guard as a function of time.

    Where nothing depends on time, that is all the time there is. What happens between the instants of a step and
    leaves no trace at them is not seen, unless ``max_step`` is shorter.

    Parameters
    ----------
    watch : Watch
    t : float
    y : array, (2n,)
    t_end : float
    """

    cause = ""

    def __init__(self, watch: Watch, t: float, y: Array, t_end: float) -> None:
        self._watch, self._t, self._y, self._t_end = watch, t, y, t_end
        self._width, self._shortest = np.inf, 0.0
        self._floors = self._rounding(t)

    def step(self) -> Step:
        """Advance by one step."""
        start = self._t
        width = min(2.0 * self._width, self._watch.settings.max_step, self._t_end - start)
        shortest = self._shortest
        if not self._is_resolved(start, width):
            # rounding next to a pole, where an arc may begin, says little elsewhere
            self._floors = self._rounding(start + width)
        while not (resolved := self._is_resolved(start, width)):
            shortest = shortest or max(_SHORTEST * width, _LEAST * _EPSILON * abs(start))
            if width <= shortest:
                break
            width /= 2.0
        # from a jump, and where a guard is noise, on by steps that double until it is resolved again
        self._width, self._shortest = width, 0.0 if resolved else 2.0 * width
        self._t = self._t_end if width >= self._t_end - start else start + width
        return constant_step(start, self._t, self._y)

    def _rounding(self, t: float) -> Array:
        """Of all guards, that of the user's functions at a time."""
        watch = self._watch
        floors = watch.floors | watch.uncertain(t, self._y)[0] if watch.bands else watch.floors
        return np.array([floors.get(position, 0.0) for position in range(len(watch.guards))])

    def _is_resolved(self, start: float, width: float) -> bool:
        """True if the series of all guards through their values at some instants of a step tell those at others."""
        times = start + width * np.concatenate([NODES, BETWEEN])
        with np.errstate(all="ignore"):
            values = self._watch.unsigned(times, np.repeat(self._y[:, None], len(times), axis=1))
            lack = np.abs(values[:, len(NODES) :] - between(values[:, : len(NODES)])).max(axis=1)
            rounding = _ROUNDING * _EPSILON * np.abs(values).max(axis=1) + self._floors
            return bool((lack <= _LACK * np.ptp(values, axis=1) + rounding).all())

    def correct(self, y: Array) -> None:
        """Replace the present state."""
        self._y = y

    @property
    def is_finished(self) -> bool:
        """True at the end of the time."""
        return self._t >= self._t_end
