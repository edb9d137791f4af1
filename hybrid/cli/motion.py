"""``painleve simulate``: a motion through the automaton, with its events.

What ``painleve simulate`` gives: tables, and the files of a motion or of every part of a tree of motions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from hybrid.cli.arguments import (
    LAWS,
    OutputPath,
    branch_option,
    declared_with,
    impact_law,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    plot_option,
    plot_style_option,
)
from hybrid.cli.output import number, print_json, say, table
from hybrid.cli.program import ExitStatus
from hybrid.files import whole_file, write_whole
from hybrid.progress import ProgressBar, interruptible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from hybrid.dynamics import Dynamics, State
    from hybrid.motion import HandOver, MotionTree, Trajectory
    from hybrid.reporting.figures import StyleName

__all__ = ["MotionFiles", "motion_tables", "simulate", "write_motions"]


_NOTES = 10  # of events


@attrs.frozen
class MotionFiles:
    """Which files were asked for.

    Attributes
    ----------
    plot, animate, output : Path or None
        A picture, a page or film that plays the motion, and the motion itself.
    plot_kind : {"time", "phase"}
    plot_style : {"screen", "page", "single", "double"}
    """

    plot: Path | None
    plot_kind: str
    plot_style: StyleName
    animate: Path | None
    output: Path | None


def write_motions(found: Trajectory | MotionTree, files: MotionFiles) -> list[str]:
    """The files that were asked for, written; the data first, in case a picture fails.

    Parameters
    ----------
    found : Trajectory or MotionTree
        A tree is one picture; its pages and data are a file for every part, with its number before the ending.
    files : MotionFiles

    Returns
    -------
    list of str
        A sentence for each.
    """
    from hybrid.motion import MotionTree, save

    is_tree = isinstance(found, MotionTree)
    motions = [branch.motion for branch in found.branches] if isinstance(found, MotionTree) else [found]
    said = []
    if files.output is not None:
        kept = _numbered(files.output, len(motions), is_tree=is_tree)
        for motion, path in zip(motions, kept, strict=True):
            with whole_file(path) as draft:
                save(motion, draft)
        said.append(f"Kept in {', '.join(map(str, kept))}.")
    if files.plot is not None:
        _draw(found, files, files.plot)
        said.append(f"Drawn in {files.plot}.")
    if files.animate is not None:
        played = _numbered(files.animate, len(motions), is_tree=is_tree)
        for motion, path in zip(motions, played, strict=True):
            _animate(motion, path)
        said.append(f"Animated in {', '.join(map(str, played))}.")
    return said


def _numbered(path: Path, count: int, *, is_tree: bool) -> list[Path]:
    return [path.with_stem(f"{path.stem}-{part}") for part in range(count)] if is_tree else [path]


def _draw(found: Trajectory | MotionTree, files: MotionFiles, path: Path) -> None:
    from hybrid.motion import MotionTree
    from hybrid.reporting import plot_motion, plot_phase, plot_tree, save_figure

    if files.plot_kind == "phase":
        figure = plot_phase(found, style=files.plot_style)
    elif isinstance(found, MotionTree):
        figure = plot_tree(found, style=files.plot_style)
    else:
        figure = plot_motion(found, style=files.plot_style)
    save_figure(figure, path)


def _animate(motion: Trajectory, path: Path) -> None:
    """A film, or a page for every other ending."""
    from hybrid.reporting import render_animation, save_film

    if path.suffix.lower() in (".gif", ".mp4"):
        save_film(motion, path)
    else:
        write_whole(path, render_animation(motion))


def motion_tables(answer: dict[str, Any]) -> list[RenderableType]:
    """The record of a motion, or of a tree of motions, as tables.

    Parameters
    ----------
    answer : dict
        As of :func:`hybrid.reporting.motion_record`.

    Returns
    -------
    list of rich renderables
    """
    final = answer["final"]
    rows = [
        (q, number(q_value), v, number(v_value))
        for (q, q_value), (v, v_value) in zip(final["q"].items(), final["v"].items(), strict=True)
    ]
    energy = [(name, number(value)) for name, value in answer["energy"].items()]
    shown: list[RenderableType] = [
        f"{answer['mechanism']}: {answer['cause'] or answer['termination']}",
        _events(answer["events"]),
        table(f"At the end, t = {final['t']:.10g}", ["coordinate", "value", "velocity", "value"], rows),
        table("Energy", ["energy", "value"], energy),
    ]
    shown += _notes(answer["events"], answer["warnings"])
    if "limbs" in answer:
        shown.append(_parts(answer["limbs"]))
        shown.append(
            "Above is part 0; --json lists the events of all."
            + ("" if answer["complete"] else " Others were not followed.")
        )
    return shown


def _events(events: list[dict[str, Any]]) -> RenderableType:
    def modes(labels: dict[str, str]) -> str:
        return ", ".join(labels.values() if len(labels) == 1 else (f"{k}={v}" for k, v in labels.items()))

    if not events:
        return "No events."
    rows = [
        (f"{event['t']:.10g}", event["kind"], event["contact"], modes(event["mode_before"]), modes(event["mode_after"]))
        for event in events
    ]
    return table("Events", ["t", "event", "contact", "mode before", "mode after"], rows)


def _notes(events: list[dict[str, Any]], warnings: list[str]) -> list[str]:
    """Warnings, and what events tell besides; a motion with many impacts has many such notes."""
    known = []
    for event in filter(lambda event: event["note"], events):
        at = f"t = {event['t']:.10g}: "
        if not any(text.startswith(at) and text.removeprefix(at) in event["note"] for text in warnings):
            known.append(f"{at}{event['note']}")
    rest = [f"{len(known) - _NOTES} more events have notes; --json lists them."] if len(known) > _NOTES else []
    return [f"Note: {note}" for note in (*warnings, *known[:_NOTES])] + rest


def _parts(branches: list[dict[str, Any]]) -> RenderableType:
    rows = [
        (
            str(part),
            "" if branch["parent"] is None else str(branch["parent"]),
            branch["choice"],
            f"{branch['final']['t']:.10g}",
            branch["termination"],
        )
        for part, branch in enumerate(branches)
    ]
    return table("Parts of the tree", ["part", "after", "choice", "until t", "termination"], rows)


PLOT_KINDS = ("time", "phase")
RULES = ("stop", "penalty", "branch")
METHODS = ("event-driven", "time-stepping")
AT_SINGULAR = ("stop", "smooth", "realise")
_USUAL_LAW = "energetic"
_PARTS = 1000  # of a progress bar


def _stiffness(_: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, float | str]:
    """By constraint; under an empty name what stands for all."""
    read: dict[str, float | str] = {}
    for text in values:
        name, equals, value = (part.strip() for part in text.rpartition("="))
        if not value or (equals and not name):
            raise click.BadParameter(f"expected NAME=VALUE, or a value for all, got {text!r}", param=option)
        if name in read or (read and "" in (name, *read)):
            raise click.BadParameter("give each constraint once by NAME=VALUE, or one value for all", param=option)
        try:
            read[name] = float(value)
        except ValueError:
            read[name] = value  # an expression of parameters
    return read


def _can_animate(_: click.Context, __: click.Parameter, value: Path | None) -> Path | None:
    """Refuse a film that could not be written before anything is computed."""
    if value is not None and value.suffix.lower() == ".mp4":
        from hybrid.reporting.films import require_ffmpeg

        require_ffmpeg()
    return value


@click.command()
@mechanism_argument
@pin_option
@parameter_option
@branch_option
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
    help="Where the verdict is not unique: stop, switch to the compliant contact, or follow every branch.",
)
@click.option("--until", metavar="EXPR", help="Stop earlier, where this expression changes its sign.")
@click.option(
    "--singular",
    type=click.Choice(AT_SINGULAR),
    default="stop",
    show_default=True,
    help="Where rigid constraints become dependent: stop and list the branches, go on along the smooth one, or go on "
    "with springs in place of constraints (--stiffness).",
)
@click.option(
    "--stiffness",
    multiple=True,
    callback=_stiffness,
    metavar="[NAME=]VALUE",
    help="Stiffness of the springs of --singular realise, by constraint (repeatable) or for all.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="event-driven",
    show_default=True,
    help="Arcs between located events, or steps of a given length that know no events.",
)
@click.option("--step", type=float, metavar="H", help="The length of the steps of time-stepping.")
@plot_option("Draw the motion")
@click.option(
    "--plot-kind",
    type=click.Choice(PLOT_KINDS),
    default="time",
    show_default=True,
    help="Coordinates, contact forces and modes over time, or velocities over coordinates.",
)
@plot_style_option
@click.option(
    "--animate",
    type=OutputPath(path_type=Path, dir_okay=False, endings=(".html", ".htm", ".gif", ".mp4")),
    callback=_can_animate,
    metavar="FILE",
    help="Write a page that plays the motion and needs nothing else (.html), or a film (.gif, or .mp4 by ffmpeg).",
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
    branch: dict[str, str],
    t_end: float,
    law: str | None,
    rule: str,
    until: str | None,
    singular: str,
    stiffness: dict[str, float | str],
    method: str,
    step: float | None,
    plot: Path | None,
    plot_kind: str,
    plot_style: StyleName,
    animate: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Follow the motion of MECH from a state, with every change of mode and impact located.

    After Ctrl-C what was computed is printed, drawn and kept.
    """
    declared, values = declared_with(mechanism, parameters)
    asked = Asked(t_end, law, rule, until, singular, stiffness, method, step)
    if animate is not None:
        from hybrid.reporting.scene import require_drawing

        require_drawing(declared)
    with ProgressBar(f"motion of {declared.name}") as bar:
        from hybrid.dynamics import derive, solve_state
        from hybrid.motion import Termination

        dynamics = derive(declared)
        start = solve_state(dynamics, pins, parameters=values, branch=branch)
        found = _followed(dynamics, start, values, asked, bar)
        answer = _record(found)
        try:
            with interruptible(keeps=any((plot, animate, output))):
                files = MotionFiles(plot, plot_kind, plot_style, animate, output)
                written, is_written = write_motions(found, files), True
        except KeyboardInterrupt:
            written, is_written = [], False
    if as_json:
        print_json(answer)
    else:
        never = asked.until is not None and answer["termination"] == "END_TIME"
        say(*motion_tables(answer), *([f"--until: {asked.until} did not fall to zero."] if never else []), *written)
    ends = (answer, *answer.get("limbs", ()))
    if any(end["termination"] == "INTERRUPTED" for end in ends):
        click.echo(f"interrupted at t = {answer['final']['t']:.10g}: what was computed is given", err=True)
        raise click.exceptions.Exit(ExitStatus.INTERRUPTED)
    if not is_written:
        click.echo("interrupted while writing files: not all of them are there", err=True)
        raise click.exceptions.Exit(ExitStatus.INTERRUPTED)
    given_up = [end for end in ends if Termination[end["termination"]].is_given_up]
    if given_up:
        click.echo(f"not computed further: {given_up[-1]['cause']}", err=True)
        raise click.exceptions.Exit(ExitStatus.NOT_COMPUTED)


