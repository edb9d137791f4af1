"""How far ahead the explicit dependence on time can be judged from a few instants.

A load may be nothing for a long time and come up for a moment; samples say nothing of what lies between them. Bounds of
the declared expressions over ranges of time do: they exclude that a guard vanishes there, or tell that nothing happens
between two instants that is not seen at them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.declaration.intervals import Interval
from hybrid.dynamics.derive import Terms
from hybrid.dynamics.tape import Tape
from hybrid.motion.chebyshev import is_resolved
from hybrid.motion.steps import PLACES

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values

__all__ = ["Outlook", "Sight", "causes_of"]

Array = NDArray[np.float64]
Rows = Callable[[Any, Any], Sequence[Any]]
"""Functions of time (an array or intervals) and the state at it, with one row each."""

_EPSILON = float(np.finfo(float).eps)
_ROUNDING = 64.0  # of a row's largest value: bounds so much wider than the samples are those of rounding
_HIDDEN = 0.05  # of what a row changes by over a step, what may happen unseen between two instants


def causes_of(dynamics: Dynamics, parameters: Values) -> Rows | None:
    """The terms of a mechanism that depend on time, as rows over times and states; None where none does.

    Parameters
    ----------
    dynamics : Dynamics
    parameters : mapping

    Returns
    -------
    callable or None
    """
    if causes_of not in dynamics.programs:
        dynamics.programs[causes_of] = _program(dynamics)
    make = dynamics.programs[causes_of]
    rows: Rows | None = None if make is None else make(dynamics.arguments(parameters))
    return rows


def _program(dynamics: Dynamics) -> Any:
    tape = Tape(dynamics)
    entries: list[Any] = []
    for field in attrs.fields(Terms):
        quantity = tape.quantity(field.name)
        entries += [entry for row in quantity for entry in (row if isinstance(row, list) else [row])]
    timed = [entry for entry in entries if tape.depends_on_time([entry])]
    return tape.functions(timed)[1] if timed else None


class Sight(IntEnum):
    """What is known of a range of time from a few instants of it and from bounds between them."""

    HIDDEN = 0
    ROUNDED = 1
    SEEN = 2
    CLEAR = 3


@attrs.frozen(eq=False)
class Outlook:
    """What is judged: functions whose zeros matter, and functions that others are computed from.

    Attributes
    ----------
    guards, watched : callable or None
        Rows over times and a state; the first are positive while nothing happens, the others may have either sign.
    causes : callable or None
        Rows of which the guards are computed in ways that have no bounds.
    roundings : tuple of float
        Of the watched rows.
    """

    guards: Rows | None = None
    watched: Rows | None = None
    causes: Rows | None = None
    roundings: tuple[float, ...] = ()

    @property
    def depends_on_time(self) -> bool:
        """False if time changes nothing but through the state, so that a mechanism at rest stays so."""
        return not self.guards is self.watched is self.causes is None

    def judge(self, start: float, end: float, y: Array) -> Sight:
        """Tell what may happen between two times at one state.

        Parameters
        ----------
        start, end : float
        y : array, (2n,)

        Returns
        -------
        Sight
            CLEAR if no guard vanishes; SEEN if nothing happens that ``PLACES`` of a step between the two times do not
            show, up to one part in twenty of what a function changes by, and up to rounding; ROUNDED if the step is so
            short that only rounding is left of bounds that are too wide; else HIDDEN.

        Examples
        --------
        >>> pulse = Outlook(guards=lambda t, y: [2 - 10 * np.exp(-((t - 500.3) ** 2))])
        >>> [pulse.judge(0.0, end, np.zeros(2)).name for end in (490.0, 499.1, 1000.0)]
        ['CLEAR', 'SEEN', 'HIDDEN']
        """
        instants = start + PLACES * (end - start)
        worst = Sight.CLEAR
        for rows, is_clear, roundings in (
            (self.guards, _is_positive, None),
            (self.watched, _has_a_sign, self.roundings),
            (self.causes, _is_never, None),
        ):
            if rows is not None:
                with np.errstate(all="ignore"):
                    worst = min(worst, _worst(rows, instants, y, is_clear, roundings))
            if worst is Sight.HIDDEN:
                break
        return worst


def _worst(
    rows: Rows, instants: Array, y: Array, is_clear: Callable[[Interval], Any], roundings: Sequence[float] | None
) -> Sight:
    """The worst of all rows; bounds that take longer to compute are asked only where others do not do."""
    first, last = instants[:-1], instants[1:]
    middle = (first + last) / 2
    values = rows(instants, y)
    if roundings is None:  # rows of one system: what is nothing next to the largest of them may be its rounding
        sizes = [float(np.max(np.abs(row))) for row in values]
        roundings = [_ROUNDING * _EPSILON * max(filter(math.isfinite, sizes), default=0.0)] * len(sizes)
    cases = zip(values, rows(Interval(first, last), y), roundings, strict=True)
    rough = [_sight(row, bounds, is_clear, rounding) for row, bounds, rounding in cases]
    found = min(rough, default=Sight.CLEAR)
    if found is not Sight.HIDDEN:
        return found
    away = Interval(first - middle, last - middle)
    sharper = zip(rough, values, rows(middle, y), rows(Interval.variable(first, last), y), roundings, strict=True)
    return min(
        sight
        if sight is not Sight.HIDDEN or not isinstance(bounds, Interval)
        else _sight(row, bounds.centred(away, centre), is_clear, rounding, up_to_rounding=Sight.ROUNDED)
        for sight, row, centre, bounds, rounding in sharper
    )


def _is_positive(bounds: Interval) -> Any:
    return bounds.low > 0.0


def _has_a_sign(bounds: Interval) -> Any:
    return (bounds.low > 0.0) | (bounds.high < 0.0)


def _is_never(bounds: Interval) -> Any:
    return np.zeros(bounds.low.shape, dtype=bool)


def _sight(
    values: Any,
    bounds: Any,
    is_clear: Callable[[Interval], Any],
    rounding: float,
    *,
    up_to_rounding: Sight = Sight.SEEN,
) -> Sight:
    if not isinstance(bounds, Interval):
        bounds = Interval(values, values)  # the same at all times
        return Sight.CLEAR if is_clear(bounds).all() else Sight.SEEN
    clear = is_clear(bounds)
    if clear.all():
        return Sight.CLEAR
    row = np.broadcast_to(values, PLACES.shape)
    size = np.abs(row).max()
    if not (size <= rounding or is_resolved(row[1:-1], _HIDDEN)):
        return Sight.HIDDEN
    low, high = np.minimum(row[1:], row[:-1]), np.maximum(row[1:], row[:-1])
    slack = np.maximum((high - low) / 2, _HIDDEN * (row.max() - row.min()))
    excess = np.where(clear, 0.0, np.maximum(low - bounds.low, bounds.high - high))
    if size > rounding and (excess <= slack).all():
        return Sight.SEEN
    slack += max(rounding, _ROUNDING * _EPSILON * size)
    return up_to_rounding if (excess <= slack).all() else Sight.HIDDEN
