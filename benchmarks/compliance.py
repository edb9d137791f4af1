"""The compliant limit against brute-force integration of the same contact at stiffness 1e8.

    python benchmarks/compliance.py

Brute force is what one writes without the limit: the whole mechanism on a stiff spring, integrated from touch to
release. Its error is that of finite stiffness, about K^-1/2; the limit law has none but rounding.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import mechanisms
from hybrid import KelvinVoigt, KelvinVoigtLimit, derive, solve_state
from hybrid.contact.compliance.limit import planar_limit
from hybrid.contact.impacts.impact import impact_problem

STIFFNESS = 1e8
STATES = 1_000_000


def seconds(work: Callable[[], object], *, repeats: int) -> float:
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def one_state(name: str, pins: dict[str, float | str], parameters: dict[str, float]) -> None:
    dynamics = derive(mechanisms.load(name))
    state = solve_state(dynamics, pins, parameters=parameters)
    problem = impact_problem(dynamics.at(parameters), state)
    law, penalty = KelvinVoigtLimit(), KelvinVoigt(STIFFNESS)
    limit = state.v + problem.response_W @ law.impulses(problem).values
    brute = penalty.pass_through(dynamics.at(parameters), state)
    quick = seconds(lambda: law.impulses(problem), repeats=20)
    slow = seconds(lambda: penalty.pass_through(dynamics.at(parameters), state), repeats=3)
    error = np.max(np.abs(brute.state.v - limit))
    print(
        f"{name}, mu = {parameters['mu']}: limit {quick * 1e3:.3f} ms, brute force {slow * 1e3:.0f} ms "
        f"({slow / quick:.0f} times), its error {error:.1e}"
    )


def many_states() -> None:
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(STATES, 3, 2))
    G = np.swapaxes(directions, 1, 2) @ directions
    gamma = rng.normal(size=(STATES, 2))
    gamma[:, 0] = -np.abs(gamma[:, 0])
    mu, d = rng.uniform(0, 10, STATES), rng.uniform(0, 1, STATES)
    start = time.perf_counter()
    planar_limit(G, gamma, friction=mu, damping=d)
    spent = time.perf_counter() - start
    print(f"{STATES:,} random planar states: {spent:.1f} s, {spent / STATES * 1e6:.1f} microseconds each")


def main() -> None:
    one_state("painleve_rod", {"theta": 1, "theta_dot": 0.5, "slip.tip": 1, "gap_dot.tip": -0.1}, {"mu": 1.4})
    one_state("painleve_rod", {"theta": 1, "theta_dot": 0.5, "slip.tip": 1}, {"mu": 1.4})
    spatial = {"psi": 0, "theta": "pi/3", "psi_dot": 4, "theta_dot": 4}
    spatial |= {"slip.tip.1": 0.05, "slip.tip.2": -0.05, "gap_dot.tip": -0.04}
    one_state("oblique_rod", spatial, {"mu": 0.5})
    one_state("oblique_rod", spatial, {"mu": 1.7})
    many_states()


if __name__ == "__main__":
    main()
