"""The table of modes: what carries contact force in a mechanism, and each force element in each of its modes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.modes import ContactMode, ElementKind, Mode
from hybrid.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Equations, Terms
    from hybrid.dynamics.structure import AbstractStructure

SLIDES = (ContactMode.SLIDE_PLUS, ContactMode.SLIDE_MINUS)
VELOCITIES = {"N": "gap_dot", "T": "slip", "B": "constraint_dot"}
"""Names of the contact velocities along the forces of a block."""


@attrs.frozen
class ForceElement:
    """A force element as declared, whatever the state.

    Attributes
    ----------
    name : str
    kind : ElementKind
    index : int
        Position among the contacts, the friction elements or the rigid constraints.
    columns : tuple of int
        Its columns of ``W_T``.
    unsigned_friction : tuple of (str, int)
        The terms of its friction that may fall below zero along a motion, each with the sign with which ``mean_T`` is
        added to it.
    """

    name: str
    kind: ElementKind
    index: int
    columns: tuple[int, ...]
    unsigned_friction: tuple[tuple[str, int], ...] = ()

    @property
    def is_unilateral(self) -> bool:
        """True for a contact, which can open."""
        return self.kind is ElementKind.CONTACT

    @cached_property
    def rows(self) -> tuple[ForceRow, ...]:
        """The components of its force: the normal one, then the tangential ones."""
        normal = (ForceRow(self),) if self.has_normal else ()
        return (*normal, *(ForceRow(self, axis) for axis in range(len(self.columns))))

    @property
    def has_normal(self) -> bool:
        """True if it has a normal force."""
        return self.kind is not ElementKind.ELEMENT

    def friction_term(self, *, is_static: bool) -> str:
        """Name of the term that holds its friction coefficient, or the limit force of a friction element.

        Parameters
        ----------
        is_static : bool
            At rest, where static friction may be larger.

        Returns
        -------
        str
        """
        if self.kind is ElementKind.BILATERAL:
            return "constraint_friction"
        name = "limit" if self.kind is ElementKind.ELEMENT else "friction"
        return f"static_{name}" if is_static else name

    @property
    def modes(self) -> tuple[ContactMode, ...]:
        """Its modes, from the freest on."""
        open_ = (ContactMode.FREE,) if self.is_unilateral else ()
        if not self.columns:
            return (*open_, ContactMode.CLOSED)
        return (*open_, ContactMode.STICK, *(SLIDES if len(self.columns) == 1 else (ContactMode.SLIDE,)))


@attrs.frozen
class ElementMode:
    """A row of the table: one force element in one of its modes.

    Attributes
    ----------
    element : ForceElement
    label : ContactMode
    side : float
        Sign of the normal force; -1 is possible for a bilateral contact only.
    """

    element: ForceElement
    label: ContactMode
    side: float = 1.0

    @property
    def name(self) -> str:
        """Name of the force element."""
        return self.element.name

    @property
    def kind(self) -> ElementKind:
        """What the force element is."""
        return self.element.kind

    @property
    def index(self) -> int:
        """Its position among its kind."""
        return self.element.index

    @property
    def columns(self) -> tuple[int, ...]:
        """Its tangential columns."""
        return self.element.columns

    @property
    def is_open(self) -> bool:
        """True for a contact that transmits no force."""
        return self.label is ContactMode.FREE

    @property
    def presses(self) -> bool:
        """True if a normal force holds its normal acceleration at zero."""
        return not self.is_open and self.element.has_normal

    @property
    def sticks(self) -> bool:
        """True if the tangential velocity is held at zero."""
        return self.label is ContactMode.STICK

    @property
    def slides(self) -> bool:
        """True if friction acts against a slip."""
        return self.label is ContactMode.SLIDE or self.label in SLIDES

    @property
    def lasting(self) -> tuple[ContactMode, ...]:
        """Modes open to the force element while its position and velocity do not change."""
        if self.sticks:
            return self.element.modes
        leaves = self.element.is_unilateral and not self.is_open
        return (self.label, ContactMode.FREE) if leaves else (self.label,)

    @property
    def after_slip(self) -> tuple[ContactMode, ...]:
        """Modes that may follow where its slip ends without a paradox: one in space may go on in another direction."""
        others = (mode for mode in self.element.modes if mode is not ContactMode.FREE)
        return tuple(mode for mode in others if mode is not self.label or mode is ContactMode.SLIDE)

    @property
    def held(self) -> tuple[ForceRow, ...]:
        """The components of its force that hold the acceleration along them at zero."""
        return tuple(row for row in self.element.rows if (self.presses if row.axis is None else self.sticks))

    @property
    def slip_sign(self) -> float:
        """Sign of the slip in a planar sliding mode, else 0."""
        return float(self.label.slip_sign)


@attrs.frozen
class ForceRow:
    """One component of a contact force.

    Attributes
    ----------
    element : ForceElement
    axis : int or None
        Tangential direction; None for the normal force.
    """

    element: ForceElement
    axis: int | None = None

    @property
    def place(self) -> tuple[str, int]:
        """Its block, ``"N"``, ``"T"`` or ``"B"`` as in ``lambda_N`` and so on, and its column there."""
        if self.axis is not None:
            return "T", self.element.columns[self.axis]
        return ("B" if self.element.kind is ElementKind.BILATERAL else "N"), self.element.index

    def direction(self, terms: Terms | Equations) -> NDArray[Any]:
        """Generalised direction (..., n) of the force."""
        block, column = self.place
        found: NDArray[Any] = terms.J[..., column, :] if block == "B" else getattr(terms, f"W_{block}")[..., column]
        return found

    def zeta(self, terms: Terms | Equations) -> Any:
        """What velocities and moving guides add to the acceleration (...) along it."""
        block, column = self.place
        return getattr(terms, f"zeta_{block}")[..., column]

    def velocity(self, terms: Terms) -> NDArray[Any]:
        """Contact velocity (...) along it."""
        block, column = self.place
        found: NDArray[Any] = getattr(terms, VELOCITIES[block])[..., column]
        return found


@attrs.frozen(eq=False)
class GivenForce:
    """A force of sliding friction: ``factor`` times the normal force that it follows, or ``factor`` alone."""

    row: ForceRow
    leader: ForceRow | None
    factor: Any


@attrs.frozen(eq=False)
class ForceLaw:
    """Which forces of a mode are unknown, and what friction makes of the others.

    Attributes
    ----------
    unknown : tuple of ForceRow
        Their accelerations vanish.
    given : tuple of GivenForce
        All others are zero.
    """

    unknown: tuple[ForceRow, ...]
    given: tuple[GivenForce, ...]


def force_law(
    rows: Iterable[ElementMode],
    *,
    friction: Callable[[ForceElement], Any],
    direction: Callable[[ElementMode], Sequence[Any]],
) -> ForceLaw:
    """The laws of contact and Coulomb friction in a mode, in the arithmetic of what is handed over.

    Parameters
    ----------
    rows : iterable of ElementMode
    friction : callable
        Friction coefficient, or limit force, of a force element.
    direction : callable
        Components of the unit direction of slip of a row that slides.

    Returns
    -------
    ForceLaw
        ``lambda_T = -mu abs(lambda_N) u`` where a row slides along ``u`` (Pfeiffer and Glocker 1996, chapter 5).

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import Mode, derive
    >>> rows = rows_of(derive(mechanisms.load("rod_on_incline")), Mode({"tip": "slide-"}))
    >>> law = force_law(rows, friction=lambda element: 0.5, direction=lambda row: (row.slip_sign,))
    >>> [row.place for row in law.unknown], [given.factor for given in law.given]
    ([('N', 0)], [0.5])
    """
    unknown: list[ForceRow] = []
    given: list[GivenForce] = []
    for row in rows:
        unknown += row.held
        if row.slides:
            normal, coefficient = ForceRow(row.element) if row.presses else None, friction(row.element)
            for axis, component in enumerate(direction(row)):
                drag = coefficient * component
                given.append(GivenForce(ForceRow(row.element, axis), normal, -drag if row.side > 0 else drag))
    return ForceLaw(tuple(unknown), tuple(given))


def force_elements(dynamics: AbstractStructure) -> tuple[ForceElement, ...]:
    """The force elements of a mechanism, in the order of its mode labels.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    tuple of ForceElement
        Contacts, friction elements, rigid constraints with friction.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> (tip,) = force_elements(derive(mechanisms.load("rod_on_incline")))
    >>> tip.kind.value, [mode.value for mode in tip.modes]
    ('contact', ['free', 'stick', 'slide+', 'slide-'])
    """
    return dynamics.once(_force_elements)


def _force_elements(dynamics: AbstractStructure) -> tuple[ForceElement, ...]:
    frictional = [name for name in dynamics.rigid if name in dynamics.columns]
    groups = (
        (ElementKind.CONTACT, dynamics.contacts, dynamics.contacts),
        (ElementKind.ELEMENT, dynamics.elements, dynamics.elements),
        (ElementKind.BILATERAL, frictional, dynamics.rigid),
    )
    unsigned = dynamics.unsigned_friction
    return tuple(
        ForceElement(name, kind, places.index(name), dynamics.columns_of(name), unsigned.get(name, ()))
        for kind, names, places in groups
        for name in names
    )


def has_stiction(terms: Terms, element: ForceElement) -> NDArray[np.bool_]:
    """Where the static friction of a force element differs from the kinetic one.

    Parameters
    ----------
    terms : Terms
        At one state or many.
    element : ForceElement

    Returns
    -------
    array of bool, (...)
    """
    kinetic, static = (getattr(terms, element.friction_term(is_static=of))[..., element.index] for of in (False, True))
    return np.asarray(kinetic != static)


_NOT_NEGATIVE = ("friction", "static_friction", "limit", "static_limit", "constraint_friction")


def not_negative(dynamics: AbstractStructure, terms: Terms) -> Iterator[tuple[str, NDArray[Any]]]:
    """Friction coefficients and limit forces, which no mechanism has below zero.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state or many.

    Yields
    ------
    tuple of str and array, (..., number)
        The names of terms and their values; of limits those of both directions.
    """
    for name in _NOT_NEGATIVE:
        yield name, getattr(terms, name)
    if dynamics.elements:
        mean = terms.mean_T[..., [dynamics.columns[name].start for name in dynamics.elements]]
        yield "limit", terms.limit - mean
        yield "limit", terms.limit + mean


def check_friction(dynamics: AbstractStructure, terms: Terms) -> None:
    """Refuse friction coefficients and limit forces that are negative at one of the states.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state or many.

    Returns
    -------
    None
        Nothing is negative.

    Raises
    ------
    StateError
        With the least value.
    """
    for name, values in not_negative(dynamics, terms):
        if min(values.tolist(), default=0.0) < 0.0 if values.ndim == 1 else (values < 0).any():
            kind = "limit force" if "limit" in name else "friction"
            raise StateError(
                f"{dynamics.name}: the {kind} is negative ({np.nanmin(values):.6g}) at "
                f"{'this state' if values.ndim == 1 else 'some of the states'}; it must be zero or positive everywhere"
            )


def rows_of(dynamics: Dynamics, mode: Mode, force_signs: Mapping[str, float] | None = None) -> tuple[ElementMode, ...]:
    """The rows of the table that make up a mode.

    Parameters
    ----------
    dynamics : Dynamics
    mode : Mode
    force_signs : mapping of str to float, optional
        Signs of bilateral normal forces, +1 unless given.

    Returns
    -------
    tuple of ElementMode
        One for every force element of the mechanism, in order.
    """
    signs = force_signs or {}
    return tuple(ElementMode(item, mode[item.name], signs.get(item.name, 1.0)) for item in force_elements(dynamics))


def spatial_slides(rows: Iterable[ElementMode]) -> tuple[ElementMode, ...]:
    """The rows whose slip has a direction in a plane.

    Parameters
    ----------
    rows : iterable of ElementMode

    Returns
    -------
    tuple of ElementMode
    """
    return tuple(row for row in rows if row.slides and len(row.columns) == 2)
