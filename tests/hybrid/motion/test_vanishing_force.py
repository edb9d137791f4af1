"""A normal force that vanishes ends its mode also where nothing but rounding tells it from zero."""

import math

import attrs
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid import Constraint, Contact, EnergyDynamics, Mechanism, State, Termination, derive, simulate, solve_state
from hybrid.contact import ContactMode, NewtonImpact
from hybrid.motion import Settings, Stop
from hybrid.motion.context import Context
from hybrid.motion.selecting import decide
from hybrid.motion.transitions import moment_at_start

G = 9.81


@pytest.fixture(scope="module")
def hopper():
    """A body on a foot with a spring: the free acceleration of the foot is the difference of spring and weight."""
    return derive(
        Mechanism(
            name="hopper",
            coordinates=["x", "y", "x_f", "y_f"],
            parameters={"M": 5, "m": 0.5, "k": 2000, "L": 0.6, "g": G},
            dynamics=EnergyDynamics(
                kinetic="M*(x_dot**2 + y_dot**2)/2 + m*(x_f_dot**2 + y_f_dot**2)/2",
                potential="M*g*y + m*g*y_f + k*(sqrt((x - x_f)**2 + (y - y_f)**2) - L)**2/2",
            ),
            contact=[Contact(name="foot", gap="y_f", tangent="x_f", friction="0.8")],
        )
    )


@pytest.mark.parametrize("k", [1500, 1937.5, 1990, 2100, 2562.5, 2975])
def test_foot_leaves_the_floor_when_the_spring_carries_it(hopper, k):
    # On the foot the body swings as y = y_0 - A cos(w t); the foot is carried where k (y - L) = m g, by hand.
    rest, lifting = 0.6 - 5 * G / k, 0.6 + 0.5 * G / k
    t = math.acos(-(lifting - rest) / (rest - 0.4)) / math.sqrt(k / 5)
    motion = simulate(hopper, State([0, 0.4, 0, 0], [0, 0, 0, 0]), t_end=t + 0.01, parameters={"k": k})
    assert motion.termination is Termination.END_TIME
    assert [event.elements for event in motion.events] == [("foot",)]
    assert motion.events[0].t == pytest.approx(
        t, rel=1e-11
    )  # steps of 1e-12, and the root of a force that falls steeply
    assert motion.arcs[-1].mode.label == "free"
    assert motion.q[3] > 0


def test_bead_on_a_rough_ring_passes_from_its_outer_to_its_inner_side():
    ring = derive(
        Mechanism(
            name="ring",
            coordinates=["x", "z"],
            parameters={"m": 0.1, "R": 0.5, "g": G, "mu": 0.2},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + z_dot**2)/2", potential="m*g*z"),
            constraint=[
                Constraint(name="ring", equation="sqrt(x**2 + z**2) - R", tangent="R*atan2(x, -z)", friction="mu")
            ],
        )
    )
    start = solve_state(ring, {"x": 0.5 * math.sin(1), "x_dot": 0})
    motion = simulate(ring, start, t_end=0.9)

    def rate(_, y):  # angle from the bottom; N presses inwards where it is positive, by hand
        return [y[1], -G / 0.5 * math.sin(y[0]) - 0.2 * abs(G * math.cos(y[0]) + 0.5 * y[1] ** 2) / 0.5 * np.sign(y[1])]

    def turns(_, y):
        return y[1]

    turns.terminal, turns.direction = True, 1
    angle = math.atan2(start.q[0], -start.q[1])
    found = solve_ivp(rate, (0, 1), [angle, -1e-13], rtol=1e-12, atol=1e-13, events=turns, first_step=1e-6)
    assert motion.termination is Termination.END_TIME
    # The solver smooths the corner of abs(N) with its tolerance of 1e-12 a step over some hundred steps.
    assert motion.events[0].t == pytest.approx(found.t_events[0][0], rel=1e-9)


def test_a_history_that_no_consistent_mode_agrees_with_is_told():
    # a bead at rest on a rough rail is pushed to the right beyond its limit; that it was let go to the left is not so
    rail = derive(
        Mechanism(
            name="rail",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="10*y"),
            forces={"x": "8"},
            constraint=[Constraint(name="rail", equation="y", tangent="x", friction="0.5")],
        )
    )
    context = Context(rail, Settings(), None, Stop())
    moment = moment_at_start(context, 0.0, np.zeros(2), np.zeros(2), {})
    agreed = decide(context, moment, 1.0)
    assert agreed.choice.mode.label == "slide+"  # pushed by 8, held by 5 at most
    assert "static friction" not in agreed.note
    denied = decide(context, attrs.evolve(moment, broken={"rail": ContactMode.SLIDE_MINUS}), 1.0)
    assert denied.choice.mode.label == "slide+"
    assert "no consistent mode agrees with what static friction held or let go" in denied.note


