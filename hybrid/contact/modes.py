"""Contact modes and the mode of a mechanism.

What a mode of an inconsistent state violates: the entries of certificates.

The force elements that take part at a state, and the linear conditions of each of their modes. A *force element* is
anything that transmits a contact force: a closed unilateral contact, a friction element, or a bilateral constraint with
dry friction. Each of its modes is a set of linear equations and inequalities in the contact accelerations ``a`` and
forces ``lambda``; the modes of one planar element tile the plane of its free accelerations (Pfeiffer and Glocker 1996,
chapter 5), which is what makes a verdict decidable by enumeration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from functools import lru_cache
from typing import Any, Literal

import attrs
import numpy as np

from hybrid.arguments import explains_arguments
from hybrid.errors import ArgumentError
from hybrid.tolerances import CLEAR

__all__ = [
    "AGREEMENT",
    "ALL_TOGETHER",
    "NO_CONTACTS",
    "ActiveElement",
    "ContactMode",
    "ElementKind",
    "Mode",
    "ModeConditions",
    "Row",
    "Violation",
    "mode_conditions",
    "solvable_modes",
]


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
    @explains_arguments
    def of_slip(cls, slip: Sequence[float] | None, dimension: int) -> ContactMode:
        """The mode of a closed contact, by its slip.

        Parameters
        ----------
        slip : sequence of float, (dimension,), or None
            In m/s; None at rest.
        dimension : int
            Number of tangential directions: 0, 1 or 2.

        Returns
        -------
        ContactMode
        """
        if dimension == 0:
            return cls.CLOSED
        if slip is None:
            return cls.STICK
        return cls.SLIDE if dimension == 2 else cls.SLIDE_PLUS if slip[0] > 0 else cls.SLIDE_MINUS

    @classmethod
    def _missing_(cls, value: object) -> ContactMode:
        raise ArgumentError(f"a contact's mode is one of {', '.join(cls)}, not {value!r}")

    @property
    def slip_sign(self) -> int:
        """Sign of the slip of a planar sliding mode, 0 for the others."""
        return {ContactMode.SLIDE_PLUS: 1, ContactMode.SLIDE_MINUS: -1}.get(self, 0)


def _as_modes(modes: Mapping[str, ContactMode | str]) -> dict[str, ContactMode]:
    return {name: mode if type(mode) is ContactMode else ContactMode(mode) for name, mode in modes.items()}


@explains_arguments
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


_SIGNS = {ContactMode.SLIDE_PLUS: 1.0, ContactMode.SLIDE_MINUS: -1.0}


class ElementKind(Enum):
    """What a force element is; the value is used in messages."""

    CONTACT = "contact"
    ELEMENT = "friction element"
    BILATERAL = "bilateral contact with friction"


@attrs.frozen(eq=False)
class ActiveElement:
    """A force element that takes part at a state.

    Attributes
    ----------
    name : str
    kind : ElementKind
    normal : int or None
        Its normal row among the unknowns; None for a friction element.
    tangential : tuple of int
        Its tangential rows: none, one (planar) or two (spatial).
    direction : tuple of float or None
        Unit direction of slip, ``(+1,)`` or ``(-1,)`` in the plane; None at rest and without friction.
    friction, static_friction : float or array
        Friction coefficients, or limit forces of a friction element.
    """

    name: str
    kind: ElementKind
    normal: int | None
    tangential: tuple[int, ...]
    direction: tuple[Any, ...] | None
    friction: Any
    static_friction: Any

    @property
    def is_resting(self) -> bool:
        """True for a frictional force element without slip."""
        return bool(self.tangential) and self.direction is None

    @property
    def is_spatial_at_rest(self) -> bool:
        """True for a contact whose friction force is confined by a circular cone."""
        return self.is_resting and len(self.tangential) == 2

    @property
    def is_smooth(self) -> bool:
        """True for a element at rest without friction, at every state: its tangential force is known to be zero."""
        return self.is_resting and not (_is_any(self.static_friction) or _is_any(self.friction))

    @property
    def rows(self) -> tuple[int, ...]:
        """All of its rows among the unknowns."""
        return (() if self.normal is None else (self.normal,)) + self.tangential


def _is_any(value: Any) -> bool:
    return value != 0.0 if isinstance(value, float) else bool(np.any(value))


@attrs.frozen(eq=False)
class Row:
    """A linear condition ``alpha . a + beta . lambda + constant`` that is zero or non-negative.

    Attributes
    ----------
    label : str
        The condition in words, ``"lambda_N >= 0"``.
    alpha, beta : mapping of row index to coefficient
    constant : float or array
    """

    label: str
    alpha: Mapping[int, Any] = attrs.field(factory=dict)
    beta: Mapping[int, Any] = attrs.field(factory=dict)
    constant: Any = 0.0


@attrs.frozen(eq=False)
class ModeConditions:
    """One mode of one force element with its linear conditions.

    Attributes
    ----------
    element : ActiveElement
    label : ContactMode
    equations : tuple of Row
        As many as the force element has rows.
    inequalities : tuple of Row
        Each must not be negative.
    """

    element: ActiveElement
    label: ContactMode
    equations: tuple[Row, ...]
    inequalities: tuple[Row, ...]

    @property
    def is_unnamed(self) -> bool:
        """True for the mode of a pressing force element at rest without friction, which its acceleration names."""
        return self.label is ContactMode.CLOSED and bool(self.element.tangential)


def mode_conditions(element: ActiveElement) -> tuple[ModeConditions, ...]:
    """List the modes of a force element with their linear conditions.

    A spatial contact at rest contributes ``free`` and ``stick`` without its cone, which is not linear.

    Parameters
    ----------
    element : ActiveElement

    Returns
    -------
    tuple of ModeConditions
    """
    if element.kind is ElementKind.ELEMENT:
        return _pressing_modes(element, 1.0)
    if element.kind is ElementKind.BILATERAL:
        return tuple(mode for side in (1.0, -1.0) for mode in _pressing_modes(element, side))
    free = ModeConditions(
        element,
        ContactMode.FREE,
        tuple(Row("lambda = 0", beta={row: 1.0}) for row in element.rows),
        (Row("a_N >= 0", alpha={element.rows[0]: 1.0}),),
    )
    return (free, *_pressing_modes(element, 1.0))


def solvable_modes(element: ActiveElement) -> tuple[ModeConditions, ...]:
    """Modes to solve for at a state: as :func:`mode_conditions`, but one for all that an element without friction does.

    At rest its cone is a ray: sticking and both slides share its force, and their equations say nothing about slip.
    The mode is called ``closed`` until its acceleration names it (:mod:`hybrid.contact.smooth`).

    Parameters
    ----------
    element : ActiveElement

    Returns
    -------
    tuple of ModeConditions
    """
    numbers = (element.friction, element.static_friction, *(element.direction or ()))
    if not all(type(number) is float for number in numbers):
        return _solvable_modes(element)
    known = _modes_of_numbers(element.kind, element.normal, element.tangential, element.direction, *numbers[:2])
    return tuple([ModeConditions(element, mode.label, mode.equations, mode.inequalities) for mode in known])


@lru_cache(maxsize=1024)
def _modes_of_numbers(
    kind: ElementKind, normal: int | None, tangential: tuple[int, ...], direction: Any, friction: float, static: float
) -> tuple[ModeConditions, ...]:
    """The same of an element without a name: conditions are alike at all states with one friction."""
    return _solvable_modes(ActiveElement("", kind, normal, tangential, direction, friction, static))


def _solvable_modes(element: ActiveElement) -> tuple[ModeConditions, ...]:
    if not element.is_smooth:
        return mode_conditions(element)
    smooth = tuple(Row("lambda_T = 0", beta={row: 1.0}) for row in element.tangential)
    n_normal = 0 if element.normal is None else 1
    return tuple(
        ModeConditions(element, ContactMode.CLOSED, (*mode.equations[:n_normal], *smooth), mode.inequalities[:n_normal])
        if mode.label is ContactMode.STICK
        else mode
        for mode in mode_conditions(element)
        if mode.label in (ContactMode.FREE, ContactMode.STICK)
    )


def _pressing_modes(element: ActiveElement, side: float) -> tuple[ModeConditions, ...]:
    """Modes in which the force element transmits a force; ``side`` is the sign of its normal force, if any."""
    normal = element.normal
    closed = () if normal is None else (Row("a_N = 0", alpha={normal: 1.0}),)
    pressing = () if normal is None else (Row("lambda_N >= 0" if side > 0 else "lambda_N <= 0", beta={normal: side}),)
    if not element.tangential:
        return (ModeConditions(element, ContactMode.CLOSED, closed, pressing),)
    limit = "F" if normal is None else "mu lambda_N"

    def friction(label: str, row: int, sign: float, share: Any) -> Row:
        """A tangential force next to a share of the normal force, or to a force."""
        if normal is None:
            return Row(label, beta={row: sign}, constant=share)
        return Row(label, beta={row: sign, normal: share * side})

    if element.direction is not None:
        laws = (
            friction(f"lambda_T = -s {limit}", row, 1.0, component * element.friction)
            for row, component in zip(element.tangential, element.direction, strict=True)
        )
        label = ContactMode.of_slip(element.direction, len(element.tangential))
        return (ModeConditions(element, label, (*closed, *laws), pressing),)
    at_rest = tuple(Row("a_T = 0", alpha={row: 1.0}) for row in element.tangential)
    stick = ModeConditions(element, ContactMode.STICK, (*closed, *at_rest), pressing)
    if element.is_spatial_at_rest:
        return (stick,)
    row = element.tangential[0]
    cone = tuple(
        friction(label, row, sign, element.static_friction)
        for label, sign in ((f"lambda_T >= -{limit}", 1.0), (f"lambda_T <= {limit}", -1.0))
    )
    slides = (
        ModeConditions(
            element,
            label,
            (*closed, friction(f"lambda_T = -s {limit}", row, 1.0, sign * element.friction)),
            (*pressing, Row("a_T >= 0" if sign > 0 else "a_T <= 0", alpha={row: sign})),
        )
        for label, sign in _SIGNS.items()
    )
    return (attrs.evolve(stick, inequalities=(*pressing, *cone)), *slides)
