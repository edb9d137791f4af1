"""Everything that can be wrong with the meaning of a declaration, found without deriving anything.

Names of a declaration: well formed, not reserved, and each used once.

What an expression may depend on, by what it stands for.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.declaration.dimensions import dimension_problems
from hybrid.declaration.fields import FieldPath, Kind, Scope, definition_traits, entries, label, ordered, parts_of
from hybrid.declaration.names import MAX_NAME_LENGTH, TIME, is_identifier, velocity_name
from hybrid.declaration.parameters import Parameters, Read, bounds, parse_value
from hybrid.declaration.parser import parse_expression
from hybrid.declaration.shapes import inertia_problems, shape_problems
from hybrid.declaration.tree import CONSTANTS, FUNCTIONS, Expression, Name, Number, evaluate
from hybrid.errors import MAX_PROBLEMS, DeclarationError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hybrid.declaration.fields import Entry, Traits
    from hybrid.declaration.parts import AbstractMechanism


MAX_COORDINATES = 100
MAX_NAMES = 2_000

MECHANISM_NAME = "[A-Za-z0-9_][A-Za-z0-9_.-]*"
"""The name of a mechanism as a regular expression."""


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


_NOUNS = {"contact": "a contact", "friction": "a friction element", "constraint": "a constraint"}


def _declared(mechanism: AbstractMechanism) -> Iterator[tuple[str, str, str, FieldPath]]:
    for index, name in enumerate(mechanism.coordinates):
        yield name, "a coordinate", "coordinates", ("coordinates", index)
    for index, name in enumerate(dict.fromkeys(mechanism.coordinates)):
        yield velocity_name(name), f"the velocity of '{name}'", "coordinates", ("coordinates", index)
    for name in mechanism.parameters:
        yield name, "a parameter", f"parameters.{name}", ("parameters", name)
    for name in mechanism.definitions:
        yield name, "a definition", f"definitions.{name}", ("definitions", name)
    for table, index, part in parts_of(mechanism):
        yield part.name, _NOUNS[table], f"{label(table, part.name, index)}.name", (table, index, "name")


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


_DEGREES = {1: "linear", 2: "a polynomial of degree 2"}


def role_problems(entry: Entry, expression: Expression, traits: Traits, scope: Scope) -> list[Problem]:
    """What an expression depends on and must not, or must and does not, as problems.

    Parameters
    ----------
    entry : Entry
        The place of the expression, and what it stands for.
    expression : Expression
        Of ``entry.text``, with the names of definitions.
    traits : Traits
        Of the expression.
    scope : Scope

    Returns
    -------
    list of Problem
        With the column of each name that is forbidden; only these if there are any.
    """
    problems = [
        Problem(message, entry.field, column=column, hint=hint, path=entry.path)
        for message, column, hint in _forbidden(entry, expression, scope)
    ]
    if problems:
        return problems
    role = entry.role
    if traits.degree > role.degree:
        words = _DEGREES[int(role.degree)]
        problems.append(Problem(f"{role.noun} must be {words} in the velocities", entry.field, path=entry.path))
    wanted = {name for name in traits.names if scope.kinds[name] in role.needs}
    if role.needs and not wanted & _counting(expression, scope):
        kind = next(iter(role.needs))
        hint = f"'{min(wanted)}' is multiplied by zero" if wanted else ""
        problems.append(Problem(f"{role.noun} must depend on a {kind}", entry.field, hint=hint, path=entry.path))
    return problems


def _counting(expression: Expression, scope: Scope) -> frozenset[str]:
    """The names of an expression without those that are multiplied by zero."""
    stack: list[frozenset[str] | None] = []  # None is zero
    for node in expression.tree:
        if isinstance(node, Number):
            stack.append(frozenset() if node.exact else None)
        elif isinstance(node, Name):
            definition = scope.traits.get(node.name)
            stack.append(definition.names if definition else frozenset({node.name} & scope.kinds.keys()))
        else:
            arguments = stack[-node.arity :]
            del stack[-node.arity :]
            names = [item for item in arguments if item is not None]
            is_product = node.operation == "*" or (node.operation == "/" and arguments[0] is None)
            is_zero = len(names) < node.arity if is_product else not names and node.operation in ("+", "-", "negate")
            stack.append(None if is_zero else frozenset().union(*names))
    return stack[0] or frozenset()


def _forbidden(entry: Entry, expression: Expression, scope: Scope) -> list[tuple[str, int, str]]:
    found: dict[str, tuple[str, int, str]] = {}
    for node in expression.tree:
        if not isinstance(node, Name) or node.name in found:
            continue
        definition = scope.traits.get(node.name)
        names = sorted(definition.names) if definition else [node.name]
        for name in names:
            kind = scope.kinds.get(name)
            if kind is not None and kind not in entry.role.allowed:
                hint = f"through the definition '{node.name}'" if definition else ""
                found[node.name] = (_message(entry, name, kind), node.column, hint)
                break
    return list(found.values())


def _message(entry: Entry, name: str, kind: Kind) -> str:
    thing = "time" if kind == "time" else f"the {kind} '{name}'"
    return f"{entry.role.noun} must not depend on {thing}"


def checked(mechanism: AbstractMechanism) -> tuple[Scope, Parameters, list[Read], list[Problem]]:
    """Every expression of a mechanism as read, and everything that is wrong with it.

    Parameters
    ----------
    mechanism : AbstractMechanism
        As declared, with fields of the right types.

    Returns
    -------
    scope : Scope
    parameters : Parameters
        Usable only if nothing is wrong.
    read : list of Read
        The expressions but those of parameters and definitions.
    problems : list of Problem

    Raises
    ------
    DeclarationError
        At once, if there are more names than a mechanism can have.
    """
    refuse_too_many(mechanism)
    problems = [*naming_problems(mechanism), *islice(shape_problems(mechanism), MAX_PROBLEMS)]
    parameters = _parameters(mechanism, problems)
    scope = _scope(mechanism, problems)
    read = _read(mechanism, scope, problems)
    problems += _moving_guides(mechanism, read, scope)
    parameters = attrs.evolve(parameters, **bounds(read, scope))
    if len(parameters.defaults) == len(mechanism.parameters):
        problems += parameters.violations(parameters.defaults)
        problems += inertia_problems(mechanism, read, scope, parameters.defaults)
    if not problems:
        problems += dimension_problems(mechanism, read, scope, parameters.ordered)
    return scope, parameters, read, problems


def _parsed(
    text: str, known: frozenset[str], *, field: str, path: FieldPath, problems: list[Problem]
) -> Expression | None:
    try:
        parse = parse_value if path[0] == "parameters" else parse_expression
        return parse(text, known=known, field=field, path=path)
    except DeclarationError as error:
        problems.extend(error.problems)
        return None


def _parameters(mechanism: AbstractMechanism, problems: list[Problem]) -> Parameters:
    known = frozenset(mechanism.names)
    given: dict[str, float | Expression] = {}
    for name, parameter in mechanism.parameters.items():
        if len(problems) >= MAX_PROBLEMS:
            break
        field, path = f"parameters.{name}", ("parameters", name)
        if not isinstance(parameter.value, str):
            given[name] = parameter.value
            continue
        expression = _parsed(parameter.value, known, field=field, path=path, problems=problems)
        if expression is None:
            continue
        strangers = sorted(expression.names - mechanism.parameters.keys() - {"pi"})
        if strangers:
            message = f"a parameter depends on other parameters only, not on '{strangers[0]}'"
            problems.append(Problem(message, field, path=path))
        else:
            given[name] = expression
    expressions = {name: item for name, item in given.items() if isinstance(item, Expression)}
    order, circles = ordered(expressions, field="parameters")
    problems += circles
    values: dict[str, float] = {name: item for name, item in given.items() if not isinstance(item, Expression)}
    order = [*values, *order]
    for name in order[len(values) :]:
        if not expressions[name].names - {"pi"} <= values.keys():
            continue
        value = float(evaluate(expressions[name], values))
        if np.isfinite(value):
            values[name] = value
        else:
            message = f"must be a finite number, not {value:g}"
            problems.append(Problem(message, f"parameters.{name}", path=("parameters", name)))
    defaults = {name: values[name] for name in mechanism.parameters if name in values}
    return Parameters(given, tuple(order), defaults, {}, ())


def _scope(mechanism: AbstractMechanism, problems: list[Problem]) -> Scope:
    kinds: dict[str, Kind] = {TIME: "time"}
    kinds |= dict.fromkeys(mechanism.parameters, "parameter")
    kinds |= {velocity_name(name): "velocity" for name in mechanism.coordinates}
    kinds |= dict.fromkeys(mechanism.coordinates, "coordinate")
    known = frozenset(mechanism.names)
    definitions: dict[str, Expression] = {}
    for name, text in mechanism.definitions.items():
        if len(problems) >= MAX_PROBLEMS:
            break
        field, path = f"definitions.{name}", ("definitions", name)
        expression = _parsed(text, known, field=field, path=path, problems=problems)
        if expression is not None and name not in kinds:
            definitions[name] = expression
    traits, faults = definition_traits(definitions, kinds)
    problems += faults
    return Scope(kinds, definitions, traits)


def _read(mechanism: AbstractMechanism, scope: Scope, problems: list[Problem]) -> list[Read]:
    known = frozenset(mechanism.names)
    read: list[Read] = []
    for entry in entries(mechanism):
        if len(problems) >= MAX_PROBLEMS:
            break
        expression = _parsed(entry.text, known, field=entry.field, path=entry.path, problems=problems)
        traits = scope.traits_of(expression) if expression else None
        if expression is None or traits is None:
            continue
        faults = role_problems(entry, expression, traits, scope)
        problems += faults
        if not faults:
            read.append(Read(entry, expression, traits))
    return read


def _moving_guides(mechanism: AbstractMechanism, read: list[Read], scope: Scope) -> list[Problem]:
    """Guides of points that depend on more than the coordinate that runs along them."""
    problems = []
    for index, guide in enumerate(mechanism.drawing.guides):
        own = [item for item in read if item.entry.path[:3] == ("drawing", "points", guide[0])]
        others = sorted(
            name
            for name in frozenset().union(*(item.traits.names for item in own))
            if scope.kinds[name] != "parameter" and name != guide[-1]
        )
        if others:
            message = f"the point '{guide[0]}' depends on '{others[0]}', too: the guide would move"
            field, path = f"drawing.guides[{index + 1}]", ("drawing", "guides", index)
            problems.append(Problem(message, field, path=path))
    return problems