@attrs.frozen
class Asked:
    """How a motion is to be followed; options that contradict each other are refused.

    Attributes
    ----------
    t_end : float
    law : str or None
    rule : str
    until : str or None
    singular : str
    stiffness : dict
        Of springs, by constraint; under an empty name for all.
    method : str
    step : float or None
    """

    t_end: float
    law: str | None
    rule: str
    until: str | None
    singular: str
    stiffness: dict[str, float | str]
    method: str
    step: float | None

    def __attrs_post_init__(self) -> None:
        if self.method == "time-stepping" and self.step is None:
            raise click.UsageError("time-stepping needs a step: add --step, for example --step 1e-3")
        if self.method != "time-stepping" and self.step is not None:
            raise click.UsageError(
                "the event-driven method chooses its steps: leave out --step, or add --method time-stepping"
            )
        if self.rule == "branch" and self.method == "time-stepping":
            raise click.UsageError("time-stepping selects no modes and has no branches: leave out --rule or --method")
        if self.rule == "branch" and (self.until is not None or self.singular != "stop"):
            raise click.UsageError("every branch is followed to the end of the time: leave out --until and --singular")
        if self.singular == "realise" and not self.stiffness:
            raise click.UsageError("springs need a stiffness: --stiffness 1e6, or --stiffness NAME=1e6 by constraint")
        if self.stiffness and self.singular != "realise":
            raise click.UsageError("--stiffness is that of the springs of --singular realise: add it, or leave it out")


