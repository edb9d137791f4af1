"""Files from outside: ordinary ones of bounded size, their arrays and JSON, one error for all that is wrong."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid.errors import FileError

if TYPE_CHECKING:
    from numpy import dtype
    from numpy.typing import NDArray

__all__ = [
    "ARCHIVE_ERRORS",
    "HEADER_BYTES",
    "array_header",
    "check_keys",
    "decoded",
    "is_numeric",
    "read_arrays",
    "read_file",
    "read_json",
    "whole_file",
    "write_whole",
]


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A place beside a file to write to, which takes the file's name when all is written.

    An interrupt or a failure leaves the file as it was. What is no ordinary file, a device or a pipe, is written in
    its place.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    context manager
        That gives the place, a Path.

    Examples
    --------
    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "page.txt"
    >>> with whole_file(page) as draft:
    ...     _ = draft.write_text("all of it")
    >>> page.read_text()
    'all of it'
    """
    place = Path(os.path.realpath(path))  # of a link, what it leads to is written
    if place.exists() and not place.is_file():
        yield place
        return
    draft = place.with_name(f".painleve-{os.getpid()}.part")
    try:
        yield draft
        if place.exists():
            shutil.copymode(place, draft)
        draft.replace(place)
    except OSError as error:
        if error.filename == str(draft):  # the file that is known to whoever asked
            error.filename = str(path)
        raise
    finally:
        draft.unlink(missing_ok=True)


def write_whole(path: str | Path, text: str) -> None:
    """A text written to a file as UTF-8, all of it or nothing.

    Parameters
    ----------
    path : str or Path
    text : str

    Returns
    -------
    None
        The file holds the text and nothing else.
    """
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8")


_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_PIECE = 1 << 16  # bytes read or inflated at once: what lies about its size gains no more
ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, KeyError, OverflowError)
"""What :mod:`zipfile` and the arrays of a damaged archive raise."""

# The header of an array as NumPy and others write it; names of types with fields are lists and stay unread.
_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 10_000
HEADER_BYTES = 12 + _LONGEST_HEADER
"""Of an NPY file that hold its header whole."""

_TYPE = re.compile(r"""['"]descr['"]\s*:\s*['"]([<>|=]?[biufcSUmM?][0-9]{0,9}(?:\[[0-9A-Za-z]{1,9}\])?)['"]""")
_ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)""")
_SHAPE = re.compile(r"""['"]shape['"]\s*:\s*\(([0-9, ]*)\)""")


