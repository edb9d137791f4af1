"""All motions of a mode, each from where it is to the first guard that falls, or to its end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import attrs
import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev

from hybrid.contact.guards import GuardKind
from hybrid.motion.events import SINGULAR_FROM
from hybrid.motion.recorded import Termination
from hybrid.motion.steps import LEAST_RTOL, N_COEFFICIENTS, PLACES
from hybrid.motion.together.fleet import Stage
from hybrid.motion.together.integrator import (
    EXTRA,
    STAGES,
    attempt,
    factor_of,
    fill_errors,
    fill_series,
    first_length,
    states_along,
)
from hybrid.motion.together.landing import land_motions
from hybrid.motion.together.lanes import BLOCK, Operations, Table, carry_out, enter_known, evaluate, prepared
from hybrid.motion.together.marching import ENDED, GRAZES, MET, STUCK, follow_motions
from hybrid.progress import say_meanwhile
from lcp.kernels.compiled import Readiness, readiness, released

if TYPE_CHECKING:
    from hybrid.motion.together.fleet import Fleet
    from hybrid.motion.together.flows import ModeFlow

__all__ = ["Met", "enter", "looked_along", "ready", "step"]

Array = npt.NDArray[np.float64]
Lanes = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
Program = tuple[Operations, Table]

_PLACES = np.ascontiguousarray(PLACES)
_AT_PLACES = np.ascontiguousarray(chebyshev.chebvander(2 * PLACES - 1, N_COEFFICIENTS - 1))
_PATIENCE = 4096  # steps of a block between two looks at the keyboard
_TRIALS = 60  # lengths of a step, each at most nine tenths of the one before
_REASONS = {STUCK: "steps become too short", GRAZES: "a guard that grazes zero or has no series"}


@attrs.frozen(eq=False)
class Met:
    """Motions that have met a guard of their mode, and stand where it vanishes.

    Attributes
    ----------
    mode : int
    lanes : array of int, (m,)
    fired : array of bool, (number of guards, m)
        Those that vanish together.
    """

    mode: int
    lanes: Lanes
    fired: Flags


@released
def begin_arcs(
    rates: Operations, rate_table: Table, t: Table, y: Table, scale: Table, rtol: float, t_end: float,
    slope: Table, h: Table,
) -> None:  # fmt: skip
    """Rates and first steps where arcs begin.

    Parameters
    ----------
    rates, rate_table
        As of :meth:`LaneProgram.at`.
    t : array, (m,)
    y, scale : array, (2n, m)
        States, and what is allowed beside a share of them.
    rtol, t_end : float
    slope, h : array, (2n, m) and (m,)
        Filled in.

    Returns
    -------
    None
    """
    n, n_lanes = y.shape
    registers, places = prepared(rates, n + 1), np.empty(BLOCK, np.int64)
    rest, length = np.empty(BLOCK), np.empty(BLOCK)
    for begin in range(0, n_lanes, BLOCK):
        m = min(BLOCK, n_lanes - begin)
        end = begin + m
        for j in range(m):
            places[j], rest[j] = begin + j, t_end - t[begin + j]
        enter_known(rates, rate_table, places, registers, m)
        first_length(
            rates, registers, t[begin:end], y[:, begin:end], slope[:, begin:end], scale[:, begin:end], rtol, rest,
            length, m,
        )  # fmt: skip
        for j in range(m):
            h[begin + j] = length[j]


@released
def look_along(
    rates: Operations, rate_table: Table, guards: Operations, guard_table: Table, t: Table, y: Table, scale: Table,
    rtol: float, slope: Table, h: Table, values: npt.NDArray[np.float64], is_accurate: Flags,
) -> None:  # fmt: skip
    """Guards along steps that are only tried.

    Parameters
    ----------
    rates, rate_table, guards, guard_table, t, y, scale, rtol
        As of :func:`begin_arcs`.
    slope, h : array, (2n, m) and (m,)
        Rates, and lengths of the steps; they are shortened where a step is not accurate.
    values : array, (number of guards, 19, m)
        Filled in: at both ends and the Chebyshev points.
    is_accurate : array of bool, (m,)
        Filled in: whether some step is.

    Returns
    -------
    None
    """
    n, n_lanes = y.shape
    registers, looking, places = prepared(rates, n + 1), prepared(guards, n + 1), np.empty(BLOCK, np.int64)
    K, series = np.empty((STAGES + 1 + EXTRA, n, BLOCK)), np.empty((N_COEFFICIENTS, n, BLOCK))
    first, last, allowed = np.empty((n, BLOCK)), np.empty((n, BLOCK)), np.empty((n, BLOCK))
    errors, work = np.empty(BLOCK), np.empty((4, BLOCK))
    for begin in range(0, n_lanes, BLOCK):
        m = min(BLOCK, n_lanes - begin)
        for j in range(m):
            places[j] = begin + j
            for i in range(n):
                first[i, j], K[0, i, j], allowed[i, j] = y[i, begin + j], slope[i, begin + j], scale[i, begin + j]
        start, length = t[begin : begin + m], h[begin : begin + m]
        enter_known(rates, rate_table, places, registers, m)
        enter_known(guards, guard_table, places, looking, m)
        for _ in range(_TRIALS):
            attempt(rates, registers, start, first, length, K, last, m)
            fill_errors(K, first, last, length, allowed, rtol, errors, work, m)
            n_accurate = 0
            for j in range(m):
                is_accurate[begin + j] = errors[j] < 1.0
                n_accurate += is_accurate[begin + j]
                if not is_accurate[begin + j]:
                    length[j] *= factor_of(errors[j], True)
            if n_accurate == m:
                break
        fill_series(rates, registers, start, first, last, length, K, series, m)
        for p in range(len(_PLACES)):
            states_along(series, _AT_PLACES[p], start, length, _PLACES[p], looking, m)
            for i in range(n):
                for j in range(m):
                    if p == 0:
                        looking[i, j] = first[i, j]
                    elif p == len(_PLACES) - 1:
                        looking[i, j] = last[i, j]
            carry_out(guards[0], looking, m)
            for g in range(len(guards[1])):
                for j in range(m):
                    values[g, p, begin + j] = looking[guards[1][g], j]


def ready() -> float:
    """Compile what motions are followed with, or load it from where it is kept.

    Returns
    -------
    float
        Seconds that this took.
    """
    begin = time.perf_counter()
    if (state := readiness(look_along)) is not Readiness.LOADED:  # the last of them
        say_meanwhile("compiling" if state is Readiness.UNKNOWN else "loading compiled code")
        lines, nothing, numbers = np.zeros((0, 4), dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        table, flags = np.zeros((0, 0)), np.zeros(0, dtype=bool)
        program: Program = (lines, nothing, numbers, nothing, 1), table
        follow_motions(
            nothing, *program, *program, numbers, table, table, numbers, table, flags, flags, table, numbers, nothing,
            flags, np.zeros((0, 0), dtype=bool), table, 0.0, 0.0, 0.0, 0.0, 0, nothing, numbers, nothing,
        )  # fmt: skip
        place = np.zeros((0, 0), dtype=bool), flags
        land_motions(
            nothing, nothing, numbers, *program, *program, numbers, table, table, numbers, table, numbers, *place
        )
        begin_arcs(*program, numbers, table, table, 0.0, 0.0, table, numbers)
        evaluate(*program, numbers, table, table)
        look_along(*program, *program, numbers, table, table, 0.0, table, numbers, np.zeros((0, 0, 0)), flags)
    return time.perf_counter() - begin


def enter(fleet: Fleet, flow: ModeFlow, lanes: Lanes, y: Array) -> tuple[Array, Array]:
    """Rates and lengths of first steps where arcs of a mode begin.

    Parameters
    ----------
    fleet : Fleet
    flow : ModeFlow
    lanes : array of int, (m,)
    y : array, (2n, m)

    Returns
    -------
    slope : array, (2n, m)
    h : array, (m,)
    """
    y = np.ascontiguousarray(y)
    slope, h = np.empty_like(y), np.empty(len(lanes))
    rates = flow.rates.at(fleet.parameters(lanes), len(lanes))
    begin_arcs(*rates, fleet.t[lanes], y, *_allowed(fleet, lanes), fleet.t_end, slope, h)
    return slope, h


def _allowed(fleet: Fleet, lanes: Lanes) -> tuple[Array, float]:
    """What a step may be wrong by: an amount for every quantity, and a share of it."""
    settings = fleet.settings
    return np.ascontiguousarray(settings.atol * fleet.sizes[:, lanes]), max(settings.rtol, LEAST_RTOL)


def looked_along(fleet: Fleet, flow: ModeFlow, lanes: Lanes, y: Array) -> tuple[Array, Flags]:
    """Guards along first steps in a mode, tried from some states.

    Parameters
    ----------
    fleet, flow, lanes, y
        As of :func:`enter`.

    Returns
    -------
    values : array, (number of guards, 19, m)
        At both ends of the steps and the Chebyshev points between.
    is_accurate : array of bool, (m,)
        Where the step is, however short it had to be.
    """
    slope, h = enter(fleet, flow, lanes, y)
    values, is_accurate = np.empty((len(flow.guards), len(_PLACES), len(lanes))), np.empty(len(lanes), dtype=bool)
    parameters, m = fleet.parameters(lanes), len(lanes)
    programs = *flow.rates.at(parameters, m), *flow.watched.at(parameters, m)
    look_along(
        *programs, fleet.t[lanes], np.ascontiguousarray(y), *_allowed(fleet, lanes), slope, h, values, is_accurate
    )
    return values, is_accurate


def step(fleet: Fleet, mode: int, lanes: Lanes) -> Met:
    """Advance motions of one mode to their events or ends, or as far as a look at the keyboard allows.

    Parameters
    ----------
    fleet : Fleet
        Changed in place.
    mode : int
    lanes : array of int, (m,)

    Returns
    -------
    Met
        Those that have met a guard.
    """
    flow, m, settings = fleet.flow(mode), len(lanes), fleet.settings
    if flow is None:
        fleet.single_out(lanes, "a mode whose equations need pivoting")
        return Met(mode, lanes[:0], np.zeros((0, 0), dtype=bool))
    kinds = [guard.kind for guard in flow.guards]
    signs, levels = np.ones((len(kinds), m)), np.zeros(len(kinds))
    for number, kind in enumerate(kinds):
        if kind is GuardKind.SINGULAR:
            signs[number], levels[number] = fleet.singular_sign[lanes], SINGULAR_FROM
    owned = [kind in (GuardKind.TOUCHDOWN, GuardKind.SLIP) for kind in kinds]
    owners = [fleet.names.index(g.element) if is_owned else -1 for g, is_owned in zip(flow.guards, owned, strict=True)]
    status, place, guard = np.zeros(m, dtype=np.int64), np.zeros(m), np.zeros(m, dtype=np.int64)
    parameters = fleet.parameters(lanes)
    programs = *flow.rates.at(parameters, m), *flow.watched.at(parameters, m)
    follow_motions(
        lanes, *programs, fleet.t, fleet.y, fleet.slope, fleet.h, fleet.sizes, fleet.was_rejected, fleet.is_fresh,
        signs, levels, np.array(owners, dtype=np.int64), ~np.array(owned, dtype=bool), fleet.starts_at_zero,
        fleet.floors, settings.atol, max(settings.rtol, LEAST_RTOL), fleet.t_end, settings.max_step, _PATIENCE,
        status, place, guard,
    )  # fmt: skip
    fleet.end(lanes[status == ENDED], Termination.END_TIME)
    for code, reason in _REASONS.items():
        fleet.single_out(lanes[status == code], reason)
    met = np.flatnonzero(status == MET)
    fired, done = np.zeros((len(kinds), len(met)), dtype=bool), np.zeros(len(met), dtype=bool)
    if len(met):
        parameters, signs = fleet.parameters(lanes[met]), np.ascontiguousarray(signs[:, met])
        programs = *flow.rates.at(parameters, len(met)), *flow.watched.at(parameters, len(met))
        land_motions(
            lanes[met], guard[met], place[met], *programs, fleet.t, fleet.y, fleet.slope, fleet.h, signs, levels,
            fired, done,
        )  # fmt: skip
    fleet.single_out(lanes[met[~done]], "an event that Newton's method does not reach")
    fleet.stage[lanes[met[done]]] = Stage.DECIDE
    return Met(mode, lanes[met[done]], fired[:, done])
