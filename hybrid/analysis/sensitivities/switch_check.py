"""Where a motion meets a jump or a kink of its equations or of its functional, and a direction moves it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.gauss import STAGES
from hybrid.analysis.sensitivities.passes import tangents_along
from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.analysis.sensitivities.smoothness import instants, sizes_of, vanishing
from hybrid.tolerances import ROUNDING

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.event_map import Replay
    from hybrid.analysis.sensitivities.functional import CompiledExpression
    from hybrid.analysis.sensitivities.gauss import Segment
    from hybrid.dynamics.switches import Switches

__all__ = ["switch_refusal"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_MOVED = ROUNDING  # of the terms of its change
_GROWS = 5.0  # the change over the switch, at the first stage of a step over that at its last: 28 if as one over time
_PROSE = {"the equations": ("jump", "have a kink")}


def switch_refusal(
    motion: Replay,
    start: Array,
    chain: Array,
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
    start : array, (2n, m)
        Directions in which the start changes.
    chain : array, (c, m)
        And with it the parameters.
    along, terminal : CompiledExpression, optional
        Integrand and terminal term.

    Returns
    -------
    Refusal or None
    """
    sources = [("the equations", motion.partials.switches)]
    sources += [] if along is None else [("the integrand", along.switches)]
    ending = None if terminal is None else terminal.switches
    duration = motion.t_end - motion.trajectory.t_start
    met = [
        [(name, switches, _zeros(switches, segment, duration)) for name, switches in sources if switches.texts]
        for segment in motion.segments
    ]
    if not any(on.any() for here in met for _, _, on in here) and (ending is None or not ending.texts):
        return None
    sizes = np.zeros(start.shape)
    found: list[Refusal] = []
    for index, (segment, tangents) in enumerate(tangents_along(motion, start, chain)):
        sizes = np.maximum(sizes, np.max(np.abs(tangents), axis=0))
        for name, switches, on in met[index]:
            if on.any():
                change = _changes(switches, segment, tangents, chain, sizes_of(sizes, duration))
                critical = _critical(switches, segment, on, change, (index == 0, index == len(motion.event_groups)))
                found += _refusals(name, switches, instants(segment)[0], critical)
    if ending is not None and ending.texts:
        found += _at_end(motion, ending, tangents[-1], chain, sizes_of(sizes, duration))
    return min(found, key=lambda refusal: refusal.t, default=None)


def _zeros(switches: Switches, segment: Segment, duration: float) -> Flags:
    return vanishing(switches, segment, *instants(segment), duration)


def _changes(switches: Switches, segment: Segment, tangents: Array, chain: Array, sizes: Array) -> Array:
    """How switches change at all instants of a segment in all directions, (N, z, m); zero where that is rounding."""
    slopes = switches.slopes(*instants(segment), segment.system.parameters)
    return _change(slopes, tangents, chain, sizes)


def _change(slopes: Array, tangents: Array, chain: Array, sizes: Array) -> Array:
    size = len(sizes)
    of_state, of_parameter = slopes[..., :size], slopes[..., size + 1 :]
    change = of_state @ tangents + of_parameter @ chain
    terms = np.abs(of_state) @ sizes + np.abs(of_parameter) @ np.abs(chain)
    return np.asarray(np.where(np.abs(change) > _MOVED * terms, change, 0.0))


def _critical(switches: Switches, segment: Segment, on: Flags, change: Array, ends: tuple[bool, bool]) -> Flags:
    """Where switches that are zero at instants of a segment take the derivative away, (N, z).

    Parameters
    ----------
    switches : Switches
    segment : Segment
    on : array, (N, z)
    change : array, (N, z, m)
    ends : (bool, bool)
        Whether the motion starts with this segment, and whether it is cut off at its end: there only what is moved
        matters. At an event the equations on either side would be those of the switch itself.
    """
    t, y = instants(segment)
    jumps = np.arange(len(switches.texts)) < switches.n_jumps
    none = np.zeros((1, len(jumps)), dtype=bool)
    before, after = np.concatenate([none, on[:-1]]), np.concatenate([on[1:], none])
    matters = switches.weights(t, y, segment.system.parameters) != 0.0
    moved = (change != 0.0).any(axis=2)
    critical = moved & (jumps | before | after)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = switches.values(t, y, segment.system.parameters)
        ratios = np.where(on[..., None], 0.0, np.abs(change) / np.abs(values)[..., None])
    for end, inside, is_free in ((0, slice(1, STAGES + 1), ends[0]), (-1, slice(-2, -STAGES - 2, -1), ends[1])):
        near = ratios[inside]
        leaves = (near[0] > _GROWS * near[-1]).any(axis=1)
        critical[end] |= jumps & (leaves if is_free else ~on[inside][0])
    return np.asarray(on & critical & matters)


def _refusals(name: str, switches: Switches, t: Array, critical: Flags) -> list[Refusal]:
    jump, kink = _PROSE.get(name, ("jumps", "has a kink"))
    return [
        Refusal(
            float(t[np.argmax(critical[:, column])]),
            f"{name} {jump if column < switches.n_jumps else kink} where {text} is zero, and there it is zero",
            is_proven=False,
        )
        for column, text in enumerate(switches.texts)
        if critical[:, column].any()
    ]


def _at_end(motion: Replay, switches: Switches, tangent: Array, chain: Array, sizes: Array) -> list[Refusal]:
    """What takes the derivative of the terminal term away: any switch of it that is zero, and moved."""
    segment = motion.segments[-1]
    t, y = segment.knots[-1:], segment.states[-1:]
    slopes = switches.slopes(t, y, segment.system.parameters)
    if len(motion.event_groups) == len(motion.segments):  # the end moves along the motion until the event
        last = motion.event_groups[-1].map
        time = last.orders[0][0].state @ tangent + last.orders[0][0].parameter @ chain
        change = _change(slopes, (last.matrix @ tangent + last.parameter @ chain)[None], chain, sizes)
        change = change + slopes[..., len(sizes), None] * time
    else:
        change = _change(slopes, tangent[None], chain, sizes)
    on = vanishing(switches, segment, t, y, motion.t_end - motion.trajectory.t_start)
    matters = switches.weights(t, y, segment.system.parameters) != 0.0
    return _refusals("the terminal term", switches, t, on & matters & (change != 0.0).any(axis=2))
