"""Guards: the functions of the state whose zeros end a mode, written once for every arithmetic.

A *view* answers for one mode what its quantities are: expressions, nodes of a graph, arrays of states, or numbers with
their derivatives.

Exits: the modes that may follow when guards of a mode fire.
"""

from __future__ import annotations

import operator
from enum import Enum, StrEnum
from functools import reduce
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.modes import ContactMode, ElementKind, Mode
from hybrid.contact.table import ElementMode, ForceRow

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from hybrid.contact.table import ForceElement
    from hybrid.dynamics.equations import Terms
    from hybrid.dynamics.partials import Forces


class GuardKind(StrEnum):
    """Why a mode ends: by one of its own guards, or by what a user or the constraints ask of the motion."""

    sentence: str
    """The kind in words."""

    def __new__(cls, word: str, sentence: str) -> GuardKind:
        """A member from its word and its sentence."""
        kind = str.__new__(cls, word)
        kind._value_, kind.sentence = word, sentence
        return kind

    TOUCHDOWN = "touchdown", "gap falls to 0"
    RELEASE = "release", "lambda_N falls to 0"
    REVERSAL = "reversal", "lambda_N changes sign"
    SLIP = "slip", "slip reaches 0"
    CONE_PLUS = "cone+", "lambda_T reaches the friction cone against positive slip"
    CONE_MINUS = "cone-", "lambda_T reaches the friction cone against negative slip"
    CONE = "cone", "abs(lambda_T) reaches the friction cone"
    SINGULAR = "singular", "A_s reaches 0"
    EXHAUSTED = "exhausted", "no admissible contact forces are left"
    FRICTION = "friction", "friction falls below 0"
    RANK = "rank", "the constraints lose rank"
    KINK = "kink", "a surface has a kink"
    WATCH = "watch", "a watched function changes sign"
    UNTIL = "until", "the condition to stop at is met"
    UNDEFINED = "undefined", "an expression loses its value"


CONES = (GuardKind.CONE_PLUS, GuardKind.CONE_MINUS, GuardKind.CONE)
RELEASES = (GuardKind.RELEASE, GuardKind.REVERSAL)
USERS = (GuardKind.WATCH, GuardKind.UNTIL)
"""Kinds of guards that belong to the user, not to a mode."""
OUTER = (GuardKind.RANK, GuardKind.KINK, GuardKind.UNDEFINED, *USERS)
"""Kinds of guards that no mode owns."""


@attrs.frozen(eq=False)
class ArrayView:
    """Quantities of a mode from its terms and contact forces, at one state or many.

    Attributes
    ----------
    terms : Terms
    forces : Forces
    directions : mapping of str to array, (2,)
        Directions to which slips in space keep; without one their magnitude is meant.
    determinant, slack : callable or None
        Give the determinant of the mode's equations, ``A_s`` of a single sliding contact, and of a hyperstatic mode by
        how much its inequalities can all be met.
    """

    terms: Terms
    forces: Forces
    directions: Mapping[str, NDArray[np.float64]] = attrs.field(factory=dict)
    determinant: Callable[[], Any] | None = None
    slack: Callable[[], Any] | None = None

    def declared(self, name: str, index: int) -> Any:
        """A quantity of the declaration, or one of its coefficients."""
        return getattr(self.terms, name)[..., index]

    def direction(self, part: ForceElement) -> Any:
        """Components of the direction to which a slip in space keeps, or None."""
        return self.directions.get(part.name)

    def force(self, row: ForceRow) -> Any:
        """One component of a contact force."""
        block, column = row.place
        return getattr(self.forces, f"lambda_{block}")[..., column]

    def acceleration(self, row: ForceRow) -> Any:
        """The contact acceleration along it."""
        return np.sum(self.forces.a * row.direction(self.terms), axis=-1) + row.zeta(self.terms)

    def root(self, square: Any) -> Any:
        """Square root."""
        return np.sqrt(square)


