"""A recording of one cell as a program for rectangles of cells: tables for either axis, and code for both.

What depends on one axis alone is worked out by NumPy. Every other operation is one instruction on a vector of
neighbouring cells, rounded as NumPy rounds it; conditions are words of ones or zeros, joined without branches. What
tells two consistent modes apart is skipped where no cell has both. The compiler is LLVM, which numba brings along.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs
import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from hybrid.analysis.maps.recorded_cells import PENDING
from hybrid.contact.batches import CellVerdict
from hybrid.expressions import NotRecordable
from hybrid.expressions.graph import needed

if TYPE_CHECKING:
    from hybrid.analysis.maps.recorded_cells import CellRecording
    from hybrid.expressions.recording import RecordedStep, Recording

__all__ = ["CellProgram", "cell_program"]

_LANES = 8  # cells that are decided at once
_F64, _I64, _I8 = ir.DoubleType(), ir.IntType(64), ir.IntType(8)
_REAL, _WORD, _BYTES = (ir.VectorType(item, _LANES) for item in (_F64, _I64, _I8))
_ROW, _COLUMN, _BOTH = 1, 2, 3  # on which of the two axes a step depends, as bits
_BLOCK = 1 << 13  # values of an axis that are worked out at once
_NONE, _ONE, _SEVERAL = map(int, (CellVerdict.INCONSISTENT, CellVerdict.UNIQUE, CellVerdict.INDETERMINATE))
_ARITHMETIC = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
_CHOICES = {"maximum": ">=", "minimum": "<="}
_INTRINSICS = {"absolute": "fabs", "sqrt": "sqrt"}
_NAMES_IN_C = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "power": "pow"}


def _cell_code(
    cell: CellRecording, bits: Sequence[int], rows: Sequence[int], columns: Sequence[int]
) -> Callable[..., None]:
    """Code that decides the cells of a rectangle which are pending and meet all conditions on both axes.

    It takes arrays ``rows (n0, k), row_met (n0,), columns (c, n1), column_met (n1,)``, of float64 and, for conditions,
    int64 (-1 where they hold), and ``verdict, modes, margin (n0, n1)``, which are filled in; ``n1`` is at least
    eight. Other threads run meanwhile.
    """
    module, machine = ir.Module(), _machine()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    arguments = [item.as_pointer() for item in (_F64, _I64, _F64, _I64, _I8, _I64, _F64)]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [*arguments, _I64, _I64]), "cells")
    for argument in function.args[: len(arguments)]:
        argument.add_attribute("noalias")
    row_places, column_places = ({step: k for k, step in enumerate(steps)} for steps in (rows, columns))
    builder = ir.IRBuilder(function.append_basic_block())
    _CodeWriter(cell, bits, row_places, column_places, builder, function.args).write()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(module)), machine)
    engine.finalize_object()
    kinds = [ctypes.c_void_p] * len(arguments) + [ctypes.c_int64] * 2
    code = ctypes.CFUNCTYPE(None, *kinds)(engine.get_function_address("cells"))

    def fill(*arrays: Any, _owner: Any = engine) -> None:
        code(*(array.ctypes.data for array in arrays), *arrays[-1].shape)

    return fill


def _machine() -> Any:
    if llvm.llvm_version_info < (20,):  # later ones do so themselves
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
    )


@contextmanager
def _loop(b: Any, stop: Any, step: int) -> Iterator[Any]:
    """Repeat what is written within for the numbers below ``stop``."""
    before = b.block
    head, body, end = (b.append_basic_block() for _ in range(3))
    b.branch(head)
    b.position_at_end(head)
    index = b.phi(_I64)
    index.add_incoming(_I64(0), before)
    b.cbranch(b.icmp_signed("<", index, stop), body, end)
    b.position_at_end(body)
    yield index
    index.add_incoming(b.add(index, _I64(step)), b.block)
    b.branch(head)
    b.position_at_end(end)


def _all(kind: Any, number: float) -> Any:
    return ir.Constant(kind, [number] * _LANES)


@attrs.define(eq=False)
class _CodeWriter:
    """Writes the code; ``known`` has the values that were computed on every way to where the builder is."""

    cell: CellRecording
    bits: Sequence[int]
    rows: Mapping[int, int]
    columns: Mapping[int, int]
    b: Any
    arguments: Sequence[Any]
    known: dict[int, Any] = attrs.field(factory=dict)
    _row: Any = None
    _column: Any = None

    def write(self) -> None:
        b, (rows, row_met, _, column_met, verdict, modes, margin, n0, n1) = self.b, self.arguments
        last = b.sub(n1, _I64(_LANES))
        with _loop(b, n0, 1) as i:
            self._row = b.gep(rows, [b.mul(i, _I64(len(self.rows)))])
            first = b.mul(i, n1)
            is_met = b.icmp_signed("!=", b.load(b.gep(row_met, [i])), _I64(0))
            with b.if_then(is_met), _loop(b, n1, _LANES) as j:
                # the last cells of a row are a whole vector, too: some of them are decided already
                self._column = b.select(b.icmp_signed("<=", j, last), j, last)
                place = b.add(first, self._column)
                before = self._load(verdict, place, _BYTES)
                is_open = b.sext(b.icmp_unsigned("==", before, _all(_BYTES, PENDING)), _WORD)
                ok = b.and_(is_open, self._load(column_met, self._column, _WORD))
                with b.if_then(self._any(ok)):
                    self.known = {}
                    ok, found = self._decided(ok)
                    self._store(ok, place, (verdict, modes, margin), found)
        b.ret_void()

    def _decided(self, ok: Any) -> tuple[Any, tuple[Any, ...]]:
        """Where cells are decided, with verdicts, modes and margins."""
        b, cell = self.b, self.cell
        inputs = cell.recording.inputs
        for larger, smaller, or_equal in cell.recording.conditions:
            if inputs[larger] | inputs[smaller] == _BOTH:
                holds = b.fcmp_ordered(">=" if or_equal else ">", self.value(larger), self.value(smaller))
                ok = b.and_(ok, b.sext(holds, _WORD))
        modes = is_any = is_several = _all(_WORD, 0)
        margin = _all(_REAL, float("inf"))
        for mode in cell.modes:
            least, regularity = self.value(mode.least), self.value(mode.regularity)
            fits = b.fcmp_ordered(">", least, _all(_REAL, 0.0))
            nearer = b.select(b.fcmp_ordered("<", least, regularity), least, regularity)
            distance = b.select(fits, nearer, b.fneg(least))
            margin = b.select(b.fcmp_ordered("<", distance, margin), distance, margin)
            fits = b.sext(fits, _WORD)
            modes = b.or_(modes, b.and_(fits, _all(_WORD, 1 << self.bits[mode.bit])))
            is_any, is_several = b.or_(is_any, fits), b.or_(is_several, b.and_(is_any, fits))
        if cell.verdict is not None:
            return ok, (_all(_BYTES, int(cell.verdict)), _all(_WORD, 1 << self.bits[0]), margin)
        ok = self._apart(ok, modes, is_several)
        none, one, several = (_all(_WORD, code) for code in (_NONE, _ONE, _SEVERAL))
        verdict = b.select(self._holds(is_several), several, b.select(self._holds(is_any), one, none))
        return ok, (b.trunc(verdict, _BYTES), modes, margin)

    def _apart(self, ok: Any, modes: Any, is_several: Any) -> Any:
        """Keep the cells in which all pairs of consistent modes have different accelerations."""
        b, before, kept = self.b, self.b.block, ok
        with b.if_then(self._any(is_several)):
            for pair in self.cell.pairs:
                both = _all(_WORD, sum(1 << self.bits[bit] for bit in pair.bits))
                has_both = b.icmp_unsigned("==", b.and_(modes, both), both)
                outside, known = b.block, self.known.copy()
                with b.if_then(self._any(b.sext(has_both, _WORD))):
                    is_apart = b.fcmp_ordered(">", self.value(pair.gap), self.value(pair.limit))
                    fewer = b.and_(kept, b.sext(b.or_(is_apart, b.not_(has_both)), _WORD))
                    inside = b.block
                kept, self.known = self._either((kept, outside), (fewer, inside)), known
            inside = b.block
        return self._either((ok, before), (kept, inside))

    def _either(self, *ways: tuple[Any, Any]) -> Any:
        chosen = self.b.phi(ways[0][0].type)
        for value, block in ways:
            chosen.add_incoming(value, block)
        return chosen

    def _store(self, ok: Any, place: Any, arrays: Sequence[Any], found: Sequence[Any]) -> None:
        """Put results in where cells are decided."""
        b, is_decided = self.b, self._holds(ok)
        targets = [
            b.bitcast(b.gep(array, [place]), value.type.as_pointer())
            for array, value in zip(arrays, found, strict=True)
        ]
        with b.if_else(b.icmp_unsigned("==", b.bitcast(is_decided, _I8), _I8(-1))) as (all_of_them, some):
            with all_of_them:
                for target, value in zip(targets, found, strict=True):
                    b.store(value, target, align=_align(value.type))
            with some:
                for target, value in zip(targets, found, strict=True):
                    old = b.load(target, align=_align(value.type))
                    b.store(b.select(is_decided, value, old), target, align=_align(value.type))

    def _load(self, array: Any, place: Any, kind: Any) -> Any:
        b = self.b
        return b.load(b.bitcast(b.gep(array, [place]), kind.as_pointer()), align=_align(kind))

    def _holds(self, words: Any) -> Any:
        return self.b.icmp_signed("!=", words, _all(_WORD, 0))

    def _any(self, words: Any) -> Any:
        return self.b.icmp_unsigned("!=", self.b.bitcast(self._holds(words), _I8), _I8(0))

    def value(self, root: int) -> Any:
        """The vector of a step; what it is computed from is written before it, as far as it is not known."""
        steps = self.cell.recording.steps
        pending = [root]
        while pending:
            step = pending[-1]
            missing = [] if self._is_given(step) else [item for item in steps[step].operands if item not in self.known]
            pending += missing
            if not missing:
                pending.pop()
                if step not in self.known:
                    self.known[step] = self._given(step) if self._is_given(step) else self._operation(steps[step])
        return self.known[root]

    def _is_given(self, step: int) -> bool:
        return self.cell.recording.inputs[step] != _BOTH

    def _given(self, step: int) -> Any:
        """A plain number, or what the tables have of a step."""
        b, recording = self.b, self.cell.recording
        if step in self.columns:
            place = b.add(b.mul(_I64(self.columns[step]), self.arguments[-1]), self._column)
            return self._load(self.arguments[2], place, _REAL)
        if step not in self.rows:
            return _all(_REAL, recording.values[step])
        number = b.load(b.gep(self._row, [_I64(self.rows[step])]))
        single = b.insert_element(ir.Constant(_REAL, ir.Undefined), number, ir.IntType(32)(0))
        return b.shuffle_vector(single, single, ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES))

    def _operation(self, step: RecordedStep) -> Any:
        b, operands = self.b, [self.known[operand] for operand in step.operands]
        x, y = operands[0], operands[-1]
        if step.operation in _ARITHMETIC:
            return getattr(b, _ARITHMETIC[step.operation])(x, y)
        if step.operation in _CHOICES:  # a number that is not defined stays so
            is_first = b.or_(b.fcmp_ordered(_CHOICES[step.operation], x, y), b.fcmp_unordered("uno", x, x))
            return b.select(is_first, x, y)
        if step.operation == "negative":
            return b.fneg(x)
        if step.operation in _INTRINSICS:
            return b.call(self._function(f"llvm.{_INTRINSICS[step.operation]}.v{_LANES}f64", [_REAL]), [x])
        if step.operation in ("sign", "heaviside"):
            zero, one = _all(_REAL, 0.0), _all(_REAL, 1.0)
            below, at_zero = (_all(_REAL, -1.0), zero) if step.operation == "sign" else (zero, y)
            otherwise = b.select(b.fcmp_ordered("==", x, zero), at_zero, x)
            otherwise = b.select(b.fcmp_ordered("<", x, zero), below, otherwise)
            return b.select(b.fcmp_ordered(">", x, zero), one, otherwise)
        function = self._in_c(_NAMES_IN_C.get(step.operation, step.operation), [_F64] * len(operands))
        found = ir.Constant(_REAL, ir.Undefined)
        for lane in map(ir.IntType(32), range(_LANES)):
            one = b.call(function, [b.extract_element(operand, lane) for operand in operands])
            found = b.insert_element(found, one, lane)
        return found

    def _in_c(self, name: str, kinds: Sequence[Any]) -> Any:
        """A function of C's library, by its address: what the compiler does not find would be called at nought."""
        function = getattr(ctypes.CDLL("msvcrt" if os.name == "nt" else None), name, None)
        address = ctypes.cast(function, ctypes.c_void_p).value if function else None
        if address is None:
            raise NotRecordable(f"{name} is not found in the library of C")
        return self.b.inttoptr(_I64(address), ir.FunctionType(kinds[0], kinds).as_pointer())

    def _function(self, name: str, kinds: Sequence[Any]) -> Any:
        known = self.b.module.globals.get(name)
        return known or ir.Function(self.b.module, ir.FunctionType(kinds[0], kinds), name)


def _align(kind: Any) -> int:
    return 1 if kind == _BYTES else 8


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
        if len(y) < _LANES:
            wide = (
                np.repeat(verdict, _LANES, axis=1),
                np.repeat(modes, _LANES, axis=1),
                np.repeat(margin, _LANES, axis=1),
            )
            self(x, np.repeat(y, _LANES), *wide)
            verdict[...], modes[...], margin[...] = (found[:, ::_LANES] for found in wide)
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
        _Table(recording, _ROW, rows, []),
        _Table(recording, _COLUMN, columns, []),
        _cell_code(cell, bits, rows, columns),
    )
