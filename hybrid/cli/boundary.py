"""Where an exception becomes a message and an exit status."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path

import click

from hybrid.interrupts import answers_come_first

__all__ = ["ExitStatus", "run"]

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
