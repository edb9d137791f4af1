"""A recording of one cell as a program for rectangles of cells: tables for either axis, and code for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.cell_code import LANES, cell_code
from hybrid.expressions.graph import needed

if TYPE_CHECKING:
    from hybrid.analysis.maps.recorded_cells import CellRecording
    from hybrid.expressions.recording import Recording

__all__ = ["CellProgram", "cell_program"]

_ROW, _COLUMN, _BOTH = 1, 2, 3  # on which of the two axes a step depends, as bits
_BLOCK = 1 << 13  # values of an axis that are worked out at once


@attrs.frozen(eq=False)
class _Table:
    """Steps on one axis that the code uses, and the conditions on it; the last values asked for are kept."""

    recording: Recording
    kind: int
    steps: tuple[int, ...]
    last: list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]]

    def __call__(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Numbers (steps, n), and -1 where the conditions hold (n,)."""
        for known, numbers, is_met in self.last:
            if np.array_equal(known, values):
                return numbers, is_met
        blocks = [self._block(values[start : start + _BLOCK]) for start in range(0, len(values), _BLOCK)]
        numbers, is_met = (np.concatenate(parts, axis=-1) for parts in zip(*blocks, strict=True))
        self.last[:] = [(values, numbers, is_met)]
        return numbers, is_met

    def _block(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        recording = self.recording
        conditions = [
            item for item in recording.conditions if recording.inputs[item[0]] | recording.inputs[item[1]] == self.kind
        ]
        roots = [*self.steps, *(step for first, second, _ in conditions for step in (first, second))]
        known: dict[int, NDArray[np.float64] | float] = {}
        with np.errstate(all="ignore"):
            for place in needed([step.operands for step in recording.steps], roots):
                step = recording.steps[place]
                if recording.inputs[place] == 0:
                    known[place] = recording.values[place]
                elif step.operation == "input":
                    known[place] = values
                else:
                    known[place] = getattr(np, step.operation)(*(known[operand] for operand in step.operands))
        is_met = np.ones(len(values), dtype=bool)
        for first, second, or_equal in conditions:
            is_met &= known[first] >= known[second] if or_equal else known[first] > known[second]
        numbers = np.array([known[step] for step in self.steps]).reshape(-1, len(values))
        return numbers, -is_met.astype(np.int64)


@attrs.frozen(eq=False)
class CellProgram:
    """Decides cells wherever all conditions of a recording hold, see :func:`cell_program`."""

    _rows: _Table
    _columns: _Table
    _code: Callable[..., None]

    def __call__(
        self,
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        verdict: NDArray[np.uint8],
        modes: NDArray[np.uint64],
        margin: NDArray[np.float64],
    ) -> None:
        """Decide the cells of a rectangle that are pending, where all conditions hold.

        Parameters
        ----------
        x, y : array, (n0,) and (n1,)
            Values of the axes.
        verdict, modes, margin : array, (n0, n1)
            Contiguous; filled in.

        Returns
        -------
        None
        """
        if len(y) < LANES:
            wide = (
                np.repeat(verdict, LANES, axis=1),
                np.repeat(modes, LANES, axis=1),
                np.repeat(margin, LANES, axis=1),
            )
            self(x, np.repeat(y, LANES), *wide)
            verdict[...], modes[...], margin[...] = (found[:, ::LANES] for found in wide)
            return
        rows, row_met = self._rows(x)
        columns, column_met = self._columns(y)
        self._code(np.ascontiguousarray(rows.T), row_met, columns, column_met, verdict, modes, margin)


def cell_program(cell: CellRecording, bits: Sequence[int]) -> CellProgram:
    """What decides all cells that are decided like a recorded one.

    What depends on one axis alone is worked out once for each of its values.

    Parameters
    ----------
    cell : CellRecording
    bits : sequence of int
        Of every one of its labels, in the result.

    Returns
    -------
    CellProgram
    """
    recording = cell.recording
    ends = [step for first, second, _ in recording.conditions for step in (first, second)]
    ends += [step for mode in cell.modes for step in (mode.least, mode.regularity)]
    ends += [step for pair in cell.pairs for step in (pair.gap, pair.limit)]
    steps, inputs = recording.steps, recording.inputs
    of_both = [place for place in needed([step.operands for step in steps], ends) if inputs[place] == _BOTH]
    used = sorted({*ends, *(operand for place in of_both for operand in steps[place].operands)})
    rows, columns = (tuple(step for step in used if inputs[step] == kind) for kind in (_ROW, _COLUMN))
    return CellProgram(
        _Table(recording, _ROW, rows, []), _Table(recording, _COLUMN, columns, []), cell_code(cell, bits, rows, columns)
    )
