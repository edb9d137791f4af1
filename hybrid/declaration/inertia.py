"""Faults of the inertia that show without deriving it: missing, not symmetric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.declaration.evaluation import evaluate
from hybrid.declaration.names import velocity_name
from hybrid.declaration.parameters import Read
from hybrid.declaration.parts import EnergyDynamics
from hybrid.declaration.scope import Scope
from hybrid.declaration.tree import Expression
from hybrid.errors import Problem
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from hybrid.declaration.parts import AbstractMechanism

_N_SAMPLES = 4
# Two entries that are equal as functions differ by rounding only, about 1e-13 for texts of the permitted length.
_SYMMETRY = NOTHING


def inertia_problems(
    mechanism: AbstractMechanism, read: list[Read], scope: Scope, parameters: Mapping[str, float]
) -> list[Problem]:
    """Coordinates without inertia, and entries of the mass matrix that differ from their mirror images, as problems.

    Parameters
    ----------
    mechanism : AbstractMechanism
    read : list of Read
        The entries that could be read; the mass matrix is looked at if all of its entries are among them.
    scope : Scope
    parameters : mapping of str to float
        A value for every parameter, in its unit.

    Returns
    -------
    list of Problem
        Empty if nothing is wrong. Entries are compared at a few postures in general position.
    """
    by_path = {item.entry.path: item for item in read}
    if isinstance(mechanism.dynamics, EnergyDynamics):
        kinetic = by_path.get(("dynamics", "kinetic"))
        return _massless(mechanism, kinetic.traits.names) if kinetic else []
    n = len(mechanism.coordinates)
    matrix = {(i, j): by_path.get(("dynamics", "mass_matrix", i, j)) for i in range(n) for j in range(n)}
    if None in matrix.values():
        return []
    entries = {index: item.expression for index, item in matrix.items() if item is not None}
    return _rows(mechanism, entries, _samples(mechanism, scope, parameters))


def _massless(mechanism: AbstractMechanism, names: frozenset[str]) -> list[Problem]:
    return [
        Problem(
            f"the velocity of '{name}' does not occur: the mass matrix is singular at every posture",
            "dynamics.kinetic",
            hint=f"give '{name}' an inertia or remove it",
            path=("dynamics", "kinetic"),
        )
        for name in mechanism.coordinates
        if velocity_name(name) not in names
    ]


def _samples(mechanism: AbstractMechanism, scope: Scope, parameters: Mapping[str, float]) -> dict[str, Any]:
    """Values of every name at a few postures in general position."""
    random = np.random.default_rng(0)
    names = [name for name, kind in scope.kinds.items() if kind != "parameter"]
    values: dict[str, Any] = {**parameters} | {name: random.uniform(0.2, 1.2, _N_SAMPLES) for name in names}
    for name in scope.traits:
        values[name] = evaluate(scope.definitions[name], values)
    return values


def _rows(
    mechanism: AbstractMechanism, entries: Mapping[tuple[int, int], Expression], values: Mapping[str, Any]
) -> list[Problem]:
    problems: list[Problem] = []
    computed = {index: evaluate(expression, values) for index, expression in entries.items()}
    for i, name in enumerate(mechanism.coordinates):
        if not np.any(computed[i, i]):
            message = f"the inertia of '{name}' is zero: the mass matrix is singular at every posture"
            problems.append(_problem(message, i, i))
        for j in range(i):
            lower, upper = np.asarray(computed[i, j]), np.asarray(computed[j, i])
            difference = np.abs(lower - upper)
            if np.any(difference > _SYMMETRY * (np.abs(lower) + np.abs(upper))):
                hint = f"'{entries[i, j].text[:60]}' stands opposite '{entries[j, i].text[:60]}'"
                problems.append(_problem("the mass matrix must be symmetric", i, j, hint))
    return problems


def _problem(message: str, i: int, j: int, hint: str = "") -> Problem:
    field = f"dynamics.mass_matrix[{i + 1}][{j + 1}]"
    return Problem(message, field, hint=hint, path=("dynamics", "mass_matrix", i, j))
