"""Results as the tables of pandas and xarray, which are loaded when a table is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybrid.errors import ComputationError

__all__ = ["dataframe", "dataset"]


def dataframe(columns: Mapping[str, Any]) -> Any:
    """Columns as a ``pandas.DataFrame``.

    Parameters
    ----------
    columns : mapping of str to array_like, (rows,)

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    ComputationError
        pandas is not installed.

    Examples
    --------
    >>> dataframe({"t": [0.0, 1.0], "mode": ["stick", "free"]}).shape
    (2, 2)
    """
    try:
        import pandas
    except ImportError as error:
        raise _missing("pandas", "to_dataframe") from error
    return pandas.DataFrame(dict(columns))


def dataset(
    variables: Mapping[str, tuple[tuple[str, ...], Any, Mapping[str, Any]]],
    *,
    coords: Mapping[str, Any],
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """Arrays with named axes as an ``xarray.Dataset``.

    Parameters
    ----------
    variables : mapping of str to (names of axes, array, attributes)
    coords : mapping of str to array_like
    attrs : mapping of str to value, optional
        What holds for the whole.

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    ComputationError
        xarray is not installed.

    Examples
    --------
    >>> dataset({"gap": (("t",), [1.0, 0.0], {"units": "m"})}, coords={"t": [0.0, 0.5]}).gap.units
    'm'
    """
    try:
        import xarray
    except ImportError as error:
        raise _missing("xarray", "to_xarray") from error
    return xarray.Dataset(dict(variables), coords=dict(coords), attrs=dict(attrs or {}))


def _missing(library: str, method: str) -> ComputationError:
    return ComputationError(f"{method} needs {library}; install it with: pip install 'painleve[store]'")
