"""Roots, maxima and intervals of functions with known answers."""

from functools import partial
from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from hybrid.analysis.criticality.intervals import negative_intervals
from hybrid.analysis.criticality.optimum import global_maximum
from hybrid.analysis.criticality.roots import bracketed_roots


@given(st.lists(st.floats(0.05, 20), min_size=1, max_size=8))
def test_bracketed_roots_agree_with_brent(values):
    # flat (cubic) and steep (exponential) functions in one batch; brentq to the same spacing
    k = np.array(values)

    def f(x, k=k):
        return (x - 1 / k) ** 3 + np.expm1(x - 1 / k) * 1e-3

    low, high = np.full(k.shape, -1.0), np.full(k.shape, 30.0)
    one_by_one = [brentq(partial(f, k=item), -1, 30, xtol=1e-15) for item in k]
    assert bracketed_roots(f, low, high) == pytest.approx(one_by_one, abs=1e-12)


def test_a_change_of_sign_across_a_pole_is_found():
    found = bracketed_roots(lambda x: 1 / (x - 0.3), np.array([0.0]), np.array([1.0]))
    assert found == pytest.approx([0.3], abs=1e-15)


def test_a_root_that_is_hit_exactly_is_kept_while_others_are_sought():
    def f(x):
        return x**3 - np.array([0.125, 0.2])

    assert bracketed_roots(f, np.zeros(2), np.ones(2)) == pytest.approx([0.5, 0.2 ** (1 / 3)], abs=1e-15)


def test_global_maximum_in_the_interior_to_more_than_half_the_digits():
    # Three peaks of nearly equal height; the place is found from the slope, not from the values.
    x, value = global_maximum(lambda x: np.sin(x[:, 0]) + 1e-3 * x[:, 0], [0.0], [6 * pi])
    exact = 4 * pi + np.arccos(-1e-3)  # where cos x = -1e-3, in the last period
    assert x[0] == pytest.approx(exact, abs=1e-11)
    assert value == pytest.approx(np.sin(exact) + 1e-3 * exact, rel=1e-15)


def test_global_maximum_on_a_face_of_the_box():
    x, value = global_maximum(lambda x: x[:, 0] - (x[:, 1] - 0.3) ** 2, [0.0, 0.0], [2.0, 1.0])
    assert x == pytest.approx([2.0, 0.3], abs=1e-10)
    assert value == pytest.approx(2.0, abs=1e-15)


def test_global_maximum_at_the_edge_of_where_the_function_is_defined():
    # sqrt is undefined below 0.37 and the function falls from there: no slope to follow across the edge.
    with np.errstate(invalid="ignore"):
        x, _ = global_maximum(lambda x: -np.sqrt(x[:, 0] - 0.37), [0.0], [1.0])
    assert x[0] == pytest.approx(0.37, abs=1e-9)


def test_nothing_is_found_where_nothing_is_defined():
    x, value = global_maximum(lambda x: np.full(len(x), np.nan), [0.0], [1.0])
    assert value == -np.inf
    assert np.isnan(x).all()


@pytest.mark.parametrize("depth", [1e-3, 1e-6, 1e-9, 1e-12])
def test_intervals_between_two_points_of_the_scan_are_found(depth):
    # (x - x0)^2 < depth: narrower than the scan of 1/4096 from the second depth on.
    x0, half = 0.123456789, np.sqrt(depth)
    for sign, expected in ((1, [(x0 - half, x0 + half)]), (-1, [(-1, x0 - half), (x0 + half, 1)])):

        def f(x, sign=sign):
            return sign * ((x - x0) ** 2 - depth)

        # the function rounds to 1e-17, so its roots to 1e-17 / (2 half)
        assert np.array(negative_intervals(f, -1.0, 1.0)) == pytest.approx(np.array(expected), abs=1e-15 + 1e-16 / half)


def test_intervals_touch_the_ends_and_end_where_the_function_does():
    assert negative_intervals(lambda x: -np.ones_like(x), 0.0, 1.0) == ((0.0, 1.0),)
    assert negative_intervals(lambda x: np.ones_like(x), 0.0, 1.0) == ()
    with np.errstate(invalid="ignore"):
        ((low, high),) = negative_intervals(lambda x: np.sqrt(0.25 - x) - 1, 0.0, 1.0)
    assert (low, high) == (0.0, pytest.approx(0.25, abs=1e-15))
