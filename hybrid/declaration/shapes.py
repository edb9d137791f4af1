"""Parts of a declaration that must come together, exclude one another, or have a certain length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hybrid.declaration.fields import label
from hybrid.declaration.names import suggestion
from hybrid.declaration.parts import (
    Constraint,
    Contact,
    EnergyDynamics,
    FrictionElement,
)
from hybrid.errors import Problem

if TYPE_CHECKING:
    from hybrid.declaration.parts import AbstractMechanism


def shape_problems(mechanism: AbstractMechanism) -> Iterator[Problem]:
    """Lengths that do not fit, and fields that exclude or need one another, as problems.

    Parameters
    ----------
    mechanism : AbstractMechanism

    Returns
    -------
    iterator of Problem
        In the order of the file format.
    """
    yield from _dynamics(mechanism)
    yield from _forces(mechanism)
    for index, contact in enumerate(mechanism.contact):
        yield from _contact(contact, index)
    for index, element in enumerate(mechanism.friction):
        yield from _element(element, index)
    for index, constraint in enumerate(mechanism.constraint):
        yield from _constraint(constraint, index)
    yield from _drawing(mechanism)


def _dynamics(mechanism: AbstractMechanism) -> Iterator[Problem]:
    dynamics = mechanism.dynamics
    if isinstance(dynamics, EnergyDynamics):
        return
    n = len(mechanism.coordinates)
    lengths = [len(row) for row in dynamics.mass_matrix]
    if lengths != [n] * n:
        shape = f"{len(lengths)} rows of {sorted(set(lengths)) or 'no'} entries".replace("[", "").replace("]", "")
        message = f"must have {n} rows of {n} entries, one for each coordinate, not {shape}"
        yield Problem(message, "dynamics.mass_matrix", path=("dynamics", "mass_matrix"))
    if len(dynamics.forces) != n:
        message = f"must have {n} entries, one for each coordinate, not {len(dynamics.forces)}"
        yield Problem(message, "dynamics.forces", path=("dynamics", "forces"))


def _forces(mechanism: AbstractMechanism) -> Iterator[Problem]:
    for name in mechanism.forces:
        if name not in mechanism.coordinates:
            hint = suggestion(name, mechanism.coordinates)
            yield Problem(f"'{name}' is not a coordinate", f"forces.{name}", hint=hint, path=("forces", name))


def _contact(contact: Contact, index: int) -> Iterator[Problem]:
    field = label("contact", contact.name, index)
    path = ("contact", index)
    if contact.tangent and contact.slip:
        message = "tangent and slip exclude one another"
        yield Problem(message, field, hint="slip is the rate of a tangent", path=(*path, "slip"))
    for name in ("tangent", "slip"):
        length = len(getattr(contact, name))
        if length > 2:
            message = f"must be one expression (planar) or two (spatial), not {length}"
            yield Problem(message, f"{field}.{name}", path=(*path, name))
    if contact.dimension:
        return
    for name, default in (("friction", "0"), ("static_friction", None)):
        if getattr(contact, name) != default:
            hint = "without them the contact is frictionless"
            yield Problem("needs tangent or slip", f"{field}.{name}", hint=hint, path=(*path, name))


def _element(element: FrictionElement, index: int) -> Iterator[Problem]:
    field = label("friction", element.name, index)
    if element.tangent is None and element.slip is None:
        yield Problem("needs tangent or slip", field, path=("friction", index))
    if element.tangent is not None and element.slip is not None:
        hint = "slip is the rate of a tangent"
        yield Problem("tangent and slip exclude one another", field, hint=hint, path=("friction", index, "slip"))


def _constraint(constraint: Constraint, index: int) -> Iterator[Problem]:
    field = label("constraint", constraint.name, index)
    path = ("constraint", index)
    given = [name for name in ("tangent", "slip") if getattr(constraint, name) is not None]
    if constraint.friction is None and given:
        yield Problem("needs friction", f"{field}.{given[0]}", path=(*path, given[0]))
    if constraint.friction is not None and not given:
        yield Problem("needs tangent or slip", f"{field}.friction", path=(*path, "friction"))
    if len(given) == 2:
        hint = "slip is the rate of a tangent"
        yield Problem("tangent and slip exclude one another", field, hint=hint, path=(*path, "slip"))
    if constraint.friction is not None and constraint.stiffness is not None:
        hint = "the force is known: declare [[friction]] with limit = friction*stiffness*abs(equation)"
        yield Problem("an elastic constraint has no friction of its own", field, hint=hint, path=(*path, "friction"))


def _drawing(mechanism: AbstractMechanism) -> Iterator[Problem]:
    points = mechanism.drawing.points
    for name, point in points.items():
        if len(point) not in (2, 3):
            message = f"must have two or three expressions, not {len(point)}"
            yield Problem(message, f"drawing.points.{name}", path=("drawing", "points", name))
    first = next(iter(points), "")
    for name, point in points.items():
        if {len(point), len(points[first])} == {2, 3}:
            message = f"has {len(point)} expressions, and '{first}' has {len(points[first])}"
            hint = "a drawing is in the plane or in space"
            yield Problem(message, f"drawing.points.{name}", hint=hint, path=("drawing", "points", name))
    for index, link in enumerate(mechanism.drawing.links):
        field, path = f"drawing.links[{index + 1}]", ("drawing", "links", index)
        if len(link) != 2:
            yield Problem(f"must name two points, not {len(link)}", field, path=path)
        for name in link:
            if name not in points:
                yield Problem(f"'{name}' is not a point", field, hint=suggestion(name, points), path=path)
    for index, guide in enumerate(mechanism.drawing.guides):
        field, path = f"drawing.guides[{index + 1}]", ("drawing", "guides", index)
        if len(guide) != 2:
            yield Problem(f"must name a point and a coordinate, not {len(guide)} things", field, path=path)
            continue
        for name, noun, known in ((guide[0], "point", points), (guide[1], "coordinate", mechanism.coordinates)):
            if name not in known:
                yield Problem(f"'{name}' is not a {noun}", field, hint=suggestion(name, known), path=path)
