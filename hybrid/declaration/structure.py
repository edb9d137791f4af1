"""From the nested tables of a file to a mechanism, with everything that does not fit listed.

What does not fit is left out, or replaced if it cannot be left out, so that the rest can still be checked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import attrs

from hybrid.declaration.fields import FieldPath, label
from hybrid.declaration.mechanism import Mechanism
from hybrid.declaration.names import nearest
from hybrid.declaration.parts import (
    Constraint,
    Contact,
    Drawing,
    EnergyDynamics,
    EquationDynamics,
    FrictionElement,
    Parameter,
)
from hybrid.errors import MAX_PROBLEMS, DeclarationError, Problem

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
