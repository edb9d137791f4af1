"""Watched functions that jump, have poles, or lose their value on the way."""

import numpy as np
import pytest

import mechanisms
from hybrid import State, Termination, derive, simulate
from hybrid.contact import NewtonImpact

HALF_WAY = np.sqrt(2 * 0.5 / 9.81)


@pytest.fixture(scope="module")
def falls():
    """A ball dropped from y = 1, which passes 0.5 at ``HALF_WAY`` and bounces at sqrt(2/g) = 0.4515."""
    ball = derive(mechanisms.load("bouncing_ball"))

    def follow(**how):
        return simulate(ball, State([1.0], [0.0]), t_end=0.44, law=NewtonImpact(), **how)

    return follow


@pytest.mark.parametrize("text", ["sqrt(y - 0.5)", "log(y - 0.5) + 20", "-sqrt(y - 0.5)"])
def test_condition_that_loses_its_value_ends_the_motion_there_and_is_named(falls, text):
    # the logarithm crosses zero at y - 0.5 = exp(-20), 1e-9 of time before
    for motion in (falls(until=text), falls(watch={text: text})):
        watched = [event.kind.value for event in motion.events]
        assert motion.termination is (Termination.UNTIL if watched == ["until"] else Termination.UNDEFINED)
        assert motion.t == pytest.approx(HALF_WAY, abs=2e-9)
        assert motion.termination is Termination.UNTIL or repr(text) in motion.cause
        assert motion.sample(0.1)[0][0] == pytest.approx(1 - 9.81 * 0.1**2 / 2, abs=1e-13)


def test_condition_without_a_value_from_the_start_ends_the_motion_at_once(falls):
    motion = falls(until="sqrt(y - 2)")
    assert (motion.termination, motion.t) == (Termination.UNDEFINED, 0.0)


def test_zero_before_the_loss_is_an_event(falls):
    motion = falls(watch={"w": "sqrt(y - 0.5) - 0.1"})
    assert [event.t for event in motion.events] == pytest.approx([np.sqrt(2 * 0.49 / 9.81)], abs=1e-12)
    assert motion.termination is Termination.UNDEFINED


@pytest.mark.parametrize("text", ["sign(y - 0.5)", "1/(y - 0.5)"])
def test_jump_and_pole_are_events_where_the_sign_changes_and_once_only(falls, text):
    motion = falls(watch={"w": text})
    # halved down to neighbouring floats, on a series of the state
    assert [event.t for event in motion.events] == pytest.approx([HALF_WAY], abs=1e-13)
    assert motion.termination is Termination.END_TIME
