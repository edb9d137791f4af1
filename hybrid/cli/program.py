"""The program and its commands."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections import UserDict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import shell_complete

from hybrid.cli.boundary import run
from hybrid.cli.citing import CITE, citing, own_source, say_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "program"]

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
