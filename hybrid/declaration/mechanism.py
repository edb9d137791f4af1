"""A mechanism as declared, checked at construction.

From the nested tables of a file to a mechanism, with everything that does not fit listed: it is left out, or replaced
if it cannot be left out, so that the rest can still be checked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.arguments import checks_arguments, explains_arguments
from hybrid.declaration.checks import checked
from hybrid.declaration.fields import FieldPath, Scope, expand, label, parts_of
from hybrid.declaration.names import TIME, nearest
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
from hybrid.declaration.tree import bounds
from hybrid.declaration.units import Units, angles_of, units_of
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.errors import MAX_PROBLEMS, DeclarationError, Problem

if TYPE_CHECKING:
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
    "Place",
    "Structure",
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
        parts = [part.name for _, _, part in parts_of(self)]
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

    @explains_arguments
    def parameter_values(
        self, overrides: Mapping[str, Any] | None = None, swept: Collection[str] = ()
    ) -> dict[str, Any]:
        """Return the value of every parameter.

        Parameters
        ----------
        overrides : mapping of str to float, array (...) or str, optional
            Values that replace declared ones; a text is an expression of other parameters. What follows one is renewed.
        swept : collection of str
            Parameters still to come: ranges of what follows them are not checked.

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
        return self._parameters.values(overrides or {}, swept)

    @explains_arguments
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
        if problems := self._parameters.violations(values):
            raise DeclarationError(problems)

    @checks_arguments
    def expression(self, text: str, *, field: str = "") -> Expression:
        """Read an expression in this mechanism's names.

        Parameters
        ----------
        text, field : str
            As :func:`hybrid.declaration.parse_expression` takes them.

        Returns
        -------
        Expression
        """
        return parse_expression(text, known=frozenset(self.names), field=field)

    @checks_arguments
    def expanded(self, text: str, *, field: str = "") -> Expression:
        """Read an expression and put in the definitions; its ``text`` stays as written.

        Parameters
        ----------
        text, field : str

        Returns
        -------
        Expression
        """
        return expand(self.expression(text, field=field), self._scope.definitions)


def unsigned_friction(mechanism: Mechanism) -> dict[str, tuple[tuple[str, int], ...]]:
    """Friction that depends on the state, and is not positive by the bounds of its expression.

    Parameters
    ----------
    mechanism : Mechanism

    Returns
    -------
    dict of str to tuple of (str, int)
        By force element: names of terms, each with the sign with which ``mean_T`` is added to it.

    Examples
    --------
    >>> import mechanisms
    >>> unsigned_friction(mechanisms.load("rod_on_incline"))
    {}
    """
    state = (*mechanism.coordinates, *mechanism.velocities, TIME)

    def may_fall(text: str | None) -> bool:
        read = None if text is None else mechanism.expanded(text)
        if read is None or read.names.isdisjoint(state):
            return False
        return bounds(read)[0] < 0.0

    declared: dict[str, dict[tuple[str, int], str | None]] = {
        item.name: {("friction", 0): item.friction, ("static_friction", 0): item.static_friction}
        for item in mechanism.contact
    }
    for element in mechanism.friction:
        ahead, back = element.limits
        limits = {("limit", 0): ahead} if ahead == back else {("limit", -1): ahead, ("limit", 1): back}
        declared[element.name] = {**limits, ("static_limit", 0): element.static_limit}
    declared |= {item.name: {("constraint_friction", 0): item.friction} for item in mechanism.constraint}
    found = {name: tuple(key for key, text in own.items() if may_fall(text)) for name, own in declared.items()}
    return {name: keys for name, keys in found.items() if keys}


_PARTS: Mapping[str, type[Any]] = {
    "contact": Contact,
    "friction": FrictionElement,
    "constraint": Constraint,
}
_ENERGIES = ("kinetic", "potential")
_EQUATIONS = ("mass_matrix", "forces")
_DECLARING = ("coordinates", "parameters", "definitions")
# What the top of a file holds under each name.
_KINDS: Mapping[str, type[Any]] = {
    **dict.fromkeys(("name", "title"), str),
    **dict.fromkeys(("coordinates", "references", *_PARTS), list),
    **dict.fromkeys(("dynamics", "parameters", "definitions", "forces", "drawing"), Mapping),
}
# What stands for a required field that is missing or wrong.
_INSTEAD: Mapping[str, Any] = {"name": "", "coordinates": (), "mass_matrix": (), "forces": (), "value": 1.0}


