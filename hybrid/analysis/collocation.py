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
    jacobian : array, (S, s, 2n, 2n)
        Of the flow with respect to the state.
    inverse : array, (S, 2 n s, 2 n s)
        Inverse of the linear systems of the steps.
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
    h = np.diff(knots)
    at = system.respond(times.ravel(), Y.reshape(-1, size))
    found = system.partials.state(at.t, at.y, at.forces, system.parameters)
    slopes = system.flow_slopes(at, system.unknown_slopes(at, found))[:, :, :size]
    jacobian = slopes.reshape(S, s, size, size)
    matrix = -np.einsum("z,ij,ziab->ziajb", h, _A, jacobian).reshape(S, s * size, s * size)
    matrix += np.eye(s * size)
    flow = at.f.reshape(S, s, size)
    if not (np.isfinite(matrix).all() and np.isfinite(flow).all()):
        inverse = np.full_like(matrix, np.nan)
    else:
        inverse = np.linalg.inv(matrix)
    constant = flow - np.einsum("ziab,zib->zia", jacobian, Y)
    K_0 = np.einsum("zab,zb->za", inverse, constant.reshape(S, -1))
    K_x = inverse @ jacobian.reshape(S, s * size, size)
    states = np.empty((S + 1, size))
    states[0] = start
    K = np.empty((S, s, size))
    for step in range(S):
        K[step] = (K_0[step] + K_x[step] @ states[step]).reshape(s, size)
        states[step + 1] = states[step] + h[step] * (_B @ K[step])
    updated = states[:-1, None, :] + h[:, None, None] * np.einsum("ij,zja->zia", _A, K)
    return Leg(system, knots.copy(), states, at, jacobian, inverse), updated


def push_forward(leg: Leg, tangent: Array, forcing: Array) -> tuple[Array, Array]:
    """Carry tangents along a leg.

    Parameters
    ----------
    leg : Leg
    tangent : array, (2n, c)
        At its start.
    forcing : array, (S, s, 2n, c)
        Derivative of the flow with respect to what the columns stand for, at fixed state.

    Returns
    -------
    tangent : array, (2n, c)
        At its end.
    stages : array, (S, s, 2n, c)
        At every stage.
    """
    S, s, size, count = forcing.shape
    stages = np.empty((S, s, size, count))
    particular = leg.inverse @ forcing.reshape(S, s * size, count)
    homogeneous = leg.inverse @ leg.jacobian.reshape(S, s * size, size)
    for step, h in enumerate(leg.lengths):
        k = (particular[step] + homogeneous[step] @ tangent).reshape(s, size, count)
        stages[step] = tangent + h * np.einsum("ij,jac->iac", _A, k)
        tangent = tangent + h * np.einsum("i,iac->ac", _B, k)
    return tangent, stages


def pull_back(leg: Leg, adjoint: Array, source: Array) -> tuple[Array, Array]:
    """Carry an adjoint backwards along a leg.

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
    stages : array, (S, s, 2n)
        What multiplies the forcing of every stage in the gradient.
    """
    S, s, size = source.shape
    stages = np.empty((S, s, size))
    weighted = leg.weights[:, :, None] * source
    for step in reversed(range(S)):
        h = leg.lengths[step]
        load = h * (_B[:, None] * adjoint + np.einsum("ja,ji->ia", weighted[step], _A))
        y = (load.ravel() @ leg.inverse[step]).reshape(s, size)
        adjoint = adjoint + weighted[step].sum(axis=0) + np.einsum("iab,ia->b", leg.jacobian[step], y)
        stages[step] = y
    return adjoint, stages
