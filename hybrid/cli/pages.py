"""Pages that commands write, and the command lines that they show for making them again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from hybrid.cli.arguments import OutputPath
from hybrid.cli.output import Json, json_text
from hybrid.reporting.files import write_whole

__all__ = ["command_as_written", "page_option", "page_path", "write_page"]

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
