"""How a small change of a motion passes through an event: the saltation matrix.

A motion as the alternation of smooth segments and of groups of events, with the derivatives of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.mode_system import Point, evaluate_point
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.modes import ElementKind
from hybrid.tolerances import AGREEING, RANK, ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.analysis.sensitivities.gauss import Segment
    from hybrid.analysis.sensitivities.jumps import Jump
    from hybrid.analysis.sensitivities.mode_system import ModeSystem
    from hybrid.analysis.sensitivities.surfaces import EventSurface
    from hybrid.dynamics.partials import Partials
    from hybrid.motion.recorded import Event
    from hybrid.motion.trajectory import Trajectory

__all__ = [
    "Crossing",
    "EventMap",
    "Replay",
    "admissible",
    "agreed_map",
    "chained",
    "check_jumps",
    "crossing",
    "held_rows",
]


Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Replay:
    """A motion as an alternation of segments and groups of events.

    Attributes
    ----------
    trajectory : Trajectory
    partials : Partials
    opening : EventMap or None
        Events at the very start.
    segments : tuple of Segment
    event_groups : tuple of EventMap
        After each segment but the last; after the last as well where an event ends the motion.
    """

    trajectory: Trajectory
    partials: Partials
    opening: EventMap | None
    segments: tuple[Segment, ...]
    event_groups: tuple[EventMap, ...]

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
    slope : array, (2n + 1 + c,)
        Derivatives of the time with respect to ``(q, v, t, parameters)`` before the instant; zero where the time is
        given.
    """

    before: Array
    after: Array
    slope: Array


@attrs.frozen(eq=False)
class EventMap:
    """Derivatives at an event, at the nominal time: ``dx+ = S dx- + S_p dp``.

    ``S = R_x + (f+ - R_x f- - R_t) G_x / (G_x f- + G_t)`` for the surface ``G(x, p, t) = 0`` and the reset
    ``x+ = R(x-, p, t)`` (Aizerman and Gantmakher 1958; Leine and Nijmeijer 2004, eq. 7.37, with moving surfaces).

    Attributes
    ----------
    t : float
    slopes : array, (2n, 2n + 1 + c)
        ``(S, 0, S_p)``, of the state after with respect to ``(q, v, t, parameters)``.
    orders : tuple of tuple of Crossing
        The surfaces met, one after the other; several orders where several are met at once.
    events : tuple of Event
        What happens.
    """

    t: float
    slopes: Array
    orders: tuple[tuple[Crossing, ...], ...]
    events: tuple[Event, ...] = ()

    @property
    def matrix(self) -> Array:
        """The saltation matrix ``S``, (2n, 2n)."""
        return self.slopes[:, : len(self.slopes)]

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
        first, *others = (_blocks(item.slope, len(self.slopes)) for item in self.orders[0])
        return all(_are_alike(first, other) for other in others)

    def carried(self, changes: Array) -> Array:
        """Changes of ``(q, v, t, parameters)`` after the event from those before it, (2n + 1 + c, m)."""
        return np.concatenate([self.slopes @ changes, changes[len(self.slopes) :]])

    def pulled(self, covector: Array) -> Array:
        """What multiplies changes before the event, (2n + 1 + c,), from what multiplies those after it."""
        size = len(self.slopes)
        return np.concatenate([np.zeros(size), covector[size:]]) + covector[:size] @ self.slopes


def chained(first: Array, second: Array) -> Array:
    """Derivatives of a second step after those of a first, at one time and with the same parameters.

    Parameters
    ----------
    first : array, (2n, 2n + 1 + c)
        Of the state between them with respect to ``(q, v, t, parameters)``.
    second : array, (..., 2n + 1 + c)
        Of anything with respect to the state between, the time and the parameters.

    Returns
    -------
    array, (..., 2n + 1 + c)
        With respect to those before the first.
    """
    found = second[..., : len(first)] @ first
    found[..., len(first) :] += second[..., len(first) :]
    return np.asarray(found)


def crossing(before: Point, surface: EventSurface | None, jump: Jump) -> Crossing:
    """The event at a surface.

    Parameters
    ----------
    before : Point
        At the event, in the mode that ends.
    surface : EventSurface or None
        None for an event whose time is given.
    jump : Jump

    Returns
    -------
    Crossing

    Raises
    ------
    NoDerivative
        The motion touches the surface without crossing it, or the equations jump there.
    """
    slope = np.zeros(jump.slopes.shape[1])
    if surface is not None:
        check_jumps(before, surface.element)
        rate, scale = surface.rate(before), surface.size(before)
        if not abs(rate) > _GRAZING * scale:
            what = f"{surface.element!r} grazes: its guard ({surface.words})"
            raise NoDerivative(f"{what} reaches zero with rate {rate:.3g}")
        slope = -surface.slope(before) / rate
    slope[len(before.f)] = 0.0  # the nominal time stays what it is
    return Crossing(before.at.y[0], jump.y, slope)


