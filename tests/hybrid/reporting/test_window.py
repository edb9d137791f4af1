"""Pins, command lines and axes around a state lead back to it."""

import shlex
from types import SimpleNamespace

import numpy as np
import pytest

from hybrid import Contact, EnergyDynamics, EquationDynamics, Mechanism, derive, solve_state
from hybrid.analysis import Axis
from hybrid.reporting import build_report, command_line, default_axes, pins_around, render_markdown
from hybrid.reporting.touching import posture
from hybrid.reporting.window import can_be_traced
from mechanisms import load
from tests.hybrid.reporting.states import STATES, solved

FREE = sorted(set(STATES) - {"bouncing_ball", "block_on_incline", "brake_shoe", "two_carts"})


def assert_same(found, state):
    # Newton stops at 1e-13 of a position; angles and velocities are of order 1 to 10
    np.testing.assert_allclose(found.q, state.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.v, state.v, rtol=0, atol=1e-9)
    assert found.sides == state.sides


def elbow_down():
    arm = derive(load("two_link_arm"))
    return arm, solve_state(arm, {"theta2": 0.5, "theta2_dot": 1}, branch={"theta1": -1.1}), {}


@pytest.mark.parametrize("name", [*sorted(STATES), "two_link_arm with its elbow down"])
def test_command_line_gives_the_state_again(name):
    dynamics, state, parameters = solved(name) if name in STATES else elbow_down()
    words = shlex.split(command_line(dynamics, state, parameters=parameters))
    assert words[:3] == ["painleve", "report", dynamics.name]
    given = {"--pin": {}, "--param": {}, "-o": {}}
    for option, text in zip(words[3::2], words[4::2], strict=True):
        key, _, value = text.partition("=")
        given[option][key] = value
    values = {key: float(value) for key, value in given["--param"].items()}
    assert values == parameters
    assert_same(solve_state(dynamics, given["--pin"], parameters=values), state)


@pytest.mark.parametrize("name", FREE)
def test_swept_pins_at_the_state_give_the_state(name):
    dynamics, state, parameters = solved(name)
    first, second = default_axes(dynamics, state, parameters=parameters)
    own = dict(zip(dynamics.mechanism.coordinates, state.q.tolist(), strict=True))
    own |= dict(zip(dynamics.mechanism.velocities, state.v.tolist(), strict=True))
    names = [first.name, second.name]
    pins = pins_around(dynamics, state, names, parameters=parameters)
    assert not set(pins) & set(names)
    swept = {name: own[name] for name in names if name in own}
    if name != "two_link_arm":  # gap = 0 has two elbows; the other one is as good
        assert_same(solve_state(dynamics, pins | swept, parameters=parameters), state)


@pytest.mark.parametrize("name", FREE)
def test_axes_contain_the_state_and_sweep_the_posture_and_its_velocity(name):
    dynamics, state, parameters = solved(name)
    first, second = default_axes(dynamics, state, parameters=parameters)
    index = dynamics.mechanism.coordinates.index(first.name)
    assert second.name == dynamics.mechanism.velocities[index]
    assert first.low < state.q[index] < first.high
    assert second.low < state.v[index] < second.high
    # all free coordinates of the catalogue on which Delassus terms depend are angles; the arm reaches the rail only
    # up to l1 cos(theta1) = H - l2 = 0.6, found on a grid of 130 postures
    expected = np.arccos(0.6) if name == "two_link_arm" else np.pi
    assert first.high - first.low == pytest.approx(expected, abs=0 if name != "two_link_arm" else np.pi / 129)


@pytest.mark.parametrize("name", ["bouncing_ball", "two_carts", "block_on_incline", "brake_shoe"])
def test_no_map_without_friction_or_where_the_contact_fixes_the_posture(name):
    dynamics, state, parameters = solved(name)
    assert default_axes(dynamics, state, parameters=parameters) is None


def test_no_map_over_a_coordinate_on_which_nothing_depends():
    block = Mechanism(
        name="clamped_block",
        coordinates=["x", "y"],
        parameters={"m": 1, "g": 9.81, "P": 1, "mu": 0.5},
        dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2", potential="m*g*y"),
        forces={"x": "P"},
        contact=[
            Contact(name="floor", gap="y", tangent="x", friction="mu"),
            Contact(name="ceil", gap="-y", tangent="x", friction="mu"),
        ],
    )
    dynamics = derive(block)
    assert default_axes(dynamics, solve_state(dynamics, {"y": 0, "x_dot": 0, "y_dot": 0})) is None


def test_spatial_rod_is_swept_over_its_inclination_not_its_heading():
    # G_NN = 1/m + l^2 cos(theta)^2 / J does not depend on psi
    dynamics, state, parameters = solved("oblique_rod")
    assert [axis.name for axis in default_axes(dynamics, state, parameters=parameters)] == ["theta", "theta_dot"]