def read_file(path: str | Path, *, limit: int, advice: str = "") -> bytes:
    """The bytes of an ordinary file.

    Parameters
    ----------
    path : str or Path
    limit : int
        Bytes; no more are read.
    advice : str, optional
        What to do about a larger file.

    Returns
    -------
    bytes
        At most `limit` of them.

    Raises
    ------
    FileError
        There is no such file, it may not be read, it is a pipe or a device, or it is larger.

    Examples
    --------
    >>> read_file("nowhere.npz", limit=1000)
    Traceback (most recent call last):
    hybrid.errors.FileError: nowhere.npz: there is no such file
    """
    source = str(path)
    try:
        # a pipe that nobody writes to must not hold the opening up
        handle = os.open(Path(path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            status = os.fstat(handle)
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, "it is a directory")
            if not stat.S_ISREG(status.st_mode):  # it may never end
                raise OSError(errno.EINVAL, "it is not an ordinary file")
            with os.fdopen(handle, "rb", closefd=False) as file:
                # as much memory is taken as is asked for; some files of the system say that they are empty
                data = file.read(min(limit, max(status.st_size, _PIECE)) + 1)
        finally:
            os.close(handle)
    except FileNotFoundError:
        raise FileError("there is no such file", source) from None
    except PermissionError:
        raise FileError("may not be read: permission denied", source) from None
    except OSError as error:
        raise FileError(f"cannot be read: {(error.strerror or 'unknown reason').lower()}", source) from None
    except ValueError:  # a null character in the path
        raise FileError("is no name of a file", repr(source)) from None
    if len(data) > limit:
        raise FileError(f"is larger than {_size(limit)}" + (f"; {advice}" if advice else ""), source)
    return data


def decoded(data: bytes, *, source: str) -> str:
    """The text that bytes are in UTF-8, without a byte order mark.

    Parameters
    ----------
    data : bytes
    source : str
        The name of the file, for messages.

    Returns
    -------
    str

    Raises
    ------
    FileError
        They are no such text; it names the first byte that is none.

    Examples
    --------
    >>> decoded(b"a, b", source="t.csv")
    'a, b'
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        place = f"byte 0x{data[error.start]:02x} in line {line}"
        raise FileError(f"is not a UTF-8 text ({place}); save it as UTF-8", source) from None


def read_json(data: bytes, *, source: str) -> Any:
    """The value that a JSON text stands for.

    Parameters
    ----------
    data : bytes
        UTF-8, UTF-16 or UTF-32.
    source : str
        The name of the file, for messages.

    Returns
    -------
    object
        Dicts, lists, texts, numbers, truth values and None.

    Raises
    ------
    FileError
        It is no JSON, or nested too deep.

    Examples
    --------
    >>> read_json(b'{"q": [1, 2]}', source="problem.json")
    {'q': [1, 2]}
    """
    try:
        return json.loads(data, object_pairs_hook=_once)
    except RecursionError:
        raise FileError("not a JSON file: it is nested too deep", source) from None
    except ValueError as error:
        raise FileError(f"not a JSON file: {error}", source) from None


def check_keys(
    field: str, given: Mapping[str, Any], known: Collection[str], needed: Collection[str], source: str
) -> None:
    """Refuse fields that are unknown or missing.

    Parameters
    ----------
    field : str
        Where the keys stand; empty for the top of the file.
    given : mapping of str to object
    known, needed : collection of str
    source : str
        The name of the file.

    Returns
    -------
    None

    Raises
    ------
    FileError
    """
    where = f"{field}." if field else ""
    for key in given:
        if key not in known:
            from difflib import get_close_matches  # for an error message

            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(known))}"
            raise FileError(f"unknown field {where}{key}; {hint}", source)
    if missing := [name for name in sorted(needed) if name not in given]:
        raise FileError(f"{where}{missing[0]} is missing", source)


def is_numeric(value: object) -> bool:
    """Whether what a JSON file holds is a number, or lists of numbers: no text that reads as one, no truth value.

    Parameters
    ----------
    value : object
        As :func:`read_json` gives it.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_numeric([[1, 0.5]]), is_numeric(["1.5"]), is_numeric([True])
    (True, False, False)
    """
    if isinstance(value, list):
        return all(map(is_numeric, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; a name that is given twice is refused, where the last one would be taken."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is given twice")
    return found


def read_arrays(data: bytes, *, limit: int, source: str) -> dict[str, NDArray[Any]]:
    """The arrays of an NPZ archive, read-only; nothing is unpickled.

    Parameters
    ----------
    data : bytes
    limit : int
        Bytes of all members together when unpacked; no more are.
    source : str
        The name of the file, for messages.

    Returns
    -------
    dict of str to array
        Of numbers, truth values, times or text, by the names of the members without ``.npy``.

    Raises
    ------
    FileError
        It is no such archive, it is damaged, or it is larger.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return dict(_members(archive, limit))
    except ARCHIVE_ERRORS as error:
        raise FileError(f"not an NPZ file: {error}", source) from None


def _members(archive: zipfile.ZipFile, limit: int) -> list[tuple[str, NDArray[Any]]]:
    members = archive.infolist()
    if any(member.compress_type not in _METHODS for member in members):
        raise ValueError("packed in another way than NumPy does")
    if sum(member.file_size for member in members) > limit:
        raise ValueError(f"larger than {_size(limit)} when unpacked")
    names = [member.filename.removesuffix(".npy") for member in members]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it holds two arrays of one name, {twice}")
    return [(name, _array(member, _unpacked(archive, member))) for name, member in zip(names, members, strict=True)]


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    content = bytearray()
    with archive.open(member) as stream:
        while piece := stream.read(_PIECE):
            content += piece
    return bytes(content)


def _array(member: zipfile.ZipInfo, content: bytes) -> NDArray[Any]:
    """An array of numbers or text from the bytes of an NPY file, without a copy."""
    import numpy as np  # takes a tenth of a second, which a command that reads no arrays need not wait for

    dtype, is_fortran, lengths, end = array_header(content, member.filename)
    if math.prod(lengths) * dtype.itemsize != len(content) - end:
        raise ValueError(f"{member.filename} holds {len(content) - end} bytes, not what its shape and type take")
    numbers = np.frombuffer(content, dtype, offset=end)
    return numbers.reshape(lengths, order="F" if is_fortran else "C")


def array_header(content: bytes, name: str) -> tuple[dtype[Any], bool, list[int], int]:
    """What the header of an NPY file says.

    Parameters
    ----------
    content : bytes
        Of the file, its first :data:`HEADER_BYTES` or more.
    name : str
        Of the file, for messages.

    Returns
    -------
    numpy.dtype
    bool
        Whether the numbers are stored column by column.
    list of int
        The shape.
    int
        Bytes before the numbers.

    Raises
    ------
    ValueError
        It is no array of numbers or text.
    """
    import numpy as np

    wide = 2 if content[6:7] == b"\x01" else 4  # bytes that tell the length of the header
    start = 8 + wide
    end = start + min(int.from_bytes(content[8:start], "little"), _LONGEST_HEADER)
    header = content[start:end].decode("latin-1")
    kind, order, shape = (pattern.search(header) for pattern in (_TYPE, _ORDER, _SHAPE))
    if content[:6] != _MAGIC or kind is None or order is None or shape is None:
        raise ValueError(f"{name} holds no array of numbers or text")
    try:
        dtype = np.dtype(kind[1])
    except TypeError:
        raise ValueError(f"{name} holds an unknown type of numbers, {kind[1]}") from None
    lengths = [int(length) for length in shape[1].replace(" ", "").split(",") if length]
    return dtype, order[1] == "True", lengths, end


def _size(limit: int) -> str:
    return f"{limit // 1_000_000} MB" if limit >= 1_000_000 else f"{limit // 1024} kB"
