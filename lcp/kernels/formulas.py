"""Minors and numerators of the dictionaries of all complementary bases, as text.

The dictionary of a complementary basis a has w_i = N_i(a) / D(a) for i outside a and z_i = -N_i(a - i) / D(a)
for i in a, with D(a) the principal minor of M and N_i(b) = q_i D(b) - sum over j in b of m_ij N_j(b - j)
(Cramer's rule; Cottle, Pang and Stone 1992, section 2.3). So the signs of n 2**(n-1) numerators and 2**n - 1
minors decide all 2**n bases. In the names digits are indices: d01 = D({0, 1}), n2_01 = N_2({0, 1}).

They are written out because loops over bits would keep the compiler from serving several problems with one
instruction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

__all__ = ["minor", "minors", "numerator", "numerators", "subsets", "unknowns"]


def unknowns(n: int) -> list[str]:
    """Names of the entries of M row by row, and of q.

    Parameters
    ----------
    n : int
        Order of the problem, at most 10 as indices are digits.

    Returns
    -------
    list of str
        n n + n names.
    """
    return [f"m{i}{j}" for i in range(n) for j in range(n)] + [f"q{i}" for i in range(n)]


def minor(a: tuple[int, ...]) -> str:
    """Name of the principal minor D(a).

    Parameters
    ----------
    a : tuple of int
        Increasing indices.

    Returns
    -------
    str
        The number itself for the empty minor, which is one.
    """
    if not a:
        return "1.0"
    return f"m{a[0]}{a[0]}" if len(a) == 1 else "d" + "".join(map(str, a))


def numerator(i: int, b: Iterable[int]) -> str:
    """Name of the numerator N_i(b).

    Parameters
    ----------
    i : int
        Row, not in b.
    b : iterable of int
        Indices of the basis.

    Returns
    -------
    str
    """
    digits = "".join(str(j) for j in sorted(b))
    return f"n{i}_{digits}" if digits else f"q{i}"


def _two_by_two(rows: tuple[int, int], columns: tuple[int, int]) -> str:
    (i, k), (j, m) = rows, columns
    return f"m{i}{j} * m{k}{m} - m{i}{m} * m{k}{j}"


def minors(n: int) -> Iterator[str]:
    """Statements that compute all principal minors of more than one row.

    Parameters
    ----------
    n : int
        Order of the problem, at most 4.

    Returns
    -------
    iterator of str
        Lines of Python; those of one row are entries of M.
    """
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
    """All complementary bases, smaller ones first.

    Parameters
    ----------
    n : int
        Order of the problem.

    Returns
    -------
    list of tuples of int
        2**n tuples of increasing indices.
    """
    return [a for size in range(n + 1) for a in itertools.combinations(range(n), size)]


def numerators(n: int) -> Iterator[str]:
    """Statements that compute all numerators but q itself.

    Parameters
    ----------
    n : int
        Order of the problem.

    Returns
    -------
    iterator of str
        Lines of Python, each numerator behind those that it is computed from; the minors come first, see `minors`.
    """
    for b in subsets(n)[1:]:
        for i in range(n):
            if i not in b:
                terms = [(f"m{i}{j}", numerator(j, set(b) - {j})) for j in b]
                yield f"{numerator(i, b)} = q{i} * {minor(b)}" + "".join(f" - {m} * {x}" for m, x in terms)
