"""The program and its commands.

Where an exception becomes a message and an exit status.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import warnings
from collections import UserDict
from collections.abc import Sequence
from contextlib import contextmanager
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hybrid.progress import answers_come_first

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ExitStatus", "main", "notify", "printable", "program", "run"]


TRACEBACK_VARIABLE = "PAINLEVE_TRACEBACK"

# Failures of the machine, not of what was asked.
_OF_THE_MACHINE = (errno.ENOSPC, errno.EIO, errno.EMFILE, errno.ENOMEM, errno.EDQUOT)


class ExitStatus(IntEnum):
    """What the shell is told."""

    ANSWERED = 0
    BAD_INPUT = 2
    NOT_COMPUTED = 3
    INTERRUPTED = 130  # 128 + SIGINT, as shells count
    BROKEN_PIPE = 141  # 128 + SIGPIPE


def run(program: click.Command, arguments: Sequence[str] | None = None) -> int:
    """A click program, run so that nothing but an exit status leaves it.

    Parameters
    ----------
    program : click.Command
    arguments : sequence of str, optional
        Without the name of the program; those of the process when None.

    Returns
    -------
    int
        An :class:`ExitStatus`: 0 answered, 2 bad input, 3 could not be computed, 130 interrupted.

    Examples
    --------
    >>> import click
    >>> @click.command()
    ... def hello():
    ...     click.echo("hello")
    >>> int(run(hello, []))
    hello
    0
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with _warnings_in_one_line(), answers_come_first():
            with program.make_context("painleve", given) as context:
                program.invoke(context)
            sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        hint = ""
        if isinstance(error, click.UsageError) and error.ctx is not None:
            hint = f"\nsee {error.ctx.command_path} --help"
        return _say(error.format_message() + hint, ExitStatus.BAD_INPUT)
    except (KeyboardInterrupt, click.Abort):
        notify("interrupted")
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; what is still buffered must not raise again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the one place where every exception ends
        return _reported(error)
    return ExitStatus.ANSWERED


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """A warning of a library (an overflow, say) as one line on standard error, without the place in its source."""
    with warnings.catch_warnings():
        # What overflows or divides by zero is judged by its result, which is infinite or undefined.
        warnings.filterwarnings("ignore", message=".* encountered in ", category=RuntimeWarning)
        warnings.showwarning = lambda message, *_, **__: notify(f"warning: {message}")
        yield


def _reported(error: Exception) -> int:
    """Say what went wrong and whose fault it is."""
    # Imported here because only a failure needs them, and `painleve --help` must stay quick.
    from hybrid.errors import BEYOND_FLOATS, ComputationError, HybridError
    from lcp import LCPError

    match error:
        case ComputationError():
            return _say(str(error), ExitStatus.NOT_COMPUTED)
        case HybridError() | LCPError():
            return _say(str(error), ExitStatus.BAD_INPUT)
        case MemoryError():
            return _say("not enough memory; ask for fewer cells or contacts", ExitStatus.NOT_COMPUTED)
        case OverflowError():
            return _say(BEYOND_FLOATS, ExitStatus.NOT_COMPUTED)
        case OSError():
            named = f"{error.filename}: " if error.filename else ""
            of_the_machine = error.errno in _OF_THE_MACHINE
            status = ExitStatus.NOT_COMPUTED if of_the_machine else ExitStatus.BAD_INPUT
            return _say(f"{named}{error.strerror or error}", status)
    import traceback

    if os.environ.get(TRACEBACK_VARIABLE, "0") not in ("", "0"):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return _say(
        f"this is a defect of painleve, please report it: {type(error).__name__}: {error}{where}; "
        f"{TRACEBACK_VARIABLE}=1 shows the traceback".replace("\n", " "),
        ExitStatus.NOT_COMPUTED,
    )


def _say(message: str, status: ExitStatus) -> int:
    for line in message.splitlines():
        notify(line if line.startswith("see ") else f"error: {line}")
    return status