class Measure(Enum):
    """A quantity whose sign matters."""

    GAP = "gap"
    GAP_DOT = "gap_dot"
    NORMAL_ACCELERATION = "a_N"
    NORMAL_FORCE = "lambda_N"
    SLIP = "slip"
    SLIP_NORM = "abs(slip)"
    TANGENTIAL_ACCELERATION = "a_T"
    CONE_PLUS = "mu*lambda_N + lambda_T"
    CONE_MINUS = "mu*lambda_N - lambda_T"
    CONE = "mu*lambda_N - abs(lambda_T)"
    LIMIT_PLUS = "F + lambda_T"
    LIMIT_MINUS = "F - lambda_T"
    FRICTION = "friction"
    DETERMINANT = "A"
    SLACK = "slack"


@attrs.frozen
class Quantity:
    """A measure of one force element, perhaps with its sign turned.

    Attributes
    ----------
    measure : Measure
    part : ForceElement or None
        None for the determinant and the slack, which belong to the whole mode.
    sign : int
    axis : int
        Tangential component; of friction, which of its terms.
    side : float
        Sign of the normal force on which a friction cone stands.
    """

    measure: Measure
    part: ForceElement | None
    sign: int = 1
    axis: int = 0
    side: float = 1.0

    def of(self, view: Any) -> Any:
        """Evaluate in a view.

        Parameters
        ----------
        view : object
            Answers what is measured, as :class:`ArrayView` does.

        Returns
        -------
        float, array, (...), or expression
            As the view answers, in the units of what is measured: of a gap, slip, acceleration or contact force.
        """
        if self.part is None:
            return view.determinant() if self.measure is Measure.DETERMINANT else view.slack()
        value = self._measured(self.part, view)
        return value if self.sign > 0 else -value

    def _measured(self, part: ForceElement, view: Any) -> Any:
        match self.measure:
            case Measure.GAP:
                return view.declared("gap", part.index)
            case Measure.GAP_DOT:
                return view.declared("gap_dot", part.index)
            case Measure.NORMAL_ACCELERATION:
                return view.acceleration(ForceRow(part))
            case Measure.NORMAL_FORCE:
                return view.force(ForceRow(part))
            case Measure.SLIP:
                return view.declared("slip", part.columns[self.axis])
            case Measure.SLIP_NORM:
                slip, along = [view.declared("slip", column) for column in part.columns], view.direction(part)
                return _length(view, slip) if along is None else _product(slip, along)
            case Measure.TANGENTIAL_ACCELERATION:
                return view.acceleration(ForceRow(part, self.axis))
            case Measure.CONE:
                friction = view.declared(part.friction_term(is_static=True), part.index)
                held = [view.force(ForceRow(part, axis)) for axis in range(len(part.columns))]
                return friction * view.force(ForceRow(part)) - _length(view, held)
            case Measure.FRICTION:
                name, side = part.unsigned_friction[self.axis]
                value = view.declared(name, part.index)
                return value + side * view.declared("mean_T", part.columns[0]) if side else value
            case _:
                return self._distance_to_cone(part, view)

    def _distance_to_cone(self, part: ForceElement, view: Any) -> Any:
        """Static friction still available against slip in the positive or negative direction."""
        limit = view.declared(part.friction_term(is_static=True), part.index)
        if part.has_normal:
            pressing = view.force(ForceRow(part))
            limit = limit * (pressing if self.side > 0 else -pressing)
        force = view.force(ForceRow(part, 0))
        return limit + force if self.measure in (Measure.CONE_PLUS, Measure.LIMIT_PLUS) else limit - force


def _product(first: Sequence[Any], second: Sequence[Any]) -> Any:
    return reduce(operator.add, map(operator.mul, first, second))


def _length(view: Any, components: Sequence[Any]) -> Any:
    return view.root(_product(components, components))


