"""Redundant conditions that agree at first and part later, against motions in closed form."""

import math

import pytest

from hybrid import State, derive, mechanism_from_toml, simulate
from hybrid.motion import Termination

SLIDE = """
name = "slide"
coordinates = ["x"]
[dynamics]
kinetic = "x_dot**2/2"
potential = "0"
"""
BLOCK = """
name = "block"
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2)/2"
potential = "10*y"
[[contact]]
name = "floor"
gap = "y"
slip = "x_dot"
friction = "0.3"
"""


def rubbing(name, slip, limit, *, static=None):
    """A friction element."""
    more = "" if static is None else f'static_limit = "{static}"\n'
    return f'[[friction]]\nname = "{name}"\nslip = "{slip}"\nlimit = "{limit}"\n{more}'


def moved(text, q, t_end):
    """A motion from rest at t = 0."""
    motion = simulate(derive(mechanism_from_toml(text)), State(q, [0.0] * len(q)), t_end=t_end)
    assert motion.termination is Termination.END_TIME
    return motion


def test_a_smooth_drive_pulls_a_slide_over_a_rough_floor():
    # minimum jerk: at the start the drive and the floor agree in speed and in acceleration
    drive = '[[constraint]]\nname = "drive"\nequation = "x - (10*t**3 - 15*t**4 + 6*t**5)/2"\n'
    motion = moved(SLIDE + drive + rubbing("floor", "x_dot", 1), [0], 0.5)
    assert motion.v[0] == pytest.approx(15 / 16, rel=1e-12)
    assert motion.energy().friction == pytest.approx(-0.25, rel=1e-10)  # 1 N over 0.25 m


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("static", [False, True])
def test_a_belt_that_starts_takes_along_what_a_weaker_floor_held(sign, static):
    more = (1.2, 2.5) if static else (None, None)
    floor = rubbing("floor", "x_dot", 1, static=more[0])
    belt = rubbing("belt", f"x_dot - ({0.4 * sign})*max(0, t - 1)", 2, static=more[1])
    motion = moved(SLIDE + floor + belt, [0], 3.0)  # the belt has to give 1.4 from t = 1 on
    assert motion.q[0] == pytest.approx(0.8 * sign, rel=1e-10)
    assert motion.energy().friction == pytest.approx(-0.8, rel=1e-10)


@pytest.mark.parametrize("power", [5, 9])
def test_a_belt_that_starts_ever_so_smoothly_takes_the_slide_along_until_it_slips(power):
    text = SLIDE + rubbing("floor", "x_dot", 1) + rubbing("belt", f"x_dot - 0.4*t**{power}", 2)
    motion = moved(text, [0], 1.5)
    slips = (1 / (0.4 * power)) ** (1 / (power - 1))  # the belt gives 1 for the floor and 1 for the acceleration
    assert motion.v[0] == pytest.approx(0.4 * slips**power + 1.5 - slips, rel=1e-10)


def test_a_floor_that_rises_lifts_a_weight_off_the_other():
    rising = "".join(
        f'[[contact]]\nname = "{name}"\ngap = "{gap}"\n' for name, gap in [("low", "y"), ("high", "y - 0.4*t**5")]
    )
    text = '\nname = "weight"\ncoordinates = ["y"]\n[dynamics]\nkinetic = "y_dot**2/2"\npotential = "10*y"\n'
    assert moved(text + rising, [0], 1.5).q[0] == pytest.approx(0.4 * 1.5**5, rel=1e-10)


def test_a_wall_that_starts_smoothly_pushes_a_block_over_the_floor():
    wall = '[[contact]]\nname = "wall"\ngap = "x - 0.2*t**5"\n'
    motion = moved(BLOCK + wall, [0, 0], 1.5)
    assert motion.v[0] == pytest.approx(1.5**4, rel=1e-10)
    assert motion.energy().friction == pytest.approx(-3 * 0.2 * 1.5**5, rel=1e-9)


