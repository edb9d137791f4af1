"""Exports: what goes out can be parsed, counts agree, nothing of the user's text escapes its place."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import attrs
import networkx as nx
import pytest

from hybrid.automaton import build_automaton
from hybrid.automaton.export import from_json, to_dot, to_json, to_mermaid, to_spaceex
from hybrid.automaton.export.layout import GroupText, reduced
from hybrid.automaton.outline import outline
from hybrid.declaration import Contact, Mechanism, parse_expression
from hybrid.dynamics import derive
from hybrid.errors import DeclarationError
from hybrid.reporting import figure_svg, plot_automaton
from tests.hybrid.automaton.machines import BLOCK, MASS, automaton_of

NAMES = [
    "rod_on_incline",
    "bouncing_ball",
    "block_on_incline",
    "oblique_rod",
    pytest.param("two_link_arm", marks=pytest.mark.long),
    "ladder_in_corner",
    "seal",
    "collar on rail",
    "floor and ceiling",
]
SVG = "{http://www.w3.org/2000/svg}"
SX = "{http://www-verimag.imag.fr/xml-namespaces/sspaceex}"
HOSTILE = '</title><script>alert("1")</script> & ]]> {{7*7}} "quoted" \\ back\n--> %%{init}%% ;'


def hostile():
    contact = Contact(name="E", gap="y", tangent="x", friction="mu")
    mechanism = Mechanism(
        name="lambda", title=HOSTILE, coordinates=["x", "y"], parameters=MASS, dynamics=BLOCK, contact=[contact]
    )
    return build_automaton(derive(mechanism))


@pytest.mark.parametrize("name", NAMES)
def test_json_round_trip_gives_an_equal_graph(name):
    automaton = automaton_of(name)
    back = from_json(to_json(automaton))
    assert back == outline(automaton)
    assert to_json(back) == to_json(automaton)
    assert nx.utils.graphs_equal(back.graph, outline(automaton).graph)
    graph = automaton.graph
    assert list(back.graph) == list(graph)
    assert [(a, b) for a, b, _ in back.graph.edges] == [(a, b) for a, b, _ in graph.edges]
    for key, node in back.graph.nodes(data=True):
        location = graph.nodes[key]
        assert node["kind"] == location["kind"]
        assert node["n_freedom"] == location["n_freedom"]
        assert node["invariant"] == tuple(condition.text for condition in location["invariant"])
        assert [guard["expression"] for guard in node["guards"]] == [guard.text for guard in location["guards"]]


def test_json_has_only_plain_values_and_readable_keys():
    record = json.loads(to_json(automaton_of("rod_on_incline")))
    assert record["parameters"]["I"] == "m*l**2/3"
    edge = next(e for e in record["edges"] if e["source"] == "slide+" and e["target"] == "stick")
    guard = record["nodes"][2]["guards"][edge["guard"]]
    assert (guard["kind"], guard["direction"], guard["expression"]) == ("slip", -1, "l*phi_dot*sin(phi) + x_dot")


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", "[]", "{}", '{"format": "painleve automaton 1"}', "[" * 100_000, '{"format": 3}', "null"],
)
def test_json_that_is_no_automaton_is_refused(text):
    with pytest.raises(DeclarationError, match=r"automaton|JSON"):
        from_json(text)


def test_json_with_edges_to_nowhere_is_refused():
    record = json.loads(to_json(automaton_of("bouncing_ball")))
    for change in ({"target": "nowhere"}, {"source": "nowhere"}, {"guard": 5}, {"guard": -2}, {"colour": "red"}):
        edges = [record["edges"][0] | change]
        with pytest.raises(DeclarationError, match="not an automaton"):
            from_json(json.dumps(record | {"edges": edges}))


@pytest.mark.parametrize("write", [to_dot, to_mermaid, to_json, to_spaceex])
def test_hostile_title_and_awkward_names_do_not_escape(write):
    text = write(hostile())
    assert "</script" not in text
    if write is to_spaceex:
        root = ET.fromstring(text)
        assert not [element for element in root.iter() if element.tag.endswith("script")]
    if write is to_json:
        assert json.loads(text)["title"] == HOSTILE


def test_labels_of_foreign_outlines_are_escaped():
    # an outline may come from a file that was edited by hand
    plain = outline(automaton_of("bouncing_ball"))
    key = '"]; x -> y; <b>&\\ \n'
    nodes = (attrs.evolve(plain.nodes[0], key=key), *plain.nodes[1:])
    edges = tuple(
        attrs.evolve(e, source=key if e.source == "free" else e.source, target=key if e.target == "free" else e.target)
        for e in plain.edges
    )
    edited = attrs.evolve(plain, name=key, nodes=nodes, edges=edges)
    picture = figure_svg(plot_automaton(edited))
    assert not [element for element in ET.fromstring(picture).iter() if element.tag in ("b", f"{SVG}b")]
    dot = to_dot(edited)
    # outside of quoted strings nothing but the statements that are ours
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "Q", dot)
    ours = "digraph|node|edge|shape|box|diamond|style|rounded|fontname|fontsize|label|Q"
    assert all(re.fullmatch(ours, word) for word in re.findall(r"[A-Za-z]+", bare))
    for line in to_mermaid(edited).splitlines()[1:]:
        assert re.fullmatch(r'    (state "[^"<>&]*" as n\d+|n\d+ --> n\d+ : [^<>"]*)', line), line


def test_mermaid_names_every_node_and_pair():
    automaton = automaton_of("ladder_in_corner")
    lines = to_mermaid(automaton, highlight=["floor=free,wall=free"]).splitlines()
    assert lines[0] == "stateDiagram-v2"
    assert sum(" as n" in line for line in lines) == 17
    pairs = {(edge.source, edge.target) for *_, edge in automaton.graph.edges(data="transition")}
    assert sum("-->" in line for line in lines) == len(pairs)
    assert lines[-1] == "    class n0 consistent"


def test_dot_draws_every_pair():
    automaton = automaton_of("rod_on_incline")
    text = to_dot(automaton, highlight=["slide+"])
    pairs = {(edge.source, edge.target) for *_, edge in automaton.graph.edges(data="transition")}
    assert set(re.findall(r'"([^"]*)" -> "([^"]*)"', text)) == pairs
    assert re.search(r'"slide\+" \[.*filled', text)
    assert not re.search(r'"slide-" \[.*filled', text)


@pytest.mark.parametrize("name", NAMES)
def test_spaceex_model_has_a_location_for_every_node_and_a_transition_for_every_edge(name):
    automaton = automaton_of(name)
    root = ET.fromstring(to_spaceex(automaton))
    assert root.tag == f"{SX}sspaceex"
    assert root.get("version") == "0.2"
    body, system = root.findall(f"{SX}component")
    locations, transitions = body.findall(f"{SX}location"), body.findall(f"{SX}transition")
    assert len(locations) == len(automaton.graph)
    assert len(transitions) == automaton.graph.number_of_edges()
    numbers = {location.get("id") for location in locations}
    assert {t.get("source") for t in transitions} | {t.get("target") for t in transitions} <= numbers
    names = [location.get("name") for location in locations]
    assert len(set(names)) == len(names)
    parameters = {item.get("name"): item for item in body.findall(f"{SX}param")}
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", identifier) for identifier in (*names, *parameters))
    assert {t.find(f"{SX}label").text for t in transitions} == {
        key for key, item in parameters.items() if item.get("type") == "label"
    }
    assert all(t.find(f"{SX}assignment").text for t in transitions)
    bind = system.find(f"{SX}bind")
    assert bind.get("component") == body.get("id")
    assert {item.get("key") for item in bind.findall(f"{SX}map")} == set(parameters)


@pytest.mark.parametrize("name", NAMES)
def test_spaceex_formulas_use_declared_names_only_and_every_state_has_a_rate(name):
    body = ET.fromstring(to_spaceex(automaton_of(name))).find(f"{SX}component")
    parameters = {item.get("name"): item for item in body.findall(f"{SX}param")}
    real = {key for key, item in parameters.items() if item.get("type") == "real"}
    states = {k for k in real if parameters[k].get("dynamics") == "any" and parameters[k].get("controlled") != "false"}

    def check(formula):
        assert "**" not in formula
        tree = parse_expression(formula.replace("^", "**"), known=real)
        assert tree.names <= real

    for location in body.findall(f"{SX}location"):
        flows = [line.split(" == ") for line in location.find(f"{SX}flow").text.split(" & ")]
        assert {left.removesuffix("'") for left, _ in flows} == states
        for _, rate in flows:
            check(rate)
        invariant = location.find(f"{SX}invariant")
        for line in [] if invariant is None else invariant.text.split(" & "):
            for side in re.split(r" == | >= | <= ", line):
                check(side)
    for transition in body.findall(f"{SX}transition"):
        guard = transition.find(f"{SX}guard")
        for line in [] if guard is None else guard.text.split(" & "):
            for side in re.split(r" == | >= | <= ", line):
                check(side)
        for line in transition.find(f"{SX}assignment").text.split(" & "):
            left, right = line.split(" := ")
            assert left in states
            check(right)


def test_spaceex_impact_of_the_ball_is_newtons():
    # y_dot+ = y_dot + P/m with P (P/m + (1 + e) y_dot) = 0: P = -(1 + e) m y_dot, so y_dot+ = -e y_dot
    body = ET.fromstring(to_spaceex(automaton_of("bouncing_ball"))).find(f"{SX}component")
    jump = next(t for t in body.findall(f"{SX}transition") if t.find(f"{SX}label").text == "event_jump")
    assert jump.find(f"{SX}assignment").text == "y_dot := P_N_floor/m + y_dot"
    assert "P_N_floor*(P_N_floor/m + y_dot*(e + 1)) == 0" in jump.find(f"{SX}guard").text


@pytest.mark.parametrize(("name", "groups"), [("woodpecker", 8), ("painleve_klein", 4)])
def test_more_than_sixteen_modes_are_drawn_in_groups_that_hold_each_once(name, groups):
    whole = outline(automaton_of(name))
    small = reduced(whole)
    found = [node for node in small.nodes if isinstance(node, GroupText)]
    assert len(found) == groups
    members = [key for node in found for key in node.members]
    assert sorted(members) == sorted(node.key for node in whole.nodes if node.kind == "mode")
    group_of = {key: node.key for node in found for key in node.members} | {"impact": "impact"}
    pairs = {(group_of[edge.source], group_of[edge.target]) for edge in whole.edges}
    assert {(edge.source, edge.target) for edge in small.edges} == {pair for pair in pairs if pair[0] != pair[1]}
    drawn = [patch.get_gid() for patch in plot_automaton(whole, highlight=[members[0]]).axes[0].patches]
    assert sum(name.startswith(("mode", "consistent")) for name in drawn) == groups
    assert sum(name.startswith("consistent") for name in drawn) == 1


def test_sixteen_modes_stay_single():
    ladder = outline(automaton_of("ladder_in_corner"))
    assert reduced(ladder) is ladder
