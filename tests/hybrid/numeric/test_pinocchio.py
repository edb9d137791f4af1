"""Models by pinocchio: against MuJoCo's numbers of the same model, against formulas, and refusals."""

import json
import sys

import numpy as np
import pytest

from hybrid.cli import main
from hybrid.errors import FileError
from hybrid.numeric import NumericContact, NumericState, select, sliding_problem
from hybrid.numeric.backends import mujoco as by_mujoco, pinocchio as by_pinocchio
from hybrid.numeric.posing import Thresholds
from hybrid.numeric.samples import sampled_log
from tests.hybrid.numeric.test_mujoco import WALKER, swung

# The uniform rod of mass 1, half length 1 and inertia 1/3 on a horizontal plane under gravity 9.81; its tip is a point.
ROD = """
<robot name="rod">
  <link name="world"/><link name="cart"/><link name="lift"/>
  <link name="rod"><inertial><mass value="1"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.3333333333333333" iyz="0" izz="0.3333333333333333"/></inertial></link>
  <link name="tip"/>
  <joint name="x" type="prismatic"><parent link="world"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-{reach}" upper="{reach}" effort="1" velocity="1"/></joint>
  <joint name="y" type="prismatic"><parent link="cart"/><child link="lift"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
  <joint name="phi" type="revolute"><parent link="lift"/><child link="rod"/><axis xyz="0 -1 0"/>
    <limit lower="-4" upper="4" effort="1" velocity="1"/><dynamics damping="{damping}" friction="{dry}"/></joint>
  <joint name="end" type="fixed"><parent link="rod"/><child link="tip"/><origin xyz="-1 0 0"/></joint>
</robot>
"""
CONTACTS = """
contact = [{{ frame = "tip", friction = 1.5, radius = {radius} }}]
[rotor_inertia]
x = 0
y = 0
phi = {rotor}
"""


def rod(tmp_path, *, radius=0.0, rotor=0.0, damping=0.0, dry=0.0, reach=9.0):
    model, contacts = tmp_path / "rod.urdf", tmp_path / "contacts.toml"
    model.write_text(ROD.format(damping=damping, dry=dry, reach=reach), encoding="utf-8")
    contacts.write_text(CONTACTS.format(radius=radius, rotor=rotor), encoding="utf-8")
    return model, contacts


def posed(*, phi=2.0, rate=1.0, slip=1.0, radius=0.0):
    """Position and velocity of the rod with its tip on the plane, slipping, without normal velocity."""
    s, c = np.sin(phi), np.cos(phi)
    # the material point at the bottom of the sphere moves by the turning, phi_dot about -y, too
    return np.array([0.0, radius + s, phi]), np.array([slip - (s + radius) * rate, c * rate, rate])


@pytest.mark.parametrize(("radius", "rotor", "damping"), [(0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.1, 0.4, 0.3)])
def test_a_rod_has_the_accelerations_of_its_closed_form(tmp_path, radius, rotor, damping):
    model, contacts = rod(tmp_path, radius=radius, rotor=rotor, damping=damping)
    backend = by_pinocchio.load(model, contacts=contacts)
    q, v = posed(rate=1.3, radius=radius)
    frame = backend.frame({"q": q, "v": v, "tau": np.array([0.5, 0.0, -0.2])}, near=1e-9)
    (contact,) = frame.contacts
    assert (contact.gap, contact.gap_dot) == pytest.approx((0.0, 0.0), abs=1e-14)
    np.testing.assert_allclose(contact.slip, [1.0], rtol=1e-13)
    problem = sliding_problem(frame.state([contact.closed(at_rest=False)], name="rod"), contacts=(0,))
    # y - sin(phi) = radius and x + radius phi - cos(phi) is the slip's rate, J = 1/3 and the rotor
    s, c, J, mu = np.sin(2.0), np.cos(2.0), 1 / 3 + rotor, 1.5
    assert problem.A[0, 0] == pytest.approx(1 + c**2 / J + mu * c * (s + radius) / J, rel=1e-12)
    assert problem.b[0] == pytest.approx(-9.81 - c * (-0.2 - damping * 1.3) / J + s * 1.3**2, rel=1e-12)


