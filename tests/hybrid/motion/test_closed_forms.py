"""Motions with contact and friction against closed forms."""

import attrs
import numpy as np
import pytest
from scipy.optimize import brentq

import mechanisms
from hybrid import (
    Contact,
    EnergyDynamics,
    Functional,
    Mechanism,
    State,
    Termination,
    derive,
    sensitivity,
    simulate,
    solve_state,
)
from hybrid.contact import NewtonImpact, PoissonImpact
from hybrid.contact.guards import GuardKind
from hybrid.declaration import mechanism_from_toml
from tests.hybrid.motion.test_ties_together import CHALK

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


def test_sliding_ball_rolls_after_two_sevenths():
    # in the plane, where the slip has a sign; the spatial ball is in the catalogue
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


def test_rolling_ball_leaves_a_sphere_at_ten_seventeenths_of_its_height():
    # cos = (10/17) cos(start) for a solid ball that never slips; with friction mu it slips at the end, where the force
    # falls below the T = (2/7) m g sin that rolling takes, so that the error falls like 1/mu
    ball = mechanism(
        ["x", "y", "th"],
        "(x_dot**2 + y_dot**2)/2 + r**2*th_dot**2/5",
        "9.81*y",
        parameters={"r": 0.25, "mu": 1},
        contact=[
            Contact(
                name="sphere",
                gap="sqrt(x**2 + y**2) - 1 - r",
                slip="(x_dot*y - y_dot*x)/sqrt(x**2 + y**2) - r*th_dot",
                friction="mu",
            )
        ],
    )
    start = 0.1
    errors = []
    for mu in (1e2, 1e4):
        motion = simulate(
            ball,
            State([1.25 * np.sin(start), 1.25 * np.cos(start), 0], [0, 0, 0]),
            t_end=5,
            parameters={"mu": mu},
            until="y",
        )
        assert [event.kind.value for event in motion.events] == ["slip start", "detachment", "until"]
        errors.append(abs(motion.events[1].q[1] / 1.25 - 10 / 17 * np.cos(start)))
        assert abs(motion.energy().residual) < 1e-10
    assert errors[1] < 1e-4
    assert errors[1] == pytest.approx(errors[0] / 100, rel=0.1)


def test_pushed_rod_that_sticks_leaves_the_board_at_the_edge_of_its_cone():
    """Where to slide is a paradox the contact does not slide; over a tip at rest the rod is a pendulum.

    phi_ddot = -3 F cos(phi)/(2 m l), and its energy gives phi_dot.
    """
    dynamics, mu, s_0 = derive(mechanism_from_toml(CHALK)), 1.5, np.sin(1.1)

    def room_in_the_cone(phi):
        c, s = np.cos(phi), np.sin(phi)
        fallen = 3 * (s_0 - s)
        return mu * (1 - 1.5 * c**2 - fallen * s) - (1.5 * s - fallen) * c

    start = solve_state(dynamics, {"x": np.cos(1.1), "phi": 1.1, "phi_dot": 0, "slip.tip": 0})
    motion = simulate(dynamics, start, t_end=1, parameters={"mu": mu})
    leaving = motion.events[0]
    phi = leaving.q[2]
    assert phi == pytest.approx(brentq(room_in_the_cone, 0.9, 1.1, xtol=1e-14), abs=1e-9)
    assert 1 + 3 * np.cos(phi) ** 2 - 3 * mu * np.sin(phi) * np.cos(phi) < 0  # m A of the slide
    assert [guard.kind for guard in leaving.guards] == [GuardKind.CONE_MINUS]
    assert (leaving.kind.value, leaving.elements) == ("detachment", ("tip",))
    assert str(leaving.mode_after) == "free"
    # the surface of the event is that of the cone, not the normal force's
    found = sensitivity(motion, Functional(terminal="x"), ["mu", "F"], check=True)
    assert found.check.deviation < 1e-6


def test_ladder_leaves_the_wall():
    # without friction the top leaves at sin(theta) = (2/3) sin(theta_0)
    ladder = derive(mechanisms.load("ladder_in_corner"))
    parameters = {"mu": 0, "mu_wall": 0}
    start = State([np.cos(np.pi / 3), np.sin(np.pi / 3), np.pi / 3], [0, 0, 0])
    motion = simulate(ladder, start, t_end=3, parameters=parameters, until="theta - 0.1")
    leaving = motion.events[0]
    assert (leaving.kind.value, leaving.elements) == ("detachment", ("wall",))
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


def modal(q, v, *, k):
    """Motion of two unit carts on springs k, as a function of time: the modes of q'' = -K q."""
    squares, modes = np.linalg.eigh(k * np.array([[2.0, -1.0], [-1.0, 1.0]]))
    omega = np.sqrt(squares)
    a, b = modes.T @ q, modes.T @ v / omega

    def at(t):
        c, s = np.cos(omega * t), np.sin(omega * t)
        return modes @ (a * c + b * s), modes @ (omega * (b * c - a * s))

    return at


def test_two_carts_hit_the_stop_at_the_time_of_the_modal_solution():
    carts = derive(mechanisms.load("two_carts"))
    motion = simulate(
        carts, State([1, 2], [1, 0]), t_end=2, law=NewtonImpact(restitution=1), parameters={"k1": 2.5, "k2": 2.5}
    )
    fall = modal(np.array([1.0, 2.0]), np.array([1.0, 0.0]), k=2.5)
    hit = brentq(lambda t: fall(t)[0][0], 1, 2, xtol=1e-15)
    assert [event.t for event in motion.events] == pytest.approx([hit], abs=1e-12)
    q, v = fall(hit)
    q, v = modal(q, v * [-1, 1], k=2.5)(2 - hit)
    assert motion.q == pytest.approx(q, abs=1e-11)
    assert motion.v == pytest.approx(v, abs=1e-11)


@pytest.mark.parametrize(("mu", "bounces"), [(0.47, True), (0.5, False)])
def test_rough_end_of_a_hinged_link_jams_where_friction_holds_the_rebound(mu, bounces):
    # the elbow of a double pendulum moves on a circle: its normal and tangential directions depend on each other, and
    # at the angle theta friction can hold any impulse of the floor if mu >= tan(theta); H = 0.9 gives tan = 0.484
    smooth = mechanisms.load("double_pendulum_over_floor")
    rough = attrs.evolve(smooth.contact[0], tangent="elbow_x", friction="mu")
    pendulum = derive(attrs.evolve(smooth, contact=(rough, smooth.contact[1])))
    parameters = {"H": 0.9, "mu": mu, "e": 0.3}
    motion = simulate(pendulum, State([1.4, 1.5], [0, 0]), t_end=20, law=PoissonImpact(), parameters=parameters)
    assert motion.termination is Termination.END_TIME, motion.cause
    landing = next(event for event in motion.events if "elbow" in event.elements)
    assert (landing.impact.gap_dot_after["elbow"] > 1e-3) is bounces
    assert np.cos(motion.q) == pytest.approx([0.9, 0.0], abs=1e-9)
    assert motion.v == pytest.approx([0, 0], abs=1e-9)
    assert abs(motion.energy().residual) < 1e-9
