"""Planar MJCF and URDF models as mechanism files, against MuJoCo's own equations and geometry."""

from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest

from hybrid import State, derive, select, simulate
from hybrid.cli import main
from hybrid.declaration import mechanism_from_toml, mechanism_to_toml, read_mechanism
from hybrid.numeric import select as select_numbers
from hybrid.numeric.backends.mujoco import load
from hybrid.numeric.backends.mujoco_planar import planar_mechanism
from hybrid.reporting.scene import build_scene
from hybrid.reporting.touching import drawn_points, touching

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"

FINGER = """
<mujoco>
  <option gravity="0 -9 0"/>
  <worldbody>
    <geom name="slope" type="plane" size="9 9 1" zaxis="0.3 1 0" pos="0 -1 0" friction="0.7 0 0"/>
    <body name="base" pos="0.1 0.4 0">
      <joint name="turn-1" type="hinge" axis="0 0 -1" pos="0.02 0.01 0" damping="0.3" armature="0.02"/>
      <joint name="lift" type="slide" axis="0.6 0.8 0" ref="0.2" frictionloss="0.5" stiffness="3" springref="0.1"/>
      <inertial pos="0.1 0.05 0" mass="0.8" diaginertia="0.01 0.02 0.03"/>
      <body name="tip" pos="0.3 -0.1 0" euler="0 0 20">
        <joint name="turn2" type="hinge" axis="0 0 1" range="-60 80" limited="true"/>
        <geom name="link" type="capsule" fromto="0 0 0 0.25 -0.1 0" size="0.02" mass="0.4" friction="0.9 0 0"/>
        <geom name="ball" type="sphere" pos="0.3 -0.1 0" size="0.05" mass="0.2"/>
        <geom name="box" type="box" pos="0 0.1 0" size="0.02 0.02 0.02" mass="0.1"/>
        <body name="fixed" pos="0.1 0.1 0">
          <geom name="weight" type="sphere" size="0.03" mass="0.3" contype="0" conaffinity="0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="turn2" gear="5"/></actuator>
</mujoco>
"""


def finger(tmp_path):
    path = tmp_path / "finger.xml"
    path.write_text(FINGER, encoding="utf-8")
    return load(path)


def models(tmp_path):
    return [finger(tmp_path), *(load(ASSETS / name) for name in ("hopper.xml", "walker2d_v5.xml", "half_cheetah.xml"))]


def test_equations_and_contacts_are_those_of_the_engine(tmp_path):
    rng = np.random.default_rng(0)
    for backend in models(tmp_path):
        mechanism, notes = planar_mechanism(backend)
        dynamics = derive(mechanism)
        matched, shared = 0, 0
        for _ in range(6):
            q, v = backend.model.qpos0 + 0.3 * rng.normal(size=dynamics.n), rng.normal(size=dynamics.n)
            frame, terms = backend.frame({"qpos": q, "qvel": v}, near=10.0), dynamics.terms(q, v)
            np.testing.assert_allclose(terms.M, frame.M, atol=1e-12 * np.abs(frame.M).max())
            loads = (
                sum(item.limit * np.sign(item.slip) * item.W_T for item in frame.friction) * 0.0
            )  # not among the smooth
            np.testing.assert_allclose(terms.h + loads, frame.h, atol=1e-12 * np.abs(frame.h).max())
            for contact in frame.contacts:
                if contact.W_T is None or not contact.name.startswith(("floor/", "slope/")) or "/box" in contact.name:
                    continue  # geoms that touch each other are not imported, nor are the corners of boxes
                places = np.flatnonzero(np.abs(terms.gap - contact.gap) < 1e-9)
                assert len(places) == 1, contact.name
                name = dynamics.contacts[int(places[0])]
                np.testing.assert_allclose(terms.W_N[:, places[0]], contact.W_N, atol=1e-9)
                assert terms.zeta_N[places[0]] == pytest.approx(contact.zeta_N, abs=1e-9)
                column, sign = (
                    dynamics.columns[name].start,
                    np.sign(terms.W_T[:, dynamics.columns[name].start] @ contact.W_T[:, 0]),
                )
                if not np.allclose(sign * terms.W_T[:, column], contact.W_T[:, 0], atol=1e-9):
                    shared += 1  # the ends of two capsules at their joint: either rolls
                    continue
                assert sign * terms.zeta_T[column] == pytest.approx(contact.zeta_T[0], abs=1e-9)
                assert terms.friction[places[0]] == pytest.approx(contact.friction)
                matched += 1
        assert matched > 10
        assert shared <= 6 * sum("one contact" in note for note in notes)


