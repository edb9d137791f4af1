"""Parts that cover all solutions of Coulomb's law at rest, each with linear conditions.

A spatial contact at rest is free, or sticks, or begins to slip in a direction of one of some sectors. Sticking is
confined by a polygon around the disc of friction; in a sector, the acceleration and the opposite of the friction force
lie between its edges, and the force between the chord and the tangents of its arc. Every solution of Coulomb's law lies
in such a part for each contact: a part without forces has no solution, while one with forces need not have any.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.modes import ActiveElement, ContactMode, ElementKind, Row, mode_conditions, solvable_modes
from hybrid.contact.spatial import N_POLYGON, polygon_of

if TYPE_CHECKING:
    from hybrid.contact.modes import ModeConditions

__all__ = [
    "PRESSING",
    "CoverPart",
    "halves",
    "has_disc",
    "options",
    "rebuilt",
    "sliding_along",
    "sticking",
    "unsettled",
]

N_SECTORS = 4
"""Sectors of slip at first; each is halved where it decides nothing."""

PRESSING = "lambda_N >= 0"
"""As the modes call it, too."""


@attrs.frozen(eq=False)
class CoverPart:
    """What one force element is taken to do.

    Attributes
    ----------
    element : ActiveElement
    label : ContactMode or None
        None where nothing is settled: the conditions are then those that all of its modes meet.
    angles : tuple of float or None
        Directions of slip (rad) between which it begins to slip, the first less than the second.
    equations, inequalities : tuple of Row
        Conditions that are necessary for it.
    place : int
        Among the modes of its element, where these have linear conditions.
    """

    element: ActiveElement
    label: ContactMode | None
    angles: tuple[float, float] | None
    equations: tuple[Row, ...]
    inequalities: tuple[Row, ...]
    place: int = 0

    @property
    def is_sector(self) -> bool:
        """True for slip in one of many directions."""
        return self.angles is not None

    @property
    def specification(self) -> tuple[str, tuple[float, float] | None, int]:
        """What the conditions follow from."""
        return ("" if self.label is None else self.label.value), self.angles, self.place


def unsettled(element: ActiveElement) -> CoverPart:
    """A part that holds everything an element can do.

    Parameters
    ----------
    element : ActiveElement
        At one state.

    Returns
    -------
    CoverPart
        Without a label.
    """
    greatest = max(float(element.friction), float(element.static_friction))
    equations: list[Row] = []
    inequalities: list[Row] = []
    if element.kind is ElementKind.BILATERAL:
        equations.append(Row("a_N = 0", alpha={element.rows[0]: 1.0}))
    elif element.normal is not None:
        inequalities += [_opens(element), _presses(element)]
    if element.kind is not ElementKind.BILATERAL and element.direction is not None:
        for row, component in zip(element.tangential, element.direction, strict=True):
            share = float(component) * float(element.friction)
            beta = {row: 1.0} if element.normal is None else {row: 1.0, element.normal: share}
            equations.append(Row("lambda_T", beta=beta, constant=share if element.normal is None else 0.0))
    elif element.kind is not ElementKind.BILATERAL and len(element.tangential) == 1:
        for sign in (1.0, -1.0):
            beta = {element.tangential[0]: -sign} | ({} if element.normal is None else {element.normal: greatest})
            inequalities.append(Row("limit", beta=beta, constant=greatest if element.normal is None else 0.0))
    elif has_disc(element):
        inequalities += polygon_of(element, greatest, N_POLYGON)
    return CoverPart(element, None, None, tuple(equations), tuple(inequalities))


def options(element: ActiveElement, ahead: float) -> tuple[CoverPart, ...]:
    """Parts that together hold everything an element can do.

    Parameters
    ----------
    element : ActiveElement
    ahead : float
        Direction (rad) in the middle of the first sector.

    Returns
    -------
    tuple of CoverPart
        Sticking first.
    """
    if not has_disc(element):
        modes = sorted(enumerate(solvable_modes(element)), key=lambda item: item[1].label is ContactMode.FREE)
        return tuple(_settled(element, mode, place=place) for place, mode in modes)
    width = 2 * np.pi / N_SECTORS
    edges = [ahead + (k - 0.5) * width for k in range(N_SECTORS + 1)]
    sectors = (_sector(element, low, high) for low, high in pairwise(edges))
    return (sticking(element), _free(element), *sectors)


def has_disc(element: ActiveElement) -> bool:
    """True where friction is confined by a disc: a spatial contact at rest.

    Parameters
    ----------
    element : ActiveElement

    Returns
    -------
    bool
        False where it has no friction.
    """
    return element.is_spatial_at_rest and not element.is_smooth


def rebuilt(part: CoverPart) -> CoverPart:
    """A part with its conditions put together anew from what it says it is.

    Parameters
    ----------
    part : CoverPart

    Returns
    -------
    CoverPart
        Of the same specification; its conditions owe nothing to those given.
    """
    element = part.element
    if part.label is None:
        return unsettled(element)
    if part.angles is not None:
        return _sector(element, *part.angles)
    if has_disc(element):
        return sticking(element) if part.label is ContactMode.STICK else _free(element)
    return next(option for option in options(element, 0.0) if option.place == part.place)


def halves(part: CoverPart) -> tuple[CoverPart, CoverPart]:
    """The two parts into which a sector is divided in its middle.

    Parameters
    ----------
    part : CoverPart
        A sector.

    Returns
    -------
    CoverPart, CoverPart
        That of the smaller angles first.
    """
    low, high = part.angles or (0.0, 0.0)
    middle = (low + high) / 2
    return _sector(part.element, low, middle), _sector(part.element, middle, high)


def sticking(element: ActiveElement, *, n_facets: int = N_POLYGON, share: float = 1.0) -> CoverPart:
    """Sticking with its force inside of a polygon around the disc, or around a share of it.

    Around the share ``cos(pi / n_facets)`` the polygon lies inside of the disc: what meets it is sticking.

    Parameters
    ----------
    element : ActiveElement
        A spatial contact at rest.
    n_facets : int
        Of the polygon.
    share : float
        Of the radius of the disc.

    Returns
    -------
    CoverPart
    """
    polygon = polygon_of(element, share * float(element.static_friction), n_facets)
    return _settled(element, mode_conditions(element)[1], *polygon)


def sliding_along(element: ActiveElement, angle: float) -> CoverPart:
    """The beginning of slip in one direction: conditions that suffice, with that of its acceleration in line.

    Parameters
    ----------
    element : ActiveElement
        A spatial contact at rest.
    angle : float
        Of the direction; rad.

    Returns
    -------
    CoverPart
    """
    u = float(np.cos(angle)), float(np.sin(angle))
    _, slide = mode_conditions(attrs.evolve(element, direction=u))
    onward = Row("a_T in the direction of slip", alpha=dict(zip(element.tangential, u, strict=True)))
    return attrs.evolve(_settled(element, slide, onward), angles=(angle, angle))


def _settled(element: ActiveElement, mode: ModeConditions, *further: Row, place: int = 0) -> CoverPart:
    return CoverPart(element, mode.label, None, mode.equations, (*mode.inequalities, *further), place)


def _free(element: ActiveElement) -> CoverPart:
    return _settled(element, mode_conditions(element)[0])


def _sector(element: ActiveElement, low: float, high: float) -> CoverPart:
    (normal, first, second), mu = element.rows, float(element.friction)

    def along(angle: float, sign: float = 1.0) -> dict[int, float]:
        return {first: sign * float(np.cos(angle)), second: sign * float(np.sin(angle))}

    half = (high - low) / 2
    edges = [along(low + np.pi / 2), along(high - np.pi / 2)]  # inward normals of the sector
    tangents = [along(angle) for angle in (low, (low + high) / 2, high)]
    return CoverPart(
        element,
        ContactMode.SLIDE,
        (low, high),
        (Row("a_N = 0", alpha={normal: 1.0}),),
        (
            _presses(element),
            *(Row("a_T in the sector", alpha=edge) for edge in edges),
            *(Row("-lambda_T in the sector", beta={row: -value for row, value in edge.items()}) for edge in edges),
            Row(
                "beyond the chord",
                beta={**along((low + high) / 2, -1.0), normal: -mu * float(np.cos(half))},
            ),
            *(Row("within the tangent", beta={**tangent, normal: mu}) for tangent in tangents),
        ),
    )


def _opens(element: ActiveElement) -> Row:
    return Row("a_N >= 0", alpha={element.rows[0]: 1.0})


def _presses(element: ActiveElement) -> Row:
    return Row(PRESSING, beta={element.rows[0]: 1.0})
