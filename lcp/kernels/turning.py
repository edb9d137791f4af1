"""Eight problems at a time from rows to columns and back: in registers, where reads of single numbers take longer."""

from __future__ import annotations

from typing import Any

from numba import types

from lcp.kernels.vectors import EIGHT, INDEX, VECTOR, Generated, address, intrinsic, ir

__all__ = ["turn_eight", "turn_four", "turn_four_back"]

# Which numbers of two operands of eight make one.
PAIRS = ([0, 4, 8, 12, 1, 5, 9, 13], [2, 6, 10, 14, 3, 7, 11, 15])
HALVES = ([0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15])


def _read(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    place = builder.bitcast(address(context, builder, array_type, array, index), VECTOR.as_pointer())
    return builder.load(place, align=8)


def _write(context: Any, builder: Any, array_type: Any, array: Any, index: Any, row: Any) -> None:
    place = builder.bitcast(address(context, builder, array_type, array, index), VECTOR.as_pointer())
    builder.store(row, place, align=8)


def _exchanged(builder: Any, first: Any, second: Any, lanes: list[int]) -> Any:
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(INDEX, EIGHT), lanes))


@intrinsic
def turn_eight(_typing: Any, source: Any, at: Any, width: Any, target: Any, to: Any, stride: Any) -> Generated:
    """target[to + r stride + k] = source[at + k width + r] for eight r and eight k."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, at, width, target, to, stride = arguments
        rows = []
        for _ in range(EIGHT):
            rows.append(_read(context, builder, signature.args[0], source, at))
            at = builder.add(at, width)
        for distance in (1, 2, 4):
            for k in (k for k in range(EIGHT) if not k & distance):
                first, second = rows[k], rows[k + distance]
                kept = [j if not j & distance else EIGHT + j - distance for j in range(EIGHT)]
                rows[k] = _exchanged(builder, first, second, kept)
                rows[k + distance] = _exchanged(builder, first, second, [j + distance for j in kept])
        for row in rows:
            _write(context, builder, signature.args[3], target, to, row)
            to = builder.add(to, stride)
        return context.get_dummy_value()

    return types.void(source, types.int64, types.int64, target, types.int64, types.int64), generate


@intrinsic
def turn_four(_typing: Any, source: Any, at: Any, target: Any, to: Any, stride: Any) -> Generated:
    """target[to + r stride + k] = source[at + 4 k + r] for four r and eight k."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, at, target, to, stride = arguments
        rows, eight = [], ir.Constant(ir.IntType(64), EIGHT)
        for _ in range(4):
            rows.append(_read(context, builder, signature.args[0], source, at))
            at = builder.add(at, eight)
        parts = [[_exchanged(builder, rows[k], rows[k + 1], lanes) for k in (0, 2)] for lanes in PAIRS]
        for row in [_exchanged(builder, part[0], part[1], lanes) for part in parts for lanes in HALVES]:
            _write(context, builder, signature.args[2], target, to, row)
            to = builder.add(to, stride)
        return context.get_dummy_value()

    return types.void(source, types.int64, target, types.int64, types.int64), generate


@intrinsic
def turn_four_back(_typing: Any, source: Any, at: Any, stride: Any, target: Any, to: Any) -> Generated:
    """target[to + 4 k + r] = source[at + r stride + k] for four r and eight k."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, at, stride, target, to = arguments
        rows, eight = [], ir.Constant(ir.IntType(64), EIGHT)
        for _ in range(4):
            rows.append(_read(context, builder, signature.args[0], source, at))
            at = builder.add(at, stride)
        parts = [[_exchanged(builder, rows[k], rows[k + 1], lanes) for k in (0, 2)] for lanes in HALVES]
        for row in [_exchanged(builder, part[0], part[1], lanes) for part in parts for lanes in PAIRS]:
            _write(context, builder, signature.args[3], target, to, row)
            to = builder.add(to, eight)
        return context.get_dummy_value()

    return types.void(source, types.int64, types.int64, target, types.int64), generate
