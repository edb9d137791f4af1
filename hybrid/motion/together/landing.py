"""Motions taken to where the guards vanish that they have met, by steps of their own; compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hybrid.motion.events import CLOSE, LANDING
from hybrid.motion.together.integrator import EXTRA, STAGES, attempt
from hybrid.motion.together.lanes import BLOCK, Lines, Operations, Table, carry_out, enter_known, prepared
from hybrid.tolerances import INTEGRATED
from lcp.kernels.compiled import released

__all__ = ["land_motions"]

Flags = npt.NDArray[np.bool_]

_TOGETHER = INTEGRATED  # guards whose zeros lie closer in time, relative to the time, fire together
_LANDINGS = 6
_CLOSE, _LANDING = CLOSE, LANDING


@released
def _fill_guards(
    guards: Operations, registers: Table, t: Table, y: Table, rate: Table, ahead: float, width: Table, signs: Table,
    levels: Table, active: Lines, values: Table, m: int,
) -> None:  # fmt: skip
    """Guards at states along the tangents of motions."""
    n = y.shape[0]
    for i in range(n):
        for j in range(m):
            registers[i, j] = y[i, j] + ahead * width[j] * rate[i, j]
    for j in range(m):
        registers[n, j] = t[j] + ahead * width[j]
    carry_out(guards[0], registers, m)
    for g in range(len(guards[1])):
        for j in range(m):
            values[g, j] = signs[g, active[j]] * registers[guards[1][g], j] - levels[g]


@released
def land_motions(
    lanes: Lines, guard: Lines, place: Table, rates: Operations, rate_table: Table, guards: Operations,
    guard_table: Table, t: Table, y: Table, slope: Table, h: Table, signs: Table, levels: Table,
    fired: Flags, done: Flags,
) -> None:  # fmt: skip
    """Go to events by shorter steps of their own, refined by Newton's method.

    Parameters
    ----------
    lanes, guard, place
        As of :func:`follow_motions`, of motions that have met a guard.
    rates, rate_table, guards, guard_table, t, y, slope, h, signs, levels
        As there; times and states are changed in place, ``h`` is that of the steps which led across.
    fired : array of bool, (number of guards, m)
        Filled in: guards that vanish together.
    done : array of bool, (m,)
        Filled in: where that was reached.

    Returns
    -------
    None
    """
    n, n_guards = y.shape[0], len(guards[1])
    registers, looking = prepared(rates, n + 1), prepared(guards, n + 1)
    K, first, last = np.empty((STAGES + 1 + EXTRA, n, BLOCK)), np.empty((n, BLOCK)), np.empty((n, BLOCK))
    start, length, width, at = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    values, ahead, behind = (
        np.empty((n_guards, BLOCK)),
        np.empty((n_guards, BLOCK)),
        np.empty((n_guards, BLOCK)),
    )
    active = np.empty(BLOCK, np.int64)
    for begin in range(0, len(lanes), BLOCK):
        m = min(BLOCK, len(lanes) - begin)
        for j in range(m):
            active[j] = begin + j
        for attempts in range(_LANDINGS):
            if m == 0:
                break
            for j in range(m):
                lane = lanes[active[j]]
                start[j], length[j], width[j] = t[lane], place[active[j]], _LANDING * h[lane]
                at[j] = start[j] + length[j]
                for i in range(n):
                    first[i, j], K[0, i, j] = y[i, lane], slope[i, lane]
            enter_known(rates, rate_table, active, registers, m)
            enter_known(guards, guard_table, active, looking, m)
            attempt(rates, registers, start, first, length, K, last, m)
            # slopes along the tangent of the motion, as well as what is left asks for
            _fill_guards(guards, looking, at, last, K[STAGES], 0.0, width, signs, levels, active, values, m)
            _fill_guards(guards, looking, at, last, K[STAGES], 1.0, width, signs, levels, active, ahead, m)
            _fill_guards(guards, looking, at, last, K[STAGES], -1.0, width, signs, levels, active, behind, m)
            limit = _CLOSE if attempts + 1 < _LANDINGS else _LANDING
            kept = 0
            for j in range(m):
                own, lane = active[j], lanes[active[j]]
                g = guard[own]
                change = -values[g, j] * 2.0 * width[j] / (ahead[g, j] - behind[g, j])
                if not abs(change) <= limit * h[lane]:
                    if np.isfinite(change):
                        place[own] = max(length[j] + change, 0.0)
                    active[kept] = own
                    kept += 1
                    continue
                near = _TOGETHER * max(abs(at[j]), h[lane])
                for other in range(n_guards):
                    rate = (ahead[other, j] - behind[other, j]) / (2.0 * width[j])
                    fired[other, own] = rate < 0.0 and values[other, j] + change * rate <= -rate * near
                fired[g, own], done[own] = True, True
                t[lane] = at[j] + change
                for i in range(n):
                    y[i, lane] = last[i, j] + change * K[STAGES, i, j]
            m = kept
