"""Arrays of numbers that are recorded, for functions that are written for NumPy's; and such functions in plain floats.

On a few numbers most of the time of an operation on arrays is spent on finding out what is to be done;
straight-line code knows it beforehand.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.expressions.kernel import StraightLine, functions_of
from hybrid.expressions.recording import (
    NotRecordable,
    Recorded,
    RecordedChoice,
    RecordedCondition,
    Recording,
    applied,
    combined,
    is_number,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["RecordedArray", "straight_line"]

_TEXTS = {
    "add": "({} + {})",
    "subtract": "({} - {})",
    "multiply": "({} * {})",
    "divide": "({} / {})",
    "negative": "(-{})",
    "absolute": "abs({})",
    "sqrt": "sqrt({})",
}
_LARGER = "{0} if {0} >= {1} or {1} != {1} else {1}"  # the one that is a number, as fmax
_IS_ARRAY = "type({0}) is array and {0}.shape == {1} and {0}.dtype is double"
_INLINE = 60  # characters of a text that is used once, up to which it is put where it is used


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


def straight_line(function: Callable[..., Sequence[Any]], samples: Sequence[ArrayLike]) -> StraightLine:
    """Write a function of arrays as straight-line code.

    Parameters
    ----------
    function : callable
        Written for NumPy's arrays; it returns a sequence of arrays.
    samples : sequence of array_like
        Arguments of the shapes that will be given. Where the function asks how numbers compare, they answer.

    Returns
    -------
    StraightLine

    Raises
    ------
    NotRecordable
        The function does something else than arithmetic, roots and comparisons.

    Examples
    --------
    >>> import numpy as np
    >>> length = straight_line(lambda x: [np.sqrt(x @ x)], [[3.0, 4.0]])
    >>> length(np.array([5.0, 12.0]))
    [array(13.)]
    """
    recording, number, shapes = Recording(), itertools.count(), tuple(map(np.shape, samples))
    arrays = []
    for sample in samples:
        inputs = np.array([recording.input(next(number), value) for value in np.ravel(sample)], dtype=object)
        arrays.append(RecordedArray.of(inputs.reshape(np.shape(sample))))
    results = [np.asarray(array, dtype=object) for array in function(*arrays)]
    source = _source(recording, shapes, [entry for array in results for entry in array.flat])
    names = {
        "sqrt": math.sqrt,
        "failures": (ArithmeticError, ValueError),
        "array": np.ndarray,
        "double": np.dtype(float),
    }
    ends = list(itertools.accumulate((array.size for array in results), initial=0))
    parts = itertools.starmap(slice, itertools.pairwise(ends))
    places = tuple(zip(parts, (None if array.ndim == 1 else array.shape for array in results), strict=True))
    (written,) = functions_of(source, "written", names)
    return StraightLine(source, written, places)


def _source(recording: Recording, shapes: Sequence[tuple[int, ...]], results: Sequence[Any]) -> str:
    """Python's text of a recording: every step that is used more than once has a name."""
    steps, conditions = recording.steps, recording.conditions
    places = [entry.place for entry in results if isinstance(entry, Recorded)]
    compared = [place for larger, smaller, _ in conditions for place in (larger, smaller)]
    needed, uses = {*places, *compared}, Counter([*places, *compared])
    for place in reversed(range(len(steps))):
        if place in needed:
            needed.update(steps[place].operands)
            uses.update(steps[place].operands)
    texts: dict[int, str] = {}
    lines: list[str] = []
    for place in sorted(needed):
        step = steps[place]
        if step.operation in ("input", "number"):
            texts[place] = f"a{int(step.number)}" if step.operation == "input" else f"({step.number!r})"
            continue
        operands = [texts[operand] for operand in step.operands]
        if step.operation == "maximum":
            operands = [_named(text, lines) for text in operands]
            text = f"({_LARGER.format(*operands)})"
        elif step.operation in _TEXTS:
            text = _TEXTS[step.operation].format(*operands)
        else:
            raise NotRecordable(step.operation)
        texts[place] = _named(text, lines) if uses[place] > 1 or len(text) > _INLINE else text
    tests = [
        f"{texts[larger]} {'>=' if or_equal else '>'} {texts[smaller]}" for larger, smaller, or_equal in conditions
    ]
    entries = [texts[entry.place] if isinstance(entry, Recorded) else repr(float(entry)) for entry in results]
    names, number = [f"A{index}" for index in range(len(shapes))], itertools.count()
    return "\n".join(
        (
            f"def written({', '.join(names)}):",
            f"    if not ({' and '.join(map(_IS_ARRAY.format, names, shapes))}):",
            "        return None",
            "    try:",
            *(
                f"        {_pattern(shape, number)} = {name}.tolist()"
                for name, shape in zip(names, shapes, strict=True)
            ),
            *(f"        {line}" for line in lines),
            *([f"        return None if not ({' and '.join(tests)}) else ("] if tests else ["        return ("]),
            *(f"            {entry} + 0.0," for entry in entries),  # no negative zeros
            "        )",
            "    except failures:",
            "        return None",
        )
    )


def _pattern(shape: tuple[int, ...], number: Iterator[int]) -> str:
    """Names for the entries of nested lists of a shape."""
    if not shape:
        return f"a{next(number)}"
    return f"[{', '.join(_pattern(shape[1:], number) for _ in range(shape[0]))}]"


def _named(text: str, lines: list[str]) -> str:
    """A name for a text, unless it is one."""
    if text.isidentifier():
        return text
    name = f"s{len(lines)}"
    lines.append(f"{name} = {text}")
    return name
