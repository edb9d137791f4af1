"""Holmes, The dynamics of repeated impacts with a sinusoidally vibrating table, J. Sound Vib. 84 (1982) 173."""

import numpy as np
import pytest
from scipy.optimize import brentq

from hybrid import State, simulate
from hybrid.contact import NewtonImpact
from tests.catalogue import dynamics_of

PERIOD = 2 * np.pi
UNIT = {"g": 1, "Omega": 1}


def window(e):
    """Accelerations of the table, over gravity, between which a bounce of its own period is stable."""
    least = np.pi * (1 - e) / (1 + e)
    return least, np.sqrt(least**2 + 4 * ((1 + e**2) / (1 + e) ** 2) ** 2)


def test_window_of_the_ball_that_keeps_half_its_speed():
    assert window(0.5) == pytest.approx((1.0471976, 1.5268237), abs=5e-8)


def cycle(gamma, e):
    """Position, velocity and phase just after an impact of the bounce of period one.

    The ball comes and goes with g times half the period; the table then moves with (1 - e)/(1 + e) of that.
    """
    phase = np.arccos(np.pi * (1 - e) / (1 + e) / gamma)
    return State([gamma * np.sin(phase)], [np.pi], t=phase)


def impacts(gamma, e, *, periods, push):
    start = cycle(gamma, e)
    table = dynamics_of("ball_on_vibrating_table")
    parameters = UNIT | {"Gamma": gamma, "e": e}
    pushed = State(start.q, start.v + push, start.t)
    motion = simulate(table, pushed, t_end=start.t + periods * PERIOD, law=NewtonImpact(), parameters=parameters)
    return motion, np.array([event.t for event in motion.events if event.impact is not None])


@pytest.mark.parametrize("e", [0.5, 0.8])
@pytest.mark.parametrize(("place", "settles"), [(0.01, True), (0.97, True), (1.02, False)])
def test_bounce_of_one_period_is_stable_in_its_window_only(e, place, settles):
    low, high = window(e)
    _, times = impacts(low + place * (high - low), e, periods=80, push=1e-4)
    late = np.diff(times)[-12:]
    # near the ends of the window a push decays by some per cent in a period only
    assert bool(np.max(np.abs(late - PERIOD)) < 1e-3) is settles


@pytest.mark.parametrize("e", [0.5, 0.8])
def test_within_the_window_a_push_decays_by_the_restitution_each_period(e):
    # the multipliers are complex with the product e^2 of two impacts' stretching: the modulus of both is e
    low, high = window(e)
    gamma = (low + high) / 2
    _, times = impacts(gamma, e, periods=40, push=1e-4)
    deviation = np.abs(times - cycle(gamma, e).t - PERIOD * np.arange(1, len(times) + 1))
    envelope = np.array([deviation[i : i + 6].max() for i in range(len(deviation) - 6)])
    clear = envelope > 1e-10
    rate = np.polyfit(np.flatnonzero(clear), np.log(envelope[clear]), 1)[0]
    assert np.exp(rate) == pytest.approx(e, rel=0.05)


def test_energy_of_the_bounce_comes_from_the_table():
    low, high = window(0.5)
    motion, times = impacts((low + high) / 2, 0.5, periods=5, push=0)
    assert np.diff(times) == pytest.approx([PERIOD] * (len(times) - 1), abs=1e-9)
    # the table moves with u = pi/3 at impacts of relative speed 2 pi/1.5: it gives P u, P = pi + pi
    first = next(event for event in motion.events if event.impact is not None)
    assert first.v_before[0] == pytest.approx(-np.pi, abs=1e-10)
    assert first.v_after[0] == pytest.approx(np.pi, abs=1e-10)
    assert first.impact.impulse_N["floor"] == pytest.approx(2 * np.pi, abs=1e-10)
    # the energy gained is the table's work: the law creates none, and the balance tells them apart
    assert not motion.warnings
    balance = motion.energy()
    assert balance.impacts == pytest.approx(-len(times) * 2 * np.pi * np.pi / 3, abs=1e-8)
    assert balance.applied == pytest.approx(-balance.impacts, abs=1e-8)


@pytest.mark.parametrize("gamma", [1.05, 1.2, 3.0])
def test_dead_ball_leaves_the_table_where_gravity_no_longer_holds_it(gamma):
    # e = 0: at rest on the table until Gamma sin = 1, then thrown with Gamma cos; free flight meets the table again
    table = dynamics_of("ball_on_vibrating_table")
    parameters = UNIT | {"Gamma": gamma, "e": 0}
    start = State([0.0], [gamma])
    motion = simulate(table, start, t_end=2 * PERIOD, law=NewtonImpact(), parameters=parameters)
    release = np.arcsin(1 / gamma)

    def gap(t):
        flown = t - release
        return 1 + np.sqrt(gamma**2 - 1) * flown - flown**2 / 2 - gamma * np.sin(t)

    times = release + np.linspace(0.05, 2 * PERIOD, 4000)
    after = int(np.argmax(gap(times) < 0))
    landing = brentq(gap, times[after - 1], times[after], xtol=1e-14)
    assert [event.kind.value for event in motion.events[:2]] == ["detachment", "impact"]
    # the gap opens with its third power in time, so the release is known by the force, to rounding
    assert motion.events[0].t == pytest.approx(release, abs=1e-12)
    assert motion.events[1].t == pytest.approx(landing, abs=1e-9)
