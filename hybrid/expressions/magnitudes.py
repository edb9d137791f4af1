"""Magnitudes of the terms that expressions are sums of: what rounds in them is a share of these."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybrid.expressions.builder import Builder
from hybrid.expressions.derivatives import Nodes, partials
from hybrid.expressions.functions import FUNCTIONS

__all__ = ["magnitudes", "roundings"]


def magnitudes(build: Builder, roots: Any) -> Nodes:
    """The sum of the magnitudes of the terms of every root, where it is a sum; elsewhere its own magnitude.

    The rounding of an argument makes more of a function: its slope times the magnitude of the argument is added.

    Parameters
    ----------
    build : Builder
    roots : array of int, (...)

    Returns
    -------
    array of int, (...)

    Examples
    --------
    >>> build = Builder()
    >>> x, y = build.name("x"), build.name("y")
    >>> size = int(magnitudes(build, [build.subtract(x, y)])[0])
    >>> size == build.add(build.call("abs", x), build.call("abs", y))
    True
    """
    roots = np.asarray(roots, dtype=np.intp)
    sizes: dict[int, int] = {}
    sums: set[int] = set()
    for node in build.needed(roots.ravel().tolist()):
        arguments = build.arguments(node)
        if build.operation(node) == "+" or any(argument in sums for argument in arguments):
            sums.add(node)
        sizes[node] = _size(build, node, [sizes[argument] for argument in arguments], is_sum=node in sums)
    return np.array([sizes[int(root)] for root in roots.ravel()], dtype=np.intp).reshape(roots.shape)


def _size(build: Builder, node: int, parts: list[int], *, is_sum: bool) -> int:
    operation, value = build.operation(node), build.value(node)
    if value is not None:
        return build.number(max(value, -value))
    if operation in ("+", "min", "max"):
        return build.total(parts)
    if operation == "*":
        result = build.number(1)
        for part in parts:
            result = build.multiply(result, part)
        return result
    if operation == "abs":
        return parts[0]
    own = build.call("abs", node)
    if operation in ("sign", "step") or not is_sum:
        return own
    if operation == "**":
        exponent = build.value(build.arguments(node)[1])
        if exponent is not None and exponent.denominator == 1 and exponent > 0:
            return build.power(parts[0], build.arguments(node)[1])
        parts = parts[:1]
    slope = FUNCTIONS[operation].slope if operation in FUNCTIONS else None
    if slope == 1.0:
        return build.add(own, parts[0])
    slopes = partials(build, node)
    spread = [build.multiply(build.call("abs", slope), part) for slope, part in zip(slopes, parts, strict=False)]
    return build.total([own, *spread])


def roundings(build: Builder, roots: Any) -> Nodes:
    """How far rounding may take every root, to first order, in rounding units of its operations.

    Each operation adds its own result, and its slopes carry on what its arguments have (running error analysis, Higham
    2002, Accuracy and Stability of Numerical Algorithms, section 3.3). Names are taken to be exact.

    Parameters
    ----------
    build : Builder
    roots : array of int, (...)

    Returns
    -------
    array of int, (...)

    Examples
    --------
    >>> build = Builder()
    >>> x, y = build.name("x"), build.name("y")
    >>> total = build.add(x, y)
    >>> sine, slope, size = (build.call(f, total) for f in ("sin", "cos", "abs"))
    >>> error = build.add(build.call("abs", sine), build.multiply(build.call("abs", slope), size))
    >>> int(roundings(build, [sine])[0]) == error
    True
    """
    roots = np.asarray(roots, dtype=np.intp)
    errors: dict[int, int] = {}
    for node in build.needed(roots.ravel().tolist()):
        arguments = build.arguments(node)
        parts = [
            build.multiply(build.call("abs", slope), errors[argument])
            for slope, argument in zip(partials(build, node) if arguments else (), arguments, strict=True)
        ]
        errors[node] = build.total([build.call("abs", node), *parts]) if arguments else build.number(0)
    return np.array([errors[int(root)] for root in roots.ravel()], dtype=np.intp).reshape(roots.shape)
