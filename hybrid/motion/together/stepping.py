"""One step of all motions in a mode, up to the first guard that falls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from hybrid.contact.guards import GuardKind
from hybrid.motion.events import CLOSE, LANDING, SINGULAR_FROM
from hybrid.motion.recorded import Termination
from hybrid.motion.steps import N_COEFFICIENTS
from hybrid.motion.together.descents import first_descents
from hybrid.motion.together.fleet import Stage
from hybrid.motion.together.integrator import attempted, errors, growth, series_of
from hybrid.tolerances import INTEGRATED

if TYPE_CHECKING:
    from collections.abc import Callable

    from hybrid.motion.together.fleet import Fleet
    from hybrid.motion.together.flows import ModeFlow

__all__ = ["Met", "step"]

Array = NDArray[np.float64]
Lanes = NDArray[np.intp]
Flags = NDArray[np.bool_]

_N_LOOKS = 9
_ANGLES = (2 * np.arange(_N_LOOKS) + 1) * np.pi / (2 * _N_LOOKS)
_LOOKS = (1 - np.cos(_ANGLES)) / 2
_TO_SERIES = 2 / _N_LOOKS * np.cos(np.outer(np.arange(_N_LOOKS), np.pi - _ANGLES))
_TO_SERIES[0] /= 2
_AT_LOOKS = np.asarray(chebyshev.chebvander(2 * _LOOKS - 1, N_COEFFICIENTS - 1), dtype=np.float64)
_BEYOND = 100.0  # what a series may lack, in units of its last coefficients
_TOGETHER = INTEGRATED  # guards whose zeros lie closer in time, relative to the time, fire together
_LANDINGS = 6
_SHORTEST = 16.0  # rounding units of the time
_EPSILON = float(np.finfo(float).eps)


@attrs.frozen(eq=False)
class Met:
    """Motions that have met a guard of their mode, and stand where it vanishes.

    Attributes
    ----------
    mode : int
    lanes : array of int, (m,)
    fired : array of bool, (number of guards, m)
        Those that vanish together.
    """

    mode: int
    lanes: Lanes
    fired: Flags


_NONE = Met(0, np.zeros(0, dtype=np.intp), np.zeros((0, 0), dtype=bool))


def step(fleet: Fleet, mode: int, lanes: Lanes) -> Met:
    """Advance motions of one mode by a step each, or shorten the step that they try next.

    Parameters
    ----------
    fleet : Fleet
        Changed in place.
    mode : int
    lanes : array of int, (m,)

    Returns
    -------
    Met
        Those that have met a guard.
    """
    flow = fleet.flow(mode)
    if flow is None:
        fleet.hand_over(lanes, "a mode whose equations need pivoting")
        return _NONE
    y, t = fleet.y[:, lanes], fleet.t[lanes]
    rest = fleet.t_end - t
    h = np.minimum(np.minimum(fleet.h[lanes], fleet.settings.max_step), rest)
    rates, settings = flow.rates(fleet.parameters(lanes)), fleet.settings
    with np.errstate(all="ignore"):
        last, K = attempted(rates, t, y, fleet.slope[:, lanes], h)
        atol = settings.atol * fleet.sizes[:, lanes]
        error = errors(K, y, last, h, rtol=settings.rtol, atol=atol)
        factor = growth(error, fleet.was_rejected[lanes])
    is_good = error < 1.0
    fleet.h[lanes], fleet.was_rejected[lanes] = h * factor, ~is_good
    is_stuck = ~is_good & (h <= _SHORTEST * _EPSILON * np.maximum(np.abs(t), fleet.t_end * _EPSILON))
    if is_stuck.any():
        fleet.hand_over(lanes[is_stuck], "steps become too short")
    if not is_good.all():
        lanes, t, y, last, h, rest = (
            lanes[is_good],
            t[is_good],
            y[:, is_good],
            last[:, is_good],
            h[is_good],
            rest[is_good],
        )
        K = np.ascontiguousarray(K[:, :, is_good])
        rates = flow.rates(fleet.parameters(lanes))
    if not len(lanes):
        return _NONE
    with np.errstate(all="ignore"):
        series = series_of(rates, t, y, last, h, K)
        place, guard, is_open = _first_events(fleet, flow, lanes, t, y, h, series)
    met = np.isfinite(place) & ~is_open
    on = ~met & ~is_open
    _shorten(fleet, lanes[is_open], h[is_open])
    _go_on(fleet, lanes[on], h[on] >= rest[on], t[on] + h[on], last[:, on], K[-4][:, on])
    if not met.any():
        return _NONE
    return _land(fleet, mode, lanes[met], guard[met], y[:, met], place[met] * h[met], h[met], K[0][:, met])


def _shorten(fleet: Fleet, lanes: Lanes, h: Array) -> None:
    """Try a shorter step where a guard could not be told; where that does not help, give up."""
    fleet.h[lanes], fleet.was_rejected[lanes] = h / 8.0, True
    t = fleet.t[lanes]
    hopeless = h <= 1e-7 * np.maximum(fleet.t_end - t, np.abs(t))
    fleet.hand_over(lanes[hopeless], "a guard that grazes zero or has no series")


def _go_on(fleet: Fleet, lanes: Lanes, is_last: Flags, t: Array, y: Array, slope: Array) -> None:
    fleet.t[lanes] = np.where(is_last, fleet.t_end, t)
    fleet.y[:, lanes], fleet.slope[:, lanes] = y, slope
    fleet.is_fresh[lanes] = False
    fleet.end(lanes[is_last], Termination.END_TIME)


def _first_events(
    fleet: Fleet, flow: ModeFlow, lanes: Lanes, t: Array, y: Array, h: Array, series: Array
) -> tuple[Array, NDArray[np.intp], Flags]:
    """Where on its step every motion meets a guard (infinite if nowhere), which one, and where that is open."""
    m = len(lanes)
    place, which, is_open = np.full(m, np.inf), np.zeros(m, dtype=np.intp), np.zeros(m, dtype=bool)
    if not flow.guards:
        return place, which, is_open
    singular = next((number for number, g in enumerate(flow.guards) if g.kind is GuardKind.SINGULAR), None)
    sign = fleet.singular_sign[lanes]

    def values(chosen: NDArray[np.intp], s: Array, at: Callable[[Array], Array]) -> Array:
        """All guards of some motions at points (k, r) of their steps."""
        guards = flow.guard_values(fleet.parameters(lanes[chosen]))
        found = guards(t[chosen] + s * h[chosen], at(s))
        if singular is not None:
            found[singular] = sign[chosen] * found[singular] - SINGULAR_FROM
        return found

    everywhere = np.arange(m)
    looks = values(everywhere, _LOOKS[:, None], lambda _: _states(_AT_LOOKS, series))
    clear = _is_positive(looks)
    number, lane = np.nonzero(~clear)
    if not len(lane):
        return place, which, is_open
    starts = values(everywhere, np.zeros((1, 1)), lambda _: y[:, None, :])[:, 0, :]
    kinds = [guard.kind for guard in flow.guards]
    is_zero = np.array([_begins_at_zero(fleet, flow, g, lanes) for g in range(len(kinds))])[number, lane]
    by_size = np.array([kind not in (GuardKind.TOUCHDOWN, GuardKind.SLIP) for kind in kinds])

    def along(rows: NDArray[np.intp], s: Array) -> Array:
        chosen = lane[rows]
        found = values(chosen, s, lambda s: _evaluated(series[:, :, chosen], s))
        return np.asarray(found[number[rows], :, np.arange(len(rows))].T)

    is_fresh = fleet.is_fresh[lanes][lane]
    owners = [g.elements[0] if g.kind in (GuardKind.TOUCHDOWN, GuardKind.SLIP) else None for g in flow.guards]
    floors = np.array([np.zeros(m) if o is None else fleet.floors[fleet.names.index(o), lanes] for o in owners])
    floors = floors[number, lane]
    found, open_ = first_descents(along, starts[number, lane], is_zero & is_fresh, by_size[number] & is_fresh, floors)
    table = np.full((len(kinds), m), np.inf)
    table[number, lane] = found
    which = np.argmin(table, axis=0)
    is_open[lane[open_]] = True
    return table[which, everywhere], which, is_open


def _begins_at_zero(fleet: Fleet, flow: ModeFlow, number: int, lanes: Lanes) -> Flags:
    """Whether a gap or a slip is the zero from which an arc starts."""
    guard = flow.guards[number]
    if guard.kind not in (GuardKind.TOUCHDOWN, GuardKind.SLIP):
        return np.zeros(len(lanes), dtype=bool)
    return np.asarray(fleet.starts_at_zero[fleet.names.index(guard.element), lanes])


def _states(weights: Array, series: Array) -> Array:
    """States (2n, k, m) at the same points of all steps, of which ``weights`` (k, 8) are the polynomials."""
    values = (weights @ series.reshape(len(series), -1)).reshape(-1, *series.shape[1:])
    return np.swapaxes(values, 0, 1)


def _evaluated(series: Array, s: Array) -> Array:
    """States (2n, k, r) at points (k, r) of r steps, of which many have the same points."""
    _, firsts, which = np.unique(s[0], return_index=True, return_inverse=True)
    if len(firsts) == 1:
        return _states(_polynomials(s[:, 0]), series)
    found = np.empty((series.shape[1], *s.shape))
    for number, first in enumerate(firsts):
        own = which == number
        found[:, :, own] = _states(_polynomials(s[:, first]), series[:, :, own])
    return found


def _polynomials(s: Array) -> Array:
    """Chebyshev polynomials at points of [0, 1], (k, 8)."""
    return np.asarray(chebyshev.chebvander(2.0 * s - 1.0, N_COEFFICIENTS - 1), dtype=np.float64)


def _is_positive(looks: Array) -> Flags:
    """Where guards (g, 9, m) are certainly positive on a whole step, by the sizes of their coefficients."""
    c = np.einsum("ij,gjm->gim", _TO_SERIES, looks)
    sizes = np.abs(c)
    tail = np.maximum(sizes[:, -1], sizes[:, -2])
    return np.asarray(2.0 * c[:, 0] - sizes.sum(axis=1) > _BEYOND * tail)


def _land(
    fleet: Fleet,
    mode: int,
    lanes: Lanes,
    guard: NDArray[np.intp],
    y: Array,
    length: Array,
    h: Array,
    slope: Array,
) -> Met:
    """Go to events by shorter steps of their own, refined by Newton's method."""
    flow, t = fleet.flow(mode), fleet.t[lanes]
    assert flow is not None
    fired, done = np.zeros((len(flow.guards), len(lanes)), dtype=bool), np.zeros(len(lanes), dtype=bool)
    for attempt in range(_LANDINGS):
        rest = np.flatnonzero(~done)
        if not len(rest):
            break
        own = np.arange(len(rest))
        parameters, start = fleet.parameters(lanes[rest]), t[rest]
        rates, guards = flow.rates(parameters), flow.guard_values(parameters)
        with np.errstate(all="ignore"):
            last, K = attempted(rates, start, y[:, rest], slope[:, rest], length[rest])
            rate, at = K[-4], start + length[rest]
            values = guards(at, last)
            # slopes along the tangent of the motion, as well as what is left asks for
            width = LANDING * h[rest]
            ahead, behind = (guards(at + side * width, last + side * width * rate) for side in (1.0, -1.0))
            slopes = (ahead - behind) / (2.0 * width)
            change = -values[guard[rest], own] / slopes[guard[rest], own]
        limit = CLOSE if attempt + 1 < _LANDINGS else LANDING
        is_close = np.abs(change) <= limit * h[rest]
        near = rest[is_close]
        fleet.y[:, lanes[near]] = (last + change * rate)[:, is_close]
        fleet.t[lanes[near]] = (at + change)[is_close]
        width = _TOGETHER * np.maximum(np.abs(at), h[rest])
        together = (slopes < 0.0) & (values + change * slopes <= -slopes * width)
        together[guard[rest], own] = True
        fired[:, near] = together[:, is_close]
        done[near] = True
        length[rest] = np.maximum(length[rest] + np.where(np.isfinite(change), change, 0.0), 0.0)
    fleet.hand_over(lanes[~done], "an event that Newton's method does not reach")
    fleet.stage[lanes[done]] = Stage.DECIDE
    return Met(mode, lanes[done], fired[:, done])
