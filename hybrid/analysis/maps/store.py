"""Region maps on disk: a Zarr group that xarray opens."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.analysis.kept_tasks import DRAFT, SCHEMA, first_difference, part_of
from hybrid.analysis.maps.axes import Axis
from hybrid.analysis.maps.boundaries import Boundary
from hybrid.analysis.maps.region_map import RegionMap
from hybrid.contact.classification import CellVerdict
from hybrid.errors import ComputationError, FileError, StateError
from hybrid.files import read_file, read_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["check_folder", "finished_map", "is_finished", "load_map", "read_group", "save_map", "written_whole"]

_ATTRIBUTES = "zarr.json"
_MOST_BYTES = 1 << 30
_ARRAYS = ("verdict", "region", "modes", "margin")


def check_folder(path: Path, *, may_be_finished: bool = False) -> None:
    """Refuse a folder that holds something other than an unfinished result of a run that can be gone on with.

    Parameters
    ----------
    path : Path
    may_be_finished : bool, optional
        A finished result is looked at later.

    Returns
    -------
    None
        It is not there, it is empty, or what it holds is to be replaced.

    Raises
    ------
    StateError
        It holds something, or it is the working directory.
    """
    if path.resolve() == Path.cwd().resolve():
        raise StateError(f"{path} is the folder this runs in, which cannot be replaced: name a new one")
    if path.exists() and not path.is_dir():
        raise StateError(f"{path} exists already, and is no folder")
    is_ours = (path / _ATTRIBUTES).exists() and (may_be_finished or part_of(path).exists())
    if path.exists() and any(path.iterdir()) and not is_ours:
        raise StateError(f"{path} exists already: choose another folder, or remove it")


def is_finished(path: Path) -> bool:
    """Whether a folder holds a result of which nothing is left to compute.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool
    """
    return (path / _ATTRIBUTES).exists() and not part_of(path).exists()


def finished_map(path: Path, about: Mapping[str, Any]) -> RegionMap | None:
    """The map that is kept in a folder, if it is finished and of what is asked for.

    Parameters
    ----------
    path : Path
    about : mapping
        What the map is of, as for :func:`save_map`.

    Returns
    -------
    RegionMap, or None
        None where there is none, or one that can be gone on with.

    Raises
    ------
    StateError
        It is of something else: the difference is named.
    """
    if not is_finished(path):
        return None
    file = path / _ATTRIBUTES
    known = read_json(read_file(file, limit=_MOST_BYTES), source=str(file)).get("attributes", {})
    asked = {"kind": "map", "schema": SCHEMA, **about}
    if (told := first_difference({name: known.get(name) for name in asked}, asked)) is not None:
        raise StateError(f"{path} exists already and holds {told}: choose another folder, or remove it")
    return load_map(path)


def save_map(region_map: RegionMap, path: str | Path, *, about: Mapping[str, Any] | None = None) -> None:
    """Write a map so that it is there as a whole or not at all.

    The group is written under a temporary name, then renamed.

    Parameters
    ----------
    region_map : RegionMap
        May be incomplete; cells that were not computed have the verdict ``MISSING``.
    path : str or Path
        A folder that does not exist yet, an empty one, or an unfinished map of the same run.
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
    ComputationError
        It cannot be written.

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
    check_folder(place)
    first, second = region_map.axes
    dims = (first.name, second.name)
    data = xarray.Dataset(
        {name: (dims, getattr(region_map, name)) for name in _ARRAYS},
        coords={first.name: first.values, second.name: second.values},
        attrs={
            **(about or {}),
            "schema": SCHEMA,
            "verdicts": {verdict.name: verdict.value for verdict in CellVerdict},
            "labels": list(region_map.labels),
            "regions": list(region_map.regions),
            "axes": [attrs.asdict(axis) for axis in region_map.axes],
            "complete": region_map.is_complete,
            "general_cells": region_map.n_general,
            "failures": list(region_map.failures),
            "verdict_fractions": dict(region_map.verdict_fractions),
            "mode_fractions": dict(region_map.mode_fractions),
            "between": [list(item.between) for item in region_map.boundaries],
            "boundaries": [np.asarray(item.points).tolist() for item in region_map.boundaries],
        },
    )
    written_whole(data, place)


def written_whole(data: Any, place: Path) -> None:
    """Write a dataset as a Zarr group under a temporary name, then rename it.

    Parameters
    ----------
    data : xarray.Dataset
    place : Path
        What is there is replaced.

    Returns
    -------
    None
        The group is there.

    Raises
    ------
    ComputationError
        It cannot be written.
    """
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        kept = part_of(place)
        draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=kept if kept.exists() else place.parent))
        try:
            data.to_zarr(draft / "map", consolidated=False)
            if place.exists():
                place.rename(draft / "before")
            (draft / "map").rename(place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise ComputationError(f"{place} cannot be written: {error.strerror or error}") from error


def read_group(path: Path, kind: str) -> Any:
    """A dataset that was written by this package.

    Parameters
    ----------
    path : Path
    kind : str
        What is expected in it, in one word.

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    FileError
        There is none, or it is of another layout.
    """
    import xarray

    try:
        data = xarray.open_zarr(path, consolidated=False).load()
    except (OSError, ValueError, KeyError) as error:
        raise FileError(f"no stored {kind}: {error}", str(path)) from error
    if data.attrs.get("schema") != SCHEMA:
        raise FileError(f"stored with layout {data.attrs.get('schema')!r}; this version reads {SCHEMA}", str(path))
    return data


def load_map(path: str | Path) -> RegionMap:
    """A map that was stored.

    Parameters
    ----------
    path : str or Path
        The folder.

    Returns
    -------
    RegionMap
        With the same arrays, to the bit; the branch of postures is not stored.

    Raises
    ------
    FileError
        The folder holds no map, or one of another layout.

    Examples
    --------
    >>> import tempfile, mechanisms
    >>> from hybrid import derive
    >>> from hybrid.analysis import Axis, region_map
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> axes = [Axis("phi", 0, 3, 4), Axis("phi_dot", 0, 1, 3)]
    >>> folder = Path(tempfile.mkdtemp()) / "map.zarr"
    >>> made = region_map(rod, axes=axes, pins={"slip.tip": 1}, store=folder)
    >>> load_map(folder).mode_fractions == made.mode_fractions
    True
    """
    data = read_group(Path(path), "map")
    about = data.attrs
    try:
        verdict, region, modes, margin = (_read_only(data[name].values) for name in _ARRAYS)
        first, second = (Axis(**axis) for axis in about["axes"])
        return RegionMap(
            axes=(first, second),
            labels=tuple(about["labels"]),
            regions=tuple(about["regions"]),
            verdict_fractions=about["verdict_fractions"],
            mode_fractions=about["mode_fractions"],
            boundaries=tuple(
                Boundary((low, high), np.array(points))
                for (low, high), points in zip(about["between"], about["boundaries"], strict=True)
            ),
            is_complete=about["complete"],
            n_general=about["general_cells"],
            failures=tuple(about["failures"]),
            verdict=verdict,
            region=region,
            modes=modes,
            margin=margin,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"no stored map: {error}", str(path)) from error


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array = np.array(array)
    array.setflags(write=False)
    return array
