"""A map classified piece by piece, here or elsewhere, and put together."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.engines import REPORTED, Engine, worked_off
from hybrid.analysis.maps.compiled_cells import CompiledCells, pays
from hybrid.analysis.maps.plane import RegionCodes, Sweep
from hybrid.contact.classification import CellVerdict, Classification
from hybrid.errors import StateError

_BLOCK = 1 << 17
_CELLS, _COMPILED_CELLS = 1 << 15, 1 << 18  # of a chunk
_SINGLY = 512  # cells of a chunk that are decided one by one: a second, some ten where forces are not unique
_FEW = 4096  # cells of a map whose sample would take as long as the map itself
_SAMPLED = 8  # values of either axis that tell how many these are

Progress = Callable[[int, int], None]
"""Called with the numbers of finished and of all cells."""


@attrs.frozen
class Chunk:
    """A rectangle of cells: rows ``start0`` to ``stop0``, columns ``start1`` to ``stop1``."""

    start0: int
    stop0: int
    start1: int
    stop1: int

    @property
    def place(self) -> tuple[slice, slice]:
        """Index of its cells."""
        return slice(self.start0, self.stop0), slice(self.start1, self.stop1)


def chunks(shape: tuple[int, int], cells: int) -> tuple[Chunk, ...]:
    """A map cut into rectangles of at most so many cells: blocks of rows, or pieces of a row that is too long.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the map.
    cells : int
        Largest number of cells of a rectangle.

    Returns
    -------
    tuple of Chunk
        Row by row.

    Raises
    ------
    StateError
        ``cells`` is below 1.

    Examples
    --------
    >>> [chunk.place for chunk in chunks((3, 4), 8)]
    [(slice(0, 2, None), slice(0, 4, None)), (slice(2, 3, None), slice(0, 4, None))]
    """
    if cells < 1:
        raise StateError(f"chunk_cells must be at least 1, not {cells}")
    columns = min(shape[1], cells)
    rows = max(1, cells // columns)
    return tuple(
        Chunk(i, min(i + rows, shape[0]), j, min(j + columns, shape[1]))
        for i in range(0, shape[0], rows)
        for j in range(0, shape[1], columns)
    )


def cells_at_once(plane: Sweep, most: int) -> int:
    """Cells of a chunk between which progress is told and an interrupt is heard within seconds.

    Parameters
    ----------
    plane : Sweep
    most : int
        Where no cells have to be decided one by one.

    Returns
    -------
    int
        So many fewer that about 512 of them are decided one by one, by a sample of the plane.
    """
    if math.prod(axis.cells for axis in plane.axes) <= _FEW:
        return most
    sampled = []
    for axis in plane.axes:
        step = math.ceil(axis.cells / _SAMPLED)
        sampled.append(axis.values[(axis.cells - 1) % step // 2 :: step])
    try:
        found = attrs.evolve(plane, decides_ties=False).classified(sampled[0][:, None], sampled[1][None, :])
    except REPORTED:
        return most  # it is met again, and told, where the chunk of that cell is decided
    singly = int(np.count_nonzero(found.verdict == CellVerdict.UNDECIDED))
    return min(most, _SINGLY * found.verdict.size // singly) if singly else most


@attrs.define(eq=False)
class Draft:
    """A map under construction; bits of ``modes`` are those of ``dictionary``.

    Attributes
    ----------
    verdict, modes, margin : array, (n0, n1)
    region : array of uint16, (n0, n1)
        Number of the cell's code among those met so far.
    dictionary : RegionCodes
    n_codes, n_verdicts : mapping of int to int
        How often codes and verdicts occur; codes in the order in which they were met.
    used : int
        Bits of all modes that occur.
    n_general : int
        Cells of kept chunks that the general method has decided.
    """

    verdict: NDArray[np.uint8]
    modes: NDArray[np.uint64]
    margin: NDArray[np.float64]
    region: NDArray[np.uint16]
    dictionary: RegionCodes = attrs.field(factory=RegionCodes)
    n_codes: dict[int, int] = attrs.field(factory=dict)
    n_verdicts: dict[int, int] = attrs.field(factory=dict)
    used: int = 0
    n_general: int = 0
    _lock: threading.Lock = attrs.field(factory=threading.Lock, repr=False)

    @classmethod
    def of(cls, shape: tuple[int, int]) -> Draft:
        """A map of which nothing is known yet."""
        verdict = np.full(shape, CellVerdict.MISSING, np.uint8)
        return cls(verdict, np.zeros(shape, np.uint64), np.empty(shape), np.zeros(shape, np.uint16))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of cells."""
        return self.verdict.shape[0], self.verdict.shape[1]

    @property
    def done(self) -> int:
        """Number of cells that are there."""
        return sum(self.n_verdicts.values())

    def put(self, chunk: Chunk, found: Classification) -> None:
        """Fill in a finished chunk, from any thread; an interrupt in between leaves its cells missing."""
        with self._lock:
            modes = self.dictionary.translated(found.modes, found.labels)
        self.modes[chunk.place], self.margin[chunk.place] = modes, found.margin
        self.count(chunk, found.verdict)

    def count(self, chunk: Chunk, verdict: NDArray[np.uint8]) -> None:
        """Number and count the codes of a chunk whose modes and margins are there, and enter its verdicts."""
        rows = max(1, _BLOCK // (chunk.stop1 - chunk.start1))  # so few that they stay in the cache
        for start in range(0, len(verdict), rows):
            own = verdict[start : start + rows]
            first = chunk.start0 + start
            self._count_runs((slice(first, first + len(own)), chunk.place[1]), own)

    def _count_runs(self, place: tuple[slice, slice], found: NDArray[np.uint8]) -> None:
        """Neighbours mostly have the same code: those of runs are counted by their lengths."""
        verdict, modes = found.ravel(), self.modes[place].ravel()
        changes = (modes[1:] != modes[:-1]) | (verdict[1:] != verdict[:-1])
        starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
        lengths = np.diff(starts, append=len(modes))
        first_modes, verdicts = modes[starts], verdict[starts]
        runs = Classification(verdicts, first_modes, tuple(self.dictionary.labels), self.margin[:0])
        codes, index = np.unique(self.dictionary.codes(runs), return_inverse=True)
        counts = np.bincount(index, weights=lengths).astype(np.int64)
        numbers = np.array(self._numbers(codes.tolist(), counts.tolist()), dtype=np.uint16)
        self.region[place] = np.repeat(numbers[index], lengths).reshape(found.shape)
        self.verdict[place] = found
        self._count(int(np.bitwise_or.reduce(first_modes)), np.bincount(verdicts, weights=lengths).astype(np.int64))

    def _count(self, used: int, sizes: NDArray[np.int64]) -> None:
        with self._lock:
            self.used |= used
            for value in np.flatnonzero(sizes).tolist():
                self.n_verdicts[value] = self.n_verdicts.get(value, 0) + int(sizes[value])

    def _numbers(self, codes: list[int], counts: list[int]) -> list[int]:
        """Count codes, and number those that are new."""
        with self._lock:
            for code, count in zip(codes, counts, strict=True):
                self.n_codes[code] = self.n_codes.get(code, 0) + count
            places = {code: place for place, code in enumerate(self.n_codes)}
        return [places[code] for code in codes]

    def codes(self) -> NDArray[np.uint64]:
        """Region codes of all cells."""
        return self.dictionary.codes(
            Classification(self.verdict, self.modes, tuple(self.dictionary.labels), self.margin)
        )


def classified_chunk(plane: Sweep, chunk: Chunk) -> Classification:
    """Verdicts and modes of a chunk by the general method.

    Parameters
    ----------
    plane : Sweep
    chunk : Chunk

    Returns
    -------
    Classification
    """
    rows, columns = chunk.place
    first, second = plane.axes
    return plane.classified(first.values[rows, None], second.values[None, columns])


def _compiled(cells: CompiledCells, draft: Draft, chunk: Chunk) -> None:
    rows, columns = chunk.place
    x, y = (axis.values[own] for axis, own in zip(cells.plane.axes, (rows, columns), strict=True))
    verdict, modes, margin = draft.verdict[chunk.place], draft.modes[chunk.place], draft.margin[chunk.place]
    is_whole = verdict.flags.c_contiguous
    found = cells.classified(x, y, (verdict, modes, margin) if is_whole else None)
    if is_whole:
        draft.count(chunk, verdict)
    else:
        draft.put(chunk, found)


def fill(
    draft: Draft,
    plane: Sweep,
    engine: Executor | Engine | None,
    *,
    chunk_cells: int | None,
    progress: Progress | None,
    failed: Callable[[Chunk, str], None],
) -> None:
    """Classify the cells of a map by chunks, and put each in as soon as it is finished.

    Parameters
    ----------
    draft : Draft
    plane : Sweep
    engine : concurrent.futures.Executor, or callable that makes one, or None
        With one the order is that of completion; what has not begun is cancelled when this ends early. Without, many
        cells are decided by compiled operations, in threads of this process.
    chunk_cells : int or None
        Of a chunk at most; by default as many as suit the method.
    progress : callable or None
    failed : callable
        Called with a chunk and the reason where an engine cannot decide it; without an engine it is raised.

    Returns
    -------
    None
        The draft has what is finished, also after an interrupt.
    """
    compiled = CompiledCells(plane, draft.dictionary) if engine is None and pays(draft.verdict.size) else None
    usual = _CELLS if compiled is None else _COMPILED_CELLS
    todo = chunks(draft.shape, cells_at_once(plane, usual if chunk_cells is None else chunk_cells))
    report_failure = None if engine is None else lambda number, reason: failed(todo[number], reason)
    try:
        for _ in _filled(draft, plane, todo, engine, compiled, report_failure):
            if progress is not None:
                progress(draft.done, draft.verdict.size)
    finally:
        draft.n_general = draft.done if compiled is None else compiled.n_general


def _filled(
    draft: Draft,
    plane: Sweep,
    todo: Sequence[Chunk],
    engine: Executor | Engine | None,
    cells: CompiledCells | None,
    failed: Callable[[int, str], None] | None,
) -> Iterator[None]:
    """One for every chunk that is there."""
    if cells is not None:
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            yield from (None for _ in worked_off(partial(_compiled, cells, draft), todo, engine=threads))
        return
    for number, found in worked_off(partial(classified_chunk, plane), todo, engine=engine, failed=failed):
        draft.put(todo[number], found)
        yield
