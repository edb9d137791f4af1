"""Slender rod in space: Champneys and Varkonyi 2016, Cheesman, Hogan and Kristiansen 2021 (arXiv:2110.14324).

Tip of a slender body along the unit axis r: m G = (1 + a) I - a r r^T. Slip at the angle b off the rod's
vertical plane has the inertia factor (1 + a c^2 - mu a s c cos b) / m: the critical friction of the plane
rod over cos b.
"""

from __future__ import annotations

from math import acos, cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from hybrid.analysis import Axis, region_map
from hybrid.contact import Verdict
from hybrid.contact.sliding import sliding_terms
from tests.catalogue import decide, delassus, dynamics_of, labels, least_critical_friction, problem_at

START = {"psi": 0, "theta": pi / 3, "psi_dot": 4, "theta_dot": 4}


def heading(psi, beta):
    """Unit slip whose inertia factor falls fastest at beta = 0: against the foot's lean along -r."""
    lean = np.array([-sin(psi), cos(psi)])
    across = np.array([-lean[1], lean[0]])
    return -(cos(beta) * lean + sin(beta) * across)


def inertia_factor(theta, beta, mu, psi=0.4):
    slip = heading(psi, beta)
    pins = {"psi": psi, "theta": theta, "psi_dot": 0, "theta_dot": 0}
    pins |= {"slip.tip.1": slip[0], "slip.tip.2": slip[1]}
    return sliding_terms(problem_at("oblique_rod", pins, mu=mu), "tip").A_plus


@pytest.mark.parametrize("theta", [0.3, 1.0, 1.3])
@pytest.mark.parametrize("beta", [-2.5, -0.4, 0.0, 1.2])
@pytest.mark.parametrize("mu", [0.5, 1.6])
def test_inertia_factor_off_the_plane_of_the_rod(theta, beta, mu):
    s, c = sin(theta), cos(theta)
    assert inertia_factor(theta, beta, mu) == pytest.approx(1 + 3 * c * c - 3 * mu * s * c * cos(beta), rel=1e-12)


@pytest.mark.parametrize("mu", [1.6, 2.5])
def test_least_critical_friction_in_space_is_that_of_the_plane_rod(mu):
    found = least_critical_friction("oblique_rod", "theta=0:1.5", pins={"psi": 0.4}, mu=mu)
    assert found.minimum == pytest.approx(4 / 3, rel=1e-12)
    assert found.at["theta"] == pytest.approx(np.arctan(2), abs=1e-9)
    exact = [np.arctan((3 * mu + sign * sqrt(9 * mu * mu - 16)) / 2) for sign in (-1, 1)]
    assert found.paradox_intervals["slide"] == (pytest.approx(exact, abs=1e-12),)


@pytest.mark.parametrize(("mu", "expected"), [(1.6, 0.0457375), (2.5, 0.1493390)])
def test_share_of_postures_and_headings_with_a_paradox(mu, expected):
    def half_width(theta):
        G = delassus("oblique_rod", [0, 0, 0, 0.4, theta])
        critical = G[0, 0] / np.hypot(G[0, 1], G[0, 2])
        return acos(min(1.0, critical / mu))

    # The half width starts like a square root at either end of the interval: integrate in that root.
    ends = [np.arctan((3 * mu + sign * sqrt(9 * mu * mu - 16)) / 2) for sign in (-1, 1)]
    middle, radius = sum(ends) / 2, (ends[1] - ends[0]) / 2
    area = quad(lambda u: half_width(middle + radius * sin(u)) * radius * cos(u), -pi / 2, pi / 2, epsabs=1e-10)[0]
    assert 2 * area / (pi / 2 * 2 * pi) == pytest.approx(expected, abs=5e-8)


@pytest.mark.parametrize(("mu", "expected"), [(1.6, 0.0457375), (2.5, 0.1493390)])
def test_map_over_heading_and_posture_has_that_share_without_solution(mu, expected):
    # Slip along -y and no rotation: turning the rod about the vertical turns the heading off its plane,
    # and b = -g.
    found = region_map(
        dynamics_of("oblique_rod"),
        axes=[Axis("psi", -pi, pi, 200), Axis("theta", 0, pi / 2, 200)],
        pins={"psi_dot": 0, "theta_dot": 0, "slip.tip.1": 0, "slip.tip.2": -1},
        parameters={"mu": mu},
    )
    # Cells on the boundary of a region of this size, half of 1/200 of its circumference at most.
    assert found.mode_fractions == pytest.approx({"slide": 1 - expected, "none": expected}, abs=1e-3)


@pytest.mark.parametrize("mu", [1.6, 2.5])
def test_paradox_needs_a_heading_near_the_plane_of_the_rod(mu):
    # At the worst posture tan(theta) = 2 the heading must be within acos(mu_P / mu), mu_P = 4/3.
    limit = acos(4 / 3 / mu)
    assert brentq(lambda b: inertia_factor(np.arctan(2), b, mu), 0, pi) == pytest.approx(limit, abs=1e-11)
    for beta, verdict in ((limit - 1e-4, Verdict.INCONSISTENT), (limit + 1e-4, Verdict.UNIQUE)):
        slip = heading(0, beta)
        pins = {"psi": 0, "theta": np.arctan(2), "psi_dot": 0, "theta_dot": 0}
        found = decide("oblique_rod", pins | {"slip.tip.1": slip[0], "slip.tip.2": slip[1]}, mu=mu)
        assert found.verdict is verdict


