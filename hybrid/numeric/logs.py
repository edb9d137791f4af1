"""Logs of motions, NPZ archives or CSV tables, checked against the columns of a model."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import FileError
from hybrid.files import read_arrays, read_file
from hybrid.numeric.frames import AbstractBackend

__all__ = ["Log", "checked_log", "read_log"]

Array = NDArray[np.float64]

MAX_BYTES = 2 * 2**30
"""Of a log in memory: 1e6 frames of a humanoid take 0.6 GB."""

_NAMES = "joint_names"
_INDEX = re.compile(r"^(\w+?)\[?_?(\d+)\]?$")


@attrs.frozen(eq=False)
class Log:
    """Frames of a motion.

    Attributes
    ----------
    columns : mapping of str to array, (T, width)
    time : array, (T,), or None
        Seconds; None if the log does not say.
    notes : tuple of str
        What was filled in.
    """

    columns: Mapping[str, Array]
    time: Array | None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def rows(self) -> Iterator[dict[str, Array]]:
        """The columns at every frame."""
        for k in range(len(self)):
            yield self.row(k)

    def row(self, k: int) -> dict[str, Array]:
        """The columns at one frame."""
        return {name: values[k] for name, values in self.columns.items()}


def read_log(path: str | Path, backend: AbstractBackend) -> Log:
    """Read a log of a model.

    Parameters
    ----------
    path : str or Path
        An ``.npz`` archive with an array (T, width) for each column, or a ``.csv`` table whose first row names entries
        as ``qpos[0]``.
    backend : AbstractBackend
        The model.

    Returns
    -------
    Log

    Raises
    ------
    FileError
        A column is unknown, missing, of another width or length, or has an entry that is not finite; the log is empty
        or of another model.
    """
    source = str(path)
    data = read_file(path, limit=MAX_BYTES, advice="lint it in parts")
    arrays = (
        _table(data, source) if source.lower().endswith(".csv") else read_arrays(data, limit=MAX_BYTES, source=source)
    )
    return checked_log(arrays, backend, source)


def checked_log(arrays: Mapping[str, NDArray[Any]], backend: AbstractBackend, source: str) -> Log:
    """A log of arrays that fit the columns of a model.

    Parameters
    ----------
    arrays : mapping of str to array
        By columns, and ``time`` or ``joint_names``.
    backend : AbstractBackend
    source : str
        What messages call the log.

    Returns
    -------
    Log

    Raises
    ------
    FileError
        As :func:`read_log` does.
    """
    widths, columns, notes = dict(backend.columns), dict[str, Array](), []
    names = backend.joint_names
    stored = [str(name) for name in np.atleast_1d(arrays[_NAMES])] if _NAMES in arrays else names
    if list(stored) != list(names):
        raise FileError(f"is a log of another model: its joints are {', '.join(stored)}", source)
    for name, values in arrays.items():
        if name in (_NAMES, "time"):
            continue
        if name not in widths:
            near = difflib.get_close_matches(name, [*widths, "time"], n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"a log of this model has {', '.join(widths)} and time"
            raise FileError(f"unknown column {name!r}; {hint}", source)
        columns[name] = _column(name, values, widths[name], source)
    for name in backend.required:
        if name not in columns:
            raise FileError(f"the column {name!r} is missing", source)
    lengths = {name: len(values) for name, values in columns.items()}
    length = lengths[backend.required[0]]
    if not length:
        raise FileError("has no frames", source)
    time = None
    if "time" in arrays:
        time = _column("time", np.asarray(arrays["time"]).reshape(-1, 1), 1, source)[:, 0]
        lengths["time"] = len(time)
    for name, own in lengths.items():
        if own != length:
            raise FileError(f"{name} has {own} frames, {backend.required[0]} has {length}", source)
    for name in backend.actuation:
        if widths[name] and name not in columns:
            columns[name] = np.zeros((length, widths[name]))
            notes.append(f"the log has no {name}: zeros are taken")
    return Log(columns, time, tuple(notes))


def _column(name: str, values: NDArray[Any], width: int, source: str) -> Array:
    if values.dtype.kind not in "biuf":
        raise FileError(f"{name} must hold real numbers, got {values.dtype}", source)
    array = np.asarray(values, dtype=np.float64)
    array = array.reshape(len(array), int(np.prod(array.shape[1:]))) if array.ndim else array
    if array.ndim != 2 or array.shape[1] != width:
        got = array.shape[1] if array.ndim == 2 else "no frames"
        raise FileError(f"{name} must have {width} numbers a frame for this model, got {got}", source)
    if not np.isfinite(array).all():
        frame = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise FileError(f"{name} is not finite in frame {frame}", source)
    return array


def _table(data: bytes, source: str) -> dict[str, NDArray[Any]]:
    """The columns of a CSV table, entries ``name[k]`` side by side."""
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8"))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"is no CSV table: {error}", source) from None
    rows = [row for row in rows if row]
    if not rows:
        raise FileError("has no frames", source)
    places: dict[str, dict[int, int]] = {}
    for place, title in enumerate(cell.strip() for cell in rows[0]):
        found = _INDEX.match(title)
        name, index = (found[1], int(found[2])) if found else (title, 0)
        places.setdefault(name, {})[index] = place
    numbers = np.empty((len(rows) - 1, len(rows[0])))
    for line, row in enumerate(rows[1:], start=2):
        try:
            numbers[line - 2] = [float(cell) for cell in row]
        except ValueError as error:
            raise FileError(f"line {line}: {error}", source) from None
    columns = {}
    for name, entries in places.items():
        if sorted(entries) != list(range(len(entries))):
            raise FileError(f"{name} lacks an entry: there are {', '.join(map(str, sorted(entries)))}", source)
        columns[name] = numbers[:, [entries[k] for k in range(len(entries))]]
    return columns
