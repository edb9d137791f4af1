"""Where contacts act on a drawing, found from displacements alone."""

import numpy as np
import pytest

from hybrid import Contact, EnergyDynamics, FrictionElement, Mechanism, derive
from hybrid.reporting.touching import drawn_points, point_jacobians, touching
from mechanisms import load


def at(dynamics, *postures, t=0.0):
    q = np.array(postures, dtype=float)
    return touching(dynamics, q, np.zeros_like(q), t)


def test_the_ends_of_a_ladder_touch_floor_and_wall():
    found = at(derive(load("ladder_in_corner")), [1, 2, 0.3], [0, 0, 1.2])
    assert found["floor"].points == ("foot",)
    assert found["wall"].points == ("top",)
    assert found["floor"].normal == pytest.approx(np.array([[0, 1], [0, 1]]), abs=1e-8)
    assert found["wall"].normal == pytest.approx(np.array([[1, 0], [1, 0]]), abs=1e-8)
    # tangents are declared as foot_x and top_y
    assert found["floor"].tangents[:, 0] == pytest.approx(np.array([[1, 0], [1, 0]]), abs=1e-8)
    assert found["wall"].tangents[:, 0] == pytest.approx(np.array([[0, 1], [0, 1]]), abs=1e-8)


def disc(points):
    return derive(
        Mechanism(
            name="disc",
            coordinates=["x", "y", "a"],
            parameters={"R": 0.5},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2 + a_dot**2)/2"),
            contact=[Contact(name="floor", gap="y - R", slip="x_dot + R*a_dot", friction="0.3")],
            drawing={"points": points},
        )
    )


CENTRE, LOWEST, RIM = ["x", "y"], ["x", "y - R"], ["x + R*cos(a)", "y + R*sin(a)"]


def test_of_points_that_move_alike_the_one_at_the_surface_touches():
    for order in (("centre", "lowest", "rim"), ("rim", "lowest", "centre")):
        places = {"centre": CENTRE, "lowest": LOWEST, "rim": RIM}
        found = at(disc({name: places[name] for name in order}), [1, 2, 0.3])
        assert found["floor"].points == ("lowest",)


def test_friction_of_a_rolling_disc_acts_along_the_surface():
    # the point below the centre does not turn with the disc: it feels the force of friction and not its torque
    found = at(disc({"lowest": LOWEST}), [1, 2, 0.3])
    assert found["floor"].tangents[0, 0] == pytest.approx([1, 0], abs=1e-8)


def wheeled_arm(points, sense=1):
    """An arm of length 1 on a slide, with a wheel of radius 0.1 that is fixed to its end."""
    return derive(
        Mechanism(
            name="wheeled_arm",
            coordinates=["x", "z", "a"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + z_dot**2 + a_dot**2)/2"),
            contact=[
                Contact(name="floor", gap="z - cos(a) - 0.1", tangent=f"{sense}*(x + sin(a) + 0.1*a)", friction="0.3")
            ],
            drawing={"points": points},
        )
    )


@pytest.mark.parametrize("sense", [1, -1])
def test_friction_of_a_wheel_on_an_arm_acts_along_the_surface(sense):
    # by hand: without the torque 0.1 lambda_T about the wheel's lowest point, the force is (lambda_T, lambda_N)
    found = at(wheeled_arm({"lowest": ["x + sin(a)", "z - cos(a) - 0.1"]}, sense), [0, 1, 0.4], [0, 1, -0.7])
    assert found["floor"].normal == pytest.approx(np.array([[0, 1], [0, 1]]), abs=1e-8)
    assert found["floor"].tangents[:, 0] == pytest.approx(np.array([[sense, 0], [sense, 0]]), abs=1e-8)


def test_a_contact_is_not_at_a_point_of_another_direction_at_every_posture():
    # a linkage moves the other point freely, so that at every posture some direction of it gives the gap
    points = {"linkage": ["x + z", "z*(1 + x**2) - 9"], "lowest": ["x", "z - 0.1"]}
    dynamics = derive(
        Mechanism(
            name="geared_wheel",
            coordinates=["x", "z", "a"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + z_dot**2 + a_dot**2)/2"),
            contact=[Contact(name="floor", gap="z - 0.1", tangent="x + 0.1*(a + z)", friction="0.3")],
            drawing={"points": points},
        )
    )
    assert at(dynamics, [0.1, 1, 0.4])["floor"].points == ("lowest",)


def test_a_contact_at_no_point_of_the_drawing_is_left_out():
    assert at(disc({"rim": RIM, "origin": ["0", "0"]}), [1, 2, 0.3], [1, 2, 1.3]) == {}


