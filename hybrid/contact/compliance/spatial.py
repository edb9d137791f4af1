"""The compliant limit of one spatial contact: the slip turns while the contact presses.

The direction of slip is undefined where it vanishes, so the fast system is integrated in the logarithm and the angle of
the slip, over ``sigma`` with ``ds = abs(slip) d sigma``: the end of slip lies at infinity there and is reached
exponentially, and a near miss is a quick turn, never a jump (Batlle 1996).
"""

from __future__ import annotations

import math

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
            history, phase, part, is_done = _straight(G, start.gamma, history, mu, d, samples)
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
    from hybrid.contact.compliance.rotation import PATH, RELEASED, turn

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
    G: Array, start: Array, history: _History, mu: tuple[float, float], d: float, samples: int
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
