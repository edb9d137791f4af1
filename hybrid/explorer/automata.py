"""The automaton of a mechanism as boxes and arrows, for a page to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hybrid.automaton import build_automaton
from hybrid.automaton.export.layout import differing, layout, side_of
from hybrid.automaton.export.merged import arrows
from hybrid.automaton.export.reduced import GroupText, reduced
from hybrid.automaton.outline import outline

if TYPE_CHECKING:
    from hybrid.dynamics import Dynamics

__all__ = ["automaton_answer"]

_MOST = 256  # modes before those that are impossible are left out: some seconds


def automaton_answer(dynamics: Dynamics) -> dict[str, Any]:
    """The modes of a mechanism and what leads from one to another; more than 16 in groups.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    dict
        ``size``, ``box``, ``nodes`` (key, rows of text, place, modes it stands for) and ``arrows``.
    """
    whole = outline(build_automaton(dynamics, max_nodes=_MOST), formulas=False)
    found = reduced(whole)
    placed = layout(found)
    nodes = {node.key: node for node in found.nodes}
    shown = []
    for arrow in arrows(found):
        if arrow.source == arrow.target:
            continue
        ends = (nodes[arrow.source], nodes[arrow.target])
        is_jump = "impact" in (ends[0].kind, ends[1].kind)
        if placed.is_grid and (is_jump or not arrow.regular or differing(*ends) != 1):
            continue  # the others are in the JSON of `painleve graph`
        shown.append(
            {
                "source": arrow.source,
                "target": arrow.target,
                "label": "" if placed.is_grid else arrow.label,
                "kind": "jump" if arrow.source == "impact" else "regular" if arrow.regular else "paradox",
            }
        )
    return {
        "size": list(placed.picture),
        "box": list(placed.size),
        "nodes": [
            {
                "key": key,
                "at": list(placed.centres[key]),
                "kind": node.kind,
                "rows": [f"{name} {label}" for name, label in node.mode.items()]
                if len(found.contacts) > 1
                else [key.partition(" (")[0], *filter(None, [side_of(node)])],
                "members": list(node.members) if isinstance(node, GroupText) else [key],
            }
            for key, node in nodes.items()
        ],
        "arrows": shown,
    }
