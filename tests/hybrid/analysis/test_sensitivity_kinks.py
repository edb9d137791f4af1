"""Kinks of an integrand that lie close together: a motion may cross two of them between the stages of a step."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.polynomial import legendre

from hybrid import (
    EnergyDynamics,
    Functional,
    Mechanism,
    State,
    derive,
    mechanism_from_toml,
    sensitivity,
    simulate,
)

G, Y, V = 9.81, 0.7586, -0.9181
NODES, WEIGHTS = legendre.leggauss(20)


def falling_ball():
    return derive(
        Mechanism(
            name="ball",
            coordinates=["y"],
            parameters={"g": G, "c": 0.5},
            dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="g*y"),
        )
    )


def height(t):
    return Y + V * t - G * t**2 / 2


def instants_of(heights):
    """When the ball passes them on its way down."""
    return (V + np.sqrt(V**2 + 2 * G * (Y - heights))) / G


def by_quadrature(c, t_end, function):
    """Of a function of height over time, by Gauss' rule between the kinks of ``abs(sin(9*y) - c)``."""
    turns = 2 * np.pi * np.arange(-9, 3)
    heights = np.concatenate([np.arcsin(c) + turns, np.pi - np.arcsin(c) + turns]) / 9
    times = instants_of(heights[heights < Y])
    ends = np.sort([0.0, *times[(times > 0) & (times < t_end)], t_end])
    ends = np.concatenate([np.linspace(*pair, 9)[:-1] for pair in pairwise(ends)] + [[t_end]])
    t = (ends[:-1, None] + ends[1:, None]) / 2 + np.diff(ends)[:, None] / 2 * NODES
    return float(np.sum(np.diff(ends)[:, None] / 2 * WEIGHTS * function(height(t))))


def check(motion, c, t_end):
    found = sensitivity(motion, Functional("abs(sin(9*y) - c)"), ["y", "c"])
    value = by_quadrature(c, t_end, lambda y: np.abs(np.sin(9 * y) - c))
    of_y = by_quadrature(c, t_end, lambda y: 9 * np.cos(9 * y) * np.sign(np.sin(9 * y) - c))
    of_c = by_quadrature(c, t_end, lambda y: -np.sign(np.sin(9 * y) - c))
    assert found.value == pytest.approx(value, abs=1e-9)
    assert [found.gradient["y"], found.gradient["c"]] == pytest.approx([of_y, of_c], abs=1e-8)


@pytest.mark.parametrize("t_end", [0.62, 0.93])
@pytest.mark.parametrize("c", [-0.98, 0.505, 0.999])
def test_kinks_close_together_are_all_seen(c, t_end):
    check(simulate(falling_ball(), State([Y], [V]), t_end=t_end, parameters={"c": c}), c, t_end)


@pytest.mark.parametrize("c", [0.9, 0.999, 0.99999])
def test_a_part_that_is_zero_nearly_everywhere_is_seen(c):
    # at all stages of the steps of the motion itself the integrand may be zero
    motion = simulate(falling_ball(), State([Y], [V]), t_end=0.9, parameters={"c": c})
    found = sensitivity(motion, Functional("max(sin(9*y) - c, 0)"), ["c"])
    assert found.value == pytest.approx(by_quadrature(c, 0.9, lambda y: np.maximum(np.sin(9 * y) - c, 0)), abs=1e-9)
    inside = by_quadrature(c, 0.9, lambda y: -1.0 * (np.sin(9 * y) > c))
    assert found.gradient["c"] == pytest.approx(inside, abs=1e-8)


def test_an_integrand_that_is_even_about_the_middle_of_a_flight_is_resolved():
    # thrown up at 2.46 and caught at the same height; of abs(sin(9*y) - c) over twice the fall from the apex
    c, speed, start = 0.505, 2.46, 0.11
    motion = simulate(falling_ball(), State([start], [speed]), t_end=2 * speed / G, parameters={"c": c})
    found = sensitivity(motion, Functional("abs(sin(9*y) - c)"), ["c"])
    apex = start + speed**2 / (2 * G)
    turns = 2 * np.pi * np.arange(-3, 4)
    heights = np.concatenate([np.arcsin(c) + turns, np.pi - np.arcsin(c) + turns]) / 9
    times = np.sqrt(2 * (apex - heights[(heights > start) & (heights < apex)]) / G)
    ends = np.sort([0.0, *times, speed / G])
    ends = np.concatenate([np.linspace(*pair, 9)[:-1] for pair in pairwise(ends)] + [ends[-1:]])
    t = (ends[:-1, None] + ends[1:, None]) / 2 + np.diff(ends)[:, None] / 2 * NODES
    off = np.sin(9 * (apex - G * t**2 / 2)) - c
    weights = np.diff(ends)[:, None] * WEIGHTS
    assert found.value == pytest.approx(float(np.sum(weights * np.abs(off))), abs=1e-9)
    assert found.gradient["c"] == pytest.approx(float(np.sum(-weights * np.sign(off))), abs=1e-8)


@pytest.mark.parametrize("rate", [100, 300, 100_000])
def test_an_integrand_that_swings_too_fast_is_refused_and_not_guessed(rate):
    text = """
        name = "bead"
        coordinates = ["x"]
        parameters = {a = 0.3}
        [dynamics]
        mass_matrix = [[1]]
        forces = ["0"]
    """
    motion = simulate(derive(mechanism_from_toml(text)), State([0.0], [1.0]), t_end=1)
    found = sensitivity(motion, Functional(f"sin({rate}*x + a)**2"), ["a"])
    if found.refusal is None:
        value = 0.5 - (math.sin(2 * rate + 0.6) - math.sin(0.6)) / (4 * rate)
        assert found.value == pytest.approx(value, rel=1e-12)
    else:
        assert rate > 300 and not found.refusal.is_proven and "do not resolve" in found.refusal.reason
