"""Arrays of numbers that are recorded, for functions that are written for NumPy's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from hybrid.expressions.recording import (
    NotRecordable,
    Recorded,
    RecordedChoice,
    RecordedCondition,
    applied,
    combined,
    is_number,
)

__all__ = ["RecordedArray"]


class RecordedArray(np.ndarray):
    """An array of numbers of which some are recorded."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Apply a function of NumPy's to every entry."""
        return _apply_to_arrays(ufunc, method, inputs, keywords)

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        """Linear algebra by elimination; what moves entries about is NumPy's own."""
        if function in _REPLACED:
            return _REPLACED[function](*arguments, **keywords)
        if getattr(function, "__module__", "") == "numpy.linalg":
            raise NotRecordable(function.__name__)
        return _wrapped(super().__array_function__(function, types, arguments, keywords))

    @classmethod
    def of(cls, entries: Any) -> RecordedArray:
        """An array of recorded numbers.

        Parameters
        ----------
        entries : nested sequences of numbers, or of arrays without axes

        Returns
        -------
        RecordedArray, (...)
        """
        array = np.array(entries, dtype=object)
        for index in np.ndindex(array.shape):
            if isinstance(array[index], np.ndarray):
                array[index] = array[index].item()
        return array.view(cls)


def _wrapped(result: Any) -> Any:
    if isinstance(result, tuple | list):
        return type(result)(map(_wrapped, result))
    if isinstance(result, np.ndarray) and result.dtype == object:
        return result.view(RecordedArray)
    return result


def _bare(item: Any) -> Any:
    return np.asarray(item)


def _apply_to_arrays(ufunc: np.ufunc, method: str, inputs: Any, keywords: dict[str, Any]) -> Any:
    arrays = [_bare(item) for item in inputs]
    if ufunc is np.matmul and method == "__call__":
        return _product(*arrays)
    if method == "reduce":
        return _reduced(ufunc, arrays[0], **keywords)
    if method != "__call__":
        raise NotRecordable(f"{ufunc.__name__}.{method}")
    if not keywords and not any(array.ndim for array in arrays):
        single = np.empty((), dtype=object)
        single[()] = applied(ufunc.__name__, *(array[()] for array in arrays))
        return _narrowed(single)
    where, out = keywords.get("where", True), keywords.get("out")
    shape = np.broadcast_shapes(*(array.shape for array in arrays), np.shape(where))
    result = np.empty(shape, dtype=object)
    spread = [np.broadcast_to(array, shape) for array in arrays]
    wanted = np.broadcast_to(_bare(where), shape)
    for index in np.ndindex(shape):
        if wanted[index]:
            result[index] = applied(ufunc.__name__, *(array[index] for array in spread))
        else:
            result[index] = np.broadcast_to(_bare(out[0]), shape)[index] if out else 0.0
    return _narrowed(result)


def _narrowed(result: Any) -> Any:
    """As plain an array as its entries allow."""
    if not result.size:
        return result.astype(float)
    if all(isinstance(item, bool | np.bool_) for item in result.flat):
        return result.astype(bool)
    return result.view(RecordedArray)


def _product(left: Any, right: Any) -> Any:
    result = np.empty((*left.shape[:-1], right.shape[-1]) if right.ndim > 1 else left.shape[:-1], dtype=object)
    columns = right if right.ndim > 1 else right[:, None]
    for row in np.ndindex(left.shape[:-1]):
        for column in range(columns.shape[-1]):
            products = [combined("multiply", a, b) for a, b in zip(left[row], columns[:, column], strict=True)]
            place = (*row, column) if right.ndim > 1 else row
            result[place] = reduce(lambda x, y: combined("add", x, y), products, 0.0)
    return _narrowed(result)


