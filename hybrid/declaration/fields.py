"""Every expression of a mechanism, where it stands, and what it may depend on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from hybrid.declaration.parts import EnergyDynamics
from hybrid.declaration.scope import Kind

if TYPE_CHECKING:
    from hybrid.declaration.parts import AbstractMechanism, Constraint, Contact, FrictionElement

Path = tuple[str | int, ...]


@attrs.frozen(kw_only=True)
class Role:
    """What an expression stands for and what it may depend on.

    Attributes
    ----------
    noun : str
        With its article, as ``a gap``.
    allowed : frozenset of Kind
    degree : float
        Largest degree of the polynomial in the velocities.
    needs : frozenset of Kind
        At least one of these kinds must occur, or the expression has no effect; empty: none need.
    low, high, positive
        Range, checked where the expression is made of parameters only.
    """

    noun: str
    allowed: frozenset[Kind]
    degree: float = math.inf
    needs: frozenset[Kind] = frozenset()
    low: float = -math.inf
    high: float = math.inf
    positive: bool = False


@attrs.frozen
class Entry:
    """An expression of the declaration in its place."""

    path: Path
    field: str
    text: str
    role: Role


_CONSTANT: frozenset[Kind] = frozenset({"parameter"})
_POSITION: frozenset[Kind] = frozenset({"parameter", "coordinate", "time"})
_MOTION: frozenset[Kind] = frozenset({"parameter", "coordinate", "time", "velocity"})
_COORDINATE: frozenset[Kind] = frozenset({"coordinate"})
_VELOCITY: frozenset[Kind] = frozenset({"velocity"})

GAP = Role(noun="a gap", allowed=_POSITION, needs=_COORDINATE)
TANGENT = Role(noun="a tangential displacement", allowed=_POSITION, needs=_COORDINATE)
SLIP = Role(noun="a slip velocity", allowed=_MOTION, degree=1, needs=_VELOCITY)
FRICTION = Role(noun="a friction coefficient", allowed=_POSITION, low=0.0)
LIMIT = Role(noun="a friction limit", allowed=_POSITION, low=0.0)
RESTITUTION = Role(noun="a coefficient of restitution", allowed=_CONSTANT, low=0.0, high=1.0)
DAMPING = Role(noun="a contact damping", allowed=_CONSTANT, low=0.0)
RATIO = Role(noun="a stiffness ratio", allowed=_CONSTANT, low=0.0, positive=True)
STIFFNESS = Role(noun="a stiffness", allowed=_CONSTANT, low=0.0, positive=True)
EQUATION = Role(noun="a constraint equation", allowed=_POSITION, needs=_COORDINATE)
KINETIC = Role(noun="the kinetic energy", allowed=_MOTION, degree=2)
POTENTIAL = Role(noun="the potential energy", allowed=_POSITION)
MASS = Role(noun="an entry of the mass matrix", allowed=_POSITION)
FORCE = Role(noun="a force", allowed=_MOTION)
POINT = Role(noun="a point of the drawing", allowed=_POSITION)


def entries(mechanism: AbstractMechanism) -> Iterator[Entry]:
    """Every expression but those of parameters and definitions, in the order of the file format.

    Parameters
    ----------
    mechanism : AbstractMechanism

    Returns
    -------
    iterator of Entry
    """
    yield from _dynamics(mechanism)
    for name, text in mechanism.forces.items():
        yield Entry(("forces", name), f"forces.{name}", text, FORCE)
    for index, contact in enumerate(mechanism.contact):
        yield from _contact(contact, index)
    for index, element in enumerate(mechanism.friction):
        yield from _element(element, index)
    for index, constraint in enumerate(mechanism.constraint):
        yield from _constraint(constraint, index)
    for name, point in mechanism.drawing.points.items():
        for number, text in enumerate(point):
            yield Entry(("drawing", "points", name, number), f"drawing.points.{name}", text, POINT)


def label(table: str, name: str, index: int) -> str:
    """Name of an entry of an array of tables in messages: by its name, or by its number if it has none.

    Parameters
    ----------
    table : str
    name : str
        Empty if there is none.
    index : int
        Counted from 0; shown from 1.

    Returns
    -------
    str

    Examples
    --------
    >>> label("contact", "tip", 0), label("contact", "", 1)
    ('contact.tip', 'contact[2]')
    """
    return f"{table}.{name}" if name else f"{table}[{index + 1}]"


def _dynamics(mechanism: AbstractMechanism) -> Iterator[Entry]:
    dynamics = mechanism.dynamics
    if isinstance(dynamics, EnergyDynamics):
        yield Entry(("dynamics", "kinetic"), "dynamics.kinetic", dynamics.kinetic, KINETIC)
        yield Entry(("dynamics", "potential"), "dynamics.potential", dynamics.potential, POTENTIAL)
        return
    for i, row in enumerate(dynamics.mass_matrix):
        for j, text in enumerate(row):
            field = f"dynamics.mass_matrix[{i + 1}][{j + 1}]"
            yield Entry(("dynamics", "mass_matrix", i, j), field, text, MASS)
    for i, text in enumerate(dynamics.forces):
        yield Entry(("dynamics", "forces", i), f"dynamics.forces[{i + 1}]", text, FORCE)


def _texts(
    table: str, part: Contact | FrictionElement | Constraint, index: int, roles: dict[str, Role]
) -> Iterator[Entry]:
    for name, role in roles.items():
        value = getattr(part, name)
        field = f"{label(table, part.name, index)}.{name}"
        if isinstance(value, str):
            yield Entry((table, index, name), field, value, role)
        elif value is not None:
            for number, text in enumerate(value):
                yield Entry((table, index, name, number), field, text, role)


def _contact(contact: Contact, index: int) -> Iterator[Entry]:
    roles = {
        "gap": GAP,
        "tangent": TANGENT,
        "slip": SLIP,
        "friction": FRICTION,
        "static_friction": FRICTION,
        "restitution": RESTITUTION,
        "damping": DAMPING,
        "stiffness_ratio": RATIO,
    }
    return _texts("contact", contact, index, roles)


def _element(element: FrictionElement, index: int) -> Iterator[Entry]:
    roles = {"tangent": TANGENT, "slip": SLIP, "limit": LIMIT, "static_limit": LIMIT}
    return _texts("friction", element, index, roles)


def _constraint(constraint: Constraint, index: int) -> Iterator[Entry]:
    roles = {
        "equation": EQUATION,
        "friction": FRICTION,
        "tangent": TANGENT,
        "slip": SLIP,
        "stiffness": STIFFNESS,
    }
    return _texts("constraint", constraint, index, roles)
