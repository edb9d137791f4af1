"""``painleve restitution``: velocity given back and energy absorbed, over posture and incidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hybrid.cli.arguments import (
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    plot_option,
    read_parameters,
)
from hybrid.cli.comparison import damping_option
from hybrid.cli.loading import load_mechanism
from hybrid.cli.output import number, print_json, say, table
from hybrid.progress import ProgressBar

__all__ = ["restitution"]


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
            from hybrid.dynamics.quantities import quantities_with_units
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