def printable(text: str) -> str:
    """Text in which names from files and from the command line cannot steer a terminal.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        With what is not printable, but for ends of lines, as in a literal of Python.

    Examples
    --------
    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def notify(line: str) -> None:
    """Print a line on standard error; where nobody can read it the exit status still tells.

    Parameters
    ----------
    line : str

    Returns
    -------
    None
    """
    try:
        click.echo(printable(line), err=True)
    except OSError:
        # what is still buffered must not raise again when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


COMPLETION = "_PAINLEVE_COMPLETE"
"""With ``bash_source``, ``zsh_source`` or ``fish_source`` the program prints what that shell runs to complete words."""

_EPILOG = """\
MECH is a name of the catalogue (painleve list) or a file.toml. Values are expressions: --pin phi=pi/3.
Exit status: 0 answered (a paradox is an answer), 1 below lint --fail-below, 2 bad input, 3 could not be computed,
130 interrupted.
"""


_COMMANDS = {
    "list": ("catalogue.list_", "Names of the mechanisms of all installed catalogues."),
    "show": ("catalogue.show", "Equations, contact terms, parameters and modes of MECH."),
    "check": ("catalogue.check", "The errors of a mechanism's declaration, with line and column."),
    "verdict": (
        "verdict.verdict",
        "Which contact modes of MECH are consistent at a state: one, several, or none, with evidence.",
    ),
    "graph": ("graph.graph", "The hybrid automaton of MECH: modes, guards, resets."),
    "critical-friction": ("paradox.critical_friction", "The least friction that brings a paradox, and where."),
    "map": ("regions.map_", "Which modes of MECH are consistent over two quantities."),
    "certify": ("certify.certify", "Prove which modes of MECH are consistent over a box."),
    "simulate": (
        "motion.simulate",
        "Follow the motion of MECH from a state, with every change of mode and impact located.",
    ),
    "ensemble": ("ensemble.ensemble", "Follow motions of MECH from many starts, and count how they end."),
    "impact": ("comparison.impact", "Velocities of MECH after an impact of its closed contacts, by an impact law."),
    "compare": (
        "comparison.compare",
        "What the rigid problem, the impact laws and compliant contacts say about a state of MECH.",
    ),
    "compare-map": (
        "comparison.compare_map",
        "Where the rigid problem, the compliant limit and penalty runs of MECH agree over two quantities.",
    ),
    "restitution": (
        "comparison.restitution",
        "Restitution and absorbed energy of a compliant impact of MECH over posture and incidence.",
    ),
    "sensitivity": (
        "sensitivity.sensitivity",
        "Differentiate a functional of a motion of MECH, exactly through impacts, release and stick-slip.",
    ),
    "report": ("verdict.report", "A self-contained page on a state of MECH: verdict, evidence, map, automaton."),
    "explore": (
        "explore.explore",
        "Look at MECH in the browser: its map, verdicts, forces and motions while sliders move.",
    ),
    "lint": (
        "lint.lint",
        "Where the rigid contacts of MODEL, an MJCF or URDF file, have no solution or several along a log.",
    ),
    "import": ("catalogue.import_", "A planar open chain of MODEL, an MJCF or URDF file, as a mechanism file."),
    "new": ("catalogue.new", "A commented mechanism file, valid as it stands, to be filled in."),
    "schema": (
        "catalogue.schema",
        "The JSON schema of mechanism files, with which editors complete and check them, or of what COMMAND answers.",
    ),
    "lcp": (
        "complementarity.lcp_",
        "Every solution of the problem M, q in a JSON or NPZ FILE, or of a planar FCLIB contact problem (HDF5).",
    ),
    "doctor": ("doctor.doctor", "Check the installation and say what to do about it."),
}
"""Where each command is, and its line in the list of them: the first of its docstring, which is not loaded for that."""


class _Commands(UserDict[str, Any]):
    """The commands by name, each loaded when it is first asked for."""

    def __getitem__(self, name: str) -> click.Command:
        if isinstance(self.data[name], tuple):
            from hybrid.cli.citing import CITE

            module, _, function = self.data[name][0].partition(".")
            self.data[name] = getattr(import_module(f"hybrid.cli.{module}"), function)
            self.data[name].params.append(CITE)
        command: click.Command = self.data[name]
        return command


class _Program(click.Group):
    """The group of commands; an option given twice is refused where click would take the last."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and look at its options; under ``--cite`` its sources take its place."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:  # as it is while a shell asks how to go on
            with click.Context(command, info_name=name, parent=ctx) as inner:
                values, _, given = command.make_parser(inner).parse_args(list(rest))
                once = [
                    item for item in given if isinstance(item, click.Option) and not (item.multiple or item.is_flag)
                ]
                for item in once:
                    if once.count(item) > 1:
                        raise click.UsageError(f"{item.opts[-1]} is given twice; it takes one value", inner)
                if values.get("cite") and values.get("as_json"):
                    raise click.UsageError("--cite prints BibTeX and sentences, not JSON: leave out --json", inner)
                if values.get("cite"):
                    from hybrid.cli.citing import citing

                    mechanism = values.get("file" if name == "check" else "mechanism")
                    return name, citing(str(name), mechanism if isinstance(mechanism, str) else None), []
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by their lines; none is loaded for it."""
        lines = [click.Command(name, help=line) for name, (_, line) in _COMMANDS.items()]
        click.Group(commands=lines).format_commands(ctx, formatter)


def _cite(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from hybrid.cli.citing import own_source, say_sources

        say_sources([own_source()])
        ctx.exit()


@click.group(
    cls=_Program,
    commands=_Commands(_COMMANDS),
    epilog=_EPILOG,
    invoke_without_command=True,  # click refuses a bare call with the whole help as its message
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(None, "-V", "--version", package_name="painleve", message="painleve %(version)s")
@click.option(
    "--cite", is_flag=True, is_eager=True, expose_value=False, callback=_cite, help="Print how to cite the program."
)
@click.pass_context
def program(ctx: click.Context) -> None:
    """Mechanisms with unilateral contact and dry friction, and where their modes contradict each other."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``painleve``, run to its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the name of the program; those of the process when None.

    Returns
    -------
    int
        0 answered, 2 bad input, 3 could not be computed, 130 interrupted.

    Raises
    ------
    ArgumentError
        The arguments are no sequence of texts.

    Examples
    --------
    >>> main(["list", "--help"])  # doctest: +ELLIPSIS
    Usage: painleve list [OPTIONS]
    ...
    0
    """
    if arguments is not None and not (
        isinstance(arguments, list | tuple) and all(isinstance(x, str) for x in arguments)
    ):
        from hybrid.errors import ArgumentError  # which a command that prints help need not wait for

        raise ArgumentError(f"main: arguments must be a list of texts, as ['list', '--json'], not {arguments!r:.60}")
    if sys.stdout is None:  # closed by the caller: what nobody reads goes nowhere
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - it lives as long as the process
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a Greek letter gets a question mark, not a failure.
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError, OSError):
                stream.reconfigure(errors="replace")
    asked = os.environ.get(COMPLETION)
    if asked and arguments is None:
        from click.shell_completion import shell_complete

        return shell_complete(program, {}, "painleve", COMPLETION, asked)
    return run(program, arguments)
