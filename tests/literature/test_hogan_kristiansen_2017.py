"""Hogan and Kristiansen 2017: Painleve's paradox regularised by compliance; the rod with m = l = g = 1, alpha = 3.

Their force is F = max(0, -K y - delta sqrt(K) y'), so that delta is twice the declared damping.
"""

from __future__ import annotations

import numpy as np
import pytest

import mechanisms
from hybrid import KelvinVoigt, KelvinVoigtLimit, derive, resolve, solve_state
from hybrid.contact import EnergeticImpact, PoissonImpact, resolve_impact
from hybrid.contact.compliance.limit import planar_limit
from hybrid.contact.compliance.resolution import Outcome


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("painleve_rod"))


def state_of(rod, theta, theta_dot, mu, **pins):
    return solve_state(rod, {"theta": theta, "theta_dot": theta_dot, "slip.tip": 1, **pins}, parameters={"mu": mu})


def factors(mu, theta):
    """p, q of positive slip and p_-, q_- of negative slip, from the closed form of the rod."""
    c, s = np.cos(theta), np.sin(theta)
    W_NN, W_NT, W_TT = 1 + 3 * c * c, 3 * s * c, 1 + 3 * s * s
    return W_NN - mu * W_NT, W_NT - mu * W_TT, W_NN + mu * W_NT, W_NT + mu * W_TT


@pytest.mark.parametrize(
    ("mu", "delta", "e"),
    [
        (1.4, 0.0, 0.06996020),
        (1.4, 0.5, 0.04577472),
        (1.4, 1.0, 0.03284639),
        (1.4, 2.0, 0.01973591),
        (1.4, 20.0, 7.863255e-4),
        (2.0, 0.0, 0.27597291),
        (2.0, 0.2, 0.21637104),
        (2.0, 0.5, 0.15594443),
        (2.0, 1.0, 0.09741126),
        (2.0, 2.0, 0.04621825),
    ],
)
def test_restitution_of_an_impact_without_collision(rod, mu, delta, e):
    state = state_of(rod, 1.0, 0.5, mu)
    after = resolve_impact(rod, state, law=KelvinVoigtLimit(delta / 2), parameters={"mu": mu})
    # all printed digits
    assert after.gap_dot_after["tip"] == pytest.approx(e, abs=6e-9)
    assert after.slip_after["tip"][0] == pytest.approx(0.0, abs=1e-14)
    assert [phase.kind for phase in after.phases] == ["slide+", "stick"]


@pytest.mark.parametrize("mu", [1.4, 2.0])
def test_restitution_without_and_with_large_damping_in_closed_form(mu):
    p, q, p_, q_ = factors(mu, 1.0)
    G = np.array([[(p + p_) / 2, (q + q_) / 2], [(q + q_) / 2, (q_ - q) / (2 * mu)]])
    undamped = planar_limit(G, [-0.0, 1.0], friction=mu, damping=0.0).gamma[0]
    assert undamped == pytest.approx(np.sqrt(p * (p_ - p) / (q * (q_ - q))), rel=1e-12)
    for delta in (1e2, 1e3):
        asymptote = delta**-2 * (p_ - p) / (q_ * p - q * p_)
        damped = planar_limit(G, [-0.0, 1.0], friction=mu, damping=delta / 2).gamma[0]
        # the next term of the expansion is relatively of order 1/(abs(p) delta^2)
        assert damped == pytest.approx(asymptote, rel=20 / (abs(p) * delta**2))


@pytest.mark.parametrize("e", [0.3, 1.0])
def test_impact_without_collision_by_rigid_laws(rod, e):
    # Darboux-Keller dynamics from v_N = -0
    mu, theta = 1.4, 1.0
    p, q, _, _ = factors(mu, theta)
    c, s = np.cos(theta), np.sin(theta)
    p_stick = 4 / (1 + 3 * s * s)  # det W / W_TT with det W = 1 + alpha
    state = state_of(rod, theta, 0.5, mu)
    values = {"mu": mu}
    poisson = resolve_impact(rod, state, law=PoissonImpact(e), parameters=values).gap_dot_after["tip"]
    energetic = resolve_impact(rod, state, law=EnergeticImpact(e), parameters=values).gap_dot_after["tip"]
    assert poisson == pytest.approx(e * (p_stick + abs(p)) / abs(q), rel=1e-10)
    assert energetic == pytest.approx(e * np.sqrt(abs(p) * (p_stick + abs(p))) / abs(q), rel=1e-10)
    undamped = resolve_impact(rod, state, law=KelvinVoigtLimit(0.0), parameters=values).gap_dot_after["tip"]
    assert energetic == pytest.approx(e * undamped, rel=1e-10)
    assert c > 0


def test_finite_stiffness_approaches_the_restitution_slowly(rod):
    # abs(p) = 0.034 makes the departure slow; four printed digits
    state = state_of(rod, 1.0, 0.5, 1.4)
    for K, rate in ((1e4, 0.1101), (1e6, 0.0672), (1e8, 0.0508)):
        motion = KelvinVoigt(K, 0.25).pass_through(rod.at({"mu": 1.4}), state)
        assert motion.gap_dot_after["tip"] == pytest.approx(rate, abs=6e-5)
        # weight and rotation let the tip slip again for a moment as the force falls to nothing: not in the limit
        assert [kind for kind, _ in motion.phases] == ["slide+", "stick", "slide-"]


def test_separatrix_between_impact_without_collision_and_lift_off(rod):
    # indeterminate: p < 0 < b; the run itself flips between 0.95 and 1.05 w_crit
    mu, K, delta, values = 1.5, 1e10, 0.5, {"mu": 1.5}
    p = factors(mu, 1.0)[0]
    b = -1 + 1.3**2 * np.sin(1.0)
    lam = (abs(p) * delta - np.sqrt(p**2 * delta**2 + 4 * abs(p))) / 2
    w_crit = lam * b / (abs(p) * np.sqrt(K))
    at_rest = state_of(rod, 1.0, 1.3, mu)
    found = resolve(rod, at_rest, law=KelvinVoigtLimit(delta / 2), parameters=values)
    assert found.outcome is Outcome.LIFT_OFF
    assert found.critical_approach == pytest.approx(w_crit * np.sqrt(K), rel=1e-12)
    for share, outcome in ((0.95, Outcome.LIFT_OFF), (1.05, Outcome.IMPACT_WITHOUT_COLLISION)):
        decided = resolve(
            rod, at_rest, law=KelvinVoigtLimit(delta / 2), approach=share * w_crit, stiffness=K, parameters=values
        )
        assert decided.outcome is outcome
        moving = state_of(rod, 1.0, 1.3, mu, **{"gap_dot.tip": share * w_crit})
        motion = KelvinVoigt(K, delta / 2).pass_through(rod.at(values), moving)
        stops = abs(motion.slip_after["tip"][0]) < 1e-3
        assert stops == (outcome is Outcome.IMPACT_WITHOUT_COLLISION)


def test_every_approach_is_enough_in_the_limit(rod):
    state = state_of(rod, 1.0, 1.3, 1.5)
    found = resolve(rod, state, approach=-1e-9, parameters={"mu": 1.5})
    assert found.outcome is Outcome.IMPACT_WITHOUT_COLLISION
    assert found.impact is not None
    assert found.impact.gap_dot_after["tip"] > 0
