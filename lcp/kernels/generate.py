"""Writes the kernels of principal minors: `python -m lcp.kernels.generate` rewrites the modules signs*.py.

Where no number is near zero, the sign bits alone decide, and three of them are one instruction.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from lcp.kernels.formulas import called, minor, minors, numerator, numerators, subsets, unknowns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["MODULES", "NAMES", "source"]

NAMES = {1: "one", 2: "two", 3: "three", 4: "four"}
MODULES = {"signs.py": (1, 2), "signs_three.py": (3,), "signs_four.py": (4,)}
TEXT = '''\
"""Signs of principal minors, order {orders}, for several problems at once; written by generate.py.

The numbers are those of `lcp.kernels.formulas`, sums of products. With the sums s and t of the moduli of M and q, the
products of a number of order k have the sum (s / k)**k of moduli at most, by the means of its rows, and t times
that if it has q as a factor. So the numbers of a group are each larger than their rounding, `ALL_CLEAR` times this, if
their product is larger than `ALL_CLEAR` times the product of these bounds. If all are, no sign is in doubt and none is
zero: a basis solves the problem if and only if no bit that is the sign of a numerator, its opposite for those inside
the basis, differs from that of the minor.

Each problem has its entries `stride` behind each other. A kernel writes -1 as the count of problems that are not
clear, or have an entry that is not finite or out of range, and tells whether there are any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lcp.kernels.compiled import compiled, inlined
from lcp.kernels.sizes import ALL_CLEAR, LEAST, MOST, TINY, bits, has_negative, modulus
from lcp.kernels.vectors import read, smaller, write

if TYPE_CHECKING:
    from lcp.problem import FloatArray

__all__ = [{names}]

