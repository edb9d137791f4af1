"""Names of a declaration: well formed, not reserved, and each used once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from hybrid.declaration.fields import Path, label
from hybrid.declaration.functions import CONSTANTS, FUNCTIONS
from hybrid.declaration.names import MAX_NAME_LENGTH, TIME, is_identifier, velocity_name
from hybrid.errors import DeclarationError, Problem

if TYPE_CHECKING:
    from hybrid.declaration.parts import AbstractMechanism

MAX_COORDINATES = 100
MAX_NAMES = 2_000

MECHANISM_NAME = "[A-Za-z0-9_][A-Za-z0-9_.-]*"
"""The name of a mechanism as a regular expression."""


class _Named(Protocol):
    name: str


def naming_problems(mechanism: AbstractMechanism) -> list[Problem]:
    """Names that are missing, malformed, reserved or used twice, as problems.

    Parameters
    ----------
    mechanism : AbstractMechanism
        Not too long, see `refuse_too_many`.

    Returns
    -------
    list of Problem
        In the order of the declaration; empty if all names are fine.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> rod = SimpleNamespace(
    ...     name="rod", coordinates=("x", "x"), parameters={"sin": 1}, definitions={}, contact=(), friction=(),
    ...     constraint=(),
    ... )
    >>> for problem in naming_problems(rod):
    ...     print(problem)
    coordinates: 'x' is already a coordinate
    parameters.sin: 'sin' is a function; choose another name
    """
    problems: list[Problem] = mechanism_name_problems(mechanism.name)
    if not mechanism.coordinates:
        problems.append(Problem("must name at least one coordinate", "coordinates", path=("coordinates",)))
    taken = dict.fromkeys(FUNCTIONS, "a function") | dict.fromkeys(CONSTANTS, "a constant") | {TIME: "the time"}
    for name, kind, field, path in _declared(mechanism):
        fault = _fault(name, taken)
        if fault:
            problems.append(Problem(fault[0], field, hint=fault[1], path=path))
        else:
            taken[name] = kind
    return problems


def mechanism_name_problems(name: str) -> list[Problem]:
    """What is wrong with the name of a mechanism, as problems.

    Parameters
    ----------
    name : str

    Returns
    -------
    list of Problem
        Empty if it is fine.

    Examples
    --------
    >>> mechanism_name_problems("rod_2"), len(mechanism_name_problems("a rod"))
    ([], 1)
    """
    if re.fullmatch(MECHANISM_NAME, name) and len(name) <= MAX_NAME_LENGTH:
        return []
    message = f"must be a short name of ASCII letters, digits, _, - and ., not {name[:40]!r}"
    return [Problem(message, "name", path=("name",))]


def refuse_too_many(mechanism: AbstractMechanism) -> None:
    """The refusal of more names than can be checked in a second.

    Parameters
    ----------
    mechanism : AbstractMechanism

    Returns
    -------
    None
        There are few enough.

    Raises
    ------
    DeclarationError
        If there are more than ``MAX_COORDINATES`` coordinates or ``MAX_NAMES`` names.
    """
    n_coordinates = len(mechanism.coordinates)
    if n_coordinates > MAX_COORDINATES:
        message = f"lists {n_coordinates} coordinates; at most {MAX_COORDINATES} are possible"
        raise DeclarationError(Problem(message, "coordinates", path=("coordinates",)))
    n_names = sum(1 for _ in _declared(mechanism))
    if n_names > MAX_NAMES:
        raise DeclarationError(Problem(f"declares {n_names} names; at most {MAX_NAMES} are possible"))


def _declared(mechanism: AbstractMechanism) -> Iterator[tuple[str, str, str, Path]]:
    for index, name in enumerate(mechanism.coordinates):
        yield name, "a coordinate", "coordinates", ("coordinates", index)
    for index, name in enumerate(dict.fromkeys(mechanism.coordinates)):
        yield velocity_name(name), f"the velocity of '{name}'", "coordinates", ("coordinates", index)
    for name in mechanism.parameters:
        yield name, "a parameter", f"parameters.{name}", ("parameters", name)
    for name in mechanism.definitions:
        yield name, "a definition", f"definitions.{name}", ("definitions", name)
    for table, noun, parts in (
        ("contact", "a contact", mechanism.contact),
        ("friction", "a friction element", mechanism.friction),
        ("constraint", "a constraint", mechanism.constraint),
    ):
        for index, name in enumerate([part.name for part in cast(Sequence[_Named], parts)]):
            yield name, noun, f"{label(table, name, index)}.name", (table, index, "name")


def _fault(name: str, taken: dict[str, str]) -> tuple[str, str] | None:
    if name in taken:
        reserved = name == TIME or name in FUNCTIONS or name in CONSTANTS
        return (
            f"'{name}' is {'' if reserved else 'already '}{taken[name]}",
            "choose another name" if reserved else "",
        )
    if is_identifier(name):
        return None
    if len(name) > MAX_NAME_LENGTH:
        return f"the name '{name[:20]}...' is longer than {MAX_NAME_LENGTH} characters", ""
    return f"{name[:40]!r} is not a name", "a name is ASCII letters, digits and _, and starts with no digit"
