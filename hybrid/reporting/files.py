"""Files that are written as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["whole_file", "write_whole"]


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
