"""Zeros of switches along an arc: when, and whether expressions jump there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.gauss import interpolation
from hybrid.tolerances import CLEAR, LAST_PLACE, LEAST, NEARLY, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hybrid.analysis.sensitivities.gauss import Segment
    from hybrid.dynamics.partials import Switches

__all__ = ["SLOW", "is_crossed", "sign_changes", "sizes_of", "vanishing", "zero_between"]


Array = NDArray[np.float64]

_ZERO = ROUNDING  # of the terms of a switch: what the rounding of a motion leaves of a zero
SLOW = 1e-3
"""Of the speed that crosses the positions in the duration of a motion: what a body at rest is held to."""
_BESIDE = CLEAR  # of the duration of a segment: beside a zero, where what cancels at it is known to some ten digits
_APART = NEARLY  # of the same: a thousand times as far, where an odd pole is a thousandth of what it is beside its zero
_ONE_VALUE = NEARLY  # of a quotient there: what goes on over a zero changes by the share above, with room
_GROWN = 2.0  # of the same: a pole of order 1/2 grows to 30 of it


def sign_changes(
    switches: Switches, segment: Segment, columns: Iterable[int]
) -> Iterator[tuple[int, list[tuple[float, float]]]]:
    """Instants of a segment between which switches change sign; one at which a switch is zero is on neither side.

    Parameters
    ----------
    switches : Switches
    segment : Segment
    columns : iterable of int
        Which of the switches.

    Returns
    -------
    iterator of (int, list of (float, float))
        A switch, and the times before and after every change.
    """
    if not (columns := list(columns)):
        return
    t, y = segment.instants
    values = switches.values(t, y, segment.system.parameters)
    zero = vanishing(switches, segment, t, y, float(segment.knots[-1] - segment.knots[0]))
    for column in columns:
        known = np.flatnonzero(~zero[:, column])
        signs = np.sign(values[known, column])
        times = t[known].tolist()
        yield column, [(times[k], times[k + 1]) for k in np.flatnonzero(signs[1:] * signs[:-1] < 0)]


def is_crossed(switches: Switches, segment: Segment, column: int, low: float, high: float) -> bool:
    """Whether a switch of jumps that is zero between two times, or at one, changes anything there.

    Parameters
    ----------
    switches : Switches
    segment : Segment
    column : int
        Of the switch.
    low, high : float
        Equal where it touches zero.

    Returns
    -------
    bool
        False beside the cut of ``atan2``, and where a quotient goes on over its pole, as ``sin(x)/x``.
    """
    zero = zero_between(switches, segment, column, low, high) if low < high else low
    if zero is None:
        return True
    duration = float(segment.knots[-1] - segment.knots[0])
    times = zero + duration * np.array([-_BESIDE, 0.0, _BESIDE, -_APART, _APART])
    times = np.clip(times, segment.knots[0], segment.knots[-1])
    y, parameters = interpolation(segment)(times), segment.system.parameters
    if column not in switches.poles:
        return bool((switches.weights(times[:3], y[:3], parameters)[:, column] != 0.0).any())
    left, _, right, *apart = switches.quotients(times, y, parameters)[:, switches.poles.index(column)]
    size = float(np.max(np.abs(apart)))
    return not (abs(right - left) <= _ONE_VALUE * size and max(abs(left), abs(right)) <= _GROWN * size)


def zero_between(switches: Switches, segment: Segment, column: int, low: float, high: float) -> float | None:
    """When a switch changes sign between two times.

    Parameters
    ----------
    switches : Switches
    segment : Segment
    column : int
        Of the switch.
    low, high : float

    Returns
    -------
    float or None
        None where the interpolation, which differs from the stages by what an iteration leaves, has no such change.
    """
    from scipy.optimize import brentq

    sample = interpolation(segment)

    def along(t: float) -> float:
        times = np.array([t])
        return float(switches.values(times, sample(times), segment.system.parameters)[0, column])

    if not along(low) * along(high) < 0:
        return None
    return float(brentq(along, low, high, xtol=LAST_PLACE * max(abs(high), LEAST)))


def vanishing(switches: Switches, segment: Segment, t: Array, y: Array, duration: float) -> NDArray[np.bool_]:
    """Where switches are zero at instants of a segment as far as rounding tells.

    Parameters
    ----------
    switches : Switches
        z of them.
    segment : Segment
    t : array, (N,)
    y : array, (N, 2n)
    duration : float
        Of the segment or the motion, which relates sizes of coordinates and velocities.

    Returns
    -------
    array of bool, (N, z)
    """
    parameters = segment.system.parameters
    size = y.shape[1]
    slopes = np.abs(switches.slopes(t, y, parameters)[..., : size + 1])
    terms = slopes[..., :size] @ sizes_of(np.max(np.abs(y), axis=0), duration)
    terms = terms + slopes[..., size] * np.max(np.abs(t))
    return np.asarray(np.abs(switches.values(t, y, parameters)) <= _ZERO * terms)


def sizes_of(greatest: Array, duration: float) -> Array:
    """Sizes of the state from those of every coordinate and velocity: of a body at rest not those of its rounding.

    Parameters
    ----------
    greatest : array, (2n, ...)
        Largest magnitudes met.
    duration : float
        Of the motion.

    Returns
    -------
    array, (2n, ...)
        One size for all coordinates, one for all velocities.
    """
    n = len(greatest) // 2
    q, v = np.max(greatest[:n], axis=0), np.max(greatest[n:], axis=0)
    sizes = np.stack([np.maximum(q, SLOW * v * duration), np.maximum(v, SLOW * q / max(duration, LEAST))])
    return np.repeat(np.maximum(sizes, LEAST), n, axis=0)
