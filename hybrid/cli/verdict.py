"""``painleve verdict``: which contact modes are consistent at a state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import click

from hybrid.cli.arguments import (
    branch_option,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    plot_option,
    plot_style_option,
    read_parameters,
)
from hybrid.cli.loading import load_mechanism
from hybrid.cli.output import print_answer
from hybrid.cli.verdict_tables import verdict_tables
from hybrid.progress import ProgressBar
from hybrid.reporting.records import numeric_verdict_record, verdict_record

if TYPE_CHECKING:
    from hybrid.contact import Selection
    from hybrid.dynamics import Dynamics
    from hybrid.reporting.figures import StyleName

__all__ = ["verdict"]

Solver = Literal["enumeration", "lemke", "gauss"]


@click.command()
@mechanism_argument
@pin_option
@parameter_option
@branch_option
@click.option(
    "--solver",
    type=click.Choice(get_args(Solver)),
    default="enumeration",
    show_default=True,
    help="How the modes are found; only enumeration finds all.",
)
@click.option(
    "--standing-budget",
    type=click.FloatRange(min=0.0),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="For several spatial contacts at rest, whose motions are divided until all parts are decided.",
)
@plot_option("Draw the friction cone of every contact with the forces of the consistent modes in it")
@plot_style_option
@json_option
def verdict(
    *,
    mechanism: str,
    pins: dict[str, str],
    parameters: dict[str, str],
    branch: dict[str, str],
    solver: Solver,
    standing_budget: float,
    plot: Path | None,
    plot_style: StyleName,
    as_json: bool,
) -> None:
    """Which contact modes of MECH are consistent at a state: one, several, or none, with evidence.

    A file that ends in .json is a state in numbers, as an engine writes it with hybrid.numeric.capture; it takes no
    pins.
    """
    if mechanism.endswith(".json"):
        if pins or parameters or branch or plot:
            raise click.UsageError(f"{mechanism} is a state in numbers: it takes no --pin, --param, --branch or --plot")
        _decide_numbers(mechanism, solver, standing_budget, as_json=as_json)
        return
    declared = load_mechanism(mechanism)
    values = read_parameters(declared, parameters)
    with ProgressBar(f"deciding {declared.name}"):
        from hybrid.contact import select
        from hybrid.dynamics import derive, solve_state

        dynamics = derive(declared)
        state = solve_state(dynamics, pins, parameters=values, branch=branch)
        # as texts: 4/3 is known exactly, its float is not
        selection = select(dynamics, state, parameters=parameters, solver=solver, standing_budget=standing_budget)
        answer = verdict_record(dynamics, state, selection, parameters=values)
        drawn = [] if plot is None else _draw(selection, dynamics, plot, plot_style)
    print_answer(answer, verdict_tables(answer, declared.units()), drawn, as_json=as_json)


def _decide_numbers(path: str, solver: Solver, standing_budget: float, *, as_json: bool) -> None:
    """The verdict of a state that a file holds in numbers."""
    with ProgressBar(f"deciding {path}"):
        from hybrid.declaration.units import Units
        from hybrid.numeric import read_state, select

        state = read_state(path)
        answer = numeric_verdict_record(state, select(state, solver=solver, standing_budget=standing_budget))
    print_answer(answer, verdict_tables(answer, Units.none()), as_json=as_json)


def _draw(selection: Selection, dynamics: Dynamics, path: Path, style: StyleName) -> list[str]:
    """Draw the friction cones; what to say of it."""
    from hybrid.reporting import friction_cones, plot_cones, save_figure
    from hybrid.reporting.figures import STYLES

    cones = friction_cones(selection)
    if not cones:
        raise click.UsageError(f"--plot: no contact of {dynamics.name} that touches at this state has friction")
    title = dynamics.mechanism.title if STYLES[style].has_title else ""
    save_figure(plot_cones(cones, units=dynamics.mechanism.units().forces, title=title, style=style), path)
    return [f"Drawn in {path}."]
