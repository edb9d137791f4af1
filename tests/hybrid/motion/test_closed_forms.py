"""Motions with contact and friction against closed forms."""

import numpy as np
import pytest

import mechanisms
from hybrid import (
    Contact,
    EnergyDynamics,
    FrictionElement,
    Mechanism,
    State,
    Termination,
    derive,
    simulate,
)
from hybrid.contact import NewtonImpact

G = 9.81


def mechanism(coordinates, kinetic, potential, **parts):
    return derive(
        Mechanism(
            name="subject",
            coordinates=coordinates,
            dynamics=EnergyDynamics(kinetic=kinetic, potential=potential),
            **parts,
        )
    )


def test_coulomb_oscillator_stops_after_two_half_cycles():
    # m = 2, k = 50, mu = 0.3: every half cycle lasts pi/5 and shrinks the amplitude by 2 mu m g / k
    body = mechanism(
        ["x"], "x_dot**2", "25*x**2", friction=[FrictionElement(name="floor", limit="0.3*2*9.81", tangent="x")]
    )
    motion = simulate(body, State([0.5], [0.0]), t_end=100)
    assert [event.t for event in motion.events] == pytest.approx([np.pi / 5, 2 * np.pi / 5], abs=1e-12)
    assert motion.q[0] == pytest.approx(0.5 - 4 * 0.3 * 2 * G / 50, abs=1e-12)
    assert motion.v[0] == 0.0
    assert abs(motion.energy().residual) < 1e-11


def test_stick_slip_on_a_belt_has_the_period_of_the_closed_form():
    # m = 1, k = 4, v = 0.15, static limit 1.2, kinetic 0.8
    block = mechanism(
        ["x"],
        "x_dot**2/2",
        "2*x**2",
        parameters={"v": 0.15},
        friction=[FrictionElement(name="belt", limit="0.8", static_limit="1.2", slip="x_dot - v")],
    )
    motion = simulate(block, State([0.0], [0.15]), t_end=20)
    slip = 2 * (np.pi - np.arctan(0.4 * 2 / (4 * 0.15))) / 2
    stick = 2 * 0.4 / (4 * 0.15)
    times = np.array([event.t for event in motion.events])
    assert times[0] == pytest.approx(1.2 / (4 * 0.15), abs=1e-12)
    assert np.diff(times)[0::2] == pytest.approx(slip, abs=1e-11)
    assert np.diff(times)[1::2] == pytest.approx(stick, abs=1e-11)
    assert {event.mode_after.label for event in motion.events} == {"slide-", "stick"}
    assert abs(motion.energy().residual) < 1e-11


def test_sliding_ball_rolls_after_two_sevenths():
    ball = mechanism(
        ["x", "y", "th"],
        "(x_dot**2 + y_dot**2)/2 + 0.4*R**2*th_dot**2/2",
        "9.81*y",
        parameters={"R": 0.1, "mu": 0.2},
        contact=[Contact(name="floor", gap="y", slip="x_dot - R*th_dot", friction="mu")],
    )
    motion = simulate(ball, State([0, 0, 0], [3, 0, 0]), t_end=5)
    assert [event.t for event in motion.events] == pytest.approx([2 * 3 / (7 * 0.2 * G)], abs=1e-12)
    assert motion.v[0] == pytest.approx(5 * 3 / 7, abs=1e-12)


def test_spinning_ball_keeps_its_direction_of_slip_until_it_rolls():
    ball = mechanism(
        ["x", "y", "z", "a", "b"],
        "(x_dot**2 + y_dot**2 + z_dot**2)/2 + 0.4*R**2*(a_dot**2 + b_dot**2)/2",
        "9.81*z",
        parameters={"R": 0.1, "mu": 0.2},
        contact=[Contact(name="floor", gap="z", slip=["x_dot - R*b_dot", "y_dot + R*a_dot"], friction="mu")],
    )
    motion = simulate(ball, State(np.zeros(5), [3, 1, 0, 20, -7]), t_end=2)
    slip = np.array([3 + 0.7, 1 + 2.0])
    # the direction is lost near zero slip, so the time is known to about 1e-8 of the slip over its rate
    assert [event.t for event in motion.events] == pytest.approx([np.linalg.norm(slip) / (3.5 * 0.2 * G)], abs=1e-8)
    assert [event.mode_after.label for event in motion.events] == ["stick"]
    assert motion.v[:2] == pytest.approx(np.array([3, 1]) - slip * 2 / 7, abs=1e-9)


def test_particle_leaves_a_sphere_at_two_thirds_of_its_height():
    particle = mechanism(
        ["x", "y"],
        "(x_dot**2 + y_dot**2)/2",
        "9.81*y",
        contact=[Contact(name="sphere", gap="sqrt(x**2 + y**2) - 1")],
    )
    start = 0.01
    motion = simulate(particle, State([np.sin(start), np.cos(start)], [0, 0]), t_end=5, until="y")
    assert [event.kind.value for event in motion.events] == ["detachment", "until"]
    assert motion.events[0].q[1] == pytest.approx(2 / 3 * np.cos(start), abs=1e-11)
    assert abs(motion.energy().residual) < 1e-10


