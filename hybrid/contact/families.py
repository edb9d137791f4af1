"""Modes whose equations leave forces undetermined, at many states: redundant contacts.

The accelerations are decided first: the forces that a mode leaves open accelerate alike, and what is asked of them is
only whether some meet the inequalities. By how much they can do so at best, all inequalities alike, is the least of
some weighted means of the slacks, whose weights cancel the undetermined forces (duality of linear programs); the
weights depend on the matrices alone, which many states share.

Continua of accelerations: forces that redundant contacts leave undetermined, and friction that follows them.

A block that slides between floor and ceiling may be clamped by any pair of opposite forces; every pair brakes it
otherwise. The equations of the mode are then singular because the rows of its closed contacts are dependent, whatever
the masses, the loads and the friction are: the state has infinitely many accelerations, and it is no tie. Equations
that are singular at one value of the friction alone are a tie, and are not meant here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.candidates import Candidate, CandidateStatus, without_rounding
from hybrid.contact.conditions import Scale, conditions
from hybrid.tolerances import CLEAR, LEAST, ROUNDING
from lcp.polytopes import cone_generators

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

__all__ = [
    "ALIKE",
    "Array",
    "Families",
    "Flags",
    "SharedConditions",
    "contains",
    "extreme_points",
    "families",
    "family_accelerates_alike",
    "family_spread",
    "is_continuum",
    "is_structural",
]

ALIKE = 4.0
"""Roundings of a slack up to which accelerations are the same: those of redundant forces differ by a fifth of one."""


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
        False for one solution, for forces that accelerate alike (redundancy alone) or so nearly that it is undecided,
        for a set without interior, and where the equations are singular by coincidence.
    """
    has_interior = item.status is CandidateStatus.FAMILY and item.least > tolerances.sign
    if not has_interior or family_accelerates_alike(problem, item, scale):
        return False
    return family_spread(problem, item, scale) > tolerances.sign and is_structural(problem, item, scale, tolerances)


def family_accelerates_alike(problem: ContactProblem, item: Candidate, scale: Scale) -> bool:
    """Whether all forces of a family give the same accelerations (the redundancy of a hyperstatic problem).

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    item : Candidate
    scale : Scale

    Returns
    -------
    bool
        True for a candidate whose forces are determined, and where rounding alone is left of the differences.
    """
    return family_spread(problem, item, scale) <= ALIKE * max(item.lost, float(scale.lost))


def family_spread(problem: ContactProblem, item: Candidate, scale: Scale) -> float:
    """By how much the forces of a family differ in what they accelerate, as a share of the forces that cancel in it.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    item : Candidate
    scale : Scale

    Returns
    -------
    float
        Dimensionless; 0 for a candidate whose forces are determined.
    """
    if item.family is None:
        return 0.0
    vertices, rays = item.family.vertices, item.family.rays
    largest = np.max(np.abs(np.vstack([vertices, item.forces]) * scale.row))
    sizes = [np.full(len(vertices), largest), np.max(np.abs(rays * scale.row), axis=1)]
    effect = np.max(np.abs(np.vstack([vertices - item.forces, rays]) @ problem.G) / scale.row, axis=1)
    return float(np.max(effect / np.maximum(np.concatenate(sizes), LEAST), initial=0.0))


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
    mode = conditions(problem, item.modes, scale)
    if len(item.scaled_slacks) != len(mode.b):
        return False  # what a slip that begins asks for is not linear in the forces, and cuts the set
    return _deficiency(G[closed], tolerances) == _deficiency(mode.E, tolerances)


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
        corners.append(attrs.evolve(item, forces=x * unit, scaled_slacks=tuple(slacks.tolist()), family=None))
    return tuple(corners)


Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# A slack that changes by less than this along an undetermined force does not depend on it: rounding of unit vectors.
_FLAT = ROUNDING
_NEAR = 1 / CLEAR  # forces of several undetermined directions that are nearer than this are left to single states


@attrs.frozen(eq=False)
class SharedConditions:
    """Conditions of a mode at ``k`` states, some of which have the same matrices.

    Attributes
    ----------
    E, A, G : array, (N, r, r), (N, m, r) and (N, r, r)
        Coefficients of the equations and inequalities, and scaled Delassus operators.
    which : array of int, (k,)
        The matrices of every state.
    e, b : array, (k, r) and (k, m)
        The constants of the equations and inequalities.
    lost : array, (k,)
        Rounding of a slack per unit of the largest scaled force.
    """

    E: Array
    A: Array
    G: Array
    which: NDArray[np.int_]
    e: Array
    b: Array
    lost: Array


