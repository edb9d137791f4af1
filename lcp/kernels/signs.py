"""Signs of principal minors, orders one to four, for several problems at once.

The numbers are those of `lcp.kernels.formulas`, sums of products. With the sums s and t of the moduli of M and q, the
products of a number of order k have the sum (s / k)**k of moduli at most, by the means of its rows, and t times
that if it has q as a factor. So the numbers of a group are each larger than their rounding, `ALL_CLEAR` times this, if
their product is larger than `ALL_CLEAR` times the product of these bounds. If all are, no sign is in doubt and none is
zero: a basis solves the problem if and only if no bit that is the sign of a numerator, its opposite for those inside
the basis, differs from that of the minor. Three of these bits are one instruction.

The kernels of each order are made of the formulas' text when this module is loaded, and compiled as all others are:

- ``entries(M, q, stride, k)`` gives the entries of problem k, those of M row by row, then those of q. Each is `stride`
  behind the one before.
- ``signs(*entries)`` gives whether all signs are clear, and then the number of solving bases, these bases as bits, and
  z of the lowest one, zeros if there is none. Bit b is set if the basis b solves the problem, and z_i is basic in b if
  bit i of b is set. Where a minor or numerator may be zero, or an entry is out of range, the rest means nothing.
- ``lowest(M, q, z)`` writes z of one problem and gives these bases, or -1 where a sign is not clear.
- ``solve(M, q, stride, first, last, z, bases, counts)`` does this for the problems from first to last - 1, with M and q
  of the shapes (n n stride,) and (n stride,), contiguous. It writes z_i of problem k to z[stride i + k], meaningless
  where the count is negative, the bits to bases, uint16, and their number to counts, int8: -1 where a sign is not
  clear, or an entry not finite or out of range. It tells whether there are any of these.

Their names end with the order in words, so that the compiler's own names for them differ.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lcp.kernels.compiled import compiled, inlined
from lcp.kernels.formulas import minor, minors, numerator, numerators, subsets, unknowns
from lcp.kernels.sizes import ALL_CLEAR, LEAST, MOST, TINY, bits, has_negative, modulus
from lcp.kernels.vectors import read, smaller, write

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "entries_four",
    "entries_one",
    "entries_three",
    "entries_two",
    "lowest_four",
    "lowest_one",
    "lowest_three",
    "lowest_two",
    "solve_four",
    "solve_one",
    "solve_three",
    "solve_two",
    "source",
]

NAMES = {1: "one", 2: "two", 3: "three", 4: "four"}
Order = tuple[int, int]
"""Of a number, in q and in M."""
BOUNDS = {
    2: (((0, 2), 0), ((2, 2), 0)),
    3: (((0, 4), -2), ((4, 4), 0)),
    4: (((0, 8), -8), ((4, 6), -4)),
}
"""Of the products of minors, and of those with numerators: the order, and the power of two that is in the bound."""
_Q, _N, _NN, _NNN = (1, 0), (1, 1), (1, 2), (1, 3)
GROUPS: dict[int, list[list[Order]]] = {
    2: [[(0, 1)] * 2, [_Q, _Q, (0, 2)], [_N, _N]],
    3: [
        [(0, 1), (0, 3)],
        [(0, 1), (0, 1), (0, 2)],
        [(0, 2), (0, 2)],
        [_Q, _Q, _NN, _NN],
        [_N] * 4,
        [_Q, _N, _N, _NN],
    ],
    4: [
        [*[(0, 1)] * 4, (0, 4)],
        [(0, 2)] * 4,
        *[[(0, 3), (0, 3), (0, 2)]] * 2,
        *[[_Q, _Q, _NNN, _NNN]] * 2,
        *[[_N, _N, _NN, _NN]] * 6,
    ],
}
"""Orders of the factors of every product: each number is in one."""


def source(n: int) -> str:
    """The text of the kernels of one order.

    Parameters
    ----------
    n : int
        From 1 to 4.

    Returns
    -------
    str
        Python: ``entries``, ``difference``, ``signs`` and ``solve``.

    Examples
    --------
    >>> print(source(1).partition("    z0 = 0.0")[2].partition("divisor")[0].strip())
    difference = _difference_one(bits(m00), ~bits(q0))
        holds = difference >= 0
        mask, count = mask | (~difference >> 63) & 2, count + (difference >> 63)
    """
    order = NAMES[n]
    parts = {
        f"entries_{order}(M, q, stride, k)": _entries(n),
        f"_difference_{order}(d, {', '.join(f'x{i}' for i in range(n))})": _difference(n),
        f"signs_{order}({', '.join(unknowns(n))})": _signs(n),
        f"lowest_{order}(M, q, z)": _lowest(n),
        f"solve_{order}(M, q, stride, first, last, z, bases, counts)": _solve(n),
    }
    lines: list[str] = []
    for head, body in parts.items():
        lines += ["@compiled" if head.startswith(("lowest", "solve")) else "@inlined", f"def {head}:"]
        lines += [f"    {line}" for line in body]
    return "\n".join(lines) + "\n"


def _entries(n: int) -> Iterator[str]:
    reads = [f"read({name}, {_distance(r)})" for name, count in (("M", n * n), ("q", n)) for r in range(count)]
    yield f"return ({', '.join(reads)})"


def _distance(i: int) -> str:
    return "k" if i == 0 else "stride + k" if i == 1 else f"{i} * stride + k"


def _sizes(n: int) -> Iterator[str]:
    """The sums of the moduli of M and q, by rows."""
    rows = [[f"modulus({name})" for name in unknowns(n)[k : k + n]] for k in range(0, n * n + n, n)]
    yield from (f"r{i} = {_sum(row)}" for i, row in enumerate(rows[:n]))
    yield f"s = {_sum([f'r{i}' for i in range(n)])}"
    yield f"t = {_sum(rows[n])}"


def _sum(terms: list[str]) -> str:
    """Two by two."""
    if len(terms) <= 2:
        return " + ".join(terms)
    pairs = (terms[k : k + 2] for k in range(0, len(terms), 2))
    return " + ".join(f"({' + '.join(pair)})" if len(pair) == 2 else pair[0] for pair in pairs)


def _powers(base: str, largest: int) -> Iterator[str]:
    """The even powers of a size up to one of them."""
    for k in range(2, largest + 1, 2):
        half = base if k == 2 else f"{base}{k // 2}"
        yield f"{base}{k} = {f'{base}4 * {base}2' if k == 6 else f'{half} * {half}'}"


def _least(products: list[str]) -> Iterator[str]:
    """The smallest modulus of products, by a tree, as `l0`."""
    yield from (f"l{k} = modulus({product})" for k, product in enumerate(products))
    distance = 1
    while distance < len(products):
        for k in range(0, len(products) - distance, 2 * distance):
            yield f"l{k} = smaller(l{k}, l{k + distance})"
        distance *= 2


def _products(n: int) -> tuple[list[str], list[str]]:
    """Products of all numbers, of one order in M, and of one order in q and one in M."""
    found: dict[Order, list[str]] = {}
    for inside in subsets(n):
        found.setdefault((0, len(inside)), []).append(minor(inside))
        for i in set(range(n)) - set(inside):
            found.setdefault((1, len(inside)), []).append(numerator(i, inside))
    del found[0, 0]
    in_turn = {order: iter(items) for order, items in found.items()}
    products: tuple[list[str], list[str]] = [], []
    for group in GROUPS[n]:
        total = sum(order[0] for order in group), sum(order[1] for order in group)
        has_q = total[0] > 0
        order, power = BOUNDS[n][has_q]
        if total != order or prod((1 / k) ** k for _, k in group if k) > 2.0**power:
            raise AssertionError(f"the bound of the group {group} is another")
        products[has_q].append(" * ".join(next(in_turn[order]) for order in group))
    if any(next(items, None) for items in in_turn.values()):
        raise AssertionError("a number is in no group")
    return products


def _clear(n: int) -> Iterator[str]:
    yield from _sizes(n)
    yield "is_clear = (s >= LEAST) & (t >= LEAST) & (s <= MOST) & (t <= MOST)"
    if n == 1:  # nothing is rounded
        return
    ((_, k), power), ((of_q, of_numerators), power_with_q) = BOUNDS[n]
    without, with_q = _products(n)
    yield from _powers("s", max(k, of_numerators))
    yield from _powers("t", of_q)
    yield from _least(without)
    yield f"is_clear = is_clear & (l0 > {_times(power)}ALL_CLEAR * s{k} + TINY)"
    yield from _least(with_q)
    yield f"is_clear = is_clear & (l0 > {_times(power_with_q)}ALL_CLEAR * s{of_numerators} * t{of_q} + TINY)"


def _times(power: int) -> str:
    return f"2.0**{power} * " if power else ""


def _difference(n: int) -> Iterator[str]:
    """Negative if the sign bit of an x differs from that of d."""
    yield f"return {' | '.join(f'(x{i} ^ d)' for i in range(n))}"


def _signs(n: int) -> Iterator[str]:
    yield from (*minors(n), *numerators(n), *_clear(n))
    yield from ("divisor = 1.0", f"mask, count = 0, {2**n}", " = ".join(f"z{i}" for i in range(n)) + " = 0.0")
    for b in range(2**n - 1, -1, -1):
        inside = tuple(i for i in range(n) if b >> i & 1)
        x = [numerator(i, set(inside) - {i}) for i in range(n)]
        terms = [f"{'~' if i in inside else ''}bits({x[i]})" for i in range(n)]
        yield f"difference = _difference_{NAMES[n]}({', '.join([f'bits({minor(inside)})', *terms])})"
        yield "holds = difference >= 0"
        yield f"mask, count = mask | (~difference >> 63) & {1 << b}, count + (difference >> 63)"
        yield f"divisor = {minor(inside)} if holds else divisor"
        yield from (f"z{i} = {f'-{x[i]}' if i in inside else '0.0'} if holds else z{i}" for i in range(n))
    yield f"return is_clear, count, mask, {', '.join(f'z{i} / divisor' for i in range(n))}"


def _lowest(n: int) -> Iterator[str]:
    yield f"found = signs_{NAMES[n]}(*entries_{NAMES[n]}(M, q, 1, 0))"
    yield from (f"z[{i}] = found[{3 + i}]" for i in range(n))
    yield "return found[2] if found[0] else -1"


def _solve(n: int) -> Iterator[str]:
    # A second pass over the counts disturbs the streaming of a single unknown, and costs less than one more operation
    # a problem of several unknowns.
    along = n == 1
    yield from ["missed = np.int64(0)"] * along
    yield "for k in range(first, last):"
    yield f"    found = signs_{NAMES[n]}(*entries_{NAMES[n]}(M, q, stride, k))"
    yield from ["    missed |= np.int64(0 if found[0] else 1)"] * along
    yield "    write(counts, k, np.int8(found[1] if found[0] else -1))"
    yield "    write(bases, k, np.uint16(found[2]))"
    yield from (f"    write(z, {_distance(i)}, found[{3 + i}])" for i in range(n))
    yield "return bool(missed > 0)" if along else "return has_negative(counts, first, last)"


def _made(n: int) -> tuple[Any, ...]:
    used: dict[str, Any] = {"ALL_CLEAR": ALL_CLEAR, "LEAST": LEAST, "MOST": MOST, "TINY": TINY, "np": np}
    for function in (bits, compiled, has_negative, inlined, modulus, read, smaller, write):
        used[function.__name__] = function
    scope = {"__name__": __name__, **used}
    # the name of this file is where the compiler keeps what it made of them
    exec(compile(source(n), __file__, "exec"), scope)  # noqa: S102  # our own generated source
    return tuple(scope[f"{kind}_{NAMES[n]}"] for kind in ("entries", "lowest", "solve"))


entries_one, lowest_one, solve_one = _made(1)
entries_two, lowest_two, solve_two = _made(2)
entries_three, lowest_three, solve_three = _made(3)
entries_four, lowest_four, solve_four = _made(4)
