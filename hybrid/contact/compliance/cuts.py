"""Where guards of many steps fall through zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.path import Array
from hybrid.tolerances import RESOLVED

__all__ = ["first_fall"]

_CUTS = 30  # five to eight do
_CLOSE = RESOLVED  # of a step, between cuts: far below the error of a step
_BEGUN = 10.0 ** np.arange(-12, 0)  # shares of a step after which a guard that begins at zero has risen


def first_fall(guards: Callable[[Array], Array], before: Array, after: Array) -> tuple[Array, NDArray[np.intp]]:
    """Share of each step at which its first guard falls through zero, and which guard that is.

    Illinois' regula falsi. A guard that begins at zero, such as a slip from rest, falls where it comes back, not where
    it begins; at once if it does not rise.

    Parameters
    ----------
    guards : callable
        Guards, (N, m), after shares, (N,), of the steps.
    before, after : array, (N, m)
        At the beginning and the end of the steps; at least one of each step falls.

    Returns
    -------
    share : array, (N,)
    which : array of int, (N,)

    Examples
    --------
    >>> share, _ = first_fall(lambda s: (s * (0.25 - s))[:, None], np.zeros((1, 1)), np.array([[-0.75]]))
    >>> share.round(9)
    array([0.25])
    """
    fell = (before >= 0) & (after < 0)
    scale = np.where(fell, before - after, 1.0)

    def least(guard: Array) -> Array:
        return np.asarray(np.min(np.where(fell, guard / scale, np.inf), axis=-1))

    count = len(before)
    low, high, at_low, at_high = np.zeros(count), np.ones(count), least(before), least(after)
    if (begins := at_low <= _CLOSE).any():
        for early in _BEGUN:
            found = least(guards(np.full(count, early)))
            open_end = begins & (high == 1.0)
            rises, falls = open_end & (found > 0), open_end & (found < 0) & (low > 0)
            low, at_low = np.where(rises, early, low), np.where(rises, found, at_low)
            high, at_high = np.where(falls, early, high), np.where(falls, found, at_high)
    share, value, moved = high, after, np.zeros(count)
    for _ in range(_CUTS):
        new = low + (high - low) * at_low / (at_low - at_high)
        value = guards(new)
        found, settled = least(value), np.abs(new - share) < _CLOSE
        is_past = found < 0
        # an end that stays a second time counts half, or regula falsi would creep from one side
        at_low = np.where(is_past & (moved > 0), at_low / 2, at_low)
        at_high = np.where(~is_past & (moved < 0), at_high / 2, at_high)
        low, at_low = np.where(is_past, low, new), np.where(is_past, at_low, found)
        high, at_high = np.where(is_past, new, high), np.where(is_past, found, at_high)
        share, moved = new, np.where(is_past, 1.0, -1.0)
        if settled.all():
            break
    return share, np.argmin(np.where(fell, value / scale, np.inf), axis=-1)
