"""A mechanism as declared, checked at construction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from hybrid.declaration.checks import checked
from hybrid.declaration.fields import Scope, expand
from hybrid.declaration.parser import parse_expression
from hybrid.declaration.parts import (
    AbstractFriction,
    AbstractMechanism,
    Constraint,
    Contact,
    Drawing,
    EnergyDynamics,
    EquationDynamics,
    FrictionElement,
    Parameter,
)
from hybrid.declaration.units import Units, angles_of, units_of
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.errors import ArgumentError, DeclarationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.declaration.parameters import Parameters, Read
    from hybrid.declaration.tree import Expression

__all__ = [
    "AbstractFriction",
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
class Mechanism(AbstractMechanism, AbstractDisplayed):
    """A mechanism with contacts and dry friction, under the field names of the mechanism file.

    Its attributes are those of :class:`hybrid.declaration.parts.AbstractMechanism`.

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

    def __repr__(self) -> str:
        parts = [item.name for items in (self.contact, self.friction, self.constraint) for item in items]
        return one_line(
            f"Mechanism {self.name}",
            f"coordinates {' '.join(self.coordinates)}",
            f"with {' '.join(parts)}" if parts else "",
            f"{len(self.parameters)} parameters",
        )

    @property
    def read_definitions(self) -> Mapping[str, Expression]:
        """The definitions as they were read, by name."""
        return self._scope.definitions

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


def as_declared(mechanism: Mechanism) -> Mechanism:
    """The mechanism, if it is one.

    Parameters
    ----------
    mechanism : Mechanism

    Returns
    -------
    Mechanism

    Raises
    ------
    ArgumentError
        It is a name, or anything else that declares nothing.
    """
    if not isinstance(mechanism, Mechanism):
        raise ArgumentError(
            f"expected a Mechanism, got a {type(mechanism).__name__}: read it first, "
            "as mechanisms.load('rod_on_incline') or hybrid.read_mechanism('chalk.toml')"
        )
    return mechanism
