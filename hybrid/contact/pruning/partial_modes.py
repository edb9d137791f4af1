"""Partial modes: of every force element the modes that it may still have, and the conditions that they share."""

from __future__ import annotations

import attrs

from hybrid.contact.cover.parts import unsettled
from hybrid.contact.modes import ActiveElement, ContactMode, ModeConditions, Row, solvable_modes

__all__ = ["Key", "PartialMode", "divided", "key_of", "partial_mode"]

Key = tuple[tuple[str, int, float], ...]
"""A linear function of accelerations and forces, up to its sign; the constant comes last."""


@attrs.frozen(eq=False)
class PartialMode:
    """Some modes of a force element, and conditions that hold in each of them.

    Attributes
    ----------
    element : ActiveElement
    places : tuple of int
        Of the modes among those of the element (:func:`solvable_modes`).
    equations, inequalities : tuple of Row
        What follows from any of them; of one mode all of its own conditions, too.
    """

    element: ActiveElement
    places: tuple[int, ...]
    equations: tuple[Row, ...]
    inequalities: tuple[Row, ...]


def key_of(row: Row) -> tuple[Key, float]:
    """The function of a condition whose first coefficient is positive, and the sign with which the condition has it.

    Parameters
    ----------
    row : Row
        At one state.

    Returns
    -------
    key : tuple of (str, int, float)
    sign : float
        +1 or -1.
    """
    terms = [("a", index, float(value)) for index, value in sorted(row.alpha.items()) if value]
    terms += [("f", index, float(value)) for index, value in sorted(row.beta.items()) if value]
    sign = -1.0 if terms and terms[0][2] < 0 else 1.0
    return (*((kind, index, sign * value) for kind, index, value in terms), ("", 0, sign * float(row.constant))), sign


def partial_mode(element: ActiveElement, places: tuple[int, ...]) -> PartialMode:
    """What is known of an element that has one of some modes.

    Parameters
    ----------
    element : ActiveElement
        At one state; no spatial contact at rest.
    places : tuple of int

    Returns
    -------
    PartialMode
    """
    modes = solvable_modes(element)
    chosen = [modes[place] for place in places]
    equations = [{key_of(row)[0]: row for row in mode.equations} for mode in chosen]
    inequalities = [{key_of(row): row for row in mode.inequalities} for mode in chosen]
    known = unsettled(element)
    zero = {key_of(row)[0]: row for row in known.equations}
    zero |= {key: row for key, row in equations[0].items() if all(key in given for given in equations)}
    # an inequality of every mode, or one that follows from an equation of some
    least = {key_of(row): row for row in known.inequalities}
    least |= {
        item: row
        for given in inequalities
        for item, row in given.items()
        if all(item in own or item[0] in still for own, still in zip(inequalities, equations, strict=True))
    }
    return PartialMode(element, places, tuple(zero.values()), tuple(least.values()))


def divided(element: ActiveElement, places: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Some modes of an element in parts: by the side on which it presses, if they differ in that, or one by one.

    Parameters
    ----------
    element : ActiveElement
    places : tuple of int

    Returns
    -------
    tuple of tuple of int
    """
    modes = solvable_modes(element)
    parts: dict[tuple[object, ...], list[int]] = {}
    for place in places:
        parts.setdefault(_side(modes[place]), []).append(place)
    return tuple(map(tuple, parts.values())) if len(parts) > 1 else tuple((place,) for place in places)


def _side(mode: ModeConditions) -> tuple[object, ...]:
    """Free, or the sign of the normal force."""
    if mode.label is ContactMode.FREE:
        return ("free",)
    return tuple(key_of(row) for row in mode.inequalities if set(row.beta) == {mode.element.normal} and not row.alpha)
