"""Properties of nodes: how large the terms are that cancel in them, and where they jump or have a kink.

What rounds in an expression is a share of the magnitudes of the terms that it is a sum of. Its switches are quantities
at whose zeros it jumps or bends: the arguments of ``sign``, ``heaviside``, ``abs``, ``min`` and ``max``, the cut of
``atan2``, and poles: a motion that has passed one met a bounded function of it, as ``atan(1/x)``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.expressions.builder import Builder
from hybrid.expressions.derivatives import Nodes, derivative, partials
from hybrid.expressions.functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

__all__ = ["Switch", "magnitudes", "roundings", "switches", "vanishes_with"]


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


@attrs.frozen
class Switch:
    """A quantity at whose zeros expressions jump or have a kink.

    Attributes
    ----------
    quantity : int
        Its node.
    weight : int
        The node of what it changes in the expressions: the heights of a jump, the bends of a kink, added up; 1 for a
        pole.
    is_jump : bool
    quotient : int or None
        Of a pole the quotient, power or tangent that has it, which jumps unless it has one value on either side.
    """

    quantity: int
    weight: int
    is_jump: bool
    quotient: int | None = None


def switches(build: Builder, roots: Any, moving: Collection[int] = ()) -> tuple[Switch, ...]:
    """What makes nodes jump or bend.

    Parameters
    ----------
    build : Builder
    roots : array of int, (...)
    moving : collection of int
        Nodes of the names that change along a motion: one that passes a pole has crossed a jump. Quotients whose
        denominators hold none of them are left out.

    Returns
    -------
    tuple of Switch
        First those of jumps, then those of kinks.

    Examples
    --------
    >>> from hybrid.expressions import Builder
    >>> build = Builder()
    >>> x = build.name("x")
    >>> [found] = switches(build, [build.multiply(x, build.call("abs", x))])
    >>> found.quantity == x, found.weight == build.call("abs", x), found.is_jump
    (True, True, False)
    >>> [found] = switches(build, [build.call("atan", build.divide(build.number(1), x))], [x])
    >>> found.quantity == x, found.is_jump
    (True, True)
    """
    jumps: dict[int, int] = {}
    bends: dict[int, int] = {}
    zero, one = build.number(0), build.number(1)
    nodes = list(dict.fromkeys(int(node) for node in np.ravel(roots)))
    for root in nodes:
        for node in build.needed([root]):
            function = FUNCTIONS.get(build.operation(node))
            if function is None or not (function.jumps or function.bends) or build.operation(node) == "tan":
                continue
            if function.bends:
                first, *others = build.arguments(node)
                quantity = _edge(build, build.subtract(first, others[0]) if others else first)
                found = [(bends, quantity, _beside(build, int(derivative(build, [root], {node: one})[0]), quantity))]
            else:
                found = [(jumps, *item) for item in _jumps(build, root, node)]
            for table, quantity, height in found:
                if table is jumps and vanishes_with(build, height, quantity):
                    table, height = bends, one  # as of a force that sets in: x*(1 + sign(x)), max(0, x)*step(x)
                table[quantity] = build.add(table.get(quantity, zero), build.call("abs", height))
    poles = _poles(build, nodes, frozenset(moving)) if moving else []
    return (
        *(Switch(quantity, weight, True) for quantity, weight in jumps.items()),
        *(Switch(quantity, one, True, quotient) for quantity, quotient in poles),
        *(Switch(quantity, weight, False) for quantity, weight in bends.items()),
    )


def _edge(build: Builder, node: int) -> int:
    """What passes zero where a node does, or where it begins to be zero: as x does for 2*max(0, x)."""
    operation, arguments, zero = build.operation(node), build.arguments(node), build.number(0)
    if operation == "*" and len(arguments) == 2 and build.value(arguments[0]) is not None:
        return _edge(build, arguments[1])
    if operation in ("max", "min") and zero in arguments:
        return _edge(build, next(other for other in arguments if other != zero))
    if operation in ("**", "abs", "sqrt") and (edge := _edge(build, arguments[0])) != arguments[0]:
        return edge
    return node


def _beside(build: Builder, node: int, quantity: int) -> int:
    """A node beside the zero of a quantity, where signs are not 0: magnitudes for 1 and for -1 are added."""
    for other in build.needed([node]):
        if build.operation(other) == "sign" and vanishes_with(build, build.arguments(other)[0], quantity):
            sides = (build.replaced(node, {other: build.number(side)}) for side in (1, -1))
            return build.total(build.call("abs", _beside(build, side, quantity)) for side in sides)
    return node


def vanishes_with(build: Builder, node: int, quantity: int) -> bool:
    """Whether a node is zero where a quantity is, as far as its form tells, and is no quotient of zeros there.

    Parameters
    ----------
    build : Builder
    node, quantity : int

    Returns
    -------
    bool

    Examples
    --------
    >>> from hybrid.expressions import Builder
    >>> build = Builder()
    >>> x, zero = build.name("x"), build.number(0)
    >>> vanishes_with(build, build.call("max", x, zero), build.subtract(x, zero))
    True
    """
    for known in _where_zero(build, node, quantity):
        there = build.replaced(node, known)
        below = (_divided(build, other)[1] for other in build.needed([there]))
        if _is_zero(build, there) and not any(_is_zero(build, other) for other in below if other is not None):
            return True
    return False


def _where_zero(build: Builder, node: int, quantity: int) -> Iterator[dict[int, int]]:
    """What other nodes are where a quantity is zero: replacements in a node, in several ways.

    Its negative is zero, too, and the greater of two that differ by it is either. A term of a sum is what the others
    leave.
    """
    zero = build.number(0)
    same = {quantity, build.negate(quantity)}
    known = dict.fromkeys(same, zero)
    for other in build.needed([node]):
        if build.operation(other) in ("max", "min"):
            first, second = build.arguments(other)
            if build.subtract(first, second) in same:
                known[other] = second if build.value(first) is None else first
    yield known
    terms = build.arguments(quantity) if build.operation(quantity) == "+" else ()
    for term in terms:
        if build.value(term) is not None:
            continue
        factors = build.arguments(term) if build.operation(term) == "*" else (term,)
        share = build.value(factors[0])
        left = term if share is None else build.divide(term, build.number(share))
        rest = build.total(other for other in terms if other != term)
        if left not in build.needed([rest]):
            yield {left: build.multiply(build.number(Fraction(-1) / Fraction(share or 1)), rest)}


def _is_zero(build: Builder, node: int) -> bool:
    """Whether an expression is zero wherever it has a value, as far as its form tells."""
    operation, arguments, value = build.operation(node), build.arguments(node), build.value(node)
    if value is not None:
        return value == 0
    if operation == "*":
        return any(_is_zero(build, factor) for factor in arguments)
    if operation == "+":
        return all(_is_zero(build, term) for term in arguments)
    if operation == "**":  # of a parameter the exponent may be 0, and the power 1
        exponent = build.value(arguments[1])
        return exponent is not None and exponent > 0 and _is_zero(build, arguments[0])
    return operation in ("/", "abs", "sqrt") and _is_zero(build, arguments[0])


def _jumps(build: Builder, root: int, node: int) -> list[tuple[int, int]]:
    """Where a root jumps with one of its nodes: quantities that are zero there, and how high it jumps."""

    def height(high: int, low: int) -> int:
        ends = (build.replaced(root, {node: end}) for end in (high, low))
        return build.subtract(*ends)

    one = build.number(1)
    if build.operation(node) != "atan2":
        lower = build.number(-1 if build.operation(node) == "sign" else 0)
        (argument,) = build.arguments(node)
        bends = (item.quantity for item in switches(build, [argument]))
        # an argument may stay zero on one side of its kink: as s + abs(s)
        edges = [_edge(build, argument), *(edge for edge in bends if vanishes_with(build, argument, edge))]
        return [(edge, height(one, lower)) for edge in dict.fromkeys(edges)]
    y, x = build.arguments(node)
    zero, pi, half = build.number(0), build.pi(), build.number(Fraction(1, 2))
    found = []
    share = build.multiply(half, build.subtract(one, build.call("sign", x)))  # the cut: none where x is positive
    if build.value(y) is None and share != zero:
        found.append((y, build.multiply(share, height(pi, build.negate(pi)))))
    share = build.subtract(one, build.call("abs", build.call("sign", y)))  # where y stays zero: as atan2(0, x)
    if build.value(x) is None and share != zero:
        found.append((x, build.multiply(share, height(pi, zero))))
    return [(quantity, jump) for quantity, jump in found if jump != zero]


def _poles(build: Builder, roots: Sequence[int], moving: frozenset[int]) -> list[tuple[int, int]]:
    """Quantities whose zeros are poles of quotients, powers and tangents that roots hold, and these."""
    found: list[tuple[int, int]] = []
    needed = build.needed(roots)
    moved = set(moving)
    moved.update(node for node in needed if not moved.isdisjoint(build.arguments(node)))
    for node in needed:
        above, below = _divided(build, node)
        for factor in _vanishing_factors(build, below) if below is not None else ():
            if factor not in moved and moved.isdisjoint(build.needed([factor])):
                continue
            # sin(x)/x goes on; x/abs(x) does not, nor max(0, x)/x
            goes_on = below == factor and build.replaced(above, {factor: build.number(0)}) == build.number(0)
            goes_on = goes_on and all(
                vanishes_with(build, item.weight, item.quantity) for item in switches(build, [above])
            )
            if not goes_on:
                found.append((factor, node))
    return found


def _divided(build: Builder, node: int) -> tuple[int, int | None]:
    """A quotient's numerator and denominator; None for the latter if a node is no quotient."""
    operation, arguments = build.operation(node), build.arguments(node)
    if operation == "/":
        return arguments[0], arguments[1]
    if operation == "tan":
        return build.call("sin", *arguments), build.call("cos", *arguments)
    exponent = build.value(arguments[1]) if operation == "**" else None
    return (build.number(1), arguments[0]) if exponent is not None and exponent < 0 else (node, None)


