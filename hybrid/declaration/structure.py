"""From the nested tables of a file to the parts of a mechanism, with every misfit listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from hybrid.declaration import convert
from hybrid.declaration.fields import Path, label
from hybrid.declaration.mechanism import Mechanism
from hybrid.declaration.names import suggestion
from hybrid.declaration.parts import (
    Constraint,
    Contact,
    Drawing,
    EnergyDynamics,
    EquationDynamics,
    FrictionElement,
    Parameter,
)
from hybrid.errors import DeclarationError, Problem

_ARRAYS: dict[str, type[Any]] = {"contact": Contact, "friction": FrictionElement, "constraint": Constraint}
_DECLARING = ("coordinates", "parameters", "definitions")
_MISSING = object()


class Structure:
    """Builds a mechanism from tables; what does not fit is listed and replaced, so that the rest can be checked too.

    Attributes
    ----------
    problems : list of Problem
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def build(self, tables: Mapping[str, Any], *, source: str) -> Mechanism | None:
        """Return the mechanism, or None after listing what is wrong."""
        names = [field.name for field in attrs.fields(Mechanism) if field.init and field.name != "source"]
        self._unknown(tables, names, (), "", "table or field")
        arguments: dict[str, Any] = {
            "name": self._field(Mechanism, "name", tables, (), "", instead="unnamed"),
            "title": self._field(Mechanism, "title", tables, (), "", instead=""),
            "references": self._field(Mechanism, "references", tables, (), "", instead=()),
            "coordinates": self._field(Mechanism, "coordinates", tables, (), "", instead=()),
            "dynamics": self._dynamics(tables),
            "parameters": self._table(tables, "parameters", self._parameter),
            "definitions": self._table(tables, "definitions", self._expression),
            "forces": self._table(tables, "forces", self._expression),
            "drawing": self._drawing(tables),
        }
        for name, kind in _ARRAYS.items():
            arguments[name] = self._array(tables, name, kind)
        if self._hides_names():
            return None
        broken = [problem.path for problem in self.problems]
        try:
            mechanism = Mechanism(**arguments, source=source)
        except DeclarationError as error:
            news = [item for item in error.problems if not _within(item.path, broken)]
            self.problems.extend(news)
            return None
        return None if self.problems else mechanism

    def _hides_names(self) -> bool:
        """Tell whether a table that declares names is lost, so that every use of these names would be reported."""
        for problem in self.problems:
            if len(problem.path) == 1 and (
                problem.path[0] in _DECLARING or any(f"'{name}'" in problem.hint for name in _DECLARING)
            ):
                return True
        return False

    def _add(self, message: str, field: str, path: Path, hint: str = "") -> None:
        self.problems.append(Problem(message, field, hint=hint, path=path))

    def _unknown(
        self, table: Mapping[str, Any], known: list[str], path: Path, field: str, noun: str = "field"
    ) -> None:
        for name in table:
            if name not in known:
                hint = suggestion(name, known) or f"known: {', '.join(known)}"
                self._add(f"unknown {noun} '{name[:40]}'", field, (*path, name), hint)

    def _field(
        self,
        kind: type[Any],
        name: str,
        table: Mapping[str, Any],
        path: Path,
        label: str,
        *,
        instead: Any = _MISSING,
    ) -> Any:
        """Convert a field as its class does; list what is wrong and return what stands instead."""
        attribute = attrs.fields_dict(kind)[name]
        required = attribute.default is attrs.NOTHING
        full = f"{label}.{name}" if label else name
        if name not in table:
            if required:
                self._add("is missing", full, (*path, name))
            return instead if required else _MISSING
        return self._converted(
            lambda value: attribute.converter(value, None, attribute),
            table[name],
            full,
            (*path, name),
            instead,
        )

    def _converted(
        self, convert: Callable[[Any], Any], value: Any, field: str, path: Path, instead: Any
    ) -> Any:
        try:
            return convert(value)
        except DeclarationError as error:
            self._add(error.problems[0].message, field, path)
            return instead

    def _part(self, kind: type[Any], value: Any, path: Path, label: str) -> Any:
        known = [field.name for field in attrs.fields(kind)]
        self._unknown(value, known, path, label)
        placeholder = {"name": "", "mass_matrix": (), "forces": (), "value": 1.0}
        fields = {
            name: self._field(kind, name, value, path, label, instead=placeholder.get(name, "0"))
            for name in known
        }
        return kind(**{name: item for name, item in fields.items() if item is not _MISSING})

    def _parameter(self, value: Any, field: str, path: Path) -> Any:
        if isinstance(value, Mapping):
            return self._part(Parameter, value, path, field)
        return self._converted(Parameter, value, field, path, Parameter(1.0))

    def _expression(self, value: Any, field: str, path: Path) -> Any:
        return self._converted(convert.expression, value, field, path, "0")

    def _table(
        self, tables: Mapping[str, Any], name: str, read: Callable[[Any, str, Path], Any]
    ) -> dict[str, Any]:
        table = tables.get(name, {})
        if not isinstance(table, Mapping):
            self._add("must be a table", name, (name,), f"write [{name}] above its lines")
            return {}
        return {key: read(value, f"{name}.{key}", (name, key)) for key, value in table.items()}

    def _array(self, tables: Mapping[str, Any], name: str, kind: type[Any]) -> list[Any]:
        items = tables.get(name, [])
        if isinstance(items, Mapping) or not isinstance(items, list):
            self._add("must be an array of tables", name, (name,), f"write [[{name}]] above each")
            return []
        parts: list[Any] = []
        for index, item in enumerate(items):
            own = item.get("name", "") if isinstance(item, Mapping) else ""
            field = label(name, own if isinstance(own, str) else "", index)
            if isinstance(item, Mapping):
                parts.append(self._part(kind, item, (name, index), field))
            else:
                self._add("must be a table", field, (name, index), f"write [[{name}]] above each")
        return parts

    def _dynamics(self, tables: Mapping[str, Any]) -> EnergyDynamics | EquationDynamics:
        table = tables.get("dynamics", _MISSING)
        path: Path = ("dynamics",)
        if not isinstance(table, Mapping):
            missing = table is _MISSING
            self._add(
                "is missing" if missing else "must be a table",
                "dynamics",
                path,
                "give the energies in [dynamics]",
            )
            return EnergyDynamics(kinetic="0")
        energies = sorted(table.keys() & {"kinetic", "potential"})
        equations = sorted(table.keys() & {"mass_matrix", "forces"})
        if bool(energies) == bool(equations):
            message = "must give either kinetic and potential, or mass_matrix and forces"
            self._add(message, "dynamics", path)
            return EnergyDynamics(kinetic="0")
        kind = EnergyDynamics if energies else EquationDynamics
        part: EnergyDynamics | EquationDynamics = self._part(kind, table, path, "dynamics")
        return part

    def _drawing(self, tables: Mapping[str, Any]) -> Drawing:
        table = tables.get("drawing", {})
        if not isinstance(table, Mapping):
            self._add("must be a table", "drawing", ("drawing",))
            return Drawing()
        drawing: Drawing = self._part(Drawing, {"points": {}, **table}, ("drawing",), "drawing")
        return drawing


def _within(path: Path, broken: list[Path]) -> bool:
    return any(path[: len(item)] == item for item in broken if item)
