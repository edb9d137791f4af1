"""Many motions under way: their states, modes, histories, and how those that ended did."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity, element_names
from hybrid.motion.accumulating import limits_in_order
from hybrid.motion.recorded import EventKind, Termination
from hybrid.motion.together.flows import ModeFlow, flow_of
from hybrid.numbered import NumberedEnum

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hybrid.contact.guards import Guard
    from hybrid.contact.modes import Mode
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.arguments import Settings

__all__ = ["ENDINGS", "KINDS", "KIND_NUMBERS", "NOWHERE", "EventLog", "Fleet", "Stage", "distinct_columns"]

Array = NDArray[np.float64]
Lanes = NDArray[np.intp]

NOWHERE = -1
"""In place of the number of a mode: before the start, after the end."""


class Stage(NumberedEnum):
    """What is to be done with a motion next."""

    DECIDE = 0
    FOLLOW = 1
    ENDED = 2
    SINGLED_OUT = 3
    REFUSED = 4


@attrs.define(eq=False)
class EventLog:
    """Events of many motions, in the order in which they were met.

    Attributes
    ----------
    lanes, times, kinds, before, after : list of array, (m,)
        Of the motions, the times, numbers of the kinds among :class:`hybrid.motion.EventKind`, and of the modes.
    """

    lanes: list[Lanes] = attrs.field(factory=list)
    times: list[Array] = attrs.field(factory=list)
    kinds: list[NDArray[np.intp]] = attrs.field(factory=list)
    before: list[NDArray[np.intp]] = attrs.field(factory=list)
    after: list[NDArray[np.intp]] = attrs.field(factory=list)

    def add(self, lanes: Lanes, times: Array, kinds: Any, before: Any, after: Any) -> None:
        """Record one event each of N motions.

        Parameters
        ----------
        lanes : array of int, (N,)
        times : array, (N,)
            In s.
        kinds, before, after : int or array of int, (N,)
            Numbers of the kinds, and of the modes.
        """
        self.lanes.append(lanes)
        self.times.append(np.array(times))
        for column, values in ((self.kinds, kinds), (self.before, before), (self.after, after)):
            column.append(np.broadcast_to(np.asarray(values, dtype=np.intp), lanes.shape).copy())

    def table(self) -> tuple[Lanes, Array, NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """All events as columns, by motion and then in order of time.

        Returns
        -------
        lanes, times, kinds, before, after : array, (N,)
            An accumulation no later than what follows it, as in a single motion.
        """
        if not self.lanes:
            nothing = np.zeros(0, dtype=np.intp)
            return nothing, np.zeros(0), nothing, nothing, nothing
        lanes = np.concatenate(self.lanes)
        order = np.argsort(lanes, kind="stable")
        kinds, before, after = (np.concatenate(column)[order] for column in (self.kinds, self.before, self.after))
        lanes, are_limits = lanes[order], kinds == KIND_NUMBERS[EventKind.ACCUMULATION]
        are_limits[:-1] &= lanes[:-1] == lanes[1:]
        return lanes, limits_in_order(np.concatenate(self.times)[order], are_limits), kinds, before, after


KINDS = tuple(EventKind)
ENDINGS = tuple(Termination)
KIND_NUMBERS: Mapping[EventKind, int] = {kind: number for number, kind in enumerate(KINDS)}


@attrs.define(eq=False)
class Fleet:
    """Motions of one mechanism, side by side; arrays have the motions along their last axis.

    Attributes
    ----------
    dynamics : Dynamics
        At what all of them have in common.
    varied : mapping of str to array, (N,)
        Parameters that differ.
    settings : Settings
    t_end : float
        When every motion ends, in s.
    t, h : array, (N,)
        Times, and lengths of the next steps, in s.
    y, slope, sizes : array, (2n, N)
        States, their rates, and what they are measured by.
    reach : array, (2, n, N)
        Largest sizes of coordinates and velocities so far, which left rounding behind.
    stage : array of int8, (N,)
        Values of :class:`Stage`.
    log : EventLog
        Their events so far.
    modes : list of Mode
        Those that were met.
    names : tuple of str
        Of the force elements.
    mode : array of int, (N,)
        Numbers among ``modes``.
    activities : array of int8, (number of force elements, N)
    is_fresh : array of bool, (N,)
        An arc has just begun.
    was_rejected : array of bool, (N,)
        The last step has to be repeated.
    starts_at_zero : array of bool, (number of force elements, N)
        Where a gap or a slip is the zero from which an arc starts.
    floors : array, (number of force elements, N)
        Rounding of the gap of an open contact and of the slip of a sliding one.
    touches : array of bool, (number of force elements, N)
        Contacts that open with a gap of zero.
    singular_sign : array, (N,)
        Sign of the mobility of the sliding contacts.
    pending : array of int, (N,)
        Number of the kind of an event that waits for the mode after it; -1 without one.
    fired : array of int, (N,)
        The guards that have made that event together: numbers among ``guard_sets``.
    guard_sets : list of tuple of Guard
        Those that have fired together.
    limit : array, (N,)
        Where impacts have accumulated, the time of their limit; else NaN.
    n_events : array of int, (N,)
    termination, verdict : array of int8, (N,)
        How motions ended: numbers among ``ENDINGS``, and of the last :class:`hybrid.contact.CellVerdict`; -1 before.
    reason : list of str or None
        Why a motion was handed over, or its start refused.
    compile_seconds : float
        Spent on writing and compiling the programs of modes.
    impacts : dict of int to dict of str to list of float
        Times of the impacts of every contact, by motion.
    """

    dynamics: Dynamics
    varied: Mapping[str, Array]
    settings: Settings
    t_end: float
    t: Array
    y: Array
    h: Array = attrs.field(init=False)
    slope: Array = attrs.field(init=False)
    sizes: Array = attrs.field(init=False)
    reach: Array = attrs.field(init=False)
    stage: NDArray[np.int8] = attrs.field(init=False)
    mode: NDArray[np.intp] = attrs.field(init=False)
    activities: NDArray[np.int8] = attrs.field(init=False)
    is_fresh: NDArray[np.bool_] = attrs.field(init=False)
    was_rejected: NDArray[np.bool_] = attrs.field(init=False)
    starts_at_zero: NDArray[np.bool_] = attrs.field(init=False)
    floors: Array = attrs.field(init=False)
    touches: NDArray[np.bool_] = attrs.field(init=False)
    singular_sign: Array = attrs.field(init=False)
    pending: NDArray[np.intp] = attrs.field(init=False)
    fired: NDArray[np.intp] = attrs.field(init=False)
    limit: Array = attrs.field(init=False)
    n_events: NDArray[np.intp] = attrs.field(init=False)
    termination: NDArray[np.int8] = attrs.field(init=False)
    verdict: NDArray[np.int8] = attrs.field(init=False)
    reason: list[str | None] = attrs.field(init=False)
    impacts: dict[int, dict[str, list[float]]] = attrs.field(factory=dict)
    compile_seconds: float = 0.0
    log: EventLog = attrs.field(factory=EventLog)
    modes: list[Mode] = attrs.field(factory=list)
    guard_sets: list[tuple[Guard, ...]] = attrs.field(factory=list)
    _numbers: dict[Mode, int] = attrs.field(factory=dict)
    _flows: list[ModeFlow | None] = attrs.field(factory=list)
    _arguments: list[Any] = attrs.field(init=False)
    names: tuple[str, ...] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        n, N = self.dynamics.n, len(self.t)
        self.names = element_names(self.dynamics)
        self.h, self.singular_sign, self.floors = np.zeros(N), np.ones(N), np.zeros((len(self.names), N))
        self.slope, self.sizes, self.reach = np.zeros((2 * n, N)), np.ones((2 * n, N)), np.zeros((2, n, N))
        self.stage = np.full(N, Stage.DECIDE, dtype=np.int8)
        self.mode, self.pending, self.fired = (np.full(N, NOWHERE) for _ in range(3))
        self.limit = np.full(N, np.nan)
        self.n_events = np.zeros(N, dtype=np.intp)
        self.activities = np.zeros((len(self.names), N), dtype=np.int8)
        elements = len(self.names), N
        self.starts_at_zero, self.touches = np.zeros(elements, dtype=bool), np.zeros(elements, dtype=bool)
        self.is_fresh, self.was_rejected = np.ones(N, dtype=bool), np.zeros(N, dtype=bool)
        self.termination, self.verdict = np.full(N, NOWHERE, dtype=np.int8), np.full(N, NOWHERE, dtype=np.int8)
        self.reason = [None] * N
        values = self.dynamics.at(self.varied).values  # with those that are expressions of the varied ones
        self._arguments = [np.asarray(values[name], dtype=float) for name in self.dynamics.equations.parameters]

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.dynamics.n

    def states(self, lanes: Lanes) -> tuple[Array, Array, Array]:
        """Coordinates, velocities and times of some motions.

        Parameters
        ----------
        lanes : array of int, (m,)

        Returns
        -------
        q, v : array, (m, n)
        t : array, (m,)
        """
        return self.y[: self.n, lanes].T, self.y[self.n :, lanes].T, self.t[lanes]

    def at(self, lanes: Lanes) -> Dynamics:
        """The mechanism at the parameters of some motions.

        Parameters
        ----------
        lanes : array of int, (m,)

        Returns
        -------
        Dynamics
        """
        return self.dynamics.at({name: values[lanes] for name, values in self.varied.items()})

    def parameters(self, lanes: Lanes) -> list[Any]:
        """Arguments of compiled functions for some motions.

        Parameters
        ----------
        lanes : array of int, (m,)

        Returns
        -------
        list of float or array, (m,)
        """
        return [value[lanes] if value.ndim else float(value) for value in self._arguments]

    def number_of(self, mode: Mode) -> int:
        """The number of a mode among those that were met.

        Parameters
        ----------
        mode : Mode

        Returns
        -------
        int
        """
        if mode not in self._numbers:
            self._numbers[mode] = len(self.modes)
            self.modes.append(mode)
            first = self.dynamics.at({name: float(values[0]) for name, values in self.varied.items()})
            begin = time.perf_counter()
            self._flows.append(flow_of(first, mode))
            self.compile_seconds += time.perf_counter() - begin
        return self._numbers[mode]

    def fire(self, lanes: Lanes, guards: tuple[Guard, ...]) -> None:
        """Keep which guards have made the events of motions.

        Parameters
        ----------
        lanes : array of int, (m,)
        guards : tuple of Guard
            Those that fired together.
        """
        if guards not in self.guard_sets:
            self.guard_sets.append(guards)
        self.fired[lanes] = self.guard_sets.index(guards)

    def flow(self, number: int) -> ModeFlow | None:
        """The flow of a mode.

        Parameters
        ----------
        number : int
            As :meth:`number_of` gives it.

        Returns
        -------
        ModeFlow or None
            None if motions in this mode are not followed together.
        """
        return self._flows[number]

    def single_out(self, lanes: Lanes, reason: str) -> None:
        """Give motions up: they are followed one by one from their starts.

        Parameters
        ----------
        lanes : array of int, (m,)
        reason : str
        """
        self.stage[lanes] = Stage.SINGLED_OUT
        for lane in lanes.tolist():
            self.reason[lane] = reason

    def refuse(self, lanes: Lanes, reasons: list[str]) -> None:
        """Say why starts are none that a motion can have.

        Parameters
        ----------
        lanes : array of int, (m,)
        reasons : list of str
            One for each.
        """
        self.stage[lanes] = Stage.REFUSED
        for lane, reason in zip(lanes.tolist(), reasons, strict=True):
            self.reason[lane] = reason

    def end(self, lanes: Lanes, termination: Termination, verdict: int = NOWHERE) -> None:
        """Say why motions ended, and the verdict there if it is known.

        Parameters
        ----------
        lanes : array of int, (m,)
        termination : Termination
        verdict : int
        """
        self.stage[lanes], self.verdict[lanes] = Stage.ENDED, verdict
        self.termination[lanes] = ENDINGS.index(termination)

    def patterns(self, lanes: Lanes) -> dict[tuple[Activity, ...], Lanes]:
        """Motions by what their force elements do.

        Parameters
        ----------
        lanes : array of int, (m,)

        Returns
        -------
        dict of tuple of Activity to array of int, (k,)
            Numbers of the motions.
        """
        return {
            tuple(Activity(int(value)) for value in column): lanes[here]
            for column, here in distinct_columns(self.activities[:, lanes], len(Activity))
        }


def distinct_columns(table: NDArray[Any], base: int) -> Iterator[tuple[NDArray[Any], NDArray[np.bool_]]]:
    """Different columns of a table of digits, each with the columns that are like it.

    Parameters
    ----------
    table : array of int or bool, (k, m)
    base : int
        More than every entry.

    Yields
    ------
    column : array, (k,)
    here : array of bool, (m,)
    """
    kind = np.int64 if base ** len(table) < 1 << 63 else object
    powers = np.array([base**place for place in reversed(range(len(table)))], dtype=kind)
    numbers = powers @ table.astype(kind)  # which are sooner compared than columns
    for number in np.unique(numbers):
        here = numbers == number
        yield table[:, here.argmax()], here
