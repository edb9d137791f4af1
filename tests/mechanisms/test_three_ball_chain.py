"""Three balls in a row: collisions one after the other, and at once."""

import numpy as np
import pytest

from hybrid import State, simulate
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact
from tests.catalogue import dynamics_of

LAWS = [NewtonImpact(), PoissonImpact(), EnergeticImpact()]
R = 0.05


def collisions_by_hand(x, v, m, e, t_end):
    """Times and velocities of the collisions of free balls in a row, pair by pair."""
    x, v, t, log = np.array(x, dtype=float), np.array(v, dtype=float), 0.0, []
    while True:
        gaps, rates = np.diff(x) - 2 * R, np.diff(v)
        waits = np.where(rates < 0, gaps / np.where(rates < 0, -rates, 1), np.inf)
        pair = int(np.argmin(waits))
        if not t + waits[pair] < t_end:
            return log
        t, x = t + waits[pair], x + waits[pair] * v
        impulse = -(1 + e) * rates[pair] / (1 / m[pair] + 1 / m[pair + 1])
        v = v + impulse * np.array([[-1, 1, 0], [0, -1, 1]])[pair] / m
        log.append((t, ("first_pair", "second_pair")[pair], v))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("e", [1.0, 0.6])
@pytest.mark.parametrize("m", [(1, 1, 1), (3, 1, 1), (2, 1, 5)])
def test_balls_apart_collide_pair_by_pair(law, e, m):
    start = ([-0.5, 0, 0.3], [1, 0, -0.25])
    expected = collisions_by_hand(*start, np.array(m, dtype=float), e, 3)
    parameters = dict(zip(("m1", "m2", "m3"), m, strict=True)) | {"e": e}
    motion = simulate(dynamics_of("three_ball_chain"), State(*start), t_end=3, law=law, parameters=parameters)
    assert [event.elements for event in motion.events] == [(name,) for _, name, _ in expected]
    assert [event.t for event in motion.events] == pytest.approx([t for t, _, _ in expected], abs=1e-12)
    for event, (_, _, v) in zip(motion.events, expected, strict=True):
        assert event.v_after == pytest.approx(v, abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_the_speed_passes_on_however_narrow_the_gap(law):
    for gap in (0.5, 1e-3, 1e-9):
        start = State([-0.2, 0, 0.1 + gap], [1, 0, 0])
        motion = simulate(dynamics_of("three_ball_chain"), start, t_end=1, law=law)
        assert motion.v == pytest.approx([0, 0, 1], abs=1e-14)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("radius", [0.05, 1 / 16])
def test_touching_balls_share_the_speed_in_one_impact(law, radius):
    # the law takes both contacts at once: (-1/3, 2/3, 2/3), another limit than that of narrow gaps, with the same
    # momentum and energy; whether the gap is exactly zero or its rounding makes no difference
    start = State([-0.2, 0, 2 * radius], [1, 0, 0])
    motion = simulate(dynamics_of("three_ball_chain"), start, t_end=1, law=law, parameters={"R": radius})
    (event,) = motion.events
    assert event.t == pytest.approx(0.2 - 2 * radius, abs=1e-13)
    assert motion.v == pytest.approx([-1 / 3, 2 / 3, 2 / 3], abs=1e-13)
    assert motion.v.sum() == pytest.approx(1, abs=1e-14)
    assert motion.v @ motion.v == pytest.approx(1, abs=1e-14)


def test_touching_balls_without_restitution_move_on_together():
    for law in LAWS:
        start = State([-0.2, 0, 0.1], [1, 0, 0])
        motion = simulate(dynamics_of("three_ball_chain"), start, t_end=1, law=law, parameters={"e": 0})
        assert motion.v == pytest.approx([1 / 3, 1 / 3, 1 / 3], abs=1e-14)
