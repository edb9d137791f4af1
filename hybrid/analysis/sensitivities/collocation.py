"""A smooth arc of a recorded motion by Gauss collocation: followed once more, to rounding."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.gauss import (
    NODES,
    STAGES,
    TO_SERIES,
    Segment,
    carried,
    interpolation,
    stage_states,
    start_loads,
    step_inverses,
)
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.analysis.sensitivities.smoothness import SLOW, instants, sizes_of, vanishing
from hybrid.errors import ComputationError
from hybrid.tolerances import CANCELLED, CLEAR, LAST_PLACE, LEAST, ROUNDING, SQUARED

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.mode_system import ModeSystem, Response
    from hybrid.dynamics.switches import Switches

__all__ = ["ErrorMeasure", "integrate_segment"]

Array = NDArray[np.float64]
Sampler = Callable[[Array], Array]
Surface = Callable[[float, Array], tuple[float, float]]

_ITERATIONS = 12
_CONVERGED = CANCELLED  # of the size of the states; Newton's method is quadratic: Jacobians are exact to rounding
_ACCEPTED = CLEAR  # where rounding stops the iteration earlier, as in a bounce so low that its gap is hardly resolved
_TAIL = SQUARED  # of the last Legendre coefficient of the flow; the error at the end of a step is about its square
_REFINEMENTS = 24
_ONE_KNOT = ROUNDING  # of the times of an arc: what the iteration leaves of a kink that a knot marks already
_MOST_STEPS = 4096  # of one arc: an integrand that is not resolved then has no smooth scale


class ErrorMeasure(Protocol):
    """A function that is to be integrated along segments."""

    @property
    def size(self) -> float:
        """Its greatest value along the whole motion."""

    def values(self, at: Response) -> Array:
        """Its values at N stages, (N,)."""

    @property
    def switches(self) -> Switches:
        """Quantities at whose zeros it has a kink."""


def integrate_segment(
    system: ModeSystem,
    knots: Array,
    sample: Sampler,
    start: Array,
    *,
    surface: Surface | None = None,
    measure: ErrorMeasure | None = None,
) -> Segment:
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
    measure : ErrorMeasure, optional
        What is to be integrated: steps resolve it as well, and end at its kinks and those of the equations.

    Returns
    -------
    Segment

    Raises
    ------
    ComputationError
        The iteration does not converge.
    NoDerivative
        The measure has no finite value somewhere.
    """
    for _ in range(_REFINEMENTS):
        segment = _solved(system, knots, sample, start, surface)
        added = _kink_times(segment, measure)
        if not added.size:
            coarse = _unresolved(segment, measure)
            if not coarse.any() or len(coarse) > _MOST_STEPS:
                return segment
            added = (segment.knots[:-1] + segment.knots[1:])[coarse] / 2
        knots = np.sort(np.concatenate([segment.knots, added]))
        sample = interpolation(segment)
    return segment


def _unresolved(segment: Segment, measure: ErrorMeasure | None) -> NDArray[np.bool_]:
    S = len(segment.lengths)
    flow = segment.at.f.reshape(S, STAGES, -1)
    tail = np.abs(TO_SERIES[-1] @ flow)
    n = flow.shape[2] // 2
    duration = float(segment.knots[-1] - segment.knots[0])
    speeds = sizes_of(np.max(np.abs(segment.states), axis=0), duration)[n:]
    accelerations = np.full(n, max(float(np.max(np.abs(flow[..., n:]))), SLOW * float(speeds[0]) / duration))
    coarse = (tail > _TAIL * np.concatenate([speeds, accelerations])).any(axis=1)
    if measure is not None:
        values = measure.values(segment.at)
        if not np.isfinite(values).all():
            raise NoDerivative("the integrand has no finite value", float(segment.at.t[np.argmin(np.isfinite(values))]))
        values = values.reshape(S, STAGES)
        size = max(float(np.max(np.abs(values), initial=0.0)), SLOW * measure.size)
        coarse |= np.abs(values @ TO_SERIES[-1]) > _TAIL * size
    return np.asarray(coarse)


def _kink_times(segment: Segment, measure: ErrorMeasure | None) -> Array:
    """Times at which the equations or the measure have a kink, those of knots left out."""
    sources = [segment.system.partials.switches, *([] if measure is None else [measure.switches])]
    found = np.array([time for switches in sources for time in _crossings(segment, switches)])
    distances = np.abs(found[:, None] - segment.knots).min(axis=1, initial=np.inf)
    return np.asarray(found[distances > _ONE_KNOT * np.max(np.abs(segment.knots))])


