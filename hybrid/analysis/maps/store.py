"""Region maps on disk: a Zarr group that xarray opens."""

from __future__ import annotations

import hashlib
import json
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
from hybrid.arguments import checks_arguments
from hybrid.contact.classification import CellVerdict
from hybrid.errors import ComputationError, FileError, StateError
from hybrid.files import read_file, read_json
from hybrid.seals import digest_of, first_changed

if TYPE_CHECKING:
    pass

__all__ = [
    "check_folder",
    "finished_group",
    "is_finished",
    "load_map",
    "map_of",
    "read_group",
    "save_map",
    "written_whole",
]

_ATTRIBUTES = "zarr.json"
_MOST_BYTES = 1 << 30
_ARRAYS = ("verdict", "region", "modes", "margin")
_UNNUMBERED = {"verdicts", "labels", "regions", "axes", "boundaries"}
_NUMBERED = {"schema", "files", "digest"}


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
    if path.is_symlink() and not path.exists():
        raise StateError(f"{path} is a link to {path.readlink()}, which is not there")
    if path.exists() and not path.is_dir():
        raise StateError(f"{path} exists already, and is no folder")
    if any(path.glob(f"*/{_ATTRIBUTES}")) and not (path / _ATTRIBUTES).exists():
        raise StateError(f"{path} is a damaged store, without its {_ATTRIBUTES}: choose another folder, or remove it")
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


def finished_group(path: Path, about: Mapping[str, Any]) -> Any:
    """The dataset that is kept in a folder, if it is finished and of what is asked for.

    Parameters
    ----------
    path : Path
    about : mapping
        What the result is of, as for :func:`save_map`, with its ``kind``.

    Returns
    -------
    xarray.Dataset, or None
        None where there is none, or one that can be gone on with.

    Raises
    ------
    StateError
        It is of something else: the difference is named. Or it is a part, and what it would go on from has gone.
    FileError
        It is damaged.
    """
    if not is_finished(path):
        return None
    known = _attributes(path, about["kind"], any_kind=True)
    if (difference := first_difference({name: known[name] for name in about if name in known}, about)) is not None:
        raise StateError(f"{path} exists already and holds {difference}: choose another folder, or remove it")
    if not known["complete"]:
        raise StateError(f"{path} holds a part of what is asked for, and {part_of(path)} has gone: remove it")
    return read_group(path, about["kind"])


@checks_arguments
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
            "kind": "map",
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
    data["verdict"].encoding["fill_value"] = CellVerdict.MISSING.value
    written_whole(data, place)


def written_whole(data: Any, place: Path) -> None:
    """Write a dataset as a Zarr group under a temporary name, with a digest of every file, then rename it.

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
            _seal(draft / "map")
            if place.exists():
                place.rename(draft / "before")
            (draft / "map").rename(place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        kept_in = f"; what is finished is kept in {kept}" if (kept := part_of(place)).exists() else ""
        raise ComputationError(f"{place} cannot be written: {error.strerror or error}{kept_in}") from error


def _seal(group: Path) -> None:
    """Enter digests of all files, as Zarr reads zeros where one is missing."""
    file = group / _ATTRIBUTES
    text = json.loads(file.read_bytes())
    text["attributes"]["files"] = _digests(group)
    text["attributes"]["digest"] = _digest(text)
    file.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")


def _digests(group: Path) -> dict[str, str]:
    """Of every file but the first one and those that file managers hide, by its place."""
    found = {}
    for file in sorted(group.rglob("*")):
        if file.is_file() and file != group / _ATTRIBUTES and not file.name.startswith("."):
            with file.open("rb") as content:
                found[file.relative_to(group).as_posix()] = hashlib.file_digest(content, "sha256").hexdigest()
    return found


def _digest(text: Mapping[str, Any]) -> str:
    """Of what the first file says, but for the digest itself."""
    own = {name: value for name, value in text["attributes"].items() if name != "digest"}
    return digest_of({**text, "attributes": own})


def _attributes(path: Path, kind: str, *, any_kind: bool = False) -> dict[str, Any]:
    """What a group says of itself, which must be what was written."""
    file = path / _ATTRIBUTES
    if not file.exists():
        raise FileError(f"no stored {kind}: it has no {_ATTRIBUTES}", str(path))
    try:
        text = read_json(read_file(file, limit=_MOST_BYTES), source=str(file))
    except FileError as error:
        raise _damaged(path, _ATTRIBUTES, error.reason) from None
    known = text.get("attributes") if isinstance(text, dict) else None
    if isinstance(known, dict) and _is_unnumbered(known) and (any_kind or kind == "map"):
        return {"kind": "map", **known}  # there were no others
    if not isinstance(known, dict) or (not any_kind and known.get("kind") != kind):
        raise FileError(f"no stored {kind}", str(path))
    if known.get("schema", SCHEMA) != SCHEMA:
        reason = f"stored with layout {known.get('schema')!r}; this version reads {SCHEMA}"
        raise FileError(f"{reason}: remove it, or choose another folder", str(path))
    if known.get("digest") != _digest(text):
        raise _damaged(path, _ATTRIBUTES, "is damaged")
    return known


def _is_unnumbered(known: Mapping[str, Any]) -> bool:
    """Whether a group is a map of the layout before layouts had numbers, and digests."""
    return known.keys() >= _UNNUMBERED and not known.keys() & _NUMBERED


def _check_files(path: Path, known: Mapping[str, str]) -> None:
    """Refuse a group of which a file is not as it was written."""
    try:
        found = _digests(path)
    except OSError as error:
        raise FileError(
            f"cannot be read: {(error.strerror or 'unknown reason').lower()}", str(error.filename)
        ) from None
    if (changed := first_changed(known, found, kind="files")) is not None:
        raise _damaged(path, *changed)


def _damaged(path: Path, name: str, what: str) -> FileError:
    return FileError(f"{what}: remove {path}, and compute it again", str(path / name))


def read_group(path: Path, kind: str) -> Any:
    """A dataset that was written by this package, every file of it as it was written.

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
        There is none, it is of another layout, or a file of it is missing or damaged.
    """
    import xarray

    known = _attributes(path, kind)
    if not _is_unnumbered(known):
        _check_files(path, known["files"])
    try:
        data = xarray.open_zarr(path, chunks=None, consolidated=False).load()
        if _is_unnumbered(known):
            from hybrid.analysis.maps.unnumbered import renewed  # which few maps need

            data = renewed(data)
        return data
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"no stored {kind}: {error}", str(path)) from error


@checks_arguments
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
        The folder holds no map, one of another layout, or one of which a file is missing or damaged. A map of the
        layout before layouts had numbers is read, unless something of it cannot be told.

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
    return map_of(read_group(Path(path), "map"), path)


def map_of(data: Any, path: str | Path) -> RegionMap:
    """The map that a dataset holds.

    Parameters
    ----------
    data : xarray.Dataset
    path : str or Path
        Where it was, for messages.

    Returns
    -------
    RegionMap

    Raises
    ------
    FileError
        It holds none.
    """
    about = data.attrs
    try:
        verdict, region, modes, margin = (data[name].values for name in _ARRAYS)
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
