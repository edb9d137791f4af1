"""Exits: the modes that may follow when guards of a mode fire."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import attrs

from hybrid.contact.active_elements import ElementKind
from hybrid.contact.guards import Guard, GuardKind
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.table import ElementMode

_BEGINS = {
    GuardKind.RELEASE: ContactMode.FREE,
    GuardKind.CONE_PLUS: ContactMode.SLIDE_PLUS,
    GuardKind.CONE_MINUS: ContactMode.SLIDE_MINUS,
    GuardKind.CONE: ContactMode.SLIDE,
}


@attrs.frozen
class Exit:
    """Modes that may follow, by force element.

    Attributes
    ----------
    labels : mapping of str to tuple of ContactMode
    sides : mapping of str to tuple of int
        Signs of the normal forces of bilateral contacts with friction.
    """

    labels: Mapping[str, tuple[ContactMode, ...]]
    sides: Mapping[str, tuple[int, ...]]

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
    labels = {row.name: row.element.modes if touches or row.name in at_rest else _kept(row) for row in rows}
    return Exit(labels, {row.name: (1, -1) for row in rows if row.kind is ElementKind.BILATERAL})


def regular_exit(rows: Sequence[ElementMode], guard: Guard, *, stops_with: Collection[str] = ()) -> Exit:
    """Modes that may follow where every verdict is unique.

    Forces are continuous at a release and at the edge of the cone, so that the other contacts go on as they were. They
    jump where slip stops, because friction turns: then the others may change as well.

    Parameters
    ----------
    rows : sequence of ElementMode
        Of the mode that ends.
    guard : Guard
    stops_with : collection of str
        Sliding contacts that constraints stop together with this one.

    Returns
    -------
    Exit
    """
    labels: dict[str, tuple[ContactMode, ...]] = {row.name: (row.label,) for row in rows}
    bilateral = {row.name: int(row.side) for row in rows if row.kind is ElementKind.BILATERAL}
    sides: dict[str, tuple[int, ...]] = {name: (side,) for name, side in bilateral.items()}
    if guard.kind in _BEGINS:
        labels[guard.element] = (_BEGINS[guard.kind],)
    elif guard.kind is GuardKind.REVERSAL:
        sides[guard.element] = (-bilateral[guard.element],)
    elif guard.kind in (GuardKind.SLIP, GuardKind.EXHAUSTED):
        labels = {row.name: _kept(row) for row in rows}
        sides = dict.fromkeys(sides, (1, -1))
        if guard.kind is GuardKind.SLIP:
            labels |= {row.name: row.element.modes for row in rows if row.name in stops_with}
            labels |= {row.name: _after_slip(row) for row in rows if row.name == guard.element}
    else:
        labels = dict.fromkeys(labels, ())
    return Exit(labels, sides)


def _kept(row: ElementMode) -> tuple[ContactMode, ...]:
    """Modes open to a force element whose position and velocity do not change."""
    if row.is_open:
        return (row.label,)
    if row.sticks:
        return row.element.modes
    return (row.label, ContactMode.FREE) if row.element.is_unilateral else (row.label,)


def _after_slip(row: ElementMode) -> tuple[ContactMode, ...]:
    """Modes of a force element whose slip has ended: a spatial one may go on in another direction."""
    others = (mode for mode in row.element.modes if mode is not ContactMode.FREE)
    return tuple(mode for mode in others if mode is not row.label or mode is ContactMode.SLIDE)
