"""MJCF files by pinocchio: what passes has MuJoCo's numbers, all else is refused by element and attribute."""

import mujoco
import numpy as np
import pytest

from hybrid.errors import FileError
from hybrid.numeric.backends import pinocchio as by_pinocchio

INERTIAL = '<inertial pos="0.02 0.03 0.1" mass="2" diaginertia=".03 .02 .04" quat="0.9 0.1 0.2 0.3"/>'
SITE = '<site name="foot" pos="0.1 0 -.4"/>'
HINGE = '<joint name="a" axis="0 1 0"/>'
MESH = '<asset><mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'


def model(*, joint=HINGE, inertia=INERTIAL, before="", body='pos="0.1 0.2 1"', more="", world="", after=""):
    return (
        f'<mujoco model="p">{before}<worldbody>{world}<body name="trunk" {body}>{joint}{inertia}{SITE}{more}</body>'
        f"</worldbody>{after}</mujoco>"
    )


def read(tmp_path, text, frame="foot"):
    path, contacts = tmp_path / "p.xml", tmp_path / "contacts.toml"
    path.write_text(text, encoding="utf-8")
    contacts.write_text(f'[[contact]]\nframe = "{frame}"\nfriction = 1\n', encoding="utf-8")
    return by_pinocchio.load(path, contacts=contacts)


SHANK = '<body name="n" pos=".1 .2 .3" euler="10 20 30"><joint name="n" axis="0 2 1" pos="0 .1 .2"/>{}</body>'
GEOMS = (
    '<geom type="capsule" fromto="0 0 0 .3 .1 -.4" size=".04" density="500"/>'
    '<geom type="box" size=".1 .2 .3" pos=".1 0 0" mass="2" xyaxes="1 0.2 0 0.1 1 0.3"/>'
    '<geom type="ellipsoid" size=".1 .2 .3" zaxis="0.1 0.3 -1"/><geom type="cylinder" size=".1 .2" group="4"/>'
    '<geom size=".3" contype="0" conaffinity="0" mass="0"/>'
)
NESTED = (
    '<default class="main"><joint armature=".3"/><default class="A"><joint damping=".5"/><default class="B">'
    '<joint frictionloss="2" range="-20 30"/><geom contype="0" conaffinity="0" type="box" size="1 1 1"/></default>'
    "</default></default>"
)

READ = {
    "one velocity": model(),
    "inertia of geoms": model(inertia=GEOMS, more=SHANK.format('<geom size=".1"/>')),
    "classes": model(
        before=NESTED,
        body='childclass="A"',
        joint='<joint name="a" class="B"/>',
        more='<geom class="B"/>' + SHANK.format('<geom size=".1"/>'),
    ),
    "several joints": model(
        before='<compiler angle="radian" eulerseq="zyx"/>',
        body='euler="0.2 0.3 0.4"',
        joint='<joint name="a" axis="0 1 0" range="-1 1" pos=".1 0 0" damping="1"/>'
        '<joint name="c" type="slide" axis="1 0 1" range="-2 3" frictionloss="3" ref="0"/>',
    ),
    "ball": model(body='euler="10 20 30"', joint='<joint name="a" type="ball" pos=".1 .2 .3" armature=".2"/>'),
    "first body at rest": model(
        body='pos="0 0 0"', joint="", inertia="", more=SHANK.format(INERTIAL + '<site name="toe" pos="0 0 -.2"/>')
    ).replace(SITE, ""),
    "without influence": model(
        before='<option timestep="0.01" gravity="1 2 -3"><flag warmstart="disable"/></option>' + MESH,
        world='<light pos="0 0 3"/><camera name="c"/><geom type="plane" size="1 1 1" condim="1"/>',
        more='<geom type="mesh" mesh="t" rgba="1 0 0 1"/>',
        after='<actuator><motor joint="a" gear="3"/></actuator><sensor><jointpos joint="a"/></sensor>'
        '<statistic extent="2"/><keyframe><key name="k" qpos="0.1"/></keyframe>',
    ),
}


