"""Pictures of automata."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hybrid.arguments import checks_arguments
from hybrid.automaton.export.diagrams import Arrow, arrows, is_highlighted, is_key_highlighted
from hybrid.automaton.export.layout import GroupText, Layout, differing, layout, reduced, side_of
from hybrid.automaton.outline import NodeText, Outline, outline
from hybrid.reporting.figures import settings
from hybrid.reporting.symbols import as_written

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    from hybrid.automaton.graph import Automaton

__all__ = ["node_rows", "plot_automaton", "shown_arrows"]

_POINTS = 72.0  # of the layout in an inch
_LEGEND = 56.0  # points below the picture
_INK, _SOFT, _PARADOX, _JUMP, _CONE, _SLIP = "#22303c", "#6b7a88", "#b3261e", "#1565c0", "#c25e00", "#1b7f5a"
_FILL, _MARKED, _MARKED_LINE, _IMPACT = "#f4f7fa", "#ffe08a", "#7a5b00", "#e8f1fb"
_KIND_COLOURS = {"cone": _CONE, "cone+": _CONE, "cone-": _CONE, "slip": _SLIP, "exhausted": _INK}
_DASHES = {_PARADOX: (0, (5, 3)), _CONE: (0, (1.5, 2)), _SLIP: (0, (7, 2, 1.5, 2))}  # told apart without colour too
_BOW, _AROUND = 0.05, 0.33  # shares of its length by which an arrow leaves the straight line


@checks_arguments
def plot_automaton(automaton: Automaton | Outline, *, highlight: Collection[str] = ()) -> Figure:
    """A picture of an automaton.

    One force element: every edge with its guard. Several: the modes as a grid, with the edges along which
    one contact changes without a paradox; the other edges are in the JSON. More than 16 modes are drawn in groups.

    Parameters
    ----------
    automaton : Automaton or Outline
    highlight : collection of str, optional
        Mode labels to be filled, as those that are consistent at a state.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import build_automaton, derive
    >>> figure = plot_automaton(build_automaton(derive(mechanisms.load("rod_on_incline"))), highlight=["stick"])
    >>> sum(patch.get_gid().startswith("consistent") for patch in figure.axes[0].patches)
    1
    """
    from hybrid.reporting.figures import DisplayedFigure

    whole = outline(automaton, formulas=False)
    found = reduced(whole)
    placed = layout(found)
    width, height = placed.picture[0], placed.picture[1] + _LEGEND
    marked = frozenset(highlight)
    with settings():
        figure = DisplayedFigure(figsize=(width / _POINTS, height / _POINTS))
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        for (x, y), words, align in placed.headings:
            side = "right" if align.endswith("end") else "center"
            weight = "bold" if align.startswith("title") else "normal"
            axes.text(x, y, as_written(words), ha=side, color=_SOFT, weight=weight, size=10)
        shapes = {node.key: _box(axes, node, found, placed, marked) for node in found.nodes}
        colours = {
            _arrow(axes, arrow, shapes, placed, colour, bow)
            for arrow, colour, bow in (_changes(found, placed) if placed.is_grid else _all(found))
        }
        _legend(axes, colours, _dots(axes, found, placed) if placed.is_grid else {}, is_grid=placed.is_grid)
        if found is not whole:
            modes, groups = (sum(node.kind != "impact" for node in item.nodes) for item in (whole, found))
            words = f"{modes} modes in {groups} groups; arrows between groups only."
            axes.text(24, 18, f"{words} Every mode and guard: JSON, dot, Mermaid.", color=_SOFT)
    return figure


def shown_arrows(found: Outline, *, is_grid: bool) -> list[Arrow]:
    """The arrows of a picture; the others are in the JSON of ``painleve graph``.

    Parameters
    ----------
    found : Outline
    is_grid : bool
        Only those along which one contact changes without a paradox, and without those of the impact.

    Returns
    -------
    list of Arrow
    """
    nodes = {node.key: node for node in found.nodes}
    ends = [(arrow, nodes[arrow.source], nodes[arrow.target]) for arrow in arrows(found)]
    if not is_grid:
        return [arrow for arrow, source, target in ends if source is not target]
    return [
        arrow
        for arrow, source, target in ends
        if arrow.regular and "impact" not in (source.kind, target.kind) and differing(source, target) == 1
    ]


def node_rows(node: NodeText, found: Outline) -> list[str]:
    """What is written in the box of a mode.

    Parameters
    ----------
    node : NodeText
    found : Outline
        To which it belongs.

    Returns
    -------
    list of str
        A row for every contact where there are several.
    """
    if len(found.contacts) > 1:
        return [f"{name} {label}" for name, label in node.mode.items()]
    return [node.key.partition(" (")[0], *filter(None, [side_of(node)])]


def _all(found: Outline) -> Iterator[tuple[Arrow, str, float]]:
    """Every arrow with its colour and bow; those between the outer slide and the impact run around the others."""
    pairs = {(arrow.source, arrow.target): arrow for arrow in shown_arrows(found, is_grid=False)}
    for (source, target), arrow in pairs.items():
        bow = _BOW if (target, source) in pairs else 0.0
        if {source, target} == {"slide-", "impact"} and any("slide+" in pair for pair in pairs):
            bow = _AROUND
        yield arrow, _PARADOX if not arrow.regular else _JUMP if source == "impact" else _INK, bow


def _changes(found: Outline, placed: Layout) -> Iterator[tuple[Arrow, str, float]]:
    """Those along which one contact changes without a paradox."""
    for arrow in shown_arrows(found, is_grid=True):
        ends = (placed.centres[arrow.source], placed.centres[arrow.target])
        steps = max(abs(b - a) / step for a, b, step in zip(*ends, placed.step, strict=True))
        # past the modes between
        bow = _BOW if steps < 1.5 else (34 + 9 * steps) / math.dist(*ends)
        yield arrow, _KIND_COLOURS.get(arrow.kinds[0], _SOFT), bow


def _arrow(axes: Axes, arrow: Arrow, shapes: dict[str, Patch], placed: Layout, colour: str, bow: float) -> str:
    """Draw an arrow, with its guards if it has room for them; its colour."""
    from matplotlib.patches import FancyArrowPatch

    (x0, y0), (x1, y1) = placed.centres[arrow.source], placed.centres[arrow.target]
    line = FancyArrowPatch(
        (x0, y0),
        (x1, y1),
        patchA=shapes[arrow.source],
        patchB=shapes[arrow.target],
        connectionstyle=f"bar,fraction={bow}" if bow == _AROUND else f"arc3,rad={2 * bow}",
        arrowstyle="-|>",
        mutation_scale=12,
        color=colour,
        linestyle=_DASHES.get(colour, "-"),
        gid=f"edge-{len(axes.patches)}",
    )
    axes.add_artist(line)  # the limits stand: a patch would be laid out twice to find them
    if not placed.is_grid and colour != _JUMP:
        share = 0.5 if bow else 0.3  # straight ones may cross in their middles
        x, y = x0 + share * (x1 - x0) - bow * (y1 - y0), y0 + share * (y1 - y0) + bow * (x1 - x0)
        words = as_written(arrow.label).replace("λ_N", r"$\lambda_N$")
        axes.text(x, y, words, color=colour, ha="center", va="center", bbox={"fc": "white", "ec": "none", "pad": 1})
    return colour


def _box(axes: Axes, node: NodeText, found: Outline, placed: Layout, marked: frozenset[str]) -> Patch:
    """Draw a node."""
    from matplotlib.patches import FancyBboxPatch, Polygon

    (x, y), (width, height) = placed.centres[node.key], placed.size
    if node.kind == "impact":
        corners = [(x - 62, y), (x, y - 30), (x + 62, y), (x, y + 30)]
        shape: Patch = Polygon(corners, fc=_IMPACT, ec=_JUMP, gid="impact", zorder=2)
        axes.text(x, y, "impact", ha="center", va="center", color=_JUMP, weight="bold", size=10)
        if placed.is_grid:
            axes.text(x, y + 38, "then any mode:\nimpact law, verdict", ha="center", va="top", color=_SOFT)
        return axes.add_patch(shape)
    is_marked = is_highlighted(node, marked)
    shape = FancyBboxPatch(
        (x - width / 2, y - height / 2),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=9",
        fc=_MARKED if is_marked else _FILL,
        ec=_MARKED_LINE if is_marked else _INK,
        lw=2.0 if is_marked else 1.0,
        gid=f"{'consistent' if is_marked else 'mode'}-{len(axes.patches)}",
        zorder=2,
    )
    axes.text(
        x,
        y - 5,
        as_written("\n".join(node_rows(node, found))),
        ha="center",
        va="center",
        color=_INK,
        weight="bold",
        size=10,
    )
    axes.text(x, y + height / 2 - 5, _extent(node, marked), ha="center", va="bottom", color=_SOFT, size=8)
    return axes.add_patch(shape)


def _extent(node: NodeText, marked: frozenset[str]) -> str:
    """Degrees of freedom of a mode, or how many modes a group has."""
    if not isinstance(node, GroupText):
        return "1 degree of freedom" if node.n_freedom == 1 else f"{node.n_freedom} degrees of freedom"
    modes = "1 mode" if len(node.members) == 1 else f"{len(node.members)} modes"
    consistent = sum(is_key_highlighted(key, marked) for key in node.members)
    return f"{modes}, {consistent} consistent" if consistent else modes


def _dots(axes: Axes, found: Outline, placed: Layout) -> dict[str, str]:
    """Draw dots at the modes that lead to the impact; what their colours mean."""
    meanings: dict[str, str] = {}
    for arrow in arrows(found):
        if arrow.target != "impact":
            continue
        dots = {_JUMP: "touchdown leads to the impact"} if "touchdown" in arrow.kinds else {}
        dots |= {_PARADOX: "a paradox leads to the impact"} if set(arrow.kinds) - {"touchdown"} else {}
        (x, y), (width, height) = placed.centres[arrow.source], placed.size
        for place, colour in enumerate(dots):
            axes.plot(
                x + width / 2 - 12 * (place + 1), y - height / 2, "o", color=colour, ms=6, gid=f"dot-{len(axes.lines)}"
            )
        meanings |= dots
    return meanings


def _legend(axes: Axes, colours: set[str], dots: dict[str, str], *, is_grid: bool) -> None:
    """What colours, dashes and dots mean, as far as they occur."""
    from matplotlib.lines import Line2D

    meanings = {_INK: "no admissible forces left" if is_grid else "a guard fires", _SOFT: r"$\lambda_N$ reaches 0"}
    meanings |= {_CONE: "friction cone reached", _SLIP: "slip reaches 0", _PARADOX: "only in a paradox"}
    meanings |= {_JUMP: "impact law, then verdict"}
    handles = [
        Line2D([], [], color=colour, ls=_DASHES.get(colour, "-"), label=words)
        for colour, words in meanings.items()
        if colour in colours
    ]
    handles += [Line2D([], [], color=colour, ls="", marker="o", label=words) for colour, words in dots.items()]
    axes.legend(handles=handles, loc="lower left", ncols=3, frameon=False, labelcolor=_SOFT, handlelength=3)
