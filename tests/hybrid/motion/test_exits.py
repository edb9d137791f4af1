"""Motions walk on the automaton: what they record is an edge of a graph that was built without running them."""

import shlex
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

import mechanisms
from hybrid import ContactMode, Mode, State, build_automaton, derive, ensemble, simulate, solve_state
from hybrid.analysis.ensemble_chunks import FEW
from hybrid.automaton.structure import NodeMode
from hybrid.automaton.transitions import IMPACT
from hybrid.contact import NewtonImpact, PoissonImpact, guards
from hybrid.contact.guards import CONES, GuardKind, guards_of, outer_guard, possible_exit
from hybrid.contact.modes import ElementKind
from hybrid.contact.table import force_elements, rows_of
from hybrid.motion import flow
from hybrid.motion.recorded import EventKind

CASES = Path(__file__).parents[3] / "benchmarks" / "behaviour_cases" / "motions.txt"
LAWS = {"newton": NewtonImpact(), "poisson": PoissonImpact()}
OPTIONS = {"--pin", "--param", "--t-end", "--law"}
OTHERS = """
brake_shoe-law | simulate brake_shoe --pin slip.tip=0 --law newton --t-end 0.2
painleve_rod | simulate painleve_rod --pin theta=1 --pin theta_dot=0.5 --pin slip.tip=1 --t-end 0.3
"""


def catalogue_motions():
    """Motions of the catalogue's mechanisms by key: name and options of the commands that have no other options."""
    found = {}
    for row in (CASES.read_text(encoding="utf-8") + OTHERS).splitlines():
        key, _, line = row.partition(" | simulate ")
        if not line or line.startswith("{"):
            continue
        name, *words = shlex.split(line.removesuffix(" --json"))
        options = list(zip(words[::2], words[1::2], strict=False))
        known = all(word in OPTIONS and (word != "--law" or value in LAWS) for word, value in options)
        if name in mechanisms.names() and known:
            found[key] = name, options
    del found["simulate-brake_shoe"]  # without a law it is refused
    return found


MOTIONS = catalogue_motions()
SHORT = ("simulate-rod_on_incline-1", "simulate-rod_two_ends-1", "simulate-valve_spool")


def walk(key):
    name, options = MOTIONS[key]
    pins, parameters = (
        dict(value.split("=") for word, value in options if word == wanted) for wanted in ("--pin", "--param")
    )
    dynamics, last = derive(mechanisms.load(name)), dict(options)
    state = solve_state(dynamics, pins, parameters=parameters)
    law, t_end = LAWS.get(last.get("--law")), float(last["--t-end"])
    return dynamics, simulate(dynamics, state, t_end=t_end, law=law, parameters=parameters)


def nodes_of(dynamics, mode):
    """Keys of a mode's nodes: signs of the normal forces of bilateral contacts are left open."""
    names = [element.name for element in force_elements(dynamics) if element.kind is ElementKind.BILATERAL]
    return {NodeMode(mode, tuple(zip(names, signs, strict=True))).key for signs in product((1, -1), repeat=len(names))}


def fired_at(automaton, event):
    """The guards of an event as the graph knows them: where forces are not unique, the set of them is exhausted."""
    if automaton.location(event.mode_before).is_hyperstatic:
        return [(GuardKind.EXHAUSTED, "+".join(name for name, label in event.mode_before.items() if label != "free"))]
    return [(guard.kind, "+".join(guard.elements)) for guard in event.guards]


def leads(automaton, sources, targets, fired):
    """Whether edges of the guards that fired together, one after the other, lead from a mode to another."""
    for order in permutations(fired):
        reached = sources
        for kind, element in order:
            reached = {
                edge.target
                for key in reached
                if key != "impact"
                for edge in automaton.successors(key)
                if edge.guard.kind is kind and edge.guard.contact == element
            } | (reached if len(fired) > 1 else set())
        if targets & reached:
            return True
    return False


def test_every_mechanism_of_the_catalogue_moves():
    assert {name for name, _ in MOTIONS.values()} == set(mechanisms.names())


@pytest.mark.parametrize("key", MOTIONS)
def test_every_recorded_change_is_an_edge_of_the_automaton(key):
    dynamics, motion = walk(key)
    automaton = build_automaton(dynamics)
    for event in (event for event in motion.events if event.guards):
        if event.mode_after is not None:
            targets = nodes_of(dynamics, event.mode_after)
        elif event.kind is EventKind.TOUCHDOWN:  # no law says what follows the impact
            targets = {IMPACT}
        else:
            continue
        sources = nodes_of(dynamics, event.mode_before)
        assert leads(automaton, sources, targets, fired_at(automaton, event)), str(event)


def test_three_of_the_motions_take_planar_guards_of_every_kind():
    kinds = {guard.kind for key in SHORT for event in walk(key)[1].events for guard in event.guards}
    assert kinds == {GuardKind.TOUCHDOWN, GuardKind.RELEASE, GuardKind.SLIP, *CONES[:2]}


