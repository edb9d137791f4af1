"""All terms of a mechanism at one state after another, quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms

Array = NDArray[np.float64]


class PointTerms:
    """The terms of a mechanism at one state, which are remembered until another is asked for.

    Parameters
    ----------
    dynamics : Dynamics

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> float(PointTerms(ball)(0.0, np.array([2.0]), np.array([0.0])).gap[0])
    2.0
    """

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        self._last: tuple[float, list[float], Terms] | None = None

    def __call__(self, t: float, q: Array, v: Array) -> Terms:
        """Terms at one state, read-only; NaN or infinite where an expression is undefined."""
        y = [*q.tolist(), *v.tolist()]
        if self._last is None or self._last[0] != t or self._last[1] != y:  # one state is asked for again and again
            self._last = (t, y, self._dynamics.terms(q, v, t=t))
        return self._last[2]
