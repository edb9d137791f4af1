"""How far ahead it is seen what happens, and steps of a motion that rests."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid.motion.outlook import Outlook, Sight
from hybrid.motion.steps import Step, constant_step

__all__ = ["Horizon", "Rest"]

Array = NDArray[np.float64]

_EPSILON = float(np.finfo(float).eps)
_TRUSTED = 2.0**-50  # of the time at rest: what is not seen in a step as short as this is a jump
_LEAST = 4.0  # rounding units of the time


class Horizon:
    """How far ahead everything is seen that may happen at one state.

    Parameters
    ----------
    outlook : Outlook
    trusted : float
        Share of the first width that was not seen at which a width is taken to be seen after all, as at a jump or where
        bounds are too wide; from there, and from where only rounding is left of such bounds, it doubles.

    Attributes
    ----------
    is_clear : bool
        True if no guard vanishes up to there.
    """

    def __init__(self, outlook: Outlook, trusted: float) -> None:
        self._outlook, self._share = outlook, trusted
        self._trusted, self._width, self._start, self._end = 0.0, 0.0, math.inf, -math.inf
        self.is_clear = False

    @property
    def is_needed(self) -> bool:
        """False if nothing depends on time, so that all is seen up to the end."""
        return self._outlook.depends_on_time

    def reach(self, t: float, y: Array, width: float, t_end: float) -> float:
        """The time up to which it is known what happens from a time on, looked for if it is not.

        Parameters
        ----------
        t : float
        y : array, (2n,)
        width : float
            How far to look the first time; later, twice as far as was seen before.
        t_end : float

        Returns
        -------
        float
        """
        if not self.is_needed:
            return t_end
        if not self._start <= t < self._end:
            # powers of two, so that the steps on the way are the same ones for any end
            width = 2.0 * self._width or 2.0 ** math.ceil(math.log2(width))
            self._width = self._seen(t, y, width, t_end)
            self._start, self._end = t, t + self._width
        return min(self._end, t_end)

    def _seen(self, t: float, y: Array, width: float, t_end: float) -> float:
        trusted = self._trusted
        while (sight := self._outlook.judge(t, min(t + width, t_end), y)) is Sight.HIDDEN:
            trusted = trusted or max(self._share * width, _LEAST * _EPSILON * abs(t))
            if width <= trusted:
                break
            width /= 2.0
        self._trusted = 2.0 * width if sight <= Sight.ROUNDED else 0.0
        self.is_clear = sight is Sight.CLEAR
        return width


class Rest:
    """Steps of a motion in which nothing moves and only time passes, in the manner of a ``Stepper``.

    Steps are as long as their instants show what happens. Where nothing depends on time, that is all the time.

    Parameters
    ----------
    outlook : Outlook
    t : float
    y : array, (2n,)
    t_end : float
    max_step : float
    """

    cause = ""

    def __init__(self, outlook: Outlook, t: float, y: Array, t_end: float, max_step: float) -> None:
        self._t, self._y, self._t_end, self._max_step = t, y, t_end, max_step
        self._horizon = Horizon(outlook, _TRUSTED)

    def step(self) -> Step:
        """Advance by one step."""
        start = self._t
        end = self._horizon.reach(start, self._y, self._t_end - start, self._t_end)
        self._t = min(start + self._max_step, end)
        return constant_step(start, self._t, self._y)

    @property
    def is_clear(self) -> bool:
        """True if no guard vanishes in the last step."""
        return self._horizon.is_clear

    def correct(self, y: Array) -> None:
        """Replace the present state."""
        self._y = y

    @property
    def is_finished(self) -> bool:
        """True at the end of the time."""
        return self._t >= self._t_end
