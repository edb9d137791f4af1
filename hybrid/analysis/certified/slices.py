"""Slices of certified maps: what is proved where some of the axes have one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.analysis.certified.certified_map import CertifiedMap
from hybrid.errors import StateError
from hybrid.tolerances import SUMMED

if TYPE_CHECKING:
    from hybrid.analysis.maps.axes import Axis

__all__ = ["check_slice", "sliced"]

_ROUNDING = SUMMED  # of sums of products of lengths, relative


def sliced(certified: CertifiedMap, at: Mapping[str, float]) -> CertifiedMap:
    """The boxes of a certified map that a slice meets.

    Parameters
    ----------
    certified : CertifiedMap
    at : mapping of str to float
        Values of the axes that are given up.

    Returns
    -------
    CertifiedMap
        Of the other axes. Shares are those of the slice: a box with several possible regions counts for all of them.
        What is proved absent is so in the slice, too; witnesses lie elsewhere and are left out.

    Raises
    ------
    StateError
        A name is not one of the axes, a value is beyond its ends, or no axis is left.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import Axis, certified_map, derive
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> axes = [Axis.parse(text) for text in ("phi=0:pi", "phi_dot=-2:2", "mu=0.5:2")]
    >>> found = sliced(certified_map(rod, axes=axes, pins={"slip.tip": -1}, gap=0.1), {"mu": 1.0})
    >>> [axis.name for axis in found.axes], max(found.regions)
    (['phi', 'phi_dot'], 'slide-')
    """
    check_slice(certified.axes, at)
    axes = {axis.name: place for place, axis in enumerate(certified.axes)}
    kept = [place for name, place in axes.items() if name not in at]
    meets = np.ones(len(certified.parts), dtype=bool)
    for name, value in at.items():
        low, high = certified.parts[:, axes[name], 0], certified.parts[:, axes[name], 1]
        is_last = value >= certified.axes[axes[name]].high
        meets &= (low <= value) & ((value <= high) if is_last else (value < high))
    parts, region = certified.parts[meets][:, kept], certified.region[meets]
    left = tuple(certified.axes[place] for place in kept)
    widths = np.array([axis.width for axis in left])
    areas = np.prod((parts[..., 1] - parts[..., 0]) / widths, axis=-1)
    undecided = min(1.0, float(areas[region < 0].sum()))
    shares = {name: float(areas[region == number].sum()) for number, name in enumerate(certified.regions)}
    bounds = {
        name: (share * (1.0 - _ROUNDING), min(1.0, (share + undecided) * (1.0 + _ROUNDING)))
        for name, share in shares.items()
    }
    order = sorted((name for name, (_, high) in bounds.items() if high > 0.0), key=lambda name: -bounds[name][1])
    numbers = np.array([order.index(name) if name in order else -1 for name in bounds] + [-1])
    return attrs.evolve(
        certified,
        axes=left,
        gap=undecided,
        complete=undecided <= certified.gap_wanted,
        regions={name: bounds[name] for name in order},
        undecided=undecided,
        absent={key: True if is_absent else None for key, is_absent in certified.absent.items()},
        witness={},
        reasons=(),
        boxes=len(parts),
        parts=parts,
        region=numbers[region],
    )


def check_slice(axes: Sequence[Axis], at: Mapping[str, float]) -> None:
    """Refuse a slice that axes do not have.

    Parameters
    ----------
    axes : sequence of Axis
    at : mapping of str to float
        Values of the axes that are given up.

    Returns
    -------
    None
        Every value lies on its axis, and one axis at least is left.

    Raises
    ------
    StateError
        Names the axis.
    """
    ends = {axis.name: (axis.low, axis.high) for axis in axes}
    for name, value in at.items():
        if name not in ends:
            raise StateError(f"slice {name}: no such axis; there are {', '.join(ends)}")
        low, high = ends[name]
        if not low <= value <= high:
            raise StateError(f"slice {name}: {value:g} is beyond its axis from {low:g} to {high:g}")
    if len(at) == len(ends):
        raise StateError("a slice keeps one axis at least")
