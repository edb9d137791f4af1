"""Expressions carried out for many states at a time, operation by operation, compiled once for all mechanisms.

A program is a table of operations on *registers*: rows of numbers, one for every state of a block. Registers of a block
stay in the cache, and the processor works on several states at once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from lcp.kernels.compiled import released

if TYPE_CHECKING:
    from collections.abc import Callable

    from hybrid.dynamics.equations import Equations
    from hybrid.expressions import Builder, Graph

__all__ = ["BLOCK", "LaneProgram", "Operations", "carry_out", "enter_known", "evaluate", "lane_program", "prepared"]

Table = npt.NDArray[np.float64]
Lines = npt.NDArray[np.int64]
Operations = tuple[Lines, Lines, Table, Lines, int]
"""Lines, registers of the results, numbers that are known beforehand, which of them differ, number of registers."""

BLOCK = 64
"""States at a time."""

_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _POWER, _NEGATIVE = range(6)
_FUNCTIONS = (
    *("sin", "cos", "sqrt", "abs", "sign", "step", "min", "max"),
    *("tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log"),
)
_CODES: Mapping[str, int] = {name: code for code, name in enumerate(_FUNCTIONS, start=6)}
_SIN, _COS, _SQRT, _ABS, _SIGN, _STEP, _MIN, _MAX = range(6, 14)
_TAN, _ASIN, _ACOS, _ATAN, _ATAN2, _SINH, _COSH, _TANH, _EXP, _LOG = range(14, 24)
_FAR = 1e5  # radians up to which multiples of a quarter turn are subtracted without loss
_QUARTERS = 2.0 / math.pi
# a quarter turn in parts of 33, 33 and 53 bits, and the series of sine and cosine to a rounding on an eighth of a turn
_P1, _P2, _P3 = (float.fromhex(text) for text in ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2e037073p-69"))
_S1, _S2, _S3, _S4, _S5, _S6, _S7 = ((-1.0) ** k / math.factorial(2 * k + 1) for k in range(1, 8))
_C1, _C2, _C3, _C4, _C5, _C6, _C7 = ((-1.0) ** k / math.factorial(2 * k) for k in range(2, 9))
_SMALL_POWER = 4  # up to which a power is a product


@released
def carry_out(lines: Lines, registers: Table, m: int) -> None:
    """Carry out operations ``(code, a, b, result)`` for the first ``m`` states of a block.

    Parameters
    ----------
    lines : array of int64, (number of operations, 4)
    registers : array, (number of registers, BLOCK)
        Changed in place; no result lies where it is computed from.
    m : int

    Returns
    -------
    None
    """
    for line in range(len(lines)):
        code, a, b, to = lines[line, 0], lines[line, 1], lines[line, 2], lines[line, 3]
        if code == _ADD:
            for j in range(m):
                registers[to, j] = registers[a, j] + registers[b, j]
        elif code == _SUBTRACT:
            for j in range(m):
                registers[to, j] = registers[a, j] - registers[b, j]
        elif code == _MULTIPLY:
            for j in range(m):
                registers[to, j] = registers[a, j] * registers[b, j]
        elif code == _DIVIDE:
            for j in range(m):
                registers[to, j] = registers[a, j] / registers[b, j]
        elif code == _NEGATIVE:
            for j in range(m):
                registers[to, j] = -registers[a, j]
        elif code == _SIN:
            _turn(registers, a, 0.0, to, m)
        elif code == _COS:
            _turn(registers, a, 1.0, to, m)
        elif code == _SQRT:
            for j in range(m):
                registers[to, j] = np.sqrt(registers[a, j])
        elif code <= _MAX:
            _switch(code, registers, a, b, to, m)
        else:
            _call(code, registers, a, b, to, m)


@released
def _turn(registers: Table, a: int, quarters: float, to: int, m: int) -> None:
    """Sine, with no quarter of a turn ahead, or cosine, with one: a dozen times as quick as one by one.

    To two units in the last place, by the reduction of Cody and Waite (1980, Software Manual for the Elementary
    Functions, chapter 8); larger angles are left to the library.
    """
    is_near = True
    for j in range(m):
        is_near &= abs(registers[a, j]) <= _FAR
    if not is_near:
        for j in range(m):
            registers[to, j] = math.cos(registers[a, j]) if quarters else math.sin(registers[a, j])
        return
    for j in range(m):
        x = registers[a, j]
        k = np.floor(x * _QUARTERS + 0.5)
        r = ((x - k * _P1) - k * _P2) - k * _P3
        z = r * r
        sine = r + r * z * (_S1 + z * (_S2 + z * (_S3 + z * (_S4 + z * (_S5 + z * (_S6 + z * _S7))))))
        cosine = 1.0 - (0.5 * z - z * z * (_C1 + z * (_C2 + z * (_C3 + z * (_C4 + z * (_C5 + z * (_C6 + z * _C7)))))))
        k += quarters
        half = np.floor(0.5 * k)
        sign = 1.0 - 2.0 * (half - 2.0 * np.floor(0.5 * half))
        registers[to, j] = sign * (sine if k == 2.0 * half else cosine)


@released
def _switch(code: int, registers: Table, a: int, b: int, to: int, m: int) -> None:
    for j in range(m):
        x, y = registers[a, j], registers[b, j]  # a number that is not defined stays so
        if code == _POWER:
            registers[to, j] = x**y
        elif code == _ABS:
            registers[to, j] = abs(x)
        elif code == _SIGN:
            registers[to, j] = np.sign(x)
        elif code == _STEP:
            registers[to, j] = 0.5 if x == 0.0 else (1.0 if x > 0.0 else (0.0 if x < 0.0 else x))
        elif code == _MIN:
            registers[to, j] = x if x <= y or x != x else y
        else:
            registers[to, j] = x if x >= y or x != x else y


@released
def _call(code: int, registers: Table, a: int, b: int, to: int, m: int) -> None:
    for j in range(m):
        x = registers[a, j]
        if code == _TAN:
            registers[to, j] = math.tan(x)
        elif code == _ASIN:
            registers[to, j] = np.arcsin(x)
        elif code == _ACOS:
            registers[to, j] = np.arccos(x)
        elif code == _ATAN:
            registers[to, j] = math.atan(x)
        elif code == _ATAN2:
            registers[to, j] = math.atan2(x, registers[b, j])
        elif code == _SINH:
            registers[to, j] = np.sinh(x)
        elif code == _COSH:
            registers[to, j] = np.cosh(x)
        elif code == _TANH:
            registers[to, j] = math.tanh(x)
        elif code == _EXP:
            registers[to, j] = np.exp(x)
        else:
            registers[to, j] = np.log(x)


@released
def prepared(operations: Operations, n_state: int) -> Table:
    """Registers of a block, with the numbers that are known beforehand behind those of the state.

    Parameters
    ----------
    operations : Operations
    n_state : int
        Registers of coordinates, velocities and time, which come first.

    Returns
    -------
    array, (number of registers, BLOCK)
    """
    registers = np.zeros((operations[4], BLOCK))
    for k in range(len(operations[2])):
        registers[n_state + k] = operations[2][k]
    return registers


@released
def enter_known(operations: Operations, table: Table, places: Lines, registers: Table, m: int) -> None:
    """Put the numbers in which states differ into registers of a block.

    Parameters
    ----------
    operations : Operations
    table : array, (k, N)
        The numbers of all states.
    places : array of int, (m,)
        Of the states of the block.
    registers : array, (registers, block)
        Changed in place.
    m : int
        States of the block.

    Returns
    -------
    None
    """
    for k in range(len(operations[3])):
        for j in range(m):
            registers[operations[3][k], j] = table[k, places[j]]


@released
def evaluate(operations: Operations, table: Table, t: Table, y: Table, out: Table) -> None:
    """Results at times and states, block by block.

    Parameters
    ----------
    operations : Operations
    table : array, (k, N)
        The numbers in which the states differ.
    t : array, (m,)
    y : array, (2n, m)
    out : array, (r, m)
        The results, which are written here.

    Returns
    -------
    None
    """
    n, places = len(y), np.empty(BLOCK, np.int64)
    registers = prepared(operations, n + 1)
    for begin in range(0, len(t), BLOCK):
        m = min(BLOCK, len(t) - begin)
        for j in range(m):
            places[j], registers[n, j] = begin + j, t[begin + j]
            for i in range(n):
                registers[i, j] = y[i, begin + j]
        enter_known(operations, table, places, registers, m)
        carry_out(operations[0], registers, m)
        for k in range(len(out)):
            for j in range(m):
                out[k, begin + j] = registers[operations[1][k], j]


@attrs.frozen(eq=False)
class LaneProgram:
    """Nodes as operations on registers, for any parameters.

    Attributes
    ----------
    lines : array of int64, (number of operations, 4)
    results : array of int64, (number of results,)
        Their registers.
    n_registers : int
    """

    lines: Lines
    results: Lines
    n_registers: int
    _known: Callable[[Sequence[Any]], Callable[[Any, Any], Sequence[Any]]]
    _n_state: int

    def at(self, parameters: Sequence[Any], m: int) -> tuple[Operations, Table]:
        """The operations at parameters, numbers or arrays (m,), and the numbers (k, m) in which states differ."""
        values = self._known(parameters)(0.0, [0.0] * (self._n_state - 1))
        varying = [k for k, value in enumerate(values) if np.ndim(value)]
        fixed = np.array([np.nan if np.ndim(value) else value for value in values], dtype=float)
        table = np.empty((len(varying), m))
        for row, k in enumerate(varying):
            table[row] = values[k]
        registers = np.array(varying, dtype=np.int64) + self._n_state
        return (self.lines, self.results, fixed, registers, self.n_registers), table

    def values(self, parameters: Sequence[Any], t: Table, y: Table) -> Table:
        """The results (r, m) at times (m,) and states (2n, m)."""
        out = np.empty((len(self.results), len(t)))
        evaluate(*self.at(parameters, len(t)), t, np.ascontiguousarray(y), out)
        return out


def lane_program(equations: Equations, build: Builder, results: Sequence[int]) -> LaneProgram:
    """Nodes of a builder as a program for many states.

    What depends on parameters alone is computed once. Registers are used again when what they hold is not needed any
    more.

    Parameters
    ----------
    equations : Equations
        Whose graph the builder started from.
    build : Builder
    results : sequence of int

    Returns
    -------
    LaneProgram
    """
    writer = _LaneWriter(build.graph(), equations.state, set(equations.parameters.values()), [int(r) for r in results])
    lines = writer.written()
    known = equations.program(build, list(writer.known))
    places = np.array([writer.registers[root] for root in writer.roots], dtype=np.int64)
    table = np.array(lines, dtype=np.int64).reshape(-1, 4)
    return LaneProgram(table, places, writer.n_registers, known.vector, len(equations.state))


@attrs.define(eq=False)
class _LaneWriter:
    graph: Graph
    state: Sequence[int]
    fixed: set[int]
    roots: list[int]
    known: list[int] = attrs.field(factory=list)
    registers: dict[int, int] = attrs.field(factory=dict)
    n_registers: int = 0
    _lines: list[tuple[int, int, int, int]] = attrs.field(factory=list)
    _free: list[int] = attrs.field(factory=list)

    def written(self) -> list[tuple[int, int, int, int]]:
        order, state = self.graph.needed(self.roots), set(self.state)
        arguments = self.graph.arguments
        for node in order:
            if node not in state and all(argument in self.fixed for argument in arguments[node]):
                self.fixed.add(node)
        varying = [node for node in order if node not in self.fixed and node not in state]
        uses = Counter(argument for node in varying for argument in arguments[node])
        uses.update(self.roots)  # never used up
        self.known = [node for node in order if node in self.fixed and uses[node]]
        self.registers = {node: place for place, node in enumerate([*self.state, *self.known])}
        self.n_registers = len(self.registers)
        kept = {*state, *self.known}
        for node in varying:
            self.registers[node] = self._compute(node)
            uses.subtract(arguments[node])
            for argument in set(arguments[node]):
                if not uses[argument] and argument not in kept:
                    self._free.append(self.registers[argument])
        return self._lines

    def _compute(self, node: int) -> int:
        operation, arguments = self.graph.operations[node], self.graph.arguments[node]
        places = [self.registers[argument] for argument in arguments]
        if operation == "**":
            return self._power(arguments[1], *places)
        if operation == "*" and self.graph.values[arguments[0]] == -1:
            product = self._chain(_MULTIPLY, places[1:])
            negative = self._line(_NEGATIVE, product, product)
            if len(places) > 2:
                self._free.append(product)
            return negative
        code = {"+": _ADD, "*": _MULTIPLY, "/": _DIVIDE}.get(operation)
        code = _CODES[operation] if code is None else code
        return self._chain(code, places) if len(places) > 1 else self._line(code, *places, *places)

    def _line(self, code: int, a: int, b: int) -> int:
        to = self._free.pop() if self._free else self.n_registers
        self.n_registers = max(self.n_registers, to + 1)
        self._lines.append((code, a, b, to))
        return to

    def _chain(self, code: int, places: Sequence[int]) -> int:
        found = places[0]
        for number, place in enumerate(places[1:]):
            last, found = found, self._line(code, found, place)
            if number:
                self._free.append(last)
        return found

    def _power(self, exponent: int, base: int, place: int) -> int:
        value = self.graph.values[exponent]
        if not isinstance(value, int | Fraction) or value.denominator != 1 or not 2 <= value <= _SMALL_POWER:
            return self._line(_POWER, base, place)
        return self._chain(_MULTIPLY, [base] * int(value))
