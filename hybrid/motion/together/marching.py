"""Steps of all motions of a mode, block by block, each up to the first guard that falls or to its end; compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev

from hybrid.motion.chebyshev import BEYOND, LAST, points_and_transform
from hybrid.motion.steps import N_COEFFICIENTS
from hybrid.motion.together.descents import first_descent
from hybrid.motion.together.integrator import (
    EXTRA,
    STAGES,
    attempt,
    factor_of,
    fill_errors,
    fill_series,
    states_along,
)
from hybrid.motion.together.lanes import BLOCK, Lines, Operations, Table, carry_out, enter_known, prepared
from lcp.kernels.compiled import released

__all__ = ["ENDED", "GRAZES", "MET", "STUCK", "follow_motions"]

Flags = npt.NDArray[np.bool_]
Blocks = npt.NDArray[np.float64]

ON, MET, ENDED, STUCK, GRAZES = range(5)
"""What became of a motion: it goes on, met a guard, ended, steps are too short, the sign of a guard is uncertain."""

_N_LOOKS = 9
_LOOKS, _TO_SERIES = points_and_transform(_N_LOOKS)
_AT_LOOKS = np.ascontiguousarray(chebyshev.chebvander(2 * _LOOKS - 1, N_COEFFICIENTS - 1))
_SHORTEST = 16.0  # rounding units of the time
_HOPELESS = 1e-7  # of the time: a guard whose sign is uncertain on so short a step stays so on a shorter one
_SHORTER = 8.0
_EPSILON = float(np.finfo(float).eps)


@released
def follow_motions(
    lanes: Lines, rates: Operations, rate_table: Table, guards: Operations, guard_table: Table,
    t: Table, y: Table, slope: Table, h: Table, sizes: Table, was_rejected: Flags, is_fresh: Flags,
    signs: Table, levels: Table, owners: Lines, by_size: Flags, at_zero: Flags, floors: Table,
    atol: float, rtol: float, t_end: float, max_step: float, patience: int,
    status: Lines, place: Table, guard: Lines,
) -> None:  # fmt: skip
    """Steps of motions of one mode up to their events.

    Parameters
    ----------
    lanes : array of int, (m,)
    rates, rate_table, guards, guard_table
        As of :meth:`LaneProgram.at`.
    t, h, was_rejected, is_fresh : array, (N,)
    y, slope, sizes : array, (2n, N)
        Of all motions; changed in place for those of ``lanes``.
    signs, levels : array, (number of guards, m) and (number of guards,)
        What falls is ``sign * guard - level``.
    owners : array of int, (number of guards,)
        Force elements whose gap or slip a guard is; else -1.
    by_size : array of bool, (number of guards,)
        Guards that may begin with a zero that is recognised by its size.
    at_zero, floors : array, (number of force elements, N)
    atol, rtol, t_end, max_step : float
    patience : int
        Steps of a block at most.
    status, place, guard : array, (m,)
        Filled in: what became of a motion, and where on the step that it stands before it meets which guard.

    Returns
    -------
    None
    """
    n, n_guards, n_lanes = y.shape[0], len(guards[1]), len(lanes)
    registers, looking, searching = prepared(rates, n + 1), prepared(guards, n + 1), prepared(guards, n + 1)
    K, series = np.empty((STAGES + 1 + EXTRA, n, BLOCK)), np.empty((N_COEFFICIENTS, n, BLOCK))
    first, last, scale = np.empty((n, BLOCK)), np.empty((n, BLOCK)), np.empty((n, BLOCK))
    start, length, errors, work = np.zeros(BLOCK), np.zeros(BLOCK), np.empty(BLOCK), np.empty((4, BLOCK))
    looks, clear = np.empty((_N_LOOKS, n_guards, BLOCK)), np.empty((n_guards, BLOCK), np.bool_)
    coefficients = np.empty((N_COEFFICIENTS, n))
    active = np.empty(BLOCK, np.int64)
    m, following = 0, 0
    while following < n_lanes or m:
        if patience == 0:
            return
        patience -= 1
        while m < BLOCK and following < n_lanes:
            active[m] = following
            m, following = m + 1, following + 1
        for j in range(m):
            lane = lanes[active[j]]
            start[j] = t[lane]
            length[j] = min(min(h[lane], max_step), t_end - t[lane])
            for i in range(n):
                first[i, j], K[0, i, j], scale[i, j] = y[i, lane], slope[i, lane], atol * sizes[i, lane]
        enter_known(rates, rate_table, active, registers, m)
        attempt(rates, registers, start, first, length, K, last, m)
        fill_errors(K, first, last, length, scale, rtol, errors, work, m)
        n_good = 0
        for j in range(m):
            lane = lanes[active[j]]
            h[lane] = length[j] * factor_of(errors[j], was_rejected[lane])
            is_good = errors[j] < 1.0
            was_rejected[lane] = not is_good
            n_good += is_good
            if not is_good and length[j] <= _SHORTEST * _EPSILON * max(abs(start[j]), t_end * _EPSILON):
                status[active[j]] = STUCK
        if n_good:
            if n_guards:
                fill_series(rates, registers, start, first, last, length, K, series, m)
                enter_known(guards, guard_table, active, looking, m)
                _fill_looks(guards, looking, series, start, length, signs, levels, active, looks, m)
                _fill_clear(looks, clear, m)
            for j in range(m):
                if not errors[j] < 1.0:
                    continue
                own, lane = active[j], lanes[active[j]]
                found, which = np.inf, -1
                if not clear[:, j].all():
                    found, which = _first_fall(
                        guards, guard_table[:, own], searching, coefficients, series[:, :, j], first[:, j], start[j],
                        length[j], clear[:, j], signs[:, own], levels, owners, by_size, at_zero[:, lane],
                        floors[:, lane], is_fresh[lane],
                    )  # fmt: skip
                if found < 0.0:
                    h[lane], was_rejected[lane] = length[j] / _SHORTER, True
                    if length[j] <= _HOPELESS * max(t_end - start[j], abs(start[j])):
                        status[own] = GRAZES
                    continue
                if found < np.inf:
                    status[own], place[own], guard[own] = MET, found * length[j], which
                    h[lane] = length[j]
                    continue
                is_last = length[j] >= t_end - start[j]
                t[lane] = t_end if is_last else start[j] + length[j]
                for i in range(n):
                    y[i, lane], slope[i, lane] = last[i, j], K[STAGES, i, j]
                is_fresh[lane] = False
                if is_last:
                    status[own] = ENDED
        kept = 0
        for j in range(m):
            if status[active[j]] == ON:
                active[kept] = active[j]
                kept += 1
        m = kept


@released
def _fill_looks(
    guards: Operations, looking: Table, series: Blocks, start: Table, length: Table, signs: Table, levels: Table,
    active: Lines, looks: Blocks, m: int,
) -> None:  # fmt: skip
    """Guards, with their signs, at a few instants of the steps of a block, (9, g, m)."""
    for p in range(_N_LOOKS):
        states_along(series, _AT_LOOKS[p], start, length, _LOOKS[p], looking, m)
        carry_out(guards[0], looking, m)
        for g in range(len(guards[1])):
            for j in range(m):
                looks[p, g, j] = signs[g, active[j]] * looking[guards[1][g], j] - levels[g]


@released
def _first_fall(
    guards: Operations, known: Table, searching: Table, coefficients: Table, series: Table, first: Table, start: float,
    length: float, clear: Flags, signs: Table, levels: Table, owners: Lines, by_size: Flags, at_zero: Flags,
    floors: Table, fresh: bool,
) -> tuple[float, int]:  # fmt: skip
    """Where on the step of one motion which guard falls first: infinite if none does, -1 if the search did not end."""
    found, which, n = np.inf, -1, len(first)
    for g in range(len(guards[1])):
        if clear[g]:
            continue
        if which < 0:
            which = g
            coefficients[:] = series
            for k in range(len(guards[3])):
                searching[guards[3][k], :BLOCK] = known[k]
        searching[:n, 0] = first
        searching[n, 0] = start
        carry_out(guards[0], searching, 1)
        owner = owners[g]
        from_zero = owner >= 0 and at_zero[owner]
        descent = first_descent(
            guards, searching, g, signs[g], levels[g], coefficients, start, length,
            signs[g] * searching[guards[1][g], 0] - levels[g], fresh and from_zero, fresh and by_size[g], from_zero,
            not fresh, floors[owner] if owner >= 0 else 0.0,
        )  # fmt: skip
        if descent < found:
            found, which = descent, g
    return found, which


@released
def _fill_clear(looks: npt.NDArray[np.float64], clear: Flags, m: int) -> None:
    """Where guards (9, g, m) are certainly positive on a whole step, by the sizes of their coefficients."""
    c = np.empty((_N_LOOKS, BLOCK))
    for g in range(looks.shape[1]):
        for k in range(_N_LOOKS):
            for j in range(m):
                c[k, j] = 0.0
            for p in range(_N_LOOKS):
                weight = _TO_SERIES[k, p]
                for j in range(m):
                    c[k, j] += weight * looks[p, g, j]
        for j in range(m):
            size, tail = 0.0, 0.0
            for k in range(_N_LOOKS - LAST, _N_LOOKS):
                size += abs(c[k, j])
                tail = max(tail, abs(c[k, j]))
            for k in range(_N_LOOKS - LAST):
                size += abs(c[k, j])
            clear[g, j] = 2.0 * c[0, j] - size > BEYOND * tail
