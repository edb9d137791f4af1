"""Contact forces that are not unique: distributions that move the mechanism alike, and which are admissible.

The door to clarabel, a solver of linear and second-order cone programs.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import RANK, SUMMED

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def admissible(
    forces: Array, null: Array, slopes: Array, constants: Array, cones: Sequence[int] = ()
) -> tuple[Array, float]:
    """A distribution of the same resultant whose ``slopes @ forces + constants`` are admissible, if there is one.

    Parameters
    ----------
    forces : array, (r,)
        One distribution, of least norm.
    null : array, (r, d)
        Directions from :func:`null_space`.
    slopes, constants : array, (m, r) and (m,)
        Each entry of ``slopes @ forces + constants`` is to be at least zero, or at least the length of the two entries
        behind it.
    cones : sequence of int
        Entries of the second kind.

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
    if null.shape[1] == 1 and not cones:
        best = _highest_line(start, directions[:, 0], reach)
    else:
        best = _highest(start, directions, reach, cones)
    least, greatest = _slack(start, cones), _slack(start + directions @ best, cones)
    if greatest < least:  # none is better, up to rounding
        return forces, least
    share = 0.0 if least >= 0.0 else 1.0
    if least < 0.0 < greatest:
        from scipy.optimize import brentq

        share = brentq(lambda part: _slack(start + part * (directions @ best), cones), 0.0, 1.0)
    return forces + share * (null @ best), greatest


def _slack(values: Array, cones: Sequence[int]) -> float:
    """The smallest slack of inequalities and cones."""
    beside = {row + k for row in cones for k in (1, 2)}
    slacks = [value for row, value in enumerate(values) if row not in beside and row not in cones]
    slacks += [values[row] - np.hypot(values[row + 1], values[row + 2]) for row in cones]
    return float(min(slacks))


def _highest_line(start: Array, slope: Array, reach: float) -> Array:
    """The point at which the lowest of lines is highest: it is where two of them meet, or at the end."""
    places = [-reach, 0.0, reach]
    for i, j in combinations(range(len(start)), 2):
        if slope[i] != slope[j]:
            with np.errstate(over="ignore"):  # beyond floats is beyond the reach
                crossing = (start[j] - start[i]) / (slope[i] - slope[j])
            places.append(float(np.clip(crossing, -reach, reach)))
    at = np.array(places)
    lowest = np.min(start[:, None] + np.outer(slope, at), axis=0)
    return at[[int(np.argmax(lowest))]]


def _highest(start: Array, directions: Array, reach: float, cones: Sequence[int]) -> Array:
    """The point within the reach at which the smallest slack is largest, by a second-order cone program."""
    import clarabel
    from scipy.sparse import csc_matrix

    d = directions.shape[1]
    slopes = reach * directions  # per part of the reach, so that all is of order 1
    size = max(float(np.max(np.abs(slopes))), float(np.max(np.abs(start)))) or 1.0
    beside = [row + k for row in cones for k in (1, 2)]
    grouped = [row + k for row in cones for k in (0, 1, 2)]
    lines = np.setdiff1d(np.arange(len(start)), grouped)
    order = np.append(lines, grouped).astype(int)
    lowered = np.where(np.isin(order, beside), 0.0, 1.0)  # by the slack that is sought
    box = np.vstack([np.eye(d), -np.eye(d)])
    left = np.vstack([np.column_stack([box, np.zeros(2 * d)]), np.column_stack([-slopes[order] / size, lowered])])
    right = np.concatenate([np.ones(2 * d), start[order] / size])
    kinds = [clarabel.NonnegativeConeT(2 * d + len(lines)), *(clarabel.SecondOrderConeT(3) for _ in cones)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = SUMMED
    cost = np.append(np.zeros(d), -1.0)
    nothing = csc_matrix((d + 1, d + 1))
    found = clarabel.DefaultSolver(nothing, cost, csc_matrix(left), right, kinds, settings).solve()
    place = np.asarray(found.x[:d])
    return reach * np.clip(place, -1.0, 1.0) if np.isfinite(place).all() else np.zeros(d)
