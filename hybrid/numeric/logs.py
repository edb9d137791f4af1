"""Logs of motions: NPZ archives or CSV tables, checked against the columns of a model."""

from __future__ import annotations

import difflib
import math
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.csv_files import read_table
from hybrid.errors import FileError
from hybrid.files import ARCHIVE_ERRORS, HEADER_BYTES, array_header, read_arrays, read_file
from hybrid.numeric.frames import AbstractBackend

__all__ = ["Log", "StoredColumn", "checked_log", "frame_times", "read_log"]

Array = NDArray[np.float64]

MAX_BYTES = 2 * 2**30
"""Of a table: 1e6 frames of a humanoid take 0.6 GB."""
IN_MEMORY = 2**28
"""Bytes of an unpacked archive above which it is read in blocks."""
MAX_FRAMES = 100_000_000
"""Of any log: an answer keeps some 20 bytes of every frame."""

_LOOKED_AT = 64  # frames that show whether a log has one a step
_APART = 0.3  # of the way of a step, by the mean velocity: integrators differ by how it changes; two steps are 1 apart
_BLOCK = 2**18  # bytes of the frames, or of the one frame, that are read together

_NAMES = "joint_names"
_INDEX = re.compile(r"^(\w+?)\[?_?(\d+)\]?$")


@attrs.frozen(eq=False)
class StoredColumn:
    """An array of an archive that stays there.

    Attributes
    ----------
    path : str
        Of the archive.
    member : str
        Its name in the archive.
    dtype : numpy.dtype
    shape : tuple of int
        Frames first.
    offset : int
        Bytes before the numbers.
    """

    path: str
    member: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    def __len__(self) -> int:
        return self.shape[0]

    def blocks(self, frames: int) -> Iterator[NDArray[Any]]:
        """The array (frames or fewer, ...) in pieces, in their order.

        Parameters
        ----------
        frames : int

        Returns
        -------
        iterator of array

        Raises
        ------
        FileError
            The archive is damaged.
        """
        size = math.prod(self.shape[1:])
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as stream:
                stream.read(self.offset)
                for first in range(0, len(self), frames):
                    count = min(frames, len(self) - first)
                    data = stream.read(count * size * self.dtype.itemsize)
                    yield np.frombuffer(data, self.dtype, count * size).reshape(count, *self.shape[1:])
        except ARCHIVE_ERRORS as error:
            raise FileError(f"not an NPZ file: {error}", self.path) from None


def _unpacked_size(path: str | Path) -> int:
    """Bytes of all members of an archive together; 0 for what is no archive."""
    if not Path(path).is_file():
        return 0
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    except ARCHIVE_ERRORS:
        return 0


def _stored_columns(path: str | Path) -> dict[str, StoredColumn]:
    """The arrays of an archive, of which only the headers are read; FileError where frames do not follow each other."""
    found = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                with archive.open(member) as stream:
                    dtype, is_fortran, shape, offset = array_header(stream.read(HEADER_BYTES), member.filename)
                if offset + math.prod(shape) * dtype.itemsize != member.file_size:
                    raise ValueError(f"{member.filename} has not the size that its shape and type take")
                if is_fortran and len(shape) > 1:
                    raise ValueError(f"{member.filename} is stored by columns; store it by frames (order C)")
                if (name := member.filename.removesuffix(".npy")) in found:
                    raise ValueError(f"it holds two arrays of one name, {name}")
                found[name] = StoredColumn(str(path), member.filename, dtype, tuple(shape), offset)
    except ARCHIVE_ERRORS as error:
        raise FileError(f"not an NPZ file: {error}", str(path)) from None
    return found


