"""Ensembles on disk: a Zarr group that xarray opens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.ensemble_chunks import EnsembleEvents
from hybrid.analysis.ensemble_result import Ensemble
from hybrid.analysis.kept_tasks import SCHEMA
from hybrid.analysis.maps.store import check_folder, read_group, written_whole
from hybrid.arguments import checks_arguments
from hybrid.errors import FileError

__all__ = ["ensemble_of", "load_ensemble", "store_ensemble"]

_LEFT_OUT = "MISSING"
_NO_CODE = -1
"""What xarray reads where a file is missing."""


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
            "kind": "ensemble",
            "schema": SCHEMA,
            "names": list(found.names),
            "columns": list(found.columns),
            "seed": found.seed,
            "terminations": terminations,
            "verdicts": verdicts,
            "kinds": list(log.kinds),
            "modes": list(log.modes),
            "reasons": {str(k): reason for k, reason in found.reasons.items()},
            "handed_over": dict(found.singled_out),
            "failures": list(found.failures),
            "warnings": list(found.warnings),
            "complete": not found.n_missing,
        },
    )
    for name in ("termination", "verdict"):
        data[name].encoding["fill_value"] = _NO_CODE
    written_whole(data, place)


def _coded(values: tuple[str | None, ...]) -> tuple[NDArray[np.int8], list[str]]:
    names, codes = np.unique([value or _LEFT_OUT for value in values], return_inverse=True)
    return codes.astype(np.int8), [str(name) for name in names]


@checks_arguments
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
        The folder holds no ensemble, one of another layout, or one of which a file is missing or damaged.

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
    return ensemble_of(read_group(Path(path), "ensemble"), path)


def ensemble_of(data: Any, path: str | Path) -> Ensemble:
    """The ensemble that a dataset holds.

    Parameters
    ----------
    data : xarray.Dataset
    path : str or Path
        Where it was, for messages.

    Returns
    -------
    Ensemble

    Raises
    ------
    FileError
        It holds none.
    """
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
            singled_out=about["handed_over"],
            seconds=0.0,
            failures=tuple(about["failures"]),
            warnings=tuple(about.get("warnings", ())),  # older ones have none
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FileError(f"no stored ensemble: {error}", str(path)) from error