@attrs.frozen(eq=False)
class Families:
    """What a mode with singular equations amounts to at ``k`` states; undecided where no flag is set.

    Attributes
    ----------
    is_consistent : array of bool, (k,)
        A set of forces with an interior fits, with the same accelerations throughout.
    is_tied : array of bool, (k,)
        So does a set that an inequality bounds by less than the tolerance, or nearly does.
    is_refuted : array of bool, (k,)
        No forces fit.
    distance : array, (k,)
        By how much the best forces of a refuted mode fail.
    in_middle : array, (k,)
        Least slack in the middle of a set along a line, as of a single state's; NaN where it has more dimensions.
    forces : array, (k, r)
        Scaled forces that meet the equations.
    """

    is_consistent: Flags
    is_tied: Flags
    is_refuted: Flags
    distance: Array
    in_middle: Array
    forces: Array


def families(given: SharedConditions, tolerances: Tolerances) -> Families:
    """Decide a mode at states where its equations are singular.

    Decides as a single state is decided, but leaves undecided what accelerates differently, and equations that
    unbounded forces would nearly meet.

    Parameters
    ----------
    given : SharedConditions
    tolerances : Tolerances

    Returns
    -------
    Families
    """
    k, r = given.e.shape
    norms = np.linalg.norm(given.E, axis=-1)
    norms = np.where(norms > 0, norms, 1.0)
    left, values, right = np.linalg.svd(given.E / norms[..., None])
    open_ = np.sum(values <= tolerances.rank, axis=-1)[given.which]
    nothing = np.zeros(k, dtype=bool)
    found = Families(nothing, nothing.copy(), nothing.copy(), np.full(k, np.nan), np.full(k, np.nan), np.zeros((k, r)))
    for count in range(1, int(np.max(open_, initial=0)) + 1):
        chosen = np.flatnonzero(open_ == count)
        if not len(chosen):
            continue
        which, rank = given.which[chosen], r - count
        image = _times(given.e[chosen] / norms[which], left, which)
        forces = -_times(image[:, :rank] / values[which][:, :rank], right[:, :rank], which)
        unmet, size = np.max(np.abs(image[:, rank:]), axis=-1), np.max(np.abs(forces), axis=-1)
        is_met = unmet <= tolerances.sign * (1 + size)
        # rounding of the equations comes back by the inverse of the least singular value that is kept
        least = np.min(values[which][:, :rank], axis=-1, initial=1.0)
        limit = np.maximum(tolerances.sign, given.lost[chosen] * size / least)
        at = _times(forces, np.swapaxes(given.A, -1, -2), which) + given.b[chosen]
        kernel = np.swapaxes(right[:, rank:], -1, -2)
        effect = np.max(np.abs(given.G @ kernel), axis=(-2, -1))[which]
        share = np.zeros(len(given.A))
        np.maximum.at(share, which, given.lost[chosen] / least)
        slopes = without_rounding(given.A @ kernel, given.A, share[:, None, None])
        best, escapes = _best(at, slopes, which)
        # how long the forces are that a change of the equations within the tolerance admits
        reach = unmet / np.maximum(tolerances.rank, given.lost[chosen])
        half = np.ones(len(chosen))
        if count > 1:
            escapes |= reach <= _NEAR
        else:  # a set that is a point, up to what has no sign, accelerates alike, too
            signed = np.where(np.abs(at) <= limit[:, None], 0.0, at)
            low, high = _ends(signed, slopes[which][..., 0])
            escapes |= (low <= high) & ((high >= reach) | (low <= -reach))
            middle, _ = _middle(at + tolerances.sign, slopes[which][..., 0])
            inside, half = _middle(signed, slopes[which][..., 0])
            centre = inside + half - np.fmin(half, 1.0)
            found.in_middle[chosen] = np.min(at + slopes[which][..., 0] * centre[:, None], axis=-1, initial=np.inf)
            forces = forces + middle[:, None] * kernel[which][..., 0]
        is_alike = effect * half <= ALIKE * given.lost[chosen] / least * np.maximum(size, half)
        found.is_consistent[chosen] = is_met & is_alike & (best > limit)
        found.is_tied[chosen] = is_met & is_alike & (np.abs(best) <= limit)
        found.is_refuted[chosen] = np.where(is_met, best < -limit, ~escapes)
        found.distance[chosen] = np.where(is_met, -best, unmet)
        found.forces[chosen] = forces
    return found


