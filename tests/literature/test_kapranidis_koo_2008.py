"""Ladder in a corner: Kapranidis and Koo 2008; with friction Champneys and Varkonyi 2016.

Half length l, kappa = J / (m l^2), 1/3 for a uniform ladder; theta from the floor; the foot slips out
(slip +) and the top slips down (slip -).
"""

from __future__ import annotations

from math import asin, atan, cos, degrees, pi, radians, sin, sqrt, tan

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid.contact import Verdict, to_lcp
from tests.catalogue import decide, dynamics_of, least_critical_friction, problem_at

CORNER = {"gap.floor": 0, "gap.wall": 0, "gap_dot.floor": 0, "gap_dot.wall": 0}


@pytest.mark.parametrize("kappa", [0.2, 1 / 3, 0.9])
@pytest.mark.parametrize(("mu", "mu_wall"), [(0.4, 0.4), (0.9, 0.2), (1.3, 1.6)])
@pytest.mark.parametrize("theta", [0.3, 0.8, 1.3])
def test_determinant_of_the_sliding_problem(kappa, mu, mu_wall, theta):
    problem = problem_at(
        "ladder_in_corner", CORNER | {"theta": theta, "theta_dot": -1}, kappa=kappa, mu=mu, mu_wall=mu_wall
    )
    expected = 1 - mu * mu_wall + kappa * (1 + mu * mu_wall) - (mu - mu_wall) * sin(2 * theta)
    assert kappa * np.linalg.det(to_lcp(problem).M) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kappa", [0.2, 1 / 3, 0.9])
@pytest.mark.parametrize("contact", ["floor", "wall"])
def test_each_end_alone_is_a_free_rod(kappa, contact):
    # 2 sqrt(1 + alpha) / alpha with alpha = 1 / kappa; the wall sees the same rod at the complement of theta.
    other = {"floor": "x", "wall": "y"}[contact]
    pins = {f"gap.{contact}": 0, other: 3}
    found = least_critical_friction("ladder_in_corner", "theta=0:pi/2", pins=pins, contact=contact, kappa=kappa)
    assert found.minimum == pytest.approx(2 * sqrt(kappa * (1 + kappa)), rel=1e-12)
    angle = atan(sqrt(1 + 1 / kappa))
    assert found.at["theta"] == pytest.approx(angle if contact == "floor" else pi / 2 - angle, abs=1e-9)


@pytest.mark.parametrize(("kappa", "limit"), [(1 / 3, sqrt(2)), (0.5, sqrt(3)), (0.2, sqrt(1.5))])
def test_equal_friction_makes_every_angle_singular_at_once(kappa, limit):
    for theta in (0.2, 0.7, 1.4):
        pins = CORNER | {"theta": theta, "theta_dot": -1}
        determinants = [
            np.linalg.det(to_lcp(problem_at("ladder_in_corner", pins, kappa=kappa, mu=mu)).M)
            for mu in (limit - 1e-6, limit, limit + 1e-6)
        ]
        assert determinants[0] > 0 > determinants[2]
        assert determinants[1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("mu", "mu_wall"), [(0.4, 0.4), (0.6, 0.2), (0.5, 0.0)])
def test_ladder_rests_from_the_angle_of_statics(mu, mu_wall):
    # tan(theta) >= (1 - mu mu_wall) / (2 mu); 46.3972 degrees = 90 - 2 atan(0.4) for 0.4 at both ends.
    limit = atan((1 - mu * mu_wall) / (2 * mu))
    if mu == mu_wall == 0.4:
        assert degrees(limit) == pytest.approx(46.3972, abs=5e-5)
        assert limit == pytest.approx(pi / 2 - 2 * atan(0.4), abs=1e-15)
    rest = {"floor": "stick", "wall": "stick"}
    for theta, rests in ((limit - 1e-5, False), (limit + 1e-5, True)):
        pins = CORNER | {"theta": theta, "theta_dot": 0}
        found = decide("ladder_in_corner", pins, mu=mu, mu_wall=mu_wall)
        still = [branch for branch in found.branches if np.allclose(branch.acceleration, 0, atol=1e-9)]
        assert bool(still) == rests, (theta, rest)


