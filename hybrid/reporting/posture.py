"""The posture of a mechanism as points, links and touching surfaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.reporting.touching import drawn_points, touching

if TYPE_CHECKING:
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values

__all__ = ["DrawnSurface", "Posture", "posture"]


@attrs.frozen(eq=False)
class DrawnSurface:
    """Where a closed contact touches.

    Attributes
    ----------
    contact : str
    at, normal : array, (2,)
        The touching point; the direction of the normal force on the mechanism, of length 1.
    """

    contact: str
    at: NDArray[np.float64]
    normal: NDArray[np.float64]


@attrs.frozen(eq=False)
class Posture:
    """What is drawn of a plane mechanism at a state.

    Attributes
    ----------
    points : mapping of str to array, (2,)
    links : tuple of tuple of str
    surfaces : tuple of DrawnSurface
    """

    points: Mapping[str, NDArray[np.float64]]
    links: tuple[tuple[str, ...], ...]
    surfaces: tuple[DrawnSurface, ...]


def posture(
    dynamics: Dynamics, state: State, *, closed: tuple[str, ...] = (), parameters: Values | None = None
) -> Posture | None:
    """A mechanism's drawing at a state.

    Where contacts touch is found as in :func:`hybrid.reporting.touching.touching`.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    closed : tuple of str
        Contacts whose surfaces are looked for.
    parameters : mapping, optional

    Returns
    -------
    Posture or None
        None if the declaration holds no plane drawing.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 1, "phi_dot": 0, "slip.tip": 0})
    >>> (posture(rod, state, closed=("tip",)).surfaces[0].normal.round(9) + 0.0).tolist()
    [0.0, 1.0]
    """
    drawing = dynamics.mechanism.drawing
    if not drawing.points or any(len(point) != 2 for point in drawing.points.values()):
        return None
    q, v = state.q[None, :], state.v[None, :]
    points = {name: place[0] for name, place in drawn_points(dynamics, q, state.t, parameters).items()}
    if not all(np.isfinite(point).all() for point in points.values()):
        return None
    surfaces = []
    for contact, found in touching(dynamics, q, v, state.t, names=closed, parameters=parameters).items():
        if len(found.points) == 1:  # between two bodies there is no surface at rest
            normal = found.normal[0] / np.linalg.norm(found.normal[0])
            surfaces.append(DrawnSurface(contact, points[found.points[0]], normal))
    return Posture(points, drawing.links, tuple(surfaces))
