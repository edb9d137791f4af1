"""The parts of a declaration: parameters, contacts, friction elements, constraints, dynamics, drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from hybrid.declaration import convert
from hybrid.declaration.table import Table

_EXPRESSION = convert.converter(convert.expression)
_OPTIONAL = convert.converter(convert.expression, optional=True)
_EXPRESSIONS = convert.converter(convert.expressions)
_TEXT = convert.converter(convert.text)


def _value(value: object, *, field: str) -> float | str:
    return value if isinstance(value, str) else float(convert.number(value, field=field))


def _matrix(value: object, *, field: str) -> tuple[tuple[str, ...], ...]:
    rows = convert.sequence(value, field=field, must_be="a list of rows")
    return tuple(
        tuple(convert.expression(entry, field=field) for entry in convert.sequence(row, field=field))
        for row in rows
    )


def _points(value: object, *, field: str) -> Table[tuple[str, ...]]:
    points = convert.mapping(value, field=field)
    return Table({name: convert.expressions(point, field=field) for name, point in points.items()})


def _links(value: object, *, field: str) -> tuple[tuple[str, ...], ...]:
    return tuple(convert.texts(link, field=field) for link in convert.sequence(value, field=field))


@attrs.frozen
class Parameter:
    """A named quantity that is constant during a motion.

    Attributes
    ----------
    value : float or str
        A number, or an expression of other parameters.
    unit, doc : str
        As shown to the user, for example ``kg m^2`` and ``moment of inertia about the centre``.

    Examples
    --------
    >>> Parameter("m*l**2/3", unit="kg m^2").value
    'm*l**2/3'
    """

    value: float | str = attrs.field(converter=convert.converter(_value))
    unit: str = attrs.field(default="", converter=_TEXT)
    doc: str = attrs.field(default="", converter=_TEXT)


@attrs.frozen(kw_only=True)
class Contact:
    """A unilateral contact: a gap that cannot become negative.

    Attributes
    ----------
    name : str
    gap : str
        Signed distance, a function of position and time; touching where it is 0.
    tangent : tuple of str
        Displacement along the surface: one expression in the plane, two in space.
    slip : tuple of str
        Instead of ``tangent``: the tangential velocity, linear in the velocities, as for rolling.
    friction, static_friction : str
        Coulomb's coefficient, and the larger one up to which sticking persists (None: the same).
    restitution : str
        Coefficient of restitution, from 0 to 1.
    damping : str
        ``delta`` of the compliant contact ``F_N = -K y - 2 sqrt(K) delta y'``.
    stiffness_ratio : str
        The stiffness K of this contact relative to the others'.

    Examples
    --------
    >>> Contact(name="tip", gap="y", tangent="x", friction=0.5).dimension
    1
    """

    name: str = attrs.field(converter=_TEXT)
    gap: str = attrs.field(converter=_EXPRESSION)
    tangent: tuple[str, ...] = attrs.field(default=(), converter=_EXPRESSIONS)
    slip: tuple[str, ...] = attrs.field(default=(), converter=_EXPRESSIONS)
    friction: str = attrs.field(default="0", converter=_EXPRESSION)
    static_friction: str | None = attrs.field(default=None, converter=_OPTIONAL)
    restitution: str = attrs.field(default="0", converter=_EXPRESSION)
    damping: str = attrs.field(default="0", converter=_EXPRESSION)
    stiffness_ratio: str = attrs.field(default="1", converter=_EXPRESSION)

    @property
    def dimension(self) -> int:
        """Tangential dimension: 0 frictionless, 1 planar, 2 spatial."""
        return len(self.tangent or self.slip)


@attrs.frozen(kw_only=True)
class FrictionElement:
    """Dry friction with a given limit force and no gap: a guide, a seal, a brake.

    Attributes
    ----------
    name : str
    limit, static_limit : str
        Force while slipping, and the larger force up to which sticking persists (None: the same).
    tangent, slip : str or None
        Displacement or velocity, exactly one of them.

    Examples
    --------
    >>> FrictionElement(name="seal", limit="F_k", tangent="x").limit
    'F_k'
    """

    name: str = attrs.field(converter=_TEXT)
    limit: str = attrs.field(converter=_EXPRESSION)
    tangent: str | None = attrs.field(default=None, converter=_OPTIONAL)
    slip: str | None = attrs.field(default=None, converter=_OPTIONAL)
    static_limit: str | None = attrs.field(default=None, converter=_OPTIONAL)


@attrs.frozen(kw_only=True)
class Constraint:
    """A bilateral constraint ``equation = 0`` on position and time.

    Attributes
    ----------
    name, equation : str
    friction, tangent, slip : str or None
        Dry friction that acts on the magnitude of the constraint force, along a displacement or a velocity.
    stiffness : str or None
        An elastic realisation with the energy ``stiffness * equation**2 / 2``; None: rigid.

    Examples
    --------
    >>> Constraint(name="rail", equation="y_B").stiffness is None
    True
    """

    name: str = attrs.field(converter=_TEXT)
    equation: str = attrs.field(converter=_EXPRESSION)
    friction: str | None = attrs.field(default=None, converter=_OPTIONAL)
    tangent: str | None = attrs.field(default=None, converter=_OPTIONAL)
    slip: str | None = attrs.field(default=None, converter=_OPTIONAL)
    stiffness: str | None = attrs.field(default=None, converter=_OPTIONAL)


@attrs.frozen(kw_only=True)
class EnergyDynamics:
    """Equations of motion as Lagrange's, from the energies.

    Attributes
    ----------
    kinetic : str
        A polynomial of degree at most 2 in the velocities.
    potential : str
        A function of position and time.

    Examples
    --------
    >>> EnergyDynamics(kinetic="m*y_dot**2/2", potential="m*g*y").potential
    'm*g*y'
    """

    kinetic: str = attrs.field(converter=_EXPRESSION)
    potential: str = attrs.field(default="0", converter=_EXPRESSION)


@attrs.frozen(kw_only=True)
class EquationDynamics:
    """Equations of motion as mass matrix and forces: ``mass_matrix * acceleration = forces + contact forces``.

    Attributes
    ----------
    mass_matrix : tuple of tuple of str, (n, n)
        Symmetric; functions of position and time.
    forces : tuple of str, (n,)
        All generalised forces but those of contacts, including gyroscopic ones.

    Examples
    --------
    >>> EquationDynamics(mass_matrix=[["m"]], forces=["-m*g"]).mass_matrix
    (('m',),)
    """

    mass_matrix: tuple[tuple[str, ...], ...] = attrs.field(converter=convert.converter(_matrix))
    forces: tuple[str, ...] = attrs.field(converter=_EXPRESSIONS)


@attrs.frozen(kw_only=True)
class Drawing:
    """How to draw the mechanism: named points and the lines between them.

    Attributes
    ----------
    points : mapping of str to tuple of str
        Two or three expressions of position and time each.
    links : tuple of tuple of str
        Pairs of point names.

    Examples
    --------
    >>> bool(Drawing()), Drawing(points={"tip": ["x", "y"]}).points["tip"]
    (False, ('x', 'y'))
    """

    points: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict, converter=convert.converter(_points))
    links: tuple[tuple[str, ...], ...] = attrs.field(default=(), converter=convert.converter(_links))

    def __bool__(self) -> bool:
        return bool(self.points)


def as_drawing(value: Any, *, field: str) -> Drawing:
    """Turn a mapping with the keys ``points`` and ``links`` into a drawing."""
    if isinstance(value, Drawing):
        return value
    table = dict(convert.mapping(value, field=field))
    return Drawing(points=table.pop("points", {}), links=table.pop("links", ()))


def as_parameters(value: Any, *, field: str) -> Table[Parameter]:
    """Turn numbers and expressions in a mapping into parameters."""
    items = convert.mapping(value, field=field).items()
    return Table({name: item if isinstance(item, Parameter) else Parameter(item) for name, item in items})


def as_expressions(value: Any, *, field: str) -> Table[str]:
    """Turn numbers in a mapping of expressions into texts."""
    items = convert.mapping(value, field=field).items()
    return Table({name: convert.expression(item, field=f"{field}.{name}") for name, item in items})
