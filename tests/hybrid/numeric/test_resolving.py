"""Penalty and time-stepping runs from a frame: closed forms of one contact, and the gait of dm_control's cheetah."""

import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from hybrid.cli import main
from hybrid.cli.lint import _tables
from hybrid.cli.output import print_answer
from hybrid.cli.schemas import answer_schema
from hybrid.errors import StateError
from hybrid.numeric.backends.mujoco import load
from hybrid.numeric.logs import read_log
from hybrid.numeric.posing import Thresholds
from hybrid.numeric.resolving import resolved_frame
from tests.hybrid.numeric.test_lint import rod_log

CHEETAH = Path(__file__).parents[2] / "data" / "cheetah"
JAMMING = 2229  # approaches with 0.023 m/s; friction in force 1.0, critical 0.905
STUDIED = 2400  # appended to the gait: approaches with 0.13 m/s; friction in force 1.0, critical 0.978


@pytest.fixture(scope="module")
def cheetah():
    backend = load(CHEETAH / "cheetah.xml")
    return backend, read_log(CHEETAH / "gait.npz", backend)


def resolved(backend, log, frame, **options):
    thresholds = Thresholds.of(backend, project=True)
    return resolved_frame(backend, log.row(frame), frame, thresholds=thresholds, largest_factor=100.0, **options)


def rod_runs(tmp_path, **options):
    model, path = rod_log(tmp_path)
    backend = load(model)
    return resolved(backend, read_log(path, backend), 0, **options)


def test_a_step_of_the_rod_is_its_closed_form(tmp_path):
    found = rod_runs(tmp_path, stiffnesses=())
    assert found.verdict == "INCONSISTENT"
    s, c = np.sin(2.0), np.cos(2.0)
    W = np.array([[0.0, 1.0, -c], [1.0, 0.0, s]])  # rows of gap_dot and slip; M = diag(1, 1, 1/3)
    G = W @ np.diag([1.0, 1.0, 3.0]) @ W.T
    for step in found.runs[0].time_stepping:
        # b = sin(phi) - 1 and zeta_T = cos(phi) for the rates 1; the slip 1 ends within the step: the tip sticks
        normal, tangential = np.linalg.solve(G, -np.array([s - 1.0, c + 1.0 / step.step]))
        assert step.verdict == "UNIQUE"
        assert step.forces == ({"plane/tip": pytest.approx(normal)},)
        assert abs(tangential) <= 1.5 * normal
    assert found.runs[0].time_stepping[-1].forces[0]["plane/tip"] > 1e5


def test_an_elastic_tip_is_pressed_with_twice_the_rigid_force(tmp_path):
    found = rod_runs(tmp_path, stiffnesses=(1e8,), steps=(1e-3,))
    s, c = np.sin(2.0), np.cos(2.0)
    mu = 0.85 * -(1 + 3 * c**2) / (3 * s * c)
    force = (1 - s) / (1 + 3 * c**2 + 3 * mu * s * c)
    below = found.runs[1]
    assert below.factor == pytest.approx(mu / 1.5)
    assert below.time_stepping[0].forces == ({"plane/tip": pytest.approx(force)},)
    for run in below.penalty:
        # steps of 0.02 rad, and a posture that turns by some 1e-3 rad meanwhile
        assert run.force["plane/tip"] == pytest.approx(2 * force, rel=2e-2)
        assert run.ending == "rebound"
        # half a period of u'' = -K A u
        A = 1 + 3 * c**2 + 3 * mu * s * c
        assert run.duration == pytest.approx(np.pi / np.sqrt(run.stiffness * A), rel=3e-2)


def test_the_force_on_the_cheetah_grows_with_stiffness_only_beyond_the_critical_friction(cheetah):
    found = resolved(*cheetah, JAMMING, stiffnesses=(1e7, 1e8, 1e9))
    assert found.verdict == "INCONSISTENT"
    assert found.critical_factor == pytest.approx(0.905, abs=1e-3)
    beyond, below = (np.array([run.force["ground/ffoot"] for run in item.penalty]) for item in found.runs)
    assert np.all(beyond[1:] > 2.0 * beyond[:-1])
    assert all(run.ending == "slip" for run in found.runs[0].penalty)
    assert np.ptp(below) < 0.1 * below.min()
    steps = [[step.forces[0]["ground/ffoot"] for step in item.time_stepping] for item in found.runs]
    assert steps[0][-1] == pytest.approx(10 * steps[0][-2], rel=1e-2)  # as 1 / step
    assert steps[1] == pytest.approx([steps[1][0]] * 5, rel=1e-6)


def test_the_studied_frame_of_the_cheetah_is_proved_inconsistent(tmp_path, cheetah, capsys):
    _, log = cheetah
    path = tmp_path / "frame.npz"
    np.savez(path, **{name: values[STUDIED:] for name, values in log.columns.items()})
    words = ["lint", str(CHEETAH / "cheetah.xml"), "--log", str(path), "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == {"impact": 1}
    assert main([*words, "--project", "--no-sweep"]) == 0
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    (worst,) = answer["worst"]
    assert worst["verdict"] == "INCONSISTENT"
    assert worst["has_proof"]
    # one contact, A < 0 and b < 0: neither separation nor sliding
    assert worst["A"][0][0] < 0 > worst["b"][0]
    assert answer["friction_in_force"] == [
        {
            "pair": ["ground", "ffoot"],
            "value": 1.0,
            "declared": [1.0, 0.4],
            "source": "the larger one, of ground",
        }
    ]
    assert "warning: friction 0.4 of ffoot has no effect: 1 is in force" in captured.err
    assert any(note.startswith("warning: friction 0.4") for note in answer["notes"])


def test_the_runs_stand_in_the_answer_and_on_the_page(tmp_path, capsys):
    model, log = rod_log(tmp_path)
    page = tmp_path / "page.html"
    words = ["lint", str(model), "--log", str(log), "--resolve", "0", "--no-sweep"]
    assert main([*words, "--json", "-o", str(page)]) == 0
    answer = json.loads(capsys.readouterr().out)
    Draft202012Validator(answer_schema("lint")).validate(answer)
    found = answer["resolved"]
    assert (found["frame"], found["verdict"], len(found["runs"])) == (0, "INCONSISTENT", 2)
    assert [run["stiffness"] for run in found["runs"][0]["penalty"]] == [1e6, 1e7, 1e8, 1e9]
    assert [run["step"] for run in found["runs"][0]["time_stepping"]] == [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
    text = page.read_text(encoding="utf-8")
    assert "Frame 0, run on" in text
    assert "time stepping" in text
    print_answer(answer, _tables(answer), as_json=False)
    assert "From frame 0, without normal velocities: INCONSISTENT." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ("-1", "the log has the frames 0 to 3, got -1"),
        ("4", "the log has the frames 0 to 3, got 4"),
        ("x", "--resolve"),
        ("1", "frame 1 is left out: impact"),
        ("2", "frame 2 has a contact at rest"),
        ("3", "frame 3 is left out: no contact"),
    ],
)
def test_frames_that_cannot_be_run_on_are_refused(tmp_path, capsys, frame, message):
    model, log = rod_log(tmp_path)
    assert main(["lint", str(model), "--log", str(log), "--resolve", frame]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_resting_frame_says_so_from_python(tmp_path):
    model, path = rod_log(tmp_path)
    backend = load(model)
    with pytest.raises(StateError, match="has a contact at rest"):
        resolved(backend, read_log(path, backend), 2)
