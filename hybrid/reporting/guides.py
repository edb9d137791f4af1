"""Curved guides and surfaces at rest: traced from the declaration, so that more is seen of them than a tangent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.reporting.touching import FIT, drawn_points, point_jacobians
from hybrid.tolerances import CLEAR, LEAST, ROUNDING

if TYPE_CHECKING:
    from hybrid.dynamics import Dynamics
    from hybrid.dynamics.derive import Values

__all__ = ["GuideCurve", "declared_guides", "traced_curve"]

Array = NDArray[np.float64]

_PLACES = 361  # of a declared guide: one a degree where it turns
_STEP = 1 / 120  # of the picture: between places of a traced curve
_MOST = 1200  # places to either side
_FAR = 0.75  # sizes of the picture beyond its box, where a curve is not seen any more
_FIT = CLEAR  # of the picture: how near a traced curve is to the surface, and a direction to what is declared


@attrs.frozen(eq=False)
class GuideCurve:
    """A curve at rest along which a point of the drawing is guided, or on which a contact touches.

    Attributes
    ----------
    name : str
        The contact, the constraint, or the point that is guided.
    places : array, (K, d)
    normals : array, (K, d)
        Of length 1, out of the solid; zeros for a guide, which holds from both sides.
    """

    name: str
    places: Array
    normals: Array


def declared_guides(
    dynamics: Dynamics, q: Array, t: float, *, size: float, parameters: Values | None
) -> tuple[GuideCurve, ...]:
    """The guides that a drawing declares: the curve of a point as one coordinate runs.

    Parameters
    ----------
    dynamics : Dynamics
    q : array, (N, n)
        Postures of the motion.
    t : float
    size : float
        Of the picture, in the unit of the drawing.
    parameters : mapping, or None

    Returns
    -------
    tuple of GuideCurve
        A whole turn of a coordinate that turns; of another what the motion runs through and as much again.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> pendulum = derive(mechanisms.load("singular_pendulum"))
    >>> (ellipse,) = declared_guides(pendulum, np.array([[0.5, 0.6]]), 0.0, size=1.0, parameters=None)
    >>> y = ellipse.places[:, 1]
    >>> round(float(y.min()), 3), round(float(y.max()), 3)  # its centre is 3 above A, its half axis 4
    (-1.0, 7.0)
    """
    found = []
    mechanism = dynamics.mechanism
    for point, coordinate in mechanism.drawing.guides:
        index = mechanism.coordinates.index(coordinate)
        if coordinate in mechanism.angles:
            values = np.linspace(-np.pi, np.pi, _PLACES)
        else:
            speed = np.linalg.norm(point_jacobians(dynamics, q[:1], t, parameters)[point][0, :, index])
            reach = np.ptp(q[:, index]) or size / max(float(speed), LEAST)
            values = np.linspace(q[:, index].min() - reach, q[:, index].max() + reach, _PLACES)
        postures = np.repeat(q[:1], len(values), axis=0)
        postures[:, index] = values
        places = drawn_points(dynamics, postures, t, parameters)[point]
        places = places[np.isfinite(places).all(axis=1)]
        found.append(GuideCurve(point, places, np.zeros_like(places)))
    return tuple(found)


def traced_curve(
    dynamics: Dynamics,
    name: str,
    point: str,
    q: Array,
    t: Array,
    *,
    box: tuple[Array, Array],
    parameters: Values | None,
) -> GuideCurve | None:
    """The curve of a plane drawing on which a contact or a rigid constraint holds its point.

    Followed step by step from the first posture: along the surface by the least change of coordinates that moves the
    point so, then back to the surface, in both directions until it leaves the picture or closes.

    Parameters
    ----------
    dynamics : Dynamics
    name : str
        Of a contact or a rigid constraint.
    point : str
        At which it acts.
    q : array, (N, n)
        Postures of the motion.
    t : array, (N,)
    box : pair of arrays, (2,)
        The lowest and the highest place of the picture.
    parameters : mapping, or None

    Returns
    -------
    GuideCurve or None
        None where it moves, or depends on more than the place of the point.
    """
    size = float(np.linalg.norm(box[1] - box[0]))
    surface = _Surface(dynamics, name, point, float(t[0]), parameters, size)
    later = np.linspace(0, len(q) - 1, 7).astype(int)
    at_rest = [abs(surface.distance(q[k], float(t[k])) - surface.distance(q[k], float(t[0]))) for k in later]
    start = surface.onto(q[0])
    if start is None or max(at_rest) > _FIT * size:
        return None
    ahead = _traced(surface, start, 1.0, box)
    closes = len(ahead) > 3 and np.linalg.norm(ahead[-1][0] - ahead[0][0]) < 1.5 * _STEP * size
    behind = [] if closes else _traced(surface, start, -1.0, box)[1:]
    if min(len(ahead) + len(behind), len(ahead)) < 2:
        return None
    places, normals = (np.array(part) for part in zip(*(*reversed(behind), *ahead), strict=True))
    seen = np.array([surface.place(q[k]) for k in later])
    gaps = np.array([surface.distance(q[k], float(t[0])) for k in later])
    nearest = np.linalg.norm(seen[:, None, :] - places[None, :, :], axis=2).min(axis=1)
    inside = np.all((seen > box[0] - _FIT * size) & (seen < box[1] + _FIT * size), axis=1)
    # a point is as far from the curve as its gap says, within half a step along it
    if np.any(nearest[inside] > np.abs(gaps[inside]) + 0.6 * _STEP * size):
        return None
    is_guide = name in dynamics.rigid
    return GuideCurve(name, places, np.zeros_like(normals) if is_guide else normals)


@attrs.frozen(eq=False)
class _Surface:
    """A contact or constraint as a function of posture, and the point at which it acts."""

    dynamics: Dynamics
    name: str
    point: str
    t: float
    parameters: Any
    size: float

    def _of(self, q: Array, t: float) -> tuple[float, Array]:
        rest = np.zeros_like(q)
        terms = self.dynamics.terms(q, rest, t=t, parameters=self.parameters)
        if self.name in self.dynamics.contacts:
            index = self.dynamics.contacts.index(self.name)
            return float(np.ravel(terms.gap)[index]), np.asarray(terms.W_N[..., index]).reshape(-1)
        index = self.dynamics.rigid.index(self.name)
        return float(np.ravel(terms.constraint)[index]), np.asarray(terms.J[..., index, :]).reshape(-1)

    def place(self, q: Array) -> Array:
        """Where the point is."""
        return np.asarray(drawn_points(self.dynamics, q[None, :], self.t, self.parameters)[self.point][0])

    def distance(self, q: Array, t: float) -> float:
        """The gap, or the equation, over the length of its gradient in the drawing."""
        value, direction = self._of(q, t)
        _, normal, _ = self._frame(q, direction)
        return value / max(float(np.linalg.norm(normal)), LEAST)

    def _frame(self, q: Array, direction: Array) -> tuple[Array, Array, float]:
        """The point's Jacobian, the gradient in the drawing, and how far it fails to be one."""
        moved = point_jacobians(self.dynamics, q[None, :], self.t, self.parameters)[self.point][0]
        normal, *_ = np.linalg.lstsq(moved.T, direction, rcond=CLEAR)
        return moved, normal, float(np.linalg.norm(moved.T @ normal - direction))

    def onto(self, q: Array) -> tuple[Array, Array, Array, Array] | None:
        """The nearest posture on the surface with place, normal and Jacobian; None where there is none."""
        for _ in range(8):
            value, direction = self._of(q, self.t)
            moved, normal, misfit = self._frame(q, direction)
            steepness = float(np.linalg.norm(normal))
            if (
                not np.isfinite(value)
                or steepness < ROUNDING
                or misfit > FIT * max(1.0, float(np.linalg.norm(direction)))
            ):
                return None
            if abs(value) <= _FIT * self.size * steepness:
                return q, self.place(q), normal / steepness, moved
            q = q - np.linalg.pinv(moved, rcond=CLEAR) @ (normal * value / steepness**2)
        return None


def _traced(
    surface: _Surface, start: tuple[Array, Array, Array, Array], sign: float, box: tuple[Array, Array]
) -> list[tuple[Array, Array]]:
    """Places and normals from a posture on, until the picture is left or the curve closes."""
    step = _STEP * surface.size
    room = _FAR * surface.size
    q, place, normal, moved = start
    found = [(place, normal)]
    for _ in range(_MOST):
        along = sign * np.array([normal[1], -normal[0]])
        there = surface.onto(q + np.linalg.pinv(moved, rcond=CLEAR) @ (step * along))
        if (
            there is None
            or np.linalg.norm(there[1] - place) > 3 * step
            or np.linalg.norm(there[1] - place) < 0.3 * step
        ):
            break
        q, place, normal, moved = there
        found.append((place, normal))
        if np.any(place < box[0] - room) or np.any(place > box[1] + room):
            break
        if len(found) > 10 and np.linalg.norm(place - found[0][0]) < 0.75 * step:
            found.append(found[0])
            break
    return found
