"""Certified maps of states in which a condition is met with equality, throughout or on a part of the box.

A force element without a load slides without a force, and a contact is free at once: one motion under two labels.
"""

import numpy as np
import pytest

from hybrid import Axis, certified_map, derive, mechanism_from_toml, region_map
from tests.catalogue import dynamics_of

ABSENT = {"INCONSISTENT": True, "INDETERMINATE": True, "HYPERSTATIC": True}
WHOLE = pytest.approx((1.0, 1.0), abs=1e-12)  # sums of volumes are rounded outwards
HEAD = """
name = "unloaded"
coordinates = ["x", "y", "phi"]
[parameters]
m = 1
F = 1
mu = 2
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2)/2 + m*phi_dot**2/6"
[forces]
x = "{x}"
y = "{y}"
"""
RAIL = """
[[constraint]]
name = "rail"
equation = "y"
friction = "mu"
slip = "x_dot"
"""
BLOCK = """
[[contact]]
name = "wall"
gap = "y"
tangent = "x"
friction = "mu"
"""
ROD = """
[[contact]]
name = "tip"
gap = "y - sin(phi)"
tangent = "x - cos(phi)"
friction = "mu"
"""
TURN = {"phi": 0, "phi_dot": 0, "x": 0}


def certified(text, axes, pins, **options):
    dynamics = derive(mechanism_from_toml(text))
    return dynamics, certified_map(dynamics, axes=[Axis.parse(axis) for axis in axes], pins=pins, **options)


@pytest.mark.parametrize(
    ("element", "name", "slip", "region"),
    [
        (RAIL, "rail", -1, "slide-"),
        (RAIL, "rail", 0, "slide+|slide-|stick"),
        (BLOCK, "wall", 1, "free|slide+"),
        (BLOCK, "wall", 0, "free|slide+|slide-|stick"),
    ],
    ids=["rail slides", "rail rests", "wall slides", "wall rests"],
)
def test_an_element_without_load_has_one_motion_everywhere(element, name, slip, region):
    """``N = 0`` whatever the friction, and so no friction: ``x_ddot = 0``, under every label that the slip permits."""
    axes, pins = ["mu=0.1:0.9", "m=1:2"], TURN | {f"slip.{name}": slip}
    dynamics, found = certified(HEAD.format(x=0, y=0) + element, axes, pins)
    assert found.regions == {region: WHOLE} and found.absent == ABSENT and found.evaluations == 1
    assert region_map(dynamics, axes=[f"{axis}:3" for axis in axes], pins=pins).mode_fractions == {region: 1.0}


def test_a_pull_moves_a_block_beside_an_unloaded_wall():
    """At rest, ``x_ddot = F/m > 0``: it does not stick, and slips forwards with no force, or is free."""
    _, found = certified(HEAD.format(x="F", y=0) + BLOCK, ["F=1:2", "mu=0.1:0.9"], TURN | {"slip.wall": 0})
    assert found.regions == {"free|slide+": WHOLE} and found.absent == ABSENT


def test_a_rod_without_weight_is_open_only_where_its_sliding_is_singular():
    """``A = 1 + 3 cos^2 phi - 3 mu sin phi cos phi`` vanishes on a curve: any force keeps the contact closed there."""
    axes = [Axis.parse("phi=0.2:1.5"), Axis.parse("mu=0.1:2")]
    pins = {"phi_dot": 0, "slip.tip": -1}
    found = certified_map(dynamics_of("rod_on_incline"), axes=axes, pins=pins, parameters={"g": 0})
    assert found.regions == {"free|slide-": WHOLE}
    assert found.absent == ABSENT | {"INDETERMINATE": None} and found.evaluations < 5000
    assert [reason.because for reason in found.reasons] == [
        "the equations of a mode without load are singular, where it has many solutions"
    ]


@pytest.mark.parametrize("sign", ["", "-"])
def test_a_load_that_vanishes_on_half_the_box(sign):
    """``max(0, F)`` is none for ``F < 0``.

    With ``F > 0``, ``phi`` from 1 to 1.2 and ``mu = 2``: ``A < 0``, so that a rod pulled away is free and slides, and
    one that is pushed does neither.
    """
    pins = {"phi_dot": 0, "x": 0, "slip.tip": -1}
    text = HEAD.format(x=0, y=f"{sign}max(0, F)") + ROD
    _, found = certified(text, ["F=-2:-1", "phi=1:1.2"], pins)
    assert found.regions == {"free|slide-": WHOLE} and found.absent == ABSENT
    _, found = certified(text, ["F=-1:1", "phi=1:1.2"], pins, gap=1e-2, max_boxes=20_000)
    low, high = found.regions["none"]
    assert low <= (0.5 if sign else 0.0) <= high < low + 1e-2
    low, high = found.regions["free|slide-"]
    assert low <= (0.5 if sign else 1.0) <= high < low + 1e-2


