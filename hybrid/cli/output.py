"""How answers are printed: as one JSON object, or as tables for people.

Pages that commands write, and the command lines that they show for making them again.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hybrid.cli.arguments import OutputPath
from hybrid.files import write_whole
from hybrid.reporting.records import Json, plain

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from hybrid.dynamics import Dynamics

__all__ = [
    "Json",
    "command_as_written",
    "console",
    "drawn",
    "json_text",
    "number",
    "page_option",
    "page_path",
    "print_answer",
    "print_json",
    "say",
    "table",
    "write_page",
]


# Wide enough for the widest table, where no terminal says how wide it is.
PIPE_WIDTH = 140


def print_json(answer: Mapping[str, Json]) -> None:
    """An answer printed as one JSON object on standard output.

    Parameters
    ----------
    answer : mapping
        Of text, numbers, None, sequences, mappings and arrays; a number that is not finite becomes null.

    Returns
    -------
    None
        It is printed.

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
    click.echo(json_text(answer))


def print_answer(answer: Mapping[str, Json], *described: Iterable[RenderableType], as_json: bool) -> None:
    """An answer printed as one JSON object, or as what describes it to people.

    Parameters
    ----------
    answer : mapping
        The record.
    *described : iterable of str or rich renderable
        Read only where people are answered, so that tables are laid out for nobody else.
    as_json : bool

    Returns
    -------
    None
        It is printed.

    Examples
    --------
    >>> print_answer({"minimum": 2}, ["The minimum is 2."], as_json=False)
    The minimum is 2.
    """
    if as_json:
        print_json(answer)
    else:
        say(*(line for lines in described for line in lines))


def json_text(answer: Mapping[str, Json]) -> str:
    """An answer as the text of one JSON object.

    Parameters
    ----------
    answer : mapping
        As of `print_json`.

    Returns
    -------
    str
        Indented by two; what is not ASCII as it is.
    """
    return json.dumps(plain(answer), indent=2, ensure_ascii=False, allow_nan=False)


def console() -> Console:
    """Standard output as a rich console.

    Returns
    -------
    Console
        As wide as the terminal; 140 columns where there is none.
    """
    import sys

    from rich.console import Console

    class Output(Console):
        """Leaves a reader that has gone to the program, where rich would end it with another status."""

        def on_broken_pipe(self) -> None:
            """Go on as other output does."""
            raise BrokenPipeError

    return Output(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False, soft_wrap=False)


def say(*lines: RenderableType) -> None:
    """Text and tables printed for people on standard output; rich markup in the text is not read.

    Parameters
    ----------
    *lines : str or rich renderable

    Returns
    -------
    None
        They are printed, each on a line of its own.
    """
    shown = console()
    for line in lines:
        shown.print(line, markup=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> RenderableType:
    """A table under its title; a column that holds only numbers is aligned to the right.

    Parameters
    ----------
    title : str
    columns : sequence of str
        Heads of the columns.
    rows : iterable of sequence of str
        As many cells as columns in each.

    Returns
    -------
    rich renderable
    """
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    built = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    given = [list(row) for row in rows]
    for index, column in enumerate(columns):
        numeric = bool(given) and all(_is_numeric(row[index]) for row in given)
        built.add_column(Text(column), justify="right" if numeric else "left", overflow="fold")
    for row in given:
        built.add_row(*(Text(cell) for cell in row))
    return Group(Text(title, style="bold"), built)


def number(value: float | None) -> str:
    """A number to seven digits, for people.

    Parameters
    ----------
    value : float or None

    Returns
    -------
    str
        A hyphen for None and NaN.

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


ENDINGS = (".html", ".md", ".json")

Command = TypeVar("Command", bound=Callable[..., Any])


def page_option(help_text: str) -> Callable[[Command], Command]:
    """The option ``-o FILE`` for a page, Markdown or JSON.

    Parameters
    ----------
    help_text : str
        What the help says of it.

    Returns
    -------
    callable
        Decorates a command, which takes the path as ``output``.
    """
    kind = OutputPath(dir_okay=False, path_type=Path, endings=ENDINGS)
    return click.option("-o", "--output", type=kind, metavar="FILE", help=help_text)


def page_path(name: str) -> Path:
    """A page that the user has not named, refused before anything is computed if it cannot be written.

    Parameters
    ----------
    name : str
        With one of the ``ENDINGS``.

    Returns
    -------
    Path

    Raises
    ------
    click.BadParameter
        If it ends otherwise, or its folder cannot be written.
    """
    return Path(OutputPath(dir_okay=False, path_type=Path, endings=ENDINGS).convert(name, None, None))


def write_page(path: Path, *, html: Callable[[], str], markdown: Callable[[], str], record: Mapping[str, Json]) -> None:
    """The page, Markdown or JSON of an answer, written to a file as its ending asks for.

    Parameters
    ----------
    path : Path
    html, markdown : callable
        Give the text, without arguments; only the one that is asked for is called.
    record : mapping
        The answer, for JSON.

    Returns
    -------
    None
        All of it is written.
    """
    match path.suffix.lower():
        case ".html":
            text = html()
        case ".md":
            text = markdown()
        case _:
            text = json_text(record) + "\n"
    write_whole(path, text)


def drawn(plot: Path | None, picture: Callable[..., Any], dynamics: Dynamics) -> list[str]:
    """The picture of an answer, written where one was asked for.

    Parameters
    ----------
    plot : Path or None
    picture : callable
        Gives the figure; called with ``units`` of all that may be swept, and the mechanism's ``title``.
    dynamics : Dynamics

    Returns
    -------
    list of str
        What to say of it.
    """
    if plot is None:
        return []
    from hybrid.analysis.maps.axes import quantities_with_units
    from hybrid.reporting import save_figure

    save_figure(picture(units=quantities_with_units(dynamics), title=dynamics.mechanism.title), plot)
    return [f"Drawn in {plot}."]


def command_as_written(
    command: str,
    mechanism: str,
    *,
    parameters: Mapping[str, str],
    pins: Mapping[str, str],
    options: Sequence[str],
    output: Path | None,
) -> str:
    """The command line that makes a page again, with the values as the user wrote them.

    Parameters
    ----------
    command : str
        As ``report``.
    mechanism : str
        A name of a catalogue or a path.
    parameters, pins : mapping of str to str
        As given to ``--param`` and ``--pin``.
    options : sequence of str
        Further words of the command line.
    output : Path or None
        As given to ``-o``.

    Returns
    -------
    str
        Quoted for a shell.

    Examples
    --------
    >>> command_as_written("report", "rod", parameters={"mu": "3/2"}, pins={"phi": "pi/3"}, options=[], output=None)
    'painleve report rod --param mu=3/2 --pin phi=pi/3'
    """
    words = ["painleve", command, mechanism]
    words += [word for name, value in parameters.items() for word in ("--param", f"{name}={value}")]
    words += [word for name, value in pins.items() for word in ("--pin", f"{name}={value}")]
    return shlex.join([*words, *options, *([] if output is None else ["-o", str(output)])])
