"""Where the region changes along straight segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import CLEAR

# States classified at once: enough that the cost of a call is that of its states, not of the call.
_BATCH = 4096
_MAX_SECTIONS = 31
# Third regions are looked for down to this share of a bracket. Where a force grows without bound, rounding decides over
# the last 1e-9 before the boundary.
_FINEST = CLEAR


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
    brackets = _Brackets(segment, low, high, before, after, _FINEST * (high - low))
    done: list[_Brackets] = []
    while len(brackets.segment):
        narrow = brackets.high - brackets.low <= width
        done.append(brackets.chosen(narrow))
        brackets = brackets.chosen(~narrow)
        if len(brackets.segment):
            brackets = _narrowed(code, brackets)
    if not done:
        return Transitions(segment, low, before, after)
    segments = np.concatenate([part.segment for part in done])
    shares = np.concatenate([(part.low + part.high) / 2 for part in done])
    order = np.lexsort((shares, segments))
    earlier, later = (np.concatenate([getattr(part, name) for part in done]) for name in ("before", "after"))
    return Transitions(segments[order], shares[order], earlier[order], later[order])


@attrs.frozen(eq=False)
class _Brackets:
    """Brackets under bisection; those narrower than ``finest`` are not searched for a third region."""

    segment: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    before: NDArray[np.uint64]
    after: NDArray[np.uint64]
    finest: NDArray[np.float64]

    def chosen(self, index: NDArray[Any]) -> _Brackets:
        """Some of them."""
        return _Brackets(*(getattr(self, field.name)[index] for field in attrs.fields(_Brackets)))


def _narrowed(code: Coder, brackets: _Brackets) -> _Brackets:
    """Cut every bracket into equal sections and keep those with a change."""
    low, high = brackets.low, brackets.high
    sections = int(np.clip(_BATCH // len(low), 1, _MAX_SECTIONS)) + 1
    shares = low[:, None] + (high - low)[:, None] * (np.arange(sections + 1) / sections)
    shares[:, -1] = high
    inside = code(brackets.segment[:, None], shares[:, 1:-1])
    codes = np.concatenate([brackets.before[:, None], inside, brackets.after[:, None]], axis=1)
    changes = codes[:, 1:] != codes[:, :-1]
    # where rounding decides, regions may flicker: only the first change counts, between the two given regions
    is_fine = high - low <= brackets.finest
    first = np.argmax(changes, axis=1)
    changes[is_fine] = np.arange(sections) == first[is_fine, None]
    row, section = np.nonzero(changes)
    fine = is_fine[row]
    return _Brackets(
        brackets.segment[row],
        shares[row, section],
        shares[row, section + 1],
        np.where(fine, brackets.before[row], codes[row, section]),
        np.where(fine, brackets.after[row], codes[row, section + 1]),
        brackets.finest[row],
    )
