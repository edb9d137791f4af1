"""Two-link arm over a rail: Zhao, Liu, Ma and Chen 2008; uniform links, angles from the vertical."""

from __future__ import annotations

from math import degrees, radians

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from hybrid.contact import Verdict
from hybrid.contact.sliding import sliding_terms
from hybrid.dynamics import solve_states
from tests.catalogue import decide, delassus, dynamics_of, least_critical_friction, problem_at
from tests.closed_forms import DELASSUS

# Height of the base -> least critical friction over postures. Recomputed from the closed form of the mass
# matrix.
LEAST = [(1.0, 0.975305), (1.2, 0.830293), (1.4, 0.685357), (1.6, 0.534403), (1.8, 0.361629), (1.9, 0.250350)]
UNIT = {"m1": 1.0, "m2": 1.0, "l1": 1.0, "l2": 1.0}


def ratio(G):
    return G[..., 0, 0] / np.abs(G[..., 0, 1])


def by_the_derived_equations(height, theta1):
    states = solve_states(dynamics_of("two_link_arm"), {"theta1": theta1, "theta1_dot": 0.0}, parameters={"H": height})
    assert np.all(states.reached)
    return states.q, ratio(delassus("two_link_arm", states.q))


def by_hand(height, theta1):
    return ratio(DELASSUS["two_link_arm"]([theta1, np.arccos(height - np.cos(theta1))], UNIT))


@pytest.mark.parametrize(("height", "expected"), LEAST)
def test_least_critical_friction_at_each_height(height, expected):
    def critical(theta1):
        return float(by_the_derived_equations(height, theta1)[1])

    span = np.arccos(height - 1)
    start = np.linspace(0.02, span - 0.02, 60)
    nearest = start[np.argmin([by_hand(height, t) for t in start])]
    bounds = (nearest - 0.05, min(nearest + 0.05, span - 1e-6))
    found = minimize_scalar(critical, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    second = minimize_scalar(lambda t: by_hand(height, t), bounds=bounds, method="bounded", options={"xatol": 1e-9})
    assert found.fun == pytest.approx(expected, abs=5e-7)
    assert found.fun == pytest.approx(second.fun, rel=1e-11)


@pytest.mark.parametrize(("height", "expected"), LEAST)
def test_critical_friction_finds_the_same_minimum(height, expected):
    # The lower link follows from the rail: it hangs outwards (theta2 > 0) as the upper one does.
    span = float(np.arccos(height - 1))
    found = least_critical_friction("two_link_arm", f"theta1=0.001:{span - 0.001}", H=height)
    assert found.minimum == pytest.approx(expected, abs=5e-7)
    best = minimize_scalar(
        lambda t: by_hand(height, t),
        bounds=(found.at["theta1"] - 0.01, found.at["theta1"] + 0.01),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert found.minimum == pytest.approx(best.fun, rel=1e-12)


@pytest.mark.parametrize(("height", "theta1", "theta2"), [(1.0, 76.943, 39.278), (1.6, 45.254, 26.358)])
def test_posture_of_the_least_critical_friction(height, theta1, theta2):
    q, value = by_the_derived_equations(height, radians(theta1))
    assert degrees(q[1]) == pytest.approx(theta2, abs=1e-3)
    _, around = by_the_derived_equations(height, radians(theta1) + np.array([-0.01, 0.01]))
    assert np.all(around > value)


def test_delassus_matrix_at_20_and_60_degrees():
    G = delassus("two_link_arm", np.radians([20.0, 60.0]))
    np.testing.assert_allclose(G, [[2.7275340, 1.0320411], [1.0320411, 0.8992824]], atol=5e-8)
    assert ratio(G) == pytest.approx(2.6428541, abs=5e-7)


def test_stretched_arm_has_a_paradox_at_any_friction():
    span = np.arccos(0.999)
    values = [by_hand(1.999, t) for t in np.linspace(0.5 * span, 0.98 * span, 50)]
    found = by_the_derived_equations(1.999, np.linspace(0.5 * span, 0.98 * span, 50))[1]
    np.testing.assert_allclose(found, values, rtol=1e-6)  # the posture is ill-conditioned: 1e-9 / span
    assert found.min() < 0.03


def test_moving_rail_drives_the_arm_into_the_paradox_that_the_arm_at_rest_would_meet():
    # The rail moves to +x under the resting arm: slip is -1, its inertia factor A_- = G_NN + mu G_NT > 0
    # on this side; it moves to -x: slip +1 and A_+ < 0 once mu exceeds 0.5344 at this posture (height
    # 1.6).
    pins = {"theta1": radians(45.254), "theta1_dot": 0}
    for speed, paradox in ((1.0, False), (-1.0, True)):
        problem = problem_at("two_link_arm", pins, rail_speed=speed, mu=0.6)
        terms = sliding_terms(problem, "tip")
        assert terms.critical_friction == pytest.approx(0.534403, abs=1e-6)
        assert (terms.A_plus < 0, terms.A_minus > 0) == (True, True)
        found = decide("two_link_arm", pins, rail_speed=speed, mu=0.6)
        assert (found.verdict in (Verdict.INCONSISTENT, Verdict.INDETERMINATE)) == paradox


def test_heaving_rail_presses_or_frees_the_tip():
    # At the top of its motion the rail accelerates down by heave Omega^2, at the bottom up: it adds that
    # much to the free gap acceleration.
    pins = {"theta1": 0.5, "theta1_dot": 0}
    at_rest = problem_at("two_link_arm", pins, H=1.6)
    moved = problem_at("two_link_arm", {**pins, "t": np.pi / 2}, H=1.7, heave=0.1)
    assert float(sliding_terms(moved, "tip").b) == pytest.approx(float(sliding_terms(at_rest, "tip").b) + 0.1)