@attrs.frozen
class Guard:
    """A function of the state whose zero ends a mode.

    Attributes
    ----------
    kind : GuardKind
    elements : tuple of str
        The force element; several sliding contacts whose equations become singular together; or a user's function.
    quantity : Quantity or None
        None for what no mode owns.
    direction : int
        -1 if it falls through zero, +1 if it rises, 0 for either.
    """

    kind: GuardKind
    elements: tuple[str, ...]
    quantity: Quantity | None = None
    direction: int = -1

    @property
    def element(self) -> str:
        """The names as one."""
        return ",".join(self.elements)

    def distance(self, view: Any) -> Any:
        """Its value in a view.

        Parameters
        ----------
        view : object
            Answers what is measured, as :class:`ArrayView` does.

        Returns
        -------
        float, array or expression
            Positive where the mode lasts; of either sign where it may cross both ways.
        """
        if self.quantity is None:
            raise ValueError(f"the guard {self.kind.value} measures nothing of a mode")
        value = self.quantity.of(view)
        return -value if self.direction > 0 else value


def guards_of(
    rows: Sequence[ElementMode], *, singular: Sequence[str] | None = None, is_hyperstatic: bool = False
) -> tuple[Guard, ...]:
    """The guards of a mode.

    Parameters
    ----------
    rows : sequence of ElementMode
    singular : sequence of str, optional
        Sliding contacts whose equations can become singular; all that slide and press unless given.
    is_hyperstatic : bool
        Forces are not determined one by one: instead of their signs, the set of admissible forces is watched.

    Returns
    -------
    tuple of Guard

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import Mode, derive
    >>> from hybrid.contact.table import rows_of
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> [guard.kind.value for guard in guards_of(rows_of(rod, Mode({"tip": "slide+"})))]
    ['release', 'slip', 'singular']
    """
    found = [guard for row in rows for guard in _row_guards(row, is_hyperstatic=is_hyperstatic)]
    if singular is None:
        singular = [row.name for row in rows if row.slides and row.presses]
    if singular:
        found.append(Guard(GuardKind.SINGULAR, tuple(singular), Quantity(Measure.DETERMINANT, None), 0))
    if is_hyperstatic:
        pressing = tuple(row.name for row in rows if not row.is_open)
        found.append(Guard(GuardKind.EXHAUSTED, pressing, Quantity(Measure.SLACK, None)))
    return tuple(found)


def _row_guards(row: ElementMode, *, is_hyperstatic: bool) -> Iterator[Guard]:
    part, names = row.element, (row.name,)
    for place in range(len(part.unsigned_friction)):
        yield Guard(GuardKind.FRICTION, names, Quantity(Measure.FRICTION, part, axis=place))
    if row.is_open:
        yield Guard(GuardKind.TOUCHDOWN, names, Quantity(Measure.GAP, part))
        return
    if row.presses and not is_hyperstatic:
        kind = GuardKind.RELEASE if part.is_unilateral else GuardKind.REVERSAL
        yield Guard(kind, names, Quantity(Measure.NORMAL_FORCE, part), -1 if row.side > 0 else 1)
    if row.sticks and not is_hyperstatic:
        for kind, quantity in cone_of(row):
            yield Guard(kind, names, quantity)
    elif row.label is ContactMode.SLIDE:
        yield Guard(GuardKind.SLIP, names, Quantity(Measure.SLIP_NORM, part))
    elif row.slides:
        yield Guard(GuardKind.SLIP, names, Quantity(Measure.SLIP, part), -row.label.slip_sign)


def outer_guard(kind: GuardKind, *elements: str) -> Guard:
    """A guard that no mode owns: of the constraints, of what is declared, or of the user.

    Parameters
    ----------
    kind : GuardKind
        One of ``OUTER``.
    elements : str
        Whose it is.

    Returns
    -------
    Guard
    """
    if kind not in OUTER:
        raise ValueError(f"a guard of the kind {kind.value} is one of a mode: take it from guards_of")
    return Guard(kind, elements)


