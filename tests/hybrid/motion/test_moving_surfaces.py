"""A body on a table that shakes, at times of which the rounding is more than that of its position.

It lies on the table until that falls faster than g: at ``sin(w t) = g/(a w**2)`` (Holmes 1982, J. Sound Vib. 84, 173).
"""

import numpy as np
import pytest

from hybrid import NewtonImpact, State, Verdict, derive, ensemble, mechanism_from_toml, select, simulate, solve_state
from hybrid.motion import EventKind, Termination

G, A, W = 9.81, 0.01, 40.0
PERIOD, LEAVES = 2 * np.pi / W, np.arcsin(G / (A * W**2)) / W


def table(restitution):
    return derive(
        mechanism_from_toml(f"""
name = "table"
coordinates = ["y"]
[dynamics]
kinetic = "y_dot**2/2"
potential = "{G}*y"
[[contact]]
name = "top"
gap = "y - {A}*sin({W}*t)"
restitution = {restitution}
""")
    )


def motion(restitution, k, cycles):
    """From rest on the table after k of its periods."""
    start = solve_state(table(restitution), {"gap.top": 0, "gap_dot.top": 0, "t": f"{k}*pi/20"})
    return simulate(table(restitution), start, t_end=start.t + cycles * PERIOD, law=NewtonImpact())


@pytest.mark.parametrize("k", [0, 10, 100, 1000, 100_000])
@pytest.mark.parametrize("restitution", [0.3, pytest.param(0.5, marks=pytest.mark.long)])
def test_it_leaves_and_comes_to_rest_again(restitution, k):
    found = motion(restitution, k, cycles=30)
    assert found.termination is Termination.END_TIME, found.cause
    left = np.array([event.t for event in found.events if event.kind is EventKind.DETACHMENT])
    # what the time and its product with the frequency lose, and what integration to 1e-10 of a period does
    cycles = (left - LEAVES) / PERIOD
    assert len(left) >= 5
    assert np.abs(cycles - np.round(cycles)).max() < 1e-8 + 4 * k * np.finfo(float).eps
    assert EventKind.ACCUMULATION in {event.kind for event in found.events}


@pytest.mark.parametrize("k", [5, 10, 12, 14, 17, 50, 1000])
def test_a_position_on_the_table_up_to_rounding_touches_it(k):
    # sin(k pi) of floats is some 1e-16 k of either sign
    dynamics, t = table(0.3), k * np.pi / W
    rising = A * W * np.cos(k * np.pi)
    assert select(dynamics, State([0.0], [rising], t)).verdict is Verdict.UNIQUE
    found = simulate(dynamics, State([0.0], [rising], t), t_end=t + 10 * PERIOD, law=NewtonImpact())
    assert found.termination is Termination.END_TIME, found.cause
    assert found.events[0].kind is EventKind.DETACHMENT


@pytest.mark.long
def test_many_at_once_bounce_as_one_does():
    dynamics, t = table(0.3), 100 * PERIOD
    known = {"t_end": t + 3 * PERIOD, "law": NewtonImpact()}
    positions, pins = np.geomspace(1e-9, 1e-6, 300).tolist(), {"y_dot": A * W, "t": t}  # fewer run one by one
    together = ensemble(dynamics, starts={"y": positions}, pins=pins, **known)
    lowest = 2 * np.sqrt(2 * 8 * np.finfo(float).eps * A * W * t / G)  # a flight as high as the gap's rounding lasts so
    for k in range(0, 300, 30):
        alone = simulate(dynamics, State([positions[k]], [A * W], t), **known)
        times = [event.t for event in alone.events]
        assert alone.termination is Termination.END_TIME
        assert together.log.t[together.log.motion == k] == pytest.approx(times, rel=0.0, abs=lowest)
