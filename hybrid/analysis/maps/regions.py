"""Region maps: verdicts and consistent modes over two swept quantities."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.analysis.kept_tasks import kept_tasks
from hybrid.analysis.maps.axes import Axis, names_of, swept_units
from hybrid.analysis.maps.boundaries import Boundary, trace_boundaries
from hybrid.analysis.maps.chunks import Chunk, Draft, Progress, fill
from hybrid.analysis.maps.kept import decide_kept, fill_from, specification
from hybrid.analysis.maps.plane import RegionCodes, Sweep, plane_of
from hybrid.analysis.maps.region_map import RegionMap
from hybrid.analysis.maps.store import check_folder, finished_group, map_of, save_map
from hybrid.arguments import checks_arguments
from hybrid.contact.classification import CellVerdict, Classification
from hybrid.dynamics.derive import bound
from hybrid.errors import ComputationError, StateError
from hybrid.progress import OnInterrupt, comes_to_its_end, keeps_partial
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from hybrid.analysis.engines import Engine
    from hybrid.dynamics.derive import Dynamics, Values

MAX_CELLS = 100_000_000
"""Cells of a map at most: 19 bytes each are 2 GB."""


@checks_arguments
def region_map(
    dynamics: Dynamics,
    *,
    axes: Sequence[Axis | str],
    pins: Mapping[str, Any] | None = None,
    parameters: Values | None = None,
    branch: Mapping[str, Any] | None = None,
    tolerances: Tolerances = Tolerances(),
    with_boundaries: bool = False,
    chunk_cells: int | None = None,
    progress: Progress | None = None,
    executor: Executor | Engine | None = None,
    store: str | Path | None = None,
    on_interrupt: OnInterrupt = "raise",
) -> RegionMap:
    """Classify the cells of a map.

    Where several postures satisfy the pins, as the two elbows of an arm do, the map shows one branch of them: from its
    start it is followed along the first axis, from there along the second. So cells do not depend on chunks or
    executors, and neighbours belong together.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of two Axis or str
        Pins or parameters, with numbers of cells, such as ``"phi=0:pi:100"``.
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
        Cells classified at once at most, which bounds the memory used besides the result; about 300 bytes a cell for
        one contact, 20 by compiled operations. By default some 10 MB. Where cells have to be decided one by one, as
        with a spatial contact at rest, it is fewer, so that progress is told every few seconds.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of cells.
    executor : concurrent.futures.Executor, or callable that makes one, optional
        Classifies chunks elsewhere. A chunk that raises an error, or takes its process along where executors can be
        made anew, does not stop the others: its cells are ``MISSING``, and ``failures`` names it.
    store : str or Path, optional
        Folder for the finished map, as of :func:`hybrid.analysis.load_map`. Chunks are kept beside it, in a folder that
        ends in ``.part``, as they are finished: after whatever ended it the same call goes on from there. A finished
        map of the same specification is read.
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
    dynamics = bound(dynamics, parameters, swept=names_of(axes))
    keeps = keeps_partial(on_interrupt)
    plane = plane_of(dynamics, axes, pins=pins, fixed=parameters, branch=branch, tolerances=tolerances)
    cells = plane.axes[0].cells * plane.axes[1].cells
    if cells > MAX_CELLS:
        raise StateError(
            f"a map of {cells:.3g} cells is beyond the limit of {MAX_CELLS:.3g}: take fewer cells per axis"
        )
    draft = Draft.of((plane.axes[0].cells, plane.axes[1].cells))
    if store is not None:
        return _kept(plane, draft, Path(store), executor, progress, keeps=keeps, with_boundaries=with_boundaries)
    work = partial(fill, draft, plane, executor, chunk_cells=chunk_cells, progress=progress)
    failures, is_decided = _decided(work, keeps=keeps)
    return _completed(plane, draft, failures, is_decided, keeps=keeps, with_boundaries=with_boundaries)


def _decided(work: Callable[..., None], *, keeps: bool) -> tuple[dict[Chunk, str], bool]:
    """The chunks at which some work has failed and why, and whether it came to its end."""
    failures: dict[Chunk, str] = {}
    work = partial(work, failed=lambda chunk, why: failures.update({chunk: why}))
    return failures, comes_to_its_end(work, keeps=keeps)