def test_surfaces_of_the_ladder_are_floor_and_wall():
    dynamics, state, parameters = solved("ladder_in_corner")
    drawn = posture(dynamics, state, closed=("floor", "wall"), parameters=parameters)
    floor, wall = drawn.surfaces
    # the foot is at (2 l cos, 0), the top at (0, 2 l sin); differences of the points are good to 1e-9
    np.testing.assert_allclose(floor.at, [2 * np.cos(1.2), 0], atol=1e-9)
    np.testing.assert_allclose(wall.at, [0, 2 * np.sin(1.2)], atol=1e-9)
    np.testing.assert_allclose([floor.normal, wall.normal], [[0, 1], [1, 0]], atol=1e-8)


def test_spatial_mechanism_has_no_plane_sketch():
    dynamics, state, _ = solved("oblique_rod")
    assert posture(dynamics, state, closed=("tip",)) is None


def test_friction_is_swept_where_the_velocity_changes_nothing():
    turntable = Mechanism(
        name="turntable",
        coordinates=["y", "x", "phi"],
        parameters={"m": 1, "g": 1, "J": 1, "mu": 1.6},
        dynamics=EquationDynamics(
            mass_matrix=[["m*(2 + cos(phi))", "m/2", "0"], ["m/2", "m", "0"], ["0", "0", "J"]],
            forces=["-m*g", "0", "0"],
        ),
        contact=[Contact(name="floor", gap="y", tangent="x", friction="mu")],
    )
    dynamics = derive(turntable)
    state = solve_state(dynamics, {"phi": 1, "phi_dot": 5, "slip.floor": 0})
    first, second = default_axes(dynamics, state)
    assert (first.name, second.name) == ("phi", "mu")
    assert second.low == 0 < 1.6 < second.high
    found = pins_around(dynamics, state, ["phi", "mu"])["phi_dot"]
    assert found == pytest.approx(5, rel=1e-14)  # from a linear system of order three for the velocities


def test_only_regions_with_few_curves_between_them_are_traced():
    rod = derive(load("rod_on_incline"))
    half = np.zeros((240, 240), dtype=int)
    half[:, 120:] = 1
    assert can_be_traced(rod, SimpleNamespace(region=half, branch=None))
    # 115 000 edges: regions that alternate from cell to cell
    assert not can_be_traced(rod, SimpleNamespace(region=np.indices((240, 240)).sum(axis=0) % 2, branch=None))
    # 100 squares in which three regions meet cost 13 000 states each
    stairs = half.copy()
    stairs[::2, 120:] = 2
    assert not can_be_traced(rod, SimpleNamespace(region=stairs, branch=None))


def test_postures_solved_for_on_a_branch_of_many_coordinates_are_not_traced():
    # measured: the map of a robot with two legs and 7 coordinates, on which 732 cells have another neighbour, took
    # 18 s to trace, that of a biped with 4 explicit coordinates and 6 squares of three regions 2 s
    region = np.zeros((240, 240), dtype=int)
    region[:, 100:], region[:180, 200:] = 1, 2
    region[:, 120:123] = 2
    legs, biped = (SimpleNamespace(n=n) for n in (7, 4))
    assert not can_be_traced(legs, SimpleNamespace(region=region, branch=object()))
    assert can_be_traced(biped, SimpleNamespace(region=region, branch=None))


def test_the_speed_axis_reaches_beyond_where_inertia_lifts_the_tip():
    # uniform rod: the free normal acceleration of its tip is -g + l sin(phi) phi_dot^2, g normal to the plane, so at
    # the posture phi it changes sign at the speed sqrt(g / (l sin(phi))); the axis takes 2.5 times the median over phi
    dynamics, state, parameters = solved("rod_on_incline")
    values = dynamics.mechanism.parameter_values(parameters)
    phi = np.pi * (np.arange(65) + 0.5) / 65
    speeds = np.sqrt(values["g"] / (values["l"] * np.sin(phi)))
    _, second = default_axes(dynamics, state, parameters=parameters)
    least = 2.5 * np.median(speeds)
    assert least <= second.high <= least + 10 ** np.floor(np.log10(least))


def test_a_map_holds_what_the_state_was_given_by():
    # The angle's rate fixes all velocities: pinned by theta_dot, that is what stays, not the slip that follows.
    corner = {"gap.floor": 0, "gap.wall": 0, "gap_dot.floor": 0, "gap_dot.wall": 0}
    ladder = derive(load("ladder_in_corner"))
    by_rate = solve_state(ladder, {"theta": 0.6, "theta_dot": -0.5, **corner})
    by_slip = solve_state(ladder, {"theta": 0.6, "slip.floor": "0.5", **corner})
    assert pins_around(ladder, by_rate, ["theta", "mu"]) == corner | {"theta_dot": -0.5}
    assert pins_around(ladder, by_slip, ["theta", "mu"]) == corner | {"slip.floor": pytest.approx(0.5)}
    axes = [Axis("theta", 0.4, 0.8, 3), Axis("mu", 0.5, 1.5, 2)]
    text = render_markdown(build_report(ladder, by_rate, axes=axes))
    assert "`gap.wall` = 0, `gap_dot.floor` = 0, `gap_dot.wall` = 0, `theta_dot` = −0.5." in text
