"""The linear complementarity problem.

What a solver hands back.

Read-only float arrays as values of frozen classes.
"""

from __future__ import annotations

import enum
import math
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from lcp.errors import LCPError

__all__ = [
    "LCP",
    "TOO_LARGE",
    "FloatArray",
    "Scaling",
    "Solution",
    "Status",
    "checked",
    "float_array",
    "scaled",
    "value_key",
]


FloatArray: TypeAlias = npt.NDArray[np.float64]


def float_array(values: npt.ArrayLike, *, name: str, ndim: int) -> FloatArray:
    """A read-only float64 copy of `values`, finite and of the wanted number of axes.

    Parameters
    ----------
    values : array_like
        Real numbers; integers and booleans are converted.
    name : str
        What the array is called in an error message.
    ndim : int
        Number of axes it must have.

    Returns
    -------
    ndarray of float64
        C-contiguous, not writeable.

    Raises
    ------
    LCPError
        If the values are complex, not numbers, masked, not finite, or have another number of axes.

    Examples
    --------
    >>> float_array([1, 2], name="q", ndim=1)
    array([1., 2.])
    """
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == ndim:
        array = values.copy()
        # the sum of squares of finite numbers is finite, or too large and looked at below
        if math.isfinite(np.vdot(array, array)):
            array.flags.writeable = False
            return array
    try:
        raw = np.asarray(values)
    except ValueError as error:
        raise LCPError(f"{name} must be an array of real numbers, its rows of one length") from error
    try:
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            raise LCPError(f"{name} must have no masked entries")
        if np.iscomplexobj(raw):
            raise LCPError(f"{name} must be real, got complex numbers; pass {name}.real if that is meant")
        if raw.dtype.kind not in "biufO":
            raise LCPError(f"{name} must be an array of real numbers, got entries of type {raw.dtype}")
        array = np.array(raw, dtype=np.float64, order="C", copy=True)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, LCPError):
            raise
        raise LCPError(f"{name} must be an array of real numbers: {error}") from error
    if array.ndim != ndim:
        raise LCPError(f"{name} must have {ndim} axes, got shape {array.shape}")
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise LCPError(f"{name} must be finite, but {name}{list(index)} is {array[index]}")
    array.flags.writeable = False
    return array


def value_key(array: FloatArray) -> tuple[tuple[int, ...], bytes]:
    """A hashable key by which two arrays are equal if and only if their shapes and values are.

    Parameters
    ----------
    array : ndarray of float64
        Of any shape, without NaN.

    Returns
    -------
    tuple
        The shape and the bytes of the entries, with -0.0 as 0.0.

    Examples
    --------
    >>> import numpy as np
    >>> value_key(np.array([0.0])) == value_key(np.array([-0.0]))
    True
    """
    return array.shape, (array + 0.0).tobytes()


class Status(enum.Enum):
    """What an algorithm did; it says nothing about problems it did not solve.

    A secondary ray occurs on problems that have solutions and on problems that have none.
    """

    SOLVED = "a solution, checked by its residual"
    RAY = "stopped on a secondary ray"
    MAX_PIVOTS = "stopped at the largest allowed number of pivots"
    INACCURATE = "stopped at a complementary basis whose solution fails the residual check"


@attrs.frozen
class Solution:
    """The end of one run of a solver.

    Parameters
    ----------
    z, w : ndarray, shape (n,)
        The last point; a solution if `status` is SOLVED.
    status : Status
        What the algorithm did.
    ray : ndarray, shape (n,), or None
        Direction in z of the secondary ray, only if `status` is RAY.
    n_pivots : int
        Number of pivots made.
    """

    z: FloatArray = attrs.field(eq=value_key)
    w: FloatArray = attrs.field(eq=value_key)
    status: Status
    ray: FloatArray | None = attrs.field(default=None, eq=lambda ray: None if ray is None else value_key(ray))
    n_pivots: int = 0


def checked(problem: LCP) -> LCP:
    """The problem, if it is one.

    Parameters
    ----------
    problem : LCP

    Returns
    -------
    LCP

    Raises
    ------
    LCPError
        For anything else.

    Examples
    --------
    >>> checked([[1.0]])
    Traceback (most recent call last):
    lcp.errors.LCPError: the problem must be an LCP, as LCP(M, q), got list
    """
    if not isinstance(problem, LCP):
        raise LCPError(f"the problem must be an LCP, as LCP(M, q), got {type(problem).__name__}")
    return problem


def _matrix(values: npt.ArrayLike) -> FloatArray:
    M = float_array(values, name="M", ndim=2)
    if M.shape[0] != M.shape[1]:
        raise LCPError(f"M must be a square matrix, got shape {M.shape}")
    return M


def _vector(values: npt.ArrayLike) -> FloatArray:
    return float_array(values, name="q", ndim=1)


