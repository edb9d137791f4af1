"""``painleve verdict``: which contact modes are consistent at a state."""

from __future__ import annotations

from typing import Literal, get_args

import click

from hybrid.cli.arguments import (
    branch_option,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    read_parameters,
)
from hybrid.cli.loading import load_mechanism
from hybrid.cli.output import print_answer
from hybrid.cli.progress import ProgressBar
from hybrid.cli.verdict_tables import verdict_tables
from hybrid.reporting.records import verdict_record

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
@json_option
def verdict(
    *,
    mechanism: str,
    pins: dict[str, str],
    parameters: dict[str, str],
    branch: dict[str, str],
    solver: Solver,
    as_json: bool,
) -> None:
    """Which contact modes of MECH are consistent at a state: one, several, or none, with evidence."""
    declared = load_mechanism(mechanism)
    values = read_parameters(declared, parameters)
    with ProgressBar(f"deciding {declared.name}"):
        from hybrid.contact import select
        from hybrid.dynamics import derive, solve_state

        dynamics = derive(declared)
        state = solve_state(dynamics, pins, parameters=values, branch=branch)
        # as texts: 4/3 is known exactly, its float is not
        selection = select(dynamics, state, parameters=parameters, solver=solver)
        answer = verdict_record(dynamics, state, selection, parameters=values)
    print_answer(answer, verdict_tables(answer, declared.units()), as_json=as_json)
