"""Comparisons of several contacts, and of states in which contacts rest, stick or are open."""

from __future__ import annotations

import numpy as np
import pytest

import mechanisms
from hybrid import compare, derive, solve_state
from hybrid.analysis.comparison.courses import times_to_stick


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("painleve_rod"))


@pytest.fixture(scope="module")
def supported():
    return derive(mechanisms.load("rod_two_ends"))


@pytest.mark.parametrize(
    ("pins", "label"),
    [
        ({"phi": 0.5, "slip.left": 1}, "left=slide+,right=free"),
        ({"phi": 0, "slip.left": 0}, "left=stick,right=stick"),
    ],
)
def test_a_settled_state_of_two_contacts_has_no_disagreement(supported, pins, label):
    state = solve_state(supported, {"gap.left": 0, "gap_dot.left": 0, "phi_dot": 0, **pins})
    found = compare(supported, state, stiffness=(1e6, 1e8))
    assert found.has_mode
    assert {row.mode for row in found.rows} == {label}
    # the reason of the resolution, and nothing besides
    assert len(found.notes) == 1
    sticks = {part.split("=")[0] for part in label.split(",") if part.endswith("stick")}
    for row in found.rows:
        if row.stiffness:
            assert set(row.time_to_stick) == sticks


def test_times_to_stick_read_the_labels_of_penalty_runs(supported):
    # thrown on both ends at once: the slip stops on both at the same moment, as both feel the same deceleration
    state = solve_state(supported, {"gap.left": 0, "gap_dot.left": 0, "phi": 0, "phi_dot": 0, "slip.left": 1e-4})
    row = compare(supported, state, stiffness=(1e6,)).row("penalty K=1e+06")
    assert row.time_to_stick["left"] == pytest.approx(row.time_to_stick["right"], rel=1e-9)
    assert times_to_stick([("left=slide+,right=free", 2.0), ("left=stick,right=free", 1.0)], ()) == {"left": 2.0}


def test_laws_without_an_impulse_keep_the_mode_of_the_rigid_problem(rod):
    # b = -1 + theta_dot^2 sin(theta) > 0 and A > 0: the tip leaves though its velocity is that of sliding
    parameters = {"mu": 0.3}
    state = solve_state(rod, {"theta": 1, "theta_dot": 3, "slip.tip": 1}, parameters=parameters)
    found = compare(rod, state, stiffness=(), parameters=parameters)
    assert -1 + 9 * np.sin(1.0) > 0
    assert found.verdict == "UNIQUE"
    assert {row.mode for row in found.rows} == {"free"}
    assert {row.outcome for row in found.rows[1:]} == {"no impulse"}
