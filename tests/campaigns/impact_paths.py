"""Impacts followed along their course: Stronge's law, and compliant contacts in the limit of infinite stiffness.

Between two events all is linear and propagated by its own Taylor series; spatial slip, which turns, is integrated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

__all__ = ["compliant_velocities", "energetic_velocities", "spatial_compliant", "spatial_path"]

Array = NDArray[np.float64]

_TERMS = 16  # of the Taylor series over steps in which nothing grows by more than e^_STEP
_STEP = 0.2
_PHASES = 400
_STILL = 1e-13
_STOPPED = 1e-7  # of the speed: spatial slip that an impulse takes away


def energetic_velocities(G: Array, gamma: Array, mu: float, e: float) -> Array:
    """Velocities (2,) of one planar contact after an impact: work of restitution e^2 times that of compression."""
    vN, vT = (float(x) for x in gamma)
    stored, owed = 0.0, None
    for leg in range(6):
        if vT != 0.0:
            ratio = -mu * math.copysign(1.0, vT)
        elif abs(G[0, 1]) <= mu * G[1, 1]:
            ratio = -G[0, 1] / G[1, 1]
        else:
            ratio = -mu * math.copysign(1.0, G[0, 1])
        rN, rT = G[0, 0] + G[0, 1] * ratio, G[0, 1] + G[1, 1] * ratio
        if leg == 0 and (vN > 0.0 or (vN == 0.0 and rN >= 0.0)):
            return np.array([vN, vT])
        if vT == 0.0 and abs(G[0, 1]) <= mu * G[1, 1]:
            rT = 0.0
        stop = -vT / rT if vT * rT < 0.0 else math.inf
        if owed is None:
            end = -vN / rN if rN > 0.0 else math.inf
        else:
            end = 2 * owed / (vN + math.sqrt(vN * vN + 2 * rN * owed)) if owed > 0.0 else 0.0
        step = min(stop, end)
        work = vN * step + rN * step * step / 2
        vN, vT = vN + rN * step, 0.0 if stop <= end else vT + rT * step
        if owed is not None:
            owed -= work
            if end <= stop:
                return np.array([vN, vT])
        else:
            stored -= work
            if end < stop:
                vN, owed = 0.0, e * e * stored
    raise ArithmeticError("the path of an impact does not end")


def compliant_velocities(G: Array, gamma: Array, mu: Array, d: Array, kappa: Array) -> Array:
    """Contact velocities (2k,) after contacts of stiffness ``kappa`` and damping ``d`` have let go (fast system).

    Rows are normal and tangential ones in turn, ``G`` regular.
    """
    k, speed = len(mu), float(np.max(np.abs(gamma)))
    x = np.concatenate([np.zeros(k), gamma])  # Y, then velocities
    press = [bool(w < 0) for w in gamma[::2]]
    slip: list[int] = [int(np.sign(v)) for v in gamma[1::2]]
    slip = _directions(G, x, mu, d, kappa, press, slip)
    for _ in range(_PHASES):
        if not any(press):
            w = x[k::2]
            waits = [(max(x[i], 0.0) / -w[i], i) for i in range(k) if w[i] < -_STILL * speed]
            if not waits:
                return x[k:]
            wait, first = min(waits)
            x[:k] += w * wait
            press[first], slip[first] = True, int(np.sign(x[k + 2 * first + 1]))
            slip = _directions(G, x, mu, d, kappa, press, slip)
            continue
        x, event, which = _phase(G, x, mu, d, kappa, press, slip, speed)
        if event == "release":
            press[which] = False
        elif event == "press":
            press[which], slip[which] = True, int(np.sign(x[k + 2 * which + 1]))
        elif event == "stop":
            slip[which] = 0
            x[k + 2 * which + 1] = 0.0
        slip = _directions(G, x, mu, d, kappa, press, slip)
    raise ArithmeticError(f"the phases of a compliant impact do not end: {press}, {slip}, {x.tolist()}")


def _laws(G: Array, mu: Array, d: Array, kappa: Array, press: list[bool], slip: list[int]) -> Array:
    """Contact forces (2k, 3k) as linear functions of the state."""
    k = len(mu)
    C = np.zeros((2 * k, 3 * k))
    for i in range(k):
        if press[i]:
            C[2 * i, i], C[2 * i, k + 2 * i] = -kappa[i], -2 * d[i] * math.sqrt(kappa[i])
            C[2 * i + 1] = -slip[i] * mu[i] * C[2 * i]
    stuck = [2 * i + 1 for i in range(k) if press[i] and not slip[i]]
    if stuck:
        C[stuck] = -np.linalg.solve(G[np.ix_(stuck, stuck)], G[stuck] @ C)
    return C


def _directions(G: Array, x: Array, mu: Array, d: Array, kappa: Array, press: list[bool], slip: list[int]) -> list[int]:
    """Which of the contacts without slip stick, and where the others slip."""
    k = len(mu)
    rest = [i for i in range(k) if press[i] and x[k + 2 * i + 1] == 0.0]
    if not rest:
        return slip
    normal = _laws(G, mu, d, kappa, press, [1] * k)[::2] @ x
    if np.max(normal) <= _STILL:  # at touch without damping: forces in proportion to their growth
        normal = -kappa * x[k::2] * np.array(press)
    given = np.zeros(2 * k)
    given[::2] = normal
    given[1::2] = [0.0 if i in rest else -s * mu[i] * normal[i] for i, s in enumerate(slip)]
    best: tuple[float, list[int]] = (math.inf, slip)
    for signs in itertools.product((0, 1, -1), repeat=len(rest)):
        force = given.copy()
        for i, sign in zip(rest, signs, strict=True):
            force[2 * i + 1] = -sign * mu[i] * normal[i]
        stuck = [2 * i + 1 for i, sign in zip(rest, signs, strict=True) if not sign]
        if stuck:
            force[stuck] = -np.linalg.solve(G[np.ix_(stuck, stuck)], G[stuck] @ force)
        drift = G @ force
        wrong = [
            -sign * drift[2 * i + 1] if sign else abs(force[2 * i + 1]) - mu[i] * normal[i]
            for i, sign in zip(rest, signs, strict=True)
        ]
        if max(wrong) < best[0] - _STILL:
            chosen = list(slip)
            for i, sign in zip(rest, signs, strict=True):
                chosen[i] = sign
            best = (max(max(wrong), 0.0), chosen)
    return best[1]


def _phase(
    G: Array, x: Array, mu: Array, d: Array, kappa: Array, press: list[bool], slip: list[int], speed: float
) -> tuple[Array, str, int]:
    """Follow a phase to its first event."""
    k = len(mu)
    C = _laws(G, mu, d, kappa, press, slip)
    L = np.zeros((3 * k, 3 * k))
    L[:k, k::2] = np.eye(k)
    L[k:] = G @ C
    rows, names = list[Array](), list[tuple[str, int]]()
    for i in range(k):
        if not press[i]:  # it presses again below the surface, once spring and damper together push
            pushes = np.zeros(3 * k)
            pushes[i], pushes[k + 2 * i] = -kappa[i], -2 * d[i] * math.sqrt(kappa[i])
            rows += [np.eye(3 * k)[i], -pushes]
            names += [("press", i)] * 2
            continue
        rows.append(C[2 * i])
        names.append(("release", i))
        if slip[i]:
            rows.append(slip[i] * np.eye(3 * k)[k + 2 * i + 1])
            names.append(("stop", i))
        else:
            rows += [mu[i] * C[2 * i] + sign * C[2 * i + 1] for sign in (1.0, -1.0)]
            names += [("slip", i)] * 2
    watch = np.array(rows)
    pairs = [at for at, (name, _) in enumerate(names) if name == "press"][::2]

    def fired(values: Array) -> NDArray[np.bool_]:
        below = values < -floor
        for at in pairs:
            below[at] = below[at + 1] = below[at] and below[at + 1]
        return np.asarray(below)

    # sticking ends beyond its bound by more than release by its: where the force vanishes both are met at once
    shares = np.array([1e-9 if name == "slip" else 1e-12 for name, _ in names])
    floor = shares * speed * np.max(np.abs(watch), axis=1)
    still = [k + 2 * i + 1 for i in range(k) if press[i] and not slip[i]]
    h = _STEP / max(float(np.max(np.abs(np.linalg.eigvals(L)))), 1e-6)
    for _ in range(200_000):
        terms = [x]
        for j in range(1, _TERMS):
            terms.append(L @ terms[-1] * (h / j))
        series = np.array(terms)
        end = series.sum(axis=0)
        if fired(watch @ end).any():
            x, event, which = _located(series, watch, fired, names)
            x[still] = 0.0  # but for rounding
            return x, event, which
        x = end
        x[still] = 0.0
    raise ArithmeticError("a phase of a compliant impact does not end")


def _located(
    series: Array, watch: Array, fired: Callable[[Array], NDArray[np.bool_]], names: list[tuple[str, int]]
) -> tuple[Array, str, int]:
    low, high = 0.0, 1.0
    powers = np.arange(len(series))
    for _ in range(60):
        middle = (low + high) / 2
        if fired(watch @ (middle**powers @ series)).any():
            high = middle
        else:
            low = middle
    x = high**powers @ series
    return x, *names[int(np.argmax(fired(watch @ x)))]


def spatial_path(G: Array, gamma: Array, mu: float, e: float, *, law: str) -> Array | None:
    """Contact velocities (3,) of one spatial contact along its normal impulse; None where slip is renewed."""
    speed = float(np.linalg.norm(gamma))
    # velocities, normal impulse, its work
    y, goal, until = np.concatenate([gamma, np.zeros(2)]), 0.0, "compressed"
    held = -np.linalg.solve(G[1:, 1:], G[1:, 0])

    def rates(_: float, x: Array) -> Array:
        size = float(np.linalg.norm(x[1:3]))
        ratio = held if size <= _STOPPED * speed else -mu * x[1:3] / size
        return np.array([*(G @ [1.0, *ratio]), 1.0, x[0]])

    def stopped(_: float, x: Array) -> float:
        return float(np.linalg.norm(x[1:3])) - _STOPPED * speed

    def over(_: float, x: Array) -> float:
        return float({"compressed": x[0], "poisson": x[3] - goal, "energetic": x[4] - goal}[until])

    stopped.terminal = over.terminal = True  # type: ignore[attr-defined]
    stopped.direction, over.direction = -1.0, 1.0  # type: ignore[attr-defined]
    for _ in range(6):
        if np.linalg.norm(y[1:3]) <= _STOPPED * speed:
            if np.linalg.norm(held) > mu:
                return None
            y[0] -= G[0, 1:] @ np.linalg.solve(G[1:, 1:], y[1:3])
            y[1:3] = 0.0
        found = solve_ivp(
            rates, (0, 1e4 * speed), y, events=[stopped, over], rtol=1e-10, atol=1e-12 * speed, method="DOP853"
        )
        y = found.y[:, -1]
        if not len(found.t_events[1]):
            continue
        if until != "compressed":
            return np.asarray(y[:3])
        until, goal = law, e * y[3] if law == "poisson" else -e * e * y[4]
        if goal <= 0.0:
            return np.asarray(y[:3])
        y[3] = y[4] = y[0] = 0.0
    return None


def spatial_compliant(G: Array, gamma: Array, mu: float, d: float) -> Array | None:
    """Contact velocities (3,) of one compliant spatial contact in the limit; None where slip is renewed."""
    speed = float(np.linalg.norm(gamma))
    y = np.concatenate([[0.0], gamma])
    held = -np.linalg.solve(G[1:, 1:], G[1:, 0])

    def rates(_: float, x: Array) -> Array:
        force, size = max(-x[0] - 2 * d * x[1], 0.0), float(np.linalg.norm(x[2:]))
        ratio = held if size <= _STOPPED * speed else -mu * x[2:] / size
        return np.array([x[1], *(G @ [force, *(force * ratio)])])

    def stopped(_: float, x: Array) -> float:
        return float(np.linalg.norm(x[2:])) - _STOPPED * speed

    def released(t: float, x: Array) -> float:
        return float(-x[0] - 2 * d * x[1]) if t > 0.0 else speed

    stopped.terminal = released.terminal = True  # type: ignore[attr-defined]
    stopped.direction = released.direction = -1.0  # type: ignore[attr-defined]
    for _ in range(4):
        if np.linalg.norm(y[2:]) <= _STOPPED * speed:
            if np.linalg.norm(held) > mu:
                return None
            y[1] -= G[0, 1:] @ np.linalg.solve(G[1:, 1:], y[2:])
            y[2:] = 0.0
        found = solve_ivp(
            rates, (0, 1e4), y, events=[stopped, released], rtol=1e-10, atol=1e-12 * speed, method="DOP853"
        )
        y = found.y[:, -1]
        if len(found.t_events[1]):
            return np.asarray(y[1:])
    return None
