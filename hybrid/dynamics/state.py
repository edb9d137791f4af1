"""The state of a mechanism, one or many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray


def _frozen_array(values: Any) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def _sides(sides: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(float(s) for s in np.atleast_1d(np.asarray(side))) for name, side in sides.items()}


def _pins(pins: Mapping[str, str | float]) -> dict[str, str | float]:
    return dict(pins)


@attrs.frozen
class State:
    """Position and velocity of a mechanism at a time.

    Attributes
    ----------
    q, v : array, (n,)
        Generalised coordinates and velocities, in the order of the declaration.
    t : float
        Time, in s.
    sides : mapping of str to tuple of float
        For contacts whose slip is a limit: the direction from which it vanishes, ``(1.0,)`` or ``(-1.0,)`` for a planar
        contact (pins ``slip.tip=+0`` and ``-0``), a plane vector for a spatial one; also where a slip was pinned lower
        than numbers tell it from rest. A contact at rest is not listed.

    alternatives : tuple of array, (n,)
        Further positions that satisfy the same pins, if it was solved from pins that have several. Not compared.
    pins : mapping of str to str or float
        What it was solved from, if it was; a text is known exactly where its float is rounded. Not compared.

    Examples
    --------
    >>> State([0.0, 1.0], [0.0, 0.0], sides={"tip": 1}).sides
    {'tip': (1.0,)}
    """

    q: NDArray[np.float64] = attrs.field(converter=_frozen_array, eq=attrs.cmp_using(eq=np.array_equal))
    v: NDArray[np.float64] = attrs.field(converter=_frozen_array, eq=attrs.cmp_using(eq=np.array_equal))
    t: float = attrs.field(default=0.0, converter=float)
    sides: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict, converter=_sides)
    alternatives: tuple[NDArray[np.float64], ...] = attrs.field(default=(), eq=False, repr=False)
    pins: Mapping[str, str | float] = attrs.field(factory=dict, converter=_pins, eq=False, repr=False)


@attrs.frozen(eq=False)
class States:
    """Arrays of states for a map; the leading axes of ``q``, ``v`` and ``t`` broadcast against each other.

    Attributes
    ----------
    q, v : array, (..., n)
    t : array, (...)
        Times, in s.
    sides : mapping of str to tuple of float
        As in :class:`State`, common to all states.
    reached : array of bool, (...)
        False where the pins have no solution; ``q`` or ``v`` are NaN there.
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    t: NDArray[np.float64]
    sides: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict, converter=_sides)
    reached: NDArray[np.bool_] = attrs.field(factory=lambda: np.array(True))

    @property
    def shape(self) -> tuple[int, ...]:
        """The broadcast shape of the states."""
        return np.broadcast_shapes(self.q.shape[:-1], self.v.shape[:-1], self.t.shape, self.reached.shape)