def _followed(
    dynamics: Dynamics, state: State, values: Mapping[str, float], asked: Asked, bar: ProgressBar
) -> Trajectory | MotionTree:
    from hybrid.motion import Penalty, simulate, simulate_branches

    usual = None if asked.method == "time-stepping" else _USUAL_LAW
    named = asked.law or usual
    law = None if named is None else impact_law(named, None, None)
    if asked.rule == "branch":
        return simulate_branches(dynamics, state, t_end=asked.t_end, parameters=values, law=law, on_interrupt="keep")
    return simulate(
        dynamics,
        state,
        t_end=asked.t_end,
        parameters=values,
        law=law,
        rule=Penalty() if asked.rule == "penalty" else None,
        until=asked.until,
        singular=_at_singular(asked),
        method=asked.method,
        step=asked.step,
        progress=lambda passed, whole: bar.advance(round(_PARTS * passed / whole), _PARTS),
        on_interrupt="keep",
    )


def _at_singular(asked: Asked) -> str | HandOver:
    from hybrid.motion import HandOver

    if asked.singular != "realise":
        return asked.singular
    return HandOver(stiffness=asked.stiffness.get("", asked.stiffness))


def _record(found: Trajectory | MotionTree) -> dict[str, Any]:
    from hybrid.motion import MotionTree
    from hybrid.reporting.records import motion_record, tree_record

    return tree_record(found) if isinstance(found, MotionTree) else motion_record(found)
