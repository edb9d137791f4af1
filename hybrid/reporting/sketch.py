"""Sketches of a mechanism at a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.reporting.figures import settings
from hybrid.reporting.labelling import as_written
from hybrid.reporting.posture import DrawnSurface, Posture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_posture"]

_CORNERS = ((1, 1), (-1, 1), (1, -1), (-1, -1))
"""To the right or left and up or down, those first in which a name is usually read."""


def plot_posture(drawn: Posture) -> Figure:
    """A picture of a mechanism at a state.

    Parameters
    ----------
    drawn : Posture

    Returns
    -------
    matplotlib Figure
        Links as strokes, points with their names, the surfaces of closed contacts hatched on the solid side.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from hybrid.reporting.displayed import DisplayedFigure

    with settings():
        places = np.array(list(drawn.points.values()))
        size = float(np.max(np.ptp(places, axis=0))) or 1.0
        ends = [surface.at + share * size * _along(surface) for surface in drawn.surfaces for share in (-0.5, 0.5)]
        low, high = (extreme(np.vstack([places, *ends]), axis=0) for extreme in (np.min, np.max))
        width, height = (high - low + 0.24 * size).tolist()
        figure = DisplayedFigure(figsize=(3.0, 3.0 * max(0.25, min(1.2, height / width))), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_xlim(low[0] - 0.12 * size, high[0] + 0.12 * size)
        axes.set_ylim(low[1] - 0.12 * size, high[1] + 0.12 * size)
        for surface in drawn.surfaces:
            _surface(axes, surface, size)
        for first, second in drawn.links:
            link = np.array([drawn.points[first], drawn.points[second]])
            axes.plot(link[:, 0], link[:, 1], color="0.25", linewidth=3.5, solid_capstyle="round", zorder=2)
        axes.plot(places[:, 0], places[:, 1], "o", markersize=4.5, color="white", markeredgecolor="black", zorder=3)
        beside: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8, "zorder": 4}
        for name, place in drawn.points.items():
            x, y = _corner(drawn, name)
            aligned: dict[str, Any] = {"ha": "left" if x > 0 else "right", "va": "bottom" if y > 0 else "top"}
            axes.annotate(as_written(name), (place[0], place[1]), xytext=(6 * x, 5 * y), **aligned, **beside)
    return figure


def _corner(drawn: Posture, name: str) -> tuple[int, int]:
    """Of four corners at a point, the one that is farthest from links and solids."""
    place = drawn.points[name]
    taken = [drawn.points[other] - place for link in drawn.links if name in link for other in link if other != name]
    taken += [-surface.normal for surface in drawn.surfaces if np.array_equal(surface.at, place)]
    units = [item / np.linalg.norm(item) for item in taken if np.any(item)]
    return min(_CORNERS, key=lambda corner: round(max((float(corner @ unit) for unit in units), default=0.0), 6))


def _along(surface: DrawnSurface) -> NDArray[np.float64]:
    return np.array([surface.normal[1], -surface.normal[0]])


def _surface(axes: Axes, surface: DrawnSurface, size: float) -> None:
    """A short piece of surface through a point, with strokes into the solid."""
    along = _along(surface)
    ends = surface.at + np.outer([-0.5, 0.5], along) * size
    axes.plot(ends[:, 0], ends[:, 1], color="black", linewidth=1.1, zorder=1)
    for share in np.linspace(-0.46, 0.5, 17):
        top = surface.at + share * size * along
        stroke = np.array([top, top - 0.05 * size * (surface.normal + along)])
        axes.plot(stroke[:, 0], stroke[:, 1], color="0.4", linewidth=0.6, zorder=1)
