"""Restitution and absorbed energy over posture and incidence: record and plot.

Maps of agreement between the rigid problem, the compliant limit and penalty runs: records and plots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.reporting.figures import new_figure, settings
from hybrid.reporting.plot import fill_cells, finish
from hybrid.reporting.records import Json, plain
from hybrid.reporting.regions import Fill, fills
from hybrid.reporting.symbols import axis_label, heading
from hybrid.tolerances import NOTHING, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from hybrid.analysis import Axis, ComparisonMap
    from hybrid.analysis.comparison.restitution import RestitutionMap

__all__ = ["comparison_map_record", "plot_comparison_map", "plot_restitution", "restitution_record"]


_WHITE = (1.0, 1.0, 1.0)
_ABOVE_ONE = 1.0 + NOTHING  # a ratio of velocities that is 1 up to rounding does not exceed it


@checks_arguments
def comparison_map_record(found: ComparisonMap) -> dict[str, Json]:
    """A map of agreement as plain JSON values.

    Parameters
    ----------
    found : ComparisonMap

    Returns
    -------
    dict
        ``axes, cells, shares``, and with penalty runs ``stiffness, duration, penalty`` (by verdict: number of cells,
        the modes in which the stiffest runs end, medians of the errors, the orders' median, least and greatest; of
        unique ones how many agree) and ``exceptions[]``.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> from hybrid.analysis import Axis, compare_map
    >>> rod = derive(mechanisms.load("painleve_rod"))
    >>> axes = [Axis.parse("theta=0.1:1.5:8"), Axis.parse("theta_dot=0:3:8")]
    >>> found = compare_map(rod, axes=axes, pins={"slip.tip": 1}, parameters={"mu": 1.5})
    >>> comparison_map_record(found)["cells"]
    64
    """
    axes = [{"name": axis.name, "low": axis.low, "high": axis.high, "n": axis.n} for axis in found.axes]
    record: dict[str, Json] = {
        "axes": axes,
        "cells": int(found.verdict.size),
        "shares": plain(found.shares),
        "stiffness": [],
        "duration": None,
        "penalty": {},
        "exceptions": [],
    }
    runs = found.penalty
    if runs is None:
        return record
    record |= {"stiffness": list(runs.stiffness), "duration": runs.duration, "penalty": dict(_by_verdict(found))}
    record["exceptions"] = [
        {"cell": list(item.cell), "place": list(item.place), "verdict": item.verdict, "reason": item.reason}
        for item in runs.exceptions
    ]
    return record


def _by_verdict(found: ComparisonMap) -> Iterator[tuple[str, Json]]:
    from hybrid.contact import CellVerdict

    runs = found.penalty
    assert runs is not None
    for value in np.unique(found.verdict):
        cells = found.touches & (found.verdict == value)
        if not (runs.mode[-1][cells] >= 0).any():
            continue
        order = runs.order[cells]
        order = order[np.isfinite(order)]
        name = CellVerdict(int(value)).name
        labels, counts = np.unique(runs.mode[-1][cells], return_counts=True)
        summary: dict[str, Json] = {
            "cells": int(cells.sum()),
            "modes": {runs.labels[i]: int(n) for i, n in zip(labels, counts, strict=True) if i >= 0},
            "errors": [plain(float(np.nanmedian(error[cells]))) for error in runs.error],
            "order": None
            if not order.size
            else {"median": float(np.median(order)), "least": float(order.min()), "greatest": float(order.max())},
        }
        if name == "UNIQUE":
            summary["agree"] = int((runs.agrees & cells).sum())
        yield name, summary


@checks_arguments
def plot_comparison_map(found: ComparisonMap, *, units: Mapping[str, str] | None = None, title: str = "") -> Figure:
    """A map of agreement, and beside it the error of the stiffest penalty runs or the velocity after an impact.

    Parameters
    ----------
    found : ComparisonMap
        The first axis is drawn to the right, the second upwards.
    units : mapping of str to str, optional
        Units of the axes by name.
    title : str, optional

    Returns
    -------
    matplotlib Figure
    """
    with settings():
        figure = new_figure(height=4.6, width=9.6)
        left, right = figure.subplots(1, 2, sharey=True)
        _draw_areas(figure, left, found)
        _draw_sizes(figure, right, found)
        for axes in (left, right):
            finish(axes, found.axes[0], found.axes[1], units or {})
        right.set_ylabel("")
        if title:
            figure.suptitle(heading(title, inches=9.0, size=10.5), fontsize=10.5)
    return figure


def _areas(found: ComparisonMap) -> list[tuple[str, str, NDArray[np.bool_]]]:
    """What is drawn in one colour: words, kind and cells."""
    from hybrid.contact import CellVerdict

    is_unique = found.touches & np.isin(found.verdict, [CellVerdict.UNIQUE, CellVerdict.HYPERSTATIC])
    agrees = is_unique & ~found.strikes if found.penalty is None else found.penalty.agrees
    who = "limit" if found.penalty is None else "penalty"
    inconsistent = (found.verdict == CellVerdict.INCONSISTENT) & ~found.locks
    several = (found.verdict == CellVerdict.INDETERMINATE) & ~found.locks
    areas = [
        (f"unique, the {who} follows", "unique", is_unique & agrees),
        (f"unique, the {who} does not settle", "unique", is_unique & ~agrees),
        ("indeterminate: lifts off from rest, strikes from an approach", "several", several),
        ("inconsistent: impact without collision", "none", inconsistent & found.strikes),
        ("inconsistent: comes to rest", "none", inconsistent & ~found.strikes),
        ("impact", "unique", (found.verdict == CellVerdict.IMPACT) & ~found.locks),
        ("friction locks the mechanism", "none", found.locks),
    ]
    rest = ~np.any([cells for _, _, cells in areas], axis=0)
    return [area for area in [*areas, ("no contact, or undecided", "outside", rest)] if area[2].any()]


def _draw_areas(figure: Figure, axes: Axes, found: ComparisonMap) -> None:
    from matplotlib.patches import Patch

    areas = _areas(found)
    inner = iter(fills([kind for _, kind, _ in areas if kind != "outside"]))
    colours = [Fill(_WHITE, "") if kind == "outside" else next(inner) for _, kind, _ in areas]
    fill_cells(axes, [(cells, fill) for (_, _, cells), fill in zip(areas, colours, strict=True)], *found.axes)
    handles = [
        Patch(facecolor=fill.colour, edgecolor="0.4", linewidth=0.4, label=f"{words}  {100 * cells.mean():.1f} %")
        for fill, (words, _, cells) in zip(colours, areas, strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower left", frameon=False, ncols=1, fontsize=8)
    axes.set_title("Rigid problem and compliant contact", fontsize=9.5)


def _draw_sizes(figure: Figure, axes: Axes, found: ComparisonMap) -> None:
    runs = found.penalty
    if runs is None:
        values, label = found.gap_dot_after, "normal velocity after the impact of the limit"
        title = "Where the limit strikes"
    else:
        with np.errstate(divide="ignore"):
            values = np.log10(np.maximum(runs.error[-1], ROUNDING))
        label, title = "log10 of the error of the velocities", f"Penalty runs at K = {runs.stiffness[-1]:g}"
    axes.set_title(title, fontsize=9.5)
    if not np.isfinite(values).any():
        middle: dict[str, Any] = {"ha": "center", "va": "center", "transform": axes.transAxes, "color": "0.4"}
        axes.text(0.5, 0.5, "in no cell", **middle)
        axes.set_xlim(found.axes[0].low, found.axes[0].high)
        return
    image = axes.imshow(
        np.ma.masked_invalid(values).T, origin="lower", extent=_extent(found), aspect="auto",
        interpolation="nearest", cmap="viridis",
    )  # fmt: skip
    figure.colorbar(image, ax=axes, label=label)


def _extent(found: ComparisonMap) -> tuple[float, float, float, float]:
    first, second = found.axes
    return (first.low, first.high, second.low, second.high)


def restitution_record(found: RestitutionMap) -> dict[str, Json]:
    """Extremes of a sweep and where they are, as plain JSON values.

    Parameters
    ----------
    found : RestitutionMap

    Returns
    -------
    dict
        ``axes, restitution, absorbed``: the least and the greatest value with their places, None if no cell has one.
    """

    def extremes(values: NDArray[np.float64]) -> dict[str, Json]:
        answer: dict[str, Json] = {}
        is_known = np.isfinite(values)
        for name, sign in (("least", 1.0), ("greatest", -1.0)):
            place = np.unravel_index(int(np.argmin(np.where(is_known, sign * values, np.inf))), values.shape)
            at = zip(found.axes, place, strict=True)
            where = {axis.name: float(axis.values[k]) if is_known.any() else None for axis, k in at}
            answer[name] = {"value": plain(float(values[place])), "at": where}
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
    first, second = found.axes
    with settings():
        figure = new_figure(height=3.7, width=9.0)
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
            if min(values.shape) > 1 and (values < _ABOVE_ONE).any() and (values > _ABOVE_ONE).any():
                axes.contour(*middles, values, levels=[_ABOVE_ONE], colors="white", linewidths=0.8)
            axes.set_title(name, fontsize=9.5)
            axes.set_xlabel("incidence from the normal (degrees)")
            figure.colorbar(mesh, ax=axes)
        figure.axes[0].set_ylabel(axis_label(first.name, unit))
        if title:
            figure.suptitle(heading(title, inches=8.6, size=10.5), fontsize=10.5)
    return figure


def _edges(axis: Axis) -> NDArray[np.float64]:
    return axis.at(np.arange(axis.cells + 1) / axis.cells)
