"""The root finder against functions whose first descent below zero is known."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.optimize import brentq

from hybrid.motion.chebyshev import NODES, evaluate, excludes_zero, first_descent, series
from hybrid.motion.together.descents import searched


def descent(function, **known):
    return first_descent(function, function(NODES), **known)


@given(st.floats(0.05, 0.95), st.floats(-12, -2), st.floats(-2, 2))
def test_shallow_double_crossings_are_found_and_near_misses_are_not(place, exponent, tilt):
    depth = 10.0**exponent

    def dip(sign):
        return lambda s: ((s - place) ** 2 - sign * depth) * np.exp(tilt * s)

    half = np.sqrt(depth)
    if place - half > 0:
        # a series counts as resolved to 1e-14; a root moves by that over its slope, 2 half
        assert descent(dip(1)) == pytest.approx(place - half, abs=1e-14 + 1e-14 / half)
    assert descent(dip(-1)) is None


@given(st.integers(1, 3), st.floats(0.01, 0.99))
def test_the_zero_at_the_start_is_not_found_again_and_the_next_one_is(order, place):
    def function(s):
        return s**order * (place - s) * (1 + s)

    # near a zero of order 3 the function is below its own rounding up to s = 1e-5
    assert descent(function, start=0.0) == pytest.approx(place, abs=1e-9)


@given(st.floats(1e-9, 1.0), st.floats(0.1, 10))
def test_a_start_that_rises_for_good_has_no_descent(slope, curvature):
    assert descent(lambda s: slope * s + curvature * s**2, start=0.0) is None


@given(st.floats(5, 3000), st.floats(0, 6))
def test_the_earliest_of_many_crossings_is_found(frequency, phase):
    def wave(s):
        return np.cos(frequency * s + phase) + 0.5

    before = np.cos(phase) + 0.5
    assume(before > 1e-3)
    angle = 2 * np.pi / 3
    turns = np.ceil((phase - angle) / (2 * np.pi))
    expected = (angle + 2 * np.pi * turns - phase) / frequency
    # sampled at 17 points a step, a wave of 500 periods is resolved by halving
    assert descent(wave) == (pytest.approx(expected, abs=1e-10) if expected < 1 else None)


@given(st.floats(0.05, 0.95), st.floats(4, 6))
def test_what_a_sample_shows_is_not_lost_by_looking_closer(place, exponent):
    # a dip so narrow that a point of the coarse look may lie in it, and none of those of its halves
    width = 10.0**-exponent
    centre = NODES[np.argmin(np.abs(NODES - place))]

    def dip(s):
        return 0.5 - np.exp(-(((s - centre) / width) ** 2))

    # exp(-x^2) = 1/2; the place is as sharp as neighbouring floats
    assert descent(dip) == pytest.approx(centre - width * np.sqrt(np.log(2)), abs=1e-15 + 1e-10 * width)


def test_a_function_that_stays_at_its_zero_has_no_descent():
    # two balls that touch and stay at rest: their gap is the rounding of its terms at every point of a step
    noise = np.random.default_rng(3)
    for _ in range(300):
        values = 1.8e-16 * noise.uniform(-1, 1, size=NODES.size)
        assert first_descent(lambda s: 0 * s, values, start=0.0, floor=1.8e-16) is None


def test_series_reproduces_a_smooth_function():
    def function(s):
        return np.exp(-s) * np.sin(4 * s)

    s = np.linspace(0, 1, 101)
    # the coefficients of this function fall below 1e-14 at degree 16
    assert np.max(np.abs(evaluate(series(function(NODES)), s) - function(s))) < 1e-13


@pytest.mark.parametrize("place", [0.1, 1 / 3, 10 / 11, 0.97])
@pytest.mark.parametrize("beyond", [0.2, 3.0])
def test_a_zero_at_a_kink_is_found_to_the_last_digits(place, beyond):
    # the slack of forces that are not unique bends where it vanishes: no series through such values converges
    def slack(s):
        return np.where(s < place, place - s, beyond * (place - s))

    assert first_descent(slack, slack(NODES)) == pytest.approx(place, abs=4 * np.finfo(float).eps)


@pytest.mark.parametrize("start", [72.3, 72.8, 73.11])
def test_poles_between_the_nodes_are_not_overlooked(start):
    """``t - tan(t)`` falls below zero before each of several poles, for a two-hundredth of the time between them."""
    first = brentq(lambda t: np.sin(t) - t * np.cos(t), 73.8, 23.5 * np.pi)
    for end in np.linspace(78.0, 90.0, 100):

        def function(s, width=end - start):
            t = start + s * width
            return t - np.tan(t)

        assert not excludes_zero(function(NODES)[None])[0]
        assert np.isfinite(searched(function(NODES), 0.0, np.empty(17), np.empty(16)))
        assert start + first_descent(function, function(NODES)) * (end - start) == pytest.approx(first, abs=1e-11)
