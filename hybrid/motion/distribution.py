"""Contact forces that are not unique: distributions that move the mechanism alike, and which are admissible."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import RANK

Array = NDArray[np.float64]

_REACH = 10.0  # of the largest force: internal forces beyond this are not looked at


def null_space(system: Array, response: Array) -> Array:
    """Directions in which the forces of one instant may change without any change of acceleration.

    Parameters
    ----------
    system : array, (r, r)
        Conditions of the mode per unit force.
    response : array, (n, r)
        Accelerations per unit force.

    Returns
    -------
    array, (r, d)
        Orthonormal columns.
    """
    both = np.vstack([system, response])
    _, sizes, rows = np.linalg.svd(both)
    return np.asarray(rows[int(np.sum(sizes > RANK * sizes[0])) :].T)


def admissible(forces: Array, null: Array, slopes: Array, constants: Array) -> tuple[Array, float]:
    """A distribution of the same resultant that satisfies ``slopes @ forces + constants >= 0``, if there is one.

    Parameters
    ----------
    forces : array, (r,)
        One distribution, of least norm.
    null : array, (r, d)
        Directions from :func:`null_space`.
    slopes, constants : array, (m, r) and (m,)

    Returns
    -------
    nearest : array, (r,)
        ``forces`` if they are admissible, else moved towards the distribution whose smallest slack is largest.
    slack : float
        That slack: negative if no distribution is admissible.

    Examples
    --------
    >>> internal = np.array([[1.0], [-1.0]]) / np.sqrt(2)
    >>> nearest, slack = admissible(np.array([-1.0, 5.0]), internal, np.eye(2), np.zeros(2))
    >>> nearest.round(9).tolist(), round(slack, 9)
    ([0.0, 4.0], 2.0)
    """
    start, directions = slopes @ forces + constants, slopes @ null
    reach = _REACH * (float(np.max(np.abs(forces))) or 1.0)
    best = _highest_line(start, directions[:, 0], reach) if null.shape[1] == 1 else _highest(start, directions, reach)
    move = null @ best
    gain = directions @ best
    lacking = start < 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(lacking & (gain > 0.0), -start / gain, 0.0)
    share = min(float(np.max(shares, initial=0.0)), 1.0)
    return forces + share * move, float(np.min(start + gain))


def _highest_line(start: Array, slope: Array, reach: float) -> Array:
    """The point at which the lowest of lines is highest: it is where two of them meet, or at the end."""
    places = [-reach, 0.0, reach]
    for i, j in combinations(range(len(start)), 2):
        if slope[i] != slope[j]:
            places.append(float(np.clip((start[j] - start[i]) / (slope[i] - slope[j]), -reach, reach)))
    at = np.array(places)
    lowest = np.min(start[:, None] + np.outer(slope, at), axis=0)
    return at[[int(np.argmax(lowest))]]


def _highest(start: Array, directions: Array, reach: float) -> Array:
    from scipy.optimize import linprog

    d = directions.shape[1]
    found = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([-directions, np.ones(len(start))]),
        b_ub=start,
        bounds=[(-reach, reach)] * d + [(None, None)],
        method="highs",
    )
    return np.asarray(found.x[:d]) if found.x is not None else np.zeros(d)