def test_the_drawing_touches_the_plane_where_a_sphere_does(tmp_path):
    dynamics = derive(planar_mechanism(finger(tmp_path))[0])
    q = np.array([[0.3, 0.5, 0.2], [0.1, -0.4, 1.0]])
    found, terms = touching(dynamics, q, 0.0 * q, 0.0), dynamics.terms(q, 0.0 * q)
    up, points = np.array([0.3, 1.0]) / np.hypot(0.3, 1.0), drawn_points(dynamics, q, 0.0, None)
    for name in ("ball", "link_a", "link_b"):
        assert found[name].points == (name,)
        np.testing.assert_allclose(found[name].normal, [up, up], atol=1e-8)
        heights = (points[name] - [0.0, -1.0]) @ up
        np.testing.assert_allclose(heights, terms.gap[:, dynamics.contacts.index(name)], atol=1e-12)


def test_limits_of_joints_are_no_floors(tmp_path):
    path = tmp_path / "leg.xml"
    path.write_text(
        """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 1">
        <joint name="lift" type="slide" axis="0 0 1" limited="true" range="-1 1"/>
        <geom size="0.1" contype="0" conaffinity="0"/>
        <body><joint name="hip" axis="0 1 0" limited="true" range="-90 90"/>
        <geom name="foot" pos="0 0 -0.4" size="0.03"/></body></body></worldbody></mujoco>""",
        encoding="utf-8",
    )
    mechanism = mechanism_from_toml(mechanism_to_toml(planar_mechanism(load(path))[0]))
    scene = build_scene(simulate(derive(mechanism), State([0.5, 0.2], [0.0, 0.0]), t_end=0.1))
    assert not {surface.contact for surface in scene.surfaces} & {"lower_lift", "upper_lift"}
    assert "foot" in {surface.contact for surface in scene.surfaces}
    assert not {force.name for force in scene.forces} & {"lower_hip", "upper_hip"}
    assert scene.without_force == ()


def test_a_slipping_foot_has_one_verdict_by_both_ways():
    backend = load(ASSETS / "hopper.xml")
    dynamics = derive(planar_mechanism(backend)[0])
    rng, seen, floor = np.random.default_rng(1), set(), [name.endswith(("_a", "_b")) for name in dynamics.contacts]
    for _ in range(40):
        angles = [0.4 * rng.normal(), *(-0.2 - rng.uniform(size=2)), rng.uniform(-0.6, 0.6)]
        q, v = np.array([0.0, 1.25, *angles]), rng.normal(size=6)
        gap = dynamics.terms(q, v).gap
        place = int(np.argmin(np.where(floor, gap, np.inf)))
        if not dynamics.contacts[place].startswith("foot"):
            continue
        q[1] -= gap[place]
        v[1] -= float(dynamics.terms(q, v).gap_dot[place])
        own = select(dynamics, State(q, v))
        frame = backend.frame({"qpos": q, "qvel": v}, near=1e-6)
        contacts = [item.closed(at_rest=False) for item in frame.contacts if item.name.startswith("floor/foot")]
        other = select_numbers(frame.state(contacts, name="hopper"))
        assert own.verdict is other.verdict
        for one, two in zip(own.branches, other.branches, strict=True):
            np.testing.assert_allclose(one.acceleration, two.acceleration, rtol=1e-8, atol=1e-8)
        seen.add(own.verdict)
    assert len(seen) > 1


