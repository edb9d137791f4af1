"""Random postures without a log: within the ranges, in contact, and decided as a log of them is."""

import copy
import json

import mujoco
import numpy as np
import pytest

from hybrid.cli import main
from hybrid.errors import StateError
from hybrid.numeric.backends.mujoco import load
from hybrid.numeric.posing import Thresholds
from hybrid.numeric.samples import sampled_log
from tests.hybrid.numeric.test_mujoco import WALKER, written

QUADRUPED = """
<mujoco><compiler angle="radian"/><worldbody>
  <geom name="floor" type="plane" size="5 5 1"/>
  <body name="trunk" pos="0 0 3"><freejoint/><geom name="trunk" type="box" size="0.4 0.2 0.1"/>
    <body name="leg" pos="0 0 -0.1"><joint name="hip" type="ball" limited="true" range="0 0.6"/>
      <geom name="leg" type="capsule" fromto="0 0 -0.1 0 0 -0.6" size="0.05"/>
      <body name="toe" pos="0 0 -0.8"><joint name="knee" type="slide" axis="0 0 1" limited="true" range="-0.1 0.05"/>
        <geom name="toe" size="0.05"/></body></body>
  </body>
</worldbody></mujoco>
"""


def test_postures_lie_in_the_ranges_and_touch_without_approaching():
    backend = load(WALKER)
    log = sampled_log(backend, 60, seed=7, thresholds=Thresholds.of(backend))
    model = copy.copy(backend.model)
    model.geom_margin[:] = 1e-6  # a gap of 1e-16 is a contact
    for row in log.rows():
        for k in np.flatnonzero(model.jnt_limited):
            low, high = model.jnt_range[k]
            assert low <= row["qpos"][model.jnt_qposadr[k]] <= high
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = row["qpos"], row["qvel"]
        mujoco.mj_forward(model, data)
        gaps = [contact.dist for contact in data.contact]
        assert min(gaps) == pytest.approx(0.0, abs=1e-11)
        for contact in (contact for contact in data.contact if contact.dist < 1e-9):
            (geom,) = {contact.geom1, contact.geom2} - {0}
            J = np.zeros((3, model.nv))
            mujoco.mj_jac(model, data, J, None, contact.pos, model.geom_bodyid[geom])
            rate = contact.frame.reshape(3, 3)[0] @ J @ data.qvel
            # velocities of 1 m/s times a condition of the mass matrix of 1e4
            assert rate == pytest.approx(0.0, abs=1e-10)
    assert np.std(log.columns["qvel"][:, 0]) > 0.3


def test_the_answer_is_that_for_a_log_of_the_postures(tmp_path, capsys):
    backend = load(WALKER)
    log = sampled_log(backend, 80, seed=4, thresholds=Thresholds.of(backend))
    path = tmp_path / "drawn.npz"
    np.savez(path, **log.columns)
    assert main(["lint", str(WALKER), "--log", str(path), "--json"]) == 0
    of_log = json.loads(capsys.readouterr().out)
    assert main(["lint", str(WALKER), "--sample", "80", "--seed", "4", "--json"]) == 0
    captured = capsys.readouterr()
    of_sample = json.loads(captured.out)
    assert of_sample["counted"] > 40
    assert of_sample["notes"][0].startswith("80 postures were drawn with seed 4")
    assert "80 postures were drawn" in captured.err
    drawn = of_sample["thresholds"]
    assert (drawn.pop("sample"), drawn.pop("seed")) == (80, 4)
    assert (of_log["thresholds"].pop("sample"), of_log["thresholds"].pop("seed")) == (None, 0)
    for name in of_log.keys() - {"notes"}:
        assert of_sample[name] == of_log[name]


def test_ball_joints_and_free_bodies_stay_within_their_ranges(tmp_path):
    backend = written(tmp_path, QUADRUPED)
    log = sampled_log(backend, 40, seed=1, thresholds=Thresholds.of(backend))
    hip = 2 * np.arccos(np.clip(np.abs(log.columns["qpos"][:, 7]), 0.0, 1.0))
    assert hip.max() <= 0.6 + 1e-12
    assert np.all((log.columns["qpos"][:, 11] >= -0.1) & (log.columns["qpos"][:, 11] <= 0.05))
    assert np.ptp(log.columns["qpos"][:, 3]) > 0.5  # the trunk turns


def test_other_seeds_draw_other_postures_and_the_same_one_the_same():
    backend = load(WALKER)
    first, again, other = (
        sampled_log(backend, 3, seed=seed, thresholds=Thresholds.of(backend)).columns["qpos"] for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1


def test_a_closed_chain_has_no_random_postures(tmp_path):
    backend = written(
        tmp_path,
        """
        <mujoco><worldbody>
          <body name="a" pos="0 0 1"><joint type="hinge" axis="0 1 0"/><geom size="0.1"/></body>
          <body name="b" pos="2 0 1"><joint type="hinge" axis="0 1 0"/><geom size="0.1"/></body>
        </worldbody>
        <equality><connect body1="a" body2="b" anchor="1 0 0"/></equality></mujoco>
        """,
    )
    with pytest.raises(StateError, match="random postures do not satisfy its constraints"):
        sampled_log(backend, 5, seed=0, thresholds=Thresholds.of(backend))


@pytest.mark.parametrize(
    "words",
    [[], ["--log", "a.npz", "--sample", "3"], ["--sample", "0"], ["--sample", "x"], ["--sample", "1000000000"]],
)
def test_either_a_log_or_a_number_of_postures_is_wanted(words, capsys):
    assert main(["lint", str(WALKER), *words]) == 2
    assert "--sample" in capsys.readouterr().err


def test_a_note_is_printed_once(capsys):
    assert main(["lint", str(WALKER), "--sample", "3", "--no-sweep"]) == 0
    captured = capsys.readouterr()
    assert (captured.out + captured.err).count("3 postures were drawn") == 1


def test_postures_that_nothing_moves_into_contact_are_not_said_to_touch(tmp_path, capsys):
    # every joint of the arm has a range, and the plane is given
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    (tmp_path / "arm.urdf").write_text(
        f"""<robot name="arm"><link name="world"/>{link.format("lift")}</inertial></link>
        <joint name="up" type="prismatic"><parent link="world"/><child link="lift"/><axis xyz="0 0 1"/>
        <limit lower="1" upper="2" effort="1" velocity="1"/></joint></robot>""",
        encoding="utf-8",
    )
    (tmp_path / "feet.toml").write_text('contact = [{ frame = "lift", friction = 0.8 }]', encoding="utf-8")
    asked = ["lint", str(tmp_path / "arm.urdf"), "--contacts", str(tmp_path / "feet.toml"), "--sample", "3", "--json"]
    assert main(asked) == 0
    notes = " ".join(json.loads(capsys.readouterr().out)["notes"])
    assert "no translation is without a range, so none was moved until it touches" in notes
    assert "the model may lack a floor" not in notes
    assert "then moved" not in notes
