"""Impacts of several contacts that converge in time faster than in velocity: a ball squeezed between floor and ball."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from hybrid import Constraint, Contact, EnergyDynamics, Mechanism, State, Termination, Verdict, derive, select, simulate
from hybrid.contact import NewtonImpact

STARTS = [  # heights, masses, coefficients of restitution
    ((0.9271797576704403, 1.7713225542714892), (0.11193898250942313, 2.2228992243566275), (0.4536301, 0.5537012)),
    ((0.7, 1.2), (0.1, 2.0), (0.5, 0.5)),
    ((0.25, 1.0), (0.05, 1.0), (0.4, 0.6)),
]


@pytest.fixture(scope="module")
def stack():
    return derive(
        Mechanism(
            name="stack",
            coordinates=["y0", "y1"],
            parameters={"m0": 1, "m1": 1, "e0": 0.5, "e1": 0.5},
            dynamics=EnergyDynamics(kinetic="(m0*y0_dot**2 + m1*y1_dot**2)/2", potential="10*(m0*y0 + m1*y1)"),
            contact=[
                Contact(name="floor", gap="y0", restitution="e0"),
                Contact(name="pair", gap="y1 - y0", restitution="e1"),
            ],
        )
    )


def collapse(heights, masses, restitution):
    """Time and velocities after up to 4000 impacts along parabolas, in 60 digits, and how many there were."""
    with localcontext() as context:
        context.prec = 60
        y, m, e = ([Decimal(x) for x in pair] for pair in (heights, masses, restitution))
        t, v, times = Decimal(0), [Decimal(0), Decimal(0)], []
        for _ in range(4000):
            land = (v[0] + (v[0] * v[0] + 20 * y[0]).sqrt()) / 10
            meet = (y[1] - y[0]) / (v[0] - v[1]) if v[1] < v[0] else Decimal("inf")
            step = min(land, meet)
            if step > 1:
                break
            y = [a + b * step - 5 * step * step for a, b in zip(y, v, strict=True)]
            v, t = [b - 10 * step for b in v], t + step
            if land < meet:
                y[0], v[0] = Decimal(0), -e[0] * v[0]
            else:
                y[1], impulse = y[0], (1 + e[1]) * (v[0] - v[1]) / (1 / m[0] + 1 / m[1])
                v = [v[0] - impulse / m[0], v[1] + impulse / m[1]]
            times.append(t)
        return float(t), [float(x) for x in v], len(times)


@pytest.mark.parametrize(("heights", "masses", "restitution"), STARTS)
def test_a_squeezed_ball_comes_to_rest_where_its_impacts_accumulate(stack, heights, masses, restitution):
    limit, v, count = collapse(heights, masses, restitution)
    assert count == 4000
    assert max(map(abs, v)) < 1e-12  # at rest, by impacts that follow each other ever faster
    values = dict(zip(("m0", "m1", "e0", "e1"), (*masses, *restitution), strict=True))
    motion = simulate(stack, State(heights, [0, 0]), t_end=limit + 0.5, law=NewtonImpact(), parameters=values)
    assert motion.termination is Termination.END_TIME, motion.cause
    last = motion.events[-1]
    assert (last.kind.value, set(last.elements)) == ("accumulation of impacts", {"floor", "pair"})
    # impacts are made at once when 1e-11 of the time is left, and event times are good to 1e-11 themselves
    assert last.t == pytest.approx(limit, abs=1e-10)
    assert last.mode_after.label == "floor=closed,pair=closed"
    assert motion.q == pytest.approx([0, 0], abs=1e-10)
    assert np.array_equal(motion.v, [0, 0])
    assert select(stack, State([0, 0], [0, 0]), parameters=values).verdict is Verdict.UNIQUE
    # all of the energy has gone into the impacts
    assert motion.energy().residual == pytest.approx(0.0, abs=1e-9 * motion.energy().initial)


def test_a_bead_that_a_rail_leads_to_a_wall_comes_to_rest_there():
    # along the rail y = s x gravity pulls with g s/(1 + s^2) in x, and else with nothing: bounces are judged
    # by the acceleration that the rail allows. They last t1, 2 e t1, 2 e^2 t1, ... and end at t1 (1 + e)/(1 - e).
    bead = derive(
        Mechanism(
            name="bead",
            coordinates=["x", "y"],
            parameters={"s": 0.4686, "g": 9.48, "e": 0.268},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="g*y"),
            constraint=[Constraint(name="rail", equation="y - s*x")],
            contact=[Contact(name="wall", gap="x + 0.5", restitution="e")],
        )
    )
    motion = simulate(bead, State([-0.3, -0.3 * 0.4686], [0.0, 0.0]), t_end=1.5, law=NewtonImpact())
    first = (2 * 0.2 * (1 + 0.4686**2) / (9.48 * 0.4686)) ** 0.5
    assert motion.termination is Termination.END_TIME
    # what is left of the series when a bounce is no longer resolved lasts some sqrt(1e-13/4)
    assert motion.events[-1].t == pytest.approx(first * 1.268 / 0.732, abs=1e-6)
    assert motion.q == pytest.approx([-0.5, -0.5 * 0.4686], abs=1e-12)
