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
from hybrid.analysis.maps.chunks import Draft, Progress, chunks, fill
from hybrid.analysis.maps.compiled_cells import CompiledCells, pays
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
_CELLS, _COMPILED_CELLS = 1 << 15, 1 << 18  # of a chunk


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
    n_general : int
        Cells that the general method decided; the others were decided by compiled operations, as it would have.
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
    n_general: int = 0

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
    chunk_cells: int | None = None,
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
        contact, 20 by compiled operations. By default some 10 MB.
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
    compiled = CompiledCells(plane, draft.dictionary) if executor is None and pays(cells) else None
    usual = _CELLS if compiled is None else _COMPILED_CELLS
    todo = chunks(draft.shape, usual if chunk_cells is None else chunk_cells)
    boundaries: tuple[Boundary, ...] = ()
    is_complete = False
    try:
        with interruptible(keeps=keeps):
            for _ in fill(draft, plane, todo, executor, compiled):
                if progress is not None:
                    progress(draft.done, draft.verdict.size)
            if with_boundaries:
                boundaries = trace_boundaries(plane, draft.codes(), draft.dictionary)
            is_complete = True
    except KeyboardInterrupt:
        if not keeps:
            raise
    n_general = draft.done if compiled is None else compiled.n_general
    return _finished(plane, draft, boundaries, is_complete, n_general)


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


def _finished(
    plane: Plane, draft: Draft, boundaries: tuple[Boundary, ...], is_complete: bool, n_general: int
) -> RegionMap:
    """Sort labels by name and regions by size, whatever the order in which chunks came."""
    counts, dictionary = draft.n_codes, draft.dictionary
    names = [dictionary.region(code) for code in counts]
    order = sorted(range(len(names)), key=lambda index: (-list(counts.values())[index], names[index]))
    labels = tuple(sorted(label for index, label in enumerate(dictionary.labels) if draft.used >> index & 1))
    place = np.zeros(max(1, len(order)), dtype=np.uint16)
    place[order] = range(len(order))
    regions_move, labels_move = order != sorted(order), labels != tuple(dictionary.labels)
    for row in range(draft.shape[0]):
        if regions_move:
            draft.region[row] = place[draft.region[row]]
        if labels_move:
            draft.modes[row] = RegionCodes(list(labels)).translated(draft.modes[row], dictionary.labels)
    by_size = sorted((-size, verdict) for verdict, size in draft.n_verdicts.items())
    return RegionMap(
        axes=plane.axes,
        verdict=_read_only(draft.verdict),
        modes=_read_only(draft.modes),
        labels=labels,
        margin=_read_only(draft.margin),
        region=_read_only(draft.region),
        regions=tuple(names[index] for index in order),
        verdict_fractions={CellVerdict(verdict).name: -size / draft.done for size, verdict in by_size},
        mode_fractions={names[index]: list(counts.values())[index] / draft.done for index in order},
        boundaries=boundaries,
        is_complete=is_complete,
        branch=plane.branch,
        n_general=n_general,
    )


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array
