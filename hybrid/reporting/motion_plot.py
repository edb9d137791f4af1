"""Plots of motions: coordinates, velocities and contact forces over time, with the modes below.

Which quantities of a motion share an axis: those of one unit.

Phase portraits of motions: velocities over coordinates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.reporting.figures import STYLES, Style, StyleName, new_figure, place_legend, settings
from hybrid.reporting.regions import Stroke, line_styles
from hybrid.reporting.samples import APART, ModeSpan, MotionSamples, draw_mode_row, mode_fill, sampled
from hybrid.reporting.symbols import axis_label, heading, symbol_mathtext, with_unit
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from hybrid.motion import MotionTree, Trajectory

__all__ = ["Panel", "choices_of", "panels_of", "plot_motion", "plot_phase", "plot_tree"]


@attrs.frozen
class Panel:
    """Quantities of one unit that share an axis: a field of the curves, its columns, and what they are called."""

    field: str
    label: str
    names: tuple[str, ...]
    columns: tuple[tuple[str, int], ...]


def panels_of(motion: Trajectory, *, one_each: bool) -> list[Panel]:
    """A panel for each unit of positions, velocities and forces; for several motions one for each quantity.

    Parameters
    ----------
    motion : Trajectory
    one_each : bool
        For several motions: one quantity a panel, with its symbol as the label.

    Returns
    -------
    list of Panel
        Positions, then velocities, normal and tangential forces; with labels in matplotlib's mathtext.
    """
    dynamics = motion.dynamics
    units = dynamics.mechanism.units()
    found: list[tuple[str, str, str, tuple[str, int]]] = []
    for field, names in (("q", dynamics.mechanism.coordinates), ("v", dynamics.mechanism.velocities)):
        for index, name in enumerate(names):
            kind = {"q": "position", "v": "velocity"}[field]
            kind = {"rad": "angle", "rad/s": "angular\nvelocity"}.get(units.coordinates[name], kind)
            found.append((kind, units.coordinates[name], symbol_mathtext(name), (field, index)))
    for index, name in enumerate(dynamics.contacts):
        found.append(("contact force", units.forces.get(name, ""), rf"$\lambda_N$ {name}", ("lambda_N", index)))
    for index, name in enumerate(dynamics.rigid):
        if name in dynamics.columns:
            found.append(("contact force", units.forces.get(name, ""), rf"$\lambda_N$ {name}", ("lambda_B", index)))
    for name, columns in dynamics.columns.items():
        for axis, column in enumerate(range(columns.start, columns.stop)):
            label = rf"$\lambda_T$ {name}" if dynamics.dimension(name) == 1 else rf"$\lambda_{{T{axis + 1}}}$ {name}"
            found.append(("contact force", units.tangential_forces.get(name, ""), label, ("lambda_T", column)))
    groups: dict[tuple[str, ...], list[tuple[str, str, str, tuple[str, int]]]] = {}
    for item in found:
        key = (item[2],) if one_each else (item[3][0] if item[3][0] in "qv" else "force", item[1])
        groups.setdefault(key, []).append(item)
    return [
        Panel(
            field=items[0][3][0],
            label=with_unit(items[0][2] if one_each else items[0][0], items[0][1]),
            names=tuple(with_unit(name, unit) for _, unit, name, _ in items),
            columns=tuple(place for *_, place in items),
        )
        for items in groups.values()
    ]


_LETTER, _POINTS_PER_INCH = 0.6, 72.0  # width of a letter in ems
_BESIDE = 2.0  # inches: of labels and legend beside the modes
_LEGEND = 6  # parts of a tree that are named beside one panel
_NAMED = 4  # parts of a tree in the heading


@checks_arguments
def plot_motion(motion: Trajectory, *, title: str = "", style: StyleName = "screen") -> Figure:
    """A motion as a figure: coordinates, velocities and contact forces over time, the modes of every contact below.

    Parameters
    ----------
    motion : Trajectory
    title : str, optional
        Instead of that of the mechanism.
    style : {"screen", "page", "single", "double"}, optional
        For a window, a page, or a column of a journal, which has no title unless one is given.

    Returns
    -------
    matplotlib.figure.Figure
        For :func:`hybrid.reporting.save_figure`. Dotted lines are events; the forces that time-stepping needs for an
        impact, which grow as the step shrinks, lie beyond the frame.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive, simulate
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> figure = plot_motion(simulate(ball, State([1.0], [0.0]), t_end=0.4))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['position (m)', 'velocity (m/s)', 'contact force (N)', '']
    """
    return _drawn({"": motion}, title or _own_title(motion, style), {}, style)


@checks_arguments
def plot_tree(tree: MotionTree, *, title: str = "", style: StyleName = "screen") -> Figure:
    """A tree of motions as a figure: a panel for each quantity, a style for each part, numbered in the rows of modes.

    Parameters
    ----------
    tree : MotionTree
    title : str, optional
        Instead of that of the mechanism.
    style : {"screen", "page", "single", "double"}, optional
        For a window, a page, or a column of a journal, which has no title unless one is given.

    Returns
    -------
    matplotlib.figure.Figure
        As :func:`plot_motion` gives it; numbers are those of ``tree.branches``.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> from hybrid.motion import simulate_branches
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> start = solve_state(rod, {"phi": 2.0, "phi_dot": 1.5, "slip.tip": 1}, parameters={"mu": 1.5})
    >>> figure = plot_tree(simulate_branches(rod, start, t_end=0.05, parameters={"mu": 1.5}))
    >>> [label.get_text() for label in figure.axes[-1].get_yticklabels()]
    ['0: tip', '1: tip', '2: tip']
    """
    choices = choices_of(tree)
    taken = [choices[str(number)] for number, branch in enumerate(tree.branches) if branch.parent is not None]
    rest = [f"{len(taken) - _NAMED} more"] if len(taken) > _NAMED else []
    heading = title or _own_title(tree.branches[0].motion, style)
    if heading:
        heading = "\n".join([heading, ", ".join([*taken[:_NAMED], *rest])]).rstrip()
    return _drawn({str(number): branch.motion for number, branch in enumerate(tree.branches)}, heading, choices, style)


def choices_of(tree: MotionTree) -> dict[str, str]:
    """What the parts of a tree of motions are called: number, choice and the part that they go on from.

    Parameters
    ----------
    tree : MotionTree

    Returns
    -------
    dict of str to str
        By the number as text.
    """
    return {
        str(number): str(number) if branch.parent is None else f"{number}: {branch.choice} after {branch.parent}"
        for number, branch in enumerate(tree.branches)
    }


def _own_title(motion: Trajectory, style: StyleName) -> str:
    mechanism = motion.dynamics.mechanism
    return (mechanism.title or mechanism.name) if STYLES[style].has_title else ""


def _drawn(motions: Mapping[str, Trajectory], title: str, choices: Mapping[str, str], style: StyleName) -> Figure:
    """The figure of motions of one mechanism, by the number that tells them apart; empty for a single one."""
    rows = [(part, name) for part, motion in motions.items() for name in _elements(motion)]
    span = min(m.t_start for m in motions.values()), max(m.t for m in motions.values())
    curves = {part: sampled(motion, whole=span[1] - span[0]) for part, motion in motions.items()}
    panels = panels_of(next(iter(motions.values())), one_each=len(motions) > 1)
    with settings(style) as look:
        # without contacts there are neither forces nor modes to show
        each = (2.0 if len(panels) <= 3 else 1.3) * (1.1 if look.is_narrow else 1.0)
        heights = [*(each for _ in panels), *((0.35 * max(len(rows), 2),) if rows else ())]
        figure = new_figure(style, height=sum(heights) + 1.0)
        drawn = np.atleast_1d(figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)).tolist()
        events = sorted(event.t for motion in motions.values() for event in motion.events)
        for axes, panel in zip(drawn, panels, strict=False):
            for (part, found), line in zip(curves.items(), line_styles(len(curves)), strict=True):
                _draw(axes, panel, found, choices.get(part, part), line if len(curves) > 1 else None)
            axes.set_ylabel(panel.label)
            axes.axhline(0.0, color="0.8", linewidth=0.6, zorder=0)
            for t in _apart(events, APART * (span[1] - span[0])):
                axes.axvline(t, color="0.7", linewidth=0.6, linestyle=":", zorder=0)
            handles, labels = axes.get_legend_handles_labels()
            if len(curves) > 1:  # parts of a tree are the same in every panel: named over the panels, as many as fit
                named = slice(_LEGEND * drawn.index(axes), _LEGEND * (drawn.index(axes) + 1))
                handles, labels = handles[named], labels[named]
            if labels:
                place_legend(axes, handles, look, labels=labels)
        for motion in motions.values():
            if motion.springs is not None:
                _mark_springs(drawn[0], motion.springs.t, look.note)
        if rows:
            _draw_modes(drawn[-1], motions, rows, span, look)
        seconds = next(iter(motions.values())).dynamics.mechanism.units().time
        drawn[-1].set_xlabel(f"time $t$ ({seconds})" if seconds else "time $t$")
        if span[1] > span[0]:
            drawn[-1].set_xlim(*span)
        if title:
            figure.suptitle(heading(title, inches=look.width - 0.4, size=look.heading), fontsize=look.heading)
        figure.align_ylabels()
    return figure


def _elements(motion: Trajectory) -> tuple[str, ...]:
    return tuple(motion.arcs[0].mode) if motion.arcs else (*motion.dynamics.contacts, *motion.dynamics.elements)


def _mark_springs(axes: Axes, t: float, size: float) -> None:
    axes.axvline(t, color="0.4", linewidth=0.9, linestyle="--", zorder=0)
    axes.annotate(
        "springs from here",
        (t, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(3, -3),
        textcoords="offset points",
        va="top",
        fontsize=size,
        color="0.3",
    )


def _draw(axes: Axes, panel: Panel, curves: MotionSamples, part: str, style: tuple[str, Stroke] | None) -> None:
    """The quantities of a panel in styles of their own, or all in that of a part of a tree."""
    styles = line_styles(len(panel.columns))
    drawn = []
    for name, (field, column), own in zip(panel.names, panel.columns, styles, strict=True):
        values = getattr(curves, field)[:, column]
        colour, dash = own if style is None else style
        marker = "." if len(curves.t) == 1 else ""
        label = name if style is None else part
        axes.plot(curves.t, values, label=label, color=colour, linestyle=dash, linewidth=1.2, marker=marker)
        drawn.append(values)
    if panel.field.startswith("lambda") and curves.is_struck.any():
        steady = np.column_stack(drawn)[~curves.is_struck]
        low, high = np.nanmin(steady, initial=0.0), np.nanmax(steady, initial=0.0)
        room = 0.1 * (high - low) or 1.0
        axes.set_ylim(low - room, high + room)


def _draw_modes(
    axes: Axes,
    motions: Mapping[str, Trajectory],
    rows: Sequence[tuple[str, str]],
    span: tuple[float, float],
    look: Style,
) -> None:
    from matplotlib.patches import Patch

    length = max(span[1] - span[0], np.finfo(float).tiny)
    letter = 1.05 * _LETTER * look.note / _POINTS_PER_INCH
    present: dict[str, None] = {}
    for row, (part, name) in enumerate(rows):
        arcs = motions[part].arcs
        if motions[part].t - motions[part].t_start <= APART * length:
            ending = motions[part].termination.name.lower().replace("_", " ")
            axes.text(motions[part].t, row, f" ends at once: {ending}", va="center", fontsize=look.note, color="0.3")
        pieces = [ModeSpan(arc.start, arc.end, arc.mode[name].value) for arc in arcs]
        present |= dict.fromkeys(piece.label for piece in pieces)
        draw_mode_row(axes, row, pieces, span=length, inches=look.width - _BESIDE, letter=letter, size=look.note)
    axes.set_yticks(range(len(rows)), [f"{part}: {name}" if part else name for part, name in rows])
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    if present:
        patches = [Patch(facecolor=mode_fill(mode), edgecolor="0.2", linewidth=0.5, label=mode) for mode in present]
        small: dict[str, Any] = {"fontsize": 0.8 * look.size, "labelspacing": 0.15} if len(patches) > 3 else {}
        place_legend(axes, patches, look, **small)


def _apart(times: Sequence[float], least: float) -> list[float]:
    """Times of which none is nearer to the one before than a given distance."""
    kept: list[float] = []
    for t in times:
        if not kept or t - kept[-1] > least:
            kept.append(t)
    return kept


_EACH = 2.5  # inches: of a panel at least, so that its ticks do not meet


@checks_arguments
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
                _draw_phases(panels[index], curve, index, label, line)
            panels[index].set_xlabel(axis_label(name, units.get(name, "")))
            panels[index].set_ylabel(axis_label(rate, units.get(rate, "")))
        for spare in panels[len(mechanism.coordinates) :]:
            spare.set_axis_off()
        _legend(figure, panels[0], look)
        shown = title or _own_title(next(iter(motions.values())), style)
        if shown:
            figure.suptitle(heading(shown, inches=look.width - 0.4, size=look.heading), fontsize=look.heading)
    return figure


def _draw_phases(axes: Axes, curve: MotionSamples, index: int, label: str, line: tuple[str, Any]) -> None:
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
