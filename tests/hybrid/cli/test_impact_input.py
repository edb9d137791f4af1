"""Numbers that are none, given to the commands of impacts, are the caller's mistake and are called that."""

import pytest

from hybrid.cli import main

STATE = ["painleve_rod", "--pin=theta=1", "--pin=theta_dot=0.5", "--pin=slip.tip=1"]


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["impact", *STATE, "--law=kelvin-voigt"], "--damping"),
        (["impact", *STATE], "--restitution"),
        (["compare", *STATE], "--damping"),
        (["restitution", "painleve_rod", "--over=theta=0.1:1.5:3"], "--damping"),
    ],
)
def test_coefficient_that_is_no_number_is_bad_input(command, option, value, capsys):
    assert main([*command, option, value]) == 2
    known = capsys.readouterr().err
    assert option in known
    assert "defect" not in known
