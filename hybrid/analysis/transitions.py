"""Where the region changes along straight segments."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray

# States classified at once: enough that the cost of a call is that of its states, not of the call.
_BATCH = 4096
_MAX_SECTIONS = 31


@attrs.frozen(eq=False)
class Transitions:
    """Changes of the region along segments, sorted by segment and along it.

    Attributes
    ----------
    segment : array of int, (m,)
    share : array, (m,)
        Place along the segment, from 0 to 1.
    before, after : array of uint64, (m,)
        Codes on either side.
    """

    segment: NDArray[np.int64]
    share: NDArray[np.float64]
    before: NDArray[np.uint64]
    after: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.segment)


Coder = Callable[[NDArray[np.int64], NDArray[np.float64]], NDArray[np.uint64]]


def transitions(
    code: Coder,
    segment: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    before: NDArray[np.uint64],
    after: NDArray[np.uint64],
    *,
    width: float,
    batch: int = _BATCH,
) -> Transitions:
    """Bisect brackets of segments whose two ends have different codes, all at once.

    A third region between the two ends is found when a bisection point falls into it: then it has two transitions.

    Parameters
    ----------
    code : callable
        ``code(segment, share)`` gives the codes (k, s) at shares (k, s) of segments (k, 1).
    segment : array of int, (k,)
        The segment of each bracket; several brackets may belong to one.
    low, high : array, (k,)
        Shares of the ends of the brackets.
    before, after : array of uint64, (k,)
        Codes there.
    width : float
        Final width of the brackets.
    batch : int, optional
        Points asked for at once, if there are fewer brackets.

    Returns
    -------
    Transitions

    Examples
    --------
    >>> def steps(segment, share):
    ...     return np.searchsorted([0.25, 0.75], share).astype(np.uint64)
    >>> one = np.array([0]), np.array([0.0]), np.array([1.0]), np.array([0], np.uint64), np.array([2], np.uint64)
    >>> transitions(steps, *one, width=1e-12).share.round(9).tolist()
    [0.25, 0.75]
    """
    done: list[tuple[NDArray[np.generic], ...]] = []
    while len(segment):
        narrow = high - low <= width
        done.append((segment[narrow], (low + high)[narrow] / 2, before[narrow], after[narrow]))
        segment, low, high = segment[~narrow], low[~narrow], high[~narrow]
        before, after = before[~narrow], after[~narrow]
        if len(segment):
            segment, low, high, before, after = _narrowed(code, segment, low, high, before, after, batch)
    if not done:
        empty = np.zeros(0)
        return Transitions(empty.astype(int), empty, empty.astype(np.uint64), empty.astype(np.uint64))
    all_segments, shares, starts, ends = (np.concatenate(column) for column in zip(*done, strict=True))
    order = np.lexsort((shares, all_segments))
    return Transitions(all_segments[order], shares[order], starts[order], ends[order])


def _narrowed(
    code: Coder,
    segment: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    before: NDArray[np.uint64],
    after: NDArray[np.uint64],
    batch: int,
) -> tuple[
    NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.uint64], NDArray[np.uint64]
]:
    """Cut every bracket into equal sections and keep those with a change."""
    sections = int(np.clip(batch // len(segment), 1, _MAX_SECTIONS)) + 1
    shares = low[:, None] + (high - low)[:, None] * (np.arange(sections + 1) / sections)
    shares[:, -1] = high
    inside = code(segment[:, None], shares[:, 1:-1])
    codes = np.concatenate([before[:, None], inside, after[:, None]], axis=1)
    row, section = np.nonzero(codes[:, 1:] != codes[:, :-1])
    return (
        segment[row],
        shares[row, section],
        shares[row, section + 1],
        codes[row, section],
        codes[row, section + 1],
    )
