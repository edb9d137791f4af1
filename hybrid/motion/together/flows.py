"""The flow of one mode for many motions: rates and guards of arrays of states, from the graph of one motion's flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from hybrid.contact.guards import Guard, guards_of
from hybrid.contact.table import ElementMode, rows_of, spatial_slides
from hybrid.motion.flow import ModeNodes, NodeView, eliminate, is_eliminable
from hybrid.motion.together.lanes import LaneProgram, lane_program

if TYPE_CHECKING:
    from hybrid.contact.modes import Mode
    from hybrid.dynamics.derive import Dynamics

__all__ = ["ModeFlow", "flow_of"]


@attrs.frozen(eq=False)
class ModeFlow:
    """The flow of a mode for any parameters, single numbers or arrays.

    Attributes
    ----------
    mode : Mode
    parts : tuple of ElementMode
    guards : tuple of Guard
    rates, watched : LaneProgram
        The right-hand side, and the guards.
    """

    mode: Mode
    parts: tuple[ElementMode, ...]
    guards: tuple[Guard, ...]
    rates: LaneProgram
    watched: LaneProgram


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
    return dynamics.once(_flow, mode, parts)


def _flow(dynamics: Dynamics, mode: Mode, parts: tuple[ElementMode, ...]) -> ModeFlow:
    nodes = ModeNodes.of(dynamics, parts)
    equations, solved, guards = nodes.equations, eliminate(nodes), guards_of(parts)
    watched = [guard.distance(NodeView(nodes, solved)).node for guard in guards]
    rates = lane_program(equations, nodes.build, [*equations.velocities, *solved.acceleration])
    return ModeFlow(mode, parts, guards, rates, lane_program(equations, nodes.build, watched))