@attrs.frozen
class LCP:
    """Find z with w = M z + q, z >= 0, w >= 0 and z_i w_i = 0 for every i.

    Parameters
    ----------
    M : array_like, shape (n, n)
        The matrix; copied, float64, read-only.
    q : array_like, shape (n,)
        The vector; copied, float64, read-only.

    Raises
    ------
    LCPError
        If M is not square, M and q do not match, or an entry is not a finite real number.

    References
    ----------
    Cottle, Pang and Stone, The Linear Complementarity Problem, 1992, section 1.1.

    Examples
    --------
    >>> problem = LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    >>> problem.n
    2
    >>> problem.residual([4 / 3, 7 / 3]) < 1e-14
    True
    """

    M: FloatArray = attrs.field(converter=_matrix, eq=value_key)
    q: FloatArray = attrs.field(converter=_vector, eq=value_key)

    @q.validator
    def _matches(self, attribute: object, value: FloatArray) -> None:
        if value.shape[0] != self.M.shape[0]:
            raise LCPError(
                f"M and q must have the same order, got {self.M.shape[0]} rows of M and {value.shape[0]} entries of q"
            )

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return int(self.q.shape[0])

    def w(self, z: npt.ArrayLike) -> FloatArray:
        """The complementary variable M z + q.

        Parameters
        ----------
        z : array_like, (n,)

        Returns
        -------
        array, (n,)
        """
        result: FloatArray = self.M @ np.asarray(z, dtype=np.float64) + self.q
        return result

    def residual(self, z: npt.ArrayLike) -> float:
        """The natural residual ``max_i |min(z_i, w_i)|``, divided by ``max(1, max|q|)``.

        Zero if and only if z solves the problem. It is not scaled by z, which would hide
        false answers with large entries.

        Parameters
        ----------
        z : array_like, shape (n,)

        Returns
        -------
        float
            infinity if z is not finite.
        """
        if np.iscomplexobj(z):
            raise LCPError("z must be real, got complex numbers")
        point = np.asarray(z, dtype=np.float64)
        if point.shape != self.q.shape:
            raise LCPError(f"z must have shape {self.q.shape}, got {point.shape}")
        if self.n == 0:
            return 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            largest = float(np.abs(np.minimum(point, self.w(point))).max())
        return largest / max(1.0, float(np.abs(self.q).max())) if math.isfinite(largest) else math.inf


TOO_LARGE = "the solution exceeds the largest floating-point number; rescale the unknowns"
EXTREME = 100  # powers of ten: products of three such entries stay clear of overflow at 1e308


SMALLEST_ROW = -24


@attrs.frozen
class Scaling:
    """A problem with rows, columns and q multiplied by powers of two, and the way back.

    With R and C positive diagonal and s > 0, z solves (M, q) if and only if C^-1 z / s solves
    (R M C, R q / s). Powers of two make every product exact.
    """

    problem: LCP
    row_exponents: FloatArray
    columns: FloatArray
    size: float

    @property
    def rows(self) -> FloatArray:
        """The factors R of the rows, up to a common one, for a covering vector of the scaled problem.

        Factors below 2**-24 are raised to it: the ratio test would take them for zero.
        """
        exponents = np.maximum(self.row_exponents - self.row_exponents.max(), SMALLEST_ROW)
        result: FloatArray = np.ldexp(1.0, exponents.astype(np.int64))
        return result

    def point(self, z: FloatArray) -> FloatArray:
        """Undo the scaling of a point."""
        with np.errstate(over="ignore"):
            result: FloatArray = np.ldexp(z, (self.columns + self.size).astype(np.int64))
        if not np.isfinite(result).all():
            raise LCPError(TOO_LARGE)
        return result

    def direction(self, ray: FloatArray) -> FloatArray:
        """Undo the scaling of a direction, up to a positive factor: its largest entry is one."""
        exponents = self.columns + np.frexp(ray)[1]
        largest = exponents[ray != 0].max(initial=-np.inf)
        result: FloatArray = np.ldexp(ray, (self.columns - largest).astype(np.int64)) if np.any(ray) else ray.copy()
        result /= float(np.abs(result).max(initial=0.0)) or 1.0
        result.flags.writeable = False
        return result


def scaled(problem: LCP, *, always: bool = False) -> Scaling:
    """The problem itself where its entries are moderate, else an equilibrated one.

    Parameters
    ----------
    problem : LCP
    always : bool
        Equilibrate moderate entries too.

    Returns
    -------
    Scaling

    Examples
    --------
    >>> from lcp import LCP
    >>> scaled(LCP([[1e300]], [-1e-300])).problem.M.item() < 2
    True
    """
    if problem.n == 0 or (not always and _is_moderate(problem)):
        zero = np.zeros(problem.n)
        return Scaling(problem=problem, row_exponents=zero, columns=zero, size=0.0)
    exponents = np.where(problem.M != 0, np.frexp(problem.M)[1].astype(np.float64), np.nan)
    rows, columns = _equilibrium(exponents)
    shift = (rows[:, None] + columns[None, :]).astype(np.int64)
    M = np.ldexp(problem.M, shift)
    q_exponents = np.frexp(problem.q)[1] + rows
    size = float(q_exponents[problem.q != 0].max()) if np.any(problem.q) else 0.0
    q = np.ldexp(problem.q, (rows - size).astype(np.int64))
    return Scaling(problem=LCP(M, q), row_exponents=rows, columns=columns, size=size)


def _is_moderate(problem: LCP) -> bool:
    entries = np.abs(np.append(problem.M.ravel(), problem.q))
    entries = entries[entries > 0]
    return entries.size == 0 or bool(entries.max() < 10.0**EXTREME and entries.min() > 10.0**-EXTREME)


def _equilibrium(exponents: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Row and column shifts that bring the largest binary exponent of rows and columns near 0."""
    n = exponents.shape[0]
    rows, columns = np.zeros(n), np.zeros(n)
    present = np.where(np.isnan(exponents), -np.inf, exponents)
    for _ in range(4):
        largest = (present + rows[:, None] + columns).max(axis=1)
        of_rows = np.where(np.isfinite(largest), np.round(largest), 0.0)
        rows -= of_rows
        largest = (present + rows[:, None] + columns).max(axis=0)
        of_columns = np.where(np.isfinite(largest), np.round(largest), 0.0)
        columns -= of_columns
        if not (of_rows.any() or of_columns.any()):
            break
    return rows, columns
