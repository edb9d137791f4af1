"""What the check of a gradient sees that two roads over one replay cannot: kinks, bounds, and wrong numbers."""

import math

import numpy as np
import pytest

from hybrid import EnergyDynamics, Functional, Mechanism, State, derive, sensitivity, simulate, solve_state
from hybrid.analysis.sensitivities.differences import (
    Difference,
    SensitivityCheck,
    functional_value,
    richardson_differences,
)
from hybrid.motion import ElasticRealisation
from hybrid.reporting.render_sensitivity import (
    SensitivityReport,
    render_sensitivity_html,
    render_sensitivity_markdown,
    sensitivity_record,
)
from tests.catalogue import dynamics_of
from tests.constrained import particle


def glider():
    """A free cart of mass 1 with idle and computed parameters."""
    return derive(
        Mechanism(
            name="glider",
            coordinates=["x"],
            parameters={"L": 0.4, "twice": "2*L", "idle": 1},
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"),
        )
    )


def test_differences_to_either_side_see_a_kink_that_central_ones_do_not():
    motion = simulate(glider(), State([0], [0]), t_end=2)
    found = richardson_differences(motion, Functional("abs(x)"), ["x"])["x"]
    assert found.value == pytest.approx(0, abs=1e-12)  # the mean of -2 and 2
    assert (found.below, found.above) == (pytest.approx(-2, abs=1e-9), pytest.approx(2, abs=1e-9))
    (warning,) = SensitivityCheck({"x": 0.0}, {"x": 0.0}, {"x": found}).warnings
    assert "-2 to one side and 2 to the other" in warning


@pytest.fixture(scope="module")
def unit_glide():
    """Of x = t to t = 1: the integral of a function of x from 0 to 1."""
    return simulate(glider(), State([0], [1]), t_end=1)


def test_a_kink_is_seen_wherever_in_a_step_it_is(unit_glide):
    # of abs(x - a) to a^2/2 + (1 - a)^2/2; the tolerance allows for the quadrature, 1e-14 of the whole in every step
    near = [a + shift for a in unit_glide.arcs[0].knots for shift in (-1e-5, 0.0, 1e-5) if 0 < a < 1]
    for a in (*np.linspace(0.01, 0.99, 393), *near):
        found = functional_value(unit_glide, Functional(f"abs(x - {float(a)!r})"))
        assert found == pytest.approx((a**2 + (1 - a) ** 2) / 2, abs=1e-11)


def test_a_jump_is_seen_wherever_in_a_step_it_is(unit_glide):
    # a step is halved 30 times at most: of a jump by 2 in a step below 1 s that leaves 2e-9
    for a in np.linspace(0.01, 0.99, 50):
        found = functional_value(unit_glide, Functional(f"sign(x - {float(a)!r})"))
        assert found == pytest.approx(1 - 2 * a, abs=2e-9)


def test_an_integrand_without_a_value_at_the_ends_has_an_integral(unit_glide):
    # 0/0 at the start; the series of the integral of sin(x)/x at 1
    series = sum((-1) ** k / ((2 * k + 1) * math.factorial(2 * k + 1)) for k in range(10))
    assert functional_value(unit_glide, Functional("sin(x)/x")) == pytest.approx(series, abs=1e-13)


@pytest.mark.parametrize("a", [0.3, 0.4025, 0.7])
def test_differences_of_a_kink_agree_with_its_gradient(a):
    motion = simulate(glider(), State([0], [1]), t_end=1, parameters={"L": a})
    found = sensitivity(motion, Functional("abs(x - L)"), ["L"], check=True)
    assert found.gradient["L"] == pytest.approx(2 * a - 1, abs=1e-11)
    assert found.check.differences["L"].value == pytest.approx(2 * a - 1, abs=1e-9)
    assert found.check.warnings == ()


def test_what_is_no_number_agrees_with_nothing():
    motion = simulate(glider(), State([0], [1]), t_end=2)
    differences = richardson_differences(motion, Functional("x"), ["x", "x_dot"])
    nothing = SensitivityCheck({"x": 2.0, "x_dot": math.nan}, {"x": 2.0, "x_dot": math.nan}, differences)
    assert math.isnan(nothing.disagreement)
    assert math.isnan(nothing.deviation)
    assert any("not nan" in warning for warning in nothing.warnings)


