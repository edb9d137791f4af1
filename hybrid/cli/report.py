"""``painleve report``: everything that is known about a state, on one page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from hybrid.cli.arguments import (
    OutputPath,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    read_parameters,
)
from hybrid.cli.loading import load_mechanism
from hybrid.cli.output import json_text, print_json, say
from hybrid.cli.progress import ProgressBar
from hybrid.cli.verdict_tables import verdict_tables

__all__ = ["report"]

ENDINGS = (".html", ".md", ".json")


def _report_path(_: click.Context, option: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix.lower() not in ENDINGS:
        raise click.BadParameter(f"{value} must end in {', '.join(ENDINGS)}", param=option)
    return value


@click.command()
@mechanism_argument
@pin_option
@parameter_option
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=LOW:HIGH:CELLS",
    help="Two axes of the map; by default the posture and its velocity.",
)
@click.option(
    "-o",
    "--output",
    type=OutputPath(dir_okay=False, path_type=Path),
    callback=_report_path,
    metavar="FILE",
    help="The page (.html), or .md, .json; by default MECH.html.",
)
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
    """A self-contained page on a state of MECH: verdict, evidence, map, automaton."""
    declared = load_mechanism(mechanism)
    values = read_parameters(declared, parameters)
    if len(axes) not in (0, 2):
        raise click.UsageError(f"the map of a report has two axes, got {len(axes)}")
    if output is None and not as_json:
        output = Path(f"{declared.name}.html")
    with ProgressBar(f"reporting on {declared.name}"):
        from hybrid.analysis import Axis
        from hybrid.dynamics import derive, solve_state
        from hybrid.reporting.render import render_html, render_markdown
        from hybrid.reporting.report import build_report, report_record

        dynamics = derive(declared)
        resolved = declared.parameter_values(values)
        built = build_report(
            dynamics,
            solve_state(dynamics, pins, parameters=values),
            parameters=values,
            axes=[Axis.parse(text, values=resolved) for text in axes] or None,
            command=_command(mechanism, pins=pins, parameters=parameters, axes=axes, output=output),
        )
        record = report_record(built)
        if output is not None:
            match output.suffix.lower():
                case ".html":
                    text = render_html(built)
                case ".md":
                    text = render_markdown(built)
                case _:
                    text = json_text(record) + "\n"
            output.write_text(text, encoding="utf-8")
    if as_json:
        print_json(record)
    else:
        say(*verdict_tables(record), "", f"The report is in {output}.")


def _command(
    mechanism: str,
    *,
    pins: Mapping[str, str],
    parameters: Mapping[str, str],
    axes: Sequence[str],
    output: Path | None,
) -> str:
    """The command line that makes this report, with the values as the user wrote them."""
    words = ["painleve", "report", mechanism]
    words += [word for name, value in parameters.items() for word in ("--param", f"{name}={value}")]
    words += [word for name, value in pins.items() for word in ("--pin", f"{name}={value}")]
    words += [word for axis in axes for word in ("--axis", axis)]
    return shlex.join([*words, "-o", str(output or "report.html")])
