"""Every mode's linear system solved: which modes are consistent, by how much, and which are close to a tie."""

from __future__ import annotations

import itertools
import math
import operator
from enum import Enum
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.contact.activity import Activity
from hybrid.contact.conditions import (
    Scale,
    ScaledProblem,
    conditions,
    dependence,
)
from hybrid.contact.modes import ContactMode, Mode, ModeConditions, solvable_modes
from hybrid.contact.smooth import named
from hybrid.dynamics.arithmetic import solve_in_floats
from lcp.polytopes import Polytope, polytope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

_MODES_OF_ONE = 6  # at most: those of a rail with friction at rest, whose force has two signs
FEW_MODES = 16
"""Modes that are solved one by one, two planar contacts at rest; of more, a search leaves few."""

NO_FORCES = "the equations of the mode have a solution"
"""What a mode violates whose equations no forces meet."""


LASTING = {
    ContactMode.FREE: Activity.OPEN,
    ContactMode.CLOSED: Activity.FRICTIONLESS,
    ContactMode.STICK: Activity.RESTING,
    ContactMode.SLIDE_PLUS: Activity.SLIPPING_PLUS,
    ContactMode.SLIDE_MINUS: Activity.SLIPPING_MINUS,
    ContactMode.SLIDE: Activity.SLIPPING,
}
"""What a force element does while a mode lasts."""


class CandidateStatus(Enum):
    """How firmly a mode's conditions hold or fail."""

    CONSISTENT = "every inequality holds by more than the tolerance"
    MARGINAL = "an inequality holds or fails by less than the tolerance"
    REFUTED = "an inequality fails by more than the tolerance"
    FAMILY = "the equations leave forces undetermined"
    ESCAPING = "the equations are singular, or too close to it, and other data nearby admit other forces"


_HOLDS = (CandidateStatus.CONSISTENT, CandidateStatus.MARGINAL, CandidateStatus.FAMILY)


