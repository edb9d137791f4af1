"""What is closed and what is at rest is judged by the problem's own sizes, not by the unit it is written in."""

import numpy as np
import pytest

import mechanisms
from hybrid import Contact, EnergyDynamics, Mechanism, State, derive, simulate, solve_state
from hybrid.contact import NewtonImpact, Verdict, select
from hybrid.dynamics.scales import coordinate_sizes, scales_of


@pytest.mark.parametrize("slip", [1e-6, 1e-9, 1e-12, -1e-6, -1e-9, -1e-12])
def test_a_slip_that_is_pinned_is_no_rest_however_slow(slip):
    # Painleve's rod: a_N = A lambda_N - 1 with A = 1 + 3 cos(phi) (cos(phi) + sign mu sin(phi)); no force where A < 0
    rod, mu, phi = derive(mechanisms.load("rod_on_incline")), 1.5, 2.0
    state = solve_state(rod, {"phi": phi, "phi_dot": 0, "slip.tip": slip}, parameters={"mu": mu})
    A = 1 + 3 * np.cos(phi) * (np.cos(phi) + np.sign(slip) * mu * np.sin(phi))
    found = select(rod, state, parameters={"mu": mu})
    assert found.verdict is (Verdict.UNIQUE if A > 0 else Verdict.INCONSISTENT)
    if A > 0:
        (branch,) = found.branches
        assert branch.mode["tip"].value == "slide-"
        assert branch.lambda_N["tip"] == pytest.approx(1 / A, rel=1e-12)


@pytest.mark.parametrize("length", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(("gap", "is_closed"), [(0.0, True), (1e-13, True), (1e-6, False), (-1e-6, None)])
def test_a_contact_is_closed_by_the_size_of_the_rod(length, gap, is_closed):
    rod = derive(mechanisms.load("rod_two_ends"))
    values = {"l": length, "g": length}
    state = State([0.0, length * (np.sin(0.5) + gap), 0.5], [0.0, 0.0, 0.0])
    if is_closed is None:
        with pytest.raises(ValueError, match="penetrates"):
            select(rod, state, parameters=values)
        return
    (branch,) = select(rod, state, parameters=values).branches
    assert (branch.mode["left"].value != "free") is is_closed


def test_a_coordinate_in_a_sine_has_the_size_of_a_radian():
    rod = derive(mechanisms.load("rod_two_ends"))
    assert coordinate_sizes(rod, [0.0, 1e-9, 0.0]).tolist() == [0.0, 1e-9, 1.0]
    # the rod lies flat: nothing cancels in a gap of 0, and its half length l and radius of gyration l/sqrt(3), with
    # I = m l^2/3, make its size, under gravity 1
    size = 1e-9 * (1 + 3**-0.5)
    at = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    values = {"l": 1e-9}
    scales = scales_of(rod.at(values), rod.terms(*at, parameters=values), *at)
    assert scales.gap == pytest.approx([size] * 2)
    # an angular acceleration of like energy, sqrt(m/I) g, lifts an end by sqrt(3) g more
    assert scales.gap_dot == pytest.approx([(size * (1 + 3**0.5)) ** 0.5] * 2)


def test_a_bouncing_rod_moves_in_nanometres_as_in_metres():
    rod = derive(mechanisms.load("rod_two_ends"))
    ends = []
    for unit in (1.0, 1e-9):
        values = {"m": 1.0, "l": unit, "g": 1 / unit, "e": 0.3, "mu": 0.4}
        start = State([0, 0.7 * unit, 0.3], [0.5, 0, 0.5 / unit])
        motion = simulate(rod, start, t_end=3 * unit, law=NewtonImpact(), parameters=values)
        times = [event.t / unit for event in motion.events]
        kinds = [(event.kind, event.elements) for event in motion.events]
        ends.append((kinds, times, motion.q / [unit, unit, 1], motion.v * [1, 1, unit]))
    (kinds, times, q, v), (others, again, p, w) = ends
    assert kinds == others
    # bounces amplify the 1e-12 of every step by a factor of a few each
    assert times == pytest.approx(again, abs=1e-9)
    np.testing.assert_allclose([*q, *v], [*p, *w], atol=1e-8)


def test_an_angle_of_a_light_body_is_no_larger_for_a_heavy_one():
    # one radian each lifts the contact by 1 + 1; the energy of the heavy one would turn the light one by 1e4
    arms = derive(
        Mechanism(
            name="arms",
            coordinates=["a", "b"],
            dynamics=EnergyDynamics(kinetic="1e-8*a_dot**2/2 + b_dot**2/2", potential="0"),
            contact=[Contact(name="c", gap="sin(a) + sin(b)", tangent="2 - cos(a) - cos(b)", friction="0.5")],
        )
    )
    at = [0.0, 0.0], [0.0, 0.0]
    assert scales_of(arms, arms.terms(*at), *at).gap == pytest.approx([2.0])
