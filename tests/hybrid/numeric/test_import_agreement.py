"""What MuJoCo computes of a planar model and a mechanism file cannot say: refused by name, or taken over."""

import attrs
import numpy as np
import pytest

from hybrid import derive
from hybrid.declaration import EnergyDynamics
from hybrid.errors import ComputationError, FileError
from hybrid.numeric.backends.mujoco import load
from hybrid.numeric.backends.mujoco_agreement import check_agreement
from hybrid.numeric.backends.mujoco_planar import planar_mechanism

LEG = """
<mujoco model="leg">{option}<worldbody><geom name="floor" type="plane" size="5 5 .1" {floor}/>
  <body name="{trunk}" pos="0 0 1">
    <joint name="rx" type="slide" axis="1 0 0"/><joint name="rz" type="slide" axis="0 0 1"/>
    <joint name="rt" axis="0 1 0"/>
    <geom name="hip" type="sphere" size=".1" mass="3" contype="0" conaffinity="0"/>
    <body name="{shin}" pos="0 0 -.2" {body}><joint name="knee" axis="0 1 0" {knee}/>
      <inertial pos="0 0 -.2" mass="1.5" diaginertia=".02 .03 .01"/>
      <geom name="foot" type="sphere" pos="0 0 -.4" size=".05" {foot}/></body></body></worldbody>{more}</mujoco>
"""
PARTS = {"trunk": "trunk", "shin": "shin"}
FIELDS = ("option", "floor", "body", "knee", "foot", "more")


def leg(tmp_path, **parts):
    path = tmp_path / "leg.xml"
    path.write_text(LEG.format(**{**dict.fromkeys(FIELDS, ""), **PARTS, **parts}), encoding="utf-8")
    return load(path)


DRIVEN = '<actuator><motor name="drive" joint="knee" gear="3" {}/></actuator>'


@pytest.mark.parametrize(
    ("parts", "joint", "cause"),
    [
        ({"knee": 'stiffness="2 3 4"'}, "knee", "polynomial stiffness"),
        ({"knee": 'damping="2 3 4"'}, "knee", "polynomial damping"),
        ({"body": 'gravcomp="1"'}, "rz", "gravity compensation"),
        (
            {"knee": 'actuatorgravcomp="true"', "body": 'gravcomp="1"', "more": DRIVEN.format("")},
            "rz",
            "gravity compensation",
        ),
        ({"option": '<option density="1000" viscosity="1"/>'}, "rx", "a fluid"),
        ({"option": '<option><flag gravity="disable"/></option>'}, "rz", "the flag gravity"),
        ({"option": '<option><flag spring="disable"/></option>', "knee": 'stiffness="5"'}, "knee", "the flag spring"),
        ({"option": '<option><flag damper="disable"/></option>', "knee": 'damping="3"'}, "knee", "the flag damper"),
        ({"more": DRIVEN.format('armature="0.2"')}, "knee", "armature of actuators"),
        ({"more": DRIVEN.format('damping="0.2"')}, "knee", "damping of actuators"),
    ],
)
def test_a_file_that_would_move_otherwise_is_refused_by_joint_and_cause(tmp_path, parts, joint, cause):
    with pytest.raises(ComputationError, match=f"leg cannot be imported .* at joint '{joint}' .*: .*{cause}"):
        planar_mechanism(leg(tmp_path, **parts))


def test_any_other_equations_are_refused_though_no_cause_is_declared(tmp_path):
    source = leg(tmp_path)
    mechanism = planar_mechanism(source)[0]
    check_agreement(source, mechanism)
    kinetic, potential = mechanism.dynamics.kinetic, mechanism.dynamics.potential
    heavier = EnergyDynamics(kinetic=f"{kinetic} + knee_dot**2/1e5", potential=potential)
    with pytest.raises(ComputationError, match=r"another mass matrix at joint 'knee' .*: none that is known"):
        check_agreement(source, attrs.evolve(mechanism, dynamics=heavier))


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"more": '<contact><pair geom1="floor" geom2="foot" friction="0.3"/></contact>'}, "it has a <pair>"),
        ({"foot": 'condim="6"'}, "rolling friction"),
        ({"foot": 'adhesion="5"'}, "a geom is adhesive"),
        ({"knee": 'stiffness="5" springyield="0.2"'}, "a spring yields"),
        ({"trunk": "left-leg", "shin": "left leg"}, "'m_left_leg' would stand for two things"),
    ],
)
def test_contacts_and_names_that_no_file_can_tell_are_refused(tmp_path, parts, why):
    # before its version 4, MuJoCo itself refuses what sticks and yields
    with pytest.raises((ComputationError, FileError), match=f"{why}|unrecognized attribute"):
        planar_mechanism(leg(tmp_path, **parts))


