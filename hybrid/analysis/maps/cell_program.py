"""A recording of one cell as compiled operations on rectangles of cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.lanes import CODES, PENDING, fill_cells
from hybrid.expressions.graph import needed

if TYPE_CHECKING:
    from hybrid.analysis.maps.recorded_cells import CellRecording

__all__ = ["CellProgram", "cell_program"]

_NUMBER, _ROW, _COLUMN, _BOTH = range(4)  # on which of the two axes a step depends, as bits
_SYMMETRIC = ("add", "multiply", "maximum", "minimum")


@attrs.frozen(eq=False)
class _Part:
    """Operations on one axis, or on both.

    Attributes
    ----------
    lines : array of int64, (m, 5)
    registers : mapping of int to int
        Of steps.
    n_registers : int
    """

    lines: NDArray[np.int64]
    registers: dict[int, int]
    n_registers: int


@attrs.frozen(eq=False)
class CellProgram:
    """Operations by which cells are decided, see :func:`cell_program`.

    Attributes
    ----------
    fixed : int
        The verdict of all cells, or ``PENDING``.
    fixed_bits : int
        Their modes then.
    numbers : array, (s,)
        Plain numbers, then places for what depends on the row.
    """

    fixed: int
    fixed_bits: int
    numbers: NDArray[np.float64]
    _row: _Part
    _column: _Part
    _main: _Part
    _late: NDArray[np.int64]
    _from_row: tuple[int, ...]
    _from_column: tuple[int, ...]

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
            Filled in.

        Returns
        -------
        None
        """
        parts = (self._row, self._column, self._main)
        exports = tuple(
            np.array([part.registers[step] for step in steps], dtype=np.int64)
            for part, steps in ((self._row, self._from_row), (self._column, self._from_column))
        )
        fill_cells(
            np.ascontiguousarray(x),
            np.ascontiguousarray(y),
            (*(part.lines for part in parts), self._late),
            exports,
            self.numbers.copy(),
            max(part.n_registers for part in parts),
            self.fixed,
            np.uint64(self.fixed_bits),
            verdict,
            modes,
            margin,
        )


