"""Elastic realisations of rigid constraints: the same mechanism with springs in their place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.arguments import explains_arguments
from hybrid.declaration.names import suggestion
from hybrid.declaration.parts import Constraint, Parameter
from hybrid.declaration.tree import evaluate
from hybrid.errors import DeclarationError, Problem

if TYPE_CHECKING:
    from hybrid.declaration.mechanism import Mechanism

__all__ = ["Stiffness", "is_positive", "realise", "stiffness_name"]

Stiffness = float | str | Mapping[str, float | str]


def stiffness_name(mechanism: Mechanism, name: str) -> str:
    """Name of the parameter that holds the stiffness of a realised constraint.

    Parameters
    ----------
    mechanism : Mechanism
    name : str
        Of the constraint.

    Returns
    -------
    str
        ``stiffness_NAME``, with underscores behind it until the mechanism has no such name yet.
    """
    candidate = f"stiffness_{name}"
    while candidate in mechanism.names:
        candidate += "_"
    return candidate


@explains_arguments
def realise(
    mechanism: Mechanism,
    names: str | Sequence[str],
    *,
    stiffness: Stiffness,
    length: float | str | None = None,
) -> Mechanism:
    """A mechanism with springs for rigid constraints: ``f = 0`` becomes the potential ``stiffness * f**2 / 2``.

    With ``stiffness = 2 N c`` that is the potential ``N c f^2`` whose motions tend to the rigid one as ``N`` grows,
    away from singular configurations with an error of order ``1/N`` (Rubin and Ungar 1957).

    Parameters
    ----------
    mechanism : Mechanism
    names : str or sequence of str
        Constraints to realise.
    stiffness : float or str, or a mapping of them by constraint
        A number becomes the value of a new parameter ``stiffness_NAME`` that can be replaced as any other; an
        expression is used as it is. In energy per square of the constraint's unit.
    length : float or str, optional
        For a rod that is declared by the square of its length, ``x**2 + y**2 - l**2``: its length, and the potential
        is that of a spring, ``stiffness * (sqrt(f + length**2) - length)**2 / 2``. A positive number, or an
        expression of parameters and time.

    Returns
    -------
    Mechanism

    Raises
    ------
    DeclarationError
        An unknown name, one with friction, or a stiffness or a length that is not positive.

    Examples
    --------
    >>> import mechanisms
    >>> spring = realise(mechanisms.load("singular_pendulum"), "BC", stiffness=1e4)
    >>> spring.constraint[0].stiffness, spring.parameters["stiffness_BC"].value
    ('stiffness_BC', 10000.0)
    """
    chosen = (names,) if isinstance(names, str) else tuple(names)
    declared = {item.name: item for item in mechanism.constraint}
    problems = [*_of_constraints(mechanism, chosen, declared), *_of_stiffness(chosen, stiffness)]
    problems += [] if length is None else _of_length(mechanism, length)
    if problems:
        raise DeclarationError(problems)
    parameters = dict(mechanism.parameters)
    realised: dict[str, Constraint] = {}
    for name in chosen:
        given = _stiffness_of(name, stiffness)
        if not isinstance(given, str):
            value, given = float(given), stiffness_name(mechanism, name)
            parameters[given] = Parameter(value, doc=f"stiffness of the spring in place of {name}")
        item = declared[name]
        equation = item.equation if length is None else f"sqrt({item.equation} + ({length})**2) - ({length})"
        realised[name] = attrs.evolve(item, equation=equation, stiffness=given)
    changes: dict[str, Any] = {
        "name": f"{mechanism.name}-elastic",
        "parameters": parameters,
        "constraint": [realised.get(item.name, item) for item in mechanism.constraint],
        "source": "",
    }
    return attrs.evolve(mechanism, **changes)


def _stiffness_of(name: str, stiffness: Stiffness) -> float | str:
    return stiffness[name] if isinstance(stiffness, Mapping) else stiffness


def _of_constraints(mechanism: Mechanism, names: Sequence[str], declared: dict[str, Constraint]) -> list[Problem]:
    problems = [] if names else [Problem("name at least one constraint to realise")]
    for name in names:
        if name not in declared:
            known = f"the constraints are {', '.join(declared)}" if declared else "it has no constraint"
            hint = suggestion(name, declared) or known
            problems.append(Problem(f"{mechanism.name} has no constraint {name!r} to realise", hint=hint))
        elif declared[name].friction is not None:
            message = "has dry friction, which acts on the force of a rigid constraint: it cannot be realised"
            problems.append(Problem(message, f"constraint.{name}"))
    return problems


def _of_stiffness(names: Sequence[str], stiffness: Stiffness) -> list[Problem]:
    problems = []
    given = dict(stiffness) if isinstance(stiffness, Mapping) else {"": stiffness}
    for name, value in given.items():
        place = f"stiffness.{name}" if name else "stiffness"
        if name and name not in names:
            problems.append(Problem("is no constraint to realise", place, hint=suggestion(name, names)))
        if not isinstance(value, str) and not is_positive(value):
            problems.append(Problem(f"must be a positive number, not {value!r}", place))
    return problems + [Problem("is missing", f"stiffness.{name}") for name in names if not ({"", name} & set(given))]


def _of_length(mechanism: Mechanism, length: float | str) -> list[Problem]:
    """What is wrong with a length; the value of an expression is that at the declared parameters."""
    if not isinstance(length, str):
        return [] if is_positive(length) else [Problem(f"must be a positive number, not {length!r}", "length")]
    try:
        expression = mechanism.expanded(length, field="length")
    except DeclarationError as error:
        return list(error.problems)
    moving = sorted(expression.names & {*mechanism.coordinates, *mechanism.velocities})
    if moving:
        return [Problem(f"may depend on parameters and time, not on {', '.join(moving)}", "length")]
    values = mechanism.parameter_values()
    if not expression.names <= values.keys():
        return []
    value = float(evaluate(expression, values).real)
    return [] if is_positive(value) else [Problem(f"must be positive, but {length!r} is {value:g}", "length")]


def is_positive(value: object) -> bool:
    """Whether a value is a positive finite number, which a truth value is not.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool

    Examples
    --------
    >>> [is_positive(value) for value in (2, 0.5, 0.0, float("inf"), True, "k")]
    [True, True, False, False, False, False]
    """
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value) and float(value) > 0.0
