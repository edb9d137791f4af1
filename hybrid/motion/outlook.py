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
        Rows over times and a state that rests; the first are positive while nothing happens, the others may have either
        sign. What matters of them is their zeros.
    passing : callable or None
        Watched rows at a state that moves on, so that their zeros at this one say little.
    causes : callable or None
        Rows of which the guards are computed in ways that have no bounds.
    roundings : tuple of float
        Of the watched rows.
    """

    guards: Rows | None = None
    watched: Rows | None = None
    passing: Rows | None = None
    causes: Rows | None = None
    roundings: tuple[float, ...] = ()

    @property
    def depends_on_time(self) -> bool:
        """False if time changes nothing but through the state, so that a mechanism at rest stays so."""
        return any(rows is not None for rows in (self.guards, self.watched, self.passing, self.causes))

    def judge(self, start: float, end: float, y: Array) -> Sight:
        """Tell what may happen between two times at one state.

        Parameters
        ----------
        start, end : float
        y : array, (2n,)

        Returns
        -------
        Sight
            CLEAR if no guard vanishes; SEEN if ``PLACES`` of a step between the two times show their first zeros, and
            what else happens but for one part in twenty of what it changes by; ROUNDED if bounds are too wide, and the
            step so short that this is rounding; else HIDDEN.

        Examples
        --------
        >>> pulse = Outlook(guards=lambda t, y: [2 - 10 * np.exp(-((t - 500.3) ** 2))])
        >>> [pulse.judge(0.0, end, np.zeros(2)).name for end in (490.0, 499.1, 1000.0)]
        ['CLEAR', 'SEEN', 'HIDDEN']
        """
        instants = start + PLACES * (end - start)
        worst = Sight.CLEAR
        for rows, is_clear, judged, roundings in (
            (self.guards, _is_positive, _zeros_seen, None),
            (self.watched, _has_a_sign, _zeros_seen, self.roundings),
            (self.passing, _has_a_sign, _changes_seen, self.roundings),
            (self.causes, _is_never, _changes_seen, None),
        ):
            if rows is not None:
                with np.errstate(all="ignore"):
                    worst = min(worst, _worst(rows, instants, y, is_clear, judged, roundings))
            if worst is Sight.HIDDEN:
                break
        return worst


def _worst(
    rows: Rows,
    instants: Array,
    y: Array,
    is_clear: Callable[[Interval], Any],
    judged: Callable[[Array, Interval, Any, float], Sight],
    roundings: Sequence[float] | None,
) -> Sight:
    """The worst of all rows; bounds that take longer to compute are asked only where others do not do."""
    first, last = instants[:-1], instants[1:]
    middle = (first + last) / 2
    values = [np.broadcast_to(row, instants.shape) for row in rows(instants, y)]
    if roundings is None:  # rows of one system: what is nothing next to the largest of them may be its rounding
        sizes = [float(np.max(np.abs(row))) for row in values]
        roundings = [_ROUNDING * _EPSILON * max(filter(math.isfinite, sizes), default=0.0)] * len(sizes)

    def sight(row: Array, bounds: Any, rounding: float) -> Sight:
        if not isinstance(bounds, Interval):  # the same at all times
            return Sight.CLEAR if is_clear(Interval(row, row)).all() else Sight.SEEN
        clear = is_clear(bounds)
        has_one_sign = row.min() > 0.0 or row.max() < 0.0  # one sign after the other is a jump between them
        return Sight.CLEAR if has_one_sign and clear.all() else judged(row, bounds, clear, rounding)

    found = [sight(*case) for case in zip(values, rows(Interval(first, last), y), roundings, strict=True)]
    hidden = [place for place, seen in enumerate(found) if seen is Sight.HIDDEN]
    if hidden and all(_is_resolved(values[place], roundings[place]) for place in hidden):
        away = Interval(first - middle, last - middle)
        sharper = zip(rows(middle, y), rows(Interval.variable(first, last), y), strict=True)
        for place, (centre, bounds) in enumerate(sharper):
            if place in hidden:
                found[place] = sight(values[place], bounds.centred(away, centre), roundings[place])
    return min(found, default=Sight.CLEAR)


def _is_positive(bounds: Interval) -> Any:
    return bounds.low > 0.0


def _has_a_sign(bounds: Interval) -> Any:
    return (bounds.low > 0.0) | (bounds.high < 0.0)


def _is_never(bounds: Interval) -> Any:
    return np.zeros(bounds.low.shape, dtype=bool)


def _zeros_seen(row: Array, bounds: Interval, clear: Any, rounding: float) -> Sight:
    """Between instants up to the first zero, a function has none, or one as its values at them tell: it is monotone.

    Where it starts from a zero, of whatever order, it need only change as its values tell.
    """
    clearly = np.abs(row) > rounding
    if not _is_resolved(row, rounding):
        return Sight.HIDDEN
    side = np.sign(row[np.argmax(clearly)]) if clearly.any() else 1.0
    fallen = np.flatnonzero(side * row < -rounding)
    until = fallen[0] if fallen.size else len(clear)
    known = clear.copy()
    if bounds.slope is not None:
        known |= (bounds.slope.low > 0.0) | (bounds.slope.high < 0.0)
    if not clearly[0]:
        known[0] |= (_excess(row, bounds) <= _slack(row))[0]
    if known[:until].all():
        return Sight.SEEN
    still = np.maximum(np.abs(bounds.low), np.abs(bounds.high)) <= rounding
    return Sight.ROUNDED if (known | still)[:until].all() else Sight.HIDDEN


def _changes_seen(row: Array, bounds: Interval, clear: Any, rounding: float) -> Sight:
    """Bounds between instants tell no more than the values at them."""
    size = np.abs(row).max()
    if not _is_resolved(row, rounding):
        return Sight.HIDDEN
    slack, excess = _slack(row), np.where(clear, 0.0, _excess(row, bounds))
    if size > rounding and (excess <= slack).all():
        return Sight.SEEN
    slack += max(rounding, _ROUNDING * _EPSILON * size)
    rounded = Sight.SEEN if bounds.slope is None else Sight.ROUNDED  # sharper bounds are too wide by rounding alone
    return rounded if (excess <= slack).all() else Sight.HIDDEN


def _is_resolved(row: Array, rounding: float) -> bool:
    return bool(np.abs(row).max() <= rounding) or is_resolved(row[1:-1], _HIDDEN)


def _slack(row: Array) -> Array:
    """What bounds between instants may tell more than the values at them."""
    return np.asarray(np.maximum(np.abs(np.diff(row)) / 2, _HIDDEN * (row.max() - row.min())))


def _excess(row: Array, bounds: Interval) -> Array:
    """What bounds between instants tell more than the values at them."""
    low, high = np.minimum(row[1:], row[:-1]), np.maximum(row[1:], row[:-1])
    return np.asarray(np.maximum(low - bounds.low, bounds.high - high))
