"""One smooth arc: followed step by step until a guard falls to zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError, HybridError
from hybrid.motion.events import first_event
from hybrid.motion.horizon import Rest
from hybrid.motion.parts import Guard, GuardKind, spatial_slides
from hybrid.motion.spatial_slip import (
    has_begun,
    passes_by,
    references,
    stop_of_slip,
    unstable_beginning,
    while_it_begins,
)
from hybrid.motion.steps import Step, Stepper

if TYPE_CHECKING:
    from hybrid.motion.events import Watch
    from hybrid.motion.projection import Constraints

__all__ = ["Passage", "follow", "touch_limit"]

Array = NDArray[np.float64]

_EPSILON = float(np.finfo(float).eps)
_STALLED = 256.0  # a step of so few rounding units of the time makes no headway
_PATIENCE = 20
_AHEAD = 16.0  # steps for which the declared dependence on time is judged the first time


@attrs.frozen(eq=False)
class Passage:
    """An arc that was followed.

    Attributes
    ----------
    steps : tuple of Step
    t : float
    y : array, (2n,)
        Where it ended.
    fired : tuple of Guard
        Guards that ended it; empty at the end of the time, and where it failed.
    failure : str or None
        Why no further step was possible.
    interrupted : bool
    error : Exception or None
        What was raised on the way.
    """

    steps: tuple[Step, ...]
    t: float
    y: Array
    fired: tuple[Guard, ...] = ()
    failure: str | None = None
    interrupted: bool = False
    error: Exception | None = None


def follow(
    watch: Watch,
    constraints: Constraints,
    t: float,
    y: Array,
    t_end: float,
    *,
    first_step: float | None,
    rests: bool,
    directions: Mapping[str, Array],
    progress: Callable[[float], None] | None = None,
) -> Passage:
    """Follow a mode's flow until a guard fires, the time ends, or no step is possible.

    Parameters
    ----------
    watch : Watch
    constraints : Constraints
        What the mode holds; positions and velocities are brought back onto it after every step.
    t : float
    y : array, (2n,)
    t_end : float
    first_step : float or None
        Largest first step, so that a short hop is not stepped over.
    rests : bool
        True if the constraints leave no motion: the state stays exactly as it is.
    directions : mapping of str to array (2,)
        Of spatial slips that only begin.
    progress : callable, optional
        Called with the time after every step.

    Returns
    -------
    Passage

    Raises
    ------
    ComputationError
        A slip begins in a direction that no computed motion keeps.
    """
    steps: list[Step] = []
    stalled = 0
    n = len(y) // 2
    start, turns = t, bool(spatial_slides(constraints.parts))
    told = references(constraints, t, y, directions)
    watch.flow.refer(told)
    unstable = unstable_beginning(watch, constraints, t, y, told)
    if unstable is not None:
        raise ComputationError(unstable)
    settings = while_it_begins(watch, told)
    stepper: Rest | Stepper = (
        Rest(watch.resting, t, y, t_end, settings.max_step)
        if rests
        else Stepper(watch.flow.derivative, t, y, t_end, settings, first_step)
    )
    try:
        while True:
            if watch.horizon.is_needed and isinstance(stepper, Stepper):
                stepper.limit(watch.horizon.reach(t, y, _AHEAD * stepper.proposed, t_end) - t)
            step = stepper.step()
            if step is None:
                return Passage(tuple(steps), t, y, failure=stepper.cause)
            found = None
            if not stepper.is_clear:
                found = first_event(watch, step, is_first=watch.signs is None)
            if found is not None:
                last, fired = found
                steps.append(last)
                y = np.concatenate(constraints.project(last.end, last.last[:n], last.last[n:]))
                if fired[0].kind is GuardKind.UNDEFINED:
                    return Passage(tuple(steps), last.end, y, failure=f"{fired[0].carrier!r} has no value beyond")
                if not (turns and passes_by(watch, constraints, last.end, y, fired)):
                    return Passage(tuple(steps), last.end, y, fired)
                t = last.end
                watch.flow.refer(references(constraints, t, y, {}))
                stepper = Stepper(watch.flow.derivative, t, y, t_end, watch.settings, last.end - last.start)
                continue
            steps.append(step)
            stalled = stalled + 1 if step.end - step.start <= _STALLED * _EPSILON * abs(step.end) else 0
            if stalled > _PATIENCE:
                return Passage(tuple(steps), t, y, failure="")
            t = step.end
            if progress is not None:
                progress(t)
            q, v = constraints.project(t, step.last[:n], step.last[n:])
            y = np.concatenate([q, v])
            if stepper.is_finished:
                return Passage(tuple(steps), t, y)
            if turns:
                stop = stop_of_slip(watch, constraints, start, t, y)
                if stop is not None:
                    return Passage((*steps, stop.step), stop.step.end, stop.step.last, (stop.guard,))
                begins = settings is not watch.settings
                watch.flow.refer(references(constraints, t, y, directions if begins else {}))
                if begins and has_begun(watch, constraints, step, y):
                    settings = watch.settings
                    stepper = Stepper(watch.flow.derivative, t, y, t_end, settings, step.end - step.start)
            stepper.correct(y)
    except (KeyboardInterrupt, HybridError, ArithmeticError, ValueError) as error:
        if steps:  # it may have come between a step and its projection
            t, y = steps[-1].end, steps[-1].last
        if isinstance(error, KeyboardInterrupt):
            return Passage(tuple(steps), t, y, interrupted=True)
        return Passage(tuple(steps), t, y, error=error)


def touch_limit(gap_dot: Sequence[float], acceleration: Sequence[float], gaps: Sequence[float]) -> float | None:
    """Largest first step that does not pass a hop: twice its duration, ``2 v / |a|`` for a gap that starts at zero.

    Parameters
    ----------
    gap_dot, acceleration, gaps : sequence of float
        Of the contacts that open, at the start of the arc. A gap that is small but not zero must count: a shorter step
        would drown the hops of other contacts in rounding.

    Returns
    -------
    float or None
    """
    hops = [
        2.0 * (rate + (rate**2 - 2.0 * a * max(gap, 0.0)) ** 0.5) / -a
        for rate, a, gap in zip(gap_dot, acceleration, gaps, strict=True)
        if rate > 0.0 and a < 0.0
    ]
    return min(hops, default=None)
