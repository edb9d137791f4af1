"""Formulas entry by entry, in plain floats at one state and in arrays at many.

At one state most of the time of an operation on a small array is spent on finding out what is to be done. Formulas that
are written for the entries of vectors run in either arithmetic as they stand.

Batched linear algebra that marks singular systems instead of failing on the whole batch.
"""

from __future__ import annotations

import math
import operator
from functools import reduce
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.tolerances import LEAST, NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

__all__ = [
    "MAX_IN_FLOATS",
    "Arithmetic",
    "applied",
    "arithmetic_of",
    "decided_definiteness",
    "definiteness",
    "equilibrated",
    "inverse_of_each",
    "is_finite",
    "is_lost",
    "is_numerically_singular",
    "solve_each",
    "solve_in_floats",
    "unit_vectors",
]


_SWEEPS = 8  # each takes the root of what is left of a difference in size: 1e12 becomes 1.1

_EPSILON = float(np.finfo(float).eps)
_LOST = NOTHING  # of the data: more than rounding in a problem whose answer has digits

MAX_IN_FLOATS = 6
"""Unknowns up to which a system is solved sooner in plain floats than by LAPACK."""


def solve_each(A: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Solutions of many small systems; NaN where a matrix is singular or not finite.

    Parameters
    ----------
    A : array, (..., n, n)
    b : array, (..., n, r)
        Leading axes broadcast against those of ``A``.

    Returns
    -------
    array, (..., n, r)

    Examples
    --------
    >>> solve_each(np.array([[[2.0]], [[0.0]]]), np.array([[1.0]]))[:, 0, 0]
    array([0.5, nan])
    """
    batches = A.shape[:-2], b.shape[:-2]
    if A.ndim > 2 and batches[0] != batches[1] and 2 * math.prod(batches[0]) < math.prod(np.broadcast_shapes(*batches)):
        # one matrix serves many right-hand sides: invert it once instead of factoring it for each
        return np.asarray(solve_each(A, np.broadcast_to(np.eye(A.shape[-1]), A.shape)) @ b)
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        sign, _ = np.linalg.slogdet(np.where(np.isfinite(A), A, 0.0))
        singular = (sign == 0) | ~np.isfinite(A).all(axis=(-2, -1))
        identity = np.eye(A.shape[-1])
        with np.errstate(all="ignore"):
            solution = np.linalg.solve(np.where(singular[..., None, None], identity, A), b)
        return np.where(singular[..., None, None], np.nan, solution)


def inverse_of_each(A: NDArray[Any]) -> NDArray[Any]:
    """Inverses of many small matrices; NaN where a matrix is singular or not finite.

    Parameters
    ----------
    A : array, (..., n, n)

    Returns
    -------
    array, (..., n, n)
    """
    try:
        return np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return solve_each(A, np.broadcast_to(np.eye(A.shape[-1]), A.shape))


def applied(A: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Products of matrices and vectors.

    Parameters
    ----------
    A : array, (..., m, n)
    x : array, (..., n)

    Returns
    -------
    array, (..., m)
    """
    return np.asanyarray(A @ x if x.ndim == 1 else (A @ x[..., None])[..., 0])


def is_finite(*arrays: NDArray[Any]) -> bool:
    """Whether every entry of some arrays is finite.

    Parameters
    ----------
    *arrays : array, (...)

    Returns
    -------
    bool
    """
    # the sum of squares of finite numbers is finite, or too large and looked at again
    return all(math.isfinite(np.vdot(array, array).real) or bool(np.isfinite(array).all()) for array in arrays)


def solve_in_floats(A: list[list[float]], b: list[float]) -> list[float] | None:
    """The solution of one system in plain floats, by elimination with the largest pivot of each column.

    A large one is left to LAPACK.

    Parameters
    ----------
    A : list of list of float
        Rows of the matrix; they are overwritten.
    b : list of float
        Overwritten.

    Returns
    -------
    list of float or None
        None where the matrix is singular.

    Examples
    --------
    >>> solve_in_floats([[0.0, 2.0], [1.0, 1.0]], [4.0, 3.0])
    [1.0, 2.0]
    """
    n = len(b)
    if n > MAX_IN_FLOATS:
        try:
            return list(np.linalg.solve(A, b).tolist())
        except np.linalg.LinAlgError:
            return None
    for k in range(n):
        largest = k
        for i in range(k + 1, n):
            if abs(A[i][k]) > abs(A[largest][k]):
                largest = i
        if largest != k:
            A[k], A[largest], b[k], b[largest] = A[largest], A[k], b[largest], b[k]
        over = A[k]
        if over[k] == 0.0:
            return None
        for i in range(k + 1, n):
            line = A[i]
            if line[k] != 0.0:
                factor = line[k] / over[k]
                for j in range(k + 1, n):
                    line[j] -= factor * over[j]
                b[i] -= factor * b[k]
    for k in reversed(range(n)):
        line = A[k]
        for j in range(k + 1, n):
            b[k] -= line[j] * b[j]
        b[k] /= line[k]
    return b


def equilibrated(A: NDArray[Any]) -> NDArray[Any]:
    """Matrices (..., m, n) whose rows and columns have largest entries near 1, whatever the units (Ruiz 2001).

    Parameters
    ----------
    A : array, (..., m, n)
        Finite.

    Returns
    -------
    array, (..., m, n)
        Rows and columns of zeros remain.

    Examples
    --------
    >>> equilibrated(np.array([[1.0, 1e9], [0.0, 1e9]])).round().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    A = np.asarray(A, dtype=float)
    if is_many := A.ndim > 2:  # along the states a maximum is several times as quick as along a short row
        A = np.ascontiguousarray(np.moveaxis(A, (-2, -1), (0, 1)))
    sizes = np.abs(A)
    for _ in range(_SWEEPS):
        for axis in (1, 0):  # a row of zeros remains, whatever divides it
            sizes = sizes / np.sqrt(np.maximum.reduce(sizes, axis=axis, keepdims=True, initial=LEAST))
    A = np.copysign(sizes, A)
    return np.ascontiguousarray(np.moveaxis(A, (0, 1), (-2, -1))) if is_many else A


def is_numerically_singular(A: NDArray[Any], *, rank: float) -> bool:
    """Whether a matrix, whatever the units of its rows and columns, is singular to the tolerance ``rank``.

    Parameters
    ----------
    A : array, (n, n)
    rank : float
        Ratio of the smallest to the largest singular value of the equilibrated matrix, up to which it counts as
        singular.

    Returns
    -------
    bool
        True where an entry is not finite; False for the empty matrix.
    """
    if not np.isfinite(A).all():
        return True
    if A.size == 0:
        return False
    singular_values = np.linalg.svd(equilibrated(A), compute_uv=False)
    return bool(singular_values[-1] <= rank * singular_values[0])


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
    for items, ndim in ((vectors, 1), (matrices, 2)):
        for item in items:
            if type(item) is not np.ndarray or item.ndim != ndim or item.dtype.char != "d":
                return ARRAYS
    return FLOATS


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


def definiteness(M: NDArray[Any]) -> NDArray[np.float64]:
    """Smallest eigenvalue of symmetric matrices, as mass matrices are, scaled to unit diagonal.

    Parameters
    ----------
    M : array, (..., n, n)

    Returns
    -------
    array, (...)
        Zero or less where a mass matrix admits no kinetic energy; NaN where it is not finite.
    """
    diagonal = np.abs(np.diagonal(M, axis1=-2, axis2=-1))
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = M / (scale[..., :, None] * scale[..., None, :])
    finite: Any = np.isfinite(scaled).all(axis=(-2, -1))
    smallest = np.linalg.eigvalsh(np.where(finite[..., None, None], scaled, 0.0))[..., 0]
    return np.where(finite, smallest, np.nan)


def decided_definiteness(M: NDArray[Any], *, rank: float) -> float:
    """As :func:`definiteness` of one matrix, or a lower bound of it that decides.

    Parameters
    ----------
    M : array, (n, n)
    rank : float
        Eigenvalue above which a bound will do.

    Returns
    -------
    float
        As :func:`definiteness` where it is not above ``rank``.
    """
    bound = _least_by_rows(M.tolist())
    return bound if bound > rank else float(definiteness(M))


def _least_by_rows(lines: list[list[float]]) -> float:
    """Gershgorin's lower bound of :func:`definiteness`, which costs little; 1 for a diagonal matrix."""
    sizes = [math.sqrt(line[i]) if line[i] > 0.0 else 0.0 for i, line in enumerate(lines)]
    if not all(sizes):
        return -math.inf
    shares = ([abs(x) / sizes[j] for j, x in enumerate(line) if x and j != i] for i, line in enumerate(lines))
    beside = list(map(operator.truediv, map(sum, shares), sizes))
    return 1.0 - max(beside, default=0.0) if math.isfinite(sum(beside)) else -math.inf  # a maximum may pass over NaN


def is_lost(A: NDArray[np.float64], x: NDArray[np.float64], size: float) -> bool:
    """Tell whether rounding decides what ``A x`` is, as near the infinite ``x`` of a singular matrix.

    Parameters
    ----------
    A : array, (n, n)
    x : array, (n,)
    size : float
        Of the data that ``A x`` balances.

    Returns
    -------
    bool

    Examples
    --------
    >>> A = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> is_lost(A, np.array([2.0, 1.0]), 1.0), is_lost(A, np.array([1e9, 1e9]), 1.0)
    (False, True)
    """
    return bool((np.abs(A) @ np.abs(x)).max(initial=0.0) * _EPSILON > _LOST * size)


def unit_vectors(directions: Any) -> NDArray[np.float64]:
    """Directions of length one, whatever their size: squares of small numbers are none, and of large ones infinite.

    Parameters
    ----------
    directions : array_like, (..., d)

    Returns
    -------
    array, (..., d)
        NaN where a direction is zero.
    """
    scaled = directions / np.max(np.abs(directions), axis=-1, keepdims=True)
    return np.asarray(scaled / np.linalg.norm(scaled, axis=-1, keepdims=True))
