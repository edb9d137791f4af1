"""The flow of one mode for many motions: rates and guards of arrays of states, from the graph of one motion's flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import Guard, guards_of
from hybrid.contact.table import ElementMode, rows_of, spatial_slides
from hybrid.motion.elimination import ModeNodes, eliminate, is_eliminable
from hybrid.motion.flow import NodeView

if TYPE_CHECKING:
    from hybrid.contact.modes import Mode
    from hybrid.dynamics.derive import Dynamics

__all__ = ["ModeFlow", "flow_of"]

Array = NDArray[np.float64]
Rows = Callable[[Any, Any], Sequence[Any]]


@attrs.frozen(eq=False)
class ModeFlow:
    """The flow of a mode for any parameters, single numbers or arrays.

    Attributes
    ----------
    mode : Mode
    parts : tuple of ElementMode
    guards : tuple of Guard
    """

    mode: Mode
    parts: tuple[ElementMode, ...]
    guards: tuple[Guard, ...]
    _make_rates: Callable[[Sequence[Any]], Rows]
    _make_guards: Callable[[Sequence[Any]], Rows]

    def rates(self, parameters: Sequence[Any]) -> Callable[[Array, Array], Array]:
        """The right-hand side: from times (m,) and states (2n, m) to rates (2n, m)."""
        rows = self._make_rates(parameters)
        return lambda t, y: _filled(rows(t, y), y.shape)

    def guard_values(self, parameters: Sequence[Any]) -> Callable[[Array, Array], Array]:
        """The guards: from times (..., m) and states (2n, ..., m) to values (number of guards, ..., m)."""
        rows, size = self._make_guards(parameters), len(self.guards)
        return lambda t, y: _filled(rows(t, y), (size, *y.shape[1:]))


def _filled(rows: Sequence[Any], shape: tuple[int, ...]) -> Array:
    table = np.empty(shape)
    for place, row in enumerate(rows):
        table[place] = row
    return table


def flow_of(dynamics: Dynamics, mode: Mode) -> ModeFlow | None:
    """The flow of a mode, compiled once.

    Parameters
    ----------
    dynamics : Dynamics
    mode : Mode

    Returns
    -------
    ModeFlow or None
        None where the mode's equations need pivoting, or slip has a direction in space.
    """
    parts = rows_of(dynamics, mode, None)
    if dynamics.rigid or spatial_slides(parts) or not is_eliminable(dynamics, parts, independent=False):
        return None
    key = (ModeFlow, parts)
    if key not in dynamics.programs:
        nodes = ModeNodes.of(dynamics, parts)
        equations, solved, guards = nodes.equations, eliminate(nodes), guards_of(parts)
        watched = [guard.distance(NodeView(nodes, solved)).node for guard in guards]
        rates = equations.program(nodes.build, [*equations.velocities, *solved.acceleration])
        dynamics.programs[key] = ModeFlow(
            mode, parts, guards, rates.vector, equations.program(nodes.build, watched).vector
        )
    found: ModeFlow = dynamics.programs[key]
    return found
