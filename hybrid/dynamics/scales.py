"""Sizes against which gaps and velocities are judged, made from the problem's own numbers: no unit is preferred.

A gap or a velocity is zero if it is small next to what cancels in it. Where nothing need cancel, as of a rod that lies
flat on the floor, the problem has lengths all the same: an angle turns by one radian, whatever the unit of length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms

__all__ = ["Scales", "coordinate_sizes", "motion_sizes", "scales_of"]

Array = NDArray[np.float64]

_LEFT_BEHIND = 32 * float(np.finfo(np.float64).eps) / Tolerances().velocity  # of other coordinates, in a computed state


@attrs.frozen(eq=False)
class Scales:
    """Sizes of gaps and contact velocities at states.

    Attributes
    ----------
    gap, gap_dot : array, (..., k)
        Of every contact, in the units of gaps and their rates.
    slip : array, (..., p)
        Of every tangential column, in units of slip.
    constraint, constraint_dot : array, (..., m)
        Of every rigid constraint.
    """

    gap: Array
    gap_dot: Array
    slip: Array
    constraint: Array
    constraint_dot: Array


def coordinate_sizes(dynamics: Dynamics, q: Any, *, t: Any = 0.0, radians: Array | None = None) -> Array:
    """Sizes of the coordinates at positions: their values, or what turns an angle by one radian if that is more.

    Parameters
    ----------
    dynamics : Dynamics
    q : array_like, (..., n)
    t : array_like, (...)
    radians : array, (n,), optional
        What turns angles by one radian, where that is known to be the same everywhere.

    Returns
    -------
    array, (..., n)

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> coordinate_sizes(rod, [0.0, 2.0, 0.3]).tolist()
    [0.0, 2.0, 1.0]
    """
    q = np.asanyarray(q)
    if radians is None:
        radians = dynamics.radians
    return np.asanyarray(np.fmax(np.abs(q), dynamics.radians_at(q, t) if radians is None else radians))


def scales_of(
    dynamics: Dynamics,
    terms: Terms,
    q: Any,
    v: Any,
    *,
    t: Any = 0.0,
    reach: tuple[Array, Array] | None = None,
) -> Scales:
    """Sizes of all gaps and contact velocities at one state or many.

    A gap ``g`` has the size ``|W_N|^T |q|``, where a body that turns has a length, its radius of gyration. A velocity
    ``gamma = W^T v + drift`` has that of its summands or, if it is more, that which the accelerations ``M^-1 h`` give
    within the size of the position: a rod of length l under gravity moves at about ``sqrt(g l)``. Where summands are
    themselves the rounding of a state that was computed, the other coordinates tell how large that may be.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At the states.
    q, v : array_like, (..., n)
    t : array_like, (...)
    reach : (array, array), (n,) each, optional
        Sizes of the coordinates and velocities that a motion has had before, which left rounding behind.

    Returns
    -------
    Scales

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> at = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    >>> scales_of(rod, rod.terms(*at), *at).gap.round(6).tolist()
    [1.57735]
    """
    sizes = coordinate_sizes(dynamics, q, t=t)
    inertia = np.sqrt(np.abs(np.diagonal(terms.M, axis1=-2, axis2=-1)))
    turning = inertia * (dynamics.radians_at(np.asanyarray(q), t) if dynamics.radians is None else dynamics.radians)
    gyration = np.max(turning, axis=-1, keepdims=True, initial=0.0) / np.where(inertia > 0.0, inertia, np.inf)
    sizes = np.fmax(sizes, gyration)
    speeds = np.abs(np.asanyarray(v))
    if reach is not None:
        sizes, speeds = np.fmax(sizes, reach[0]), np.fmax(speeds, reach[1])
    accelerations = _accelerations(terms)

    def of(rows: Array, rate: Array) -> tuple[Array, Array, Array]:
        """Sizes of what has the gradients ``rows`` (..., n, c), of its rate by summands, and of its acceleration."""
        across = np.swapaxes(np.abs(rows), -1, -2)
        length, speed, lift = ((across @ item[..., None])[..., 0] for item in (sizes, speeds, accelerations))
        drift = np.abs(rate - (np.swapaxes(rows, -1, -2) @ np.asanyarray(v)[..., None])[..., 0])
        return length, speed + drift, lift

    with np.errstate(invalid="ignore", over="ignore"):  # states that are no states have no sizes
        speeds = np.fmax(speeds, _LEFT_BEHIND * _of_like_energy(inertia, speeds))
        sizes = np.fmax(sizes, _LEFT_BEHIND * _of_like_energy(inertia, sizes))
        length, approach, lift = of(terms.W_N, terms.gap_dot)
        displacement, slip, push = of(terms.W_T, terms.slip)
        deviation, rate, pull = of(np.swapaxes(terms.J, -1, -2), terms.constraint_dot)
        return Scales(
            gap=length,
            gap_dot=np.fmax(approach, np.sqrt(length * lift)),
            slip=np.fmax(slip, np.sqrt(displacement * _beside(dynamics, push, lift))),
            constraint=deviation,
            constraint_dot=np.fmax(rate, np.sqrt(deviation * pull)),
        )


def _of_like_energy(inertia: Array, speeds: Array) -> Array:
    """Speeds (..., n) of the energy of the fastest coordinate; zero for a coordinate without inertia."""
    largest = np.max(inertia * speeds, axis=-1, keepdims=True, initial=0.0)
    return np.asanyarray(np.where(inertia > 0.0, largest / np.where(inertia > 0.0, inertia, 1.0), 0.0))


def motion_sizes(terms: Terms, sizes: Array, speeds: Array) -> Array:
    """Sizes of the coordinates and velocities of motions, (..., 2n), also of those that are zero, from those of others.

    What moves one coordinate moves all of them, at speeds of like energy: ``M_ii v_i^2`` is of the size of the largest.

    Parameters
    ----------
    terms : Terms
        At one state or many.
    sizes, speeds : array, (..., n)
        Of the coordinates and velocities themselves, as far as they have any.

    Returns
    -------
    array, (..., 2n)
        1 where neither the position nor the forces have any size.
    """
    inertia = np.sqrt(np.abs(np.diagonal(terms.M, axis1=-2, axis2=-1)))
    length, speed, force = (
        np.max(inertia * item, axis=-1, keepdims=True) for item in (sizes, speeds, _accelerations(terms))
    )
    speed = np.maximum(speed, np.sqrt(length * force))
    length = np.where((length == 0.0) & (force > 0.0), speed**2 / np.where(force > 0.0, force, 1.0), length)
    unit = np.where(inertia > 0.0, inertia, 1.0)
    found = np.concatenate(np.broadcast_arrays(length / unit, speed / unit), axis=-1)
    return np.where(np.isfinite(found) & (found > 0.0), found, 1.0)


def _beside(dynamics: Dynamics, push: Array, lift: Array) -> Array:
    """Accelerations along tangential columns or, of a contact, across it: what presses it together moves it too."""
    columns = [push[..., column] for column in range(push.shape[-1])]
    for index, name in enumerate(dynamics.contacts):
        for column in dynamics.columns_of(name):
            columns[column] = np.fmax(columns[column], lift[..., index])
    return np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else push


def _accelerations(terms: Terms) -> Array:
    """Sizes of the accelerations that the forces give, (..., n); zero where the mass matrix has no inverse.

    Contacts turn forces into any direction: ``M_ii a_i^2`` is of the size of the largest for all coordinates.
    """
    try:
        found = np.abs(np.linalg.solve(terms.M, terms.h[..., None])[..., 0])
    except np.linalg.LinAlgError:
        return np.zeros(terms.h.shape)
    inertia = np.sqrt(np.abs(np.diagonal(terms.M, axis1=-2, axis2=-1)))
    largest = np.max(inertia * found, axis=-1, keepdims=True, initial=0.0)
    return np.asanyarray(largest / np.where(inertia > 0.0, inertia, np.inf))
