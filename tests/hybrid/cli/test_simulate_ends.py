"""How ``painleve simulate`` ends where a motion cannot be followed: time, state, cause, and what came before."""

import json

import numpy as np
import pytest

from hybrid.cli import main

DRAINED = """
name = "drained"
coordinates = ["y"]
[dynamics]
mass_matrix = [["1"]]
forces = ["-1 - sqrt(y)/1000"]
"""

SHRINKING = """
name = "shrinking"
coordinates = ["x"]
[dynamics]
mass_matrix = [["1 - t"]]
forces = ["1"]
"""

PINCHED = """
name = "pinched"
coordinates = ["x"]
[dynamics]
kinetic = "x_dot**2/2"
potential = "0"
[[contact]]
name = "left"
gap = "x"
[[contact]]
name = "right"
gap = "-x"
"""


@pytest.fixture
def simulated(tmp_path, capsys):
    """Answer of the command for a declared mechanism: exit status, JSON or None, standard error."""

    def run(text, *arguments):
        path = tmp_path / "mechanism.toml"
        path.write_text(text, encoding="utf-8")
        status = main(["simulate", str(path), *arguments, "--json"])
        out, err = capsys.readouterr()
        return status, json.loads(out) if out else None, err

    return run


def test_expression_that_loses_its_value_ends_the_motion_with_its_time_and_state(simulated):
    status, found, _ = simulated(DRAINED, "--pin=y=1", "--pin=y_dot=0", "--t-end=5")
    assert (status, found["termination"]) == (0, "UNDEFINED")
    # without the root, y = 1 - t**2/2 reaches zero at sqrt(2); the root adds at most 1e-3 to the fall
    assert found["final"]["t"] == pytest.approx(np.sqrt(2), abs=1e-3)
    assert abs(found["final"]["q"]["y"]) < 1e-6
    assert f"t = {found['final']['t']:.6f}"[:8] in found["cause"]
    assert "y = " in found["cause"]


def test_mass_matrix_that_turns_singular_ends_the_motion_with_its_time(simulated):
    status, found, _ = simulated(SHRINKING, "--pin=x=0", "--pin=x_dot=0", "--t-end=2")
    assert (status, found["termination"]) == (0, "SINGULAR_MASS")
    assert found["final"]["t"] == pytest.approx(1.0, abs=1e-5)
    assert "the mass matrix became singular at t = " in found["cause"]


def test_more_contacts_than_freedom_leave_a_body_at_rest(simulated):
    status, found, _ = simulated(PINCHED, "--pin=x=0", "--pin=x_dot=0", "--t-end=2")
    assert status == 0
    assert found["final"]["q"] == {"x": 0.0}
    assert found["final"]["v"] == {"x_dot": 0.0}


def test_start_below_a_surface_is_refused(simulated):
    status, found, err = simulated(PINCHED, "--pin=x=-0.1", "--pin=x_dot=0", "--t-end=2")
    assert (status, found) == (2, None)
    assert "'left' penetrates at the start: gap = -0.1" in err


def test_time_that_has_passed_is_refused(simulated):
    status, found, err = simulated(SHRINKING, "--pin=x=0", "--pin=x_dot=0", "--t-end=-1")
    assert (status, found) == (2, None)
    assert "t_end must be a time later than the start, t = 0; it is -1" in err


@pytest.mark.parametrize(
    ("mass", "advice"), [("0", "give every coordinate inertia"), ("-1", "check the signs of masses and inertias")]
)
@pytest.mark.parametrize("further", [[], ["--method=time-stepping", "--step=0.1"], ["--rule=branch"]])
def test_start_without_inertia_is_refused_in_the_words_of_the_verdict(mass, advice, further, capsys):
    state = ["bouncing_ball", "--pin=y=1", "--pin=y_dot=0", f"--param=m={mass}"]
    assert main(["verdict", *state]) == 2
    said = capsys.readouterr().err
    assert main(["simulate", *state, "--t-end=1", *further]) == 2
    assert capsys.readouterr().err == said
    assert advice in said
