"""Certified maps of two quantities as pictures: what is proved at the middles of cells, with proved shares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.errors import StateError
from hybrid.reporting.plot import plot_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from hybrid.analysis import Boundary, CertifiedMap, RegionMap

__all__ = ["plot_certified_map", "rastered"]


_CELLS = 720  # of a side: some two for a point of the picture
_UNDECIDED = "undecided"


def rastered(certified: CertifiedMap, *, cells: int = _CELLS) -> RegionMap:
    """A certified map as cells, with what is proved at their middles, also in boxes that hold several regions.

    Parameters
    ----------
    certified : CertifiedMap
        Of two axes.
    cells : int, optional
        Of each axis.

    Returns
    -------
    RegionMap
        Without margins and fractions: it stands for a picture.
    """
    from hybrid.analysis import RegionMap
    from hybrid.contact import CellVerdict

    if len(certified.axes) != 2:
        raise StateError(f"a picture has two axes, this map has {len(certified.axes)}")
    first, second = (attrs.evolve(axis, n=cells) for axis in certified.axes)
    number, place = (np.full((cells, cells), -1) for _ in range(2))
    low = np.array([first.low, second.low])
    width = np.array([first.width, second.width])
    ends = np.ceil((certified.parts - low[:, None]) / width[:, None] * cells - 0.5).astype(int)
    for part, ((left, right), (lower, upper)) in enumerate(ends.tolist()):
        number[left:right, lower:upper], place[left:right, lower:upper] = certified.region[part], part
    i, j = np.nonzero((number < 0) & (place >= 0))
    region, across = certified.at_points(np.stack([first.values[i], second.values[j]], axis=-1), place[i, j])
    number[i, j] = np.where(across.any(axis=-1), region, -1)
    names = [name for name in certified.regions if name != _UNDECIDED]
    labels = sorted({label for name in names for label in _labels(name)})
    modes = np.array([*(sum(1 << labels.index(label) for label in _labels(name)) for name in names), 0], np.uint64)
    verdicts = np.array([CellVerdict[_verdict(name)] for name in (*names, _UNDECIDED)], dtype=np.uint8)
    return RegionMap(
        axes=(first, second),
        verdict=verdicts[number],
        modes=modes[number],
        labels=tuple(labels),
        margin=np.full((cells, cells), math.nan),
        region=np.where(number < 0, len(names), number).astype(np.uint16),
        regions=(*names, _UNDECIDED),
        verdict_fractions={},
        mode_fractions={},
        branch=certified.branch,
    )


def plot_certified_map(
    certified: CertifiedMap,
    *,
    boundaries: Sequence[Boundary] = (),
    units: Mapping[str, str] | None = None,
    title: str = "",
) -> Figure:
    """A certified map of two axes as a figure, with proved shares in its legend; where nothing is proved it is black.

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
    drawn = attrs.evolve(rastered(certified), boundaries=tuple(boundaries))

    def proved(cells: NDArray[np.bool_]) -> str:
        names = [drawn.regions[number] for number in np.unique(drawn.region[cells])]
        bounds = np.array([certified.regions.get(name, (0.0, 0.0)) for name in names])
        return _percents(*np.minimum(1.0, bounds.sum(axis=0)).tolist())

    return plot_map(drawn, units=known, title=title, share=proved)


def _percents(low: float, high: float) -> str:
    """Bounds of a share in percent to three digits, rounded outwards from those of a table."""
    ends = zip((low, high), (ROUND_FLOOR, ROUND_CEILING), strict=True)
    least, most = (Decimal(f"{100 * share:.7f}").quantize(Decimal("0.001"), rounding=way) for share, way in ends)
    return f"{least} %" if least == most else f"{least} to {most} %"


def _labels(name: str) -> list[str]:
    name = name.removesuffix(" (indeterminate)")
    return [] if name in ("none", "penetrating", "unreachable") else name.split("|")


def _verdict(name: str) -> str:
    if name in ("penetrating", "unreachable", _UNDECIDED):
        return name.upper()
    if name.endswith("(indeterminate)") or len(_labels(name)) > 1:
        return "INDETERMINATE"
    return "UNIQUE" if _labels(name) else "INCONSISTENT"
