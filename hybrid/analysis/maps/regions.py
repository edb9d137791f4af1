"""Region maps: verdicts and consistent modes over two swept quantities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.axes import Axis
from hybrid.analysis.maps.boundaries import Boundary, trace_boundaries
from hybrid.analysis.maps.chunks import Draft, Progress, chunks, classified_chunks
from hybrid.analysis.maps.plane import Plane, RegionCodes, plane_of
from hybrid.contact.classify import CellVerdict, Classification
from hybrid.errors import StateError
from hybrid.interrupts import OnInterrupt, interruptible, keeps_partial
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.posture_branch import PostureBranch

MAX_CELLS = 100_000_000
"""Cells of a map at most: 19 bytes each are 2 GB."""
_TABLE_SIZE = np.uint64(1 << 12)


@attrs.frozen(eq=False)
class RegionMap:
    """Verdicts and consistent modes at the midpoints of the cells of a map.

    Attributes
    ----------
    axes : tuple of two Axis
        Cell ``(i, j)`` is at ``axes[0].values[i]``, ``axes[1].values[j]``.
    verdict : array of uint8, (n0, n1)
        Values of :class:`hybrid.contact.CellVerdict`; ``MISSING`` where an interrupted map was not computed.
    modes : array of uint64, (n0, n1)
        Bit ``i`` is set where mode ``labels[i]`` is consistent.
    labels : tuple of str
        Modes that occur, sorted; also ``impact``, ``penetrating`` and ``unreachable``.
    margin : array, (n0, n1)
        Smallest scaled distance of a mode's decision to its flip.
    region : array of uint16, (n0, n1)
        Index into ``regions``; meaningless where the verdict is ``MISSING``.
    regions : tuple of str
        The labels of all modes that are consistent in a cell, sorted and joined by bars; ``none`` without any,
        ``undecided`` where the verdict is.
    verdict_fractions, mode_fractions : mapping of str to float
        Shares of the computed cells, which are areas by the midpoint rule, by name of the verdict and by region;
        largest first.
    boundaries : tuple of Boundary
        Curves between the regions, if they were asked for.
    branch : PostureBranch or None
        The branch of postures that the map shows, with its start, its folds and seams; None where the pins fix the
        posture by linear equations. A cell in which the branch has no posture is ``unreachable``.
    is_complete : bool
        False if the computation was interrupted.
    """

    axes: tuple[Axis, Axis]
    verdict: NDArray[np.uint8]
    modes: NDArray[np.uint64]
    labels: tuple[str, ...]
    margin: NDArray[np.float64]
    region: NDArray[np.uint16]
    regions: tuple[str, ...]
    verdict_fractions: Mapping[str, float]
    mode_fractions: Mapping[str, float]
    boundaries: tuple[Boundary, ...] = ()
    is_complete: bool = True
    branch: PostureBranch | None = None

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.verdict.size)

    @property
    def n_missing(self) -> int:
        """Number of cells that an interrupted computation left out."""
        return int(np.count_nonzero(self.verdict == CellVerdict.MISSING))


def region_map(
    dynamics: Dynamics,
    *,
    axes: Sequence[Axis],
    pins: Mapping[str, Any] | None = None,
    parameters: Values | None = None,
    branch: Mapping[str, Any] | None = None,
    tolerances: Tolerances = Tolerances(),
    with_boundaries: bool = False,
    chunk_cells: int = 1 << 15,
    progress: Progress | None = None,
    executor: Executor | None = None,
    on_interrupt: OnInterrupt = "raise",
) -> RegionMap:
    """Classify the cells of a map.

    Where several postures satisfy the pins, as the two elbows of an arm do, the map shows one branch of them: from its
    start it is followed along the first axis, from there along the second. So cells do not depend on chunks or
    executors, and neighbours belong together.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of two Axis
        Pins or parameters, with numbers of cells.
    pins : mapping of str to float or str, optional
        All other pins of the state.
    parameters : mapping of str to float or str, optional
    branch : mapping of str to float or str, optional
        Where several postures satisfy the pins: a posture on the branch that is meant, by values of the axes (by
        default their middles) and of the unknown coordinates (by default the posture of :func:`hybrid.solve_state`).
    tolerances : Tolerances, optional
    with_boundaries : bool, optional
        Trace the curves between the regions.
    chunk_cells : int, optional
        Cells classified at once, which bounds the memory used besides the result; about 300 bytes a cell for one
        contact.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of cells.
    executor : concurrent.futures.Executor, optional
        Classifies chunks elsewhere. Processes derive the equations anew for each chunk: give them large ones.
    on_interrupt : {"raise", "keep"}, optional
        What Ctrl-C does: raise ``KeyboardInterrupt``, or end the computation with what is finished; the other cells
        are then ``MISSING``, ``is_complete`` is False, and shares are those of the cells that are there.

    Returns
    -------
    RegionMap

    Raises
    ------
    StateError, DeclarationError
        Bad axes, pins or parameters.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> from hybrid.analysis import Axis, region_map
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> axes = [Axis.parse("phi=0:pi:60"), Axis.parse("phi_dot=-3:3:60")]
    >>> found = region_map(rod, axes=axes, pins={"slip.tip": "+0"}, parameters={"mu": 1.5})
    >>> sorted(found.mode_fractions)
    ['free', 'free|slide+', 'none', 'slide+']
    >>> {name: round(share, 2) for name, share in found.verdict_fractions.items()}
    {'UNIQUE': 0.88, 'INDETERMINATE': 0.07, 'INCONSISTENT': 0.04}
    """
    keeps = keeps_partial(on_interrupt)
    plane = plane_of(dynamics, axes, pins=pins, parameters=parameters, branch=branch, tolerances=tolerances)
    cells = plane.axes[0].cells * plane.axes[1].cells
    if cells > MAX_CELLS:
        raise StateError(
            f"a map of {cells:.3g} cells is beyond the limit of {MAX_CELLS:.3g}: take fewer cells per axis"
        )
    draft = Draft.of((plane.axes[0].cells, plane.axes[1].cells))
    boundaries: tuple[Boundary, ...] = ()
    is_complete = False
    try:
        with interruptible(keeps=keeps):
            for chunk, found in classified_chunks(plane, chunks(draft.shape, chunk_cells), executor):
                draft.put(chunk, found)
                if progress is not None:
                    progress(draft.done, draft.verdict.size)
            if with_boundaries:
                boundaries = trace_boundaries(plane, draft.codes(), draft.dictionary)
            is_complete = True
    except KeyboardInterrupt:
        if not keeps:
            raise
    return _finished(plane, draft, boundaries, is_complete)


def traced(
    dynamics: Dynamics,
    region_map: RegionMap,
    *,
    pins: Mapping[str, Any],
    parameters: Mapping[str, Any],
    tolerances: Tolerances = Tolerances(),
) -> RegionMap:
    """A finished map with the curves between its regions.

    Parameters
    ----------
    dynamics : Dynamics
    region_map : RegionMap
        Complete.
    pins, parameters, tolerances
        Those that the map was made of.

    Returns
    -------
    RegionMap
        The same one with ``boundaries``.
    """
    plane = Plane(dynamics, region_map.axes, pins, parameters, tolerances, region_map.branch)
    dictionary = RegionCodes(list(region_map.labels))
    codes = dictionary.codes(Classification(region_map.verdict, region_map.modes, region_map.labels, region_map.margin))
    return attrs.evolve(region_map, boundaries=trace_boundaries(plane, codes, dictionary))


def _finished(plane: Plane, draft: Draft, boundaries: tuple[Boundary, ...], is_complete: bool) -> RegionMap:
    """Sort labels by name and regions by size, whatever the order in which chunks came."""
    present = None if is_complete else draft.verdict != CellVerdict.MISSING
    labels, modes = _sorted_modes(draft)
    codes, place, counts = _counted(draft.codes(), present)
    names = [draft.dictionary.region(int(code)) for code in codes]
    order = sorted(range(len(names)), key=lambda index: (-counts[index], names[index]))
    verdicts, _, sizes = _counted(draft.verdict.astype(np.uint64), present)
    by_size = sorted(zip(-sizes, verdicts, strict=True))
    return RegionMap(
        axes=plane.axes,
        verdict=_read_only(draft.verdict),
        modes=_read_only(modes),
        labels=labels,
        margin=_read_only(draft.margin),
        region=_read_only(np.argsort(order).astype(np.uint16)[place] if order else place.astype(np.uint16)),
        regions=tuple(names[index] for index in order),
        verdict_fractions={CellVerdict(int(value)).name: float(-size / sizes.sum()) for size, value in by_size},
        mode_fractions={names[index]: float(counts[index] / counts.sum()) for index in order},
        boundaries=boundaries,
        is_complete=is_complete,
        branch=plane.branch,
    )


def _sorted_modes(draft: Draft) -> tuple[tuple[str, ...], NDArray[np.uint64]]:
    used = int(np.bitwise_or.reduce(draft.modes, axis=None))
    given = draft.dictionary.labels
    labels = sorted(label for index, label in enumerate(given) if used >> index & 1)
    if given == labels:
        return tuple(labels), draft.modes
    codes, place, _ = _counted(draft.modes, None)
    return tuple(labels), RegionCodes(labels).translated(codes, given)[place]


def _counted(
    codes: NDArray[np.uint64], present: NDArray[np.bool_] | None
) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.intp]]:
    """Different codes, the index of each cell's code among them (0 where absent), and how often each occurs."""
    if codes.max(initial=np.uint64(0)) < _TABLE_SIZE:
        # few labels: a table of all codes is quicker than sorting the cells
        small = codes.astype(np.intp)
        sizes = np.bincount(small.ravel() if present is None else small[present], minlength=int(_TABLE_SIZE))
        found = np.flatnonzero(sizes)
        index = np.zeros(int(_TABLE_SIZE), dtype=np.intp)
        index[found] = np.arange(len(found))
        return found.astype(np.uint64), index[small], sizes[found]
    unique, inverse = np.unique(codes, return_inverse=True)
    place = inverse.reshape(codes.shape)
    sizes = np.bincount(place.ravel() if present is None else place[present], minlength=len(unique))
    return unique, place, sizes


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array
