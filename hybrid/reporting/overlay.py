"""A motion drawn over a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.errors import StateError
from hybrid.reporting.samples import quantity, sampled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from hybrid.analysis import Axis
    from hybrid.motion import Trajectory

__all__ = ["draw_over"]

_DOTS = (0, (1.2, 1.4))


def draw_over(axes: Axes, motion: Trajectory, swept: tuple[Axis, Axis]) -> list[Line2D]:
    """Draw a motion over a map, white on black so that it is seen on every region.

    Parameters
    ----------
    axes : matplotlib Axes
        Changed; its limits stay.
    motion : Trajectory
    swept : pair of Axis
        Of the map.

    Returns
    -------
    list of matplotlib lines
        With labels, for the legend.

    Raises
    ------
    StateError
        The motion has no such quantity as an axis.
    """
    from matplotlib.patheffects import Normal, Stroke

    samples = sampled(motion)
    x, y = (quantity(motion, samples, axis.name) for axis in swept)
    if x is None or y is None:
        name = swept[0].name if x is None else swept[1].name
        raise StateError(f"{motion.dynamics.name}: a motion has no {name} that could be drawn over the map")
    is_apart = _apart(motion, samples.t)
    found: list[Line2D] = []
    limits = axes.get_xlim(), axes.get_ylim()
    for label, stroke, seen in (("the motion", "-", ~is_apart), ("the motion, a contact apart", _DOTS, is_apart)):
        if np.any(seen & np.isfinite(samples.t)):
            line = np.where(seen, x, np.nan), np.where(seen, y, np.nan)
            edged = [Stroke(linewidth=3.4, foreground="black"), Normal()]
            pen: dict[str, Any] = {"linestyle": stroke, "color": "white", "linewidth": 1.6, "path_effects": edged}
            found += axes.plot(*line, label=label, zorder=4.5, **pen)
    first, last = np.flatnonzero(np.isfinite(samples.t))[[0, -1]]
    dot: dict[str, Any] = {"linestyle": "", "markeredgecolor": "black", "zorder": 5}
    for place, marker, colour, label in ((first, "o", "white", "its start"), (last, "s", "black", "its end")):
        if all(axis.low <= values[place] <= axis.high for axis, values in zip(swept, (x, y), strict=True)):
            found += axes.plot(x[place], y[place], marker=marker, color=colour, label=label, **dot)
    axes.set_xlim(limits[0])
    axes.set_ylim(limits[1])
    return found


def _apart(motion: Trajectory, t: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether a contact of the mechanism is apart, by the mode of the arc in which an instant is."""
    number = np.cumsum(np.isnan(t)) - np.isnan(t)  # arcs are divided by rows of NaN
    free = [any(arc.mode[name].value == "free" for name in motion.dynamics.contacts) for arc in motion.arcs] or [False]
    return np.asarray(np.array(free)[np.minimum(number, len(free) - 1)])