def test_ladder_leaves_the_wall():
    # without friction the top leaves at sin(theta) = (2/3) sin(theta_0)
    ladder = derive(mechanisms.load("ladder_in_corner"))
    parameters = {"mu": 0, "mu_wall": 0}
    start = State([np.cos(np.pi / 3), np.sin(np.pi / 3), np.pi / 3], [0, 0, 0])
    motion = simulate(ladder, start, t_end=3, parameters=parameters, until="theta - 0.1")
    leaving = motion.events[0]
    assert (leaving.kind.value, leaving.carriers) == ("detachment", ("wall",))
    assert leaving.t == pytest.approx(0.4596628, abs=1e-7)
    assert np.sin(leaving.q[2]) == pytest.approx(2 / 3 * np.sin(np.pi / 3), abs=1e-11)
    assert abs(leaving.v_after[2]) == pytest.approx(2.0610324, abs=1e-7)
    assert abs(leaving.v_after[0]) == pytest.approx(1.1899376, abs=1e-7)


def test_block_just_under_the_friction_angle_does_not_creep():
    block = derive(mechanisms.load("block_on_incline"))
    mu = np.tan(np.pi / 6)
    held = simulate(block, State([0, 0], [0, 0]), t_end=1e4, parameters={"mu": mu * 1.001, "mu_s": mu * 1.001})
    assert held.termination is Termination.END_TIME
    assert np.array_equal(held.q, [0, 0])
    assert np.array_equal(held.sample([5000.0])[0], [[0, 0]])
    # just above it slides with g (sin a - mu cos a)
    slid = simulate(block, State([0, 0], [0, 0]), t_end=10, parameters={"mu": mu * 0.999, "mu_s": mu * 0.999})
    assert slid.q[0] == pytest.approx(G * 0.5 * 0.001 / 2 * 100, rel=1e-9)


@pytest.mark.parametrize(("force", "moves"), [(4.905 - 1e-6, False), (4.905, False), (4.905 + 1e-6, True)])
def test_pushed_box_starts_above_its_friction_limit_only(force, moves):
    box = mechanism(
        ["x", "y"],
        "(x_dot**2 + y_dot**2)/2",
        "9.81*y",
        parameters={"F": 0},
        forces={"x": "F"},
        contact=[Contact(name="floor", gap="y", tangent="x", friction="0.5")],
    )
    motion = simulate(box, State([0, 0], [0, 0]), t_end=10, parameters={"F": force})
    expected = (force - 4.905) * 50 if moves else 0.0
    assert motion.q[0] == pytest.approx(expected, abs=1e-12)
    assert (motion.q[0] != 0.0) == moves


def test_growing_push_starts_the_box_when_it_reaches_the_limit():
    box = mechanism(
        ["x", "y"],
        "(x_dot**2 + y_dot**2)/2",
        "9.81*y",
        forces={"x": "t"},
        contact=[Contact(name="floor", gap="y", tangent="x", friction="0.5")],
    )
    motion = simulate(box, State([0, 0], [0, 0]), t_end=10)
    assert [(event.t, event.mode_after.label) for event in motion.events] == [(pytest.approx(4.905), "slide+")]
    assert motion.q[0] == pytest.approx((10 - 4.905) ** 3 / 6, rel=1e-11)


def test_two_carts_hit_the_stop_at_the_time_of_the_modal_solution():
    # second road: the modes of the two carts, q' ' = -K q, until q1 = 0
    carts = derive(mechanisms.load("two_carts"))
    motion = simulate(
        carts, State([1, 2], [1, 0]), t_end=2, law=NewtonImpact(restitution=1), parameters={"k1": 2.5, "k2": 2.5}
    )
    assert [event.t for event in motion.events] == pytest.approx([1.684902874555358], abs=1e-12)
    assert motion.q == pytest.approx([0.567445244116, -0.035990381535], abs=1e-11)
    assert motion.v == pytest.approx([1.541879478954, -1.381045264987], abs=1e-11)


def test_three_balls_in_a_row_pass_the_velocity_on():
    balls = mechanism(
        ["a", "b", "c"],
        "(a_dot**2 + b_dot**2 + c_dot**2)/2",
        "0",
        contact=[Contact(name="ab", gap="b - a", restitution="1"), Contact(name="bc", gap="c - b", restitution="1")],
    )
    apart = simulate(balls, State([-1, 0, 0.5], [1, 0, 0]), t_end=3, law=NewtonImpact())
    assert [event.t for event in apart.events] == pytest.approx([1.0, 1.5], abs=1e-13)
    assert apart.v == pytest.approx([0, 0, 1], abs=1e-14)
