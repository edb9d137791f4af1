"""Motions walk on the automaton: what they record is an edge of a graph that was built without running them."""

from itertools import permutations

import pytest

import mechanisms
from hybrid import ContactMode, Mode, State, build_automaton, derive, simulate, solve_state
from hybrid.contact import guards
from hybrid.contact.guards import GuardKind, guards_of, outer_guard, possible_exit
from hybrid.contact.table import rows_of
from hybrid.motion import recorded

WALKS = [
    ("rod_on_incline", {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}, {}, 3.0),
    ("rod_on_incline", {"phi": 0.8, "phi_dot": 0, "slip.tip": -0.3}, {"mu": 0.3}, 2.0),
    ("rod_two_ends", {"phi": 1.4, "gap.left": 0, "phi_dot": 0, "gap_dot.left": 0, "slip.left": 0.1}, {}, 4.0),
    ("valve_spool", {"x": 0, "x_dot": 0}, {}, 0.004),
]


def walk(name, pins, parameters, t_end):
    dynamics = derive(mechanisms.load(name))
    state = solve_state(dynamics, pins, parameters=parameters)
    return dynamics, simulate(dynamics, state, t_end=t_end, parameters=parameters)


def fired_at(automaton, event):
    """The guards of an event as the graph knows them: where forces are not unique, the set of them is exhausted."""
    if automaton.location(event.mode_before).is_hyperstatic:
        return [(GuardKind.EXHAUSTED, "+".join(name for name, label in event.mode_before.items() if label != "free"))]
    return [(guard.kind, "+".join(guard.elements)) for guard in event.guards]


def leads(automaton, source, target, fired):
    """Whether edges of the guards that fired together, one after the other, lead from a mode to another."""
    for order in permutations(fired):
        reached = {source}
        for kind, element in order:
            reached = {
                edge.target
                for key in reached
                if key != "impact"
                for edge in automaton.successors(key)
                if edge.guard.kind is kind and edge.guard.contact == element
            } | (reached if len(fired) > 1 else set())
        if target in reached:
            return True
    return False


@pytest.mark.parametrize(("name", "pins", "parameters", "t_end"), WALKS)
def test_every_recorded_change_is_an_edge_of_the_automaton(name, pins, parameters, t_end):
    dynamics, motion = walk(name, pins, parameters, t_end)
    automaton = build_automaton(dynamics)
    changes = [event for event in motion.events if event.guards and event.mode_after is not None]
    assert changes
    for event in changes:
        fired = fired_at(automaton, event)
        assert leads(automaton, event.mode_before.label, event.mode_after.label, fired), str(event)


def test_a_guard_that_is_taken_from_the_table_is_missed_by_motion_and_graph(monkeypatch):
    row_guards = guards._row_guards
    dynamics, motion = walk(*WALKS[0])
    assert GuardKind.SLIP in {guard.kind for event in motion.events for guard in event.guards}
    monkeypatch.setattr(
        guards, "_row_guards", lambda *a, **k: (g for g in row_guards(*a, **k) if g.kind is not GuardKind.SLIP)
    )
    dynamics, motion = walk(*WALKS[0])
    assert GuardKind.SLIP not in {guard.kind for event in motion.events for guard in event.guards}
    graph = build_automaton(dynamics).graph
    assert GuardKind.SLIP not in {edge.guard.kind for *_, edge in graph.edges(data="transition") if edge.guard}


def test_a_selection_outside_the_exits_is_a_defect(monkeypatch):
    closed = possible_exit
    monkeypatch.setattr(
        recorded,
        "possible_exit",
        lambda rows, fired: closed(rows, [g for g in fired if g.kind is not GuardKind.SLIP]),
    )
    with pytest.raises(RuntimeError, match="no exit of"):
        walk(*WALKS[0])


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
