"""Invariants and vector fields of the nodes against the verdict, which enumerates modes at one state."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid.automaton.invariants import holds
from hybrid.contact import ContactMode, Verdict, select
from hybrid.dynamics import State, solve_state, solve_states
from hybrid.errors import ComputationError
from tests.hybrid.automaton.machines import automaton_of, dynamics_of, random_states

# (mechanism, parameters, states). The frictions lie above the critical ones, so that paradoxes are among the states.
CASES = [
    ("rod_on_incline", {"mu": 2.0, "epsilon": 0.2}, 40),
    ("painleve_rod", {"mu": 1.6}, 50),
    ("slider_pendulum", {}, 40),
    ("brake_shoe", {}, 30),
    ("two_link_arm", {"mu": 1.5}, 30),
    ("block_on_incline", {}, 30),
    ("two_carts", {}, 30),
    ("ladder_in_corner", {"mu": 1.2}, 30),
    ("rod_two_ends", {"mu": 1.5}, 50),
    ("oblique_rod", {}, 30),
    ("seal", {}, 40),
    ("block with seal", {}, 40),
    ("floor and ceiling", {}, 40),
    ("two feet", {}, 40),
    ("floor and belt", {}, 40),
    ("conveyor", {}, 40),
    ("collar on rail", {"mu": 1.7}, 40),
]


def consistent_labels(name, state, parameters):
    """Labels that the verdict lists, the verdict, and branch by label."""
    selection = select(dynamics_of(name), state, parameters=parameters)
    branches = {}
    for branch in selection.branches:
        for mode in (branch.mode, *branch.equivalent_modes):
            branches.setdefault(mode.label, []).append(branch)
    return selection, branches


@pytest.mark.parametrize(("name", "parameters", "count"), CASES, ids=[case[0] for case in CASES])
def test_node_is_consistent_exactly_where_the_verdict_lists_its_mode(name, parameters, count):
    automaton = automaton_of(name)
    seen, decided = set(), 0
    for state in random_states(name, seed=7, count=count):
        try:
            selection, branches = consistent_labels(name, state, parameters)
        except ComputationError:
            continue  # the random posture is singular for this mechanism
        if selection.verdict is Verdict.UNDECIDED:
            continue
        decided += 1
        labels = {}
        for key in automaton.mode_keys():
            label = automaton.location(key).mode.label
            labels.setdefault(label, []).append(automaton.is_consistent(key, state, parameters=parameters))
        at_rest = {c.name for c in selection.problem.elements if c.is_spatial_at_rest}
        for label, found in labels.items():
            mode = automaton.location(label).mode
            if any(mode[contact] is ContactMode.SLIDE for contact in at_rest):
                continue  # the direction of incipient slip in space is not part of the state
            if selection.verdict is Verdict.HYPERSTATIC and label not in branches:
                continue  # of several modes with one acceleration the verdict lists one
            assert any(found) == (label in branches), (label, state)
            seen.update({label} if any(found) else set())
        assert set(branches) <= set(labels)
    assert decided > count / 5  # continua of forces with different accelerations are undecided
    assert len(seen) > 1


@pytest.mark.parametrize(("name", "parameters", "count"), CASES, ids=[case[0] for case in CASES])
def test_vector_field_is_the_acceleration_of_the_branch(name, parameters, count):
    automaton = automaton_of(name)
    compared = 0
    for state in random_states(name, seed=11, count=count // 2):
        try:
            selection, branches = consistent_labels(name, state, parameters)
        except ComputationError:
            continue
        at_rest = {c.name for c in selection.problem.elements if c.is_spatial_at_rest}
        for key in automaton.mode_keys():
            location = automaton.location(key)
            mode = location.mode
            if location.is_hyperstatic or mode.label not in branches:
                continue
            if any(mode[contact] is ContactMode.SLIDE for contact in at_rest):
                continue
            if not automaton.is_consistent(key, state, parameters=parameters):
                continue  # the other side of a bilateral contact
            found = location.vector_field(state.q, state.v, t=state.t, parameters=parameters)
            expected = [branch.acceleration for branch in branches[mode.label]]
            size = 1.0 + np.max(np.abs(expected))
            # one linear solve of condition up to 1e6 at random postures
            assert min(np.max(np.abs(found - each)) for each in expected) < 1e-8 * size
            compared += 1
    assert compared > count / 10


def test_sides_of_vanishing_slip_count_as_slip():
    rod, automaton = dynamics_of("rod_on_incline"), automaton_of("rod_on_incline")
    state = solve_state(rod, {"phi": 2.0, "phi_dot": 0.5, "slip.tip": "+0"})
    answers = {key: automaton.is_consistent(key, state) for key in automaton.mode_keys()}
    labels = {branch.mode.label for branch in select(rod, state).branches}
    assert {key for key, holds_ in answers.items() if holds_} == labels
    assert not answers["stick"]


def test_direction_of_vanishing_slip_in_space_comes_from_the_side():
    rod, automaton = dynamics_of("oblique_rod"), automaton_of("oblique_rod")
    pins = {"psi": 0.3, "theta": 0.9, "psi_dot": 0, "theta_dot": 0.2, "slip.tip.1": 0, "slip.tip.2": 0}
    at_rest = solve_state(rod, pins)
    for angle in np.linspace(0.1, 6.2, 9):
        state = State(at_rest.q, at_rest.v, sides={"tip": (np.cos(angle), np.sin(angle))})
        branches = {branch.mode.label: branch for branch in select(rod, state).branches}
        assert automaton.is_consistent("slide", state) == ("slide" in branches)
        if "slide" in branches:
            found = automaton.location("slide").vector_field(state.q, state.v, sides=state.sides)
            np.testing.assert_allclose(found, branches["slide"].acceleration, atol=1e-9)


def test_invariants_are_vectorised_over_states_and_parameters():
    rod, automaton = dynamics_of("rod_on_incline"), automaton_of("rod_on_incline")
    pins = {"phi": np.linspace(0.1, 3.0, 40)[:, None], "phi_dot": np.linspace(-3, 3, 30), "slip.tip": 0}
    mu = np.array([0.4, 2.0])[:, None, None]
    states = solve_states(rod, pins)
    q, v = (np.broadcast_to(array, (40, 30, 3)) for array in (states.q, states.v))
    for key in automaton.mode_keys():
        together = holds(automaton.location(key), states.q, states.v, parameters={"mu": mu})
        assert together.shape == (2, 40, 30)
        for i, j, k in [(0, 3, 7), (1, 30, 2), (1, 12, 15)]:
            one = State(q[j, k], v[j, k])
            alone = automaton.is_consistent(key, one, parameters={"mu": float(mu[i, 0, 0])})
            assert together[i, j, k] == alone
