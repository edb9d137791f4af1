"""Motions with impacts: accumulation, chatter, and how a motion ends."""

import numpy as np
import pytest

import mechanisms
from hybrid import State, Termination, derive, simulate
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
    # all but the energy of the bounces that were not made, a share of 1e-14, went into impacts
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


def test_rocking_and_chattering_rod_comes_to_rest():
    rod = derive(mechanisms.load("rod_two_ends"))
    for law in (NewtonImpact(), PoissonImpact()):
        motion = simulate(rod, State([0, 1.6, 0.5], [0.3, 0, 0.2]), t_end=20, law=law, parameters={"e": 0.5})
        assert motion.termination is Termination.END_TIME
        assert motion.arcs[-1].mode.label == "left=stick,right=stick"
        assert not motion.v.any()
        assert abs(motion.energy().residual) < 1e-9


def test_time_stepping_converges_in_the_distance_of_graphs():
    rod = derive(mechanisms.load("rod_two_ends"))
    start = State([0, 1.6, 0.5], [0.3, 0, 0.2])
    motion = simulate(rod, start, t_end=2.2, law=NewtonImpact(), parameters={"e": 0.3})
    assert len(motion.events) == 2
    steps = (8e-3, 2.5e-4)
    far, near = (distance(motion, time_stepping(rod, start, t_end=2.2, step=h, parameters={"e": 0.3})) for h in steps)
    # an impact falls anywhere within a step, so that the ratio scatters about 32; order 1/2 would give 5.7
    assert far / near > 32**0.75
    # each impact is late by up to a step, which shifts what follows by its jump of velocity times that, and what the
    # next impact makes of it by no more again
    jumps = sum(np.max(np.abs(event.v_after - event.v_before)) for event in motion.events)
    assert far < 2 * jumps * steps[0]
    assert near < 2 * jumps * steps[1]
