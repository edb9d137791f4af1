"""The points of a drawing over many states, and where among them each contact touches.

The posture of a mechanism as points, links and touching surfaces.

Sketches of a mechanism at a state.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.reporting.figures import new_figure, settings
from hybrid.reporting.symbols import as_written
from hybrid.tolerances import FINE_STEP

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values

__all__ = [
    "FIT",
    "DrawnSurface",
    "Posture",
    "Touching",
    "drawn_points",
    "plot_posture",
    "point_jacobians",
    "posture",
    "touching",
]


Array = NDArray[np.float64]

_STEP = FINE_STEP
FIT = 1e-5
"""Of a direction: what is no gradient of the drawing; central differences of the points are good to about 1e-9."""
_NEAR = 0.1  # in units of the coordinates
_MOST = 0.9  # of the states; at some a mechanism may be stretched


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
    """Places of the points of a drawing.

    Parameters
    ----------
    dynamics : Dynamics
    q : array, (N, n)
    t : float or array, (N,)
    parameters : mapping, or None
        Values that replace declared ones.

    Returns
    -------
    dict of str to array, (N, d)
        In the unit of length of the drawing; d is 2 or 3.
    """
    from hybrid.declaration import evaluate

    mechanism = dynamics.mechanism
    values = {
        **dynamics.at(parameters).values,
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
    """Derivatives of the points of a drawing with respect to the coordinates, by central differences.

    Parameters
    ----------
    dynamics : Dynamics
    q : array, (N, n)
    t : float or array, (N,)
    parameters : mapping, or None
        Values that replace declared ones.

    Returns
    -------
    dict of str to array, (N, d, n)
    """
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
    """Where the contacts, friction elements and rigid constraints of a mechanism act on its drawing.

    A contact acts at the point ``P`` for which the generalised normal direction is ``W_N = (dP/dq)^T n`` with some
    direction ``n`` of the drawing; between two bodies, ``W_N = (dP_2/dq - dP_1/dq)^T n``. Of several such points, which
    move alike, it is the one nearest to the surface.

    Parameters
    ----------
    dynamics : Dynamics
    q, v : array, (N, n)
    t : float or array, (N,)
    names : iterable of str, optional
        Those to look for; by default all.
    parameters : mapping, optional

    Returns
    -------
    dict of str to Touching
        Without the stops, and those that act at no point of the drawing.
    """
    count = len(q)
    q, v, t = _with_neighbours(q, v, t)
    points = drawn_points(dynamics, q, t, parameters)
    moved = point_jacobians(dynamics, q, t, parameters)
    terms = dynamics.terms(q, v, t=t, parameters=parameters)
    all_N, all_T = (np.broadcast_to(W, (len(q), *W.shape[-2:])) for W in (terms.W_N, terms.W_T))
    found = {}
    all_J = np.broadcast_to(terms.J, (len(q), *terms.J.shape[-2:]))
    for name in (*dynamics.contacts, *dynamics.elements, *dynamics.rigid) if names is None else names:
        if name in dynamics.mechanism.drawing.stops:
            continue
        W_T = np.swapaxes(all_T[..., dynamics.columns.get(name, slice(0, 0))], -1, -2)
        W_N = all_N[..., dynamics.contacts.index(name)] if name in dynamics.contacts else None
        W_N = all_J[..., dynamics.rigid.index(name), :] if name in dynamics.rigid else W_N
        place = _place(name, points, moved, W_N, W_T, count)
        if place is not None:
            found[name] = attrs.evolve(place, normal=place.normal[:count], tangents=place.tangents[:count])
    return found


def _with_neighbours(q: Array, v: Array, t: Any) -> tuple[Array, Array, Array]:
    """States, and postures around the first: a direction is one for all of them, or it is not that of a plane."""
    times = np.broadcast_to(np.asarray(t, dtype=float), len(q))
    offsets = _NEAR * np.concatenate([np.eye(q.shape[1]), -np.eye(q.shape[1])])
    near = q[0] + offsets
    rest = np.zeros_like(near)
    return np.concatenate([q, near]), np.concatenate([v, rest]), np.concatenate([times, np.full(len(near), times[0])])


def _place(
    name: str, points: dict[str, Array], moved: dict[str, Array], W_N: Array | None, W_T: Array, count: int
) -> Touching | None:
    """The point or pair of points at which an element acts: one that feels all forces, and nearest to the surface.

    Of points that feel no tangential force, one whose normal does not turn: any that moves freely has some normal at
    every state. The first ``count`` states are those that are drawn; beside them a curved rail has other directions.
    """
    best: tuple[tuple[bool, bool, float], Touching] | None = None
    for chosen in [*((point,) for point in points), *permutations(points, 2)]:
        if best is not None and len(chosen) > len(best[1].points):
            break
        jacobian = _between(moved, chosen)
        normal = np.zeros(jacobian.shape[:2]) if W_N is None else _fitted(jacobian, W_N)
        if normal is None:
            continue
        tangents = _tangents(jacobian, W_T, None if W_N is None else normal, count)
        if W_N is None and not tangents.shape[1]:
            continue
        size = np.linalg.norm(normal[0])
        height = float(_between(points, chosen)[0] @ normal[0] / size) if size > 0 else 0.0
        lacks = tangents.shape[1] < W_T.shape[1]
        rank = (lacks, lacks and bool(np.any(np.abs(normal - normal[0]) > FIT)), height)
        if best is None or rank[:2] < best[0][:2] or (rank[:2] == best[0][:2] and height < best[0][2] - FIT):
            best = rank, Touching(name, chosen, normal, tangents)
    if best is not None and best[0][0] and W_N is not None:
        jacobian = _between(moved, best[1].points)
        return attrs.evolve(best[1], tangents=_along_surface(jacobian, W_T, best[1].normal))
    return None if best is None else best[1]


def _along_surface(jacobian: Array, W_T: Array, normal: Array) -> Array:
    """Friction (N, 1, 2) of a plane contact at a point that does not turn with what rolls there: all but its torque.

    It acts across the normal and is measured as the normal force is; c = 0 in space, and where its sense is not one.
    """
    none = np.zeros((len(jacobian), 0, jacobian.shape[1]))
    if W_T.shape[1] != 1 or jacobian.shape[1] != 2:
        return none
    across = np.stack([normal[:, 1], -normal[:, 0]], axis=-1)
    senses = np.sign(np.einsum("idn,id,in->i", jacobian, across, W_T[:, 0]))
    return senses[0] * across[:, None] if senses[0] and np.all(senses == senses[0]) else none


def _between(of: dict[str, Array], chosen: tuple[str, ...]) -> Array:
    return of[chosen[0]] if len(chosen) == 1 else of[chosen[1]] - of[chosen[0]]


def _fitted(jacobian: Array, direction: Array) -> Array | None:
    """Directions ``n`` (N, d) with ``J^T n = w`` for Jacobians (N, d, n) and directions ``w`` (N, n).

    The same ``n`` for all states if there is one; otherwise one for each, where the point moves freely in the drawing:
    on a line that is its only path, the direction across it could be any.
    """
    size = np.max(np.abs(direction), initial=0.0)
    axes = jacobian.shape[1]
    rows = np.swapaxes(jacobian, -1, -2)
    one = np.linalg.lstsq(rows.reshape(-1, axes), direction.ravel(), rcond=FIT)[0]
    for normal in (np.broadcast_to(one, (len(rows), axes)), _solved(jacobian, direction)):
        left = np.abs((rows @ normal[..., None])[..., 0] - direction)
        if size > 0 and np.max(left) <= FIT * max(1.0, size) and np.any(np.abs(normal) > FIT):
            return np.array(normal)
    return None


def _solved(jacobian: Array, direction: Array) -> Array:
    """For each state by itself; NaN where the point moves on a line."""
    sizes = np.linalg.svd(jacobian, compute_uv=False)
    is_free = np.mean(sizes[:, -1] > FIT * sizes[:, 0]) > _MOST
    normal = (np.linalg.pinv(np.swapaxes(jacobian, -1, -2), rcond=FIT) @ direction[..., None])[..., 0]
    return np.asarray(normal) if is_free and jacobian.shape[2] >= jacobian.shape[1] else np.full(normal.shape, np.nan)


def _tangents(jacobian: Array, W_T: Array, normal: Array | None, count: int) -> Array:
    """Tangential directions (N, c, d); c = 0 where one of them does not fit.

    The point below the centre of a ball does not turn with it: it feels of rolling friction all but the torque.
    """
    none = np.zeros((len(jacobian), 0, jacobian.shape[1]))
    found = []
    for row in range(W_T.shape[1]):
        tangent = _fitted(jacobian, W_T[:, row])
        if tangent is None and normal is not None:
            tangent = _solved(jacobian, W_T[:, row])
        if tangent is None or not np.isfinite(tangent).all() or not np.any(np.abs(tangent) > FIT):
            return none
        if normal is not None:
            across = np.abs(np.sum(tangent * normal, axis=-1))[:count]
            size = (np.linalg.norm(tangent, axis=-1) * np.linalg.norm(normal, axis=-1))[:count]
            if np.any(across > FIT * np.maximum(size, 1.0)):
                return none
        found.append(tangent)
    return np.stack(found, axis=1) if found else none


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


_CORNERS = ((1, 1), (-1, 1), (1, -1), (-1, -1))
"""To the right or left and up or down, those first in which a name is usually read."""


def plot_posture(drawn: Posture) -> Figure:
    """A picture of a mechanism at a state.

    Parameters
    ----------
    drawn : Posture

    Returns
    -------
    matplotlib Figure
        Links as strokes, points with their names, the surfaces of closed contacts hatched on the solid side.
    """
    with settings():
        places = np.array(list(drawn.points.values()))
        size = float(np.max(np.ptp(places, axis=0))) or 1.0
        ends = [surface.at + share * size * _along(surface) for surface in drawn.surfaces for share in (-0.5, 0.5)]
        low, high = (extreme(np.vstack([places, *ends]), axis=0) for extreme in (np.min, np.max))
        width, height = (high - low + 0.24 * size).tolist()
        figure = new_figure(height=3.0 * max(0.25, min(1.2, height / width)), width=3.0)
        axes = figure.add_subplot()
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_xlim(low[0] - 0.12 * size, high[0] + 0.12 * size)
        axes.set_ylim(low[1] - 0.12 * size, high[1] + 0.12 * size)
        for surface in drawn.surfaces:
            _surface(axes, surface, size)
        for first, second in drawn.links:
            link = np.array([drawn.points[first], drawn.points[second]])
            axes.plot(link[:, 0], link[:, 1], color="0.25", linewidth=3.5, solid_capstyle="round", zorder=2)
        axes.plot(places[:, 0], places[:, 1], "o", markersize=4.5, color="white", markeredgecolor="black", zorder=3)
        beside: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8, "zorder": 4}
        for name, place in drawn.points.items():
            x, y = _corner(drawn, name)
            aligned: dict[str, Any] = {"ha": "left" if x > 0 else "right", "va": "bottom" if y > 0 else "top"}
            axes.annotate(as_written(name), (place[0], place[1]), xytext=(6 * x, 5 * y), **aligned, **beside)
    return figure


def _corner(drawn: Posture, name: str) -> tuple[int, int]:
    """Of four corners at a point, the one that is farthest from links and solids."""
    place = drawn.points[name]
    taken = [drawn.points[other] - place for link in drawn.links if name in link for other in link if other != name]
    taken += [-surface.normal for surface in drawn.surfaces if np.array_equal(surface.at, place)]
    units = [item / np.linalg.norm(item) for item in taken if np.any(item)]
    return min(_CORNERS, key=lambda corner: round(max((float(corner @ unit) for unit in units), default=0.0), 6))


def _along(surface: DrawnSurface) -> NDArray[np.float64]:
    return np.array([surface.normal[1], -surface.normal[0]])


def _surface(axes: Axes, surface: DrawnSurface, size: float) -> None:
    """A short piece of surface through a point, with strokes into the solid."""
    along = _along(surface)
    ends = surface.at + np.outer([-0.5, 0.5], along) * size
    axes.plot(ends[:, 0], ends[:, 1], color="black", linewidth=1.1, zorder=1)
    for share in np.linspace(-0.46, 0.5, 17):
        top = surface.at + share * size * along
        stroke = np.array([top, top - 0.05 * size * (surface.normal + along)])
        axes.plot(stroke[:, 0], stroke[:, 1], color="0.4", linewidth=0.6, zorder=1)
