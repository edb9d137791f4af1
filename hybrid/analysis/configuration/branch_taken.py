"""By which branch a motion leaves a singular configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import CLEAR

if TYPE_CHECKING:
    from hybrid.dynamics.configuration import ConfigurationSpace
    from hybrid.dynamics.singular_points import SingularPoint
    from hybrid.motion import Trajectory

__all__ = ["HalfBranch", "branch_taken", "half_branches"]

Array = NDArray[np.float64]

_SAMPLES = 20_000
_NEGLIGIBLE = CLEAR  # share of a displacement below which a coordinate does not move along a branch


@attrs.frozen(eq=False)
class HalfBranch:
    """One side of a smooth branch through a singular configuration.

    Attributes
    ----------
    label : str
        Coordinates with the signs of their displacements.
    displacement : array, (n,)
        From the singular configuration to the posture at the radius.
    """

    label: str
    displacement: Array


def half_branches(space: ConfigurationSpace, point: SingularPoint, radius: float) -> tuple[HalfBranch, ...]:
    """The sides of the branches through a singular configuration, out to a radius.

    Parameters
    ----------
    space : ConfigurationSpace
    point : SingularPoint
    radius : float
        Length along the tangent.

    Returns
    -------
    tuple of HalfBranch
    """
    found = []
    for branch in point.branches:
        for side in (1.0, -1.0):
            away = branch.at(point.q, side * radius)
            posture = space.nearest(away, hold=branch.tangent)
            displacement = (away if posture is None else posture) - point.q
            found.append(HalfBranch(_label(point.coordinates, displacement), displacement))
    return tuple(found)


def _label(names: Sequence[str], displacement: Array) -> str:
    size = float(np.max(np.abs(displacement)))
    return ", ".join(
        f"{name}{'+' if value > 0 else '-'}"
        for name, value in zip(names, displacement, strict=True)
        if abs(value) > _NEGLIGIBLE * size
    )


def branch_taken(
    motion: Trajectory, q: Array, ends: Sequence[HalfBranch], radius: float, *, until: float
) -> HalfBranch | None:
    """The half branch nearest to where a motion leaves the ball around a singular configuration after passing it.

    Parameters
    ----------
    motion : Trajectory
    q : array, (n,)
        The singular configuration.
    ends : sequence of HalfBranch
    radius : float
        Of the ball.
    until : float
        The motion passes where it comes closest to the configuration before this time.

    Returns
    -------
    HalfBranch or None
        None if the motion does not enter the ball, does not leave it, or there is no branch.
    """
    t = np.linspace(motion.t_start, motion.t, _SAMPLES)
    away = motion.sample(t)[0] - q
    distance = np.linalg.norm(away, axis=1)
    closest = int(np.argmin(distance[t <= until])) if motion.t_start <= until else 0
    outside = distance[closest:] >= radius
    if not ends or distance[closest] >= radius or not outside.any():
        return None
    left = closest + int(np.argmax(outside))
    return min(ends, key=lambda end: float(np.linalg.norm(end.displacement - away[left])))
