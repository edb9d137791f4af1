"""Derivatives of nodes, as nodes of the same graph.

Linear algebra on nodes: elimination written out, zeros and ones skipped.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.expressions.functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from hybrid.expressions.builder import Builder

__all__ = [
    "Nodes",
    "derivative",
    "determinant",
    "dot",
    "gradient",
    "jacobian",
    "partials",
    "solve_definite",
    "turn_nodes",
]


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

    Functions pass on what reaches them in parts, not as one sum, so that equal parts of two gradients are equal nodes:
    in Lagrange's equations the velocities' share of ``d/dt dT/dv - dT/dq`` cancels before anything is evaluated.

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
    adjoint: dict[int, list[int]] = {root: [build.number(1)]}
    for node in reversed(needed):
        if node not in adjoint or node not in depending or not build.arguments(node):
            continue
        parts = adjoint[node] if build.operation(node) in FUNCTIONS else [build.total(adjoint[node])]
        slopes = list(zip(build.arguments(node), partials(build, node), strict=True))
        for along, (argument, slope) in itertools.product(parts, slopes):
            if argument in depending and along != zero:
                adjoint.setdefault(argument, []).append(build.multiply(slope, along))
    return np.array([build.total(adjoint.get(int(name), [])) for name in names], dtype=np.intp)


def turn_nodes(
    build: Builder, roots: Iterable[int], names: Sequence[int], *, functions: Collection[str] | None = None
) -> dict[str, Nodes]:
    """How fast the arguments of functions such as ``sin`` change with every name.

    These arguments have no unit: a name that enters one has a size of its own, that which changes it by 1.

    Parameters
    ----------
    build : Builder
    roots : iterable of int
        Nodes of the expressions in which the functions stand.
    names : sequence of int
        Nodes of names.
    functions : collection of str, optional
        Which functions count; by default all whose argument has no unit.

    Returns
    -------
    dict of str to array of int, (number of arguments that change,)
        By the place of the name; one that enters no argument is left out.

    Examples
    --------
    >>> from hybrid.expressions import Builder
    >>> build = Builder()
    >>> x, phi = build.name("x"), build.name("phi")
    >>> height = build.multiply(x, build.call("sin", build.multiply(build.number(2), phi)))
    >>> {place: list(map(build.value, rates)) for place, rates in turn_nodes(build, [height], [x, phi]).items()}
    {'1': [2]}
    """
    counted = functions or [name for name, facts in FUNCTIONS.items() if facts.has_unitless_argument]
    inner = {build.arguments(node)[0] for node in build.needed(list(roots)) if build.operation(node) in counted}
    rates = jacobian(build, sorted(inner), names)
    turns = {str(place): rates[:, place][rates[:, place] != build.number(0)] for place in range(rates.shape[1])}
    return {place: nodes for place, nodes in turns.items() if len(nodes)}


def dot(build: Builder, left: Iterable[int], right: Iterable[int], start: int | None = None) -> int:
    """A sum of products of nodes, plus ``start``.

    Parameters
    ----------
    build : Builder
    left, right : iterable of int
        As many nodes each.
    start : int, optional
        A node.

    Returns
    -------
    int
        A node.
    """
    products = [build.multiply(int(a), int(b)) for a, b in zip(left, right, strict=True)]
    return build.total(products if start is None else [*products, int(start)])


def solve_definite(build: Builder, M: Nodes, columns: Iterable[Sequence[int] | Nodes]) -> list[list[int]]:
    """The solution ``M^-1 B`` by ``L D L^T``, which is safe without pivoting where M is positive definite.

    Parameters
    ----------
    build : Builder
    M : array of int, (n, n)
        Symmetric; the lower half is read.
    columns : iterable of sequence of int, length n each
        The columns of B.

    Returns
    -------
    list of list of int
        The columns of the solution.

    Examples
    --------
    >>> import numpy as np
    >>> from hybrid.expressions.builder import Builder
    >>> build = Builder()
    >>> m, f = build.name("m"), build.name("f")
    >>> solve_definite(build, np.array([[m]]), [[f]]) == [[build.divide(f, m)]]
    True
    """
    n, zero = len(M), build.number(0)

    def shared(value: int, pivot: int) -> int:  # no pivot is zero: of a zero nothing is left
        return zero if value == zero else build.divide(value, pivot)

    L: list[list[int]] = [[] for _ in range(n)]
    D: list[int] = []
    for i in range(n):
        scaled: list[int] = []  # L_ij D_j
        for j in range(i):
            scaled.append(_less(build, int(M[i, j]), scaled[:j], L[j]))
            L[i].append(shared(scaled[j], D[j]))
        D.append(_less(build, int(M[i, i]), L[i], scaled))
    solved = []
    for column in columns:
        x: list[int] = []
        for i in range(n):
            x.append(_less(build, int(column[i]), L[i], x))
        x = list(map(shared, x, D))
        for i in reversed(range(n)):
            x[i] = _less(build, x[i], [L[k][i] for k in range(i + 1, n)], x[i + 1 :])
        solved.append(x)
    return solved


def _less(build: Builder, start: int, left: Sequence[int], right: Sequence[int]) -> int:
    zero = build.number(0)
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if zero not in (a, b)]
    return build.subtract(start, build.total(build.multiply(a, b) for a, b in pairs))


def determinant(build: Builder, rows: Sequence[Sequence[int]]) -> int:
    """A determinant without divisions, so that it has a sign everywhere.

    Rows in which some entry is 1 or -1 eliminate its column; the rest is expanded. Rows in another order, or with
    another sign, give the same node or its opposite.

    Parameters
    ----------
    build : Builder
    rows : sequence of sequence of int, (n, n)

    Returns
    -------
    int
        A node.

    Examples
    --------
    >>> from hybrid.expressions.builder import Builder
    >>> build = Builder()
    >>> a, one, zero = build.name("a"), build.number(1), build.number(0)
    >>> determinant(build, [[one, a, zero], [zero, one, zero], [a, a, a]]) == a
    True
    """
    left = [[int(node) for node in row] for row in rows]
    sign, one = 1, build.number(1)
    while True:
        sign *= _arrange(build, left)
        i = next((i for i, row in enumerate(left) if one in row), None)
        if i is None:
            break
        j = left[i].index(one)
        sign *= -1 if (i + j) % 2 else 1
        eliminated = left.pop(i)
        left = [
            [
                build.subtract(x, build.multiply(row[j], y))
                for k, (x, y) in enumerate(zip(row, eliminated, strict=True))
                if k != j
            ]
            for row in left
        ]
    found = _expanded(build, left)
    return found if sign > 0 else build.negate(found)


def _arrange(build: Builder, rows: list[list[int]]) -> int:
    """Turn and sort rows, those of most zeros first; the sign by which the determinant changes."""
    sign = 1
    zero, one, opposite = (build.number(value) for value in (0, 1, -1))
    for place, row in enumerate(rows):
        leading = next((node for node in row if node in (one, opposite)), None)
        if leading == one:
            continue
        turned = [build.negate(node) for node in row]
        if leading == opposite or turned < row:
            rows[place] = turned
            sign = -sign
    order = sorted(range(len(rows)), key=lambda index: (-rows[index].count(zero), rows[index]))
    sign *= -1 if sum(order[i] > order[j] for i in range(len(order)) for j in range(i + 1, len(order))) % 2 else 1
    rows[:] = [rows[index] for index in order]
    return sign


def _expanded(build: Builder, rows: Sequence[Sequence[int]]) -> int:
    zero = build.number(0)
    known: dict[tuple[int, ...], int] = {(): build.number(1)}

    def minor(depth: int, columns: tuple[int, ...]) -> int:
        if columns not in known:
            entries = [(place, rows[depth][column]) for place, column in enumerate(columns)]
            known[columns] = build.total(
                build.multiply(
                    entry if place % 2 == 0 else build.negate(entry),
                    minor(depth + 1, columns[:place] + columns[place + 1 :]),
                )
                for place, entry in entries
                if entry != zero
            )
        return known[columns]

    return minor(0, tuple(range(len(rows))))
