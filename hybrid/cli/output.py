"""How answers are printed: as one JSON object, or as tables for people."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

__all__ = ["console", "number", "print_json", "say", "table"]

# Wide enough for the widest table, where no terminal says how wide it is.
PIPE_WIDTH = 140

# `object` stands for whatever JSON can hold.
Json = object


def print_json(answer: Mapping[str, Json]) -> None:
    """Print an answer as one JSON object on standard output.

    Parameters
    ----------
    answer : mapping
        Of text, numbers, None, sequences, mappings and numpy arrays; a number that is not finite becomes null.

    Examples
    --------
    >>> print_json({"minimum": 4 / 3, "at": {"phi": float("nan")}})
    {
      "minimum": 1.3333333333333333,
      "at": {
        "phi": null
      }
    }
    """
    click.echo(json.dumps(_plain(answer), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Json) -> Json:
    if hasattr(value, "tolist"):  # numpy, without importing it
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return [_plain(item) for item in value]


def console() -> Console:
    """Standard output as a rich console."""
    import sys

    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False, soft_wrap=False)


def say(*lines: RenderableType) -> None:
    """Print text and tables for people on standard output; rich markup in the text is not read."""
    shown = console()
    for line in lines:
        shown.print(line, markup=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table whose first column is text and whose other columns are aligned to the right when they hold numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    built = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, title_style="bold")
    given = [list(row) for row in rows]
    for index, column in enumerate(columns):
        numeric = bool(given) and all(_is_numeric(row[index]) for row in given)
        built.add_column(Text(column), justify="right" if numeric else "left", overflow="fold")
    for row in given:
        built.add_row(*(Text(cell) for cell in row))
    return built


def number(value: float | None) -> str:
    """A number to seven digits, for people.

    Examples
    --------
    >>> number(4 / 3), number(-0.0), number(None)
    ('1.333333', '0', '-')
    """
    if value is None or math.isnan(value):
        return "-"
    return f"{value + 0.0:.7g}"


def _is_numeric(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell in ("", "-")
    return True
