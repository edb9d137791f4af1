"""What ends an arc: the guards along a step, and the first of them that falls to zero.

Functions that jump, or have no value from some time on.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import USERS, Guard, GuardKind, outer_guard
from hybrid.motion.chebyshev import NODES, bracketed, evaluate, excludes_zero, first_descent, halved
from hybrid.motion.steps import PLACES, Step, Stepper, end_at, resampled
from hybrid.tolerances import AGREEING, CLEAR, FINE_STEP, INTEGRATED, LONG_STEP, NOTHING

if TYPE_CHECKING:
    from hybrid.motion.arguments import Settings
    from hybrid.motion.numeric import Flow

__all__ = [
    "CLOSE",
    "LANDING",
    "SINGULAR_FROM",
    "Functions",
    "Watch",
    "first_event",
    "is_known_zero",
    "loss",
]


Array = NDArray[np.float64]
Function = Callable[[Array], Array]

_SMALL = CLEAR  # of its usual size over the step: a function this large where it changes its sign jumps


def loss(function: Function, row: Array, *, start: float | None = None, floor: float = 0.0) -> tuple[float, bool]:
    """Where a function of [0, 1] falls below zero, or is finite for the last time.

    Parameters
    ----------
    function : callable
        Array of points in [0, 1] to array of values.
    row : array, (19,)
        Its values at ``PLACES``, not all of them finite.
    start : float, optional
        Its value at 0 if that is a known zero.
    floor : float
        What counts as below zero only beyond this.

    Returns
    -------
    s : float
    is_lost : bool
        False if the function falls below zero before.

    Examples
    --------
    >>> root = lambda s: np.sqrt(np.where(s > 0.3, np.nan, 0.3 - s))
    >>> s, is_lost = loss(root, root(PLACES))
    >>> round(s, 12), is_lost
    (0.3, True)
    """
    first = int(np.argmin(np.isfinite(row)))
    if first == 0:
        return 0.0, True
    low, _ = halved(float(PLACES[first - 1]), float(PLACES[first]), lambda s: bool(np.isfinite(function(s)[0])))
    values = function(NODES * low)
    if not np.isfinite(values).all():
        return low, True
    zero = first_descent(lambda s: function(s * low), values, start=start, floor=floor)
    return (low, True) if zero is None else (zero * low, False)


Functions = Callable[[Array, Array], Array]

SINGULAR_FROM = AGREEING
"""Relative size of the contact's mobility ``A_s`` below which the motion counts as having reached ``A_s = 0``."""
CLOSE = 3e-9
"""Of a step: nearer than this an event is reached along the tangent, exact to the square."""
LANDING = 1e-3
"""Of a step: nearer than this the tangent at a point of the motion is worth following to the event."""
_KNOWN = NOTHING  # a guard this small next to its values over the first step is the zero from which the arc starts
_ROUNDING = 16.0  # a gap or slip this many of its floors from zero is the zero from which the arc starts
_EPSILON = float(np.finfo(float).eps)
_TOGETHER = INTEGRATED  # guards whose zeros lie closer in time, relative to the time, fire together
_UNSIGNED = (GuardKind.SINGULAR, GuardKind.KINK, *USERS)
_POLISHING = 4
_CERTAIN = CLEAR  # of a function's values: what is uncertain of it where an arc begins next to a pole is much more
_LEAP = 1e6  # roundings of a gap that no velocity closes within those of the time
_PAST = 16.0  # times the distance from a jump at which a function has been seen beyond it


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
        +1, or the sign that makes a guard positive where it may have either sign; known after the first step in which
        it differs from zero, and 0 until then.
    is_decided : bool
        True if no sign is 0.
    floors : mapping of int to float
        Rounding of a guard, by position.
    bands : mapping of int to float
        What the error of integration leaves open of the user's functions, by position: one that stays within is zero.
    settings : Settings
    uncertain : callable
        Floors and tolerance bands of the user's functions at a time and state.
    rounded : callable
        Floors of gaps and slips at a time and state.
    """

    flow: Flow
    guards: tuple[Guard, ...]
    functions: Functions | None
    floors: dict[int, float]
    bands: dict[int, float]
    uncertain: Callable[[float, Array], tuple[dict[int, float], dict[int, float]]]
    rounded: Callable[[float, Array], dict[int, float]]
    settings: Settings
    signs: Array | None = None
    is_decided: bool = False
    _levels: Array = attrs.field(init=False)

    @_levels.default
    def _level_of_each(self) -> Array:
        levels = [SINGULAR_FROM if guard.kind is GuardKind.SINGULAR else 0.0 for guard in self.guards]
        return np.array(levels).reshape(-1, 1)

    @property
    def is_regular(self) -> bool:
        """Whether every ``A_s`` is known to be positive: what slides alone has one answer to every load."""
        at = [position for position, guard in enumerate(self.guards) if guard.kind is GuardKind.SINGULAR]
        return self.signs is not None and bool((self.signs[at] > 0.0).all())

    def slip_begins(self, settings: Settings) -> bool:
        """Whether settings are those with which a spatial slip begins (`while_it_begins`), not the watch's own."""
        return settings is not self.settings

    def stepper(
        self, t: float, y: Array, t_end: float, settings: Settings, first_step: float | None = None, held: float = 0.0
    ) -> Stepper:
        """The integrator of the arc from a time and state."""
        begins = self.slip_begins(settings)
        return Stepper(self.flow.derivative, t, y, t_end, settings, first_step, held, slip_begins=begins)

    def values(self, t: Array, y: Array) -> Array:
        """Guards at N states, (number, N), with their signs."""
        values = self.unsigned(t, y)
        return np.asarray((values if self.signs is None else values * self.signs) - self._levels)

    def unsigned(self, t: Array, y: Array) -> Array:
        """Guards at N states, (number, N), as they are."""
        values = self.flow.guard_values(t, y)
        return values if self.functions is None else np.concatenate([values, self.functions(t, y)])

    def oriented(self, t: Array, y: Array) -> Array:
        """Guards at the instants of a step; signs that are not known yet are chosen from them."""
        if self.is_decided:
            return self.values(t, y)
        known, self.signs = self.signs, None
        values = self.values(t, y)
        signs = np.ones((len(self.guards), 1)) if known is None else known
        for position, guard in enumerate(self.guards):
            if guard.kind in _UNSIGNED and (known is None or not known[position]):
                row = values[position] + self._levels[position]
                self.renew(position, row, float(t[-1]), y[:, -1])
                open_ = max(self.bands.get(position, 0.0), _ROUNDING * self.floors.get(position, 0.0))
                within = row[: self._n_within(values)] if guard.kind in USERS else row
                clear = np.abs(within) > max(_KNOWN * np.max(np.abs(row[np.isfinite(row)]), initial=0.0), open_)
                clear &= ~np.isinf(within)  # a pole has no side
                undecided = 0.0 if guard.kind in USERS and np.isfinite(row).all() else 1.0
                signs[position] = np.sign(within[np.argmax(clear)]) if clear.any() else undecided
        self.signs, self.is_decided = signs, bool(signs.all())
        return np.asarray((values + self._levels) * signs - self._levels)

    def _n_within(self, values: Array) -> int:
        """At how many of the instants of a step the mode has not ended."""
        ends = (values[[guard.kind not in _UNSIGNED for guard in self.guards], 1:] < 0.0).any(axis=0)
        return int(np.argmax(ends)) + 1 if ends.any() else values.shape[1]

    def renew(self, position: int, row: Array, t: float, y: Array) -> None:
        """Ask anew what is uncertain of a user's function, if next to a pole it was more than its values ``row``."""
        if position not in self.bands:
            return
        stored = max(self.floors[position], self.bands[position])
        if stored <= _CERTAIN * np.abs(row).min():  # soon told, and so it is nearly always
            return
        limit = _CERTAIN * float(np.median(np.abs(row)))
        if stored <= limit:
            return
        floors, bands = self.uncertain(t, y)
        if max(floors[position], bands[position]) < limit:
            self.floors[position], self.bands[position] = floors[position], bands[position]

    def grow(self, t: float, y: Array) -> None:
        """Raise the floors of gaps and slips to what cancels in them at a state, where the motion may be larger."""
        for position, floor in self.rounded(t, y).items():
            if self.floors[position] < floor < np.inf:
                self.floors[position] = floor

    def slopes(self, step: Step, s: float) -> Array:
        """Rates of all guards at a point of a step, (number,)."""
        width = FINE_STEP
        s = min(max(s, width), 1.0 - width)
        around = np.array([s - width, s + width])
        values = self.values(step.time(around), step.at(around))
        return np.asarray((values[:, 1] - values[:, 0]) / (2 * width * (step.end - step.start)))


