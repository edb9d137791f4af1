"""What carries force in a mechanism, and which modes each carrier has."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from hybrid.contact.carriers import CarrierKind
from hybrid.contact.modes import ContactMode, Mode

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

FREE, STICK, CLOSED, SLIDE = ContactMode.FREE, ContactMode.STICK, ContactMode.CLOSED, ContactMode.SLIDE
SLIDES = (ContactMode.SLIDE_PLUS, ContactMode.SLIDE_MINUS)


@attrs.frozen
class Part:
    """A carrier of contact force, independent of the state.

    Attributes
    ----------
    name : str
    kind : CarrierKind
    index : int
        Position among the contacts, the friction elements or the rigid constraints.
    columns : tuple of int
        Its columns of ``W_T``.
    """

    name: str
    kind: CarrierKind
    index: int
    columns: tuple[int, ...]

    @property
    def is_unilateral(self) -> bool:
        """True for a contact, which can open."""
        return self.kind is CarrierKind.CONTACT

    @property
    def has_normal(self) -> bool:
        """True if it has a normal force."""
        return self.kind is not CarrierKind.ELEMENT

    @property
    def modes(self) -> tuple[ContactMode, ...]:
        """Its modes, from the freest on."""
        open_ = (FREE,) if self.is_unilateral else ()
        if not self.columns:
            return (*open_, CLOSED)
        return (*open_, STICK, *(SLIDES if len(self.columns) == 1 else (SLIDE,)))


@attrs.frozen
class NodeMode:
    """What identifies a node: the mode, and the sign of the normal force of each bilateral contact with friction.

    Friction acts on the magnitude of a bilateral normal force, so that the motion of one mode has two formulas.

    Attributes
    ----------
    mode : Mode
    pressing : tuple of (str, int)
        Bilateral contacts with friction, and +1 or -1.
    """

    mode: Mode
    pressing: tuple[tuple[str, int], ...] = ()

    @property
    def key(self) -> str:
        """The label of the mode; with bilateral friction the sides are appended, as in ``slide+ (rail: N > 0)``."""
        sides = ", ".join(f"{name}: N {'>' if sign > 0 else '<'} 0" for name, sign in self.pressing)
        return f"{self.mode.label} ({sides})" if sides else self.mode.label

    def side(self, name: str) -> int:
        """Sign of a carrier's normal force."""
        return dict(self.pressing).get(name, 1)


def parts_of(dynamics: Dynamics) -> tuple[Part, ...]:
    """List the carriers of a mechanism in the order of its mode labels."""
    frictional = [name for name in dynamics.rigid if name in dynamics.columns]
    groups = (
        (CarrierKind.CONTACT, dynamics.contacts, dynamics.contacts),
        (CarrierKind.ELEMENT, dynamics.elements, dynamics.elements),
        (CarrierKind.BILATERAL, tuple(frictional), dynamics.rigid),
    )
    parts = []
    for kind, names, all_names in groups:
        for name in names:
            at = dynamics.columns.get(name, slice(0, 0))
            parts.append(Part(name, kind, all_names.index(name), tuple(range(at.start, at.stop))))
    return tuple(parts)


def eliminated_rows(dynamics: Dynamics) -> tuple[int, ...]:
    """Rows of ``J`` without friction, which are no carriers."""
    return tuple(row for row, name in enumerate(dynamics.rigid) if name not in dynamics.columns)


def node_modes(parts: tuple[Part, ...]) -> Iterator[NodeMode]:
    """Every combination of the carriers' modes, one after the other."""
    bilateral = [part.name for part in parts if part.kind is CarrierKind.BILATERAL]
    for labels in itertools.product(*(part.modes for part in parts)):
        mode = Mode({part.name: label for part, label in zip(parts, labels, strict=True)})
        for signs in itertools.product((1, -1), repeat=len(bilateral)):
            yield NodeMode(mode, tuple(zip(bilateral, signs, strict=True)))


def count_nodes(parts: tuple[Part, ...]) -> int:
    """Number of combinations, impossible ones included."""
    return math.prod(len(part.modes) * (2 if part.kind is CarrierKind.BILATERAL else 1) for part in parts)


def node_of(parts: tuple[Part, ...], key: str | Mode) -> NodeMode:
    """Find a node by its key or its mode; a bilateral contact of which no side is given presses to the positive one.

    Raises
    ------
    KeyError
        It is no mode of this mechanism.
    """
    if isinstance(key, Mode):
        key = key.label
    label, _, given = key.partition(" (")
    sides = {name: 1 if sign == ">" else -1 for name, sign in re.findall(r"(\w+): N ([<>]) 0", given)}
    pairs = [item.rpartition("=")[::2] for item in label.split(",")]
    named = {name or parts[0].name: mode for name, mode in pairs} if parts else {}
    bilateral = [part.name for part in parts if part.kind is CarrierKind.BILATERAL]
    known = [part.name for part in parts if named.get(part.name) in [mode.value for mode in part.modes]]
    if len(known) != len(parts) or len(named) != len(parts):
        raise KeyError(f"no mode {key!r}; a mode reads {next(node_modes(parts)).key!r}")
    mode = Mode({part.name: named[part.name] for part in parts})
    return NodeMode(mode, tuple((name, sides.get(name, 1)) for name in bilateral))