def _times(vectors: Array, matrices: Array, which: NDArray[np.int_]) -> Array:
    """Every vector (k, i) times its own of the matrices (N, i, j): without a copy for each where all have the same."""
    if len(matrices) == 1:
        return np.asarray(vectors @ matrices[0])
    return np.asarray(np.einsum("ki,kij->kj", vectors, matrices[which]))


def _best(at: Array, slopes: Array, which: NDArray[np.int_]) -> tuple[Array, Flags]:
    """Largest over ``s`` of the least of ``at + slopes s`` (k,), and whether some ``s`` lowers none of them.

    ``slopes`` (N, m, count) are those of every matrix.
    """
    if slopes.shape[-1] == 1:
        slope = slopes[which][..., 0]
        escapes = (slope >= -_FLAT).all(axis=-1) | (slope <= _FLAT).all(axis=-1)
        return _best_on_a_line(at, slopes[..., 0], which), np.asarray(escapes)
    best, escapes = np.full(len(at), np.inf), np.zeros(len(at), dtype=bool)
    for number, chosen in _alike(which):
        weights = _balanced(slopes[number])
        if len(weights):
            best[chosen] = np.min(at[chosen] @ weights.T, axis=-1)
        escapes[chosen] = not (len(weights) and np.all(np.any(weights > 0, axis=0)))
    return best, escapes


def _middle(at: Array, slope: Array) -> tuple[Array, Array]:
    """A point (k,) inside of each interval of ``s`` with ``at + slope s >= 0``, and half its length, 1 if it is open.

    The point is near an end where the interval is long; 0 where it is empty or has no ends.
    """
    low, high = _ends(at, slope)
    with np.errstate(all="ignore"):
        half = np.abs(high - low) / 2
    half = np.where(np.isfinite(half), half, 1.0)
    near = np.fmin(half, 1.0)
    return np.where(np.isfinite(low), low + near, np.where(np.isfinite(high), high - near, 0.0)), half


def _ends(at: Array, slope: Array) -> tuple[Array, Array]:
    """The ends (k,) of each interval of ``s`` in which no slack ``at + slope s`` with a slope is negative."""
    with np.errstate(all="ignore"):
        root = -at / slope
    low = np.max(np.where(slope > _FLAT, root, -np.inf), axis=-1, initial=-np.inf)
    high = np.min(np.where(slope < -_FLAT, root, np.inf), axis=-1, initial=np.inf)
    return low, high


def _alike(which: NDArray[np.int_]) -> Iterator[tuple[int, NDArray[np.int_]]]:
    """The states of each matrix."""
    order = np.argsort(which, kind="stable")
    numbers, first = np.unique(which[order], return_index=True)
    yield from zip(numbers.tolist(), np.split(order, first[1:]), strict=True)


def _balanced(slopes: Array) -> Array:
    """Extreme weights (p, m) that are not negative, add up to one, and cancel the slopes (m, count)."""
    m = len(slopes)
    sizes = np.max(np.abs(slopes), axis=0, initial=0.0)
    kept = np.where(np.abs(slopes) <= _FLAT, 0.0, slopes)[:, sizes > _FLAT]
    rays = cone_generators(np.eye(m).tolist(), dimension=m, tolerance=_FLAT, unit=1.0, equalities=kept.T.tolist()).rays
    weights = np.maximum(np.array(rays).reshape(-1, m), 0.0)
    return np.asarray(weights / np.sum(weights, axis=-1, keepdims=True))


def _best_on_a_line(at: Array, slopes: Array, which: NDArray[np.int_]) -> Array:
    """The same for one undetermined force: what two slacks of opposite slopes allow, or one without slope."""
    up, down = np.where(slopes > _FLAT, slopes, 0.0), np.where(slopes < -_FLAT, -slopes, 0.0)
    both = (up[:, :, None] > 0) & (down[:, None, :] > 0)
    shares = np.where(both, down[:, None, :] / np.where(both, up[:, :, None] + down[:, None, :], 1.0), 0.0)
    least = np.min(np.where((np.abs(slopes) <= _FLAT)[which], at, np.inf), axis=-1, initial=np.inf)
    for first, second in zip(*np.nonzero(both.any(axis=0)), strict=True):
        share = shares[:, first, second][which]
        value = share * at[:, first] + (1 - share) * at[:, second]
        least = np.minimum(least, np.where(both[:, first, second][which], value, np.inf))
    return np.asarray(least)
