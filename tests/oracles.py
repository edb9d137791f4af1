"""Equations of motion by difference quotients in 60 digits.

Lagrangians written by hand become mass matrix, forces and contact terms by differences whose truncation
and rounding errors are both below 1e-18, so that a comparison at 1e-9 tests the derivation alone. Nothing
here calls the code under test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import mpmath as mp
import numpy as np

from tests.bodies import DIGITS, STEP, Body, Contact, Parameters, Values


@attrs.frozen(eq=False)
class Differences:
    """What the difference quotients give, with the names and shapes of the equations of motion."""

    M: np.ndarray
    h: np.ndarray
    gap: np.ndarray
    gap_dot: np.ndarray
    W_N: np.ndarray
    zeta_N: np.ndarray
    slip: np.ndarray
    W_T: np.ndarray
    zeta_T: np.ndarray


def _shift(a: Values, b: Values, s: Any) -> list[Any]:
    return [x + s * y for x, y in zip(a, b, strict=True)]


def _unit(n: int, i: int) -> list[int]:
    return [int(j == i) for j in range(n)]


def _slope(f: Callable[[Any], Any]) -> Any:
    return (f(STEP) - f(-STEP)) / (2 * STEP)


def _curvature(f: Callable[[Any], Any]) -> Any:
    return (f(STEP) - 2 * f(mp.mpf(0)) + f(-STEP)) / STEP**2


def _inertia(body: Body, q: Values, v: Values, t: Any, p: Parameters) -> tuple[np.ndarray, np.ndarray]:
    n, units = len(q), [_unit(len(q), i) for i in range(len(q))]

    def momentum(i: int, q: Values) -> Any:  # exact: the kinetic energy is quadratic in the velocities
        return (body.kinetic(q, _shift(v, units[i], 1), p) - body.kinetic(q, _shift(v, units[i], -1), p)) / 2

    def lagrangian(q: Values) -> Any:
        return body.kinetic(q, v, p) - body.potential(q, p)

    zero = [mp.mpf(0)] * n
    M = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            plus, minus = _shift(units[i], units[j], 1), _shift(units[i], units[j], -1)
            M[i, j] = (body.kinetic(q, plus, p) - body.kinetic(q, minus, p)) / 2
    assert abs(body.kinetic(q, zero, p)) < 1e-30  # no gyroscopic constant
    applied = body.force(q, t, p)
    h = [
        applied[i]
        + _slope(lambda s, i=i: lagrangian(_shift(q, units[i], s)))
        - _slope(lambda s, i=i: momentum(i, _shift(q, v, s)))
        for i in range(n)
    ]
    return M, np.array(h, dtype=float)


def differentiate(
    body: Body, q: Sequence[float], v: Sequence[float], *, t: float, parameters: Mapping[str, float]
) -> Differences:
    """Mass matrix, forces and contact terms of a body by differences.

    Lagrange's equations give h = dT/dq - dV/dq + Q - (d/dt) dT/dv at constant v; along q + s v, t + s the
    second derivative of a gap or displacement is the part of its acceleration that is not W^T v'.
    """
    with mp.workdps(DIGITS):
        q, v, t = [mp.mpf(x) for x in q], [mp.mpf(x) for x in v], mp.mpf(t)
        p = {name: mp.mpf(value) for name, value in parameters.items()}
        M, h = _inertia(body, q, v, t, p)

        def functions(pick: Callable[[Contact], tuple[Any, ...]]) -> tuple[np.ndarray, ...]:
            def at(s: Any, direction: Values, along: int) -> np.ndarray:
                found = body.contacts(_shift(q, direction, s), t + along * s, p)
                return np.array([x for contact in found.values() for x in pick(contact)], dtype=object)

            rows = [_slope(lambda s, i=i: at(s, _unit(len(q), i), 0)) for i in range(len(q))]
            value, rate = at(mp.mpf(0), v, 1), _slope(lambda s: at(s, v, 1))
            zeta = _curvature(lambda s: at(s, v, 1))
            return tuple(np.array(x, dtype=float) for x in (value, rate, rows, zeta))

        gap, gap_dot, W_N, zeta_N = functions(lambda contact: () if contact[0] is None else (contact[0],))
        _, slip, W_T, zeta_T = functions(lambda contact: contact[1])
    return Differences(M, h, gap, gap_dot, W_N, zeta_N, slip, W_T, zeta_T)


def power(
    body: Body,
    q: Sequence[float],
    v: Sequence[float],
    a: Sequence[float],
    *,
    t: float,
    parameters: Mapping[str, float],
) -> tuple[float, float]:
    """Rate of change of the body's energy at acceleration ``a``, and the power of its applied forces."""
    with mp.workdps(DIGITS):
        q, v, a = ([mp.mpf(x) for x in vector] for vector in (q, v, a))
        p = {name: mp.mpf(value) for name, value in parameters.items()}
        rate = _slope(lambda s: body.energy(_shift(q, v, s), _shift(v, a, s), p))
        return float(rate), float(sum(x * f for x, f in zip(v, body.force(q, mp.mpf(t), p), strict=True)))
