"""Genot-Brogliato points: where the inertia factor of sliding and the free normal acceleration vanish together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.criticality.response import contact_response, only_contact
from hybrid.analysis.maps.axes import Axis, axes_of, names_of
from hybrid.analysis.maps.plane import Sweep, plane_of
from hybrid.arguments import checks_arguments
from hybrid.contact.activity import moves
from hybrid.contact.modes import ContactMode
from hybrid.dynamics.derive import bound
from hybrid.dynamics.scales import scales_of
from hybrid.dynamics.state import State
from hybrid.errors import StateError
from hybrid.tolerances import CENTRAL_STEP, LAST_PLACE, LEAST, NOTHING, RESOLVED, ROUNDING, Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values

Array = NDArray[np.float64]

_SCAN_CELLS = 160
_MAX_NEWTON_STEPS = 40
_SAME = NOTHING  # of the plane: what Newton's method found from two cells, to about 1e-12
# Steps of central differences, largest first; the pair that agrees best is taken, so no scale of time is assumed.
_STEPS = 0.3 * 4.0 ** -np.arange(13)
_OFFSETS = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
_WEIGHTS = np.array([-1 / 60, 3 / 20, -3 / 4, 3 / 4, -3 / 20, 1 / 60])


class ForceAtPoint(Enum):
    """What becomes of the normal force of a sliding motion at a Genot-Brogliato point."""

    BOUNDED = "sliding motions head for the point and the contact force stays bounded"
    UNBOUNDED = "motions slide into the point, the contact force grows without bound and its impulse stays finite"
    NOT_APPROACHED = "at most single sliding motions run into the point"


@attrs.frozen(eq=False)
class GenotBrogliatoPoint:
    """A state at which ``A_s = b = 0`` in ``a_N = A_s lambda_N + b``.

    In time ``tau`` with ``dt = A_s d(tau)`` the sliding motion is smooth through the point and linear in ``(A_s, b)``
    near it (Genot and Brogliato 1999, section 4). With ``lambda_N = -b / A_s`` and the directions ``d = (v, a_free)``
    and ``r = (0, M^-1 (W_N - s mu W_T))`` of the phase space, the matrix of the linear flow has the rows
    ``(D_d A, -D_r A)`` and ``(D_d b, -D_r b)``.

    Attributes
    ----------
    at : mapping of str to float
        Values of the two swept quantities.
    state : State
    mode : ContactMode
        The sliding mode.
    flow : array, (2, 2)
        Matrix of the linear flow in ``(A_s, b)``; 1/time.
    eigenvalues : tuple of complex
        Of ``flow``: first the one along the slope of ``A_s``, then the one within ``A_s = 0``. For a rigid rod
        ``A_s' omega`` and ``-2 omega tan(theta)``.
    is_node : bool
        True if both are real and of one sign.
    force : ForceAtPoint
    exponent : float
        ``lambda_2 / lambda_1 - 1``: on the way to a node ``lambda_N`` has a part that goes like ``A_s`` to this power.
        NaN where motions do not run into the point.
    limit_force : float
        The value that the rest of ``lambda_N`` tends to. If it is negative where the force stays bounded, sliding
        motions lift off before they reach the point. NaN as above.
    """

    at: Mapping[str, float]
    state: State
    mode: ContactMode
    flow: NDArray[np.float64]
    eigenvalues: tuple[complex, complex]
    is_node: bool
    force: ForceAtPoint
    exponent: float
    limit_force: float


@attrs.frozen(eq=False)
class _Plane:
    """A_s and b over two swept quantities."""

    sweep: Sweep
    contact: str
    sign: float

    def __call__(self, x: Array) -> Array:
        """(A_s, b) at points (..., 2) of the plane, scaled to order one; NaN where no state is reached."""
        states, dynamics = self.sweep.states(x[..., 0], x[..., 1])
        at = contact_response(dynamics, states.q, states.v, contact=self.contact, t=states.t)
        shape = x.shape[:-1]
        pair = np.stack([np.broadcast_to(at.A(self.sign), shape), np.broadcast_to(at.b, shape)], axis=-1)
        return np.where(np.broadcast_to(states.reached, shape)[..., None], pair, np.nan)


@checks_arguments
def genot_brogliato_points(
    dynamics: Dynamics,
    *,
    over: Sequence[Axis | str],
    pins: Mapping[str, Any] | None = None,
    contact: str | None = None,
    parameters: Values | None = None,
    branch: Mapping[str, Any] | None = None,
) -> tuple[GenotBrogliatoPoint, ...]:
    """Find the Genot-Brogliato points of a planar contact in a plane of states.

    Parameters
    ----------
    dynamics : Dynamics
    over : sequence of two Axis or str
        Usually a position and a velocity pin, as ``theta`` and ``theta_dot``.
    pins : mapping of str to float or str, optional
        The other pins. The sign of the contact's slip selects the sliding mode; without slip both are searched.
    contact : str, optional
        Needed when several contacts have friction. The others count as open.
    parameters : mapping of str to float or str, optional
    branch : mapping of str to float or str, optional
        Where several postures satisfy the pins: a posture on the branch that is meant, by values of the swept
        quantities and of the unknown coordinates, as for :func:`hybrid.region_map`.

    Returns
    -------
    tuple of GenotBrogliatoPoint
        Sorted by the first, then by the second swept quantity.

    Raises
    ------
    StateError
        Bad axes or pins, the contact is not a planar one with friction, or all over the plane no state is reached, or a
        friction element at rest pushes the contact along its normal.
    BilateralContactError
        The dry friction of a bilateral constraint pushes the contact along its normal.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> from hybrid.analysis import Axis, genot_brogliato_points
    >>> rod = derive(mechanisms.load("painleve_rod"))
    >>> plane = [Axis("theta", 0, 1), Axis("theta_dot", 0, 2)]
    >>> (point,) = genot_brogliato_points(rod, over=plane, pins={"slip.tip": 1}, parameters={"mu": 1.6})
    >>> round(point.at["theta_dot"], 6), point.force.name
    (1.169079, 'UNBOUNDED')
    """
    dynamics = bound(dynamics, parameters, swept=names_of(over))
    contact = only_contact(dynamics, contact)
    if dynamics.dimension(contact) != 1:
        raise StateError(f"contact {contact!r} is spatial: Genot-Brogliato points are those of a planar contact")
    over = axes_of(dynamics, over)
    if len(over) != 2:
        raise StateError(f"give two quantities to sweep, as theta=0:pi/2 and theta_dot=0:3; got {len(over)}")
    sweep = plane_of(dynamics, over, pins=pins, fixed=parameters, branch=branch)
    found: list[tuple[tuple[float, ...], GenotBrogliatoPoint]] = []
    for sign, mode in ((1.0, ContactMode.SLIDE_PLUS), (-1.0, ContactMode.SLIDE_MINUS)):
        plane = _Plane(sweep, contact, sign)
        for x in _common_zeros(plane, over):
            point = _point(plane, x, mode)
            if point is not None:
                places = ((value - axis.low) / (_SAME * axis.width) for value, axis in zip(x, over, strict=True))
                found.append((tuple(round(place) for place in places), point))
    return tuple(point for _, point in sorted(found, key=lambda pair: pair[0]))


def _common_zeros(f: Callable[[Array], Array], axes: Sequence[Axis]) -> Array:
    """Points (k, 2) of the plane at which both components of ``f`` vanish."""
    line = np.linspace(0.0, 1.0, _SCAN_CELLS + 1)
    nodes = np.stack(np.broadcast_arrays(axes[0].at(line)[:, None], axes[1].at(line)[None, :]), axis=-1)
    values = f(nodes)
    if not np.isfinite(values).any(axis=(0, 1)).all():
        raise StateError(
            "A and b have a value at no state of the plane: none can be reached, or a friction element at rest pushes "
            "the contact along its normal"
        )
    corners = np.stack([values[i : _SCAN_CELLS + i, j : _SCAN_CELLS + j] for i in (0, 1) for j in (0, 1)])
    with np.errstate(invalid="ignore"):
        changes = (np.min(corners, axis=0) <= 0) & (np.max(corners, axis=0) >= 0)
    cells = np.argwhere(changes.all(axis=-1))
    width = np.array([axis.width for axis in axes])
    low = np.array([axis.low for axis in axes])
    x, residual = _newton(f, low + width * (cells + 0.5) / _SCAN_CELLS, width)
    scale = np.nanmax(np.abs(values), axis=(0, 1))
    inside = ((x >= low - ROUNDING * width) & (x <= low + width * (1 + ROUNDING))).all(axis=-1)
    x = x[inside & (np.abs(residual) <= RESOLVED * scale).all(axis=-1)]
    distinct: list[Array] = []
    while x.size:
        distinct.append(x[0])
        x = x[(np.abs(x - x[0]) > _SAME * width).any(axis=-1)]
    return np.array(distinct).reshape(-1, 2)


def _newton(f: Callable[[Array], Array], x: Array, width: Array) -> tuple[Array, Array]:
    """Newton's method from points (k, 2) with differences; steps are kept to a fiftieth of the plane."""
    h = CENTRAL_STEP * width
    for _ in range(_MAX_NEWTON_STEPS):
        if not x.size:
            break
        stencil = x[:, None] + h * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
        value = f(stencil)
        jacobian = np.stack([value[:, 1] - value[:, 2], value[:, 3] - value[:, 4]], axis=-1) / 2
        determinant = np.linalg.det(jacobian)
        solvable = np.isfinite(determinant) & (determinant != 0)
        jacobian = np.where(solvable[:, None, None], jacobian, np.eye(2))
        step = np.linalg.solve(jacobian, np.where(solvable[:, None], value[:, 0], 0.0)[..., None])[..., 0] * h
        step *= np.minimum(1.0, 0.02 / np.maximum(np.max(np.abs(step / width), axis=-1, keepdims=True), LEAST))
        x = x - step
        if np.all(np.abs(step) <= LAST_PLACE * width):
            break
    return x, f(x)


