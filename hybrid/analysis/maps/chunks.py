"""A map classified piece by piece, here or elsewhere, and put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, as_completed

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.plane import Plane, RegionCodes
from hybrid.contact.classify import CellVerdict, Classification
from hybrid.errors import StateError

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


@attrs.define(eq=False)
class Draft:
    """A map under construction; bits of ``modes`` are those of ``dictionary``."""

    verdict: NDArray[np.uint8]
    modes: NDArray[np.uint64]
    margin: NDArray[np.float64]
    dictionary: RegionCodes = attrs.field(factory=RegionCodes)
    done: int = 0

    @classmethod
    def of(cls, shape: tuple[int, int]) -> Draft:
        """A map of which nothing is known yet."""
        return cls(np.full(shape, CellVerdict.MISSING, np.uint8), np.zeros(shape, np.uint64), np.full(shape, np.nan))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of cells."""
        return self.verdict.shape[0], self.verdict.shape[1]

    def put(self, chunk: Chunk, found: Classification) -> None:
        """Fill in a finished chunk; an interrupt in between leaves its cells missing."""
        self.modes[chunk.place] = self.dictionary.translated(found.modes, found.labels)
        self.margin[chunk.place] = found.margin
        self.verdict[chunk.place] = found.verdict
        self.done += found.verdict.size

    def codes(self) -> NDArray[np.uint64]:
        """Region codes of all cells."""
        return self.dictionary.codes(
            Classification(self.verdict, self.modes, tuple(self.dictionary.labels), self.margin)
        )


def _classified(plane: Plane, chunk: Chunk) -> Classification:
    rows, columns = chunk.place
    first, second = plane.axes
    return plane.classified(first.values[rows, None], second.values[None, columns])


def classified_chunks(
    plane: Plane, todo: Sequence[Chunk], executor: Executor | None
) -> Iterator[tuple[Chunk, Classification]]:
    """Chunks with their classification, each as soon as it is finished.

    Parameters
    ----------
    plane : Plane
    todo : sequence of Chunk
    executor : concurrent.futures.Executor or None
        With one the order is that of completion; what has not begun is cancelled when the iteration ends early.

    Returns
    -------
    iterator of (Chunk, Classification)
    """
    if executor is None:
        for chunk in todo:
            yield chunk, _classified(plane, chunk)
        return
    futures = {executor.submit(_classified, plane, chunk): chunk for chunk in todo}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()
