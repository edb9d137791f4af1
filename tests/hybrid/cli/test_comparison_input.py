"""Bad input of the commands that compare rigid and compliant contacts: said in a line, with exit status 2."""

from __future__ import annotations

import pytest

from hybrid.cli import main

STATE = ["--pin=theta=1", "--pin=theta_dot=0.5", "--pin=slip.tip=1", "--param=mu=1.4"]
AXES = ["--axis=theta=0.1:1:3", "--axis=theta_dot=-1:1:3", "--pin=slip.tip=1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "painleve_rod", *STATE, "--stiffness="], "numbers separated by commas"),
        (["compare", "painleve_rod", *STATE, "--stiffness=1e6,"], "numbers separated by commas"),
        (["compare", "painleve_rod", *STATE, "--stiffness=1e6,0"], "a stiffness must be a number above 0, got 0"),
        (["compare", "painleve_rod", *STATE, "--stiffness=1e6,1000000"], "1e+06 is given twice"),
        (["compare", "painleve_rod", *STATE, "--stiffness=1e6", "--stiffness=1e7"], "--stiffness is given twice"),
        (["compare", "painleve_rod", *STATE, "--damping=-1"], "--damping"),
        (["compare", "painleve_rod", *STATE, "--param=delta=-1"], "must not be negative"),
        (["compare", "painleve_rod", *STATE[:3], "--pin=gap_dot.tip=1"], "separate already"),
        (["compare", "painleve_klein", "--pin=x1=0", "--pin=x1_dot=1"], "has no unilateral contact"),
        (["compare-map", "painleve_rod", *AXES, "--stiffness="], "numbers separated by commas"),
        (["compare-map", "painleve_rod", *AXES, "--stiffness=1e-3"], "take stiffnesses from about K"),
        (["compare-map", "painleve_rod", *AXES, "--duration=0"], "--duration"),
        (["restitution", "painleve_rod", "--over=theta_dot=-1:1:5"], "theta_dot is a velocity"),
        (["restitution", "painleve_rod", "--over=theta=0.1:1:5", "--over=mu=0:1:5"], "--over is given twice"),
        (["restitution", "painleve_rod", "--over=theta=0.1:1:5", "--pin=theta=1"], "theta is swept"),
    ],
)
def test_bad_input_is_said_in_a_line(capsys, arguments, message):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_options_that_take_several_values_may_be_repeated(capsys):
    assert (
        main(["restitution", "painleve_rod", "--over=mu=0.1:1:3", "--pin=theta=1", "--param=m=2", "--param=g=1"]) == 0
    )


def test_two_contacts_break_no_word_of_a_table(capsys):
    corner = ["--pin=theta=1.2", "--pin=gap_dot.floor=-1", "--pin=gap.wall=0", "--pin=x_dot=-1", "--pin=gap.floor=0"]
    assert main(["compare", "ladder_in_corner", *corner, "--pin=slip.floor=0", "--stiffness=1e4,1e5"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("kelvin-voigt", "floor=stick,wall=stick", "time to stick", "impulse_N"))
    assert "Afterwards at floor" in shown
    assert "Afterwards at wall" in shown
