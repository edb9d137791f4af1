"""Plots of motions: coordinates, velocities and contact forces over time, with the modes below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.motion.outcome import EventKind
from hybrid.reporting.labelling import heading
from hybrid.reporting.panels import Panel, panels_of
from hybrid.reporting.plot import settings
from hybrid.reporting.scene import constraint_forces
from hybrid.reporting.timeline import ink_on, mode_fill

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hybrid.motion import Arc, MotionTree, Trajectory

__all__ = ["plot_motion", "plot_tree"]

Array = NDArray[np.float64]

_POINTS = 1500  # over the whole time: more than the pixels it gets
_LEAST = 12  # in one arc: a bounce is still round
_APART = 0.004  # of the time: lines nearer to each other would merge into a grey field
_ROOM = 0.06  # of the time: a label fits
_LEGEND = 6  # parts of a tree that are named beside one panel
_NAMED = 4  # parts of a tree in the heading


@attrs.frozen(eq=False)
class _Curves:
    """Samples of a motion; a row of NaN between two arcs keeps the pen from drawing a jump as a slope."""

    t: Array
    q: Array
    v: Array
    lambda_N: Array
    lambda_T: Array
    lambda_B: Array
    is_struck: NDArray[np.bool_]


def plot_motion(motion: Trajectory, *, title: str = "") -> Figure:
    """A motion as a figure: coordinates, velocities and contact forces over time, the modes of every contact below.

    Parameters
    ----------
    motion : Trajectory
    title : str, optional
        Instead of that of the mechanism.

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
    return _drawn({"": motion}, title or motion.dynamics.mechanism.title or motion.dynamics.name, {})


