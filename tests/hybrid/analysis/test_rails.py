"""Critical friction beside a rough rail: refused where its friction pushes the contact, else as beside a smooth one.

The rod stands with its tip on a floor; its centre is held on the line x = 0 by a rail. By hand, with m = 1:
G_NN = 3 cos(phi)^2 + 1 and G_NT = -3 sin(phi) cos(phi), whatever the length.
"""

import json
from math import cos, sin

import pytest

from hybrid import derive, mechanism_from_toml, select, solve_state
from hybrid.analysis import Axis, critical_friction, genot_brogliato_points
from hybrid.cli import main
from hybrid.contact import contact_problem, sliding_terms
from hybrid.contact.sliding import BilateralContactError
from hybrid.dynamics.readable import readable_equations
from hybrid.reporting import build_report, render_html, report_record, verdict_record

FALLING = {"phi": 1, "phi_dot": -1e-3}
SMOOTH = (3 * cos(1) ** 2 + 1) / (3 * sin(1) * cos(1))
G_NN, G_NT = 3 * cos(1) ** 2 + 1, -3 * sin(1) * cos(1)


def text(guide):
    return f"""
name = "rail"
coordinates = ["x", "y", "phi", "z"]
parameters = {{ m = 1, l = 0.5, g = 9.81, mu = 0.4, mu_B = 0.3 }}
constraint = [{{ name = "guide", equation = "x", {guide} }}]
contact = [{{ name = "tip", gap = "y - l*sin(phi)", tangent = "x - l*cos(phi)", friction = "mu" }}]
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2 + z_dot**2)/2 + m*l**2*phi_dot**2/6"
potential = "m*g*y"
"""


ALONG, ACROSS = 'tangent = "y", friction = "mu_B"', 'tangent = "z", friction = "mu_B"'


def rod(guide):
    return derive(mechanism_from_toml(text(guide)))


def border(dynamics, state, **parameters):
    """Least friction at which the verdict is no longer unique, by bisection to 1e-9 of a jump between 1 and 2.5."""
    low, high = 1.0, 2.5

    def is_unique(mu):
        return select(dynamics, state, parameters={"mu": mu, **parameters}).verdict.name == "UNIQUE"

    assert is_unique(low)
    if is_unique(high):
        return None
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if is_unique(middle) else (low, middle)
    return high


@pytest.mark.parametrize("mu_B", [0.0, 0.1, 0.3, 0.9])
def test_verdicts_beside_the_rail_turn_at_the_friction_of_both(mu_B):
    # the tip pushes the guide by mu lambda_N, whose friction lifts the falling rod: A = G_NN + mu G_NT + mu mu_B
    dynamics = rod(ALONG)
    found = border(dynamics, solve_state(dynamics, FALLING | {"z_dot": 0}), mu_B=mu_B)
    expected = G_NN / (-G_NT - mu_B)
    if expected > 2.5:
        assert found is None
    else:
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("over", [[Axis("phi", 0, 1)], [Axis("phi", 1, 1.2), Axis("mu_B", 0, 0.1)]])
def test_beside_a_rail_that_pushes_there_is_no_critical_friction(over):
    with pytest.raises(BilateralContactError, match=r"guide pushes tip .* map the verdicts"):
        critical_friction(rod(ALONG), over=over)


def test_nor_are_there_points_or_sliding_terms():
    dynamics = rod(ALONG)
    plane = [Axis("phi", 0.5, 1.2), Axis("phi_dot", -6, -1)]
    pins = {"z_dot": 0}
    with pytest.raises(BilateralContactError, match="guide"):
        genot_brogliato_points(dynamics, over=plane, pins=pins, parameters={"mu": 1.5})
    # b = -g + l phi_dot^2 sin(phi) = 0 and A = 0 beside the smooth rail
    found = genot_brogliato_points(dynamics, over=plane, pins=pins, parameters={"mu": SMOOTH, "mu_B": 0})
    assert any(point.at["phi"] == pytest.approx(1, abs=1e-9) for point in found)
    state = solve_state(dynamics, FALLING | pins)
    with pytest.raises(BilateralContactError, match="guide"):
        sliding_terms(contact_problem(dynamics, state), "tip")


