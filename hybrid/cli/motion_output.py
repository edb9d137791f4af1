"""What ``painleve simulate`` gives: tables, and the files of a motion or of every part of a tree of motions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.cli.output import number, table
from hybrid.reporting.files import whole_file, write_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hybrid.motion import MotionTree, Trajectory
    from hybrid.reporting.figures import StyleName

__all__ = ["MotionFiles", "motion_tables", "write_motions"]

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
