"""How long a motion takes, next to the same rod written by hand for scipy's solve_ivp.

Run as a script; prints milliseconds per trajectory (the least of several) and the error of its last event time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import mechanisms
from hybrid import derive, simulate, solve_state
from hybrid.motion import time_stepping

REPEATS = 20
LAST_EVENT = 2.0384518525054145  # the rod lies flat; from an integration of the equations below by other means
MU = 0.5


def least_time(work: Callable[[], object]) -> float:
    """Milliseconds of the quickest of several runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def stick(_: float, y: NDArray[np.float64]) -> list[float]:
    return [y[1], -0.75 * np.cos(y[0]), 0.0]


def slide(side: float) -> Callable[[float, NDArray[np.float64]], list[float]]:
    def rate(_: float, y: NDArray[np.float64]) -> list[float]:
        s, c = np.sin(y[0]), np.cos(y[0])
        force = (1 - s * y[1] ** 2) / (1 + 3 * c * c + 3 * side * MU * s * c)
        friction = -side * MU * force
        turn = 3 * (s * friction - c * force)
        return [y[1], turn, friction + s * turn + c * y[1] ** 2]

    return rate


def cone(_: float, y: NDArray[np.float64]) -> float:
    s, c = np.sin(y[0]), np.cos(y[0])
    turn = -0.75 * c
    normal, tangential = 1 + c * turn - s * y[1] ** 2, -s * turn - c * y[1] ** 2
    return float(MU * normal - abs(tangential))


def by_hand() -> float:
    """The rod's three arcs with solve_ivp; the guard that has just fired is kept from firing by a short first step."""

    def slip(t: float, y: NDArray[np.float64]) -> float:
        return float(y[2]) if t > 0.2 else -1.0

    def flat(_: float, y: NDArray[np.float64]) -> float:
        return float(y[0])

    for event in (cone, slip, flat):
        event.terminal = True  # type: ignore[attr-defined]
    y, t = np.array([0.4, 0.5, 0.0]), 0.0
    for rate, event in ((stick, cone), (slide(-1.0), slip), (slide(1.0), flat)):
        arc = solve_ivp(rate, (t, 3.0), y, method="DOP853", rtol=1e-12, atol=1e-14, events=event)
        t, y = float(arc.t[-1]), arc.y[:, -1]
    return t


def main() -> None:
    rod = derive(mechanisms.load("rod_on_incline"))
    start = solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0})

    def ours() -> float:
        return simulate(rod, start, t_end=3, until="phi").t

    ours()
    for name, work in (("simulate", ours), ("solve_ivp, written by hand", by_hand)):
        spent = least_time(work)
        print(f"{name:32s} {spent:8.2f} ms  {1e3 / spent:7.0f} trajectories/s  error {abs(work() - LAST_EVENT):.1e}")
    for step in (1e-2, 1e-3):
        began = time.perf_counter()
        motion = time_stepping(rod, start, t_end=2, step=step)
        spent = 1e3 * (time.perf_counter() - began)
        gap = float(np.max(np.abs(motion.q - simulate(rod, start, t_end=2).q)))
        print(
            f"{f'time_stepping, step {step:g}':32s} {spent:8.2f} ms  {1e3 / spent:7.0f} trajectories/s  error {gap:.1e}"
        )
    print("Siconos is not run here: it is not among the development dependencies")


if __name__ == "__main__":
    main()