def _completed(
    plane: Sweep,
    draft: Draft,
    failures: Mapping[Chunk, str],
    is_decided: bool,
    *,
    keeps: bool,
    with_boundaries: bool,
) -> RegionMap:
    """A map of its cells, with the curves between its regions if they are wanted and all cells are there."""
    boundaries: list[Boundary] = []
    is_complete = is_decided
    if is_decided and with_boundaries:
        is_complete = comes_to_its_end(
            lambda: boundaries.extend(trace_boundaries(plane, draft.codes(), draft.dictionary)), keeps=keeps
        )
    return _finished(plane, draft, tuple(boundaries), is_complete and not failures, _named(plane, failures))


def _kept(
    plane: Sweep,
    draft: Draft,
    folder: Path,
    engine: Executor | Engine | None,
    progress: Progress | None,
    *,
    keeps: bool,
    with_boundaries: bool,
) -> RegionMap:
    """A map whose chunks are kept, and which is written when it is there, or what is there after an interrupt."""
    check_folder(folder, may_be_finished=True)
    about = specification(plane)
    data = finished_group(folder, about)
    if data is not None:
        known = attrs.evolve(map_of(data, folder), branch=plane.branch, units=swept_units(plane.dynamics, plane.axes))
        if known.boundaries or not with_boundaries:
            return known
        return traced(plane.dynamics, known, pins=plane.pins, tolerances=plane.tolerances)
    with kept_tasks(folder, about) as kept:
        failures, is_decided = _decided(partial(decide_kept, plane, kept, engine, progress=progress), keeps=keeps)
        fill_from(kept, draft, plane)  # all that is there, whenever an interrupt came
        found = _completed(plane, draft, failures, is_decided, keeps=keeps, with_boundaries=with_boundaries)
        if kept.done:
            save_map(found, folder, about=about)
        if found.is_complete:
            kept.remove()
    return found


def _named(plane: Sweep, failures: Mapping[Chunk, str]) -> tuple[str, ...]:
    """Chunks that failed, by the ranges of their axes; the first reason is raised if nothing else is there."""
    texts = []
    for chunk, reason in failures.items():
        ranges = (
            f"{axis.name} = {axis.values[own.start]:.6g} to {axis.values[own.stop - 1]:.6g}"
            for axis, own in zip(plane.axes, chunk.place, strict=True)
        )
        texts.append(f"{', '.join(ranges)}: {reason}")
    return tuple(texts)


def traced(
    dynamics: Dynamics,
    region_map: RegionMap,
    *,
    pins: Mapping[str, Any],
    tolerances: Tolerances = Tolerances(),
) -> RegionMap:
    """A finished map with the curves between its regions.

    Parameters
    ----------
    dynamics : Dynamics
    region_map : RegionMap
        Complete.
    pins, tolerances
        Those that the map was made of.

    Returns
    -------
    RegionMap
        The same one with ``boundaries``.
    """
    plane = Sweep(dynamics, region_map.axes, pins, tolerances, region_map.branch)
    dictionary = RegionCodes(list(region_map.labels))
    codes = dictionary.codes(Classification(region_map.verdict, region_map.modes, region_map.labels, region_map.margin))
    return attrs.evolve(region_map, boundaries=trace_boundaries(plane, codes, dictionary))


def _finished(
    plane: Sweep,
    draft: Draft,
    boundaries: tuple[Boundary, ...],
    is_complete: bool,
    failures: tuple[str, ...],
) -> RegionMap:
    """Sort labels by name and regions by size, whatever the order in which chunks came."""
    if failures and not draft.done:
        raise ComputationError(failures[0])
    if not is_complete:
        draft.margin[draft.verdict == CellVerdict.MISSING] = np.nan
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
        axes=(plane.axes[0], plane.axes[1]),
        verdict=draft.verdict,
        modes=draft.modes,
        labels=labels,
        margin=draft.margin,
        region=draft.region,
        regions=tuple(names[index] for index in order),
        verdict_fractions={CellVerdict(verdict).name: -size / draft.done for size, verdict in by_size},
        mode_fractions={names[index]: list(counts.values())[index] / draft.done for index in order},
        boundaries=boundaries,
        is_complete=is_complete,
        branch=plane.branch,
        n_general=draft.n_general,
        failures=failures,
        units=swept_units(plane.dynamics, plane.axes),
    )
