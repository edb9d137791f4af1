"""One smooth arc: followed step by step until a guard falls to zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.motion.chebyshev import excludes_zero, first_descent
from hybrid.motion.parts import Guard, GuardKind
from hybrid.motion.steps import PLACES, Step, Stepper, constant_step, end_at, resampled

if TYPE_CHECKING:
    from hybrid.motion.flow import Flow
    from hybrid.motion.projection import Constraints
    from hybrid.motion.settings import Settings

Array = NDArray[np.float64]
Functions = Callable[[Array, Array], Array]

SINGULAR_FROM = 1e-7
"""Relative size of the contact's mobility ``A_s`` below which the motion counts as having reached ``A_s = 0``."""
_KNOWN = 1e-9  # a guard this small next to its values over the first step is the zero from which the arc starts
_ROUNDING = 16.0  # a gap or slip this many of its floors from zero is the zero from which the arc starts
_EPSILON = float(np.finfo(float).eps)
_TOGETHER = 1e-11  # guards whose zeros lie closer in time, relative to the time, fire together
_POLISHING = 4
_CLOSE = 3e-9  # of a step: nearer than this an event is reached along the tangent, exact to the square
_STALLED = 256.0  # a step of so few rounding units of the time makes no headway
_PATIENCE = 20


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
    """

    steps: tuple[Step, ...]
    t: float
    y: Array
    fired: tuple[Guard, ...] = ()
    failure: str | None = None
    interrupted: bool = False


@attrs.define(eq=False)
class Watch:
    """The guards of an arc with what is known of them.

    Attributes
    ----------
    flow : Flow
    guards : tuple of Guard
        Of the mode, then the user's.
    functions : callable or None
        The user's functions of ``(t, y)``.
    signs : array or None
        +1, or the sign that makes a guard positive where it may have either sign; known after the first step.
    floors : mapping of int to float
        Rounding of a guard, by position.
    settings : Settings
    """

    flow: Flow
    guards: tuple[Guard, ...]
    functions: Functions | None
    floors: dict[int, float]
    settings: Settings
    signs: Array | None = None
    _levels: Array = attrs.field(init=False)

    @_levels.default
    def _level_of_each(self) -> Array:
        levels = [SINGULAR_FROM if guard.kind is GuardKind.SINGULAR else 0.0 for guard in self.guards]
        return np.array(levels).reshape(-1, 1)

    def values(self, t: Array, y: Array) -> Array:
        """Guards at N states, (number, N), with their signs."""
        values = self.flow.guard_values(t, y)
        if self.functions is not None:
            values = np.concatenate([values, self.functions(t, y)])
        return np.asarray((values if self.signs is None else values * self.signs) - self._levels)

    def orient(self, values: Array) -> Array:
        """Choose the signs from the values over the first step."""
        signs = np.ones((len(self.guards), 1))
        for position, guard in enumerate(self.guards):
            if guard.kind in (GuardKind.SINGULAR, GuardKind.WATCH, GuardKind.UNTIL):
                row = values[position]
                clear = np.abs(row) > _KNOWN * np.max(np.abs(row), initial=0.0)
                signs[position] = -1.0 if clear.any() and row[np.argmax(clear)] < 0 else 1.0
        self.signs = signs
        return np.asarray((values + self._levels) * signs - self._levels)

    def slopes(self, step: Step, s: float) -> Array:
        """Rates of all guards at a point of a step, (number,)."""
        width = 1e-6
        s = min(max(s, width), 1.0 - width)
        around = np.array([s - width, s + width])
        values = self.values(step.time(around), step.at(around))
        return np.asarray((values[:, 1] - values[:, 0]) / (2 * width * (step.end - step.start)))


def follow(
    watch: Watch,
    constraints: Constraints,
    t: float,
    y: Array,
    t_end: float,
    *,
    first_step: float | None,
    rests: bool,
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
    progress : callable, optional
        Called with the time after every step.

    Returns
    -------
    Passage
    """
    steps: list[Step] = []
    stalled = 0
    n = len(y) // 2
    spatial = any(part.slides and len(part.columns) == 2 for part in constraints.parts)
    stepper = None if rests else Stepper(watch.flow.derivative, t, y, t_end, watch.settings, first_step)
    try:
        while True:
            if spatial:
                watch.flow.refer(constraints.terms(t, y[:n], y[n:]).slip)
            step = constant_step(t, t_end, y) if stepper is None else stepper.step()
            if step is None:
                return Passage(tuple(steps), t, y, failure=stepper.cause if stepper else "")
            found = first_event(watch, step, is_first=not steps)
            if found is not None:
                last, fired = found
                steps.append(last)
                q, v = constraints.project(last.end, last.last[:n], last.last[n:])
                return Passage(tuple(steps), last.end, np.concatenate([q, v]), fired)
            steps.append(step)
            stalled = stalled + 1 if step.end - step.start <= _STALLED * _EPSILON * abs(step.end) else 0
            if stalled > _PATIENCE:
                return Passage(tuple(steps), t, y, failure="")
            t = step.end
            if progress is not None:
                progress(t)
            q, v = constraints.project(t, step.last[:n], step.last[n:])
            y = np.concatenate([q, v])
            if stepper is None or stepper.is_finished:
                return Passage(tuple(steps), t, y)
            stepper.correct(y)
    except KeyboardInterrupt:
        if steps:  # it may have come between a step and its projection
            t, y = steps[-1].end, steps[-1].last
        return Passage(tuple(steps), t, y, interrupted=True)