Bases = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.int8]
'''
SOLVE = '''\
@compiled
def solve_{name}(
    M: FloatArray, q: FloatArray, stride: int, first: int, last: int, z: FloatArray, bases: Bases, counts: Counts
) -> bool:
    """The solving bases of each problem as bits, and z of the lowest one: z_i of problem k at z[stride * i + k].

    Parameters
    ----------
    M, q : ndarray of float64, shapes ({entries} * stride,) and ({order} * stride,), contiguous
    stride : int
        Distance of the entries of a problem.
    first, last : int
        Problems from first to last - 1 are solved.
    z : ndarray of float64, shape ({order} * stride,)
        Overwritten; zeros where no basis solves the problem, meaningless where the count is negative.
    bases : ndarray of uint16, shape (stride,)
        Overwritten: bit b is set if the complementary basis b solves the problem.
    counts : ndarray of int8, shape (stride,)
        Overwritten: the number of these bases, or -1.

    Returns
    -------
    bool
        Whether a count is negative.
    """
{start}    for k in range(first, last):
        found = signs_{name}(*entries_{name}(M, q, stride, k))
{step}        write(counts, k, np.int8(found[1] if found[0] else -1))
        write(bases, k, np.uint16(found[2]))
{writes}
    return {result}'''

ENTRIES = '''\
    """Entries of problem k of order {n}, those of M row by row; each is `stride` behind the one before.

    Parameters
    ----------
    M, q : ndarray of float64, shapes ({nn} * stride,) and ({n} * stride,), contiguous
    stride : int
        Distance of the entries of a problem.
    k : int
        0 <= k < stride.

    Returns
    -------
    tuple of float
        {total} numbers, those of q last.
    """'''
SIGNS = '''\
    """Whether all signs are clear, and then the number of bases, the bases as bits, and z of the lowest.

    Parameters
    ----------
    {names} : float
        Entries of M row by row, and of q.

    Returns
    -------
    is_clear : bool
        Whether no minor or numerator may be zero and no entry is out of range; else the rest means nothing.
    count : int
        Number of complementary bases that solve the problem.
    mask : int
        Bit b is set if the basis b is one of them; z_i is basic in b if bit i of b is set.
    {z} : float
        The solution of the lowest of these bases; zeros if there is none.
    """'''


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

# A second pass over the counts disturbs the streaming of a single unknown, and costs less than one more operation a
# problem of several unknowns.
ALONG = {
    "start": "    missed = np.int64(0)\n",
    "step": "        missed |= np.int64(0 if found[0] else 1)\n",
    "result": "bool(missed > 0)",
}
AFTER = {"start": "", "step": "", "result": "has_negative(counts, first, last)"}


def source(orders: Iterable[int]) -> str:
    """The text of a module with the kernels of these orders.

    Parameters
    ----------
    orders : iterable of int
        From 1 to 4, increasing.

    Returns
    -------
    str
        Python, formatted.

    Examples
    --------
    >>> print(source([1]).partition("    z0 = 0.0")[2].partition("divisor")[0].strip())
    difference = _difference_one(bits(m00), ~bits(q0))
        holds = difference >= 0
        mask, count = mask | (~difference >> 63) & 2, count + (difference >> 63)
    """
    orders = list(orders)
    spoken = " to ".join(dict.fromkeys([NAMES[orders[0]], NAMES[orders[-1]]]))
    names = sorted(f'"{kind}_{NAMES[n]}"' for n in orders for kind in ("entries", "signs", "solve"))
    lines = [TEXT.format(orders=spoken, names=", ".join(names)).rstrip("\n")]
    for n in orders:
        writes = [f"        write(z, {_distance(i)}, found[{3 + i}])" for i in range(n)]
        parts = {"name": NAMES[n], "order": n, "entries": n * n, **(ALONG if n == 1 else AFTER)}
        solve = SOLVE.format(**parts, writes="\n".join(writes))
        lines += ["", "", *_entries(n), "", "", *_difference(n), "", "", *_signs(n), "", "", solve]
    return "\n".join(lines) + "\n"


def _entries(n: int) -> list[str]:
    reads = [f"read({name}, {_distance(r)})" for name, count in (("M", n * n), ("q", n)) for r in range(count)]
    return [
        "@inlined",
        f"def entries_{NAMES[n]}(M: FloatArray, q: FloatArray, stride: int, k: int) -> tuple[float, ...]:",
        *ENTRIES.format(n=n, nn=n * n, total=n * n + n).splitlines(),
        *called("    return ", reads, ""),
    ]


def _spoken_unknowns(n: int) -> str:
    names = unknowns(n)
    return ", ".join(names if n == 1 else [*names[:2], "...", names[-1]])


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


def _difference(n: int) -> list[str]:
    names = [f"x{i}" for i in range(n)]
    terms = [f"({x} ^ d)" if n > 1 else f"{x} ^ d" for x in names]
    return [
        "@inlined",
        f"def _difference_{NAMES[n]}(d: int, {', '.join(f'{x}: int' for x in names)}) -> int:",
        '    """Negative if the sign bit of an x differs from that of d."""',
        f"    return {' | '.join(terms)}",
    ]


def _signs(n: int) -> list[str]:
    body = [*minors(n), *numerators(n), *_clear(n)]
    body += ["divisor = 1.0", f"mask, count = 0, {2**n}", " = ".join(f"z{i}" for i in range(n)) + " = 0.0"]
    for b in range(2**n - 1, -1, -1):
        inside = tuple(i for i in range(n) if b >> i & 1)
        x = [numerator(i, set(inside) - {i}) for i in range(n)]
        signed = [f"-{x[i]}" if i in inside else x[i] for i in range(n)]
        terms = [f"{'~' if i in inside else ''}bits({x[i]})" for i in range(n)]
        body += [f"difference = _difference_{NAMES[n]}({', '.join([f'bits({minor(inside)})', *terms])})"]
        body += ["holds = difference >= 0"]
        body += [f"mask, count = mask | (~difference >> 63) & {1 << b}, count + (difference >> 63)"]
        body += [f"divisor = {minor(inside)} if holds else divisor"]
        body += [f"z{i} = {signed[i] if i in inside else '0.0'} if holds else z{i}" for i in range(n)]
    body += [f"return is_clear, count, mask, {', '.join(f'z{i} / divisor' for i in range(n))}"]
    arguments = [f"{name}: float" for name in unknowns(n)]
    returned = f" -> tuple[bool, int, int, {', '.join(['float'] * n)}]:"
    return [
        "@inlined",
        *called(f"def signs_{NAMES[n]}", arguments, returned),
        *SIGNS.format(names=_spoken_unknowns(n), z=", ".join(f"z{i}" for i in range(n))).splitlines(),
        *(f"    {line}" for line in body),
    ]


if __name__ == "__main__":
    for name, orders in MODULES.items():
        Path(__file__).with_name(name).write_text(source(orders), encoding="utf-8")
