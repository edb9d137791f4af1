"""What an expression may depend on, by what it stands for."""

from __future__ import annotations

from hybrid.declaration.fields import Entry
from hybrid.declaration.scope import Kind, Scope, Traits
from hybrid.declaration.tree import Expression, Name
from hybrid.errors import Problem

_DEGREES = {1: "linear", 2: "a polynomial of degree 2"}


def role_problems(entry: Entry, expression: Expression, traits: Traits, scope: Scope) -> list[Problem]:
    """List what an expression depends on and must not, or must and does not."""
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
    needed = role.needs
    if needed and not any(scope.kinds[name] in needed for name in traits.names):
        kind = next(iter(needed))
        problems.append(Problem(f"{role.noun} must depend on a {kind}", entry.field, path=entry.path))
    return problems


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
