"""Whether a motion that closes once repeats itself: it moves, and what drives it is the same a period later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.equations import Terms
from hybrid.dynamics.state import State
from hybrid.errors import ComputationError, StateError
from hybrid.motion.recorded import Termination
from hybrid.motion.simulate import simulate
from hybrid.tolerances import AGREEING, CLEAR, INTEGRATED, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.dynamics.partials import CompiledExpression
    from hybrid.motion.trajectory import Trajectory

__all__ = ["why_not_periodic"]

Array = NDArray[np.float64]

_SAMPLES = 64
_OFFSET = (3 - np.sqrt(5)) / 2
_SHARES = (_OFFSET, np.sqrt(0.5))  # of the period, by which times are shifted
_MOVES = 100 * INTEGRATED  # of the states: what moves less is not told from what stays


def why_not_periodic(
    trajectory: Trajectory, kept: Sequence[int], flow: Array, section: CompiledExpression | None
) -> str:
    """What keeps a motion that ends in the state of its start from being periodic, in words.

    Parameters
    ----------
    trajectory : Trajectory
        From the start to where it closes.
    kept : sequence of int
        Places of the state that return; others drift.
    flow : array, (2n,)
        Velocities and accelerations where it closes.
    section : CompiledExpression or None
        What is zero at the start, where the period was not given.

    Returns
    -------
    str
        Empty if nothing does.
    """
    t, duration = trajectory.t_start, trajectory.t - trajectory.t_start
    if section is not None:
        times = t + duration * (np.arange(_SAMPLES) + _OFFSET) / _SAMPLES
        q, v = trajectory.sample(times)
        states, parameters = np.concatenate([q, v], axis=-1), trajectory.parameters
        extent = np.ptp(states, axis=0)
        if np.max(extent[kept]) <= _MOVES * np.max(np.abs(states[:, kept])):
            return "the motion found stays where it is: an equilibrium has no period; give a guess farther from it"
        slope = section.slope(np.array([t]), states[:1], parameters)[0, : len(flow)]
        if abs(slope @ flow) * duration <= CLEAR * (np.abs(slope) @ extent):
            return "the motion found touches the section and does not cross it; give another section"
        shifted = [times + share * duration for share in (0.0, *_SHARES)]
        terms = [trajectory.dynamics.at(parameters).terms(q, v, t=moved) for moved in shifted]
        found = [[getattr(item, field.name) for item in terms] for field in attrs.fields(Terms)]
        found.append([section.value(moved, states, parameters) for moved in shifted])
        if not all(map(_are_constant, found)):
            return "forces or surfaces, or the section, depend on time: give the period of what drives the mechanism"
    if _ends_alike(trajectory, kept):
        return ""
    return (
        f"what drives the motion is not the same {duration:.6g} later, so that it does not repeat: give a period of "
        "the load, as exactly as by an expression of its parameters"
    )


def _are_constant(values: Sequence[Array]) -> bool:
    """Whether a quantity is the same at all times that were tried."""
    first, *others = values
    limit = ROUNDING * np.max(np.abs(first), initial=0.0)
    return all(bool(np.max(np.abs(other - first), initial=0.0) <= limit) for other in others)


def _ends_alike(trajectory: Trajectory, kept: Sequence[int]) -> bool:
    """Whether the motion from the same state a period later ends in the same state."""
    duration = trajectory.t - trajectory.t_start
    start = State(trajectory.q_start, trajectory.v_start, trajectory.t)
    try:
        again = simulate(
            trajectory.dynamics,
            start,
            t_end=trajectory.t + duration,
            law=trajectory.law,
            parameters=trajectory.parameters,
        )
    except (ComputationError, StateError):  # as where the table is no longer where the body touches it
        return False
    if again.termination is Termination.INTERRUPTED:
        raise KeyboardInterrupt
    ends = np.concatenate([trajectory.q, trajectory.v])[kept], np.concatenate([again.q, again.v])[kept]
    size = float(np.max(np.abs(ends[0]), initial=0.0))
    return again.termination.is_complete and bool(np.max(np.abs(ends[1] - ends[0]), initial=0.0) <= AGREEING * size)
