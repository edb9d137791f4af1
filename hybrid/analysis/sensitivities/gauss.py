"""Gauss's collocation method: its steps, and what carries tangents forwards and adjoints backwards along them.

Gauss methods conserve the bilinear form between tangents and adjoints (Sanz-Serna 2016, SIAM Review 58, section 3), so
the adjoint of the discrete motion is the discrete adjoint: both give the same gradient up to rounding.

Zeros of switches along an arc: when, and whether expressions jump there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from hybrid.dynamics.crossing import crossing
from hybrid.tolerances import CLEAR, LAST_PLACE, LEAST, NEARLY, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hybrid.analysis.sensitivities.mode_system import ModeSystem, Response
    from hybrid.dynamics.partials import Switches

__all__ = [
    "NODES",
    "SLOW",
    "STAGES",
    "TO_SERIES",
    "Segment",
    "carried",
    "interpolation",
    "is_crossed",
    "pull_back",
    "push_forward",
    "sign_changes",
    "sizes_of",
    "stage_states",
    "start_loads",
    "step_inverses",
    "vanishing",
    "zero_between",
]

Array = NDArray[np.float64]

STAGES = 6  # order 12: steps of an integrator of order 8 with error 1e-12 leave about 1e-18
_INTEGRALS = legendre.legint(np.eye(STAGES), lbnd=-1)  # from -1, of each Legendre polynomial: series in columns


def _gauss_tables() -> tuple[Array, Array, Array, Array]:
    """Nodes, matrix and weights of the method, and the map from values at the nodes to Legendre coefficients."""
    x, w = legendre.leggauss(STAGES)
    values = legendre.legvander(x, STAGES - 1)
    to_series = np.linalg.inv(values)
    integrals = legendre.legval(x, _INTEGRALS).T
    return (x + 1) / 2, integrals @ to_series / 2, w / 2, np.asarray(to_series, dtype=np.float64)


NODES, _A, _B, TO_SERIES = _gauss_tables()
_AA, _BA = _A @ _A, _B @ _A  # of positions, which are integrals of velocities


@attrs.frozen(eq=False)
class Segment:
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

    @property
    def instants(self) -> tuple[Array, Array]:
        """Times (S s + 2,) and states (S s + 2, 2n) at its start, at its stages and at its end."""
        return (
            np.concatenate([self.knots[:1], self.at.t, self.knots[-1:]]),
            np.concatenate([self.states[:1], self.at.y, self.states[-1:]]),
        )


def interpolation(segment: Segment) -> Callable[[Array], Array]:
    """The collocation polynomials of a segment as a function of time.

    Parameters
    ----------
    segment : Segment

    Returns
    -------
    callable
        From times (N,) to states (N, 2n).
    """
    S = len(segment.lengths)
    flow = segment.at.f.reshape(S, STAGES, -1)

    def sample(t: Array) -> Array:
        step = np.clip(np.searchsorted(segment.knots, t, side="right") - 1, 0, S - 1)
        x = 2 * (t - segment.knots[step]) / segment.lengths[step] - 1
        change = np.einsum("ji,ijk->ik", legendre.legval(x, _INTEGRALS @ TO_SERIES), flow[step])
        return np.asarray(segment.states[step] + segment.lengths[step][:, None] / 2 * change)

    return sample


def step_inverses(h: Array, jacobian: Array) -> Array:
    """Inverses of ``1 - h A (x) a_v - h^2 A^2 (x) a_q``, positions being eliminated.

    ``A`` is the matrix of Gauss's method (Hairer and Wanner 1996, section IV.5).

    Parameters
    ----------
    h : array, (S,)
        Lengths of the steps.
    jacobian : array, (S, s, n, 2n)
        ``(a_q, a_v)`` of the accelerations at the stages.

    Returns
    -------
    array, (S, n s, n s)
        NaN in all steps if an entry of the matrices is not finite.
    """
    S, s, n, _ = jacobian.shape
    a_q, a_v = jacobian[..., :n], jacobian[..., n:]
    matrix = -np.einsum("z,ij,ziab->ziajb", h, _A, a_v) - np.einsum("z,ij,ziab->ziajb", h**2, _AA, a_q)
    matrix = matrix.reshape(S, s * n, s * n) + np.eye(s * n)
    return np.linalg.inv(matrix) if np.isfinite(matrix).all() else np.full_like(matrix, np.nan)


def start_loads(segment: Segment) -> Array:
    """What the state at the start of a step adds to the accelerations at its stages.

    Parameters
    ----------
    segment : Segment

    Returns
    -------
    array, (S, n s, 2n)
        Derivatives with respect to that state.
    """
    S, s, n, size = segment.jacobian.shape
    a_q, a_v = segment.jacobian[..., :n], segment.jacobian[..., n:]
    later = segment.lengths[:, None, None, None] * NODES[:, None, None] * a_q + a_v
    return np.concatenate([a_q, later], axis=-1).reshape(S, s * n, size)


def carried(h: float, x: Array, k: Array) -> Array:
    """The state at the end of a step.

    Parameters
    ----------
    h : float
        Length of the step.
    x : array, (2n, c)
        State at its start; c columns.
    k : array, (s, n, c)
        Accelerations at its stages.

    Returns
    -------
    array, (2n, c)
    """
    n = len(x) // 2
    q = x[:n] + h * x[n:] + h**2 * np.einsum("j,jac->ac", _BA, k)
    return np.concatenate([q, x[n:] + h * np.einsum("j,jac->ac", _B, k)])


def stage_states(h: Array, x: Array, k: Array) -> Array:
    """The states at the stages of all steps.

    Parameters
    ----------
    h : array, (S,)
        Lengths of the steps.
    x : array, (S, 2n, c)
        States at their starts; c columns.
    k : array, (S, s, n, c)
        Accelerations at their stages.

    Returns
    -------
    array, (S, s, 2n, c)
    """
    n = x.shape[1] // 2
    h = h[:, None, None, None]
    q, v = x[:, None, :n], x[:, None, n:]
    later = h * NODES[:, None, None] * v + h**2 * np.einsum("ij,zjac->ziac", _AA, k)
    return np.concatenate([q + later, v + h * np.einsum("ij,zjac->ziac", _A, k)], axis=2)


def push_forward(segment: Segment, tangent: Array, forcing: Array) -> tuple[Array, Array]:
    """Carry tangents along a segment.

    Parameters
    ----------
    segment : Segment
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
    particular = segment.inverse @ forcing.reshape(S, s * n, count)
    homogeneous = segment.inverse @ start_loads(segment)
    for step, h in enumerate(segment.lengths):
        starts[step] = tangent
        k[step] = (particular[step] + homogeneous[step] @ tangent).reshape(s, n, count)
        tangent = carried(h, tangent, k[step])
    return tangent, stage_states(segment.lengths, starts, k)


