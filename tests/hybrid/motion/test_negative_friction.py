"""Friction that depends on the state and falls below zero ends a motion: it would drive what it is to slow down."""

import pytest

from hybrid import Contact, EnergyDynamics, FrictionElement, Mechanism, State, Termination, derive, simulate
from hybrid.contact import NewtonImpact
from hybrid.errors import StateError


def block(**parts):
    return derive(
        Mechanism(name="block", coordinates=["x"], dynamics=EnergyDynamics(kinetic="x_dot**2"), **parts),
    )


@pytest.mark.parametrize("start", [State([0.0], [3.0]), State([2.0], [1.0])])  # runs into it, or begins in it
def test_a_limit_that_falls_below_zero_is_refused(start):
    brake = block(friction=[FrictionElement(name="brake", tangent="x", limit="1 - x")])
    with pytest.raises(StateError, match="the limit force is negative"):
        simulate(brake, start, t_end=3)


def test_what_was_followed_before_is_kept():
    wall = Contact(name="wall", gap="x + 1", restitution=1)
    brake = FrictionElement(name="brake", tangent="x", limit="1 - x")
    motion = simulate(block(contact=[wall], friction=[brake]), State([-0.5], [-6.0]), t_end=3, law=NewtonImpact())
    assert motion.termination is Termination.NOT_COMPUTED
    assert "negative" in motion.cause
    assert (motion.q[0], len(motion.events)) == (pytest.approx(-1.0), 1)  # as far as the rebound


def test_friction_that_stays_positive_is_followed():
    motion = simulate(
        block(friction=[FrictionElement(name="brake", tangent="x", limit="2 - x")]), State([0.0], [1.0]), t_end=3
    )
    # m x'' = -(2 - x) with m = 2: x = 2 - 2 cosh(t/sqrt 2) + sqrt 2 sinh(t/sqrt 2), at rest where tanh = 1/sqrt 2
    assert motion.termination is Termination.END_TIME
    assert motion.q[0] == pytest.approx(2 - 2**0.5, abs=1e-8)
