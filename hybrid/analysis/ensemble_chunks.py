"""Chunks of ensembles: motions followed side by side and, where that does not do, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.classification import CellVerdict
from hybrid.contact.selection import select_in_floats
from hybrid.dynamics.pins import solve_state, solve_states
from hybrid.dynamics.state import State, sort_pins
from hybrid.errors import DeclarationError, HybridError, StateError
from hybrid.motion import Settings, simulate
from hybrid.motion.together import ENDINGS, KINDS, NOWHERE, Stage, Starts, follow_together

if TYPE_CHECKING:
    from hybrid.contact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion import Trajectory
    from hybrid.motion.together import Fleet

__all__ = [
    "NOT_STARTED",
    "EnsembleEvents",
    "FollowedChunk",
    "MotionTask",
    "check_pins",
    "follow_chunk",
    "parameters_and_pins",
    "start_of",
]

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

NOT_STARTED = "NOT_STARTED"
"""Termination and verdict of a start that is refused: it penetrates, cannot be reached, or has no velocity."""

FEW = 32
"""Motions up to which following them one by one is quicker."""

_ENDINGS, _VERDICTS = (np.array([item.name for item in kind], dtype=object) for kind in (ENDINGS, CellVerdict))
_FEW_MOTIONS = f"fewer than {FEW} motions"


@attrs.frozen(eq=False)
class EnsembleEvents:
    """Events of many motions, those of a motion in order of time.

    Attributes
    ----------
    motion : array of int, (m,)
        To which motion an event belongs.
    t : array, (m,)
        Times, in s.
    kind : array of int, (m,)
        Numbers among ``kinds``.
    mode : array of int, (m,)
        Numbers among ``modes`` of the mode that follows; -1 where the motion ends.
    kinds, modes : tuple of str
        Names of :class:`hybrid.motion.EventKind`, and labels.
    """

    motion: Numbers
    t: Array
    kind: Numbers
    mode: Numbers
    kinds: tuple[str, ...] = tuple(kind.name for kind in KINDS)
    modes: tuple[str, ...] = ()

    @classmethod
    def joined(cls, parts: Mapping[int, EnsembleEvents]) -> EnsembleEvents:
        """Events of consecutive motions, by the number of the first of each part.

        Parameters
        ----------
        parts : mapping of int to EnsembleEvents
            By the number of the first motion of each part.

        Returns
        -------
        EnsembleEvents
        """
        modes = sorted({label for part in parts.values() for label in part.modes})
        columns: list[list[Any]] = [[], [], [], []]
        for first, part in sorted(parts.items()):
            place = np.array([*(modes.index(label) for label in part.modes), NOWHERE], dtype=np.intp)
            for column, values in zip(columns, (part.motion + first, part.t, part.kind, place[part.mode]), strict=True):
                column.append(values)
        motion, t, kind, mode = (np.concatenate([np.zeros(0), *column]) for column in columns)
        return cls(motion.astype(np.intp), t, kind.astype(np.intp), mode.astype(np.intp), modes=tuple(modes))

    def counts(self) -> dict[str, int]:
        """How often each kind occurs, the most frequent first.

        Returns
        -------
        dict of str to int
        """
        sizes = np.bincount(self.kind, minlength=len(self.kinds)).tolist()
        return {name: size for size, name in sorted(zip(sizes, self.kinds, strict=True), reverse=True) if size}


@attrs.frozen(eq=False)
class MotionTask:
    """What all motions have in common; it is sent to the processes that follow them."""

    dynamics: Dynamics
    names: tuple[str, ...]
    pins: Mapping[str, Any]
    t_end: float
    law: AbstractImpactLaw | None
    settings: Settings


@attrs.frozen(eq=False)
class FollowedChunk:
    """How consecutive motions ended.

    Attributes
    ----------
    termination, verdict : tuple of str, length m
    end : array, (m, 1 + 2 * coordinates)
        Time, coordinates and velocities at the end; NaN for refused starts.
    events : EnsembleEvents
    reasons : mapping of int to str
        Why starts were refused.
    singled_out : mapping of str to int
        Motions followed one by one, by reason.
    compile_seconds : float
    """

    termination: tuple[str, ...]
    verdict: tuple[str, ...]
    end: Array
    events: EnsembleEvents
    reasons: Mapping[int, str]
    singled_out: Mapping[str, int]
    compile_seconds: float = 0.0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything but the seconds as arrays of numbers and text."""
        log = self.events
        return {
            "termination": np.array(self.termination, dtype=np.str_),
            "verdict": np.array(self.verdict, dtype=np.str_),
            "end": self.end,
            "motion": log.motion,
            "t": log.t,
            "kind": log.kind,
            "mode": log.mode,
            "modes": np.array(log.modes, dtype=np.str_),
            "refused": np.array(list(self.reasons), dtype=np.intp),
            "reasons": np.array(list(self.reasons.values()), dtype=np.str_),
            "handed": np.array(list(self.singled_out.values()), dtype=np.intp),
            "handed_reasons": np.array(list(self.singled_out), dtype=np.str_),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> FollowedChunk:
        """The same from such arrays."""
        text = {name: [str(item) for item in arrays[name]] for name in ("modes", "reasons", "handed_reasons")}
        log = EnsembleEvents(
            motion=arrays["motion"], t=arrays["t"], kind=arrays["kind"], mode=arrays["mode"], modes=tuple(text["modes"])
        )
        return cls(
            tuple(map(str, arrays["termination"])),
            tuple(map(str, arrays["verdict"])),
            arrays["end"],
            log,
            dict(zip(arrays["refused"].tolist(), text["reasons"], strict=True)),
            dict(zip(text["handed_reasons"], arrays["handed"].tolist(), strict=True)),
        )


@attrs.frozen(eq=False)
class _Motion:
    """How one motion ended."""

    termination: str
    verdict: str
    end: tuple[float, ...] = ()
    events: tuple[tuple[float, str, str | None], ...] = ()
    reason: str = ""


def check_pins(task: MotionTask, rows: Array) -> None:
    """Refuse pins with which no start is one: too few or too many, whatever their values.

    Parameters
    ----------
    task : MotionTask
    rows : array, (n, number of names)

    Returns
    -------
    None
        Some start has as many as it needs.

    Raises
    ------
    StateError
        Says what is missing, or too much.
    """
    said = set()
    for row in np.nan_to_num(rows[[0, len(rows) // 2, -1]]).tolist():  # how many there are depends on no value
        own, pins = _split(task, dict(zip(task.names, row, strict=True)))
        try:
            dynamics = task.dynamics.at(own)
        except DeclarationError:  # of this row's parameters
            dynamics = task.dynamics
        try:
            sort_pins(dynamics, {**task.pins, **pins})
        except HybridError as error:
            said.add(str(error))
            continue
        return
    if len(said) == 1:
        raise StateError(said.pop())


def follow_chunk(task: MotionTask, rows: Array, progress: Callable[[int], None] | None = None) -> FollowedChunk:
    """Follow some motions.

    Parameters
    ----------
    task : MotionTask
        What they have in common.
    rows : array, (m, number of names)
    progress : callable, optional
        Called now and then with the number of motions that have ended.

    Returns
    -------
    FollowedChunk
    """
    fleet, reason = None, _FEW_MOTIONS
    finite = _allowed(task, rows, np.flatnonzero(np.isfinite(rows).all(axis=1)))
    if len(finite) >= FEW:
        try:
            fleet = _side_by_side(task, rows[finite], progress)
        except HybridError as error:
            reason = f"together they are refused: {error}"
    alone: dict[int, str] = dict.fromkeys(range(len(rows)), reason)
    if fleet is not None:
        is_alone = {
            int(finite[lane]): fleet.reason[lane] or "" for lane in np.flatnonzero(fleet.stage == Stage.SINGLED_OUT)
        }
        alone = {
            k: is_alone.get(k, "") for k in sorted({*is_alone, *np.setdiff1d(np.arange(len(rows)), finite).tolist()})
        }
    singles = {k: _follow(task, rows[k]) for k in alone}
    return _gathered(task.dynamics, len(rows), finite, fleet, singles, alone)


def _split(task: MotionTask, at: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters and pins among what differs."""
    declared = task.dynamics.mechanism.parameters
    own = {name: value for name, value in at.items() if name in declared}
    return own, {name: value for name, value in at.items() if name not in own}


def _allowed(task: MotionTask, rows: Array, numbers: Numbers) -> Numbers:
    """Those of some rows whose parameters have values that a mechanism can have; mostly all have."""

    def is_allowed(values: Array) -> bool:
        own, _ = _split(task, dict(zip(task.names, values, strict=True)))
        try:
            task.dynamics.at(own)
        except DeclarationError:
            return False
        return True

    if is_allowed(rows[numbers].T):
        return numbers
    return np.array([k for k in numbers.tolist() if is_allowed(rows[k])], dtype=np.intp)


def parameters_and_pins(task: MotionTask, rows: Array) -> tuple[dict[str, Any], dict[str, Any]]:
    """What some motions begin with, together.

    Parameters
    ----------
    task : MotionTask
    rows : array, (m, number of names)

    Returns
    -------
    dict of str to array, (m,)
        The parameters that differ.
    dict of str to float, str or array, (m,)
        All pins.
    """
    varied, pins = _split(task, dict(zip(task.names, rows.T, strict=True)))
    return varied, {**task.pins, **pins}


def _side_by_side(task: MotionTask, rows: Array, progress: Callable[[int], None] | None) -> Fleet:
    varied, pins = parameters_and_pins(task, rows)
    dynamics = task.dynamics
    states = solve_states(dynamics.at(varied), pins)
    q, v = (np.broadcast_to(array, (len(rows), dynamics.n)) for array in (states.q, states.v))
    reached, t = np.broadcast_to(states.reached, len(rows)), np.broadcast_to(states.t, len(rows))
    starts = Starts(attrs.evolve(states, q=q, v=v, t=t, reached=reached), varied)
    return follow_together(dynamics, starts, t_end=task.t_end, law=task.law, settings=task.settings, progress=progress)


def start_of(task: MotionTask, row: Array) -> tuple[Dynamics, State]:
    """The mechanism and the state with which one motion begins.

    Parameters
    ----------
    task : MotionTask
    row : array, (number of names,)

    Returns
    -------
    Dynamics
        With the parameters of this motion.
    State

    Raises
    ------
    HybridError
        The start is refused.
    """
    if not np.isfinite(row).all():
        raise StateError("a value is not a finite number")
    own, pins = _split(task, dict(zip(task.names, row.tolist(), strict=True)))
    dynamics = task.dynamics.at(own)
    return dynamics, solve_state(dynamics, {**task.pins, **pins})


def _follow(task: MotionTask, row: Array) -> _Motion:
    try:
        dynamics, start = start_of(task, row)
        motion = simulate(dynamics, start, t_end=task.t_end, law=task.law, settings=task.settings)
    except HybridError as error:
        return _Motion(NOT_STARTED, NOT_STARTED, reason=str(error))
    events = tuple((e.t, e.kind.name, None if e.mode_after is None else e.mode_after.label) for e in motion.events)
    end = (float(motion.t), *motion.q.tolist(), *motion.v.tolist())
    return _Motion(motion.termination.name, _verdict(dynamics, motion), end, events)


def _verdict(dynamics: Dynamics, motion: Trajectory) -> str:
    """The verdict where the motion ended."""
    if motion.selection is not None:
        return motion.selection.verdict.name
    try:
        return select_in_floats(dynamics, State(motion.q, motion.v, float(motion.t))).verdict.name
    except HybridError:  # at an impact, or where nothing is defined
        return "UNDECIDED"


def _gathered(
    dynamics: Dynamics,
    m: int,
    lanes: Numbers,
    fleet: Fleet | None,
    singles: Mapping[int, _Motion],
    alone: Mapping[int, str],
) -> FollowedChunk:
    termination, verdict = (np.full(m, NOT_STARTED, dtype=object) for _ in range(2))
    end, reasons = np.full((m, 1 + 2 * dynamics.n), np.nan), dict[int, str]()
    log, labels = [np.zeros((0, 4))], dict[str, int]()
    if fleet is not None:
        for lane in np.flatnonzero(fleet.stage == Stage.REFUSED).tolist():
            reasons[int(lanes[lane])] = fleet.reason[lane] or ""
        done = np.flatnonzero(fleet.stage == Stage.ENDED)
        end[lanes[done]] = np.concatenate([fleet.t[None, done], fleet.y[:, done]]).T
        termination[lanes[done]] = _ENDINGS[fleet.termination[done]]
        verdict[lanes[done]] = _VERDICTS[fleet.verdict[done]]
        labels = {mode.label: number for number, mode in enumerate(fleet.modes)}
        own, t, kind, _, mode = fleet.log.table()
        kept = fleet.stage[own] == Stage.ENDED
        log.append(np.stack([lanes[own], t, kind, mode], axis=1)[kept])
    names = [kind.name for kind in KINDS]
    for k, motion in singles.items():
        termination[k], verdict[k] = motion.termination, motion.verdict
        if motion.reason:
            reasons[k] = motion.reason
            continue
        end[k] = motion.end
        for t_event, name, label in motion.events:
            number = NOWHERE if label is None else labels.setdefault(label, len(labels))
            log.append(np.array([[k, t_event, names.index(name), number]]))
    table = np.concatenate(log)
    table = table[np.argsort(table[:, 0], kind="stable")]
    numbers = table[:, [0, 2, 3]].astype(np.intp)
    events = EnsembleEvents(numbers[:, 0], table[:, 1], numbers[:, 1], numbers[:, 2], modes=tuple(labels))
    counted = Counter(reason for k, reason in alone.items() if not singles[k].reason)
    return FollowedChunk(
        tuple(termination.tolist()), tuple(verdict.tolist()), end, events, dict(sorted(reasons.items())),
        dict(counted.most_common()),
        0.0 if fleet is None else fleet.compile_seconds,
    )  # fmt: skip
