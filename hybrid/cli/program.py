"""The program and its commands."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import shell_complete

from hybrid.cli.boundary import run
from hybrid.cli.catalogue import check, import_, list_, new, schema, show
from hybrid.cli.certify import certify
from hybrid.cli.citing import CITE, citing, own_source, say_sources
from hybrid.cli.comparison import compare, impact
from hybrid.cli.comparison_map import compare_map, restitution
from hybrid.cli.complementarity import lcp_
from hybrid.cli.doctor import doctor
from hybrid.cli.ensemble import ensemble
from hybrid.cli.explore import explore
from hybrid.cli.graph import graph
from hybrid.cli.lint import lint
from hybrid.cli.motion import simulate
from hybrid.cli.paradox import critical_friction
from hybrid.cli.regions import map_
from hybrid.cli.report import report
from hybrid.cli.sensitivity import sensitivity
from hybrid.cli.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "program"]

COMPLETION = "_PAINLEVE_COMPLETE"
"""With ``bash_source``, ``zsh_source`` or ``fish_source`` the program prints what that shell runs to complete words."""

_EPILOG = """\
MECH is a name of the catalogue (painleve list) or a file.toml. Values are expressions: --pin phi=pi/3.
Exit status: 0 answered (a paradox is an answer), 2 bad input, 3 could not be computed, 130 interrupted.
"""


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


_COMMANDS = (
    list_,
    show,
    check,
    verdict,
    graph,
    critical_friction,
    map_,
    certify,
    simulate,
    ensemble,
    impact,
    compare,
    compare_map,
    restitution,
    sensitivity,
    report,
    explore,
    lint,
    import_,
    new,
    schema,
    lcp_,
    doctor,
)
for _command in _COMMANDS:
    _command.params.append(CITE)
    program.add_command(_command)


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
