"""How a small change of a motion passes through an event: the saltation matrix.

A motion as the alternation of smooth segments and of groups of events, with the derivatives of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.modes import ElementKind
from hybrid.tolerances import AGREEING, RANK, ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.analysis.sensitivities.gauss import Segment
    from hybrid.analysis.sensitivities.jumps import Jump
    from hybrid.analysis.sensitivities.mode_system import ModeSystem, Point
    from hybrid.analysis.sensitivities.surfaces import EventSurface
    from hybrid.dynamics.partials import Partials
    from hybrid.motion.recorded import Event
    from hybrid.motion.trajectory import Trajectory

__all__ = [
    "Crossing",
    "EventGroup",
    "EventMap",
    "Passing",
    "Replay",
    "admissible",
    "agreed_map",
    "held_rows",
    "passing",
]


Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class EventGroup:
    """Events at one instant between two segments, with the derivatives through them.

    Attributes
    ----------
    events : tuple of Event
    map : EventMap
    """

    events: tuple[Event, ...]
    map: EventMap


@attrs.frozen(eq=False)
class Replay:
    """A motion as an alternation of segments and groups of events.

    Attributes
    ----------
    trajectory : Trajectory
    partials : Partials
    opening : EventGroup or None
        Events at the very start.
    segments : tuple of Segment
    event_groups : tuple of EventGroup
        After each segment but the last; after the last as well where an event ends the motion.
    """

    trajectory: Trajectory
    partials: Partials
    opening: EventGroup | None
    segments: tuple[Segment, ...]
    event_groups: tuple[EventGroup, ...]

    @property
    def t_end(self) -> float:
        """Time at which the motion ends."""
        return float(self.segments[-1].knots[-1])

    @property
    def end(self) -> Array:
        """State (2n,) at the end."""
        return np.asarray(self.segments[-1].states[-1])


_GRAZING = ROOT  # of the terms of a guard's rate: below it the event time has no derivative that floats can tell
_ALIKE = AGREEING  # of the larger of two derivatives that must agree


@attrs.frozen(eq=False)
class Crossing:
    """One surface met at an instant: the states around it, and the derivatives of its time.

    Attributes
    ----------
    before, after : array, (2n,)
    state, parameter : array, (2n,) and (c,)
        Derivatives of the time with respect to the state before the instant and the parameters; zero where the time
        is given.
    """

    before: Array
    after: Array
    state: Array
    parameter: Array


@attrs.frozen(eq=False)
class EventMap:
    """Derivatives at an event, at the nominal time: ``dx+ = S dx- + S_p dp``.

    ``S = R_x + (f+ - R_x f- - R_t) G_x / (G_x f- + G_t)`` for the surface ``G(x, p, t) = 0`` and the reset
    ``x+ = R(x-, p, t)`` (Aizerman and Gantmakher 1958; Leine and Nijmeijer 2004, eq. 7.37, with moving surfaces).

    Attributes
    ----------
    t : float
    matrix : array, (2n, 2n)
        ``S``, the saltation matrix.
    parameter : array, (2n, c)
        ``S_p``.
    orders : tuple of tuple of Crossing
        The surfaces met, one after the other; several orders where several are met at once.
    """

    t: float
    matrix: Array
    parameter: Array
    orders: tuple[tuple[Crossing, ...], ...]

    @property
    def before(self) -> Array:
        """State (2n,) before the event."""
        return self.orders[0][0].before

    @property
    def after(self) -> Array:
        """State (2n,) after the event."""
        return self.orders[0][-1].after

    @property
    def has_one_time(self) -> bool:
        """True if all surfaces that are met at once are so for every change of the motion."""
        first = self.orders[0][0]
        return all(
            _are_alike(first.state, item.state) and _are_alike(first.parameter, item.parameter)
            for item in self.orders[0]
        )


@attrs.frozen(eq=False)
class Passing:
    """What happens at an event: its surface, reset, and the modes on either side.

    Attributes
    ----------
    before : Point
    after : Point or None
        None where the motion ends.
    surface : EventSurface or None
        None for an event whose time is given.
    jump : Jump
    """

    before: Point
    after: Point | None
    surface: EventSurface | None
    jump: Jump

    def map(self) -> EventMap:
        """Derivatives through the event.

        Raises
        ------
        NoDerivative
            The motion touches the surface without crossing it.
        """
        before = self.before
        size, f = len(before.f), before.f
        total = self.jump.slopes.shape[1]
        t, y = float(before.at.t[0]), before.at.y[0]
        reset, drift = self.jump.slopes[:, :size], self.jump.slopes[:, size]
        time = np.zeros(total)
        if self.surface is not None:
            rate, scale = self.surface.rate(before), self.surface.size(before)
            if not abs(rate) > _GRAZING * scale:
                what = f"{self.surface.element!r} grazes: its guard ({self.surface.words})"
                raise NoDerivative(f"{what} reaches zero with rate {rate:.3g}")
            time = -self.surface.slope(before) / rate
        f_after = np.zeros(size) if self.after is None else self.after.f
        shift = reset @ f + drift - f_after
        return EventMap(
            t=t,
            matrix=reset + np.outer(shift, time[:size]),
            parameter=self.jump.slopes[:, size + 1 :] + np.outer(shift, time[size + 1 :]),
            orders=((Crossing(y, self.jump.y, time[:size], time[size + 1 :]),),),
        )


def passing(before: Point, surface: EventSurface | None, jump: Jump, system_after: ModeSystem | None) -> Passing:
    """What happens at an event, put together.

    Parameters
    ----------
    before : Point
        At the event, in the mode that ends.
    surface : EventSurface or None
        None for an event whose time is given.
    jump : Jump
    system_after : ModeSystem or None
        Of the mode that begins; None where the motion ends.

    Returns
    -------
    Passing
    """
    from hybrid.analysis.sensitivities.mode_system import evaluate_point

    after = None if system_after is None else evaluate_point(system_after, float(before.at.t[0]), jump.y)
    return Passing(before, after, surface, jump)


def held_rows(point: Point) -> Array:
    """Derivatives of what a mode holds at zero: constraints, gaps, their rates, slips of sticking contacts.

    Parameters
    ----------
    point : Point
        In the mode, with c parameters.

    Returns
    -------
    array, (number of rows, 2n + 1 + c)
        With respect to ``(q, v, t, parameters)``.
    """
    rows = [*point.slopes("constraint"), *point.slopes("constraint_dot")]
    gap, gap_dot, slip = (point.slopes(name) for name in ("gap", "gap_dot", "slip"))
    for part in point.system.parts:
        if part.kind is ElementKind.CONTACT and not part.is_open:
            rows += [gap[part.index], gap_dot[part.index]]
        if part.sticks:
            rows += [slip[column] for column in part.columns]
    size = len(point.f) + 1 + point.parameter_slopes.shape[1]
    return np.array(rows).reshape(len(rows), size)


def admissible(point: Point) -> tuple[Array, Array]:
    """Directions that keep what a mode holds, and those that follow parameters.

    Parameters
    ----------
    point : Point
        In the mode, with c parameters.

    Returns
    -------
    free : array, (2n, d)
        Orthonormal columns.
    follow : array, (2n, c)
        Least changes of the state that keep what is held as each parameter changes.
    """
    size = len(point.f)
    rows = held_rows(point)
    states, parameters = rows[:, :size], rows[:, size + 1 :]
    if not len(rows):
        return np.eye(size), np.zeros((size, parameters.shape[1]))
    scale = np.linalg.norm(states, axis=1, keepdims=True)
    scale = np.where(scale > 0.0, scale, 1.0)
    _, singular, right = np.linalg.svd(states / scale)
    rank = int(np.sum(singular > RANK * singular[0]))
    follow = -np.linalg.pinv(states / scale, rcond=RANK) @ (parameters / scale)
    return np.asarray(right[rank:].T), np.asarray(follow)


def agreed_map(passings: Sequence[Passing], reason: str, *, keeps: bool = True) -> EventMap:
    """The map on which all ways through an event agree.

    Parameters
    ----------
    passings : sequence of Passing
    reason : str
        Why there are several ways, for the refusal.
    keeps : bool
        Whether to insist that a changed motion keeps what the mode after the event holds.

    Returns
    -------
    EventMap

    Raises
    ------
    NoDerivative
        They do not agree, or a changed motion would leave the mode after the event.
    """
    maps = [item.map() for item in passings]
    free, follow = admissible(passings[0].before)
    images = [(item.matrix @ free, item.matrix @ follow + item.parameter) for item in maps]
    for other in images[1:]:
        if not all(_are_alike(a, b) for a, b in zip(images[0], other, strict=True)):
            raise NoDerivative(reason)
    after = passings[0].after
    if keeps and after is not None:
        _check_kept(after, *images[0], np.concatenate([free, follow], axis=1))
    return maps[0]


def _are_alike(first: Array, second: Array) -> bool:
    size = max(float(np.max(np.abs(first), initial=0.0)), float(np.max(np.abs(second), initial=0.0)), 1.0)
    return bool(np.max(np.abs(first - second), initial=0.0) <= _ALIKE * size)


def _check_kept(after: Point, free: Array, follow: Array, before: Array) -> None:
    """Insist that images of what the mode before allows, (2n, d) and (2n, c), keep what the mode after holds."""
    size = len(after.f)
    rows = held_rows(after)
    if not len(rows):
        return
    states, parameters = rows[:, :size], rows[:, size + 1 :]
    left = np.concatenate([states @ free, states @ follow + parameters], axis=1)
    image = np.concatenate([free, follow, before], axis=1)
    n = size // 2
    sizes = np.repeat([np.max(np.abs(image[:n]), initial=0.0), np.max(np.abs(image[n:]), initial=0.0)], n)
    terms = np.abs(states) @ sizes + np.max(np.abs(parameters), axis=1, initial=0.0)
    if (np.abs(left) > _ALIKE * terms[:, None]).any():
        raise NoDerivative(
            "the mode that follows does not hold for a changed motion (a restitution of zero, impacts that accumulate)",
            is_proven=False,
        )
