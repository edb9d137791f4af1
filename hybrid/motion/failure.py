"""Why a motion could not be followed further."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import GuardKind
from hybrid.dynamics.arithmetic import definiteness
from hybrid.errors import HybridError
from hybrid.motion.numeric import CONTRADICT
from hybrid.motion.recorded import Termination
from hybrid.tolerances import AGREEING, CENTRAL_STEP, CLEAR, NEARLY, UNSEEN

if TYPE_CHECKING:
    from hybrid.contact.guards import Guard
    from hybrid.dynamics.kinks import LoadJump
    from hybrid.motion.arcs import FollowedArc
    from hybrid.motion.context import Context
    from hybrid.motion.numeric import Flow

Array = NDArray[np.float64]

_SHAKEN = 64.0  # errors of the integrator within which a motion that is led back to a jump goes to and fro
_ASIDE = 4.0  # of those, what leads clearly beside the jump
_FARTHER = 9.0  # times the time left: there A_s is ten times as large
_NEARLY_SINGULAR = CLEAR  # smallest eigenvalue of the scaled mass matrix at which a failed step is blamed on it


def in_words(error: Exception) -> str:
    """What an error says; of one that is not this package's own, with its kind.

    Parameters
    ----------
    error : Exception

    Returns
    -------
    str
    """
    return str(error) if isinstance(error, HybridError) else f"{type(error).__name__}: {error}"


def explain_failure(context: Context, flow: Flow, followed: FollowedArc) -> tuple[Termination, str]:
    """Why the integrator found no further step.

    Parameters
    ----------
    context : Context
    flow : Flow
        Of the mode.
    followed : FollowedArc
        The arc that failed.

    Returns
    -------
    Termination
    str
        A phrase about it.
    """
    n = context.dynamics.n
    terms = context.terms(followed.t, followed.y[:n], followed.y[n:])
    smallest = float(np.nan_to_num(definiteness(terms.M)))
    diagonal = np.abs(np.diagonal(terms.M))
    lightest = float(np.min(diagonal)) / float(np.max(diagonal, initial=1.0))
    if min(smallest, lightest) <= _NEARLY_SINGULAR:
        return Termination.SINGULAR_MASS, f"its smallest scaled eigenvalue is {min(smallest, lightest):.3g}"
    if followed.failure:
        ending = Termination.NOT_COMPUTED if CONTRADICT in followed.failure else Termination.UNDEFINED
        return ending, followed.failure
    with np.errstate(all="ignore"):
        rate = np.asarray(flow.derivative(followed.t, followed.y), dtype=float)
    if not np.isfinite(rate).all():
        return Termination.UNDEFINED, "the acceleration is not finite"
    jump = led_back(context, flow, followed.t, followed.y)
    if jump is not None:
        return Termination.NOT_COMPUTED, (
            f"the load of {jump.coordinate} jumps where {jump.quantity} = 0 and drives the motion back there from "
            "either side: no motion beyond obeys these equations (dry friction is declared as a [[friction]])"
        )
    return Termination.STEP_SIZE, f"the largest acceleration is {np.max(np.abs(rate)):.3g}"


def led_back(context: Context, flow: Flow, t: float, y: Array) -> LoadJump | None:
    """The load that jumps at a state and drives the motion of a mode back there from both sides.

    Equations whose right-hand side jumps have no solution beyond such a state (Filippov 1988, Differential Equations
    with Discontinuous Righthand Sides, section 4).

    Parameters
    ----------
    context : Context
    flow : Flow
        Of the mode.
    t : float
    y : array, (2n,)
        Known as well as the integrator knows it.

    Returns
    -------
    LoadJump or None
    """
    if context.jumps is None:
        return None
    n, settings = context.dynamics.n, context.settings
    errors = _SHAKEN * (settings.atol * settings.sizes + settings.rtol * np.abs(y))
    for jump in context.jumps.met(context.dynamics, y[:n], y[n:], t, errors):
        towards = errors**2 * jump.slope
        change = float(towards @ jump.slope)
        if change == 0.0:  # it hangs on time alone, which goes on
            continue
        aside = _ASIDE * towards / np.sqrt(change)
        motion = np.array([flow.derivative(t, y + side * aside) for side in (-1.0, 0.0, 1.0)])
        rates = motion @ jump.slope + jump.rate
        if not jump.slope[n:].any() and (np.abs(y[n:]) <= errors[n:]).all():  # from rest it moves by its acceleration
            rates = motion[:, n:] @ jump.slope[:n]
        if rates[2] < 0.0 < rates[0] and rates[1] != 0.0:  # where it is zero on the jump itself, it stays there
            return jump
    return None


def negative_friction(fired: tuple[Guard, ...]) -> str:
    """A phrase about the friction whose guard has fired.

    Parameters
    ----------
    fired : tuple of Guard

    Returns
    -------
    str
    """
    names = ", ".join(repr(guard.element) for guard in fired if guard.kind is GuardKind.FRICTION)
    return f"the friction of {names} becomes negative there; it must be zero or positive everywhere"


def singular_point(flow: Flow, followed: FollowedArc) -> tuple[float, bool, str]:
    """Where a sliding contact's mobility ``A_s`` vanishes, and what its force does there.

    Next to that point the force is ``C abs(A_s)^e + B`` with one power ``e`` for all motions that reach it (Genot and
    Brogliato 1999): it grows beyond bounds where ``e < 0``, and tends to ``B`` where ``e > 0``; if ``B < 0`` a
    contact lifts off just before. Where ``e <= -1``, the impulse of the force ends the slip just before.

    Parameters
    ----------
    flow : Flow
        Of a mode that watches a mobility.
    followed : FollowedArc
        The arc that ended next to that point.

    Returns
    -------
    t : float
        Time, extrapolated.
    grows : bool
        True if the force grows beyond bounds; False if it stays bounded, or where that is not known.
    note : str
        All of it in words.
    """
    t, y = followed.t, followed.y
    observed = flow.observe(np.array([t]), y[:, None])
    force = float(np.max(np.abs(observed.lambda_N)))
    with np.errstate(all="ignore"):
        mobility, rate, divergence, by_velocity = _around(flow, t, y)
        left = float(-mobility / rate)
        exponent = float(-left * divergence - 1.0)
    if not np.isfinite(exponent) or left <= 0.0:
        return t, False, f"A_s is {mobility:.3g}; the force is {force:.6g}"
    there = f"A_s reaches zero at t = {t + left:.10g}; the force is {force:.6g}"
    if exponent <= -1.0:  # its impulse up to that point would be infinite
        return t, True, f"the force is {force:.6g} and grows so fast that the slip ends just before A_s reaches zero"
    if by_velocity > AGREEING:
        unknown = f"{there}; whether it stays bounded is not known, as A_s changes with the velocity"
        return t + left, False, unknown
    if abs(exponent) <= UNSEEN:
        unknown = f"{there}; whether it stays bounded is not decided: its exponent of A_s is {exponent:.1g}"
        return t + left, False, unknown
    if exponent < 0.0:
        return t + left, True, f"{there} and grows like A_s^{exponent:.4g}"
    limit = _limit(flow, followed, left, exponent)
    after = ""
    if limit > NEARLY * force:
        after = f" and tends to {limit:.4g}; beyond that point the rigid model has no unique continuation"
    elif limit < -NEARLY * force:
        after = "; it falls to zero before that point, nearer to it than the motion is followed"
    return t + left, False, f"{there}, stays bounded{after}"


def _limit(flow: Flow, followed: FollowedArc, left: float, exponent: float) -> float:
    """``B`` of a force ``C abs(A_s)^e + B``, counted as its largest component is, from the last two states known."""
    step = followed.steps[-1]
    known = np.array([max(step.start, followed.t - _FARTHER * left), followed.t])
    place = (known - step.start) / (step.end - step.start) if step.end > step.start else np.zeros(2)
    forces = flow.observe(known, step.at(place)).lambda_N
    force = forces[np.argmax(np.abs(forces[:, 1]))]
    powers = np.abs((followed.t + left - known) / left) ** exponent
    with np.errstate(all="ignore"):
        return float(np.sign(force[1]) * (force[1] - (force[1] - force[0]) / (powers[1] - powers[0])))


def _around(flow: Flow, t: float, y: Array) -> tuple[np.float64, np.float64, np.float64, np.float64]:
    """A mobility, its rate, and how acceleration and mobility change with the velocity there.

    Of all terms of the acceleration the force alone grows with ``1/A_s``. Along its direction ``u``, the numerator
    ``b`` of the force changes by ``db/dv u``, of which the exponent is made; the acceleration's divergence with respect
    to the velocity is that, over ``-A_s``.

    Returns
    -------
    mobility, rate : float
    divergence : float
        In 1/s.
    by_velocity : float
        The largest change of the mobility with the velocity, next to that with time.
    """
    n, position = len(y) // 2, [guard.kind for guard in flow.guards].index(GuardKind.SINGULAR)
    q, v = y[:n], y[n:]
    speed = float(np.max(np.abs(v))) or 1.0
    h, ahead = CENTRAL_STEP * speed, CENTRAL_STEP * (1.0 + float(np.max(np.abs(q)))) / speed
    back = np.array([0.0, ahead, 2.0 * ahead])  # where it came from, along the velocity: A_s has one sign there
    past = np.concatenate([q[:, None] - np.outer(v, back), np.repeat(v[:, None], 3, axis=1)])
    now, before, earlier = flow.observe(t - back, past).guards[position]
    moved = np.repeat(y[:, None], 2 * n, axis=1)
    moved[n:] += h * np.concatenate([np.eye(n), -np.eye(n)], axis=1)
    other = flow.observe(np.full(2 * n, t), moved)
    a = other.acceleration
    divergence = np.trace(a[:, :n] - a[:, n:]) / (2.0 * h)
    rate = (3.0 * now - 4.0 * before + earlier) / (2.0 * ahead)
    by_velocity = np.max(np.abs(other.guards[position] - now)) / np.abs(before - now)
    return now, rate, divergence, by_velocity
