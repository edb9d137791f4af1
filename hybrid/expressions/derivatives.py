"""Derivatives of nodes, as nodes of the same graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.expressions.functions import FUNCTIONS
from hybrid.expressions.graph import Builder

__all__ = ["Nodes", "derivative", "gradient", "jacobian", "partials"]

Nodes = NDArray[np.intp]


def partials(build: Builder, node: int) -> tuple[int, ...]:
    """Derivatives of a node with respect to each of its arguments.

    Parameters
    ----------
    build : Builder
    node : int

    Returns
    -------
    tuple of int
        A node for each argument; the number 0 for an exponent that is a number.
    """
    found = build.known_partials.get(node)
    if found is None:
        found = build.known_partials[node] = _partials(build, node)
    return found


def _partials(build: Builder, node: int) -> tuple[int, ...]:
    operation, arguments = build.operation(node), build.arguments(node)
    if operation == "+":
        return tuple(build.number(1) for _ in arguments)
    if operation == "*":
        return tuple(_without(build, arguments, place) for place in range(len(arguments)))
    if operation == "/":
        above, below = arguments
        return (
            build.divide(build.number(1), below),
            build.negate(build.divide(above, build.multiply(below, below))),
        )
    if operation == "**":
        base, exponent = arguments
        lowered = build.power(base, build.subtract(exponent, build.number(1)))
        by_base = build.multiply(exponent, lowered)
        if build.value(exponent) is not None:
            return by_base, build.number(0)
        return by_base, build.multiply(build.call("log", base), node)
    return FUNCTIONS[operation].partials(build, node, arguments)


def _without(build: Builder, factors: Sequence[int], place: int) -> int:
    result = build.number(1)
    for other, factor in enumerate(factors):
        if other != place:
            result = build.multiply(result, factor)
    return result


def derivative(build: Builder, roots: Any, directions: Mapping[int, int]) -> Nodes:
    """Directional derivative of nodes: the sum of partial derivatives times a node for each name.

    Parameters
    ----------
    build : Builder
    roots : array of int, (...)
    directions : mapping of int to int
        From the node of a name to its rate.

    Returns
    -------
    array of int, (...)
        A node that is zero wherever it exists is the number 0: jumps have no impulses.
    """
    roots = np.asarray(roots, dtype=np.intp)
    zero = build.number(0)
    rates: dict[int, int] = dict(directions)
    for node in build.needed(roots.ravel().tolist()):
        if node in rates or not build.arguments(node):
            continue
        moving = [(place, rates[argument]) for place, argument in enumerate(build.arguments(node)) if argument in rates]
        if not moving:
            continue
        slopes = partials(build, node)
        rate = build.total(build.multiply(slopes[place], along) for place, along in moving)
        if rate != zero:
            rates[node] = rate
    return np.array([rates.get(int(root), zero) for root in roots.ravel()], dtype=np.intp).reshape(roots.shape)


def jacobian(build: Builder, roots: Any, names: Sequence[int]) -> Nodes:
    """Partial derivatives of nodes with respect to names.

    Parameters
    ----------
    build : Builder
    roots : array of int, (...)
        Nodes.
    names : sequence of int, length k
        Nodes of names.

    Returns
    -------
    array of int, (..., k)
        Nodes.
    """
    roots = np.asarray(roots, dtype=np.intp)
    one = build.number(1)
    columns = [derivative(build, roots, {int(name): one}) for name in names]
    return np.stack(columns, axis=-1) if columns else np.zeros((*roots.shape, 0), dtype=np.intp)


def gradient(build: Builder, root: int, names: Sequence[int]) -> Nodes:
    """Partial derivatives of one node with respect to many names at once, from the node backwards.

    Parameters
    ----------
    build : Builder
    root : int
    names : sequence of int

    Returns
    -------
    array of int, (number of names,)
    """
    zero = build.number(0)
    needed = build.needed([root])
    depending = {int(name) for name in names}
    for node in needed:
        if any(argument in depending for argument in build.arguments(node)):
            depending.add(node)
    adjoint = {root: build.number(1)}
    for node in reversed(needed):
        along = adjoint.get(node, zero)
        if along == zero or node not in depending or not build.arguments(node):
            continue
        for argument, slope in zip(build.arguments(node), partials(build, node), strict=True):
            if argument in depending:
                adjoint[argument] = build.add(adjoint.get(argument, zero), build.multiply(slope, along))
    return np.array([adjoint.get(int(name), zero) for name in names], dtype=np.intp)
