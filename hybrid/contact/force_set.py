"""The set of contact forces where accelerations are unique and forces are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hybrid.contact.problem import ContactProblem
    from hybrid.contact.solutions import PhysicalSolution


@attrs.frozen(eq=False)
class ForceSet:
    """All contact forces of a hyperstatic solution.

    Attributes
    ----------
    names : tuple of str
        The force components, ``"lambda_N.floor"`` and so on.
    dimension : int
        Dimension of the set.
    vertices, rays : array, (number, r)
    """

    names: tuple[str, ...]
    dimension: int
    vertices: NDArray[np.float64]
    rays: NDArray[np.float64]


def force_set(problem: ContactProblem, group: Sequence[PhysicalSolution]) -> ForceSet | None:
    """All forces of the only acceleration; None if they are unique.

    Parameters
    ----------
    problem : ContactProblem
    group : sequence of PhysicalSolution
        The solutions that share the acceleration.

    Returns
    -------
    ForceSet or None
    """
    families = [solution.leading.family for solution in group if solution.leading.family is not None]
    if len(group) == 1 and not families:
        return None
    points = [solution.leading.forces[None] for solution in group if solution.leading.family is None]
    names: list[str] = []
    for carrier in problem.carriers:
        names += [] if carrier.normal is None else [f"lambda_N.{carrier.name}"]
        count = len(carrier.tangential)
        names += [f"lambda_T.{carrier.name}" + (f".{axis + 1}" if count > 1 else "") for axis in range(count)]
    return ForceSet(
        names=tuple(names),
        dimension=max((family.dimension for family in families), default=0),
        vertices=np.vstack([*points, *(family.vertices for family in families)]),
        rays=np.vstack([np.zeros((0, problem.n_rows)), *(family.rays for family in families)]),
    )
