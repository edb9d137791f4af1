"""Mechanism files written from mechanisms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from hybrid.declaration.mechanism import Mechanism
from hybrid.declaration.parts import Parameter

_ESCAPES: Mapping[str, str] = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


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
    for title, parts in (
        ("contact", mechanism.contact),
        ("friction", mechanism.friction),
        ("constraint", mechanism.constraint),
    ):
        sections += [_section(f"[[{title}]]", _given(part)) for part in parts]
    drawing = mechanism.drawing
    sections.append(_section("[drawing]", [item for item in _given(drawing) if item[0] != "points"]))
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
