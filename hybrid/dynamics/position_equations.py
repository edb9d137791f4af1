"""What the equations of the positions depend on: pinned gaps and rigid constraints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.expressions import Builder, Nodes, jacobian

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.pin_values import Pins

__all__ = ["depends_on", "is_explicit", "parameters_that_count"]


def _equations(dynamics: Dynamics, pins: Pins) -> Nodes:
    equations = dynamics.equations
    gaps = [dynamics.contacts.index(name.removeprefix("gap.")) for name in pins.positions if name.startswith("gap.")]
    return np.concatenate([equations.gap[gaps], equations.constraint])


def is_explicit(dynamics: Dynamics, pins: Pins) -> bool:
    """Whether the pins fix the coordinates by linear equations, so that there is one posture at most.

    Parameters
    ----------
    dynamics : Dynamics
    pins : Pins
        Only which quantities they fix counts.

    Returns
    -------
    bool
        False too where the graph does not show it.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> from hybrid.dynamics.pin_values import sort_pins
    >>> rod, arm = (derive(mechanisms.load(name)) for name in ("rod_on_incline", "two_link_arm"))
    >>> is_explicit(rod, sort_pins(rod, {"phi": 1, "phi_dot": 0, "slip.tip": 0}))
    True
    >>> is_explicit(arm, sort_pins(arm, {"theta1": 1, "theta1_dot": 0}))
    False
    """
    key = (is_explicit, tuple(pins.positions))
    if key not in dynamics.programs:
        free = [name for name in dynamics.mechanism.coordinates if name not in pins.positions]
        build, equations = Builder(dynamics.equations.graph), _equations(dynamics, pins)
        slopes = jacobian(build, equations, [build.name(name) for name in free])
        dynamics.programs[key] = build.graph().names(slopes.ravel()).isdisjoint(free)
    return bool(dynamics.programs[key])


def depends_on(dynamics: Dynamics, pins: Pins, name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether the unknown coordinates depend on a pin, the time or a parameter.

    Parameters
    ----------
    dynamics : Dynamics
    pins : Pins
    name : str
        Of a pin, a parameter, or ``t``.
    parameters : mapping of str to float or array
        Of a parameter its value; only that it is given counts.

    Returns
    -------
    bool
        True for a parameter too if one that is declared as an expression of it counts.
    """
    if name in dynamics.mechanism.parameters:
        return name in parameters_that_count(dynamics, pins, {name: np.broadcast_to(parameters[name], (2,))})
    used = dynamics.equations.names(_equations(dynamics, pins))
    return name in used or (name in pins.positions and name.startswith("gap."))


def parameters_that_count(dynamics: Dynamics, pins: Pins, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters without the arrays on which no position depends: positions are solved once for all of them.

    Parameters
    ----------
    dynamics : Dynamics
    pins : Pins
    parameters : mapping of str to float or array

    Returns
    -------
    dict of str to float or array
        Numbers are kept, whether they count or not.
    """
    arrays = [name for name, value in parameters.items() if np.ndim(value)]
    if not arrays:
        return dict(parameters)
    used = dynamics.equations.names(_equations(dynamics, pins))
    left_out = [name for name in arrays if not _counts(dynamics, name, parameters[name], used)]
    return {name: value for name, value in parameters.items() if name not in left_out}


def _counts(dynamics: Dynamics, name: str, value: Any, used: Collection[str]) -> bool:
    """Whether a parameter, or one declared as an expression of it, is among those used."""
    if name in used or not np.size(value):
        return True
    resolved = dynamics.mechanism.parameter_values({name: np.ravel(value)[:1]})
    return any(np.ndim(resolved[other]) for other in used if other in resolved)
