"""One smooth arc: followed step by step until a guard falls to zero.

Steps of a motion in which nothing moves and only time passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import Guard, GuardKind
from hybrid.contact.table import spatial_slides
from hybrid.errors import ComputationError, HybridError
from hybrid.motion.chebyshev import BETWEEN, NODES, between
from hybrid.motion.events import first_event
from hybrid.motion.spatial_slip import (
    begun,
    has_begun,
    passes_by,
    references,
    stop_of_slip,
    unstable_beginning,
)
from hybrid.motion.steps import Step, Stepper, constant_step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hybrid.dynamics.kinks import LoadJump
    from hybrid.motion.arguments import Settings
    from hybrid.motion.context import Choice, Context
    from hybrid.motion.events import Watch
    from hybrid.motion.projection import Constraints

__all__ = ["FollowedArc", "Rest", "first_step_limit", "flight_limits", "follow", "touch_limit"]


Array = NDArray[np.float64]

_EPSILON = float(np.finfo(float).eps)
_LACK = 0.05  # of what a guard changes by: what its series may lack, as the search for its zeros refines it further
_ROUNDING = 64.0  # rounding units of a guard's values in those of its series, sums of 17 terms of sums of 17
_SHORTEST = 2.0**-50  # of the first step at which a guard is not resolved: what is not in one so short is a jump
_LEAST = 4.0  # rounding units of the time


class Rest:
    """Steps at rest, in the manner of a ``Stepper``: so long that a series resolves every guard as a function of time.

    Where nothing depends on time, that is all the time there is. What happens between the instants of a step and
    leaves no trace at them is not seen, unless ``max_step`` is shorter.

    Parameters
    ----------
    watch : Watch
    t : float
    y : array, (2n,)
    t_end : float
    """

    cause = ""

    def __init__(self, watch: Watch, t: float, y: Array, t_end: float) -> None:
        self._watch, self._t, self._y, self._t_end = watch, t, y, t_end
        self._width, self._shortest = np.inf, 0.0
        self._floors = self._rounding(t)

    def step(self) -> Step:
        """Advance by one step."""
        start = self._t
        width = min(2.0 * self._width, self._watch.settings.max_step, self._t_end - start)
        shortest = self._shortest
        if not self._is_resolved(start, width):
            # rounding next to a pole, where an arc may begin, says little elsewhere
            self._floors = self._rounding(start + width)
        while not (resolved := self._is_resolved(start, width)):
            shortest = shortest or max(_SHORTEST * width, _LEAST * _EPSILON * abs(start))
            if width <= shortest:
                break
            width /= 2.0
        # from a jump, and where a guard is noise, on by steps that double until it is resolved again
        self._width, self._shortest = width, 0.0 if resolved else 2.0 * width
        self._t = self._t_end if width >= self._t_end - start else start + width
        return constant_step(start, self._t, self._y)

    def _rounding(self, t: float) -> Array:
        """Of all guards, that of the user's functions at a time."""
        watch = self._watch
        floors = watch.floors | watch.uncertain(t, self._y)[0] if watch.bands else watch.floors
        return np.array([floors.get(position, 0.0) for position in range(len(watch.guards))])

    def _is_resolved(self, start: float, width: float) -> bool:
        """True if the series of all guards through their values at some instants of a step tell those at others."""
        times = start + width * np.concatenate([NODES, BETWEEN])
        with np.errstate(all="ignore"):
            values = self._watch.unsigned(times, np.repeat(self._y[:, None], len(times), axis=1))
            lack = np.abs(values[:, len(NODES) :] - between(values[:, : len(NODES)])).max(axis=1)
            rounding = _ROUNDING * _EPSILON * np.abs(values).max(axis=1) + self._floors
            return bool((lack <= _LACK * np.ptp(values, axis=1) + rounding).all())

    def correct(self, y: Array) -> None:
        """Replace the present state."""
        self._y = y

    @property
    def is_finished(self) -> bool:
        """True at the end of the time."""
        return self._t >= self._t_end


