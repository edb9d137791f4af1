"""Steps of the explicit method, beside those of SciPy's class, which has the same tables and no shorter way."""

import math

import numpy as np
import pytest
from scipy.integrate import DOP853

from hybrid.motion import Settings
from hybrid.motion.steps import Stepper

EPSILON = np.finfo(float).eps


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


@pytest.mark.parametrize("name", MOTIONS)
def test_steps_are_those_of_scipy_to_the_last_bit(name):
    right, start, begin, end, more = MOTIONS[name]
    settings = Settings(rtol=1e-9, atol=1e-10, max_step=more.get("max_step", math.inf))
    ours = Stepper(right, begin, np.array(start), end, settings, more.get("first_step"))
    options = {"rtol": settings.rtol, "atol": settings.atol * settings.sizes, **more}
    with np.errstate(all="ignore"):
        theirs = DOP853(lambda t, y: np.array(right(t, y)), begin, np.array(start), end, **options)
        while theirs.status == "running":
            theirs.step()
            step = ours.step()
            if theirs.status == "failed":
                assert step is None
                break
            assert (step.start, step.end) == (theirs.t_old, theirs.t)
            assert step.last.tolist() == theirs.y.tolist()
            s = np.linspace(0.0, 1.0, 23)
            dense = theirs.dense_output()(step.time(s))
            # sums over 8 coefficients and 16 stages with factors below 100; and times are rounded before they are given
            rates = np.abs(theirs.K_extended).max(axis=0)
            rounding = 1000 * (np.abs(step.first) + rates * (step.end - step.start)) + 4 * rates * abs(step.end)
            assert (np.abs(step.at(s) - dense) <= EPSILON * rounding[:, None]).all()
        assert ours.is_finished == (theirs.status == "finished")
