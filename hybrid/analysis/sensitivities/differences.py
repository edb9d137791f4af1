"""The gradient of a functional by simulating neighbouring motions, and how it compares with the exact ones."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.start_slopes import base_values
from hybrid.declaration.tree import evaluate
from hybrid.dynamics.pins import solve_state
from hybrid.dynamics.state import State
from hybrid.errors import HybridError
from hybrid.motion.recorded import EventKind, Termination
from hybrid.motion.simulate import simulate
from hybrid.tolerances import CLEAR, LONG_STEP, NEARLY, RESOLVED, UNSEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hybrid.analysis.sensitivities.passes import Functional
    from hybrid.declaration.tree import Expression
    from hybrid.motion.recorded import Arc
    from hybrid.motion.trajectory import Trajectory

__all__ = ["Difference", "SensitivityCheck", "functional_value", "richardson_differences"]

Array = NDArray[np.float64]

_FIRST = LONG_STEP  # of the size of what is changed
_SHRINK = 2.0
_LEVELS = 7
_ENOUGH = RESOLVED  # of a derivative: the simulations themselves are hardly better
_ASTRAY = 0.1  # of the coordinates: a small change of a pin does not move a start so far
_NODES = 11
_HALVINGS = 30
_INSET = 2.0**-_HALVINGS  # of a step, as short as halving makes it: at its very ends an integrand may jump or be 0/0
_ENOUGH_OF_STEP = UNSEEN  # of what is enough for a derivative, the quadrature of a step; a difference takes digits


@attrs.frozen
class Difference:
    """A derivative by extrapolated central differences.

    Attributes
    ----------
    value : float
        NaN where there are no neighbouring motions to either side, or none with the same events, however close.
    error : float
        Estimated from the extrapolation.
    below, above : float
        By differences to one side alone: apart from each other where the functional has a kink.
    reason : str
        Why the value is NaN; else empty.
    """

    value: float
    error: float
    below: float = float("nan")
    above: float = float("nan")
    reason: str = ""

    @property
    def jump(self) -> float:
        """How far the two one-sided derivatives are apart; zero where they are not both known."""
        return abs(self.above - self.below) if np.isfinite(self.above - self.below) else 0.0


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
    >>> from hybrid.analysis.sensitivities.passes import Functional
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
    nodes, weights = _rule()

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


@functools.cache
def _rule() -> tuple[Array, Array]:
    """Lobatto's nodes from -1 to 1, the outer ones moved inside a little, with the weights that belong to them.

    A kink or a jump beyond the outermost node is seen neither by the rule over a step nor by that over its halves: both
    agree on a wrong integral. Gauss' rule leaves 1.3 per cent of a step out at either end.
    """
    from scipy.special import roots_jacobi

    inner, _ = roots_jacobi(_NODES - 2, 1, 1)  # zeros of the derivative of Legendre's polynomial, real by construction
    nodes = np.array([_INSET - 1, *inner, 1 - _INSET])
    integrals = np.zeros(_NODES)  # of Legendre's polynomials, of which only the first has one
    integrals[0] = 2.0
    return nodes, np.asarray(np.linalg.solve(legendre.legvander(nodes, _NODES - 1).T, integrals), dtype=float)


def _values(trajectory: Trajectory, expression: Expression, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    mechanism = trajectory.dynamics.mechanism
    names = (*mechanism.coordinates, *mechanism.velocities)
    columns = np.moveaxis(np.concatenate([q, v], axis=-1), -1, 0)
    values = {**trajectory.dynamics.values, **dict(zip(names, columns, strict=True)), "t": t}
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
        reasons: list[str] = []

        def value(change: float, name: str = name, reasons: list[str] = reasons) -> float:
            motion = _neighbour(trajectory, {**base, name: base[name] + change}, pins)
            if not isinstance(motion, str) and _pattern(motion) != pattern:
                motion = "passes through other events"
            if isinstance(motion, str):
                reasons.append(f"the motion with {name} = {base[name] + change:.10g} {motion}")
                return float("nan")
            return functional_value(motion, functional)

        middle = functional_value(trajectory, functional)
        difference = _extrapolated(value, middle, _FIRST * max(abs(base[name]), 0.1))
        found[name] = difference if np.isfinite(difference.value) else attrs.evolve(difference, reason=reasons[-1])
    return found


def _extrapolated(value: Callable[[float], float], middle: float, h: float) -> Difference:
    samples: list[tuple[float, float, float]] = []
    best, error = float("nan"), float("inf")
    for _ in range(_LEVELS):
        samples.append((h, value(-h), value(h)))
        best, error, is_over = _ridders([(up - down) / (2 * h) for h, down, up in samples], _SHRINK**2)
        if is_over or error <= _ENOUGH * abs(best):
            break
        h /= _SHRINK
    below, _, _ = _ridders([(middle - down) / h for h, down, _ in samples], _SHRINK)
    above, _, _ = _ridders([(up - middle) / h for h, _, up in samples], _SHRINK)
    return Difference(best, error, below, above)


def _ridders(quotients: Sequence[float], ratio: float) -> tuple[float, float, bool]:
    """Extrapolate quotients whose leading errors shrink by powers of a ratio.

    Returns
    -------
    float, float, bool
        The value, its error, and whether rounding has taken over.
    """
    best, error = float("nan"), float("inf")
    previous: list[float] = []
    for quotient in quotients:
        row, factor = [quotient], 1.0
        for earlier in previous:
            factor *= ratio
            row.append((factor * row[-1] - earlier) / (factor - 1))
            own = max(abs(row[-1] - row[-2]), abs(row[-1] - earlier))
            if own <= error:
                best, error = row[-1], own
        if len(previous) > 1 and abs(row[-1] - previous[-1]) > 4 * error:
            return best, error, True
        previous = row if np.isfinite(quotient) else []
    return best, error, False


def _pattern(trajectory: Trajectory) -> list[tuple[EventKind, tuple[str, ...]]]:
    kinds: list[tuple[EventKind, tuple[str, ...]]] = [
        (event.kind, event.elements) for event in trajectory.events if event.kind is not EventKind.WATCH
    ]
    if not any(kind is EventKind.ACCUMULATION for kind, _ in kinds):
        return kinds
    return list(dict.fromkeys(kinds))  # the number of impacts before a limit is a matter of rounding


def _neighbour(
    trajectory: Trajectory, values: Mapping[str, float], pins: Mapping[str, str | float] | None
) -> Trajectory | str:
    """The motion with other values, or what is the matter with it."""
    dynamics = trajectory.dynamics
    mechanism = dynamics.mechanism
    changed = {name: x for name, x in values.items() if name in mechanism.parameters}
    own = {name: x for name, x in values.items() if name not in mechanism.parameters}
    is_until = trajectory.termination is Termination.UNTIL
    until = trajectory.events[-1].elements[-1] if is_until else None
    t_end = trajectory.t + (trajectory.t - trajectory.t_start if is_until else 0.0)
    try:
        dynamics = dynamics.at(changed)
        if pins is not None:
            state = solve_state(dynamics, {**pins, **own})
            if np.max(np.abs(state.q - trajectory.q_start)) > _ASTRAY * (1 + np.max(np.abs(trajectory.q_start))):
                return "starts from another position with the same pins"
        else:
            names = (*mechanism.coordinates, *mechanism.velocities)
            start = dict(zip(names, (*trajectory.q_start, *trajectory.v_start), strict=True)) | own
            y = [start[name] for name in names]
            state = State(y[: dynamics.n], y[dynamics.n :], trajectory.t_start)
        motion = simulate(dynamics, state, t_end=t_end, law=trajectory.law, until=until)
    except HybridError as error:
        return f"does not exist: {error}"
    return motion if motion.termination is trajectory.termination else f"ends otherwise: {motion.cause}"


_DEVIATES = CLEAR  # of the largest derivative: well above what extrapolated differences of a simulation miss
_TIMES = 10.0  # their own estimate of their error
_BENT = NEARLY  # of the largest derivative: differences to one side extrapolate to fewer digits


@attrs.frozen(eq=False)
class SensitivityCheck:
    """The same gradient by every method.

    Attributes
    ----------
    adjoint, forward : mapping of str to float
    differences : mapping of str to Difference
        Richardson's extrapolation of simulated motions, each with its own error.
    """

    adjoint: Mapping[str, float]
    forward: Mapping[str, float]
    differences: Mapping[str, Difference]

    @property
    def disagreement(self) -> float:
        """Largest difference between adjoint and forward, relative to the largest derivative.

        Both follow one and the same replay of the motion: what they cannot see, differences do.
        """
        apart = [abs(self.adjoint[name] - self.forward[name]) for name in self.forward]
        return float(np.max(apart, initial=0.0)) / self._size  # NaN if one is: that agrees with nothing

    @property
    def deviation(self) -> float:
        """Largest difference between these and the differences that there are, relative to the largest derivative."""
        known = {name: item.value for name, item in self.differences.items() if np.isfinite(item.value)}
        apart = [abs(value - self.forward[name]) for name, value in known.items()]
        return float(np.max(apart)) / self._size if apart else float("nan")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What differences say against the gradient, or why they say nothing."""
        found = []
        for name, item in self.differences.items():
            slope = self.forward[name]
            if not np.isfinite(item.value):
                known = [side for side in (item.below, item.above) if np.isfinite(side)]
                alone = f"give {known[0]:.6g} to one side alone" if known else "tell nothing"
                found.append(f"differences with respect to {name} {alone}: {item.reason}")
            elif not abs(item.value - slope) <= max(_DEVIATES * self._size, _TIMES * item.error):
                found.append(
                    f"differences with respect to {name} give {item.value:.9g} with an error of {item.error:.2g}, "
                    f"not {slope:.9g}"
                )
            elif item.jump > _BENT * self._size:
                found.append(
                    f"differences with respect to {name} give {item.below:.6g} to one side and {item.above:.6g} to the "
                    f"other"
                )
        return tuple(found)

    @property
    def _size(self) -> float:
        return float(np.max(np.abs(list(self.forward.values())), initial=0.0)) or 1.0
