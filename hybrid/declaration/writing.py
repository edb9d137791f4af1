"""Mechanism files written from mechanisms.

A commented mechanism file to begin with.

The JSON schema of the mechanism file, read off the classes of the declaration: editors complete and check by it.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import attrs

from hybrid.arguments import checks_arguments
from hybrid.declaration import convert
from hybrid.declaration.checks import MAX_COORDINATES, MECHANISM_NAME, mechanism_name_problems
from hybrid.declaration.convert import MAX_TEXT
from hybrid.declaration.fields import parts_of
from hybrid.declaration.names import IDENTIFIER, MAX_NAME_LENGTH
from hybrid.declaration.parser import MAX_LENGTH
from hybrid.declaration.parts import AbstractFriction, AbstractMechanism, FrictionElement, Parameter
from hybrid.errors import DeclarationError

if TYPE_CHECKING:
    from hybrid.declaration.mechanism import Mechanism

__all__ = ["mechanism_schema", "mechanism_to_toml", "skeleton"]


def skeleton(name: str) -> str:
    """The text of a commented mechanism file, which is valid as it stands.

    Parameters
    ----------
    name : str
        Of the mechanism: ASCII letters, digits, ``_``, ``-`` and ``.``.

    Returns
    -------
    str

    Raises
    ------
    DeclarationError
        The name is none.

    Examples
    --------
    >>> from hybrid.declaration import mechanism_from_toml
    >>> mechanism_from_toml(skeleton("seal")).name
    'seal'
    """
    problems = mechanism_name_problems(name)
    if problems:
        raise DeclarationError(problems)
    text = (resources.files("hybrid.declaration") / "templates" / "skeleton.toml").read_text(encoding="utf-8")
    return text.replace("NAME", name, 1)


Schema: TypeAlias = dict[str, Any]
Validator: TypeAlias = Callable[..., Any]

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The newest draft that the editors' servers for TOML read whole."""

_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*) : .*\n(?P<text>(?:    .*\n?)*)", re.MULTILINE)
_WRITTEN: Schema = {"type": ["string", "number"], "maxLength": MAX_LENGTH}
_ONE_OR_MORE: Schema = {"anyOf": [_WRITTEN, {"type": "array", "items": _WRITTEN}]}
_TEXT: Schema = {"type": "string", "maxLength": MAX_TEXT}
_NAME: Schema = {"type": "string", "pattern": f"^{IDENTIFIER}$", "maxLength": MAX_NAME_LENGTH}

# What the validator of a field accepts from a file.
_ACCEPTED: Mapping[Validator, Schema] = {
    convert.is_expression: _WRITTEN,
    convert.is_expressions: _ONE_OR_MORE,
    convert.is_matrix: {"type": "array", "items": _ONE_OR_MORE},
    convert.is_pairs: {"type": "array", "items": {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2}},
    convert.is_quantity: _WRITTEN,
    convert.is_table_of_expressions: {"type": "object", "propertyNames": _NAME, "additionalProperties": _WRITTEN},
    convert.is_text: _TEXT,
    convert.is_texts: {"type": "array", "items": _TEXT},
}
# What a table of a file is read as, where a declaration made in Python may hold other classes, too.
_IN_FILES: Mapping[type[Any], type[Any]] = {AbstractFriction: FrictionElement}
# Where the shapes and names that are checked of the whole declaration say more than the validator.
_NARROWER: Mapping[str, Schema] = {
    "AbstractMechanism.name": {"type": "string", "pattern": f"^{MECHANISM_NAME}$", "maxLength": MAX_NAME_LENGTH},
    "AbstractMechanism.coordinates": {
        "type": "array",
        "items": _NAME,
        "minItems": 1,
        "maxItems": MAX_COORDINATES,
        "uniqueItems": True,
    },
    "Contact.name": _NAME,
    "FrictionElement.name": _NAME,
    "Constraint.name": _NAME,
    "Drawing.points": {
        "type": "object",
        "additionalProperties": {"type": "array", "items": _WRITTEN, "minItems": 2, "maxItems": 3},
    },
}


def mechanism_schema() -> Schema:
    """The JSON schema of a mechanism file.

    Returns
    -------
    dict
        Of draft 7. It refuses unknown and missing fields and values of a wrong type or shape, never a file that
        :func:`hybrid.declaration.read_mechanism` accepts; what expressions mean only the latter checks.

    Examples
    --------
    >>> schema = mechanism_schema()
    >>> schema["required"], schema["properties"]["contact"]["items"]["required"]
    (['name', 'coordinates', 'dynamics'], ['name', 'gap'])
    >>> schema["properties"]["contact"]["items"]["properties"]["restitution"]["default"]
    '0'
    """
    about = {"title": "Mechanism file of painleve", "description": "A mechanism with contacts and dry friction"}
    return {"$schema": DRAFT, **_of_class(AbstractMechanism), **about}


