"""Dry friction without impacts: the block on a belt and the Coulomb oscillator, arc by arc in closed form."""

import numpy as np
import pytest

from hybrid import State, Termination, simulate
from tests.catalogue import decide, dynamics_of, labels


@pytest.mark.parametrize(
    ("m", "k", "P", "v", "mu", "mu_s"),
    [(1, 4, 10, 0.15, 0.08, 0.12), (2, 9, 30, 0.4, 0.1, 0.3), (0.5, 7, 3, 1.1, 0, 1)],
)
def test_belt_carries_the_block_to_its_static_limit_and_catches_it_again(m, k, P, v, mu, mu_s):
    parameters = {"m": m, "k": k, "P": P, "belt_speed": v, "mu": mu, "mu_s": mu_s}
    motion = simulate(dynamics_of("block_on_belt"), State([0, 0], [v, 0]), t_end=40, parameters=parameters)
    # from rest on the belt at x = mu_s P/k the block swings about mu P/k until it has the belt's speed again
    w, drop = np.sqrt(k / m), (mu_s - mu) * P
    slip = 2 * (np.pi - np.arctan(drop * w / (k * v))) / w
    stick = 2 * drop / (k * v)
    times = np.array([event.t for event in motion.events])
    assert times[0] == pytest.approx(mu_s * P / (k * v), abs=1e-12)
    assert np.diff(times)[0::2] == pytest.approx(slip, abs=1e-11)
    assert np.diff(times)[1::2] == pytest.approx(stick, abs=1e-11)
    assert [event.mode_after.label for event in motion.events[:4]] == ["slide-", "stick", "slide-", "stick"]
    assert abs(motion.energy().residual) < 1e-10


def test_figures_of_the_default_belt():
    # m = 1, k = 4, v = 0.15, static limit 1.2, kinetic 0.8: slip 2.2142974, stick 1.3333333, together 3.5476308
    motion = simulate(dynamics_of("block_on_belt"), State([0, 0], [0.15, 0]), t_end=20)
    times = np.array([event.t for event in motion.events])
    assert times[1] - times[0] == pytest.approx(2.2142974, abs=5e-8)
    assert times[2] - times[1] == pytest.approx(1.3333333, abs=5e-8)
    assert times[2] - times[0] == pytest.approx(3.5476308, abs=5e-8)


def test_on_a_fast_belt_the_block_slides_without_end():
    # an amplitude below v/w never reaches the belt's speed: harmonic about mu P/k with the period pi
    motion = simulate(dynamics_of("block_on_belt"), State([0.25, 0], [0, 0]), t_end=10)
    assert not motion.events
    t = np.linspace(0, 10, 101)
    assert motion.sample(t)[0][:, 0] == pytest.approx(0.2 + 0.05 * np.cos(2 * t), abs=1e-11)


@pytest.mark.parametrize("x", [0.25, -0.25])
def test_block_at_rest_on_the_belt_sticks_between_its_limits(x):
    found = decide("block_on_belt", {"x": x, "x_dot": 0.15})
    # spring force 1 between kinetic 0.8 and static 1.2: without history it may stick or slide
    assert labels(found) == sorted(["stick", "slide-" if x > 0 else "slide+"])


@pytest.mark.parametrize("x", [0.5, 3.0, -2.31])
def test_every_half_cycle_of_the_coulomb_oscillator_shrinks_its_amplitude_alike(x):
    # m = 2, k = 50, mu = 0.3: half cycles of pi/5, each smaller by 2 mu m g/k, until |x| <= mu m g/k
    motion = simulate(dynamics_of("coulomb_oscillator"), State([x], [0.0]), t_end=100)
    loss = 0.3 * 2 * 9.81 / 50
    turns, here = [], x
    while abs(here) > loss:
        here = -np.sign(here) * (abs(here) - 2 * loss)
        turns.append(here)
    assert motion.termination is Termination.END_TIME
    assert [event.t for event in motion.events] == pytest.approx(np.pi / 5 * np.arange(1, len(turns) + 1), abs=1e-10)
    assert [event.q[0] for event in motion.events] == pytest.approx(turns, abs=1e-11)
    assert motion.arcs[-1].mode.label == "stick"
    assert motion.v[0] == 0.0
    assert motion.q[0] == pytest.approx(turns[-1], abs=1e-11)
    assert abs(motion.energy().residual) < 1e-10


def test_published_rest_of_the_coulomb_oscillator():
    # from x = 0.5 two half cycles, then rest at 0.02912
    motion = simulate(dynamics_of("coulomb_oscillator"), State([0.5], [0.0]), t_end=100)
    assert motion.events[-1].t == pytest.approx(1.2566371, abs=5e-8)
    assert motion.q[0] == pytest.approx(0.02912, abs=1e-11)


def test_static_friction_stops_the_oscillator_farther_out():
    # after one half cycle, at -0.26456, the spring pulls with 13.228 N: more than 0.67 m g and less than 0.68 m g
    for mu_s, half_cycles in ((0.67, 2), (0.68, 1)):
        motion = simulate(dynamics_of("coulomb_oscillator"), State([0.5], [0.0]), t_end=10, parameters={"mu_s": mu_s})
        assert [event.t for event in motion.events] == pytest.approx(np.pi / 5 * np.arange(1, half_cycles + 1))
        assert motion.arcs[-1].mode.label == "stick"
