"""Rounding that a state or a mass matrix brings along decides nothing: verdicts by hand, and in other units."""

from __future__ import annotations

import numpy as np
import pytest

import mechanisms
from hybrid import Axis, State, StateError, Verdict, derive, region_map, select, solve_state
from hybrid.declaration import mechanism_from_toml

BODY = """
name = "body"
coordinates = ["x", "y", "z"]
[dynamics]
mass_matrix = [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]]
forces = ["0", "0", "-1"]
[[contact]]
name = "floor"
gap = "z"
tangent = "y"
friction = "0.5"
"""

# M couples all coordinates; of the pinned velocities only a and d differ from zero, b = c = 0 exactly.
COUPLED = """
name = "coupled"
coordinates = ["a", "b", "c", "d"]
[dynamics]
mass_matrix = [["1", "1", "-1", "1"], ["1", "2", "0", "1"], ["-1", "0", "3", "0"], ["1", "1", "0", "3"]]
forces = ["0", "-2", "0", "-2"]
[[contact]]
name = "c1"
gap = "2*b - 2*c"
tangent = "-a + b - 2*c - 2*d"
friction = "0"
[[contact]]
name = "c2"
gap = "-a - 2*b - c - 2*d"
tangent = "-2*a + 2*b + c + 2*d"
friction = "1.5"
"""


@pytest.mark.parametrize("rate", ["0.1 + 0.2 - 0.3", "0.3 - 0.1 - 0.2", 5.551115123125783e-17, -5.551115123125783e-17])
def test_a_rate_that_is_rounding_neither_separates_nor_strikes(rate):
    body = derive(mechanism_from_toml(BODY))
    state = solve_state(body, {"x": 0, "y": 0, "z": 0, "x_dot": 1, "y_dot": 1, "z_dot": rate})
    found = select(body, state)
    assert found.verdict is Verdict.UNIQUE
    assert found.branches[0].lambda_N["floor"] == pytest.approx(1.0, rel=1e-14)  # the weight


@pytest.mark.parametrize(("rate", "verdict"), [(1e-10, Verdict.UNIQUE), (-1e-10, None)])
def test_a_rate_above_rounding_is_one(rate, verdict):
    body = derive(mechanism_from_toml(BODY))
    state = solve_state(body, {"x": 0, "y": 0, "z": 0, "x_dot": 1, "y_dot": 1, "z_dot": rate})
    if verdict is None:
        with pytest.raises(StateError, match="this is an impact"):
            select(body, state)
    else:
        found = select(body, state)
        assert found.verdict is verdict
        assert found.branches[0].mode.label == "free"


@pytest.mark.parametrize("slip", [1, -1])
def test_pins_at_zero_give_velocities_that_are_zero(slip):
    coupled = derive(mechanism_from_toml(COUPLED))
    pins = {**dict.fromkeys("abcd", 0), "gap_dot.c1": 0, "gap_dot.c2": 0, "slip.c1": 0, "slip.c2": slip}
    state = solve_state(coupled, pins)
    # gap_dot.c1 = 0 gives b = c, then gap_dot.c2 = slip.c1 = 0 that c = 0 and a = -2 d, so that slip.c2 = 6 d
    assert state.v == pytest.approx([-slip / 3, 0, 0, slip / 6], abs=1e-15)
    assert state.v[1] == state.v[2] == 0.0
    assert select(coupled, state).verdict is not Verdict.UNDECIDED


@pytest.mark.parametrize("noise", [8.3e-16, -8.3e-16])
def test_a_state_that_was_computed_has_the_verdict_of_the_one_that_was_meant(noise):
    body = derive(mechanism_from_toml(BODY))
    found = select(body, State([0, 0, 0], [1, 1, noise]))
    assert found.branches[0].lambda_N["floor"] == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("length", [1e7, 1e9, 1e12])
def test_lengths_of_any_size_can_be_pinned(length):
    rod = derive(mechanisms.load("rod_on_incline"))
    small = {"mu": 1.5, "g": 9.81}
    large = {"mu": 1.5, "g": 9.81 * length, "l": length}
    for phi in (0.4, 1.0, 2.0):
        pins = {"phi": phi, "phi_dot": 0.5, "slip.tip": -1.0}
        here = select(rod, solve_state(rod, pins, parameters=small), parameters=small)
        pins["slip.tip"] = -length
        there = select(rod, solve_state(rod, pins, parameters=large), parameters=large)
        assert there.verdict is here.verdict
        assert [b.mode.label for b in there.branches] == [b.mode.label for b in here.branches]


def test_a_map_in_small_units_is_the_map_in_large_ones():
    rod = derive(mechanisms.load("rod_on_incline"))
    axes = [Axis("phi", 0, np.pi, 9), Axis("mu", 0, 3, 8)]
    maps = [
        region_map(rod, axes=axes, pins={"phi_dot": 0.5, "slip.tip": -size}, parameters={"l": size, "g": 9.81 * size})
        for size in (1.0, 1e9)
    ]
    np.testing.assert_array_equal(maps[0].verdict, maps[1].verdict)


LIGHT = """
name = "light"
coordinates = ["a", "b"]
[dynamics]
mass_matrix = [["{m}", "0"], ["0", "1"]]
forces = ["0", "-1"]
[[contact]]
name = "left"
gap = "a + b"
[[contact]]
name = "right"
gap = "a - b"
"""


@pytest.mark.parametrize("m", ["1e-3", "1e-9", "1e-11", "1e-13"])
def test_two_supports_of_a_light_body_are_never_one_support(m):
    # G = [[1/m + 1, 1/m - 1], [1/m - 1, 1/m + 1]] has the determinant 4/m: regular, however alike its rows are. Free
    # accelerations (-1, 1): left presses, 1/m + 1 times its force is 1, and right separates with 1 + (1 - m)/(1 + m).
    light = derive(mechanism_from_toml(LIGHT.format(m=m)))
    found = select(light, State([0, 0], [0, 0]))
    assert found.verdict in (Verdict.UNIQUE, Verdict.UNDECIDED)
    if found.verdict is Verdict.UNIQUE:
        assert found.branches[0].mode.label == "left=closed,right=free"
        assert found.branches[0].lambda_N["left"] == pytest.approx(float(m) / (1 + float(m)), rel=1e-9)
