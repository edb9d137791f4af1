"""The map of the states around one, as fine as the time for it allows."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.analysis import Axis, region_map
from hybrid.analysis.maps.regions import traced
from hybrid.progress import OnInterrupt, keeps_partial
from hybrid.reporting.branches import branch_through
from hybrid.reporting.window import can_be_traced, default_axes, pins_around

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hybrid.analysis import RegionMap
    from hybrid.analysis.maps.chunks import Progress
    from hybrid.dynamics import Dynamics, State
    from hybrid.tolerances import Tolerances

__all__ = ["Surroundings", "surroundings"]

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
    parameters: Mapping[str, float],
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
    parameters : mapping of str to float
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
    held = {name: value for name, value in parameters.items() if name not in {axis.name for axis in chosen}}
    names = [axis.name for axis in chosen]
    fixed = pins_around(dynamics, state, names, parameters=parameters) if pins is None else dict(pins)
    around = partial(
        region_map,
        dynamics,
        pins=fixed,
        parameters=held,
        branch=branch_through(dynamics, state, names, pins=fixed, parameters=parameters),
        tolerances=tolerances,
        progress=progress,
        on_interrupt=on_interrupt,
    )
    found = _refined(around, chosen, seconds=math.inf if axes else _MAX_SECONDS)
    if found.is_complete and can_be_traced(dynamics, found):
        try:
            found = traced(dynamics, found, pins=fixed, parameters=held, tolerances=tolerances)
        except KeyboardInterrupt:
            if not keeps_partial(on_interrupt):
                raise
            found = attrs.evolve(found, is_complete=False)
    return Surroundings(found, fixed, is_coarse=found.axes != tuple(chosen))


def _refined(around: Callable[..., RegionMap], axes: Sequence[Axis], *, seconds: float) -> RegionMap:
    """A coarse map, and finer ones as long as the last one tells that these will not take more than some seconds."""
    share = min(1.0, *(_FEWEST_CELLS / axis.cells for axis in axes))
    found: RegionMap | None = None
    while True:
        swept = [attrs.evolve(axis, n=max(1, round(share * axis.cells))) for axis in axes]
        start = time.perf_counter()
        finer = around(axes=swept, chunk_cells=max(1, math.prod(axis.cells for axis in swept) // _CHUNKS))
        taken = time.perf_counter() - start
        if not finer.is_complete:
            is_less = found is not None and finer.cells - finer.n_missing < found.cells
            return attrs.evolve(found, is_complete=False) if found is not None and is_less else finer
        found = finer
        affordable = min(1.0, share * math.sqrt(seconds / taken))
        if share == 1.0 or affordable < min(1.0, 2 * share):  # less than twice as fine is not worth the time
            return found
        share = affordable
