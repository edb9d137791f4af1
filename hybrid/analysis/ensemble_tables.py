"""Ensembles as tables: statistics, and files that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.errors import ComputationError, StateError

if TYPE_CHECKING:
    from hybrid.analysis.ensemble_result import Ensemble

__all__ = ["ensemble_columns", "event_columns", "save_ensemble", "statistics"]

_SHARES = {"least": 0.0, "q05": 0.05, "median": 0.5, "q95": 0.95, "greatest": 1.0}


@checks_arguments
def ensemble_columns(found: Ensemble) -> dict[str, np.ndarray[Any, Any]]:
    """One row for every motion: its start, how it ended, the number of its events, and its state at the end.

    Parameters
    ----------
    found : Ensemble

    Returns
    -------
    dict of str to array, (n,)
        ``start.NAME``, ``termination``, ``verdict``, ``events`` and ``end.NAME``, with ``end.t`` the time.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, ensemble
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> found = ensemble(ball, starts={"y": [1.0, 2.0]}, pins={"y_dot": 0}, t_end=0.1)
    >>> list(ensemble_columns(found))
    ['start.y', 'termination', 'verdict', 'events', 'end.t', 'end.y', 'end.y_dot']
    """
    return found.columns_of_motions()


@checks_arguments
def event_columns(found: Ensemble) -> dict[str, np.ndarray[Any, Any]]:
    """One row for every event: the number of its motion, its time, its kind, and the mode that follows.

    Parameters
    ----------
    found : Ensemble

    Returns
    -------
    dict of str to array, (number of events,)
        ``motion``, ``t``, ``kind`` and ``mode``, which is empty where the motion ends.
    """
    log = found.log
    modes = np.array([*log.modes, ""])
    return {"motion": log.motion, "t": log.t, "kind": np.array(log.kinds)[log.kind], "mode": modes[log.mode]}


@checks_arguments
def statistics(found: Ensemble) -> dict[str, dict[str, float]]:
    """Mean, spread and quantiles over the motions that were followed.

    Parameters
    ----------
    found : Ensemble

    Returns
    -------
    dict of str to dict
        For ``events`` (their number), ``t`` and every coordinate and velocity at the end: ``mean, deviation, least,
        q05, median, q95, greatest``. Empty if no motion was followed.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, ensemble
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> found = ensemble(ball, starts={"y": [1.0, 2.0]}, pins={"y_dot": 0}, t_end=0.1)
    >>> statistics(found)["events"]["mean"], round(statistics(found)["y"]["mean"], 6)
    (0.0, 1.45095)
    """
    columns = ensemble_columns(found)
    followed = np.isfinite(columns["end.t"])
    if not followed.any():
        return {}
    answer = {}
    for name in ("events", *(f"end.{name}" for name in found.columns)):
        values = columns[name][followed].astype(float)
        shares = np.quantile(values, list(_SHARES.values())).tolist()
        spread = {"mean": float(values.mean()), "deviation": float(values.std())}
        answer[name.removeprefix("end.")] = spread | dict(zip(_SHARES, shares, strict=True))
    return answer


@checks_arguments
def save_ensemble(found: Ensemble, path: str | Path) -> tuple[Path, ...]:
    """Write the motions and the events of an ensemble as Parquet tables.

    Parameters
    ----------
    found : Ensemble
    path : str or Path
        Ends in ``.parquet``; the events go beside it to ``.events.parquet``.

    Returns
    -------
    tuple of Path
        Both files.

    Raises
    ------
    StateError
        Another ending.
    ComputationError
        pyarrow is not installed, or the files cannot be written.
    """
    place = Path(path)
    if place.suffix != ".parquet":
        raise StateError(f"{place}: an ensemble is written as a table in a file that ends in .parquet")
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ComputationError("Parquet needs pyarrow; install it with: pip install 'painleve[parquet]'") from error
    events = place.with_suffix(".events.parquet")
    drafts = {file.with_name(f".{file.name}.draft"): file for file in (events, place)}
    try:
        for draft, columns in zip(drafts, (event_columns(found), ensemble_columns(found)), strict=True):
            table = pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})
            parquet.write_table(table, draft)
        for draft, file in drafts.items():
            draft.replace(file)
    except OSError as error:
        raise ComputationError(f"{place} cannot be written: {error.strerror or error}") from error
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)
    return place, events