def _crossings(segment: Segment, switches: Switches) -> list[float]:
    """Times at which quantities of kinks change sign; where one is zero up to rounding, its sign is none."""
    from scipy.optimize import brentq

    if len(switches.texts) == switches.n_jumps:
        return []
    t, y = instants(segment)
    values = switches.values(t, y, segment.system.parameters)
    zero = vanishing(switches, segment, t, y, float(segment.knots[-1] - segment.knots[0]))
    sample, found = interpolation(segment), []
    for column in range(switches.n_jumps, len(switches.texts)):
        known = np.flatnonzero(~zero[:, column])
        signs = np.sign(values[known, column])
        along = partial(_quantity, switches, segment, sample, column)
        for place in np.flatnonzero(signs[1:] * signs[:-1] < 0):
            low, high = (float(time) for time in t[known[place : place + 2]])
            # The polynomials differ from the stages by what the iteration leaves: a sign that this turns is none.
            if along(low) * along(high) < 0:
                found.append(float(brentq(along, low, high, xtol=LAST_PLACE * max(abs(high), LEAST))))
    return found


def _quantity(switches: Switches, segment: Segment, sample: Sampler, column: int, t: float) -> float:
    times = np.array([t])
    return float(switches.values(times, sample(times), segment.system.parameters)[0, column])


def _solved(system: ModeSystem, knots: Array, sample: Sampler, start: Array, surface: Surface | None) -> Segment:
    knots = np.array(knots)
    size = len(start)
    Y = sample((knots[:-1, None] + np.diff(knots)[:, None] * NODES).ravel()).reshape(-1, STAGES, size)
    previous = np.inf
    for _ in range(_ITERATIONS):
        h = np.diff(knots)
        times = knots[:-1, None] + h[:, None] * NODES
        segment, updated = _newton_step(system, knots, times, Y, start)
        if not np.isfinite(updated).all():
            raise ComputationError(
                f"the motion has no finite derivative between t = {knots[0]:.9g} and {knots[-1]:.9g}"
            )
        scale = sizes_of(np.max(np.abs(updated), axis=(0, 1)), float(knots[-1] - knots[0]))
        change = float(np.max(np.abs(updated - Y) / scale))
        Y = updated
        if surface is not None:
            value, rate = surface(float(knots[-1]), segment.states[-1])
            shift = -value / rate if rate else 0.0
            if abs(shift) < h[-1] / 2:
                knots[-1] += shift
                change = max(change, abs(shift) / max(abs(knots[-1]), h[-1]))
        if change <= _CONVERGED or (change <= _ACCEPTED and change >= previous / 2):
            return segment
        previous = change
    raise ComputationError(
        f"collocation does not converge between t = {knots[0]:.9g} and {knots[-1]:.9g}: changes of {change:.3g} remain"
    )


def _newton_step(system: ModeSystem, knots: Array, times: Array, Y: Array, start: Array) -> tuple[Segment, Array]:
    """One step of Newton's method for all stages of all steps."""
    S, s, size = Y.shape
    n = size // 2
    at = system.respond(times.ravel(), Y.reshape(-1, size))
    found = system.partials.state(at.t, at.y, at.forces, system.parameters)
    jacobian = system.unknown_slopes(at, found)[:, :n, :size].reshape(S, s, n, size)
    segment = Segment(
        system, knots.copy(), np.empty((S + 1, size)), at, jacobian, step_inverses(np.diff(knots), jacobian)
    )
    constant = at.f[:, n:].reshape(S, s, n) - np.einsum("ziab,zib->zia", jacobian, Y)
    k_0 = np.einsum("zab,zb->za", segment.inverse, constant.reshape(S, -1))
    k_x = segment.inverse @ start_loads(segment)
    segment.states[0] = start
    k = np.empty((S, s, n))
    for step, h in enumerate(segment.lengths):
        x = segment.states[step]
        k[step] = (k_0[step] + k_x[step] @ x).reshape(s, n)
        segment.states[step + 1] = carried(h, x[:, None], k[step][:, :, None])[:, 0]
    return segment, stage_states(segment.lengths, segment.states[:-1, :, None], k[..., None])[..., 0]