def _of_class(kind: type[Any]) -> Schema:
    """A table whose fields are those of a class."""
    hints = get_type_hints(kind)
    described = _descriptions(kind)
    fields = [field for field in attrs.fields(kind) if field.name != "source"]
    return {
        "type": "object",
        "description": _plain(inspect.getdoc(kind) or "").partition("\n")[0],
        "properties": {
            field.name: {
                **_of_field(f"{kind.__name__}.{field.name}", field, hints[field.name]),
                "description": described.get(field.name, ""),
                **({"default": field.default} if isinstance(field.default, str) and field.default else {}),
            }
            for field in fields
        },
        "required": [field.name for field in fields if field.default is attrs.NOTHING],
        "additionalProperties": False,
    }


def _of_field(place: str, field: attrs.Attribute[Any], hint: Any) -> Schema:
    if place in _NARROWER:
        return _NARROWER[place]
    validator: Any = field.validator
    accepted = _ACCEPTED.get(getattr(validator, "validator", validator))  # of an optional one, what it accepts
    return dict(accepted) if accepted is not None else _of_parts(hint)


def _of_parts(hint: Any) -> Schema:
    """One class, several to choose from, an array of tables, or a table of parameters."""
    parts = [part for part in get_args(hint) if attrs.has(part)]
    if attrs.has(hint):
        return _of_class(hint)
    if get_origin(hint) in (types.UnionType, Union):
        return {"oneOf": [_of_class(part) for part in parts]}
    if get_origin(hint) is tuple:
        kind = get_args(hint)[0]
        return {"type": "array", "items": _of_class(_IN_FILES.get(kind, kind))}
    item = {"anyOf": [dict(_WRITTEN), _of_class(Parameter)]}
    return {"type": "object", "propertyNames": _NAME, "additionalProperties": item}


def _descriptions(kind: type[Any]) -> dict[str, str]:
    """What the docstring of a class says of its attributes, in one line each."""
    _, _, section = (inspect.getdoc(kind) or "").partition("Attributes\n----------\n")
    return {
        name: " ".join(_plain(entry["text"]).split())
        for entry in _ENTRY.finditer(section.partition("\nExamples\n")[0])
        for name in entry["names"].split(", ")
    }


def _plain(text: str) -> str:
    """Markdown, which editors show, of the restructured text of a docstring."""
    return text.replace("``", "`")


_ESCAPES: Mapping[str, str] = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


@checks_arguments
def mechanism_to_toml(mechanism: Mechanism) -> str:
    """A mechanism as the text of a mechanism file.

    Parameters
    ----------
    mechanism : Mechanism

    Returns
    -------
    str
        ``mechanism_from_toml`` makes an equal mechanism of it. Fields with their default values are left out.

    Examples
    --------
    >>> from hybrid.declaration import EnergyDynamics, Mechanism, mechanism_to_toml
    >>> ball = Mechanism(
    ...     name="ball", coordinates=["z"], parameters={"m": 2}, dynamics=EnergyDynamics(kinetic="m*z_dot**2/2")
    ... )
    >>> print(mechanism_to_toml(ball))
    name = "ball"
    coordinates = ["z"]
    <BLANKLINE>
    [parameters]
    m = 2
    <BLANKLINE>
    [dynamics]
    kinetic = "m*z_dot**2/2"
    <BLANKLINE>
    """
    sections = [list(_head(mechanism))]
    for title, table in (("parameters", mechanism.parameters), ("definitions", mechanism.definitions)):
        sections.append(_section(f"[{title}]", table.items()))
    sections.append(_section("[dynamics]", _given(mechanism.dynamics)))
    sections.append(_section("[forces]", mechanism.forces.items()))
    sections += [_section(f"[[{table}]]", _given(part)) for table, _, part in parts_of(mechanism)]
    drawing = mechanism.drawing
    sections.append(_section("[drawing]", [item for item in _given(drawing) if item[0] != "points"], listed=True))
    sections.append(_section("[drawing.points]", drawing.points.items(), listed=True))
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _head(mechanism: Mechanism) -> Iterator[str]:
    for name in ("name", "title", "references", "coordinates"):
        value = getattr(mechanism, name)
        if value:
            yield _line(name, value, listed=name in ("references", "coordinates"))


def _given(part: Any) -> Iterator[tuple[str, Any]]:
    """List the fields that differ from their defaults."""
    for field in attrs.fields(type(part)):
        value = getattr(part, field.name)
        if field.default is attrs.NOTHING or value != field.default:
            yield field.name, value


def _section(header: str, items: Iterable[tuple[str, Any]], *, listed: bool = False) -> list[str]:
    lines = [_line(name, value, listed=listed or name == "forces") for name, value in items]
    return [header, *lines] if lines else []


def _line(name: str, value: Any, *, listed: bool = False) -> str:
    key = name if _BARE_KEY.match(name) else _quoted(name)
    return f"{key} = {_written(value, listed=listed)}"


def _written(value: Any, *, listed: bool = False) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, Parameter):
        return _parameter(value)
    if len(value) == 1 and isinstance(value[0], str) and not listed:
        return _quoted(value[0])
    return "[" + ", ".join(_written(item, listed=True) for item in value) + "]"


def _parameter(parameter: Parameter) -> str:
    if not parameter.unit and not parameter.doc:
        return _written(parameter.value)
    return "{ " + ", ".join(_line(name, value) for name, value in _given(parameter)) + " }"


def _quoted(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(character, character) for character in text) + '"'