def test_geoms_without_friction_or_without_contact_are_what_they_are(tmp_path):
    smooth = derive(planar_mechanism(leg(tmp_path, floor='condim="1"', foot='condim="1"'))[0])
    q = np.zeros(4)
    assert smooth.terms(q, q).friction.tolist() == [0.0]
    rough = derive(planar_mechanism(leg(tmp_path, floor='condim="1" priority="0"', foot='condim="3"'))[0])
    assert rough.terms(q, q).friction.tolist() == [1.0]
    ranked = derive(planar_mechanism(leg(tmp_path, floor='condim="1" priority="1"', foot='condim="3"'))[0])
    assert ranked.terms(q, q).friction.tolist() == [0.0]
    excluded = '<contact><exclude body1="world" body2="shin"/></contact>'
    assert not planar_mechanism(leg(tmp_path, more=excluded))[0].contact


def test_flags_take_limits_and_dry_friction_away(tmp_path):
    parts = {"knee": 'range="-10 10" frictionloss="3"'}
    mechanism = planar_mechanism(leg(tmp_path, **parts))[0]
    assert [contact.name for contact in mechanism.contact] == ["foot", "lower_knee", "upper_knee"]
    assert [element.name for element in mechanism.friction] == ["friction_knee"]
    flags = '<option><flag limit="disable" frictionloss="disable"/></option>'
    mechanism = planar_mechanism(leg(tmp_path, option=flags, **parts))[0]
    assert [contact.name for contact in mechanism.contact] == ["foot"]
    assert not mechanism.friction


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"option": '<option><flag contact="disable"/></option>'}, '<flag contact="disable"/>'),
        ({"option": '<option><flag constraint="disable"/></option>'}, '<flag constraint="disable"/>'),
        ({"option": '<option o_friction="1 1 0 0 0"><flag override="enable"/></option>'}, "friction of all contacts"),
        ({"floor": 'surfacevel="1 0 0"'}, r"velocity of their own \(surfacevel\) are not covered: floor"),
    ],
)
def test_models_whose_contacts_are_not_what_their_geoms_say_are_not_read(tmp_path, parts, why):
    with pytest.raises(FileError, match=f"{why}|unrecognized attribute"):
        leg(tmp_path, **parts)


def test_notes_tell_what_the_parameters_of_actuators_stand_for(tmp_path):
    drives = (
        '<actuator><position name="servo" joint="knee" kp="5"/><motor name="push" site="here" gear="1 0 0 0 0 0"/>'
        '</actuator><worldbody><site name="here"/></worldbody>'
    )
    mechanism, notes = planar_mechanism(leg(tmp_path, more=drives))
    assert [name for name in mechanism.parameters if name.startswith("tau_")] == ["tau_knee"]
    assert "the actuator push is left out: it acts on no joint" in notes
    assert any(note.startswith("tau_knee stands for the whole force of a servo") for note in notes)


def test_a_wheel_that_nothing_drives_is_not_refused_for_rounding(tmp_path):
    path = tmp_path / "wheel.xml"
    path.write_text(
        '<mujoco><option gravity="0 0 0"/><worldbody><body euler="0 31 0"><joint name="x" type="slide" axis="1 0 0"/>'
        '<joint name="turn" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0.7" mass="0.1"/>'
        '<geom size="0.1" pos="-0.1 0 -0.7" mass="0.3"/><geom size="0.1" pos="0 0 0.7" mass="0.2"/></body></worldbody>'
        "</mujoco>",
        encoding="utf-8",
    )
    dynamics = derive(planar_mechanism(load(path))[0])
    np.testing.assert_allclose(dynamics.terms([0.1, 0.3], [1.0, 2.0]).h, 0.0, atol=1e-12)


def test_notes_tell_margins_of_limits_and_bodies_that_are_moved_from_outside(tmp_path):
    lift = (
        '<worldbody><body name="lift" mocap="true" pos="0 0 -1"><geom name="deck" type="plane" size="1 1 1"/></body>'
        "</worldbody>"
    )
    knee = 'range="-2 2" limited="{}" margin="0.25"'
    _, notes = planar_mechanism(leg(tmp_path, knee=knee.format("true"), more=lift))
    assert "the body lift, moved from outside (mocap), is fixed where it is" in notes
    assert any("from a gap of 0.25 m or rad to limits of joints on (margin)" in note for note in notes)
    _, notes = planar_mechanism(leg(tmp_path, knee=knee.format("false")))
    assert not any("margin" in note or "mocap" in note for note in notes)
