"""What a gradient costs next to one simulation, for 1, 10 and 100 parameters.

    python benchmarks/sensitivity.py -o TABLE.md

Ten carts in a row, joined pairwise by springs and dampers and tied to a wall, each with its own stiffness and damping:
one hundred parameters. The first cart strikes a stop. Times are those of the processor, least of several rounds, and
apart from the compilation of the partial derivatives, which is done once for a mechanism and a choice of parameters.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

from hybrid import Contact, EnergyDynamics, Functional, Mechanism, State, derive, simulate
from hybrid.analysis.sensitivities.passes import adjoint_pass, compiled_integrand, forward_pass
from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.analysis.sensitivities.replay import replay
from hybrid.analysis.sensitivities.start_slopes import directions
from hybrid.contact import NewtonImpact

CARTS, T_END, ROUNDS = 10, 2.0, 5
COUNTS = (1, 10, 100)


def carts() -> Mechanism:
    """Ten carts with 10 springs to a wall, 45 springs and 45 dampers between them."""
    names = [f"q{i}" for i in range(CARTS)]
    pairs = list(combinations(range(CARTS), 2))
    parameters = {f"k{i}": 1.0 + 0.1 * i for i in range(CARTS)}
    parameters |= {f"k{i}_{j}": 1.0 / (1 + j - i) for i, j in pairs}
    parameters |= {f"c{i}_{j}": 0.02 / (1 + j - i) for i, j in pairs}
    potential = [f"k{i}*(q{i} - {i})**2/2" for i in range(CARTS)]
    potential += [f"k{i}_{j}*(q{i} - q{j} + {j - i})**2/2" for i, j in pairs]
    forces = {
        f"q{i}": " + ".join(f"c{min(i, j)}_{max(i, j)}*(q{j}_dot - q{i}_dot)" for j in range(CARTS) if j != i)
        for i in range(CARTS)
    }
    return Mechanism(
        name="carts_in_a_row",
        coordinates=names,
        parameters={**parameters, "e": 0.8},
        dynamics=EnergyDynamics(
            kinetic=" + ".join(f"{name}_dot**2/2" for name in names), potential=" + ".join(potential)
        ),
        forces=forces,
        contact=[Contact(name="stop", gap="q0 + 0.2", restitution="e")],
    )


def least_time(work: Callable[[], object]) -> float:
    """Seconds of processor time of the quickest of several runs."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def table() -> list[str]:
    dynamics = derive(carts())
    start = State(np.arange(CARTS) + 0.3, -np.ones(CARTS))
    law = NewtonImpact()

    def simulated() -> object:
        return simulate(dynamics, start, t_end=T_END, law=law)

    motion = simulate(dynamics, start, t_end=T_END, law=law)
    one = least_time(simulated)
    names = [name for name in dynamics.mechanism.parameters if name != "e"]
    functional = Functional(" + ".join(f"q{i}_dot**2" for i in range(CARTS)))
    lines = [
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}; {len(motion.events)} "
        f"impacts; one simulation takes {1e3 * one:.1f} ms of processor time, which is the unit of the next columns.",
        "",
        "| parameters | adjoint | forward | differences | compilation, s | adjoint from forward |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for count in COUNTS:
        begin = time.process_time()
        chosen = directions(motion, names[:count])
        integrand = compiled_integrand(motion, functional, chosen.partials)
        compilation = time.process_time() - begin

        def gradient(road: Callable[..., object], chosen=chosen, integrand=integrand) -> object:
            followed = replay(motion, chosen.partials, measure=integrand)
            if isinstance(followed, Refusal):
                raise SystemExit(str(followed))
            return road(followed, integrand, chosen)

        adjoint, forward = (least_time(lambda road=road: gradient(road)) for road in (adjoint_pass, forward_pass))
        by_adjoint, by_forward = gradient(adjoint_pass)[1], gradient(forward_pass).gradient
        apart = np.max(np.abs(by_adjoint - by_forward)) / np.max(np.abs(by_forward))
        lines.append(
            f"| {count} | {adjoint / one:.2f} | {forward / one:.2f} | {2 * count} | {compilation:.2f} | {apart:.1e} |"
        )
    return [*lines, "", "Differences stand for two simulations a parameter, without extrapolation."]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    output = parser.parse_args().output
    text = "\n".join(table())
    print(text)
    if output is not None:
        output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