@pytest.mark.parametrize("load", ["k - atan(tan(k))", "atan(1/k) + atan(k) - pi/2"])
def test_branches_of_an_arctangent_may_vanish_on_a_part(load):
    """Both are zero on a part of ``0.5 < k < 3`` at least: there the block is free as well, and slides."""
    text = HEAD.format(x=0, y=f"-({load})**2").replace("F = 1", "k = 1") + BLOCK
    _, found = certified(text, ["k=0.5:3", "mu=0.1:1"], TURN | {"slip.wall": 1}, gap=1e-2, max_boxes=500)
    assert found.regions["free|slide+"][1] > 0.4 and not found.complete


@pytest.mark.parametrize(
    ("element", "name"),
    [
        (BLOCK.replace('"mu"', '"max(0, F)"'), "wall"),
        (RAIL.replace('"mu"', '"max(0, F)"'), "rail"),
        ('[[friction]]\nname = "brake"\nslip = "x_dot"\nlimit = "max(0, F)"', "brake"),
    ],
    ids=["contact", "rail", "friction"],
)
def test_an_element_at_rest_whose_friction_vanishes_on_a_part_is_undecided_there(element, name):
    """It sticks for ``F > 0``, half the box; for ``F < 0`` its modes have no conditions of their own."""
    pins = TURN | {f"slip.{name}": 0} | ({"y": 0, "y_dot": 0} if name == "brake" else {})
    _, found = certified(HEAD.format(x=0, y=-1) + element, ["F=-1:1", "m=1:2"], pins, gap=1e-2, max_boxes=5000)
    assert {region for region, (low, high) in found.regions.items() if low > 0.0} == {"stick"}
    assert found.regions["stick"][0] <= 0.5 <= found.regions["stick"][1] and found.undecided >= 0.5
    assert found.regions["stick"][0] > 0.49
    assert [item.because for item in found.reasons] == [
        f"the friction of {name}, which rests, may vanish on a part of the box"
    ]


def test_zeros_that_no_enclosure_shows_are_the_reason():
    """``F - |F|`` is none for ``F > 0``, which intervals do not prove: the region is listed, and why it is open."""
    pins = {"phi_dot": 0, "x": 0, "slip.tip": -1}
    _, found = certified(HEAD.format(x=0, y="F - abs(F)") + ROD, ["F=1:2", "phi=2:2.2"], pins, max_boxes=2000)
    assert found.regions["free|slide-"] == pytest.approx((0.0, 1.0), abs=1e-12) and not found.complete
    assert [reason.because for reason in found.reasons] == [
        "a function may vanish on a part of the box, where conditions are met with equality"
    ]


def test_a_verdict_that_floats_leave_undecided_ends_the_search():
    """A rod at rest, pushed along the plane: it is free, and where it jams it sticks as well, with another motion.

    With ``G_NN = 1 + 3 c^2``, ``G_NT = -3 s c`` and the free acceleration ``(0, k)``, the forces of sticking are in the
    ratio of ``-3 s c`` to ``-(1 + 3 c^2)``: they lie in the cone where ``1 + 3 c^2 <= -3 mu s c``.
    """
    pins = {"phi_dot": 0, "x": 0, "slip.tip": 0}
    text = HEAD.format(x=0.5, y=0) + ROD
    _, found = certified(text, ["F=1:2", "phi=2:3"], pins)
    angles = np.linspace(2, 3, 100_001)
    s, c = np.sin(angles), np.cos(angles)
    share = (1 + 3 * c**2 <= -3 * 2 * s * c).mean()
    low, high = found.regions["free|slide+|stick"]
    assert low - 1e-4 <= share <= high + 1e-4 and found.evaluations < 20_000
    assert found.absent["INCONSISTENT"] is True and found.absent["INDETERMINATE"] is None
    assert found.reasons[0].because.startswith("all signs are known")


def test_a_slip_that_vanishes_on_half_the_box_is_left_open_there():
    """A brake on a belt that runs for ``F > 0`` and rests else, where sticking and slipping forwards hold, too."""
    brake = '[[friction]]\nname = "brake"\nslip = "x_dot - max(0, F)"\nlimit = "2"\n'
    pins = TURN | {"y": 0, "x_dot": 0, "y_dot": 0}
    _, found = certified(HEAD.format(x="mu", y=0) + brake, ["F=-1:1", "mu=0.5:3"], pins, max_boxes=2000)
    low, high = found.regions["slide-"]
    assert 0.4 < low <= 0.5 and high == pytest.approx(1.0) and found.regions["undecided"][1] >= 0.5
    assert found.reasons[0].because.startswith("a function may vanish") and set(found.absent.values()) == {None}
