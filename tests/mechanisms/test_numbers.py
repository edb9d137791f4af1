"""Published or hand-derived numbers of the mechanisms that have no paper of their own in the tests."""

from __future__ import annotations

from math import cos, pi, sin, tan

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid.contact import Verdict
from tests.catalogue import decide, dynamics_of, labels

FLAT = {"phi": 0, "phi_dot": 0, "gap.left": 0, "gap_dot.left": 0}


@pytest.mark.parametrize(("m", "g"), [(1.0, 9.81), (2.5, 1.6)])
def test_resting_ball_presses_with_its_weight(m, g):
    found = decide("bouncing_ball", {}, m=m, g=g)
    assert found.verdict is Verdict.UNIQUE
    (branch,) = found.branches
    assert branch.mode["floor"].value == "closed"
    assert branch.lambda_N["floor"] == pytest.approx(m * g, rel=1e-14)


# Time to the stop from q = (1, 2), v = (1, 0) with k1 = k2 and unit masses, from the matrix exponential.
@pytest.mark.parametrize(("k", "time"), [(2.5, 1.684902874555358), (2.7, 1.620868744835), (2.9, 1.563602952848)])
def test_two_carts_reach_the_stop_in_the_published_time(k, time):
    dynamics = dynamics_of("two_carts")

    def flow(t, x):
        terms = dynamics.terms(x[:2], x[2:], parameters={"k1": k, "k2": k})
        return np.concatenate([x[2:], np.linalg.solve(terms.M, terms.h)])

    def gap(t, x):
        return x[0]

    gap.terminal, gap.direction = True, -1
    motion = solve_ivp(flow, (0, 2), [1, 2, 1, 0], method="DOP853", rtol=1e-12, atol=1e-13, events=gap)
    assert motion.t_events[0][0] == pytest.approx(time, abs=1e-10)
    if k == 2.5:
        expected = [0, 0.432683898273, -1.846963186012, -1.456258424853]
        np.testing.assert_allclose(motion.y_events[0][0], expected, atol=1e-9)


@pytest.mark.parametrize(("q2", "mode", "force"), [(0.4, "free", 0.0), (-0.4, "closed", 1.0)])
def test_stop_holds_the_first_cart_against_a_compressing_spring(q2, mode, force):
    (branch,) = decide("two_carts", {"q2": q2, "q2_dot": 0}).branches
    assert branch.mode["stop"].value == mode
    assert branch.lambda_N["stop"] == pytest.approx(force, abs=1e-14)  # k2 * 0.4


@pytest.mark.parametrize(
    ("mu", "mu_s", "expected"),
    [(0.3, 0.5, ["slide+"]), (0.5, 0.6, ["slide+", "stick"]), (0.65, 0.8, ["stick"])],
)
def test_block_rests_up_to_static_friction_and_slides_from_kinetic_friction(mu, mu_s, expected):
    # tan(30 degrees) = 0.577: without history, between the two coefficients the block may rest or slide.
    found = decide("block_on_incline", {"slip.floor": 0}, mu=mu, mu_s=mu_s)
    assert labels(found) == expected
    for branch in found.branches:
        assert branch.lambda_N["floor"] == pytest.approx(9.81 * cos(pi / 6), rel=1e-14)
        slides = branch.mode.label == "slide+"
        expected_acceleration = 9.81 * (sin(pi / 6) - mu * cos(pi / 6)) if slides else 0
        assert branch.acceleration[0] == pytest.approx(expected_acceleration, abs=1e-13)


@pytest.mark.parametrize("slip", [-1, 1])
def test_sliding_block_decelerates_by_coulomb(slip):
    (branch,) = decide("block_on_incline", {"slip.floor": slip}, alpha=0.4, mu=0.7).branches
    assert branch.acceleration[0] == pytest.approx(9.81 * (sin(0.4) - slip * 0.7 * cos(0.4)), rel=1e-13)
    assert tan(0.4) < 0.7


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_flat_rod_rests_on_both_ends_with_undetermined_friction(epsilon):
    found = decide("rod_two_ends", FLAT | {"slip.left": 0}, mu=0.5, epsilon=epsilon)
    assert found.verdict is Verdict.HYPERSTATIC
    assert found.force_set.dimension == 1
    for branch in found.branches:
        assert branch.lambda_N == pytest.approx({"left": 0.5, "right": 0.5}, rel=1e-12)
        total = branch.lambda_T["left"][0] + branch.lambda_T["right"][0]
        assert total == pytest.approx(-epsilon, abs=1e-12)
        np.testing.assert_allclose(branch.acceleration, 0, atol=1e-12)


def test_flat_rod_slides_down_a_slope_steeper_than_its_friction():
    found = decide("rod_two_ends", FLAT | {"slip.left": 0}, mu=0.5, epsilon=0.6)
    assert found.verdict is Verdict.UNIQUE
    (branch,) = found.branches
    assert branch.lambda_N == pytest.approx({"left": 0.5, "right": 0.5}, rel=1e-12)
    np.testing.assert_allclose(branch.acceleration, [0.1, 0, 0], atol=1e-12)


@pytest.mark.parametrize(("phi", "phi_dot", "slip"), [(1.2, 0.5, -1), (0.6, 0.3, 1), (1.1, 1.3, -1), (0.5, 0.2, 0)])
def test_standing_on_its_left_end_it_is_the_rod_on_an_incline(phi, phi_dot, slip):
    parameters = {"mu": 1.6, "epsilon": 0.2}
    pins = {"phi": phi, "phi_dot": phi_dot}
    one = decide("rod_on_incline", pins | {"slip.tip": slip}, **parameters)
    both = decide("rod_two_ends", pins | {"gap.left": 0, "gap_dot.left": 0, "slip.left": slip}, **parameters)
    assert one.verdict is both.verdict
    alone = {branch.mode["tip"].value: branch.lambda_N["tip"] for branch in one.branches}
    assert {b.mode["left"].value: b.lambda_N["left"] for b in both.branches} == pytest.approx(alone, rel=1e-12)
    assert all(branch.mode["right"].value == "free" for branch in both.branches)
