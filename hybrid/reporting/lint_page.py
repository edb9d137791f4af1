"""A linted log, as plain values for JSON and as a page: shares, a timeline of the critical factor, the worst frames."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.reporting.figures import new_figure, settings
from hybrid.reporting.page import page_html, page_markdown, picture_html
from hybrid.reporting.records import Json, plain
from hybrid.reporting.symbols import number_text
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from hybrid.numeric.frames import Skeleton
    from hybrid.numeric.lint_report import LintReport, ThresholdShares

__all__ = [
    "RESOLVED_TITLES",
    "lint_pictures",
    "lint_record",
    "lint_view",
    "plot_posture",
    "plot_timeline",
    "render_lint_html",
    "render_lint_markdown",
    "resolved_rows",
]


RESOLVED_TITLES = ("stiffness (N/m)", "penalty: largest", "until", "step (s)", "time stepping", "solutions")

QUANTILES = (0.01, 0.1, 0.5)


def lint_record(report: LintReport, **options: Json) -> dict[str, Json]:
    """A linted log under the keys that the command line promises.

    Parameters
    ----------
    report : LintReport
    **options : object
        Others that were given, to be told among the ``thresholds``.

    Returns
    -------
    dict
        ``verdict_fractions`` and ``by_friction`` are shares of the ``counted`` frames; ``frames`` is ``counted``, those
        of ``resting`` and those of ``left_out`` together.
    """
    resting = sum(report.resting.values())
    record = {
        "model": report.model,
        "frames": report.frames,
        "counted": report.counted,
        "resting": {
            "frames": resting,
            "verdict_fractions": {verdict: count / resting for verdict, count in report.resting.items()},
            "standing": {"frames": report.spatial_rest, "sample": report.spatial_rest_sample},
        },
        "left_out": report.left_out,
        "verdict_fractions": {verdict: count / report.counted for verdict, count in report.verdicts.items()},
        "by_friction": [
            {"friction": friction, "none": none, "several": several} for friction, none, several in report.by_friction
        ],
        "critical_factor": {
            "minimum": report.minimum,
            "quantiles": {str(share): report.quantile(share) for share in QUANTILES},
        },
        "worst": [
            {**attrs.asdict(item), "contacts": list(item.contacts), "A": item.A, "b": item.b} for item in report.worst
        ],
        "friction_in_force": [
            {"pair": list(pair), "value": value, "declared": [first, second], "source": source}
            for pair, value, first, second, source in report.friction_in_force
        ],
        "thresholds": {**attrs.asdict(report.thresholds), **options},
        "notes": list(report.notes),
        "resolved": None if report.resolved is None else attrs.asdict(report.resolved),
        "complete": report.is_complete,
    }
    return {name: plain(value) for name, value in record.items()}


def resolved_rows(run: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Penalty runs and time steps of a frame side by side, in words.

    Parameters
    ----------
    run : mapping
        A record of :class:`ResolvedFriction`.

    Returns
    -------
    list of tuple of str
        Under :data:`RESOLVED_TITLES`; of several contacts the largest force.
    """
    endings = {"slip": "a slip ends", "rebound": "rebound", "steps": "5000 steps"}
    rows = list[tuple[str, ...]]()
    for penalty, step in zip_longest(run["penalty"], run["time_stepping"]):
        left, right = ("", "", ""), ("", "", "")
        if penalty is not None:
            left = (number_text(penalty["stiffness"]), _largest(penalty["force"]), endings[penalty["ending"]])
        if step is not None:
            right = (number_text(step["step"]), " or ".join(map(_largest, step["forces"])), step["verdict"])
        rows.append((*left, *right))
    return rows


def _largest(force: Mapping[str, float]) -> str:
    return number_text(float(f"{max(force.values()):.4g}"))


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
        timeline = picture_html(plot_timeline(report), "timeline", "Critical factor of friction along the log")
        pictures["timeline"] = [timeline]
    for frame, posture in postures.items():
        if isinstance(posture, np.ndarray):  # stays as it is on a dark page
            figure, kind = _picture(posture), "photo"
        else:
            figure, kind = plot_posture(posture), "posture"
        pictures[str(frame)] = [picture_html(figure, f"{kind}-{frame}", f"Posture at frame {frame}")]
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
    with settings():
        figure = new_figure(height=2.6, width=_WIDTH / 2)
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
