"""Ensembles on disk: a Zarr group that xarray opens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.ensemble_chunks import EnsembleEvents
from hybrid.analysis.ensemble_result import Ensemble
from hybrid.analysis.kept_tasks import SCHEMA, first_difference, part_of
from hybrid.analysis.maps.store import check_folder, read_group, written_whole
from hybrid.errors import FileError, StateError

__all__ = ["finished_ensemble", "load_ensemble", "store_ensemble"]

_LEFT_OUT = "MISSING"


def store_ensemble(found: Ensemble, path: str | Path, *, about: Mapping[str, Any] | None = None) -> None:
    """Write an ensemble so that it is there as a whole or not at all.

    Parameters
    ----------
    found : Ensemble
        May be incomplete.
    path : str or Path
        A folder that does not exist yet, an empty one, or an unfinished ensemble of the same run.
    about : mapping, optional
        What it is of, as JSON values.

    Returns
    -------
    None
        The group has been written; the seconds it took are left out.

    Raises
    ------
    StateError
        The folder holds something.
    ComputationError
        It cannot be written.
    """
    import xarray

    place, log = Path(path), found.log
    check_folder(place)
    termination, terminations = _coded(found.termination)
    verdict, verdicts = _coded(found.verdict)
    data = xarray.Dataset(
        {
            "starts": (("motion", "name"), found.starts),
            "termination": (("motion",), termination),
            "verdict": (("motion",), verdict),
            "end": (("motion", "column"), found.end),
            "event_motion": (("event",), log.motion),
            "event_t": (("event",), log.t),
            "event_kind": (("event",), log.kind.astype(np.int8)),
            "event_mode": (("event",), log.mode.astype(np.int16)),
        },
        attrs={
            **(about or {}),
            "schema": SCHEMA,
            "names": list(found.names),
            "columns": list(found.columns),
            "seed": found.seed,
            "terminations": terminations,
            "verdicts": verdicts,
            "kinds": list(log.kinds),
            "modes": list(log.modes),
            "reasons": {str(k): reason for k, reason in found.reasons.items()},
            "handed_over": dict(found.handed_over),
            "failures": list(found.failures),
            "complete": not found.n_missing,
        },
    )
    written_whole(data, place)


def _coded(values: tuple[str | None, ...]) -> tuple[NDArray[np.int8], list[str]]:
    names, codes = np.unique([value or _LEFT_OUT for value in values], return_inverse=True)
    return codes.astype(np.int8), [str(name) for name in names]


def finished_ensemble(path: Path, about: Mapping[str, Any]) -> Ensemble | None:
    """The ensemble that a folder holds already, if it is what is asked for.

    Parameters
    ----------
    path : Path
    about : mapping
        What is asked for, as JSON values.

    Returns
    -------
    Ensemble or None
        None where there is no finished result.

    Raises
    ------
    StateError
        The folder holds another one; the first difference is named.
    """
    if not (path / "zarr.json").exists() or part_of(path).exists():
        return None
    known = read_group(path, "ensemble").attrs
    if (told := first_difference({name: known.get(name) for name in about}, about)) is not None:
        raise StateError(f"{path} exists already and holds {told}: choose another folder, or remove it")
    found = load_ensemble(path)
    if found.n_missing:
        raise StateError(f"{path} exists already, with {found.n_missing} motions missing: remove it")
    return found


def load_ensemble(path: str | Path) -> Ensemble:
    """An ensemble that was stored.

    Parameters
    ----------
    path : str or Path
        The folder.

    Returns
    -------
    Ensemble
        With the same arrays, to the bit; its ``seconds`` are 0.

    Raises
    ------
    FileError
        The folder holds no ensemble, or one of another layout.

    Examples
    --------
    >>> import tempfile, mechanisms
    >>> from hybrid import derive, ensemble
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> folder = Path(tempfile.mkdtemp()) / "balls"
    >>> made = ensemble(ball, starts={"y": [1.0, 2.0]}, pins={"y_dot": 0}, t_end=0.1, store=folder)
    >>> load_ensemble(folder).end.tolist() == made.end.tolist()
    True
    """
    data = read_group(Path(path), "ensemble")
    about = data.attrs
    try:
        log = EnsembleEvents(
            motion=data["event_motion"].values.astype(np.intp),
            t=data["event_t"].values,
            kind=data["event_kind"].values.astype(np.intp),
            mode=data["event_mode"].values.astype(np.intp),
            kinds=tuple(about["kinds"]),
            modes=tuple(about["modes"]),
        )
        named = [[about[f"{key}s"][code] for code in data[key].values.tolist()] for key in ("termination", "verdict")]
        termination, verdict = (tuple(None if name == _LEFT_OUT else str(name) for name in names) for names in named)
        return Ensemble(
            names=tuple(about["names"]),
            columns=tuple(about["columns"]),
            starts=data["starts"].values,
            seed=about["seed"],
            termination=termination,
            verdict=verdict,
            end=data["end"].values,
            log=log,
            reasons={int(k): reason for k, reason in about["reasons"].items()},
            handed_over=about["handed_over"],
            seconds=0.0,
            failures=tuple(about["failures"]),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FileError(f"no stored ensemble: {error}", str(path)) from error
