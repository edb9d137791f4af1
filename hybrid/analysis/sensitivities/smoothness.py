"""What would take the derivative away inside an arc: a surface touched in passing, or an equation that jumps.

Where a motion meets a jump or a kink of its equations or of its functional, and a direction moves it there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.gauss import (
    STAGES,
    Segment,
    interpolation,
    is_crossed,
    sign_changes,
    sizes_of,
    vanishing,
    zero_between,
)
from hybrid.analysis.sensitivities.mode_system import Point, evaluate_point
from hybrid.analysis.sensitivities.refusal import NoDerivative, Refusal
from hybrid.analysis.sensitivities.surfaces import EventSurface, is_spatial, mode_surfaces
from hybrid.contact.guards import CONES, RELEASES, GuardKind
from hybrid.contact.modes import Mode
from hybrid.contact.table import ForceRow
from hybrid.dynamics.scales import scales_of
from hybrid.motion.flow import make_flow
from hybrid.tolerances import AGREEING, CANCELLED, CLEAR, LEAST, NOTHING, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hybrid.analysis.sensitivities.event_map import Replay
    from hybrid.analysis.sensitivities.mode_system import ModeSystem, Response
    from hybrid.contact.table import ElementMode
    from hybrid.dynamics.partials import CompiledExpression, Switches

    Guard = Callable[[Response], NDArray[np.float64]]

__all__ = [
    "check_end",
    "check_smooth",
    "jump_met",
    "nearest_dip",
    "switch_refusal",
]


Array = NDArray[np.float64]

_NEAR = 1e-2  # of the largest value along the arc: a dip this deep is looked at closely
_CLEAR = AGREEING  # of the same: the surface has been left
_TOUCHED = NOTHING  # of the same: the surface is touched
_IDLE = CANCELLED  # of the terms of a bilateral force: it is none
_WHILE = CLEAR  # of the duration of an arc: as long as it is hardly any at a double zero


def check_smooth(segment: Segment, first: ModeSystem, *, is_free: bool) -> None:
    """Refuse an arc that touches a surface without crossing it, or along which an equation jumps.

    Parameters
    ----------
    segment : Segment
    first : ModeSystem
        Its mode where it begins, with the direction of a slip that begins there.
    is_free : bool
        Whether it begins without an event.

    Returns
    -------
    None
        The arc is smooth, and stays so under small changes.

    Raises
    ------
    NoDerivative
        Says what touches or jumps, and when.
    """
    found = jump_met("the equations", segment.system.switches(), segment)
    if found is not None:
        raise NoDerivative(found[1], found[0], is_proven=False)
    for surface in mode_surfaces(segment.system):
        if surface.kind is GuardKind.REVERSAL and surface.part is not None:
            _check_reversal(segment, surface, surface.part, is_free=is_free)
        else:
            _check_dips(segment, surface)
            _check_start(segment, surface, first)


def check_end(segment: Segment, within: float) -> None:
    """Refuse a motion that is cut off where an event is due within a time: to one side it still happens.

    Parameters
    ----------
    segment : Segment
        The last one.
    within : float
        The time.

    Returns
    -------
    None
        No event is due.

    Raises
    ------
    NoDerivative
        Names the event.
    """
    t, state = float(segment.knots[-1]), segment.states[-1]
    point = evaluate_point(segment.system, t, state)
    for surface in mode_surfaces(segment.system):
        if surface.kind is GuardKind.REVERSAL:
            continue  # no event: the mode goes on
        largest = float(np.max(np.abs(surface.values(segment.at, segment.system.dynamics)), initial=0.0))
        if _is_shared(segment, surface):
            if _slack(point, surface) > _NEAR * largest:
                continue
            what = f"the force of {surface.element!r} is not unique, and whether it is at its bound is not decided"
            raise NoDerivative(what, t, is_proven=False)
        value = surface.value(point)
        if value > _NEAR * largest:
            continue
        rate = _directed(surface, point).rate(point)
        if rate < 0.0 and value <= -rate * within:
            what = f"{surface.element!r}, {surface.words}"
            raise NoDerivative(f"the motion is cut off at an event ({what}): choose another t_end", t)


def _directed(surface: EventSurface, point: Point) -> EventSurface:
    """The surface with the direction of its slip, if it is the end of a spatial one."""
    if surface.kind is not GuardKind.SLIP or surface.part is None or not is_spatial(surface.part):
        return surface
    slip = np.ravel(point.at.terms.slip)[list(surface.part.columns)]
    return attrs.evolve(surface, aim=slip / max(float(np.linalg.norm(slip)), LEAST))


def nearest_dip(segments: Sequence[Segment]) -> tuple[float, float, EventSurface] | None:
    """The surface that a motion comes closest to without reaching it.

    Parameters
    ----------
    segments : sequence of Segment

    Returns
    -------
    (float, float, EventSurface) or None
        How close, as a share of the guard's largest value in the segment; when; and the surface. None if no guard has a
        minimum inside a segment.
    """
    found: tuple[float, float, EventSurface] | None = None
    for segment in segments:
        for surface in mode_surfaces(segment.system):
            if surface.kind is GuardKind.REVERSAL:
                continue  # which a motion may touch
            for share, t in _minima(segment, _of(surface, segment), 1.0):
                if found is None or share < found[0]:
                    found = (share, t, surface)
    return found


def jump_met(name: str, switches: Switches, segment: Segment, *, with_poles: bool = True) -> tuple[float, str] | None:
    """Where a segment first crosses a jump or touches it, and what happens there; None if nowhere.

    Parameters
    ----------
    name : str
        What the switches are those of.
    switches : Switches
    segment : Segment
    with_poles : bool
        Whether poles count.

    Returns
    -------
    (float, str) or None
    """
    jump, _, divide = _PROSE.get(name, _PROSE_OF_ONE)
    columns = [column for column in range(switches.n_jumps) if with_poles or column not in switches.poles]
    found: list[tuple[float, str]] = []
    for column, changes in sign_changes(switches, segment, columns):

        def distance(at: Response, column: int = column) -> Array:
            return np.abs(switches.values(at.t, at.y, segment.system.dynamics)[:, column])

        text = switches.texts[column]
        what = f"{divide} {text}, which" if column in switches.poles else f"{jump} where {text}"
        crossed = (change for change in changes if is_crossed(switches, segment, column, *change))
        nearest = (t for share, t in _minima(segment, distance, _NEAR) if share <= _TOUCHED)
        touched = (t for t in nearest if is_crossed(switches, segment, column, t, t))
        if (change := next(crossed, None)) is not None:
            t = zero_between(switches, segment, column, *change)
            found.append((change[1] if t is None else t, f"{name} {what} is zero"))
        elif (t := next(touched, None)) is not None:
            found.append((t, f"{name} {what} touches zero"))
    return min(found, default=None)


def _check_dips(segment: Segment, surface: EventSurface) -> None:
    if surface.kind is GuardKind.TOUCHDOWN and surface.part is not None:
        q, v = np.split(segment.at.y, 2, axis=1)
        scales = scales_of(segment.system.dynamics, segment.at.terms, q, v, t=segment.at.t)
        rates = np.abs(np.asarray(segment.at.terms.gap_dot)[..., surface.part.index])
        gaps = np.abs(surface.values(segment.at, segment.system.dynamics))
        is_closed = np.max(gaps) <= ROUNDING * np.max(scales.gap)
        if is_closed and np.max(rates) <= ROUNDING * np.max(scales.gap_dot):
            what = f"{surface.element!r} touches without pressing for a while: changed motions may open or press it"
            raise NoDerivative(what, float(segment.knots[0]), is_proven=False)
    t = _touched(segment, _of(surface, segment))
    if t is not None:
        what = f"{surface.element!r} grazes: its guard ({surface.words})"
        raise NoDerivative(f"{what} touches zero without crossing it", t, is_proven=not _is_shared(segment, surface))


def _check_reversal(segment: Segment, surface: EventSurface, part: ElementMode, *, is_free: bool) -> None:
    """A bilateral force may touch zero, where its friction has a kink, but neither stay there nor meet an event."""
    values = np.abs(surface.values(segment.at, segment.system.dynamics))
    terms = segment.system.sizes(segment.at)[:, segment.system.place(ForceRow(part.element))]
    is_idle = values <= _IDLE * np.max(terms)
    if np.sum(segment.weights.ravel()[is_idle]) > _WHILE * (segment.knots[-1] - segment.knots[0]):
        what = f"the force of {part.name!r} is zero for a while: changed motions may press it to either side"
        raise NoDerivative(what, float(segment.at.t[np.argmax(is_idle)]), is_proven=False)
    start = surface.value(evaluate_point(segment.system, float(segment.knots[0]), segment.states[0]))
    if not is_free and abs(start) <= _TOUCHED * np.max(values):
        what = f"an event happens where the force of {part.name!r} is zero, and its friction has a kink"
        raise NoDerivative(what, float(segment.knots[0]), is_proven=False)


def _is_shared(segment: Segment, surface: EventSurface) -> bool:
    """Whether the guard is of a force that is not unique, so that its zero may not be where the mode ends."""
    if surface.part is None or surface.kind not in (*RELEASES, *CONES):
        return False
    middle = len(segment.at.t) // 2  # a spatial slip may vanish at the ends, and with it the direction of its friction
    return evaluate_point(segment.system, float(segment.at.t[middle]), segment.at.y[middle]).is_shared(surface.part)


def _slack(point: Point, surface: EventSurface) -> float:
    """The guard as the motion has it, of that distribution of forces that is farthest from all bounds."""
    parts = point.system.parts
    mode, signs = Mode({part.name: part.label for part in parts}), {part.name: part.side for part in parts}
    flow = make_flow(point.system.dynamics, mode, force_signs=signs)
    return float(flow.guard_values(point.at.t, point.at.y.T)[flow.guards.index(surface.guard), 0])


def _of(surface: EventSurface, segment: Segment) -> Guard:
    return lambda at: surface.values(at, segment.system.dynamics)


def _touched(segment: Segment, guard: Guard) -> float | None:
    """When a function that is not negative along a segment has a minimum of zero inside it; None if it has none."""
    return next((t for share, t in _minima(segment, guard, _NEAR) if share <= _TOUCHED), None)


def _check_start(segment: Segment, surface: EventSurface, first: ModeSystem) -> None:
    """A mode that begins on its own edge is left at once by a change to one side."""
    if surface.kind not in (GuardKind.RELEASE, *CONES):
        return  # a gap that has just opened and a slip that has just begun are zero in every such motion
    values = surface.values(segment.at, segment.system.dynamics)
    start = surface.values(first.respond(segment.knots[:1], segment.states[:1]), segment.system.dynamics)
    largest = float(np.max(np.abs(values), initial=0.0))
    if abs(start[0]) <= _TOUCHED * largest:
        what = f"{surface.element!r} begins {surface.part.label.value if surface.part else ''} on the edge of that mode"
        is_proven = not _is_shared(segment, surface)
        raise NoDerivative(f"{what} ({surface.words})", float(segment.knots[0]), is_proven=is_proven)


def _minima(segment: Segment, guard: Guard, below: float) -> Iterator[tuple[float, float]]:
    """Interior minima of a guard below a share of its largest value: the share of each, and its time.

    Where it is hardly above zero at either end it begins or ends there, and what its rounding does is no minimum.
    """
    values = guard(segment.at)
    inner, largest = values[1:-1], float(np.max(np.abs(values), initial=0.0))
    clear = np.flatnonzero(values > _CLEAR * largest)
    found = np.flatnonzero((inner <= values[:-2]) & (inner < values[2:]) & (inner <= below * largest)) + 1
    for stage in found.tolist():
        if clear.size and clear[0] < stage < clear[-1]:
            t, least = _lowest(segment, guard, stage)
            yield least / largest, t


def _lowest(segment: Segment, guard: Guard, stage: int) -> tuple[float, float]:
    """Time and value of the minimum of a function beside a stage."""
    from scipy.optimize import minimize_scalar

    sample = interpolation(segment)

    def along(t: float) -> float:
        return float(guard(segment.system.respond(np.array([t]), sample(np.array([t]))))[0])

    bounds = (float(segment.at.t[stage - 1]), float(segment.at.t[stage + 1]))
    options = {"xatol": NOTHING * (bounds[1] - bounds[0])}
    found = minimize_scalar(along, bounds=bounds, method="bounded", options=options)
    return float(found.x), float(found.fun)


Flags = NDArray[np.bool_]

_MOVED = ROUNDING  # of the terms of its change
_GROWS = 5.0  # the change over the switch, at the first stage of a step over that at its last: 28 if as one over time
_PROSE = {"the equations": ("jump", "have a kink", "divide by")}
_PROSE_OF_ONE = ("jumps", "has a kink", "divides by")


def switch_refusal(
    motion: Replay,
    tangents_along: Iterable[tuple[Segment, Array]],
    *,
    along: CompiledExpression | None = None,
    terminal: CompiledExpression | None = None,
) -> Refusal | None:
    """Why jumps and kinks leave a motion without a derivative, apart from those that it crosses.

    A change of a switch matters where the motion stays on it for a while, begins on it, ends on it or touches it. A
    kink that is met at single instants does not.

    Parameters
    ----------
    motion : Replay
    tangents_along : iterable of (Segment, array)
        Tangents along every segment; looked at only where a switch is met.
    along, terminal : CompiledExpression, optional
        Integrand and terminal term.

    Returns
    -------
    Refusal or None
    """
    beside = [] if along is None else [("the integrand", along.switches)]
    ending = None if terminal is None else terminal.switches
    duration = motion.t_end - motion.trajectory.t_start
    met = [
        [
            (name, switches, vanishing(switches, segment, *segment.instants, duration))
            for name, switches in [("the equations", segment.system.switches()), *beside]
            if switches.texts
        ]
        for segment in motion.segments
    ]
    if not any(on.any() for here in met for _, _, on in here) and (ending is None or not ending.texts):
        return None
    sizes, size = np.zeros(1), len(motion.end)
    found: list[Refusal] = []
    for index, (segment, tangents) in enumerate(tangents_along):
        sizes = np.maximum(sizes, np.max(np.abs(tangents[:, :size]), axis=0))
        for name, switches, on in met[index]:
            if on.any():
                slopes = switches.slopes(*segment.instants, segment.system.dynamics)
                change = _change(slopes, tangents, sizes_of(sizes, duration))
                critical = _critical(switches, segment, on, change, (index == 0, index == len(motion.event_groups)))
                found += _refusals(name, switches, segment.instants[0], critical)
    if ending is not None and ending.texts:
        found += _at_end(motion, ending, tangents[-1], sizes_of(sizes, duration))
    return min(found, key=lambda refusal: refusal.t, default=None)


def _change(slopes: Array, tangents: Array, sizes: Array) -> Array:
    """How switches change at N instants in all directions, (N, z, m); zero where that is rounding."""
    size = len(sizes)
    of_state, of_parameter, chain = slopes[..., :size], slopes[..., size + 1 :], tangents[:, size + 1 :]
    change = of_state @ tangents[:, :size] + of_parameter @ chain
    terms = np.abs(of_state) @ sizes + np.abs(of_parameter) @ np.abs(chain)
    return np.asarray(np.where(np.abs(change) > _MOVED * terms, change, 0.0))


def _critical(switches: Switches, segment: Segment, on: Flags, change: Array, ends: tuple[bool, bool]) -> Flags:
    """Where switches that are zero at instants of a segment (``on``, (N, z)) take the derivative away, (N, z).

    ``ends`` says whether the motion starts with this segment, and whether it is cut off at its end: there only what is
    moved matters. At an event the equations on either side would be those of the switch itself.
    """
    t, y = segment.instants
    jumps = np.arange(len(switches.texts)) < switches.n_jumps
    none = np.zeros((1, len(jumps)), dtype=bool)
    before, after = np.concatenate([none, on[:-1]]), np.concatenate([on[1:], none])
    matters = switches.weights(t, y, segment.system.dynamics) != 0.0
    moved = (change != 0.0).any(axis=2)
    critical = moved & (jumps | before | after)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = switches.values(t, y, segment.system.dynamics)
        ratios = np.where(on[..., None], 0.0, np.abs(change) / np.abs(values)[..., None])
    for end, inside, is_free in ((0, slice(1, STAGES + 1), ends[0]), (-1, slice(-2, -STAGES - 2, -1), ends[1])):
        near = ratios[inside]
        leaves = (near[0] > _GROWS * near[-1]).any(axis=1)
        critical[end] |= jumps & (leaves if is_free else ~on[inside][0])
    return np.asarray(on & critical & matters)


def _refusals(name: str, switches: Switches, t: Array, critical: Flags) -> list[Refusal]:
    jump, kink, _ = _PROSE.get(name, _PROSE_OF_ONE)
    return [
        Refusal(
            float(t[np.argmax(critical[:, column])]),
            f"{name} {jump if column < switches.n_jumps else kink} where {text} is zero, and there it is zero",
            is_proven=False,
        )
        for column, text in enumerate(switches.texts)
        if critical[:, column].any()
    ]


def _at_end(motion: Replay, switches: Switches, tangent: Array, sizes: Array) -> list[Refusal]:
    """What takes the derivative of the terminal term away: any switch of it that is zero, and moved."""
    segment = motion.segments[-1]
    t, y = segment.knots[-1:], segment.states[-1:]
    slopes = switches.slopes(t, y, segment.system.dynamics)
    if len(motion.event_groups) == len(motion.segments):  # the end moves along the motion until the event
        last = motion.event_groups[-1]
        change = _change(slopes, last.carried(tangent)[None], sizes)
        change = change + slopes[..., len(sizes), None] * (last.orders[0][0].slope @ tangent)
    else:
        change = _change(slopes, tangent[None], sizes)
    on = vanishing(switches, segment, t, y, motion.t_end - motion.trajectory.t_start)
    matters = switches.weights(t, y, segment.system.dynamics) != 0.0
    return _refusals("the terminal term", switches, t, on & matters & (change != 0.0).any(axis=2))