def rod_log(tmp_path, **changes):
    q, v = posed()
    arrays = {"q": np.array([q, q, q + np.array([0, 0.5, 0])]), "v": np.array([v, v - [0, 0.2, 0], v]), **changes}
    path = tmp_path / "log.npz"
    np.savez(path, **{name: values for name, values in arrays.items() if values is not None})
    return path


def linted(capsys, model, log, contacts, *words):
    status = main(["lint", str(model), "--log", str(log), "--contacts", str(contacts), *words])
    told = capsys.readouterr()
    return status, told.out, " ".join(told.err.split())


def test_the_linter_reads_a_log_of_q_and_v(tmp_path, capsys):
    model, contacts = rod(tmp_path)
    status, out, err = linted(capsys, model, rod_log(tmp_path), contacts, "--json")
    assert status == 0
    answer = json.loads(out)
    assert (answer["frames"], answer["counted"]) == (3, 1)
    assert answer["left_out"] == {"impact": 1, "no_contact": 1}
    (worst,) = answer["worst"]
    s, c = np.sin(2.0), np.cos(2.0)
    assert worst["contacts"] == ["tip"]
    assert worst["critical_factor"] == pytest.approx(-(1 + 3 * c**2) / (3 * s * c) / 1.5)
    assert worst["b"][0] == pytest.approx(s - 9.81)
    assert worst["gradient"]["friction"] == {"tip": pytest.approx(-worst["critical_factor"], rel=1e-7)}
    assert worst["gradient"]["mass"] == {"rod": pytest.approx(0.0, abs=1e-7)}
    slope = (2 + (1 + 3 * c**2) * (c**2 - s**2) / (3 * s**2 * c**2)) / 1.5
    assert worst["gradient"]["posture"]["phi"] == pytest.approx(slope, rel=1e-6)
    assert answer["friction_in_force"] == [
        {
            "pair": ["plane", "tip"],
            "value": 1.5,
            "declared": [1.5, 1.5],
            "source": "that of the file of contacts",
        }
    ]
    assert "the log has no tau: zeros are taken" in err
    assert "rotor" not in err + out


def test_a_page_draws_the_posture(tmp_path, capsys):
    model, contacts = rod(tmp_path)
    page = tmp_path / "rod.html"
    assert linted(capsys, model, rod_log(tmp_path), contacts, "-o", str(page))[0] == 0
    assert "<svg" in page.read_text(encoding="utf-8")


def test_a_file_of_contacts_that_is_too_large_is_called_what_it_is(tmp_path, capsys):
    model, contacts = rod(tmp_path)
    contacts.write_text("# padding\n" * 100_000, encoding="utf-8")
    status, _, err = linted(capsys, model, rod_log(tmp_path), contacts)
    assert status == 2
    assert "is larger than 128 kB; a file of contacts has a few" in err


def test_rotor_inertia_that_is_not_given_is_asked_for(tmp_path, capsys):
    model, contacts = rod(tmp_path)
    contacts.write_text('[[contact]]\nframe = "tip"\nfriction = 1.5\n[rotor_inertia]\nphi = 0.1\n', encoding="utf-8")
    _, out, err = linted(capsys, model, rod_log(tmp_path), contacts, "--json")
    (note,) = [note for note in json.loads(out)["notes"] if "rotor" in note]
    assert note.startswith("warning: no rotor inertia is known of x, y: URDF has none")
    assert note in err


def test_limits_and_dry_friction_of_joints(tmp_path):
    model, contacts = rod(tmp_path, dry=0.7, reach=0.5)
    backend = by_pinocchio.load(model, contacts=contacts)
    q, v = posed()
    q[0] = 0.6
    frame = backend.frame({"q": q, "v": v}, near=1e-9)
    assert [contact.name for contact in frame.contacts] == ["tip", "x.high"]
    assert (frame.contacts[1].gap, frame.contacts[1].gap_dot) == pytest.approx((-0.1, -v[0]))
    assert [(element.name, float(element.limit)) for element in frame.friction] == [("friction 2", 0.7)]


