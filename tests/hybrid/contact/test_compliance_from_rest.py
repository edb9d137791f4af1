"""Compliant motions that start at rest or nearly so: what friction does where no force acts yet."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanisms
from hybrid import KelvinVoigt, derive, solve_state
from hybrid.contact.compliance.grid import LABELS, compliant_motions
from hybrid.declaration import mechanism_from_toml

STIFFNESS, DAMPING, HORIZON = 1e6, 0.25, 12.0


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("painleve_rod"))


def by_hand(state, mu, side, *, m=1.0, g=1.0, J=1 / 3):
    """Velocities of the uniform rod whose tip slides to one side all the time, by Radau; asserts that it does."""

    def velocities(y):
        return y[4] - np.cos(y[2]) * y[5], y[3] - np.sin(y[2]) * y[5]

    def rate(_, y):
        gap_dot, _ = velocities(y)
        F = max(-STIFFNESS * (y[1] - np.sin(y[2])) - 2 * DAMPING * np.sqrt(STIFFNESS) * gap_dot, 0.0)
        T = -mu * F * side
        return [*y[3:], T / m, -g + F / m, (-np.cos(y[2]) * F - np.sin(y[2]) * T) / J]

    end = HORIZON / np.sqrt(STIFFNESS)
    found = solve_ivp(rate, (0, end), [*state.q, *state.v], "Radau", rtol=1e-10, atol=1e-14)
    slip = velocities(found.y)[1]
    assert (side * slip[1:] > 0).all()
    return found.y[3:, -1]


@pytest.mark.parametrize("slip", [0.0, 1e-12, 1e-9, 1e-6])
@pytest.mark.parametrize(("theta", "side"), [(1.0, 1), (np.pi - 1.0, -1), (0.8, 1)])
def test_rod_released_from_rest_slides_as_its_own_equations_say(rod, theta, side, slip):
    # abs(G_TN) = 3 s c > mu G_TT = mu (1 + 3 s^2): friction of 0.1 cannot hold the tip, and the free acceleration
    # of the tip along the floor is zero, so that only the force to come can tell to which side it goes
    pins = {"theta": theta, "theta_dot": 0, "slip.tip": side * slip}
    state = solve_state(rod, pins, parameters={"mu": 0.1})
    motion = KelvinVoigt(STIFFNESS, DAMPING).pass_through(rod.at({"mu": 0.1}), state, horizon=HORIZON)
    assert motion.label == ("slide+" if side > 0 else "slide-")
    assert motion.duration == pytest.approx(HORIZON, rel=1e-9)
    # velocities reach 1e-2; Radau keeps 1e-10 of them, and the rounding of positions makes sqrt(K) 1e-16 = 1e-13
    assert motion.state.v == pytest.approx(by_hand(state, 0.1, side), abs=1e-9)


def test_rod_released_from_rest_sticks_where_friction_can_hold(rod):
    # theta = 1.4: G_TN / G_TT = 3 s c / (1 + 3 s^2) = 0.129 < mu
    state = solve_state(rod, {"theta": 1.4, "theta_dot": 0, "slip.tip": 0}, parameters={"mu": 0.2})
    for K in (1e4, 1e8):
        motion = KelvinVoigt(K).pass_through(rod.at({"mu": 0.2}), state, horizon=HORIZON)
        assert motion.phases == (("stick", pytest.approx(HORIZON)),)
        assert motion.slip_after["tip"][0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("damping", [0.0, 0.25])
def test_undamped_and_damped_contacts_at_rest_go_the_same_way(rod, damping):
    # without a damper the first force grows with the square of time, with one in proportion to it
    state = solve_state(rod, {"theta": 1.0, "theta_dot": 0, "slip.tip": 0}, parameters={"mu": 0.1})
    motion = KelvinVoigt(1e6, damping).pass_through(rod.at({"mu": 0.1}), state, horizon=1.0)
    assert motion.phases[0][0] == "slide+"


HELD = """
name = "rod_on_a_slide_held_by_a_seal"
coordinates = ["x", "y", "theta", "z"]
parameters = { m = 1, J = 0.3333333333333333, g = 1, mu = 0.1, L = 1 }
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2)/2 + J*theta_dot**2/2 + m*z_dot**2/2"
potential = "m*g*y"
[[contact]]
name = "tip"
gap = "y - sin(theta)"
slip = "x_dot - theta_dot*sin(theta) + z_dot"
friction = "mu"
[[friction]]
name = "seal"
slip = "z_dot"
limit = "L"
"""


def test_friction_that_holds_already_takes_part_in_what_comes_next(rod):
    # the tip stands on a slide that a seal holds: to the tip it is as the floor
    both = derive(mechanism_from_toml(HELD))
    pins = {"theta": 1.0, "theta_dot": 0, "slip.tip": 0, "x": 0, "z": 0, "z_dot": 0}
    state = solve_state(both, pins)
    motion = KelvinVoigt(STIFFNESS, DAMPING).pass_through(both, state, horizon=HORIZON)
    alone = solve_state(rod, {"theta": 1.0, "theta_dot": 0, "slip.tip": 0}, parameters={"mu": 0.1})
    assert motion.state.v[:3] == pytest.approx(by_hand(alone, 0.1, 1), abs=1e-9)
    assert motion.state.v[3] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("theta", "side"), [(1.0, 1), (np.pi - 1.0, -1)])
def test_maps_follow_the_same_release_from_rest(rod, theta, side):
    pins = {"theta": theta, "theta_dot": 0, "slip.tip": 0}
    state = solve_state(rod, pins, parameters={"mu": 0.1})
    found = compliant_motions(
        rod.at({"mu": 0.1}),
        state.q[None],
        state.v[None],
        np.zeros(1),
        stiffness=STIFFNESS,
        damping=DAMPING,
        horizon=HORIZON,
    )
    assert LABELS[found.mode[0]] == ("slide+" if side > 0 else "slide-")
    assert found.elapsed[0] == pytest.approx(HORIZON)
    # steps lose 6e-7 of an amplitude of 1e-3, some 200 of them
    assert found.v[0] == pytest.approx(by_hand(state, 0.1, side), abs=1e-6)