def _point(plane: _Plane, x: Array, mode: ContactMode) -> GenotBrogliatoPoint | None:
    states, dynamics = plane.sweep.states(*x)
    state = State(states.q, states.v, float(states.t), states.sides)
    slip = _slip_sign(plane, dynamics, state)
    if slip == -plane.sign:
        return None
    flow = _linear_flow(plane, dynamics, state)
    ordered = _eigenvalues(flow)
    rates = np.array(ordered)
    is_real = bool(np.all(np.abs(rates.imag) <= ROUNDING * np.abs(rates)))
    is_node = is_real and bool(np.prod(rates.real) > 0)
    force, exponent, limit = ForceAtPoint.NOT_APPROACHED, float("nan"), float("nan")
    if is_node and rates[0].real < 0:
        exponent = float(rates[1].real / rates[0].real - 1)
        force = ForceAtPoint.BOUNDED if exponent > 0 else ForceAtPoint.UNBOUNDED
        with np.errstate(divide="ignore"):
            limit = float(-flow[1, 0] / np.subtract(rates[0].real, flow[1, 1]))
    at = {axis.name: float(value) for axis, value in zip(plane.sweep.axes, x, strict=True)}
    return GenotBrogliatoPoint(at, state, mode, flow, ordered, is_node, force, exponent, limit)


