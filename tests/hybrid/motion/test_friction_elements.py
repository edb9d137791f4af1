"""Friction elements without contacts, some of them dependent."""

import numpy as np
import pytest

from hybrid import EnergyDynamics, FrictionElement, Mechanism, State, Termination, derive, simulate


def test_dependent_elements_share_the_load_and_let_go_together():
    # two slides on the ground, rubbing against each other: the first is held by two elements of limit 1
    rubbing = Mechanism(
        name="rubbing",
        coordinates=["x0", "x1"],
        dynamics=EnergyDynamics(kinetic="(x0_dot**2 + x1_dot**2)/2"),
        forces={"x0": "2*t"},
        friction=[FrictionElement(name=f"e{i}", tangent=t, limit="1") for i, t in enumerate(["x0", "x1", "x0 - x1"])],
    )
    motion = simulate(derive(rubbing), State([0, 0], [0, 0]), t_end=3.0)
    assert motion.termination is Termination.END_TIME
    assert [(event.kind.name, event.elements) for event in motion.events] == [("SLIP_START", ("e0", "e2"))]
    assert motion.events[0].t == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(motion.q, [8 / 3, 0.0], rtol=1e-11, atol=1e-12)  # x0'' = 2 t - 2 from then on


@pytest.mark.parametrize("times", [[0.1], [0.1, 0.2], [0.1, 0.2, 0.25]])
def test_forces_of_a_brake_with_two_limits_beside_another_element(times):
    brakes = Mechanism(
        name="brakes",
        coordinates=["x", "s"],
        dynamics=EnergyDynamics(kinetic="(x_dot**2 + s_dot**2)/2"),
        friction=[
            FrictionElement(name="f", tangent="x", limit=3, reverse_limit=1),
            FrictionElement(name="g", tangent="s", limit="1/2"),
        ],
    )
    motion = simulate(derive(brakes), State([0, 0], [2, 1]), t_end=0.3)
    (arc,) = motion.arcs
    np.testing.assert_array_equal(motion.forces(arc, times).lambda_T, np.repeat([[-3.0], [-0.5]], len(times), axis=1))
    # x = 2 t - 3/2 t^2 and s = t - t^2/4 at t = 0.3
    assert motion.energy().friction == pytest.approx(-3 * (0.6 - 0.135) - 0.5 * (0.3 - 0.0225), rel=1e-12)
