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


def test_a_sweep_of_the_friction_itself_says_that_the_critical_friction_does_not_depend_on_it(capsys):
    # at tan phi = 2: (1 + 3 cos^2)/(3 sin cos) = 4/3, whatever mu; at mu = 1.5, which is swept, there is a paradox
    pins = ["--pin", f"phi={atan(2.0)!r}"]
    assert main(["critical-friction", "rod_on_incline", "--over", "mu=0:1", *pins]) == 0
    below = " ".join(capsys.readouterr().out.split())
    assert "is 1.33333333333, where slide- becomes paradoxical first. It does not depend on mu" in below
    assert "no paradox at the friction along the sweep (mu = 0 to 1)" in below
    assert main(["critical-friction", "rod_on_incline", "--over", "mu=0:2", *pins]) == 0
    above = " ".join(capsys.readouterr().out.split())
    assert "Paradoxical at the friction along the sweep (mu = 0 to 2)" in above
    assert "slide- 1.333333 2" in above
    assert "current friction" not in below + above


@pytest.mark.parametrize("sweep", [["--over", "mu=1:1.2", "--pin", "phi=mu"], ["--over", "g=1:2", "--pin", "phi=1"]])
def test_other_sweeps_say_where_the_critical_friction_is_least(sweep, capsys):
    # the posture follows mu; gravity changes the forces only
    assert main(["critical-friction", "rod_on_incline", *sweep]) == 0
    shown = capsys.readouterr().out
    assert f"at {sweep[1].partition('=')[0]} = " in shown
    assert "at the current friction" in shown
    assert "depend" not in shown


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
