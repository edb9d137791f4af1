"""Nodes, freedoms, edges: counted by argument, and what was left out against what can occur."""

from __future__ import annotations

import copy
import itertools
import pickle

import networkx as nx
import numpy as np
import pytest

import mechanisms
from hybrid import derive
from hybrid.automaton import IMPACT, GuardKind, Reset, Rule, build_automaton
from hybrid.automaton.numeric import closed_postures
from hybrid.contact import Mode
from hybrid.errors import ArgumentError, ComputationError
from tests.hybrid.automaton.machines import automaton_of, dynamics_of

SLIDES = ("slide+", "slide-")


def edges(automaton, source, *, regular_only=False):
    """(kind of guard or None, target) of the edges that leave a node."""
    found = automaton.successors(source, regular_only=regular_only)
    return {(None if edge.guard is None else str(edge.guard.kind), edge.target) for edge in found}


@pytest.mark.parametrize(
    ("name", "nodes"),
    [
        ("rod_on_incline", {"free": 3, "stick": 1, "slide+": 2, "slide-": 2, "impact": None}),
        ("bouncing_ball", {"free": 1, "closed": 0, "impact": None}),
        ("two_carts", {"free": 2, "closed": 1, "impact": None}),
        ("oblique_rod", {"free": 5, "stick": 2, "slide": 4, "impact": None}),
        ("brake_shoe", {"free": 1, "stick": 0, "slide+": 0, "slide-": 0, "impact": None}),
        ("seal", {"stick": 0, "slide+": 1, "slide-": 1}),
    ],
)
def test_one_element_has_its_modes_with_their_freedoms(name, nodes):
    graph = automaton_of(name).graph
    assert isinstance(graph, nx.MultiDiGraph)
    assert dict(graph.nodes(data="n_freedom")) == nodes
    assert {key for key, kind in graph.nodes(data="kind") if kind == "impact"} == set(nodes) & {IMPACT}


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda automaton: pickle.loads(pickle.dumps(automaton))])
def test_a_copy_has_the_same_nodes_and_edges(copied):
    automaton = build_automaton(dynamics_of("rod_on_incline"), max_nodes=7)
    twin = copied(automaton)
    assert twin.max_nodes == 7
    assert list(twin.graph) == list(automaton.graph)
    assert [edges(twin, node) for node in twin.graph] == [edges(automaton, node) for node in automaton.graph]


def test_two_contacts_have_the_product_of_their_modes():
    automaton = automaton_of("ladder_in_corner")
    labels = {
        f"floor={floor},wall={wall}"
        for floor, wall in itertools.product(("free", "stick", "slide+", "slide-"), repeat=2)
    }
    assert set(automaton.graph) == labels | {IMPACT}
    for label in labels:
        mode = automaton.location(label).mode
        rows = sum({"free": 0, "stick": 2}.get(part.value, 1) for part in mode.values())
        # three coordinates; every row takes one freedom while there is one
        assert automaton.location(label).n_freedom == max(0, 3 - rows)
        assert automaton.location(label).is_hyperstatic == (rows > 3)


def test_rod_has_the_regular_edges_of_coulomb_friction():
    automaton = automaton_of("rod_on_incline")
    assert edges(automaton, "free") == {("touchdown", IMPACT)}
    assert edges(automaton, IMPACT) == {(None, label) for label in ("free", "stick", *SLIDES)}
    assert edges(automaton, "stick", regular_only=True) == {
        ("release", "free"),
        ("cone+", "slide+"),
        ("cone-", "slide-"),
    }
    for label, other in (SLIDES, SLIDES[::-1]):
        assert edges(automaton, label, regular_only=True) == {
            ("release", "free"),
            ("slip", "stick"),
            ("slip", other),
        }


def test_rod_has_the_paradoxical_edges_that_its_kinematics_permit():
    automaton = automaton_of("rod_on_incline")
    at_rest = {"free", "stick", "slide+", "slide-", IMPACT}
    for guard in ("release", "cone+", "cone-"):
        assert {target for kind, target in edges(automaton, "stick") if kind == guard} == at_rest - {"stick"}
    for label in SLIDES:
        found = edges(automaton, label)
        assert {target for kind, target in found if kind == "slip"} == at_rest - {label}
        # slip does not vanish at a release or where A_s vanishes: it can only go on or separate
        assert {target for kind, target in found if kind == "release"} == {"free", IMPACT}
        assert {target for kind, target in found if kind == "singular"} == {"free", IMPACT}


def test_paradoxes_lead_to_the_impact_without_a_rule():
    automaton = automaton_of("rod_on_incline")
    for label in SLIDES:
        found = [edge for edge in automaton.successors(label) if edge.target == IMPACT]
        assert {str(edge.guard.kind) for edge in found} == {"release", "slip", "singular"}
        assert {edge.rule for edge in found} == {Rule.NO_RULE}
        assert not any(edge.is_regular for edge in found)


def test_only_the_impact_resets_the_velocities():
    for _, _, edge in automaton_of("ladder_in_corner").graph.edges(data="transition"):
        assert (edge.reset is Reset.IMPACT_LAW) == (edge.source == IMPACT)
        assert (edge.rule is Rule.IMPACT_LAW) == (edge.source == IMPACT or edge.guard.kind is GuardKind.TOUCHDOWN)
        assert (edge.guard is None) == (edge.source == IMPACT)


def test_decoupled_block_has_no_paradox():
    # The normal force of a block does not depend on its friction: 1 + 4 + 3 + 3 + 3 edges.
    automaton = automaton_of("block_on_incline")
    assert not automaton.may_be_paradoxical
    assert automaton.graph.number_of_edges() == 14
    kinds = {guard.kind for key in automaton.mode_keys() for guard in automaton.location(key).guards}
    assert GuardKind.SINGULAR not in kinds


