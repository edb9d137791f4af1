"""Many planar contacts: the verdict by a search of modes, and with every mode solved.

Usage: python benchmarks/contacts_at_rest.py [COUNT]

Random problems: contacts at rest with friction up to 3, and any mixture of slip and rest; a body on level feet; maps of
a body on three feet, next to the same states one by one. Times are of the processor, the best of three where they are
short.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from typing import TYPE_CHECKING

from hybrid import Axis, Contact, Dynamics, EquationDynamics, Mechanism, State, derive, region_map, select
from hybrid.contact import ContactProblem, Selection, select_problem, verify_certificate
from hybrid.contact.candidates import all_candidates
from hybrid.contact.conditions import problem_scale
from hybrid.contact.modes import ActiveElement, ElementKind
from hybrid.tolerances import Tolerances
from tests.random_problems import problem_from, random_problem

if TYPE_CHECKING:
    from collections.abc import Callable


def contact(index: int, mu: float) -> ActiveElement:
    """A planar contact at rest."""
    return ActiveElement(f"c{index}", ElementKind.CONTACT, 2 * index, (2 * index + 1,), None, mu, mu)


def resting(seed: int, count: int) -> ContactProblem:
    """Contacts at rest whose directions do not depend on each other."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(2 * count + 1, 2 * count))
    mus = rng.uniform(0, 3, size=count)
    free = rng.normal(size=2 * count)
    return problem_from(directions.T @ directions, free, [contact(k, float(mu)) for k, mu in enumerate(mus)])


def feet(count: int) -> ContactProblem:
    """A body at rest on a level floor."""
    lines = [line for x in np.linspace(-1, 1, count) for line in ((0.0, 1.0, x), (1.0, 0.0, 1.0))]
    directions = np.array(lines).T
    free = directions.T @ np.array([0.1, -10.0, 0.0])
    return problem_from(directions.T @ directions, free, [contact(k, 0.5) for k in range(count)])


def with_every_mode(problem: ContactProblem) -> Selection:
    """Solve all modes one by one."""
    return select_problem(problem, candidates=all_candidates(problem, problem_scale(problem), Tolerances()))


def timed(
    problem: ContactProblem, call: Callable[[ContactProblem], Selection] = select_problem, repeats: int = 1
) -> tuple[float, Selection]:
    """Least processor time of some calls in ms, and the answer."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        answer = call(problem)
        best = min(best, time.process_time() - start)
    return 1e3 * best, answer


def body() -> Dynamics:
    """A body on three feet, pushed along and turned."""
    feet = [
        Contact(
            name=f"foot{index}",
            gap=f"y - cos(theta) + ({x})*sin(theta)",
            slip=f"x_dot + (cos(theta) - ({x})*sin(theta))*theta_dot",
            friction="mu",
        )
        for index, x in enumerate((-1, 0, 1))
    ]
    return derive(
        Mechanism(
            name="feet",
            coordinates=["x", "y", "theta"],
            parameters={"fx": 0.1, "tau": 0.0, "mu": 0.5},
            dynamics=EquationDynamics(mass_matrix=[[1, 0, 0], [0, 1, 0], [0, 0, 0.5]], forces=["fx", -10, "tau"]),
            contact=feet,
        )
    )


def cells_per_second(dynamics: Dynamics, axes: tuple[Axis, Axis]) -> tuple[float, float]:
    """Of a map, and of a hundred of its cells one by one."""
    pins = {"x": 0, "y": 1, "theta": 0, "x_dot": 0, "y_dot": 0, "theta_dot": 0}
    start = time.process_time()
    region_map(dynamics, axes=axes, pins=pins)
    together = axes[0].n * axes[1].n / (time.process_time() - start)
    rng = np.random.default_rng(0)
    start = time.process_time()
    for _ in range(100):
        values = {axis.name: float(rng.uniform(axis.low, axis.high)) for axis in axes}
        select(dynamics, State([0, 1, 0], [0, 0, 0]), parameters=values)
    return together, 100 / (time.process_time() - start)


def main(count: int) -> None:
    """Print one line for every kind of problem."""
    select_problem(feet(3))  # what is imported late
    pairs = []
    for seed in range(3):
        problem = resting(seed, 6)
        searched, _ = timed(problem, repeats=3)
        every, _ = timed(problem, with_every_mode)
        pairs.append((searched, every))
    print("6 at rest, ms by a search and with every mode solved: ", [f"{a:.1f} / {b:.0f}" for a, b in pairs])
    for name, problems in (
        ("10 at rest", (resting(seed, 10) for seed in range(count))),
        ("10 at rest or in slip", (random_problem(np.random.default_rng(s), n_contacts=10) for s in range(count))),
    ):
        times, checks, verdicts = [], [0.0], Counter[str]()
        for problem in problems:
            spent, found = timed(problem)
            times.append(spent)
            verdicts[found.verdict.name] += 1
            if found.certificate is not None:
                start = time.process_time()
                assert verify_certificate(found.certificate, problem)
                checks.append(1e3 * (time.process_time() - start))
        print(f"{name}: median {np.median(times):.0f} ms, worst {max(times):.0f} ms, {dict(verdicts)}, ", end="")
        print(f"slowest check of a certificate {max(checks):.0f} ms")
    for k in (3, 6, 8, 10):
        spent, found = timed(feet(k))
        print(f"body on {k} level feet: {spent:.0f} ms, {found.verdict.name}")
    dynamics = body()
    for axes in (
        (Axis("fx", -12, 12, 100), Axis("tau", -15, 15, 100)),
        (Axis("mu", 0.1, 1.5, 100), Axis("fx", -12, 12, 100)),
    ):
        together, alone = cells_per_second(dynamics, axes)
        names = " and ".join(axis.name for axis in axes)
        print(f"map of three feet over {names}: {together:.0f} cells/s, one by one {alone:.0f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
