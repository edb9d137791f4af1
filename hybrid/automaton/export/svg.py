"""Automata as self-contained SVG pictures."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

import attrs

from hybrid.automaton.export.curves import Curve, Shape, arch, bow
from hybrid.automaton.export.layout import Layout, Point, differing, layout, side_of
from hybrid.automaton.export.merged import Arrow, arrows, is_highlighted, is_key_highlighted
from hybrid.automaton.export.reduced import GroupText, reduced
from hybrid.automaton.outline import NodeText, Outline, outline

if TYPE_CHECKING:
    from hybrid.automaton.graph import Automaton

_FONT = "Helvetica, Arial, sans-serif"
_INK, _SOFT, _PARADOX, _JUMP = "#22303c", "#6b7a88", "#b3261e", "#1565c0"
_RELEASE, _CONE, _SLIP = "#6b7a88", "#c25e00", "#1b7f5a"
_FILL, _MARKED, _MARKED_LINE = "#f4f7fa", "#ffe08a", "#7a5b00"
_KIND_COLOURS = {"cone": _CONE, "cone+": _CONE, "cone-": _CONE, "slip": _SLIP, "exhausted": _INK}
_DASHES = {_PARADOX: "6 4", _CONE: "2 3", _SLIP: "9 3 2 3"}  # kinds are told apart without colour too
_LEGEND_HEIGHT = 64.0
_ARCH = 376.0  # clears the nodes above and below the middle of the diamond
_IMPACT_SIZE = (124.0, 60.0)
_FEW_COORDINATES = 3  # formulas of more are many times longer than what hovering shows of them
_LONGEST = 160  # characters of a formula that is shown on hovering: two lines


@attrs.frozen
class _Line:
    """An arrow as drawn."""

    arrow: Arrow
    curve: Curve
    colour: str
    label: str
    at: float


def to_svg(automaton: Automaton | Outline, *, highlight: Collection[str] = (), prefix: str = "automaton-") -> str:
    """Draw an automaton.

    One carrier of contact force: every edge with its guard. Several: the modes as a grid, with the edges along which
    one contact changes without a paradox; the other edges are in the JSON. More than 16 modes are drawn in groups.
    Hovering shows rules and, of up to three coordinates, invariants and equations, long ones only their beginning.

    Parameters
    ----------
    automaton : Automaton or Outline
    highlight : collection of str, optional
        Mode labels to be filled, as those that are consistent at a state.
    prefix : str, default "automaton-"
        Put before every id, so that several pictures can stand in one page.

    Returns
    -------
    str
        An SVG document without references to anything outside.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import build_automaton, derive
    >>> picture = to_svg(build_automaton(derive(mechanisms.load("rod_on_incline"))), highlight=["stick"])
    >>> picture.startswith("<svg"), picture.count('class="mode consistent"')
    (True, 1)
    """
    is_short = isinstance(automaton, Outline) or automaton.dynamics.n <= _FEW_COORDINATES
    whole = outline(automaton, formulas=is_short)
    found = reduced(whole)
    placed = layout(found)
    lines = list(_grid_lines(found, placed) if placed.is_grid else _labelled_lines(found, placed))
    width, height = placed.picture[0], placed.picture[1] + _LEGEND_HEIGHT
    marked = frozenset(highlight)
    body = [f"<title>{escape('Automaton of ' + (found.title or found.name))}</title>", _defs(prefix)]
    body.append(f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>')
    body += [_heading(*heading) for heading in placed.headings]
    body += [_drawn(line, prefix) for line in lines]
    body += [_words(line) for line in lines if line.label]
    struck = {arrow.source: set(arrow.kinds) for arrow in arrows(found) if arrow.target == "impact"}
    for node in found.nodes:
        body.append(_box(node, placed, found, marked, struck.get(node.key, set())))
    kinds = {kind for kinds in struck.values() for kind in kinds}
    body += _legend(placed, height, kinds=kinds, lines=lines)
    if found is not whole:
        body.append(_counted(whole, found))
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" font-family={quoteattr(_FONT)} font-size="13" id={quoteattr(prefix + "svg")}>'
    )
    return "\n".join([opening, *body, "</svg>", ""])


def _labelled_lines(found: Outline, placed: Layout) -> Iterator[_Line]:
    pairs = {(arrow.source, arrow.target): arrow for arrow in arrows(found)}
    shapes = {node.key: _shape(node, placed) for node in found.nodes}
    for (source, target), arrow in pairs.items():
        if source == target:
            continue
        first, second = shapes[source], shapes[target]
        colour = _PARADOX if not arrow.regular else _JUMP if source == "impact" else _INK
        label = "" if source == "impact" else arrow.label
        if {source, target} == {"slide-", "impact"} and "slide+" in shapes:
            curve, at = arch(first, second, height=_ARCH if source == "impact" else -_ARCH), 0.5
        else:
            curve = bow(first, second, bulge=_bulge(source, target, is_double=(target, source) in pairs))
            at = 0.25 if (source, target) == ("stick", "free") else 0.5
        yield _Line(arrow, curve, colour, label, at)


def _bulge(source: str, target: str, *, is_double: bool) -> float:
    """Opposite arrows leave room for their labels."""
    if not is_double:
        return 0.0
    if (source, target) in (("impact", "free"), ("stick", "impact")):
        return 34.0
    return -6.0 if (source, target) in (("free", "impact"), ("impact", "stick")) else 18.0


def _shape(node: NodeText, placed: Layout) -> Shape:
    is_impact = node.kind == "impact"
    return Shape(placed.centres[node.key], _IMPACT_SIZE if is_impact else placed.size, is_diamond=is_impact)


def _grid_lines(found: Outline, placed: Layout) -> Iterator[_Line]:
    nodes = {node.key: node for node in found.nodes}
    for arrow in arrows(found):
        source, target = nodes[arrow.source], nodes[arrow.target]
        if not arrow.regular or "impact" in (source.kind, target.kind) or differing(source, target) != 1:
            continue
        first, second = _shape(source, placed), _shape(target, placed)
        distance = [abs(b - a) / step for a, b, step in zip(first.centre, second.centre, placed.step, strict=True)]
        bulge = 7.0 if max(distance) < 1.5 else 34.0 + 9.0 * max(distance)
        colour = _KIND_COLOURS.get(arrow.kinds[0], _RELEASE)
        yield _Line(arrow, bow(first, second, bulge=bulge), colour, "", 0.5)


def _defs(prefix: str) -> str:
    heads = []
    for colour in (_INK, _PARADOX, _JUMP, _RELEASE, _CONE, _SLIP):
        heads.append(
            f'<marker id={quoteattr(_marker(prefix, colour))} viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
            f'markerHeight="7" orient="auto-start-reverse"><path d="M0 1L10 5L0 9z" fill="{colour}"/></marker>'
        )
    return "<defs>" + "".join(dict.fromkeys(heads)) + "</defs>"


def _dash(colour: str) -> str:
    return f' stroke-dasharray="{_DASHES[colour]}"' if colour in _DASHES else ""


def _marker(prefix: str, colour: str) -> str:
    return f"{prefix}head-{colour[1:]}"


def _drawn(line: _Line, prefix: str) -> str:
    dash = _dash(line.colour)
    words = f"{line.arrow.source} to {line.arrow.target}\n" + "\n".join(line.arrow.sentences)
    return (
        f'<path class="edge" d="{line.curve.path}" fill="none" stroke="{line.colour}" stroke-width="1.4"{dash} '
        f"marker-end={quoteattr('url(#' + _marker(prefix, line.colour) + ')')}><title>{escape(words)}</title></path>"
    )


def _words(line: _Line) -> str:
    x, y = line.curve.at(line.at)
    width = 6.1 * len(line.label.replace("λ_N", "λN")) + 6
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y - 8:.1f}" width="{width:.1f}" height="16" fill="#ffffff"/>'
        f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" font-size="12" fill="{line.colour}">'
        f"{_typeset(line.label)}</text>"
    )


def _typeset(label: str) -> str:
    """Escaped text with the subscript of a normal force lowered."""
    lowered = '<tspan dy="3" font-size="9">N</tspan><tspan dy="-3">\u200a</tspan>'
    return escape(label).replace("λ_N", f"λ{lowered}")


def _box(node: NodeText, placed: Layout, found: Outline, marked: frozenset[str], struck: set[str]) -> str:
    x, y = placed.centres[node.key]
    width, height = placed.size
    if node.kind == "impact":
        return _impact(x, y, placed.is_grid)
    is_marked = is_highlighted(node, marked)
    fill, line = (_MARKED, _MARKED_LINE) if is_marked else (_FILL, _INK)
    words = [_cut(formula) for formula in (*node.invariant, *node.vector_field, *node.definitions)]
    if isinstance(node, GroupText):
        words = list(node.members)
    rows = [node.key.partition(" (")[0]]
    if len(found.contacts) > 1:
        rows = [f"{name} {label}" for name, label in node.mode.items()]
    elif side_of(node):
        rows.append(side_of(node))
    texts = []
    first = y - 8.0 * len(rows) + 2.0
    for index, row in enumerate(rows):
        texts.append(_text(x, first + 16 * index, row, size=13, weight="bold"))
    below = first + 16 * len(rows) - 1
    texts.append(_text(x, below, _extent(node, marked), size=10, fill=_SOFT))
    if placed.is_grid:
        texts.append(_badges(struck, x + width / 2, y - height / 2))
    return (
        f'<g class="mode{" consistent" if is_marked else ""}"><title>{escape(chr(10).join([node.key, *words]))}</title>'
        f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}" rx="9" '
        f'fill="{fill}" stroke="{line}" stroke-width="{2.4 if is_marked else 1.3}"/>{"".join(texts)}</g>'
    )


def _extent(node: NodeText, marked: frozenset[str]) -> str:
    """Degrees of freedom of a mode, or how many modes a group has."""
    if not isinstance(node, GroupText):
        return "1 degree of freedom" if node.n_freedom == 1 else f"{node.n_freedom} degrees of freedom"
    modes = "1 mode" if len(node.members) == 1 else f"{len(node.members)} modes"
    consistent = sum(is_key_highlighted(key, marked) for key in node.members)
    return f"{modes}, {consistent} consistent" if consistent else modes


def _cut(formula: str) -> str:
    """The beginning of a long formula; the whole is in the JSON."""
    return formula if len(formula) <= _LONGEST else f"{formula[:_LONGEST]} ... (in full in the JSON)"


def _text(x: float, y: float, words: str, *, size: int, weight: str = "normal", fill: str = _INK) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="middle" font-size="{size}" font-weight="{weight}" fill="{fill}">'
        f"{escape(words)}</text>"
    )


def _badges(struck: set[str], x: float, y: float) -> str:
    """Dots for the guards that lead to the impact."""
    found = [_JUMP] if "touchdown" in struck else []
    found += [_PARADOX] if struck - {"touchdown"} else []
    places = enumerate(found)
    return "".join(f'<circle cx="{x - 12 - 12 * i:g}" cy="{y:g}" r="4" fill="{colour}"/>' for i, colour in places)


def _impact(x: float, y: float, is_grid: bool) -> str:
    across, down = _IMPACT_SIZE[0] / 2, _IMPACT_SIZE[1] / 2
    points = " ".join(f"{x + dx:g},{y + dy:g}" for dx, dy in ((-across, 0), (0, -down), (across, 0), (0, down)))
    under = ""
    if is_grid:
        lines = ("then any mode:", "impact law, verdict")
        under = "".join(_text(x, y + 50 + 15 * i, words, size=11, fill=_SOFT) for i, words in enumerate(lines))
    return (
        f'<g class="impact"><title>impact\nvelocities jump at once, positions stay</title>'
        f'<polygon points="{points}" fill="#e8f1fb" stroke="{_JUMP}" stroke-width="1.3"/>'
        f'<text x="{x:g}" y="{y + 4:g}" text-anchor="middle" font-weight="bold" fill="{_JUMP}">impact</text>{under}</g>'
    )


def _heading(at: Point, words: str, align: str) -> str:
    anchor = {"title": "middle", "title-end": "end"}.get(align, align)
    weight = ' font-weight="bold"' if align.startswith("title") else ""
    return f'<text x="{at[0]:g}" y="{at[1]:g}" text-anchor="{anchor}"{weight} fill="{_SOFT}">{escape(words)}</text>'


def _counted(whole: Outline, found: Outline) -> str:
    """That the picture shows groups."""
    modes, groups = (sum(node.kind != "impact" for node in item.nodes) for item in (whole, found))
    words = f"{modes} modes in {groups} groups; arrows between groups only. Every mode and guard: JSON, dot, Mermaid."
    return f'<text x="24" y="18" font-size="11" fill="{_SOFT}">{escape(words)}</text>'


def _legend(placed: Layout, height: float, *, kinds: set[str], lines: list[_Line]) -> Iterator[str]:
    """What colours, dashes and dots mean, as far as they occur."""
    colours = {line.colour for line in lines}
    entries = [("line", _INK, "no admissible forces left" if placed.is_grid else "a guard fires")]
    entries += [("line", _RELEASE, "λ_N reaches 0"), ("line", _CONE, "friction cone reached")]
    entries += [("line", _SLIP, "slip reaches 0"), ("line", _PARADOX, "only in a paradox")]
    entries += [("line", _JUMP, "impact law, then verdict")]
    entries = [entry for entry in entries if entry[1] in colours]
    if placed.is_grid:
        entries += [("dot", _JUMP, "touchdown leads to the impact")] if "touchdown" in kinds else []
        entries += [("dot", _PARADOX, "a paradox leads to the impact")] if kinds - {"touchdown"} else []
    x, y = 24.0, height - _LEGEND_HEIGHT + 24
    for shape, colour, words in entries:
        width = 46 + 6.6 * len(words)
        if x + width > placed.picture[0] and x > 24:
            x, y = 24.0, y + 20
        if shape == "dot":
            yield f'<circle cx="{x + 14:g}" cy="{y - 4:g}" r="4" fill="{colour}"/>'
        else:
            dash = _dash(colour)
            yield f'<path d="M{x:g} {y - 4:g}h28" stroke="{colour}" stroke-width="1.6"{dash}/>'
        yield f'<text x="{x + 34:g}" y="{y:g}" font-size="11" fill="{_SOFT}">{_typeset(words)}</text>'
        x += width
