"""MuJoCo models against declared mechanisms, against MuJoCo's own dynamics, and against differences of its geometry."""

from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest

import hybrid
import mechanisms
from hybrid import StateError, derive, solve_state
from hybrid.errors import FileError
from hybrid.numeric import select, sliding_problem
from hybrid.numeric.backends.mujoco import load
from hybrid.numeric.backends.mujoco_contacts import remainder_by_differences, remainder_of
from hybrid.numeric.lint import lint
from hybrid.numeric.logs import Log
from hybrid.numeric.posing import Thresholds, posed_frame, states_of

WALKER = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "walker2d_v5.xml"

# The uniform rod of rod_on_incline: mass 1, half length 1, inertia 1/3, its tip a sphere of no size.
ROD = """
<mujoco>
  <option gravity="0 0 -1"/>
  <worldbody>
    <geom name="plane" type="plane" size="5 5 1" friction="{mu} 0 0"/>
    <body name="rod">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="y" type="slide" axis="0 0 1"/>
      <joint name="phi" type="hinge" axis="0 -1 0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.001 0.3333333333333333 0.3333333333333333"/>
      <geom name="tip" type="sphere" size="1e-12" pos="-1 0 0" friction="0 0 0"/>
    </body>
  </worldbody>
</mujoco>
"""


