"""Writes the kernels of principal minors: `python -m lcp.kernels.generate` rewrites minors.py and minors_four.py.

The formulas are Cramer's rule for every complementary basis; they are written out because loops over bits would keep
the compiler from serving several problems with one instruction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = [
    "MODULES",
    "NAMES",
    "called",
    "minor",
    "minors",
    "numerator",
    "numerators",
    "source",
    "subsets",
    "unknowns",
]

MODULES = {"minors.py": (1, 2, 3), "minors_four.py": (4,)}
NAMES = {1: "one", 2: "two", 3: "three", 4: "four"}
WIDTH = 110
TEXT = '''\
"""Principal-minor kernels of order {orders}, straight-line and free of branches; written by generate.py.

The dictionary of a complementary basis a has w_i = N_i(a) / D(a) for i outside a and z_i = -N_i(a - i) / D(a)
for i in a, with D(a) the principal minor of M and N_i(b) = q_i D(b) - sum over j in b of m_ij N_j(b - j)
(Cramer's rule; Cottle, Pang and Stone 1992, section 2.3). So the signs of n 2**(n-1) numerators and 2**n - 1
minors decide all 2**n bases. The clearance is the smallest modulus of all of them; where it is small, rounding may
have decided. In the names below digits are indices: d01 = D({{0, 1}}), n2_01 = N_2({{0, 1}}).

Each kernel is five steps: minors D, numerators N, clearance, then for every basis, from the highest to the lowest,
its sign test with (D; N_i outside, -N_i inside) and the selection of z, so that the lowest basis is selected last,
and the division. tests/lcp/test_kernels.py checks all bases against Cramer's rule in integers.
"""

from __future__ import annotations

import math

from lcp.arrays import FloatArray
from lcp.kernels.compiled import inlined
from lcp.kernels.vectors import read, smaller

__all__ = [{names}]
'''


def source(orders: Iterable[int]) -> str:
    """The text of a module with the kernels of these orders.

    Examples
    --------
    >>> print(source([1]).partition("    d")[2].partition("return")[0].rstrip())
    ivisor = 1.0
        mask = 0
        z0 = 0.0
        holds = _holds_one(m00, -q0)
        mask |= holds << 1
        divisor = m00 if holds else divisor
        z0 = -q0 if holds else z0
        holds = _holds_one(1.0, q0)
        mask |= holds
        divisor = 1.0 if holds else divisor
        z0 = 0.0 if holds else z0
    """
    orders = list(orders)
    spoken = " to ".join(dict.fromkeys([NAMES[orders[0]], NAMES[orders[-1]]]))
    names = sorted(f'"{kind}_{NAMES[n]}"' for n in orders for kind in ("bases", "entries"))
    lines = [TEXT.format(orders=spoken, names=", ".join(names)).rstrip("\n")]
    for n in orders:
        lines += ["", "", *_entries(n), "", "", *_holds(n), "", "", *_bases(n)]
    return "\n".join(lines) + "\n"


def _wrapped(items: Iterable[str], indent: str) -> Iterator[str]:
    line = indent
    for item in items:
        if len(line) + len(item) > WIDTH and line != indent:
            yield line.rstrip()
            line = indent
        line += f"{item}, "
    yield line.rstrip()


def called(head: str, items: list[str], tail: str) -> list[str]:
    """A call or signature on one line if it fits, else wrapped by hand."""
    single = f"{head}({', '.join(items)}){tail}"
    indent = " " * (len(head) - len(head.lstrip()) + 4)
    if len(single) <= WIDTH:
        return [single]
    return [f"{head}(", *_wrapped(items, indent), f"{indent[4:]}){tail}  # fmt: skip"]


def unknowns(n: int) -> list[str]:
    """The entries of M row by row, and of q."""
    return [f"m{i}{j}" for i in range(n) for j in range(n)] + [f"q{i}" for i in range(n)]


def _entries(n: int) -> list[str]:
    distances = ["k", "stride + k", *(f"{r} * stride + k" for r in range(2, n * n))][: n * n]
    reads = [f"read({name}, {d})" for name, count in (("M", n * n), ("q", n)) for d in distances[:count]]
    return [
        "@inlined",
        f"def entries_{NAMES[n]}(M: FloatArray, q: FloatArray, stride: int, k: int) -> tuple[float, ...]:",
        f'    """Entries of problem k of order {n}, those of M row by row; each is `stride` behind the one before."""',
        *called("    return ", reads, ""),
    ]


def _holds(n: int) -> list[str]:
    names = [f"x{i}" for i in range(n)]
    least = f"{names[0]} * sign"
    for name in names[1:]:
        least = f"smaller({least}, {name} * sign)"
    return [
        "@inlined",
        f"def _holds_{NAMES[n]}(d: float, {', '.join(f'{x}: float' for x in names)}) -> int:",
        '    """Whether all x / d are >= 0 for a d that is not zero."""',
        "    sign = math.copysign(1.0, d)",
        f"    return int(({least} >= 0.0) & (d != 0.0))",
    ]


def minor(a: tuple[int, ...]) -> str:
    """Name of the principal minor D(a)."""
    if not a:
        return "1.0"
    return f"m{a[0]}{a[0]}" if len(a) == 1 else "d" + "".join(map(str, a))


def numerator(i: int, b: Iterable[int]) -> str:
    """Name of the numerator N_i(b)."""
    digits = "".join(str(j) for j in sorted(b))
    return f"n{i}_{digits}" if digits else f"q{i}"


def _two_by_two(rows: tuple[int, int], columns: tuple[int, int]) -> str:
    (i, k), (j, m) = rows, columns
    return f"m{i}{j} * m{k}{m} - m{i}{m} * m{k}{j}"


def minors(n: int) -> Iterator[str]:
    """Statements that compute all principal minors of more than one row."""
    for i, j in itertools.combinations(range(n), 2):
        yield f"d{i}{j} = {_two_by_two((i, j), (i, j))}"
    for i, j, k in itertools.combinations(range(n), 3):
        first, second = _two_by_two((j, k), (i, k)), _two_by_two((j, k), (i, j))
        yield f"d{i}{j}{k} = m{i}{i} * d{j}{k} - m{i}{j} * ({first}) + m{i}{k} * ({second})"
    if n == 4:
        # Laplace's expansion by the first two rows
        yield "d0123 = ("
        for j, k in itertools.combinations(range(4), 2):
            others = tuple(c for c in range(4) if c not in (j, k))
            sign = ("" if (j, k) == (0, 1) else "+ ") if (j + k) % 2 else "- "
            yield f"    {sign}({_two_by_two((0, 1), (j, k))}) * ({_two_by_two((2, 3), (others[0], others[1]))})"
        yield ")"


def subsets(n: int) -> list[tuple[int, ...]]:
    """All complementary bases, smaller ones first."""
    return [a for size in range(n + 1) for a in itertools.combinations(range(n), size)]


def numerators(n: int) -> Iterator[str]:
    """Statements that compute all numerators but q itself."""
    for b in subsets(n)[1:]:
        for i in range(n):
            if i not in b:
                terms = [(f"m{i}{j}", numerator(j, set(b) - {j})) for j in b]
                yield f"{numerator(i, b)} = q{i} * {minor(b)}" + "".join(f" - {m} * {x}" for m, x in terms)


def _clearance(n: int) -> Iterator[str]:
    """Balanced, so that the minima do not wait for each other."""
    level = [f"abs({numerator(i, b)})" for b in subsets(n) for i in range(n) if i not in b]
    level += [f"abs({minor(a)})" for a in subsets(n)[1:]]
    for depth in itertools.count():
        if len(level) <= 3:
            yield f"clearance = min(1.0, {', '.join(level)})"
            return
        groups = [level[k : k + 4] for k in range(0, len(level), 4)]
        for k, group in enumerate(groups):
            if len(group) == 1:
                yield f"c{depth}_{k} = {group[0]}"
            else:
                yield f"c{depth}_{k} = min({', '.join(group)})"
        level = [f"c{depth}_{k}" for k in range(len(groups))]


def _bases(n: int) -> list[str]:
    body = [*minors(n), *numerators(n), *_clearance(n)]
    body += ["divisor = 1.0", "mask = 0", " = ".join(f"z{i}" for i in range(n)) + " = 0.0"]
    for b in range(2**n - 1, -1, -1):
        inside = tuple(i for i in range(n) if b >> i & 1)
        x = [f"-{numerator(i, set(inside) - {i})}" if i in inside else numerator(i, inside) for i in range(n)]
        body += [f"holds = _holds_{NAMES[n]}({', '.join([minor(inside), *x])})"]
        body += [f"mask |= holds{f' << {b}' if b else ''}"]
        body += [f"divisor = {minor(inside)} if holds else divisor"]
        body += [f"z{i} = {x[i] if i in inside else '0.0'} if holds else z{i}" for i in range(n)]
    body += [f"return mask, clearance, {', '.join(f'z{i} / divisor' for i in range(n))}"]
    returned = f" -> tuple[int, float, {', '.join(['float'] * n)}]:"
    return [
        "@inlined",
        *called(f"def bases_{NAMES[n]}", [f"{name}: float" for name in unknowns(n)], returned),
        f'    """Bases that solve a problem of order {n}, as bits, their clearance, and z of the lowest."""',
        *(f"    {line}" for line in body),
    ]


if __name__ == "__main__":
    for name, orders in MODULES.items():
        Path(__file__).with_name(name).write_text(source(orders), encoding="utf-8")
