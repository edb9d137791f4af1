"""Parameters that are expressions of others follow them wherever they vary; what is bound to the equations counts."""

import json
from math import cos, sin

import numpy as np
import pytest

import mechanisms
from hybrid import (
    Axis,
    DeclarationError,
    Functional,
    build_automaton,
    derive,
    ensemble,
    mechanism_from_toml,
    region_map,
    sensitivity,
    simulate,
    solve_state,
    solve_states,
)
from hybrid.automaton.export import to_json
from hybrid.cli import main
from hybrid.motion import load, save
from hybrid.reporting import build_comparison, render_comparison_markdown
from hybrid.reporting.window import friction_parameter

SLIDING = {"phi": 1.0, "x": 0.0, "phi_dot": 0.5, "slip.tip": 1.0}


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


def answer(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", [["map"], ["certify", "--gap=0.05"]])
def test_a_given_expression_follows_an_axis(capsys, command):
    """With I = m l^2, m A = 1 + cos^2 - 1.5 sin cos >= 1.5 - sqrt(0.8125) > 0 for every l: there is no paradox."""
    name, *options = command
    cells = ":20" if name == "map" else ""
    axes = [f"--axis=phi=0.1:3{cells}", f"--axis=l=0.2:2{cells}"]
    pins = ["--pin=phi_dot=2", "--pin=slip.tip=-1", "--param=I=m*l**2", "--param=mu=1.5"]
    found = answer(capsys, name, "rod_on_incline", *axes, *pins, *options)
    if name == "map":
        assert found["verdict_fractions"] == {"UNIQUE": 1.0}
    else:
        assert found["absent"]["INDETERMINATE"] is True
        assert found["absent"]["INCONSISTENT"] is True


BLOCK = """
name = "block"
coordinates = ["x", "y"]
parameters = { e = 0.5, mu = 0.9, d = "mu", k = 1 }
dynamics = { kinetic = "(x_dot**2 + y_dot**2)/2", potential = "10*y" }
contact = [{ name = "c", gap = "y", tangent = "x", friction = "mu", restitution = "k*e" }]
"""


def test_ranges_are_those_of_the_values_that_come():
    # 2 mu is no restitution at the declared friction, but over the axis, and of what is drawn
    block, rest = derive(mechanism_from_toml(BLOCK)), {"x": 0, "y": 0, "y_dot": 0}
    axes = [Axis("x_dot", -1, 1, 4), Axis("mu", 0.1, 0.4, 4)]
    for given in ({"e": "2*mu"}, {"e": "2*d"}, {"e": "d", "k": 2}):
        found = region_map(block, axes=axes, pins=rest, parameters=given)
        assert found.mode_fractions == {"slide+": 0.5, "slide-": 0.5}
    drawn = ensemble(
        block, vary={"mu": (0.1, 0.4)}, pins={**rest, "x_dot": 1}, parameters={"e": "2*mu"}, n=4, t_end=0.1
    )
    assert np.allclose(drawn.end[:, 3], 1 - drawn.starts[:, 0])  # mu g t
    with pytest.raises(DeclarationError, match=r"restitution: must lie between 0 and 1"):
        region_map(block, axes=[axes[0], Axis("mu", 0.1, 0.6, 4)], pins=rest, parameters={"e": "2*mu"})


def test_a_given_expression_follows_what_a_derivative_varies(capsys):
    """Where I = m l^2, the mass leaves the equations of motion."""
    pins = [f"--pin={name}={value}" for name, value in SLIDING.items()]
    how = ["--param=I=m*l**2", "--terminal=phi", "--wrt=m", "--t-end=0.3"]
    found = answer(capsys, "sensitivity", "rod_on_incline", *pins, *how)
    assert abs(found["gradient"]["m"]) < 1e-12


def test_a_given_expression_follows_a_varied_parameter_in_postures(rod):
    m = np.linspace(0.5, 2.0, 40)
    pins = {"phi": 1.0, "phi_dot": 1.0, "slip.tip": 1.0}
    found = solve_states(rod, pins, parameters={"l": "1/(1+m)", "m": m})
    np.testing.assert_allclose(found.q[:, 1], sin(1.0) / (1.0 + m), rtol=1e-14)


def test_a_saved_motion_keeps_what_was_bound_to_its_equations(rod, tmp_path):
    motion = simulate(rod.at({"g": 2.0, "mu": 1.2}), SLIDING, t_end=0.3)
    save(motion, tmp_path / "motion.npz")
    read = load(tmp_path / "motion.npz")
    x_dot, y_dot = 1.0 - 0.5 * sin(1.0), 0.5 * cos(1.0)  # m = l = 1, I = 1/3
    initial = (x_dot**2 + y_dot**2) / 2 + 0.5**2 / 6 + 2.0 * sin(1.0)
    assert read.energy().initial == pytest.approx(initial, rel=1e-14)
    assert read.energy() == motion.energy()
    assert json.loads(read.to_xarray().attrs["parameters"])["g"] == 2.0


def test_a_derivative_takes_what_was_bound_to_the_equations(rod):
    motion = simulate(rod.at({"I": "m*l**2"}), SLIDING, t_end=0.3)
    found = sensitivity(motion, Functional(terminal="phi"), ["l", "m"], pins=SLIDING)
    assert abs(found.gradient["m"]) < 1e-12  # the mass leaves the equations
    ends = [
        simulate(rod, SLIDING, t_end=0.3, parameters={"l": length, "I": length**2}).q[2] for length in (1.001, 0.999)
    ]
    assert found.gradient["l"] == pytest.approx((ends[0] - ends[1]) / 0.002, rel=1e-4)  # the step's square is 1e-6


def test_a_page_of_a_comparison_names_what_was_given_and_bound(rod):
    paradox = {"phi": "pi/3", "phi_dot": 0.5, "slip.tip": -1}
    report = build_comparison(rod.at({"l": 1.0}), paradox, stiffness=[1e6], parameters={"mu": "3*l/2"})
    assert "Replaced parameters: l = 1, μ = 1.5." in render_comparison_markdown(report)
    assert "--param l=1 --param 'mu=3*l/2'" in report.command


def test_an_automaton_is_written_with_what_was_bound_to_its_equations(rod):
    automaton = build_automaton(rod.at({"mu": 1.5, "I": "m*l**2/4"}))
    known = json.loads(to_json(automaton))["parameters"]
    assert (known["mu"], known["I"], known["g"]) == ("1.5", "m*l**2/4", "1.0")


def test_the_coefficient_of_friction_is_found_where_it_follows_another_parameter(rod):
    state = solve_state(rod, SLIDING)
    assert friction_parameter(rod, state, {"mu": "3*l/2"}) == "mu"
