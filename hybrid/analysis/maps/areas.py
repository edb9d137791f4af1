"""Areas of regions by exact boundaries: shares of a map without its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.axes import Axis, names_of
from hybrid.analysis.maps.plane import Code, RegionCodes, Sweep, plane_of
from hybrid.analysis.maps.transitions import Transitions, transitions
from hybrid.arguments import checks_arguments
from hybrid.dynamics import pin_names
from hybrid.dynamics.derive import bound
from hybrid.errors import ArgumentError
from hybrid.tolerances import CANCELLED, INTEGRATED, NOTHING, RESOLVED, Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values

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
    def of(cls, plane: Sweep, *, is_first_inner: bool) -> Lines:
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


_MAX_ROUNDS = 24
# Places of events along the outer axis, as a share of it.
_EVENT_WIDTH = INTEGRATED
# Near an event a length goes like a root of the distance, as where a region begins or a curve turns; in the variable
# u of x = a + (b - a) u^2 (3 - 2 u) it is smooth at both ends of a panel.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_COARSE_NODES, _COARSE_WEIGHTS = np.polynomial.legendre.leggauss(8)


@attrs.frozen
class RefinedFractions:
    """Areas of the regions of a plane as fractions of the whole.

    Attributes
    ----------
    mode_fractions : mapping of str to float
        By region, as in :class:`RegionMap`, largest first.
    error : float
        Estimate of the largest error of any of them, provided that the scan met every region and every turn of a
        boundary: it is the difference of two rules of integration over what was found. A region that lies between the
        lines and points of the scan is missing from the fractions and from the estimate.
    scan : tuple of int
        Numbers of points of that scan along the two axes.
    """

    mode_fractions: Mapping[str, float]
    error: float
    scan: tuple[int, int]


@checks_arguments
def refined_fractions(
    dynamics: Dynamics,
    *,
    axes: Sequence[Axis | str],
    pins: Mapping[str, Any] | None = None,
    parameters: Values | None = None,
    branch: Mapping[str, Any] | None = None,
    tolerances: Tolerances = Tolerances(),
    accuracy: float = 1e-6,
) -> RefinedFractions:
    """Integrate the areas of regions by exact boundaries, as far as a scan finds the regions.

    Across the plane run lines along one axis, on which the places where the region changes are found by bisection. The
    order of regions along a line changes at events (a boundary turns, ends, meets another or runs along the line);
    these are bisected too. Between events the lengths are smooth and are integrated by Gauss' rule, in panels that are
    halved until two rules of different order agree.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of two Axis or str
        Their numbers of cells, if given, are those of the scan; 200 otherwise. It must meet every region: one between
        its lines is missed without a trace. Regions that are met are followed to tips narrower than the scan.
    pins : mapping of str to float or str, optional
    parameters : mapping of str to float or str, optional
    branch : mapping of str to float or str, optional
        As for :func:`region_map`.
    tolerances : Tolerances, optional
    accuracy : float, optional
        Of each fraction, given that all regions were met.

    Returns
    -------
    RefinedFractions

    Raises
    ------
    StateError, DeclarationError
        Bad axes, pins or parameters.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> from hybrid.analysis import Axis, refined_fractions
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> plane = [Axis.parse("phi=0:pi"), Axis.parse("phi_dot=-3:3")]
    >>> found = refined_fractions(rod, axes=plane, pins={"slip.tip": "+0"}, parameters={"mu": 1.5})
    >>> {region: round(share, 5) for region, share in found.mode_fractions.items()}
    {'slide+': 0.44126, 'free': 0.43426, 'free|slide+': 0.08009, 'none': 0.04439}
    """
    dynamics = bound(dynamics, parameters, swept=names_of(axes))
    plane = plane_of(dynamics, axes, pins=pins, fixed=parameters, branch=branch, tolerances=tolerances)
    lines = Lines.of(plane, is_first_inner=_is_first_inner(dynamics, plane.axes))
    cuts = _events(lines)
    if not accuracy > 0.0:
        raise ArgumentError(f"accuracy must be above 0, not {accuracy!r}")
    sums, error = _integrated(lines, cuts, accuracy)
    shares = {lines.dictionary.region(code): share for code, share in sums.items()}
    ordered = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    points = (len(lines.nodes), len(lines.scan))
    scan = points if lines.is_first_inner else points[::-1]
    return RefinedFractions({name: share for name, share in ordered if share > 0}, error, scan)


def _is_first_inner(dynamics: Dynamics, axes: Sequence[Axis]) -> bool:
    """Lines run along a velocity where there is one: then positions are solved once a line."""
    velocities = pin_names(dynamics)[1]
    return axes[0].name in velocities and axes[1].name not in velocities


def _events(lines: Lines) -> Array:
    """Shares of the outer axis between which the order of regions along a line stays the same, ends included."""
    scan = lines.scan
    orders = lines.orders(scan)
    changes = np.flatnonzero(orders[1:] != orders[:-1])
    found = transitions(
        lambda _, share: lines.orders(share),
        np.arange(len(changes)),
        scan[changes],
        scan[changes + 1],
        orders[changes],
        orders[changes + 1],
        width=_EVENT_WIDTH,
        batch=lines.lines_at_once,
    )
    return np.concatenate([[0.0], np.sort(found.share), [1.0]])


def _integrated(lines: Lines, cuts: Array, accuracy: float) -> tuple[dict[int, float], float]:
    """Sum the lengths of the regions over all panels, halving those whose two rules differ."""
    low, high = cuts[:-1], cuts[1:]
    sums: dict[int, float] = {}
    error = 0.0
    for round_ in range(_MAX_ROUNDS):
        low, high = low[high > low], high[high > low]
        if not len(low):
            break
        codes, fine, coarse = _panels(lines, low, high)
        difference = np.max(np.abs(fine - coarse), axis=1)
        # twelve points are far better than eight: what is kept is better than the difference of the two
        is_good = (difference <= accuracy * np.maximum(high - low, 1e-3)) | (round_ == _MAX_ROUNDS - 1)
        for code, share in zip(codes, np.sum(fine[is_good], axis=0), strict=True):
            sums[int(code)] = sums.get(int(code), 0.0) + float(share)
        error += float(np.sum(difference[is_good]))
        middle = (low + high)[~is_good] / 2
        low, high = np.concatenate([low[~is_good], middle]), np.concatenate([middle, high[~is_good]])
    return sums, error


def _panels(lines: Lines, low: Array, high: Array) -> tuple[NDArray[np.uint64], Array, Array]:
    """Integrals (panels, codes) of the lengths by the two rules."""
    u = (np.concatenate([_NODES, _COARSE_NODES]) + 1) / 2
    x = low[:, None] + (high - low)[:, None] * u**2 * (3 - 2 * u)
    codes, lengths = lines.lengths(x.ravel())
    slope = 3 * u * (1 - u) * (high - low)[:, None]  # half of dx/du: Gauss' nodes span a length of 2
    weighted = lengths.reshape(*x.shape, len(codes)) * slope[..., None]
    n = len(_NODES)
    return (
        codes,
        np.einsum("pnc,n->pc", weighted[:, :n], _WEIGHTS),
        np.einsum("pnc,n->pc", weighted[:, n:], _COARSE_WEIGHTS),
    )