def test_a_gradient_that_differences_contradict_is_told():
    # the two roads agree on a wrong number; the integral of x over 2 s changes by 2
    motion = simulate(glider(), State([0], [1]), t_end=2)
    differences = richardson_differences(motion, Functional("x"), ["x"])
    wrong = SensitivityCheck({"x": 1.9}, {"x": 1.9}, differences)
    assert wrong.disagreement == 0.0
    assert wrong.deviation == pytest.approx(0.1 / 1.9, rel=1e-9)
    assert "give 2 with an error" in wrong.warnings[0]
    right = sensitivity(motion, Functional("x"), ["x"], check=True).check
    assert right.deviation < 1e-9
    assert right.warnings == ()


def test_one_sided_derivatives_of_a_smooth_functional_are_one():
    # d/dx of x^3 at 1, by the definition
    found = richardson_differences(simulate(glider(), State([1], [0]), t_end=1), Functional(terminal="x**3"), ["x"])
    assert [found["x"].below, found["x"].value, found["x"].above] == pytest.approx([3, 3, 3], abs=1e-7)
    assert Difference(1.0, 0.0).jump == 0.0  # nothing known to either side


def test_at_the_bound_of_a_parameter_differences_say_which_side_is_none():
    oscillator = dynamics_of("coulomb_oscillator")
    motion = simulate(oscillator, State([0.5], [0]), t_end=1)
    found = sensitivity(motion, Functional(terminal="x"), ["mu", "mu_s"], check=True)
    kinetic, static = found.check.differences["mu"], found.check.differences["mu_s"]
    assert np.isnan(kinetic.value)
    assert np.isnan(static.value)
    assert "with mu = 0.300" in kinetic.reason
    assert "static_limit: must be at least limit" in kinetic.reason
    assert "with mu_s = 0.299" in static.reason
    # with c = mu m g/k the first half swing ends at 2 c - x0, the second is x = (3 c - x0) cos(w t - pi) - c
    m, k, g, t = 2, 50, 9.81, 1.0
    w = np.sqrt(k / m)
    by_hand = m * g / k * (3 * np.cos(w * (t - np.pi / w)) - 1)
    assert kinetic.below == pytest.approx(found.gradient["mu"], abs=1e-6)
    assert found.gradient["mu"] == pytest.approx(by_hand, abs=1e-11)
    assert all("to one side alone" in text for text in found.check.warnings)
    report = SensitivityReport(motion, found, {"mu": 0.3, "mu_s": 0.3})
    assert sensitivity_record(report)["check"]["warnings"] == list(found.check.warnings)
    assert "Warning: differences with respect to mu" in render_sensitivity_html(report)
    assert "Warning: differences with respect to mu" in render_sensitivity_markdown(report)


def test_a_parameter_of_the_condition_to_stop_at_occurs():
    # x = t: the motion ends at t = 2 L, and the integral of one is that time
    motion = simulate(glider(), State([0], [1]), t_end=2, until="x - twice")
    found = sensitivity(motion, Functional("1"), ["L", "idle"])
    assert found.gradient == pytest.approx({"L": 2.0, "idle": 0.0}, abs=1e-13)
    assert [note.split()[2] for note in found.notes] == ["idle"]


def test_a_parameter_that_acts_through_another_one_occurs():
    found = sensitivity(simulate(glider(), State([0], [1]), t_end=2), Functional("twice"), ["L"])
    assert found.gradient == pytest.approx({"L": 4.0}, abs=1e-13)
    assert found.notes == ()


def test_a_singular_configuration_on_the_way_is_named():
    cross = particle("x*y", potential="x")
    for rule, reason in (
        ("smooth", "passes a singular configuration"),
        (ElasticRealisation(stiffness=1e4), "handed over"),
    ):
        motion = simulate(cross, State([1.0, 0.0], [-1.0, 0.0]), t_end=2, singular=rule)
        refusal = sensitivity(motion, Functional("x"), ["x_dot"]).refusal
        assert reason in refusal.reason
        # 1 - t - t^2/2 is zero at sqrt(3) - 1
        assert refusal.t == pytest.approx(np.sqrt(3) - 1, abs=1e-6)
        assert not refusal.is_proven


def test_springs_from_the_start_are_named_too():
    pendulum = dynamics_of("singular_pendulum")
    start = solve_state(pendulum, {"u": 0.5, "u_dot": 0})
    motion = simulate(pendulum, start, t_end=1, singular=ElasticRealisation("BC", stiffness=1e4))
    refusal = sensitivity(motion, Functional("u"), ["b"]).refusal
    assert refusal.t == motion.springs.t
    assert "springs" in str(refusal)
