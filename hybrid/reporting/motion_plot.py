"""Plots of motions: coordinates, velocities and contact forces over time, with the modes below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics import State
from hybrid.dynamics.units import Units, quantity_units
from hybrid.motion.outcome import EventKind
from hybrid.reporting.plot import settings
from hybrid.reporting.symbols import symbol_mathtext
from hybrid.reporting.timeline import ink_on, mode_fill

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hybrid.motion import Arc, Trajectory

__all__ = ["plot_motion"]

Array = NDArray[np.float64]

_POINTS = 1500  # over the whole time: more than the pixels it gets
_LEAST = 12  # in one arc: a bounce is still round
_APART = 0.004  # of the time: lines nearer to each other would merge into a grey field
_ROOM = 0.06  # of the time: a label fits


@attrs.frozen(eq=False)
class _Curves:
    """Samples of a motion; a row of NaN between two arcs keeps the pen from drawing a jump as a slope."""

    t: Array
    q: Array
    v: Array
    lambda_N: Array
    lambda_T: Array
    is_struck: NDArray[np.bool_]


def plot_motion(motion: Trajectory, *, title: str = "") -> Figure:
    """Draw a motion: coordinates, velocities and contact forces over time, with the modes of every contact below.

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
    ['position', 'velocity', 'contact force', '']
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    dynamics = motion.dynamics
    mechanism = dynamics.mechanism
    names = tuple(motion.arcs[0].mode) if motion.arcs else (*dynamics.contacts, *dynamics.elements)
    curves = _curves(motion)
    units = quantity_units(
        dynamics, State(motion.q_start, motion.v_start, motion.t_start), parameters=motion.parameters
    )
    with settings():
        heights = [2.0, 2.0, 2.0, 0.35 * max(len(names), 2)]
        figure = Figure(figsize=(7.6, sum(heights) + 1.0), layout="constrained")
        FigureCanvasAgg(figure)
        position, velocity, force, modes = figure.subplots(4, 1, sharex=True, height_ratios=heights)
        for axes, wanted, values in (
            (position, mechanism.coordinates, curves.q),
            (velocity, mechanism.velocities, curves.v),
        ):
            _draw(axes, curves.t, [(symbol_mathtext(name), units.coordinates[name]) for name in wanted], values)
        _draw_forces(force, motion, curves, units)
        _draw_modes(modes, motion, names)
        for axes, label in ((position, "position"), (velocity, "velocity"), (force, "contact force")):
            axes.set_ylabel(label)
            axes.axhline(0.0, color="0.8", linewidth=0.6, zorder=0)
            for t in _apart([event.t for event in motion.events], _APART * (motion.t - motion.t_start)):
                axes.axvline(t, color="0.7", linewidth=0.6, linestyle=":", zorder=0)
            if axes.get_legend_handles_labels()[1]:
                axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        modes.set_xlabel("time $t$ (s)")
        if motion.t > motion.t_start:
            modes.set_xlim(motion.t_start, motion.t)
        figure.suptitle((title or mechanism.title or mechanism.name).replace("$", r"\$"), fontsize=10)
    return figure


def _curves(motion: Trajectory) -> _Curves:
    dynamics = motion.dynamics
    k, p = len(dynamics.contacts), sum(dynamics.dimension(name) for name in dynamics.columns)
    lost = np.full(2 * dynamics.n + k + p + 1, np.nan)
    span = max(motion.t - motion.t_start, 1e-300)
    struck = np.array([event.t for event in motion.events if event.kind is EventKind.IMPACT])
    blocks: list[Array] = []
    in_impact: list[NDArray[np.bool_]] = []
    for arc in motion.arcs:
        t = _instants(arc, span)
        q, v = arc.sample(t)
        seen = motion.forces(arc, t)
        blocks += [np.column_stack([t, q, v, seen.lambda_N.T, seen.lambda_T.T]), lost[None, :]]
        steps = arc.knots[arc.step_of(t)]
        in_impact += [np.isin(steps, struck) & (arc.means is not None), np.array([False])]
    if not blocks:
        end = np.concatenate([[motion.t], motion.q, motion.v, np.full(k + p, np.nan)])
        blocks, in_impact = [end[None, :]], [np.array([False])]
    table = np.vstack(blocks)
    t, q, v, lambda_N, lambda_T = np.split(table, np.cumsum([1, dynamics.n, dynamics.n, k]), axis=1)
    return _Curves(t[:, 0], q, v, lambda_N, lambda_T, np.concatenate(in_impact))