@attrs.frozen(eq=False)
class Candidate:
    """One mode with the solution of its equations.

    Attributes
    ----------
    modes : tuple of ModeConditions
        One per force element.
    forces : array, (r,)
        Contact forces in physical units (of the centre of the force set for a family); NaN if there are none.
    scaled_slacks : tuple of float, (m,)
        Values of the inequalities in the problem's own units, where 1 is the size of the data.
    weights : tuple of float, (m,)
        By which the inequalities were divided, see :class:`EntryConditions`.
    size : float
        Of the data, see :class:`Scale`.
    status : CandidateStatus
    determinant : float
        Of the equations, each scaled to length 1; 0 where they are singular to the tolerance.
    family : Polytope or None
        The set of contact forces, when the equations leave them undetermined.
    limit : float
        Scaled slack below which rounding decides, or the tolerance if that is larger.
    further : tuple of (str, str)
        Force element and wording of every inequality beyond those of the modes.
    lost : float
        Rounding of the scaled forces per unit of the largest: more where the equations are nearly singular.
    """

    modes: tuple[ModeConditions, ...]
    forces: NDArray[np.float64]
    scaled_slacks: tuple[float, ...]
    weights: tuple[float, ...]
    size: float
    status: CandidateStatus
    determinant: float
    family: Polytope | None = None
    limit: float = 0.0
    further: tuple[tuple[str, str], ...] = ()
    lost: float = 0.0

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Force element and wording of every inequality."""
        own = ((part.element.name, row.label) for part in self.modes for row in part.inequalities)
        return (*own, *self.further)

    @property
    def slacks(self) -> tuple[float, ...]:
        """Values of the inequalities (m,) in physical units."""
        pairs = zip(self.scaled_slacks, self.weights, strict=True)
        return tuple(slack * weight * self.size for slack, weight in pairs)

    @property
    def holds(self) -> bool:
        """True if forces meet its conditions, to the tolerance."""
        return self.status in _HOLDS

    @property
    def margin(self) -> float:
        """Distance to a change of status: least slack or determinant if consistent, largest violation if refuted."""
        least = self.least
        if self.status is CandidateStatus.REFUTED:
            return -least
        return least if self.status is CandidateStatus.FAMILY else min(abs(self.determinant), least)

    @property
    def least(self) -> float:
        """Least scaled slack; infinite without inequalities."""
        return min(self.scaled_slacks, default=math.inf)


def mode_of(problem: ContactProblem, item: Candidate) -> Mode:
    """The mode of all contacts for a candidate; open contacts are free.

    Parameters
    ----------
    problem : ContactProblem
    item : Candidate

    Returns
    -------
    Mode
    """
    labels = {part.element.name: part.label for part in item.modes}
    return Mode({name: labels.get(name, ContactMode.FREE) for name in problem.names})


def mode_combinations(problem: ContactProblem) -> Iterator[tuple[ModeConditions, ...]]:
    """Every combination of the force elements' modes.

    Parameters
    ----------
    problem : ContactProblem

    Returns
    -------
    iterator of tuple of ModeConditions
        The modes of the last element change first.
    """
    return itertools.product(*(solvable_modes(element) for element in problem.elements))


def count_modes(problem: ContactProblem) -> int:
    """Number of combinations of the force elements' modes.

    Parameters
    ----------
    problem : ContactProblem

    Returns
    -------
    int
    """
    return math.prod(len(solvable_modes(element)) for element in problem.elements)


def has_few_modes(problem: ContactProblem) -> bool:
    """Whether all combinations of modes are solved, and none is searched for.

    Parameters
    ----------
    problem : ContactProblem

    Returns
    -------
    bool
    """
    return _MODES_OF_ONE ** len(problem.elements) <= FEW_MODES or count_modes(problem) <= FEW_MODES


def all_candidates(problem: ContactProblem, scale: Scale, tolerances: Tolerances) -> tuple[Candidate, ...]:
    """Every mode of a problem solved at one state, spatial contacts at rest excepted.

    Parameters
    ----------
    problem : ContactProblem
    scale : Scale
        Of the problem.
    tolerances : Tolerances

    Returns
    -------
    tuple of Candidate
        In the order of :func:`mode_combinations`.
    """
    numbers = ScaledProblem.of(problem, scale)
    return tuple(_candidate(problem, numbers, modes, scale, tolerances) for modes in mode_combinations(problem))


def candidate(
    problem: ContactProblem, modes: tuple[ModeConditions, ...], scale: Scale, tolerances: Tolerances
) -> Candidate:
    """One mode with the solution of its equations at one state, and how firmly its conditions hold.

    Parameters
    ----------
    problem : ContactProblem
    modes : tuple of ModeConditions
        One for every force element.
    scale : Scale
    tolerances : Tolerances

    Returns
    -------
    Candidate
    """
    return _candidate(problem, ScaledProblem.of(problem, scale), modes, scale, tolerances)


def _candidate(
    problem: ContactProblem,
    numbers: ScaledProblem,
    modes: tuple[ModeConditions, ...],
    scale: Scale,
    tolerances: Tolerances,
) -> Candidate:
    mode = numbers.conditions(modes)
    if not problem.n_rows:
        return _in_units(numbers, modes, [], [], [], CandidateStatus.CONSISTENT, math.inf)
    norms = [math.sqrt(sum(map(operator.mul, line, line))) or 1.0 for line in mode.E]
    regularity, determinant = _regularity(mode.E, norms)
    lost = float(scale.lost)
    if regularity > max(tolerances.rank, lost):
        x = solve_in_floats([line.copy() for line in mode.E], [-entry for entry in mode.e])
        if x is not None:
            lost /= abs(determinant)  # as `hybrid.contact.batches.thresholds`
            slacks, limit = mode.slacks(x), max(tolerances.sign, lost * max(map(abs, x)))
            modes, status = _named(problem, modes, x, scale, limit), status_of(slacks, limit)
            return _in_units(numbers, modes, x, slacks, mode.weights, status, determinant, limit=limit, lost=lost)
    svd = np.linalg.svd(np.array(mode.E) / np.array(norms)[:, None])
    item = _singular_candidate(problem, numbers, modes, scale, tolerances, svd, np.array(norms))
    if item.status is CandidateStatus.FAMILY and regularity > dependence(problem):
        return attrs.evolve(item, status=CandidateStatus.ESCAPING, family=None)
    forces = item.forces * scale.row / scale.size
    return attrs.evolve(item, modes=_named(problem, modes, forces, scale, tolerances.sign))


def _named(
    problem: ContactProblem, modes: tuple[ModeConditions, ...], x: ArrayLike, scale: Scale, limit: float
) -> tuple[ModeConditions, ...]:
    return named(problem, modes, x, scale, limit) if any(mode.is_unnamed for mode in modes) else modes


def _regularity(rows: list[list[float]], norms: list[float]) -> tuple[float, float]:
    """Least singular value of a matrix whose rows are divided by their norms, and its determinant."""
    if len(rows) == 1:
        return abs(rows[0][0]) / norms[0], rows[0][0] / norms[0]
    if len(rows) == 2:
        (a, b), (c, d) = rows
        size = norms[0] * norms[1]
        determinant = (a * d - b * c) / size
        # the singular values are the roots of 1 +- the cosine between the rows, and their product is known
        return abs(determinant) / math.sqrt(1.0 + abs(a * c + b * d) / size), determinant
    matrix = np.array(rows) / np.array(norms)[:, None]
    return float(np.linalg.svd(matrix, compute_uv=False)[-1]), float(np.linalg.det(matrix))


def status_of(scaled_slacks: Sequence[float], limit: float) -> CandidateStatus:
    """Status of a mode whose equations have one solution; slacks within the limit have no sign.

    Parameters
    ----------
    scaled_slacks : sequence of float
    limit : float

    Returns
    -------
    CandidateStatus
    """
    least = min(scaled_slacks, default=math.inf)
    if least < -limit:
        return CandidateStatus.REFUTED
    return CandidateStatus.MARGINAL if least <= limit else CandidateStatus.CONSISTENT


def _in_units(
    numbers: ScaledProblem,
    modes: tuple[ModeConditions, ...],
    x: Sequence[float],
    slacks: Sequence[float],
    weights: Sequence[float],
    status: CandidateStatus,
    determinant: float,
    family: Polytope | None = None,
    limit: float = 0.0,
    lost: float = 0.0,
) -> Candidate:
    size = numbers.size
    return Candidate(
        modes=modes,
        forces=np.array([force * size / unit for force, unit in zip(x, numbers.row, strict=True)]),
        scaled_slacks=tuple(slacks),
        weights=tuple(weights),
        size=size,
        status=status,
        determinant=determinant,
        family=family,
        limit=limit,
        lost=lost,
    )


def _singular_candidate(
    problem: ContactProblem,
    numbers: ScaledProblem,
    modes: tuple[ModeConditions, ...],
    scale: Scale,
    tolerances: Tolerances,
    svd: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    norms: NDArray[np.float64],
) -> Candidate:
    """A mode whose equations do not determine the forces: none, a set of them, or unbounded ones nearby."""
    mode, weights = conditions(problem, modes, scale), numbers.conditions(modes).weights
    left, values, right = svd
    rank = int(np.sum(values > max(tolerances.rank, float(scale.lost))))
    kernel = right[rank:].T
    e = mode.e / norms
    x0 = -right[:rank].T @ ((left[:, :rank].T @ e) / values[:rank])
    limit = max(tolerances.sign, float(scale.lost) * float(np.max(np.abs(x0), initial=0.0)))
    unmet = float(np.max(np.abs(left[:, rank:].T @ e), initial=0.0))
    at = mode.A @ x0 + mode.b
    lost = float(scale.lost) / float(values[:rank].min(initial=1.0))
    slopes = without_rounding(mode.A @ kernel, mode.A, lost)
    if unmet > limit * (1.0 + float(np.max(np.abs(x0), initial=0.0))):
        # no forces meet the equations; a change of the data within the tolerance could admit large ones in the kernel
        cone = polytope(slopes, np.full(mode.A.shape[0], tolerances.sign))
        region = polytope(slopes, np.where(np.abs(at) <= limit, 0.0, at))
        reach = unmet / max(tolerances.rank, float(scale.lost))
        is_open = any(found is not None and len(found.rays) for found in (cone, region))
        is_far = region is not None and (np.linalg.norm(region.vertices, axis=-1) >= reach).any()
        escapes = (is_open or is_far) and not _contradicts(problem, modes, scale, tolerances)
        status = CandidateStatus.ESCAPING if escapes else CandidateStatus.REFUTED
        nothing, slacks = np.full(len(x0), np.nan), (*at.tolist(), -unmet)
        further = (("", NO_FORCES),)
        return Candidate(modes, nothing, slacks, (*weights, 1.0), numbers.size, status, 0.0, further=further)
    family = polytope(slopes, np.where(np.abs(at) <= limit, 0.0, at))
    if family is None:
        best = _largest_least_slack(slopes, at)
        x = x0 + kernel @ best
        slacks = (mode.A @ x + mode.b).tolist()
        return _in_units(numbers, modes, x.tolist(), slacks, weights, CandidateStatus.REFUTED, 0.0)
    centre = np.mean(family.vertices, axis=0) + np.sum(family.rays, axis=0)
    x = x0 + kernel @ centre
    unit = scale.size / scale.row
    forces = Polytope((x0 + family.vertices @ kernel.T) * unit, (family.rays @ kernel.T) * unit)
    slacks = (mode.A @ x + mode.b).tolist()
    return _in_units(numbers, modes, x.tolist(), slacks, weights, CandidateStatus.FAMILY, 0.0, forces, lost=lost)


def _contradicts(
    problem: ContactProblem, modes: tuple[ModeConditions, ...], scale: Scale, tolerances: Tolerances
) -> bool:
    """Whether no acceleration at all, by whatever forces, meets the equations of a mode.

    So it is where directions in which the mode wants no acceleration depend on each other (or are blocked) and their
    free accelerations do not. Lengths are those of the directions, in which dependence is as clear of rounding as in
    the declaration; their squares, in the Delassus operator, are not.
    """
    still = [index for part in modes for row in part.equations for index in row.alpha]
    factor = np.linalg.cholesky(problem.terms.M)
    directions = factor.T @ problem.response_W[:, still] / scale.row[still]
    _, values, right = np.linalg.svd(directions)
    dependent = right[int(np.sum(values > max(tolerances.rank, float(scale.lost)))) :]
    free = problem.c[still] / (scale.row[still] * scale.size)
    return bool(np.max(np.abs(dependent @ free), initial=0.0) > tolerances.sign)


def without_rounding(slopes: NDArray[np.float64], rows: NDArray[np.float64], share: ArrayLike) -> NDArray[np.float64]:
    """Slopes of slacks along undetermined forces, without those that are rounding of products that cancel.

    A slack that does not depend on an undetermined force would cut it at 1e15, or move the corners of its set.

    Parameters
    ----------
    slopes, rows : array, (..., m, k) and (..., m, r)
        Of the slacks along the undetermined forces, and along all scaled forces.
    share : float or array
        Of the length of a row that rounding leaves.

    Returns
    -------
    array, (..., m, k)
    """
    return np.where(np.abs(slopes) <= np.asarray(share) * np.linalg.norm(rows, axis=-1, keepdims=True), 0.0, slopes)


def _largest_least_slack(A: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The point whose least slack is largest, for the report of how far a mode is from consistency."""
    from scipy.optimize import linprog

    m, k = A.shape
    cost = np.append(np.zeros(k), -1.0)
    result = linprog(cost, A_ub=np.hstack([-A, np.ones((m, 1))]), b_ub=b, bounds=[(None, None)] * k + [(None, 1.0)])
    return np.asarray(result.x[:k]) if result.status == 0 else np.zeros(k)


@checks_arguments
def of_either_limit(problem: ContactProblem, name: str, inequality: str) -> str:
    """An inequality in words, with the limit of its own direction where a friction element has two.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    name : str
        Of the force element.
    inequality : str
        As in a candidate's labels and a certificate's violations.

    Returns
    -------
    str
        ``F_+`` or ``F_-`` in place of ``F``.
    """
    own = {"lambda_T >= -F": "lambda_T >= -F_+", "lambda_T <= F": "lambda_T <= F_-"}.get(inequality)
    return own if own is not None and np.any(problem.terms.mean_T[problem.columns[name]]) else inequality
