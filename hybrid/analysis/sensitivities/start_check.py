"""Whether a motion may be differentiated with respect to its start: two-sided, or only to one side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.event_map import held_rows
from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.analysis.sensitivities.surfaces import evaluate_point

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.replay import Replay
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
    leg = motion.legs[0]
    t = float(leg.knots[0])
    if motion.opening is not None:  # contacts that approach at the start are at their gaps
        before = motion.trajectory.q_start, motion.trajectory.v_start
        point = evaluate_point(leg.system, t, np.concatenate(before))
        names = {name for event in motion.opening.events for name in event.carriers}
        held = np.array(
            [point.slopes("gap")[motion.trajectory.dynamics.contacts.index(name)] for name in sorted(names)]
        )
    else:
        point = evaluate_point(leg.system, t, leg.states[0])
        rows, resting = _vanishing_slips(motion)
        if resting:
            return Refusal(t, f"the slip of {resting} may begin at once or a moment later: the start is on the edge")
        held = np.concatenate([held_rows(point), rows])
    size = leg.states.shape[1]
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


def _vanishing_slips(motion: Replay) -> tuple[Array, str]:
    """Rows of slips that are zero at the start although the contact slides at once, and a contact that hardly does."""
    leg = motion.legs[0]
    point = evaluate_point(leg.system, float(leg.knots[0]), leg.states[0])
    slip, slopes = np.ravel(point.at.terms.slip), point.slopes("slip")
    speed = float(np.max(np.abs(leg.at.terms.slip), initial=0.0))
    size = len(point.f)
    rows, resting = [], ""
    for part in leg.system.parts:
        vanishing = [column for column in part.columns if abs(slip[column]) <= _HELD * speed]
        if not part.slides or len(vanishing) < len(part.columns):
            continue
        rows += [slopes[column] for column in vanishing]
        rate = slopes[vanishing, :size] @ point.f + slopes[vanishing, size]
        terms = np.abs(slopes[vanishing, :size]) @ np.abs(point.f) + np.abs(slopes[vanishing, size])
        if (np.abs(rate) <= _EDGE * terms).all():
            resting = part.name
    return np.array(rows).reshape(len(rows), slopes.shape[1]), resting
