"""Whether a motion may be differentiated with respect to its start: two-sided, or only to one side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.mode_system import Point, evaluate_point
from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.contact.activity import Activity, element_activities, element_names
from hybrid.dynamics.scales import scales_of
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.replayed import Replay
    from hybrid.analysis.sensitivities.start_slopes import Directions

__all__ = ["start_refusal"]

Array = NDArray[np.float64]

_HELD = 1e-9  # of the terms of a gap, rate or slip that the start holds at zero
_EDGE = 1e-8  # of the accelerations that are added: a slip that begins so slowly may as well not begin


def start_refusal(motion: Replay, chosen: Directions) -> Refusal | None:
    """Why the start has no two-sided derivative: a direction opens, closes or slips what it holds at zero.

    Parameters
    ----------
    motion : Replay
    chosen : Directions

    Returns
    -------
    Refusal or None
    """
    segment = motion.segments[0]
    t = float(segment.knots[0])
    resting = "" if motion.opening is not None else _hardly_sliding(motion)
    if resting:
        return Refusal(t, f"the slip of {resting} may begin at once or a moment later: the start is on the edge")
    held = _held(motion, evaluate_point(segment.system, t, _start(motion)))
    size = segment.states.shape[1]
    change = held[:, :size] @ chosen.start + held[:, size + 1 :] @ chosen.chain
    terms = np.abs(held[:, :size]) @ np.abs(chosen.start) + np.abs(held[:, size + 1 :]) @ np.abs(chosen.chain)
    wrong = (np.abs(change) > _HELD * terms).any(axis=0)
    if not wrong.any():
        return None
    guilty = ", ".join(name for name, is_wrong in zip(chosen.names, wrong, strict=True) if is_wrong)
    return Refusal(
        t,
        f"a change of {guilty} leaves what the start holds at zero (a gap, its rate, a constraint or the slip of a "
        f"contact at rest); give the pins of the start to change it along them",
    )


def _start(motion: Replay) -> Array:
    return np.concatenate([motion.trajectory.q_start, motion.trajectory.v_start])


def _held(motion: Replay, point: Point) -> Array:
    """Derivatives of what the start holds at zero, (rows, 2n + 1 + c).

    These are constraints and their rates, the gaps of contacts that are closed or close with a velocity at once, the
    rates of the former, and slips of contacts that rest or begin to slide.
    """
    dynamics, terms = point.system.dynamics, point.at.terms
    (y,), (t,) = point.at.y, point.at.t
    q, v = y[: dynamics.n], y[dynamics.n :]
    scales = scales_of(dynamics.at(point.system.parameters), terms, q, v, t=t)
    activities = element_activities(dynamics, terms, scales, sides={}, tolerances=Tolerances())
    gap, gap_dot, slip = (point.slopes(name) for name in ("gap", "gap_dot", "slip"))
    rows = [*point.slopes("constraint"), *point.slopes("constraint_dot")]
    for index, (name, activity) in enumerate(zip(element_names(dynamics), activities.ravel(), strict=True)):
        if activity == Activity.OPEN:
            continue
        if index < len(dynamics.contacts):
            rows += [gap[index]] if activity == Activity.APPROACHING else [gap[index], gap_dot[index]]
        if activity == Activity.RESTING:
            rows += [slip[column] for column in range(len(slip))[dynamics.columns[name]]]
    return np.array(rows).reshape(len(rows), gap.shape[1])


def _hardly_sliding(motion: Replay) -> str:
    """A contact whose slip is zero at the start and begins without acceleration; empty if there is none."""
    segment = motion.segments[0]
    point = evaluate_point(segment.system, float(segment.knots[0]), segment.states[0])
    slip, slopes = np.ravel(point.at.terms.slip), point.slopes("slip")
    speed = float(np.max(np.abs(segment.at.terms.slip), initial=0.0))
    size, summands = len(point.f), _summands(point)
    for part in segment.system.parts:
        columns = list(part.columns)
        if not part.slides or (np.abs(slip[columns]) > _HELD * speed).any():
            continue
        rate = slopes[columns, :size] @ point.f + slopes[columns, size]
        terms = np.abs(slopes[columns, :size]) @ summands + np.abs(slopes[columns, size])
        if (np.abs(rate) <= _EDGE * terms).all():
            return part.name
    return ""


def _summands(point: Point) -> Array:
    """Sizes of what is added to form velocities and accelerations, (2n,): forces in balance leave only rounding."""
    terms, forces = point.at.terms, point.at.forces
    n = len(point.f) // 2
    rows = [(terms.W_N, forces.lambda_N), (terms.W_T, forces.lambda_T), (np.swapaxes(terms.J, -1, -2), forces.lambda_B)]
    pushes = [np.abs(of) @ np.abs(force)[..., None] for of, force in rows]
    loads = np.abs(terms.h)[..., None] + sum(pushes)
    return np.concatenate([np.abs(point.f[:n]), np.ravel(np.abs(np.linalg.inv(terms.M)) @ loads)])
