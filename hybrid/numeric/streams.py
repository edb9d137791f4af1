"""Columns of an NPZ archive that are too large for memory, read in blocks of frames."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import FileError
from hybrid.files import ARCHIVE_ERRORS, HEADER_BYTES, array_header

__all__ = ["StoredColumn", "stored_columns", "unpacked_size"]


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


def unpacked_size(path: str | Path) -> int:
    """Bytes of all members of an archive together.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    int
        0 for what is no archive.
    """
    if not Path(path).is_file():
        return 0
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    except ARCHIVE_ERRORS:
        return 0


def stored_columns(path: str | Path) -> dict[str, StoredColumn]:
    """The arrays of an archive, of which only the headers are read.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    dict of str to StoredColumn

    Raises
    ------
    FileError
        It is no archive of arrays, or their numbers do not follow each other frame by frame.
    """
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
                name = member.filename.removesuffix(".npy")
                found[name] = StoredColumn(str(path), member.filename, dtype, tuple(shape), offset)
    except ARCHIVE_ERRORS as error:
        raise FileError(f"not an NPZ file: {error}", str(path)) from None
    return found
