"""A robot that stands on four feet: gymnasium's Ant under position control, frame by frame."""

from collections import Counter
from functools import cache
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest

from hybrid.contact import verify_cover
from hybrid.numeric import select
from hybrid.numeric.backends.mujoco import load
from hybrid.numeric.lint import lint
from hybrid.numeric.logs import read_log
from hybrid.numeric.posing import Thresholds, posed_frame, states_of

MODEL = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "ant.xml"
FRICTION = 0.8


@cache
def stand(n=200):
    """Positions, velocities and controls of consecutive frames, after four seconds of position control."""
    model = mujoco.MjModel.from_xml_path(str(MODEL))
    model.geom_friction[:, 0], model.geom_margin[:] = FRICTION, 0.0
    data, joints = mujoco.MjData(model), model.actuator_trnid[:, 0]
    target = np.array([0, 0.9, 0, -0.9, 0, -0.9, 0, 0.9]) + np.random.default_rng(4).uniform(-0.15, 0.15, 8)
    data.qpos[2], data.qpos[7:] = 0.7, target
    frames = []
    for step in range(400 + n):
        angles, rates = data.qpos[model.jnt_qposadr[joints]], data.qvel[model.jnt_dofadr[joints]]
        data.ctrl[:] = (60 * (target[joints - 1] - angles) - 6 * rates) / 150
        if step >= 400:
            frames.append({"qpos": data.qpos.copy(), "qvel": data.qvel.copy(), "ctrl": data.ctrl.copy()})
        mujoco.mj_step(model, data)
    return frames


def verdicts(frames):
    backend = load(MODEL)
    backend.model.geom_friction[:, 0] = FRICTION
    thresholds = Thresholds.of(backend)
    for row in frames:
        posed = posed_frame(backend, row, thresholds)
        assert not isinstance(posed, str)
        state = states_of([posed], thresholds, "ant").at(0)
        yield state, select(state, cover_budget=20)


def holds(state, branch):
    """Whether a branch obeys Newton's equations and Coulomb's law, from the numbers of the state."""
    force = np.array(state.h)
    for contact in state.contacts:
        N, T = branch.lambda_N[contact.name], np.array(branch.lambda_T[contact.name])
        force = force + contact.W_N * N + contact.W_T @ T
    qdd = np.linalg.solve(state.M, force)
    size = np.abs(state.h).max()
    for contact in state.contacts:
        N, T = branch.lambda_N[contact.name], np.array(branch.lambda_T[contact.name])
        a_N = contact.W_N @ qdd + contact.zeta_N
        a_T = contact.W_T.T @ qdd + contact.zeta_T
        assert abs(a_N) < 1e-8 * size and N > 0
        if branch.mode[contact.name].value == "stick":
            assert np.abs(a_T).max() < 1e-8 * size and np.hypot(*T) < FRICTION * N
        else:
            assert np.hypot(*T) == pytest.approx(FRICTION * N, rel=1e-9)
            assert T @ a_T == pytest.approx(-np.hypot(*T) * np.hypot(*a_T), rel=1e-7)
    return True


def test_a_log_of_a_stand_is_sampled(tmp_path):
    model = tmp_path / "ant.xml"
    text = MODEL.read_text(encoding="utf-8")
    model.write_text(text.replace('friction="1 0.5 0.5"', f'friction="{FRICTION} 0.5 0.5"'), encoding="utf-8")
    log = tmp_path / "stand.npz"
    frames = stand()[::50]
    np.savez(log, **{name: np.array([row[name] for row in frames]) for name in ("qpos", "qvel", "ctrl")})
    backend = load(model)
    report = lint(backend, read_log(str(log), backend), cover_budget=20)
    assert (report.frames, report.counted, report.spatial_rest) == (4, 0, 4)
    assert report.spatial_rest_sample == report.resting == {"UNIQUE": 4}
    left = lint(backend, read_log(str(log), backend), cover_budget=0)
    assert (left.resting, left.spatial_rest_sample) == ({"UNDECIDED": 4}, {})


@pytest.mark.parametrize(("every", "least"), [(100, 2), (1, 180)])
def test_frames_of_a_stand_are_decided(every, least):
    counts = Counter()
    for k, (state, found) in enumerate(verdicts(stand()[::every])):
        assert len(state.contacts) == 4
        counts[found.verdict.name] += 1
        if found.verdict.name == "UNIQUE":
            assert holds(state, found.branches[0])
            assert k % 100 or verify_cover(found.cover)
    assert counts["UNIQUE"] >= least, counts
    assert counts["UNIQUE"] + counts["UNDECIDED"] == sum(counts.values())  # positive definite: there is a solution
