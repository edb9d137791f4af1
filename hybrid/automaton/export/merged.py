"""Parallel edges of an automaton joined for drawings."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from hybrid.automaton.export.reduced import GroupText
from hybrid.automaton.outline import GuardText, NodeText, Outline
from hybrid.automaton.transitions import Rule

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
    sentences : tuple of str
        The guards in words, with their rules.
    """

    source: str
    target: str
    regular: tuple[str, ...]
    paradoxical: tuple[str, ...]
    kinds: tuple[str, ...]
    sentences: tuple[str, ...]

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
    groups: dict[tuple[str, str], list[tuple[bool, str, str, str]]] = {}
    for edge in outline.edges:
        guard = None if edge.guard is None else nodes[edge.source].guards[edge.guard]
        label = "impact law" if guard is None else short_label(outline, guard)
        words = edge.rule if guard is None else f"{guard.label}: {edge.rule}"
        if edge.rule == Rule.IMPACT_LAW and guard is not None:
            words = f"{guard.label}: impact"
        kind = "jump" if guard is None else guard.kind
        groups.setdefault((edge.source, edge.target), []).append((edge.is_regular, label, kind, words))
    for (source, target), members in groups.items():
        regular = tuple(dict.fromkeys(label for is_regular, label, _, _ in members if is_regular))
        others = tuple(dict.fromkeys(label for is_regular, label, _, _ in members if not is_regular))
        ordered = sorted(members, key=lambda member: not member[0])
        kinds = tuple(dict.fromkeys(kind for _, _, kind, _ in ordered))
        sentences = tuple(dict.fromkeys(words for _, _, _, words in ordered))
        yield Arrow(source, target, regular, others, kinds, sentences)


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
