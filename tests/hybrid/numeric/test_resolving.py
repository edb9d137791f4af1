"""Penalty and time-stepping runs from a frame: closed forms of one contact, and the gait of dm_control's cheetah."""

import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from scipy.optimize import brentq

from hybrid.cli import main
from hybrid.cli.lint import _tables
from hybrid.cli.output import print_answer
from hybrid.cli.schemas import answer_schema
from hybrid.errors import StateError
from hybrid.numeric import contact_problem
from hybrid.numeric.backends.mujoco import load
from hybrid.numeric.logs import read_log
from hybrid.numeric.posing import Thresholds, posed_frame, states_of
from hybrid.numeric.resolving import resolved_frame
from tests.hybrid.numeric.test_lint import rod_log

CHEETAH = Path(__file__).parents[2] / "data" / "cheetah"
JAMMING = 2229  # approaches with 0.023 m/s; friction in force 1.0, critical 0.905
NEARLY_CRITICAL = 2400  # appended to the gait: approaches with 0.13 m/s; friction 1.0, critical 0.978
LANDING = 2401  # appended, of another start of the gait: approaches with 0.12 m/s; friction 1.0, critical 0.914


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


def frames_of(log, tmp_path, frames):
    path = tmp_path / "frames.npz"
    np.savez(path, **{name: values[frames] for name, values in log.columns.items()})
    return ["lint", str(CHEETAH / "cheetah.xml"), "--log", str(path), "--json"]


def test_landing_frames_of_the_cheetah_are_proved_inconsistent(tmp_path, cheetah, capsys):
    words = frames_of(cheetah[1], tmp_path, [NEARLY_CRITICAL, LANDING])
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == {"impact": 2}
    assert main([*words, "--project", "--no-sweep"]) == 0
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    assert [item["frame"] for item in answer["worst"]] == [1, 0]
    for item in answer["worst"]:
        assert item["verdict"] == "INCONSISTENT"
        assert item["has_proof"]
        # one contact, A < 0 and b < 0: neither separation nor sliding
        assert item["A"][0][0] < 0 > item["b"][0]
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


def test_the_force_on_the_cheetah_grows_with_stiffness_only_beyond_the_critical_friction(tmp_path, cheetah, capsys):
    """From 1e6 to 1e10 N/m more than twice a decade at friction 1.0, and within 10 % at 0.85 of the critical one."""
    assert main([*frames_of(cheetah[1], tmp_path, [LANDING]), "--project", "--no-sweep", "--resolve", "0"]) == 0
    found = json.loads(capsys.readouterr().out)["resolved"]
    assert found["verdict"] == "INCONSISTENT"
    assert found["critical_factor"] == pytest.approx(0.914, abs=1e-3)
    assert [run["stiffness"] for run in found["runs"][0]["penalty"]] == [1e6, 1e7, 1e8, 1e9, 1e10]
    beyond, below = (np.array([run["force"]["ground/ffoot"] for run in item["penalty"]]) for item in found["runs"])
    assert np.all(beyond[1:] > 2.0 * beyond[:-1])
    assert np.ptp(below) < 0.1 * below.min()
    assert {run["ending"] for run in found["runs"][0]["penalty"]} == {"slip"}
    assert {run["ending"] for run in found["runs"][1]["penalty"]} == {"rebound"}
    steps = [[step["forces"][0]["ground/ffoot"] for step in item["time_stepping"]] for item in found["runs"]]
    assert steps[0][-1] == pytest.approx(10 * steps[0][-2], rel=1e-2)  # as 1 / step
    assert steps[1] == pytest.approx([steps[1][0]] * 5, rel=1e-6)


@pytest.mark.parametrize("frame", [JAMMING, LANDING])
def test_forces_on_the_cheetah_tend_to_those_of_the_posture_held(cheetah, frame):
    """With the posture held, g'' = b + A F and s' = c_T - B F for F = -K g, from g = g' = 0 until the slip s is 0.

    Beyond the critical friction F = b/A (cosh w t - 1) with w^2 = -A K, so that without c_T F would grow as K^(1/3)
    where w t is small and as K^(1/2) where it is large: 2.15 to 3.16 times a decade; c_T takes a share of the slip that
    falls with K. Below it the largest F is -2 b/A whatever K.
    """
    backend, log = cheetah
    thresholds = Thresholds.of(backend, project=True)
    state = states_of([posed_frame(backend, log.row(frame), thresholds)], thresholds, backend.name).at(0)
    problem = contact_problem(state)
    (G_NN, G_NT), (_, G_TT) = problem.G
    (b, c_T), slip = problem.c, float(state.contacts[0].slip[0])
    side = np.sign(slip)
    A, B = G_NN - side * G_NT, G_TT - side * G_NT

    def held(stiffness):
        w = np.sqrt(-A * stiffness)
        end = brentq(lambda t: abs(slip) + side * c_T * t - B * b / A * (np.sinh(w * t) / w - t), 0.0, 60.0 / w)
        return b / A * (np.cosh(w * end) - 1.0)

    found = resolved(backend, log, frame, stiffnesses=(1e8, 1e10), steps=())
    beyond, below = ([run.force["ground/ffoot"] for run in item.penalty] for item in found.runs)
    # steps of 0.02 rad, and a posture that turns meanwhile: by 1e-2 rad in the 2 ms at 1e8 N/m, a tenth of it at 1e10
    assert beyond == [pytest.approx(held(1e8), rel=3e-2), pytest.approx(held(1e10), rel=1e-2)]
    assert 10 ** (2 / 3) < held(1e10) / held(1e8) < 10
    twice = -2.0 * b / (0.15 * G_NN)  # A at 0.85 of the critical friction, G_NN/G_NT, is 0.15 G_NN
    assert below == [pytest.approx(twice, rel=3e-2), pytest.approx(twice, rel=1e-2)]


def test_the_runs_stand_in_the_answer_and_on_the_page(tmp_path, capsys):
    model, log = rod_log(tmp_path)
    page = tmp_path / "page.html"
    words = ["lint", str(model), "--log", str(log), "--resolve", "0", "--no-sweep"]
    assert main([*words, "--json", "-o", str(page)]) == 0
    answer = json.loads(capsys.readouterr().out)
    Draft202012Validator(answer_schema("lint")).validate(answer)
    found = answer["resolved"]
    assert (found["frame"], found["verdict"], len(found["runs"])) == (0, "INCONSISTENT", 2)
    assert [run["stiffness"] for run in found["runs"][0]["penalty"]] == [1e6, 1e7, 1e8, 1e9, 1e10]
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
