"""The posture of a mechanism as points, links and touching surfaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values

__all__ = ["Posture", "Surface", "posture"]

_STEP = 1e-6
_FIT = 1e-5  # central differences of the points are good to about 1e-9


@attrs.frozen(eq=False)
class Surface:
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
    surfaces : tuple of Surface
    """

    points: Mapping[str, NDArray[np.float64]]
    links: tuple[tuple[str, ...], ...]
    surfaces: tuple[Surface, ...]


def posture(
    dynamics: Dynamics, state: State, *, closed: tuple[str, ...] = (), parameters: Values | None = None
) -> Posture | None:
    """Evaluate a mechanism's drawing at a state.

    A contact touches at the point ``P`` for which the generalised normal direction is ``W_N = (dP/dq)^T n`` with some
    direction ``n`` of the plane.

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
    >>> posture(rod, state, closed=("tip",)).surfaces[0].normal.round(9).tolist()
    [0.0, 1.0]
    """
    drawing = dynamics.mechanism.drawing
    if not drawing.points or any(len(point) != 2 for point in drawing.points.values()):
        return None
    points = _points(dynamics, state.q, state.t, parameters)
    if not all(np.isfinite(point).all() for point in points.values()):
        return None
    moved = {name: np.empty((2, dynamics.n)) for name in points}
    for index, step in enumerate(_STEP * np.eye(dynamics.n)):
        ahead = _points(dynamics, state.q + step, state.t, parameters)
        behind = _points(dynamics, state.q - step, state.t, parameters)
        for name in points:
            moved[name][:, index] = (ahead[name] - behind[name]) / (2 * _STEP)
    W_N = dynamics.terms(state.q, state.v, t=state.t, parameters=parameters).W_N
    surfaces = []
    for contact in closed:
        direction = W_N[:, dynamics.contacts.index(contact)]
        for name, jacobian in moved.items():
            normal = np.linalg.lstsq(jacobian.T, direction, rcond=None)[0]
            size = float(np.linalg.norm(normal))
            if size > _FIT and np.allclose(jacobian.T @ normal, direction, rtol=0, atol=_FIT):
                surfaces.append(Surface(contact, points[name], normal / size))
                break
    return Posture(points, drawing.links, tuple(surfaces))


def _points(
    dynamics: Dynamics, q: NDArray[np.float64], t: float, parameters: Values | None
) -> dict[str, NDArray[np.float64]]:
    from hybrid.declaration.expressions import evaluate

    mechanism = dynamics.mechanism
    values = {
        **mechanism.parameter_values(parameters or {}),
        **dict(zip(mechanism.coordinates, q.tolist(), strict=True)),
        "t": t,
    }
    return {
        name: np.array([float(evaluate(mechanism.expanded(text), values)) for text in point])
        for name, point in mechanism.drawing.points.items()
    }
