"""Loads and watched functions that depend on time: seen at rest and on the way."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from hybrid import Contact, EnergyDynamics, Mechanism, State, Termination, derive, simulate
from hybrid.motion import EventKind, Settings

LIMIT = 4.905
"""Friction that a box of unit mass can bear: 0.5 * 9.81."""
PEAK, HEIGHT = 500.3, 10.0
PULSE = f"{HEIGHT}*exp(-(t - {PEAK})**2)"
START = PEAK - math.sqrt(math.log(HEIGHT / LIMIT))
FREQUENCY = 300.0


def box(push, feet=1):
    """A box on one foot, or on two whose forces are not unique."""
    coordinates = ["x", "y", "phi"][: feet + 1]
    gaps = ["y"] if feet == 1 else ["y + phi", "y - phi"]
    return derive(
        Mechanism(
            name="box",
            coordinates=coordinates,
            dynamics=EnergyDynamics(kinetic=" + ".join(f"{q}_dot**2/2" for q in coordinates), potential="9.81*y"),
            forces={"x": push},
            contact=[
                Contact(name=f"foot{place}", gap=gap, tangent="x", friction="0.5") for place, gap in enumerate(gaps)
            ],
        )
    )


WAKEFUL = Settings(max_step=4.0)  # for so long the pulse is above a fiftieth of its height


def pushed(push, t_end, *, feet=1, **how):
    nothing = np.zeros(feet + 1)
    return simulate(box(push, feet), State(nothing, nothing), t_end=t_end, **how)


def free(push="0"):
    return derive(
        Mechanism(
            name="free",
            coordinates=["x"],
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"),
            forces={"x": push},
        )
    )


def pulse_integral(t):
    return HEIGHT * math.sqrt(math.pi) / 2 * math.erf(t - PEAK)


@pytest.mark.parametrize(("feet", "t_end"), [(1, 505), (1, 510), (1, 1000), (2, 505)])
def test_short_push_after_a_long_rest_is_felt_with_steps_shorter_than_it(feet, t_end):
    motion = pushed(PULSE, t_end, feet=feet, settings=WAKEFUL)
    # it slips from where the push reaches the limit until the impulse of the push is that of friction
    stop = brentq(lambda t: pulse_integral(t) - pulse_integral(START) - LIMIT * (t - START), 501, 505, xtol=1e-14)
    assert motion.termination is Termination.END_TIME
    # the slopes there: 8 N/s for the push, 4.9 m/s^2 for the slip; both functions are known to about 1e-12
    assert [event.t for event in motion.events] == pytest.approx([START, stop], abs=1e-11)
    assert motion.v[0] == 0.0


@pytest.mark.parametrize("t_end", [0.01, 1.0, 100.0, 1e3, 1e7])
def test_fast_push_moves_the_box_in_every_cycle_from_the_first_one(t_end):
    motion = pushed(f"{LIMIT}*(1 + 1.2*sin(2*pi*{FREQUENCY}*t))/2", t_end, settings=Settings(max_events=5))
    omega = 2 * np.pi * FREQUENCY
    first = np.arcsin(1 / 1.2) / omega

    def slip_speed(t):
        return LIMIT / 2 * (1.2 * (np.cos(omega * first) - np.cos(omega * t)) / omega - (t - first))

    first_stop = brentq(slip_speed, 0.3 / FREQUENCY, 1 / FREQUENCY, xtol=1e-17)
    expected = [time + cycle / FREQUENCY for cycle in range(3) for time in (first, first_stop)][:5]
    assert [event.t for event in motion.events][:5] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("t_end", [0.01, 1.0, 1e3])
@pytest.mark.parametrize(("sign", "slips_at"), [("+", 0.0), ("-", 1 / (2 * FREQUENCY))])
def test_push_at_the_limit_is_decided_by_what_it_does_next_whenever_the_motion_is_to_end(t_end, sign, slips_at):
    motion = pushed(f"{LIMIT} {sign} sin(2*pi*{FREQUENCY}*t)", t_end, settings=Settings(max_events=1))
    slides = [arc for arc in motion.arcs if arc.mode["foot0"].value == "slide+"]
    assert slides[0].start == pytest.approx(slips_at, abs=1e-13)


@pytest.mark.parametrize("t_end", [485, 520, 1000])
def test_small_push_on_top_of_one_that_grows_is_felt(t_end):
    # the guard varies by a hundred times as much over the run as the small push
    motion = pushed("t/100 + 0.2*exp(-(t - 480)**2)", t_end, settings=Settings(max_events=1, max_step=4.0))
    start = brentq(lambda t: t / 100 + 0.2 * math.exp(-((t - 480) ** 2)) - LIMIT, 478, 480, xtol=1e-14)
    slides = [arc for arc in motion.arcs if arc.mode["foot0"].value == "slide+"]
    # the slope there is 0.2 N/s, the rounding of the time 6e-14
    assert slides[0].start == pytest.approx(start, abs=1e-12)


@pytest.mark.parametrize("push", ["0.9*4.905", "0.9*4.905*t/(1e9 + t)"])
def test_rest_under_a_push_that_never_reaches_the_limit_takes_one_step(push):
    motion = pushed(push, 1e9)
    assert motion.termination is Termination.END_TIME
    assert not motion.events
    assert np.array_equal(motion.q, [0, 0])
    assert len(motion.arcs) == 1
    assert len(motion.arcs[0].knots) == 2


@pytest.mark.parametrize("t_end", [503.0, 600.0, 1e3])
def test_short_push_on_a_body_that_flies_is_felt_with_steps_shorter_than_it(t_end):
    motion = simulate(free(PULSE), State([0.0], [0.0]), t_end=t_end, settings=WAKEFUL)
    # the error per step is 1e-12 of the velocity, and the pulse lasts for about a hundred steps
    assert motion.v[0] == pytest.approx(pulse_integral(t_end) - pulse_integral(0.0), abs=1e-10)


@pytest.mark.parametrize("t_end", [503.0, 600.0, 1e3])
@pytest.mark.parametrize("v", [0.0, 1.0])
def test_watched_pulse_is_seen_at_rest_and_in_flight_with_steps_shorter_than_it(t_end, v):
    watch = {"pulse": f"exp(-(t - {PEAK})**2) - 0.5"}
    motion = simulate(free(), State([0.0], [v]), t_end=t_end, watch=watch, settings=WAKEFUL)
    half = math.sqrt(math.log(2))
    assert [event.t for event in motion.events] == pytest.approx([PEAK - half, PEAK + half], abs=1e-12)


@pytest.mark.parametrize("state", [State([0, 0], [0, 0]), State([0, 1], [0, 0])])
def test_no_step_is_longer_than_the_largest(state):
    motion = simulate(box("0.1*t"), state, t_end=0.4, settings=Settings(max_step=1 / 64))
    knots = np.concatenate([arc.knots for arc in motion.arcs])
    # the sum of a time and a step is rounded once
    assert np.max(np.diff(knots)) <= 1 / 64 + np.finfo(float).eps
    assert len(knots) > 25


def test_steps_that_jumps_of_the_push_cut_short_end():
    # a square wave of period 2 pi: v = pi - |t - pi| within it
    motion = simulate(free("sign(sin(t))"), State([0.0], [0.0]), t_end=20.0)
    assert motion.termination is Termination.END_TIME
    # what a step over a jump gets wrong: the estimate of the error there is of the order of what was asked for
    assert motion.v[0] == pytest.approx(20 - 6 * np.pi, abs=1e-9)


ONSETS = np.linspace(0.1, 0.9, 17).round(4).tolist()
LOADS = {
    "step": ("2*(1 + sign(t - start))", 0.0),
    "ramp": ("4*max(0, min(1, (t - start)*1000))", 0.75e-3),
    "steep ramp": ("4*max(0, min(1, (t - start)*1e6))", 0.75e-6),
}


@pytest.mark.parametrize("name", LOADS)
@pytest.mark.parametrize("start", ONSETS)
def test_a_block_that_sticks_lets_go_when_a_load_comes(name, start):
    """A block of weight 10 and friction 0.3 under a load that rises from 0 to 4: it slips from 3 on."""
    load, delay = LOADS[name]
    block = Mechanism(
        name="block",
        coordinates=["x", "y"],
        parameters={"start": start},
        dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="10*y"),
        forces={"x": load},
        contact=[Contact(name="floor", gap="y", tangent="x", friction="0.3")],
    )
    motion = simulate(derive(block), State([0, 0], [0, 0]), t_end=1.0)
    assert [(event.kind, event.elements) for event in motion.events] == [(EventKind.SLIP_START, ("floor",))]
    let_go = start + delay
    # a jump is left behind by 16 roundings of the length of the step, which is 1
    assert motion.events[0].t == pytest.approx(let_go, abs=1e-14)
    # the load grows linearly by 1 while the block slips, for a third of the delay; it is 1 from then on
    rise = delay / 3
    speed, way = rise / 2, rise**2 / 6
    rest = 1.0 - let_go - rise
    assert motion.q[0] == pytest.approx(way + speed * rest + rest**2 / 2, rel=1e-9)
