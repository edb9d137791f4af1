"""What would take all memory, or time for nothing, is refused before it is begun."""

import pytest

from hybrid.cli import main
from hybrid.errors import ComputationError

FEET = """
[[contact]]
name = "foot{0}"
gap = "y + sin(phi + {0})"
tangent = "x + cos(phi + {0})"
friction = "mu"
"""
BODY = """
name = "centipede"
coordinates = ["x", "y", "phi"]
parameters = { mu = 0.5 }
dynamics = { kinetic = "(x_dot**2 + y_dot**2 + phi_dot**2)/2", potential = "9.81*y" }
"""


def test_an_automaton_of_too_many_modes_is_refused_before_it_is_built(capsys, tmp_path, monkeypatch):
    file = tmp_path / "centipede.toml"
    file.write_text(BODY + "".join(FEET.format(number) for number in range(4)))
    monkeypatch.setattr("hybrid.automaton.build_automaton", lambda *_: pytest.fail("begun"))
    assert main(["graph", str(file)]) == 3
    said = capsys.readouterr().err
    assert "up to 256 modes, more than 64" in said  # four modes at each of four feet
    assert "build_automaton(dynamics, max_nodes=...)" in said  # the command has no such option


def test_a_sweep_of_impacts_is_bounded(capsys):
    assert main(["restitution", "painleve_rod", "--over=theta=0.1:1.5:10000", "--incidence=-1:1:10000"]) == 2
    assert "1e+08 cells is beyond the limit of 1e+06" in capsys.readouterr().err


@pytest.mark.parametrize(("span", "message"), [("0:1e300", "double precision"), ("0:1e9", "theta=0:2*pi")])
def test_a_sweep_that_no_scan_resolves_is_refused_without_warnings(span, message, capsys):
    assert main(["critical-friction", "painleve_rod", f"--over=theta={span}"]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert message in said


def test_a_sweep_over_some_turns_finds_the_least_friction_of_one(capsys):
    # 4/3 at tan(theta) = 2 (Painlevé's rod)
    assert main(["critical-friction", "painleve_rod", "--over=theta=0:20*pi"]) == 0
    assert "is 1.33333333333" in capsys.readouterr().out


def test_numbers_that_overflow_are_no_warning_of_numpy(capsys):
    # the kinetic energy of this pin is infinite
    arguments = ["verdict", "rod_on_incline", "--pin=phi=1", "--pin=phi_dot=1e200", "--pin=slip.tip=1"]
    assert main(arguments) in (2, 3)
    assert "encountered" not in capsys.readouterr().err


def test_the_limit_of_modes_is_that_of_the_automaton():
    from hybrid.automaton import build_automaton, check_size
    from hybrid.declaration import mechanism_from_toml
    from hybrid.dynamics import derive

    dynamics = derive(mechanism_from_toml(BODY + FEET.format(1)))
    check_size(dynamics, 4)
    with pytest.raises(ComputationError, match="up to 4 modes, more than 3"):
        check_size(dynamics, 3)
    with pytest.raises(ComputationError, match="up to 4 modes, more than 3"):
        _ = build_automaton(dynamics, max_nodes=3).graph
