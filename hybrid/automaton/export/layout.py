"""Where the nodes of a drawing are, and how its arrows run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from hybrid.automaton.outline import NodeText, Outline

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
