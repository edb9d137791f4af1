"""Interval arithmetic, compiled: operations on many intervals at a time, rounded outwards.

An interval holds every value that the operation can have on its arguments (Moore, Kearfott and Cloud 2009, chapter 4).
Sums, products and quotients of floats are off by half a unit in the last place at most, so that :func:`down` and
:func:`up` enclose them; functions of the mathematical library by a few units, for which ``FUNCTION`` stands. Where an
operation is not defined on all of its arguments, or jumps there, its result is the whole line and the interval is
marked as *broken*: nothing is concluded from derivatives.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hybrid.tolerances import NOTHING
from lcp.kernels.compiled import rigorous

__all__ = ["OPERATIONS", "Batch", "Marks", "down", "evaluate", "up"]

Batch = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]

_NAMES = ("+", "*", "/", "**", "root", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh")
_MORE = ("tanh", "exp", "log", "sqrt", "abs", "sign", "step", "min", "max")

OPERATIONS = {name: code for code, name in enumerate((*_NAMES, *_MORE))}
"""Codes of the operations; ``root`` is a power that is no whole number."""

_ADD, _MULTIPLY, _DIVIDE, _POWER, _ROOT, _SIN, _COS, _TAN, _ASIN, _ACOS, _ATAN, _ATAN2 = range(12)
_SINH, _COSH, _TANH, _EXP, _LOG, _SQRT, _ABS, _SIGN, _STEP, _MIN, _MAX = range(12, 23)

_HALF_UNIT = 2.0**-53 * (1.0 + 2.0**-51)  # of a float, relative, and a little more
_LEAST = math.ulp(0.0)  # the smallest number there is
_FUNCTION = 8 * 2.0**-53  # four units in the last place: what functions of the mathematical library are off by
_TURN = 2 * np.pi
_NEAR_CREST = NOTHING  # far above what reducing arguments below _FAR loses
_FAR = 1e5


@rigorous
def down(x: float) -> float:
    """A float not above what a sum, product or quotient was rounded from.

    Parameters
    ----------
    x : float
        A result, rounded to nearest.

    Returns
    -------
    float
        Less by half a unit in the last place of `x` and the smallest float.
    """
    return x - (abs(x) * _HALF_UNIT + _LEAST)


@rigorous
def up(x: float) -> float:
    """A float not below what a sum, product or quotient was rounded from.

    Parameters
    ----------
    x : float
        A result, rounded to nearest.

    Returns
    -------
    float
        More by half a unit in the last place of `x` and the smallest float.
    """
    return x + (abs(x) * _HALF_UNIT + _LEAST)


@rigorous
def _wide_down(x: float) -> float:
    return x - (abs(x) * _FUNCTION + _LEAST)


@rigorous
def _wide_up(x: float) -> float:
    return x + (abs(x) * _FUNCTION + _LEAST)


@rigorous
def _product(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """``[a, b]*[c, d]``, not rounded outwards."""
    p, q, r, s = a * c, a * d, b * c, b * d
    return min(min(p, q), min(r, s)), max(max(p, q), max(r, s))


@rigorous
def _wave(low: float, high: float, at_low: float, at_high: float, crest: float) -> tuple[float, float]:
    """A sine with its crest at some angle, from its values at the ends."""
    if not (abs(low) < _FAR and abs(high) < _FAR):
        return -1.0, 1.0
    least = max(-1.0, min(at_low, at_high) - _FUNCTION)
    most = min(1.0, max(at_low, at_high) + _FUNCTION)
    first, last = low - _NEAR_CREST - crest, high + _NEAR_CREST - crest
    if np.floor(last / _TURN) > np.floor(first / _TURN):
        most = 1.0
    if np.floor((last - np.pi) / _TURN) > np.floor((first - np.pi) / _TURN):
        least = -1.0
    return least, most


@rigorous
def _whole_power(low: float, high: float, n: int) -> tuple[float, float]:
    """``[low, high]**n`` for ``n > 0``."""
    small, large = abs(low), abs(high)
    if small > large:
        small, large = large, small
    if low <= 0.0 <= high and n % 2 == 0:
        small = 0.0
    least, most = 1.0, 1.0
    for _ in range(n):
        least, most = max(0.0, down(least * small)), up(most * large)
    if n % 2 == 0:
        return least, most
    if low >= 0.0:
        return least, most
    if high <= 0.0:
        return -most, -least
    below, above = 1.0, 1.0
    for _ in range(n):
        below, above = up(below * -low), up(above * high)
    return -below, above


@rigorous
def _monotone(code: int, x: float) -> float:
    found = math.tanh(x)
    if code == _SINH:
        found = math.sinh(x)
    elif code == _EXP:
        found = np.exp(x)
    elif code == _LOG:
        found = math.log(x)
    elif code == _ATAN:
        found = math.atan(x)
    elif code == _ASIN:
        found = math.asin(x)
    return found


@rigorous
def _function(code: int, low: float, high: float) -> tuple[float, float, bool]:
    """A function of one interval, and whether it is undefined or jumps somewhere in it."""
    if code == _SIN:
        least, most = _wave(low, high, np.sin(low), np.sin(high), np.pi / 2)
        return least, most, False
    if code == _COS:
        least, most = _wave(low, high, np.cos(low), np.cos(high), 0.0)
        return least, most, False
    if code == _TAN:
        poles = np.floor((high + _NEAR_CREST) / np.pi + 0.5) - np.floor((low - _NEAR_CREST) / np.pi + 0.5)
        if not (abs(low) < _FAR and abs(high) < _FAR) or poles > 0:
            return -np.inf, np.inf, True
        return _wide_down(np.tan(low)), _wide_up(np.tan(high)), False
    if code == _SQRT:
        if not low >= 0.0:
            return -np.inf, np.inf, True
        return max(0.0, down(np.sqrt(low))), up(np.sqrt(high)), False
    if code == _ABS:
        least = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
        return least, max(abs(low), abs(high)), False
    if code in (_SIGN, _STEP):
        floor = -1.0 if code == _SIGN else 0.0
        if low > 0.0:
            return 1.0, 1.0, False
        if high < 0.0:
            return floor, floor, False
        return floor, 1.0, True
    if code == _COSH:
        least = 1.0 if low <= 0.0 <= high else max(1.0, _wide_down(np.cosh(min(abs(low), abs(high)))))
        return least, _wide_up(np.cosh(max(abs(low), abs(high)))), False
    if (code == _LOG and not low > 0.0) or (code in (_ASIN, _ACOS) and not (low >= -1.0 and high <= 1.0)):
        return -np.inf, np.inf, True
    if code == _ACOS:
        return max(0.0, _wide_down(np.arccos(high))), _wide_up(np.arccos(low)), False
    least, most = _wide_down(_monotone(code, low)), _wide_up(_monotone(code, high))
    return (max(0.0, least) if code == _EXP else least), most, False


@rigorous
def _angle(low_y: float, high_y: float, low_x: float, high_x: float) -> tuple[float, float, bool]:
    """``atan2``: seen from the origin, the ends of a rectangle are two of its corners."""
    if low_x <= 0.0 and low_y <= 0.0 <= high_y:
        return _wide_down(-np.pi), _wide_up(np.pi), True
    p, q = np.arctan2(low_y, low_x), np.arctan2(low_y, high_x)
    r, s = np.arctan2(high_y, low_x), np.arctan2(high_y, high_x)
    return _wide_down(min(min(p, q), min(r, s))), _wide_up(max(max(p, q), max(r, s))), False


@rigorous
def _arithmetic(
    code: int, low: float, high: float, left: float, right: float, exponent: int
) -> tuple[float, float, bool]:
    """An operation on two intervals, and whether it is undefined or jumps somewhere in them."""
    if code == _ADD:
        return down(low + left), up(high + right), False
    if code == _MULTIPLY:
        least, most = _product(low, high, left, right)
        return down(least), up(most), False
    if code == _DIVIDE:
        if left <= 0.0 <= right:
            return -np.inf, np.inf, True
        p, q, r, s = low / left, low / right, high / left, high / right
        return down(min(min(p, q), min(r, s))), up(max(max(p, q), max(r, s))), False
    if code == _POWER:
        least, most = _whole_power(low, high, abs(exponent))
        if exponent > 0:
            return least, most, False
        if least <= 0.0 <= most:
            return -np.inf, np.inf, True
        return down(1.0 / most), up(1.0 / least), False
    if code == _ROOT:
        if not low > 0.0:
            return -np.inf, np.inf, True
        least, most = _product(_wide_down(np.log(low)), _wide_up(np.log(high)), left, right)
        return max(0.0, _wide_down(np.exp(down(least)))), _wide_up(np.exp(up(most))), False
    if code == _MIN:
        return min(low, left), min(high, right), False
    if code == _MAX:
        return max(low, left), max(high, right), False
    return _angle(low, high, left, right)


@rigorous
def _apply(code: int, exponent: int, first: Batch, second: Batch, result: Batch, broken: Marks, count: int) -> None:
    """One operation on ``count`` intervals."""
    is_unary = _SIN <= code <= _ATAN or _SINH <= code <= _STEP
    for lane in range(count):
        low, high = first[0, lane], first[1, lane]
        if is_unary:
            least, most, is_broken = _function(code, low, high)
        else:
            least, most, is_broken = _arithmetic(code, low, high, second[0, lane], second[1, lane], exponent)
        if not least <= most:  # infinity minus infinity
            least, most = -np.inf, np.inf
        result[0, lane], result[1, lane] = least, most
        if is_broken:
            broken[lane] = True


@rigorous
def _add(first: Batch, second: Batch, result: Batch, count: int) -> None:
    for lane in range(count):
        least, most = down(first[0, lane] + second[0, lane]), up(first[1, lane] + second[1, lane])
        if not least <= most:
            least, most = -np.inf, np.inf
        result[0, lane], result[1, lane] = least, most


@rigorous
def _multiply(first: Batch, second: Batch, result: Batch, count: int) -> None:
    for lane in range(count):
        p, q = first[0, lane] * second[0, lane], first[0, lane] * second[1, lane]
        r, s = first[1, lane] * second[0, lane], first[1, lane] * second[1, lane]
        least, most = down(min(min(p, q), min(r, s))), up(max(max(p, q), max(r, s)))
        if not least <= most or np.isnan(p + q + r + s):
            least, most = -np.inf, np.inf
        result[0, lane], result[1, lane] = least, most


@rigorous
def evaluate(
    codes: Codes,
    places: Codes,
    registers: Batch,
    outputs: Codes,
    boxes: Batch,
    values: Batch,
    broken: Marks,
) -> None:
    """Enclose the values of a tape of operations over boxes.

    Parameters
    ----------
    codes : array of int64, (o,)
        Of the operations, in order.
    places : array of int64, (o, 4)
        Registers of the two arguments and of the result, and a whole exponent.
    registers : array, (r, 2, lanes)
        Work space; the first ``k`` registers are for the box, and constants are in theirs.
    outputs : array of int64, (m,)
        Registers of the results.
    boxes : array, (N, k, 2)
    values : array, (N, m, 2)
        Overwritten.
    broken : array of bool, (N,)
        Overwritten: True where an operation is undefined, or jumps, somewhere in the box.

    Returns
    -------
    None
    """
    lanes = registers.shape[2]
    marks = np.zeros(lanes, dtype=np.bool_)
    for start in range(0, boxes.shape[0], lanes):
        count = min(lanes, boxes.shape[0] - start)
        for axis in range(boxes.shape[1]):
            for lane in range(count):
                registers[axis, 0, lane] = boxes[start + lane, axis, 0]
                registers[axis, 1, lane] = boxes[start + lane, axis, 1]
        marks[:] = False
        for index in range(codes.shape[0]):
            first, second, result = places[index, 0], places[index, 1], places[index, 2]
            if codes[index] == _ADD:
                _add(registers[first], registers[second], registers[result], count)
            elif codes[index] == _MULTIPLY:
                _multiply(registers[first], registers[second], registers[result], count)
            else:
                _apply(
                    codes[index],
                    places[index, 3],
                    registers[first],
                    registers[second],
                    registers[result],
                    marks,
                    count,
                )
        for lane in range(count):
            broken[start + lane] = marks[lane]
            for index in range(outputs.shape[0]):
                values[start + lane, index, 0] = registers[outputs[index], 0, lane]
                values[start + lane, index, 1] = registers[outputs[index], 1, lane]
