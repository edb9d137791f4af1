"""Region maps on disk: a Zarr group that xarray opens."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.classify import CellVerdict
from hybrid.errors import StateError

if TYPE_CHECKING:
    from hybrid.analysis.maps.regions import RegionMap

__all__ = ["save_map"]


def save_map(region_map: RegionMap, path: str | Path, *, about: Mapping[str, Any] | None = None) -> None:
    """Write a map so that it is there as a whole or not at all.

    The group is written beside its place under a temporary name, then renamed.

    Parameters
    ----------
    region_map : RegionMap
        May be incomplete; cells that were not computed have the verdict ``MISSING``.
    path : str or Path
        A folder that does not exist yet, or an empty one.
    about : mapping, optional
        What the map is of, as JSON values: mechanism, pins, parameters.

    Returns
    -------
    None
        The group has been written.

    Raises
    ------
    StateError
        The folder holds something.

    Examples
    --------
    >>> import tempfile, xarray, mechanisms
    >>> from hybrid import derive
    >>> from hybrid.analysis import Axis, region_map
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> axes = [Axis("phi", 0, 3, 4), Axis("phi_dot", 0, 1, 3)]
    >>> folder = Path(tempfile.mkdtemp())
    >>> save_map(region_map(rod, axes=axes, pins={"slip.tip": 1}), folder / "map.zarr")
    >>> dict(xarray.open_zarr(folder / "map.zarr", consolidated=False).sizes)
    {'phi': 4, 'phi_dot': 3}
    """
    import xarray

    place = Path(path)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise StateError(f"{place} exists already: choose another folder, or remove it")
    first, second = region_map.axes
    dims = (first.name, second.name)
    data = xarray.Dataset(
        {
            "verdict": (dims, region_map.verdict),
            "region": (dims, region_map.region),
            "modes": (dims, region_map.modes),
            "margin": (dims, region_map.margin),
        },
        coords={first.name: first.values, second.name: second.values},
        attrs={
            **(about or {}),
            "verdicts": {verdict.name: verdict.value for verdict in CellVerdict},
            "labels": list(region_map.labels),
            "regions": list(region_map.regions),
            "axes": [attrs.asdict(axis) for axis in region_map.axes],
            "complete": region_map.is_complete,
            "boundaries": [np.asarray(item.points).tolist() for item in region_map.boundaries],
        },
    )
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        data.to_zarr(draft / "map", consolidated=False)
        if place.exists():
            place.rmdir()
        (draft / "map").rename(place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
