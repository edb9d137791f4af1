"""Ensembles: many motions of one mechanism from drawn or given starts, and how they end."""

from __future__ import annotations

import hashlib
import math
import time
from collections import Counter
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.engines import Engine, worked_off
from hybrid.analysis.ensemble_chunks import (
    NOT_STARTED,
    EnsembleEvents,
    FollowedChunk,
    MotionTask,
    check_pins,
    follow_chunk,
    parameters_and_pins,
    start_of,
)
from hybrid.analysis.ensemble_result import Ensemble
from hybrid.analysis.ensemble_store import ensemble_of, store_ensemble
from hybrid.analysis.kept_tasks import KeptTasks, kept_tasks
from hybrid.analysis.maps.axes import Axis, check_axes, quantities_with_units
from hybrid.analysis.maps.kept import about_mechanism, about_pins
from hybrid.analysis.maps.store import check_folder, finished_group
from hybrid.arguments import checks_arguments
from hybrid.dynamics.derive import bound
from hybrid.dynamics.postures import first_postures
from hybrid.dynamics.state import other_positions
from hybrid.errors import ComputationError, HybridError, StateError
from hybrid.motion import Settings
from hybrid.progress import OnInterrupt, comes_to_its_end, keeps_partial
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from hybrid.contact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics

__all__ = ["Ensemble", "ensemble"]

Array = NDArray[np.float64]

_LEAST, _LARGEST = 1024, 32768  # motions of a chunk
_SHARE = 4  # chunks at least, but for small ones
_MOST = 10_000_000
_LOOKED_AT = 16  # starts that seem to have other positions: those of an angle may be full turns
_SEEDS = 1 << 128


@checks_arguments
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
    executor: Executor | Engine | None = None,
    store: str | Path | None = None,
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
        When every motion ends, in s.
    law : AbstractImpactLaw, optional
        Decides impacts; without one a motion ends there.
    rtol : float, optional
        Of the integration, as in :class:`hybrid.Settings`.
    executor : concurrent.futures.Executor, or callable that makes one, optional
        Follows chunks of motions elsewhere. A chunk that raises an error, or takes its process along where executors
        can be made anew, does not stop the others: its motions are missing, and ``failures`` names it.
    store : str or Path, optional
        Folder for the finished ensemble, as of :func:`hybrid.analysis.load_ensemble`. Chunks are kept beside it, in a
        folder that ends in ``.part``, as they are finished: after whatever ended it the same call goes on from there.
        Where the folder holds the same ensemble already, that is read and returned.
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
    dynamics = bound(dynamics, parameters, swept=(*(vary or ()), *(starts or ())))
    keeps = keeps_partial(on_interrupt)
    pins = dict(pins or {})
    names, rows, used = _starts(dynamics, vary, n, seed, starts, fixed=(*pins, *(parameters or ())))
    settings = _settings(rtol)
    if not math.isfinite(t_end) or (t_end <= 0.0 and "t" not in {*names, *pins}):
        raise StateError(f"t_end must be a time later than the start; it is {t_end}")
    task = MotionTask(dynamics, names, pins, float(t_end), law, settings)
    check_pins(task, rows)
    begin = time.perf_counter()
    size = min(max(math.ceil(len(rows) / _SHARE), _LEAST), _LARGEST)
    found: dict[int, FollowedChunk] = {}
    failures: dict[int, str] = {}
    folder = None if store is None else Path(store)
    about = {} if folder is None else _specification(task, rows, used, size)
    if folder is not None and (data := finished_group(folder, about)) is not None:
        held = ensemble_of(data, folder)
        if progress is not None:
            progress(held.n, held.n)
        return attrs.evolve(held, seconds=time.perf_counter() - begin, units=quantities_with_units(dynamics))
    with nullcontext() if folder is None else _opened(folder, about) as kept:

        def follow() -> None:
            collects = executor is not None or kept is not None
            failed = (lambda first, reason: failures.update({first: reason})) if collects else None
            done = 0
            for first, chunk in _worked_off(task, rows, size, executor, kept=kept, progress=progress, failed=failed):
                found[first] = chunk
                done += len(chunk.termination)
                if progress is not None:
                    progress(done, len(rows))

        comes_to_its_end(follow, keeps=keeps)
        texts = tuple(f"motions {k} to {min(k + size, len(rows)) - 1}: {why}" for k, why in failures.items())
        if texts and not found:
            raise ComputationError(texts[0])
        answer = _gathered(task, rows, used, found, time.perf_counter() - begin, texts)
        if folder is not None and kept is not None:
            store_ensemble(answer, folder, about=about)
            if not answer.n_missing:
                kept.remove()
    return answer


def _settings(rtol: float | None) -> Settings:
    try:
        return Settings() if rtol is None else Settings(rtol=rtol)
    except ValueError as error:
        raise StateError(str(error)) from None


@contextmanager
def _opened(folder: Path, about: Mapping[str, Any]) -> Iterator[KeptTasks]:
    check_folder(folder)
    with kept_tasks(folder, about) as kept:
        yield kept


def _specification(task: MotionTask, rows: Array, seed: int | None, size: int) -> dict[str, Any]:
    """What an ensemble is of, as JSON values."""
    return {
        "kind": "ensemble",
        **about_mechanism(task.dynamics),
        "pins": about_pins(task.pins),
        "names": list(task.names),
        "n": len(rows),
        "seed": seed,
        "starts": hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest(),
        "t_end": task.t_end,
        "law": repr(task.law),
        "rtol": task.settings.rtol,
        "tolerances": attrs.asdict(task.settings.tolerances),
        "chunk": size,
    }


