"""The points of a drawing over many states, and where among them each contact touches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hybrid.dynamics import Dynamics
    from hybrid.dynamics.derive import Values

__all__ = ["Touching", "drawn_points", "point_jacobians", "touching"]

Array = NDArray[np.float64]

_STEP = 1e-6
_FIT = 1e-5  # central differences of the points are good to about 1e-9


@attrs.frozen(eq=False)
class Touching:
    """Where a contact or friction element acts on the drawing, at N states.

    Attributes
    ----------
    name : str
    points : tuple of str
        The point that moves with it; of a contact between two bodies, the point pushed back and the one pushed on.
    normal : array, (N, d)
        Force on the (second) point per unit of normal force; zero for a friction element.
    tangents : array, (N, c, d)
        The same per unit of each tangential force; c = 0 where no direction of the drawing fits.
    """

    name: str
    points: tuple[str, ...]
    normal: Array
    tangents: Array


def drawn_points(dynamics: Dynamics, q: Array, t: Any, parameters: Values | None) -> dict[str, Array]:
    """Places (N, d) of the points of a drawing at positions (N, n) and times (N,)."""
    from hybrid.declaration.expressions import evaluate

    mechanism = dynamics.mechanism
    values = {
        **mechanism.parameter_values(parameters or {}),
        **dict(zip(mechanism.coordinates, q.T, strict=True)),
        "t": np.asarray(t, dtype=float),
    }

    def over_states(text: str) -> Array:
        return np.broadcast_to(np.asarray(evaluate(mechanism.expanded(text), values), dtype=float), len(q))

    return {
        name: np.stack([over_states(text) for text in point], axis=-1)
        for name, point in mechanism.drawing.points.items()
    }


def point_jacobians(dynamics: Dynamics, q: Array, t: Any, parameters: Values | None) -> dict[str, Array]:
    """Derivatives (N, d, n) of the points of a drawing with respect to the coordinates."""
    columns: dict[str, list[Array]] = {name: [] for name in dynamics.mechanism.drawing.points}
    for step in _STEP * np.eye(dynamics.n):
        ahead = drawn_points(dynamics, q + step, t, parameters)
        behind = drawn_points(dynamics, q - step, t, parameters)
        for name, places in columns.items():
            places.append((ahead[name] - behind[name]) / (2 * _STEP))
    return {name: np.stack(places, axis=-1) for name, places in columns.items()}


def touching(
    dynamics: Dynamics,
    q: Array,
    v: Array,
    t: Any,
    *,
    names: Iterable[str] | None = None,
    parameters: Values | None = None,
) -> dict[str, Touching]:
    """Find where the contacts and friction elements of a mechanism act on its drawing.

    A contact acts at the point ``P`` for which the generalised normal direction is ``W_N = (dP/dq)^T n`` with some
    direction ``n`` of the drawing; between two bodies, ``W_N = (dP_2/dq - dP_1/dq)^T n``. Of several such points, which
    move alike, it is the one nearest to the surface.

    Parameters
    ----------
    dynamics : Dynamics
    q, v : array, (N, n)
    t : float or array, (N,)
    names : iterable of str, optional
        Contacts and friction elements to look for; by default all.
    parameters : mapping, optional

    Returns
    -------
    dict of str to Touching
        Without those that act at no point of the drawing.
    """
    points = drawn_points(dynamics, q, t, parameters)
    moved = point_jacobians(dynamics, q, t, parameters)
    terms = dynamics.terms(q, v, t=t, parameters=parameters)
    found = {}
    for name in (*dynamics.contacts, *dynamics.elements) if names is None else names:
        columns = dynamics.columns.get(name, slice(0, 0))
        W_T = np.swapaxes(np.broadcast_to(terms.W_T, (len(q), *terms.W_T.shape[-2:]))[..., columns], -1, -2)
        if name in dynamics.contacts:
            index = dynamics.contacts.index(name)
            W_N = np.broadcast_to(terms.W_N, (len(q), *terms.W_N.shape[-2:]))[..., index]
            place = _at_contact(name, points, moved, W_N, W_T)
        else:
            place = _at_element(name, points, moved, W_T)
        if place is not None:
            found[name] = place
    return found


def _at_contact(
    name: str, points: dict[str, Array], moved: dict[str, Array], W_N: Array, W_T: Array
) -> Touching | None:
    best: tuple[float, tuple[str, ...], Array] | None = None
    for chosen in [*((point,) for point in points), *permutations(points, 2)]:
        if best is not None and len(chosen) > len(best[1]):
            break
        normal = _fitted(_between(moved, chosen), W_N)
        if normal is None:
            continue
        size = np.linalg.norm(normal[0])
        height = float(_between(points, chosen)[0] @ normal[0] / size) if size > 0 else 0.0
        if best is None or height < best[0] - _FIT * (1 + abs(height)):
            best = (height, chosen, normal)
    if best is None:
        return None
    _, chosen, normal = best
    tangents = [_tangent(_between(moved, chosen), W_T[:, row], normal) for row in range(W_T.shape[1])]
    return Touching(name, chosen, normal, _stacked(tangents, normal))


def _at_element(name: str, points: dict[str, Array], moved: dict[str, Array], W_T: Array) -> Touching | None:
    for chosen in [*((point,) for point in points), *permutations(points, 2)]:
        tangent = _fitted(_between(moved, chosen), W_T[:, 0])
        if tangent is not None:
            return Touching(name, chosen, np.zeros_like(tangent), tangent[:, None, :])
    return None


def _between(of: dict[str, Array], chosen: tuple[str, ...]) -> Array:
    return of[chosen[0]] if len(chosen) == 1 else of[chosen[1]] - of[chosen[0]]


def _solved(jacobian: Array, direction: Array) -> Array:
    """Least-squares ``n`` (N, d) of ``J^T n = w`` for Jacobians (N, d, n) and directions (N, n)."""
    return (np.linalg.pinv(np.swapaxes(jacobian, -1, -2), rcond=_FIT) @ direction[..., None])[..., 0]


def _fitted(jacobian: Array, direction: Array) -> Array | None:
    normal = _solved(jacobian, direction)
    left = np.abs((np.swapaxes(jacobian, -1, -2) @ normal[..., None])[..., 0] - direction)
    size = np.max(np.abs(direction), initial=0.0)
    return normal if size > 0 and np.max(left) <= _FIT * max(1.0, size) and np.any(np.abs(normal) > _FIT) else None


def _tangent(jacobian: Array, direction: Array, normal: Array) -> Array | None:
    """A tangential direction: what the point feels of it, if that lies in the surface.

    The point below the centre of a ball does not turn with it, and feels of rolling friction all but the torque.
    """
    tangent = _solved(jacobian, direction)
    across = np.abs(np.sum(tangent * normal, axis=-1))
    size = np.linalg.norm(tangent, axis=-1) * np.linalg.norm(normal, axis=-1)
    return tangent if np.all(across <= _FIT * np.maximum(size, 1.0)) and np.any(size > _FIT) else None


def _stacked(tangents: Sequence[Array | None], normal: Array) -> Array:
    known = [tangent for tangent in tangents if tangent is not None]
    if len(known) < len(tangents) or not known:
        return np.zeros((len(normal), 0, normal.shape[1]))
    return np.stack(known, axis=1)
