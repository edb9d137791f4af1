"""The share of a box in which functions are positive, between bounds, and the halves of a box."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hybrid.tolerances import LEAST, NOTHING, ROUNDING, SUMMED
from lcp.kernels.compiled import rigorous

__all__ = ["bound_shares", "halve"]

Batch = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]

_ROUNDING = SUMMED  # of shares between 0 and 1, from some ten operations
_TILT = NOTHING  # ratio of slopes below which the squares of the area's formula would cancel
_SLACK = 1.0 + 2.0**-40  # far above the rounding of half widths and of sums of a few terms


@rigorous
def _beyond(value: float, first: float, second: float) -> float:
    """Share of the square ``[-1, 1]^2`` in which ``value + first u + second v`` is positive: a trapezoid's area."""
    long, short = max(abs(first), abs(second)), min(abs(first), abs(second))
    if value >= long + short:
        return 1.0
    if value <= -long - short:
        return 0.0
    if long == 0.0:
        return 1.0 if value > 0.0 else 0.0
    size = abs(value)
    if short <= _TILT * long:  # the share is off by half of their ratio at most
        found = min(1.0, 0.5 + size / (2.0 * long))
    elif size <= long - short:
        found = 0.5 + size / (2.0 * long)
    else:
        found = 1.0 - (long + short - size) ** 2 / (8.0 * long * short)
    return found if value >= 0.0 else 1.0 - found


@rigorous
def bound_shares(boxes: Batch, values: Batch, slopes: Batch, centre: Batch, broken: Marks, shares: Batch) -> None:
    """Bounds of the share of each box in which each function is positive.

    With the value ``c`` at the centre and slopes in ``g + [-e, e]``, a function is ``c + g u`` up to ``e |u|``.

    Parameters
    ----------
    boxes : array, (N, k, 2)
    values : array, (N, f, 2)
        Enclosures over the boxes.
    slopes : array, (N, f, k, 2)
        Enclosures of the derivatives over the boxes.
    centre : array, (N, f, 2)
        Enclosures at the centres.
    broken : array of bool, (N,)
        Where derivatives say nothing.
    shares : array, (N, f, 2)
        Overwritten; 1 or 0 at both ends only where the sign is proved for the closed box.

    Returns
    -------
    None
    """
    k = boxes.shape[1]
    along = np.zeros(k)
    for n in range(boxes.shape[0]):
        for f in range(values.shape[1]):
            shares[n, f, 0], shares[n, f, 1] = 0.0, 1.0
            if values[n, f, 0] > 0.0:
                shares[n, f, 0] = 1.0
                continue
            if values[n, f, 1] < 0.0:
                shares[n, f, 1] = 0.0
                continue
            if broken[n]:
                continue
            middle = 0.5 * (centre[n, f, 0] + centre[n, f, 1])
            error = 0.5 * (centre[n, f, 1] - centre[n, f, 0])
            range_ = 0.0
            for axis in range(k):
                half = 0.5 * (boxes[n, axis, 1] - boxes[n, axis, 0])
                low, high = slopes[n, f, axis, 0], slopes[n, f, axis, 1]
                along[axis] = (
                    abs(0.5 * (low + high)) * half
                )  # as it is: a steeper function has other shares, not wider ones
                error += 0.5 * (high - low) * half
                range_ += along[axis]
            if not error < np.inf:
                continue
            error = error * _SLACK + 2.0**-48 * (abs(middle) + range_) + LEAST
            if middle - error - range_ > 0.0:
                shares[n, f, 0] = 1.0
                continue
            if middle + error + range_ < 0.0:
                shares[n, f, 1] = 0.0
                continue
            first, second = 0.0, 0.0
            for axis in range(k):  # the two steepest; what the others add may have any sign
                if along[axis] > first:
                    first, second = along[axis], first
                elif along[axis] > second:
                    second = along[axis]
            error += (range_ - first - second) * _SLACK
            margin = _ROUNDING + (second / first if 0.0 < second <= _TILT * first else 0.0)
            shares[n, f, 0] = max(0.0, _beyond(middle - error, first, second) - margin)
            shares[n, f, 1] = min(1.0, _beyond(middle + error, first, second) + margin)


@rigorous
def halve(boxes: Batch, widths: Batch, slopes: Batch, finite: Marks, halves: Batch) -> None:
    """Both halves of each box, across the axis along which slopes vary most, or the longest.

    Parameters
    ----------
    boxes : array, (N, k, 2)
    widths : array, (k,)
        Of the whole, by which lengths are compared.
    slopes : array, (N, k)
        How much slopes along each axis vary, times half its length; minus infinity for one that is not to be divided.
    finite : array of bool, (N,)
        Where that is known.
    halves : array, (2N, k, 2)
        Overwritten.

    Returns
    -------
    None
    """
    for n in range(boxes.shape[0]):
        best, most, longest = 0, -1.0, 0.0
        for axis in range(boxes.shape[1]):
            longest = max(longest, (boxes[n, axis, 1] - boxes[n, axis, 0]) / widths[axis])
        for axis in range(boxes.shape[1]):
            length = (boxes[n, axis, 1] - boxes[n, axis, 0]) / widths[axis]
            size = slopes[n, axis] if finite[n] and length > 0.02 * longest else 0.0
            size = length if not finite[n] else size + ROUNDING * length
            if slopes[n, axis] == -np.inf:
                continue
            if size > most:
                best, most = axis, size
        middle = 0.5 * (boxes[n, best, 0] + boxes[n, best, 1])
        for axis in range(boxes.shape[1]):
            for end in range(2):
                halves[2 * n, axis, end] = halves[2 * n + 1, axis, end] = boxes[n, axis, end]
        halves[2 * n, best, 1] = halves[2 * n + 1, best, 0] = middle