@pytest.mark.parametrize(
    ("guide", "parameters"),
    [
        (ALONG, {"mu_B": 0.0}),
        ('tangent = "y", friction = "0"', {}),
        ('tangent = "y", friction = "mu_B*phi"', {"mu_B": 0.0}),
        (ACROSS, {}),
        (ACROSS, {"mu_B": 0.9}),
    ],
)
def test_a_rail_without_friction_or_without_effect_leaves_the_critical_friction(guide, parameters):
    dynamics = rod(guide)
    found = critical_friction(dynamics, over=[Axis("phi", 0.2, 1)], parameters=parameters)
    assert found.minimum == pytest.approx(SMOOTH, rel=1e-13)
    assert (found.mode, found.at) == ("slide-", {"phi": 1.0})
    state = solve_state(dynamics, FALLING | {"z_dot": 1})
    assert border(dynamics, state, **parameters) == pytest.approx(SMOOTH, abs=1e-6)
    record = verdict_record(dynamics, state, select(dynamics, state, parameters=parameters), parameters=parameters)
    assert record["contact"]["tip"] == {
        "A_slide+": pytest.approx(G_NN - 0.4 * G_NT, rel=1e-13),
        "A_slide-": pytest.approx(G_NN + 0.4 * G_NT, rel=1e-13),
        "b": pytest.approx(-9.81 + 0.5e-6 * sin(1), rel=1e-13),
        "critical_friction": pytest.approx(SMOOTH, rel=1e-13),
    }


@pytest.mark.parametrize(
    ("guide", "is_known"), [(ALONG, False), (ACROSS, True), ('tangent = "y", friction = "0"', True)]
)
def test_formulas_are_those_that_hold_whatever_the_parameters(guide, is_known):
    written = readable_equations(rod(guide))["contact"]["tip"]
    assert {"G_NN", "G_NT", "G_TT"} <= set(written)
    assert ({"A_slide+", "A_slide-", "b", "critical_friction"} <= set(written)) is is_known
    assert (set(written) == {"G_NN", "G_NT", "G_TT"}) is not is_known
    value = eval(written["G_NN"], {"cos": cos, "sin": sin, "m": 1.0, "phi": 1.0})
    assert value == pytest.approx(G_NN, rel=1e-13)


def test_a_report_tells_it_where_the_rail_pushes_at_no_posture_of_the_map():
    axes = [Axis("phi", 0.9, 1.1, 3), Axis("mu", 1.0, 1.5, 3)]
    # the second rail pushes at every posture but phi = 1, that of the state
    turned = 'tangent = "z + (phi - 1)**2*y", friction = "mu_B"'
    for guide, is_swept in ((ACROSS, True), (turned, False)):
        dynamics = rod(guide)
        report = build_report(dynamics, solve_state(dynamics, FALLING | {"z_dot": 1}), axes=axes)
        record = report_record(report)
        assert record["contact"]["tip"]["critical_friction"] == pytest.approx(SMOOTH, rel=1e-13)
        assert ("tip" in record["critical_friction"]) is is_swept
        assert ("Critical friction</h2>" in render_html(report)) is is_swept


def test_the_command_refuses_and_computes(tmp_path, capsys):
    file = tmp_path / "rail.toml"
    file.write_text(text(ALONG))
    assert main(["critical-friction", str(file), "--over", "phi=0:1"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "guide" in err
    assert "painleve map" in err
    assert main(["critical-friction", str(file), "--over", "phi=0.2:1", "--param", "mu_B=0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["minimum"] == pytest.approx(SMOOTH, rel=1e-13)
