"""A smooth arc by Gauss collocation, with its exact discrete derivative and adjoint.

Gauss methods conserve the bilinear form between tangents and adjoints (Sanz-Serna 2016, SIAM Review 58, section 3), so
the adjoint of the discrete motion is the discrete adjoint: both give the same gradient up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

import attrs
import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from hybrid.errors import ComputationError

if TYPE_CHECKING:
    from hybrid.analysis.mode_system import ModeSystem, Response

__all__ = ["Leg", "Measure", "integrate_leg", "interpolation", "pull_back", "push_forward"]

Array = NDArray[np.float64]
Sampler = Callable[[Array], Array]
Surface = Callable[[float, Array], tuple[float, float]]

_STAGES = 6  # order 12: steps of an integrator of order 8 with error 1e-12 leave about 1e-18
_ITERATIONS = 12
_CONVERGED = 1e-13  # of the size of the states; Newton's method is quadratic, so the Jacobians are exact to rounding
_ACCEPTED = 1e-6  # where rounding stops the iteration earlier, as in a hop so low that its gap is hardly resolved
_TAIL = 1e-6  # of the last Legendre coefficient of the flow; the error at the end of a step is about its square
_REFINEMENTS = 24


def _gauss_tables() -> tuple[Array, Array, Array, Array]:
    """Nodes, matrix and weights of the method, and the map from values at the nodes to Legendre coefficients."""
    x, w = legendre.leggauss(_STAGES)
    values = legendre.legvander(x, _STAGES - 1)
    to_series = np.linalg.inv(values)
    integrals = np.stack([legendre.legval(x, legendre.legint(row, lbnd=-1)) for row in np.eye(_STAGES)], axis=1)
    return (x + 1) / 2, integrals @ to_series / 2, w / 2, np.asarray(to_series, dtype=np.float64)


_C, _A, _B, _TO_SERIES = _gauss_tables()
_AA, _BA = _A @ _A, _B @ _A  # of positions, which are integrals of velocities


class Measure(Protocol):
    """A function that is to be integrated along legs."""

    def values(self, at: Response) -> Array:
        """Its values at N stages, (N,)."""

    def kinks(self, t: Array, y: Array) -> Array:
        """Quantities (N, number) at whose zeros it has a kink."""


@attrs.frozen(eq=False)
class Leg:
    """An arc by collocation: S steps of s stages.

    Attributes
    ----------
    system : ModeSystem
    knots : array, (S + 1,)
    states : array, (S + 1, 2n)
        At the knots.
    at : Response
        At all stages, S s of them.
    jacobian : array, (S, s, n, 2n)
        Of the accelerations with respect to the state.
    inverse : array, (S, n s, n s)
        Inverse of the linear systems of the steps for the accelerations at the stages.
    """

    system: ModeSystem
    knots: Array
    states: Array
    at: Response
    jacobian: Array
    inverse: Array

    @property
    def weights(self) -> Array:
        """Weights of the stages in an integral over time, (S, s)."""
        return np.asarray(np.diff(self.knots)[:, None] * _B)

    @property
    def lengths(self) -> Array:
        """Lengths of the steps, (S,)."""
        return np.diff(self.knots)


def integrate_leg(
    system: ModeSystem,
    knots: Array,
    sample: Sampler,
    start: Array,
    *,
    surface: Surface | None = None,
    measure: Measure | None = None,
) -> Leg:
    """Solve an arc by collocation, from values close to it.

    Parameters
    ----------
    system : ModeSystem
    knots : array, (S + 1,)
        Where steps begin; they are halved where the flow is not resolved.
    sample : callable
        Approximate states (N, 2n) at times (N,).
    start : array, (2n,)
    surface : callable, optional
        Value and rate of the guard that ends the arc, at a time and state; the end is moved to its zero.
    measure : Measure, optional
        What is to be integrated: steps resolve it as well, and end at its kinks and those of the equations.

    Returns
    -------
    Leg

    Raises
    ------
    ComputationError
        The iteration does not converge.
    """
    for _ in range(_REFINEMENTS):
        leg = _solved(system, knots, sample, start, surface)
        added = _kink_times(leg, measure)
        if not added.size:
            coarse = _unresolved(leg, measure)
            if not coarse.any():
                return leg
            added = (leg.knots[:-1] + leg.knots[1:])[coarse] / 2
        knots = np.sort(np.concatenate([leg.knots, added]))
        sample = interpolation(leg)
    return leg


def _unresolved(leg: Leg, measure: Measure | None) -> NDArray[np.bool_]:
    S = len(leg.lengths)
    flow = leg.at.f.reshape(S, _STAGES, -1)
    tail = np.abs(_TO_SERIES[-1] @ flow)
    size = np.max(np.abs(leg.at.f), axis=0) + 1e-300
    n = flow.shape[2] // 2
    blocks = np.repeat([np.max(size[:n]), np.max(size[n:])], n)
    coarse = (tail > _TAIL * blocks).any(axis=1)
    if measure is not None:
        values = measure.values(leg.at).reshape(S, _STAGES)
        coarse |= np.abs(values @ _TO_SERIES[-1]) > _TAIL * np.max(np.abs(values), initial=0.0)
    return np.asarray(coarse)


def _kink_times(leg: Leg, measure: Measure | None) -> Array:
    """Times inside steps at which the equations or the measure have a kink."""
    from scipy.optimize import brentq

    partials, parameters = leg.system.partials, leg.system.parameters

    def quantities(t: Array, y: Array) -> Array:
        blocks = [partials.kink_values(t, y, parameters)] if partials.n_kinks else []
        blocks += [] if measure is None else [measure.kinks(t, y)]
        return np.concatenate(blocks, axis=1) if blocks else np.zeros((len(t), 0))

    signs = np.sign(quantities(leg.at.t, leg.at.y)).reshape(len(leg.lengths), _STAGES, -1)
    sample, found = interpolation(leg), []
    for step, stage, column in zip(*np.nonzero(signs[:, 1:] * signs[:, :-1] < 0), strict=True):
        low, high = leg.at.t[step * _STAGES + stage : step * _STAGES + stage + 2]
        along = partial(_quantity, quantities, sample, int(column))
        found.append(float(brentq(along, low, high, xtol=1e-15 * max(abs(high), 1e-300))))
    return np.array(found)


def _quantity(quantities: Callable[[Array, Array], Array], sample: Sampler, column: int, t: float) -> float:
    times = np.array([t])
    return float(quantities(times, sample(times))[0, column])


def interpolation(leg: Leg) -> Sampler:
    """The collocation polynomials of a leg."""
    S = len(leg.lengths)
    flow = leg.at.f.reshape(S, _STAGES, -1)

    def sample(t: Array) -> Array:
        step = np.clip(np.searchsorted(leg.knots, t, side="right") - 1, 0, S - 1)
        x = 2 * (t - leg.knots[step]) / leg.lengths[step] - 1
        integrals = np.stack([legendre.legval(x, legendre.legint(row, lbnd=-1)) for row in np.eye(_STAGES)], axis=1)
        change = np.einsum("ij,ijk->ik", integrals @ _TO_SERIES, flow[step])
        return np.asarray(leg.states[step] + leg.lengths[step][:, None] / 2 * change)

    return sample


def _solved(system: ModeSystem, knots: Array, sample: Sampler, start: Array, surface: Surface | None) -> Leg:
    knots = np.array(knots)
    size = len(start)
    Y = sample((knots[:-1, None] + np.diff(knots)[:, None] * _C).ravel()).reshape(-1, _STAGES, size)
    previous = np.inf
    for _ in range(_ITERATIONS):
        h = np.diff(knots)
        times = knots[:-1, None] + h[:, None] * _C
        leg, updated = _newton_step(system, knots, times, Y, start)
        if not np.isfinite(updated).all():
            raise ComputationError(
                f"the motion has no finite derivative between t = {knots[0]:.9g} and {knots[-1]:.9g}"
            )
        scale = np.maximum(np.max(np.abs(updated), axis=(0, 1)), 1e-300)
        half = size // 2
        scale = np.repeat([np.max(scale[:half]), np.max(scale[half:])], half)
        change = float(np.max(np.abs(updated - Y) / scale))
        Y = updated
        if surface is not None:
            value, rate = surface(float(knots[-1]), leg.states[-1])
            shift = -value / rate if rate else 0.0
            if abs(shift) < h[-1] / 2:
                knots[-1] += shift
                change = max(change, abs(shift) / max(abs(knots[-1]), h[-1]))
        if change <= _CONVERGED or (change <= _ACCEPTED and change >= previous / 2):
            return leg
        previous = change
    raise ComputationError(
        f"collocation does not converge between t = {knots[0]:.9g} and {knots[-1]:.9g}: changes of {change:.3g} remain"
    )


def _newton_step(system: ModeSystem, knots: Array, times: Array, Y: Array, start: Array) -> tuple[Leg, Array]:
    """One step of Newton's method for all stages of all steps."""
    S, s, size = Y.shape
    n = size // 2
    at = system.respond(times.ravel(), Y.reshape(-1, size))
    found = system.partials.state(at.t, at.y, at.forces, system.parameters)
    jacobian = system.unknown_slopes(at, found)[:, :n, :size].reshape(S, s, n, size)
    leg = Leg(system, knots.copy(), np.empty((S + 1, size)), at, jacobian, _inverses(np.diff(knots), jacobian))
    constant = at.f[:, n:].reshape(S, s, n) - np.einsum("ziab,zib->zia", jacobian, Y)
    k_0 = np.einsum("zab,zb->za", leg.inverse, constant.reshape(S, -1))
    k_x = leg.inverse @ _loads(leg)
    leg.states[0] = start
    k = np.empty((S, s, n))
    for step, h in enumerate(leg.lengths):
        x = leg.states[step]
        k[step] = (k_0[step] + k_x[step] @ x).reshape(s, n)
        leg.states[step + 1] = _carried(h, x[:, None], k[step][:, :, None])[:, 0]
    return leg, _stages(leg.lengths, leg.states[:-1, :, None], k[..., None])[..., 0]