INERTIAL = '<inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
# a ram that slides at 45 degrees on a cart, with two feet side by side
SLED = f"""
<robot name="sled"><link name="base"/><link name="a"/><link name="b"/>
  <link name="cart">{INERTIAL.format(0.5)}</link><link name="ram">{INERTIAL.format(1)}</link>
  <joint name="x" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-5" upper="5" effort="1" velocity="1"/></joint>
  <joint name="s" type="prismatic"><parent link="cart"/><child link="ram"/><axis xyz="1 0 1"/>
    <limit lower="-5" upper="5" effort="1" velocity="1"/></joint>
  <joint name="ja" type="fixed"><parent link="ram"/><child link="a"/><origin xyz="-0.2 0 {{lift}}"/></joint>
  <joint name="jb" type="fixed"><parent link="ram"/><child link="b"/><origin xyz="0.2 0 0"/></joint>
</robot>
"""
FEET = {name: f'[[contact]]\nframe = "{name}"\nfriction = {mu}\n' for name, mu in (("a", 0.1), ("b", 4.0))}


def sled(tmp_path, order, *, lift=0.0):
    model, contacts = tmp_path / "sled.urdf", tmp_path / "feet.toml"
    model.write_text(SLED.format(lift=lift), encoding="utf-8")
    contacts.write_text("".join(FEET[name] for name in order), encoding="utf-8")
    frame = by_pinocchio.load(model, contacts=contacts).frame({"q": np.zeros(2), "v": np.array([1.0, 0.0])}, near=1e-3)
    return select(frame.state([contact.closed(at_rest=False) for contact in frame.contacts], name="sled"))


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_of_two_feet_at_one_height_either_may_bear(tmp_path, order):
    # By hand: a_N = (3 - mu)/4 lambda - 3/4 g. Alone the smooth foot bears, and the rough one cannot; together any
    # force of the rough one is borne by the smooth one, and every sum of the two has accelerations of its own.
    root = 0.5**0.5
    feet = [
        NumericContact(
            name, W_N=[0, root], zeta_N=0, W_T=[1, root], zeta_T=[0], slip=[1], friction={"a": 0.1, "b": 4}[name]
        )
        for name in order
    ]
    M, h = [[1.5, root], [root, 1]], [0, -9.81 * root]
    alone = {foot.name: select(NumericState(M, h, [foot])) for foot in feet}
    assert {name: found.verdict.name for name, found in alone.items()} == {"a": "UNIQUE", "b": "INCONSISTENT"}
    assert alone["a"].branches[0].lambda_N["a"] == pytest.approx(9.81 * 3 / 2.9)
    own = select(NumericState(M, h, feet))
    assert own.verdict.name == sled(tmp_path, order).verdict.name == "INDETERMINATE"


@pytest.mark.parametrize(("lift", "verdict"), [(1e-4, "INCONSISTENT"), (-1e-4, "UNIQUE")])
def test_of_two_feet_the_deeper_one_bears(tmp_path, lift, verdict):
    assert sled(tmp_path, "ab", lift=lift).verdict.name == verdict


FLOATING = """
<robot name="block"><link name="trunk"><inertial><mass value="2"/>
  <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.3"/></inertial></link><link name="a"/><link name="b"/>
  <joint name="ja" type="fixed"><parent link="trunk"/><child link="a"/><origin xyz="0.4 0.1 -0.3"/></joint>
  <joint name="jb" type="fixed"><parent link="trunk"/><child link="b"/><origin xyz="-0.4 0.2 -0.3"/></joint>
</robot>
"""
BALLS = """
root = "free"
contact = [
  { frame = "a", friction = 0.5, radius = 0.05 },
  { frame = "b", friction = 0.7, radius = 0.1, normal = [0, 1, 2] },
]
"""


def block(tmp_path):
    model, contacts = tmp_path / "block.urdf", tmp_path / "balls.toml"
    model.write_text(FLOATING, encoding="utf-8")
    contacts.write_text(BALLS, encoding="utf-8")
    return model, contacts


