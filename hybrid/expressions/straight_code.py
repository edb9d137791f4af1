"""Functions of arrays as straight-line code in plain floats.

On a few numbers most of the time of an operation on arrays is spent on finding out what is to be done.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.expressions.kernel import StraightLine, function_of
from hybrid.expressions.recorded_arrays import RecordedArray
from hybrid.expressions.recording import NotRecordable, Recorded, Recording

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["straight_line"]

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
    return StraightLine(source, function_of(source, "written", names), places)


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