def _vanishing_factors(build: Builder, node: int) -> list[int]:
    """What must be zero for a denominator to be: its factors without powers; none for 1 plus a square."""
    operation, arguments = build.operation(node), build.arguments(node)
    if operation == "*":
        return [found for factor in arguments for found in _vanishing_factors(build, factor)]
    if operation in ("**", "sqrt", "abs"):
        return _vanishing_factors(build, arguments[0])
    return [] if _is_positive(build, node) or build.value(node) else [node]


def _is_positive(build: Builder, node: int) -> bool:
    """Whether an expression cannot be zero or negative, as far as its form tells: a positive number plus squares."""
    operation, arguments, value = build.operation(node), build.arguments(node), build.value(node)
    if value is not None:
        return value > 0
    if operation == "+":
        are_positive = [_is_positive(build, term) for term in arguments]
        return any(are_positive) and all(_has_sign(build, term) for term in arguments)
    return operation in ("pi", "exp", "cosh")


def _has_sign(build: Builder, node: int) -> bool:
    """Whether an expression cannot be negative, as far as its form tells."""
    operation, arguments, value = build.operation(node), build.arguments(node), build.value(node)
    if value is not None:
        return value >= 0
    if operation in ("+", "*"):
        return all(_has_sign(build, part) for part in arguments)
    exponent = build.value(arguments[1]) if operation == "**" else None
    return operation in ("pi", "exp", "cosh", "sqrt", "abs") or (
        exponent is not None and (exponent.denominator != 1 or exponent % 2 == 0)
    )
