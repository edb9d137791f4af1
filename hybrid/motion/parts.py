"""What every carrier of contact force does during an arc, and the guards that may end it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import attrs

from hybrid.contact.activity import carrier_names
from hybrid.contact.carriers import CarrierKind
from hybrid.contact.modes import ContactMode, Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hybrid.dynamics.derive import Dynamics


class GuardKind(Enum):
    """What ends an arc; the value is the word used in events."""

    TOUCH = "touchdown"
    RELEASE = "detachment"
    STOP = "slip ends"
    CONE_PLUS = "slip starts"
    CONE_MINUS = "slip starts "
    CONE = "slip starts in space"
    SINGULAR = "singular"
    RANK = "rank of the constraints"
    WATCH = "watch"
    UNTIL = "until"
    UNDEFINED = "no value"


USERS = (GuardKind.WATCH, GuardKind.UNTIL)
"""Kinds of guards that belong to the user, not to a mode."""


@attrs.frozen
class Guard:
    """A function that is positive during an arc and ends it where it falls to zero.

    Attributes
    ----------
    kind : GuardKind
    carrier : str
        Name of the contact, element or constraint, or of the user's function.
    """

    kind: GuardKind
    carrier: str


@attrs.frozen
class Part:
    """One carrier in one mode.

    Attributes
    ----------
    name : str
    kind : CarrierKind
    index : int
        Place among its kind: contacts, friction elements, or rigid constraints.
    columns : tuple of int
        Tangential columns.
    label : ContactMode
    side : float
        Sign of the normal force; -1 is possible for a bilateral contact only.
    """

    name: str
    kind: CarrierKind
    index: int
    columns: tuple[int, ...]
    label: ContactMode
    side: float = 1.0

    @property
    def is_open(self) -> bool:
        """True for a contact that transmits no force."""
        return self.label is ContactMode.FREE

    @property
    def sticks(self) -> bool:
        """True if the tangential velocity is held at zero."""
        return self.label is ContactMode.STICK

    @property
    def slides(self) -> bool:
        """True if friction acts against a slip."""
        return self.label in (ContactMode.SLIDE, ContactMode.SLIDE_PLUS, ContactMode.SLIDE_MINUS)

    @property
    def slip_sign(self) -> float:
        """Sign of the slip in a planar sliding mode, else 0."""
        return float(self.label.slip_sign)

    @property
    def has_normal(self) -> bool:
        """True if it holds a normal acceleration at zero."""
        return not self.is_open and self.kind is not CarrierKind.ELEMENT


def spatial_slides(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts whose slip has a direction in a plane."""
    return tuple(part for part in parts if part.slides and len(part.columns) == 2)


def parts_of(dynamics: Dynamics, mode: Mode, sides: Mapping[str, float] | None = None) -> tuple[Part, ...]:
    """The carriers of a mechanism in a mode; ``sides`` gives the sign of bilateral normal forces."""
    parts = []
    for position, name in enumerate(carrier_names(dynamics)):
        if position < len(dynamics.contacts):
            kind, index = CarrierKind.CONTACT, position
        elif name in dynamics.elements:
            kind, index = CarrierKind.ELEMENT, dynamics.elements.index(name)
        else:
            kind, index = CarrierKind.BILATERAL, dynamics.rigid.index(name)
        side = (sides or {}).get(name, 1.0)
        parts.append(Part(name, kind, index, dynamics.columns_of(name), mode[name], side))
    return tuple(parts)


def guards_of(parts: tuple[Part, ...]) -> tuple[Guard, ...]:
    """The guards of a mode in the order in which flows evaluate them."""
    guards = []
    for part in parts:
        if part.is_open:
            guards.append(Guard(GuardKind.TOUCH, part.name))
            continue
        if part.has_normal:
            guards.append(Guard(GuardKind.RELEASE, part.name))
        if part.slides:
            guards.append(Guard(GuardKind.STOP, part.name))
        elif part.sticks and len(part.columns) == 1:
            guards += [Guard(GuardKind.CONE_PLUS, part.name), Guard(GuardKind.CONE_MINUS, part.name)]
        elif part.sticks:
            guards.append(Guard(GuardKind.CONE, part.name))
    if any(part.slides and part.has_normal for part in parts):
        guards.append(Guard(GuardKind.SINGULAR, ",".join(p.name for p in parts if p.slides and p.has_normal)))
    return tuple(guards)