def test_rows_of_a_floating_base_are_differences_along_the_motion(tmp_path):
    model, contacts = block(tmp_path)
    backend = by_pinocchio.load(model, contacts=contacts)
    rng, step = np.random.default_rng(5), 1e-5
    for _ in range(20):
        row = backend.moved(backend.reference, rng.uniform(-1, 1, 6))
        v, vdot = rng.standard_normal((2, 6))
        ends = []
        for sign in (1.0, -1.0):
            # the pose after the time dt under constant vdot, to second order
            along = sign * step * v + 0.5 * step**2 * vdot
            ends.append(backend.frame({**backend.moved(row, along), "v": v + sign * step * vdot}, near=np.inf))
        here = backend.frame({**row, "v": v}, near=np.inf)
        assert [contact.name for contact in here.contacts] == ["a", "b"]
        for contact, after, before in zip(here.contacts, ends[0].contacts, ends[1].contacts, strict=True):
            assert contact.gap_dot == pytest.approx((after.gap - before.gap) / (2 * step), abs=1e-7)
            rate = (after.gap_dot - before.gap_dot) / (2 * step)
            assert contact.W_N @ vdot + contact.zeta_N == pytest.approx(rate, abs=1e-7)
            rates = (after.slip - before.slip) / (2 * step)
            np.testing.assert_allclose(contact.W_T.T @ vdot + contact.zeta_T, rates, atol=1e-7)


def test_a_free_body_falls_and_its_mass_is_scaled(tmp_path):
    model, contacts = block(tmp_path)
    backend = by_pinocchio.load(model, contacts=contacts)
    row = {**backend.moved(backend.reference, np.array([0, 0, 5.0, 0.3, 0.2, 0.1])), "v": np.zeros(6)}
    frame, heavy = (backend.frame(row, near=0.0, mass=mass) for mass in (None, {"trunk": 3.0}))
    assert not frame.contacts
    assert np.linalg.norm(np.linalg.solve(frame.M, frame.h)) == pytest.approx(9.81)
    np.testing.assert_allclose(heavy.M, 3.0 * frame.M, rtol=1e-12, atol=1e-12)
    assert (backend.bodies, backend.joint_names) == (("trunk",), ("root_joint",))
    assert backend.velocities[0] == "root_joint[0]"


def test_random_postures_of_a_floating_base_touch(tmp_path):
    model, contacts = block(tmp_path)
    backend = by_pinocchio.load(model, contacts=contacts)
    thresholds = Thresholds.of(backend)
    for row in sampled_log(backend, 20, seed=2, thresholds=thresholds).rows():
        gaps = [contact.gap for contact in backend.frame(row, near=thresholds.gap).contacts]
        assert min(gaps) == pytest.approx(0.0, abs=1e-11)


def test_a_quaternion_of_another_length_is_refused_by_frame_and_field(tmp_path, capsys):
    model, contacts = block(tmp_path)
    q = np.tile([0, 0, 1, 0, 0, 0, 1.0], (3, 1))
    q[2, 3] = 1.5
    log = tmp_path / "log.npz"
    np.savez(log, q=q, v=np.zeros((3, 6)), tau=np.zeros((3, 6)))
    status, _, err = linted(capsys, model, log, contacts)
    assert status == 2
    assert "frame 2: block: q: the quaternion of joint 'root_joint' has length 1.80278, not 1" in err


def test_a_turning_joint_without_end_has_a_cosine_and_a_sine(tmp_path, capsys):
    model, contacts = rod(tmp_path)
    model.write_text(model.read_text(encoding="utf-8").replace('"revolute"', '"continuous"'), encoding="utf-8")
    q, v = posed()
    turning = np.array([[q[0], q[1], np.cos(q[2]), np.sin(q[2])]])
    backend = by_pinocchio.load(model, contacts=contacts)
    (contact,) = backend.frame({"q": turning[0], "v": v}, near=1e-9).contacts
    np.testing.assert_allclose(contact.slip, [1.0], rtol=1e-13)
    status, _, err = linted(capsys, model, rod_log(tmp_path, q=2 * turning, v=v[None]), contacts)
    assert status == 2
    assert "frame 0: rod: q: the cosine and sine of joint 'phi' has length 2, not 1" in err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"v": None}, "'v' is missing"),
        ({"qpos": np.zeros((3, 3))}, "unknown column 'qpos'"),
        ({"q": np.zeros((3, 2))}, "a frame of q must have the shape (3,); got (2,)"),
        ({"tau": np.full((3, 3), np.nan)}, "tau is not finite in frame 0"),
    ],
)
def test_logs_that_do_not_fit_are_refused(tmp_path, capsys, changes, message):
    model, contacts = rod(tmp_path)
    status, _, err = linted(capsys, model, rod_log(tmp_path, **changes), contacts)
    assert status == 2
    assert message in err


