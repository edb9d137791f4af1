"""``painleve report``: everything that is known about a state, on one page."""

from __future__ import annotations

from pathlib import Path

import click

from hybrid.cli.arguments import (
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    read_parameters,
)
from hybrid.cli.loading import load_mechanism
from hybrid.cli.output import command_as_written, page_option, page_path, print_answer, write_page
from hybrid.cli.program import ExitStatus
from hybrid.cli.verdict import verdict_tables
from hybrid.progress import ProgressBar

__all__ = ["report"]


@click.command()
@mechanism_argument
@pin_option
@parameter_option
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=LOW:HIGH:CELLS",
    help="Two axes of the map; by default the posture and its velocity, as fine as some ten seconds allow.",
)
@page_option("The page (.html), or .md, .json; by default MECH.html.")
@json_option
def report(
    *,
    mechanism: str,
    pins: dict[str, str],
    parameters: dict[str, str],
    axes: tuple[str, ...],
    output: Path | None,
    as_json: bool,
) -> None:
    """A self-contained page on a state of MECH: verdict, evidence, map, automaton.

    A page on a motion comes from `simulate -o FILE`, one on its derivatives, with table and tornado plot, from
    `sensitivity -o FILE`.
    """
    declared = load_mechanism(mechanism)
    values = read_parameters(declared, parameters)
    if len(axes) not in (0, 2):
        raise click.UsageError(f"the map of a report has two axes, got {len(axes)}")
    if output is None and not as_json:
        output = page_path(f"{declared.name}.html")
    with ProgressBar(f"reporting on {declared.name}") as bar:
        from hybrid.analysis import Axis
        from hybrid.dynamics import derive, solve_state
        from hybrid.reporting.render import render_html, render_markdown
        from hybrid.reporting.report import build_report, report_record

        dynamics = derive(declared)
        resolved = declared.parameter_values(values)
        built = build_report(
            dynamics,
            solve_state(dynamics, pins, parameters=values),
            parameters=parameters,
            axes=[Axis.parse(text, values=resolved) for text in axes] or None,
            command=command_as_written(
                "report",
                mechanism,
                parameters=parameters,
                pins=pins,
                options=[word for axis in axes for word in ("--axis", axis)],
                output=output or Path("report.html"),
            ),
            progress=bar.advance,
            on_interrupt="keep",
        )
        record = report_record(built)
        if output is not None:
            write_page(output, html=lambda: render_html(built), markdown=lambda: render_markdown(built), record=record)
    where = ["", f"The report is in {output}."]
    print_answer(record, verdict_tables(record, declared.units()), where, as_json=as_json)
    if not built.is_complete:
        click.echo("interrupted: the report says what is left out", err=True)
        raise click.exceptions.Exit(ExitStatus.INTERRUPTED)
