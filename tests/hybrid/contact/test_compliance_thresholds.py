"""Slips next to the thresholds below which they count as none: each has stopped, or slides, but never neither."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanisms
from hybrid import KelvinVoigt, derive, solve_state
from hybrid.contact.compliance.kinematics import ContactRows
from hybrid.contact.compliance.limit import several_limit
from hybrid.contact.compliance.path import linear_samples
from hybrid.contact.compliance.status import STOPPED, VANISHING, has_stopped

SLIPS = (1e-12, 1e-10, 3e-9, 3e-8, 9e-8, 1e-7, 3e-7)


@pytest.fixture(scope="module")
def ball():
    return derive(mechanisms.load("spatial_ball"))


@pytest.mark.parametrize("slip", SLIPS)
def test_spatial_ball_with_hardly_any_slip_rebounds_without(ball, slip):
    pins = dict.fromkeys(("slip.floor.2", "alpha_dot", "beta_dot", "gamma_dot"), 0.0)
    state = solve_state(ball, {"gap_dot.floor": -1, "slip.floor.1": slip, **pins})
    motion = KelvinVoigt(1e8, 0.25).pass_through(ball, state)
    assert motion.has_separated
    assert not motion.is_cut
    # the normal force passes through the centre: m y'' = -K y - 2 d sqrt(K) y' - m g for itself
    values = ball.mechanism.parameter_values({})
    m, g = float(values["m"]), float(values["g"])

    def rate(_, y):
        return [y[1], (-1e8 * y[0] - 0.5 * 1e4 * y[1]) / m - g]

    def force(_, y):
        return -1e8 * y[0] - 0.5 * 1e4 * y[1]

    force.terminal, force.direction = True, -1
    alone = solve_ivp(rate, (0, 1e-2), [0.0, -1.0], "DOP853", rtol=1e-12, atol=1e-16, events=[force])
    assert motion.gap_dot_after["floor"] == pytest.approx(alone.y[1, -1], abs=1e-9)
    assert motion.slip_after["floor"] == pytest.approx((0.0, 0.0), abs=1e-12)


def test_two_spatial_contacts_with_hardly_any_slip_are_as_smooth_friction_has_them():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(6, 6))
    G = np.eye(6) + 0.05 * B @ B.T
    contacts = (ContactRows("a", 0, (1, 2), 0.3, 0.25), ContactRows("b", 3, (4, 5), 0.3, 0.25))
    start = np.array([-1.0, 0.0, 0.0, -1.0, 0.5, 0.1])

    def rate(_, y):
        Y, gamma = y[:2], y[2:]
        F = np.zeros(6)
        for i, n in enumerate((0, 3)):
            F[n] = max(-Y[i] - 0.5 * gamma[n], 0.0)
            u = gamma[n + 1 : n + 3]
            F[n + 1 : n + 3] = -0.3 * F[n] * u / np.sqrt(u @ u + 1e-14)
        return np.concatenate([gamma[[0, 3]], G @ F])

    # long after both have let go velocities are constant; friction that is smooth over 1e-7 lets slip creep by as much
    smooth = solve_ivp(rate, (0, 30), [0.0, 0.0, *start], "Radau", rtol=1e-9, atol=1e-12).y[2:, -1]
    for slip in SLIPS:
        got = several_limit(G, start + slip * np.eye(6)[1], contacts)
        assert got.gamma_after == pytest.approx(smooth, abs=5e-6)


@pytest.mark.parametrize(("dimension", "least"), [(1, VANISHING), (2, STOPPED)])
def test_slip_at_the_threshold_has_stopped_and_above_it_has_not(dimension, least):
    slip = np.zeros(dimension)
    slip[0] = -least * 2.0
    assert has_stopped(slip, 2.0)
    assert not has_stopped(slip * (1 + 1e-12), 2.0)


@pytest.mark.parametrize("A", [1.0, 1e-4, 1e-8, 1e-10, 1e-12])
def test_sampled_impulses_of_hardly_any_inertia_are_the_undamped_oscillation(A):
    # Y = -sin(r s) / r with r = sqrt(A), so that P = (1 - cos(r s)) / A
    duration = np.pi / np.sqrt(A)
    got = linear_samples(A, 0.0, (0.0, -1.0), duration, np.array([A]), np.array([1.0]), 25)
    exact = 2 * np.sin(np.sqrt(A) * got.s / 2) ** 2 / A
    assert got.impulse[:, 0] == pytest.approx(exact, rel=1e-12)
    assert got.gamma[:, 0] == pytest.approx(A * exact, rel=1e-12)
