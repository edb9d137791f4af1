"""Where the nodes of a drawing are, and how its arrows run."""

from __future__ import annotations

import itertools
import math
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
    """Place the nodes: a diamond for one carrier, a grid for several."""
    if len(outline.contacts) > 1:
        return _grid(outline)
    modes = [node for node in outline.nodes if node.kind == "mode"]
    if all(node.key in _DIAMOND for node in modes):
        return _diamond(outline)
    return _circle(outline)


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


def _circle(outline: Outline) -> Layout:
    count = len(outline.nodes)
    radius = max(220.0, 46.0 * count)
    middle = radius + 110
    centres = {}
    for index, node in enumerate(outline.nodes):
        angle = 2 * math.pi * index / count - math.pi / 2
        centres[node.key] = (middle + radius * math.cos(angle), middle - 40 + radius * math.sin(angle))
    return Layout(centres, (170, 52), (2 * middle, 2 * middle - 80), False)


def _grid(outline: Outline) -> Layout:
    """Modes of the first half of the carriers down, those of the second half across."""
    names = list(outline.contacts)
    half = (len(names) + 1) // 2
    rows, columns = _combinations(outline, names[:half]), _combinations(outline, names[half:])
    height = 28.0 + 16.0 * len(names)
    left, top = 150.0, 96.0
    centres: dict[str, Point] = {}
    sides: dict[tuple[str, ...], int] = {}
    for node in outline.nodes:
        if node.kind == "impact":
            continue
        labels = tuple(node.mode[name] for name in names)
        place = sides[labels] = sides.get(labels, -1) + 1
        row, column = rows.index(labels[:half]), columns.index(labels[half:])
        centres[node.key] = (
            left + _COLUMN * (column + 0.5) + 14 * place,
            top + (_ROW + 16 * len(names) - 32) * (row + 0.5) + 18 * place,
        )
    step = _ROW + 16 * len(names) - 32
    width, depth = left + _COLUMN * len(columns), top + step * len(rows)
    if len(centres) < len(outline.nodes):
        centres["impact"] = (width + 80, top + step * len(rows) / 2)
        width += 160
    across = enumerate(columns)
    heads = [((left + _COLUMN * (i + 0.5), top - 26.0), ", ".join(labels), "middle") for i, labels in across]
    heads += [((left - 16.0, top + step * (i + 0.5) + 4), ", ".join(labels), "end") for i, labels in enumerate(rows)]
    heads.append(((left + _COLUMN * len(columns) / 2, top - 56.0), ", ".join(names[half:]), "title"))
    heads.append(((left - 16.0, top - 26.0), ", ".join(names[:half]), "title-end"))
    return Layout(centres, (132, height), (width, depth), True, (_COLUMN, step), tuple(heads))


def _combinations(outline: Outline, names: Sequence[str]) -> list[tuple[str, ...]]:
    return list(itertools.product(*(_ordered(outline.contacts[name]) for name in names)))


def _ordered(labels: Sequence[str]) -> list[str]:
    """Sticking between the two slides: neighbours on paper are neighbours in the automaton."""
    order = ["free", "slide+", "stick", "slide-", "slide", "closed"]
    return sorted(labels, key=order.index)


def differing(first: NodeText, second: NodeText) -> int:
    """Number of carriers whose modes differ."""
    return sum(label != second.mode.get(name) for name, label in first.mode.items())
