"""``painleve simulate``: a motion through the automaton, with its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import (
    OutputPath,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    plot_option,
    read_parameters,
)
from hybrid.cli.boundary import ExitStatus
from hybrid.cli.comparison import LAWS, impact_law
from hybrid.cli.loading import load_mechanism
from hybrid.cli.output import number, print_json, say, table
from hybrid.cli.progress import ProgressBar

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hybrid.dynamics import Dynamics, State
    from hybrid.motion import MotionTree, Trajectory

__all__ = ["simulate"]

RULES = ("stop", "penalty", "branch")
METHODS = ("event-driven", "time-stepping")
AT_SINGULAR = ("stop", "smooth")
_USUAL_LAW = "energetic"
_PARTS = 1000  # of a progress bar


@click.command()
@mechanism_argument
@pin_option
@parameter_option
@click.option("--t-end", type=float, required=True, metavar="T", help="When to stop.")
@click.option(
    "--law",
    type=click.Choice(LAWS),
    help="The law that decides impacts; by default energetic, with time-stepping newton.",
)
@click.option(
    "--rule",
    type=click.Choice(RULES),
    default="stop",
    show_default=True,
    help="Where the verdict is not unique: stop, hand over to the compliant contact, or follow every branch.",
)
@click.option("--until", metavar="EXPR", help="Stop earlier, where this expression falls to zero.")
@click.option(
    "--singular",
    type=click.Choice(AT_SINGULAR),
    default="stop",
    show_default=True,
    help="Where rigid constraints become dependent: stop and list the branches, or go on along the smooth one.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="event-driven",
    show_default=True,
    help="Arcs between located events, or steps of a given length that know no events.",
)
@click.option("--step", type=float, metavar="H", help="The length of the steps of time-stepping.")
@plot_option("Draw coordinates, contact forces and modes over time")
@click.option(
    "--animate",
    type=OutputPath(path_type=Path, dir_okay=False, endings=(".html", ".htm")),
    metavar="FILE",
    help="Write a page that plays the motion and needs nothing else; .html.",
)
@click.option(
    "-o",
    "--output",
    type=OutputPath(path_type=Path, dir_okay=False, endings=(".npz",)),
    metavar="FILE",
    help="Keep the motion, for hybrid.motion.load; .npz.",
)
@json_option
def simulate(
    *,
    mechanism: str,
    pins: dict[str, str],
    parameters: dict[str, str],
    t_end: float,
    law: str | None,
    rule: str,
    until: str | None,
    singular: str,
    method: str,
    step: float | None,
    plot: Path | None,
    animate: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Follow the motion of MECH from a state, with every change of mode and impact located.

    After Ctrl-C what was computed is printed, drawn and kept.
    """
    declared = load_mechanism(mechanism)
    values = read_parameters(declared, parameters)
    if rule == "branch" and method == "time-stepping":
        raise click.UsageError("time-stepping selects no modes and has no branches: leave out --rule or --method")
    if rule == "branch" and (until is not None or singular != "stop"):
        raise click.UsageError("every branch is followed to the end of the time: leave out --until and --singular")
    if animate is not None:
        from hybrid.reporting.scene import require_drawing

        require_drawing(declared)
    with ProgressBar(f"motion of {declared.name}") as bar:
        from hybrid.dynamics import derive, solve_state
        from hybrid.reporting.motions import motion_record, tree_record

        dynamics = derive(declared)
        state = solve_state(dynamics, pins, parameters=values)
        if rule == "branch":
            tree = _branches(dynamics, state, values, t_end=t_end, law=law)
            motion, answer = tree.limbs[0].motion, tree_record(tree)
        else:
            motion = _followed(
                dynamics,
                state,
                values,
                bar=bar,
                law=law,
                rule=rule,
                t_end=t_end,
                until=until,
                singular=singular,
                method=method,
                step=step,
            )
            answer = motion_record(motion)
        _write(motion, plot=plot, animate=animate, output=output)
    if as_json:
        print_json(answer)
    else:
        say(*_tables(answer), *_written(plot, animate, output))
    if "INTERRUPTED" in (answer["termination"], *(limb["termination"] for limb in answer.get("limbs", ()))):
        click.echo(f"interrupted at t = {answer['final']['t']:.10g}: what was computed is given", err=True)
        raise click.exceptions.Exit(ExitStatus.INTERRUPTED)


def _branches(
    dynamics: Dynamics, state: State, values: Mapping[str, float], *, t_end: float, law: str | None
) -> MotionTree:
    from hybrid.motion import simulate_branches

    decides = impact_law(law or _USUAL_LAW, None, None)
    return simulate_branches(dynamics, state, t_end=t_end, parameters=values, law=decides)


def _followed(
    dynamics: Dynamics,
    state: State,
    values: Mapping[str, float],
    *,
    bar: ProgressBar,
    law: str | None,
    rule: str,
    method: str,
    **asked: Any,
) -> Trajectory:
    from hybrid.motion import Penalty, simulate

    usual = None if method == "time-stepping" else _USUAL_LAW
    named = law or usual
    return simulate(
        dynamics,
        state,
        parameters=values,
        law=None if named is None else impact_law(named, None, None),
        rule=Penalty() if rule == "penalty" else None,
        method=method,
        **asked,
        progress=lambda passed, whole: bar.advance(round(_PARTS * passed / whole), _PARTS),
    )


def _write(motion: Trajectory, *, plot: Path | None, animate: Path | None, output: Path | None) -> None:
    """Write what was asked for; the data first, in case a picture fails."""
    if output is not None:
        from hybrid.motion import save

        save(motion, output)
    if plot is not None:
        from hybrid.reporting import plot_motion, save_figure

        save_figure(plot_motion(motion), plot)
    if animate is not None:
        from hybrid.reporting import render_animation

        animate.write_text(render_animation(motion), encoding="utf-8")


def _written(plot: Path | None, animate: Path | None, output: Path | None) -> Iterator[str]:
    if plot is not None:
        yield f"Drawn in {plot}."
    if animate is not None:
        yield f"Animated in {animate}."
    if output is not None:
        yield f"Kept in {output}."


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
