"""Candidates merged into physical solutions, and whether their number survives a small change of the data."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, TypeVar

import attrs
import numpy as np

from hybrid.contact.candidates import Candidate, CandidateStatus
from hybrid.contact.conditions import Scale, acceleration_shares, conditions
from hybrid.contact.families import ALIKE, contains, extreme_points, family_accelerates_alike, is_continuum
from hybrid.contact.modes import ActiveElement, ElementKind
from hybrid.dynamics.arithmetic import solve_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

T = TypeVar("T")

_DIRECTIONS = 3  # and their opposites: a coherently oriented fan has the same count in all; one decides, the rest guard
_SEED = 20170112
_MOST_MODES = 256  # of all force elements together: those of four planar contacts
_WAYS = 8  # of a spatial contact to slide


@attrs.frozen(eq=False)
class PhysicalSolution:
    """Modes that give the same contact forces, or forces of one connected set with the same accelerations.

    Attributes
    ----------
    members : tuple of Candidate
        The most definite first.
    contact_acceleration : array, (r,)
        Scaled, for comparison with other solutions.
    is_robust : bool
        True if a small change of the data leaves exactly one solution in its place, or one continuum.
    is_continuum : bool
        True if the forces of the most definite member give different accelerations.
    """

    members: tuple[Candidate, ...]
    contact_acceleration: NDArray[np.float64]
    is_robust: bool
    is_continuum: bool = False

    @property
    def leading(self) -> Candidate:
        """The most definite member."""
        return self.members[0]


def physical_solutions(
    problem: ContactProblem, candidates: Sequence[Candidate], scale: Scale, tolerances: Tolerances
) -> tuple[PhysicalSolution, ...]:
    """Merge the consistent candidates by physical force.

    Two complementary bases that give the same forces are one solution; a basis whose forces lie in the force set of a
    family with the same accelerations belongs to it.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    candidates : sequence of Candidate
    scale : Scale
    tolerances : Tolerances

    Returns
    -------
    tuple of PhysicalSolution
    """
    order = (CandidateStatus.FAMILY, CandidateStatus.CONSISTENT, CandidateStatus.MARGINAL)
    consistent = [item for item in candidates if item.holds]
    consistent.sort(
        key=lambda item: (
            order.index(item.status),
            0 if item.family is None else -item.family.dimension,
            _failing(item),
        )
    )
    groups = _grouped(consistent, lambda first, item: _same(problem, first, item, scale, tolerances))
    return tuple(
        PhysicalSolution(
            tuple(group),
            _accelerations(problem, group[0].forces, scale),
            _is_robust(problem, group, scale, tolerances),
            group[0].family is not None and is_continuum(problem, group[0], scale, tolerances),
        )
        for group in groups
    )


def _failing(item: Candidate) -> float:
    """How far the worst inequality of a tied mode is from holding: of the modes that meet, one that holds leads."""
    return -item.least if item.status is CandidateStatus.MARGINAL else 0.0


def distinct_accelerations(
    solutions: Sequence[PhysicalSolution], tolerances: Tolerances
) -> list[list[PhysicalSolution]]:
    """Solutions grouped by the acceleration that they give the mechanism.

    Parameters
    ----------
    solutions : sequence of PhysicalSolution
    tolerances : Tolerances
        ``merge`` is the share up to which accelerations are equal.

    Returns
    -------
    list of list of PhysicalSolution
        Every solution in one group, in the order given.
    """
    return _grouped(solutions, lambda first, other: _same_acceleration(first, other, tolerances.merge))


def _grouped(items: Iterable[T], is_same: Callable[[T, T], bool]) -> list[list[T]]:
    """Items in groups, each with those that are the same as its first."""
    groups: list[list[T]] = []
    for item in items:
        for group in groups:
            if is_same(group[0], item):
                group.append(item)
                break
        else:
            groups.append([item])
    return groups


def extreme_solutions(
    problem: ContactProblem, solution: PhysicalSolution, scale: Scale, tolerances: Tolerances
) -> tuple[PhysicalSolution, ...]:
    """The extreme points of a continuum, each with the other modes that meet there; any other solution as it is.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    solution : PhysicalSolution
    scale : Scale
    tolerances : Tolerances

    Returns
    -------
    tuple of PhysicalSolution
    """
    if not solution.is_continuum:
        return (solution,)
    unit = scale.row / scale.size
    found = []
    for corner in extreme_points(problem, solution.leading, scale, tolerances):
        limit = tolerances.merge * (1.0 + np.max(np.abs(corner.forces * unit)))
        touching = [m for m in solution.members[1:] if np.max(np.abs((m.forces - corner.forces) * unit)) <= limit]
        a = _accelerations(problem, corner.forces, scale)
        found.append(PhysicalSolution((corner, *touching), a, solution.is_robust))
    return tuple(found)


def close_accelerations(distinct: Sequence[Sequence[PhysicalSolution]], tolerances: Tolerances) -> list[str]:
    """The doubt, if any: redundant forces accelerate exactly alike, what does so only nearly may be two motions.

    Parameters
    ----------
    distinct : sequence of sequence of PhysicalSolution
        Groups of equal acceleration, as :func:`distinct_accelerations` finds them.
    tolerances : Tolerances
        ``sign`` is the share up to which accelerations differ by rounding only.

    Returns
    -------
    list of str
        One sentence, or none.
    """
    for first, *others in distinct:
        if not all(_same_acceleration(first, other, tolerances.sign) for other in others):
            return [
                "modes with different forces accelerate the mechanism so nearly alike that they cannot be told apart"
            ]
    return []


def _same_acceleration(first: PhysicalSolution, second: PhysicalSolution, limit: float) -> bool:
    """Whether two solutions accelerate the mechanism equally, to a share of its acceleration."""
    difference = np.abs(first.contact_acceleration - second.contact_acceleration)
    size = 1.0 + np.max(np.abs(first.contact_acceleration), initial=0.0)
    return bool(np.max(difference, initial=0.0) <= limit * size)


def _accelerations(problem: ContactProblem, forces: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    return np.asarray((problem.G @ forces + problem.c) / (scale.row * scale.size))


def _same(problem: ContactProblem, first: Candidate, second: Candidate, scale: Scale, tolerances: Tolerances) -> bool:
    unit = scale.row / scale.size
    size = 1.0 + max(np.max(np.abs(item.forces * unit), initial=0.0) for item in (first, second))
    gap = np.abs(_accelerations(problem, first.forces, scale) - _accelerations(problem, second.forces, scale))
    if np.max(gap, initial=0.0) > tolerances.merge * size and not is_continuum(problem, first, scale, tolerances):
        return False
    if np.max(np.abs((first.forces - second.forces) * unit), initial=0.0) <= tolerances.merge * size:
        return True
    if first.family is None:
        return False
    points, rays = (second.forces, None) if second.family is None else (second.family.vertices, second.family.rays)
    return contains(problem, first, points, scale, tolerances, rays=rays)


def _is_robust(problem: ContactProblem, group: Sequence[Candidate], scale: Scale, tolerances: Tolerances) -> bool:
    leading = group[0]
    if leading.status is CandidateStatus.FAMILY:
        if not family_accelerates_alike(problem, leading, scale):
            return is_continuum(problem, leading, scale, tolerances)
        # another mode that fits beside the set is a motion of its own, however near
        return bool(leading.least > tolerances.sign) and all(
            _accelerates_like(problem, leading, item, scale) for item in group[1:]
        )
    if leading.status is CandidateStatus.CONSISTENT and len(group) == 1:
        return True
    if not _is_coherent(group):
        # two solutions can be as close to each other as this, and close by there is none
        return False
    if leading.status is CandidateStatus.CONSISTENT:
        return True
    # the cone of a spatial contact at rest is not linear in the forces
    is_linear = not any(element.is_spatial_at_rest for element in problem.elements)
    return is_linear and _tiles_once(problem, group, scale, tolerances)


def _accelerates_like(problem: ContactProblem, first: Candidate, second: Candidate, scale: Scale) -> bool:
    """Whether rounding alone is left of the difference of what two candidates accelerate."""
    largest = 1.0 + max(np.max(np.abs(item.forces * scale.row / scale.size), initial=0.0) for item in (first, second))
    gap = np.abs(_accelerations(problem, first.forces, scale) - _accelerations(problem, second.forces, scale))
    return bool(np.max(gap, initial=0.0) <= ALIKE * float(scale.lost) * largest)


def _is_coherent(group: Sequence[Candidate]) -> bool:
    """Whether the modes that meet at a solution map all free accelerations with one sign of the determinant."""
    for parts in zip(*(item.modes for item in group), strict=True):
        element = parts[0].element
        is_kinked = element.is_spatial_at_rest or bool(np.any(element.static_friction != element.friction))
        if element.is_resting and is_kinked and len({part.label for part in parts}) > 1:
            return False
    signs = {np.sign(item.determinant) for item in group}
    return len(signs) == 1 and 0.0 not in signs


def _tiles_once(problem: ContactProblem, group: Sequence[Candidate], scale: Scale, tolerances: Tolerances) -> bool:
    """Decide whether every small change of the free accelerations leaves exactly one of the marginal modes.

    The modes that meet at a solution map the cones of a fan linearly onto the space of free accelerations. As all
    determinants have one sign the map is a covering, so the number of preimages is the same for every direction
    (coherent orientation: Robinson 1992, Math. Oper. Res. 17, 691); one generic direction then counts them. A fan of
    which a mode is missing fails in some direction, a single cone in one of two opposite ones.
    """
    directions = _generic_directions(problem.n_rows)
    counts = np.zeros(2 * _DIRECTIONS, dtype=int)
    for item in group:
        tight = np.abs(item.scaled_slacks) <= max(item.limit, tolerances.sign)
        slopes = _slack_slopes(problem, item, scale)[tight]
        counts += (slopes @ directions > 0).all(axis=0)
    return bool((counts == 1).all())


@functools.cache
def _generic_directions(n: int) -> NDArray[np.float64]:
    """Columns (n, 2 _DIRECTIONS): the same in every run."""
    directions = np.random.default_rng(_SEED).normal(size=(_DIRECTIONS, n))
    return np.concatenate([directions, -directions]).T


def _slack_slopes(problem: ContactProblem, item: Candidate, scale: Scale) -> NDArray[np.float64]:
    """Rates (m, r) at which the slacks of a mode change with the scaled free accelerations."""
    mode = conditions(problem, item.modes, scale)
    of_equations, of_slacks = acceleration_shares(item.modes, scale)
    return np.asarray(of_slacks - mode.A @ solve_each(mode.E, of_equations))


def mobility_units(problem: ContactProblem) -> NDArray[np.float64]:
    """Units of the rows, in which the diagonal of the Delassus operator is 1.

    Parameters
    ----------
    problem : ContactProblem
        At one state.

    Returns
    -------
    array, (r,)
        1 of a row that nothing moves.
    """
    size = np.sqrt(np.diagonal(problem.G))
    return 1.0 / np.where(size > 0.0, size, 1.0)


def least_determinant(problem: ContactProblem) -> float | None:
    """The least determinant of the linear problems of all modes, whatever the load.

    Where it is positive, the laws have one answer to every load (Samelson, Thrall and Wesler 1958). It vanishes where
    rows are dependent, and is negative where friction is beyond the critical one.

    Parameters
    ----------
    problem : ContactProblem
        At one state.

    Returns
    -------
    float or None
        In units of mobility; None where there are too many modes to be judged. Infinite if no friction depends on a
        normal force.
    """
    if not any(element.normal is not None and element.tangential for element in problem.elements):
        return math.inf
    units = mobility_units(problem)
    held = problem.G * np.outer(units, units)
    modes = [_linear_modes(problem, element, units, held[list(element.rows)]) for element in problem.elements]
    if math.prod(map(len, modes)) > _MOST_MODES:
        return None
    together = np.array([np.concatenate(picked) for picked in itertools.product(*modes)])
    return float(np.min(np.linalg.det(together)))


def _linear_modes(
    problem: ContactProblem, element: ActiveElement, units: NDArray[np.float64], held: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Equations of the forces of a force element in each mode, (its rows, r), transposed; ``held`` where it sticks."""
    tangential, given = list(element.tangential), np.eye(problem.n_rows)[list(element.rows)]
    modes = [] if element.kind is ElementKind.BILATERAL else [given]
    if element.normal is not None:
        for way in _ways(problem, element):
            slides = given.copy()
            slides[0] = held[0] - float(element.friction) * units[element.normal] / units[tangential] * way @ held[1:]
            modes.append(slides)
    return [*modes, held] if element.friction > 0.0 and tangential else modes


def _ways(problem: ContactProblem, element: ActiveElement) -> NDArray[np.float64]:
    """Directions (w, k) of slip of which one is the worst; that of a rough constraint counts along its load."""
    if len(element.tangential) == 2:
        own = problem.G[element.rows[0], list(element.tangential)]
        angles = np.arctan2(own[1], own[0]) + np.linspace(0.0, 2 * np.pi, _WAYS, endpoint=False)
        return np.column_stack([np.cos(angles), np.sin(angles)])
    return np.array([[1.0], [-1.0]])[: 1 + len(element.tangential), : len(element.tangential)]