def test_the_file_that_is_written_is_the_mechanism_and_notes_name_what_is_left_out(tmp_path, capsys):
    (tmp_path / "finger.xml").write_text(FINGER, encoding="utf-8")
    assert main(["import", str(tmp_path / "finger.xml"), "-o", str(tmp_path / "finger.toml")]) == 0
    said = capsys.readouterr()
    assert "3 coordinates" in said.out
    assert "geom box is left out: only spheres and capsules have points" in said.err
    mechanism = read_mechanism(tmp_path / "finger.toml")
    assert mechanism.coordinates == ("turn_1", "lift", "turn2")
    assert {item.name for item in mechanism.contact} == {"link_a", "link_b", "ball", "lower_turn2", "upper_turn2"}
    assert [item.name for item in mechanism.friction] == ["friction_lift"]
    assert main(["import", str(tmp_path / "finger.xml")]) == 0
    assert mechanism_to_toml(mechanism_from_toml(capsys.readouterr().out)) == mechanism_to_toml(mechanism)
    assert main(["check", str(tmp_path / "finger.toml")]) == 0


def test_a_urdf_chain_stands_on_the_level_through_the_origin(tmp_path, capsys):
    (tmp_path / "leg.urdf").write_text(
        """<robot name="leg"><link name="base"/><link name="shank">
        <inertial><mass value="2"/><origin xyz="0 0 -0.2"/>
        <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><origin xyz="0 0 -0.4"/><geometry><sphere radius="0.05"/></geometry></collision></link>
        <joint name="knee" type="continuous"><parent link="base"/><child link="shank"/><origin xyz="0 0 0.44"/>
        <axis xyz="0 1 0"/></joint></robot>""",
        encoding="utf-8",
    )
    assert main(["import", str(tmp_path / "leg.urdf")]) == 0
    said = capsys.readouterr()
    assert "the level through the origin, with friction 1" in said.err
    dynamics = derive(mechanism_from_toml(said.out))
    terms = dynamics.terms(np.array([0.3]), np.array([0.5]))
    # a pendulum with its point of support 0.44 above the level, the sphere 0.4 below it
    assert terms.gap[0] == pytest.approx(0.44 - 0.4 * np.cos(0.3) - 0.05, abs=1e-12)
    assert terms.M[0, 0] == pytest.approx(0.1 + 2 * 0.2**2, rel=1e-12)
    assert abs(terms.h[0]) == pytest.approx(2 * 9.81 * 0.2 * np.sin(0.3), rel=1e-12)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('<freejoint/><geom size="1" mass="1"/>', "is a free or a ball joint"),
        ('<joint axis="0 1 0"/><joint axis="1 0 0"/><geom size="1" mass="1"/>', "its hinges are not parallel"),
        (
            '<joint axis="0 1 0"/><joint type="slide" axis="0 1 0"/><geom size="1" mass="1"/>',
            "is not across its hinges",
        ),
        ('<geom size="1" mass="1"/>', "it has no joints"),
    ],
)
def test_models_that_are_not_planar_are_refused_by_name(tmp_path, capsys, body, why):
    (tmp_path / "model.xml").write_text(
        f"<mujoco><worldbody><body>{body}</body></worldbody></mujoco>", encoding="utf-8"
    )
    assert main(["import", str(tmp_path / "model.xml")]) == 3
    error = capsys.readouterr().err
    assert "model cannot be imported as a planar mechanism" in error and why in error
    assert mujoco.__name__ not in error


