"""Phase portraits of motions: velocities over coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.reporting.empty_figure import new_figure
from hybrid.reporting.figures import STYLES, Style, StyleName, settings
from hybrid.reporting.labelling import axis_label, heading
from hybrid.reporting.motion_plot import choices_of
from hybrid.reporting.palette import line_styles
from hybrid.reporting.samples import MotionSamples, sampled
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hybrid.motion import MotionTree, Trajectory

__all__ = ["plot_phase"]

_EACH = 2.5  # inches: of a panel at least, so that its ticks do not meet
_LEGEND = 6  # parts of a tree that are named


def plot_phase(found: Trajectory | MotionTree, *, title: str = "", style: StyleName = "screen") -> Figure:
    """The phase portrait of a motion, or of every part of a tree of motions: a panel for each coordinate.

    Parameters
    ----------
    found : Trajectory or MotionTree
    title : str, optional
        Instead of that of the mechanism.
    style : {"screen", "page", "single", "double"}, optional
        For a window, a page, or a column of a journal, which has no title unless one is given.

    Returns
    -------
    matplotlib.figure.Figure
        A circle is the start, a square the end; a dotted line is a velocity that jumps, as in an impact.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive, simulate
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> figure = plot_phase(simulate(ball, State([1.0], [0.0]), t_end=0.4))
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    ('$y$  (m)', '$\\\\dot{y}$  (m/s)')
    """
    from hybrid.motion import MotionTree

    if isinstance(found, MotionTree):
        motions = {str(number): branch.motion for number, branch in enumerate(found.branches)}
        labels = choices_of(found)
    else:
        motions, labels = {"": found}, {"": ""}
    mechanism = next(iter(motions.values())).dynamics.mechanism
    whole = max(motion.t for motion in motions.values()) - min(motion.t_start for motion in motions.values())
    curves = {labels[part]: sampled(motion, whole=whole) for part, motion in motions.items()}
    units = mechanism.units().coordinates
    with settings(style) as look:
        columns = min(len(mechanism.coordinates), max(1, int(look.width / _EACH)))
        rows = -(-len(mechanism.coordinates) // columns)
        figure = new_figure(style, height=rows * 0.85 * look.width / max(columns, 2) + 0.9)
        panels = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
        for index, (name, rate) in enumerate(zip(mechanism.coordinates, mechanism.velocities, strict=True)):
            for (label, curve), line in zip(curves.items(), line_styles(len(curves)), strict=True):
                _draw(panels[index], curve, index, label, line)
            panels[index].set_xlabel(axis_label(name, units.get(name, "")))
            panels[index].set_ylabel(axis_label(rate, units.get(rate, "")))
        for spare in panels[len(mechanism.coordinates) :]:
            spare.set_axis_off()
        _legend(figure, panels[0], look)
        shown = title or ((mechanism.title or mechanism.name) if STYLES[style].has_title else "")
        if shown:
            figure.suptitle(heading(shown, inches=look.width - 0.4, size=look.heading), fontsize=look.heading)
    return figure


def _draw(axes: Axes, curve: MotionSamples, index: int, label: str, line: tuple[str, Any]) -> None:
    colour, stroke = line
    q, v = curve.q[:, index], curve.v[:, index]
    axes.plot(q, v, color=colour, linestyle=stroke, linewidth=1.3, label=label or "_motion")
    axes.plot(*_jumps(q, v), color=colour, linestyle=":", linewidth=0.8, label="_jumps")
    seen = np.flatnonzero(np.isfinite(q))
    mark: dict[str, Any] = {"linestyle": "", "markeredgecolor": colour, "markersize": 5, "zorder": 3}
    axes.plot(q[seen[0]], v[seen[0]], marker="o", markerfacecolor="white", label="_start", **mark)
    axes.plot(q[seen[-1]], v[seen[-1]], marker="s", markerfacecolor=colour, label="_end", **mark)


def _jumps(q: NDArray[np.float64], v: NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """From the end of every arc to the start of the next, where the velocity is another one there."""
    across: list[float] = []
    up: list[float] = []
    lost = np.flatnonzero(np.isnan(q))
    for gap in lost[(lost > 0) & (lost < len(q) - 1)].tolist():
        if abs(v[gap + 1] - v[gap - 1]) > NOTHING * np.nanmax(np.abs(v)):
            across += [q[gap - 1], q[gap + 1], np.nan]
            up += [v[gap - 1], v[gap + 1], np.nan]
    return across, up


def _legend(figure: Figure, axes: Axes, look: Style) -> None:
    """What circles, squares and dotted lines mean, and the parts of a tree."""
    from matplotlib.lines import Line2D

    every = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    # a start that branches at once is a point
    parts = [line for line in every if np.size(line.get_xdata()) > 1] or every
    more = [Line2D([], [], linestyle="", label=f"and {len(parts) - _LEGEND} more")] if len(parts) > _LEGEND else []
    ink: dict[str, Any] = {"color": "0.2", "markersize": 5}
    handles = [
        *parts[:_LEGEND],
        *more,
        Line2D([], [], linestyle="", marker="o", markerfacecolor="white", label="start", **ink),
        Line2D([], [], linestyle="", marker="s", label="end", **ink),
    ]
    if any(line.get_label() == "_jumps" and np.size(line.get_xdata()) for line in axes.get_lines()):
        handles.append(Line2D([], [], linestyle=":", linewidth=0.8, color="0.2", label="velocity jumps"))
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = max(1, int(look.width / ((0.6 * longest + 4) * look.size / 72)))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(columns, len(handles)), frameon=False)
