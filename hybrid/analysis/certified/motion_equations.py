"""Equations of motion over the axes of some states, without factors that make a posture singular.

Where a coordinate loses its meaning, as the azimuth of an upright rod, its row and column of the mass matrix vanish by
a common factor ``f``. With ``M = D M' D`` and ``D = diag(f)``, contacts respond by
``W^T M^-1 W = (D^-1 W)^T M'^-1 (D^-1 W)``: the same where no ``f`` vanishes, and its limit where one does.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.expressions import Nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.analysis.maps.node_states import NodeStates
    from hybrid.expressions import Builder

__all__ = ["MotionEquations", "motion_equations"]


@attrs.frozen(eq=False)
class MotionEquations:
    """Nodes of ``M v' = h + W_N lambda_N + W_T lambda_T + J^T lambda_B``, coordinates scaled.

    Attributes
    ----------
    M, h : array of int, (n, n) and (n,)
    W_N, W_T, J : array of int, (k, n)
        A row for each contact, tangential direction and rigid constraint.
    """

    M: Nodes
    h: Nodes
    W_N: Nodes
    W_T: Nodes
    J: Nodes


def motion_equations(states: NodeStates) -> MotionEquations:
    """The equations of motion in terms of the names of some states.

    Parameters
    ----------
    states : NodeStates

    Returns
    -------
    MotionEquations
    """
    build, given = states.build, states.dynamics.equations
    M, h, W_N, W_T, J = (
        np.array([states.at(node) for node in rows.ravel().tolist()], dtype=np.intp).reshape(rows.shape)
        for rows in (given.M, given.h, given.W_N.T, given.W_T.T, given.J)
    )
    for i in range(len(M)):
        others = [*np.delete(M[i], i), h[i], *W_N[:, i], *W_T[:, i], *J[:, i]]
        shared = _shared(build, int(M[i, i]), [int(node) for node in others])
        for row in (M[i], M[:, i]) if shared else ():
            row[:] = [_divided(build, int(node), shared) for node in row]
        for column in (h[i : i + 1], W_N[:, i], W_T[:, i], J[:, i]) if shared else ():
            column[:] = [_divided(build, int(node), shared) for node in column]
    return MotionEquations(M, h, W_N, W_T, J)


def _shared(build: Builder, square: int, others: Sequence[int]) -> Counter[int]:
    """Factors, defined everywhere, that all other nodes have in common, and that divide one twice."""
    found = Counter({f: times // 2 for f, times in _factors(build, square).items() if build.is_defined(f)})
    for node in others:
        if build.value(node) != 0:
            found &= _factors(build, node)
    return +found


def _factors(build: Builder, node: int) -> Counter[int]:
    """Factors of a node that are no numbers, and how often they occur; of a sum, those of all terms."""
    operation, arguments = build.operation(node), build.arguments(node)
    if build.value(node) is not None:
        return Counter()
    if operation == "/":
        return _factors(build, arguments[0])
    if operation == "+":
        first, *others = (_factors(build, term) for term in arguments)
        for other in others:
            first &= other
        return first
    if parts := _parts(build, node):
        return sum((_factors(build, part) for part in parts), Counter[int]())
    return Counter({node: 1})


def _parts(build: Builder, node: int) -> tuple[int, ...]:
    """What a node is the product of."""
    arguments = build.arguments(node)
    if build.operation(node) == "**":
        exponent = build.value(arguments[1])
        return arguments[:1] * exponent if isinstance(exponent, int) and exponent > 0 else ()
    return arguments if build.operation(node) == "*" else ()


def _divided(build: Builder, node: int, factors: Counter[int]) -> int:
    """A node without some of its factors."""
    operation, arguments = build.operation(node), build.arguments(node)
    if not factors or build.value(node) == 0:
        return node
    if operation == "/":
        return build.divide(_divided(build, arguments[0], factors), arguments[1])
    if operation == "+":
        return build.total(_divided(build, term, factors) for term in arguments)
    left, found = Counter(factors), build.number(1)
    for part in _parts(build, node):
        own = left & _factors(build, part)
        found, left = build.multiply(found, _divided(build, part, own)), left - own
    return found
