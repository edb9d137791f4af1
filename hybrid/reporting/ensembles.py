"""Pictures of ensembles: how motions end, when their events are, where they started, and where they are at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.reporting.figures import new_figure, settings
from hybrid.reporting.symbols import axis_label, heading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from hybrid.analysis import Ensemble

__all__ = ["plot_ensemble"]

# Okabe and Ito (2008): told apart by people who are colour-blind, and by lightness
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#000000")
_BINS = 60
_MOST_POINTS = 20_000
_WIDTH, _HEIGHT = 9.6, 7.4


@checks_arguments
def plot_ensemble(
    found: Ensemble,
    *,
    coordinate: str | None = None,
    units: Mapping[str, str] | None = None,
    title: str = "",
) -> Figure:
    """An ensemble as a figure of four parts.

    How the motions end, by termination and verdict; a histogram of the times of their events; their starts over the
    first two quantities that differ; and the phase portrait of one coordinate at the ends, both coloured by verdict.

    Parameters
    ----------
    found : Ensemble
    coordinate : str, optional
        Of the phase portrait; by default the last one.
    units : mapping of str to str, optional
        Units by name, instead of those that the ensemble knows.
    title : str, optional

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    StateError
        There is no such coordinate.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, ensemble
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> ranges = {"phi": (0.2, 2.9), "slip.tip": (-1, 1)}
    >>> found = ensemble(rod, vary=ranges, pins={"phi_dot": 0}, n=40, seed=1, t_end=0.5)
    >>> len(plot_ensemble(found, coordinate="phi").axes)
    4
    """
    place = found.place_of(coordinate)
    units = found.units if units is None else units
    with settings():
        figure = new_figure(height=_HEIGHT, width=_WIDTH)
        ends, times, starts, portrait = figure.subplots(2, 2).ravel()
        _draw_ends(ends, found)
        _draw_events(times, found, units)
        verdicts = list(found.counts(found.verdict))
        group = np.array([verdicts.index(name) if name is not None else -1 for name in found.verdict])
        _draw_starts(starts, found, verdicts, group, units)
        names = found.columns[place], found.columns[place + (len(found.columns) - 1) // 2]
        _scatter(portrait, found.end[:, place], found.end[:, found.columns.index(names[1])], verdicts, group)
        portrait.set_xlabel(axis_label(names[0], units.get(names[0], "")))
        portrait.set_ylabel(axis_label(names[1], units.get(names[1], "")))
        portrait.set_title("Phase portrait at the ends", fontsize=9.5)
        if title:
            figure.suptitle(heading(title, inches=_WIDTH - 0.4, size=10.5), fontsize=10.5)
    return figure


def _draw_ends(axes: Axes, found: Ensemble) -> None:
    rows = [(name, count, _COLOURS[0]) for name, count in found.counts(found.termination).items()]
    rows += [(name, count, _COLOURS[1]) for name, count in found.counts(found.verdict).items()]
    place = -np.arange(len(rows), dtype=float)
    place[len(found.counts(found.termination)) :] -= 0.6
    axes.barh(place, [count for _, count, _ in rows], color=[colour for *_, colour in rows], height=0.7)
    axes.set_yticks(place, [name.lower().replace("_", " ") for name, *_ in rows])
    for y, (_, count, _) in zip(place.tolist(), rows, strict=True):
        axes.annotate(str(count), (count, y), (3, 0), textcoords="offset points", va="center", fontsize=8)
    axes.margins(x=0.15)
    axes.set_xlabel("motions")
    axes.set_title("How motions end, and the verdict there", fontsize=9.5)


def _draw_events(axes: Axes, found: Ensemble, units: Mapping[str, str]) -> None:
    kinds = list(found.events)
    times = [found.log.t[found.log.kind == found.log.kinds.index(kind)] for kind in kinds]
    if kinds:
        labels = [f"{kind.lower().replace('_', ' ')} ({found.events[kind]})" for kind in kinds]
        axes.hist(times, bins=_BINS, stacked=True, color=_colours(len(kinds)), label=labels)
        axes.legend(fontsize=8, frameon=False)
    axes.set_xlabel(axis_label("t", units.get("t", "")))
    axes.set_ylabel("events")
    axes.set_title("When events are", fontsize=9.5)


def _draw_starts(
    axes: Axes, found: Ensemble, verdicts: Sequence[str], group: NDArray[np.intp], units: Mapping[str, str]
) -> None:
    first = found.names[0]
    axes.set_xlabel(axis_label(first, units.get(first, "")))
    axes.set_title("Starts, by the verdict at the end", fontsize=9.5)
    if len(found.names) > 1:
        second = found.names[1]
        _scatter(axes, found.starts[:, 0], found.starts[:, 1], verdicts, group)
        axes.set_ylabel(axis_label(second, units.get(second, "")))
    else:
        parts: list[Any] = [found.starts[group == number, 0] for number in range(len(verdicts))]
        axes.hist(parts, bins=_BINS, stacked=True, color=_colours(len(verdicts)))
        axes.set_ylabel("motions")
    handles = [axes.plot([], [], "o", color=colour)[0] for colour in _colours(len(verdicts))]
    axes.legend(handles, [name.lower().replace("_", " ") for name in verdicts], fontsize=8, framealpha=0.8)


def _scatter(axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64], names: Sequence[str], group: Any) -> None:
    """Points by group; of very many an evenly spaced share."""
    step = max(1, len(x) // _MOST_POINTS)
    for number, colour in zip(range(len(names)), _colours(len(names)), strict=True):
        own = np.flatnonzero(group[::step] == number) * step
        axes.plot(x[own], y[own], ".", color=colour, markersize=2.5, alpha=0.6, rasterized=True)


def _colours(count: int) -> list[str]:
    return [_COLOURS[number % len(_COLOURS)] for number in range(count)]