@pytest.mark.parametrize(("theta", "theta_dot", "psi_dot"), [(1.0, 0.0, 0.0), (0.7, 2.0, 1.0), (1.2, -1.0, 3.0)])
def test_free_acceleration_of_the_gap(theta, theta_dot, psi_dot):
    pins = {
        "psi": 0.3,
        "theta": theta,
        "psi_dot": psi_dot,
        "theta_dot": theta_dot,
        "slip.tip.1": 1,
        "slip.tip.2": 0,
    }
    expected = -9.81 + (theta_dot**2 + psi_dot**2 * cos(theta) ** 2) * sin(theta)
    assert sliding_terms(problem_at("oblique_rod", pins), "tip").b == pytest.approx(expected, rel=1e-12)


def test_inertia_factor_at_the_start_and_before_it_sticks():
    # Start of the published example at k = mu = 1.7: slip (0.05, -0.05), psi = 0, theta = pi/3; just
    # before it sticks the slip has turned into the plane of the rod, (0, -1). Sticking gives det G / det
    # G_TT.
    for slip, expected in (((0.05, -0.05), 0.18845029), ((0, -1), -0.45836478)):
        pins = START | {"slip.tip.1": slip[0], "slip.tip.2": slip[1]}
        assert sliding_terms(problem_at("oblique_rod", pins, mu=1.7), "tip").A_plus == pytest.approx(expected, abs=5e-9)
    G = delassus("oblique_rod", [0, 0, 0, 0, pi / 3])
    assert np.linalg.det(G) / np.linalg.det(G[1:, 1:]) == pytest.approx(1.23076923, abs=5e-9)
    # Ratio of friction to normal force in stick, |G_NT| / G_TT along the plane of the rod.
    assert np.hypot(G[0, 1], G[0, 2]) / G[2, 2] == pytest.approx(0.39970403, abs=5e-9)


def test_slipping_rod_in_its_worst_posture_follows_the_table_of_verdicts():
    pins = {"psi": 0, "theta": np.arctan(2), "slip.tip.1": 0, "slip.tip.2": -1}
    slow, fast = {"psi_dot": 0, "theta_dot": 0}, {"psi_dot": 0, "theta_dot": 4}
    assert labels(decide("oblique_rod", pins | slow, mu=1.2)) == ["slide"]
    assert decide("oblique_rod", pins | slow, mu=1.7).verdict is Verdict.INCONSISTENT
    assert labels(decide("oblique_rod", pins | fast, mu=1.7)) == ["free", "slide"]
    assert labels(decide("oblique_rod", pins | fast, mu=1.2)) == ["free"]


@pytest.mark.parametrize("theta", [0.4, 0.9, 1.3])
@pytest.mark.parametrize("theta_dot", [0.0, 1.5, -2.5, 4.0])
@pytest.mark.parametrize("mu", [0.2, 0.39, 1.6])
def test_rod_at_rest_in_its_vertical_plane_is_the_plane_rod(theta, theta_dot, mu):
    # With no rotation about the vertical the motion stays in the plane of the rod, whatever its heading
    # psi. Level ground has no overlap of modes at rest, so that no other direction of incipient slip can
    # appear.
    plane = decide("painleve_rod", {"theta": theta, "theta_dot": theta_dot, "slip.tip": 0}, mu=mu, g=9.81)
    pins = {
        "psi": 0.4,
        "theta": theta,
        "psi_dot": 0,
        "theta_dot": theta_dot,
        "slip.tip.1": 0,
        "slip.tip.2": 0,
    }
    space = decide("oblique_rod", pins, mu=mu)
    assert space.verdict is plane.verdict is Verdict.UNIQUE
    (one,), (other,) = plane.branches, space.branches
    assert other.mode.label == one.mode.label.rstrip("+-")
    assert other.lambda_N["tip"] == pytest.approx(one.lambda_N["tip"], rel=1e-9, abs=1e-12)
    # Positive slip of the plane rod points from its centre to its tip, along -lean in space.
    expected = one.lambda_T["tip"][0] * heading(0.4, 0)
    np.testing.assert_allclose(other.lambda_T["tip"], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("mu", "label"), [(0.3997, "slide"), (0.3998, "stick")])
def test_rod_released_at_60_degrees_sticks_from_the_published_ratio(mu, label):
    # |G_NT| / G_TT = 0.39970403 at theta = pi/3: the force that keeps the tip where gravity alone acts.
    pins = {"psi": 0, "theta": pi / 3, "psi_dot": 0, "theta_dot": 0, "slip.tip.1": 0, "slip.tip.2": 0}
    assert labels(decide("oblique_rod", pins, mu=mu)) == [label]