def _instants(arc: Arc, span: float) -> Array:
    """Evenly in time; where time-stepping made the arc, its own instants as far as they can be seen."""
    if arc.means is not None and len(arc.knots) <= 4 * _POINTS:
        return arc.knots
    return np.linspace(arc.start, arc.end, max(_LEAST, int(np.ceil(_POINTS * (arc.end - arc.start) / span))))


def _draw(axes: Axes, t: Array, labels: Sequence[tuple[str, str]], values: Array) -> None:
    for (label, unit), column, (colour, dash) in zip(labels, values.T, _styles(len(labels)), strict=True):
        shown = label + (f" ({unit})" if unit not in ("", "1") else "")
        marker = "." if len(t) == 1 else ""
        axes.plot(t, column, label=shown, color=colour, linestyle=dash, linewidth=1.2, marker=marker)


def _styles(count: int) -> list[tuple[str, str]]:
    """Dark, middle and light lines in four dashes: told apart without colour; beyond twenty they repeat."""
    colours = ("#123a6d", "#c1571a", "#2f8f5b", "#7a4fa3", "#8c6d1f")
    styles = [(colour, dash) for dash in ("-", "--", "-.", ":") for colour in colours]
    return [styles[index % len(styles)] for index in range(count)]


def _draw_forces(axes: Axes, motion: Trajectory, curves: _Curves, units: Units) -> None:
    dynamics = motion.dynamics
    places = {name: index for index, name in enumerate((*dynamics.contacts, *dynamics.columns))}
    colours = [colour for colour, _ in _styles(5)]

    def draw(label: str, unit: str, values: Array, name: str, dash: str) -> None:
        colour = colours[list(places).index(name) % len(colours)]
        shown = label + (f" ({unit})" if unit else "")
        axes.plot(curves.t, values, color=colour, linestyle=dash, linewidth=1.2, label=shown)

    for index, name in enumerate(dynamics.contacts):
        draw(rf"$\lambda_N$ {name}", units.forces.get(name, ""), curves.lambda_N[:, index], name, "-")
    for name, columns in dynamics.columns.items():
        for axis, column in enumerate(range(columns.start, columns.stop)):
            label = rf"$\lambda_T$ {name}" if dynamics.dimension(name) == 1 else rf"$\lambda_{{T{axis + 1}}}$ {name}"
            draw(label, units.tangential_forces.get(name, ""), curves.lambda_T[:, column], name, ("--", ":")[axis])
    if curves.is_struck.any():
        steady = np.column_stack([curves.lambda_N, curves.lambda_T])[~curves.is_struck]
        low, high = np.nanmin(steady, initial=0.0), np.nanmax(steady, initial=0.0)
        room = 0.1 * (high - low) or 1.0
        axes.set_ylim(low - room, high + room)


def _draw_modes(axes: Axes, motion: Trajectory, names: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    span = max(motion.t - motion.t_start, np.finfo(float).tiny)
    present: dict[str, None] = {}
    for row, name in enumerate(names):
        labels = [arc.mode[name].value for arc in motion.arcs]
        present |= dict.fromkeys(labels)
        widths = [arc.end - arc.start for arc in motion.arcs]
        axes.broken_barh(
            [(arc.start, width) for arc, width in zip(motion.arcs, widths, strict=True)],
            (row - 0.4, 0.8),
            facecolors=[mode_fill(label) for label in labels],
            edgecolors="0.2",
            linewidths=[0.5 if width > _APART * span else 0.0 for width in widths],
        )
        for arc, label, width in zip(motion.arcs, labels, widths, strict=True):
            if width > _ROOM * span:
                ink = ink_on(mode_fill(label))
                axes.text(arc.start + width / 2, row, label, ha="center", va="center", fontsize=7.5, color=ink)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
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
