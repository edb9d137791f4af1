"""Candidates merged into physical solutions, and whether their number survives a small change of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.candidates import Candidate, Standing
from hybrid.contact.conditions import Scale, conditions, solve_conditions

if TYPE_CHECKING:
    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

_DIRECTIONS = 3  # a coherently oriented fan has the same count in every direction: one decides, two more guard it
_SEED = 20170112


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
        True if a small change of the data leaves exactly one solution in its place.
    """

    members: tuple[Candidate, ...]
    contact_acceleration: NDArray[np.float64]
    is_robust: bool

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
    order = {Standing.FAMILY: 0, Standing.CONSISTENT: 1, Standing.MARGINAL: 2}
    consistent = sorted(
        (item for item in candidates if item.standing in order),
        key=lambda item: (order[item.standing], -0 if item.family is None else -item.family.dimension),
    )
    groups: list[list[Candidate]] = []
    for item in consistent:
        for group in groups:
            if _same(problem, group[0], item, scale, tolerances):
                group.append(item)
                break
        else:
            groups.append([item])
    return tuple(
        PhysicalSolution(
            tuple(group),
            _accelerations(problem, group[0].forces, scale),
            _is_robust(problem, group, scale, tolerances),
        )
        for group in groups
    )


def same_acceleration(first: PhysicalSolution, second: PhysicalSolution, tolerances: Tolerances) -> bool:
    """Tell whether two solutions accelerate the mechanism equally."""
    difference = np.abs(first.contact_acceleration - second.contact_acceleration)
    size = 1.0 + np.max(np.abs(first.contact_acceleration), initial=0.0)
    return bool(np.max(difference, initial=0.0) <= tolerances.merge * size)


def family_accelerates_alike(problem: ContactProblem, item: Candidate, scale: Scale, tolerances: Tolerances) -> bool:
    """Tell whether all forces of a family give the same accelerations (the redundancy of a hyperstatic problem)."""
    if item.family is None:
        return True
    spread = np.vstack([item.family.vertices - item.forces, item.family.rays])
    effect = (spread @ problem.G) / (scale.row * scale.size)
    size = 1.0 + np.max(np.abs(spread * scale.row / scale.size), initial=0.0)
    return bool(np.max(np.abs(effect), initial=0.0) <= tolerances.merge * size)


def _accelerations(problem: ContactProblem, forces: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    return np.asarray((problem.G @ forces + problem.c) / (scale.row * scale.size))


def _same(problem: ContactProblem, first: Candidate, second: Candidate, scale: Scale, tolerances: Tolerances) -> bool:
    unit = scale.row / scale.size
    size = 1.0 + max(np.max(np.abs(item.forces * unit), initial=0.0) for item in (first, second))
    gap = np.abs(_accelerations(problem, first.forces, scale) - _accelerations(problem, second.forces, scale))
    if np.max(gap, initial=0.0) > tolerances.merge * size:
        return False
    if np.max(np.abs((first.forces - second.forces) * unit), initial=0.0) <= tolerances.merge * size:
        return True
    if first.family is None:
        return False
    mode = conditions(problem, first.modes, scale)
    points = second.forces[None] if second.family is None else second.family.vertices
    x = points * unit
    unmet = np.abs(x @ mode.E.T + mode.e)
    slack = x @ mode.A.T + mode.b
    limit = max(tolerances.merge, 2 * tolerances.sign) * size
    return bool(np.max(unmet, initial=0.0) <= limit and np.min(slack, initial=0.0) >= -limit)


def _is_robust(problem: ContactProblem, group: Sequence[Candidate], scale: Scale, tolerances: Tolerances) -> bool:
    leading = group[0]
    if leading.standing is Standing.CONSISTENT:
        return True
    if leading.standing is Standing.FAMILY:
        interior = np.min(leading.scaled_slacks, initial=np.inf) > tolerances.sign
        return bool(interior) and family_accelerates_alike(problem, leading, scale, tolerances)
    return _tiles_once(problem, group, scale, tolerances)


def _tiles_once(problem: ContactProblem, group: Sequence[Candidate], scale: Scale, tolerances: Tolerances) -> bool:
    """Decide whether every small change of the free accelerations leaves exactly one of the marginal modes.

    The modes that meet at a solution map the cones of a fan linearly onto the space of free accelerations. If all
    determinants have one sign the map is a covering, so the number of preimages is the same for every direction
    (coherent orientation: Robinson 1992, Math. Oper. Res. 17, 691); one generic direction then counts them.
    """
    carriers = problem.carriers
    if any(c.is_spatial_at_rest or np.any(c.static_friction != c.friction) for c in carriers if c.tangential):
        return False
    if len({item.orientation for item in group}) != 1 or group[0].orientation == 0:
        return False
    modes = [conditions(problem, item.modes, scale) for item in group]
    for direction in np.random.default_rng(_SEED).normal(size=(_DIRECTIONS, problem.n_rows)):
        moved = attrs.evolve(problem, c=problem.c + direction * scale.row * scale.size)
        count = 0
        for item, mode in zip(group, modes, strict=True):
            shifted = conditions(moved, item.modes, scale)
            _, slopes = solve_conditions(attrs.evolve(mode, e=shifted.e - mode.e, b=shifted.b - mode.b))
            tight = np.abs(item.scaled_slacks) <= tolerances.sign
            count += bool(np.all(slopes[tight] > 0))
        if count != 1:
            return False
    return True