@pytest.mark.parametrize("belt", ["max(0, t - 0.2)", "s*sin(t)", "s*t"])
def test_feet_stand_while_the_belt_under_one_of_them_does(belt):
    foot = (
        '[[contact]]\nname = "{}"\ngap = "y {} sin(phi)/2"\nslip = "x_dot {} sin(phi)*phi_dot/2 {}"\nfriction = "0.3"\n'
    )
    text = """
        name = "plate"
        coordinates = ["x", "y", "phi"]
        parameters = {s = 0}
        [dynamics]
        kinetic = "(x_dot**2 + y_dot**2)/2 + phi_dot**2/4"
        potential = "10*y"
        [forces]
        x = "8*sin(3*t) - 1/5"
    """
    plate = derive(mechanism_from_toml(text + foot.format("a", "-", "+", "") + foot.format("b", "+", "-", f"- {belt}")))
    motion = simulate(plate, State([0.05, 0, 0], [0, 0, 0]), t_end=0.15)
    assert motion.termination is Termination.END_TIME
    first, then = motion.arcs
    assert first.mode.label == "a=stick,b=stick" and then.mode.label == "a=slide+,b=slide+"
    assert then.start == pytest.approx(math.asin(3.2 / 8) / 3, rel=1e-12)  # where the push exceeds mu m g


def test_conditions_that_agree_for_good_are_no_event():
    # two feet on one belt, of which neither condition adds anything
    both = "".join(rubbing(name, "x_dot - sin(t)/2", 1) for name in ("left", "right"))
    motion = moved(SLIDE + both, [0], 3.0)
    assert not motion.events and motion.v[0] == pytest.approx(math.sin(3.0) / 2, rel=1e-10)


def test_constraints_that_contradict_each_other_later_end_the_motion():
    first, second = (f'[[constraint]]\nname = "{n}"\nequation = "x - {x}"\n' for n, x in [("a", "t**3"), ("b", "t**5")])
    motion = simulate(derive(mechanism_from_toml(SLIDE + first + second)), State([0], [0]), t_end=1.0)
    assert motion.termination is Termination.NOT_COMPUTED and motion.t < 1e-6
    assert "the constraints a, b contradict each other" in motion.cause


def test_a_heavy_body_elsewhere_hides_no_parting():
    # from t = 1/2 on the belt slides under what the floor holds
    two = """
        name = "two"
        coordinates = ["x", "z"]
        [dynamics]
        kinetic = "x_dot**2/2 + 1e16*z_dot**2/2"
        potential = "1e17*z"
    """
    text = two + rubbing("floor", "x_dot", 1) + rubbing("belt", "x_dot - max(0, t - 1/2)/100", "1/2")
    motion = simulate(derive(mechanism_from_toml(text)), State([0, 0], [0, 0]), t_end=1.0)
    assert [arc.mode.label for arc in motion.arcs] == ["floor=stick,belt=stick", "floor=stick,belt=slide-"]
    assert motion.events[0].t == pytest.approx(0.5, abs=1e-9) and abs(motion.q[0]) < 1e-12


def test_feet_with_static_friction_let_go_together():
    feet = "".join(
        f"""
        [[contact]]
        name = "foot{number}"
        gap = "y + ({place})*sin(phi)"
        slip = "x_dot - ({place})*sin(phi)*phi_dot - 1/2"
        friction = "0.3"
        static_friction = "0.45"
        """
        for number, place in enumerate(["0.5", "0", "-0.5"])
    )
    text = """
        name = "plate"
        coordinates = ["x", "y", "phi"]
        [dynamics]
        kinetic = "(x_dot**2 + y_dot**2)/2 + phi_dot**2/4"
        potential = "10*y + 10*x**2"
    """
    motion = moved(text + feet, [0, 0, 0], 0.7)
    # it slides up to the belt's speed, rides along until the spring exceeds 4.5, and slides back
    assert [{mode for _, mode in arc.mode.items()} for arc in motion.arcs] == [{"slide-"}, {"stick"}, {"slide-"}]
    breaks = motion.events[-1].t
    assert 20 * motion.sample([breaks])[0][0][0] == pytest.approx(4.5, rel=1e-9)