def plot_tree(tree: MotionTree, *, title: str = "") -> Figure:
    """A tree of motions as a figure: a panel for each quantity, a style for each part, numbered in the rows of modes.

    Parameters
    ----------
    tree : MotionTree
    title : str, optional
        Instead of that of the mechanism.

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
    mechanism = tree.branches[0].motion.dynamics.mechanism
    choices = {
        str(number): str(number) if branch.parent is None else f"{number}: {branch.choice} after {branch.parent}"
        for number, branch in enumerate(tree.branches)
    }
    taken = [choices[str(number)] for number, branch in enumerate(tree.branches) if branch.parent is not None]
    rest = [f"{len(taken) - _NAMED} more"] if len(taken) > _NAMED else []
    heading = "\n".join([title or mechanism.title or mechanism.name, ", ".join([*taken[:_NAMED], *rest])])
    return _drawn(
        {str(number): branch.motion for number, branch in enumerate(tree.branches)}, heading.rstrip(), choices
    )


def _drawn(motions: Mapping[str, Trajectory], title: str, choices: Mapping[str, str]) -> Figure:
    """The figure of motions of one mechanism, by the number that tells them apart; empty for a single one."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = [(part, name) for part, motion in motions.items() for name in _elements(motion)]
    span = min(m.t_start for m in motions.values()), max(m.t for m in motions.values())
    curves = {part: _curves(motion, span[1] - span[0]) for part, motion in motions.items()}
    panels = panels_of(next(iter(motions.values())), one_each=len(motions) > 1)
    with settings():
        # without contacts there are neither forces nor modes to show
        each = 2.0 if len(panels) <= 3 else 1.3
        heights = [*(each for _ in panels), *((0.35 * max(len(rows), 2),) if rows else ())]
        figure = Figure(figsize=(7.6, sum(heights) + 1.0), layout="constrained")
        FigureCanvasAgg(figure)
        drawn = np.atleast_1d(figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)).tolist()
        events = sorted(event.t for motion in motions.values() for event in motion.events)
        for axes, panel in zip(drawn, panels, strict=False):
            for (part, found), style in zip(curves.items(), _styles(len(curves)), strict=True):
                _draw(axes, panel, found, choices.get(part, part), style if len(curves) > 1 else None)
            axes.set_ylabel(panel.label)
            axes.axhline(0.0, color="0.8", linewidth=0.6, zorder=0)
            for t in _apart(events, _APART * (span[1] - span[0])):
                axes.axvline(t, color="0.7", linewidth=0.6, linestyle=":", zorder=0)
            handles, labels = axes.get_legend_handles_labels()
            if len(curves) > 1:  # parts of a tree are the same in every panel: named over the panels, as many as fit
                named = slice(_LEGEND * drawn.index(axes), _LEGEND * (drawn.index(axes) + 1))
                handles, labels = handles[named], labels[named]
            if labels:
                axes.legend(handles, labels, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        for motion in motions.values():
            if motion.handed_over is not None:
                _mark_springs(drawn[0], motion.handed_over.t)
        if rows:
            _draw_modes(drawn[-1], motions, rows, span)
        seconds = next(iter(motions.values())).dynamics.mechanism.units().time
        drawn[-1].set_xlabel(f"time $t$ ({seconds})" if seconds else "time $t$")
        if span[1] > span[0]:
            drawn[-1].set_xlim(*span)
        figure.suptitle(heading(title, inches=7.2, size=10), fontsize=10)
    return figure


def _elements(motion: Trajectory) -> tuple[str, ...]:
    return tuple(motion.arcs[0].mode) if motion.arcs else (*motion.dynamics.contacts, *motion.dynamics.elements)


def _mark_springs(axes: Axes, t: float) -> None:
    axes.axvline(t, color="0.4", linewidth=0.9, linestyle="--", zorder=0)
    axes.annotate(
        "springs from here",
        (t, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(3, -3),
        textcoords="offset points",
        va="top",
        fontsize=7.5,
        color="0.3",
    )


def _curves(motion: Trajectory, whole: float) -> _Curves:
    dynamics = motion.dynamics
    k, p = len(dynamics.contacts), sum(dynamics.dimension(name) for name in dynamics.columns)
    m = len(dynamics.rigid)
    lost = np.full(2 * dynamics.n + k + p + m + 1, np.nan)
    span = max(whole, 1e-300)
    struck = np.array([event.t for event in motion.events if event.kind is EventKind.IMPACT])
    blocks: list[Array] = []
    in_impact: list[NDArray[np.bool_]] = []
    for arc in motion.arcs:
        t = _instants(arc, span)
        q, v = arc.sample(t)
        seen = motion.forces(arc, t)
        rails = constraint_forces(motion, arc, t, q, v, seen)
        blocks += [np.column_stack([t, q, v, seen.lambda_N.T, seen.lambda_T.T, rails]), lost[None, :]]
        steps = arc.knots[arc.step_of(t)]
        in_impact += [np.isin(steps, struck) & (arc.means is not None), np.array([False])]
    if not blocks:
        end = np.concatenate([[motion.t], motion.q, motion.v, np.full(k + p + m, np.nan)])
        blocks, in_impact = [end[None, :]], [np.array([False])]
    table = np.vstack(blocks)
    t, q, v, pressing, dragging, held = np.split(table, np.cumsum([1, dynamics.n, dynamics.n, k, p]), axis=1)
    return _Curves(t[:, 0], q, v, pressing, dragging, held, np.concatenate(in_impact))


def _instants(arc: Arc, span: float) -> Array:
    """Evenly in time; where time-stepping made the arc, its own instants as far as they can be seen."""
    if arc.means is not None and len(arc.knots) <= 4 * _POINTS:
        return arc.knots
    return np.linspace(arc.start, arc.end, max(_LEAST, int(np.ceil(_POINTS * (arc.end - arc.start) / span))))


def _draw(axes: Axes, panel: Panel, curves: _Curves, part: str, style: tuple[str, str] | None) -> None:
    """The quantities of a panel in styles of their own, or all in that of a part of a tree."""
    styles = _styles(len(panel.columns))
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


def _styles(count: int) -> list[tuple[str, str]]:
    """Dark, middle and light lines in four dashes: told apart without colour; beyond twenty they repeat."""
    colours = ("#123a6d", "#c1571a", "#2f8f5b", "#7a4fa3", "#8c6d1f")
    styles = [(colour, dash) for dash in ("-", "--", "-.", ":") for colour in colours]
    return [styles[index % len(styles)] for index in range(count)]


def _draw_modes(
    axes: Axes, motions: Mapping[str, Trajectory], rows: Sequence[tuple[str, str]], span: tuple[float, float]
) -> None:
    from matplotlib.patches import Patch

    length = max(span[1] - span[0], np.finfo(float).tiny)
    present: dict[str, None] = {}
    for row, (part, name) in enumerate(rows):
        arcs = motions[part].arcs
        if motions[part].t - motions[part].t_start <= _APART * length:
            ending = motions[part].termination.name.lower().replace("_", " ")
            axes.text(motions[part].t, row, f" ends at once: {ending}", va="center", fontsize=7.5, color="0.3")
        labels = [arc.mode[name].value for arc in arcs]
        present |= dict.fromkeys(labels)
        widths = [arc.end - arc.start for arc in arcs]
        axes.broken_barh(
            [(arc.start, width) for arc, width in zip(arcs, widths, strict=True)],
            (row - 0.4, 0.8),
            facecolors=[mode_fill(label) for label in labels],
            edgecolors="0.2",
            linewidths=[0.5 if width > _APART * length else 0.0 for width in widths],
        )
        for arc, label, width in zip(arcs, labels, widths, strict=True):
            if width > _ROOM * length:
                ink = ink_on(mode_fill(label))
                axes.text(arc.start + width / 2, row, label, ha="center", va="center", fontsize=7.5, color=ink)
    axes.set_yticks(range(len(rows)), [f"{part}: {name}" if part else name for part, name in rows])
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    if present:
        patches = [Patch(facecolor=mode_fill(mode), edgecolor="0.2", linewidth=0.5, label=mode) for mode in present]
        small = {"fontsize": 7.0, "labelspacing": 0.15} if len(patches) > 3 else {}
        axes.legend(handles=patches, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, **small)


def _apart(times: Sequence[float], least: float) -> list[float]:
    """Times of which none is nearer to the one before than a given distance."""
    kept: list[float] = []
    for t in times:
        if not kept or t - kept[-1] > least:
            kept.append(t)
    return kept
