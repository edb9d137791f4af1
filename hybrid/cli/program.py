"""The program and its commands.

Where an exception becomes a message and an exit status.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import traceback
import warnings
from collections import UserDict
from collections.abc import Sequence
from contextlib import contextmanager
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import shell_complete

from hybrid.cli.citing import CITE, citing, own_source, say_sources
from hybrid.progress import answers_come_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["ExitStatus", "main", "program", "run"]


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
        _tell("interrupted")
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
        warnings.showwarning = lambda message, *_, **__: click.echo(f"warning: {message}", err=True)
        yield


def _reported(error: Exception) -> int:
    """Say what went wrong and whose fault it is."""
    # Imported here because only a failure needs them, and `painleve --help` must stay quick.
    from hybrid.errors import ComputationError, HybridError
    from lcp import LCPError

    match error:
        case ComputationError():
            return _say(str(error), ExitStatus.NOT_COMPUTED)
        case HybridError() | LCPError():
            return _say(str(error), ExitStatus.BAD_INPUT)
        case MemoryError():
            return _say("not enough memory; ask for fewer cells or contacts", ExitStatus.NOT_COMPUTED)
        case OverflowError():
            return _say(
                "a number left the range of double precision; choose units in which the parameters are moderate",
                ExitStatus.NOT_COMPUTED,
            )
        case OSError():
            named = f"{error.filename}: " if error.filename else ""
            of_the_machine = error.errno in _OF_THE_MACHINE
            status = ExitStatus.NOT_COMPUTED if of_the_machine else ExitStatus.BAD_INPUT
            return _say(f"{named}{error.strerror or error}", status)
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
        _tell(line if line.startswith("see ") else f"error: {line}")
    return status


def _tell(line: str) -> None:
    """A line on standard error; where nobody can read it the exit status still tells."""
    try:
        click.echo(line, err=True)
    except OSError:
        # what is still buffered must not raise again when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


COMPLETION = "_PAINLEVE_COMPLETE"
"""With ``bash_source``, ``zsh_source`` or ``fish_source`` the program prints what that shell runs to complete words."""

_EPILOG = """\
MECH is a name of the catalogue (painleve list) or a file.toml. Values are expressions: --pin phi=pi/3.
Exit status: 0 answered (a paradox is an answer), 2 bad input, 3 could not be computed, 130 interrupted.
"""


_PLACES = {
    "list": "catalogue.list_",
    "show": "catalogue.show",
    "check": "catalogue.check",
    "verdict": "verdict.verdict",
    "graph": "graph.graph",
    "critical-friction": "paradox.critical_friction",
    "map": "regions.map_",
    "certify": "certify.certify",
    "simulate": "motion.simulate",
    "ensemble": "ensemble.ensemble",
    "impact": "comparison.impact",
    "compare": "comparison.compare",
    "compare-map": "comparison_map.compare_map",
    "restitution": "comparison_map.restitution",
    "sensitivity": "sensitivity.sensitivity",
    "report": "report.report",
    "explore": "explore.explore",
    "lint": "lint.lint",
    "import": "catalogue.import_",
    "new": "catalogue.new",
    "schema": "catalogue.schema",
    "lcp": "complementarity.lcp_",
    "doctor": "doctor.doctor",
}


class _Commands(UserDict[str, Any]):
    """The commands by name, each loaded when it is first asked for."""

    def __getitem__(self, name: str) -> click.Command:
        if isinstance(self.data[name], str):
            module, _, function = self.data[name].partition(".")
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
                    mechanism = values.get("file" if name == "check" else "mechanism")
                    return name, citing(str(name), mechanism if isinstance(mechanism, str) else None), []
        return name, command, rest


def _cite(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        say_sources([own_source()])
        ctx.exit()


@click.group(
    cls=_Program,
    commands=_Commands(_PLACES),
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

    Examples
    --------
    >>> main(["list", "--help"])  # doctest: +ELLIPSIS
    Usage: painleve list [OPTIONS]
    ...
    0
    """
    if sys.stdout is None:  # closed by the caller: what nobody reads goes nowhere
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - it lives as long as the process
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a Greek letter gets a question mark, not a failure.
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError, OSError):
                stream.reconfigure(errors="replace")
    asked = os.environ.get(COMPLETION)
    if asked and arguments is None:
        return shell_complete(program, {}, "painleve", COMPLETION, asked)
    return run(program, arguments)
