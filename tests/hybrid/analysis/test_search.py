"""Roots, maxima and intervals of functions with known answers."""

from math import pi

import numpy as np
import pytest

from hybrid.analysis.criticality.friction import negative_intervals
from hybrid.analysis.criticality.optimum import global_maximum


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


def test_intervals_end_at_poles_and_at_points_of_the_scan_that_are_roots():
    ((low, high),) = negative_intervals(lambda x: 1 / (x - 0.3), 0.0, 1.0)
    assert (low, high) == (0.0, pytest.approx(0.3, abs=1e-15))
    assert negative_intervals(lambda x: x - 0.5, 0.0, 1.0) == ((0.0, 0.5),)


@pytest.mark.parametrize("residue", [-1e-17, 0.0, 1e-17])
def test_a_sign_of_the_scan_that_another_evaluation_turns_is_the_root(residue):
    # as vectorised functions do, whose last bit depends on how many points they are given
    found = negative_intervals(lambda x: x - 0.5 + (residue if len(x) > 4000 else -residue), 0.0, 1.0)
    assert found == ((0.0, pytest.approx(0.5, abs=1e-15)),)
