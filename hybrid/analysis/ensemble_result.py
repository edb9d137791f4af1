"""What is known of an ensemble of motions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.ensemble_chunks import EnsembleEvents
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.errors import StateError
from hybrid.tables import dataframe

__all__ = ["Ensemble"]

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
    handed_over : mapping of str to int
        Motions that were not followed side by side but one by one, by reason.
    failures : tuple of str
        Chunks of motions that could not be followed, and why.
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
    handed_over: Mapping[str, int]
    seconds: float
    compile_seconds: float = 0.0
    failures: tuple[str, ...] = ()
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
        return dataframe(self.columns_of_motions())

    def columns_of_motions(self) -> dict[str, Any]:
        """One row for every motion; see :func:`hybrid.analysis.ensemble_columns`.

        Returns
        -------
        dict of str to array, (n,), or tuple
        """
        columns: dict[str, Any] = {f"start.{name}": self.starts[:, k] for k, name in enumerate(self.names)}
        for name, values in (("termination", self.termination), ("verdict", self.verdict)):
            columns[name] = np.array([value or "MISSING" for value in values])
        columns["events"] = np.bincount(self.log.motion, minlength=self.n)
        return columns | {f"end.{name}": self.end[:, k] for k, name in enumerate(self.columns)}
