"""The branch of postures that a start names, followed from there to the pins of one state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.pin_values import read_number, sort_pins
from hybrid.dynamics.positions import position_problem
from hybrid.dynamics.posture_branch import PostureBranch, follow_branch
from hybrid.errors import StateError

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics
    from hybrid.tolerances import Tolerances

__all__ = ["named_branch"]


def named_branch(
    dynamics: Dynamics,
    pins: Mapping[str, Any],
    start: Mapping[str, Any],
    *,
    tolerances: Tolerances,
) -> PostureBranch | None:
    """A branch followed from where it is named to the pins, along one named quantity after the other.

    Parameters
    ----------
    dynamics : Dynamics
    pins : mapping of str to float or str
        Of one state.
    start : mapping of str to float or str
        Unknown coordinates, and pinned positions, the time or parameters that have other values there.
    tolerances : Tolerances

    Returns
    -------
    PostureBranch, or None
        Over the last of the named quantities.

    Raises
    ------
    StateError
        A bad start, or the branch ends before it comes to the pins.
    """
    known = dynamics.values
    sorted_pins = sort_pins(dynamics, pins)
    ends = {**known, **sorted_pins.positions, "t": sorted_pins.time}
    begin = {name: read_number(f"branch {name}", value, known) for name, value in start.items() if name in ends}
    unknown = {name: value for name, value in start.items() if name not in ends}
    if not begin:
        return follow_branch(
            dynamics, {}, lambda _: (dict(pins), dict(dynamics.given)), start=unknown, tolerances=tolerances
        )
    place = dict(begin)
    branch: PostureBranch | None = None
    for name in begin:

        def placed(
            values: Sequence[NDArray[np.float64]], name: str = name, place: Mapping[str, float] = dict(place)
        ) -> tuple[dict[str, Any], dict[str, Any]]:
            at = {**place, name: values[0]}
            declared = dynamics.mechanism.parameters
            own = {key: value for key, value in at.items() if key in declared}
            return {**pins, **{key: at[key] for key in at.keys() - own.keys()}}, {**dynamics.given, **own}

        low, high = sorted((begin[name], float(ends[name])))
        at_start = {name: begin[name], **unknown}
        branch = follow_branch(dynamics, {name: (low, high)}, placed, start=at_start, tolerances=tolerances)
        if branch is None:
            return None
        own_pins, values = placed([np.full(1, ends[name])])
        problem, _ = position_problem(dynamics.at(values), sort_pins(dynamics.at(values), own_pins))
        (q,), (is_reached,) = branch.solve(problem, tolerances)
        if not is_reached:
            where = ", ".join(f"{name} = {place[0]:g}" for place in branch.folds) or "a singular posture"
            raise StateError(
                f"the branch of {dynamics.name} that is named ends before {name} = {ends[name]:g}: it meets another "
                f"one at {where}"
            )
        unknown = {coordinate: float(q[i]) for i, coordinate in enumerate(dynamics.mechanism.coordinates)}
        unknown = {coordinate: unknown[coordinate] for coordinate in branch.start if coordinate in unknown}
        unknown.pop(name, None)
        place[name] = float(ends[name])
    return branch
