"""States in files: written without painleve, read and decided, and refused where they are damaged."""

import inspect
import json
import subprocess
import sys

import numpy as np
import pytest

import hybrid
from hybrid import StateError, derive, solve_state
from hybrid.cli import main
from hybrid.errors import FileError
from hybrid.numeric import capture, read_state
from tests.catalogue import load

BLOCK = {
    "format": "painleve-state",
    "version": 1,
    "M": [[2.0, 0.0], [0.0, 2.0]],
    "h": [3.0, -19.62],
    "contacts": [{"name": "foot", "W_N": [0, 1], "W_T": [1, 0], "slip": [0.3], "friction": 0.5}],
}


def written(tmp_path, **changes):
    path = tmp_path / "step.json"
    path.write_text(json.dumps({**BLOCK, **changes}), encoding="utf-8")
    return path


def test_a_captured_paradox_is_decided_as_its_mechanism(tmp_path, capsys):
    rod = derive(load("rod_on_incline")).at({"mu": 1.5})
    state = solve_state(rod, {"phi": 2.0, "phi_dot": 1.0, "slip.tip": 1.0})
    terms = rod.terms(state.q, state.v)
    tip = {
        "name": "tip",
        "W_N": terms.W_N[:, 0],
        "zeta_N": terms.zeta_N[0],
        "W_T": terms.W_T,
        "zeta_T": terms.zeta_T,
        "slip": [1.0],
        "friction": 1.5,
    }
    path = tmp_path / "jam.json"
    capture(str(path), terms.M, terms.h, [tip], v=state.v)
    assert main(["verdict", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == hybrid.select(rod, state).verdict.name == "INCONSISTENT"
    assert main(["verdict", str(written(tmp_path))]) == 0
    assert "quantity" not in capsys.readouterr().out  # this one has no velocities to list
    assert answer["certificate"]["verified"]
    assert answer["contact"]["tip"]["A_slide+"] == pytest.approx(1 + 3 * np.cos(2) ** 2 + 4.5 * np.cos(2) * np.sin(2))


def test_capture_runs_without_painleve(tmp_path):
    source = inspect.getsourcefile(capture)
    code = (
        f"exec(open({source!r}).read()); import sys, numpy as np\n"
        "capture('step.json', np.eye(1), np.array([-1.0]), [{'name': 'foot', 'W_N': np.array([1.0])}])\n"
        "assert 'hybrid' not in sys.modules"
    )
    subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, check=True)
    assert read_state(tmp_path / "step.json").contacts[0].name == "foot"


def test_people_read_it_as_any_verdict(tmp_path, capsys):
    assert main(["verdict", str(written(tmp_path))]) == 0
    shown = capsys.readouterr().out
    assert "step: UNIQUE" in shown
    assert "slide+" in shown


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "is no state"),
        ({"version": 2}, "version 2"),
        ({"masses": []}, "unknown field masses"),
        ({"Contacts": []}, "did you mean 'contacts'"),
        ({"contacts": {}}, "contacts must be a list"),
        ({"contacts": [3]}, r"contacts\[0\] must be an object"),
        ({"contacts": [{"name": "foot"}]}, r"contacts\[0\].W_N is missing"),
        ({"contacts": [{"name": "foot", "W_N": [0, 1], "frictoin": 1}]}, "did you mean 'friction'"),
        ({"contacts": [{"name": "foot", "W_N": "up"}]}, r"contacts\[0\].W_N is no array of numbers"),
        ({"contacts": [{"name": "foot", "W_N": [0, 10**400]}]}, r"contacts\[0\].W_N is no array of numbers"),
        ({"h": [[1.0], [2.0, 3.0]]}, "h is no array of numbers"),
        ({"M": {"a": 1}}, "M is no array of numbers"),
        ({"h": ["3.0", -19.62]}, "h is no array of numbers"),
        ({"h": [True, -19.62]}, "h is no array of numbers"),
        ({"v": [None, 0.0]}, "v is no array of numbers"),
    ],
)
def test_damaged_files_are_refused_by_field(tmp_path, changes, message):
    with pytest.raises(FileError, match=message):
        read_state(written(tmp_path, **changes))


def test_numbers_that_do_not_fit_are_refused_with_status_2(tmp_path, capsys):
    with pytest.raises(StateError, match="h must have shape"):
        read_state(written(tmp_path, h=[1.0]))
    assert main(["verdict", str(written(tmp_path, h=[1.0, float("nan")]))]) == 2
    assert "h is not finite" in capsys.readouterr().err
    assert main(["verdict", str(written(tmp_path)), "--pin", "phi=1"]) == 2
    assert "takes no --pin" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_numbers_whose_accelerations_overflow_are_refused(tmp_path, capsys):
    foot = {"name": "foot", "W_N": [0.0, 1e300], "W_T": [1.0, 0.0], "slip": [0.3], "friction": 0.5}
    assert main(["verdict", str(written(tmp_path, M=[[1, 0], [0, 1]], h=[0, -9], contacts=[foot]))]) == 2
    assert "leave the range of double precision" in capsys.readouterr().err
