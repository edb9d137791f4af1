"""The parts of a declaration: parameters, contacts, friction elements, constraints, dynamics, drawing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import attrs

from hybrid.declaration import convert
from hybrid.declaration.convert import Written
from hybrid.declaration.names import TIME, Table, velocity_name
from hybrid.errors import DeclarationError, Problem

P = TypeVar("P")

_OPTIONAL = attrs.validators.optional(convert.is_expression)


def _points(value: Mapping[str, Sequence[Written]]) -> Mapping[str, tuple[str, ...]]:
    if not convert.is_mapping(value):
        return cast(Table[tuple[str, ...]], value)
    return Table({name: convert.expressions(point) for name, point in value.items()})


@attrs.frozen
class Parameter:
    """A named quantity that is constant during a motion.

    Attributes
    ----------
    value : float or str
        A number, or an expression of other parameters.
    unit : str
        A product of SI units, for example ``kg m^2``.
    doc : str
        What it is, for example ``moment of inertia about the centre``.

    Examples
    --------
    >>> Parameter("m*l**2/3", unit="kg m^2").value
    'm*l**2/3'
    """

    value: float | str = attrs.field(converter=convert.quantity, validator=convert.is_quantity)
    unit: str = attrs.field(default="", validator=convert.is_text)
    doc: str = attrs.field(default="", validator=convert.is_text)


@attrs.frozen(kw_only=True)
class Contact:
    """A unilateral contact: a gap that cannot become negative.

    Attributes
    ----------
    name : str
        By which pins, modes and answers name it.
    gap : str
        Signed distance, a function of position and time; touching where it is 0.
    tangent : tuple of str
        Displacement along the surface: one expression in the plane, two in space.
    slip : tuple of str
        Instead of ``tangent``: the tangential velocity, linear in the velocities, as for rolling.
    friction : str
        Coulomb's coefficient of friction.
    static_friction : str or None
        The larger coefficient up to which sticking persists; by default that of friction.
    restitution : str
        Coefficient of restitution, from 0 to 1.
    damping : str
        ``delta`` of the compliant contact ``F_N = -K y - 2 sqrt(K) delta y'``, in sqrt(kg) (Miller and Rubinovich
        2017, whose ``delta`` is twice as large).
    stiffness_ratio : str
        The stiffness K of this contact relative to the others'.

    Examples
    --------
    >>> Contact(name="tip", gap="y", tangent="x", friction=0.5).dimension
    1
    """

    name: str = attrs.field(validator=convert.is_text)
    gap: str = attrs.field(converter=convert.expression, validator=convert.is_expression)
    tangent: tuple[str, ...] = attrs.field(default=(), converter=convert.expressions, validator=convert.is_expressions)
    slip: tuple[str, ...] = attrs.field(default=(), converter=convert.expressions, validator=convert.is_expressions)
    friction: str = attrs.field(default="0", converter=convert.expression, validator=convert.is_expression)
    static_friction: str | None = attrs.field(default=None, converter=convert.optional_expression, validator=_OPTIONAL)
    restitution: str = attrs.field(default="0", converter=convert.expression, validator=convert.is_expression)
    damping: str = attrs.field(default="0", converter=convert.expression, validator=convert.is_expression)
    stiffness_ratio: str = attrs.field(default="1", converter=convert.expression, validator=convert.is_expression)

    @property
    def dimension(self) -> int:
        """Tangential dimension: 0 frictionless, 1 planar, 2 spatial."""
        return len(self.tangent or self.slip)


class AbstractFriction(ABC):
    """A force element without a gap: along its slip acts a force between two limits, which it reaches while it slips.

    What is derived from a declaration asks no more of it than this; a further kind is a class with these attributes,
    and text fields under the names of ``hybrid.declaration.fields.ROLES``.
    """

    __slots__ = ()
    name: str
    tangent: str | None
    slip: str | None
    static_limit: str | None

    @property
    @abstractmethod
    def limits(self) -> tuple[str, str]:
        """Expressions of the forces against a positive slip and against a negative one."""


@attrs.frozen(kw_only=True)
class FrictionElement(AbstractFriction):
    """Dry friction with a given limit force and no gap: a guide, a seal, a brake.

    Attributes
    ----------
    name : str
        By which pins, modes and answers name it.
    limit : str
        Force of friction while it slips.
    reverse_limit : str or None
        Force of friction while it slips in the negative direction, as of a one-way brake; by default the limit.
    static_limit : str or None
        The larger force up to which sticking persists; by default the limit.
    tangent : str or None
        Displacement along which it acts.
    slip : str or None
        Instead of ``tangent``: the velocity, linear in the velocities.

    Examples
    --------
    >>> FrictionElement(name="seal", limit="F_k", tangent="x").limit
    'F_k'
    """

    name: str = attrs.field(validator=convert.is_text)
    limit: str = attrs.field(converter=convert.expression, validator=convert.is_expression)
    tangent: str | None = attrs.field(default=None, converter=convert.optional_expression, validator=_OPTIONAL)
    slip: str | None = attrs.field(default=None, converter=convert.optional_expression, validator=_OPTIONAL)
    static_limit: str | None = attrs.field(default=None, converter=convert.optional_expression, validator=_OPTIONAL)
    reverse_limit: str | None = attrs.field(default=None, converter=convert.optional_expression, validator=_OPTIONAL)

    @property
    def limits(self) -> tuple[str, str]:
        """The limit, and the reverse limit."""
        return self.limit, self.limit if self.reverse_limit is None else self.reverse_limit


@attrs.frozen(kw_only=True)
class Constraint:
    """A bilateral constraint ``equation = 0`` on position and time.

    Attributes
    ----------
    name : str
        By which answers name it.
    equation : str
        A function of position and time that is kept at 0.
    friction : str or None
        Coefficient of dry friction on the magnitude of the constraint force, along ``tangent`` or ``slip``.
    tangent : str or None
        Displacement along the rail.
    slip : str or None
        Instead of ``tangent``: the velocity along the rail, linear in the velocities.
    stiffness : str or None
        An elastic realisation with the energy ``stiffness * equation**2 / 2``, in N/m where the equation is a length;
        by default it is rigid.

    Examples
    --------
    >>> Constraint(name="rail", equation="y_B").stiffness is None
    True
    """

    name: str = attrs.field(validator=convert.is_text)
    equation: str = attrs.field(converter=convert.expression, validator=convert.is_expression)
    friction: str | None = attrs.field(default=None, converter=convert.optional_expression, validator=_OPTIONAL)
    tangent: str | None = attrs.field(default=None, converter=convert.optional_expression, validator=_OPTIONAL)
    slip: str | None = attrs.field(default=None, converter=convert.optional_expression, validator=_OPTIONAL)
    stiffness: str | None = attrs.field(default=None, converter=convert.optional_expression, validator=_OPTIONAL)


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

    kinetic: str = attrs.field(converter=convert.expression, validator=convert.is_expression)
    potential: str = attrs.field(default="0", converter=convert.expression, validator=convert.is_expression)


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

    mass_matrix: tuple[tuple[str, ...], ...] = attrs.field(converter=convert.matrix, validator=convert.is_matrix)
    forces: tuple[str, ...] = attrs.field(converter=convert.expressions, validator=convert.is_expressions)


@attrs.frozen(kw_only=True)
class Drawing:
    """How to draw the mechanism: named points and the lines between them.

    Attributes
    ----------
    points : mapping of str to tuple of str
        Two or three expressions of position and time each.
    links : tuple of tuple of str
        Pairs of point names.
    guides : tuple of tuple of str
        Pairs of a point and the one coordinate on which it depends: the curve along which the point is guided.
    stops : tuple of str
        Contacts inside the mechanism, as at the limits of joints: neither surface nor force of them is drawn.

    Examples
    --------
    >>> bool(Drawing()), Drawing(points={"tip": ["x", "y"]}).points["tip"]
    (False, ('x', 'y'))
    """

    points: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict, converter=_points, validator=convert.is_table)
    links: tuple[tuple[str, ...], ...] = attrs.field(default=(), converter=convert.pairs, validator=convert.is_pairs)
    guides: tuple[tuple[str, ...], ...] = attrs.field(default=(), converter=convert.pairs, validator=convert.is_pairs)
    stops: tuple[str, ...] = attrs.field(default=(), converter=convert.texts, validator=convert.is_texts)

    def __bool__(self) -> bool:
        return bool(self.points)


def as_drawing(value: Drawing | Mapping[str, Any]) -> Drawing:
    """A drawing, also from a mapping with its fields as keys.

    Parameters
    ----------
    value : Drawing or mapping

    Returns
    -------
    Drawing
        Anything else unchanged, for the validator of the field to refuse.
    """
    known = {field.name for field in attrs.fields(Drawing)}
    if isinstance(value, Drawing) or not (convert.is_mapping(value) and value.keys() <= known):
        return cast(Drawing, value)
    return Drawing(**value)


def as_parameters(value: Mapping[str, Parameter | Written]) -> Mapping[str, Parameter]:
    """Parameters by name, also from numbers and expressions.

    Parameters
    ----------
    value : mapping of str to Parameter, float or str

    Returns
    -------
    mapping of str to Parameter
        Anything but a mapping unchanged, for the validator of the field to refuse.

    Raises
    ------
    DeclarationError
        If an entry is no parameter, with its name.
    """
    if not convert.is_mapping(value):
        return cast(Table[Parameter], value)
    return Table({name: _parameter(name, item) for name, item in value.items()})


def as_expressions(value: Mapping[str, Written]) -> Mapping[str, str]:
    """Expressions by name as texts, also from numbers.

    Parameters
    ----------
    value : mapping of str to str or float

    Returns
    -------
    mapping of str to str
        Anything but a mapping unchanged, for the validator of the field to refuse.
    """
    if not convert.is_mapping(value):
        return cast(Table[str], value)
    return Table({name: convert.expression(item) for name, item in value.items()})


def _parameter(name: str, item: Parameter | Written) -> Parameter:
    if isinstance(item, Parameter):
        return item
    try:
        return Parameter(item)
    except DeclarationError as error:
        raise DeclarationError(attrs.evolve(error.problems[0], field=f"parameters.{name}")) from None


def as_tuple(value: Sequence[P]) -> tuple[P, ...]:
    """A list of parts as a tuple.

    Parameters
    ----------
    value : sequence

    Returns
    -------
    tuple
        Anything but a list or a tuple unchanged, for the validator of the field to refuse.
    """
    return tuple(value) if convert.is_list(value) else cast(Any, value)


def is_a(*kinds: type[Any]) -> Callable[[object, attrs.Attribute[Any], object], None]:
    """A validator that refuses objects of other classes.

    Parameters
    ----------
    *kinds : type
        The classes that are accepted.

    Returns
    -------
    callable
        For a field of attrs; raises DeclarationError with the name of the field.
    """
    names = " or ".join(kind.__name__ for kind in kinds)

    def check(_: object, field: attrs.Attribute[Any], value: object) -> None:
        if not isinstance(value, kinds):
            raise DeclarationError(Problem(f"must be of class {names}, not {type(value).__name__}", field.name))

    return check


def is_tuple_of(kind: type[Any]) -> Callable[[object, attrs.Attribute[Any], object], None]:
    """A validator that refuses anything but a tuple of objects of one class.

    Parameters
    ----------
    kind : type
        The class.

    Returns
    -------
    callable
        For a field of attrs; raises DeclarationError with the name of the field.
    """

    def check(_: object, field: attrs.Attribute[Any], value: object) -> None:
        if not isinstance(value, tuple) or not all(isinstance(item, kind) for item in value):
            raise DeclarationError(Problem(f"must be a list of {kind.__name__} objects", field.name))

    return check


@attrs.frozen(kw_only=True)
class AbstractMechanism:
    """What is declared of a mechanism, as it stands: the rules that it must keep are read off it.

    Attributes
    ----------
    name : str
        ASCII letters, digits and ``_ - .``.
    title : str
        Over pictures and pages.
    references : tuple of str
        Where it was published.
    coordinates : tuple of str, length n
        Names of the coordinates; the velocity of ``x`` is ``x_dot``.
    dynamics : EnergyDynamics or EquationDynamics
        Equations of motion: the energies, or mass matrix and forces.
    parameters : mapping of str to Parameter
        Quantities that are constant during a motion: a number or an expression of other parameters each, or a table.
    definitions : mapping of str to str
        Named expressions, used in all others.
    forces : mapping of str to str
        Further generalised forces, by coordinate.
    contact : tuple of Contact
        Unilateral contacts: gaps that cannot become negative.
    friction : tuple of FrictionElement
        Dry friction with a given limit force and no gap: guides, seals, brakes.
    constraint : tuple of Constraint
        Bilateral constraints, rigid or elastic.
    drawing : Drawing
        How to draw the mechanism; it changes no number.
    source : str
        The file it was read from, or empty. Not part of comparison.
    """

    name: str = attrs.field(validator=convert.is_text)
    coordinates: tuple[str, ...] = attrs.field(converter=convert.texts, validator=convert.is_texts)
    dynamics: EnergyDynamics | EquationDynamics = attrs.field(validator=is_a(EnergyDynamics, EquationDynamics))
    title: str = attrs.field(default="", validator=convert.is_text)
    references: tuple[str, ...] = attrs.field(default=(), converter=convert.texts, validator=convert.is_texts)
    parameters: Mapping[str, Parameter] = attrs.field(factory=dict, converter=as_parameters, validator=convert.is_table)
    definitions: Mapping[str, str] = attrs.field(
        factory=dict, converter=as_expressions, validator=convert.is_table_of_expressions
    )
    forces: Mapping[str, str] = attrs.field(
        factory=dict, converter=as_expressions, validator=convert.is_table_of_expressions
    )
    contact: tuple[Contact, ...] = attrs.field(default=(), converter=as_tuple, validator=is_tuple_of(Contact))
    friction: tuple[AbstractFriction, ...] = attrs.field(
        default=(), converter=as_tuple, validator=is_tuple_of(AbstractFriction)
    )
    constraint: tuple[Constraint, ...] = attrs.field(default=(), converter=as_tuple, validator=is_tuple_of(Constraint))
    drawing: Drawing = attrs.field(factory=Drawing, converter=as_drawing, validator=is_a(Drawing))
    source: str = attrs.field(default="", eq=False, repr=False, validator=convert.is_text)

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of the velocities, in the order of the coordinates."""
        return tuple(velocity_name(name) for name in self.coordinates)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that an expression may use, but ``pi``."""
        return (*self.coordinates, *self.velocities, TIME, *self.parameters, *self.definitions)
