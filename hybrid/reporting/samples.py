"""A motion as samples to be drawn: broken where it jumps, close together where it is short."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.motion.outcome import EventKind
from hybrid.reporting.scene import constraint_forces
from hybrid.tolerances import LEAST

if TYPE_CHECKING:
    from hybrid.motion import Arc, Trajectory

__all__ = ["MotionSamples", "quantity", "sampled"]

Array = NDArray[np.float64]

_POINTS = 1500  # over the whole time: more than the pixels it gets
_LEAST = 12  # in one arc: a bounce is still round


@attrs.frozen(eq=False)
class MotionSamples:
    """Samples of a motion; a row of NaN between two arcs keeps the pen from drawing a jump as a slope.

    Attributes
    ----------
    t : array, (N,)
    q, v : array, (N, n)
    lambda_N, lambda_T, lambda_B : array, (N, k), (N, p) and (N, m)
        Forces of contacts, of friction and of rigid constraints.
    is_struck : array of bool, (N,)
        Whether time-stepping passes an impact in the step that this sample ends.
    """

    t: Array
    q: Array
    v: Array
    lambda_N: Array
    lambda_T: Array
    lambda_B: Array
    is_struck: NDArray[np.bool_]


def sampled(motion: Trajectory, *, whole: float | None = None) -> MotionSamples:
    """Samples of a motion.

    Parameters
    ----------
    motion : Trajectory
    whole : float, optional
        The time that is drawn, over which there are some 1500; by default that of the motion.

    Returns
    -------
    MotionSamples
        Of a motion without arcs its one state.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive, simulate
    >>> samples = sampled(simulate(derive(mechanisms.load("bouncing_ball")), State([1.0], [0.0]), t_end=0.4))
    >>> int(np.isnan(samples.t).sum())  # behind its one flight
    1
    """
    dynamics = motion.dynamics
    k, p = len(dynamics.contacts), sum(dynamics.dimension(name) for name in dynamics.columns)
    m = len(dynamics.rigid)
    lost = np.full(2 * dynamics.n + k + p + m + 1, np.nan)
    span = max(motion.t - motion.t_start if whole is None else whole, LEAST)
    struck = np.array([event.t for event in motion.events if event.kind is EventKind.IMPACT])
    blocks: list[Array] = []
    in_impact: list[NDArray[np.bool_]] = []
    for arc in motion.arcs:
        t = _instants(arc, span)
        q, v = arc.sample(t)
        seen = motion.forces(arc, t)
        rails = constraint_forces(motion, arc, t, q, v, seen)
        blocks += [np.column_stack([t, q, v, seen.lambda_N.T, seen.lambda_T.T, rails]), lost[None, :]]
        steps = arc.knots[arc.step_of(t)]
        in_impact += [np.isin(steps, struck) & (arc.means is not None), np.array([False])]
    if not blocks:
        end = np.concatenate([[motion.t], motion.q, motion.v, np.full(k + p + m, np.nan)])
        blocks, in_impact = [end[None, :]], [np.array([False])]
    table = np.vstack(blocks)
    t, q, v, pressing, dragging, held = np.split(table, np.cumsum([1, dynamics.n, dynamics.n, k, p]), axis=1)
    return MotionSamples(t[:, 0], q, v, pressing, dragging, held, np.concatenate(in_impact))


def quantity(motion: Trajectory, samples: MotionSamples, name: str) -> Array | None:
    """A quantity over the samples of a motion, by the name under which it is pinned or swept.

    Parameters
    ----------
    motion : Trajectory
    samples : MotionSamples
        Of this motion.
    name : str
        A coordinate, a velocity, ``t``, a parameter, ``gap.tip``, ``gap_dot.tip`` or ``slip.tip``.

    Returns
    -------
    array, (N,) or None
        None if the mechanism has no such quantity.
    """
    dynamics = motion.dynamics
    mechanism = dynamics.mechanism
    known = {"t": samples.t, **dict(zip(mechanism.coordinates, samples.q.T, strict=True))}
    known |= dict(zip(mechanism.velocities, samples.v.T, strict=True))
    if name in known:
        return np.asarray(known[name])
    values = mechanism.parameter_values(motion.parameters)
    if name in values:
        return np.full(len(samples.t), float(values[name]))
    kind, _, contact = name.partition(".")
    terms = dynamics.terms(samples.q, samples.v, t=samples.t, parameters=motion.parameters)
    if kind in ("gap", "gap_dot") and contact in dynamics.contacts:
        found = getattr(terms, kind)[..., dynamics.contacts.index(contact)]
    elif kind == "slip" and contact in dynamics.columns and dynamics.dimension(contact) == 1:
        found = terms.slip[..., dynamics.columns[contact].start]
    else:
        return None
    # what is lost between two arcs stays so
    return np.where(np.isnan(samples.t), np.nan, np.broadcast_to(found, len(samples.t)))


def _instants(arc: Arc, span: float) -> Array:
    """Evenly in time; where time-stepping made the arc, its own instants as far as they can be seen."""
    if arc.means is not None and len(arc.knots) <= 4 * _POINTS:
        return arc.knots
    return np.linspace(arc.start, arc.end, max(_LEAST, int(np.ceil(_POINTS * (arc.end - arc.start) / span))))
