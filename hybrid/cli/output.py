"""What goes round the answer of a command: its mechanism is found, derived and timed, the answer printed for people or
as one JSON object.

Pages that commands write, and the command lines that they show for making them again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import click

from hybrid.cli.arguments import (
    OutputPath,
    json_option,
    load_mechanism,
    mechanism_argument,
    output_option,
    read_parameters,
)
from hybrid.cli.program import ExitStatus, notify, printable
from hybrid.files import write_whole
from hybrid.progress import ProgressBar
from hybrid.reporting.records import Json, plain
from hybrid.reporting.wording import command_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hybrid.declaration import Mechanism
    from hybrid.dynamics import Dynamics, State

__all__ = [
    "Answered",
    "Asked",
    "Json",
    "drawn",
    "json_text",
    "mechanism_command",
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


def say(*lines: RenderableType) -> None:
    """Text and tables printed for people on standard output; rich markup in the text is not read.

    Parameters
    ----------
    *lines : str or rich renderable

    Returns
    -------
    None
        They are printed, each on a line of its own; as wide as the terminal, 140 columns where there is none.
    """
    import sys

    from rich.console import Console

    class Output(Console):
        """Leaves a reader that has gone to the program, where rich would end it with another status."""

        def on_broken_pipe(self) -> None:
            """Go on as other output does."""
            raise BrokenPipeError

    shown = Output(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False, soft_wrap=False)
    for line in lines:
        shown.print(printable(line) if isinstance(line, str) else line, markup=False)


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
    return output_option(*ENDINGS, shown=help_text)


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
    return Path(OutputPath(*ENDINGS).convert(name, None, None))


def write_page(
    path: Path | None, *, html: Callable[[], str], markdown: Callable[[], str], record: Mapping[str, Json]
) -> list[str]:
    """The page, Markdown or JSON of an answer, written to a file as its ending asks for, where one was asked for.

    Parameters
    ----------
    path : Path or None
    html, markdown : callable
        Give the text, without arguments; only the one that is asked for is called.
    record : mapping
        The answer, for JSON.

    Returns
    -------
    list of str
        What to say of it.
    """
    if path is None:
        return []
    match path.suffix.lower():
        case ".html":
            text = html()
        case ".md":
            text = markdown()
        case _:
            text = json_text(record) + "\n"
    write_whole(path, text)
    return ["", f"The page is in {path}."]


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


@attrs.frozen(eq=False)
class Asked:
    """What a command on a mechanism was given, and what it needs of it; everything is worked out when asked for.

    Attributes
    ----------
    mechanism : str
        A name of a catalogue or a path.
    pins, parameters, branch : mapping of str to str
        As given to ``--pin``, ``--param`` and ``--branch``.
    bar : ProgressBar
        Shown while the command computes.
    declared : Mechanism
    values : dict of str to float or str
        Of the parameters that are replaced; a text follows other parameters.
    resolved : mapping of str to float
        Of all parameters.
    dynamics : Dynamics
    state : State
        As pinned.
    """

    mechanism: str
    pins: Mapping[str, str]
    parameters: Mapping[str, str]
    branch: Mapping[str, str]
    declared: Mechanism
    values: dict[str, float | str]
    bar: ProgressBar

    @cached_property
    def resolved(self) -> Mapping[str, float]:
        """Values of all parameters."""
        return self.declared.parameter_values(self.values)

    @cached_property
    def dynamics(self) -> Dynamics:
        """The equations."""
        from hybrid.dynamics import derive

        return derive(self.declared)

    @cached_property
    def state(self) -> State:
        """The state that the pins give."""
        from hybrid.dynamics import solve_state

        return solve_state(self.dynamics, self.pins, parameters=self.values, branch=self.branch)

    def command_line(self, command: str, *options: tuple[str, Any]) -> str:
        """The command line that makes a page again, with the values as the user wrote them."""
        given = (("--param", self.parameters), ("--pin", self.pins))
        own = [(option, f"{name}={value}") for option, values in given for name, value in values.items()]
        return command_text(command, self.mechanism, [*own, *options])


@attrs.frozen(eq=False)
class Answered:
    """What a command has found.

    Attributes
    ----------
    record : mapping
        For JSON.
    described : iterable of str or rich renderable
        The same for people; read only where people are answered, so that tables are laid out for nobody else.
    written : iterable of str
        What to say to people of files.
    ending : tuple of ExitStatus and str, or None
        How the program ends, and why, where there is no whole answer.
    text : str or None
        What people get in place of the description, to the letter.
    """

    record: Mapping[str, Json]
    described: Iterable[RenderableType]
    written: Iterable[str] = ()
    ending: tuple[ExitStatus, str] | None = None
    text: str | None = None


def _label(doing: str, name: str, store: Path | None) -> str:
    if store is not None:
        from hybrid.cli.engines import was_finished

        if was_finished(store):
            return f"reading {store}"
    return doing.format(name)


def mechanism_command(
    doing: str, name: str | None = None, *, numbers: Callable[..., Answered] | None = None
) -> Callable[[Callable[..., Answered]], click.Command]:
    """A command on a mechanism, with what all of them do around their answers.

    Parameters
    ----------
    doing : str
        What the bar says while it computes, as ``"mapping {}"`` with the name of the mechanism.
    name : str, optional
        Of the command; by default that of the function.
    numbers : callable, optional
        What answers instead where the mechanism is a state in numbers, a file that ends in .json; it takes all options.

    Returns
    -------
    callable
        Decorates a function of an :class:`Asked` and the command's own options that returns an :class:`Answered`.
        The argument MECH and the option ``--json`` are added to its options.
    """

    def decorated(answer: Callable[..., Answered]) -> click.Command:
        @wraps(answer)
        def run(*, mechanism: str, as_json: bool, **options: Any) -> None:
            if numbers is not None and mechanism.endswith(".json"):
                with ProgressBar(doing.format(mechanism)):
                    found = numbers(mechanism, **options)
            else:
                declared = load_mechanism(mechanism)
                pins, parameters, branch = (options.pop(kind, {}) for kind in ("pins", "parameters", "branch"))
                values = read_parameters(declared, parameters)
                with ProgressBar(_label(doing, declared.name, options.get("store"))) as bar:
                    asked = Asked(mechanism, pins, parameters, branch, declared, values, bar)
                    found = answer(asked, **options)
            if found.text is None or as_json:
                print_answer(found.record, found.described, found.written, as_json=as_json)
            else:
                click.echo(found.text, nl=not found.text.endswith("\n"))
            if found.ending is not None:
                status, reason = found.ending
                notify(reason)
                raise click.exceptions.Exit(status)

        return json_option(click.command(name)(mechanism_argument(run)))

    return decorated
