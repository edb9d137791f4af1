"""What is known of an ensemble of motions; as tables, statistics and files that other programs read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.ensemble_chunks import EnsembleEvents
from hybrid.arguments import checks_arguments
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.errors import ComputationError, StateError
from hybrid.tables import dataframe

__all__ = ["Ensemble", "ensemble_columns", "event_columns", "save_ensemble", "statistics"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Ensemble(AbstractDisplayed):
    """Motions from many starts.

    Attributes
    ----------
    names : tuple of str
        Pins and parameters that differ from start to start.
    columns : tuple of str
        What ``end`` has: ``t``, the coordinates and the velocities.
    starts : array, (n, number of names)
    seed : int or None
        None where the starts were given.
    termination, verdict : tuple of str or None, length n
        Why each motion ended, by the names of :class:`hybrid.motion.Termination`, and the verdict at its end;
        ``NOT_STARTED`` for a refused start, None for one that an interrupt left out.
    end : array, (n, 1 + 2 * coordinates)
        Time, coordinates and velocities at the end; NaN where there are none.
    log : EnsembleEvents
        All events.
    reasons : mapping of int to str
        Of refused starts.
    singled_out : mapping of str to int
        Motions that were not followed side by side but one by one, by reason.
    failures : tuple of str
        Chunks of motions that could not be followed, and why.
    warnings : tuple of str
        Other positions of the pins, at the first start that has some, and whether motions begin on different branches.
    units : mapping of str to str
        Of what the mechanism has, by name, as far as they are known.
    seconds, compile_seconds : float
        Of the clock, compilation included, and of writing and compiling the programs of modes alone.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    starts: Array
    seed: int | None
    termination: tuple[str | None, ...]
    verdict: tuple[str | None, ...]
    end: Array
    log: EnsembleEvents
    reasons: Mapping[int, str]
    singled_out: Mapping[str, int]
    seconds: float
    compile_seconds: float = 0.0
    failures: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    units: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    def __repr__(self) -> str:
        ends = [f"{name} {count}" for name, count in self.counts(self.termination).items()]
        missing = f"{self.n_missing} missing" if self.n_missing else ""
        return one_line("Ensemble", f"{self.n} motions over {' and '.join(self.names)}", missing, *ends)

    @property
    def n(self) -> int:
        """Number of starts, refused ones included."""
        return len(self.starts)

    @property
    def events(self) -> dict[str, int]:
        """Events of all motions by kind."""
        return self.log.counts()

    @property
    def n_missing(self) -> int:
        """Number of motions that an interrupt left out."""
        return sum(item is None for item in self.termination)

    def place_of(self, coordinate: str | None) -> int:
        """Column of a coordinate in ``end``.

        Parameters
        ----------
        coordinate : str or None
            None for the last coordinate.

        Returns
        -------
        int

        Raises
        ------
        StateError
            There is no coordinate of that name.
        """
        coordinates = self.columns[1 : 1 + len(self.columns) // 2]
        if coordinate is None:
            return len(coordinates)
        if coordinate not in coordinates:
            raise StateError(f"no coordinate {coordinate!r}; there are {', '.join(coordinates)}")
        return self.columns.index(coordinate)

    @checks_arguments
    def counts(self, of: tuple[str | None, ...]) -> dict[str, int]:
        """How often each termination or verdict occurs, the most frequent first.

        Parameters
        ----------
        of : tuple of str or None
            One entry for each motion, as in ``termination``; None is not counted.

        Returns
        -------
        dict of str to int
        """
        return dict(Counter(item for item in of if item is not None).most_common())

    def to_dataframe(self) -> Any:
        """The motions as a ``pandas.DataFrame``, a row for each.

        Returns
        -------
        pandas.DataFrame
            The columns of :func:`hybrid.analysis.ensemble_columns`.

        Raises
        ------
        ComputationError
            pandas is not installed (the extra ``store``).

        Examples
        --------
        >>> import mechanisms
        >>> from hybrid import derive, ensemble
        >>> ball = derive(mechanisms.load("bouncing_ball"))
        >>> table = ensemble(ball, starts={"y": [1.0, 2.0]}, pins={"y_dot": 0}, t_end=0.1).to_dataframe()
        >>> table["end.y"].round(6).tolist()
        [0.95095, 1.95095]
        """
        return dataframe(ensemble_columns(self))


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
    columns: dict[str, Any] = {f"start.{name}": found.starts[:, k] for k, name in enumerate(found.names)}
    for name, values in (("termination", found.termination), ("verdict", found.verdict)):
        columns[name] = np.array([value or "MISSING" for value in values])
    columns["events"] = np.bincount(found.log.motion, minlength=found.n)
    return columns | {f"end.{name}": found.end[:, k] for k, name in enumerate(found.columns)}


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
