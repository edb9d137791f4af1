"""Arguments that are none are refused before anything is computed, with their name."""

import math

import pytest

from hybrid import Settings, State, simulate
from hybrid.contact import EnergeticImpact, resolve_impact
from hybrid.errors import ArgumentError, StateError
from hybrid.motion import load, simulate_branches
from tests.catalogue import dynamics_of

DROP = State([1.0], [0.0])


@pytest.mark.parametrize("follow", [simulate, simulate_branches])
@pytest.mark.parametrize(
    ("start", "asked", "message"),
    [
        (DROP, {"t_end": 0}, "t_end must be a time later"),
        (DROP, {"t_end": math.nan}, "t_end must be a number, not nan"),
        (DROP, {"t_end": 1, "law": "newton"}, "law must be an AbstractImpactLaw or None, not 'newton'"),
        (DROP, {"t_end": 1, "law": EnergeticImpact}, "law must be an AbstractImpactLaw or None"),
        (State([1.0, 2.0], [0.0]), {"t_end": 1}, r"must have the shape \(1,\), not \(2,\) and \(1,\)"),
        (State([math.nan], [0.0]), {"t_end": 1}, "must be finite"),
    ],
)
def test_wrong_argument_is_named(follow, start, asked, message):
    with pytest.raises((ArgumentError, StateError), match=message):
        follow(dynamics_of("bouncing_ball"), start, **asked)


@pytest.mark.parametrize("name", ["rtol", "atol"])
@pytest.mark.parametrize("value", [0.0, -1e-9, 1.0, math.inf])
def test_errors_that_leave_nothing_of_a_motion_are_refused(name, value):
    with pytest.raises(ArgumentError, match=f"{name} must be a share above 0, 0.001 at most, not {value}"):
        Settings(**{name: value})


def test_name_of_a_rule_is_no_rule():
    with pytest.raises(ArgumentError, match="rule must be a SelectionRule or None, not 'stop'"):
        simulate(dynamics_of("bouncing_ball"), DROP, t_end=1, rule="stop")


def test_name_of_a_law_resolves_no_impact():
    with pytest.raises(ArgumentError, match="law must be an AbstractImpactLaw, not 'newton'"):
        resolve_impact(dynamics_of("bouncing_ball"), State([0.0], [-1.0]), law="newton")


def test_empty_file_is_no_motion(tmp_path):
    (tmp_path / "empty.npz").write_bytes(b"")
    with pytest.raises(StateError, match="not a motion"):
        load(tmp_path / "empty.npz")
