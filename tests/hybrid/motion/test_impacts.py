"""Motions with impacts: accumulation, chatter, and how a motion ends."""

import numpy as np
import pytest

import mechanisms
from hybrid import Contact, EnergyDynamics, FrictionElement, Mechanism, State, Termination, derive, simulate
from hybrid.contact import NewtonImpact, PoissonImpact
from hybrid.motion import Settings, distance, time_stepping

G = 9.81


@pytest.fixture(scope="module")
def ball():
    return derive(mechanisms.load("bouncing_ball"))


@pytest.mark.parametrize("e", [0.3, 0.5, 0.8, 0.9])
def test_bouncing_ball_comes_to_rest_at_its_zeno_time(ball, e):
    motion = simulate(ball, State([1.0], [0.0]), t_end=10, law=NewtonImpact(), parameters={"e": e})
    limit = motion.events[-1]
    assert limit.kind.value == "accumulation of impacts"
    assert limit.t == pytest.approx(np.sqrt(2 / G) * (1 + e) / (1 - e), abs=1e-12)
    assert limit.mode_after.label == "closed"
    assert motion.q[0] == pytest.approx(0.0, abs=1e-15)
    assert motion.termination is Termination.END_TIME
    # all but the energy of the hops that were not made, a share of 1e-14, went into impacts
    assert motion.energy().residual == pytest.approx(0.0, abs=1e-11)


def test_restitution_zero_stays_on_the_floor(ball):
    motion = simulate(ball, State([1.0], [0.0]), t_end=10, law=NewtonImpact(), parameters={"e": 0})
    assert [event.mode_after.label for event in motion.events] == ["closed"]
    assert np.array_equal(motion.q, [0.0])
    assert np.array_equal(motion.v, [0.0])


def test_bound_on_events_ends_a_motion_and_keeps_it(ball):
    motion = simulate(ball, State([1.0], [0.0]), t_end=10, law=NewtonImpact(), settings=Settings(max_events=5))
    assert motion.termination is Termination.MAX_EVENTS
    assert motion.events
    assert motion.arcs


@pytest.mark.parametrize(("gamma", "settles"), [(1.06, True), (1.51, True), (1.56, False)])
def test_ball_on_a_vibrating_table_bounces_once_a_period_in_the_stable_window_only(gamma, settles):
    # w = g = 1, e = 0.5: the bounce of period 1 exists from 1.0472 on and is stable up to 1.5268
    table = derive(
        Mechanism(
            name="table",
            coordinates=["y"],
            parameters={"a": 1},
            dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="y"),
            contact=[Contact(name="table", gap="y - a*sin(t)", restitution="0.5")],
        )
    )
    e, period = 0.5, 2 * np.pi
    # the table's velocity at impact is (1 - e)/(1 + e) period/2; the ball leaves and returns with half the period's
    # gravity; a small push off the cycle decays within the window and grows beyond it
    phase = np.arccos(np.pi * (1 - e) / (1 + e) / gamma)
    start = State([gamma * np.sin(phase)], [np.pi], t=phase)
    motion = simulate(
        table, State(start.q, start.v + 1e-4, start.t), t_end=60 * period, law=NewtonImpact(), parameters={"a": gamma}
    )
    times = np.array([event.t for event in motion.events if event.impact is not None])
    late = np.diff(times)[-12:]
    assert bool(np.max(np.abs(late - period)) < 1e-3) is settles


def test_rocking_and_chattering_rod_comes_to_rest():
    rod = derive(mechanisms.load("rod_two_ends"))
    for law in (NewtonImpact(), PoissonImpact()):
        motion = simulate(rod, State([0, 1.6, 0.5], [0.3, 0, 0.2]), t_end=20, law=law, parameters={"e": 0.5})
        assert motion.termination is Termination.END_TIME
        assert motion.arcs[-1].mode.label == "left=stick,right=stick"
        assert not motion.v.any()
        assert abs(motion.energy().residual) < 1e-9


@pytest.fixture(scope="module")
def valve():
    """Spool valve between two stops, on a preloaded spring, with dry friction, driven by a pulsating pressure."""
    return derive(
        Mechanism(
            name="valve_spool",
            coordinates=["x"],
            parameters={"m": 3.36e-4, "k": 1488.58, "A": 7.374e-5, "stroke": 1.016e-3},
            dynamics=EnergyDynamics(kinetic="m*x_dot**2/2", potential="k*x**2/2 + 8.545*x"),
            forces={"x": "A*6895*(18 + 4*sin(2*pi*250*t))"},
            friction=[FrictionElement(name="seal", tangent="x", limit="1")],
            contact=[
                Contact(name="closed", gap="x", restitution="0.3"),
                Contact(name="open", gap="stroke - x", restitution="0.3"),
            ],
        )
    )


def test_valve_spool_repeats_the_same_transitions_every_period(valve):
    motion = simulate(valve, State([0.0], [0.0]), t_end=0.1, law=NewtonImpact())
    assert motion.termination is Termination.END_TIME
    assert abs(motion.energy().residual) < 1e-12
    # after the first period the response has the period of the pressure, 4 ms: so have all transitions
    period = 4e-3
    cycles = [[e for e in motion.events if i * period <= e.t - 4e-3 < (i + 1) * period] for i in range(23)]
    first = [(event.kind, event.carriers) for event in cycles[0]]
    assert len(first) > 8
    for index, cycle in enumerate(cycles):
        assert [(event.kind, event.carriers) for event in cycle] == first
        shift = [event.t - other.t for event, other in zip(cycle, cycles[0], strict=True)]
        assert shift == pytest.approx([index * period] * len(first), abs=1e-9)
    times = [(event.t, event.carriers) for event in motion.events]
    assert len(set(times)) == len(times)


def test_valve_spool_agrees_with_time_stepping(valve):
    motion = simulate(valve, State([0.0], [0.0]), t_end=0.004, law=NewtonImpact())
    steps = (2e-6, 1e-6)
    far, near = (np.max(np.abs(_positions(motion, valve, step))) for step in steps)
    # of first order: an impact is known to a step, in which the spool moves 2.3 m/s times the step
    assert near < 2.3 * steps[1] * 3
    assert near < 0.75 * far


def _positions(motion, valve, step):
    stepped = time_stepping(valve, State([0.0], [0.0]), t_end=0.004, step=step)
    assert not stepped.warnings
    times = np.linspace(0, motion.t, 4000)
    return motion.sample(times)[0][:, 0] - stepped.sample(times)[0][:, 0]


def test_time_stepping_converges_in_the_distance_of_graphs():
    rod = derive(mechanisms.load("rod_two_ends"))
    start = State([0, 1.6, 0.5], [0.3, 0, 0.2])
    motion = simulate(rod, start, t_end=2.2, law=NewtonImpact(), parameters={"e": 0.3})
    assert len(motion.events) == 2
    distances = []
    for step in (8e-3, 4e-3, 2e-3):
        stepped = time_stepping(rod, start, t_end=2.2, step=step, parameters={"e": 0.3})
        distances.append(distance(motion, stepped))
    # first order in the step; an impact falls anywhere within it, so single ratios scatter
    assert distances[2] < 0.5 * distances[0]
    assert distances[2] < 20 * 2e-3
