"""The JSON schema of the mechanism file, read off the classes of the declaration: editors complete and check by it."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import attrs

from hybrid.declaration import convert
from hybrid.declaration.convert import MAX_TEXT
from hybrid.declaration.names import IDENTIFIER, MAX_NAME_LENGTH
from hybrid.declaration.naming import MAX_COORDINATES, MECHANISM_NAME
from hybrid.declaration.parser import MAX_LENGTH
from hybrid.declaration.parts import AbstractMechanism, Parameter

__all__ = ["mechanism_schema"]

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
        return {"type": "array", "items": _of_class(parts[0])}
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
