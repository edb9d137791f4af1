"""Belts, guides and floors that stand still at an instant and move later carry what they hold all the time."""

import math

import numpy as np
import pytest

from hybrid import Constraint, Contact, EnergyDynamics, Mechanism, Termination, derive, simulate
from hybrid.motion import EventKind

START = {"x": 0, "gap.foot": 0, "gap_dot.foot": 0, "t": 0, "slip.foot": 0}
SLIPS = math.sqrt(4.4 / 6)  # 0.6 + 20*0.3*t**2 = 5, the friction of a unit mass under the weight 10


def held_by_a_spring(**parts):
    return derive(
        Mechanism(
            name="held",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="10*x**2 + 10*y"),
            **parts,
        )
    )


def on_a_belt(tangent):
    return held_by_a_spring(contact=[Contact(name="foot", gap="y", tangent=tangent, friction="0.5")])


@pytest.mark.parametrize(("way", "begins"), [("0.3*t**2", 0.0), ("0.3*max(0, t - 1)**2", 1.0)])
def test_a_block_on_a_belt_that_starts_slips_when_its_spring_is_long_enough(way, begins):
    motion = simulate(on_a_belt(f"x - {way}"), START, t_end=begins + 1.0)
    assert [(event.t, event.kind) for event in motion.events] == [
        (pytest.approx(begins + SLIPS, rel=1e-9), EventKind.SLIP_START)
    ]
    t = begins + np.linspace(0.0, SLIPS, 9)
    np.testing.assert_allclose(motion.sample(t)[0][:, 0], 0.3 * (t - begins) ** 2, atol=1e-9)
    balance = motion.energy()
    assert balance.initial + balance.applied + balance.friction == pytest.approx(balance.final, abs=1e-7)


def test_a_condition_is_met_on_a_belt_that_starts():
    motion = simulate(on_a_belt("x - 0.3*t**2"), START, t_end=0.7, until="x - 0.05")
    assert motion.termination is Termination.UNTIL
    assert motion.t == pytest.approx(math.sqrt(1 / 6), rel=1e-9)


def test_a_guide_that_starts_carries_what_it_guides():
    ways = {"along": "x - 0.2*(1 - cos(3*t))", "across": "y - 0.1*(1 - cos(9*t))"}
    guided = held_by_a_spring(constraint=[Constraint(name=name, equation=text) for name, text in ways.items()])
    motion = simulate(guided, {"t": 0}, t_end=0.9)
    t = np.linspace(0.0, 0.9, 10)
    path = np.column_stack([0.2 * (1 - np.cos(3 * t)), 0.1 * (1 - np.cos(9 * t))])
    np.testing.assert_allclose(motion.sample(t)[0], path, atol=1e-9)
