"""Ensembles: many motions of one mechanism from drawn or given starts, and how they end."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.ensemble_chunks import EnsembleEvents, FollowedChunk, MotionTask, follow_chunk
from hybrid.analysis.maps.axes import Axis, check_axes
from hybrid.errors import StateError
from hybrid.interrupts import OnInterrupt, interruptible, keeps_partial
from hybrid.motion import Settings

if TYPE_CHECKING:
    from hybrid.contact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics

__all__ = ["Ensemble", "ensemble"]

Array = NDArray[np.float64]

_LEAST, _LARGEST = 1024, 32768  # motions of a chunk
_SHARE = 4  # chunks at least, but for small ones
_MOST = 10_000_000


@attrs.frozen(eq=False)
class Ensemble:
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
        """Column of a coordinate in ``end``; by default of the last one. StateError if there is none of that name."""
        coordinates = self.columns[1 : 1 + len(self.columns) // 2]
        if coordinate is None:
            return len(coordinates)
        if coordinate not in coordinates:
            raise StateError(f"no coordinate {coordinate!r}; there are {', '.join(coordinates)}")
        return self.columns.index(coordinate)

    def counts(self, of: tuple[str | None, ...]) -> dict[str, int]:
        """How often each termination or verdict occurs, the most frequent first."""
        return dict(Counter(item for item in of if item is not None).most_common())


def ensemble(
    dynamics: Dynamics,
    *,
    vary: Mapping[str, tuple[float, float]] | None = None,
    n: int | None = None,
    seed: int = 0,
    starts: Mapping[str, Sequence[float]] | None = None,
    pins: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    t_end: float,
    law: AbstractImpactLaw | None = None,
    rtol: float | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    on_interrupt: OnInterrupt = "raise",
) -> Ensemble:
    """Follow motions from uniformly drawn starts, or from given ones.

    Parameters
    ----------
    dynamics : Dynamics
    vary : mapping of str to (low, high), optional
        Pins and parameters that are drawn.
    n : int, optional
        Number of draws.
    seed : int, optional
        Draw ``i`` depends on the seed and on ``i`` only.
    starts : mapping of str to sequence of float, optional
        Values of pins and parameters in place of draws, all of one length.
    pins, parameters : mapping of str to float or str, optional
        What all starts have in common. Other pins follow the defaults of :func:`hybrid.solve_state`.
    t_end : float
    law : AbstractImpactLaw, optional
        Decides impacts; without one a motion ends there.
    rtol : float, optional
        Of the integration, as in :class:`hybrid.Settings`.
    executor : concurrent.futures.Executor, optional
        Follows chunks of motions elsewhere.
    progress : callable, optional
        Called as ``progress(done, n)``.
    on_interrupt : {"raise", "keep"}, optional
        What Ctrl-C does: raise ``KeyboardInterrupt``, or return what is there.

    Returns
    -------
    Ensemble

    Raises
    ------
    StateError, DeclarationError
        Unknown names, ranges that are not, or arguments that do not go together. A start that is refused raises
        nothing: it is counted as ``NOT_STARTED``.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, ensemble
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> ranges = {"phi": (0.2, 2.9), "slip.tip": (-1, 1)}
    >>> found = ensemble(rod, vary=ranges, pins={"phi_dot": 0}, n=5, seed=1, t_end=0.2)
    >>> found.n, sum(found.counts(found.termination).values())
    (5, 5)
    """
    keeps = keeps_partial(on_interrupt)
    pins, parameters = dict(pins or {}), dict(parameters or {})
    names, rows, used = _starts(dynamics, vary, n, seed, starts, pins=pins, parameters=parameters)
    settings = Settings() if rtol is None else Settings(rtol=rtol)
    task = MotionTask(dynamics, names, pins, parameters, float(t_end), law, settings)
    begin = time.perf_counter()
    found: dict[int, FollowedChunk] = {}
    size = min(max(math.ceil(len(rows) / _SHARE), _LEAST), _LARGEST)
    done = 0
    try:
        with interruptible(keeps=keeps):
            for first, chunk in _followed(task, rows, range(0, len(rows), size), size, executor, progress):
                found[first] = chunk
                done += len(chunk.termination)
                if progress is not None:
                    progress(done, len(rows))
    except KeyboardInterrupt:
        if not keeps:
            raise
    return _gathered(dynamics, names, rows, used, found, time.perf_counter() - begin)


def _starts(
    dynamics: Dynamics,
    vary: Mapping[str, tuple[float, float]] | None,
    n: int | None,
    seed: int,
    starts: Mapping[str, Sequence[float]] | None,
    *,
    pins: Mapping[str, Any],
    parameters: Mapping[str, Any],
) -> tuple[tuple[str, ...], Array, int | None]:
    """Names and values of what differs, and the seed."""
    if (vary is None) == (starts is None):
        raise StateError("give ranges to draw from, as phi=0.2:2.9, or starts, not both")
    if starts is not None:
        if n is not None:
            raise StateError("the number of given starts is that of their rows; leave n out")
        check_axes(dynamics, [Axis(name, 0.0, 1.0) for name in starts], pins=pins, parameters=parameters)
        columns = [np.asarray(values, dtype=float) for values in starts.values()]
        if not columns or len({column.shape for column in columns}) != 1 or columns[0].ndim != 1 or not columns[0].size:
            raise StateError("starts need at least one row, and as many values of every name")
        return tuple(starts), np.stack(columns, axis=1), None
    if n is None or not 1 <= n <= _MOST:
        raise StateError(f"n {n}: give a number of draws from 1 to {_MOST}")
    if seed < 0:
        raise StateError(f"seed {seed}: it must be a whole number, not negative")
    axes = [Axis(name, *ends) for name, ends in (vary or {}).items()]
    if not axes:
        raise StateError("give at least one range to draw from, as phi=0.2:2.9")
    check_axes(dynamics, axes, pins=pins, parameters=parameters)
    # row by row from one stream: a draw depends on nothing but the seed and its number
    share = np.random.Generator(np.random.Philox(key=seed)).random((n, len(axes)))
    low, high = np.array([axis.low for axis in axes]), np.array([axis.high for axis in axes])
    return tuple(axis.name for axis in axes), low + share * (high - low), seed


def _followed(
    task: MotionTask,
    rows: Array,
    firsts: Sequence[int],
    size: int,
    executor: Executor | None,
    progress: Callable[[int, int], None] | None,
) -> Iterator[tuple[int, FollowedChunk]]:
    if executor is None:
        for first in firsts:
            tell = None if progress is None else partial(_tell, progress, first, len(rows))
            yield first, follow_chunk(task, rows[first : first + size], tell)
        return
    futures = {executor.submit(follow_chunk, task, rows[first : first + size]): first for first in firsts}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()


def _tell(progress: Callable[[int, int], None], before: int, n: int, ended: int) -> None:
    progress(before + ended, n)


def _gathered(
    dynamics: Dynamics,
    names: tuple[str, ...],
    rows: Array,
    seed: int | None,
    found: Mapping[int, FollowedChunk],
    seconds: float,
) -> Ensemble:
    end = np.full((len(rows), 1 + 2 * dynamics.n), np.nan)
    termination: list[str | None] = [None] * len(rows)
    verdict: list[str | None] = [None] * len(rows)
    reasons, handed_over = dict[int, str](), Counter[str]()
    for first, chunk in sorted(found.items()):
        own = slice(first, first + len(chunk.termination))
        end[own], termination[own], verdict[own] = chunk.end, chunk.termination, chunk.verdict
        reasons |= {first + k: reason for k, reason in chunk.reasons.items()}
        handed_over.update(chunk.handed_over)
    return Ensemble(
        names=names,
        columns=("t", *dynamics.mechanism.coordinates, *dynamics.mechanism.velocities),
        starts=rows,
        seed=seed,
        termination=tuple(termination),
        verdict=tuple(verdict),
        end=end,
        log=EnsembleEvents.joined({first: chunk.events for first, chunk in found.items()}),
        reasons=reasons,
        handed_over=dict(handed_over.most_common()),
        seconds=seconds,
        compile_seconds=max((chunk.compile_seconds for chunk in found.values()), default=0.0),
    )
