"""Contacts declared with a tangent whose friction is zero: verdict, map, automaton and motions name one mode."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid import (
    Constraint,
    Contact,
    EquationDynamics,
    FrictionElement,
    Mechanism,
    State,
    build_automaton,
    derive,
    region_map,
    select,
    simulate,
)
from hybrid.analysis import Axis
from hybrid.motion.timestepping import time_stepping

REST = State([0.0, 0.0], [0.0, 0.0])
MODES = ("free", "stick", "slide+", "slide-")


def block(pull="F", **contact):
    """A block of 2 kg on a floor that presses with 10 N, pulled along it."""
    return derive(
        Mechanism(
            name="block",
            coordinates=["x", "y"],
            parameters={"F": 0, "mu": 0},
            dynamics=EquationDynamics(mass_matrix=[[2, 0], [0, 2]], forces=[pull, "-10"]),
            contact=[Contact(name="floor", gap="y", **{"tangent": "x", "friction": "mu"} | contact)],
        )
    )


@pytest.mark.parametrize(("pull", "label"), [(3.0, "slide+"), (-3.0, "slide-"), (0.0, "stick")])
@pytest.mark.parametrize("declared", ["tangent", "slip"])
def test_verdict_automaton_and_motions_name_the_mode_of_a_smooth_block(pull, label, declared):
    smooth = block() if declared == "tangent" else block(tangent=None, slip="x_dot")
    values = {"F": pull}
    found = select(smooth, REST, parameters=values)
    assert (found.verdict.name, found.count) == ("UNIQUE", 1)
    assert found.branches[0].mode.label == label
    assert found.branches[0].lambda_N["floor"] == pytest.approx(10.0, rel=1e-14)
    automaton = build_automaton(smooth)
    assert set(automaton.graph.nodes) == {*MODES, "impact"}
    consistent = {mode for mode in MODES if automaton.is_consistent(mode, REST, parameters=values)}
    # with no pull the state lies on the boundary of all three, and sticking is what the block does
    assert consistent == ({label} if pull else {"stick", "slide+", "slide-"})
    motion = simulate(smooth, REST, t_end=1.0, parameters=values)
    assert {arc.mode.label for arc in motion.arcs} == {label}
    assert not motion.events
    np.testing.assert_allclose(motion.q[0], pull / 4, rtol=1e-12, atol=1e-300)
    stepped = time_stepping(smooth, REST, t_end=1.0, step=0.25, parameters=values)
    assert {arc.mode.label for arc in stepped.arcs} == {label}


def test_a_map_names_smooth_modes_by_the_direction_in_which_they_begin():
    axes = [Axis("mu", -0.5, 0.5, 5), Axis("F", -20.0, 20.0, 5)]  # mu = 0 and F = 0 are the middle of five cells
    found = region_map(block(friction="max(mu, 0)"), axes=axes, pins={"x": 0, "x_dot": 0})
    names = np.array([["|".join(_listed(found, i, j)) for j in range(5)] for i in range(5)])
    # friction 0.2 and 0.4 of 10 N hold no pull of 8 or 16 N, but none of 0 either
    assert names.tolist() == [["slide-", "slide-", "stick", "slide+", "slide+"]] * 5


def _listed(found, i, j):
    return [label for k, label in enumerate(found.labels) if int(found.modes[i, j]) >> k & 1]


def test_a_smooth_block_that_stands_slides_as_soon_as_it_is_pulled():
    # at t = 0 nothing pulls, and the block sticks for no time at all: x = (t - sin t)/2
    for sign, label in ((1, "slide+"), (-1, "slide-")):
        pulled = block(f"{sign}*sin(t)")
        assert select(pulled, REST).branches[0].mode.label == "stick"
        motion = simulate(pulled, REST, t_end=2.0)
        assert [arc.mode.label for arc in motion.arcs] == [label]
        assert motion.q[0] == pytest.approx(sign * (2.0 - np.sin(2.0)) / 2, rel=1e-8)


def test_a_smooth_block_that_turns_round_ends_one_slide_and_begins_the_other():
    motion = simulate(block(), State([0.0, 0.0], [1.0, 0.0]), t_end=2.0, parameters={"F": -2.0})
    assert [arc.mode.label for arc in motion.arcs] == ["slide+", "slide-"]
    (turn,) = motion.events
    assert turn.t == pytest.approx(1.0, abs=1e-12)  # deceleration 2/2
    assert motion.q[0] == pytest.approx(1.0 * 2 - 2.0**2 / 2, abs=1e-12)


def test_closed_is_left_to_contacts_without_tangent_and_slip():
    bare = block(tangent=None, friction="0")
    assert select(bare, REST, parameters={"F": 3.0}).branches[0].mode.label == "closed"
    assert {arc.mode.label for arc in simulate(bare, REST, t_end=0.5).arcs} == {"closed"}


@pytest.mark.parametrize(("pull", "label"), [(1.0, "slide+"), (-1.0, "slide-"), (0.0, "stick")])
def test_smooth_rails_and_seals_are_named_like_contacts(pull, label):
    rail = Constraint(name="rail", equation="y", friction="mu", tangent="x")
    seal = FrictionElement(name="seal", tangent="x", limit="mu")
    for parts in ({"constraint": [rail]}, {"friction": [seal]}):
        guided = derive(
            Mechanism(
                name="guided",
                coordinates=["x", "y"],
                parameters={"mu": 0, "F": 0},
                dynamics=EquationDynamics(mass_matrix=[[2, 0], [0, 2]], forces=["F", "-10"]),
                **parts,
            )
        )
        found = select(guided, REST, parameters={"F": pull})
        assert (found.verdict.name, found.branches[0].mode.label) == ("UNIQUE", label)
        assert found.branches[0].acceleration[0] == pytest.approx(pull / 2, abs=1e-15)


def test_two_smooth_feet_share_the_load_whatever_they_begin_to_do():
    body = derive(
        Mechanism(
            name="table",
            coordinates=["x", "y", "phi"],
            parameters={"F": 0},
            dynamics=EquationDynamics(mass_matrix=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], forces=["F", "-10", "0"]),
            contact=[
                Contact(name=f"foot{i}", gap=f"y + {place}*sin(phi)", tangent=f"x + {place}*cos(phi)", friction="0")
                for i, place in enumerate((-1, 0, 1))
            ],
        )
    )
    for pull, label in ((0.0, "stick"), (2.0, "slide+")):
        found = select(body, State(np.zeros(3), np.zeros(3)), parameters={"F": pull})
        assert found.verdict.name == "HYPERSTATIC"  # two equations for three normal forces
        assert set(found.branches[0].mode.values()) == {label}
        np.testing.assert_allclose(found.branches[0].acceleration, [pull, 0.0, 0.0], atol=1e-13)
