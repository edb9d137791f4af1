"""Edges of the automaton: which modes may follow when a guard fires, and by which rule one of them is taken."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import attrs

from hybrid.automaton.guards import GuardFunction
from hybrid.automaton.structure import CLOSED, FREE, SLIDE, STICK, NodeMode
from hybrid.contact.carriers import CarrierKind
from hybrid.contact.guards import GuardKind
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.table import SLIDES, ForceElement

if TYPE_CHECKING:
    from hybrid.automaton.location import Location

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
    """List the edges that leave a mode.

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
    node, found = location.node, []
    for guard in location.guards:
        if guard.kind is GuardKind.TOUCHDOWN:
            found.append(Transition(node.key, IMPACT, guard, Reset.IDENTITY, Rule.IMPACT_LAW, True))
            continue
        regular = set(_combined(_regular(parts, node, guard, location.stops_with), parts))
        possible = set(_combined(_all(parts, node, guard, location.stops_with), parts)) if may_be_paradoxical else set()
        goes_on = guard.kind is GuardKind.SLIP and node.mode.get(guard.contact) is SLIDE
        for target in sorted(regular | possible, key=lambda item: (item not in regular, _order(parts, item))):
            if is_possible(target) and (target != node or goes_on):
                found.append(Transition(node.key, target.key, guard, Reset.IDENTITY, Rule.VERDICT, target in regular))
        if may_be_paradoxical and has_impact:
            found.append(Transition(node.key, IMPACT, guard, Reset.IDENTITY, Rule.NO_RULE, False))
    return tuple(found)


def transitions_from_impact(nodes: Iterator[NodeMode]) -> Iterator[Transition]:
    """Edges that leave the impact: any mode may follow."""
    for node in nodes:
        yield Transition(IMPACT, node.key, None, Reset.IMPACT_LAW, Rule.IMPACT_LAW, True)


Choices = Mapping[str, tuple[ContactMode, ...]]


def _combined(
    choices: tuple[Choices, Mapping[str, tuple[int, ...]]], parts: Sequence[ForceElement]
) -> Iterator[NodeMode]:
    modes, sides = choices
    for labels in itertools.product(*(modes[part.name] for part in parts)):
        mode = Mode({part.name: label for part, label in zip(parts, labels, strict=True)})
        for signs in itertools.product(*sides.values()):
            yield NodeMode(mode, tuple(zip(sides, signs, strict=True)))


def _regular(
    parts: Sequence[ForceElement], node: NodeMode, guard: GuardFunction, stops_with: Mapping[str, tuple[str, ...]]
) -> tuple[Choices, dict[str, tuple[int, ...]]]:
    """Modes that may follow where every verdict is unique.

    Forces are continuous at a release and at the edge of the cone, so that the other contacts go on as they were. They
    jump where slip stops, because friction turns: then the others may change as well.
    """
    modes: dict[str, tuple[ContactMode, ...]] = {part.name: (node.mode[part.name],) for part in parts}
    sides: dict[str, tuple[int, ...]] = {name: (sign,) for name, sign in node.pressing}
    label = node.mode.get(guard.contact)
    match guard.kind:
        case GuardKind.RELEASE:
            modes[guard.contact] = (FREE,)
        case GuardKind.REVERSAL:
            sides[guard.contact] = (-node.side(guard.contact),)
        case GuardKind.CONE_PLUS:
            modes[guard.contact] = (ContactMode.SLIDE_PLUS,)
        case GuardKind.CONE_MINUS:
            modes[guard.contact] = (ContactMode.SLIDE_MINUS,)
        case GuardKind.CONE:
            modes[guard.contact] = (SLIDE,)
        case GuardKind.SLIP:
            modes = {part.name: _afterwards(part, node.mode[part.name]) for part in parts}
            for part in parts:
                if part.name in stops_with.get(guard.contact, ()):
                    modes[part.name] = part.modes
            own = next(part for part in parts if part.name == guard.contact)
            modes[guard.contact] = tuple(
                mode for mode in own.modes if mode is not FREE and (mode is not label or mode is SLIDE)
            )
            sides = dict.fromkeys(sides, (1, -1))
        case GuardKind.EXHAUSTED:
            sides = dict.fromkeys(sides, (1, -1))
            modes = {part.name: _afterwards(part, node.mode[part.name]) for part in parts}
        case _:
            modes = {part.name: () for part in parts}
    return modes, sides


def _all(
    parts: Sequence[ForceElement], node: NodeMode, guard: GuardFunction, stops_with: Mapping[str, tuple[str, ...]]
) -> tuple[Choices, dict[str, tuple[int, ...]]]:
    """Every mode that the positions and velocities at the event permit."""
    at_rest = {guard.contact, *stops_with.get(guard.contact, ())} if guard.kind is GuardKind.SLIP else set()
    modes = {
        part.name: part.modes if part.name in at_rest else _afterwards(part, node.mode[part.name]) for part in parts
    }
    return modes, {part.name: (1, -1) for part in parts if part.kind is CarrierKind.BILATERAL}


def _afterwards(part: ForceElement, label: ContactMode) -> tuple[ContactMode, ...]:
    """Modes open to a carrier whose position and velocity do not change."""
    if label is FREE:
        return (FREE,)
    if label is STICK:
        return part.modes
    if label is CLOSED or label is SLIDE or label in SLIDES:
        return (label, FREE) if part.is_unilateral else (label,)
    return part.modes


def _order(parts: Sequence[ForceElement], node: NodeMode) -> tuple[int, ...]:
    return tuple(part.modes.index(node.mode[part.name]) for part in parts)
