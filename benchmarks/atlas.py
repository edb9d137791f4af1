"""Certified maps: times to a gap, next to the same algorithm on ball arithmetic and to a paver with contractors.

Times are of the processor, after compilation; rounds of the same figure follow each other and the best one counts.
Ball arithmetic is python-flint's with 53 bits; the paver is codac's, which is measured only where it is installed
(pip install codac) and asked for the one region without a consistent mode, by its closed form.

    python benchmarks/atlas.py [ROUNDS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np

import mechanisms
from hybrid import Axis, certified_friction, certified_map, derive
from hybrid.analysis.certified.conditions import sign_conditions
from hybrid.analysis.maps.node_states import node_states
from hybrid.expressions import Graph, jacobian

MU = 1.5
PINS = {"slip.tip": -1}
CLOSED = {"gap.floor": 0, "gap.wall": 0, "gap_dot.floor": 0, "gap_dot.wall": 0}


def axes_of(*texts: str) -> list[Axis]:
    return [Axis.parse(text) for text in texts]


def seconds(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    best, found = float("inf"), None
    for _ in range(rounds):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return best, found


def balls(graph: Graph, roots: Sequence[int], names: Sequence[int]) -> Callable[[Sequence[Any]], list[Any]]:
    """The same nodes in ball arithmetic."""
    order = graph.needed(roots)
    functions = {"sin": flint.arb.sin, "cos": flint.arb.cos}

    def evaluate(box: Sequence[Any]) -> list[Any]:
        known = dict(zip(names, box, strict=True))
        for node in order:
            if node in known:
                continue
            arguments = [known[argument] for argument in graph.arguments[node]]
            value, operation = graph.values[node], graph.operations[node]
            if isinstance(value, int | Fraction):
                exact = Fraction(value)
                known[node] = flint.arb(flint.fmpq(exact.numerator, exact.denominator))
            elif operation == "+":
                known[node] = sum(arguments[1:], arguments[0])
            elif operation == "*":
                product = arguments[0]
                for factor in arguments[1:]:
                    product = product * factor
                known[node] = product
            elif operation == "/":
                known[node] = arguments[0] / arguments[1]
            elif operation == "**":
                known[node] = arguments[0] ** int(graph.values[graph.arguments[node][1]])
            else:
                known[node] = functions[operation](*arguments)
        return [known[root] for root in roots]

    return evaluate


def by_balls(boxes: np.ndarray) -> Callable[[], None]:
    """What a certified map evaluates at boxes of the rod: values, slopes, and values in the middle."""
    rod = derive(mechanisms.load("rod_on_incline"))
    states = node_states(rod.at({"mu": MU}), axes_of("phi=0:pi", "phi_dot=-3:3"), pins=PINS)
    functions = sign_conditions(states).functions
    slopes = jacobian(states.build, functions, states.names).ravel().tolist()
    graph = states.build.graph()
    whole, centre = balls(graph, [*functions, *slopes], states.names), balls(graph, functions, states.names)
    middles, radii = boxes.mean(axis=-1), (boxes[..., 1] - boxes[..., 0]) / 2

    def work() -> None:
        flint.ctx.prec = 53
        for middle, radius in zip(middles.tolist(), radii.tolist(), strict=True):
            whole([flint.arb(x, r) for x, r in zip(middle, radius, strict=True)])
            centre([flint.arb(x) for x in middle])

    return work


def paved(width: float) -> Callable[[], float] | None:
    """The share of the box that codac's paver leaves between inside and outside of A < 0, b < 0."""
    try:
        import codac
    except ImportError:
        return None
    x = codac.VectorVar(2)
    sine, cosine = codac.sin(x[0]), codac.cos(x[0])
    A = codac.AnalyticFunction([x], 1 + 3 * codac.sqr(cosine) - 3 * MU * sine * cosine)
    b = codac.AnalyticFunction([x], codac.sqr(x[1]) * sine - 1)
    negative = codac.Interval(-codac.oo, 0)
    both = codac.SepInverse(A, negative) & codac.SepInverse(b, negative)
    whole = codac.IntervalVector([[0, np.pi], [-3, 3]])

    def work() -> float:
        left = codac.pave(whole, both, width).boxes(codac.PavingInOut.bound)
        return sum(box.volume() for box in left) / whole.volume()

    return work


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    rod, ladder, arm = (
        derive(mechanisms.load(name)) for name in ("rod_on_incline", "ladder_in_corner", "two_link_arm")
    )
    plane = axes_of("phi=0:pi", "phi_dot=-3:3")
    certified_map(rod, axes=plane, pins=PINS, parameters={"mu": MU}, gap=0.1)  # compiles
    rows: list[tuple[str, float, str]] = []
    for gap in (1e-3, 1e-4, 1e-6):
        spent, found = seconds(
            lambda gap=gap: certified_map(rod, axes=plane, pins=PINS, parameters={"mu": MU}, gap=gap), rounds
        )
        rows.append((f"rod, gap {gap:g}", spent, f"{found.evaluations} evaluations"))
    at_a_millionth, last = spent, found
    for gap in (1e-4, 1e-6):
        spent, found = seconds(
            lambda gap=gap: certified_map(
                ladder,
                axes=axes_of("theta=0:pi/2", "theta_dot=0:6"),
                pins=CLOSED,
                parameters={"mu": MU},
                gap=gap,
            ),
            rounds,
        )
        rows.append((f"ladder_in_corner, gap {gap:g}", spent, f"{found.evaluations} evaluations"))
    spent, found = seconds(
        lambda: certified_map(arm, axes=axes_of("theta2=0.1:0.8", "mu=0.1:2"), pins={"theta2_dot": 1}, gap=1e-4), rounds
    )
    rows.append(("two_link_arm (closed posture), gap 1e-4", spent, f"{found.evaluations} evaluations"))
    least = 4 / 3 - 1e-9
    spent, found = seconds(
        lambda: certified_map(rod, axes=axes_of("phi=0:pi", f"mu=0:{least!r}"), pins={**PINS, "phi_dot": 0}), rounds
    )
    rows.append(("rod below 4/3 - 1e-9: no paradox", spent, f"{found.evaluations} evaluations, {found.absent}"))
    spent, friction = seconds(lambda: certified_friction(rod, over=axes_of("phi=0:pi")), rounds)
    rows.append(("least critical friction of the rod", spent, f"bounds {friction.high - friction.low:.2g} apart"))
    sample = last.parts[:: max(1, len(last.parts) // 1000)]
    spent, _ = seconds(by_balls(sample), rounds)
    each = spent / len(sample)
    rows.append(
        ("ball arithmetic, each box", each, f"{each * last.evaluations / at_a_millionth:.0f} times ours at 1e-6")
    )
    for width in (1e-2, 1e-3, 1e-4):
        work = paved(width)
        if work is None:
            rows.append(("paver", float("nan"), "codac is not installed"))
            break
        spent, left = seconds(work, 1)
        rows.append((f"paver, one region, boxes of {width:g}", spent, f"gap {left:.2g}"))
    for name, spent, more in rows:
        print(f"{name:45} {spent:10.4g} s   {more}")


if __name__ == "__main__":
    main()
