"""A mechanism as declared, checked at construction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from hybrid.declaration import convert
from hybrid.declaration.checks import checked
from hybrid.declaration.names import TIME, velocity_name
from hybrid.declaration.parameters import Parameters
from hybrid.declaration.parser import parse_expression
from hybrid.declaration.parts import (
    Constraint,
    Contact,
    Drawing,
    EnergyDynamics,
    EquationDynamics,
    FrictionElement,
    Parameter,
    as_drawing,
    as_expressions,
    as_parameters,
    as_tuple,
    is_a,
    is_tuple_of,
)
from hybrid.declaration.ranges import Read
from hybrid.declaration.scope import Scope, expand
from hybrid.declaration.tree import Expression
from hybrid.declaration.units import Units, angles_of, units_of
from hybrid.errors import DeclarationError

__all__ = [
    "Constraint",
    "Contact",
    "Drawing",
    "EnergyDynamics",
    "EquationDynamics",
    "FrictionElement",
    "Mechanism",
    "Parameter",
]


@attrs.frozen(kw_only=True)
class Mechanism:
    """A mechanism with contacts and dry friction, under the field names of the mechanism file.

    Attributes
    ----------
    name, title : str
    references : tuple of str
    coordinates : tuple of str, length n
        The velocity of ``x`` is ``x_dot``.
    dynamics : EnergyDynamics or EquationDynamics
    parameters : mapping of str to Parameter
    definitions : mapping of str to str
        Named expressions, used in all others.
    forces : mapping of str to str
        Further generalised forces, by coordinate.
    contact : tuple of Contact
    friction : tuple of FrictionElement
    constraint : tuple of Constraint
    drawing : Drawing
    source : str
        The file it was read from, or empty. Not part of comparison.

    Raises
    ------
    DeclarationError
        At construction, with everything that is wrong.

    Examples
    --------
    >>> rod = Mechanism(
    ...     name="rod",
    ...     coordinates=["x", "y", "phi"],
    ...     parameters={"m": 1, "l": 1, "I": "m*l**2/3", "g": 9.81, "mu": 0.5},
    ...     dynamics=EnergyDynamics(
    ...         kinetic="m*(x_dot**2 + y_dot**2)/2 + I*phi_dot**2/2", potential="m*g*y"
    ...     ),
    ...     contact=[Contact(name="tip", gap="y - l*sin(phi)", tangent="x - l*cos(phi)", friction="mu")],
    ... )
    >>> rod.velocities
    ('x_dot', 'y_dot', 'phi_dot')
    >>> float(rod.parameter_values({"l": 3})["I"])
    3.0
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
    friction: tuple[FrictionElement, ...] = attrs.field(
        default=(), converter=as_tuple, validator=is_tuple_of(FrictionElement)
    )
    constraint: tuple[Constraint, ...] = attrs.field(default=(), converter=as_tuple, validator=is_tuple_of(Constraint))
    drawing: Drawing = attrs.field(factory=Drawing, converter=as_drawing, validator=is_a(Drawing))
    source: str = attrs.field(default="", eq=False, repr=False, validator=convert.is_text)
    _scope: Scope = attrs.field(init=False, eq=False, repr=False)
    _parameters: Parameters = attrs.field(init=False, eq=False, repr=False)
    _read: tuple[Read, ...] = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        scope, parameters, read, problems = checked(self)
        if problems:
            raise DeclarationError(attrs.evolve(problem, source=self.source) for problem in problems)
        object.__setattr__(self, "_scope", scope)
        object.__setattr__(self, "_parameters", parameters)
        object.__setattr__(self, "_read", tuple(read))

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of the velocities, in the order of the coordinates."""
        return tuple(velocity_name(name) for name in self.coordinates)

    @property
    def read_definitions(self) -> Mapping[str, Expression]:
        """The definitions as they were read, by name."""
        return self._scope.definitions

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that an expression may use, but ``pi``."""
        return (*self.coordinates, *self.velocities, TIME, *self.parameters, *self.definitions)

    @property
    def angles(self) -> tuple[str, ...]:
        """The coordinates that turn: those in sines and cosines."""
        found = angles_of(self._read, self._scope)
        return tuple(name for name in self.coordinates if name in found)

    def units(self) -> Units:
        """Return the units of coordinates, forces and accelerations, as far as they follow from the declaration.

        Returns
        -------
        Units

        Examples
        --------
        >>> import mechanisms
        >>> units = mechanisms.load("rod_on_incline").units()
        >>> units.coordinates["phi_dot"], units.coordinates["x"], units.forces["tip"]
        ('rad/s', 'm', 'N')
        """
        return units_of(self, self._read, self._scope, self._parameters.ordered)

    def parameter_values(self, overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the value of every parameter.

        Parameters
        ----------
        overrides : mapping of str to float, array (...) or str, optional
            Values that replace those of the declaration; a text is an expression of other parameters. Parameters
            that are expressions of a replaced one follow it.

        Returns
        -------
        dict of str to float or array, (...)
            In the order of the declaration.

        Raises
        ------
        DeclarationError
            For an unknown name, a value that is not finite, or one that makes a friction coefficient negative or
            leaves any other range; with all of them.
        """
        return self._parameters.values(overrides or {})

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Check that friction, restitution and the like are in their ranges.

        Parameters
        ----------
        values : mapping of str to float or array, (...)
            A value for every parameter, as :meth:`parameter_values` returns.

        Raises
        ------
        DeclarationError
        """
        problems = self._parameters.violations(values)
        if problems:
            raise DeclarationError(problems)

    def expression(self, text: str, *, field: str = "") -> Expression:
        """Read an expression in this mechanism's names."""
        return parse_expression(text, known=frozenset(self.names), field=field)

    def expanded(self, text: str, *, field: str = "") -> Expression:
        """Read an expression and put in the definitions; its ``text`` stays as written."""
        return expand(self.expression(text, field=field), self._scope.definitions)