def cell_program(cell: CellRecording, bits: Sequence[int]) -> CellProgram:
    """Operations by which all cells are decided that are decided like a recorded one.

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
    return _ProgramWriter(cell, bits).written()


@attrs.define(eq=False)
class _ProgramWriter:
    cell: CellRecording
    bits: Sequence[int]
    scalars: dict[int, int] = attrs.field(factory=dict)

    @property
    def inputs(self) -> Sequence[int]:
        return self.cell.recording.inputs

    def written(self) -> CellProgram:
        recording, cell = self.cell.recording, self.cell
        early = [step for first, second, _ in recording.conditions for step in (first, second)]
        early += [step for mode in cell.modes for step in (mode.least, mode.regularity)]
        late = [step for pair in cell.pairs for step in (pair.gap, pair.limit)]
        steps = self._needed([*early, *late])
        main = [step for step in self._needed(early) if self.inputs[step] == _BOTH]
        rest = [step for step in steps if self.inputs[step] == _BOTH and step not in set(main)]
        ends = {*early, *late, *(a for step in (*main, *rest) for a in recording.steps[step].operands)}
        from_row, from_column = (
            [step for step in steps if step in ends and self.inputs[step] == kind] for kind in (_ROW, _COLUMN)
        )
        numbers = [step for step in steps if self.inputs[step] == _NUMBER]
        self.scalars = {step: place for place, step in enumerate((*numbers, *from_row))}
        row, column = (
            self._part(kind, [step for step in steps if self.inputs[step] == kind], kept)
            for kind, kept in ((_ROW, from_row), (_COLUMN, from_column))
        )
        events = self._events(main, _BOTH)
        for mode in cell.modes:
            _insert(events, _Event("mode", (mode.least, mode.regularity), (self.bits[mode.bit],)))
        later = [_Event(recording.steps[step].operation, recording.steps[step].operands, (), step) for step in rest]
        later += [
            _Event("pair", (pair.gap, pair.limit), tuple(self.bits[bit] for bit in pair.bits)) for pair in cell.pairs
        ]
        writer = _LineWriter(self, _BOTH, from_column)
        lines = writer.lines([*events, *later], kept=())
        n_main = writer.starts[len(events)]
        return CellProgram(
            PENDING if cell.verdict is None else int(cell.verdict),
            1 << self.bits[0],
            np.array([*(recording.values[step] for step in numbers), *([0.0] * len(from_row))]),
            row,
            column,
            _Part(lines[:n_main], writer.registers, writer.n_registers),
            lines[n_main:],
            tuple(from_row),
            tuple(from_column),
        )

    def _needed(self, roots: Iterable[int]) -> list[int]:
        return needed([step.operands for step in self.cell.recording.steps], roots)

    def _part(self, kind: int, steps: Sequence[int], kept: Sequence[int]) -> _Part:
        given = [step for step in steps if self.cell.recording.steps[step].operation == "input"]
        writer = _LineWriter(self, kind, given)
        lines = writer.lines(self._events([step for step in steps if step not in given], kind), kept)
        return _Part(lines, writer.registers, max(1, writer.n_registers))

    def _events(self, steps: Sequence[int], kind: int) -> list[_Event]:
        """Operations, and every condition as soon as its sides are known."""
        recording = self.cell.recording
        events = [_Event(recording.steps[step].operation, recording.steps[step].operands, (), step) for step in steps]
        for first, second, or_equal in recording.conditions:
            if self.inputs[first] | self.inputs[second] == kind:
                _insert(events, _Event("greater_equal" if or_equal else "greater", (first, second)))
        return events


@attrs.frozen
class _Event:
    """An operation with its result, or a condition or a mode with its bits."""

    operation: str
    operands: tuple[int, ...]
    bits: tuple[int, ...] = ()
    result: int = -1


def _insert(events: list[_Event], event: _Event) -> None:
    """Put an event behind those that compute its operands."""
    places = [place for place, other in enumerate(events) if other.result in event.operands]
    events.insert(max(places, default=-1) + 1, event)


@attrs.define(eq=False)
class _LineWriter:
    """Events as lines; a register is used again when its number is not needed any more."""

    program: _ProgramWriter
    kind: int
    given: Sequence[int]
    registers: dict[int, int] = attrs.field(factory=dict)
    starts: list[int] = attrs.field(factory=list)
    n_registers: int = 0
    _free: list[int] = attrs.field(factory=list)
    _lines: list[tuple[int, int, int, int, int]] = attrs.field(factory=list)

    def lines(self, events: Sequence[_Event], kept: Sequence[int]) -> NDArray[np.int64]:
        last = {step: place for place, event in enumerate(events) for step in event.operands}
        fixed = {*self.given, *kept}
        for step in self.given:
            self.registers[step] = self._register()
        for place, event in enumerate(events):
            self.starts.append(len(self._lines))
            self._write(event)
            for step in {*event.operands, event.result}:
                if step in self.registers and step not in fixed and last.get(step, place) == place:
                    self._free.append(self.registers[step])
        self.starts.append(len(self._lines))
        return np.array(self._lines, dtype=np.int64).reshape(-1, 5)

    def _register(self) -> int:
        if self._free:
            return self._free.pop()
        self.n_registers += 1
        return self.n_registers - 1

    def _write(self, event: _Event) -> None:
        operation, operands = event.operation, event.operands
        if len(operands) == 1:
            self._add(operation, self.registers[operands[0]], 0, event)
            return
        first, second = operands
        if operation in _SYMMETRIC and self._is_scalar(first):
            first, second = second, first
        filled: list[int] = []
        if self._is_scalar(first) and (self._is_scalar(second) or f"scalar {operation}" not in CODES):
            place = self._filled(first, filled)
        else:
            place = self._place(first)
        if not self._is_scalar(second):
            name = f"scalar {operation}" if self._is_scalar(first) and not filled else operation
            self._add(name, place, self._place(second), event)
        elif f"{operation} scalar" in CODES:
            self._add(f"{operation} scalar", place, self._place(second), event)
        else:
            self._add(operation, place, self._filled(second, filled), event)
        self._free += filled

    def _filled(self, scalar: int, filled: list[int]) -> int:
        """A register with a scalar in all lanes, for one operation."""
        filled.append(self._register())
        self._lines.append((CODES["fill"], self.program.scalars[scalar], 0, filled[-1], 0))
        return filled[-1]

    def _place(self, step: int) -> int:
        return self.program.scalars[step] if self._is_scalar(step) else self.registers[step]

    def _add(self, name: str, first: int, second: int, event: _Event) -> None:
        if event.bits:
            self._lines.append((CODES[name], first, second, event.bits[0], event.bits[-1]))
            return
        if event.result >= 0:
            self.registers[event.result] = self._register()
        result = self.registers.get(event.result, 0)
        self._lines.append((CODES[name], first, second, result, 0))

    def _is_scalar(self, step: int) -> bool:
        return step in self.program.scalars and step not in self.registers
