"""All terms of a mechanism at one state after another, quickly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.derive import Terms
from hybrid.expressions import Builder

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

Array = NDArray[np.float64]


class PointTerms:
    """The terms of a mechanism with fixed parameters, evaluated in plain floats at one state.

    Parameters
    ----------
    dynamics : Dynamics
    parameters : mapping, optional

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
        if PointTerms not in dynamics.programs:
            dynamics.programs[PointTerms] = _compiled(dynamics)
        make, self._places = dynamics.programs[PointTerms]
        self._function: Callable[[float, Sequence[float]], tuple[float, ...]] = make(dynamics.arguments)
        self._last: tuple[float, list[float], Terms] | None = None

    def __call__(self, t: float, q: Array, v: Array) -> Terms:
        """Terms at one state, read-only; NaN or infinite where an expression is undefined."""
        y = [*q.tolist(), *v.tolist()]
        if self._last is None or self._last[0] != t or self._last[1] != y:  # one state is asked for again and again
            self._last = (t, y, self._evaluated(t, q, v, y))
        return self._last[2]

    def _evaluated(self, t: float, q: Array, v: Array, y: list[float]) -> Terms:
        try:
            flat = np.array(self._function(t, y), dtype=float)
        except (ArithmeticError, ValueError):  # undefined for plain floats; arrays say where
            return self._dynamics.terms(q, v, t=t)
        flat.setflags(write=False)
        return Terms(*[flat[place] if len(shape) == 1 else flat[place].reshape(shape) for place, shape in self._places])


def _compiled(dynamics: Dynamics) -> tuple[Callable[..., Any], list[tuple[slice, tuple[int, ...]]]]:
    """The function of all entries, and where every quantity of ``Terms`` stands among them."""
    blocks = dynamics.equations.terms()
    entries = np.concatenate([block.ravel() for block in blocks.values()])
    ends = np.cumsum([block.size for block in blocks.values()]).tolist()
    places = [(slice(end - block.size, end), block.shape) for end, block in zip(ends, blocks.values(), strict=True)]
    return dynamics.equations.program(Builder(dynamics.equations.graph), entries.tolist()).scalar, places
