"""Lines across a plane of states, with the regions they pass through."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.axes import Axis
from hybrid.analysis.maps.plane import Code, Plane, RegionCodes
from hybrid.analysis.maps.transitions import Transitions, transitions
from hybrid.tolerances import CANCELLED, NOTHING, RESOLVED

Array = NDArray[np.float64]

_SCAN_CELLS = 200
# A line ends just inside the plane, where a pin at its end has no special meaning.
_INSET = RESOLVED
# Two regions follow each other on a line when they do so at this distance, a share of the line.
_ORDER_WIDTH = NOTHING
_LENGTH_WIDTH = CANCELLED
_STATES_AT_ONCE = 1 << 14


@attrs.define(eq=False)
class Known:
    """Middles of the regions on lines, by share of the outer axis, sorted; NaN where a line has fewer."""

    outer: Array = attrs.field(factory=lambda: np.zeros(0))
    middles: Array = attrs.field(factory=lambda: np.zeros((0, 0)))

    def add(self, outer: Array, found: Transitions) -> None:
        """Remember the regions of lines (k,) with the given changes."""
        count = np.bincount(found.segment, minlength=len(outer))
        ends = np.ones((len(outer), int(count.max(initial=0)) + 2))
        ends[:, 0] = 0.0
        ends[found.segment, np.arange(len(found)) - (np.cumsum(count) - count)[found.segment] + 1] = found.share
        middles = np.where(np.diff(ends) > 0, (ends[:, 1:] + ends[:, :-1]) / 2, np.nan)
        width = max(middles.shape[1], self.middles.shape[1])
        rows = [
            np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=np.nan)
            for part in (self.middles, middles)
        ]
        order = np.argsort(both := np.concatenate([self.outer, outer]), kind="stable")
        self.outer, self.middles = both[order], np.concatenate(rows)[order]

    def around(self, outer: Array) -> Array:
        """Middles (k, m) on the nearest known lines on either side."""
        if not len(self.outer):
            return np.zeros((len(outer), 0))
        after = np.searchsorted(self.outer, outer)
        last = len(self.outer) - 1
        return np.concatenate([self.middles[np.maximum(after - 1, 0)], self.middles[np.minimum(after, last)]], axis=1)


@attrs.frozen(eq=False)
class Lines:
    """Lines along the inner axis of a plane, at shares of the outer one.

    Attributes
    ----------
    inner, outer : Axis
    is_first_inner : bool
        Which of the plane's axes is the inner one.
    code : callable
        Region codes at values of the plane's axes.
    dictionary : RegionCodes
    orders_met : mapping of tuple of int to int
        Sequences of regions along a line, numbered as they are met.
    known : Known
        Middles of the regions on lines looked at before. A region that is narrower than the scan is found on a line
        when it is known from the next one, so that thin ends of regions are followed to their tips.
    """

    inner: Axis
    outer: Axis
    is_first_inner: bool
    code: Code
    dictionary: RegionCodes
    orders_met: dict[tuple[int, ...], int] = attrs.field(factory=dict)
    known: Known = attrs.field(factory=lambda: Known())

    @classmethod
    def of(cls, plane: Plane, *, is_first_inner: bool) -> Lines:
        """Lines across a plane."""
        inner, outer = plane.axes if is_first_inner else plane.axes[::-1]
        dictionary = RegionCodes()
        return cls(inner, outer, is_first_inner, plane.sharp().coder(dictionary), dictionary)

    @property
    def scan(self) -> Array:
        """Shares of the outer axis: midpoints of its cells and both ends."""
        n = self.outer.n or _SCAN_CELLS
        return np.concatenate([[_INSET], (np.arange(n) + 0.5) / n, [1 - _INSET]])

    @property
    def lines_at_once(self) -> int:
        """Lines that are scanned together, which bounds the memory used."""
        return max(1, _STATES_AT_ONCE // len(self.nodes))

    @property
    def nodes(self) -> Array:
        """Shares of the inner axis at which every line is looked at."""
        n = self.inner.n or _SCAN_CELLS
        return np.concatenate([[_INSET], (np.arange(n) + 0.5) / n, [1 - _INSET]])

    def code_at(self, outer: Array, inner: Array) -> NDArray[np.uint64]:
        """Region codes at shares of the two axes."""
        x, y = self.outer.at(outer), self.inner.at(inner)
        return self.code(y, x) if self.is_first_inner else self.code(x, y)

    def changes(self, outer: Array, *, width: float) -> tuple[Transitions, NDArray[np.uint64]]:
        """Where the region changes along lines (k,), and the code at the beginning of each."""
        extra = self.known.around(outer)
        fixed = np.broadcast_to(self.nodes, (len(outer), len(self.nodes)))
        nodes = np.sort(np.concatenate([fixed, np.where(np.isnan(extra), _INSET, extra)], axis=1), axis=1)
        codes = self.code_at(outer[:, None], nodes)
        line, node = np.nonzero(codes[:, 1:] != codes[:, :-1])
        found = transitions(
            lambda line, share: self.code_at(outer[line], share),
            line,
            nodes[line, node],
            nodes[line, node + 1],
            codes[line, node],
            codes[line, node + 1],
            width=width,
        )
        return found, codes[:, 0]

    def orders(self, outer: Array) -> NDArray[np.uint64]:
        """Numbers of the sequences of regions along lines at shares (...) of the outer axis."""
        numbers = [
            number
            for start in range(0, outer.size, self.lines_at_once)
            for number in self._orders(outer.ravel()[start : start + self.lines_at_once])
        ]
        return np.array(numbers, dtype=np.uint64).reshape(outer.shape)

    def _orders(self, outer: Array) -> list[int]:
        found, first = self.changes(outer, width=_ORDER_WIDTH)
        self.known.add(outer, found)
        parts = np.split(found.after, np.searchsorted(found.segment, np.arange(1, len(outer))))
        sequences = [(int(start), *map(int, part)) for start, part in zip(first, parts, strict=True)]
        return [self.orders_met.setdefault(sequence, len(self.orders_met)) for sequence in sequences]

    def lengths(self, outer: Array) -> tuple[NDArray[np.uint64], Array]:
        """Codes (c,) met and the share (k, c) of each line that is in each region."""
        pieces = []
        for start in range(0, len(outer), self.lines_at_once):
            found, first = self.changes(outer[start : start + self.lines_at_once], width=_LENGTH_WIDTH)
            n = len(first)
            line = np.concatenate([np.arange(n), found.segment])
            code = np.concatenate([first, found.after])
            begin = np.concatenate([np.zeros(n), found.share])
            order = np.lexsort((begin, line))
            line, code, begin = line[order], code[order], begin[order]
            end = np.append(begin[1:], 1.0)
            end[np.append(line[1:] != line[:-1], True)] = 1.0
            pieces.append((line + start, code, end - begin))
        line, code, length = (np.concatenate(column) for column in zip(*pieces, strict=True))
        codes, place = np.unique(code, return_inverse=True)
        lengths = np.zeros((len(outer), len(codes)))
        np.add.at(lengths, (line, place), length)
        return codes, lengths
