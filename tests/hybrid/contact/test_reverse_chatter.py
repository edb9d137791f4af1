"""Impacts that grow out of a contact at rest (Nordmark, Dankowicz and Champneys 2011)."""

import numpy as np
import pytest

import mechanisms
from hybrid import State, Termination, derive, select, simulate, solve_state
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact, contact_problem, reverse_chatter

SLOPE = {"epsilon": 0.5, "mu": 2}


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


def leaning(rod, **velocities):
    """At rest on a slope of tangent 1/2, leaning downhill with tan phi = -1/2: G = [[17/5, 6/5], [6/5, 8/5]]."""
    pins = {"phi": "pi - atan(0.5)", "phi_dot": 0, "slip.tip": 0, **velocities}
    return solve_state(rod, pins, parameters=SLOPE)


def test_sticking_rod_on_a_slope_may_start_to_bounce(rod):
    state = leaning(rod)
    assert select(rod, state, parameters=SLOPE).verdict.name == "UNIQUE"
    problem = contact_problem(rod, state, parameters=SLOPE)
    np.testing.assert_allclose(problem.G, [[3.4, 1.2], [1.2, 1.6]], atol=1e-14)
    np.testing.assert_allclose(problem.c, [-1.0, 0.5], atol=1e-14)
    # By hand: a flight of unit velocity lasts 2 and adds the slip 1. In the impact the slip stops after the impulse
    # 1/q with q = 2 (8/5) - 6/5 = 2, during which the normal velocity changes by A/2 with A = 17/5 - 2 (6/5) = 1, to
    # -1/2; then the tip sticks with A_S = 17/5 - (6/5)^2/(8/5) = 5/2 and the compression ends after 1/5 more.
    for e in (0.8, 1.0):
        # Poisson: e (1/2 + 1/5) A_S
        found = reverse_chatter(problem, PoissonImpact(restitution=e))
        assert (found.contact, found.slip_ratio) == ("tip", pytest.approx(0.0, abs=1e-13))
        assert found.ratio == pytest.approx(e * 0.7 * 2.5, rel=1e-13)
        # energetic: work of compression 1/2 - 1/8 + (1/2)^2/(2 A_S) = 17/40, and r^2 = 2 A_S e^2 17/40
        found = reverse_chatter(problem, EnergeticImpact(restitution=e))
        assert found.ratio == pytest.approx(e * np.sqrt(17 / 8), rel=1e-13)


def test_no_reverse_chatter_where_impacts_shrink_or_the_question_does_not_arise(rod):
    problem = contact_problem(rod, leaning(rod), parameters=SLOPE)
    # the thresholds of the two laws above: 4/7 and sqrt(8/17)
    assert reverse_chatter(problem, PoissonImpact(restitution=4 / 7 - 1e-6)) is None
    assert reverse_chatter(problem, PoissonImpact(restitution=4 / 7 + 1e-6)) is not None
    assert reverse_chatter(problem, EnergeticImpact(restitution=np.sqrt(8 / 17) - 1e-6)) is None
    assert reverse_chatter(problem, EnergeticImpact(restitution=np.sqrt(8 / 17) + 1e-6)) is not None
    assert reverse_chatter(problem, NewtonImpact(restitution=1.0)) is None
    assert reverse_chatter(problem, PoissonImpact(restitution=0.0)) is None
    flat = {"mu": 2}
    state = solve_state(rod, {"phi": "pi - atan(0.5)", "phi_dot": 0, "slip.tip": 0}, parameters=flat)
    assert reverse_chatter(contact_problem(rod, state, parameters=flat), PoissonImpact(restitution=1.0)) is None
    slipping = solve_state(rod, {"phi": 1.0, "phi_dot": 0, "slip.tip": 1})
    assert reverse_chatter(contact_problem(rod, slipping), PoissonImpact(restitution=1.0)) is None


def test_a_nearly_vanishing_hop_grows_by_the_predicted_factor_and_by_a_time_that_does_not_depend_on_it(rod):
    parameters = {**SLOPE, "e": 0.8}
    heights = []
    for hop in (2e-5, 2e-5 * 1.4**3):
        motion = simulate(
            rod, leaning(rod, **{"gap.tip": 0, "gap_dot.tip": hop}), t_end=0.05, parameters=parameters,
            law=PoissonImpact(),
        )  # fmt: skip
        rates = [event.impact.gap_dot_after["tip"] for event in motion.events if event.impact is not None]
        # the direction of departure is reached at the first impact; the rod turns by the square of the time
        np.testing.assert_allclose(np.array(rates[1:12]) / rates[:11], 1.4, rtol=1e-3)
        heights.append(rates[-1])
        assert not motion.warnings  # never sticks
    # the later start has made the same impacts, three of them fewer: where the sequence began does not show
    assert heights[1] == pytest.approx(heights[0], rel=0.05)


def test_motion_that_sticks_says_that_it_is_not_the_only_one(rod):
    motion = simulate(rod, leaning(rod), t_end=0.05, parameters={**SLOPE, "e": 0.8}, law=PoissonImpact())
    assert motion.termination is Termination.END_TIME
    assert [arc.mode.label for arc in motion.arcs] == ["stick"]
    assert len(motion.warnings) == 1
    assert motion.warnings[0].startswith("t = 0: the motion is not unique: reverse chatter is possible at 'tip'")
    assert "by the factor 1.4 each" in motion.warnings[0]
    settled = simulate(rod, leaning(rod), t_end=0.05, parameters={**SLOPE, "e": 0.5}, law=PoissonImpact())
    assert not settled.warnings


def test_ball_that_came_to_rest_is_not_accused_of_reverse_chatter():
    ball = derive(mechanisms.load("bouncing_ball"))
    assert not simulate(ball, State([1.0], [0.0]), t_end=6, law=EnergeticImpact()).warnings