TIP = '[[contact]]\nframe = "tip"\nfriction = 1\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("contact = 3", "contact must be given as tables [[contact]]"),
        ("contact = []", "contact must be given as tables [[contact]]"),
        ("[[contact]]\nfriction = 1", "contact[0].frame is missing"),
        ('[[contact]]\nframe = "tip"', "contact[0].friction is missing"),
        (
            '[[contact]]\nframe = "tpi"\nfriction = 1',
            "contact[0].frame: the model has no frame 'tpi'; did you mean 'tip'?",
        ),
        ("[[contact]]\nframe = 1\nfriction = 1", "contact[0].frame must be the name of a frame"),
        (TIP + "frictionx = 1", "unknown field contact[0].frictionx; did you mean 'friction'?"),
        (TIP.replace("1", "-1"), "contact[0].friction must be a number that is not negative, got -1"),
        (TIP.replace("1", "nan"), "contact[0].friction must be a number that is not negative, got nan"),
        (TIP.replace("1", "true"), "contact[0].friction must be a number that is not negative, got True"),
        (TIP + "radius = inf", "contact[0].radius must be"),
        (TIP + "normal = [0, 0, 0]", "contact[0].normal must be three numbers that are not all 0"),
        (TIP + "normal = [0, 1]", "contact[0].normal must be three numbers"),
        (TIP + TIP, "contact[1].frame: 'tip' has a contact already"),
        (TIP + "[rotor_inertia]\nphy = 1", "rotor_inertia: the model has no joint 'phy'; did you mean 'phi'?"),
        (TIP + "[rotor_inertia]\nphi = -1", "rotor_inertia.phi must be a number that is not negative"),
        ('root = "loose"\n' + TIP, 'root must be "fixed" or "free", got \'loose\''),
        ("[[contact]\n", "contacts.toml:1"),
    ],
)
def test_contacts_that_do_not_fit_are_refused(tmp_path, capsys, text, message):
    model, contacts = rod(tmp_path)
    contacts.write_text(text, encoding="utf-8")
    status, _, err = linted(capsys, model, rod_log(tmp_path), contacts)
    assert status == 2
    assert message in err


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<include file="other.xml"/>', "<include>: an element within <worldbody>; pinocchio does not read it"),
        ('<geom type="mesh" file="/etc/passwd"/>', "lies outside its folder"),
        ("", "pinocchio cannot read the model: No such node"),
    ],
)
def test_files_that_pinocchio_reads_in_part_are_refused(tmp_path, inside, message):
    model, contacts = tmp_path / "model.xml", rod(tmp_path)[1]
    (tmp_path / "other.xml").write_text("<mujocoinclude/>", encoding="utf-8")
    model.write_text(f"<mujoco><worldbody>{inside}</worldbody></mujoco>", encoding="utf-8")
    with pytest.raises(FileError, match=message.replace("[", "\\[")):
        by_pinocchio.load(model, contacts=contacts)


def test_files_that_are_no_model_are_refused(tmp_path, capsys):
    model, contacts = rod(tmp_path)
    log = rod_log(tmp_path)
    for text, message in (
        ("<robot name='r'/>", "pinocchio cannot read the model"),
        ("<robot", "is no XML file"),
        ("<html/>", "pinocchio cannot read the model"),
    ):
        model.write_text(text, encoding="utf-8")
        status, _, err = linted(capsys, model, log, contacts)
        assert status == 2
        assert message in err
    with pytest.raises(FileError, match="--contacts FILE"):
        by_pinocchio.load(model)


