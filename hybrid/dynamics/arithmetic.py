"""Formulas entry by entry, in plain floats at one state and in arrays at many.

At one state most of the time of an operation on a small array is spent on finding out what is to be done. Formulas that
are written for the entries of vectors run in either arithmetic as they stand.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.linear import solve_in_floats

__all__ = ["Arithmetic", "arithmetic_of"]


@attrs.frozen
class Arithmetic:
    """What formulas need beyond ``+``, ``-``, ``*``, ``/`` and ``abs``.

    Attributes
    ----------
    root : callable
        Square root.
    larger : callable
        The larger of two numbers, or the one that is a number.
    largest : callable
        The largest of some numbers that are not negative; 0 without any.
    chosen : callable
        By a condition, the second or the third argument.
    total : callable
        Sum of some numbers.
    vector, matrix : callable
        The entries along the last axis, or the rows of entries along the last two axes, of an array.
    stacked : callable
        The array with these entries along a new last axis.
    solution : callable
        Of linear equations with a matrix (..., n, n) and a right-hand side (..., n), the entries; None where a matrix
        is singular.
    """

    root: Callable[[Any], Any]
    larger: Callable[[Any, Any], Any]
    largest: Callable[[Iterable[Any]], Any]
    chosen: Callable[[Any, Any, Any], Any]
    total: Callable[[Iterable[Any]], Any]
    vector: Callable[[Any], list[Any]]
    matrix: Callable[[Any], list[list[Any]]]
    stacked: Callable[[Sequence[Any]], NDArray[Any]]
    solution: Callable[[Any, Any], list[Any] | None]


def arithmetic_of(*vectors: NDArray[Any], matrices: Iterable[NDArray[Any]] = ()) -> Arithmetic:
    """The arithmetic of quantities at one state, if they have no further axes, else that of arrays of states.

    Parameters
    ----------
    vectors : array, (..., m) each
        Numbers of quantities at one state or many.
    matrices : iterable of array, (..., m, n) each

    Returns
    -------
    Arithmetic
    """
    is_one = all(type(item) is np.ndarray and item.ndim == 1 and item.dtype == float for item in vectors)
    return FLOATS if is_one and all(type(item) is np.ndarray and item.ndim == 2 for item in matrices) else ARRAYS


def _larger_float(first: float, second: float) -> float:
    return second if second > first or first != first else first


def _chosen_float(condition: bool, first: Any, second: Any) -> Any:
    return first if condition else second


def _entries(array: Any) -> list[Any]:
    return [array[..., index] for index in range(array.shape[-1])]


def _stacked(entries: Sequence[Any]) -> NDArray[Any]:
    return np.stack(np.broadcast_arrays(*entries), axis=-1) if entries else np.zeros(0)


def _solution(A: Any, b: Any) -> list[Any] | None:
    try:
        return _entries(np.linalg.solve(A, b[..., None])[..., 0])
    except np.linalg.LinAlgError:
        return None


FLOATS = Arithmetic(
    root=math.sqrt,
    larger=_larger_float,
    largest=lambda numbers: max(numbers, default=0.0),
    chosen=_chosen_float,
    total=sum,
    vector=operator.methodcaller("tolist"),
    matrix=operator.methodcaller("tolist"),
    stacked=np.array,
    solution=lambda A, b: solve_in_floats(A.tolist(), b.tolist()),
)

ARRAYS = Arithmetic(
    root=np.sqrt,
    larger=np.fmax,
    largest=lambda numbers: reduce(np.maximum, numbers, 0.0),
    chosen=np.where,
    total=lambda numbers: reduce(operator.add, numbers),
    vector=_entries,
    matrix=lambda array: [_entries(array[..., row, :]) for row in range(array.shape[-2])],
    stacked=_stacked,
    solution=_solution,
)
