"""Interval operations against ball arithmetic of 200 bits: every value lies inside, and rounding inwards is caught."""

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from hybrid.analysis.certified.tape import enclosed, tape_of
from hybrid.expressions import Builder

flint.ctx.prec = 200
BOXES = 400
UNARY = {
    "sin": (-40.0, 40.0),
    "cos": (-40.0, 40.0),
    "tan": (-1.5, 1.5),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
    "atan": (-50.0, 50.0),
    "sinh": (-20.0, 20.0),
    "cosh": (-20.0, 20.0),
    "tanh": (-4.0, 4.0),
    "exp": (-30.0, 30.0),
    "log": (1e-6, 50.0),
    "sqrt": (0.0, 50.0),
}
BINARY = {
    "+": lambda x, y: x + y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "atan2": lambda y, x: flint.arb.atan2(y, x),
    "root": lambda x, y: x**y,
}


def node(build, operation, *arguments):
    made = {"+": build.add, "*": build.multiply, "/": build.divide, "root": build.power}
    return made.get(operation, lambda *given: build.call(operation, *given))(*arguments)


def boxes(rng, low, high, n):
    """Wide and narrow intervals, points among them."""
    ends = rng.uniform(low, high, (BOXES, n, 2))
    narrow = ends[..., :1] + (ends[..., 1:] - ends[..., :1]) * 10.0 ** rng.uniform(-16, 0, (BOXES, n, 1))
    ends = np.sort(
        np.concatenate([ends[..., :1], np.where(rng.random((BOXES, n, 1)) < 0.7, narrow, ends[..., 1:])], -1), -1
    )
    ends[:20, :, 1] = ends[:20, :, 0]
    return ends


def points(rng, box):
    """Corners and inner points, as floats of the box."""
    found = [box[:, 0], box[:, 1]]
    found += [
        np.clip(box[:, 0] + rng.random(len(box)) * (box[:, 1] - box[:, 0]), box[:, 0], box[:, 1]) for _ in range(4)
    ]
    return found


def outside(exact, low, high):
    """Whether a ball lies outside of an interval for certain."""
    return bool(exact < flint.arb(low)) or bool(exact > flint.arb(high))


def contradictions(rng, operation, value, ends, *, inwards=0):
    build = Builder()
    names = [build.name(name) for name in "xy"[: ends.shape[1]]]
    tape = tape_of(build.graph(), [], names)
    root = node(build, operation, *names)
    tape = tape_of(build.graph(), [root], names)
    found, broken = tape(ends)
    count = 0
    for box, (low, high), is_broken in zip(ends, found[:, 0], broken, strict=True):
        assert not is_broken
        for _ in range(inwards):
            low, high = np.nextafter(low, np.inf), np.nextafter(high, -np.inf)
        count += sum(outside(value(*map(flint.arb, point.tolist())), low, high) for point in points(rng, box))
    return count


@pytest.mark.parametrize("operation", UNARY)
def test_values_of_functions_lie_in_their_intervals(operation):
    rng = np.random.default_rng(len(operation))
    ends = boxes(rng, *UNARY[operation], 1)
    assert contradictions(rng, operation, getattr(flint.arb, operation), ends) == 0


@pytest.mark.parametrize("operation", BINARY)
def test_values_of_operations_lie_in_their_intervals(operation):
    rng = np.random.default_rng(len(operation) + 7)
    ends = boxes(rng, 0.01, 30.0, 2)
    if operation in "+*":
        ends = boxes(rng, -30.0, 30.0, 2)
    assert contradictions(rng, operation, BINARY[operation], ends) == 0


@pytest.mark.parametrize("operation", ["+", "*", "/"])
def test_rounding_inwards_is_caught(operation):
    rng = np.random.default_rng(3)
    ends = boxes(rng, 0.01, 30.0, 2)
    assert contradictions(rng, operation, BINARY[operation], ends, inwards=2) > 50