def test_friction_element_turns_between_sticking_and_sliding():
    automaton = automaton_of("seal")
    assert not automaton.has_impact
    assert edges(automaton, "stick") == {("cone+", "slide+"), ("cone-", "slide-")}
    assert edges(automaton, "slide+") == {("slip", "stick"), ("slip", "slide-")}
    texts = {str(guard.kind): guard.text for guard in automaton.location("stick").guards}
    assert texts == {"cone+": "F_s + k*x", "cone-": "F_s - k*x"}


def test_spatial_slip_may_stop_and_go_on_in_another_direction():
    automaton = automaton_of("oblique_rod")
    assert ("slip", "slide") in edges(automaton, "slide")
    assert edges(automaton, "stick", regular_only=True) == {("release", "free"), ("cone", "slide")}


def test_bilateral_friction_has_a_node_for_each_side_of_the_normal_force():
    automaton = automaton_of("collar on rail")
    keys = {f"{label} (rail: N {sign} 0)" for label in ("stick", *SLIDES) for sign in "<>"}
    assert set(automaton.graph) == keys | {IMPACT}
    pressed = "slide+ (rail: N > 0)"
    assert ("reversal", "slide+ (rail: N < 0)") in edges(automaton, pressed, regular_only=True)
    assert automaton.location(pressed).n_freedom == 2
    assert automaton.location(Mode({"rail": "slide+"})).key == pressed


def test_gaps_that_cannot_close_together_leave_out_those_modes():
    automaton = automaton_of("floor and ceiling")
    closed = ("stick", *SLIDES)
    left_out = {f"floor={a},ceiling={b}" for a, b in itertools.product(closed, repeat=2)}
    assert len(automaton.graph) == 16 - 9 + 1
    assert not left_out & set(automaton.graph)
    for label in left_out:
        assert automaton.why_impossible(label) == "the gaps of floor and ceiling cannot vanish at once"
        with pytest.raises(ArgumentError, match="cannot vanish at once"):
            automaton.location(label)
    assert {target for _, target in edges(automaton, "floor=stick,ceiling=free")} <= set(automaton.graph)


def test_gaps_that_close_together_for_some_parameters_leave_out_nothing():
    assert len(automaton_of("gap of any height").graph) == 17


def test_sticking_to_two_bodies_that_move_against_each_other_is_left_out():
    automaton = automaton_of("floor and belt")
    assert "contradict" in automaton.why_impossible("floor=stick,belt=stick")
    assert len(automaton.graph) == 16
    assert not automaton.why_impossible("floor=stick,belt=slide-")


def test_slips_that_are_bound_stop_together():
    # two feet of a block that cannot tilt
    automaton = automaton_of("two feet")
    assert automaton.location("floor=slide+,other=slide+").stops_with == {"floor": ("other",), "other": ("floor",)}
    assert ("slip", "floor=stick,other=stick") in edges(automaton, "floor=slide+,other=slide+", regular_only=True)
    assert automaton_of("ladder_in_corner").location("floor=free,wall=slide+").stops_with == {}


def test_nodes_are_built_on_demand_and_kept():
    automaton = build_automaton(dynamics_of("ladder_in_corner"), max_nodes=10)
    with pytest.raises(ComputationError, match="up to 16 modes, more than 10"):
        _ = automaton.graph
    first = automaton.location("floor=slide+,wall=free")
    assert automaton.location("floor=slide+,wall=free") is first
    assert automaton.reachable("floor=free,wall=free", limit=5)[:2] == ("floor=free,wall=free", IMPACT)
    assert len(automaton.reachable("floor=free,wall=free", limit=5)) == 5


def test_all_modes_are_reachable_through_the_impact():
    automaton = automaton_of("rod_on_incline")
    assert set(automaton.reachable("free", regular_only=True)) == set(automaton.graph)


@pytest.mark.parametrize("label", ["sliding", "", "slide+,", "tip=slide+", "floor=stick", "slide+ (", "impacts"])
def test_unknown_modes_are_refused_or_read_in_full(label):
    automaton = automaton_of("rod_on_incline")
    if label in ("tip=slide+", "slide+ ("):
        assert automaton.location(label).key == "slide+"
    else:
        with pytest.raises(ArgumentError, match="a mode reads 'free'"):
            automaton.location(label)


def test_freedom_is_counted_where_the_contacts_touch():
    # Both ends of the rod on the floor: it lies flat, slips as one, and sticks as one.
    automaton = automaton_of("rod_two_ends")
    freedom = {key: automaton.location(key).n_freedom for key in automaton.mode_keys()}
    assert freedom["left=slide+,right=slide+"] == 1
    assert freedom["left=stick,right=slide+"] == freedom["left=stick,right=stick"] == 0
    flat = np.array([0.3, 0.0, 0.0])
    assert automaton.location("left=stick,right=stick").is_hyperstatic
    field = automaton.location("left=slide+,right=slide+").vector_field(flat, np.array([1.0, 0.0, 0.0]))
    # all of the weight rests on friction mu: decelerates by mu g
    np.testing.assert_allclose(field, [-0.5, 0.0, 0.0], atol=1e-14)


def test_postures_are_kept_for_the_values_of_the_parameters_they_touch_at():
    rod = derive(mechanisms.load("rod_on_incline"))
    for bound in (rod, rod.at({"l": 3.0}), rod):
        samples = closed_postures(bound, [0])
        y, phi = samples.q[:, 1], samples.q[:, 2]
        height = y - bound.values["l"] * np.sin(phi)  # of the tip above the plane, by hand
        np.testing.assert_allclose(height, 0.0, atol=1e-9)  # Newton's steps end below the tolerance of a closed gap
    assert closed_postures(rod, [0]) is closed_postures(rod, [0])