def test_forces_of_a_resting_ladder_are_a_segment():
    # Four force components, three equations of equilibrium.
    found = decide("ladder_in_corner", CORNER | {"theta": radians(60), "theta_dot": 0})
    assert found.verdict is Verdict.HYPERSTATIC
    assert found.force_set.dimension == 1
    for branch in found.branches:
        N, T = branch.lambda_N["floor"], branch.lambda_T["floor"][0]
        N_wall, T_wall = branch.lambda_N["wall"], branch.lambda_T["wall"][0]
        assert pytest.approx(9.81) == N + T_wall
        assert pytest.approx(0, abs=1e-9) == T + N_wall


def smooth_wall_force(theta, theta_dot):
    found = decide("ladder_in_corner", CORNER | {"theta": theta, "theta_dot": theta_dot}, mu=0)
    assert found.verdict is Verdict.UNIQUE
    (branch,) = found.branches
    return branch.lambda_N["wall"], branch.mode["wall"].value


@pytest.mark.parametrize("kappa", [0.2, 1 / 3, 0.9])
def test_smooth_ladder_leaves_the_wall_at_two_thirds_of_its_height(kappa):
    # Energy: (1 + kappa) l theta_dot^2 / 2 = g (sin(theta_0) - sin(theta)); l = 1, g = 9.81, theta_0 = 60
    # degrees.
    start, leaves = radians(60), asin(2 / 3 * sin(radians(60)))
    assert degrees(leaves) == pytest.approx(35.26439, abs=5e-6)
    for theta, pressed in ((leaves + 1e-6, True), (leaves - 1e-6, False)):
        rate = -sqrt(2 * 9.81 * (sin(start) - sin(theta)) / (1 + kappa))
        pins = CORNER | {"theta": theta, "theta_dot": rate}
        (branch,) = decide("ladder_in_corner", pins, mu=0, kappa=kappa).branches
        assert (branch.lambda_N["wall"] > 0) == pressed
        assert branch.lambda_N["floor"] > 0


def test_smooth_ladder_falls_from_60_degrees_in_the_published_time():
    # Motion by the derived equations with both contacts kept, stopped when the wall's force vanishes.
    dynamics = dynamics_of("ladder_in_corner")

    def forces_and_acceleration(x):
        terms = dynamics.terms(x[:3], x[3:], parameters={"mu": 0})
        W = np.linalg.solve(terms.M, terms.W_N)
        free = terms.W_N.T @ np.linalg.solve(terms.M, terms.h) + terms.zeta_N
        forces = np.linalg.solve(terms.W_N.T @ W, -free)
        return forces, np.linalg.solve(terms.M, terms.h) + W @ forces

    def leaves_the_wall(t, x):
        return forces_and_acceleration(x)[0][1]

    leaves_the_wall.terminal = True
    start = [cos(pi / 3), sin(pi / 3), pi / 3, 0, 0, 0]
    motion = solve_ivp(
        lambda t, x: np.concatenate([x[3:], forces_and_acceleration(x)[1]]),
        (0, 1),
        start,
        events=leaves_the_wall,
        rtol=1e-10,
        atol=1e-12,
    )
    (t,), ((_, _, theta, x_dot, _, theta_dot),) = motion.t_events[0], motion.y_events[0]
    assert t == pytest.approx(0.4596628, abs=5e-8)
    assert degrees(theta) == pytest.approx(35.26439, abs=5e-6)
    assert abs(theta_dot) == pytest.approx(2.0610324, abs=5e-8)
    assert x_dot == pytest.approx(1.1899376, abs=5e-8)
    assert tan(theta) > 0
