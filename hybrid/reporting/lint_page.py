"""A linted log as a page: shares, a timeline of the critical factor, and the worst frames with their postures."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.reporting.figures import figure_svg, new_figure, settings
from hybrid.reporting.lint import RESOLVED_TITLES, lint_record, resolved_rows
from hybrid.reporting.page import inline_svg, page_html, page_markdown
from hybrid.reporting.wording import number_text
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from hybrid.numeric.frames import Skeleton
    from hybrid.numeric.lint_report import LintReport, ThresholdShares

__all__ = [
    "lint_pictures",
    "lint_view",
    "plot_posture",
    "plot_timeline",
    "render_lint_html",
    "render_lint_markdown",
]

_TOP = 3.0  # critical factors above are drawn at the edge: no material comes near them
_WIDTH = 7.5  # inches, of a page
_APART = 0.04  # of the width of the timeline: numbers closer than this would cover each other


def render_lint_html(
    report: LintReport, *, postures: Mapping[int, Skeleton | NDArray[np.uint8]] | None = None, command: str = ""
) -> str:
    """A linted log as one HTML page that needs nothing else.

    Parameters
    ----------
    report : LintReport
    postures : mapping of int to Skeleton or array of uint8, (height, width, 3), optional
        Of the worst frames: lines, or pictures of an engine.
    command : str, optional
        The command line to quote.

    Returns
    -------
    str
    """
    title = f"{report.model}: rigid contact along a log"
    return page_html("lint.md", lint_view(report, command), pictures=lint_pictures(report, postures or {}), title=title)


def render_lint_markdown(report: LintReport, *, command: str = "") -> str:
    """A linted log as Markdown, without pictures.

    Parameters
    ----------
    report : LintReport
    command : str, optional

    Returns
    -------
    str
    """
    return page_markdown("lint.md", lint_view(report, command))


def lint_pictures(report: LintReport, postures: Mapping[int, Skeleton | NDArray[np.uint8]]) -> dict[str, Sequence[str]]:
    """The timeline, if a frame counts, and postures by the number of the frame.

    Parameters
    ----------
    report : LintReport
    postures : mapping of int to Skeleton or array of uint8, (height, width, 3)

    Returns
    -------
    dict of str to sequence of str
    """
    pictures: dict[str, Sequence[str]] = {}
    if report.counted:
        svg = figure_svg(plot_timeline(report))
        pictures["timeline"] = [inline_svg(svg, prefix="timeline-", label="Critical factor of friction along the log")]
    for frame, posture in postures.items():
        is_photo = isinstance(posture, np.ndarray)  # stays as it is on a dark page
        svg = figure_svg(_picture(posture) if isinstance(posture, np.ndarray) else plot_posture(posture))
        prefix = f"{'photo' if is_photo else 'posture'}-{frame}-"
        pictures[str(frame)] = [inline_svg(svg, prefix=prefix, label=f"Posture at frame {frame}")]
    return pictures


def lint_view(report: LintReport, command: str) -> dict[str, Any]:
    """Everything that the template asks for but the pictures.

    Parameters
    ----------
    report : LintReport
    command : str
        The command line to quote; none where it is empty.

    Returns
    -------
    dict
    """
    record: Any = lint_record(report)
    shares = record["verdict_fractions"]
    if not report.counted:
        lead = "No frame has contacts that all slip: there is nothing to count."
    else:
        none, several = (100 * shares.get(verdict, 0.0) for verdict in ("INCONSISTENT", "INDETERMINATE"))
        lead = (
            f"Of those whose frictional contacts all slip, {none:.3g} % have no rigid solution and {several:.3g} % "
            "have several."
        )
    return {
        "r": record,
        "lead": lead,
        "percent": lambda share: f"{100 * share:.3g} %",
        "factor": lambda value: "none below 100" if value is None else number_text(value),
        "advice": _advice,
        "at_thresholds": report.at_thresholds,
        "share_of": _share,
        "resolved_titles": RESOLVED_TITLES,
        "resolved_rows": resolved_rows,
        "command": command,
        "version": metadata.version("painleve"),
    }


def _share(counts: ThresholdShares, verdict: str) -> str:
    return f"{100 * counts.verdicts.get(verdict, 0) / counts.counted:.3g} %" if counts.counted else "–"


def _advice(gradient: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The largest derivatives of each kind in words."""
    found = []
    for kind, words in (
        ("friction", "by {:+.3g} for 1 % more friction of {}"),
        ("mass", "by {:+.3g} for 1 % more mass of {}"),
        ("posture", "by {:+.3g} for 0.01 rad or m of {}"),
    ):
        largest = sorted(gradient[kind].items(), key=lambda item: -abs(item[1]))[:2]
        found += [words.format(0.01 * value, name) for name, value in largest if abs(value) > NOTHING]
    return found


