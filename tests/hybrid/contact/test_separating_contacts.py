"""Contacts that separate have no impact, whatever impulses would do to them; no last bit decides."""

import numpy as np
import pytest

import mechanisms
from hybrid import KelvinVoigtLimit, State, derive, solve_state
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact, resolve_impact

LAWS = [NewtonImpact(), PoissonImpact(), EnergeticImpact(), KelvinVoigtLimit()]


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("painleve_rod"))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("gap_dot", [1e-9, 1e-3, 0.2])
def test_a_contact_that_separates_has_no_impulse_where_impulses_would_press_it_back(rod, law, gap_dot):
    parameters = {"mu": 1.4, "e": 0.5}
    pins = {"theta": 1.0, "theta_dot": 0.5, "slip.tip": 1, "gap_dot.tip": gap_dot}
    state = solve_state(rod, pins, parameters=parameters)
    c, s = np.cos(1.0), np.sin(1.0)
    assert 1 + 3 * c * c - 1.4 * 3 * s * c < 0  # A_s: sliding on, a normal impulse drives the tip into the floor
    impact = resolve_impact(rod, state, law=law, parameters=parameters)
    assert (impact.impulse_N["tip"], impact.impulse_T["tip"]) == (0.0, (0.0,))
    assert np.array_equal(impact.v_after, state.v)
    assert impact.energy_change == 0.0


def test_an_impact_without_collision_does_not_hang_on_the_last_bit_of_a_velocity_that_is_pinned_to_zero(rod):
    # closed form (Hogan and Kristiansen 2017, section 4, with Stronge's law): the slip stops, and the tip rises with
    # e v0 sqrt(|p| (p_S + |p|))/|q|
    rng = np.random.default_rng(13)
    for _ in range(40):
        theta, rate, slip = rng.uniform(0.7, 1.1), rng.uniform(-3, 3), rng.uniform(0.1, 5)
        parameters = {"mu": 2.0, "e": 0.6}
        state = solve_state(rod, {"theta": theta, "theta_dot": rate, "slip.tip": slip}, parameters=parameters)
        c, s = np.cos(theta), np.sin(theta)
        G_NN, G_NT, G_TT = 1 + 3 * c * c, 3 * s * c, 1 + 3 * s * s
        p, q, p_S = G_NN - 2 * G_NT, G_NT - 2 * G_TT, G_NN - G_NT**2 / G_TT
        assert p < 0
        for towards in (-np.inf, 0.0, np.inf):
            v = np.array([state.v[0], np.nextafter(state.v[1], towards), state.v[2]])
            impact = resolve_impact(rod, State(state.q, v), law=EnergeticImpact(), parameters=parameters)
            # the closed form takes some ten operations on numbers near 1
            expected = 0.6 * slip * np.sqrt(-p * (p_S - p)) / -q
            assert impact.gap_dot_after["tip"] == pytest.approx(expected, rel=1e-12)
