"""Automata of many modes with their modes grouped, for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from hybrid.automaton.outline import EdgeText, GuardText, NodeText, Outline

MOST = 16  # modes that a person can tell apart in one picture


@attrs.frozen
class GroupText(NodeText):
    """Modes drawn as one node; ``mode`` says what they have in common.

    Attributes
    ----------
    members : tuple of str
        Keys of the modes.
    """

    members: tuple[str, ...]


def reduced(outline: Outline) -> Outline:
    """An automaton in which modes are grouped, at most 16 groups.

    Modes are grouped by which contacts touch and which friction elements and rails stick; where that leaves too many,
    by how many do. A group is left by the guards of its modes; changes within a group are left out.

    Parameters
    ----------
    outline : Outline

    Returns
    -------
    Outline
        The same one if it has no more than 16 modes.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import build_automaton, derive
    >>> from hybrid.automaton.outline import outline
    >>> rails = reduced(outline(build_automaton(derive(mechanisms.load("painleve_klein")))))
    >>> [(node.key, len(node.members)) for node in rails.nodes if node.kind == "group"]
    [('rail1 sticks, rail2 sticks', 4), ('rail1 sticks, rail2 slips', 8), ('rail1 slips, rail2 sticks', 8), \
('rail1 slips, rail2 slips', 16)]
    """
    modes = [node for node in outline.nodes if node.kind == "mode"]
    if len(modes) <= MOST:
        return outline
    touchable = {name for name, labels in outline.contacts.items() if "free" in labels}
    groups = _grouped(modes, lambda node: {name: _state(label, name in touchable) for name, label in node.mode.items()})
    if len(groups) > MOST:
        groups = _grouped(modes, lambda node: _numbers(node, touchable))
    group_of = {member.key: key for key, (_, members) in groups.items() for member in members}
    guards = {key: _guards(members) for key, (_, members) in groups.items()}
    nodes = [_group(key, mode, members, guards[key]) for key, (mode, members) in groups.items()]
    contacts = {
        name: tuple(dict.fromkeys(mode[name] for mode, _ in groups.values())) for name in next(iter(groups.values()))[0]
    }
    others = [node for node in outline.nodes if node.kind != "mode"]
    edges = _edges(outline, group_of, guards, {key: mode for key, (mode, _) in groups.items()})
    return attrs.evolve(outline, contacts=contacts, nodes=(*nodes, *others), edges=edges)


def _grouped(
    modes: list[NodeText], reading: Callable[[NodeText], dict[str, str]]
) -> dict[str, tuple[dict[str, str], list[NodeText]]]:
    groups: dict[str, tuple[dict[str, str], list[NodeText]]] = {}
    for node in modes:
        mode = reading(node)
        groups.setdefault(", ".join(f"{name} {word}" for name, word in mode.items()), (mode, []))[1].append(node)
    return groups


def _state(label: str, is_touchable: bool) -> str:
    if is_touchable:
        return "free" if label == "free" else "touches"
    return "sticks" if label == "stick" else "slips"


def _numbers(node: NodeText, touchable: set[str]) -> dict[str, str]:
    states = [_state(label, name in touchable) for name, label in node.mode.items()]
    words = ["touches"] * bool(touchable) + ["sticks"] * (len(touchable) < len(states))
    return {f"number that {word}": str(states.count(word)) for word in words}


def _guards(members: list[NodeText]) -> tuple[GuardText, ...]:
    """One guard of a kind and contact for the whole group; its expression differs from mode to mode."""
    found = {_meaning(guard): attrs.evolve(guard, expression="") for node in members for guard in node.guards}
    return tuple(found.values())


def _meaning(guard: GuardText) -> tuple[str, str]:
    return guard.contact, guard.kind


def _group(key: str, mode: dict[str, str], members: list[NodeText], guards: tuple[GuardText, ...]) -> GroupText:
    names = tuple(node.key for node in members)
    return GroupText(key, "group", mode, None, False, (), (), {}, (), guards, names)


def _edges(
    outline: Outline,
    group_of: dict[str, str],
    guards: dict[str, tuple[GuardText, ...]],
    modes: dict[str, Mapping[str, str]],
) -> tuple[EdgeText, ...]:
    places = {key: {_meaning(guard): place for place, guard in enumerate(found)} for key, found in guards.items()}
    nodes = {node.key: node for node in outline.nodes}
    edges: dict[tuple[str, str, int | None, bool], EdgeText] = {}
    for edge in outline.edges:
        source, target = group_of.get(edge.source, edge.source), group_of.get(edge.target, edge.target)
        if source == target:
            continue
        place = None if edge.guard is None else places[source][_meaning(nodes[edge.source].guards[edge.guard])]
        merged = attrs.evolve(edge, source=source, target=target, guard=place)
        edges.setdefault((source, target, place, edge.is_regular), merged)
    return tuple(sorted(edges.values(), key=lambda edge: _rank(edge, modes, guards)))


def _rank(edge: EdgeText, modes: dict[str, Mapping[str, str]], guards: dict[str, tuple[GuardText, ...]]) -> int:
    """The most telling guard first: that of a contact which changes, last that no forces are left."""
    if edge.guard is None or edge.source not in modes or edge.target not in modes:
        return 0
    guard = guards[edge.source][edge.guard]
    if guard.kind == "exhausted":
        return 3
    before, after = modes[edge.source].get(guard.contact), modes[edge.target].get(guard.contact)
    return 2 if before == after else int(guard.kind != "release")