def pull_back(segment: Segment, adjoint: Array, source: Array) -> tuple[Array, Array]:
    """Carry an adjoint backwards along a segment: the transpose of :func:`push_forward`.

    Parameters
    ----------
    segment : Segment
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
    weighted = segment.weights[:, :, None] * source
    of_q, of_v = weighted[..., :n], weighted[..., n:]
    loads = start_loads(segment)
    for step in reversed(range(S)):
        h = segment.lengths[step]
        load = h**2 * (_AA.T @ of_q[step] + _BA[:, None] * adjoint[:n])
        load += h * (_A.T @ of_v[step] + _B[:, None] * adjoint[n:])
        y = load.ravel() @ segment.inverse[step]
        onto_q, onto_v = of_q[step].sum(axis=0), (of_v[step] + h * NODES[:, None] * of_q[step]).sum(axis=0)
        adjoint = np.concatenate([adjoint[:n] + onto_q, adjoint[n:] + h * adjoint[:n] + onto_v]) + y @ loads[step]
        stages[step] = y.reshape(s, n)
    return adjoint, stages


_ZERO = ROUNDING  # of the terms of a switch: what the rounding of a motion leaves of a zero
SLOW = 1e-3
"""Of the speed that crosses the positions in the duration of a motion: what a body at rest is held to."""
_BESIDE = CLEAR  # of the duration of a segment: beside a zero, where what cancels at it is known to some ten digits
_APART = NEARLY  # of the same: a thousand times as far, where an odd pole is a thousandth of what it is beside its zero
_ONE_VALUE = NEARLY  # of a quotient there: what goes on over a zero changes by the share above, with room
_GROWN = 2.0  # of the same: a pole of order 1/2 grows to 30 of it


def sign_changes(
    switches: Switches, segment: Segment, columns: Iterable[int]
) -> Iterator[tuple[int, list[tuple[float, float]]]]:
    """Instants of a segment between which switches change sign; one at which a switch is zero is on neither side.

    Two changes between neighbouring stages are seen as well: there a switch dips through zero.

    Parameters
    ----------
    switches : Switches
    segment : Segment
    columns : iterable of int
        Which of the switches.

    Returns
    -------
    iterator of (int, list of (float, float))
        A switch, and the times before and after every change.
    """
    if not (columns := list(columns)):
        return
    t, y = segment.instants
    values = switches.values(t, y, segment.system.dynamics)
    if dips := [dip for column in columns for dip in _dips(switches, segment, column, values[:, column])]:
        t = np.unique([*t, *dips])
        y = interpolation(segment)(t)
        values = switches.values(t, y, segment.system.dynamics)
    zero = vanishing(switches, segment, t, y, float(segment.knots[-1] - segment.knots[0]))
    for column in columns:
        known = np.flatnonzero(~zero[:, column])
        signs = np.sign(values[known, column])
        times = t[known].tolist()
        yield column, [(times[k], times[k + 1]) for k in np.flatnonzero(signs[1:] * signs[:-1] < 0)]


def _dips(switches: Switches, segment: Segment, column: int, values: Array) -> Iterator[float]:
    """Times beside stages at which a switch has the other sign than at them and their neighbours."""
    from scipy.optimize import minimize_scalar

    t, sample = segment.instants[0], interpolation(segment)
    sizes = np.concatenate([[np.inf], np.abs(values), [np.inf]])
    for k in np.flatnonzero((values != 0.0) & (sizes[1:-1] <= np.minimum(sizes[:-2], sizes[2:]))).tolist():
        low, high = max(k - 1, 0), min(k + 1, len(t) - 1)
        beside = values[low : high + 1] / values[k]
        if (beside < 0).any() or (beside - 1.0 <= CLEAR).all() or t[high] - t[low] <= ROUNDING * abs(t[k]):
            continue  # this change is seen, or it hardly moves, as at rest, or its instants are one to rounding

        def along(time: float, sign: float = float(np.sign(values[k]))) -> float:
            at = np.array([time])
            return sign * float(switches.values(at, sample(at), segment.system.dynamics)[0, column])

        found = minimize_scalar(along, bounds=(t[low], t[high]), options={"xatol": ROUNDING * (t[high] - t[low])})
        if found.fun < 0:
            yield float(found.x)


def is_crossed(switches: Switches, segment: Segment, column: int, low: float, high: float) -> bool:
    """Whether a switch of jumps that is zero between two times, or at one, changes anything there.

    Parameters
    ----------
    switches : Switches
    segment : Segment
    column : int
        Of the switch.
    low, high : float
        Equal where it touches zero.

    Returns
    -------
    bool
        False beside the cut of ``atan2``, and where a quotient goes on over its pole, as ``sin(x)/x``.
    """
    zero = zero_between(switches, segment, column, low, high) if low < high else low
    if zero is None:
        return True
    duration = float(segment.knots[-1] - segment.knots[0])
    times = zero + duration * np.array([-_BESIDE, 0.0, _BESIDE, -_APART, _APART])
    times = np.clip(times, segment.knots[0], segment.knots[-1])
    y, dynamics = interpolation(segment)(times), segment.system.dynamics
    if column not in switches.poles:
        return bool((switches.weights(times[:3], y[:3], dynamics)[:, column] != 0.0).any())
    left, _, right, *apart = switches.quotients(times, y, dynamics)[:, switches.poles.index(column)]
    size = float(np.max(np.abs(apart)))
    return not (abs(right - left) <= _ONE_VALUE * size and max(abs(left), abs(right)) <= _GROWN * size)


def zero_between(switches: Switches, segment: Segment, column: int, low: float, high: float) -> float | None:
    """When a switch changes sign between two times.

    Parameters
    ----------
    switches : Switches
    segment : Segment
    column : int
        Of the switch.
    low, high : float

    Returns
    -------
    float or None
        None where the interpolation, which differs from the stages by what an iteration leaves, has no such change.
    """
    sample = interpolation(segment)

    def along(t: float) -> float:
        times = np.array([t])
        return float(switches.values(times, sample(times), segment.system.dynamics)[0, column])

    if not along(low) * along(high) < 0:
        return None
    return crossing(along, low, high, xtol=LAST_PLACE * max(abs(high), LEAST), rtol=LAST_PLACE)


def vanishing(switches: Switches, segment: Segment, t: Array, y: Array, duration: float) -> NDArray[np.bool_]:
    """Where switches are zero at instants of a segment as far as rounding tells.

    Parameters
    ----------
    switches : Switches
        z of them.
    segment : Segment
    t : array, (N,)
    y : array, (N, 2n)
    duration : float
        Of the segment or the motion, which relates sizes of coordinates and velocities.

    Returns
    -------
    array of bool, (N, z)
    """
    dynamics = segment.system.dynamics
    size = y.shape[1]
    slopes = np.abs(switches.slopes(t, y, dynamics)[..., : size + 1])
    terms = slopes[..., :size] @ sizes_of(np.max(np.abs(y), axis=0), duration)
    terms = terms + slopes[..., size] * np.max(np.abs(t))
    return np.asarray(np.abs(switches.values(t, y, dynamics)) <= _ZERO * terms)


def sizes_of(greatest: Array, duration: float) -> Array:
    """Sizes of the state from those of every coordinate and velocity: of a body at rest not those of its rounding.

    Parameters
    ----------
    greatest : array, (2n, ...)
        Largest magnitudes met.
    duration : float
        Of the motion.

    Returns
    -------
    array, (2n, ...)
        One size for all coordinates, one for all velocities.
    """
    n = len(greatest) // 2
    q, v = np.max(greatest[:n], axis=0), np.max(greatest[n:], axis=0)
    sizes = np.stack([np.maximum(q, SLOW * v * duration), np.maximum(v, SLOW * q / max(duration, LEAST))])
    return np.repeat(np.maximum(sizes, LEAST), n, axis=0)
