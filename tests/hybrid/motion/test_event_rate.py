"""Runaway motions end: too many events in all, also those that change nothing, or too many in too short a time."""

import attrs
import pytest

import mechanisms
from hybrid import Contact, EnergyDynamics, FrictionElement, Mechanism, State, Termination, derive, simulate
from hybrid.contact import NewtonImpact
from hybrid.contact.guards import Guard, GuardKind
from hybrid.motion import Settings, run

SPAN, SHARE = 50.0, 1e-4


def bounces_between_closing_plates(burst):
    """Times of the impacts of a ball between a plate at 0 and one at 1 - t/2, until so many lie close together.

    Elastic: the lower plate turns the velocity round, the upper one also adds twice its own.
    """
    t, y, v, times = 0.0, 0.5, 1.0, []
    while len(times) < burst or times[-1] - times[-burst] >= SHARE * SPAN:
        flight = (1 - t / 2 - y) / (v + 0.5) if v > 0 else -y / v
        t, y = t + flight, y + v * flight
        v = -v - 1.0 if v > 0 else -v
        times.append(t)
    return times


def test_ball_between_closing_plates_ends_when_its_impacts_are_too_close():
    plates = derive(
        Mechanism(
            name="plates",
            coordinates=["y"],
            dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="0"),
            contact=[
                Contact(name="low", gap="y", restitution="1"),
                Contact(name="high", gap="1 - t/2 - y", restitution="1"),
            ],
        )
    )
    burst = 30
    motion = simulate(plates, State([0.5], [1.0]), t_end=SPAN, law=NewtonImpact(), settings=Settings(burst=burst))
    times = bounces_between_closing_plates(burst)
    assert motion.termination is Termination.CROWDED
    assert "30 within" in motion.cause
    # the ball's speed has grown like the inverse of the gap, and errors of time with its square
    assert motion.t == pytest.approx(times[-1], abs=1e-9)
    assert len(motion.events) == len(times) - 1  # all but the one too many
    assert [event.t for event in motion.events] == pytest.approx(times[:-1], abs=1e-9)


def test_many_impacts_that_converge_are_no_runaway():
    # ratio 0.9 and 10 bounces: their limit is the same from the first and from the last of them
    ball = derive(mechanisms.load("bouncing_ball"))
    drop = (2 / 9.81) ** 0.5
    limit = drop * 1.9 / 0.1
    motion = simulate(ball, State([1.0], [0.0]), t_end=2e4, law=NewtonImpact(0.9), settings=Settings(burst=10))
    assert motion.termination is Termination.END_TIME
    # all that follows the fifteenth impact fits in the time of a burst
    assert 2 * drop * 0.9**15 / 0.1 < SHARE * 2e4 < limit
    assert motion.events[-1].t == pytest.approx(limit, rel=1e-12)


def test_events_that_change_nothing_count(monkeypatch):
    # the guard of the end of slip is made to fire every millisecond, and the push starts the slip anew every time
    box = derive(
        Mechanism(
            name="box",
            coordinates=["x"],
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="-2*x"),
            friction=[FrictionElement(name="seal", tangent="x", limit="1")],
        )
    )
    follow, fired = run.follow, []

    def alarmed(watch, constraints, t, y, t_end, **more):
        passage = follow(watch, constraints, t, y, t + 1e-3, **more)
        fired.append(t)
        return attrs.evolve(passage, y=passage.y * [1, 0], fired=(Guard(GuardKind.SLIP, ("seal",)),))

    monkeypatch.setattr(run, "follow", alarmed)
    motion = simulate(box, State([1.0], [0.0]), t_end=1, settings=Settings(max_events=20))
    assert motion.termination is Termination.MAX_EVENTS
    assert not motion.events
    assert len(fired) == 21
    assert motion.t == pytest.approx(21e-3, abs=1e-15)


def test_a_decision_that_changes_nothing_is_not_taken_again_and_again(monkeypatch):
    # a pushed block whose mode is said to stick beyond its friction, mu m g = 3 at t = 3
    block = Mechanism(
        name="block",
        coordinates=["x", "y"],
        dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="10*y"),
        forces={"x": "t"},
        contact=[Contact(name="floor", gap="y", tangent="x", friction="0.3")],
    )
    decide, taken = run.decide, []

    def always_the_first(*arguments):
        taken.append(taken[0] if taken else decide(*arguments))
        return taken[0]

    monkeypatch.setattr(run, "decide", always_the_first)
    motion = simulate(derive(block), State([0.0, 0.0], [0.0, 0.0]), t_end=5)
    assert motion.termination is Termination.CROWDED
    assert motion.t == pytest.approx(3.0, abs=1e-12)
    assert len(taken) < 10 < Settings().crowd
