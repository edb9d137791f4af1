"""What an expression may depend on, by what it stands for."""

from __future__ import annotations

from hybrid.declaration.fields import Entry
from hybrid.declaration.scope import Kind, Scope, Traits
from hybrid.declaration.tree import Expression, Name, Number
from hybrid.errors import Problem

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
