"""Contact modes and the mode of a mechanism.

What a mode of an inconsistent state violates: the entries of certificates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

import attrs

from hybrid.tolerances import CLEAR

__all__ = ["AGREEMENT", "ALL_TOGETHER", "NO_CONTACTS", "ContactMode", "Mode", "Violation"]


NO_CONTACTS = "no contacts"
"""Label of the mode of a mechanism without contacts and friction."""


class ContactMode(StrEnum):
    """What one contact does; the value is the label used in files, tables and JSON.

    ``FREE`` separates, ``STICK`` stays, ``SLIDE_PLUS`` and ``SLIDE_MINUS`` slip in the positive and negative tangential
    direction, ``SLIDE`` slips in a given direction of a spatial contact, ``CLOSED`` presses and was declared without a
    tangent and without a slip. A contact at rest whose friction is zero slips where it accelerates, and else stays.
    """

    FREE = "free"
    STICK = "stick"
    SLIDE_PLUS = "slide+"
    SLIDE_MINUS = "slide-"
    SLIDE = "slide"
    CLOSED = "closed"

    @classmethod
    def of_slip(cls, slip: Sequence[float] | None, dimension: int) -> ContactMode:
        """What a closed contact does whose slip, or None at rest, has a number of tangential directions."""
        if dimension == 0:
            return cls.CLOSED
        if slip is None:
            return cls.STICK
        return cls.SLIDE if dimension == 2 else cls.SLIDE_PLUS if slip[0] > 0 else cls.SLIDE_MINUS

    @property
    def slip_sign(self) -> int:
        """Sign of the slip of a planar sliding mode, 0 for the others."""
        return {ContactMode.SLIDE_PLUS: 1, ContactMode.SLIDE_MINUS: -1}.get(self, 0)


def _as_modes(modes: Mapping[str, Any]) -> dict[str, ContactMode]:
    return {name: mode if type(mode) is ContactMode else ContactMode(mode) for name, mode in modes.items()}


@attrs.frozen
class Mode(Mapping[str, ContactMode]):
    """The modes of all contacts of a mechanism, by contact name.

    Attributes
    ----------
    contacts : mapping of str to ContactMode
        In the order of their declaration.

    Examples
    --------
    >>> Mode({"tip": "stick"}).label
    'stick'
    >>> Mode({"floor": "slide+", "wall": "free"}).label
    'floor=slide+,wall=free'
    """

    contacts: Mapping[str, ContactMode] = attrs.field(converter=_as_modes)

    def __getitem__(self, name: str) -> ContactMode:
        return self.contacts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.contacts)

    def __len__(self) -> int:
        return len(self.contacts)

    def __hash__(self) -> int:
        return hash(tuple(self.contacts.items()))

    @property
    def label(self) -> str:
        """The contact's label; ``contact=label`` pairs joined by commas when there are several, words when none."""
        if not self.contacts:
            return NO_CONTACTS
        if len(self.contacts) == 1:
            return next(iter(self.contacts.values())).value
        return ",".join(f"{name}={mode.value}" for name, mode in self.contacts.items())

    def __str__(self) -> str:
        return self.label


AGREEMENT = CLEAR
"""Share by which a stated value and the exact one may differ: rounding times the condition of one small basis."""

ALL_TOGETHER = "the conditions of the mode have a solution"
"""What a mode violates whose equations determine no forces of which one inequality could be named."""


@attrs.frozen
class Violation:
    """The inequality that one mode violates most.

    Attributes
    ----------
    mode : Mode
    contact : str
        The force element whose condition fails; empty if the mode's equations determine no forces.
    inequality : str
        For example ``"lambda_N >= 0"``.
    value : float
        Its value in physical units, negative; without a contact the contradiction ``y . q`` of the refutation of the
        mode's basis, with multipliers ``y`` whose magnitudes add up to one.
    basis : tuple of int
        The complementary basis of the LCP that is this mode (indices with ``z`` basic).
    variable : {"z", "w", ""}
        Which variable of the LCP the inequality is; empty if the mode's equations are singular, so that no basic
        solution belongs to it: the refutation of its basis is then the proof.
    index : int
        Its index.
    """

    mode: Mode
    contact: str
    inequality: str
    value: float
    basis: tuple[int, ...]
    variable: Literal["z", "w", ""]
    index: int
