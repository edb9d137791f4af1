"""Everything that can be wrong with the meaning of a declaration, found without deriving anything."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.declaration.evaluation import evaluate
from hybrid.declaration.fields import Path, entries
from hybrid.declaration.inertia import inertia_problems
from hybrid.declaration.names import TIME, velocity_name
from hybrid.declaration.naming import naming_problems, refuse_too_many
from hybrid.declaration.parameters import Parameters, Read, bounds, parse_value
from hybrid.declaration.parser import parse_expression
from hybrid.declaration.roles import role_problems
from hybrid.declaration.scope import Kind, Scope, definition_traits, ordered
from hybrid.declaration.shapes import shape_problems
from hybrid.declaration.tree import Expression
from hybrid.declaration.units import dimension_problems
from hybrid.errors import MAX_PROBLEMS, DeclarationError, Problem

if TYPE_CHECKING:
    from hybrid.declaration.parts import AbstractMechanism


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


def _parsed(text: str, known: frozenset[str], *, field: str, path: Path, problems: list[Problem]) -> Expression | None:
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
