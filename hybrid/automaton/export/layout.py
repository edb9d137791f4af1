"""Where the nodes of a drawing are, and how its arrows run.

Automata of many modes with their modes grouped, for people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from hybrid.automaton.outline import EdgeText, GuardText, NodeText, Outline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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


Point = tuple[float, float]

# A diamond of modes with the impact to its right: one crossing, and room for a label on every arrow.
_DIAMOND: Mapping[str, Point] = {
    "free": (330, 80),
    "slide-": (110, 280),
    "slide+": (550, 280),
    "slide": (550, 280),
    "stick": (330, 480),
    "closed": (330, 480),
}
_IMPACT: Point = (890, 280)
_COLUMN, _ROW = 196.0, 128.0


@attrs.frozen
class Layout:
    """Positions of the nodes in a picture.

    Attributes
    ----------
    centres : mapping of str to Point
    size : Point
        Width and height of a node.
    picture : Point
        Width and height of the picture, without its legend.
    step : Point
        Distance of neighbouring columns and rows of a grid.
    is_grid : bool
        Arrows run along rows and columns and carry no labels.
    headings : tuple of (Point, str, str)
        Anchor, text and alignment of headings of rows and columns.
    """

    centres: Mapping[str, Point]
    size: Point
    picture: Point
    is_grid: bool
    step: Point = (1.0, 1.0)
    headings: tuple[tuple[Point, str, str], ...] = ()


def layout(outline: Outline) -> Layout:
    """Places of the nodes: a diamond for one element, a grid for several and for the two sides of a bilateral contact.

    Parameters
    ----------
    outline : Outline

    Returns
    -------
    Layout
        In pixels, x to the right and y down.
    """
    modes = [node for node in outline.nodes if node.kind != "impact"]
    if all(node.key in _DIAMOND for node in modes):
        return _diamond(outline)
    return _grid(outline)


def _diamond(outline: Outline) -> Layout:
    centres = {node.key: _DIAMOND.get(node.key, _IMPACT) for node in outline.nodes}
    if "impact" in centres and "closed" in centres:
        centres["impact"] = (590, 280)
    if "slide-" not in centres:
        # nothing to the left of the middle
        centres = {key: (x - 200, y) for key, (x, y) in centres.items()}
    left = min(x for x, _ in centres.values()) - 110
    top = min(y for _, y in centres.values()) - (110 if "slide-" in centres and "impact" in centres else 60)
    centres = {key: (x - left, y - top) for key, (x, y) in centres.items()}
    width = max(x for x, _ in centres.values()) + 110
    height = max(y for _, y in centres.values()) + (110 if "slide-" in centres and "impact" in centres else 60)
    return Layout(centres, (124, 52), (width, height), False)


def _grid(outline: Outline) -> Layout:
    """Modes of the first half of the force elements down, those of the second half and the sides across."""
    names = list(outline.contacts)
    half = (len(names) + 1) // 2
    modes = [node for node in outline.nodes if node.kind != "impact"]
    places = {node.key: _cell(node, names, half) for node in modes}
    rows, columns = (sorted({cell[axis] for cell in places.values()}, key=_order) for axis in (0, 1))
    step = _ROW + 16 * len(names) - 32
    left, top = 150.0, 96.0
    across = {column: left + _COLUMN * (i + 0.5) for i, column in enumerate(columns)}
    down = {row: top + step * (i + 0.5) for i, row in enumerate(rows)}
    centres = {key: (across[column], down[row]) for key, (row, column) in places.items()}
    width, depth = left + _COLUMN * len(columns), top + step * len(rows)
    heads = [((x, top - 26.0), ", ".join(filter(None, column)), "middle") for column, x in across.items()]
    heads += [((left - 16.0, y + 4), ", ".join(row), "end") for row, y in down.items()]
    heads.append((((left + width) / 2, top - 56.0), ", ".join(names[half:]), "title"))
    heads.append(((left - 16.0, top - 26.0), ", ".join(names[:half]), "title-end"))
    if any(node.kind == "impact" for node in outline.nodes):
        centres["impact"] = (width + 80, top + step * len(rows) / 2)
        width += 160
    height = 28.0 + 16.0 * max(2, len(names))
    return Layout(centres, (132, height), (width, depth), True, (_COLUMN, step), tuple(heads))


def _cell(node: NodeText, names: Sequence[str], half: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    labels = tuple(node.mode.get(name, "") for name in names)
    return labels[:half], (*labels[half:], side_of(node))


def side_of(node: NodeText) -> str:
    """Which way a bilateral contact with friction presses, as the key says it.

    Parameters
    ----------
    node : NodeText

    Returns
    -------
    str
        As ``rail: N > 0``; empty if there is no such contact.
    """
    return node.key.partition(" (")[2].removesuffix(")")


def _order(labels: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """Sticking between the two slides: neighbours on paper are neighbours in the automaton."""
    known = ("free", "slide+", "stick", "slide-", "slide", "closed", "touches", "slips", "sticks")
    return tuple((known.index(label) if label in known else len(known), label) for label in labels)


def differing(first: NodeText, second: NodeText) -> int:
    """Number of force elements whose modes or sides differ.

    Parameters
    ----------
    first, second : NodeText
        Of one automaton.

    Returns
    -------
    int
        The sides of all bilateral contacts count as one.
    """
    changed = sum(label != second.mode.get(name) for name, label in first.mode.items())
    return changed + (side_of(first) != side_of(second))
