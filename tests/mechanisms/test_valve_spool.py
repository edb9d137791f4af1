"""The spool valve, whose friction and stops make a machine of five states, against its arcs in closed form.

Reported as a case in which an event handler misses a transition, because the new guard starts at zero (Klaff 2021).
"""

from math import pi

import numpy as np
import pytest
from scipy.optimize import brentq

from hybrid import Functional, State, Termination, sensitivity, simulate
from hybrid.contact import NewtonImpact
from hybrid.motion import time_stepping
from tests.catalogue import dynamics_of

M, K, PRELOAD, AREA, STROKE, FRICTION, E = 3.36e-4, 1488.58, 8.545, 7.374e-5, 1.016e-3, 1.0, 0.3
PERIOD = 4e-3
W = np.sqrt(K / M)
OMEGA = 2 * pi * 250


def push(t, x):
    """Force of pressure and spring."""
    return AREA * 6895 * (18 + 4 * np.sin(OMEGA * t)) - PRELOAD - K * x


def slide(t0, x0, v0, s):
    """Position and velocity of the spool that slides in direction s: its own swing and the one that is driven."""
    mean, swing = (AREA * 6895 * 18 - PRELOAD - s * FRICTION) / K, AREA * 6895 * 4 / (K - M * OMEGA**2)
    a, b = x0 - mean - swing * np.sin(OMEGA * t0), (v0 - swing * OMEGA * np.cos(OMEGA * t0)) / W

    def x(t):
        return mean + swing * np.sin(OMEGA * t) + a * np.cos(W * (t - t0)) + b * np.sin(W * (t - t0))

    def v(t):
        return swing * OMEGA * np.cos(OMEGA * t) + W * (b * np.cos(W * (t - t0)) - a * np.sin(W * (t - t0)))

    return x, v


def first(functions, t0):
    """Earliest time at which one of the functions falls below zero, and which; scanned from 1e-13 s on."""
    t = t0 + np.geomspace(1e-13, PERIOD, 20_000)
    found = []
    for index, f in enumerate(functions):
        below = np.flatnonzero(f(t) < 0)
        if below.size and below[0] > 0:
            found.append((brentq(f, t[below[0] - 1], t[below[0]], xtol=1e-18, rtol=1e-15), index))
    return min(found)


def release(t, x):
    """When and in which direction the spool starts from rest at x."""
    t, index = first([lambda t: FRICTION - push(t, x), lambda t: FRICTION + push(t, x)], t)
    return t, (1, -1)[index]


def end_of_slide(t, x, v, s):
    """When, where and how fast a slide in direction s ends; True if at a stop."""
    position, speed = slide(t, x, v, s)
    stop = position if s < 0 else (lambda t: STROKE - position(t))
    # slip starts with speed and acceleration zero: below 1e-13 m/s the formula is its own rounding
    t, index = first([stop, lambda t: s * speed(t) + 1e-13], t)
    return t, float(position(t)), float(speed(t)), index == 0


def transitions_by_hand(until):
    """Times and names of all transitions from rest at the lower stop, by the closed form of every arc."""
    t, x, v, s, log = 0.0, 0.0, 0.0, 0, []
    while t < until:
        if s == 0:
            t, s = release(t, x)
            v = 0.0
            log.append((t, "slip start", "seal"))
        t, x, v, is_impact = end_of_slide(t, x, v, s)
        if is_impact:
            log.append((t, "impact", "closed" if s < 0 else "open"))
            x, v, s = (0.0 if s < 0 else STROKE), -E * v, -s
        else:
            log.append((t, "slip end", "seal"))
            v, force = 0.0, push(t, x)
            s = int(np.sign(force)) if abs(force) > FRICTION else 0
    return [entry for entry in log if entry[0] < until]


@pytest.fixture(scope="module")
def motion():
    return simulate(dynamics_of("valve_spool"), State([0.0], [0.0]), t_end=0.1, law=NewtonImpact())


def test_every_transition_is_that_of_the_closed_form(motion):
    expected = transitions_by_hand(2.2 * PERIOD)
    assert len(expected) > 20
    found = [event for event in motion.events if event.t < 2.2 * PERIOD]
    # at the start the stop and the seal hold the spool together, and let it go together
    assert "seal" in found[0].elements
    assert [(event.kind.value, event.elements) for event in found[1:]] == [(k, (name,)) for _, k, name in expected[1:]]
    assert [event.t for event in found] == pytest.approx([t for t, _, _ in expected], abs=1e-12)


def test_the_same_transitions_come_every_period_and_none_twice(motion):
    assert motion.termination is Termination.END_TIME
    assert abs(motion.energy().residual) < 1e-12
    cycles = [[e for e in motion.events if i * PERIOD <= e.t - PERIOD < (i + 1) * PERIOD] for i in range(24)]
    kinds = [(event.kind, event.elements) for event in cycles[0]]
    for index, cycle in enumerate(cycles):
        assert [(event.kind, event.elements) for event in cycle] == kinds
        shift = [event.t - other.t for event, other in zip(cycle, cycles[0], strict=True)]
        assert shift == pytest.approx([index * PERIOD] * len(kinds), abs=1e-9)
    times = [(event.t, event.elements) for event in motion.events]
    assert len(set(times)) == len(times)


def test_time_stepping_agrees_at_first_order(motion):
    steps = (2e-6, 1e-6)
    far, near = (np.max(np.abs(_distances(motion, step))) for step in steps)
    # an impact is known to a step, in which the spool moves 2.3 m/s times the step
    assert near < 2.3 * steps[1] * 3
    assert near < 0.75 * far


@pytest.mark.long
def test_time_stepping_agrees_over_a_tenth_of_a_second(motion):
    assert np.max(np.abs(_distances(motion, 1e-6, t_end=0.1))) < 2.3e-6 * 3


def _distances(motion, step, t_end=PERIOD):
    stepped = time_stepping(dynamics_of("valve_spool"), State([0.0], [0.0]), t_end=t_end, step=step)
    assert not stepped.warnings
    times = np.linspace(0, min(motion.t, stepped.t), 4000)
    return motion.sample(times)[0][:, 0] - stepped.sample(times)[0][:, 0]


def test_the_gradient_of_a_release_at_which_the_seal_gives_way():
    # from rest without acceleration the time of the release drops out: dx/dF = -(1 - cos W(t - t0))/K
    dynamics, t_end = dynamics_of("valve_spool"), 1e-3
    t0, _ = release(0.0, 0.0)
    motion = simulate(dynamics, State([0.0], [0.0]), t_end=t_end)
    assert [event.kind.value for event in motion.events] == ["detachment"]
    found = sensitivity(motion, Functional(terminal="x"), ["F"])
    assert found.gradient["F"] == pytest.approx(-(1 - np.cos(W * (t_end - t0))) / K, rel=1e-6)
