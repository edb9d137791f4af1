"""The command line that makes a report again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.dynamics.pins import solve_state
from hybrid.errors import StateError
from hybrid.reporting.around import pins_around
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values

__all__ = ["command_line"]


def command_line(dynamics: Dynamics, state: State, *, parameters: Values | None = None) -> str:
    """The shortest command line whose pins give a state.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping of str to float, optional

    Returns
    -------
    str
        The pins are tried: without those that are filled in by default, with all, or with every coordinate.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 2, "phi_dot": 0, "slip.tip": "+0"})
    >>> command_line(rod, state)
    'painleve report rod_on_incline --pin phi=2 --pin slip.tip=+0 --pin phi_dot=0 -o report.html'
    """
    chosen: Mapping[str, Any] = {}
    for chosen in _candidates(dynamics, state, parameters):
        if _gives(dynamics, state, chosen, parameters):
            break
    words = ["painleve", "report", dynamics.name]
    words += [word for name, value in chosen.items() for word in ("--pin", f"{name}={_written(value)}")]
    words += [word for name, value in (parameters or {}).items() for word in ("--param", f"{name}={_written(value)}")]
    return shlex.join([*words, "-o", "report.html"])


def _candidates(dynamics: Dynamics, state: State, parameters: Values | None) -> Iterator[dict[str, Any]]:
    mechanism = dynamics.mechanism
    own = (*mechanism.coordinates, *mechanism.velocities)
    pins = pins_around(dynamics, state, [], parameters=parameters)
    defaults = {name: value for name, value in pins.items() if name.startswith(("gap.", "gap_dot."))}
    defaults |= {name: value for name, value in pins.items() if name in own and value == 0.0}
    yield {name: value for name, value in pins.items() if name not in defaults}
    for kept in defaults:
        yield {name: value for name, value in pins.items() if name not in defaults or name == kept}
    gaps = tuple(name for name in defaults if "." in name)
    yield {name: value for name, value in pins.items() if name not in gaps}
    yield {name: value for name, value in pins.items() if name in gaps or name not in defaults}
    yield pins
    rest = {name: value for name, value in pins.items() if name not in own and not name.startswith("gap.")}
    yield dict(zip(mechanism.coordinates, state.q.tolist(), strict=True)) | rest


def _gives(dynamics: Dynamics, state: State, pins: Mapping[str, Any], parameters: Values | None) -> bool:
    try:
        solved = solve_state(dynamics, pins, parameters=parameters)
    except StateError:
        return False
    is_same = np.allclose(solved.q, state.q, rtol=0, atol=NOTHING) and np.allclose(
        solved.v, state.v, rtol=0, atol=NOTHING
    )
    return is_same and solved.sides == dict(state.sides)


def _written(value: Any) -> str:
    """A number so that it is read back as it is; the limits of a slip as they are."""
    if isinstance(value, str):
        return value
    return repr(float(value) + 0.0).removesuffix(".0")
