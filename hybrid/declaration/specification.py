"""Mechanism files read, with every error at its line and column."""

from __future__ import annotations

from pathlib import Path

import attrs

from hybrid.declaration.document import parse, read_text
from hybrid.declaration.mechanism import Mechanism
from hybrid.declaration.positions import Positions
from hybrid.declaration.structure import Structure
from hybrid.declaration.writing import mechanism_to_toml
from hybrid.errors import MAX_PROBLEMS, DeclarationError, Problem

__all__ = ["mechanism_from_toml", "mechanism_to_toml", "read_mechanism"]


def read_mechanism(path: str | Path) -> Mechanism:
    """The mechanism that a file declares.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Mechanism

    Raises
    ------
    DeclarationError
        With all that is wrong, each with its line and column; also if the file cannot be read.

    Examples
    --------
    >>> read_mechanism("nowhere.toml")
    Traceback (most recent call last):
    hybrid.errors.DeclarationError: nowhere.toml: there is no such file
    """
    return mechanism_from_toml(read_text(path), source=str(path))


def mechanism_from_toml(text: str, *, source: str = "") -> Mechanism:
    """The mechanism that the text of a mechanism file declares.

    Parameters
    ----------
    text : str
    source : str, optional
        The name of the file, for messages.

    Returns
    -------
    Mechanism

    Raises
    ------
    DeclarationError
        With all that is wrong, each with its line and column.

    Examples
    --------
    >>> mechanism_from_toml('name = "ball"\\ncoordinates = ["z"]\\ndynamics.kinetic = "m*z_dot**2/2"')
    Traceback (most recent call last):
    hybrid.errors.DeclarationError: line 3, column 21: dynamics.kinetic: unknown name 'm'
    """
    if not isinstance(text, str):
        raise DeclarationError(Problem(f"must be a text, not {type(text).__name__}", source=source))
    document = text.removeprefix("\N{BYTE ORDER MARK}").replace("\r\n", "\n")
    structure = Structure()
    mechanism = structure.build(parse(document, source=source), source=source)
    if mechanism is None:
        raise DeclarationError(_in_order(structure.problems, Positions(document), source))
    return mechanism


def _in_order(problems: list[Problem], positions: Positions, source: str) -> list[Problem]:
    located = sorted(map(positions.located, problems), key=lambda item: (item.line or 0, item.column or 0))
    if len(located) >= MAX_PROBLEMS:
        located = [*located[: MAX_PROBLEMS - 1], Problem("there are more errors, not listed")]
    return [attrs.evolve(item, source=source) for item in located]
