"""Tables of numbers in CSV files."""

from __future__ import annotations

import csv
import io
from array import array
from typing import TYPE_CHECKING, Any

from hybrid.errors import FileError
from hybrid.files import decoded

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_table"]


def read_table(data: bytes, *, source: str, rows_are: str = "frames") -> dict[str, NDArray[Any]]:
    """The columns of a CSV table whose first row names them.

    Parameters
    ----------
    data : bytes
        UTF-8, with or without a byte order mark.
    source : str
        The name of the file, for messages.
    rows_are : str
        What the rows are, for messages.

    Returns
    -------
    dict of str to array, (rows,)

    Raises
    ------
    FileError
        It is no table of numbers, has no names of columns, no rows, lines of other lengths, or a column twice.

    Examples
    --------
    >>> {name: values.tolist() for name, values in read_table(b"a, b\\n1,2\\n3,4", source="t.csv").items()}
    {'a': [1.0, 3.0], 'b': [2.0, 4.0]}
    """
    import numpy as np

    lines = csv.reader(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline=""))
    titles, numbers = list[str](), array("d")  # row by row: the texts of ten million take several GB
    try:
        for row in filter(None, lines):
            if not titles:
                titles = [cell.strip() for cell in row]
                twice = next((title for title in titles if titles.count(title) > 1), None)
                if all(map(_is_number, titles)):
                    raise FileError("begins with numbers; its first line must hold the names of the columns", source)
                if twice is not None:
                    raise FileError(f"has the column {twice!r} twice", source)
                continue
            if len(row) != len(titles):
                wrong = f"{len(row)} entries, the first line names {len(titles)}"
                raise FileError(f"line {lines.line_num}: {wrong}", source)
            try:
                numbers.extend(map(_number, row))
            except ValueError:
                title, cell = next(item for item in zip(titles, row, strict=True) if not _is_number(item[1]))
                hint = (
                    "; commas separate entries" if ";" in cell else "; expressions are not read" if cell.strip() else ""
                )
                raise FileError(f"line {lines.line_num}: {title} is {cell[:40]!r}, no number{hint}", source) from None
    except UnicodeDecodeError:
        decoded(data, source=source)  # says where in the whole file
        raise
    except csv.Error as error:
        raise FileError(f"is no CSV table: {error}", source) from None
    if not numbers:
        raise FileError(f"has no {rows_are}", source)
    return dict(zip(titles, np.frombuffer(numbers).reshape(-1, len(titles)).T, strict=True))


def _number(text: str) -> float:
    """A number as tables have it: Python would also take ``0_5`` for 5, and digits of any script."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def _is_number(text: str) -> bool:
    try:
        _number(text)
    except ValueError:
        return False
    return True
