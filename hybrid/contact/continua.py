"""Continua of accelerations: forces that redundant contacts leave undetermined, and friction that follows them.

A block that slides between floor and ceiling may be clamped by any pair of opposite forces; every pair brakes it
otherwise. The equations of the mode are then singular because the rows of its closed contacts are dependent, whatever
the masses, the loads and the friction are: the state has infinitely many accelerations, and it is no tie. Equations
that are singular at one value of the friction alone are a tie, and are not meant here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.candidates import Candidate, CandidateStatus
from hybrid.contact.conditions import LOST, Scale, conditions

if TYPE_CHECKING:
    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

__all__ = ["contains", "extreme_points", "family_accelerates_alike", "is_continuum", "is_structural"]


def is_continuum(problem: ContactProblem, item: Candidate, scale: Scale, tolerances: Tolerances) -> bool:
    """Whether the forces of a family give different accelerations, for a reason that small changes leave.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    item : Candidate
    scale : Scale
    tolerances : Tolerances

    Returns
    -------
    bool
        False for one solution, for forces that accelerate alike (redundancy alone), for a set without interior, and
        where the equations are singular by coincidence.
    """
    if (
        item.family is None
        or item.status is not CandidateStatus.FAMILY
        or family_accelerates_alike(problem, item, scale, tolerances)
    ):
        return False
    has_interior = item.least > tolerances.sign
    return bool(has_interior) and is_structural(problem, item, scale, tolerances)


def family_accelerates_alike(problem: ContactProblem, item: Candidate, scale: Scale, tolerances: Tolerances) -> bool:
    """Whether all forces of a family give the same accelerations (the redundancy of a hyperstatic problem).

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    item : Candidate
    scale : Scale
    tolerances : Tolerances
        ``merge`` is the share up to which accelerations are the same.

    Returns
    -------
    bool
        True for a candidate whose forces are determined.
    """
    if item.family is None:
        return True
    spread = np.vstack([item.family.vertices - item.forces, item.family.rays])
    effect = np.abs(spread @ problem.G) / (scale.row * scale.size)
    size = 1.0 + np.max(np.abs(spread * scale.row / scale.size), initial=0.0)
    # the last digits of huge forces, as where friction holds any impulse, accelerate nothing
    rounding = LOST * np.max(np.abs(item.family.vertices), axis=0, initial=0.0) @ np.abs(problem.G)
    return bool(np.all(effect <= tolerances.merge * size + rounding / (scale.row * scale.size)))


def is_structural(problem: ContactProblem, item: Candidate, scale: Scale, tolerances: Tolerances) -> bool:
    """Whether the equations of a mode are singular only because rows of its closed force elements are dependent.

    Then the forces are undetermined for any masses, loads and friction. In terms of the Delassus operator: its rows
    that the mode sets to zero lose as much rank as the equations.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    item : Candidate
    scale : Scale
    tolerances : Tolerances

    Returns
    -------
    bool
    """
    closed = [row for part in item.modes for equation in part.equations for row in equation.alpha]
    G = problem.G / (scale.row[:, None] * scale.row)
    E = conditions(problem, item.modes, scale).E
    return _deficiency(G[closed], tolerances) == _deficiency(E, tolerances)


def _deficiency(rows: NDArray[np.float64], tolerances: Tolerances) -> int:
    """Number of dependent rows among those of a matrix, each of which counts alike."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    values = np.linalg.svd(rows / np.where(lengths > tolerances.rank, lengths, 1.0), compute_uv=False)
    return len(rows) - int(np.sum(values > tolerances.rank))


def contains(
    problem: ContactProblem,
    item: Candidate,
    forces: NDArray[np.float64],
    scale: Scale,
    tolerances: Tolerances,
    *,
    rays: NDArray[np.float64] | None = None,
) -> bool:
    """Whether forces satisfy all conditions of a mode.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    item : Candidate
        Of the mode.
    forces : array, (..., r)
        In physical units.
    scale : Scale
    tolerances : Tolerances
    rays : array, (k, r), optional
        Directions in which the forces may grow.

    Returns
    -------
    bool
    """
    mode, unit = conditions(problem, item.modes, scale), scale.row / scale.size
    x = np.atleast_2d(forces * unit)
    size = 1.0 + float(np.max(np.abs(x), initial=0.0))
    limit = max(tolerances.merge, 2 * tolerances.sign) * size
    unmet, slack = np.abs(x @ mode.E.T + mode.e), x @ mode.A.T + mode.b
    if np.max(unmet, initial=0.0) > limit or np.min(slack, initial=0.0) < -limit:
        return False
    if rays is None or not rays.size:
        return True
    y = rays * unit / np.max(np.abs(rays * unit), axis=1, keepdims=True)
    unmet, slack = np.abs(y @ mode.E.T), y @ mode.A.T
    return bool(np.max(unmet, initial=0.0) <= tolerances.merge and np.min(slack, initial=0.0) >= -tolerances.merge)


def extreme_points(
    problem: ContactProblem, item: Candidate, scale: Scale, tolerances: Tolerances
) -> Sequence[Candidate]:
    """The corners of a continuum as solutions of their own, on their inequalities.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    item : Candidate
        A continuum.
    scale : Scale
    tolerances : Tolerances

    Returns
    -------
    sequence of Candidate
        One for every corner, without the set, whose slacks are those at the corner.
    """
    if item.family is None:
        return (item,)
    mode, unit = conditions(problem, item.modes, scale), scale.size / scale.row
    corners = []
    for corner in item.family.vertices / unit:
        # the set was widened by the tolerance, so that its corners lie off their inequalities by as much
        size = 1.0 + np.max(np.abs(corner))
        tight = np.abs(mode.A @ corner + mode.b) <= tolerances.merge * size
        rows = np.vstack([mode.E, mode.A[tight]])
        x = corner - np.linalg.lstsq(rows, rows @ corner + np.append(mode.e, mode.b[tight]), rcond=tolerances.rank)[0]
        x = np.where(np.abs(x) <= scale.lost * size, 0.0, x)  # a force that vanishes at the corner, but for rounding
        slacks = np.where(tight, 0.0, mode.A @ x + mode.b)
        units = item.slacks / item.scaled_slacks  # inside of the set no slack is zero
        corners.append(attrs.evolve(item, forces=x * unit, scaled_slacks=slacks, slacks=slacks * units, family=None))
    return tuple(corners)