def _slip_sign(plane: _Plane, dynamics: Dynamics, state: State) -> float:
    """Sign of the slip, or of the side from which it vanishes; 0 at rest."""
    if plane.contact in state.sides:
        return float(np.sign(state.sides[plane.contact][0]))
    terms = dynamics.terms(state.q, state.v, t=state.t)
    scales = scales_of(dynamics, terms, state.q, state.v, t=state.t)
    columns = dynamics.columns[plane.contact]
    slip = terms.slip[columns]
    return float(np.sign(slip[0])) if moves(slip, scales.slip[columns], Tolerances()) else 0.0


def _linear_flow(plane: _Plane, dynamics: Dynamics, state: State) -> Array:
    def pair(q: Array, v: Array, t: Array) -> Array:
        at = contact_response(dynamics, q, v, contact=plane.contact, t=t)
        return np.stack(np.broadcast_arrays(at.A(plane.sign), at.b), axis=-1)

    here = contact_response(dynamics, state.q, state.v, contact=plane.contact, t=state.t)
    r = here.normal - plane.sign * here.friction * here.tangential[..., 0]
    step = np.multiply.outer(_STEPS, _OFFSETS)[..., None]
    forward = pair(state.q + step * state.v, state.v + step * here.a_free, state.t + step[..., 0])
    across = pair(np.broadcast_to(state.q, (*step.shape[:2], len(r))), state.v + step * r, np.asarray(state.t))
    return np.stack([_slope(forward), -_slope(across)], axis=-1)


def _slope(values: Array) -> Array:
    """Derivatives (2,) from values (steps, offsets, 2): the step from which the next smaller one differs least."""
    slopes = np.einsum("soc,o->sc", values, _WEIGHTS) / _STEPS[:, None]
    change = np.abs(np.diff(slopes, axis=0))
    best = np.argmin(np.where(np.isfinite(change), change, np.inf), axis=0)
    return np.asarray(slopes[best, range(2)])


def _eigenvalues(flow: Array) -> tuple[complex, complex]:
    """First the eigenvalue whose vector leaves A_s = 0 most steeply; both do when friction depends on velocity."""
    if abs(flow[0, 1]) <= ROUNDING * np.max(np.abs(flow)):
        return complex(flow[0, 0]), complex(flow[1, 1])
    values, vectors = np.linalg.eig(flow)
    order = np.argsort(-np.abs(vectors[0]))
    return complex(values[order[0]]), complex(values[order[1]])