def cone_of(row: ElementMode) -> tuple[tuple[GuardKind, Quantity], ...]:
    """Distance of a row that sticks to the friction cone on both sides, or to the circular one.

    Parameters
    ----------
    row : ElementMode
        With a force element that has friction.

    Returns
    -------
    tuple of (GuardKind, Quantity)
        Both edges of a planar cone, or of the limits of a friction element; a spatial contact has one.
    """
    part = row.element
    if len(part.columns) == 2:
        return ((GuardKind.CONE, Quantity(Measure.CONE, part)),)
    plus, minus = Measure.CONE_PLUS, Measure.CONE_MINUS
    if not part.has_normal:
        plus, minus = Measure.LIMIT_PLUS, Measure.LIMIT_MINUS
    return (
        (GuardKind.CONE_PLUS, Quantity(plus, part, side=row.side)),
        (GuardKind.CONE_MINUS, Quantity(minus, part, side=row.side)),
    )


@attrs.frozen
class Exit:
    """Modes that may follow, by force element.

    Attributes
    ----------
    labels : mapping of str to tuple of ContactMode
    force_signs : mapping of str to tuple of int
        Signs of the normal forces of bilateral contacts with friction.
    """

    labels: Mapping[str, tuple[ContactMode, ...]]
    force_signs: Mapping[str, tuple[int, ...]]

    def admits(self, mode: Mode) -> bool:
        """Whether a mode may follow, on some side of every bilateral contact."""
        return all(mode[name] in labels for name, labels in self.labels.items())


def possible_exit(rows: Sequence[ElementMode], fired: Collection[Guard], *, stops_with: Collection[str] = ()) -> Exit:
    """Every mode that the positions and velocities permit where guards fire together.

    Parameters
    ----------
    rows : sequence of ElementMode
        Of the mode that ends.
    fired : collection of Guard
    stops_with : collection of str
        Sliding contacts that constraints stop together with those whose slip ends.

    Returns
    -------
    Exit
        Where a contact touches down, slips may end and other contacts may close with it: any mode may follow.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import Mode, derive
    >>> from hybrid.contact.guards import guards_of
    >>> from hybrid.contact.table import rows_of
    >>> rows = rows_of(derive(mechanisms.load("rod_on_incline")), Mode({"tip": "slide+"}))
    >>> release, slip, _ = guards_of(rows)
    >>> [len(possible_exit(rows, [guard]).labels["tip"]) for guard in (release, slip)]
    [2, 4]
    """
    touches = any(guard.kind is GuardKind.TOUCHDOWN for guard in fired)
    at_rest = {name for guard in fired if guard.kind is GuardKind.SLIP for name in (*guard.elements, *stops_with)}
    labels = {row.name: row.element.modes if touches or row.name in at_rest else row.lasting for row in rows}
    return Exit(labels, {row.name: (1, -1) for row in rows if row.kind is ElementKind.BILATERAL})


_BEGINS = {
    GuardKind.RELEASE: ContactMode.FREE,
    GuardKind.CONE_PLUS: ContactMode.SLIDE_PLUS,
    GuardKind.CONE_MINUS: ContactMode.SLIDE_MINUS,
    GuardKind.CONE: ContactMode.SLIDE,
}


def regular_exit(rows: Sequence[ElementMode], guard: Guard, *, stops_with: Collection[str] = ()) -> Exit:
    """Those of the possible modes that may follow where every verdict is unique.

    Forces are continuous at a release and at the edge of the cone, so that the other contacts go on as they were. They
    jump where slip stops, because friction turns: then the others may change as well.

    Parameters
    ----------
    rows, stops_with
        As for :func:`possible_exit`.
    guard : Guard

    Returns
    -------
    Exit
    """
    found, by_name = possible_exit(rows, [guard], stops_with=stops_with), {row.name: row for row in rows}
    if guard.kind is GuardKind.EXHAUSTED:
        return found
    if guard.kind is GuardKind.SLIP:
        return Exit({**found.labels, guard.element: by_name[guard.element].after_slip}, found.force_signs)
    labels: dict[str, tuple[ContactMode, ...]] = {row.name: (row.label,) for row in rows}
    force_signs = {name: (int(by_name[name].side),) for name in found.force_signs}
    if guard.kind is GuardKind.REVERSAL:
        force_signs[guard.element] = (-force_signs[guard.element][0],)
    else:
        labels[guard.element] = (_BEGINS[guard.kind],) if guard.kind in _BEGINS else ()
    return Exit(labels, force_signs)
