"""The simplest motions under every kind of load, with every parameter at 0, 1 and -1."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

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
    solve_state,
)
from hybrid.contact import NewtonImpact
from hybrid.motion import Settings

KICK = Settings(max_step=0.5)  # a kick or a jump may pass within a longer step
LOADS = {
    "constant": ("F", lambda F, t, x, v: F),
    "wave": ("F*sin(3*t)", lambda F, t, x, v: F * np.sin(3 * t)),
    "constant and wave": ("1 + F*sin(3*t)", lambda F, t, x, v: 1 + F * np.sin(3 * t)),
    "ramp": ("F*t", lambda F, t, x, v: F * t),
    "ramp that begins": ("F*max(0, t - 0.7)", lambda F, t, x, v: F * np.maximum(0, t - 0.7)),
    "step": ("F*(1 + sign(t - 0.7))/2", lambda F, t, x, v: F * (t > 0.7)),
    "kick": ("F*exp(-50*(t - 0.8)**2)", lambda F, t, x, v: F * np.exp(-50 * (t - 0.8) ** 2)),
    "damping": ("-F*x_dot", lambda F, t, x, v: -F * v),
    "damping that fades": ("-F*exp(-t)*x_dot", lambda F, t, x, v: -F * np.exp(-t) * v),
    "square of the speed": ("-F*x_dot*abs(x_dot)", lambda F, t, x, v: -F * v * np.abs(v)),
    "time and place": ("F*x*cos(2*t)", lambda F, t, x, v: F * x * np.cos(2 * t)),
}
BODIES = {  # potential, force
    "mass point": ("0", lambda k, x: 0.0),
    "spring": ("k*x**2/2", lambda k, x: -k * x),
    "pendulum": ("-k*cos(x)", lambda k, x: -k * np.sin(x)),
}
END = 2.0


def plainly(force, load, k, F, x, v):
    """Two integrations, apart at the only instant at which a load has no derivative."""

    def rate(t, y):
        return [y[1], force(k, y[0]) + load(F, t, y[0], y[1])]

    y = [x, v]
    for start, end in ((0.0, 0.7), (np.nextafter(0.7, 1.0), END)):
        y = solve_ivp(rate, (start, end), y, "DOP853", rtol=1e-12, atol=1e-13, max_step=0.1).y[:, -1]
    return y


@pytest.fixture(scope="module", params=[(body, load) for body in BODIES for load in LOADS], ids="-".join)
def case(request):
    body, load = request.param
    potential, force = BODIES[body]
    parameters = {"F": 1.0} | ({} if body == "mass point" else {"k": 1.0})
    declared = Mechanism(
        name="simplest", coordinates=["x"], parameters=parameters,
        dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential=potential), forces={"x": LOADS[load][0]},
    )  # fmt: skip
    return derive(declared), force, LOADS[load][1], "k" in parameters


@pytest.mark.parametrize("F", [0.0, 1.0, -1.0])
def test_motion_of_one_body_is_that_of_a_plain_integration(case, F):
    dynamics, force, load, has_k = case
    for k in (0.0, 1.0, -1.0) if has_k else (0.0,):
        values = {"F": F} | ({"k": k} if has_k else {})
        x, v = (0.3, 0.0) if k else (0.0, -0.4)  # short of where a square of the speed would blow it up
        motion = simulate(dynamics, State([x], [v]), t_end=END, parameters=values, settings=KICK)
        assert motion.termination is Termination.END_TIME, (k, motion.cause)
        # both are accurate to 1e-12 a step; a step over the jump of a load is wrong by what was asked for
        assert [*motion.q, *motion.v] == pytest.approx(plainly(force, load, k, F, x, v), abs=2e-9), k


@pytest.mark.parametrize("F", [0.0, 1e-3, 1.0])
def test_oscillator_with_its_load_switched_off_is_the_oscillator(F):
    declared = Mechanism(
        name="oscillator", coordinates=["x"], parameters={"F": 1.0},
        dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="5*x**2"), forces={"x": "F*sin(3*t)"},
    )  # fmt: skip
    motion = simulate(derive(declared), State([1.0], [0.0]), t_end=20.0, parameters={"F": F})
    w, t = np.sqrt(10), 20.0
    # x'' + 10 x = F sin 3t: F sin(3t)/(10 - 9) and the free motion that makes the start right
    expected = np.cos(w * t) + F * (np.sin(3 * t) - 3 / w * np.sin(w * t))
    assert motion.termination is Termination.END_TIME
    assert motion.q[0] == pytest.approx(expected, abs=1e-10)


def test_ball_on_a_table_that_does_not_vibrate_bounces_as_on_the_floor():
    table = derive(mechanisms.load("ball_on_vibrating_table"))
    values = {"Gamma": 0.0, "e": 0.5, "g": 9.81}
    start = solve_state(table, {"gap.floor": 1.0, "gap_dot.floor": 0.0}, parameters=values)
    motion = simulate(table, start, t_end=3.0, law=NewtonImpact(), parameters=values)
    drop = np.sqrt(2 / 9.81)
    # flights take 2 e^k drop; what remains after k impacts is a geometric series
    expected = [drop * (1 + 2 * sum(0.5**j for j in range(1, k + 1))) for k in range(6)]
    assert motion.termination is Termination.END_TIME
    assert [event.t for event in motion.events][:6] == pytest.approx(expected, abs=1e-11)
    assert motion.events[-1].t == pytest.approx(drop * 3.0, abs=1e-9)


@pytest.mark.parametrize("load", ["F", "F*sin(3*t)", "F*exp(-50*(t - 0.8)**2)", "F*t", "F*(1 + sign(t - 0.7))/2"])
@pytest.mark.parametrize("F", [0.0, 1.0, -1.0])
def test_a_body_at_rest_with_friction_slips_where_its_load_exceeds_it(load, F):
    limit = 0.5
    declared = Mechanism(
        name="block", coordinates=["x", "y"], parameters={"F": 1.0},
        dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="10*y"), forces={"x": load},
        contact=[Contact(name="floor", gap="y", tangent="x", friction="0.05")],
    )  # fmt: skip
    settings = Settings(max_step=0.1)
    motion = simulate(
        derive(declared), State([0.0, 0.0], [0.0, 0.0]), t_end=1.0, parameters={"F": F}, settings=settings
    )
    first = {
        "F": 0.0, "F*sin(3*t)": np.arcsin(limit) / 3, "F*t": limit, "F*(1 + sign(t - 0.7))/2": 0.7,
        "F*exp(-50*(t - 0.8)**2)": 0.8 - np.sqrt(np.log(1 / limit) / 50),
    }[load]  # fmt: skip
    slides = [arc for arc in motion.arcs if arc.mode["floor"].value != "stick"]
    assert motion.termination is Termination.END_TIME
    assert bool(slides) == (F != 0.0)
    if slides:
        assert slides[0].start == pytest.approx(first, abs=1e-12)
        assert slides[0].mode["floor"].value == ("slide+" if F > 0 else "slide-")


@pytest.mark.parametrize("lift", [6.0, 4.5])
@pytest.mark.parametrize("push", [4.0, -4.0, 1.0])
def test_a_step_that_lifts_and_pushes_a_body_is_named_by_what_follows(lift, push):
    # both the cone and the normal force break at the jump, and one is found first; weight 10, friction 0.5
    declared = Mechanism(
        name="block", coordinates=["x", "y"],
        dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="10*y"),
        forces={"x": f"{push}*(1 + sign(t - 0.7))", "y": f"{lift}*(1 + sign(t - 0.7))"},
        contact=[Contact(name="floor", gap="y", tangent="x", friction="0.5")],
    )  # fmt: skip
    (event,) = simulate(derive(declared), State([0.0, 0.0], [0.0, 0.0]), t_end=1.0).events
    slides = "slide+" if push > 0 else "slide-"
    expected = ("detachment", "free") if lift > 5 else ("slip start", slides)
    assert event.t == pytest.approx(0.7, abs=1e-12)
    assert (event.kind.value, event.mode_after["floor"].value) == expected


@pytest.mark.parametrize("jump", [-11.0, -4.0, -1.05, 1.05, 4.0, 11.0])
def test_a_step_of_the_load_is_met_on_time_while_something_else_moves(jump):
    # one limit of the friction breaks; the force moves away from the other by the same jump, which no series follows
    declared = Mechanism(
        name="block", coordinates=["q", "p"],
        dynamics=EnergyDynamics(kinetic="q_dot**2/2 + p_dot**2/2", potential="10*p**2/2"),
        forces={"q": f"{jump}*(1 + sign(t - 1.2))/2"},
        friction=[FrictionElement(name="guide", tangent="q", limit="1")],
    )  # fmt: skip
    motion = simulate(derive(declared), State([0.0, 0.1], [0.0, 0.0]), t_end=2.0)
    left = abs(jump) - 1.0
    assert [event.t for event in motion.events] == pytest.approx([1.2], abs=1e-12)
    assert motion.q[0] == pytest.approx(np.sign(jump) * left * 0.8**2 / 2, rel=1e-11)
    assert motion.q[1] == pytest.approx(0.1 * np.cos(2.0 * np.sqrt(10.0)), abs=1e-9)


@pytest.mark.parametrize("kind", ["slips", "leaves"])
def test_a_step_is_met_on_time_wherever_it_lies_between_the_points_of_a_step(kind):
    # a step of the swing lasts some 0.06, and its guards are read at 19 points of it: 60 places of the jump
    sticks = {"friction": [FrictionElement(name="held", tangent="q", limit="1.5")]}
    rests = {"contact": [Contact(name="held", gap="q")]}
    declared = Mechanism(
        name="block", coordinates=["q", "p"], parameters={"jump": 1.0},
        dynamics=EnergyDynamics(
            kinetic="q_dot**2/2 + p_dot**2/2", potential="18*p**2/2" + ("" if kind == "slips" else " + 1.5*q")
        ),
        forces={"q": "6*(1 + sign(t - jump))/2"}, **(sticks if kind == "slips" else rests),
    )  # fmt: skip
    dynamics, late = derive(declared), []
    for jump in (0.3476, *np.linspace(0.31, 0.39, 59)):
        start = State([0.0, 0.0], [0.0, -0.836])
        motion = simulate(dynamics, start, t_end=0.5, parameters={"jump": float(jump)})
        late.append(motion.events[0].t - jump)
        assert motion.q[0] == pytest.approx(4.5 * (0.5 - jump) ** 2 / 2, rel=1e-11)
    assert np.abs(late).max() < 1e-13


@pytest.mark.parametrize("load", ["2*t", "2*t + 0.5*(1 + sign(t - 0.5))"])
@pytest.mark.parametrize("watched", ["t - 0.5", "2*t - 1"])
def test_a_watch_that_vanishes_where_a_body_slips_is_told_beside_it(load, watched):
    declared = Mechanism(
        name="block", coordinates=["x"], dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"),
        forces={"x": load}, friction=[FrictionElement(name="guide", tangent="x", limit="1")],
    )  # fmt: skip
    first = simulate(derive(declared), State([0.0], [0.0]), t_end=1.0, watch={"half": watched}).events[0]
    assert (first.kind.value, first.elements) == ("slip start", ("guide", "half"))
    assert first.t == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("limit", [0.0, 1.0])
@pytest.mark.parametrize("F", [0.0, 0.5, -0.5])
def test_a_friction_element_under_a_constant_load_decelerates_by_what_is_left(limit, F):
    declared = Mechanism(
        name="slider", coordinates=["x"], parameters={"F": 1.0, "limit": 1.0},
        dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"), forces={"x": "F"},
        friction=[FrictionElement(name="guide", tangent="x", limit="limit")],
    )  # fmt: skip
    values = {"F": F, "limit": limit}
    motion = simulate(derive(declared), State([0.0], [0.25]), t_end=0.125, parameters=values)
    # v stays positive: 0.25 - 1.5/8
    assert motion.termination is Termination.END_TIME
    assert motion.v[0] == pytest.approx(0.25 + (F - limit) * 0.125, abs=1e-13)
    assert motion.q[0] == pytest.approx(0.25 * 0.125 + (F - limit) * 0.125**2 / 2, abs=1e-13)


def test_a_mass_that_falls_on_a_wall_where_its_spring_is_relaxed_stays_there():
    """Without restitution nothing moves it any more; what rounding leaves of the position, 1e-177 at times, is zero."""
    spring = derive(
        Mechanism(
            name="spring",
            coordinates=["x"],
            parameters={"m": 1.0, "k": 1.0},
            dynamics=EnergyDynamics(kinetic="m*x_dot**2/2", potential="k*x**2/2"),
            contact=[Contact(name="wall", gap="x", restitution="0")],
        )
    )
    draws = np.random.default_rng(0).uniform([0.5, 1.0, 0.01, -0.5], [2.0, 30.0, 0.5, 0.5], (300, 4))
    for m, k, x, v in draws[200:]:
        half = np.pi * np.sqrt(m / k)  # of a period, in which it is back on the wall
        motion = simulate(spring, State([x], [v]), t_end=2 * half, parameters={"m": m, "k": k}, law=NewtonImpact())
        assert motion.termination is Termination.END_TIME
        assert [event.elements for event in motion.events] == [("wall",)]
        assert motion.q == pytest.approx([0.0], abs=1e-14)