def written(tmp_path, text, name="model.xml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return load(path)


def swung(backend, *, frames, seed):
    """Frames of a motion under random actions."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(backend.model)
    for _ in range(frames):
        data.ctrl[:] = rng.uniform(-1, 1, backend.model.nu)
        mujoco.mj_step(backend.model, data)
        yield {"qpos": np.array(data.qpos), "qvel": np.array(data.qvel), "ctrl": np.array(data.ctrl)}


@pytest.mark.parametrize(("phi", "rate", "slip"), [(2.0, 1.0, 1.0), (2.0, 1.5, 1.0), (1.1, 0.3, -0.7), (0.6, 0.2, 0.4)])
def test_a_rod_in_mjcf_is_the_declared_rod(tmp_path, phi, rate, slip):
    backend = written(tmp_path, ROD.format(mu=1.5))
    rod = derive(mechanisms.load("rod_on_incline")).at({"mu": 1.5})
    state = solve_state(rod, {"phi": phi, "phi_dot": rate, "slip.tip": slip})
    frame = backend.frame({"qpos": state.q, "qvel": state.v}, near=1e-9)
    (contact,) = frame.contacts
    assert contact.friction == 1.5
    declared = hybrid.select(rod, state)
    numeric = select(frame.state([contact.closed(at_rest=False)], name="rod"))
    assert numeric.verdict is declared.verdict
    for own, other in zip(numeric.branches, declared.branches, strict=True):
        assert own.lambda_N[contact.name] == pytest.approx(other.lambda_N["tip"], abs=1e-9)
        np.testing.assert_allclose(own.acceleration, other.acceleration, atol=1e-9)


def test_remainders_are_differences_along_the_motion():
    backend, seen = load(WALKER), 0
    probe = mujoco.MjData(backend.model)
    for row in swung(backend, frames=150, seed=1):
        backend.frame(row, near=1e-2)
        data, near = backend._data, backend._copy
        for contact in data.contact[: data.ncon]:
            formula = remainder_of(backend.model, data, contact)
            difference = remainder_by_differences(near, data, contact, probe)
            # central differences over 2e-6 s of velocities with 1e-16 of 10 m/s: 1e-9, and curvature times 1e-12
            np.testing.assert_allclose(formula, difference, atol=1e-6 * (1 + np.abs(formula).max()))
            seen += 1
    assert seen > 50


def test_forward_dynamics_with_the_sliding_force_put_in_by_hand_accelerates_by_the_problem():
    backend, seen = load(WALKER), 0
    for row in swung(backend, frames=400, seed=2):
        frame = backend.frame(row, near=1e-3)
        rough = [contact for contact in frame.contacts if contact.W_T is not None and abs(contact.slip[0]) > 0.05]
        if not rough:
            continue
        contact, force = rough[0], 37.0
        problem = sliding_problem(frame.state([contact.closed(at_rest=False)], name="w"), contacts=(0,))
        pushed = contact.W_N * force - contact.friction * np.sign(contact.slip[0]) * contact.W_T[:, 0] * force
        data = mujoco.MjData(backend.model)
        for name in ("qpos", "qvel", "ctrl"):
            getattr(data, name)[:] = row[name]
        backend.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        data.qfrc_applied[:] = pushed
        mujoco.mj_forward(backend.model, data)
        normal = contact.W_N @ data.qacc + contact.zeta_N
        predicted = float(problem.A[0, 0] * force + problem.b[0])
        # two solves with the same mass matrix, of condition 1e4
        assert normal == pytest.approx(predicted, rel=1e-9, abs=1e-9 * abs(problem.b[0]))
        seen += 1
    assert seen > 10


@pytest.mark.parametrize(
    ("radius", "borne"), [(0.12, ["floor/foot"]), (0.08, ["floor/shank"]), (0.1, ["floor/foot", "floor/shank"])]
)
def test_the_larger_capsule_bears_at_a_shared_end_and_either_if_they_are_equal(tmp_path, radius, borne):
    backend = written(
        tmp_path,
        f"""
        <mujoco><worldbody>
          <geom name="floor" type="plane" size="5 5 1" friction="0.8 0 0"/>
          <body name="upper" pos="0 0 0.1">
            <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>
            <geom name="shank" type="capsule" fromto="0 0 0 0 0 1" size="0.1"/>
            <body name="foot">
              <joint type="hinge" axis="0 1 0"/>
              <geom name="foot" type="capsule" fromto="0 0 0 1 0 0.2" size="{radius}"/>
            </body>
          </body>
        </worldbody></mujoco>
        """,
    )
    backend.model.geom_contype[:] = 1
    frame = backend.frame({"qpos": np.zeros(4), "qvel": np.array([0.5, 0.0, 0.0, 0.0])}, near=1e-6)
    assert [contact.name for contact in frame.contacts] == borne
    for contact in frame.contacts:
        assert select(frame.state([contact.closed(at_rest=False)], name="leg")).verdict.name == "UNIQUE"
        # a rolling foot turns by its own joint, too: the two have different directions of friction
        lever = radius if contact.name == "floor/foot" else 0.0
        np.testing.assert_allclose(contact.W_T[3], -lever, atol=1e-12)


def test_limits_dry_friction_and_armature_are_there(tmp_path):
    backend = written(
        tmp_path,
        """
        <mujoco><compiler angle="radian"/><worldbody><body>
          <joint name="hinge" type="hinge" axis="0 1 0" limited="true" range="-0.5 0.5"
                 frictionloss="0.3" armature="2"/>
          <inertial pos="1 0 0" mass="3" diaginertia="1 1 1"/>
        </body></worldbody></mujoco>
        """,
    )
    frame = backend.frame({"qpos": np.array([0.5]), "qvel": np.array([0.0])}, near=1e-9)
    assert frame.M[0, 0] == pytest.approx(2 + 1 + 3 * 1**2)
    assert [(contact.name, contact.gap) for contact in frame.contacts] == [("hinge.high", 0.0)]
    assert frame.friction[0].limit == 0.3
    # gravity turns it with 3 g cos(0.5) into the limit; what of that its friction bears is open
    found = select(frame.state([contact.closed(at_rest=False) for contact in frame.contacts], name="arm"))
    assert found.verdict.name == "HYPERSTATIC"
    (branch,) = found.branches
    assert branch.lambda_N["hinge.high"] == pytest.approx(3 * 9.81 * np.cos(0.5), abs=0.3 + 1e-9)
    assert branch.acceleration[0] == pytest.approx(0.0, abs=1e-9)


def test_a_closed_chain_has_its_constraint(tmp_path):
    backend = written(
        tmp_path,
        """
        <mujoco><worldbody>
          <body name="a" pos="0 0 1"><joint type="hinge" axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 1 0 0" size="0.02" mass="1"/></body>
          <body name="b" pos="2 0 1"><joint type="hinge" axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 -1 0 0" size="0.02" mass="1"/></body>
        </worldbody>
        <equality><connect body1="a" body2="b" anchor="1 0 0"/></equality></mujoco>
        """,
    )
    frame = backend.frame({"qpos": np.zeros(2), "qvel": np.array([0.7, -0.7])}, near=1e-9)
    # ends meet at (1, 0): both go down with the rates 0.7 and -0.7 of arms 1 and -1, and are pulled to their pivots
    assert np.abs(frame.J @ frame.v).max() < 1e-12
    assert np.abs(frame.zeta_B).max() == pytest.approx(2 * 0.7**2, rel=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco><worldbody><body><geom/></body></worldbody></mujoco>", "MuJoCo cannot read"),
        ("<mujoco>", "no XML"),
        ('<mujoco><include file="../secret.xml"/></mujoco>', "outside its folder"),
        ('<mujoco><worldbody><geom name="a" size="1" friction="-1"/></worldbody></mujoco>', "geom 'a' is negative"),
    ],
)
def test_models_that_do_not_load_are_refused(tmp_path, text, message):
    with pytest.raises(FileError, match=message):
        written(tmp_path, text)


def test_a_quaternion_must_have_length_one(tmp_path):
    backend = written(
        tmp_path, "<mujoco><worldbody><body><freejoint name='root'/><geom size='0.1'/></body></worldbody></mujoco>"
    )
    with pytest.raises(StateError, match="quaternion of joint 'root' has length 2"):
        backend.frame({"qpos": np.array([0, 0, 1, 2, 0, 0, 0.0]), "qvel": np.zeros(6)}, near=1e-3)


def test_unequal_tangential_friction_is_refused(tmp_path):
    backend = written(
        tmp_path,
        """
        <mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
          <body pos="0 0 0.1"><freejoint/><geom name="ball" size="0.1"/></body></worldbody>
        <contact><pair geom1="floor" geom2="ball" friction="0.5 0.7 0 0 0"/></contact></mujoco>
        """,
    )
    with pytest.raises(StateError, match="unequal tangential coefficients"):
        backend.frame({"qpos": np.array([0, 0, 0.1, 1, 0, 0, 0.0]), "qvel": np.zeros(6)}, near=1e-3)


@pytest.mark.parametrize(
    ("floor", "ball", "pair", "expected"),
    [
        ("0.7", "1.9", "", (1.9, 0.7, 1.9, "the larger one, of ball")),
        ("0.7", "0.4", "", (0.7, 0.7, 0.4, "the larger one, of floor")),
        ("0.7", '0.4" priority="1', "", (0.4, 0.7, 0.4, "that of ball, which has priority")),
        ("0.7", "0.4", '<pair geom1="floor" geom2="ball" friction="0.2 0.2"/>', (0.2, 0.7, 0.4, "that of the <pair>")),
    ],
)
def test_friction_in_force_is_that_of_the_engine_and_says_what_is_declared(tmp_path, floor, ball, pair, expected):
    backend = written(
        tmp_path,
        f"""
        <mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="{floor}"/>
          <body pos="0 0 0.1"><freejoint/><geom name="ball" size="0.1" friction="{ball}"/></body></worldbody>
        <contact>{pair}</contact></mujoco>
        """,
    )
    (contact,) = backend.frame({"qpos": np.array([0, 0, 0.1, 1, 0, 0, 0.0]), "qvel": np.zeros(6)}, near=1e-3).contacts
    assert contact.friction == expected[0]
    assert backend.friction_in_force(("floor", "ball")) == expected


@pytest.mark.parametrize(("condim", "has_torsion"), [(1, False), (3, False), (4, True), (6, True)])
def test_torsion_and_rolling_are_left_out_and_said(tmp_path, condim, has_torsion):
    backend = written(
        tmp_path,
        f"""
        <mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" condim="1"/>
          <body pos="0 0 0.1"><freejoint/><geom name="ball" size="0.1" condim="{condim}" friction="0.8 0.3 0.2"/></body>
        </worldbody></mujoco>
        """,
    )
    row = {"qpos": np.array([[0, 0, 0.1, 1, 0, 0, 0.0]]), "qvel": np.array([[0.4, 0, 0, 0, 0, 0]])}
    (contact,) = backend.frame({name: values[0] for name, values in row.items()}, near=1e-3).contacts
    assert contact.has_torsion is has_torsion
    report = lint(backend, Log({**row, "ctrl": np.zeros((1, 0))}, None), frictions=())
    said = [note for note in report.notes if "condim 4 or 6" in note]
    assert [note.split()[0] for note in said] == ["1"] * has_torsion
    assert report.counted == int(condim > 1)
    # a ball whose lowest point slips: a_N = lambda/m + b, whatever its friction or torsion
    if condim > 1:
        assert report.worst[0].A[0][0] == pytest.approx(1.0 / backend.model.body_mass[1])


def test_optional_columns_of_a_log_act_on_the_model(tmp_path):
    backend = written(
        tmp_path,
        """
        <mujoco><option gravity="0 0 -10"/>
          <worldbody>
            <body name="hand" mocap="true"><geom type="plane" size="1 1 1" friction="0.5"/></body>
            <body name="ball" pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0"/>
              <joint name="z" type="slide" axis="0 0 1"/><geom name="ball" size="0.1" mass="2"/></body>
          </worldbody>
          <actuator><general joint="x" dyntype="integrator" gainprm="3"/></actuator>
        </mujoco>
        """,
    )
    row = {"qpos": np.zeros(2), "qvel": np.array([1.0, 0.0]), "ctrl": np.zeros(1)}
    assert backend.frame(row, near=1e-3).h == pytest.approx([0.0, -20.0])
    pushed = {
        "act": np.array([2.0]),  # a gain of 3: 6 N along x
        "qfrc_applied": np.array([0.5, 0.25]),
        "xfrc_applied": np.concatenate(
            [np.zeros(12), [10.0, 0.0, 4.0, 0.0, 0.0, 0.0]]
        ),  # of the world, the hand, the ball
    }
    assert backend.frame({**row, **pushed}, near=1e-3).h == pytest.approx([16.5, -15.75])
    lowered = {"mocap_pos": np.array([0.0, 0.0, -0.2]), "mocap_quat": np.array([1.0, 0.0, 0.0, 0.0])}
    assert len(backend.frame(row, near=1e-3).contacts) == 1
    assert backend.frame({**row, **lowered}, near=1e-3).contacts == ()


def test_static_friction_may_hold_what_friction_lets_slide(tmp_path):
    """At rest, pushed by 4 N along the floor and 10 N onto it: more than friction 0.3 holds, less than 0.5."""
    path = tmp_path / "model.xml"
    path.write_text(
        """
        <mujoco><option gravity="4 0 -10"/><worldbody>
          <geom name="floor" type="plane" size="1 1 1" friction="0.3"/>
          <body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
            <geom name="block" type="sphere" size="0.1" mass="1" friction="0.3"/></body>
        </worldbody></mujoco>
        """,
        encoding="utf-8",
    )
    backend = load(path)
    log = Log({"qpos": np.zeros((1, 2)), "qvel": np.zeros((1, 2)), "ctrl": np.zeros((1, 0))}, None)
    for static, modes in ((None, {"slide+"}), (0.5, {"slide+", "stick"})):
        thresholds = Thresholds.of(backend, static_friction=static)
        posed = posed_frame(backend, next(log.rows()), thresholds)
        found = select(states_of([posed], thresholds, "block").at(0))
        assert {branch.mode["floor/block"].value for branch in found.branches} == modes
        assert lint(backend, log, thresholds=thresholds).resting == {found.verdict.name: 1}


PILLS = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" friction="0.8"/>
    <body name="pill" pos="0 0 0.1">
      <freejoint/>
      <geom name="pill" type="capsule" fromto="-0.3 0 0 0.3 0 0" size="0.1"/>
      <body name="shell" pos="0 0 0.01"><geom name="shell" type="sphere" size="0.11"/></body>
    </body>
    <body name="wheel" pos="0 2 0.2">
      <freejoint/>
      <geom name="wheel" type="sphere" size="0.2"/>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("turn", [0.3, 1.1, 2.9])
def test_the_forces_of_a_capsule_on_its_two_ends_are_open_in_any_heading(tmp_path, turn):
    """Three points of one body in line: nine forces for five of its six motions, whatever the rounding of a turn."""
    backend = written(tmp_path, PILLS)
    qpos = backend.model.qpos0.copy()
    qpos[3:7] = [np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)]
    row = {"qpos": qpos, "qvel": np.zeros(backend.model.nv), "ctrl": np.zeros(0)}
    thresholds = Thresholds.of(backend)
    posed = posed_frame(backend, row, thresholds)
    # a welded body is one with that which carries it
    assert sorted(contact.body for contact in posed.contacts) == ["pill", "pill", "pill", "wheel"]
    found = select(states_of([posed], thresholds, "pills").at(0), cover_budget=60)
    assert (found.verdict.name, found.force_set.dimension) == ("HYPERSTATIC", 9 - 5)
