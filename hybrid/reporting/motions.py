"""Motions as plain JSON objects and as plots: coordinates, contact forces, and the modes over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.reporting.plot import settings
from hybrid.reporting.records import plain
from hybrid.reporting.symbols import symbol_mathtext

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hybrid.contact.modes import Mode
    from hybrid.motion import Event, MotionTree, Trajectory

__all__ = ["motion_record", "plot_motion", "tree_record"]

_POINTS = 200  # per arc: more than the pixels it gets
_FILLS = {"free": "#f4f8a8", "stick": "#14a7bb", "slide+": "#77d9af", "slide-": "#1072b2", "closed": "#c9b8e8"}
_OTHER_FILL = "#dddddd"


def motion_record(motion: Trajectory) -> dict[str, Any]:
    """A motion as a plain JSON object.

    Parameters
    ----------
    motion : Trajectory

    Returns
    -------
    dict
        Keys ``mechanism, events, termination, cause, final, energy, warnings``.
    """
    energy = motion.energy()
    return {
        "mechanism": motion.dynamics.name,
        "events": [_event_record(motion, event) for event in motion.events],
        "termination": motion.termination.name,
        "cause": motion.cause,
        "final": {"t": float(motion.t), "q": _named(motion, motion.q), "v": _named(motion, motion.v, rates=True)},
        "energy": {
            "initial": plain(energy.initial),
            "final": plain(energy.final),
            "dissipated": plain(energy.dissipated),
            "applied": plain(energy.applied),
            "residual": plain(energy.residual),
        },
        "warnings": list(motion.warnings),
    }


def tree_record(tree: MotionTree) -> dict[str, Any]:
    """All motions from one state as a plain JSON object: the first, and under ``limbs`` every part with its parent."""
    limbs = [{"parent": limb.parent, "choice": limb.choice, **motion_record(limb.motion)} for limb in tree.limbs]
    return {**motion_record(tree.limbs[0].motion), "limbs": limbs, "complete": tree.is_complete}


def _named(motion: Trajectory, values: Any, *, rates: bool = False) -> dict[str, float]:
    mechanism = motion.dynamics.mechanism
    names = mechanism.velocities if rates else mechanism.coordinates
    return {name: float(value) + 0.0 for name, value in zip(names, values, strict=True)}


def _modes(mode: Mode | None) -> dict[str, str]:
    return {} if mode is None else {name: label.value for name, label in mode.items()}


def _event_record(motion: Trajectory, event: Event) -> dict[str, Any]:
    return {
        "t": float(event.t),
        "kind": event.kind.value,
        "contact": ", ".join(event.carriers),
        "mode_before": _modes(event.mode_before),
        "mode_after": _modes(event.mode_after),
        "q": _named(motion, event.q),
        "v": _named(motion, event.v_after, rates=True),
        "verdict": None if event.verdict is None else event.verdict.name,
        "note": event.note,
    }


def plot_motion(motion: Trajectory, *, title: str = "") -> Figure:
    """Draw a motion: coordinates, velocities and contact forces over time, with the modes of every contact below.

    Parameters
    ----------
    motion : Trajectory
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        For :func:`hybrid.reporting.save_figure`.
    """
    from matplotlib.figure import Figure

    with settings():
        names = motion.dynamics.contacts + motion.dynamics.elements
        heights = [2.0, 2.0, 2.0, 0.35 * max(len(names), 1)]
        figure = Figure(figsize=(7.4, sum(heights) + 1.0), layout="constrained")
        position, velocity, force, modes = figure.subplots(4, 1, sharex=True, height_ratios=heights)
        mechanism = motion.dynamics.mechanism
        for index, style in zip(range(motion.dynamics.n), _styles(), strict=False):
            for arc in motion.arcs:
                t = np.linspace(arc.start, arc.end, _POINTS)
                q, v = arc.sample(t)
                first = arc is motion.arcs[0]
                for axes, values, name in (
                    (position, q, mechanism.coordinates[index]),
                    (velocity, v, mechanism.velocities[index]),
                ):
                    label = symbol_mathtext(name) if first else None
                    axes.plot(t, values[:, index], label=label, color=style[0], linestyle=style[1], linewidth=1.2)
        _draw_forces(force, motion)
        _draw_modes(modes, motion, names)
        for axes, label in ((position, "position"), (velocity, "velocity"), (force, "contact force")):
            axes.set_ylabel(label)
            axes.axhline(0.0, color="0.8", linewidth=0.6, zorder=0)
            for event in motion.events:
                axes.axvline(event.t, color="0.75", linewidth=0.6, linestyle=":", zorder=0)
            if axes.get_legend_handles_labels()[1]:
                axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        modes.set_xlabel("time $t$ (s)")
        modes.set_xlim(motion.t_start, motion.t)
        figure.suptitle(title or mechanism.title or mechanism.name)
    return figure


def _styles() -> list[tuple[str, str]]:
    """Dark, middle and light lines in three dashes: told apart without colour."""
    colours = ("#123a6d", "#c1571a", "#2f8f5b", "#7a4fa3", "#8c6d1f")
    return [(colour, dash) for dash in ("-", "--", "-.", ":") for colour in colours]


def _draw_forces(axes: Axes, motion: Trajectory) -> None:
    dynamics = motion.dynamics
    tangential = [
        name if dynamics.dimension(name) == 1 else f"{name} {axis + 1}"
        for name in dynamics.columns
        for axis in range(dynamics.dimension(name))
    ]
    for arc in motion.arcs:
        t = np.linspace(arc.start, arc.end, _POINTS)
        seen = motion.forces(arc, t)
        for kind, dash, names, forces in (
            ("N", "-", dynamics.contacts, seen.lambda_N),
            ("T", "--", tangential, seen.lambda_T),
        ):
            for name, values, (colour, _) in zip(names, forces, _styles(), strict=False):
                label = rf"$\lambda_{kind}$ {name}" if arc is motion.arcs[0] else None
                axes.plot(t, values, color=colour, linestyle=dash, linewidth=1.2, label=label)


def _draw_modes(axes: Axes, motion: Trajectory, names: tuple[str, ...]) -> None:
    span = max(motion.t - motion.t_start, np.finfo(float).tiny)
    for row, name in enumerate(names):
        for arc in motion.arcs:
            label = arc.mode[name].value
            width = arc.end - arc.start
            fill = _FILLS.get(label, _OTHER_FILL)
            axes.barh(row, width, left=arc.start, height=0.8, color=fill, edgecolor="0.2", linewidth=0.5)
            if width > 0.06 * span:
                ink = "white" if label in ("slide-",) else "black"
                axes.text(arc.start + width / 2, row, label, ha="center", va="center", fontsize=7.5, color=ink)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
