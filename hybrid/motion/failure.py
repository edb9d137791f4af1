"""Why a motion could not be followed further."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import GuardKind
from hybrid.dynamics.arithmetic import definiteness
from hybrid.errors import HybridError
from hybrid.motion.recorded import Termination
from hybrid.tolerances import CLEAR

if TYPE_CHECKING:
    from hybrid.contact.guards import Guard
    from hybrid.motion.arcs import FollowedArc
    from hybrid.motion.context import Context
    from hybrid.motion.numeric import Flow

Array = NDArray[np.float64]

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
        return Termination.UNDEFINED, followed.failure
    with np.errstate(all="ignore"):
        rate = np.asarray(flow.derivative(followed.t, followed.y), dtype=float)
    if not np.isfinite(rate).all():
        return Termination.UNDEFINED, "the acceleration is not finite"
    return Termination.STEP_SIZE, f"the largest acceleration is {np.max(np.abs(rate)):.3g}"


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


def singular_point(flow: Flow, followed: FollowedArc) -> tuple[float, float, str]:
    """Where a sliding contact's mobility ``A_s`` vanishes.

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
    exponent : float
        Of the power of ``A_s`` that the force follows; not a number where it cannot be told.
    note : str
        Both in words.
    """
    position = [guard.kind for guard in flow.guards].index(GuardKind.SINGULAR)
    step = followed.steps[-1]
    s = np.array([0.0, 0.5, 1.0]) if step.end > step.start else np.array([1.0])
    observed = flow.observe(step.time(s), step.at(s))
    mobility = observed.guards[position]
    force = np.max(np.abs(observed.lambda_N), axis=0)
    if len(s) < 3 or mobility[0] == mobility[-1]:
        return followed.t, float("nan"), f"the mobility is {mobility[-1]:.3g}"
    rate = (mobility[-1] - mobility[0]) / (step.end - step.start)
    t = followed.t - mobility[-1] / rate
    with np.errstate(all="ignore"):
        exponent = np.log(force[-1] / force[0]) / np.log(mobility[-1] / mobility[0])
    verb = "grows" if exponent < 0 else "changes"
    return (
        float(t),
        float(exponent),
        (f"A_s reaches zero at t = {t:.10g}; the force is {force[-1]:.6g} and {verb} like A_s^{exponent:.4g}"),
    )
