"""Bounds of expressions over ranges: no value may lie outside, and slopes are those of the function."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from hybrid.declaration import parse_expression
from hybrid.declaration.intervals import Interval
from hybrid.declaration.tree import evaluate

EXPRESSIONS = [
    "sin(t)*cos(2*t) - t**2",
    "exp(-(t - 1)**2)*tanh(t)",
    "1/(t - 0.3)",
    "sqrt(t + 1)*log(t + 2)",
    "t**3 - t**-2 + t**0.5 + 2**t",
    "abs(t - 0.5)*sign(t) + max(t, sin(t), 0.2) - min(t, 1 - t)",
    "tan(t) + atan(3*t) + asin(t/2) - acos(t/3)",
    "atan2(t, 2 - t) + atan2(1, t)",
    "sinh(t)/cosh(t) + (t - 1)*(t - 1)*(t + 1)",
]


def parsed(text):
    return parse_expression(text, known=["t"])


@pytest.mark.parametrize("text", EXPRESSIONS)
@given(start=st.floats(-4, 4), exponent=st.floats(-6, 1))
def test_no_value_lies_outside_the_bounds(text, start, exponent):
    width = 10.0**exponent
    expression = parsed(text)
    ends = np.linspace(start, start + width, 5)
    t = Interval.variable(ends[:-1], ends[1:])
    middles = (ends[:-1] + ends[1:]) / 2
    bounds = evaluate(expression, {"t": t})
    sharper = bounds.centred(t - middles, evaluate(expression, {"t": middles}))
    inside = ends[:-1, None] + np.linspace(0, 1, 41) * np.diff(ends)[:, None]
    values = evaluate(expression, {"t": inside})
    # a unit of rounding outwards covers every operation but for the last place of some functions, and of the samples
    slack = 1e-14 * (1.0 + np.abs(values))
    for bound in (bounds, sharper):
        missed = (values < bound.low[:, None] - slack) | (values > bound.high[:, None] + slack)
        assert not missed.any()
        # where the function is undefined within, there are no bounds
        assert np.isinf(bound.high - bound.low)[np.isnan(values).any(axis=1)].all()


@pytest.mark.parametrize("text", EXPRESSIONS)
@given(t=st.floats(0.51, 0.99))
def test_slopes_are_those_of_the_function(text, t):
    # second road: the complex step; no expression has a kink or a pole between these ends
    expression = parsed(text)
    slope = evaluate(expression, {"t": Interval.variable(t, t)}).slope
    expected = np.imag(evaluate(expression, {"t": t + 1e-30j})) * 1e30
    assert float(slope.low) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert float(slope.high) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("text", ["t*exp(1 - t)", "t**2 - 2*t*sin(t) + 1"])
def test_centred_bounds_are_wrong_by_the_square_of_the_range(text):
    expression = parsed(text)
    excess = []
    for half in (1e-2, 1e-3):
        t = Interval.variable(1.0 - half, 1.0 + half)
        bounds = evaluate(expression, {"t": t}).centred(t - 1.0, evaluate(expression, {"t": 1.0}))
        values = evaluate(expression, {"t": np.linspace(1 - half, 1 + half, 1001)})
        excess.append(float(bounds.high - bounds.low) - np.ptp(values))
    # a factor 100 up to the next order, half
    assert excess[0] / excess[1] == pytest.approx(100, rel=0.05)


def test_a_pole_within_leaves_no_bounds():
    bounds = evaluate(parsed("1/(t - 1)"), {"t": Interval(np.array([0.0, 2.0]), np.array([2.0, 3.0]))})
    assert bounds.low == pytest.approx([-np.inf, 0.5], rel=1e-15)
    assert bounds.high == pytest.approx([np.inf, 1.0], rel=1e-15)


@pytest.mark.parametrize("name", ["sin", "cos"])
@pytest.mark.parametrize("size", [1e-2, 1.0, 1e2, 1e4, 1e6, 1e8])
def test_waves_of_large_angles_lie_within_their_bounds(name, size):
    # against forty digits: a sum of an angle and a quarter turn is rounded to a share of the angle
    angles = np.random.default_rng(5).uniform(-size, size, 200)
    for angle in map(float, angles):
        bounds = getattr(np, name)(Interval(np.array(angle), np.array(angle)))
        with mpmath.workdps(40):
            exact = getattr(mpmath, name)(mpmath.mpf(angle))
            assert mpmath.mpf(float(bounds.low)) <= exact <= mpmath.mpf(float(bounds.high))
