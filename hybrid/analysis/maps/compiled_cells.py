"""Rectangles of cells decided by compiled operations, and by the general method where these do not apply."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.plane import RegionCodes
from hybrid.analysis.maps.recorded_cells import PENDING, CellSource, cell_source, recorded_cell
from hybrid.contact.classification import Classification

if TYPE_CHECKING:
    from hybrid.analysis.maps.cell_program import CellProgram
    from hybrid.analysis.maps.plane import Sweep

__all__ = ["CompiledCells", "pays"]

CellArrays = tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.float64]]

_MOST_PROGRAMS = 12
_MOST_FAILURES = 3
_LEAST = 1 << 17  # cells whose general method takes as long as recording and compiling one of them
_PIECE = 1 << 15  # cells decided by the general method at once


def pays(cells: int) -> bool:
    """Whether a map is so large that compiled operations give it sooner than the general method.

    Parameters
    ----------
    cells : int

    Returns
    -------
    bool
    """
    return cells >= _LEAST


@attrs.define(eq=False)
class CompiledCells:
    """Decides rectangles of cells of a plane; what it learns of one serves the others.

    Attributes
    ----------
    plane : Sweep
    dictionary : RegionCodes
        Labels of modes, by bit.
    n_general : int
        Cells decided by the general method so far.
    few : int
        Cells left over for which no other recording is made: that takes as long as deciding some thousands.
    """

    plane: Sweep
    dictionary: RegionCodes = attrs.field(factory=RegionCodes)
    n_general: int = 0
    few: int = 1 << 12
    _source: CellSource | None = None
    _programs: list[CellProgram] = attrs.field(factory=list)
    _failures: int = 0
    _lock: threading.Lock = attrs.field(factory=threading.Lock, repr=False)

    def classified(
        self, x: NDArray[np.float64], y: NDArray[np.float64], into: CellArrays | None = None
    ) -> Classification:
        """Verdicts and consistent modes at all pairs of values.

        Parameters
        ----------
        x, y : array, (n0,) and (n1,)
            Values of the axes.
        into : tuple of three arrays, (n0, n1), optional
            Where verdicts, modes and margins are written, row by row.

        Returns
        -------
        Classification
            Of shape (n0, n1).
        """
        shape = len(x), len(y)
        verdict, modes, margin = into or (np.empty(shape, np.uint8), np.zeros(shape, np.uint64), np.empty(shape))
        verdict[...] = PENDING
        n_tried = 0
        while True:
            for program in self._programs[n_tried:]:
                program(x, y, verdict, modes, margin)
                n_tried += 1
            rows, columns = np.divmod(np.flatnonzero(verdict == PENDING), len(y))
            if len(rows) <= self.few or not self._learns(n_tried, x[rows], y[columns]):
                break
        for start in range(0, len(rows), _PIECE):
            place = rows[start : start + _PIECE], columns[start : start + _PIECE]
            found = self.plane.classified(x[place[0]], y[place[1]])
            with self._lock:
                modes[place] = self.dictionary.translated(found.modes, found.labels)
                self.n_general += len(place[0])
            verdict[place], margin[place] = found.verdict, found.margin
        return Classification(verdict, modes, tuple(self.dictionary.labels), margin)

    def _learns(self, n_known: int, x: NDArray[np.float64], y: NDArray[np.float64]) -> bool:
        """Record a cell of those that are left over; False if none can be."""
        with self._lock:
            if len(self._programs) > n_known:
                return True  # somebody else did meanwhile
            for share in (0.5, 0.3, 0.8):
                if len(self._programs) >= _MOST_PROGRAMS or self._failures >= _MOST_FAILURES:
                    return False
                place = int(share * len(x))
                try:
                    if self._source is None:
                        self._source = cell_source(self.plane)
                    cell = recorded_cell(self._source, (float(x[place]), float(y[place])))
                except TypeError:  # NotRecordable, or NumPy's own where a function leaves recorded arrays
                    self._failures += 1
                    continue
                from hybrid.analysis.maps.cell_program import cell_program  # loads the compiler

                bits = [self.dictionary.place(label) for label in cell.labels]
                self._programs.append(cell_program(cell, bits))
                return True
            return False