def _inverses(h: Array, jacobian: Array) -> Array:
    """Inverses of ``1 - h A (x) a_v - h^2 A^2 (x) a_q``, positions being eliminated."""
    S, s, n, _ = jacobian.shape
    a_q, a_v = jacobian[..., :n], jacobian[..., n:]
    matrix = -np.einsum("z,ij,ziab->ziajb", h, _A, a_v) - np.einsum("z,ij,ziab->ziajb", h**2, _AA, a_q)
    matrix = matrix.reshape(S, s * n, s * n) + np.eye(s * n)
    return np.linalg.inv(matrix) if np.isfinite(matrix).all() else np.full_like(matrix, np.nan)


def _loads(leg: Leg) -> Array:
    """What the state at the start of a step adds to the accelerations at its stages, (S, n s, 2n)."""
    S, s, n, size = leg.jacobian.shape
    a_q, a_v = leg.jacobian[..., :n], leg.jacobian[..., n:]
    later = leg.lengths[:, None, None, None] * _C[:, None, None] * a_q + a_v
    return np.concatenate([a_q, later], axis=-1).reshape(S, s * n, size)


def _carried(h: float, x: Array, k: Array) -> Array:
    """The state (2n, c) at the end of a step from that at its start and the accelerations (s, n, c) at its stages."""
    n = len(x) // 2
    q = x[:n] + h * x[n:] + h**2 * np.einsum("j,jac->ac", _BA, k)
    return np.concatenate([q, x[n:] + h * np.einsum("j,jac->ac", _B, k)])


