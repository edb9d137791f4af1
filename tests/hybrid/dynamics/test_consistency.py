"""States that violate constraints: by how much, and the nearest one that does not."""

import numpy as np
import pytest

from hybrid import ComputationError, State, StateError, select, simulate, solve_state
from hybrid.dynamics import project_state
from tests.catalogue import dynamics_of
from tests.constrained import particle


def test_projection_of_a_particle_goes_along_the_radius_and_drops_the_normal_velocity():
    circle = particle("x**2 + y**2 - 1")
    near = project_state(circle, State([1.2, 1.6], [1.0, 0.0]))
    np.testing.assert_allclose(near.q, [0.6, 0.8], atol=1e-14)
    # the part of (1, 0) along the tangent (0.8, -0.6)
    np.testing.assert_allclose(near.v, 0.8 * np.array([0.8, -0.6]), atol=1e-14)


def test_projected_velocity_costs_the_least_kinetic_energy():
    pendulum = dynamics_of("singular_pendulum")
    start = State([0.5, 0.3], [0.3, 1.0])
    near = project_state(pendulum, start)
    terms = pendulum.terms(near.q, near.v)
    assert abs(terms.constraint[0]) < 1e-15
    assert abs(terms.J[0] @ near.v) < 1e-15
    # Lagrange: M (v - v0) is a multiple of the constraint's gradient
    impulse = terms.M @ (near.v - start.v)
    assert abs(np.linalg.det([impulse, terms.J[0]])) < 1e-13


def test_state_off_the_constraint_is_refused_with_the_nearest_one():
    circle = particle("x**2 + y**2 - 1", potential="y")
    for use in (select, lambda *a: simulate(*a, t_end=1)):
        with pytest.raises(StateError) as refused:
            use(circle, State([1.2, 1.6], [0.0, 0.0]))
        message = str(refused.value)
        assert "c0 (value 3, rate 0)" in message
        assert "x = 0.6, y = 0.8, x_dot = 0, y_dot = 0" in message
    with pytest.raises(StateError, match=r"c0 \(value 0, rate 1.2\).*x_dot = 0.64, y_dot = -0.48"):
        simulate(circle, State([0.6, 0.8], [1.0, 0.0]), t_end=1)


def test_rounding_of_a_consistent_state_is_accepted():
    circle = particle("x**2 + y**2 - 1", potential="y")
    assert select(circle, State([0.6 + 1e-15, 0.8], [0.8, -0.6])).count == 1


def test_constraints_that_contradict_are_named_with_what_is_left():
    apart = particle("x", "x - 1")
    with pytest.raises(StateError, match=r"no position nearby satisfies.*contradict each other.*c0 = 0.5, c1 = -0.5"):
        project_state(apart, State([0.3, 0.0], [0.0, 0.0]))
    with pytest.raises(StateError, match=r"violates the constraints c0 \(value 0.3.*c1 \(value -0.7.*contradict"):
        select(apart, State([0.3, 0.0], [0.0, 0.0]))
    # moving apart: at t = 0 the positions agree, the velocities do not
    moving = particle("x", "x - t")
    with pytest.raises(StateError, match=r"no velocity nearby satisfies.*contradict"):
        project_state(moving, State([0.0, 0.0], [0.0, 0.0]))


def test_no_verdict_at_a_singular_configuration_but_its_branches():
    with pytest.raises(ComputationError, match=r"BC determine no acceleration.*transversal crossing.*u' = 0\.88465"):
        select(dynamics_of("singular_pendulum"), State([0.0, 0.0], [0.0, 0.0]))


def test_pins_at_a_singular_configuration_are_told_its_kind_and_branches():
    with pytest.raises(StateError, match=r"are dependent at theta1=0, a transversal crossing .* branches along"):
        solve_state(dynamics_of("four_bar"), {"theta1": 0, "theta1_dot": 1})