_STALLED = 256.0  # a step of so few rounding units of the time makes no headway
_PATIENCE = 20
_COLLAPSED, _MANY = 1e-8, 2000  # so many steps below such a share of the longest: rounding of its rates holds an arc


@attrs.frozen(eq=False)
class Trial:
    """The first step of an arc that was tried, with what the arc goes on with.

    Attributes
    ----------
    watch : Watch
    constraints : Constraints
    stepper : Rest or Stepper
        That made the step.
    step : Step
    """

    watch: Watch
    constraints: Constraints
    stepper: Rest | Stepper
    step: Step


@attrs.frozen(eq=False)
class FollowedArc:
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

    @property
    def loses_rank(self) -> bool:
        """True if it ended because its constraints are nearly dependent."""
        return any(guard.kind is GuardKind.RANK for guard in self.fired)


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
    trial: Trial | None = None,
    led_back: Callable[[float, Array], LoadJump | None] | None = None,
) -> FollowedArc:
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
        Largest first step, so that a short bounce is not stepped over.
    rests : bool
        True if the constraints leave no motion: the state stays exactly as it is.
    directions : mapping of str to array (2,)
        Of spatial slips that only begin.
    progress : callable, optional
        Called with the time after every step.
    trial : Trial, optional
        Of the same watch, where the first step has been made.
    led_back : callable, optional
        Which load's jump drives the motion back to a state; looked at now and then.

    Returns
    -------
    FollowedArc

    Raises
    ------
    ComputationError
        A slip begins in a direction that no computed motion keeps.
    """
    settings = watch.settings.of_beginning
    if spatial_slides(constraints.parts):
        known, settings = begun(watch, constraints, t, y, directions)
        unstable = unstable_beginning(watch, constraints, t, y, known)
        if unstable is not None:
            raise ComputationError(unstable)
    stepper: Rest | Stepper
    if trial is not None:
        stepper = trial.stepper
    elif rests:
        stepper = Rest(watch, t, y, t_end)
    else:
        stepper = watch.stepper(t, y, t_end, settings, first_step)
    way = _Way(watch, constraints, t_end, directions, t, y, stepper, settings, None if trial is None else trial.step)
    try:
        while (followed := way.advance()) is None:
            if progress is not None:
                progress(way.t)
            if led_back is not None and len(way.steps) % _PATIENCE == 1 and led_back(way.t, way.y) is not None:
                return way.followed(failure="")
    except (KeyboardInterrupt, HybridError, ArithmeticError, ValueError) as error:
        return way.cut_short(error)
    return followed


@attrs.define(eq=False)
class _Way:
    """An arc under way: the integrator, and how far it has come."""

    watch: Watch
    constraints: Constraints
    t_end: float
    directions: Mapping[str, Array]
    t: float
    y: Array
    stepper: Rest | Stepper
    settings: Settings  # of the stepper
    tried: Step | None  # the first step, where it has been made
    start: float = attrs.field(init=False)
    turns: bool = attrs.field(init=False)
    steps: list[Step] = attrs.field(factory=list)
    longest: float = 0.0  # step
    stalled: int = 0
    collapsed: int = 0

    @start.default
    def _time_of_start(self) -> float:
        return self.t

    @turns.default
    def _has_spatial_slides(self) -> bool:
        return bool(spatial_slides(self.constraints.parts))

    def advance(self) -> FollowedArc | None:
        """Make one step; what was followed if the arc ends in it."""
        step, self.tried = self.tried or self.stepper.step(), None
        if step is None:
            return self.followed(failure=self.stepper.cause)
        is_first = self.watch.signs is None
        found = first_event(self.watch, step, is_first=is_first) if self.watch.guards else None
        return self._pass(step) if found is None else self._at_event(*found)

    def followed(self, **how: Any) -> FollowedArc:
        """What was followed up to here."""
        return FollowedArc(tuple(self.steps), self.t, self.y, **how)

    def _projected(self, t: float, y: Array) -> Array:
        if self.constraints.is_empty:
            return y
        n = len(y) // 2
        return np.concatenate(self.constraints.project(t, y[:n], y[n:]))

    def _at_event(self, last: Step, fired: tuple[Guard, ...]) -> FollowedArc | None:
        """Go to an event; what was followed, unless it is one of a spatial slip that passes by zero."""
        self.steps.append(last)
        is_at_kink = any(guard.kind is GuardKind.KINK for guard in fired)  # of either direction of the surface
        self.t, self.y = last.end, last.last if is_at_kink else self._projected(last.end, last.last)
        if fired[0].kind is GuardKind.UNDEFINED:
            return self.followed(failure=f"{fired[0].element!r} has no value beyond")
        if not (self.turns and passes_by(self.watch, self.constraints, self.t, self.y, fired)):
            return self.followed(fired=fired)
        if last.end == last.start:  # it has passed by already, and is where it was
            names = ", ".join(repr(guard.element) for guard in fired)
            return self.followed(failure=f"the slip of {names} vanishes, and has no direction to go on in")
        self.watch.flow.set_references(references(self.constraints, self.t, self.y, {}, self.watch.settings))
        self._restart(self.watch.settings, last.end - last.start)
        return None

    def _restart(self, settings: Settings, first_step: float, held: float = 0.0) -> None:
        self.settings = settings
        self.stepper = self.watch.stepper(self.t, self.y, self.t_end, settings, first_step, held)

    def _pass(self, step: Step) -> FollowedArc | None:
        """Go to the end of a step without events, back onto the constraints."""
        self.steps.append(step)
        duration = step.end - step.start
        self.longest = max(self.longest, duration)
        self.stalled = self.stalled + 1 if duration <= _STALLED * _EPSILON * abs(step.end) else 0
        self.collapsed = self.collapsed + 1 if duration <= _COLLAPSED * self.longest else 0
        self.t, self.y = step.end, self._projected(step.end, step.last)
        if self.stalled > _PATIENCE or self.collapsed > _MANY:
            return self.followed(failure="")
        if self.stepper.is_finished:
            return self.followed()
        stopped = self._turn(step) if self.turns else None
        if stopped is None and not self.turns and self._has_begun():
            self._restart(self.watch.settings, step.end - step.start)
        elif stopped is None:
            if self.y is not step.last:
                self.stepper.correct(self.y)
            if isinstance(self.stepper, Stepper) and self.stepper.is_stiff:
                self._go_over("Radau", step.end - step.start)
            elif isinstance(self.stepper, Stepper) and self.stepper.is_slower:
                self._go_over("DOP853", step.end - step.start)
        return stopped

    def _has_begun(self) -> bool:
        """True if the fine steps of a beginning have led to where the settings asked for see every gap open."""
        settings = self.watch.settings
        if not self.watch.slip_begins(self.settings) or isinstance(self.stepper, Rest):
            return False
        open_ = [at for at, guard in enumerate(self.watch.guards) if guard.kind is GuardKind.TOUCHDOWN]
        if not open_ or len(self.steps) > _PATIENCE:
            return True
        errors = settings.atol * settings.sizes + settings.rtol * np.abs(self.y)
        around = np.column_stack([self.y, self.y[:, None] + np.diag(errors)])
        gaps = self.watch.values(np.full(around.shape[1], self.t), around)[open_]
        return bool((gaps[:, 0] > np.abs(gaps[:, 1:] - gaps[:, :1]).sum(axis=1)).all())

    def _go_over(self, stepper: Literal["DOP853", "Radau"], duration: float) -> None:
        """Go on by the other method: by the implicit one where an arc is stiff, and back where that does not pay."""
        begins = self.watch.slip_begins(self.settings)
        self.watch.settings = attrs.evolve(self.watch.settings, stepper=stepper)
        settings = attrs.evolve(self.settings, stepper=stepper) if begins else self.watch.settings
        self._restart(settings, duration, held=duration)

    def _turn(self, step: Step) -> FollowedArc | None:
        """Look after spatial slips: what was followed if one ends soon, which no step of the integrator reaches."""
        watch, constraints, t, y = self.watch, self.constraints, self.t, self.y
        begins = watch.slip_begins(self.settings)
        directions = self.directions if begins else {}
        stop = stop_of_slip(watch, constraints, self.start, t, y, directions)
        if stop is not None:
            last, fired = stop
            return FollowedArc((*self.steps, last), last.end, last.last, fired)
        watch.flow.set_references(references(constraints, t, y, directions, watch.settings))
        if begins and has_begun(watch, constraints, step, y):
            self._restart(watch.settings, step.end - step.start)
        return None

    def cut_short(self, error: BaseException) -> FollowedArc:
        """What was followed up to where something was raised."""
        if self.steps:  # it may have come between a step and its projection
            self.t, self.y = self.steps[-1].end, self.steps[-1].last
        if isinstance(error, Exception):
            return self.followed(error=error)
        return self.followed(interrupted=True)


def touch_limit(gap_dot: Sequence[float], acceleration: Sequence[float], gaps: Sequence[float]) -> float | None:
    """Largest first step that does not pass a bounce: twice its duration, ``2 v / |a|`` for a gap that starts at zero.

    Parameters
    ----------
    gap_dot, acceleration, gaps : sequence of float
        Of the contacts that open, at the start of the arc. A gap that is small but not zero must count: a shorter step
        would drown the bounces of other contacts in rounding.

    Returns
    -------
    float or None
    """
    limit = float(np.min(flight_limits(*map(np.asarray, (gap_dot, acceleration, gaps))), initial=np.inf))
    return limit if limit < np.inf else None


def flight_limits(gap_dot: Array, acceleration: Array, gap: Array) -> Array:
    """Twice the durations of flights with constant accelerations; infinite where nothing comes back.

    Parameters
    ----------
    gap_dot, acceleration, gap : array, (...)
        At the start, where a gap below zero counts as zero.

    Returns
    -------
    array, (...)
    """
    returns = (gap_dot > 0.0) & (acceleration < 0.0)
    rate, a = np.where(returns, gap_dot, 1.0), np.where(returns, acceleration, -1.0)
    lasts = 2.0 * (rate + np.sqrt(rate**2 - 2.0 * a * np.maximum(gap, 0.0))) / -a
    return np.asarray(np.where(returns, lasts, np.inf))


def first_step_limit(context: Context, choice: Choice, t: float, y: NDArray[np.float64]) -> float | None:
    """Largest first step of a mode's arc, so that no bounce of a contact that opens is stepped over.

    Parameters
    ----------
    context : Context
    choice : Choice
    t : float
    y : array, (2n,)
        Where the arc starts.

    Returns
    -------
    float or None
        None where no contact opens.
    """
    n = context.dynamics.n
    open_ = [part.index for part in context.flow(choice).parts if part.is_open]
    if not open_:
        return None
    terms = context.terms(t, y[:n], y[n:])
    closed = context.settings.tolerances.gap * context.scales(t, y[:n], y[n:], terms).gap
    near = [index for index in open_ if terms.gap[index] <= closed[index]]
    if not near:
        return None
    acceleration = context.flow(choice).observe(np.array([t]), y[:, None]).acceleration[:, 0]
    rates = [float(terms.gap_dot[index]) for index in near]
    normal = [float(terms.W_N[:, index] @ acceleration + terms.zeta_N[index]) for index in near]
    return touch_limit(rates, normal, [float(terms.gap[index]) for index in near])
