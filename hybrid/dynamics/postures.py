"""All postures that pins allow at one place, and the one that a start names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.pin_values import read_number
from hybrid.dynamics.positions import PositionProblem, newton, newton_from
from hybrid.dynamics.scales import coordinate_sizes
from hybrid.errors import StateError
from hybrid.tolerances import CLEAR, NOTHING

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics
    from hybrid.tolerances import Tolerances

__all__ = ["distinct_postures", "is_same_posture", "named_posture", "read_start"]

Array = NDArray[np.float64]

_SAME_POSTURE = CLEAR  # of the size of each coordinate


def read_start(
    dynamics: Dynamics,
    start: Mapping[str, Any],
    *,
    unknown: Collection[str],
    swept: Collection[str],
) -> dict[str, float]:
    """The values that name a branch.

    Parameters
    ----------
    dynamics : Dynamics
    start : mapping of str to float or str
    unknown : collection of str
        Coordinates that the pins leave to the equations.
    swept : collection of str
        Quantities with a value at which the branch starts.

    Returns
    -------
    dict of str to float

    Raises
    ------
    StateError
        Another name, or a value that is not a finite number.
    """
    known = dynamics.values
    scalars = {name: np.ravel(value)[0] if np.ndim(value) else value for name, value in known.items()}
    for name in start:
        if name not in (*unknown, *swept):
            raise StateError(
                f"branch {name}: a branch is named by coordinates that the pins leave open and by what is swept; "
                f"here these are {', '.join((*unknown, *swept)) or 'none'}"
            )
    return {name: float(read_number(f"branch {name}", value, scalars)) for name, value in start.items()}


def is_same_posture(problem: PositionProblem, first: Array, second: Array, *, rounding: Array | float = 0.0) -> bool:
    """Whether positions are alike: all kinematics are, which full turns of an angle leave unchanged.

    Parameters
    ----------
    problem : PositionProblem
        With one row of pins.
    first, second : array, (n,)
    rounding : array, (n,), or float
        What the coordinates from which one was solved may have left in it.

    Returns
    -------
    bool
    """
    dynamics = problem.dynamics
    rest, time = np.zeros(dynamics.n), problem.time[0]
    values = {name: np.ravel(value)[0] if np.ndim(value) else value for name, value in problem.parameters.items()}
    sizes = coordinate_sizes(dynamics.at(values), np.maximum(np.abs(first), np.abs(second)), t=time)
    if (np.abs(first - second) <= _SAME_POSTURE * sizes + rounding).all():
        return True
    terms = [dynamics.terms(q, rest, t=time, parameters=values) for q in (first, second)]
    extents = {"gap": np.abs(terms[0].W_N).T @ sizes, "constraint": np.abs(terms[0].J) @ sizes}
    return all(
        np.allclose(one, other, rtol=NOTHING, atol=NOTHING * float(np.max(np.abs(extents.get(name, one)), initial=0.0)))
        for name in ("M", "h", "gap", "W_N", "W_T", "constraint", "J")
        for one, other in ((getattr(terms[0], name), getattr(terms[1], name)),)
    )


def distinct_postures(
    problem: PositionProblem, known: list[Array], tolerances: Tolerances, named: Mapping[str, float] | None = None
) -> list[Array]:
    """Known postures and those that Newton's method finds from its starts; full turns of an angle count once.

    Parameters
    ----------
    problem : PositionProblem
        Of one state.
    known : list of array, (n,)
    tolerances : Tolerances
    named : mapping of str to float, optional
        Coordinates that are put into every start.

    Returns
    -------
    list of array, (n,)
    """
    found = list(known)
    if not problem.free:
        return found
    index = {name: k for k, name in enumerate(problem.dynamics.mechanism.coordinates)}
    for start in problem.starts:
        q = problem.started(start)
        rounding = np.finfo(float).eps * np.abs(q[0])
        if named:
            q[:, [index[name] for name in named]] = list(named.values())
            (trial,), (converged,) = newton_from(problem, q, tolerances)
        else:
            (trial,), (converged,) = newton(problem, start, tolerances)
        if converged and not any(is_same_posture(problem, trial, other, rounding=rounding) for other in found):
            found.append(trial)
    return found


def named_posture(
    problem: PositionProblem, named: Mapping[str, float], tolerances: Tolerances
) -> tuple[Array, tuple[Array, ...]]:
    """The posture nearest to named coordinates, or the first one if none is named.

    Parameters
    ----------
    problem : PositionProblem
        Of one state.
    named : mapping of str to float
    tolerances : Tolerances

    Returns
    -------
    q : array, (n,)
    others : tuple of array, (n,)

    Raises
    ------
    StateError
        There is no posture.
    """
    dynamics = problem.dynamics
    near = distinct_postures(problem, [], tolerances, named) if named else []
    found = distinct_postures(problem, near, tolerances)
    if not found:
        raise StateError(f"no posture of {dynamics.name} satisfies the pins where the branch starts")
    columns = [dynamics.mechanism.coordinates.index(name) for name in named]
    distances = [float(np.max(np.abs(q[columns] - list(named.values())), initial=0.0)) for q in found]
    chosen = int(np.argmin(distances))
    return found[chosen] + 0.0, tuple(q + 0.0 for k, q in enumerate(found) if k != chosen)
