"""``painleve simulate``: a motion through the automaton, with its events.

What ``painleve simulate`` gives: tables, and the files of a motion or of every part of a tree of motions.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import (
    LAWS,
    Finite,
    OutputPath,
    branch_option,
    impact_law,
    output_option,
    parameter_option,
    pin_option,
    plot_option,
    plot_style_option,
)
from hybrid.cli.output import Answered, mechanism_command, number, table
from hybrid.cli.program import ExitStatus
from hybrid.files import whole_file, write_whole
from hybrid.progress import comes_to_its_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from hybrid.cli.output import Asked
    from hybrid.motion import MotionTree, Trajectory
    from hybrid.reporting.figures import StyleName

__all__ = ["motion_tables", "simulate", "write_motions"]


_NOTES = 10  # of events


def write_motions(
    found: Trajectory | MotionTree,
    *,
    plot: Path | None,
    plot_kind: str,
    plot_style: StyleName,
    animate: Path | None,
    output: Path | None,
) -> list[str]:
    """The files that were asked for, written; the data first, in case a picture fails.

    Parameters
    ----------
    found : Trajectory or MotionTree
        A tree is one picture; its pages and data are a file for every part, with its number before the ending.
    plot, animate, output : Path or None
        A picture, a page or film that plays the motion, and the motion itself.
    plot_kind : {"time", "phase"}
    plot_style : {"screen", "page", "single", "double"}

    Returns
    -------
    list of str
        A sentence for each.
    """
    from hybrid.motion import MotionTree, save

    is_tree = isinstance(found, MotionTree)
    motions = [branch.motion for branch in found.branches] if isinstance(found, MotionTree) else [found]
    said = []
    if output is not None:
        kept = _numbered(output, len(motions), is_tree=is_tree)
        for motion, path in zip(motions, kept, strict=True):
            with whole_file(path) as draft:
                save(motion, draft)
        said.append(f"Kept in {', '.join(map(str, kept))}.")
    if plot is not None:
        from hybrid.reporting import plot_motion, plot_phase, plot_tree, save_figure

        drawing: Any = plot_phase if plot_kind == "phase" else plot_tree if is_tree else plot_motion
        save_figure(drawing(found, style=plot_style), plot)
        said.append(f"Drawn in {plot}.")
    if animate is not None:
        played = _numbered(animate, len(motions), is_tree=is_tree)
        for motion, path in zip(motions, played, strict=True):
            _animate(motion, path)
        said.append(f"Animated in {', '.join(map(str, played))}.")
    return said


def _numbered(path: Path, count: int, *, is_tree: bool) -> list[Path]:
    return [path.with_stem(f"{path.stem}-{part}") for part in range(count)] if is_tree else [path]


def _animate(motion: Trajectory, path: Path) -> None:
    """A film, or a page for every other ending."""
    from hybrid.reporting import render_animation, save_film

    if path.suffix.lower() in (".gif", ".mp4"):
        save_film(motion, path)
    else:
        write_whole(path, render_animation(motion))


def motion_tables(answer: dict[str, Any]) -> Iterator[RenderableType]:
    """The record of a motion, or of a tree of motions, as tables.

    Parameters
    ----------
    answer : dict
        As of :func:`hybrid.reporting.motion_record`.

    Returns
    -------
    iterator of rich renderables
    """
    final = answer["final"]
    rows = [
        (q, number(q_value), v, number(v_value))
        for (q, q_value), (v, v_value) in zip(final["q"].items(), final["v"].items(), strict=True)
    ]
    yield f"{answer['mechanism']}: {answer['cause'] or answer['termination']}"
    yield _events(answer["events"])
    yield table(f"At the end, t = {final['t']:.10g}", ["coordinate", "value", "velocity", "value"], rows)
    yield table("Energy", ["energy", "value"], [(name, number(value)) for name, value in answer["energy"].items()])
    yield from _notes(answer["events"], answer["warnings"])
    if "limbs" in answer:
        yield _parts(answer["limbs"])
        rest = "" if answer["complete"] else " There may be others, which were not followed."
        yield f"Above is part 0; --json lists the events of all.{rest}"


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
    return [f"Note: {note}" for note in sorted((*warnings, *known[:_NOTES]), key=_time)] + rest


def _time(note: str) -> float:
    """Of what a note tells; one of the whole motion comes first."""
    at = re.match(r"t = (\S+): ", note)
    return float(at[1]) if at else -math.inf


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


@mechanism_command("motion of {}")
@pin_option
@parameter_option
@branch_option
@click.option("--t-end", type=Finite(), required=True, metavar="T", help="When to stop.")
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
@click.option("--step", type=Finite(), metavar="H", help="The longest step of time-stepping; all are equal.")
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
    type=OutputPath(".html", ".htm", ".gif", ".mp4"),
    callback=_can_animate,
    metavar="FILE",
    help="Write a page that plays the motion and needs nothing else (.html), or a film (.gif, or .mp4 by ffmpeg).",
)
@output_option(".npz", shown="Keep the motion, for hybrid.motion.load; .npz.")
def simulate(
    asked: Asked,
    *,
    plot: Path | None,
    plot_kind: str,
    plot_style: StyleName,
    animate: Path | None,
    output: Path | None,
    **how: Any,
) -> Answered:
    """Follow the motion of MECH from a state, with every change of mode and impact located.

    After Ctrl-C what was computed is printed, drawn and kept.
    """
    _refuse_contradictions(**how)
    if plot is None and plot_kind != PLOT_KINDS[0]:
        raise click.UsageError("--plot-kind says what --plot FILE shows: give both, or neither")
    if animate is not None:
        from hybrid.reporting.scene import require_drawing

        require_drawing(asked.declared)
    found = _followed(asked, **how)
    answer = _record(found)
    ending = _ending(answer)
    written: list[str] = []

    def write() -> None:
        written.extend(
            write_motions(found, plot=plot, plot_kind=plot_kind, plot_style=plot_style, animate=animate, output=output)
        )

    is_whole = comes_to_its_end(write, keeps=any((plot, animate, output)))
    if not is_whole and (ending is None or ending[0] is not ExitStatus.INTERRUPTED):
        ending = (ExitStatus.INTERRUPTED, "interrupted while writing files: not all of them are there")
    if how["until"] is not None and answer["termination"] == "END_TIME":
        written = [f"--until: {how['until']} did not fall to zero.", *written]
    return Answered(answer, motion_tables(answer), written, ending)


def _ending(answer: dict[str, Any]) -> tuple[ExitStatus, str] | None:
    """What keeps a motion, or a part of a tree, from being whole."""
    from hybrid.motion import Termination

    ends = (answer, *answer.get("limbs", ()))
    if any(end["termination"] == "INTERRUPTED" for end in ends):
        reason = f"interrupted at t = {answer['final']['t']:.10g}: what was computed is given"
        return ExitStatus.INTERRUPTED, reason
    given_up = [end for end in ends if Termination[end["termination"]].is_given_up]
    return (ExitStatus.NOT_COMPUTED, f"not computed further: {given_up[-1]['cause']}") if given_up else None


def _refuse_contradictions(
    *,
    rule: str,
    until: str | None,
    singular: str,
    stiffness: dict[str, float | str],
    method: str,
    step: float | None,
    **_: Any,
) -> None:
    if method == "time-stepping" and step is None:
        raise click.UsageError("time-stepping needs a step: add --step, for example --step 1e-3")
    if method != "time-stepping" and step is not None:
        raise click.UsageError(
            "the event-driven method chooses its steps: leave out --step, or add --method time-stepping"
        )
    if rule == "branch" and method == "time-stepping":
        raise click.UsageError("time-stepping selects no modes and has no branches: leave out --rule or --method")
    if rule == "branch" and (until is not None or singular != "stop"):
        raise click.UsageError("every branch is followed to the end of the time: leave out --until and --singular")
    if singular == "realise" and not stiffness:
        raise click.UsageError("springs need a stiffness: --stiffness 1e6, or --stiffness NAME=1e6 by constraint")
    if stiffness and singular != "realise":
        raise click.UsageError("--stiffness is that of the springs of --singular realise: add it, or leave it out")


def _followed(
    asked: Asked,
    *,
    t_end: float,
    law: str | None,
    rule: str,
    until: str | None,
    singular: str,
    stiffness: dict[str, float | str],
    method: str,
    step: float | None,
) -> Trajectory | MotionTree:
    from hybrid.motion import ElasticRealisation, Penalty, simulate, simulate_branches

    named = law or (None if method == "time-stepping" else _USUAL_LAW)
    common: dict[str, Any] = {"t_end": t_end, "parameters": asked.values, "on_interrupt": "keep"}
    common["law"] = None if named is None else impact_law(named)
    if rule == "branch":
        return simulate_branches(asked.dynamics, asked.state, **common)
    return simulate(
        asked.dynamics,
        asked.state,
        rule=Penalty() if rule == "penalty" else None,
        until=until,
        singular=ElasticRealisation(stiffness=stiffness.get("", stiffness)) if singular == "realise" else singular,
        method=method,
        step=step,
        progress=lambda passed, whole: asked.bar.advance(round(_PARTS * passed / whole), _PARTS),
        **common,
    )


def _record(found: Trajectory | MotionTree) -> dict[str, Any]:
    from hybrid.motion import MotionTree
    from hybrid.reporting.records import motion_record, tree_record

    return tree_record(found) if isinstance(found, MotionTree) else motion_record(found)
