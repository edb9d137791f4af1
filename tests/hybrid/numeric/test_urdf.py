"""URDF files: what both engines must read alike, and what is refused by name."""

import numpy as np
import pytest

from hybrid.errors import FileError
from hybrid.numeric.backends import mujoco as by_mujoco, pinocchio as by_pinocchio

ARM = """
<robot name="arm">{extension}<link name="base"/>
  <link name="arm"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="hand"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <joint name="wrist" type="{wrist}"><parent link="arm"/><child link="hand"/><origin xyz="0.7 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
</robot>
"""


def written(tmp_path, text):
    model, contacts = tmp_path / "arm.urdf", tmp_path / "contacts.toml"
    model.write_text(text, encoding="utf-8")
    contacts.write_text('[[contact]]\nframe = "hand"\nfriction = 0.5\nradius = 0.1\n', encoding="utf-8")
    return model, contacts


def test_a_link_without_inertial_has_no_mass_by_either_engine(tmp_path):
    model, contacts = written(tmp_path, ARM.format(extension="", wrist="fixed"))
    own = by_mujoco.load(model).frame({"qpos": np.zeros(1), "qvel": np.zeros(1)}, near=1e-3)
    other = by_pinocchio.load(model, contacts=contacts).frame({"q": np.zeros(1), "v": np.zeros(1)}, near=1e-3)
    for frame in (own, other):
        assert frame.M[0, 0] == pytest.approx(0.2 + 2 * 0.3**2, rel=1e-12)


def test_a_file_may_ask_mujoco_for_masses_of_its_shapes(tmp_path):
    asked = '<mujoco><compiler inertiafromgeom="true"/></mujoco>'
    backend = by_mujoco.load(written(tmp_path, ARM.format(extension=asked, wrist="revolute"))[0])
    frame = backend.frame({"qpos": np.zeros(2), "qvel": np.zeros(2)}, near=1e-3)
    mass = 1000 * 4 / 3 * np.pi * 0.1**3  # of water
    assert frame.M[1, 1] == pytest.approx(mass * 0.4 * 0.1**2, rel=1e-12)


def test_a_link_that_moves_without_mass_is_refused_by_name(tmp_path):
    model, _ = written(tmp_path, ARM.format(extension="", wrist="revolute"))
    with pytest.raises(
        FileError, match=r"^[^:]*arm.urdf: the link 'hand' moves without mass or inertia; give it an <in"
    ):
        by_mujoco.load(model)


def limited(limits):
    """The arm with other limits of its only moving joint."""
    return ARM.format(extension="", wrist="fixed").replace('<limit lower="-2" upper="2"', f"<limit {limits}", 1)


def both(model, contacts):
    return (by_mujoco.load(model), "qpos", "qvel"), (by_pinocchio.load(model, contacts=contacts), "q", "v")


@pytest.mark.parametrize(
    ("limits", "at", "low", "high"),
    [
        ('lower="-1"', -0.25, 0.75, 0.25),
        ('upper="1"', 0.25, 0.25, 0.75),
        ('lower="-1" upper="2"', 0.5, 1.5, 1.5),
    ],
)
def test_a_limit_that_is_not_given_is_0_by_either_engine(tmp_path, limits, at, low, high):
    for backend, position, velocity in both(*written(tmp_path, limited(limits))):
        frame = backend.frame({position: np.array([at]), velocity: np.zeros(1)}, near=10.0)
        gaps = {contact.name: contact.gap for contact in frame.contacts if contact.name.startswith("shoulder")}
        assert gaps == {"shoulder.low": low, "shoulder.high": high}


@pytest.mark.parametrize(
    ("limits", "said"), [('lower="2" upper="-2"', "from 2 to -2"), ("", "from 0 to 0"), ('lower="1"', "from 1 to 0")]
)
def test_limits_without_room_are_refused_by_either_engine(tmp_path, limits, said):
    model, contacts = written(tmp_path, limited(limits))
    for load in (by_mujoco.load, lambda path: by_pinocchio.load(path, contacts=contacts)):
        with pytest.raises(
            FileError, match=rf"^[^:]*arm.urdf: the joint 'shoulder' has limits {said}, between which it cannot move"
        ):
            load(model)


@pytest.mark.parametrize(
    ("axis", "said"), [('<axis xyz="0 1 0"/>', "0 1 0"), ('<axis xyz="0 0 -1"/>', "0 0 -1"), ("", "1 0 0")]
)
def test_planar_joints_that_pinocchio_would_turn_are_refused_by_name(tmp_path, axis, said):
    text = ARM.format(extension="", wrist="fixed").replace('"revolute"', '"planar"')
    model, contacts = written(tmp_path, text.replace('<axis xyz="0 1 0"/>', axis, 1))
    with pytest.raises(FileError, match=f"the planar joint 'shoulder' has the axis {said}, but pinocchio moves it"):
        by_pinocchio.load(model, contacts=contacts)


def test_a_planar_joint_across_z_is_that_of_pinocchio(tmp_path):
    text = ARM.format(extension="", wrist="fixed").replace('"revolute"', '"planar"').replace("0 1 0", "0 0 1")
    model, contacts = written(tmp_path, text)
    frame = by_pinocchio.load(model, contacts=contacts).frame(
        {"q": np.array([0, 0, 1.0, 0]), "v": np.zeros(3)}, near=1e-3
    )
    lever = 2 * 0.3
    np.testing.assert_allclose(frame.M, [[2, 0, 0], [0, 2, lever], [0, lever, 0.15 + lever * 0.3]], atol=1e-12)