def first_event(
    watch: Watch, step: Step, *, is_first: bool, repeats: bool = True, turned: frozenset[int] = frozenset()
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
    turned : frozenset of int
        Positions of the user's functions that were seen to begin at zero towards the other side.

    Returns
    -------
    (Step, tuple of Guard) or None
        None if no guard falls to zero within the step.
    """
    values = watch.oriented(step.time(PLACES), step.at_places())
    is_clear = excludes_zero(values[:, 1:-1]) & (values[:, -1] >= 0.0) & (values[:, -1] < np.inf)
    if watch.signs is not None and not watch.is_decided:
        is_clear |= watch.signs[:, 0] == 0.0
    candidates = np.flatnonzero(~is_clear).tolist()
    if not candidates:
        return None
    if any(watch.guards[position].kind in (GuardKind.TOUCHDOWN, GuardKind.SLIP) for position in candidates):
        watch.grow(step.end, step.last)
    found = [(_fall(watch, step, position, values[position], is_first), position) for position in candidates]
    (s, fall), which = min(((item, position) for item, position in found if item), default=((0.0, None), -1))
    if fall is None:
        return None
    t, guard = float(step.time(s)), watch.guards[which]
    is_at_once = is_first and fall is _Fall.ZERO and t <= step.start
    if is_at_once and guard.kind in USERS and watch.signs is not None and which not in turned:
        watch.signs[which] *= -1.0
        return first_event(watch, step, is_first=is_first, repeats=repeats, turned=turned | {which})
    if fall is _Fall.LOSS:
        return resampled(step, t), (outer_guard(GuardKind.UNDEFINED, *guard.elements),)
    if fall is _Fall.JUMP:
        last = _past_jump(watch, step, which, t)
        past = watch.values(np.array([last.end]), last.last[:, None])[:, 0]
        sizes = _SMALL * np.max(np.abs(values), axis=1, where=np.isfinite(values), initial=0.0)
        for at, other in enumerate(watch.guards):  # what passes zero there, and need not jump
            if other.kind in (GuardKind.KINK, *USERS) and values[at, 0] > _negligible(watch, at, values[at]):
                sizes[at] = 0.0
        if guard.kind is GuardKind.TOUCHDOWN and past[which] < -sizes[which] - _LEAP * watch.floors.get(which, 0.0):
            return last, (outer_guard(GuardKind.KINK, *guard.elements),)  # the surface has leapt into the body
        return last, tuple(g for at, g in enumerate(watch.guards) if at == which or past[at] < -sizes[at])
    slopes = watch.slopes(step, s) if step.end > step.start else np.zeros(len(watch.guards))
    last = _polished(watch, step, which, s, float(slopes[which])) if repeats else resampled(step, t)
    return last, _fired_together(watch, step, last, which, slopes, np.abs(values).max(axis=1))


class _Fall(IntEnum):
    """How a guard ends an arc."""

    ZERO = 0
    JUMP = 1
    LOSS = 2


def _fall(watch: Watch, step: Step, position: int, row: Array, is_first: bool) -> tuple[float, _Fall] | None:
    """Where on a step a guard falls below zero, jumps there, or has no value from then on."""
    watch.renew(position, row, step.end, step.last)
    if is_first and np.isinf(row[0]):
        row = np.concatenate([row[1:2], row[1:]])  # the pole from which the arc starts
    start = float(row[0]) if is_first and is_known_zero(watch, position, row) else None
    if start is not None and start < 0.0 and watch.guards[position].kind is GuardKind.TOUCHDOWN:
        # a position that is brought to zero keeps the rounding of where it has been, which is more than its own
        rounding = _EPSILON * float(np.max(watch.settings.sizes[: len(step.first) // 2]))
        watch.floors[position] = max(watch.floors.get(position, 0.0), min(-start, rounding))
    if np.isinf(row[1:-1]).any() and not np.isnan(row).any():
        place = bracketed(_function(watch, step, position), PLACES, row < 0.0)
        return None if place is None else (place, _Fall.JUMP)
    if np.isnan(row).any():
        floor = watch.floors.get(position, 0.0)
        s, is_lost = loss(_function(watch, step, position), row, start=start, floor=floor)
        return s, _Fall.LOSS if is_lost else _Fall.ZERO
    if not is_first and watch.guards[position].kind in USERS and row[0] < -_negligible(watch, position, row):
        return 0.0, _Fall.JUMP  # between two steps
    fallen = _descent(watch, step, position, row, start)
    if fallen is None:
        return None
    function, is_users = _function(watch, step, position), watch.guards[position].kind in USERS
    size = float(np.median(np.abs(row)) if is_users else np.abs(row).max())  # near a pole the largest tells nothing
    rounding = _ROUNDING * watch.floors.get(position, 0.0)  # which is much in a bounce of a few microseconds
    value = float(function(np.array([fallen]))[0])
    is_instant = step.end - step.start <= _PAST * _EPSILON * abs(step.end)  # a step that found no more of a jump
    if abs(value) <= _SMALL * size + rounding and not is_instant:
        return fallen, _Fall.ZERO
    # a zero of a series that does not follow a jump is none, and a jump may lie between the points of two series
    at, begins = int(np.searchsorted(PLACES, fallen)), 0.0 if start is not None else row[0]
    known = np.insert(np.concatenate([[begins], row[1:]]), at, value)
    place = bracketed(function, np.insert(PLACES, at, fallen), known < 0.0)
    if place is None:
        return (fallen, _Fall.JUMP) if value < 0.0 and not is_users else None
    return place, _Fall.JUMP


def is_known_zero(watch: Watch, position: int, row: Array) -> bool:
    """True if a guard vanishes, up to its rounding or the error of integration, where its values over a step begin.

    Parameters
    ----------
    watch : Watch
    position : int
        Of the guard.
    row : array, (19,)
        Its values at ``PLACES``.

    Returns
    -------
    bool
    """
    size = float(np.max(np.abs(row[np.isfinite(row)]), initial=0.0))
    if watch.guards[position].kind in (GuardKind.TOUCHDOWN, GuardKind.SLIP):
        return bool(row[0] <= _ROUNDING * (watch.floors.get(position, 0.0) + _EPSILON * size))
    rounding = max(_ROUNDING * watch.floors.get(position, 0.0), watch.bands.get(position, 0.0))
    return bool(abs(row[0]) <= _KNOWN * size + rounding)


def _function(watch: Watch, step: Step, position: int) -> Callable[[Array], Array]:
    """One guard along a step, a function of [0, 1]."""
    return lambda s: np.asarray(watch.values(step.time(s), step.at(s))[position])


def _negligible(watch: Watch, position: int, row: Array) -> float:
    """What a value where a step begins may be by rounding alone."""
    return float(_KNOWN * np.max(np.abs(row)) + 2 * watch.floors.get(position, 0.0))


def _descent(watch: Watch, step: Step, position: int, row: Array, start: float | None) -> float | None:
    # what begins at zero has the sign that it has beyond the error of integration, and within it any
    floor = max(watch.floors.get(position, 0.0), 0.0 if start is None else watch.bands.get(position, 0.0))
    if start is None and -_negligible(watch, position, row) <= row[0] < 0:
        start = float(row[0])  # rounding at the boundary between two steps
    function = _function(watch, step, position)
    s = first_descent(function, row[1:-1], start=start, floor=floor)
    if s == 0.0 and start is None and row[0] >= 0.0:  # it falls before the first of the points
        return bracketed(function, PLACES, row < -floor) or s
    if s is None and start is None and row[-1] < -floor:  # or behind the last
        return bracketed(function, PLACES, row < -floor) or 1.0
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
        if not abs(change) <= LANDING * duration:
            break
        t = max(t + change, step.start)
        if abs(change) <= CLOSE * duration:
            return resampled(step, t, last + (t - end) * rate)
    return resampled(step, t) if last is None else resampled(step, end, last)


def _past_jump(watch: Watch, step: Step, position: int, t: float) -> Step:
    """The step up to so far beyond a jump that what comes of rounding, and of a projection, does not take it back."""
    width = _EPSILON * max(abs(t), step.end - step.start)
    latest = step.end + _PAST * width  # beyond the step, too: a jump may lie at its very end, with a value between
    while True:
        last = resampled(step, min(t + width, step.end))
        if watch.values(np.array([last.end]), last.last[:, None])[position, 0] < 0.0:
            return resampled(step, min(t + _PAST * width, latest))
        if last.end >= step.end:
            return last
        width *= 2.0


def _fired_together(watch: Watch, step: Step, last: Step, which: int, slopes: Array, sizes: Array) -> tuple[Guard, ...]:
    """The guard that fires, and those whose tangents fall to zero at once.

    Where a spatial slip ends its direction is rounding, and so is the rate of what depends on it: a guard that is not
    yet less than half of its largest value (in ``sizes``) is not about to vanish. At a double zero the tangent is
    rounding, too: of the user's functions only those that are below zero soon after the event fire with it. A
    friction may be zero, and what becomes of it after the event is not told by the motion before.
    """
    values = watch.values(np.array([last.end]), last.last[:, None])[:, 0]
    duration = step.end - step.start
    limits = np.minimum(-slopes * _TOGETHER * max(abs(last.end), duration), sizes / 2)
    about = np.flatnonzero((slopes < 0) & (values <= limits)).tolist()
    others = [at for at in about if at != which and watch.guards[at].kind is not GuardKind.FRICTION]
    if any(watch.guards[at].kind in USERS for at in others):
        soon = np.array([(last.end - step.start) / duration + LONG_STEP if duration > 0 else 0.0])
        # by the series itself, which goes on where the step ends
        beyond = watch.values(step.time(soon), evaluate(step.coefficients, soon))[:, 0]
        others = [at for at in others if watch.guards[at].kind not in USERS or beyond[at] < -watch.floors.get(at, 0.0)]
    return tuple(watch.guards[at] for at in sorted([which, *others]))