def plot_timeline(report: LintReport) -> Figure:
    """The critical factor of every counted frame over time, the worst frames with links to their sections.

    Parameters
    ----------
    report : LintReport
        With counted frames.

    Returns
    -------
    Figure
    """
    from hybrid.contact import CellVerdict

    frames = np.arange(report.frames)
    places = frames if report.time is None else report.time
    shown = np.minimum(report.factor, _TOP)
    with settings("page") as look:
        figure = new_figure("page", height=2.8)
        axes = figure.subplots()
        counted = ~np.isnan(report.factor)
        marks = (
            ("one motion", ".", "0.45", (CellVerdict.UNIQUE, CellVerdict.HYPERSTATIC)),
            ("no solution", "x", "#b2182b", (CellVerdict.INCONSISTENT,)),
            ("several", "+", "#d95f02", (CellVerdict.INDETERMINATE,)),
            ("undecided", "^", "#2166ac", (CellVerdict.UNDECIDED,)),
        )
        for label, marker, colour, verdicts in marks:
            here = counted & np.isin(report.verdict, verdicts)
            if here.any():
                axes.plot(places[here], shown[here], marker, color=colour, markersize=4, label=label, rasterized=False)
        axes.axhline(1.0, color="black", linewidth=0.8, linestyle="--")
        _mark_worst(axes, report, places)
        axes.set(
            xlabel="frame" if report.time is None else "t (s)",
            ylabel="critical factor",
            ylim=(0.0, 1.08 * _TOP),
        )
        axes.set_yticks([0.0, 1.0, 2.0, _TOP], ["0", "1", "2", f"{_TOP:g}+"])
        figure.legend(loc="outside upper right", fontsize=look.note, ncols=4, frameon=False)
    return figure


def _mark_worst(axes: Axes, report: LintReport, places: NDArray[Any]) -> None:
    """Rings around the worst frames that lead to their sections, with numbers where these do not cover each other."""
    if not report.worst:
        return
    frames = [item.frame for item in report.worst]
    heights = [min(item.critical_factor, _TOP) for item in report.worst]
    rings = axes.scatter(places[frames], heights, s=45, facecolors="none", edgecolors="black", linewidths=0.6, zorder=3)
    rings.set_urls([f"#frame-{frame}" for frame in frames])
    width, labelled = float(np.ptp(places)) or 1.0, list[float]()
    for frame, height in zip(frames, heights, strict=True):
        at = float(places[frame])
        if all(abs(at - other) > _APART * width for other in labelled):
            labelled.append(at)
            above = axes.annotate(
                str(frame), (at, height), xytext=(0, 6), textcoords="offset points", fontsize=7, ha="center"
            )
            above.set_url(f"#frame-{frame}")


def _picture(pixels: NDArray[np.uint8]) -> Figure:
    from hybrid.reporting.figures import DisplayedFigure

    with settings():
        figure = DisplayedFigure(figsize=(_WIDTH / 2, _WIDTH / 2 * pixels.shape[0] / pixels.shape[1]))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.imshow(pixels)
        axes.set_axis_off()
    return figure


def plot_posture(skeleton: Skeleton) -> Figure:
    """A stick figure in the vertical plane, with its contacts.

    Parameters
    ----------
    skeleton : Skeleton

    Returns
    -------
    Figure
    """
    from hybrid.reporting.figures import DisplayedFigure

    with settings():
        figure = DisplayedFigure(figsize=(_WIDTH / 2, 2.6), layout="constrained")
        axes = figure.subplots()
        for line in skeleton.lines:
            axes.plot(line[:, 0], line[:, -1], color="0.3", linewidth=2, solid_capstyle="round")
        low = _lowest(skeleton)
        axes.axhline(low, color="black", linewidth=0.8)
        for point in skeleton.contacts:
            axes.plot(point[0], point[-1], "o", color="#b2182b", markersize=5)
        axes.set(aspect="equal", xlabel="x (m)", ylabel="z (m)")
        axes.margins(0.15)
    return figure


def _lowest(skeleton: Skeleton) -> float:
    heights: list[NDArray[np.float64]] = [point[-1:] for point in skeleton.contacts]
    heights = heights or [line[:, -1] for line in skeleton.lines]
    return float(min(part.min() for part in heights))
