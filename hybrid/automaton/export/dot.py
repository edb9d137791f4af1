"""Automata in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from hybrid.automaton.export.merged import arrows, is_highlighted
from hybrid.automaton.outline import Outline, outline

if TYPE_CHECKING:
    from hybrid.automaton.graph import Automaton


def to_dot(automaton: Automaton | Outline, *, highlight: Collection[str] = ()) -> str:
    """An automaton in DOT: one edge per pair of nodes, dashed where only a paradox leads along it.

    Parameters
    ----------
    automaton : Automaton or Outline
    highlight : collection of str, optional
        Mode labels to be filled, as those that are consistent at a state.

    Returns
    -------
    str

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import build_automaton, derive
    >>> print(to_dot(build_automaton(derive(mechanisms.load("bouncing_ball")))))
    digraph "bouncing_ball" {
      node [shape=box, style=rounded, fontname="Helvetica"];
      edge [fontname="Helvetica", fontsize=10];
      "free" [label="free\\nfreedom 1"];
      "closed" [label="closed\\nfreedom 0"];
      "impact" [label="impact", shape=diamond, style=""];
      "free" -> "impact" [label="gap = 0"];
      "closed" -> "free" [label="λ_N = 0"];
      "impact" -> "free" [label="impact law"];
      "impact" -> "closed" [label="impact law"];
    }
    <BLANKLINE>
    """
    found = outline(automaton)
    marked = frozenset(highlight)
    lines = [
        f"digraph {_quoted(found.name)} {{",
        '  node [shape=box, style=rounded, fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for node in found.nodes:
        if node.kind == "impact":
            lines.append(f'  {_quoted(node.key)} [label="impact", shape=diamond, style=""];')
            continue
        filled = ', style="rounded,filled", fillcolor="#ffe08a"' if is_highlighted(node, marked) else ""
        label = _quoted(f"{node.key}\nfreedom {node.n_freedom}")
        lines.append(f"  {_quoted(node.key)} [label={label}{filled}];")
    for arrow in arrows(found):
        dashed = "" if arrow.regular else ", style=dashed"
        ends = f"{_quoted(arrow.source)} -> {_quoted(arrow.target)}"
        lines.append(f"  {ends} [label={_quoted(arrow.label)}{dashed}];")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    """A quoted identifier: DOT knows the escapes of quotes and line ends, and backslashes start layout escapes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
