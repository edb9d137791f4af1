"""Steps of the explicit method, beside those of SciPy's class, which has the same tables and no shorter way."""

import math

import numpy as np
import pytest
from scipy.integrate import DOP853

from hybrid.motion import Settings
from hybrid.motion.steps import Stepper

EPSILON = np.finfo(float).eps
LEAST = np.finfo(float).tiny


def pendulum(_, y):
    return (y[1], -math.sin(y[0]))


def oscillator(_, y):
    """Van der Pol's, whose step is often refused."""
    return (y[1], 30.0 * (1 - y[0] ** 2) * y[1] - y[0])


def driven(t, y):
    return (y[1], -y[0] + math.cos(3.0 * t))


def ending(_, y):
    """Undefined from ``y = 0`` on, which is reached: the step shrinks until it is refused."""
    return (-math.sqrt(y[0]) if y[0] > 0 else math.nan, 1.0)


MOTIONS = {
    "pendulum": (pendulum, (1.0, 0.0), 0.0, 20.0, {}),
    "oscillator": (oscillator, (2.0, 0.0), 0.0, 3.0, {}),
    "driven, short steps": (driven, (1.0, 0.0), -1.0, 4.0, {"max_step": 0.11}),
    "ending": (ending, (1.0, 0.0), 0.0, 4.0, {}),
    "at rest": (lambda t, y: (0.0, 0.0), (1.0, 0.0), 0.0, 4.0, {}),
    "first step given": (pendulum, (1.0, 0.0), 0.0, 2.0, {"first_step": 1.5}),
}


SLOPES = {"oscillator": 5e3}
"""Bounds of the derivatives of the right-hand sides; 1 of the others."""


@pytest.mark.parametrize("name", MOTIONS)
def test_steps_are_those_of_scipy_to_rounding(name):
    right, start, begin, end, more = MOTIONS[name]
    settings = Settings(rtol=1e-9, atol=1e-10, max_step=more.get("max_step", math.inf))
    ours = Stepper(right, begin, np.array(start), end, settings, more.get("first_step"))
    options = {"rtol": settings.rtol, "atol": settings.atol * settings.sizes, **more}
    with np.errstate(all="ignore"):
        theirs = DOP853(lambda t, y: np.array(right(t, y)), begin, np.array(start), end, **options)
        length = theirs.h_abs
        assert ours._solver.h_abs == length
        while theirs.status == "running":
            theirs.step()
            step = ours.step()
            if theirs.status == "failed":
                assert step is None
                break
            h = step.end - step.start
            # what a rate is, and what the roundings of a state are in it
            rates = np.abs(theirs.K_extended).max(axis=0) + SLOPES.get(name, 1.0) * np.abs(step.first).max()
            # an error estimate is a sum over 12 stages with factors below 8, next to what is tolerated of the state
            tolerated = options["atol"] + options["rtol"] * np.abs(step.first)
            rounded = 100 * EPSILON * float(np.max(rates * h / tolerated))
            # after a refusal the length is that of an estimate above 1, to the power -1/8
            apart = (h < 0.99 * min(length, settings.max_step)) * rounded * h + 4 * EPSILON * abs(step.end)
            assert step.start == theirs.t_old
            assert abs(step.end - theirs.t) <= apart
            rounding = 100 * EPSILON * (np.abs(step.first) + rates * h) + rates * apart
            assert (np.abs(step.last - theirs.y) <= rounding).all()
            s = np.linspace(0.0, 1.0, 23)
            dense = theirs.dense_output()(step.time(s))
            # sums over 8 coefficients and 16 stages with factors below 100; and times are rounded before they are given
            rounding = 1000 * EPSILON * (np.abs(step.first) + rates * h) + rates * (apart + 4 * EPSILON * abs(step.end))
            assert (np.abs(step.at(s) - dense) <= rounding[:, None]).all()
            length = ours._solver.h_abs
            # the length goes with the power -1/8 of an estimate that is quadratic in that of fifth order
            fifth = h * float(np.linalg.norm((theirs.E5 @ theirs.K) / tolerated))
            assert abs(length - theirs.h_abs) <= rounded / max(fifth, LEAST) * length + 10 * apart
            theirs.t, theirs.y, theirs.f, theirs.h_abs = step.end, step.last, ours._solver.f, length
        assert ours.is_finished == (theirs.status == "finished")
