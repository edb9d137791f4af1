"""Where expressions jump or have a kink: the arguments of ``sign``, ``step``, ``abs``, ``min`` and ``max``."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from hybrid.expressions.derivatives import derivative
from hybrid.expressions.functions import FUNCTIONS
from hybrid.expressions.graph import Builder

__all__ = ["Switch", "switches"]


@attrs.frozen
class Switch:
    """A quantity at whose zeros expressions jump or have a kink.

    Attributes
    ----------
    quantity : int
        Its node.
    weight : int
        The node of what it changes in the expressions: the heights of a jump, the bends of a kink, added up.
    is_jump : bool
    """

    quantity: int
    weight: int
    is_jump: bool


def switches(build: Builder, roots: Any) -> tuple[Switch, ...]:
    """What makes nodes jump or bend.

    Parameters
    ----------
    build : Builder
    roots : array of int, (...)

    Returns
    -------
    tuple of Switch
        First those of jumps, then those of kinks.

    Examples
    --------
    >>> build = Builder()
    >>> x = build.name("x")
    >>> [found] = switches(build, [build.multiply(x, build.call("abs", x))])
    >>> found.quantity == x, found.weight == build.call("abs", x), found.is_jump
    (True, True, False)
    """
    jumps: dict[int, int] = {}
    bends: dict[int, int] = {}
    zero = build.number(0)
    for root in dict.fromkeys(int(node) for node in np.ravel(roots)):
        for node in build.needed([root]):
            function = FUNCTIONS.get(build.operation(node))
            if function is None or not (function.jumps or function.bends):
                continue
            first, *others = build.arguments(node)
            quantity = build.subtract(first, others[0]) if others else first
            if function.jumps:
                low = -1 if build.operation(node) == "sign" else 0
                ends = (build.replaced(root, {node: build.number(end)}) for end in (1, low))
                found, height = jumps, build.subtract(*ends)
            else:
                found, height = bends, int(derivative(build, [root], {node: build.number(1)})[0])
            found[quantity] = build.add(found.get(quantity, zero), build.call("abs", height))
    return tuple(
        Switch(quantity, weight, is_jump)
        for found, is_jump in ((jumps, True), (bends, False))
        for quantity, weight in found.items()
    )
