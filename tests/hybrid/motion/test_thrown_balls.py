"""Balls that are thrown on a rough table bounce and roll to the end of the time, whatever slip rounding leaves."""

import numpy as np
import pytest

import mechanisms
from hybrid import State, Termination, derive, simulate

R, MU = 0.1, 1.0


@pytest.fixture(scope="module")
def thrown():
    return derive(mechanisms.load("spatial_ball"))


@pytest.fixture(scope="module")
def falling():
    return derive(mechanisms.load("bouncing_ball"))


def slip(v):
    return np.array([v[0] - R * v[4], v[1] + R * v[3]])


@pytest.mark.parametrize(
    ("e", "step", "throws"),
    [(0.8, 1e-3, 2), (0.5, 1e-3, 2), (0.5, 2.5e-4, 2), pytest.param(0.5, 1e-4, 1, marks=pytest.mark.long)],
)
def test_bounces_of_a_rolling_ball_die_out(thrown, falling, e, step, throws):
    rng = np.random.default_rng(0)
    for height in rng.uniform(0.02, 0.1, throws):
        v = np.array([*rng.uniform(-1, 1, 2), 0.0, *rng.uniform(-10, 10, 3)])
        how = {"t_end": 0.6, "method": "time-stepping", "step": step}
        motion = simulate(thrown, State([0, 0, R + height, 0, 0, 0], v), parameters={"e": e, "mu": MU}, **how)
        assert motion.termination is Termination.END_TIME, motion.cause
        # friction has no moment about the point of contact: Coriolis's rolling, reached in bounces as on the table
        assert motion.v[:2] == pytest.approx(v[:2] - 2 / 7 * slip(v), abs=1e-12)
        assert slip(motion.v) == pytest.approx([0.0, 0.0], abs=1e-12)
        assert motion.v[5] == v[5]
        # and none on the way up and down, which is that of a ball without spin
        alone = simulate(falling, State([height], [0.0]), parameters={"e": e}, **how)
        assert (motion.q[2] - R, motion.v[2]) == pytest.approx((alone.q[0], alone.v[0]), abs=1e-12)
