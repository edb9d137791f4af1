"""The gradient of a functional by simulating neighbouring motions: slow, approximate, and independent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.interruption import check_uninterrupted
from hybrid.analysis.sensitivities.start_slopes import base_values
from hybrid.declaration.evaluation import evaluate
from hybrid.dynamics.pins import solve_state
from hybrid.dynamics.state import State
from hybrid.errors import HybridError
from hybrid.motion.outcome import EventKind, Termination
from hybrid.motion.simulate import simulate

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.functional import Functional
    from hybrid.declaration.tree import Expression
    from hybrid.motion.trajectory import Arc, Trajectory

__all__ = ["Difference", "functional_value", "richardson_differences"]

Array = NDArray[np.float64]

_FIRST = 2e-3  # of the size of what is changed
_SHRINK = 2.0
_LEVELS = 7
_ENOUGH = 1e-10  # of a derivative: the simulations themselves are hardly better
_ASTRAY = 0.1  # of the coordinates: a small change of a pin does not move a start so far
_NODES = 10
_HALVINGS = 30
_ENOUGH_OF_STEP = 1e-4  # of what is enough for a derivative, the quadrature of a step; a difference takes a few digits


@attrs.frozen
class Difference:
    """A derivative by extrapolated central differences.

    Attributes
    ----------
    value : float
        NaN where the neighbouring motions pass through other events however close they are.
    error : float
        Estimated from the extrapolation.
    """

    value: float
    error: float


def functional_value(trajectory: Trajectory, functional: Functional) -> float:
    """The functional of a recorded motion, by quadrature over its steps.

    Parameters
    ----------
    trajectory : Trajectory
    functional : Functional

    Returns
    -------
    float

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive, simulate
    >>> from hybrid.analysis.sensitivities.functional import Functional
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> fall = simulate(ball, State([10.0], [0.0]), t_end=1)
    >>> round(functional_value(fall, Functional("-y_dot", "y")), 9)
    10.0
    """
    mechanism = trajectory.dynamics.mechanism
    integrand, terminal = (mechanism.expanded(text) for text in (functional.integrand, functional.terminal))
    total = sum(_integral(trajectory, arc, integrand) for arc in trajectory.arcs)
    t = np.array([trajectory.t])
    return total + float(_values(trajectory, terminal, t, trajectory.q[None], trajectory.v[None])[0])


def _integral(trajectory: Trajectory, arc: Arc, integrand: Expression) -> float:
    """Quadrature over an arc: its steps are halved where halves give another integral, as at a kink or a peak."""
    nodes, weights = legendre.leggauss(_NODES)

    def over(starts: Array, lengths: Array) -> Array:
        times = starts[:, None] + lengths[:, None] * (nodes + 1) / 2
        return np.asarray(lengths / 2 * (_values(trajectory, integrand, times, *arc.sample(times)) @ weights))

    starts, lengths = arc.knots[:-1], np.diff(arc.knots)
    whole = over(starts, lengths)
    total, size = 0.0, float(np.sum(np.abs(whole)))
    for _ in range(_HALVINGS):
        starts, lengths = np.concatenate([starts, starts + lengths / 2]), np.tile(lengths / 2, 2)
        halves = over(starts, lengths)
        apart = np.tile(np.abs(halves.reshape(2, -1).sum(axis=0) - whole) > _ENOUGH * _ENOUGH_OF_STEP * size, 2)
        total += float(np.sum(halves[~apart]))
        starts, lengths, whole = starts[apart], lengths[apart], halves[apart]
        if not len(starts):
            break
    return total + float(np.sum(whole))


def _values(trajectory: Trajectory, expression: Expression, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    mechanism = trajectory.dynamics.mechanism
    names = (*mechanism.coordinates, *mechanism.velocities)
    columns = np.moveaxis(np.concatenate([q, v], axis=-1), -1, 0)
    values = {**mechanism.parameter_values(trajectory.parameters), **dict(zip(names, columns, strict=True)), "t": t}
    return np.broadcast_to(evaluate(expression, values), t.shape)


def richardson_differences(
    trajectory: Trajectory,
    functional: Functional,
    names: Sequence[str],
    *,
    pins: Mapping[str, str | float] | None = None,
) -> dict[str, Difference]:
    """Differentiate a functional by extrapolated central differences of whole simulations (Ridders 1982).

    Parameters
    ----------
    trajectory : Trajectory
    functional : Functional
    names : sequence of str
        As for :func:`hybrid.analysis.sensitivities.gradient.sensitivity`.
    pins : mapping, optional

    Returns
    -------
    dict of str to Difference
    """
    base = base_values(trajectory, names, pins=pins)
    pattern = _pattern(trajectory)
    found = {}
    for name in names:

        def value(change: float, name: str = name) -> float:
            motion = _neighbour(trajectory, {**base, name: base[name] + change}, pins)
            if motion is None or _pattern(motion) != pattern:
                return float("nan")
            return functional_value(motion, functional)

        found[name] = _extrapolated(value, _FIRST * max(abs(base[name]), 0.1))
    return found


def _extrapolated(value: Callable[[float], float], h: float) -> Difference:
    best = Difference(float("nan"), float("inf"))
    previous: list[float] = []
    for _ in range(_LEVELS):
        row = [(value(h) - value(-h)) / (2 * h)]
        factor = 1.0
        for earlier in previous:
            factor *= _SHRINK**2
            row.append((factor * row[-1] - earlier) / (factor - 1))
            error = max(abs(row[-1] - row[-2]), abs(row[-1] - earlier))
            if error <= best.error:
                best = Difference(row[-1], error)
        if len(previous) > 1 and abs(row[-1] - previous[-1]) > 4 * best.error:
            break  # rounding has taken over
        if best.error <= _ENOUGH * abs(best.value):
            break
        previous = row if np.isfinite(row[0]) else []
        h /= _SHRINK
    return best


def _pattern(trajectory: Trajectory) -> list[tuple[EventKind, tuple[str, ...]]]:
    kinds: list[tuple[EventKind, tuple[str, ...]]] = [
        (event.kind, event.carriers) for event in trajectory.events if event.kind is not EventKind.WATCH
    ]
    if not any(kind is EventKind.ACCUMULATION for kind, _ in kinds):
        return kinds
    return list(dict.fromkeys(kinds))  # the number of impacts before a limit is a matter of rounding


def _neighbour(
    trajectory: Trajectory, values: Mapping[str, float], pins: Mapping[str, str | float] | None
) -> Trajectory | None:
    """The motion with other values; None where there is none."""
    dynamics = trajectory.dynamics
    mechanism = dynamics.mechanism
    parameters = {**trajectory.parameters, **{n: x for n, x in values.items() if n in mechanism.parameters}}
    own = {name: x for name, x in values.items() if name not in mechanism.parameters}
    is_until = trajectory.termination is Termination.UNTIL
    until = trajectory.events[-1].carriers[-1] if is_until else None
    t_end = trajectory.t + (trajectory.t - trajectory.t_start if is_until else 0.0)
    try:
        if pins is not None:
            state = solve_state(dynamics, {**pins, **own}, parameters=parameters)
            if np.max(np.abs(state.q - trajectory.q_start)) > _ASTRAY * (1 + np.max(np.abs(trajectory.q_start))):
                return None  # another position with the same pins
        else:
            names = (*mechanism.coordinates, *mechanism.velocities)
            start = dict(zip(names, (*trajectory.q_start, *trajectory.v_start), strict=True)) | own
            y = [start[name] for name in names]
            state = State(y[: dynamics.n], y[dynamics.n :], trajectory.t_start)
        motion = simulate(dynamics, state, t_end=t_end, parameters=parameters, law=trajectory.law, until=until)
        check_uninterrupted(motion)
    except HybridError:
        return None
    return motion if motion.termination is trajectory.termination else None