@pytest.mark.parametrize("start", [0.0, -0.1], ids=["at rest", "chatters to rest"])
@pytest.mark.parametrize("idle", [False, True], ids=["alone", "beside a swing"])
def test_a_smooth_block_leaves_the_corner_of_slope_and_wall_when_the_load_turns(start, idle):
    corner = Mechanism(
        name="corner", coordinates=["x", "y", *(["z"] if idle else [])], forces={"x": "5*cos(t) - 5"},
        dynamics=EnergyDynamics(
            kinetic="(x_dot**2 + y_dot**2)/2" + " + z_dot**2/2" * idle, potential="10*y" + " + 8*z**2" * idle
        ),
        contact=[
            Contact(name="slope", gap="y + x/2", tangent="x - y/2", friction="0", restitution="0"),
            Contact(name="wall", gap="-x", restitution="0.3"),
        ],
    )  # fmt: skip
    state = State([start, -start / 2, *([0.3] * idle)], [0.0] * (2 + idle))
    motion = simulate(derive(corner), state, t_end=2.0, law=NewtonImpact())
    # The slope carries 10 upwards and 5 towards the wall, which gives back 5 cos t. From pi/2 on the block slides up
    # the slope, 1 + 1/4 of its mass along x: 5/4 x'' = 5 cos t.
    left = motion.events[-1]
    assert "wall" in left.elements
    assert left.mode_after.label == "slope=slide-,wall=free"
    assert left.t == pytest.approx(math.pi / 2, abs=1e-13)  # rounding of a force of 5 that falls by 5 a second
    assert motion.termination is Termination.END_TIME
    assert motion.v[0] == pytest.approx(4 * (math.sin(2) - 1), abs=1e-11)  # errors of some ten steps of 1e-12
    assert motion.q[0] == pytest.approx(4 * (math.pi / 2 - 2 - math.cos(2)), abs=1e-11)


@pytest.mark.parametrize("rtol", [1e-9, 1e-4, 1e-3])
@pytest.mark.parametrize("stepper", ["Radau", "DOP853"])
@pytest.mark.parametrize("load, start", [("5*sin(3*t)", math.asin(0.6) / 3), ("5*cos(3*t)", 0.0)])
def test_a_body_lifts_off_smoothly_whatever_the_accuracy(load, start, stepper, rtol):
    # x'' = -3 + 5 sin(3 t): it leaves where that is positive, or at once, and rises with the cube of the time at first
    mass = Mechanism(
        name="mass",
        coordinates=["x"],
        dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="3*x"),
        forces={"x": load},
        contact=[Contact(name="floor", gap="x")],
    )
    settings = Settings(stepper=stepper, rtol=rtol, atol=rtol)
    motion = simulate(derive(mass), State([0.0], [0.0]), t_end=0.6, settings=settings)
    assert motion.termination is Termination.END_TIME
    s, w = 0.6 - start, 3.0
    if start:
        assert [event.t for event in motion.events] == pytest.approx([start], abs=1e-11)
        rise = (math.sin(w * start) - math.sin(w * 0.6)) / w**2 + math.cos(w * start) / w * s
    else:
        rise = (1 - math.cos(w * 0.6)) / w**2
    assert motion.q[0] == pytest.approx(5 * rise - 1.5 * s**2, abs=10 * rtol)


@pytest.mark.parametrize(("rate", "label"), [(1.0, "free"), (-1.0, "closed")])
def test_a_tie_at_the_end_of_the_time_is_resolved_as_if_the_motion_went_on(rate, label):
    # the load carries the weight at t = 0, and more or less of it from then on
    block = derive(
        Mechanism(
            name="block",
            coordinates=["y"],
            parameters={"c": rate},
            dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="10*y"),
            forces={"y": "10 + c*t"},
            contact=[Contact(name="floor", gap="y")],
        )
    )
    context = Context(block, Settings(), NewtonImpact(), Stop())
    moment = moment_at_start(context, 0.0, np.zeros(1), np.zeros(1), {})
    for t_end in (1.0, 0.0):
        assert decide(context, moment, t_end).choice.mode.label == label
