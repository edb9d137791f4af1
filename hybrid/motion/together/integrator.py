"""Steps of a block of motions by the method of Dormand and Prince of order 8 (DOP853), each with its own length."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.integrate import DOP853

from hybrid.motion.steps import FROM_DIFFERENCES
from hybrid.motion.together.lanes import BLOCK, Operations, Table, carry_out
from hybrid.tolerances import LAST_PLACE, LEAST
from lcp.kernels.compiled import released

__all__ = ["EXTRA", "STAGES", "attempt", "factor_of", "fill_errors", "fill_series", "first_length", "states_along"]

STAGES = len(DOP853.B)
EXTRA = len(DOP853.A_EXTRA)

_A, _B, _C = (np.ascontiguousarray(table) for table in (DOP853.A, DOP853.B, DOP853.C))
_A_EXTRA, _C_EXTRA, _D = (np.ascontiguousarray(table) for table in (DOP853.A_EXTRA, DOP853.C_EXTRA, DOP853.D))
_E3, _E5 = np.ascontiguousarray(DOP853.E3), np.ascontiguousarray(DOP853.E5)
_TO_SERIES = np.ascontiguousarray(FROM_DIFFERENCES)
_N_SERIES = len(_TO_SERIES)
_POWER = -1.0 / 8.0  # of the error estimate, whose order is 7
# Of the first step: sizes too small to divide by, a step of no sizes, growth where nothing changes (as SciPy has them).
_SMALL, _SHORT, _STEADY = 1e-5, 1e-6, 1e-3
_SAFETY, _SMALLEST, _LARGEST = 0.9, 0.2, 10.0  # as SciPy has them
_LEAST, _NOTHING = LEAST, LAST_PLACE

Blocks = npt.NDArray[np.float64]


@released
def _combine(weights: Table, count: int, K: Blocks, i: int, out: Table, to: int, m: int) -> None:
    """Sum of the rates of one quantity at the first stages, weighted; four stages are read at a time."""
    for j in range(m):
        out[to, j] = 0.0
    fours = count - count % 4
    for stage in range(0, fours, 4):
        a, b, c, d = weights[stage], weights[stage + 1], weights[stage + 2], weights[stage + 3]
        for j in range(m):
            first, second = a * K[stage, i, j] + b * K[stage + 1, i, j], c * K[stage + 2, i, j] + d * K[stage + 3, i, j]
            out[to, j] += first + second
    for stage in range(fours, count):
        a = weights[stage]
        for j in range(m):
            out[to, j] += a * K[stage, i, j]


@released
def _stage(
    rates: Operations, registers: Table, weights: Table, count: int, c: float, t: Table, y: Table, h: Table,
    K: Blocks, to: int, m: int,
) -> None:  # fmt: skip
    """Rates at a state that earlier stages lead to."""
    n = y.shape[0]
    for i in range(n):
        _combine(weights, count, K, i, registers, i, m)
        for j in range(m):
            registers[i, j] = y[i, j] + h[j] * registers[i, j]
    for j in range(m):
        registers[n, j] = t[j] + c * h[j]
    carry_out(rates[0], registers, m)
    for i in range(n):
        place = rates[1][i]
        for j in range(m):
            K[to, i, j] = registers[place, j]


@released
def attempt(rates: Operations, registers: Table, t: Table, y: Table, h: Table, K: Blocks, last: Table, m: int) -> None:
    """One step of every motion of a block, whether or not it is accurate.

    Parameters
    ----------
    rates : Operations
        Of the rates of the state.
    registers : array
        Prepared for them.
    t, h : array, (BLOCK,)
        Times and lengths of the steps.
    y : array, (2n, BLOCK)
        States.
    K : array, (16, 2n, BLOCK)
        Rates at the stages, of which the first are given. The others are filled in, but those of the dense output.
    last : array, (2n, BLOCK)
        Filled in: states at the ends.
    m : int
        How many motions there are.

    Returns
    -------
    None
    """
    for stage in range(1, STAGES):
        _stage(rates, registers, _A[stage], stage, _C[stage], t, y, h, K, stage, m)
    n_stages = len(_B)  # not the constant itself: for every constant functions would be compiled anew
    _stage(rates, registers, _B, n_stages, 1.0, t, y, h, K, n_stages, m)
    for i in range(y.shape[0]):
        _combine(_B, n_stages, K, i, last, i, m)
        for j in range(m):
            last[i, j] = y[i, j] + h[j] * last[i, j]


@released
def fill_errors(
    K: Blocks, y: Table, last: Table, h: Table, scale: Table, rtol: float, errors: Table, work: Table, m: int
) -> None:
    """Errors of steps in units of what is allowed; a step whose error is not below 1 has to be repeated.

    Parameters
    ----------
    K, y, last, h, m
        As in :func:`attempt`.
    scale : array, (2n, BLOCK)
        What is allowed beside a share ``rtol`` of the states.
    rtol : float
    errors : array, (BLOCK,)
        Filled in; NaN where a rate is undefined.
    work : array, (4, BLOCK)
        For what is computed on the way.

    Returns
    -------
    None
    """
    n = y.shape[0]
    n_rows, n_stages = len(work), len(_E5)
    for j in range(m):
        work[0, j], work[1, j] = 0.0, 0.0
    for i in range(n):
        for weights, place in ((_E5, n_rows - 2), (_E3, n_rows - 1)):
            _combine(weights, n_stages, K, i, work, place, m)
        for j in range(m):
            size = scale[i, j] + rtol * max(abs(y[i, j]), abs(last[i, j]))
            fifth, third = work[2, j] / size, work[3, j] / size
            work[0, j] += fifth * fifth
            work[1, j] += third * third
    for j in range(m):
        size = work[0, j] + 0.01 * work[1, j]
        errors[j] = 0.0 if size == 0.0 else h[j] * work[0, j] / np.sqrt(size * n)


@released
def factor_of(error: float, was_rejected: bool) -> float:
    """By which the next step is longer or shorter.

    Parameters
    ----------
    error : float
        Of the last step, in units of the tolerance.
    was_rejected : bool
        After a rejected step the next one is no longer than it.

    Returns
    -------
    float
    """
    if error < 1.0:
        factor = _SAFETY * max(error, _LEAST) ** _POWER
        return float(min(1.0 if was_rejected else _LARGEST, factor))
    factor = _SAFETY * error**_POWER
    return float(factor) if factor > _SMALLEST else _SMALLEST


@released
def fill_series(
    rates: Operations, registers: Table, t: Table, y: Table, last: Table, h: Table, K: Blocks, series: Blocks, m: int
) -> None:
    """States along steps as Chebyshev series of degree 7, from three further stages.

    Parameters
    ----------
    rates, registers, t, y, last, h, K, m
        As in :func:`attempt`; the last entries of ``K`` are filled in.
    series : array, (8, 2n, BLOCK)
        Filled in: coefficients of polynomials in ``2 s - 1``, where s runs from 0 to 1.

    Returns
    -------
    None
    """
    for extra in range(EXTRA):
        to = STAGES + 1 + extra
        _stage(rates, registers, _A_EXTRA[extra], to, _C_EXTRA[extra], t, y, h, K, to, m)
    differences = np.empty((3 + len(_D), BLOCK))
    for i in range(y.shape[0]):
        for j in range(m):
            change = last[i, j] - y[i, j]
            differences[0, j] = change
            differences[1, j] = h[j] * K[0, i, j] - change
            differences[2, j] = 2.0 * change - h[j] * (K[STAGES, i, j] + K[0, i, j])
        for place in range(len(_D)):
            _combine(_D[place], len(K), K, i, differences, 3 + place, m)
            for j in range(m):
                differences[3 + place, j] *= h[j]
        for k in range(_N_SERIES):
            a, b, c, d = _TO_SERIES[k, 0], _TO_SERIES[k, 1], _TO_SERIES[k, 2], _TO_SERIES[k, 3]
            e, f, g = _TO_SERIES[k, 4], _TO_SERIES[k, 5], _TO_SERIES[k, 6]
            share = 0.0 if k else 1.0
            for j in range(m):
                series[k, i, j] = (
                    (share * y[i, j] + a * differences[0, j] + b * differences[1, j])
                    + (c * differences[2, j] + d * differences[3, j])
                    + (e * differences[4, j] + f * differences[5, j] + g * differences[6, j])
                )


@released
def states_along(series: Blocks, polynomials: Table, t: Table, h: Table, s: float, registers: Table, m: int) -> None:
    """Enter the states of all motions at one point of their steps.

    Parameters
    ----------
    series : array, (8, 2n, BLOCK)
    polynomials : array, (8,)
        Chebyshev polynomials at ``2 s - 1``.
    t, h : array, (BLOCK,)
    s : float
    registers : array
        Changed in place.
    m : int

    Returns
    -------
    None
    """
    n = series.shape[1]
    for i in range(n):
        a, b, c, d = polynomials[1], polynomials[2], polynomials[3], polynomials[4]
        e, f, g = polynomials[5], polynomials[6], polynomials[7]
        for j in range(m):
            registers[i, j] = (
                (series[0, i, j] + a * series[1, i, j])
                + (b * series[2, i, j] + c * series[3, i, j])
                + (d * series[4, i, j] + e * series[5, i, j])
                + (f * series[6, i, j] + g * series[7, i, j])
            )
    for j in range(m):
        registers[n, j] = t[j] + s * h[j]


@released
def first_length(
    rates: Operations, registers: Table, t: Table, y: Table, slope: Table, scale: Table, rtol: float, rest: Table,
    h: Table, m: int,
) -> None:  # fmt: skip
    """Rates where arcs begin, and lengths of first steps (Hairer, Norsett and Wanner 1993, section II.4).

    Parameters
    ----------
    rates, registers, t, y, m
        As in :func:`attempt`.
    slope : array, (2n, BLOCK)
        Filled in: the rates.
    scale : array, (2n, BLOCK)
        What is allowed beside a share ``rtol`` of the states.
    rtol : float
    rest : array, (BLOCK,)
        Times that are left; no step is longer.
    h : array, (BLOCK,)
        Filled in: the lengths.

    Returns
    -------
    None
    """
    n = y.shape[0]
    for i in range(n):
        for j in range(m):
            registers[i, j] = y[i, j]
    for j in range(m):
        registers[n, j] = t[j]
    carry_out(rates[0], registers, m)
    for i in range(n):
        place = rates[1][i]
        for j in range(m):
            slope[i, j] = registers[place, j]
    d1 = np.zeros(m)
    for j in range(m):
        d0 = 0.0
        for i in range(n):
            size = scale[i, j] + rtol * abs(y[i, j])
            d0 += (y[i, j] / size) ** 2
            d1[j] += (slope[i, j] / size) ** 2
        d0, d1[j] = np.sqrt(d0 / n), np.sqrt(d1[j] / n)
        h[j] = min(_SHORT if d0 < _SMALL or d1[j] < _SMALL else 0.01 * d0 / d1[j], rest[j])
    for i in range(n):
        for j in range(m):
            registers[i, j] = y[i, j] + h[j] * slope[i, j]
    for j in range(m):
        registers[n, j] = t[j] + h[j]
    carry_out(rates[0], registers, m)
    for j in range(m):
        d2 = 0.0
        for i in range(n):
            size = scale[i, j] + rtol * abs(y[i, j])
            d2 += ((registers[rates[1][i], j] - slope[i, j]) / size) ** 2
        largest = max(d1[j], np.sqrt(d2 / n) / h[j])
        second = max(_SHORT, _STEADY * h[j]) if largest <= _NOTHING else (0.01 / largest) ** -_POWER
        found = min(min(100.0 * h[j], second), rest[j])
        h[j] = found if np.isfinite(found) else _SHORT * rest[j]
