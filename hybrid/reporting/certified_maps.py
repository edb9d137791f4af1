"""Certified maps of two quantities as pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.errors import StateError
from hybrid.reporting.plot import plot_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hybrid.analysis import Boundary, CertifiedMap, RegionMap

__all__ = ["plot_certified_map", "rastered"]

_CELLS = 720  # of a side: some two for a point of the picture


def rastered(certified: CertifiedMap, *, cells: int = _CELLS) -> RegionMap:
    """The boxes of a certified map as cells; where the middle of a cell lies in an undecided box, it is undecided.

    Parameters
    ----------
    certified : CertifiedMap
        Of two axes.
    cells : int, optional
        Of each axis.

    Returns
    -------
    RegionMap
        Margins are NaN: it stands for a picture, and its shares are those of cells.
    """
    from hybrid.analysis import RegionMap
    from hybrid.contact import CellVerdict

    if len(certified.axes) != 2:
        raise StateError(f"a picture has two axes, this map has {len(certified.axes)}")
    names = list(certified.regions)
    labels = sorted({label for name in names for label in _labels(name)})
    modes_of = [sum(1 << labels.index(label) for label in _labels(name)) for name in names]
    verdict = np.full((cells, cells), CellVerdict.UNDECIDED, dtype=np.uint8)
    modes = np.zeros((cells, cells), dtype=np.uint64)
    region = np.zeros((cells, cells), dtype=np.uint16)
    low = np.array([axis.low for axis in certified.axes])
    width = np.array([axis.width for axis in certified.axes])
    places = np.ceil((certified.parts - low[:, None]) / width[:, None] * cells - 0.5).astype(int)
    for number, ((left, right), (lower, upper)) in zip(certified.region.tolist(), places.tolist(), strict=True):
        if number >= 0:
            verdict[left:right, lower:upper] = CellVerdict[_verdict(names[number])]
            modes[left:right, lower:upper] = modes_of[number]
            region[left:right, lower:upper] = number
    found, counts = np.unique(verdict, return_counts=True)
    return RegionMap(
        axes=(attrs.evolve(certified.axes[0], n=cells), attrs.evolve(certified.axes[1], n=cells)),
        verdict=verdict,
        modes=modes,
        labels=tuple(labels),
        margin=np.full((cells, cells), math.nan),
        region=region,
        regions=tuple(names),
        verdict_fractions={
            CellVerdict(int(code)).name: float(count / verdict.size) for code, count in zip(found, counts, strict=True)
        },
        mode_fractions={name: sum(bounds) / 2 for name, bounds in certified.regions.items()},
        branch=certified.branch,
    )


def plot_certified_map(
    certified: CertifiedMap,
    *,
    boundaries: Sequence[Boundary] = (),
    units: Mapping[str, str] | None = None,
    title: str = "",
) -> Figure:
    """A certified map of two axes as a figure; what is not decided is black.

    Parameters
    ----------
    certified : CertifiedMap
    boundaries : sequence of Boundary, optional
        Curves to draw, as those of a map of the same axes.
    units : mapping of str to str, optional
        Of what is swept, by name, instead of those that the map knows.
    title : str, optional

    Returns
    -------
    matplotlib Figure
    """
    known = certified.units if units is None else units
    figure = plot_map(attrs.evolve(rastered(certified), boundaries=tuple(boundaries)), units=known, title=title)
    for boundary in boundaries:  # they run where nothing is decided
        figure.axes[0].plot(*boundary.points.T, color="white", linewidth=0.6, zorder=4)
    return figure


def _labels(name: str) -> list[str]:
    name = name.removesuffix(" (indeterminate)")
    return [] if name in ("none", "penetrating") else name.split("|")


def _verdict(name: str) -> str:
    if name == "penetrating":
        return "PENETRATING"
    if name.endswith("(indeterminate)") or len(_labels(name)) > 1:
        return "INDETERMINATE"
    return "UNIQUE" if _labels(name) else "INCONSISTENT"
