"""The ranges that quantities made of parameters must keep, gathered from a declaration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from hybrid.declaration.fields import Entry
from hybrid.declaration.parameters import Bound
from hybrid.declaration.scope import Scope, Traits
from hybrid.declaration.tree import Expression

# A quantity and the smaller one of the same part that it must not fall below.
_ABOVE = {"static_friction": "friction", "static_limit": "limit"}


@attrs.frozen
class Read:
    """An entry of the declaration that was read and depends on what it may."""

    entry: Entry
    expression: Expression
    traits: Traits


def bounds(read: list[Read], scope: Scope) -> dict[str, Any]:
    """The fields ``bounds`` and ``constants`` of ``Parameters``.

    Parameters
    ----------
    read : list of Read
        All entries that could be read.
    scope : Scope

    Returns
    -------
    dict
        ``bounds``: a tuple of Bound, one for each entry made of parameters only whose role has a range. ``constants``:
        a mapping of the definitions that these use, each after those that it uses itself.
    """
    constant = {item.entry.path: item for item in read if _is_constant(item.traits, scope)}
    found: list[Bound] = []
    for path, item in constant.items():
        role = item.entry.role
        floor = constant.get((*path[:-1], _ABOVE.get(str(path[-1]), "")))
        if role.low == float("-inf"):
            continue
        found.append(
            Bound(
                expression=item.expression,
                names=item.traits.names | (floor.traits.names if floor else frozenset()),
                field=item.entry.field,
                path=path,
                low=role.low,
                high=role.high,
                positive=role.positive,
                above=floor.expression if floor else None,
                above_name=str(floor.entry.path[-1]) if floor else "",
            )
        )
    return {"bounds": tuple(found), "constants": _constants(found, scope)}


def _is_constant(traits: Traits, scope: Scope) -> bool:
    return all(scope.kinds[name] == "parameter" for name in traits.names)


def _constants(found: list[Bound], scope: Scope) -> Mapping[str, Expression]:
    """Return the definitions that the bounds use, each after those that it uses itself."""
    needed: set[str] = set()
    pending = [expression for bound in found for expression in (bound.expression, bound.above) if expression]
    while pending:
        new = pending.pop().names & scope.definitions.keys() - needed
        needed |= new
        pending += [scope.definitions[name] for name in new]
    return {name: scope.definitions[name] for name in scope.traits if name in needed}