@attrs.frozen(eq=False)
class Log:
    """Frames of a motion.

    Attributes
    ----------
    columns : mapping of str to array, (T, width), or StoredColumn
        Those of a large archive stay there.
    time : array, (T,), or None
        Seconds; None if the log does not say.
    notes : tuple of str
        What was filled in.
    source : str
        What messages call it.
    """

    columns: Mapping[str, Array | StoredColumn]
    time: Array | None
    notes: tuple[str, ...] = ()
    source: str = "log"

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def rows(self) -> Iterator[dict[str, Array]]:
        """The columns at every frame; FileError where an entry of a column that is read now is not finite."""
        width = sum(math.prod(values.shape[1:]) for values in self.columns.values())
        frames = max(1, _BLOCK // (8 * max(1, width)))
        blocks = [self._blocks(name, values, frames) for name, values in self.columns.items()]
        for together in zip(*blocks, strict=True):
            for row in zip(*together, strict=True):
                yield dict(zip(self.columns, row, strict=True))

    def _blocks(self, name: str, values: Array | StoredColumn, frames: int) -> Iterator[Array]:
        if isinstance(values, StoredColumn):
            for k, block in enumerate(values.blocks(frames)):
                yield _finite(name, _flat(block), self.source, first=k * frames)
        else:
            yield from (values[k : k + frames] for k in range(0, len(values), frames))

    def chosen(self, frames: Sequence[int]) -> dict[int, dict[str, Array]]:
        """The columns at some frames, read in one pass where they are stored."""
        here = {name: values for name, values in self.columns.items() if not isinstance(values, StoredColumn)}
        if len(here) == len(self.columns):
            return {k: {name: values[k] for name, values in here.items()} for k in frames}
        wanted, found = set(frames), dict[int, dict[str, Array]]()
        for k, row in enumerate(self.rows()):
            if len(found) == len(wanted):
                break
            if k in wanted:
                found[k] = row
        return found

    def row(self, k: int) -> dict[str, Array]:
        """The columns at one frame."""
        return self.chosen((k,))[k]


def read_log(path: str | Path, backend: AbstractBackend, *, in_memory: int = IN_MEMORY) -> Log:
    """Read a log of a model.

    Parameters
    ----------
    path : str or Path
        An ``.npz`` archive with an array (T, width) for each column, or a ``.csv`` table whose first row names entries
        as ``qpos[0]``.
    backend : AbstractBackend
        The model.
    in_memory : int, optional
        Bytes of an archive, unpacked, above which it stays on disk and is read in blocks.

    Returns
    -------
    Log

    Raises
    ------
    FileError
        A table does not end in ``.csv``; a column is unknown, missing, of another width or length, or has an entry that
        is not finite; the log is empty or of another model.
    """
    source = str(path)
    if _unpacked_size(path) > in_memory:
        return checked_log(_stored_columns(path), backend, source)
    data = read_file(path, limit=MAX_BYTES, advice="lint it in parts")
    if not (source.lower().endswith((".csv", ".npz")) or data.startswith(b"PK")):  # any archive starts so
        raise FileError("the ending tells a table, .csv, from an archive, .npz; it has neither", source)
    arrays = (
        _table(data, source) if source.lower().endswith(".csv") else read_arrays(data, limit=MAX_BYTES, source=source)
    )
    return checked_log(arrays, backend, source)


def frame_times(log: Log, backend: AbstractBackend, frames: int) -> Array | None:
    """When the first frames of a log were.

    Parameters
    ----------
    log : Log
    backend : AbstractBackend
    frames : int

    Returns
    -------
    array, (frames,), or None
        Seconds: the log's own; or multiples of the engine's step, where its first frames are one step apart.
    """
    if log.time is not None:
        return log.time[:frames]
    step, last = backend.timestep, min(len(log), _LOOKED_AT)
    if step is None:
        return None
    rows, posture = log.chosen(range(last)), backend.required[0]
    off = way = 0.0
    for k in range(last - 1):
        v = 0.5 * (rows[k][backend.velocity] + rows[k + 1][backend.velocity])
        expected = backend.moved(rows[k], step * v)[posture]
        off += float(np.linalg.norm(rows[k + 1][posture] - expected))
        way += float(np.linalg.norm(expected - rows[k][posture]))
    return np.arange(frames, dtype=np.float64) * step if off < _APART * way else None


def checked_log(arrays: Mapping[str, NDArray[Any] | StoredColumn], backend: AbstractBackend, source: str) -> Log:
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
    sizes, columns, notes = backend.columns, dict[str, Array | StoredColumn](), []
    names = backend.joint_names
    stored = [str(name) for name in np.atleast_1d(_whole(arrays[_NAMES]))] if _NAMES in arrays else names
    if list(stored) != list(names):
        raise FileError(f"is a log of another model: its joints are {', '.join(stored)}", source)
    for name, values in arrays.items():
        if name in (_NAMES, "time"):
            continue
        if name not in sizes:
            near = difflib.get_close_matches(name, [*sizes, "time"], n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"a log of this model has {', '.join(sizes)} and time"
            raise FileError(f"unknown column {name!r}; {hint}", source)
        columns[name] = _column(name, values, sizes[name], source)
    for name in backend.required:
        if name not in columns:
            raise FileError(f"the column {name!r} is missing", source)
    lengths = {name: len(values) for name, values in columns.items()}
    length = lengths[backend.required[0]]
    if not length:
        raise FileError("has no frames", source)
    if length > MAX_FRAMES:
        raise FileError(f"has {length} frames, more than {MAX_FRAMES}; lint it in parts", source)
    time = None
    if "time" in arrays:
        time = np.asarray(_column("time", _whole(arrays["time"]), 1, source))[:, 0]
        lengths["time"] = len(time)
    for name, own in lengths.items():
        if own != length:
            raise FileError(f"{name} has {own} frames, {backend.required[0]} has {length}", source)
    for name in backend.actuation:
        if name not in columns and (width := _width(sizes[name])):
            columns[name] = np.broadcast_to(np.zeros(width), (length, width))
            notes.append(f"the log has no {name}: zeros are taken")
    notes += _unordered(time)
    return Log(columns, time, tuple(notes), source)


def _unordered(time: Array | None) -> Iterator[str]:
    """A note where times do not increase, as in a log of several runs or one that was put together wrongly."""
    places = [] if time is None else np.flatnonzero(np.diff(time) <= 0.0).tolist()
    if time is not None and places:
        k = places[0] + 1
        frames = "one frame" if len(places) == 1 else f"{len(places)} frames"
        yield (
            f"time does not increase at {frames}, first from {time[k - 1]:.6g} s to {time[k]:.6g} s at frame {k}: "
            "every frame is judged by itself"
        )


def _whole(values: NDArray[Any] | StoredColumn) -> NDArray[Any]:
    if not isinstance(values, StoredColumn):
        return np.asarray(values)
    return next(values.blocks(len(values))) if values.shape and len(values) else np.zeros(values.shape)


Size = int | tuple[int, ...]


def _width(size: Size) -> int:
    return math.prod(size) if isinstance(size, tuple) else size


def _column(name: str, values: NDArray[Any] | StoredColumn, size: Size, source: str) -> Array | StoredColumn:
    """Numbers of a width, or of the engine's own shape: other axes of the same length would tell of other parts."""
    if values.dtype.kind not in "biuf":
        raise FileError(f"{name} must hold real numbers, got {values.dtype}", source)
    width, got = _width(size), (values.shape[1:] if values.shape else "no frames")
    allowed = [(width,), *([size] if isinstance(size, tuple) else []), *([()] if width == 1 else [])]
    if got not in allowed:
        shapes = " or ".join(map(str, allowed))
        raise FileError(f"a frame of {name} must have the shape {shapes}; got {got}", source)
    return values if isinstance(values, StoredColumn) else _finite(name, _flat(values), source)


def _flat(values: NDArray[Any]) -> Array:
    """Numbers (T, width)."""
    return np.asarray(values, dtype=np.float64).reshape(len(values), math.prod(values.shape[1:]))


def _finite(name: str, array: Array, source: str, *, first: int = 0) -> Array:
    if not np.isfinite(array).all():
        frame = first + int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise FileError(f"{name} is not finite in frame {frame}", source)
    return array


def _table(data: bytes, source: str) -> dict[str, NDArray[Any]]:
    """The columns of a CSV table, entries ``name[k]`` side by side."""
    titled = read_table(data, source=source)
    places: dict[str, dict[int, NDArray[Any]]] = {}
    for title, values in titled.items():
        found = _INDEX.match(title)
        name, index = (found[1], int(found[2])) if found else (title, 0)
        entries = places.setdefault(name, {})
        if index in entries:
            raise FileError(f"the column {title!r} is {name}[{index}], as another one is; keep one", source)
        entries[index] = values
    columns = {}
    for name, entries in places.items():
        if sorted(entries) != list(range(len(entries))):
            raise FileError(f"{name} lacks an entry: there are {', '.join(map(str, sorted(entries)))}", source)
        columns[name] = np.stack([entries[k] for k in range(len(entries))], axis=1)
    return columns
