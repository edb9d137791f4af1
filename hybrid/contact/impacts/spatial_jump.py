"""One spatial contact whose impulse obeys Coulomb's law with the slip after the impact, on the circular cone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.spatial import slip_directions
from hybrid.errors import ComputationError

Array = NDArray[np.float64]

_SAME = 1e-7  # impulses that agree so well, relative to the largest, are one


def spatial_jumps(G: Array, gamma: Array, mu: float) -> list[Array]:
    """Every impulse ``P`` with ``gamma + G P`` complementary to it in the normal and Coulomb's law along the surface.

    The impulse that stops the slip, if it lies in the cone, and those with ``P_T = -mu P_N u`` whose slip after the
    impact has the direction ``u`` (Moreau 1988).

    Parameters
    ----------
    G : array, (3, 3)
        Delassus operator of the contact, normal direction first.
    gamma : array, (3,)
        Contact velocity; a law of restitution shifts its normal part.
    mu : float

    Returns
    -------
    list of array, (3,)
        Without repetition.

    Raises
    ------
    ComputationError
        There is none.

    Examples
    --------
    >>> (impulse,) = spatial_jumps(np.diag([1.0, 3.5, 3.5]), np.array([-1.0, 3.0, 4.0]), 0.5)
    >>> impulse.round(12).tolist()
    [1.0, -0.3, -0.4]
    """
    if gamma[0] >= 0.0:
        return [np.zeros(3)]
    found: list[Array] = []
    stop = np.asarray(-np.linalg.solve(G, gamma), dtype=np.float64)
    if stop[0] >= 0.0 and np.hypot(stop[1], stop[2]) <= mu * stop[0]:
        found.append(stop)
    for angle in slip_directions(G, gamma, mu)[0]:
        force = np.array([1.0, -mu * np.cos(angle), -mu * np.sin(angle)])
        inertia = G[0] @ force
        if inertia <= 0.0:
            continue
        impulse = -gamma[0] / inertia * force
        slip = (gamma + G @ impulse)[1:]
        if slip @ force[1:] < 0.0 and not any(_is_same(impulse, other) for other in found):
            found.append(impulse)
    if not found:
        raise ComputationError("no impulse of the spatial contact satisfies the impact law and Coulomb's law together")
    return found


def _is_same(impulse: Array, other: Array) -> bool:
    return bool(np.max(np.abs(impulse - other)) <= _SAME * np.max(np.abs(other)))