def first_event(
    watch: Watch, step: Step, *, is_first: bool, repeats: bool = True
) -> tuple[Step, tuple[Guard, ...]] | None:
    """The part of a step up to its first event with the guards that fire there, or None.

    Parameters
    ----------
    watch : Watch
    step : Step
    is_first : bool
        True for the first step of an arc, whose guards may start at zero.
    repeats : bool
        True if a shorter step is integrated up to the event; else the step's own series gives the state there.
    """
    values = watch.values(step.time(PLACES), step.at_places())
    if is_first:
        values = watch.orient(values)
    earliest, which = np.inf, -1
    candidates = np.flatnonzero(~excludes_zero(values[:, 1:-1]))
    for position, row in ((int(index), values[index]) for index in candidates):
        start = float(row[0]) if is_first and is_known_zero(watch, position, row) else None
        s = _descent(watch, step, position, row, start)
        if s is not None and s < earliest:
            earliest, which = s, position
    if which < 0:
        return None
    slopes = watch.slopes(step, earliest) if step.end > step.start else np.zeros(len(watch.guards))
    if repeats:
        last = _polished(watch, step, which, earliest, float(slopes[which]))
    else:
        last = resampled(step, float(step.time(earliest)))
    return last, _fired_together(watch, last, which, slopes, step.end - step.start)


def is_known_zero(watch: Watch, position: int, row: Array) -> bool:
    """True if a guard vanishes, up to its rounding, where its values ``row`` over a step begin."""
    size = float(np.max(np.abs(row)))
    if watch.guards[position].kind in (GuardKind.TOUCH, GuardKind.STOP):
        return bool(row[0] <= _ROUNDING * (watch.floors.get(position, 0.0) + _EPSILON * size))
    return bool(abs(row[0]) <= _KNOWN * size)


def _descent(watch: Watch, step: Step, position: int, row: Array, start: float | None) -> float | None:
    def function(s: Array) -> Array:
        return np.asarray(watch.values(step.time(s), step.at(s))[position])

    if not np.isfinite(row).all():
        return None
    floor = watch.floors.get(position, 0.0)
    if start is None and row[0] < 0 and -row[0] <= _KNOWN * np.max(np.abs(row)) + 2 * floor:
        start = float(row[0])  # rounding at the boundary between two steps
    s = first_descent(function, row[1:-1], start=start, floor=floor)
    if s is None and start is None and row[-1] < -floor:
        return 1.0
    return s


def _polished(watch: Watch, step: Step, position: int, s: float, slope: float) -> Step:
    """The step up to the zero of a guard, which is refined by repeating the step (Newton)."""
    duration = step.end - step.start
    t = float(step.time(s))
    if duration <= 0 or np.array_equal(step.first, step.last):
        return attrs.evolve(step, end=t)
    last = None
    for _ in range(_POLISHING):
        reached = end_at(watch.flow.derivative, step, t, watch.settings) if t > step.start else None
        if reached is None:
            break
        (last, rate), end = reached, t
        value = float(watch.values(np.array([t]), last[:, None])[position, 0])
        change = -value / slope if slope else 0.0
        if not abs(change) <= 1e-3 * duration:
            break
        t = max(t + change, step.start)
        if abs(change) <= _CLOSE * duration:
            return resampled(step, t, last + (t - end) * rate)
    return resampled(step, t) if last is None else resampled(step, end, last)


def _fired_together(watch: Watch, last: Step, which: int, slopes: Array, duration: float) -> tuple[Guard, ...]:
    values = watch.values(np.array([last.end]), last.last[:, None])[:, 0]
    limits = -slopes * _TOGETHER * max(abs(last.end), duration)
    return tuple(
        guard
        for position, guard in enumerate(watch.guards)
        if position == which or (slopes[position] < 0 and values[position] <= limits[position])
    )


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