@attrs.frozen
class Place:
    """Where something stands: in the file, and in words."""

    path: FieldPath = ()
    field: str = ""

    def at(self, key: str) -> Place:
        """Return the place of a key of the table that stands here."""
        return Place((*self.path, key), f"{self.field}.{key}" if self.field else key)


class Structure:
    """Builds a mechanism and gathers ``problems`` on the way."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._names_are_lost = False
        self._replaced: set[FieldPath] = set()
        self._single: set[FieldPath] = set()  # tables where arrays of them must stand

    def build(self, tables: Mapping[str, Any], *, source: str) -> Mechanism | None:
        """Return the mechanism, or None if there are problems."""
        meant = _misspelt(tables)
        for name, right in meant.items():
            self.problems.append(_unknown(name, right, Place(), ()))
        # under its right name the table declares what others use, and shows what is wrong within it
        tables = {meant.get(name, name): value for name, value in tables.items()}
        mechanism = self._mechanism(self._fields(Mechanism, tables, Place(), special=self._special()), source)
        written = {right: name for name, right in meant.items()}
        self.problems = [attrs.evolve(item, source=source, path=_renamed(item.path, written)) for item in self.problems]
        return None if self.problems else mechanism

    def _mechanism(self, arguments: Mapping[str, Any], source: str) -> Mechanism | None:
        if self._names_are_lost or len(self.problems) >= MAX_PROBLEMS:
            return None
        reported = ({problem.path for problem in self.problems} | self._replaced) - self._single
        try:
            return Mechanism(**arguments, source=source)
        except DeclarationError as error:
            # What follows from a problem that is listed already is not another one.
            self.problems += [item for item in error.problems if not _is_within(item.path, reported)]
            return None

    def _special(self) -> dict[str, Callable[[Any, Place], Any]]:
        """Readers of the tables that hold more than one value."""
        return {
            "parameters": lambda value, place: self._table(value, place, self._parameter),
            "definitions": lambda value, place: self._table(value, place, self._expression),
            "forces": lambda value, place: self._table(value, place, self._expression),
            "dynamics": self._dynamics,
            "drawing": lambda value, place: self._part(Drawing, value, place),
            **dict.fromkeys(_PARTS, self._array),
        }

    def _add(self, message: str, place: Place, hint: str = "") -> None:
        self.problems.append(Problem(message, place.field, hint=hint, path=place.path))
        if len(place.path) == 1 and place.path[0] in _DECLARING:
            self._names_are_lost = True

    def _fields(
        self,
        kind: type[Any],
        table: Mapping[str, Any],
        place: Place,
        special: Mapping[str, Callable[[Any, Place], Any]] | None = None,
    ) -> dict[str, Any]:
        """Return the arguments that make an object of a class, each converted and validated as the class does."""
        known = {field.name: field for field in attrs.fields(kind) if field.init and field.name != "source"}
        self._refuse_unknown(table, known, place)
        arguments: dict[str, Any] = {}
        for name, field in known.items():
            if name in table and special and name in special:
                arguments[name] = special[name](table[name], place.at(name))
            elif name in table:
                value = self._fit(partial(_fitted, field), table[name], place.at(name))
                arguments |= {} if value is None else {name: value}
            elif field.default is attrs.NOTHING:
                hint = "write it above the first [table]" if kind is Mechanism and name != "dynamics" else ""
                self._add("is missing", place.at(name), hint)
            if name not in arguments and field.default is attrs.NOTHING:
                arguments[name] = _INSTEAD.get(name, "0")
        if kind is Mechanism and arguments["dynamics"] == "0":
            arguments["dynamics"] = EnergyDynamics(kinetic="0")
        return arguments

    def _refuse_unknown(self, table: Mapping[str, Any], known: Collection[str], place: Place) -> None:
        for name in table:
            if name in known:
                continue
            meant = nearest(name, known)
            self.problems.append(_unknown(name, meant, place, known))
            if not place.path and meant in _DECLARING:
                self._names_are_lost = True

    def _fit(self, convert: Callable[[Any], Any], value: Any, place: Place) -> Any:
        """Return the converted value, or None after listing why there is none."""
        try:
            return convert(value)
        except DeclarationError as error:
            self._add(error.problems[0].message, place)
            return None

    def _part(self, kind: type[Any], value: Any, place: Place) -> Any:
        if isinstance(value, Mapping):
            return kind(**self._fields(kind, value, place))
        self._add("must be a table", place)
        return kind()

    def _table(self, value: Any, place: Place, read: Callable[[Any, Place], Any]) -> dict[str, Any]:
        if isinstance(value, Mapping):
            return {key: read(item, place.at(key)) for key, item in value.items()}
        self._add("must be a table", place, f"write [{place.field}] above its lines")
        return {}

    def _parameter(self, value: Any, place: Place) -> Parameter:
        if isinstance(value, Mapping):
            return Parameter(**self._fields(Parameter, value, place))
        return self._fit(Parameter, value, place) or Parameter(1.0)

    def _expression(self, value: Any, place: Place) -> str:
        text = self._fit(partial(_fitted, attrs.fields(EnergyDynamics).kinetic), value, place)
        return "0" if text is None else text

    def _array(self, value: Any, place: Place) -> list[Any]:
        name = place.field
        if isinstance(value, Mapping):
            self._add("must be an array of tables", place, f"write [[{name}]] instead of [{name}]")
            self._single.add(place.path)
            value = [value]  # what is wrong within it is told, too
        if not isinstance(value, list):
            self._add("must be an array of tables", place, f"write [[{name}]] above each")
            return []
        parts: list[Any] = []
        for index, item in enumerate(value):
            if len(self.problems) >= MAX_PROBLEMS:
                break
            own = item.get("name") if isinstance(item, Mapping) else None
            here = Place((name, index), label(name, own if isinstance(own, str) else "", index))
            if isinstance(item, Mapping):
                parts.append(_PARTS[name](**self._fields(_PARTS[name], item, here)))
            else:
                self._add("must be a table", here, f"write [[{name}]] above each")
        return parts

    def _dynamics(self, value: Any, place: Place) -> EnergyDynamics | EquationDynamics:
        if not isinstance(value, Mapping):
            self._add("must be a table", place, "write [dynamics] above its lines")
            return EnergyDynamics(kinetic="0")
        energies = [name for name in _ENERGIES if name in value]
        equations = [name for name in _EQUATIONS if name in value]
        if bool(energies) != bool(equations):
            kind: type[Any] = EnergyDynamics if energies else EquationDynamics
            part: EnergyDynamics | EquationDynamics = self._part(kind, value, place)
            return part
        self._replaced.add(place.path)
        n_before = len(self.problems)
        self._refuse_unknown(value, (*_ENERGIES, *_EQUATIONS), place)
        if energies or len(self.problems) == n_before:
            self._add("must give either kinetic and potential, or mass_matrix and forces", place)
        return EnergyDynamics(kinetic="0")


def _misspelt(tables: Mapping[str, Any]) -> dict[str, str]:
    """Right names of tables that have nearly one, hold what it stands for, and are not there under it, too."""
    meant: dict[str, str] = {}
    for name, value in tables.items():
        right = "" if name in _KINDS else nearest(name, _KINDS)
        if right and right not in tables and right not in meant.values() and isinstance(value, _KINDS[right]):
            meant[name] = right
    return meant


def _unknown(name: str, meant: str, place: Place, known: Collection[str]) -> Problem:
    hint = f"did you mean '{meant}'?" if meant else f"known are {', '.join(known)}"
    noun = "field" if place.path else "table or field"
    return Problem(f"unknown {noun} '{name[:40]}'", place.field, hint=hint, path=(*place.path, name))


def _renamed(path: FieldPath, written: Mapping[str, str]) -> FieldPath:
    return (written.get(str(path[0]), path[0]), *path[1:]) if path else path


def _fitted(field: Any, value: Any) -> Any:
    value = field.converter(value) if field.converter else value
    field.validator(None, field, value)
    return value


def _is_within(path: FieldPath, reported: set[FieldPath]) -> bool:
    return any(path[:length] in reported for length in range(1, len(path) + 1))
