"""The set of contact forces where accelerations are unique and forces are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from hybrid.contact.candidates import Candidate
    from hybrid.contact.problem import ContactProblem
    from hybrid.contact.solutions import PhysicalSolution


@attrs.frozen(eq=False)
class ForceSet:
    """All contact forces of a hyperstatic solution, or of a continuum of accelerations.

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

    def describe(self) -> str:
        """The rest of a sentence about a continuum of accelerations."""
        known = "has a continuum of forces with different accelerations, of which the extreme points are listed"
        for ray in self.rays:
            terms = [f"{name} {value:+.6g}" for name, value in zip(self.names, ray, strict=True) if value]
            known += f"; the forces may grow without bound along {', '.join(terms)}"
        return known


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
    return ForceSet(
        names=force_names(problem),
        dimension=max((family.dimension for family in families), default=0),
        vertices=_distinct(np.vstack([*points, *(family.vertices for family in families)])),
        rays=_distinct(_normalised(np.vstack([np.zeros((0, problem.n_rows)), *(family.rays for family in families)]))),
    )


def continuum_set(problem: ContactProblem, item: Candidate, corners: Sequence[Candidate]) -> ForceSet:
    """All contact forces of a continuum of accelerations.

    Parameters
    ----------
    problem : ContactProblem
    item : Candidate
        The family.
    corners : sequence of Candidate
        Its extreme points.

    Returns
    -------
    ForceSet
    """
    family = item.family
    return ForceSet(
        names=force_names(problem),
        dimension=0 if family is None else family.dimension,
        vertices=_distinct(np.array([corner.forces for corner in corners])),
        rays=_distinct(_normalised(np.zeros((0, problem.n_rows)) if family is None else family.rays)),
    )


def force_names(problem: ContactProblem) -> tuple[str, ...]:
    """Names of the force components, in the order of the problem's rows.

    Parameters
    ----------
    problem : ContactProblem

    Returns
    -------
    tuple of str
        ``"lambda_N.floor"``, ``"lambda_T.floor"``, in space ``"lambda_T.floor.1"``; r of them.
    """
    names: list[str] = []
    for element in problem.elements:
        names += [] if element.normal is None else [f"lambda_N.{element.name}"]
        count = len(element.tangential)
        names += [f"lambda_T.{element.name}" + (f".{axis + 1}" if count > 1 else "") for axis in range(count)]
    return tuple(names)


_SAME = NOTHING  # of the largest force; vertices reached from two modes differ by the tolerance of their inequalities


def _distinct(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every point once, without negative zeros."""
    size = float(np.max(np.abs(points), initial=0.0))
    kept: list[NDArray[np.float64]] = []
    for point in np.where(np.abs(points) <= _SAME * size, 0.0, points):
        if not any(np.max(np.abs(point - other)) <= _SAME * size for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, points.shape[1])


def _normalised(rays: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rays with largest component 1."""
    largest = np.max(np.abs(rays), axis=1, keepdims=True, initial=np.finfo(float).tiny)
    return np.asarray(rays / largest)
