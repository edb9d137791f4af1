"""Parallel edges of an automaton joined for drawings.

Automata in the DOT language of Graphviz.

Automata as state diagrams of Mermaid.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from hybrid.arguments import checks_arguments
from hybrid.automaton.export.layout import GroupText
from hybrid.automaton.outline import GuardText, NodeText, Outline, outline

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from hybrid.automaton.graph import Automaton


_SIGNS = {"touchdown": "gap = 0", "release": "λ_N = 0", "reversal": "λ_N = 0", "slip": "slip = 0", "cone": "cone"}
_SIGNS |= {"cone+": "cone +", "cone-": "cone −", "singular": "A = 0", "exhausted": "no forces"}


@attrs.frozen
class Arrow:
    """All edges between two nodes.

    Attributes
    ----------
    source, target : str
    regular, paradoxical : tuple of str
        Short labels of the guards, by whether the change can occur without a paradox.
    kinds : tuple of str
        Kinds of the guards, regular ones first.
    """

    source: str
    target: str
    regular: tuple[str, ...]
    paradoxical: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def label(self) -> str:
        """Short labels joined: the regular ones, or the paradoxical ones if there are no others."""
        return ", ".join(self.regular or self.paradoxical)


def short_label(outline: Outline, guard: GuardText) -> str:
    """A guard in two or three characters, with its contact if there are several.

    Parameters
    ----------
    outline : Outline
    guard : GuardText

    Returns
    -------
    str
        As ``cone +`` or ``left: gap = 0``.
    """
    sign = _SIGNS.get(guard.kind, guard.kind)
    if guard.contact in outline.contacts and len(outline.contacts) > 1:
        return f"{guard.contact}: {sign}"
    return sign


def arrows(outline: Outline) -> Iterator[Arrow]:
    """The edges of an automaton with parallel ones joined, in the order of the edges.

    Parameters
    ----------
    outline : Outline

    Returns
    -------
    iterator of Arrow
        One for each pair of nodes with an edge.
    """
    nodes: dict[str, NodeText] = {node.key: node for node in outline.nodes}
    groups: dict[tuple[str, str], list[tuple[bool, str, str]]] = {}
    for edge in outline.edges:
        guard = None if edge.guard is None else nodes[edge.source].guards[edge.guard]
        label = "impact law" if guard is None else short_label(outline, guard)
        kind = "jump" if guard is None else guard.kind
        groups.setdefault((edge.source, edge.target), []).append((edge.is_regular, label, kind))
    for (source, target), members in groups.items():
        regular = tuple(dict.fromkeys(label for is_regular, label, _ in members if is_regular))
        others = tuple(dict.fromkeys(label for is_regular, label, _ in members if not is_regular))
        ordered = sorted(members, key=lambda member: not member[0])
        kinds = tuple(dict.fromkeys(kind for _, _, kind in ordered))
        yield Arrow(source, target, regular, others, kinds)


def is_highlighted(node: NodeText, highlight: frozenset[str]) -> bool:
    """Whether a mode, or one of a group's modes, is among the highlighted ones.

    Parameters
    ----------
    node : NodeText
    highlight : frozenset of str
        Keys of nodes or labels of modes.

    Returns
    -------
    bool
    """
    keys = node.members if isinstance(node, GroupText) else (node.key,)
    return any(is_key_highlighted(key, highlight) for key in keys)


def is_key_highlighted(key: str, highlight: frozenset[str]) -> bool:
    """Whether a node's key or the label of its mode is among the highlighted ones.

    Parameters
    ----------
    key : str
    highlight : frozenset of str
        Keys of nodes or labels of modes.

    Returns
    -------
    bool
    """
    return key in highlight or key.partition(" (")[0] in highlight


@checks_arguments
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


# Letters, digits and what Mermaid takes literally after a colon; the rest is written as a character code.
_LITERAL = re.compile(r"[^\w .,=|+*/()\-−]")


@checks_arguments
def to_mermaid(automaton: Automaton | Outline, *, highlight: Collection[str] = ()) -> str:
    """An automaton as a Mermaid state diagram; a label in brackets is taken only in a paradox.

    Parameters
    ----------
    automaton : Automaton or Outline
    highlight : collection of str, optional
        Mode labels to be filled.

    Returns
    -------
    str

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import build_automaton, derive
    >>> print(to_mermaid(build_automaton(derive(mechanisms.load("bouncing_ball"))), highlight=["free"]))
    stateDiagram-v2
        state "free" as n0
        state "closed" as n1
        state "impact" as n2
        n0 --> n2 : gap = 0
        n1 --> n0 : λ_N = 0
        n2 --> n0 : impact law
        n2 --> n1 : impact law
        classDef consistent fill:#ffe08a,stroke:#7a5b00
        class n0 consistent
    <BLANKLINE>
    """
    found = outline(automaton)
    marked = frozenset(highlight)
    name = {node.key: f"n{index}" for index, node in enumerate(found.nodes)}
    lines = ["stateDiagram-v2"]
    lines += [f'    state "{_escaped(node.key)}" as {name[node.key]}' for node in found.nodes]
    for arrow in arrows(found):
        label = _escaped(arrow.label) if arrow.regular else f"({_escaped(arrow.label)})"
        lines.append(f"    {name[arrow.source]} --> {name[arrow.target]} : {label}")
    filled = [name[node.key] for node in found.nodes if is_highlighted(node, marked)]
    if filled:
        lines.append("    classDef consistent fill:#ffe08a,stroke:#7a5b00")
        lines.append(f"    class {','.join(filled)} consistent")
    return "\n".join([*lines, ""])


def _escaped(text: str) -> str:
    return _LITERAL.sub(lambda match: f"#{ord(match[0])};", text)
