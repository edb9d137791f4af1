"""Writes the kernels of signs: `python -m lcp.kernels.generate_signs` rewrites the modules signs*.py.

Where no number is near zero, the sign bits alone decide, and three of them are one instruction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lcp.kernels.generate import NAMES, called, minor, minors, numerator, numerators, subsets, unknowns

__all__ = ["MODULES", "source"]

MODULES = {"signs.py": (1, 2), "signs_three.py": (3,), "signs_four.py": (4,)}
TEXT = '''\
"""Signs of principal minors, order {orders}, for several problems at once; written by generate_signs.py.

The numbers are those of `lcp.kernels.minors`. A number of order k in M is clear if it is larger than `CLEAR` times
size**k, and times q_size if it has q as a factor, with the largest moduli of M and q. If all are, no sign is in doubt
and none is zero: a basis solves the problem if and only if no bit that is the sign of a numerator, its opposite for
those inside the basis, differs from that of the minor.

Each problem has its entries `stride` behind each other. A kernel writes -1 as the count of problems that are not
clear, or have an entry that is not finite or out of range, and tells whether there are any.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray
from lcp.kernels.compiled import compiled, inlined
from lcp.kernels.{minors} import {entries}
from lcp.kernels.sizes import CLEAR, LEAST, MOST, bits, has_negative, largest_modulus, modulus
from lcp.kernels.vectors import smaller, write

__all__ = [{names}]

Bases = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.int8]
'''
COUNT = '''\
@compiled
def count_{name}(M: FloatArray, q: FloatArray, stride: int, first: int, last: int, counts: Counts) -> bool:
    """The number of solving bases of each problem."""
{start}    for k in range(first, last):
        entries = entries_{name}(M, q, stride, k)
        found = _signs_{name}(largest_modulus(entries[:{nn}]), largest_modulus(entries[{nn}:]), *entries)
{step}        write(counts, k, np.int8(found[1] if found[0] else -1))
    return {result}'''
SOLVE = '''\
@compiled
def solve_{name}(
    M: FloatArray, q: FloatArray, stride: int, first: int, last: int, z: FloatArray, bases: Bases, counts: Counts
) -> bool:
    """The solving bases of each problem as bits, and z of the lowest one: z_i of problem k at z[stride * i + k]."""
{start}    for k in range(first, last):
        entries = entries_{name}(M, q, stride, k)
        found = _signs_{name}(largest_modulus(entries[:{nn}]), largest_modulus(entries[{nn}:]), *entries)
{step}        write(counts, k, np.int8(found[1] if found[0] else -1))
        write(bases, k, np.uint16(found[2]))
{writes}
    return {result}'''


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

    Examples
    --------
    >>> print(source([1]).partition("    z0 = 0.0")[2].partition("divisor")[0].strip())
    difference = _difference_one(bits(m00), ~bits(q0))
        holds = difference >= 0
        mask, count = mask | (~difference >> 63) & 2, count + (difference >> 63)
    """
    orders = list(orders)
    spoken = " to ".join(dict.fromkeys([NAMES[orders[0]], NAMES[orders[-1]]]))
    names = sorted(f'"{kind}_{NAMES[n]}"' for n in orders for kind in ("count", "solve"))
    entries = sorted(f"entries_{NAMES[n]}" for n in orders)
    module = "minors_four" if orders == [4] else "minors"
    text = TEXT.format(orders=spoken, names=", ".join(names), entries=", ".join(entries), minors=module)
    lines = [text.rstrip("\n")]
    for n in orders:
        writes = [f"        write(z, {_distance(i)}, found[{3 + i}])" for i in range(n)]
        parts = {"name": NAMES[n], "nn": n * n, **(ALONG if n == 1 else AFTER)}
        count, solve = COUNT.format(**parts), SOLVE.format(**parts, writes="\n".join(writes))
        lines += ["", "", *_difference(n), "", "", *_signs(n), "", "", count, "", "", solve]
    return "\n".join(lines) + "\n"


def _distance(i: int) -> str:
    return "k" if i == 0 else "stride + k" if i == 1 else f"{i} * stride + k"


def _least(items: list[str]) -> Iterator[str]:
    """The smallest modulus, by a tree."""
    level = [f"modulus({item})" for item in items]
    while len(level) > 2:
        pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
        for k, pair in enumerate(pairs):
            yield f"l{k} = {f'smaller({pair[0]}, {pair[1]})' if len(pair) == 2 else pair[0]}"
        level = [f"l{k}" for k in range(len(pairs))]
    least = f"smaller({level[0]}, {level[1]})" if len(level) == 2 else level[0]
    yield f"is_clear = is_clear & ({least} > bound)"


def _clear(n: int) -> Iterator[str]:
    yield "is_clear = (size >= LEAST) & (q_size >= LEAST) & (size <= MOST) & (q_size <= MOST)"
    if n == 1:
        return  # nothing is rounded
    for degree in range(1, n + 1):
        yield "bound = size * CLEAR" if degree == 1 else "bound *= size"
        yield from _least([minor(a) for a in subsets(n) if len(a) == degree])
    for degree in range(n):
        yield "bound = q_size * CLEAR" if degree == 0 else "bound *= size"
        yield from _least([numerator(i, b) for b in subsets(n) for i in range(n) if i not in b and len(b) == degree])


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
    arguments = [f"{name}: float" for name in ["size", "q_size", *unknowns(n)]]
    returned = f" -> tuple[bool, int, int, {', '.join(['float'] * n)}]:"
    return [
        "@inlined",
        *called(f"def _signs_{NAMES[n]}", arguments, returned),
        '    """Whether all signs are clear, and then the number of bases, the bases as bits, and z of the lowest."""',
        *(f"    {line}" for line in body),
    ]


if __name__ == "__main__":
    for name, orders in MODULES.items():
        Path(__file__).with_name(name).write_text(source(orders), encoding="utf-8")