CART = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="cart" pos="0 0 0.5">
      <joint name="x" type="slide" axis="1 0 0"/>
      <geom name="wheel" type="sphere" size="0.1" mass="3"/>
      <body name="pole">
        <joint name="turn" type="hinge" axis="0 1 0"/>
        <geom name="bob" type="sphere" size="0.05" pos="0 0 0.45" mass="0.5"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_a_cart_keeps_its_height_and_its_pole_swings(tmp_path):
    (tmp_path / "cart.xml").write_text(CART, encoding="utf-8")
    backend = load(tmp_path / "cart.xml")
    mechanism, notes = planar_mechanism(backend)
    assert [contact.name for contact in mechanism.contact] == ["bob"]
    assert any("wheel" in note and "height" in note for note in notes)
    dynamics = derive(mechanism)
    for turn, rate in ((0.3, -1.0), (2.0, 0.5)):
        terms = dynamics.terms([0.2, turn], [0.1, rate])
        frame = backend.frame({"qpos": np.array([0.2, turn]), "qvel": np.array([0.1, rate])}, near=10.0)
        np.testing.assert_allclose(terms.M, frame.M, rtol=1e-9)
        assert terms.h == pytest.approx(frame.h, rel=1e-9, abs=1e-9)
        assert terms.gap[0] == pytest.approx(0.5 + 0.45 * np.cos(turn) - 0.05, rel=1e-9)


def test_what_does_not_move_along_its_plane_has_no_friction(tmp_path):
    path = tmp_path / "hopper.xml"
    path.write_text(
        """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="hopper" pos="0.3 0 1">
        <joint name="lift" type="slide" axis="0 0 1"/><geom name="foot" size="0.1" mass="2"/>
        <body pos="0 0 0.5"><joint name="turn" axis="0 1 0"/><geom size="0.05" pos="0.2 0 0" mass="0.1"/></body>
        </body></worldbody></mujoco>""",
        encoding="utf-8",
    )
    mechanism, notes = planar_mechanism(load(path))
    foot = mechanism.contact[0]
    assert (foot.name, foot.tangent, foot.friction, "mu_foot" in mechanism.parameters) == ("foot", (), "0", False)
    assert any("foot has no friction" in note for note in notes)
    assert derive(mechanism).terms([-0.25, 0.4], [0.0, 0.0]).gap[0] == pytest.approx(0.9 - 0.25, rel=1e-12)


CROOKED = """
<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/>
  <body name="thigh" pos="0 0 0.5"><joint name="hip" type="hinge" axis="0 1 0"/>
    <geom name="thigh" type="capsule" fromto="{start} 0 0 0.4 {aside} 0" size="0.04" mass="1"/>
    <body name="shin" pos="0.4 {aside} 0"><joint name="knee" type="hinge" axis="0 1 0"/>
      <geom name="shin" type="capsule" fromto="0 0 0 0.3 {aside} 0" size="0.04" mass="1"/>
    </body>
  </body>
</worldbody></mujoco>
"""


@pytest.mark.parametrize(("start", "aside"), [(-0.4, 0.0), (-0.4, 0.7), (0.0, 0.1), (-0.1, 0.2)])
def test_capsules_out_of_the_plane_have_the_ends_that_they_have_in_it(tmp_path, start, aside):
    (tmp_path / "leg.xml").write_text(CROOKED.format(start=start, aside=aside), encoding="utf-8")
    mechanism, notes = planar_mechanism(load(tmp_path / "leg.xml"))
    assert sum("one contact" in note for note in notes) == 1  # the knee belongs to both
    hip, knee = 0.3, -0.8
    # heights of heel, knee and toe; at the hip itself an end keeps its height
    depths = [-0.4 * np.sin(hip), -0.4 * np.sin(hip) - 0.3 * np.sin(hip + knee)]
    depths += [-start * np.sin(hip)] if start else []
    gaps = derive(mechanism).terms([hip, knee], [0.0, 0.0]).gap
    np.testing.assert_allclose(np.sort(gaps), np.sort(0.5 - 0.04 + np.array(depths)), rtol=1e-12)
