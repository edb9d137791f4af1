"""Loads that jump: what a verdict says at the jump, and motions that meet one."""

import numpy as np
import pytest

from hybrid import Termination, derive, mechanism_from_toml, select, simulate, solve_state

MASS = 'name = "mass"\ncoordinates = ["x"]\n[dynamics]\nkinetic = "x_dot**2/2"\n[forces]\nx = "%s"\n'
RUB = '[[friction]]\nname = "rub"\ntangent = "x"\nlimit = "%s"\n'


def mass(load, friction=None):
    return derive(mechanism_from_toml(MASS % load + ("" if friction is None else RUB % friction)))


def at(dynamics, x=0.0, x_dot=0.0, t=0.0):
    return solve_state(dynamics, {"x": x, "x_dot": x_dot, "t": t})


def test_a_verdict_on_a_jump_says_so_and_beside_it_nothing():
    dynamics = mass("2*sign(x_dot)", "1/2")
    notes = {speed: select(dynamics, at(dynamics, x_dot=speed)).notes for speed in (-1e-9, 0.0, 1e-9)}
    assert [len(notes[speed]) for speed in (-1e-9, 0.0, 1e-9)] == [0, 1, 0]
    assert "the load of x jumps where x_dot = 0" in notes[0.0][0]


@pytest.mark.parametrize(
    "load", ["x_dot*sign(x_dot)", "sqrt(abs(x_dot))*sign(x_dot)", "0*sign(x_dot)", "max(x_dot, 0)"]
)
def test_a_load_that_only_bends_is_nothing_to_mention(load):
    dynamics = mass(load)
    assert select(dynamics, at(dynamics)).notes == ()


def test_a_jump_that_hangs_on_time():
    dynamics = mass("2*sign(t - 1)", "1/2")
    assert [len(select(dynamics, at(dynamics, t=t)).notes) for t in (0.999, 1.0, 1.001)] == [0, 1, 0]
    # by hand: -3/2 for a second, then 5/2 against the speed of 3/2
    motion = simulate(dynamics, at(dynamics), t_end=1.5)
    assert motion.q[0] == pytest.approx(-1.1875, abs=1e-8)
    assert motion.warnings == ()


def test_dry_friction_written_as_a_load_ends_where_the_body_would_rest():
    # by hand: -1/2 from speed 1 lasts 2 and leads to 1
    motion = simulate(mass("1/2 - sign(x_dot)"), at(mass("1/2 - sign(x_dot)"), x_dot=1.0), t_end=3.0)
    assert motion.termination is Termination.NOT_COMPUTED
    assert (motion.t, motion.q[0]) == pytest.approx((2.0, 1.0), abs=1e-8)
    assert "the load of x jumps where x_dot = 0" in motion.cause


@pytest.mark.parametrize(
    "load",
    ["1/2 - sign(x_dot)", "sin(t)/2 - sign(x_dot)", "1/2 - 2*sign(x)", "sin(t) - 2*sign(x)", "-3*sign(x_dot - t)"],
)
def test_a_motion_that_is_led_back_to_a_jump_from_its_start_ends_at_once(load):
    dynamics = mass(load)
    motion = simulate(dynamics, at(dynamics), t_end=3.0)
    assert motion.termination is Termination.NOT_COMPUTED
    assert motion.t < 1e-6
    assert np.abs(motion.q).max() < 1e-9
    assert len(motion.warnings) == 1


def test_a_body_that_the_jump_leaves_at_rest_stays_there():
    dynamics = mass("-sign(x_dot)")
    motion = simulate(dynamics, at(dynamics, x=0.25), t_end=3.0)
    assert (motion.termination, motion.q[0]) == (Termination.END_TIME, 0.25)
    assert "the load of x jumps" in motion.warnings[0]


@pytest.mark.parametrize("x_dot", [1.0, -1.0])
def test_a_jump_that_is_passed_is_passed(x_dot):
    # 3 - sign(x_dot): braked by 4 against it, then driven by 2; towards +x only driven
    dynamics = mass("3 - sign(x_dot)")
    motion = simulate(dynamics, at(dynamics, x_dot=x_dot), t_end=1.0)
    expected = (1.0 + 1.0) if x_dot > 0 else (-1.0 / 8.0 + 0.75**2)
    assert motion.termination is Termination.END_TIME
    assert motion.q[0] == pytest.approx(expected, abs=1e-9)
