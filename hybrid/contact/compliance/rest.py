"""Friction of contacts at rest under given normal forces: a convex problem, which decides who sticks and who slips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.path import Array
from hybrid.errors import ComputationError
from hybrid.expressions import plain
from hybrid.tolerances import AGREEING, CANCELLED, LAST_PLACE, NOTHING

__all__ = [
    "DEPENDENT",
    "directions_from_rest",
    "first_forces",
    "friction_at_rest",
    "holding_duals",
    "holding_forces",
    "is_redundant",
    "yielding",
]

_SAME = CANCELLED  # change of a sweep, relative to the accelerations, below which there is nothing left to gain
_CLOSE = NOTHING  # what is accepted when sweeps end, and what tells a vanishing acceleration and a full friction force
_YIELDS = AGREEING  # acceleration, relative to its terms, from which redundant contacts no longer hold
_MAX_SWEEPS = 20_000
_ITERATIONS = 100
_NOT_FOUND = "the friction forces of compliant contacts at rest could not be found"

DEPENDENT = 1e-11
"""Of the largest singular value: rows that are dependent."""


def friction_at_rest(G: Array, b: Array, bounds: Array, groups: Sequence[Sequence[int]]) -> Array:
    """Friction forces of contacts at rest, whose acceleration they oppose: the least of ``F (G F / 2 + b)``.

    Every force lies in the disc (or interval) of its bound; the acceleration ``G F + b`` vanishes where it lies inside,
    and points against it at the rim, so that this is Coulomb's law at rest. Accelerations are unique.

    Parameters
    ----------
    G : array, (p, p)
        Tangential Delassus operator; positive semidefinite.
    b : array, (p,)
        Tangential accelerations without these forces.
    bounds : array, (m,)
        Largest friction force of every contact.
    groups : sequence of sequence of int
        Rows of every contact, one or two.

    Returns
    -------
    array, (p,)

    Raises
    ------
    ComputationError
        The iteration does not converge.

    Examples
    --------
    >>> friction_at_rest(np.eye(2), np.array([3.0, 4.0]), np.array([2.0]), [(0, 1)]).round(12).tolist()
    [-1.2, -1.6]
    """
    if all(len(rows) == 1 for rows in groups):
        return _in_intervals(G, b, bounds[np.argsort([rows[0] for rows in groups])])
    blocks = [(list(rows), *np.linalg.eigh(G[np.ix_(list(rows), list(rows))])) for rows in groups]
    F = np.zeros(len(b))
    changes, size = np.zeros(len(b)), np.abs(b)
    for _ in range(_MAX_SWEEPS):
        before = F.copy()
        for (at, values, vectors), bound in zip(blocks, bounds.tolist(), strict=True):
            along = vectors.T @ (b[at] + G[at] @ F) - values * (vectors.T @ F[at])
            F[at] = vectors @ _in_disc(values.tolist(), along.tolist(), bound)
        # in accelerations, which are unique: forces may drift among those of contacts that hold each other
        size = np.abs(G) @ np.abs(F) + np.abs(b)
        changes = np.abs(G @ (F - before))
        if (changes <= _SAME * size).all():
            return F
    if (changes > _CLOSE * size).any():
        raise ComputationError(_NOT_FOUND)
    return F


def _in_intervals(G: Array, b: Array, bounds: Array) -> Array:
    """The same for intervals alone: an active set ends exactly, also where sweeps hardly move along dependent rows."""
    from scipy.optimize import lsq_linear

    F, free = np.zeros(len(b)), np.flatnonzero(bounds > 0.0)
    size = float(np.max(np.abs(b[free]), initial=0.0))
    values, axes = np.linalg.eigh(G[np.ix_(free, free)])
    if not size or not values[-1] > 0.0:
        return F
    roots = np.sqrt(np.maximum(values, LAST_PLACE * values[-1]) / size)  # a force that moves nothing goes to its bound
    rows, wanted = roots[:, None] * axes.T, -(axes.T @ b[free]) / (size * roots)
    limits = (-bounds[free], bounds[free])
    found = lsq_linear(rows, wanted, limits, method="bvls", tol=LAST_PLACE, max_iter=_ITERATIONS)
    if found.status == 0:
        raise ComputationError(_NOT_FOUND)
    F[free] = found.x
    return F


def _in_disc(values: list[float], along: list[float], bound: float) -> list[float]:
    """The force of one contact along its principal axes: inside where it can hold, else on the rim."""
    least = _SAME * max(values[-1], 0.0)
    held = [-c / value if value > least else 0.0 for c, value in zip(along, values, strict=True)]
    if math.hypot(*held) <= bound and not any(c for c, value in zip(along, values, strict=True) if value <= least):
        return held
    if bound <= 0.0:
        return [0.0] * len(along)
    if len(along) == 1:
        return [-math.copysign(bound, along[0])]
    # abs((G + x)^-1 c) = bound: its reciprocal is nearly linear in x, so Newton's method converges from the left
    x = max(0.0, *(abs(c) / bound - value for c, value in zip(along, values, strict=True)))
    for _ in range(_ITERATIONS):
        shares = [c / (value + x) if c else 0.0 for c, value in zip(along, values, strict=True)]
        size = math.hypot(*shares)
        slope = sum(share**2 / (value + x) for share, value in zip(shares, values, strict=True) if share)
        before, x = x, max(x + (size / bound - 1.0) * size**2 / slope, 0.5 * x)
        if abs(x - before) <= _SAME * x:
            break
    force = [-c / (value + x) if c else 0.0 for c, value in zip(along, values, strict=True)]
    size = math.hypot(*force)
    return [bound * part / size for part in force]


def directions_from_rest(
    G: Array, b: Array, kinetic: Array, static: Array, groups: Sequence[Sequence[int]], *, breaking: int | None = None
) -> list[tuple[float, ...] | None]:
    """Direction in which every contact at rest begins to slip; None for those that stick.

    Contacts that the static bounds cannot hold get the kinetic ones; those that this sets loose follow.

    Parameters
    ----------
    G, b : array
        As for :func:`friction_at_rest`.
    kinetic, static : array, (m,)
        Bounds of friction while slipping, and while sticking.
    groups : sequence of sequence of int
    breaking : int, optional
        A contact whose friction has just reached its static bound.

    Returns
    -------
    list of (tuple of float or None)

    Examples
    --------
    >>> one, bound = np.array([[1.0]]), np.array([1.0])
    >>> directions_from_rest(one, np.array([1.5]), bound, 2 * bound, [(0,)])
    [None]
    >>> directions_from_rest(one, np.array([2.5]), bound, 2 * bound, [(0,)])
    [(1.0,)]
    """
    loose = np.zeros(len(groups), dtype=bool)
    if breaking is not None:
        loose[breaking] = True
    while True:
        bounds = np.where(loose, kinetic, static)
        F = friction_at_rest(G, b, bounds, groups)
        a, size = G @ F + b, _size(G, b, F, bounds, groups)
        moves = np.array([np.linalg.norm(a[list(g)]) > _CLOSE * np.linalg.norm(size[list(g)]) for g in groups])
        if not (moves & ~loose).any():
            break
        loose |= moves
    found: list[tuple[float, ...] | None] = []
    for index, rows in enumerate(groups):
        force, acceleration = F[list(rows)], a[list(rows)]
        if not moves[index] and index != breaking:
            found.append(None)
            continue
        along = -force if np.any(force) else acceleration
        size_along = float(np.linalg.norm(along))
        found.append(tuple(float(x) for x in along / size_along) if size_along > 0.0 else None)
    return found


def first_forces(*orders: Array) -> Array:
    """Normal forces; where all of a mechanism vanish, what they grow with first.

    At the first moment of an impact of undamped contacts no force acts yet, and from rest none at all: friction there
    is decided by the force that comes next, the one in proportion to the approach, then to the free acceleration.

    Parameters
    ----------
    orders : array, (..., k)
        Normal forces, then what they grow with, in the order of the powers of time; negative ones count as zero.

    Returns
    -------
    array, (..., k)

    Examples
    --------
    >>> first_forces(np.zeros(2), np.array([-1.0, 0.0]), np.array([3.0, 2.0])).tolist()
    [3.0, 2.0]
    """
    found = np.maximum(orders[0], 0.0)
    for order in orders[1:]:
        found = np.where(found.any(axis=-1, keepdims=True), found, np.maximum(order, 0.0))
    return np.asarray(found)


def is_redundant(G: Array) -> bool:
    """True if contacts at rest hold each other in more ways than one: tangential rows that are dependent.

    Parameters
    ----------
    G : array, (p, p)
        Tangential Delassus operator.

    Returns
    -------
    bool
    """
    return bool(len(G) and np.linalg.matrix_rank(G, tol=DEPENDENT * float(np.max(np.abs(G)))) < len(G))


def holding_forces(G: Array, b: Array, bounds: Array, groups: Sequence[Sequence[int]]) -> Array:
    """Forces that hold contacts at rest: the least ones, or, if those exceed friction and others may not, others.

    Parameters
    ----------
    G, b, bounds, groups
        As for :func:`friction_at_rest`.

    Returns
    -------
    array, (p,)

    Examples
    --------
    Two feet that slip together: what one cannot hold, the other does.

    >>> holding_forces(np.ones((2, 2)), np.array([1.0, 1.0]), np.array([0.2, 0.9]), [(0,), (1,)]).round(9).tolist()
    [-0.2, -0.8]
    """
    F = np.asarray(-np.linalg.lstsq(G, b, rcond=DEPENDENT)[0])
    sizes = np.array([np.linalg.norm(F[list(rows)]) for rows in groups])
    return friction_at_rest(G, b, np.maximum(bounds, 0.0), groups) if (sizes > bounds).any() and is_redundant(G) else F


def holding_duals(G: NDArray[Any], load: NDArray[Any]) -> NDArray[Any]:
    """Friction forces of contacts that hold, with derivatives: the least where they hold each other.

    Parameters
    ----------
    G : array of Dual, (p, p)
        Tangential Delassus operator.
    load : array of Dual, (p,)
        Tangential accelerations without these forces.

    Returns
    -------
    array of Dual, (p,)
        ``F`` of least size with ``G F + load = 0``.
    """
    inverse = np.linalg.pinv(plain(G), rcond=DEPENDENT)
    F = -inverse @ plain(load)
    return np.asarray(F - inverse @ (load + G @ F))


def yielding(
    G: Array, b: Array, forces: Array, bounds: Array, groups: Sequence[Sequence[int]], *, scale: float
) -> float:
    """Quantity that is positive where forces do not hold contacts at rest.

    Accelerations are told from rounding next to what friction can give, and, where that vanishes, next to the scale.

    Parameters
    ----------
    G, b, bounds, groups
        As for :func:`friction_at_rest`.
    forces : array, (p,)
        Friction forces.
    scale : float
        Size of the accelerations of the whole history.

    Returns
    -------
    float
        The acceleration that is left, beyond what rounding leaves, as a share of the scale.
    """
    size = float(np.linalg.norm(_size(G, b, forces, bounds, groups)))
    return (float(np.linalg.norm(G @ forces + b)) - _YIELDS * size) / scale - _CLOSE


def _size(G: Array, b: Array, forces: Array, bounds: Array, groups: Sequence[Sequence[int]]) -> Array:
    """What accelerations are sums of, by row."""
    largest = np.abs(forces)
    for rows, bound in zip(groups, bounds, strict=True):
        largest[list(rows)] = np.maximum(largest[list(rows)], bound)
    return np.asarray(np.abs(G) @ largest + np.abs(b))
