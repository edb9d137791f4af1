"""The states around one: what is held there, their map as fine as time allows, and their critical friction."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.analysis import Axis, CriticalFriction, critical_friction, region_map
from hybrid.analysis.maps.regions import traced
from hybrid.dynamics.state import pin_names
from hybrid.errors import ComputationError
from hybrid.progress import OnInterrupt, keeps_partial
from hybrid.reporting.branches import branch_through
from hybrid.reporting.window import can_be_traced, default_axes, pins_around

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hybrid.analysis import RegionMap
    from hybrid.analysis.maps.chunks import Progress
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values
    from hybrid.tolerances import Tolerances

__all__ = ["Surroundings", "critical_around", "held_around", "refined_maps", "surroundings"]

_FEWEST_CELLS = 8
"""Along the axes of the first map, from which the time of a finer one is known."""
_MAX_SECONDS = 10.0
"""For a map whose cells are not asked for; a cell takes microseconds, and 40 ms where contact forces are not unique."""
_CHUNKS = 10
"""Pieces of a map; an interrupt loses one."""


@attrs.frozen(eq=False)
class Surroundings:
    """The map of the states around one.

    Attributes
    ----------
    region_map : RegionMap or None
        None without two quantities to vary.
    held : mapping of str to float or str
        The pins of the map.
    is_coarse : bool
        True if the map has fewer cells than were meant, for want of time or after an interrupt.
    """

    region_map: RegionMap | None
    held: Mapping[str, Any]
    is_coarse: bool = False


def surroundings(
    dynamics: Dynamics,
    state: State,
    *,
    parameters: Values,
    axes: Sequence[Axis] | None,
    pins: Mapping[str, Any] | None,
    tolerances: Tolerances,
    progress: Progress | None = None,
    on_interrupt: OnInterrupt = "raise",
) -> Surroundings:
    """A map of the states around one, with curves between regions where they are few enough.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping of str to float or str
        The replaced ones.
    axes : sequence of two Axis, or None for those of :func:`hybrid.reporting.default_axes`
        The default ones have as many cells as some ten seconds allow.
    pins : mapping, or None for those of the state
    tolerances : Tolerances
    progress : callable, optional
    on_interrupt : {"raise", "keep"}, optional
        As of :func:`hybrid.analysis.region_map`; of an unfinished map and the coarser one before it, that with more
        computed cells is kept.

    Returns
    -------
    Surroundings
    """
    chosen = axes or default_axes(dynamics, state, parameters=parameters)
    if chosen is None:
        return Surroundings(None, {})
    held = held_around(dynamics, state, [axis.name for axis in chosen], parameters=parameters, pins=pins)
    around = partial(region_map, dynamics, **held, tolerances=tolerances, progress=progress, on_interrupt=on_interrupt)
    found = _refined(around, chosen, seconds=math.inf if axes else _MAX_SECONDS)
    if found.is_complete and can_be_traced(dynamics, found):
        try:
            found = traced(dynamics.at(held["parameters"]), found, pins=held["pins"], tolerances=tolerances)
        except KeyboardInterrupt:
            if not keeps_partial(on_interrupt):
                raise
            found = attrs.evolve(found, is_complete=False)
    return Surroundings(found, held["pins"], is_coarse=found.axes != tuple(chosen))


def _refined(around: Callable[..., RegionMap], axes: Sequence[Axis], *, seconds: float) -> RegionMap:
    """A coarse map, and finer ones as long as the last one tells that these will not take more than some seconds."""

    def affordable(share: float, taken: float, _: RegionMap) -> float:
        finer = min(1.0, share * math.sqrt(seconds / taken))
        return finer if finer >= min(1.0, 2 * share) else share  # less than twice as fine is not worth the time

    def in_pieces(axes: Sequence[Axis]) -> RegionMap:
        return around(axes=axes, chunk_cells=max(1, math.prod(axis.cells for axis in axes) // _CHUNKS))

    first = min(1.0, *(_FEWEST_CELLS / axis.cells for axis in axes))
    maps = (found for found, _ in refined_maps(in_pieces, axes, first, affordable))
    found = next(maps)
    while found.is_complete and (finer := next(maps, None)) is not None:
        is_less = finer.cells - finer.n_missing < found.cells
        found = attrs.evolve(found, is_complete=False) if is_less else finer
    return found


def refined_maps(
    around: Callable[[Sequence[Axis]], RegionMap],
    axes: Sequence[Axis],
    first: float,
    finer: Callable[[float, float, RegionMap], float],
) -> Iterator[tuple[RegionMap, float]]:
    """A coarse map, and finer ones.

    Parameters
    ----------
    around : callable
        Makes the map over axes.
    axes : sequence of Axis
        With the cells that are meant.
    first : float
        Of these cells along an axis, the share that the first map has.
    finer : callable
        Tells the share of the next map from that of the last one, the seconds that it took, and itself; the same
        share ends them.

    Returns
    -------
    iterator of (RegionMap, float)
        Each map with its share.
    """
    share, last = first, 0.0
    while share != last:
        start = time.perf_counter()
        found = around([attrs.evolve(axis, n=max(1, round(share * axis.cells))) for axis in axes])
        share, last = finer(share, time.perf_counter() - start, found), share
        yield found, last


def held_around(
    dynamics: Dynamics,
    state: State,
    names: Sequence[str],
    *,
    parameters: Values | None,
    pins: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What is held while some quantities vary around a state.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    names : sequence of str
        Of the quantities that vary.
    parameters : mapping of str to float or str, or None
    pins : mapping of str to float or str, optional
        By default those of :func:`hybrid.reporting.pins_around`.

    Returns
    -------
    dict
        ``pins``, ``parameters`` and ``branch``, as :func:`hybrid.analysis.region_map` takes them.
    """
    fixed = pins_around(dynamics, state, names, parameters=parameters) if pins is None else dict(pins)
    return {
        "pins": fixed,
        "parameters": {name: value for name, value in (parameters or {}).items() if name not in names},
        "branch": branch_through(dynamics, state, names, pins=fixed, parameters=parameters),
    }


def critical_around(
    dynamics: Dynamics, state: State, contact: str, axis: Axis, *, parameters: Values | None
) -> CriticalFriction:
    """The critical friction of a contact over the postures around a state, on the branch of its own.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    contact : str
    axis : Axis
        Of a quantity that fixes the posture.
    parameters : mapping of str to float or str, or None

    Returns
    -------
    CriticalFriction

    Raises
    ------
    hybrid.contact.sliding.BilateralContactError
        If friction of a rail takes part at one of them.
    ComputationError
        A friction element at rest pushes the contact along its normal.
    """
    from hybrid.contact.problem import contact_problem
    from hybrid.contact.sliding import held_beside

    if dynamics.elements and (reason := held_beside(contact_problem(dynamics, state, parameters=parameters), contact)):
        raise ComputationError(f"{dynamics.name}: {reason}")
    held = held_around(dynamics, state, [axis.name], parameters=parameters)
    known = (*pin_names(dynamics)[0], "t")
    fixed = {name: value for name, value in held.pop("pins").items() if name in known}
    return critical_friction(dynamics, over=[axis], pins=fixed, contact=contact, **held)
