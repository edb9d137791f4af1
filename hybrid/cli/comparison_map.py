"""``painleve compare-map``: where the rigid problem and compliant contacts agree over two quantities.

``painleve restitution``: velocity given back and energy absorbed, over posture and incidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import (
    FiniteRange,
    axes_option,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    plot_option,
    read_parameters,
    two_axes,
)
from hybrid.cli.comparison import damping_option, read_stiffnesses
from hybrid.cli.loading import load_mechanism
from hybrid.cli.output import number, print_answer, print_json, say, table
from hybrid.progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.console import RenderableType

__all__ = ["compare_map", "restitution"]


@click.command()
@mechanism_argument
@click.option("--over", required=True, metavar="NAME=LOW:HIGH:CELLS", help="A coordinate or a parameter to sweep.")
@click.option(
    "--incidence",
    default="-0.45*pi:0.45*pi:180",
    show_default=True,
    metavar="LOW:HIGH:CELLS",
    help="Angles of the contact velocity to the normal, radians.",
)
@pin_option
@parameter_option
@damping_option
@plot_option("Draw the sweep")
@json_option
def restitution(
    *,
    mechanism: str,
    over: str,
    incidence: str,
    pins: dict[str, str],
    parameters: dict[str, str],
    damping: float | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Restitution and absorbed energy of a compliant impact of MECH over posture and incidence."""
    declared = load_mechanism(mechanism)
    values = read_parameters(declared, parameters)
    with ProgressBar(f"impacts of {declared.name}"):
        from hybrid.analysis import Axis
        from hybrid.analysis.comparison.restitution import restitution_map
        from hybrid.dynamics import derive
        from hybrid.reporting.restitution import plot_restitution, restitution_record

        dynamics = derive(declared)
        resolved = declared.parameter_values(values)
        swept = Axis.parse(over, values=resolved)
        angles = Axis.parse(f"incidence={incidence}", values=resolved)
        found = restitution_map(dynamics, over=swept, incidence=angles, pins=pins, damping=damping, parameters=values)
        if plot is not None:
            from hybrid.dynamics.pin_values import quantities_with_units
            from hybrid.reporting import save_figure

            units = quantities_with_units(dynamics)
            save_figure(plot_restitution(found, units=units, title=declared.title), plot)
    answer: dict[str, Any] = {"mechanism": declared.name, **restitution_record(found)}
    if as_json:
        print_json(answer)
        return
    rows = [
        (f"{end} {name}", number(item["value"]), ", ".join(f"{k} = {number(v)}" for k, v in item["at"].items()))
        for name, key in (("restitution", "restitution"), ("absorbed share of energy", "absorbed"))
        for end, item in answer[key].items()
    ]
    say(table(f"{declared.name}: compliant impacts", ("", "value", "at"), rows))
    if plot is not None:
        say(f"Drawn in {plot}.")


SHOWN = 12
"""Exceptions listed for people; all are in the JSON."""


@click.command("compare-map")
@mechanism_argument
@axes_option
@pin_option
@parameter_option
@click.option(
    "--stiffness",
    metavar="K1,K2,...",
    callback=read_stiffnesses,
    help="Penalty runs of these stiffnesses in every cell; by default only the limit.",
)
@click.option(
    "--duration",
    type=FiniteRange(min=0.0, min_open=True),
    metavar="T",
    help="Duration of penalty runs where the rigid motion is unique; by default 12 / sqrt(least stiffness).",
)
@damping_option
@plot_option("Draw the map")
@json_option
def compare_map(
    *,
    mechanism: str,
    axes: tuple[str, ...],
    pins: dict[str, str],
    parameters: dict[str, str],
    stiffness: tuple[float, ...],
    duration: float | None,
    damping: float | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Where the rigid problem, the compliant limit and penalty runs of MECH agree over two quantities."""
    declared = load_mechanism(mechanism)
    values = read_parameters(declared, parameters)
    with ProgressBar(f"comparing over a map of {declared.name}") as bar:
        swept = two_axes(axes, declared.parameter_values(values))
        from hybrid.analysis.comparison.agreement import compare_map as compare_over
        from hybrid.dynamics import derive
        from hybrid.reporting import comparison_map_record

        dynamics = derive(declared)
        found = compare_over(
            dynamics,
            axes=swept,
            pins=pins,
            damping=damping,
            stiffness=stiffness,
            duration=duration,
            parameters=values,
            progress=bar.advance,
        )
        if plot is not None:
            from hybrid.dynamics.pin_values import quantities_with_units
            from hybrid.reporting import plot_comparison_map, save_figure

            units = quantities_with_units(dynamics)
            save_figure(plot_comparison_map(found, units=units, title=declared.title), plot)
    answer = {"mechanism": declared.name, **comparison_map_record(found)}
    print_answer(answer, _description(answer), [] if plot is None else [f"Drawn in {plot}."], as_json=as_json)


def _description(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    swept = ", ".join(f"{item['name']} from {number(item['low'])} to {number(item['high'])}" for item in answer["axes"])
    yield f"{answer['mechanism']}: {answer['cells']} states, {swept}"
    yield ""
    shares = [(name, f"{share:.6f}") for name, share in answer["shares"].items()]
    yield table("Rigid verdict and compliant limit", ("cells", "share"), shares)
    if not answer["penalty"]:
        return
    columns = ["verdict", "cells", "agree", "ends in"]
    columns += [f"error at K={K:g}" for K in answer["stiffness"]] + ["order (median)"]
    rows = []
    for verdict, item in answer["penalty"].items():
        ends = ", ".join(f"{name} {count}" for name, count in item["modes"].items())
        order = number(None if item["order"] is None else item["order"]["median"])
        errors = [number(error) for error in item["errors"]]
        rows.append([verdict, str(item["cells"]), str(item.get("agree", "-")), ends, *errors, order])
    yield table(f"Penalty runs over {answer['duration']:.4g} s, or to release (errors: medians)", columns, rows)
    exceptions = answer["exceptions"]
    if exceptions:
        places = [(item["verdict"], *(number(x) for x in item["place"]), item["reason"]) for item in exceptions[:SHOWN]]
        names = [item["name"] for item in answer["axes"]]
        yield table("Cells in which penalty runs do not settle", ("verdict", *names, "why"), places)
    if len(exceptions) > SHOWN:
        yield f"... and {len(exceptions) - SHOWN} more; --json lists all."