def _starts(
    dynamics: Dynamics,
    vary: Mapping[str, tuple[float, float]] | None,
    n: int | None,
    seed: int,
    starts: Mapping[str, Sequence[float]] | None,
    *,
    fixed: Collection[str],
) -> tuple[tuple[str, ...], Array, int | None]:
    """Names and values of what differs, and the seed."""
    if (vary is None) == (starts is None):
        raise StateError("give ranges to draw from, as phi=0.2:2.9, or starts, not both")
    if starts is not None:
        if n is not None:
            raise StateError("the number of given starts is that of their rows; leave n out")
        check_axes(dynamics, [Axis(name, 0.0, 1.0) for name in starts], fixed=fixed, word="column")
        columns = [np.asarray(values, dtype=float) for values in starts.values()]
        if not columns or len({column.shape for column in columns}) != 1 or columns[0].ndim != 1 or not columns[0].size:
            raise StateError("starts need at least one row, and as many values of every name")
        return tuple(starts), np.stack(columns, axis=1), None
    if n is None or not 1 <= n <= _MOST:
        given = "n is not given" if n is None else f"n {n}"
        raise StateError(f"{given}: give a number of draws from 1 to {_MOST}")
    if not 0 <= seed < _SEEDS:
        raise StateError(f"seed {seed}: it must be a whole number from 0 to 2**128 - 1")
    axes = [Axis(name, low, high) for name, (low, high) in (vary or {}).items()]
    if not axes:
        raise StateError("give at least one range to draw from, as phi=0.2:2.9")
    check_axes(dynamics, axes, fixed=fixed, word="range")
    # row by row from one stream: a draw depends on nothing but the seed and its number
    share = np.random.Generator(np.random.Philox(key=seed)).random((n, len(axes)))
    low, high = np.array([axis.low for axis in axes]), np.array([axis.high for axis in axes])
    return tuple(axis.name for axis in axes), low + share * (high - low), seed


def _worked_off(
    task: MotionTask,
    rows: Array,
    size: int,
    engine: Executor | Engine | None,
    *,
    kept: KeptTasks | None,
    progress: Callable[[int, int], None] | None,
    failed: Callable[[int, str], None] | None,
) -> Iterator[tuple[int, FollowedChunk]]:
    """Chunks by the numbers of their first motions; those that are kept come first."""
    firsts = range(0, len(rows), size)
    if kept is not None:
        for number in sorted(kept.done):
            yield firsts[number], FollowedChunk.from_arrays(kept.get(number))
    todo = [first for first in firsts if kept is None or first // size not in kept.done]
    work: Callable[[Array], FollowedChunk] = partial(follow_chunk, task)
    if engine is None and progress is not None:
        work = _reporting(task, progress, todo, size, len(rows))
    report_failure = None if failed is None else lambda number, reason: failed(todo[number], reason)
    pieces = [rows[first : first + size] for first in todo]
    for number, chunk in worked_off(work, pieces, engine=engine, failed=report_failure):
        if kept is not None:
            kept.put(todo[number] // size, chunk.arrays())
        yield todo[number], chunk


def _reporting(
    task: MotionTask, progress: Callable[[int, int], None], todo: Sequence[int], size: int, n: int
) -> Callable[[Array], FollowedChunk]:
    """Follows chunks here, one after the other, and tells how far each is."""
    before = iter(todo)

    def work(rows: Array) -> FollowedChunk:
        first = next(before)
        return follow_chunk(task, rows, lambda ended: progress(first + ended, n))

    return work


def _other_positions(task: MotionTask, rows: Array, termination: Sequence[str | None]) -> tuple[str, ...]:
    """What is to be said of the pins of the starts that were followed."""
    began = [k for k, ending in enumerate(termination) if ending not in (NOT_STARTED, None)]
    if not began:
        return ()
    varied, pins = parameters_and_pins(task, rows[began])
    has_others, side = first_postures(task.dynamics.at(varied), pins, tolerances=Tolerances())
    for k in np.flatnonzero(has_others)[:_LOOKED_AT].tolist():
        with suppress(HybridError):  # beside others it may just have been reached
            if texts := other_positions(*start_of(task, rows[began[k]])):
                branches = ["motions begin on different branches: each takes the position that is found first"]
                return (*(f"at start {began[k]} {text}" for text in texts), *branches[: np.unique(side).size - 1])
    return ()


def _gathered(
    task: MotionTask,
    rows: Array,
    seed: int | None,
    found: Mapping[int, FollowedChunk],
    seconds: float,
    failures: tuple[str, ...],
) -> Ensemble:
    dynamics = task.dynamics
    end = np.full((len(rows), 1 + 2 * dynamics.n), np.nan)
    termination: list[str | None] = [None] * len(rows)
    verdict: list[str | None] = [None] * len(rows)
    reasons, singled_out = dict[int, str](), Counter[str]()
    for first, chunk in sorted(found.items()):
        own = slice(first, first + len(chunk.termination))
        end[own], termination[own], verdict[own] = chunk.end, chunk.termination, chunk.verdict
        reasons |= {first + k: reason for k, reason in chunk.reasons.items()}
        singled_out.update(chunk.singled_out)
    return Ensemble(
        names=task.names,
        columns=("t", *dynamics.mechanism.coordinates, *dynamics.mechanism.velocities),
        starts=rows,
        seed=seed,
        termination=tuple(termination),
        verdict=tuple(verdict),
        end=end,
        log=EnsembleEvents.joined({first: chunk.events for first, chunk in found.items()}),
        reasons=reasons,
        singled_out=dict(singled_out.most_common()),
        seconds=seconds,
        failures=failures,
        warnings=_other_positions(task, rows, termination),
        units=quantities_with_units(dynamics),
        compile_seconds=max((chunk.compile_seconds for chunk in found.values()), default=0.0),
    )
