"""Restitution and absorbed energy over posture and incidence: record and plot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.reporting.figures import settings
from hybrid.reporting.labelling import axis_label, heading
from hybrid.reporting.records import Json, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hybrid.analysis import Axis
    from hybrid.analysis.comparison.restitution import RestitutionMap

__all__ = ["plot_restitution", "restitution_record"]


def restitution_record(found: RestitutionMap) -> dict[str, Json]:
    """Extremes of a sweep and where they are, as plain JSON values.

    Parameters
    ----------
    found : RestitutionMap

    Returns
    -------
    dict
        ``axes, restitution, absorbed``: the least and the greatest value with their places.
    """
    first, second = found.axes

    def extremes(values: NDArray[np.float64]) -> dict[str, Json]:
        places = {"least": np.nanargmin(values), "greatest": np.nanargmax(values)}
        answer: dict[str, Json] = {}
        for name, flat in places.items():
            i, j = np.unravel_index(int(flat), values.shape)
            at = {first.name: float(first.values[i]), second.name: float(second.values[j])}
            answer[name] = {"value": plain(float(values[i, j])), "at": at}
        return answer

    axes = [{"name": axis.name, "low": axis.low, "high": axis.high, "n": axis.n} for axis in found.axes]
    return {"axes": axes, "restitution": extremes(found.restitution), "absorbed": extremes(found.absorbed)}


def plot_restitution(found: RestitutionMap, *, units: Mapping[str, str] | None = None, title: str = "") -> Figure:
    """Restitution and absorbed share of energy as a figure, the incidence to the right in degrees.

    Parameters
    ----------
    found : RestitutionMap
    units : mapping of str to str, optional
        Unit of the swept quantity by its name.
    title : str, optional

    Returns
    -------
    matplotlib Figure
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from hybrid.reporting.displayed import DisplayedFigure

    first, second = found.axes
    with settings():
        figure = DisplayedFigure(figsize=(9.0, 3.7), layout="constrained")
        FigureCanvasAgg(figure)
        unit = (units or {}).get(first.name, "")
        for axes, values, name in zip(
            figure.subplots(1, 2, sharey=True),
            (found.restitution, found.absorbed),
            ("restitution  $-v_N^+/v_N^-$", "absorbed share of the kinetic energy"),
            strict=True,
        ):
            # edges of the cells, or a sweep of one cell would have no area
            angles, across = np.degrees(_edges(second)), _edges(first)
            mesh = axes.pcolormesh(angles, across, values, cmap="cividis", rasterized=True)
            middles = np.degrees(second.values), first.values
            if min(values.shape) > 1 and np.nanmin(values) < 1.0 < np.nanmax(values):
                axes.contour(*middles, values, levels=[1.0], colors="white", linewidths=0.8)
            axes.set_title(name, fontsize=9.5)
            axes.set_xlabel("incidence from the normal (degrees)")
            figure.colorbar(mesh, ax=axes)
        figure.axes[0].set_ylabel(axis_label(first.name, unit))
        if title:
            figure.suptitle(heading(title, inches=8.6, size=10.5), fontsize=10.5)
    return figure


def _edges(axis: Axis) -> NDArray[np.float64]:
    return axis.at(np.arange(axis.cells + 1) / axis.cells)
