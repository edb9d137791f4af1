"""Recorded operations repeated over the cells of a map, many cells at a time, compiled.

Every operation is carried out on a block of neighbouring cells before the next one: their registers stay in the cache,
and the processor works on several at once. Numbers that are the same for a whole row of cells are plain *scalars*.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hybrid.contact.batches import CellVerdict
from lcp.kernels.compiled import released

__all__ = ["CODES", "MOST_CODES", "PENDING", "fill_cells", "number_codes"]

Table = npt.NDArray[np.float64]
Lines = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Marks = npt.NDArray[np.int64]  # as wide as what they are computed from, so that several are computed at once
Bits = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.uint16]

LANES = 128
"""Cells of a block."""

MOST_CODES = 1024
"""Different codes of a rectangle that are told apart by comparing."""

PENDING = 255
"""In place of a verdict: not decided yet."""

_NONE, _ONE, _SEVERAL, _UNDECIDED = (
    int(item)
    for item in (CellVerdict.INCONSISTENT, CellVerdict.UNIQUE, CellVerdict.INDETERMINATE, CellVerdict.UNDECIDED)
)

_NAMES = (
    *("add", "add scalar", "subtract", "subtract scalar", "scalar subtract", "multiply", "multiply scalar"),
    *("divide", "divide scalar", "scalar divide", "maximum", "maximum scalar", "minimum", "minimum scalar"),
    *("negative", "absolute", "sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"),
    *("exp", "log", "sign", "arctan2", "power", "power scalar", "heaviside scalar", "fill"),
    *("greater", "greater scalar", "scalar greater", "greater_equal", "greater_equal scalar", "scalar greater_equal"),
    *("mode", "mode scalar", "pair", "pair scalar"),
)

CODES = {name: code for code, name in enumerate(_NAMES)}
"""Codes of the operations; ``scalar`` stands where an operand is one."""

_ADD, _ADD_S, _SUBTRACT, _SUBTRACT_S, _S_SUBTRACT, _MULTIPLY, _MULTIPLY_S = range(7)
_DIVIDE, _DIVIDE_S, _S_DIVIDE, _MAXIMUM, _MAXIMUM_S, _MINIMUM, _MINIMUM_S = range(7, 14)
_NEGATIVE, _ABSOLUTE, _SQRT, _SIN, _COS, _TAN, _ARCSIN, _ARCCOS, _ARCTAN, _SINH, _COSH, _TANH = range(14, 26)
_EXP, _LOG, _SIGN, _ARCTAN2, _POWER, _POWER_S, _HEAVISIDE_S, _FILL = range(26, 34)
_GREATER, _GREATER_S, _S_GREATER, _EQUAL, _EQUAL_S, _S_EQUAL, _MODE, _MODE_S, _PAIR, _PAIR_S = range(34, 44)


@released
def _run(lines: Lines, registers: Table, scalars: Table, ok: Marks, modes: Bits, count: Marks, margin: Table) -> None:
    """Carry out operations ``(code, a, b, result, result2)`` on all lanes, of which the last may mean nothing."""
    for line in range(len(lines)):
        code, a, b, to = lines[line, 0], lines[line, 1], lines[line, 2], lines[line, 3]
        out = registers[to]
        if code == _ADD:
            x, y = registers[a], registers[b]
            for j in range(LANES):
                out[j] = x[j] + y[j]
        elif code == _ADD_S:
            x, s = registers[a], scalars[b]
            for j in range(LANES):
                out[j] = x[j] + s
        elif code == _SUBTRACT:
            x, y = registers[a], registers[b]
            for j in range(LANES):
                out[j] = x[j] - y[j]
        elif code == _SUBTRACT_S:
            x, s = registers[a], scalars[b]
            for j in range(LANES):
                out[j] = x[j] - s
        elif code == _S_SUBTRACT:
            y, s = registers[b], scalars[a]
            for j in range(LANES):
                out[j] = s - y[j]
        elif code == _MULTIPLY:
            x, y = registers[a], registers[b]
            for j in range(LANES):
                out[j] = x[j] * y[j]
        elif code == _MULTIPLY_S:
            x, s = registers[a], scalars[b]
            for j in range(LANES):
                out[j] = x[j] * s
        elif code == _DIVIDE:
            x, y = registers[a], registers[b]
            for j in range(LANES):
                out[j] = x[j] / y[j]
        elif code == _DIVIDE_S:
            x, s = registers[a], scalars[b]
            for j in range(LANES):
                out[j] = x[j] / s
        elif code == _S_DIVIDE:
            y, s = registers[b], scalars[a]
            for j in range(LANES):
                out[j] = s / y[j]
        elif code == _MAXIMUM:
            x, y = registers[a], registers[b]
            for j in range(LANES):  # a number that is not defined stays so
                out[j] = x[j] if x[j] >= y[j] or x[j] != x[j] else y[j]
        elif code == _MAXIMUM_S:
            x, s = registers[a], scalars[b]
            for j in range(LANES):
                out[j] = x[j] if x[j] >= s or x[j] != x[j] else s
        elif code == _MINIMUM:
            x, y = registers[a], registers[b]
            for j in range(LANES):
                out[j] = x[j] if x[j] <= y[j] or x[j] != x[j] else y[j]
        elif code == _MINIMUM_S:
            x, s = registers[a], scalars[b]
            for j in range(LANES):
                out[j] = x[j] if x[j] <= s or x[j] != x[j] else s
        elif code == _NEGATIVE:
            x = registers[a]
            for j in range(LANES):
                out[j] = -x[j]
        elif code == _ABSOLUTE:
            x = registers[a]
            for j in range(LANES):
                out[j] = abs(x[j])
        elif code == _SQRT:
            x = registers[a]
            for j in range(LANES):
                out[j] = np.sqrt(x[j])
        elif code <= _SIGN:
            _call(code, registers[a], out)
        elif code == _ARCTAN2:
            x, y = registers[a], registers[b]
            for j in range(LANES):
                out[j] = math.atan2(x[j], y[j])
        elif code == _POWER:
            x, y = registers[a], registers[b]
            for j in range(LANES):
                out[j] = x[j] ** y[j]
        elif code == _POWER_S:
            x, s = registers[a], scalars[b]
            for j in range(LANES):
                out[j] = x[j] ** s
        elif code == _HEAVISIDE_S:
            x, s = registers[a], scalars[b]
            for j in range(LANES):
                out[j] = s if x[j] == 0.0 else (1.0 if x[j] > 0.0 else (0.0 if x[j] < 0.0 else x[j]))
        elif code == _FILL:
            s = scalars[a]
            for j in range(LANES):
                out[j] = s
        elif code <= _S_EQUAL:
            _require(code, registers, scalars, a, b, ok)
        else:
            _mark(code, lines[line], registers, scalars, ok, modes, count, margin)


@released
def _call(code: int, x: Table, out: Table) -> None:
    """A function of one number."""
    if code == _SIN:
        for j in range(LANES):
            out[j] = math.sin(x[j])
    elif code == _COS:
        for j in range(LANES):
            out[j] = math.cos(x[j])
    elif code == _TAN:
        for j in range(LANES):
            out[j] = math.tan(x[j])
    elif code == _ARCSIN:
        for j in range(LANES):
            out[j] = np.arcsin(x[j])
    elif code == _ARCCOS:
        for j in range(LANES):
            out[j] = np.arccos(x[j])
    elif code == _ARCTAN:
        for j in range(LANES):
            out[j] = math.atan(x[j])
    elif code == _SINH:
        for j in range(LANES):
            out[j] = np.sinh(x[j])
    elif code == _COSH:
        for j in range(LANES):
            out[j] = np.cosh(x[j])
    elif code == _TANH:
        for j in range(LANES):
            out[j] = math.tanh(x[j])
    elif code == _EXP:
        for j in range(LANES):
            out[j] = np.exp(x[j])
    elif code == _LOG:
        for j in range(LANES):
            out[j] = np.log(x[j])
    else:
        for j in range(LANES):
            out[j] = np.sign(x[j])


@released
def _require(code: int, registers: Table, scalars: Table, a: int, b: int, ok: Marks) -> None:
    """Keep the cells in which a condition holds; where a side of it is undefined it does not."""
    if code == _GREATER:
        for j in range(LANES):
            ok[j] &= np.int64(registers[a, j] > registers[b, j])
    elif code == _GREATER_S:
        s = scalars[b]
        for j in range(LANES):
            ok[j] &= np.int64(registers[a, j] > s)
    elif code == _S_GREATER:
        s = scalars[a]
        for j in range(LANES):
            ok[j] &= np.int64(s > registers[b, j])
    elif code == _EQUAL:
        for j in range(LANES):
            ok[j] &= np.int64(registers[a, j] >= registers[b, j])
    elif code == _EQUAL_S:
        s = scalars[b]
        for j in range(LANES):
            ok[j] &= np.int64(registers[a, j] >= s)
    else:
        s = scalars[a]
        for j in range(LANES):
            ok[j] &= np.int64(s >= registers[b, j])


@released
def _mark(
    code: int,
    line: Lines,
    registers: Table,
    scalars: Table,
    ok: Marks,
    modes: Bits,
    count: Marks,
    margin: Table,
) -> None:
    """Enter a mode by its least slack, or keep cells in which two modes differ if both are consistent."""
    b, x = line[2], registers[line[1]]
    bit = np.uint64(1) << np.uint64(line[3])
    if code == _MODE:
        y = registers[b]
        for j in range(LANES):
            fits = x[j] > 0.0
            distance = (x[j] if x[j] < y[j] else y[j]) if fits else -x[j]
            margin[j] = distance if distance < margin[j] else margin[j]
            count[j] += np.int64(fits)
            modes[j] |= bit if fits else np.uint64(0)
    elif code == _MODE_S:
        s = scalars[b]
        for j in range(LANES):
            fits = x[j] > 0.0
            distance = (x[j] if x[j] < s else s) if fits else -x[j]
            margin[j] = distance if distance < margin[j] else margin[j]
            count[j] += np.int64(fits)
            modes[j] |= bit if fits else np.uint64(0)
    else:
        both = bit | (np.uint64(1) << np.uint64(line[4]))
        s = scalars[b] if code == _PAIR_S else 0.0
        y = registers[0 if code == _PAIR_S else b]
        for j in range(LANES):
            limit = s if code == _PAIR_S else y[j]
            ok[j] &= np.int64((modes[j] & both) != both or x[j] > limit)


@released
def _fill_table(
    values: Table,
    lines: Lines,
    exports: Lines,
    scalars: Table,
    registers: Table,
    ok: Marks,
    modes: Bits,
    count: Marks,
    margin: Table,
    table: Table,
    is_met: Flags,
) -> None:
    """What depends on one axis only, at all of its values, which go to register 0; False where a condition fails."""
    for start in range(0, len(values), LANES):
        n = min(LANES, len(values) - start)
        for j in range(n):
            registers[0, j] = values[start + j]
        for j in range(LANES):
            ok[j] = 1
        _run(lines, registers, scalars, ok, modes, count, margin)
        for j in range(n):
            is_met[start + j] = ok[j] != 0
        for k in range(len(exports)):
            for j in range(n):
                table[k, start + j] = registers[exports[k], j]


@released
def fill_cells(
    x: Table,
    y: Table,
    programs: tuple[Lines, ...],
    exports: tuple[Lines, ...],
    scalars: Table,
    n_registers: int,
    fixed: int,
    fixed_bits: np.uint64,
    verdict: Bytes,
    modes: Bits,
    margin: Table,
) -> None:
    """Decide the cells of a rectangle that are pending and meet all conditions.

    Parameters
    ----------
    x, y : array, (n0,) and (n1,)
        Values of the axes.
    programs : tuple of four arrays of int64, (m, 5)
        Operations on rows, on columns, on cells, and on cells in which several modes are consistent.
    exports : tuple of two arrays of int64, (k,) and (c,)
        Registers whose numbers the operations on cells use: of a row as the last scalars, of columns as the first
        registers.
    scalars : array
        Of which the last ``k`` are filled in.
    n_registers : int
        At most, of all operations.
    fixed : int
        The verdict of all of them, or ``PENDING`` if the modes decide.
    fixed_bits : uint64
        Their modes then.
    verdict, modes, margin : array, (n0, n1)
        Filled in.

    Returns
    -------
    None
    """
    registers, ok = np.zeros((n_registers, LANES)), np.empty(LANES, np.int64)
    rows, row_ok = np.empty((len(exports[0]), len(x))), np.empty(len(x), np.bool_)
    columns, column_ok = np.empty((len(exports[1]), len(y))), np.empty(len(y), np.bool_)
    bits, count, least = np.empty(LANES, np.uint64), np.empty(LANES, np.int64), np.empty(LANES)
    _fill_table(x, programs[0], exports[0], scalars, registers, ok, bits, count, least, rows, row_ok)
    _fill_table(y, programs[1], exports[1], scalars, registers, ok, bits, count, least, columns, column_ok)
    first = len(scalars) - len(rows)
    for start in range(0, len(y), LANES):
        n = min(LANES, len(y) - start)
        for k in range(len(columns)):
            for j in range(n):
                registers[k, j] = columns[k, start + j]
        for i in range(len(x)):
            if not row_ok[i]:
                continue
            n_wanted = 0
            for j in range(n):
                ok[j] = column_ok[start + j] and verdict[i, start + j] == PENDING
                n_wanted += ok[j]
            if not n_wanted:
                continue
            for j in range(LANES):
                bits[j], count[j], least[j] = 0, 0, np.inf
            for k in range(len(rows)):
                scalars[first + k] = rows[k, i]
            _run(programs[2], registers, scalars, ok, bits, count, least)
            most = 0
            for j in range(n):
                most = max(most, count[j])
            if most > 1:
                _run(programs[3], registers, scalars, ok, bits, count, least)
            n_decided = 0
            for j in range(n):
                n_decided += ok[j]
                count[j] = _NONE if count[j] == 0 else (_ONE if count[j] == 1 else _SEVERAL)
                if fixed != PENDING:
                    count[j], bits[j] = fixed, fixed_bits
            if n_decided == n:
                for j in range(n):
                    verdict[i, start + j] = count[j]
                    modes[i, start + j] = bits[j]
                    margin[i, start + j] = least[j]
                continue
            for j in range(n):
                if ok[j]:
                    verdict[i, start + j] = count[j]
                    modes[i, start + j] = bits[j]
                    margin[i, start + j] = least[j]


@released
def number_codes(
    verdict: Bytes,
    modes: Bits,
    undecided: np.uint64,
    several: np.uint64,
    region: Places,
    codes: Bits,
    counts: Lines,
    sizes: Lines,
) -> int:
    """Number the codes of cells in the order in which they are met, and count them.

    Parameters
    ----------
    verdict, modes : array, (n0, n1)
    undecided, several : uint64
        Code of undecided cells; bit of a single mode that is indeterminate.
    region : array of uint16, (n0, n1)
        Filled in with numbers of codes.
    codes, counts : array, (MOST_CODES,)
        Filled in.
    sizes : array of int64, (256,)
        How often each verdict occurs, filled in.

    Returns
    -------
    int
        How many codes there are; -1 if they are too many.
    """
    n, place = 0, 0
    for i in range(verdict.shape[0]):
        for j in range(verdict.shape[1]):
            code = modes[i, j]
            sizes[verdict[i, j]] += 1
            if verdict[i, j] >= _SEVERAL:
                if verdict[i, j] == _UNDECIDED:
                    code = undecided
                elif verdict[i, j] == _SEVERAL and code != 0 and code & (code - np.uint64(1)) == 0:
                    code |= several
            if n == 0 or codes[place] != code:  # neighbours mostly have the same one
                place = 0
                while place < n and codes[place] != code:
                    place += 1
                if place == n:
                    if n == MOST_CODES:
                        return -1
                    codes[n], counts[n] = code, 0
                    n += 1
            counts[place] += 1
            region[i, j] = place
    return n
