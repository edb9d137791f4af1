"""Limits of vanishing slip where other force elements slip with the one that is pinned."""

from __future__ import annotations

import numpy as np
import pytest

import mechanisms
from hybrid import Axis, StateError, Verdict, certified_map, derive, region_map, select, solve_state
from hybrid.declaration import mechanism_from_toml

G = 10.0
BRAKED = """
name = "braked"
coordinates = ["x", "y"]
parameters = {m = 1, mu = 0.3, F = 4, k = 1}
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2)/2"
potential = "10*m*y"
[forces]
x = "F"
[[contact]]
name = "tip"
gap = "y"
tangent = "x"
friction = "mu"
[[friction]]
name = "brake"
limit = "2"
tangent = "k*x"
"""
AT = {"x": 0, "gap.tip": 0, "gap_dot.tip": 0}


@pytest.fixture(scope="module")
def braked():
    return derive(mechanism_from_toml(BRAKED))


@pytest.mark.parametrize(("slip", "acceleration"), [("+0", 4 - 3 - 2), ("-0", 4 + 3 + 2)])
@pytest.mark.parametrize("pinned", ["tip", "brake"])
def test_a_brake_slips_with_the_block(braked, pinned, slip, acceleration):
    state = solve_state(braked, {**AT, f"slip.{pinned}": slip})
    found = select(braked, state)
    assert found.verdict is Verdict.UNIQUE
    assert found.branches[0].acceleration[0] == pytest.approx(acceleration, abs=1e-12)
    assert set(state.sides.values()) == {(1.0,) if slip == "+0" else (-1.0,)}


def test_a_brake_that_turns_the_other_way_slips_backwards(braked):
    state = solve_state(braked, {**AT, "slip.tip": "+0"}, parameters={"k": -2})
    assert state.sides == {"tip": (1.0,), "brake": (-1.0,)}
    assert select(braked, state, parameters={"k": -2}).branches[0].acceleration[0] == pytest.approx(
        4 - 3 - 4, abs=1e-12
    )


def test_a_slip_pinned_too_low_to_be_told_from_rest_is_a_limit_as_well(braked):
    found = select(braked, solve_state(braked, {**AT, "slip.tip": 1e-12}))
    assert found.branches[0].acceleration[0] == pytest.approx(-1, abs=1e-12)


def test_a_map_holds_its_cells_to_the_direction_of_the_limit(braked):
    axes = [Axis("mu", 0.1, 0.5, 5), Axis("F", 0, 8, 5)]
    found = region_map(braked, axes=axes, pins={**AT, "slip.tip": "+0"})
    assert set(np.unique(np.array(found.regions)[found.region])) == {"tip=slide+,brake=slide+"}
    with pytest.raises(StateError, match=r"slip of 'brake' vanishes with it, and not in one direction at all states"):
        region_map(braked, axes=[Axis("mu", 0.1, 0.5, 5), Axis("k", -1, 1, 4)], pins={**AT, "slip.tip": "+0"})


def test_a_certified_map_of_such_a_limit_is_refused(braked):
    axes = [Axis("mu", 0.1, 0.5), Axis("F", 0, 8)]
    with pytest.raises(StateError, match="the slip of 'brake' vanishes in the limit that is pinned, too"):
        certified_map(braked, axes=axes, pins={**AT, "slip.tip": "+0"})


@pytest.mark.parametrize("foot", ["left", "right"])
@pytest.mark.parametrize("side", [1, -1])
def test_either_foot_names_the_limit_of_a_block_that_slides(foot, side):
    block = derive(mechanisms.load("rocking_block"))
    pins = {"x": 0, "gap.left": 0, "gap.right": 0, "gap_dot.left": 0, "gap_dot.right": 0}
    limit = select(block, solve_state(block, {**pins, f"slip.{foot}": "+0" if side > 0 else "-0"}))
    # the accelerations of a block at rest in the limit are those at any slip: no force depends on the speed
    slow = select(block, solve_state(block, {**pins, f"slip.{foot}": side * 1e-3}))
    assert limit.verdict is slow.verdict is Verdict.UNIQUE
    assert limit.branches[0].mode.label == slow.branches[0].mode.label
    assert limit.branches[0].acceleration == pytest.approx(slow.branches[0].acceleration, rel=1e-9)


PLATE = """
name = "plate"
coordinates = ["x", "y", "z", "a", "b", "c"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2 + z_dot**2)/2 + (a_dot**2 + b_dot**2 + c_dot**2)/10"
potential = "10*z"
"""
FEET = {"f0": (1, 0), "f1": (-1, 1), "f2": (-1, -1)}


def test_feet_in_space_slide_along_the_one_that_is_pinned():
    text = PLATE + "".join(
        f"""
        [[contact]]
        name = "{name}"
        gap = "z + ({x})*b + ({y})*a"
        tangent = ["x - ({y})*c", "y + ({x})*c"]
        friction = 0.3
        """
        for name, (x, y) in FEET.items()
    )
    plate = derive(mechanism_from_toml(text))
    pins = {"x": 0, "y": 0, "c": 0, "c_dot": 0} | {f"{kind}.{name}": 0 for kind in ("gap", "gap_dot") for name in FEET}
    state = solve_state(plate, {**pins, "slip.f0.1": "+0", "slip.f0.2": "-0"})
    assert state.sides["f1"] == state.sides["f2"] == pytest.approx((np.sqrt(0.5), -np.sqrt(0.5)), abs=1e-15)
    (branch,) = select(plate, state).branches
    assert branch.acceleration[:2] == pytest.approx([-0.3 * G * np.sqrt(0.5), 0.3 * G * np.sqrt(0.5)], abs=1e-12)


def test_a_limit_in_which_another_contact_opens_is_refused():
    text = (
        BRAKED
        + """
[[contact]]
name = "wall"
gap = "x + y"
"""
    )
    mechanism = derive(mechanism_from_toml(text))
    with pytest.raises(StateError, match=r"slip\.tip: the closed contact 'wall' opens or approaches with this slip"):
        solve_state(mechanism, {**AT, "slip.tip": "+0"})
