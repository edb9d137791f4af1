"""One spatial contact whose impulse obeys Coulomb's law with the slip after the impact, on the circular cone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.spatial import slip_directions
from hybrid.errors import ComputationError
from hybrid.expressions import NotDifferentiable, implicit, plain, tie_means
from hybrid.tolerances import AGREEING, NOTHING, RANK, ROUNDING

Array = NDArray[np.float64]

_SAME = AGREEING  # impulses that agree so well, relative to the largest, are one
_STOPPED = NOTHING  # of the velocities, and of friction's bound: slip, or none


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
    stop = stopping_impulse(G, gamma, mu)
    found = [] if stop is None else [stop]
    angles = slip_directions(G, gamma, mu)[0] if mu > 0.0 else np.zeros(1)
    for angle in angles:
        force = np.array([1.0, -mu * np.cos(angle), -mu * np.sin(angle)])
        inertia = float(G[0] @ force)
        if inertia <= ROUNDING * float(np.abs(G[0]) @ np.abs(force)):
            continue
        impulse = -gamma[0] / inertia * force
        slip = (gamma + G @ impulse)[1:]
        against = -float(slip @ force[1:])
        goes_on = against > ROUNDING * float((np.abs(gamma) + np.abs(G) @ np.abs(impulse)) @ np.abs(force))
        if (goes_on or mu == 0.0) and not any(_is_same(impulse, other) for other in found):
            found.append(impulse)
    if not found:
        raise ComputationError("no impulse of the spatial contact satisfies the impact law and Coulomb's law together")
    return found


def with_derivatives(G: NDArray[Any], gamma: NDArray[Any], mu: Any, P: Array) -> NDArray[Any]:
    """One of the impulses with the derivatives of the data, where these are duals.

    Parameters
    ----------
    G, gamma, mu
        As for :func:`spatial_jumps`.
    P : array, (3,)

    Returns
    -------
    array, (3,)

    Raises
    ------
    NotDifferentiable
        The contact hardly approaches, or just stops.
    """
    if G.dtype != object:
        return P
    with tie_means("an impact of a contact that does not approach", is_proven=True):
        if gamma[0] > 0.0:
            return P
    slip = (plain(gamma) + plain(G) @ P)[1:]
    if np.linalg.norm(slip) > _STOPPED * np.max(np.abs(plain(gamma))):
        return implicit(_sliding, P, G, gamma, mu)
    if np.hypot(P[1], P[2]) < (1 - _STOPPED) * plain(mu) * P[0]:
        return implicit(lambda P, G, gamma: gamma + G @ P, P, G, gamma)
    reason = "the slip of a spatial contact just stops in the impact, on the edge of its cone"
    raise NotDifferentiable(reason, is_proven=True)


def _sliding(P: NDArray[Any], G: NDArray[Any], gamma: NDArray[Any], mu: Any) -> NDArray[Any]:
    """What is zero where the contact neither approaches nor separates, and friction is against its slip."""
    after = gamma + G @ P
    u = after[1:] / np.linalg.norm(after[1:])
    return np.array([after[0], *(P[1:] + mu * P[0] * u)])


def stopping_impulse(G: Array, gamma: Array, mu: float) -> Array | None:
    """An impulse inside the cone that takes away the whole contact velocity.

    Of a contact of a hinged body there are many: impulses along the hinge's directions move nothing.

    Parameters
    ----------
    G : array, (3, 3)
    gamma : array, (3,)
    mu : float

    Returns
    -------
    array, (3,), or None
        The least one if it lies in the cone, otherwise one on its boundary; None if there is none.

    Examples
    --------
    >>> u = np.array([0.6, 0.8, 0.0])  # a contact that moves along u alone
    >>> stopping_impulse(np.outer(u, u), -u, 0.5)
    array([1. , 0.5, 0. ])
    """
    values, vectors = np.linalg.eigh(G)
    moves = values > RANK * values[-1]
    along, free = vectors[:, moves], vectors[:, ~moves]
    if np.linalg.norm(free.T @ gamma) > RANK * np.linalg.norm(gamma):
        return None  # a velocity that no impulse changes
    least = -along @ ((along.T @ gamma) / values[moves])
    if _in_cone(least, mu):
        return np.asarray(least)
    if free.shape[1] == 2:
        return _on_plane(along[:, 0], float(along[:, 0] @ least), mu)
    return _on_line(least, free[:, 0], mu) if free.shape[1] == 1 else None


def _in_cone(impulse: Array, mu: float) -> bool:
    return bool(impulse[0] >= 0.0 and np.hypot(impulse[1], impulse[2]) <= mu * impulse[0])


def _on_line(point: Array, direction: Array, mu: float) -> Array | None:
    """The point of the cone's boundary on a line that is nearest to a given one."""
    cone = np.diag([mu * mu, -1.0, -1.0])
    c, b, a = point @ cone @ point, 2 * point @ cone @ direction, direction @ cone @ direction
    roots = np.roots([a, b, c]) if a or b else np.zeros(0)
    places = sorted((float(root.real) for root in roots if abs(root.imag) <= _SAME * abs(root)), key=abs)
    reached = [point + place * direction for place in places]
    return next((np.asarray(P) for P in reached if P[0] > 0.0), None)


def _on_plane(normal: Array, level: float, mu: float) -> Array | None:
    """A point of the cone's boundary on the plane ``normal . P = level``."""
    size = float(np.hypot(normal[1], normal[2]))
    edge = np.array([1.0, *(np.sign(level) * mu / size * normal[1:] if size > 0.0 else np.zeros(2))])
    share = level / float(normal @ edge) if normal @ edge else 0.0
    return np.asarray(share * edge) if share > 0.0 else None


def _is_same(impulse: Array, other: Array) -> bool:
    return bool(np.max(np.abs(impulse - other)) <= _SAME * np.max(np.abs(other)))
