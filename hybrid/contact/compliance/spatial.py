"""The compliant limit of one spatial contact: the slip turns while the contact presses.

The direction of slip is undefined where it vanishes, so the fast system is integrated in the logarithm and the angle of
the slip, over ``sigma`` with ``ds = abs(slip) d sigma``: the end of slip lies at infinity there and is reached
exponentially, and a near miss is a quick turn, never a jump (Batlle 1996).

The rotating slip of a spatial compliant contact, by Taylor series of high order, compiled.

Every term of the fast system is a product of its unknowns, an exponential, a sine or a cosine: the coefficients of its
series follow from one another by convolution. A step is as long as the series is exact to rounding, and is its own
interpolant, on which events are found to rounding.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np

from hybrid.contact.compliance.path import (
    Array,
    CompliantPath,
    CompliantPhase,
    CompliantSamples,
    joined_samples,
    linear_samples,
)
from hybrid.contact.spatial import slip_directions
from hybrid.errors import ComputationError
from hybrid.tolerances import ROUNDING
from lcp.kernels.compiled import compiled

__all__ = ["PATH", "RELEASED", "STOPPED", "spatial_limit", "turn"]


# Unknowns: Y, w, log of the slip relative to its start, angle, P_N, P_1, P_2, fast time, work of friction.
PATH = 9
RELEASED, STOPPED = 1, 2
# With 24 terms a step spans about two radians of an oscillation; more terms lengthen it less than they cost.
_ORDER = 24
_EXACT = 1e-17  # of the last terms, next to the unknowns themselves
_MAX_STEPS = 100_000
_ITERATIONS = 80
_F, _RHO, _U1, _U2, _LIFT, _PUSH1, _PUSH2, _DRIVE, _TURN, _SPEED = range(PATH, PATH + 10)


@compiled
def _series(c: Any, G: Any, mu: float, d: float, speed: float) -> None:
    """Fill the coefficients over ``sigma``, ``ds = abs(slip) d sigma``, from those of order 0 of the unknowns."""
    for k in range(_ORDER):
        c[_F, k] = -c[0, k] - 2 * d * c[1, k]
        if k == 0:
            c[_RHO, 0] = speed * math.exp(c[2, 0])
            c[_U1, 0], c[_U2, 0] = math.cos(c[3, 0]), math.sin(c[3, 0])
        else:
            growth, rotation_1, rotation_2 = 0.0, 0.0, 0.0
            for j in range(1, k + 1):
                growth += j * c[2, j] * c[_RHO, k - j]
                rotation_1 += j * c[3, j] * c[_U1, k - j]
                rotation_2 += j * c[3, j] * c[_U2, k - j]
            c[_RHO, k], c[_U1, k], c[_U2, k] = growth / k, -rotation_2 / k, rotation_1 / k
        for row in range(3):
            free = G[row, 0] if k == 0 else 0.0
            c[_LIFT + row, k] = free - mu * (G[row, 1] * c[_U1, k] + G[row, 2] * c[_U2, k])
        drive, rotating, speeds = 0.0, 0.0, 0.0
        for j in range(k + 1):
            drive += c[_PUSH1, j] * c[_U1, k - j] + c[_PUSH2, j] * c[_U2, k - j]
            rotating += c[_PUSH2, j] * c[_U1, k - j] - c[_PUSH1, j] * c[_U2, k - j]
            speeds += c[_F, j] * c[_RHO, k - j]
        c[_DRIVE, k], c[_TURN, k], c[_SPEED, k] = drive, rotating, speeds
        c[:PATH, k + 1] = 0.0
        for j in range(k + 1):
            c[0, k + 1] += c[1, j] * c[_RHO, k - j]
            c[1, k + 1] += c[_LIFT, j] * c[_SPEED, k - j]
            c[2, k + 1] += c[_DRIVE, j] * c[_F, k - j]
            c[3, k + 1] += c[_TURN, j] * c[_F, k - j]
            c[5, k + 1] -= mu * c[_SPEED, j] * c[_U1, k - j]
            c[6, k + 1] -= mu * c[_SPEED, j] * c[_U2, k - j]
            c[8, k + 1] -= mu * c[_SPEED, j] * c[_RHO, k - j]
        c[4, k + 1], c[7, k + 1] = c[_SPEED, k], c[_RHO, k]
        c[:PATH, k + 1] /= k + 1
    c[_F, _ORDER] = -c[0, _ORDER] - 2 * d * c[1, _ORDER]


@compiled
def _value(c: Any, row: int, x: float) -> float:
    total = float(c[row, _ORDER])
    for k in range(_ORDER - 1, -1, -1):
        total = total * x + c[row, k]
    return total


@compiled
def _slope(c: Any, row: int, x: float) -> float:
    total = float(_ORDER * c[row, _ORDER])
    for k in range(_ORDER - 1, 0, -1):
        total = total * x + k * c[row, k]
    return total


@compiled
def _length(c: Any) -> float:
    """Length of a step: the last two terms of penetration, velocity, slip and angle are below rounding."""
    motion = abs(c[0, 0]) + abs(c[1, 0])
    longest = math.inf
    for row in range(4):
        size = _EXACT * (motion if row < 2 else 1.0)
        for k in (_ORDER - 1, _ORDER):
            term = abs(c[row, k])
            if term > 0.0:
                longest = min(longest, (size / term) ** (1.0 / k))
    return longest


@compiled
def _fall(c: Any, kind: int, level: float, end: float) -> float:
    """Where the force, or the slip less a level, falls through zero up to an end."""
    low, high = 0.0, end
    x = end
    for _ in range(_ITERATIONS):
        if kind == RELEASED:
            value, slope = _value(c, _F, x), _slope(c, _F, x)
        else:
            value, slope = _value(c, 2, x) - level, _slope(c, 2, x)
        if value < 0.0:
            high = x
        else:
            low = x
        new = x - value / slope if slope < 0.0 else 0.5 * (low + high)
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - x) <= 1e-16 * end:
            return new
        x = new
    return x


@compiled
def _least(c: Any, end: float) -> float:
    """Least logarithm of the slip on a step on which it first falls and then grows."""
    low, high = 0.0, end
    for _ in range(_ITERATIONS):
        x = 0.5 * (low + high)
        if _slope(c, 2, x) < 0.0:
            low = x
        else:
            high = x
    return _value(c, 2, low)


@compiled
def turn(
    start: Any, G: Any, mu: float, d: float, speed: float, floor: float, marks: Any, sampled: Any
) -> tuple[int, float, float]:
    """Follow the slip until the force vanishes or the slip has stopped.

    Parameters
    ----------
    start : array, (9,)
        Unknowns at the start; overwritten by those at the end.
    G : array, (3, 3)
        Delassus operator, normal row first.
    mu, d, speed : float
        Friction, damping, and slip speed at the start.
    floor : float
        Logarithm of the slip, relative to its start, at which it has stopped.
    marks : array, (m,)
        Ascending places ``sigma`` at which the unknowns are wanted.
    sampled : array, (m, 9)
        Gets the unknowns there.

    Returns
    -------
    event : int
        ``RELEASED``, ``STOPPED``, or 0 if neither came.
    sigma : float
        Where.
    least : float
        Least logarithm of the slip met.
    """
    c = np.zeros((PATH + 10, _ORDER + 1))
    sigma, least, mark = 0.0, start[2], 0
    for _ in range(_MAX_STEPS):
        c[:PATH, 0] = start
        _series(c, G, mu, d, speed)
        step, event = _length(c), 0
        if not (step > 0.0 and step < math.inf):
            break
        if _value(c, _F, step) < 0.0:
            step, event = _fall(c, RELEASED, 0.0, step), RELEASED
        if _value(c, 2, step) < floor:
            step, event = _fall(c, STOPPED, floor, step), STOPPED
        while mark < len(marks) and marks[mark] <= sigma + step:
            for row in range(PATH):
                sampled[mark, row] = _value(c, row, marks[mark] - sigma)
            mark += 1
        if _slope(c, 2, 0.0) < 0.0 and _slope(c, 2, step) > 0.0:
            least = min(least, _least(c, step))
        for row in range(PATH):
            start[row] = _value(c, row, step)
        sigma += step
        least = min(least, start[2])
        if event:
            while mark < len(marks):
                sampled[mark] = start
                mark += 1
            return event, sigma, least
    return 0, sigma, least


_STOPPED = 33.0  # slip smaller by exp(-33) = 5e-15 has stopped: what is left of it is rounding
_DEPARTURE = 1e-10  # approach from which an impact without collision is started, in units of the slip velocity
_VANISHING = ROUNDING  # an approach below this share of the slip velocity is the limit of none
_DEPENDENT = ROUNDING  # mobilities below this share of the largest are rounding
_NOTHING = 1e-250  # slip below this share of the approach is none: their ratio would leave the range of numbers
_MAX_PHASES = 4


@attrs.frozen(eq=False)
class _History:
    """Where a path stands: penetration, contact velocities, impulses."""

    Y: float
    gamma: Array
    impulse: Array
    at: float = 0.0


def spatial_limit(
    G: Array, gamma: Array, *, friction: float, damping: float, samples: int = 0, static_friction: float | None = None
) -> CompliantPath:
    """Velocities after the impact of a spatial compliant contact whose stiffness tends to infinity.

    The fast system of Miller and Rubinovich (2017) with friction opposite to the slip, until the force vanishes.

    Parameters
    ----------
    G : array, (3, 3)
        Delassus operator: normal row first.
    gamma : array, (3,)
        Contact velocities before; an approach of zero is its limit from below.
    friction, damping : float
    samples : int, default 0
        Samples per phase to keep.
    static_friction : float, optional
        Coefficient up to which the contact sticks; by default ``friction``.

    Returns
    -------
    CompliantPath

    Raises
    ------
    ComputationError
        The integration fails.

    Examples
    --------
    >>> spatial_limit(np.eye(3), np.array([-1.0, 0.1, 0.1]), friction=0.2, damping=0.5).gamma_after.round(6)
    array([0.298436, 0.      , 0.      ])
    """
    slip = float(np.linalg.norm(gamma[1:]))
    w, is_grazing = float(gamma[0]), abs(gamma[0]) <= _VANISHING * slip
    if is_grazing:
        if slip == 0.0 or G[0, 0] - friction * (gamma[1:] / slip) @ G[0, 1:] >= 0:
            return CompliantPath(gamma, gamma.copy(), np.zeros(3), ())
        w = -_DEPARTURE * slip
    elif w > 0:
        return CompliantPath(gamma, gamma.copy(), np.zeros(3), ())
    slips = 0.0 if slip <= _NOTHING * abs(w) else 1.0
    history = _History(0.0, np.array([w, slips * gamma[1], slips * gamma[2]]), np.zeros(3))
    if is_grazing:
        history = _on_unstable_direction(G, history, friction, damping)
    holds = friction if static_friction is None else static_friction
    return _follow(G, gamma, history, (friction, holds), damping, samples, is_endless=is_grazing)


def _on_unstable_direction(G: Array, history: _History, mu: float, d: float) -> _History:
    from hybrid.contact.compliance.linear import exponents

    A = G[0, 0] - mu * (history.gamma[1:] / np.linalg.norm(history.gamma[1:])) @ G[0, 1:]
    return attrs.evolve(history, Y=float(history.gamma[0]) / exponents(float(A), d)[0])


def _follow(
    G: Array, before: Array, history: _History, mu: tuple[float, float], d: float, samples: int, *, is_endless: bool
) -> CompliantPath:
    start, slip_min = history, None
    phases: list[CompliantPhase] = []
    kept: list[CompliantSamples] = []
    for _ in range(_MAX_PHASES):
        if np.any(history.gamma[1:] != 0.0):
            history, phase, part, least, is_done = _rotating_slip(G, start.gamma, history, mu[0], d, samples)
            slip_min = least if slip_min is None else min(slip_min, least)
            if is_endless and not phases:
                phase = attrs.evolve(phase, duration=np.inf)
        else:
            history, phase, part, is_done = _straight(G, history, mu, d, samples)
        phases.append(phase)
        kept += part
        if is_done:
            kinds = tuple(phases)
            return CompliantPath(before, history.gamma, history.impulse, kinds, slip_min, samples=joined_samples(kept))
    raise ComputationError("the slip of a spatial contact does not settle in a compliant impact")


def _rotating_slip(
    G: Array, start: Array, history: _History, mu: float, d: float, samples: int
) -> tuple[_History, CompliantPhase, list[CompliantSamples], float, bool]:
    """Slide with rotating slip until the force vanishes or the slip stops."""

    speed = float(np.linalg.norm(history.gamma[1:]))
    end = np.zeros(PATH)
    end[:4] = history.Y, history.gamma[0], 0.0, np.arctan2(history.gamma[2], history.gamma[1])
    begin, nowhere = end.copy(), np.zeros(0)
    event, sigma, least = turn(end, G, mu, d, speed, -_STOPPED, nowhere, np.zeros((0, PATH)))
    if not event:
        raise ComputationError("a compliant spatial impact could not be integrated: its slip neither stops nor settles")
    is_done = event == RELEASED
    impulse = history.impulse + end[4:7]
    reached = _consistent(G, start, impulse, stops=not is_done)
    total = end[4:7] @ (history.gamma + reached.gamma) / 2
    phase = CompliantPhase("slide", float(end[4]), float(end[7]), float(total - end[8]), float(end[8]))
    reached = attrs.evolve(reached, Y=float(end[0]), at=history.at + float(end[7]))
    kept = []
    if samples:
        met = np.zeros((samples, PATH))
        turn(begin, G, mu, d, speed, -_STOPPED, np.linspace(0.0, sigma, samples), met)
        kept.append(_samples(met.T, history, mu, d, speed))
    return reached, phase, kept, speed * math.exp(least) if is_done else 0.0, is_done


def _consistent(G: Array, start: Array, impulse: Array, *, stops: bool) -> _History:
    """Velocities from the impulses; where the slip stopped, with the tangential impulse that stops it exactly."""
    if stops:
        # least squares: the mechanism may be unable to slip in one direction, or in any
        left = start[1:] + G[1:] @ impulse
        impulse = impulse - np.array([0.0, *np.linalg.lstsq(G[1:, 1:], left, rcond=_DEPENDENT)[0]])
    gamma = start + G @ impulse
    if stops:
        gamma[1:] = 0.0
    return _History(0.0, gamma, impulse)


def _samples(y: Array, history: _History, mu: float, d: float, speed: float) -> CompliantSamples:
    u = np.array([np.cos(y[3]), np.sin(y[3])])
    slip = speed * np.exp(y[2]) * u
    F = np.maximum(-y[0] - 2 * d * y[1], 0.0)
    force = np.array([F, -mu * F * u[0], -mu * F * u[1]])
    gamma = np.array([y[1], slip[0], slip[1]])
    return CompliantSamples(history.at + y[7], y[0][:, None], gamma.T, force.T, history.impulse + y[4:7].T)


def _straight(
    G: Array, history: _History, mu: tuple[float, float], d: float, samples: int
) -> tuple[_History, CompliantPhase, list[CompliantSamples], bool]:
    """Stick, or slide from rest along the ray on which friction cannot hold: both linear, in closed form."""
    from hybrid.contact.compliance.linear import end_of_contact, impulse_until, lift_of_stick

    kind, ratio = _from_rest(G, *mu)
    direction = np.array([1.0, *ratio])
    rates = G @ direction
    if kind == "stick":
        rates[:] = lift_of_stick(float(rates[0]), float(G[0, 0])), 0.0, 0.0
    A, w, Y = float(rates[0]), float(history.gamma[0]), history.Y
    duration = end_of_contact(A, d, Y, w)
    P = impulse_until(A, d, Y, w, duration)
    if not np.isfinite(P):
        raise ComputationError("a compliant impact cannot end: the force of its last phase grows without bound")
    gamma = history.gamma + rates * P
    work_T = float(P * ratio @ (history.gamma[1:] + gamma[1:]) / 2)
    phase = CompliantPhase(kind, P, duration, P * (w + float(gamma[0])) / 2, work_T + 0.0)
    part = []
    if samples:
        local = linear_samples(A, d, (Y, w), duration, rates, direction, samples)
        part = [
            CompliantSamples(
                history.at + local.s, local.Y, history.gamma + local.gamma, local.force, history.impulse + local.impulse
            )
        ]
    return _History(0.0, gamma, history.impulse + P * direction, history.at + duration), phase, part, True


def _from_rest(G: Array, mu: float, static: float) -> tuple[str, Array]:
    # of the forces that hold a slip with a direction the mechanism cannot move in, the least
    held = -np.linalg.lstsq(G[1:, 1:], G[1:, 0], rcond=_DEPENDENT)[0]
    if np.linalg.norm(held) <= static:
        return "stick", np.asarray(held)
    for angle in slip_directions(G, np.array([-1.0, 0.0, 0.0]), mu)[0]:
        u = np.array([np.cos(angle), np.sin(angle)])
        if (G[1:, 0] - mu * G[1:, 1:] @ u) @ u > 0:
            return "slide", np.asarray(-mu * u)
    raise ComputationError("no direction of renewed slip exists in a compliant spatial impact")
