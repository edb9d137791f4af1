"""Edges of the automaton: which modes may follow when a guard fires, and by which rule one of them is taken."""

from __future__ import annotations

import itertools
from enum import StrEnum
from typing import TYPE_CHECKING

import attrs

from hybrid.automaton.structure import SLIDE, NodeMode, rows_of_node
from hybrid.contact.guards import GuardKind, possible_exit, regular_exit
from hybrid.contact.modes import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hybrid.automaton.guards import GuardFunction
    from hybrid.automaton.location import Location
    from hybrid.contact.guards import Exit
    from hybrid.contact.table import ForceElement

IMPACT = "impact"
"""Key of the instantaneous node in which velocities jump."""


class Reset(StrEnum):
    """What an edge does to the state."""

    IDENTITY = "identity"
    IMPACT_LAW = "impact law"


class Rule(StrEnum):
    """What picks the target of an edge; the value is the sentence shown to the user."""

    VERDICT = "verdict at the event state"
    IMPACT_LAW = "impact law decides, then verdict"
    NO_RULE = "no rule: paradox resolved by an impact without collision of the compliant contact"


@attrs.frozen(eq=False)
class Transition:
    """One edge of the automaton.

    Attributes
    ----------
    source, target : str
        Keys of nodes.
    guard : GuardFunction or None
        None for the edges that leave the impact at once.
    reset : Reset
    rule : Rule
        What decides that this edge, among those of the same guard, is taken.
    is_regular : bool
        True if the change can occur without a paradox. The others need a state at which some ``A_s`` is not positive,
        so that no mode is consistent or several are.
    """

    source: str
    target: str
    guard: GuardFunction | None
    reset: Reset
    rule: Rule
    is_regular: bool


def transitions_from(
    location: Location,
    parts: Sequence[ForceElement],
    *,
    is_possible: Callable[[NodeMode], bool],
    may_be_paradoxical: bool,
    has_impact: bool,
) -> tuple[Transition, ...]:
    """The edges that leave a mode.

    Parameters
    ----------
    location : Location
    parts : sequence of ForceElement
    is_possible : callable
        False for nodes that were proved impossible.
    may_be_paradoxical : bool
        False if the verdict of this mechanism is always unique.
    has_impact : bool

    Returns
    -------
    tuple of Transition
        By guard; regular targets first.
    """
    node, rows, found = location.node, rows_of_node(parts, location.node), []
    for guard in location.guards:
        if guard.kind is GuardKind.TOUCHDOWN:
            found.append(Transition(node.key, IMPACT, guard, Reset.IDENTITY, Rule.IMPACT_LAW, True))
            continue
        if guard.kind is GuardKind.FRICTION:
            continue  # nothing follows
        stops_with = location.stops_with.get(guard.contact, ())
        regular = dict.fromkeys(_nodes(regular_exit(rows, guard.guard, stops_with=stops_with)))
        possible = {}
        if may_be_paradoxical:
            possible = dict.fromkeys(_nodes(possible_exit(rows, [guard.guard], stops_with=stops_with)))
        goes_on = guard.kind is GuardKind.SLIP and node.mode.get(guard.contact) is SLIDE
        for target in sorted({**regular, **possible}, key=lambda item: (item not in regular, _order(parts, item))):
            if is_possible(target) and (target != node or goes_on):
                found.append(Transition(node.key, target.key, guard, Reset.IDENTITY, Rule.VERDICT, target in regular))
        if may_be_paradoxical and has_impact:
            found.append(Transition(node.key, IMPACT, guard, Reset.IDENTITY, Rule.NO_RULE, False))
    return tuple(found)


def transitions_from_impact(nodes: Iterator[NodeMode]) -> Iterator[Transition]:
    """Edges that leave the impact: any mode may follow.

    Parameters
    ----------
    nodes : iterator of NodeMode

    Returns
    -------
    iterator of Transition
        One a node, in their order.
    """
    for node in nodes:
        yield Transition(IMPACT, node.key, None, Reset.IMPACT_LAW, Rule.IMPACT_LAW, True)


def _nodes(found: Exit) -> Iterator[NodeMode]:
    """Every combination of what an exit admits."""
    for labels in itertools.product(*found.labels.values()):
        mode = Mode(dict(zip(found.labels, labels, strict=True)))
        for signs in itertools.product(*found.force_signs.values()):
            yield NodeMode(mode, tuple(zip(found.force_signs, signs, strict=True)))


def _order(parts: Sequence[ForceElement], node: NodeMode) -> tuple[int, ...]:
    return tuple(part.modes.index(node.mode[part.name]) for part in parts)
