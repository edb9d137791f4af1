"""The saltation matrix of one event of a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.analysis.sensitivities.event_derivatives import event_map
from hybrid.analysis.sensitivities.mode_system import ModeSystem, evaluate_point
from hybrid.analysis.sensitivities.refusal import NoDerivative, Refusal
from hybrid.analysis.sensitivities.surfaces import is_spatial, possible_ends, with_limits
from hybrid.contact.impacts.impact import resolve_impact
from hybrid.contact.impacts.laws import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.contact.table import rows_of
from hybrid.dynamics.partials import partial_derivatives
from hybrid.dynamics.state import State
from hybrid.errors import StateError
from hybrid.motion.recorded import Event, EventKind
from hybrid.tolerances import AGREEING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics, Values

__all__ = ["saltation_matrix"]

_LAWS: tuple[type[Any], ...] = (NewtonImpact, PoissonImpact, EnergeticImpact)
_SAME = AGREEING  # of the velocities: the law given gives the recorded ones


def saltation_matrix(
    dynamics: Dynamics,
    event: Event,
    *,
    parameters: Values | None = None,
    law: AbstractImpactLaw | None = None,
) -> NDArray[np.float64] | Refusal:
    """How a small change of the state passes through an event, at the nominal time: ``dx+ = S dx-``.

    ``S = R_x + (f+ - R_x f- - R_t) G_x / (G_x f- + G_t)`` for the reset ``x+ = R(x-, t)`` and the surface
    ``G(x, t) = 0`` (Leine and Nijmeijer 2004, eq. 7.37). The surface of a release is the normal force, that of an
    impact the gap.

    Parameters
    ----------
    dynamics : Dynamics
    event : Event
        Of a simulated motion, between two modes.
    parameters : mapping, optional
        As in the simulation.
    law : AbstractImpactLaw, optional
        As in the simulation; by default the law that the impact names with the declared restitution.

    Returns
    -------
    array, (2n, 2n), or Refusal
        The latter where the event has no derivative. Where a spatial slip ends the matrix is the limit of those that
        carry a change from a moment before the event.

    Raises
    ------
    StateError
        The event does not lie between two modes, or the law does not give the recorded velocities.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive, simulate
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> motion = simulate(ball, State([1.0], [0.0]), t_end=0.6, law=NewtonImpact())
    >>> saltation_matrix(ball, motion.events[0]).round(6) + 0.0
    array([[-0.8     ,  0.      ],
           [ 3.986502, -0.8     ]])
    """
    if event.mode_before is None or event.mode_after is None or event.kind is EventKind.WATCH:
        raise StateError(f"a saltation matrix needs an event between two modes; this one is: {event}")
    values = dict(parameters or {})
    partials = partial_derivatives(dynamics)
    before, after = (
        ModeSystem(partials, rows_of(dynamics, mode), values) for mode in (event.mode_before, event.mode_after)
    )
    y = np.concatenate([event.q, event.v_before])
    chosen = law if law is not None or event.impact is None else _named_law(event.impact.law)
    if chosen is not None and event.impact is not None:
        _check_law(dynamics, event, chosen, values)
    try:
        maps = [
            event_map(partials, values, chosen, system, _beginning(after, system, event, y), event.t, y, (event,))
            for system in _endings(before, event, y)
        ]
    except NoDerivative as refused:
        return Refusal(event.t, str(refused), is_proven=refused.is_proven)
    if not maps or any(not np.allclose(other.matrix, maps[0].matrix, rtol=_SAME, atol=_SAME) for other in maps[1:]):
        return Refusal(
            event.t, "the event does not tell the direction in which the slip ended, and it matters", is_proven=False
        )
    return maps[0].matrix


def _endings(system: ModeSystem, event: Event, y: NDArray[np.float64]) -> list[ModeSystem]:
    """The mode before an event; where a spatial slip ends, once for every direction that it may have had."""
    if event.kind is not EventKind.SLIP_END:
        return [system]
    for part in system.parts:
        if part.name in event.elements and is_spatial(part):
            ends = possible_ends(system, part, event.t, y)
            return [with_limits(system, event.t, y, {part.name: end}, ends=True) for end in ends]
    return [system]


def _beginning(after: ModeSystem, before: ModeSystem, event: Event, y: NDArray[np.float64]) -> ModeSystem:
    """The mode after an event; a spatial slip begins near the direction against the friction that held it."""
    if event.kind is not EventKind.SLIP_START:
        return after
    friction = evaluate_point(before, event.t, y).at.forces.lambda_T[0]
    begun = {part.name: -friction[list(part.columns)] for part in after.parts if part.slides and is_spatial(part)}
    return with_limits(after, event.t, y, {n: s for n, s in begun.items() if n in event.elements}, ends=False)


def _check_law(dynamics: Dynamics, event: Event, law: AbstractImpactLaw, parameters: Values) -> None:
    closed = () if event.impact is None else tuple(event.impact.impulse_N)
    state = State(event.q, event.v_before, event.t)
    impact = resolve_impact(dynamics, state, law=law, parameters=parameters, closed=closed)
    difference = float(np.max(np.abs(impact.v_after - event.v_after)))
    if difference > _SAME * float(np.max(np.abs(event.v_before))):
        raise StateError(
            f"the {law.name} law with this restitution does not give the recorded velocities (difference "
            f"{difference:.3g}); pass law= and parameters= as in the simulation"
        )


def _named_law(name: str) -> AbstractImpactLaw:
    for law in _LAWS:
        candidate: AbstractImpactLaw = law()
        if candidate.name == name:
            return candidate
    raise StateError(f"the impact was decided by the law {name!r}: pass law= as in the simulation")
