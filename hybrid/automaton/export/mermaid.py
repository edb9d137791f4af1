"""Automata as state diagrams of Mermaid."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from hybrid.automaton.export.merged import arrows, is_highlighted
from hybrid.automaton.outline import Outline, outline

if TYPE_CHECKING:
    from hybrid.automaton.graph import Automaton

# Letters, digits and what Mermaid takes literally after a colon; the rest is written as a character code.
_LITERAL = re.compile(r"[^\w .,=|+*/()\-−]")


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