def check_jumps(at: Point, closing: str = "") -> None:
    """Refuse an event at a jump of the equations: the guard has jumped to its zero, and its rate tells nothing.

    Parameters
    ----------
    at : Point
    closing : str
        The force element whose event it is: the second derivatives of an open contact's gap and slip tell whether
        what an impact turns round has a rate.

    Returns
    -------
    None
        The equations are continuous there.

    Raises
    ------
    NoDerivative
    """
    switches, dynamics = at.system.switches(closing), at.system.dynamics
    if not switches.n_jumps:
        return
    t, y = at.at.t, at.at.y
    slopes = np.abs(switches.slopes(t, y, dynamics)[0, : switches.n_jumps])
    terms = slopes[:, : y.shape[1]] @ np.abs(y[0]) + slopes[:, y.shape[1]] * abs(t[0])
    values, weights = (of(t, y, dynamics)[0, : switches.n_jumps] for of in (switches.values, switches.weights))
    met = np.flatnonzero((np.abs(values) <= AGREEING * terms) & (weights != 0.0))
    if met.size:
        text = switches.texts[met[0]]
        raise NoDerivative(f"the equations jump where {text} is zero, and there it is zero", is_proven=False)


def _map(before: Point, met: Crossing, jump: Jump, f_after: Array) -> EventMap:
    size = len(before.f)
    shift = jump.slopes[:, :size] @ before.f + jump.slopes[:, size] - f_after
    slopes = jump.slopes + np.outer(shift, met.slope)
    slopes[:, size] = 0.0
    return EventMap(float(before.at.t[0]), slopes, ((met,),))


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
    return np.array(rows).reshape(len(rows), slip.shape[1])


def admissible(point: Point) -> tuple[Array, Array]:
    """Directions that keep what a mode holds, and those that follow parameters.

    Parameters
    ----------
    point : Point
        In the mode, with c parameters.

    Returns
    -------
    free : array, (2n + 1 + c, d)
        Orthonormal columns, changes of the state alone.
    follow : array, (2n + 1 + c, c)
        Each parameter changes, and the state by the least that keeps what is held.
    """
    size = len(point.f)
    rows = held_rows(point)
    states, parameters = rows[:, :size], rows[:, size + 1 :]
    follow = np.eye(rows.shape[1])[:, size + 1 :]
    if not len(rows):
        return np.eye(rows.shape[1], size), follow
    scale = np.linalg.norm(states, axis=1, keepdims=True)
    scale = np.where(scale > 0.0, scale, 1.0)
    _, singular, right = np.linalg.svd(states / scale)
    free = right[int(np.sum(singular > RANK * singular[0])) :].T
    follow[:size] = -np.linalg.pinv(states / scale, rcond=RANK) @ (parameters / scale)
    return np.concatenate([free, np.zeros((len(follow) - size, free.shape[1]))]), follow


def agreed_map(
    before: Point,
    surface: EventSurface | None,
    jumps: Sequence[Jump],
    following: ModeSystem | None,
    reason: str,
    *,
    keeps: bool = True,
) -> EventMap:
    """The map on which all ways through an event agree.

    Parameters
    ----------
    before : Point
        At the event, in the mode that ends.
    surface : EventSurface or None
        None for an event whose time is given.
    jumps : sequence of Jump
        The ways.
    following : ModeSystem or None
        Of the mode that begins; None where the motion ends.
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
    t = float(before.at.t[0])
    points = [None if following is None else evaluate_point(following, t, jump.y) for jump in jumps]
    found, *others = (
        _map(before, crossing(before, surface, jump), jump, np.zeros(len(before.f)) if point is None else point.f)
        for jump, point in zip(jumps, points, strict=True)
    )
    allowed = admissible(before)
    images = [found.slopes @ part for part in allowed]
    if not all(_are_alike(images, [other.slopes @ part for part in allowed]) for other in others):
        raise NoDerivative(reason)
    if keeps and points[0] is not None:
        _check_kept(points[0], found, np.concatenate(allowed, axis=1))
    return found


def _blocks(slope: Array, size: int) -> list[Array]:
    """The parts of a derivative for the state and for the parameters."""
    return [slope[..., :size], slope[..., size + 1 :]]


def _are_alike(first: Sequence[Array], second: Sequence[Array]) -> bool:
    """Whether derivatives agree part by part."""
    for one, other in zip(first, second, strict=True):
        size = max(float(np.max(np.abs(one), initial=0.0)), float(np.max(np.abs(other), initial=0.0)), 1.0)
        if np.max(np.abs(one - other), initial=0.0) > _ALIKE * size:
            return False
    return True


def _check_kept(after: Point, found: EventMap, allowed: Array) -> None:
    """Insist that images of what the mode before allows, (2n + 1 + c, d + c), keep what the mode after holds."""
    size = len(after.f)
    rows = held_rows(after)
    if not len(rows):
        return
    changed = found.carried(allowed)
    image = np.abs(np.concatenate([changed, allowed], axis=1))
    n = size // 2
    sizes = np.repeat([np.max(image[:n], initial=0.0), np.max(image[n:size], initial=0.0)], n)
    terms = np.abs(rows[:, :size]) @ sizes + np.max(np.abs(rows[:, size + 1 :]), axis=1, initial=0.0)
    if (np.abs(rows @ changed) > _ALIKE * terms[:, None]).any():
        raise NoDerivative(
            "the mode that follows does not hold for a changed motion (a restitution of zero, impacts that accumulate)",
            is_proven=False,
        )
