"""Parts of a declaration that must come together, exclude one another, or have a certain length.

Faults of the inertia that show without deriving it: missing, not symmetric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.declaration.fields import label, parts_of
from hybrid.declaration.names import suggestion, velocity_name
from hybrid.declaration.parts import Constraint, Contact, EnergyDynamics
from hybrid.declaration.tree import evaluate
from hybrid.errors import Problem
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hybrid.declaration.fields import FieldPath, Scope
    from hybrid.declaration.parameters import Read
    from hybrid.declaration.parts import AbstractFriction, AbstractMechanism
    from hybrid.declaration.tree import Expression


_N_SAMPLES = 4
# Two entries that are equal as functions differ by rounding only, about 1e-13 for texts of the permitted length.
_SYMMETRY = NOTHING


def inertia_problems(
    mechanism: AbstractMechanism, read: list[Read], scope: Scope, parameters: Mapping[str, float]
) -> list[Problem]:
    """Coordinates without inertia, and entries of the mass matrix that differ from their mirror images, as problems.

    Parameters
    ----------
    mechanism : AbstractMechanism
    read : list of Read
        The entries that could be read; the mass matrix is looked at if all of its entries are among them.
    scope : Scope
    parameters : mapping of str to float
        A value for every parameter, in its unit.

    Returns
    -------
    list of Problem
        Empty if nothing is wrong. Entries are compared at a few postures in general position.
    """
    by_path = {item.entry.path: item for item in read}
    if isinstance(mechanism.dynamics, EnergyDynamics):
        kinetic = by_path.get(("dynamics", "kinetic"))
        return _massless(mechanism, kinetic.traits.names) if kinetic else []
    n = len(mechanism.coordinates)
    matrix = {(i, j): by_path.get(("dynamics", "mass_matrix", i, j)) for i in range(n) for j in range(n)}
    if None in matrix.values():
        return []
    entries = {index: item.expression for index, item in matrix.items() if item is not None}
    return _rows(mechanism, entries, _samples(mechanism, scope, parameters))


def _massless(mechanism: AbstractMechanism, names: frozenset[str]) -> list[Problem]:
    return [
        Problem(
            f"the velocity of '{name}' does not occur: the mass matrix is singular at every posture",
            "dynamics.kinetic",
            hint=f"give '{name}' an inertia or remove it",
            path=("dynamics", "kinetic"),
        )
        for name in mechanism.coordinates
        if velocity_name(name) not in names
    ]


def _samples(mechanism: AbstractMechanism, scope: Scope, parameters: Mapping[str, float]) -> dict[str, Any]:
    """Values of every name at a few postures in general position."""
    random = np.random.default_rng(0)
    names = [name for name, kind in scope.kinds.items() if kind != "parameter"]
    values: dict[str, Any] = {**parameters} | {name: random.uniform(0.2, 1.2, _N_SAMPLES) for name in names}
    for name in scope.traits:
        values[name] = evaluate(scope.definitions[name], values)
    return values


def _rows(
    mechanism: AbstractMechanism, entries: Mapping[tuple[int, int], Expression], values: Mapping[str, Any]
) -> list[Problem]:
    problems: list[Problem] = []
    computed = {index: evaluate(expression, values) for index, expression in entries.items()}
    for i, name in enumerate(mechanism.coordinates):
        if not np.any(computed[i, i]):
            message = f"the inertia of '{name}' is zero: the mass matrix is singular at every posture"
            problems.append(_problem(message, i, i))
        for j in range(i):
            lower, upper = np.asarray(computed[i, j]), np.asarray(computed[j, i])
            difference = np.abs(lower - upper)
            if np.any(difference > _SYMMETRY * (np.abs(lower) + np.abs(upper))):
                hint = f"'{entries[i, j].text[:60]}' stands opposite '{entries[j, i].text[:60]}'"
                problems.append(_problem("the mass matrix must be symmetric", i, j, hint))
    return problems


def _problem(message: str, i: int, j: int, hint: str = "") -> Problem:
    field = f"dynamics.mass_matrix[{i + 1}][{j + 1}]"
    return Problem(message, field, hint=hint, path=("dynamics", "mass_matrix", i, j))


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
    for table, index, part in parts_of(mechanism):
        field, path = label(table, part.name, index), (table, index)
        if isinstance(part, Contact):
            yield from _contact(part, field, path)
        elif isinstance(part, Constraint):
            yield from _constraint(part, field, path)
        else:
            yield from _element(part, field, path)
        if part.tangent and part.slip:
            hint = "slip is the rate of a tangent"
            yield Problem("tangent and slip exclude one another", field, hint=hint, path=(*path, "slip"))
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


def _contact(contact: Contact, field: str, path: FieldPath) -> Iterator[Problem]:
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


def _element(element: AbstractFriction, field: str, path: FieldPath) -> Iterator[Problem]:
    if element.tangent is None and element.slip is None:
        yield Problem("needs tangent or slip", field, path=path)
    if element.static_limit is not None and len(set(element.limits)) == 2:
        message = "a force that sticking holds beyond the limit has one limit in both directions"
        hint = "leave out static_limit or reverse_limit"
        yield Problem(message, f"{field}.static_limit", hint=hint, path=(*path, "static_limit"))


def _constraint(constraint: Constraint, field: str, path: FieldPath) -> Iterator[Problem]:
    given = [name for name in ("tangent", "slip") if getattr(constraint, name) is not None]
    if constraint.friction is None and given:
        yield Problem("needs friction", f"{field}.{given[0]}", path=(*path, given[0]))
    if constraint.friction is not None and not given:
        yield Problem("needs tangent or slip", f"{field}.friction", path=(*path, "friction"))
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
    contacts = [contact.name for contact in mechanism.contact]
    for index, name in enumerate(mechanism.drawing.stops):
        if name not in contacts:
            field, path = f"drawing.stops[{index + 1}]", ("drawing", "stops", index)
            yield Problem(f"'{name}' is not a contact", field, hint=suggestion(name, contacts), path=path)
    for index, guide in enumerate(mechanism.drawing.guides):
        field, path = f"drawing.guides[{index + 1}]", ("drawing", "guides", index)
        if len(guide) != 2:
            yield Problem(f"must name a point and a coordinate, not {len(guide)} things", field, path=path)
            continue
        for name, noun, known in ((guide[0], "point", points), (guide[1], "coordinate", mechanism.coordinates)):
            if name not in known:
                yield Problem(f"'{name}' is not a {noun}", field, hint=suggestion(name, known), path=path)
