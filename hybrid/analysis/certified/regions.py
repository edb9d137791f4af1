"""Certified maps: every region's share of a box of states between proved bounds, and verdicts proved absent."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.certified.bounds import CLOSED_KEYS, KNOWN, NO_POSTURE, PENETRATING, SEVERAL, UNREACHABLE
from hybrid.analysis.certified.boxes import BATCH, BoxBounds, BoxReader, PointReader, box_reader
from hybrid.analysis.certified.certified_map import CertifiedMap, Reason, Witness
from hybrid.analysis.certified.conditions import sign_conditions
from hybrid.analysis.maps.axes import Axis, axes_of, branch_over, check_axes, names_of, placed, swept_units
from hybrid.analysis.maps.node_states import node_states
from hybrid.analysis.maps.plane import Sweep
from hybrid.arguments import checks_arguments
from hybrid.dynamics.derive import bound
from hybrid.errors import StateError
from hybrid.progress import OnInterrupt, interruptible, keeps_partial
from hybrid.tolerances import RESOLVED, ROUNDING, SUMMED, Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

__all__ = ["certified_map"]

Array = NDArray[np.float64]

LEAST_GAP = ROUNDING
"""Gaps below would be rounding."""

_LEAST_SHARE, _SHARE = 0.1, 0.7  # of the gap, carried by the boxes that are divided next
_FEW, _DIVISIONS = 8, 4  # boxes a round at least, each divided so often: a round costs as much as a hundred boxes
_POINTS = 64  # middles of boxes a round at which the conditions of a verdict are looked at
_TRIES = 2  # of them at which the verdict itself is
_STALLED = 32  # times the boxes at which the gap was last less by a hundredth: all halved along each of four axes
_ENOUGH = 4096  # boxes before which that is not asked
_NARROW = RESOLVED  # of a box, relative: in a narrower one a sign that is not proved is one of rounding
_VOLUME_ROUNDING = SUMMED  # of sums of products of lengths, relative

Progress = Callable[[float, int], None]


@checks_arguments
def certified_map(
    dynamics: Dynamics,
    *,
    axes: Sequence[Axis | str],
    pins: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    branch: Mapping[str, Any] | None = None,
    gap: float = 1e-4,
    max_boxes: int = 10_000_000,
    budget: float | None = None,
    tolerances: Tolerances = Tolerances(),
    progress: Progress | None = None,
    on_interrupt: OnInterrupt = "raise",
) -> CertifiedMap:
    """Enclose the share of every region of a box of states, in interval arithmetic.

    The box is divided until every part is proved to hold one set of consistent modes, or is small. Near a smooth
    boundary a part is divided between two regions by parallel lines between which the boundary is proved to run.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of two to four Axis or str
        Coordinates, velocities, other pins or parameters, without numbers of cells.
    pins : mapping of str to float or str, optional
        All other pins of the state.
    parameters : mapping of str to float or str, optional
    branch : mapping of str to float or str, optional
        Where several postures satisfy the pins: a posture on the branch that is meant, as for :func:`region_map`.
    gap : float, optional
        Largest difference of the bounds of a region's share.
    max_boxes : int, optional
        Boxes to look at, at most.
    budget : float, optional
        Seconds of work, at most.
    tolerances : Tolerances, optional
        Of the verdicts at witnesses.
    progress : callable, optional
        Called as ``progress(gap, evaluations)``.
    on_interrupt : {"raise", "keep"}, optional
        What Ctrl-C does: raise ``KeyboardInterrupt``, or end with the bounds that are proved by then.

    Returns
    -------
    CertifiedMap

    Raises
    ------
    StateError, DeclarationError
        Bad axes, pins, parameters or gap.
    ComputationError
        Spatial contacts at rest, redundant contacts, or too many modes.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> from hybrid.analysis import Axis, certified_map
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> axes = [Axis.parse("phi=0:pi"), Axis.parse("mu=0:1.3")]
    >>> found = certified_map(rod, axes=axes, pins={"phi_dot": 0, "slip.tip": -1})
    >>> found.absent["INCONSISTENT"], found.absent["INDETERMINATE"]
    (True, True)
    """
    dynamics = bound(dynamics, parameters, swept=names_of(axes))
    pins, axes = dict(pins or {}), axes_of(dynamics, axes)
    keeps = keeps_partial(on_interrupt)
    _check(axes, gap, max_boxes, budget)
    check_axes(dynamics, axes, fixed=(*pins, *(parameters or ())))
    states = node_states(dynamics, axes, pins=pins)
    _check_values(dynamics, axes)
    followed = branch_over(dynamics, axes, pins=pins, start=branch, tolerances=tolerances)
    swept = Sweep(dynamics, axes, pins, tolerances, followed)
    if states.pins.sides:
        at_middle = swept.states(*(np.array([(axis.low + axis.high) / 2]) for axis in axes))[0]
        if tied := set(at_middle.sides) - set(states.pins.sides):
            raise StateError(f"the slip of {min(tied)!r} vanishes in the limit that is pinned, too: pin a small slip")
    unknown = [str(states.build.graph().values[node]) for node in states.names[len(axes) :]]
    places = [dynamics.mechanism.coordinates.index(name) for name in unknown]
    reader = box_reader(states, sign_conditions(states), partial(_named, swept, places))
    widths = np.array([axis.width for axis in axes])
    end = None if budget is None else time.perf_counter() + budget
    search = _BoxSearch(swept, reader, widths, max_boxes, progress, end)
    return search.run(_start(axes), gap, keeps=keeps)


def _named(swept: Sweep, places: list[int], x: Array) -> Array:
    """Coordinates (N, m) at these places on the branch that is meant, at values (N, k) of the axes."""
    q = swept.states(*x.T)[0].q
    return np.broadcast_to(q, (len(x), q.shape[-1]))[:, places]


def _start(axes: Sequence[Axis]) -> Array:
    """The box, divided where a slip changes its sign."""
    ends = [
        [(axis.low, 0.0), (0.0, axis.high)]
        if axis.name.startswith("slip.") and axis.low < 0.0 < axis.high
        else [(axis.low, axis.high)]
        for axis in axes
    ]
    return np.array(list(itertools.product(*ends)))


def _check(axes: tuple[Axis, ...], gap: float, max_boxes: int, budget: float | None) -> None:
    if not 2 <= len(axes) <= 4:
        raise StateError(f"give two to four axes, as phi=0:pi and mu=0:2; got {len(axes)}")
    for axis in axes:
        if axis.n is not None:
            raise StateError(
                f"axis {axis.name}: a certified map has no cells; write {axis.name}={axis.low:g}:{axis.high:g}"
            )
    if not LEAST_GAP <= gap < 1.0:
        raise StateError(f"gap {gap:g}: it must be at least {LEAST_GAP:g} and less than 1")
    if max_boxes < 1:
        raise StateError(f"max-boxes {max_boxes}: it must be positive")
    if budget is not None and not budget > 0.0:
        raise StateError(f"budget {budget:g}: it must be a positive number of seconds")


def _check_values(dynamics: Dynamics, axes: Sequence[Axis]) -> None:
    """Refuse parameters that leave their ranges at a corner of the box."""
    corners = np.stack(np.meshgrid(*([axis.low, axis.high] for axis in axes), indexing="ij"), axis=-1)
    for corner in corners.reshape(-1, len(axes)):
        placed(dynamics, axes, corner.tolist(), pins={})


@attrs.define(eq=False)
class _Parts:
    """Boxes with their shares, and bounds of those of regions, of the whole box."""

    boxes: Array
    volumes: Array
    low: Array
    high: Array
    possible: NDArray[np.bool_]
    across: NDArray[np.bool_]
    bends: Array
    loose: NDArray[np.bool_]
    inner: Array
    why: NDArray[np.int64]

    def of(self, chosen: NDArray[np.bool_]) -> _Parts:
        places = np.flatnonzero(chosen)
        return _Parts(*[getattr(self, name)[places] for name in _FIELDS])

    def joined(self, others: Sequence[_Parts]) -> _Parts:
        pieces = [self, *others]
        width = max(piece.low.shape[1] for piece in pieces)
        columns = []
        for name in _FIELDS:
            column = [getattr(piece, name) for piece in pieces]
            if name in ("low", "high"):
                column = [_widened(rows, width) for rows in column]
            columns.append(np.concatenate(column))
        return _Parts(*columns)


_FIELDS = tuple(field.name for field in attrs.fields(_Parts))


def _widened(rows: Array, width: int) -> Array:
    """Rows of so many entries, the further ones zero."""
    if rows.shape[1] == width:
        return rows
    found = np.zeros((len(rows), width))
    found[:, : rows.shape[1]] = rows
    return found


def _middles(boxes: Array) -> Array:
    return np.asarray((boxes[..., 0] + boxes[..., 1]) / 2)


@attrs.define(eq=False)
class _BoxSearch:
    swept: Sweep
    reader: BoxReader
    widths: Array
    max_boxes: int
    progress: Progress | None
    end: float | None = None
    reached: float = np.inf
    lost: float = 0.0  # share of boxes without any state
    evaluations: int = 0
    began: float = attrs.field(factory=time.perf_counter)
    least_gap: float = np.inf
    at_least_gap: int = _ENOUGH
    codes: list[int] = attrs.field(factory=list)
    witness: dict[str, Witness] = attrs.field(factory=dict)
    settled: set[str] = attrs.field(factory=set)

    def run(self, root: Array, wanted: float, *, keeps: bool) -> CertifiedMap:
        parts, done = self.bounded(root, self.reader.postures.start(root)), list[_Parts]()
        is_complete = False
        try:
            with interruptible(keeps=keeps):
                while True:
                    spread = (parts.high - parts.low).max(axis=1, initial=0.0) + parts.loose * parts.volumes
                    self.lost += float(parts.volumes[parts.why < 0].sum())
                    is_over = ((spread == 0.0) & ~self.of_interest(parts)) | (parts.why < 0)
                    if is_over.any():
                        done.append(parts.of(is_over))
                        parts, spread = parts.of(~is_over), spread[~is_over]
                    open_ = self.gap(parts)
                    self.reached = open_ + self.lost
                    self.report_progress()
                    is_complete = open_ <= wanted
                    chosen = self.for_keys(parts) if is_complete else self.widest(spread, 1.0 - wanted / open_)
                    chosen &= self.is_divisible(parts.boxes)
                    if not chosen.any() or self.is_spent() or not (is_complete or self.is_getting_on(open_)):
                        break
                    chosen = self.affordable(chosen, spread)
                    parts = parts.of(~chosen).joined([self.divided(parts.of(chosen))])
        except KeyboardInterrupt:
            if not keeps:
                raise
            self.for_keys(parts)
            return self.finished([*done, parts], wanted, is_interrupted=True)
        if not is_complete:
            self.for_keys(parts)
        return self.finished([*done, parts], wanted)

    def report_progress(self) -> None:
        if self.progress is not None:
            self.progress(self.reached, self.evaluations)

    def divided(self, parts: _Parts) -> _Parts:
        """The halves of boxes, bounded; of few boxes their sixteenths."""
        boxes, bends, inner = parts.boxes, parts.bends, parts.inner
        for _ in range(_DIVISIONS):
            boxes = self.reader.divided(boxes, self.widths, bends)
            bends, inner = np.repeat(bends, 2, axis=0), np.repeat(inner, 2, axis=0)
            if 2 * len(boxes) > min(_FEW << _DIVISIONS, self.max_boxes - self.evaluations):
                break
        return self.bounded(boxes, inner)

    def is_spent(self) -> bool:
        return self.evaluations + 2 > self.max_boxes or (self.end is not None and time.perf_counter() > self.end)

    def is_getting_on(self, reached: float) -> bool:
        """Whether divisions still bring bounds closer: an angle of 1e300 has no sine, however small a box."""
        if reached < 0.99 * self.least_gap:
            self.least_gap, self.at_least_gap = reached, max(self.evaluations, _ENOUGH)
        return self.evaluations <= _STALLED * self.at_least_gap

    def affordable(self, chosen: NDArray[np.bool_], spread: Array) -> NDArray[np.bool_]:
        """As many of the boxes as numbers and time allow, the most uncertain ones."""
        most = (self.max_boxes - self.evaluations) / 2
        if self.end is not None:
            now = time.perf_counter()
            most = min(most, (self.end - now) * self.evaluations / (now - self.began) / 2)
        places = np.flatnonzero(chosen)
        if len(places) <= most:
            return chosen
        kept = places[np.argsort(-spread[places], kind="stable")[: max(1, int(most))]]
        found = np.zeros_like(chosen)
        found[kept] = True
        return found

    def is_divisible(self, boxes: Array) -> NDArray[np.bool_]:
        middles = _middles(boxes)
        return np.asarray(((boxes[..., 0] < middles) & (middles < boxes[..., 1])).all(axis=-1))

    def volumes(self, boxes: Array) -> Array:
        """Shares of the whole box."""
        return np.asarray(np.prod((boxes[..., 1] - boxes[..., 0]) / self.widths, axis=-1))

    def of_interest(self, parts: _Parts) -> NDArray[np.bool_]:
        """Boxes that may have a verdict that was neither excluded nor met."""
        open_ = [place for place, key in enumerate(CLOSED_KEYS) if key not in {*self.witness, *self.settled}]
        found = np.asarray(parts.possible[:, open_].any(axis=1)) & (parts.why >= 0)
        if self.lost or self.has_fold:  # no proof of absence is left; where something is known a verdict is met
            found &= ~parts.loose
        what = self.reader.vanishing(parts.boxes[found], parts.inner[found])
        found[found] = (what == 0) | ((what == 2) & parts.possible[found, -1])  # still, forces may prove unique
        return found

    @property
    def has_fold(self) -> bool:
        """Whether the branch of postures ends inside the box, where no enclosure of it is the only one."""
        return self.swept.branch is not None and len(self.swept.branch.folds) > 0

    def gap(self, parts: _Parts) -> float:
        """Largest difference of the bounds of a region's share."""
        each = float((parts.high - parts.low).sum(axis=0).max(initial=0.0))
        return each + float((parts.loose * parts.volumes).sum())

    def widest(self, spread: Array, excess: float) -> NDArray[np.bool_]:
        """The boxes to divide; fewer where little of the gap is in excess, as boxes lose about half of theirs."""
        share = min(_SHARE, max(_LEAST_SHARE, 2.0 * excess))
        order = np.argsort(-spread, kind="stable")
        carried = np.cumsum(spread[order])
        count = max(_FEW, int(np.searchsorted(carried, share * carried[-1])) + 1)
        chosen = np.zeros(len(spread), dtype=np.bool_)
        chosen[order[:count]] = spread[order[:count]] > 0.0
        return chosen

    def for_keys(self, parts: _Parts) -> NDArray[np.bool_]:
        """Look for the verdicts still in question at the middles of the largest boxes; what is left to divide."""
        for place, key in enumerate(CLOSED_KEYS):
            found = np.flatnonzero(parts.possible[:, place])
            if key in self.witness or not len(found):
                continue
            largest = found[np.argsort(-parts.volumes[found], kind="stable")][:_POINTS]
            points = np.repeat(_middles(parts.boxes[largest])[..., None], 2, axis=-1)
            read = self.reader(points, parts.inner[largest])
            has_it = read.possible[:, place] & (read.why != NO_POSTURE)  # there is a posture
            for index in largest[has_it][:_TRIES]:
                self.look(parts.boxes[index])
            if (parts.why[found] == KNOWN).any():  # no proof of absence is left, either
                self.settled.add(key)
        lengths = ((parts.boxes[..., 1] - parts.boxes[..., 0]) / self.widths).max(axis=1, initial=0.0)
        return np.asarray(self.of_interest(parts) & (lengths > _NARROW))

    def look(self, box: Array) -> None:
        """The verdict in the middle of a box, kept if it is one in question."""
        verdict = self.swept.verdict(*(middle := _middles(box)))
        if verdict in CLOSED_KEYS and verdict not in self.witness:
            place = {axis.name: float(value) for axis, value in zip(self.swept.axes, middle, strict=True)}
            self.witness[verdict] = Witness(place, self.ends(box))

    def bounded(self, boxes: Array, inner: Array) -> _Parts:
        """Bound boxes in batches, and number the sets of modes that are met."""
        pieces = [self._bounded(boxes[k : k + BATCH], inner[k : k + BATCH]) for k in range(0, len(boxes), BATCH)]
        return pieces[0].joined(pieces[1:])

    def _bounded(self, boxes: Array, inner: Array) -> _Parts:
        found: BoxBounds = self.reader(boxes, inner)
        self.evaluations += len(boxes)
        self.report_progress()
        most = int(found.counts.max(initial=0))
        codes, is_listed = found.codes[:, :most], np.arange(most) < found.counts[:, None]
        self.codes += sorted({*codes[is_listed].tolist()}.difference(self.codes))
        shares, volumes = np.empty((2, len(boxes), len(self.codes))), self.volumes(boxes)
        for place, code in enumerate(self.codes):
            is_it = is_listed & (codes == code)
            shares[..., place] = np.where(is_it[..., None], found.bounds[:, :most], 0.0).sum(axis=1).T
        low, high = shares * volumes[:, None]
        loose, across = found.counts == 0, found.across
        return _Parts(boxes, volumes, low, high, found.possible, across, found.bends, loose, found.inner, found.why)

    def finished(self, pieces: Sequence[_Parts], wanted: float, *, is_interrupted: bool = False) -> CertifiedMap:
        parts = pieces[0].joined(pieces[1:])
        volumes, size = parts.volumes, len(self.codes)
        low, high = (_widened(item.sum(axis=0)[None], size)[0] for item in (parts.low, parts.high))
        loose = min(1.0, float((parts.loose * volumes).sum()) * (1.0 + _VOLUME_ROUNDING))
        high = (high + loose) * (1.0 + _VOLUME_ROUNDING)
        low, high = np.maximum(0.0, low * (1.0 - _VOLUME_ROUNDING)), np.minimum(1.0, high)
        order = sorted((place for place in range(size) if high[place] > 0.0), key=lambda place: (-high[place], place))
        is_split = ((parts.high > 0.0).sum(axis=1) > 1) | parts.loose
        absent: dict[str, bool | None] = {}
        for place, key in enumerate(CLOSED_KEYS):
            absent[key] = False if key in self.witness else None if parts.possible[:, place].any() else True
        places = np.argsort(order + [place for place in range(size) if place not in order])
        return CertifiedMap(
            axes=self.swept.axes,
            gap=self.reached,
            gap_wanted=wanted,
            complete=self.reached <= wanted and not is_interrupted,
            regions={self.region(self.codes[place]): (float(low[place]), float(high[place])) for place in order}
            | ({"undecided": (0.0, loose)} if loose else {}),
            undecided=float(volumes[is_split].sum()),
            absent=absent,
            witness={key: self.witness[key] for key in CLOSED_KEYS if key in self.witness},
            evaluations=self.evaluations,
            boxes=len(parts.boxes),
            parts=parts.boxes,
            across=parts.across,
            region=np.where(is_split, -1, places[parts.high.argmax(axis=1)] if size else -1),
            at_points=PointReader(self.reader, parts.inner, {self.codes[k]: number for number, k in enumerate(order)}),
            branch=self.swept.branch,
            reasons=self.reasons(parts, [key for key, is_absent in absent.items() if is_absent is None]),
            is_interrupted=is_interrupted,
            units=swept_units(self.swept.dynamics, self.swept.axes),
        )

    def reasons(self, parts: _Parts, unknown: Sequence[str]) -> tuple[Reason, ...]:
        """Why bounds are apart, or some verdicts neither absent nor met."""
        names, volumes = self.reader.reasons, parts.volumes
        is_asked = parts.possible[:, [place for place, key in enumerate(CLOSED_KEYS) if key in unknown]].any(axis=1)
        why = self.reader.explained(parts.boxes, parts.inner, parts.why, np.asarray(is_asked))
        found = {}
        for text in dict.fromkeys(names[place - 1] for place in np.flatnonzero(np.bincount(why)) if place):
            chosen = np.isin(why, [place for place, name in enumerate(names, 1) if name == text])
            largest = parts.boxes[chosen][volumes[chosen].argmax()]
            found[text] = Reason(text, float(volumes[chosen].sum()), self.ends(largest))
        return tuple(sorted(found.values(), key=lambda reason: -reason.share))

    def ends(self, box: Array) -> dict[str, tuple[float, float]]:
        return {axis.name: (float(low), float(high)) for axis, (low, high) in zip(self.swept.axes, box, strict=True)}

    def region(self, code: int) -> str:
        """Consistent labels, sorted and joined by bars, as in a map."""
        for bit, name in ((PENETRATING, "penetrating"), (UNREACHABLE, "unreachable")):
            if code & bit:
                return name
        names = "|".join(label for place, label in enumerate(self.reader.labels) if code >> place & 1) or "none"
        return f"{names} (indeterminate)" if code & SEVERAL else names