def test_gravity_of_an_mjcf_file_is_taken(tmp_path):
    model, contacts = tmp_path / "ball.xml", tmp_path / "contacts.toml"
    model.write_text(
        '<mujoco><option gravity="0 1 -2"/><worldbody><body name="ball"><freejoint/><geom size="0.1"/></body>'
        "</worldbody></mujoco>",
        encoding="utf-8",
    )
    contacts.write_text('contact = [{ frame = "ball", friction = 1, radius = 0.1 }]', encoding="utf-8")
    backend = by_pinocchio.load(model, contacts=contacts)
    frame = backend.frame({"q": np.array([0, 0, 0.1, 0, 0, 0, 1.0]), "v": np.zeros(6)}, near=1e-9)
    np.testing.assert_allclose(np.linalg.solve(frame.M, frame.h)[:3], [0, 1, -2], atol=1e-12)
    contacts.write_text('root = "free"\n' + contacts.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(FileError, match="is for URDF"):
        by_pinocchio.load(model, contacts=contacts)


def test_a_missing_engine_is_one_line(tmp_path, capsys, monkeypatch):
    model, contacts = rod(tmp_path)
    log = rod_log(tmp_path)
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    status, _, err = linted(capsys, model, log, contacts)
    assert status == 2
    assert err.endswith("error: pinocchio is not installed: pip install 'painleve[pinocchio]'")


def walker(tmp_path):
    """Walker2d by MuJoCo, and by pinocchio with spheres at the ends of its feet's capsules.

    Both read armature, damping and gravity of the same file, and pinocchio's q is MuJoCo's qpos. What had to be added:
    a site at every end, for pinocchio has frames and no geoms; radius and friction of the feet; and the torques of the
    motors, 100 times their controls, for pinocchio has no actuators.
    """
    text, contacts = WALKER.read_text(encoding="utf-8"), []
    for side in ("", "_left"):
        foot = f'<body name="foot{side}" pos="0.20000000000000001 0 -0.34999999999999998">'
        assert foot in text
        ends = {f"heel{side}": -0.2, f"toe{side}": 0.0}
        text = text.replace(foot, foot + "".join(f'<site name="{k}" pos="{x} 0 0.1"/>' for k, x in ends.items()))
        contacts += [f'[[contact]]\nframe = "{name}"\nfriction = 1.9\nradius = 0.06' for name in ends]
    model, file = tmp_path / "walker.xml", tmp_path / "feet.toml"
    model.write_text(text, encoding="utf-8")
    file.write_text("\n".join(contacts), encoding="utf-8")
    return by_mujoco.load(model), by_pinocchio.load(model, contacts=file)


@pytest.mark.parametrize("frames", [25, 1000])
def test_states_of_a_walker_have_the_numbers_that_mujoco_has(tmp_path, frames):
    first, second = walker(tmp_path)
    for row in swung(first, frames=frames, seed=11):
        tau = np.concatenate([np.zeros(3), 100.0 * row["ctrl"]])
        # near enough for all four ends in every frame
        own = first.frame(row, near=3.0)
        other = second.frame({"q": row["qpos"], "v": row["qvel"], "tau": tau}, near=3.0)
        feet = [contact for contact in own.contacts if contact.pair[1] in ("foot_geom", "foot_left_geom")]
        spheres = [contact for contact in other.contacts if contact.W_T is not None]
        assert len(feet) == len(spheres) == 4
        assert {contact.friction for contact in feet} == {1.9}
        pairs = []
        for contact in feet:
            side = "_left" if "left" in contact.pair[1] else ""
            ends = [sphere for sphere in spheres if sphere.name in (f"heel{side}", f"toe{side}")]
            pairs.append(min(ends, key=lambda sphere: abs(sphere.position[0] - contact.position[0])))
        assert len({sphere.name for sphere in pairs}) == 4
        problems = [
            sliding_problem(frame.state([c.closed(at_rest=False) for c in chosen], name="w"), contacts=range(4))
            for frame, chosen in ((own, feet), (other, pairs))
        ]
        for name in ("A", "b"):
            mine, theirs = (getattr(problem, name) for problem in problems)
            np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=1e-9 * np.abs(mine).max())
        np.testing.assert_allclose([c.gap for c in feet], [c.gap for c in pairs], atol=1e-13)