@pytest.mark.parametrize("exponent", [2, 3, 4, 5, -1, -2, -3])
def test_whole_powers(exponent):
    rng = np.random.default_rng(abs(exponent))
    ends = boxes(rng, -3.0, 3.0, 1) if exponent > 0 else boxes(rng, 0.1, 3.0, 1)
    build = Builder()
    x = build.name("x")
    tape = tape_of(build.graph(), [], [x])
    root = build.power(x, build.number(exponent))
    tape = tape_of(build.graph(), [root], [x])
    found, _ = tape(ends)
    for box, (low, high) in zip(ends, found[:, 0], strict=True):
        assert not any(outside(flint.arb(point[0]) ** exponent, low, high) for point in points(rng, box))
    if exponent in (2, 4):
        assert tape(np.array([[[-1.0, 2.0]]]))[0][0, 0, 0] == 0.0


@pytest.mark.parametrize("operation", ["abs", "sign", "step", "min", "max"])
def test_functions_with_kinks_and_jumps(operation):
    rng = np.random.default_rng(5)
    n = 2 if operation in ("min", "max") else 1
    ends = boxes(rng, -3.0, 3.0, n)
    build = Builder()
    names = [build.name(name) for name in "xy"[:n]]
    root = build.call(operation, *names)
    found, broken = tape_of(build.graph(), [root], names)(ends)
    exact = {
        "abs": abs,
        "sign": lambda x: math.copysign(1.0, x) if x else 0.0,
        "step": lambda x: 0.5 if x == 0 else float(x > 0),
        "min": min,
        "max": max,
    }[operation]
    for box, (low, high) in zip(ends, found[:, 0], strict=True):
        assert all(low <= exact(*point.tolist()) <= high for point in points(rng, box))
    straddles = (ends[:, 0, 0] <= 0.0) & (ends[:, 0, 1] >= 0.0)
    assert np.array_equal(broken, straddles if operation in ("sign", "step") else np.zeros(BOXES, bool))


@pytest.mark.parametrize(
    ("text", "box"),
    [
        (lambda b, x: b.divide(b.number(1), x), [-1.0, 1.0]),
        (lambda b, x: b.call("log", x), [0.0, 1.0]),
        (lambda b, x: b.call("sqrt", x), [-1e-300, 1.0]),
        (lambda b, x: b.call("asin", x), [0.5, 1.5]),
        (lambda b, x: b.call("tan", x), [1.0, 2.0]),
        (lambda b, x: b.call("atan2", x, b.number(-1)), [-1.0, 1.0]),
        (lambda b, x: b.power(x, b.number(Fraction(1, 3))), [-1.0, 1.0]),
    ],
)
def test_what_is_undefined_somewhere_is_broken(text, box):
    build = Builder()
    x = build.name("x")
    root = text(build, x)
    found, broken = tape_of(build.graph(), [root], [x])(np.array([[box]]))
    assert broken[0]
    assert found[0, 0, 0] <= -math.pi and found[0, 0, 1] >= math.pi


def test_large_and_infinite_arguments_stay_enclosed():
    build = Builder()
    x = build.name("x")
    roots = [build.call("sin", x), build.multiply(x, x), build.call("exp", x)]
    roots.append(build.subtract(roots[2], roots[1]))
    found, _ = tape_of(build.graph(), roots, [x])(np.array([[[1e6, 1e6]], [[1e300, 1e308]]]))
    assert np.array_equal(found[:, 0], [[-1.0, 1.0], [-1.0, 1.0]])
    assert found[1, 1, 1] == np.inf and found[0, 2, 1] == np.inf
    assert (found[1, 3] == [-np.inf, np.inf]).all()


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(-7, 11), Fraction(1, 10), Fraction(2**70 + 1), Fraction(3)])
def test_numbers_are_enclosed_by_neighbours(value):
    low, high = enclosed(value)
    assert Fraction(low) <= value <= Fraction(high)
    assert high in (low, np.nextafter(low, np.inf))


def test_pi_is_enclosed():
    build = Builder()
    root = build.pi()
    (((low, high),),), _ = tape_of(build.graph(), [root], [build.name("x")])(np.zeros((1, 1, 2)))
    assert bool(flint.arb(low) < flint.arb.pi()) and bool(flint.arb(high) > flint.arb.pi())
