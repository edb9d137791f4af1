"""Mechanism files: read with every error in its place, and written."""

from __future__ import annotations

import tomllib
from pathlib import Path

from hybrid.declaration.mechanism import Mechanism
from hybrid.declaration.structure import Structure
from hybrid.errors import DeclarationError, Problem

MAX_BYTES = 256 * 1024


def read_mechanism(path: str | Path) -> Mechanism:
    """Read a mechanism file."""
    return mechanism_from_toml(Path(path).read_text(encoding="utf-8"), source=str(path))


def mechanism_from_toml(text: str, *, source: str = "") -> Mechanism:
    """Read a mechanism from the text of a file."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError(Problem(str(error), source=source)) from None
    structure = Structure()
    mechanism = structure.build(tables, source=source)
    if mechanism is None:
        raise DeclarationError(structure.problems)
    return mechanism
