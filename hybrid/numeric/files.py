"""States that are given by numbers, from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.errors import FileError
from hybrid.files import check_keys, is_numeric, read_file, read_json
from hybrid.numeric.state import NumericContact, NumericFriction, NumericState

__all__ = ["read_state"]

FORMAT = "painleve-state"
VERSION = 1
MAX_BYTES = 64 * 2**20
"""A state of a thousand velocities and a hundred contacts takes some 20 MB as text."""

_STATE = {field.name for field in attrs.fields(NumericState)} - {"sides"}
_CONTACT = {field.name for field in attrs.fields(NumericContact)}
_ELEMENT = {field.name for field in attrs.fields(NumericFriction)}


@checks_arguments
def read_state(path: str | Path) -> NumericState:
    """Read a state as :func:`hybrid.numeric.capture.capture` writes it.

    Parameters
    ----------
    path : str or Path
        A JSON file of the format ``painleve-state``, version 1.

    Returns
    -------
    NumericState
        Without a name of its own it is called by its file.

    Raises
    ------
    FileError
        The file cannot be read, is of another format, or has a field that is unknown or no array of numbers.
    StateError
        A shape, a number or a name does not fit.
    """
    source = str(path)
    content = read_json(read_file(path, limit=MAX_BYTES), source=source)
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise FileError(f'is no state: it must be an object with "format": "{FORMAT}"', source)
    if content.get("version") != VERSION:
        raise FileError(f"has version {content.get('version')!r} of its format, and {VERSION} is known", source)
    given = {key: value for key, value in content.items() if key not in ("format", "version")}
    check_keys("", given, _STATE, {"M", "h"}, source)
    contacts = [
        _part(NumericContact, f"contacts[{k}]", item, _CONTACT, {"name", "W_N"}, source)
        for k, item in enumerate(_items(given.pop("contacts", ()), "contacts", source))
    ]
    elements = [
        _part(NumericFriction, f"friction[{k}]", item, _ELEMENT, {"name", "W_T", "slip", "limit"}, source)
        for k, item in enumerate(_items(given.pop("friction", ()), "friction", source))
    ]
    numbers = _numbers("", {"name": Path(path).stem, **given}, source)
    return NumericState(**numbers, contacts=contacts, friction=elements)


def _items(value: Any, field: str, source: str) -> Iterable[Any]:
    if not isinstance(value, list | tuple):
        raise FileError(f"{field} must be a list", source)
    return value


def _part(kind: Any, field: str, item: Any, known: set[str], needed: set[str], source: str) -> Any:
    if not isinstance(item, Mapping):
        raise FileError(f"{field} must be an object with name and directions", source)
    check_keys(field, item, known, needed, source)
    return kind(**_numbers(f"{field}.", item, source))


def _numbers(where: str, given: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The fields of an object as arrays, but its name, its body and what is null."""
    found: dict[str, Any] = {"body": given["body"] or ""} if "body" in given else {}
    for key, value in given.items():
        if key == "body":
            continue
        try:
            if key != "name" and value is not None and not is_numeric(value):
                raise TypeError
            found[key] = str(value) if key == "name" else None if value is None else np.asarray(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise FileError(f"{where}{key} is no array of numbers (in the range of double precision)", source) from None
    return found
