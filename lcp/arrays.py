"""Read-only float arrays as values of frozen classes."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lcp.errors import LCPError

__all__ = ["FloatArray", "float_array", "value_key"]

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