def test_a_guard_that_is_taken_from_the_table_is_missed_by_motion_and_graph(monkeypatch):
    row_guards = guards._row_guards
    dynamics, motion = walk(SHORT[0])
    assert GuardKind.SLIP in {guard.kind for event in motion.events for guard in event.guards}
    monkeypatch.setattr(
        guards, "_row_guards", lambda *a, **k: (g for g in row_guards(*a, **k) if g.kind is not GuardKind.SLIP)
    )
    dynamics, motion = walk(SHORT[0])
    assert GuardKind.SLIP not in {guard.kind for event in motion.events for guard in event.guards}
    graph = build_automaton(dynamics).graph
    assert GuardKind.SLIP not in {edge.guard.kind for *_, edge in graph.edges(data="transition") if edge.guard}


def without_slip(rows, fired):
    return possible_exit(rows, [guard for guard in fired if guard.kind is not GuardKind.SLIP])


def test_a_selection_outside_the_exits_is_a_defect(monkeypatch):
    monkeypatch.setattr(flow, "possible_exit", without_slip)
    with pytest.raises(RuntimeError, match="no exit of"):
        walk(SHORT[0])


def test_motions_side_by_side_go_on_in_exits_too(monkeypatch):
    dynamics = derive(mechanisms.load("rod_on_incline"))
    starts = {"phi": np.linspace(0.3, 0.5, 4 * FEW)}

    def follow():
        return ensemble(dynamics, starts=starts, pins={"phi_dot": 0.5, "slip.tip": 0}, t_end=2.0)

    checked = []
    monkeypatch.setattr(flow, "possible_exit", lambda rows, fired: checked.append(rows) or possible_exit(rows, fired))
    follow()
    assert 0 < len(checked) < len(starts["phi"])  # of those that do the same at once, one is looked at
    monkeypatch.setattr(flow, "possible_exit", without_slip)
    with pytest.raises(RuntimeError, match="no exit of"):
        follow()


@pytest.mark.parametrize(
    ("label", "kind", "expected"),
    [
        ("slide+", GuardKind.RELEASE, {"slide+", "free"}),
        ("slide+", GuardKind.SLIP, {"free", "stick", "slide+", "slide-"}),
        ("stick", GuardKind.CONE_PLUS, {"free", "stick", "slide+", "slide-"}),
        ("free", GuardKind.TOUCHDOWN, {"free", "stick", "slide+", "slide-"}),
    ],
)
def test_exits_of_one_contact(label, kind, expected):
    # position and velocity do not jump: a slip goes on in its direction unless it has ended, a contact at rest may do
    # anything, and one that touches down too
    rows = rows_of(derive(mechanisms.load("rod_on_incline")), Mode({"tip": label}))
    (guard,) = (guard for guard in guards_of(rows) if guard.kind is kind)
    found = possible_exit(rows, [guard])
    assert {mode.value for mode in ContactMode if found.labels["tip"].count(mode)} == expected
    assert found.admits(Mode({"tip": "stick"})) == ("stick" in expected)


def test_no_element_but_the_one_that_stops_changes_its_direction():
    dynamics = derive(mechanisms.load("rod_two_ends"))
    rows = rows_of(dynamics, Mode(dict.fromkeys(dynamics.contacts, "slide+")))
    first, second = dynamics.contacts
    (stop,) = (guard for guard in guards_of(rows) if guard.kind is GuardKind.SLIP and guard.element == first)
    found = possible_exit(rows, [stop])
    assert not found.admits(Mode({first: "stick", second: "slide-"}))
    assert found.admits(Mode({first: "slide-", second: "free"}))


def test_a_release_stops_no_slip_that_a_stop_would_end():
    # a slide that constraints bind to another ends with it, and with nothing else
    dynamics = derive(mechanisms.load("rod_two_ends"))
    rows = rows_of(dynamics, Mode(dict.fromkeys(dynamics.contacts, "slide+")))
    first, second = dynamics.contacts
    release, stop = (
        next(guard for guard in guards_of(rows) if guard.kind is kind and guard.element == first)
        for kind in (GuardKind.RELEASE, GuardKind.SLIP)
    )
    assert not possible_exit(rows, [release], stops_with=[second]).admits(Mode({first: "free", second: "stick"}))
    assert possible_exit(rows, [stop], stops_with=[second]).admits(Mode({first: "stick", second: "stick"}))


def test_a_guard_of_a_mode_is_not_made_by_hand():
    with pytest.raises(ValueError, match="slip is one of a mode"):
        outer_guard(GuardKind.SLIP, "tip")


def test_a_state_without_events_records_no_guards():
    ball = derive(mechanisms.load("bouncing_ball"))
    assert not simulate(ball, State([1.0], [0.0]), t_end=0.1).events
