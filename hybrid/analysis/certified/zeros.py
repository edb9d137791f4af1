"""Functions that vanish throughout, or on a part of a box, where conditions are met with equality."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hybrid.analysis.certified.tape import tape_of

if TYPE_CHECKING:
    from hybrid.analysis.maps.node_states import NodeStates
    from hybrid.expressions import Builder

__all__ = ["may_vanish", "seems_zero", "vanishes"]

_TRIED = 4  # states at which a function that vanishes everywhere would be seen
# Not atan, which has branches: k - atan(tan(k)) vanishes on a period alone.
_ANALYTIC = ("pi", "+", "*", "/", "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp")


def vanishes(build: Builder, node: int) -> bool:
    """Whether a node is zero wherever it is defined.

    Parameters
    ----------
    build : Builder
    node : int

    Returns
    -------
    bool
    """
    parts = [vanishes(build, part) for part in build.arguments(node)]
    kinds = {"*": any(parts), "+": all(parts), "/": parts[:1] == [True]}
    return build.value(node) == 0 or kinds.get(build.operation(node), False)


def seems_zero(states: NodeStates, node: int) -> bool:
    """Whether nothing tells a node from zero at some states inside the box: its sign would be none.

    Parameters
    ----------
    states : NodeStates
    node : int

    Returns
    -------
    bool
    """
    at = np.random.default_rng(len(states.names)).uniform(0.1, 0.9, (_TRIED, len(states.names)))
    for place, axis in enumerate(states.axes):
        at[:, place] = axis.low + at[:, place] * axis.width
    found, broken = tape_of(states.build.graph(), [node], states.names)(np.stack([at, at], axis=-1))
    values = found[:, 0]
    return bool((broken | ((values[:, 0] <= 0.0) & (values[:, 1] >= 0.0))).all())


def may_vanish(states: NodeStates, functions: Sequence[int]) -> list[bool]:
    """Of which functions the zeros may fill a part of the box.

    Those of an analytic function of the axes do not, if it is not zero at one point. Coordinates that equations fix
    are left out: a function of them may vanish on all postures.

    Parameters
    ----------
    states : NodeStates
    functions : sequence of int

    Returns
    -------
    list of bool

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import Axis, derive
    >>> from hybrid.analysis.maps.node_states import node_states
    >>> axes = [Axis.parse("phi=0:1"), Axis.parse("mu=-1:1")]
    >>> pins = {"phi_dot": 0, "slip.tip": -1}
    >>> states = node_states(derive(mechanisms.load("rod_on_incline")), axes, pins=pins)
    >>> mu = states.names[1]
    >>> may_vanish(states, [mu, states.build.call("max", mu, states.build.number(0))])
    [False, True]
    """
    build = states.build
    axes = set(states.names[: len(states.axes)])

    def is_analytic(node: int) -> bool:
        operation, arguments = build.operation(node), build.arguments(node)
        if operation == "**":
            return isinstance(build.value(arguments[1]), int)
        return node in axes or build.value(node) is not None or operation in _ANALYTIC

    return [
        not all(map(is_analytic, build.needed([function]))) or seems_zero(states, function) for function in functions
    ]
