"""Many motions of finite stiffness at once against one at a time, and against the rod's own equations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanisms
from hybrid import KelvinVoigt, derive, solve_state
from hybrid.contact.compliance.grid import LABELS, compliant_motions


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("painleve_rod"))


def together(dynamics, states, mu, **options):
    q, v = (np.array([getattr(state, name) for state in states]) for name in ("q", "v"))
    return compliant_motions(dynamics.at({"mu": np.array(mu)}), q, v, np.zeros(len(states)), **options)


@pytest.mark.parametrize("n", [5, pytest.param(120, marks=pytest.mark.long)])
def test_motions_in_arrays_are_those_of_one_state_each(rod, n):
    rng = np.random.default_rng(n)
    mu = rng.uniform(0.2, 1.8, n)
    states = []
    for i in range(n):
        pins = {"theta": rng.uniform(0.1, 3), "theta_dot": rng.uniform(-2, 2), "slip.tip": rng.choice([-1, 1, 0.1])}
        pins |= {"gap_dot.tip": -rng.uniform(0.1, 1)} if i % 2 else {}
        states.append(solve_state(rod, pins, parameters={"mu": mu[i]}))
    found = together(rod, states, mu, stiffness=1e6, horizon=40.0)
    for i, state in enumerate(states):
        alone = KelvinVoigt(1e6).pass_through(rod.at({"mu": mu[i]}), state, horizon=40.0)
        assert LABELS[found.mode[i]] == alone.label
        # a step loses 6e-7 of its amplitude; some 100 steps with damping, velocities of the size 1
        assert found.v[i] == pytest.approx(alone.state.v, abs=3e-5)
        assert found.elapsed[i] == pytest.approx(alone.duration, abs=1e-4)
        assert found.sticks[i] == any("stick" in kind for kind, _ in alone.phases)


def test_half_a_turn_of_an_undamped_contact_is_the_oscillator_in_closed_form(rod):
    # so stiff that gravity and the drift of the posture are 1e-7, y'' = -G_NN K y, a half turn of which returns the
    # approach; without friction the impulse 2 / G_NN changes the slip by G_TN
    state = solve_state(rod, {"theta": 1, "theta_dot": 0, "slip.tip": 1, "gap_dot.tip": -1}, parameters={"mu": 0})
    found = together(rod, [state], [0.0], stiffness=1e14, damping=0.0, horizon=10.0)
    c, s = np.cos(1.0), np.sin(1.0)
    assert found.elapsed[0] == pytest.approx(np.pi / np.sqrt(1 + 3 * c * c), rel=1e-5)
    G_NN, G_NT = 1 + 3 * c * c, 3 * s * c
    # tip: y - sin(theta) up, and the displacement along the floor whose coupling to the normal is positive
    assert found.v[0, 1] - c * found.v[0, 2] == pytest.approx(1.0, abs=2e-5)
    at = rod.terms(found.q[0], found.v[0], t=0.0, parameters={"mu": 0})
    assert at.slip[0] == pytest.approx(1 + 2 * G_NT / G_NN, abs=1e-4)


def test_contacts_that_never_press_stay_where_they_are(rod):
    # b = -1 + theta_dot^2 sin(theta) > 0: lift-off from rest
    state = solve_state(rod, {"theta": 1, "theta_dot": 1.3, "slip.tip": 1})
    found = together(rod, [state], [1.5], stiffness=1e6, horizon=40.0)
    assert not found.presses[0]
    assert found.elapsed[0] == 0.0
    assert found.v[0] == pytest.approx(state.v, abs=0)


@pytest.mark.parametrize("damping", [2.0, 20.0])
def test_strong_dampers_are_followed_stably(rod, damping):
    # the rod's own equations while its tip slides to the positive side, stiff: by Radau
    K, mu, horizon = 1e6, 0.3, 40.0
    state = solve_state(rod, {"theta": 1, "theta_dot": 0, "slip.tip": 1, "gap_dot.tip": -0.1}, parameters={"mu": mu})

    def rate(_, y):
        F = -K * (y[1] - np.sin(y[2])) - 2 * damping * np.sqrt(K) * (y[4] - np.cos(y[2]) * y[5])
        return [*y[3:], -mu * F, -1 + F, 3 * (-np.cos(y[2]) + np.sin(y[2]) * mu) * F]

    alone = solve_ivp(rate, (0, horizon / np.sqrt(K)), [*state.q, *state.v], "Radau", rtol=1e-10, atol=1e-13).y[:, -1]
    found = together(rod, [state], [mu], stiffness=K, damping=damping, horizon=horizon)
    assert LABELS[found.mode[0]] == "slide+"
    # the damper's decay loses 1e-5 of the approach of 0.1
    assert found.v[0] == pytest.approx(alone[3:], abs=1e-5)
    gap, gap_dot = alone[1] - np.sin(alone[2]), alone[4] - np.cos(alone[2]) * alone[5]
    assert found.force_N[0] == pytest.approx(-K * gap - 2 * damping * np.sqrt(K) * gap_dot, rel=1e-3)
