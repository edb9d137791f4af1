"""``painleve simulate``: a motion through the automaton, with its events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import (
    OutputPath,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    read_parameters,
)
from hybrid.cli.comparison import LAWS, impact_law
from hybrid.cli.loading import load_mechanism
from hybrid.cli.output import number, print_json, say, table
from hybrid.cli.progress import ProgressBar

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hybrid.motion import MotionTree, Trajectory

__all__ = ["simulate"]

RULES = ("stop", "penalty", "branch")


@click.command()
@mechanism_argument
@pin_option
@parameter_option
@click.option("--t-end", type=float, required=True, metavar="T", help="When to stop.")
@click.option(
    "--law", type=click.Choice(LAWS), default="energetic", show_default=True, help="The law that decides impacts."
)
@click.option(
    "--rule",
    type=click.Choice(RULES),
    default="stop",
    show_default=True,
    help="Where the verdict is not unique: stop, hand over to the compliant contact, or follow every branch.",
)
@click.option(
    "--plot",
    type=OutputPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw the motion; .svg, .png or .pdf.",
)
@json_option
def simulate(
    *,
    mechanism: str,
    pins: dict[str, str],
    parameters: dict[str, str],
    t_end: float,
    law: str,
    rule: str,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Follow the motion of MECH from a state, with every change of mode and impact located."""
    declared = load_mechanism(mechanism)
    values = read_parameters(declared, parameters)
    with ProgressBar(f"motion of {declared.name}"):
        from hybrid.dynamics import derive, solve_state
        from hybrid.reporting.motions import motion_record, plot_motion, tree_record

        dynamics = derive(declared)
        state = solve_state(dynamics, pins, parameters=values)
        found = _followed(dynamics, state, values, t_end=t_end, law=law, rule=rule)
        motion = found if rule != "branch" else found.limbs[0].motion
        answer = motion_record(found) if rule != "branch" else tree_record(found)
        if plot is not None:
            from hybrid.reporting import save_figure

            save_figure(plot_motion(motion), plot)
    if as_json:
        print_json(answer)
    else:
        say(*_tables(answer))


def _followed(dynamics: Any, state: Any, values: dict[str, float], *, t_end: float, law: str, rule: str) -> Any:
    from hybrid import motion

    decides = impact_law(law, None, None)
    if rule == "branch":
        tree: MotionTree = motion.simulate_branches(dynamics, state, t_end=t_end, parameters=values, law=decides)
        return tree
    chosen = motion.Penalty() if rule == "penalty" else motion.Stop()
    followed: Trajectory = motion.simulate(dynamics, state, t_end=t_end, parameters=values, law=decides, rule=chosen)
    return followed


def _tables(answer: dict[str, Any]) -> list[RenderableType]:
    def modes(labels: dict[str, str]) -> str:
        return ", ".join(labels.values() if len(labels) == 1 else (f"{k}={v}" for k, v in labels.items()))

    events = [
        (f"{event['t']:.10g}", event["kind"], event["contact"], modes(event["mode_before"]), modes(event["mode_after"]))
        for event in answer["events"]
    ]
    final = answer["final"]
    rows = [
        (q, number(q_value), v, number(v_value))
        for (q, q_value), (v, v_value) in zip(final["q"].items(), final["v"].items(), strict=True)
    ]
    energy = [(name, number(value)) for name, value in answer["energy"].items()]
    shown: list[RenderableType] = [
        f"{answer['mechanism']}: {answer['cause'] or answer['termination']}",
        table("Events", ["t", "event", "contact", "mode before", "mode after"], events),
        table(f"At the end, t = {final['t']:.10g}", ["coordinate", "value", "velocity", "value"], rows),
        table("Energy", ["energy", "value"], energy),
    ]
    shown += [f"Note: {warning}" for warning in answer["warnings"]]
    if "limbs" in answer:
        shown.append(f"The tree has {len(answer['limbs'])} parts; --json lists them all.")
    return shown
