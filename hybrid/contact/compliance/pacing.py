"""Lengths of steps along motions on one compliant contact, by what it does."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.path import Array
from hybrid.contact.compliance.rates import ContactRates

__all__ = ["StepLengths"]

_STEP = 0.15  # of the radian of the fastest oscillation: a step of the fourth order then loses 6e-7 of its amplitude
_STABLE = 1.5  # decay times of a damper that has done its work: up to 2.8 the method of Runge and Kutta is stable
_GROWTH = 0.05  # of the time since the last event: while a damper decays, errors stay of the size of 1e-5 of it


@attrs.frozen(eq=False)
class StepLengths:
    """Lengths in fast time, by state and mode: free, sliding to either side, sticking.

    Attributes
    ----------
    first, longest : array, (N, 4)
        After a change of mode, and once what it has set going has decayed.
    """

    first: Array
    longest: Array

    @classmethod
    def of(cls, at: ContactRates, damping: Array | float) -> StepLengths:
        """For contacts at states, by their oscillation and their damper.

        In a mode of inertia factor ``A`` the contact oscillates with ``sqrt(A)`` and its damper decays with ``2 d A``,
        which for a strong damper is much faster, soon over, and afterwards only to be kept stable. Where ``A < 0`` the
        damper feeds what grows, which is followed closely all the time.
        """
        G_NN, G_NT, G_TT = at.G[:, 0, 0], at.G[:, 0, 1], at.G[:, 1, 1]
        stick = G_NN - G_NT**2 / G_TT
        A = np.stack([G_NN, G_NN - at.friction * G_NT, G_NN + at.friction * G_NT, stick], axis=-1)
        sliding = np.abs(G_NN - np.sign(at.slip) * at.friction * G_NT)
        reverse = np.where(np.abs(G_NT) > at.friction * G_TT, G_NN + at.friction * np.abs(G_NT), 0.0)
        turn = np.sqrt(at.stiffness_ratio * np.maximum(np.maximum(sliding, reverse), stick))[:, None]
        decay = (2 * damping * np.sqrt(at.stiffness_ratio))[:, None] * np.abs(A)
        first = _STEP / np.maximum(turn, decay)
        longest = np.minimum(_STEP / turn, _STABLE / np.maximum(decay, turn))
        return cls(first, np.where(A > 0, np.maximum(longest, first), first))

    def take(self, index: NDArray[np.intp]) -> StepLengths:
        """Those of some of the states."""
        return StepLengths(self.first[index], self.longest[index])

    def at(self, mode: NDArray[np.int8], since: Array) -> Array:
        """Length of the next step, (N,), in a mode for a time already."""
        rows = np.arange(len(mode))
        return np.asarray(np.minimum(self.longest[rows, mode], self.first[rows, mode] + _GROWTH * since))