def _stages(h: Array, x: Array, k: Array) -> Array:
    """States (S, s, 2n, c) at the stages from those at the starts (S, 2n, c) and the accelerations (S, s, n, c)."""
    n = x.shape[1] // 2
    h = h[:, None, None, None]
    q, v = x[:, None, :n], x[:, None, n:]
    later = h * _C[:, None, None] * v + h**2 * np.einsum("ij,zjac->ziac", _AA, k)
    return np.concatenate([q + later, v + h * np.einsum("ij,zjac->ziac", _A, k)], axis=2)


def push_forward(leg: Leg, tangent: Array, forcing: Array) -> tuple[Array, Array]:
    """Carry tangents along a leg.

    Parameters
    ----------
    leg : Leg
    tangent : array, (2n, c)
        At its start.
    forcing : array, (S, s, n, c)
        Derivative of the accelerations with respect to what the columns stand for, at fixed state.

    Returns
    -------
    tangent : array, (2n, c)
        At its end.
    stages : array, (S, s, 2n, c)
        At every stage.
    """
    S, s, n, count = forcing.shape
    starts, k = np.empty((S, 2 * n, count)), np.empty((S, s, n, count))
    particular = leg.inverse @ forcing.reshape(S, s * n, count)
    homogeneous = leg.inverse @ _loads(leg)
    for step, h in enumerate(leg.lengths):
        starts[step] = tangent
        k[step] = (particular[step] + homogeneous[step] @ tangent).reshape(s, n, count)
        tangent = _carried(h, tangent, k[step])
    return tangent, _stages(leg.lengths, starts, k)


def pull_back(leg: Leg, adjoint: Array, source: Array) -> tuple[Array, Array]:
    """Carry an adjoint backwards along a leg: the transpose of :func:`push_forward`.

    Parameters
    ----------
    leg : Leg
    adjoint : array, (2n,)
        At its end.
    source : array, (S, s, 2n)
        Derivative of the integrand with respect to the state, at the stages.

    Returns
    -------
    adjoint : array, (2n,)
        At its start.
    stages : array, (S, s, n)
        What multiplies the forcing of every stage in the gradient.
    """
    S, s, size = source.shape
    n = size // 2
    stages = np.empty((S, s, n))
    weighted = leg.weights[:, :, None] * source
    of_q, of_v = weighted[..., :n], weighted[..., n:]
    loads = _loads(leg)
    for step in reversed(range(S)):
        h = leg.lengths[step]
        load = h**2 * (_AA.T @ of_q[step] + _BA[:, None] * adjoint[:n])
        load += h * (_A.T @ of_v[step] + _B[:, None] * adjoint[n:])
        y = load.ravel() @ leg.inverse[step]
        onto_q, onto_v = of_q[step].sum(axis=0), (of_v[step] + h * _C[:, None] * of_q[step]).sum(axis=0)
        adjoint = np.concatenate([adjoint[:n] + onto_q, adjoint[n:] + h * adjoint[:n] + onto_v]) + y @ loads[step]
        stages[step] = y.reshape(s, n)
    return adjoint, stages
