"""Restitution and absorbed energy over posture and incidence: record and plot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.reporting.plot import settings
from hybrid.reporting.records import Json, plain
from hybrid.reporting.symbols import symbol_mathtext

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    """Draw restitution and absorbed share of energy, the incidence to the right in degrees.

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
    from matplotlib.figure import Figure

    first, second = found.axes
    with settings():
        figure = Figure(figsize=(9.0, 3.7), layout="constrained")
        FigureCanvasAgg(figure)
        unit = (units or {}).get(first.name, "")
        for axes, values, name in zip(
            figure.subplots(1, 2, sharey=True),
            (found.restitution, found.absorbed),
            ("restitution  $-v_N^+/v_N^-$", "absorbed share of the kinetic energy"),
            strict=True,
        ):
            angles = np.degrees(second.values)
            mesh = axes.pcolormesh(angles, first.values, values, cmap="cividis", rasterized=True)
            if np.nanmin(values) < 1.0 < np.nanmax(values):
                axes.contour(angles, first.values, values, levels=[1.0], colors="white", linewidths=0.8)
            axes.set_title(name, fontsize=9.5)
            axes.set_xlabel("incidence from the normal (degrees)")
            figure.colorbar(mesh, ax=axes)
        figure.axes[0].set_ylabel(symbol_mathtext(first.name) + (f"  ({unit})" if unit not in ("", "1") else ""))
        if title:
            figure.suptitle(title.replace("$", r"\$"), fontsize=10.5)
    return figure