def _reduced(
    ufunc: np.ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    if dtype not in (None, bool) or (out is not None and out != (None,)) or where is not True:
        raise NotRecordable(f"{ufunc.__name__}.reduce")
    axes = tuple(range(array.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(item % array.ndim for item in axes) if array.ndim else ()
    kept = [item for item in range(array.ndim) if item not in axes]
    moved = array.transpose([*kept, *axes]).reshape((*(array.shape[item] for item in kept), -1))
    result = np.empty(moved.shape[:-1], dtype=object)
    given = initial is not None and initial is not np._NoValue
    start = [initial] if given else [] if ufunc.identity is None else [ufunc.identity]
    for index in np.ndindex(result.shape):
        entries = list(moved[index])
        terms = [*start, *entries] if given or not entries else entries
        result[index] = reduce(lambda x, y: applied(ufunc.__name__, x, y), terms)
    if keepdims:
        result = result.reshape([1 if item in axes else array.shape[item] for item in range(array.ndim)])
    return _narrowed(result)


def _chosen(condition: Any, first: Any, second: Any) -> Any:
    """``np.where``: plain numbers are chosen between when they are asked for."""
    arrays = [_bare(item) for item in (condition, first, second)]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    conditions, ones, others = (np.broadcast_to(array, shape) for array in arrays)
    result = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        asked: Any = conditions[index]
        one: Any = ones[index]
        other: Any = others[index]
        if isinstance(asked, RecordedCondition) and not isinstance(one, Recorded) and not isinstance(other, Recorded):
            result[index] = RecordedChoice(asked, one, other)
        else:
            result[index] = one if asked else other
    return _narrowed(result)


def _norm(array: Any, axis: int = -1, keepdims: bool = False) -> Any:
    if array.shape[axis] == 1:
        return np.sum(np.abs(array), axis=axis, keepdims=keepdims)
    return np.sqrt(np.sum(array * array, axis=axis, keepdims=keepdims))


_LEAST_PIVOT = 1e-2  # of the largest entry of its column: elimination loses two digits a step at most


def _solved(A: Any, b: Any) -> Any:
    """``np.linalg.solve`` by elimination with the pivots of the sample."""
    if A.ndim != 2 or b.ndim != 2:
        raise NotRecordable("solve")
    left, right = [list(row) for row in _bare(A)], [list(row) for row in _bare(b)]
    _eliminate(left, right)
    n = len(left)
    for k in reversed(range(n)):
        for column in range(len(right[k])):
            known = reduce(
                lambda x, y: combined("add", x, y),
                [combined("multiply", left[k][j], right[j][column]) for j in range(k + 1, n)],
                0.0,
            )
            right[k][column] = combined("divide", combined("subtract", right[k][column], known), left[k][k])
    return _narrowed(np.array(right, dtype=object).reshape(b.shape))


def _inverted(A: Any) -> Any:
    return _solved(A, np.eye(A.shape[-1]))


def _determinant(A: Any) -> Any:
    left = [list(row) for row in _bare(A)]
    sign = _eliminate(left, [[] for _ in left])
    pivots = [left[k][k] for k in range(len(left))]
    return RecordedArray.of(reduce(lambda x, y: combined("multiply", x, y), pivots, float(sign)))


def _eliminate(left: list[list[Any]], right: list[list[Any]]) -> int:
    n, sign = len(left), 1
    for k in range(n):
        sizes = [abs(row[k].value if isinstance(row[k], Recorded) else row[k]) for row in left[k:]]
        if not all(map(math.isfinite, sizes)) or max(sizes) == 0.0:
            raise NotRecordable("a matrix is singular at the sample")
        pivot = k if sizes[0] > 0.1 * max(sizes) else k + int(np.argmax(sizes))
        if pivot != k:
            left[k], left[pivot], right[k], right[pivot] = left[pivot], left[k], right[pivot], right[k]
            sign = -sign
        size = combined("absolute", left[k][k])
        for i in range(k + 1, n):
            if is_number(left[i][k], 0.0):
                continue
            bool(applied("greater", size, combined("multiply", _LEAST_PIVOT, combined("absolute", left[i][k]))))
            factor = combined("divide", left[i][k], left[k][k])
            for row in (left, right):
                row[i] = [
                    combined("subtract", x, combined("multiply", factor, y))
                    for x, y in zip(row[i], row[k], strict=True)
                ]
    return sign


_REPLACED: Mapping[Any, Callable[..., Any]] = {
    np.where: _chosen,
    np.linalg.norm: _norm,
    np.linalg.solve: _solved,
    np.linalg.inv: _inverted,
    np.linalg.det: _determinant,
}
