"""The program and its commands."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from hybrid.cli.boundary import run
from hybrid.cli.catalogue import check, list_, show
from hybrid.cli.comparison import compare, impact
from hybrid.cli.comparison_map import compare_map
from hybrid.cli.complementarity import lcp_
from hybrid.cli.doctor import doctor
from hybrid.cli.graph import graph
from hybrid.cli.motion import simulate
from hybrid.cli.paradox import critical_friction
from hybrid.cli.regions import map_
from hybrid.cli.report import report
from hybrid.cli.restitution import restitution
from hybrid.cli.sensitivity import sensitivity
from hybrid.cli.verdict import verdict

__all__ = ["main", "program"]

_EPILOG = """\
MECH is a name of the catalogue (painleve list) or a file.toml. Values are expressions: --pin phi=pi/3.
Exit status: 0 answered (a paradox is an answer), 2 bad input, 3 could not be computed.
"""


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(None, "-V", "--version", package_name="painleve", message="painleve %(version)s")
def program() -> None:
    """Mechanisms with unilateral contact and dry friction, and where their modes contradict each other."""


_COMMANDS = (
    list_,
    show,
    check,
    verdict,
    graph,
    critical_friction,
    map_,
    simulate,
    impact,
    compare,
    compare_map,
    restitution,
    sensitivity,
    report,
    lcp_,
    doctor,
)
for _command in _COMMANDS:
    program.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``painleve`` and return its exit status.

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
    return run(program, arguments)
