"""``painleve critical-friction`` on the rod of Genot and Brogliato (1999), with alpha = m l^2 / J = 3."""

import json
from math import atan, pi, sqrt, tan

import pytest

from hybrid.cli import main


def critical_friction(capsys, *arguments):
    assert main(["critical-friction", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_least_critical_friction_of_the_uniform_rod_is_4_thirds(capsys):
    answer = critical_friction(capsys, "rod_on_incline", "--over", "phi=0:pi/2")
    assert answer["minimum"] == pytest.approx(4 / 3, rel=1e-12)
    # at tan phi = sqrt(1 + alpha); a minimum is found to the square root of rounding
    assert answer["at"]["phi"] == pytest.approx(atan(2.0), abs=1e-7)
    assert answer["mode"] == "slide-"


def test_the_paradox_lies_between_the_roots_of_the_inertia_factor(capsys):
    # tan phi = (mu alpha -+ sqrt(mu^2 alpha^2 - 4 (1 + alpha))) / 2
    mu = 1.5
    answer = critical_friction(capsys, "rod_on_incline", "--over", "phi=0:pi", "--param", f"mu={mu}")
    root = sqrt(9 * mu**2 - 16)
    low, high = atan((3 * mu - root) / 2), atan((3 * mu + root) / 2)
    assert set(answer["paradox_intervals"]) == {"slide+", "slide-"}
    (pushed,) = answer["paradox_intervals"]["slide-"]
    assert pushed == pytest.approx([low, high], rel=1e-12)
    (pulled,) = answer["paradox_intervals"]["slide+"]
    assert pulled == pytest.approx([pi - high, pi - low], rel=1e-12)
    assert tan(low) * tan(high) == pytest.approx(4.0)


def test_no_paradox_below_the_critical_friction(capsys):
    answer = critical_friction(capsys, "rod_on_incline", "--over", "phi=0:pi", "--param", "mu=1.3")
    assert answer["paradox_intervals"] == {"slide+": [], "slide-": []}


def test_a_block_has_no_critical_friction(capsys):
    answer = critical_friction(capsys, "block_on_incline", "--over", "x=0:1")
    assert (answer["minimum"], answer["at"]) == (None, {})


def test_people_read_where_and_from_when(capsys):
    assert main(["critical-friction", "rod_on_incline", "--over", "phi=0:pi", "--param", "mu=3/2"]) == 0
    shown = capsys.readouterr().out
    assert "1.3333333333" in shown
    assert "0.8838626" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rod_on_incline"], "--over"),
        (["rod_on_incline", "--over", "phi"], "NAME=LOW:HIGH"),
        (["rod_on_incline", "--over", "phi=1:0"], "upwards"),
        (["rod_on_incline", "--over", "ph=0:1"], "phi"),
        (["bouncing_ball", "--over", "z=0:1"], "no contact with friction"),
        (["ladder_in_corner", "--over", "theta=0:1"], "(--contact); ladder_in_corner has floor, wall"),
        (["rod_on_incline", "--over", "phi=0:pi:10"], "--over phi: a sweep has no cells; write phi=LOW:HIGH"),
        (["rod_on_incline", "--over", "phi=0:pi:10", "--certified"], "--over phi: a sweep has no cells"),
        (["rod_on_incline", "--over", "phi=0:1", "--contact", "tp"], "tip"),
    ],
)
def test_a_bad_sweep_is_bad_input(arguments, message, capsys):
    assert main(["critical-friction", *arguments, "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
