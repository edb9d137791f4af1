"""Stored maps of the layout before layouts had numbers, in terms of the present one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.axes import Axis
from hybrid.analysis.maps.plane import SEVERAL_CODE, RegionCodes
from hybrid.contact.classification import CellVerdict, Classification
from hybrid.declaration import mechanism_from_toml
from hybrid.errors import DeclarationError

__all__ = ["renewed"]

Cell = tuple[int, int]

_ROUNDING = 1e-9  # of midpoints, beside the length of an axis


def renewed(data: Any) -> Any:
    """A map of the layout without a number, with what the present one says besides.

    Shares are counted from the cells. Regions are named anew from verdicts and modes, and a curve by the cells that it
    passes between.

    Parameters
    ----------
    data : xarray.Dataset

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    ValueError
        Something of it cannot be told: what, in a sentence.
    KeyError, TypeError
        It is damaged.
    """
    about = data.attrs
    if about["verdicts"] != {verdict.name: verdict.value for verdict in CellVerdict}:
        raise ValueError("its verdicts are numbered in another way")
    _check_labels(about)
    axes = [Axis(**axis) for axis in about["axes"]]
    names = _regions_of_cells(data)
    verdict = data["verdict"].values
    is_there = verdict != CellVerdict.MISSING
    shares = _shares(names[is_there])
    place = {name: index for index, name in enumerate(shares)}
    region = np.array([place.get(name, 0) for name in names.flat], dtype=np.uint16).reshape(names.shape)
    return data.assign(
        region=(data["region"].dims, region),
        margin=(data["margin"].dims, np.where(is_there, data["margin"].values, np.nan)),
    ).assign_attrs(
        regions=list(shares),
        mode_fractions=shares,
        verdict_fractions={CellVerdict(code).name: share for code, share in _shares(verdict[is_there]).items()},
        complete=bool(is_there.all()),
        general_cells=int(is_there.sum()),  # compiled operations came later
        failures=[],
        between=_sides([np.array(curve) for curve in about["boundaries"]], axes, np.where(is_there, names, "")),
    )


def _check_labels(about: Mapping[str, Any]) -> None:
    """Refuse ``closed`` where it may be a contact that is now said to slide or to stick."""
    if not any("closed" in label for label in about["labels"]):
        return
    try:
        contacts = mechanism_from_toml(about["declaration"]).contact
    except (KeyError, DeclarationError):
        raise ValueError("it does not tell which of its closed contacts slide") from None
    for contact in contacts:
        if contact.dimension:
            raise ValueError(f"it does not tell where contact {contact.name}, which is closed, slides or sticks")


def _regions_of_cells(data: Any) -> NDArray[np.str_]:
    """Names of the cells' regions (n0, n1); ValueError where they are others than the stored ones."""
    arrays = (data["verdict"].values, data["modes"].values, tuple(data.attrs["labels"]), data["margin"].values)
    coder = RegionCodes(list(data.attrs["labels"]))
    codes, place = np.unique(coder.codes(Classification(*arrays)), return_inverse=True)
    names = np.array([coder.region(int(code)) for code in codes])[place].reshape(arrays[0].shape)
    bare = np.array([coder.region(int(code & ~SEVERAL_CODE)) for code in codes])[place].reshape(names.shape)
    stored = np.array([*data.attrs["regions"], ""])[data["region"].values]
    if ((bare != stored) & (arrays[0] != CellVerdict.MISSING)).any():  # a file that is not there is read as zeros
        raise ValueError("the regions of its cells are not those of their modes")
    return names


def _shares(values: NDArray[Any]) -> dict[Any, float]:
    """How often each value occurs, as a share, the most frequent first."""
    found, counts = np.unique(values, return_counts=True)
    order = sorted(range(len(found)), key=lambda index: (-counts[index], found[index]))
    return {found[index].item(): float(counts[index] / counts.sum()) for index in order}


def _sides(points: list[NDArray[np.float64]], axes: Sequence[Axis], names: NDArray[np.str_]) -> list[list[str]]:
    """Regions on the two sides of every curve, sorted.

    A curve passes between the midpoints of two cells that are neighbours, in line with both. Where no other point lies
    between the two, their regions are its sides.
    """
    edges = [_edges(np.unique(curve, axis=0), axes) for curve in points]
    crossed = Counter(edge for own in edges for edge in own)
    found = []
    for own in edges:
        sides = {tuple(sorted((str(names[one]), str(names[other])))) for one, other in own if crossed[one, other] == 1}
        if len(sides) != 1 or "" in (pair := sides.pop()):
            raise ValueError("it does not tell which regions its curves lie between")
        found.append(list(pair))
    return found


def _edges(curve: NDArray[np.float64], axes: Sequence[Axis]) -> list[tuple[Cell, Cell]]:
    """Neighbouring cells between whose midpoints a point of a curve lies."""
    found: list[tuple[Cell, Cell]] = []
    for point in curve:
        shares = [axis.cells * (value - axis.low) / axis.width - 0.5 for axis, value in zip(axes, point, strict=True)]
        (i, is_midpoint), (j, is_other) = (_cell(share, axis) for share, axis in zip(shares, axes, strict=True))
        neighbour = (i + is_other, j + is_midpoint)
        is_inside = min(i, j) >= 0 and neighbour[0] < axes[0].cells and neighbour[1] < axes[1].cells
        if is_midpoint != is_other and is_inside:  # not in a square, and not between the outermost cells and the rim
            found.append(((i, j), neighbour))
    return found


def _cell(share: float, axis: Axis) -> tuple[int, bool]:
    """The last cell whose midpoint is not beyond a place that is given in cells, and whether the place is there."""
    nearest = round(share)
    is_midpoint = abs(share - nearest) < _ROUNDING * axis.cells
    return (nearest if is_midpoint else math.floor(share)), is_midpoint
