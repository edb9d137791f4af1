"""Whether a motion that closes once repeats itself: it moves, and what drives it is the same a period later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.equations import Terms
from hybrid.tolerances import CLEAR, INTEGRATED, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.dynamics.partials import CompiledExpression
    from hybrid.motion.trajectory import Trajectory

__all__ = ["why_not_periodic"]

Array = NDArray[np.float64]

_SAMPLES = 64
_OFFSET = (3 - np.sqrt(5)) / 2  # of the samples: no load that jumps at a fraction of its period jumps at one of them
_SHARES = (1.0, _OFFSET, np.sqrt(0.5))  # of the period, by which times are shifted
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
    times = t + duration * (np.arange(_SAMPLES) + _OFFSET) / _SAMPLES
    q, v = trajectory.sample(times)
    states, parameters = np.concatenate([q, v], axis=-1), trajectory.parameters
    if section is not None:
        extent = np.ptp(states, axis=0)
        if np.max(extent[kept]) <= _MOVES * np.max(np.abs(states[:, kept])):
            return "the motion found stays where it is: an equilibrium has no period; give a guess farther from it"
        slope = section.slope(np.array([t]), states[:1], parameters)[0, : len(flow)]
        if abs(slope @ flow) * duration <= CLEAR * (np.abs(slope) @ extent):
            return "the motion found touches the section and does not cross it; give another section"
    changes = _changes(trajectory, times, q, v)
    if section is not None:
        values = [section.value(times + share * duration, states, parameters) for share in (0.0, *_SHARES)]
        changes.append(_change(values))
        if any(most > ROUNDING * size for _, most, size in changes):
            return "forces or surfaces, or the section, depend on time: give the period of what drives the mechanism"
    if any(apart > INTEGRATED * most + ROUNDING * size for apart, most, size in changes):
        return (
            f"forces or surfaces are not the same {duration:.6g} later, so that the motion does not repeat: give a "
            "period of what drives the mechanism, as exactly as by an expression of its parameters"
        )
    return ""


def _changes(trajectory: Trajectory, times: Array, q: Array, v: Array) -> list[tuple[float, float, float]]:
    """Of every term of the equations: by how much it differs a period later, at any time, and its size."""
    dynamics, duration = trajectory.dynamics.at(trajectory.parameters), trajectory.t - trajectory.t_start
    shifted = [dynamics.terms(q, v, t=times + share * duration) for share in (0.0, *_SHARES)]
    return [_change([getattr(terms, field.name) for terms in shifted]) for field in attrs.fields(Terms)]


def _change(values: Sequence[Array]) -> tuple[float, float, float]:
    first, later, *others = values
    apart = float(np.max(np.abs(later - first), initial=0.0))
    most = max(apart, *(float(np.max(np.abs(other - first), initial=0.0)) for other in others))
    return apart, most, float(np.max(np.abs(first), initial=0.0))
