"""Nodes of the automaton: combinations of the modes of the force elements."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING

import attrs

from hybrid.contact.modes import ContactMode, ElementKind, Mode
from hybrid.contact.table import ElementMode, ForceElement
from hybrid.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hybrid.dynamics.derive import Dynamics

FREE, STICK, CLOSED, SLIDE = ContactMode.FREE, ContactMode.STICK, ContactMode.CLOSED, ContactMode.SLIDE


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
        signs = ", ".join(f"{name}: N {'>' if sign > 0 else '<'} 0" for name, sign in self.pressing)
        return f"{self.mode.label} ({signs})" if signs else self.mode.label

    def side(self, name: str) -> int:
        """Sign of a force element's normal force.

        Parameters
        ----------
        name : str

        Returns
        -------
        int
            1 or -1; 1 for an element whose normal force has one sign only.
        """
        return dict(self.pressing).get(name, 1)


def rows_of_node(parts: Sequence[ForceElement], node: NodeMode) -> tuple[ElementMode, ...]:
    """The rows of the table of modes that make up a node.

    Parameters
    ----------
    parts : sequence of ForceElement
    node : NodeMode
        With a mode for each of them.

    Returns
    -------
    tuple of ElementMode
        In the order of `parts`.
    """
    return tuple(ElementMode(part, node.mode[part.name], float(node.side(part.name))) for part in parts)


def eliminated_rows(dynamics: Dynamics) -> tuple[int, ...]:
    """Rows of ``J`` without friction, which are no force elements.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    tuple of int
        Row numbers of the rigid bilateral constraints whose forces are eliminated.
    """
    return tuple(row for row, name in enumerate(dynamics.rigid) if name not in dynamics.columns)


def node_modes(parts: tuple[ForceElement, ...]) -> Iterator[NodeMode]:
    """Every combination of the force elements' modes, one after the other.

    Parameters
    ----------
    parts : tuple of ForceElement

    Returns
    -------
    iterator of NodeMode
        The mode of the last force element changes fastest; with each mode every combination of the sides to which
        bilateral contacts with friction press.
    """
    bilateral = [part.name for part in parts if part.kind is ElementKind.BILATERAL]
    for labels in itertools.product(*(part.modes for part in parts)):
        mode = Mode({part.name: label for part, label in zip(parts, labels, strict=True)})
        for signs in itertools.product((1, -1), repeat=len(bilateral)):
            yield NodeMode(mode, tuple(zip(bilateral, signs, strict=True)))


def count_nodes(parts: tuple[ForceElement, ...]) -> int:
    """Number of combinations, impossible ones included.

    Parameters
    ----------
    parts : tuple of ForceElement

    Returns
    -------
    int
    """
    return math.prod(len(part.modes) * (2 if part.kind is ElementKind.BILATERAL else 1) for part in parts)


def node_of(parts: tuple[ForceElement, ...], key: str | Mode) -> NodeMode:
    """The node with a key or a mode; a bilateral contact of which no side is given presses to the positive one.

    Parameters
    ----------
    parts : tuple of ForceElement
    key : str or Mode
        As ``slide+``, ``left=free,right=stick`` or ``slide+ (rail: N > 0)``.

    Returns
    -------
    NodeMode

    Raises
    ------
    ArgumentError
        It is no mode of this mechanism.
    """
    if isinstance(key, Mode):
        key = key.label
    label, _, given = key.partition(" (")
    signs = {name: 1 if sign == ">" else -1 for name, sign in re.findall(r"(\w+): N ([<>]) 0", given)}
    pairs = [item.rpartition("=")[::2] for item in label.split(",")]
    named = {name or parts[0].name: mode for name, mode in pairs} if parts else {}
    bilateral = [part.name for part in parts if part.kind is ElementKind.BILATERAL]
    known = [part.name for part in parts if named.get(part.name) in [mode.value for mode in part.modes]]
    if len(known) != len(parts) or len(named) != len(parts):
        raise ArgumentError(f"no mode {key!r}; a mode reads {next(node_modes(parts)).key!r}")
    mode = Mode({part.name: named[part.name] for part in parts})
    return NodeMode(mode, tuple((name, signs.get(name, 1)) for name in bilateral))