@pytest.mark.parametrize("case", READ)
def test_what_passes_has_the_numbers_of_mujoco(tmp_path, case):
    name = "toe" if "toe" in READ[case] else "foot"
    backend, m = read(tmp_path, READ[case], frame=name), mujoco.MjModel.from_xml_string(READ[case])
    rng, d, M = np.random.default_rng(3), mujoco.MjData(m), np.zeros((m.nv, m.nv))
    d.qpos[:], d.qvel[:] = m.qpos0, rng.normal(size=m.nv)
    mujoco.mj_integratePos(m, d.qpos, 0.3 * rng.normal(size=m.nv), 1.0)
    mujoco.mj_forward(m, d)
    mujoco.mj_fullM(m, d, M)
    q = np.roll(d.qpos, -1) if case == "ball" else d.qpos  # MuJoCo has the real part of a quaternion first
    frame = backend.frame({"q": np.array(q), "v": np.array(d.qvel)}, near=1e9)
    np.testing.assert_allclose(frame.M, M, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(frame.h, d.qfrc_smooth, rtol=1e-9, atol=1e-9)
    (foot,) = (contact for contact in frame.contacts if contact.name == name)
    assert foot.gap == pytest.approx(d.site_xpos[0][2], abs=1e-12)
    limits = [
        gap
        for k in np.flatnonzero(m.jnt_limited)
        for gap in (d.qpos[k] - m.jnt_range[k, 0], m.jnt_range[k, 1] - d.qpos[k])
    ]
    found = [contact.gap for contact in frame.contacts if contact.name != name and np.isfinite(contact.gap)]
    np.testing.assert_allclose(sorted(found), sorted(limits), atol=1e-12)
    dry = sum((element.limit * element.W_T for element in frame.friction), np.zeros(m.nv))
    np.testing.assert_allclose(dry, m.dof_frictionloss)


TWO = '<default class="A"><joint armature="1"/></default><default class="B"><joint damping="1"/></default>'
REFUSED = {
    "<flag>: attribute gravity": model(before='<option><flag gravity="disable"/></option>'),
    "<option>: attribute density": model(before='<option density="1000"/>'),
    "<option>: given twice": model(before='<option gravity="0 0 -1"/><option gravity="0 0 -3"/>'),
    "<compiler>: attribute settotalmass": model(before='<compiler settotalmass="10"/>'),
    '<compiler>: autolimits="false"': model(before='<compiler autolimits="false"/>'),
    '<compiler>: eulerseq="XYZ"': model(before='<compiler eulerseq="XYZ"/>'),
    "<compiler>: behind <worldbody>": model(after='<compiler angle="radian"/>'),
    "<default>: behind <worldbody>": model(after='<default><joint armature="1"/></default>'),
    "<geom>: attribute mass in <default>": model(before='<default><geom mass="3"/></default>'),
    "<site>: attribute pos in <default>": model(before='<default><site pos="0 0 1"/></default>'),
    "<joint> 'a': class 'B' in a body of childclass 'A'": model(
        before=f"<default>{TWO}</default>", body='childclass="A"', joint='<joint name="a" class="B"/>'
    ),
    "<joint> 'a': the class 'C', which no <default> defines": model(joint='<joint name="a" class="C"/>'),
    "<body> 'trunk': attribute gravcomp": model(body='gravcomp="1"'),
    "<body> 'trunk': attribute axisangle": model(body='axisangle="0 2 0 30"'),
    "<body> 'trunk': pos of the first body, which has no joint": model(joint=""),
    "<body> 'trunk': euler of a body that moves freely": model(joint="<freejoint/>", body='euler="1 2 3"'),
    "<body> 'trunk': a second body": model(world=f'<body name="two">{HINGE}</body>'),
    "<body>: a body without a name": model(more=f"<body>{HINGE}{INERTIAL}</body>"),
    "<joint> 'a': a name that is given twice": model(more=f'<body name="n">{HINGE}{INERTIAL}</body>'),
    "<worldbody>: given twice": model(after="<worldbody/>"),
    "<frame>: an element within <body>": model(more="<frame/>"),
    "<replicate>: an element within <worldbody>": model(world="<replicate/>"),
    "<tendon>: an element within <mujoco>": model(after="<tendon/>"),
    "<equality>: an element within <mujoco>": model(after="<equality/>"),
    "<motor>: attribute armature": model(after='<actuator><motor joint="a" armature="1"/></actuator>'),
    "<adhesion>: an element within <actuator>": model(after="<actuator><adhesion/></actuator>"),
    "<joint> 'a': attribute springdamper": model(joint='<joint name="a" springdamper="1 1"/>'),
    "<joint> 'a': damping=\"0 9\", where one number is read": model(joint='<joint name="a" damping="0 9"/>'),
    "<joint> 'a': stiffness of a joint of type hinge": model(
        before='<default><joint stiffness="3"/></default>', joint='<joint name="a"/>'
    ),
    "<joint> 'a': damping of a joint of type ball": model(joint='<joint name="a" type="ball" damping="2"/>'),
    "<joint> 'a': range of a joint of type ball": model(joint='<joint name="a" type="ball" range="0 1"/>'),
    "<joint> 'a': armature of a joint of type free": model(joint='<joint name="a" type="free" armature="1"/>'),
    "<joint> 'a': range with limited=\"false\"": model(
        before='<default><joint range="0 1"/></default>', joint='<joint name="a" limited="false"/>'
    ),
    "<joint> 'a': range with ref": model(joint='<joint name="a" range="0 1" ref="3"/>'),
    "<joint> 'a': range of a sliding joint": model(joint='<joint name="a" type="slide" range="0 1"/>'),
    "<freejoint>: attribute align": model(joint='<freejoint align="true"/>'),
    "<geom>: attribute shellinertia": model(inertia='<geom size="1" shellinertia="true"/>'),
    "<geom>: attribute surfacevel": model(inertia='<geom size="1" surfacevel="1 0 0"/>'),
    "<geom>: mass of a geom of type mesh": model(before=MESH, inertia='<geom type="mesh" mesh="t" mass="0"/>'),
    "<geom>: mass of a geom that touches nothing": model(inertia='<geom size="1" contype="0" conaffinity="0"/>'),
}


@pytest.mark.parametrize("message", REFUSED)
def test_all_else_is_refused_by_element_and_attribute(tmp_path, message):
    with pytest.raises(FileError) as refused:
        read(tmp_path, REFUSED[message])
    assert message in str(refused.value)
    assert "pinocchio does not read it as MuJoCo does" in str(refused.value)


def test_a_frame_that_shares_its_name_is_refused(tmp_path):
    text = model(more='<body name="leg"><joint name="leg"/><geom size=".1"/><site name="leg" pos="0 0 -.3"/></body>')
    with pytest.raises(FileError, match=r"contact\[0\].frame: 'leg' names 3 frames of the model \(joint, body, op_"):
        read(tmp_path, text, frame="leg")
