"""States of a box in floats: where certified work starts from, and what confirms a witness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.axes import Axis, placed
from hybrid.contact.selection import select
from hybrid.dynamics.pins import solve_state, solve_states
from hybrid.errors import ComputationError, StateError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.posture_branch import PostureBranch
    from hybrid.dynamics.state import States

__all__ = ["SweptStates"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class SweptStates:
    """States in floats at values of the axes."""

    dynamics: Dynamics
    axes: tuple[Axis, ...]
    pins: Mapping[str, Any]
    parameters: Mapping[str, Any]
    tolerances: Tolerances
    branch: PostureBranch | None

    def states(self, x: Array) -> States:
        """At the rows of an array (N, k)."""
        pins, values = placed(self.dynamics, self.axes, list(x.T), pins=self.pins, parameters=self.parameters)
        return solve_states(self.dynamics, pins, parameters=values, branch=self.branch, tolerances=self.tolerances)

    def verdict(self, x: Array) -> str | None:
        """The verdict at values of the axes (k,); None where there is no state."""
        at = [np.asarray(value) for value in x]
        pins, values = placed(self.dynamics, self.axes, at, pins=self.pins, parameters=self.parameters)
        bound = self.dynamics.at({name: float(value) for name, value in values.items()})
        given = {name: value if isinstance(value, str) else float(value) for name, value in pins.items()}
        start = None if self.branch is None else dict(self.branch.start)
        try:
            state = solve_state(bound, given, branch=start, tolerances=self.tolerances)
            return select(bound, state, tolerances=self.tolerances).verdict.name
        except (StateError, ComputationError):
            return None