def test_between_two_bodies_the_nearest_points_touch():
    found = at(derive(load("three_ball_chain")), [0, 1, 3])
    assert found["first_pair"].points == ("right1", "left2")
    assert found["second_pair"].points == ("right2", "left3")
    assert found["second_pair"].normal == pytest.approx(np.array([[1, 0]]), abs=1e-8)


def test_a_spatial_tip_has_a_normal_and_two_tangents():
    found = at(derive(load("oblique_rod")), [0.1, 0.2, 0, 0.3, 1.0])
    assert found["tip"].points == ("tip",)
    assert found["tip"].normal == pytest.approx(np.array([[0, 0, 1]]), abs=1e-8)
    assert found["tip"].tangents[0] == pytest.approx(np.array([[1, 0, 0], [0, 1, 0]]), abs=1e-8)


def test_a_friction_element_acts_along_its_displacement():
    guide = derive(
        Mechanism(
            name="guide",
            coordinates=["s"],
            dynamics=EnergyDynamics(kinetic="s_dot**2/2"),
            friction=[FrictionElement(name="seal", tangent="s", limit="1")],
            drawing={"points": {"wall": ["0", "0"], "piston": ["0.6*s", "0.8*s"]}},
        )
    )
    found = at(guide, [0.2])
    assert found["seal"].points == ("piston",)
    assert found["seal"].tangents[0, 0] == pytest.approx([0.6, 0.8], abs=1e-8)
    assert not found["seal"].normal.any()


def test_points_and_their_derivatives_are_those_of_the_declaration():
    rod = derive(load("rod_on_incline"))
    q = np.array([[0.3, 0.4, 0.5], [1.0, 2.0, -1.0]])
    top = drawn_points(rod, q, 0.0, {"l": 2})["top"]
    assert top == pytest.approx(np.column_stack([q[:, 0] + 2 * np.cos(q[:, 2]), q[:, 1] + 2 * np.sin(q[:, 2])]))
    moved = point_jacobians(rod, q, 0.0, {"l": 2})["top"]
    assert moved[:, 0, 2] == pytest.approx(-2 * np.sin(q[:, 2]), abs=1e-8)
    assert moved[:, :, :2] == pytest.approx(np.broadcast_to(np.eye(2), (2, 2, 2)), abs=1e-8)


def test_an_elbow_that_moves_on_a_circle_is_pushed_up_by_a_level_floor():
    # its displacement alone does not tell the direction; that one is the same in all postures does
    pendulum = derive(load("double_pendulum_over_floor"))
    found = at(pendulum, [1.2, 1.5])
    assert found["elbow"].points == ("elbow",)
    assert found["elbow"].normal == pytest.approx(np.array([[0, 1]]), abs=1e-7)
    assert found["tip"].points == ("tip",)


def test_a_shoe_on_a_hinge_is_pushed_by_the_belt():
    found = at(derive(load("brake_shoe")), [0.1], [0.3])
    assert found["tip"].normal == pytest.approx(np.array([[0, 1], [0, 1]]), abs=1e-7)
    assert found["tip"].tangents[:, 0] == pytest.approx(np.array([[1, 0], [1, 0]]), abs=1e-7)


def test_a_point_that_feels_friction_is_preferred():
    # the wall of this drawing moves up and down with the block but not along the belt
    block = derive(
        Mechanism(
            name="block",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2"),
            contact=[Contact(name="belt", gap="y", slip="x_dot - 1", friction="0.2")],
            drawing={"points": {"wall": ["-1", "y"], "block": ["x", "y"]}},
        )
    )
    assert at(block, [0.1, 0.0])["belt"].points == ("block",)


def test_the_normal_of_a_round_surface_turns_with_the_place():
    bead = derive(
        Mechanism(
            name="bead",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2"),
            contact=[Contact(name="bowl", gap="2 - sqrt(x**2 + y**2)")],
            drawing={"points": {"bead": ["x", "y"]}},
        )
    )
    found = at(bead, [2, 0], [0, -2], [1.2, 1.6])
    assert found["bowl"].normal == pytest.approx(-np.array([[1, 0], [0, -1], [0.6, 0.8]]), abs=1e-7)


def test_an_undetermined_direction_is_left_out():
    # on its circle about the origin the point feels the torque of a force, which may point anywhere
    crank = derive(
        Mechanism(
            name="crank",
            coordinates=["a"],
            dynamics=EnergyDynamics(kinetic="a_dot**2/2"),
            contact=[Contact(name="stop", gap="a")],
            drawing={"points": {"pin": ["cos(a)", "sin(a)"]}},
        )
    )
    assert at(crank, [0.2], [0.5]) == {}
