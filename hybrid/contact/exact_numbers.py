"""The numbers of a contact problem as fractions, with the dependence of its directions exact.

Of more directions than there is freedom, or of some that are parallel, the Delassus operator is singular; rounding
makes it regular, and exact arithmetic would find forces of 1e16 that bear what nothing can. Here as many directions as
are independent keep their numbers, and the others are sums of multiples of these, to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.conditions import lost_share, row_scale
from hybrid.tolerances import RANK

if TYPE_CHECKING:
    from hybrid.contact.problem import ContactProblem

__all__ = ["exact_numbers"]

Vector = tuple[Fraction, ...]

_DEPENDENT = RANK  # length left of a direction of length 1 that depends on others
_CANCELLED = 8  # roundings of the terms below which accelerations of dependent directions agree


def exact_numbers(problem: ContactProblem) -> tuple[tuple[Vector, ...], Vector]:
    """Delassus operator and free accelerations of a problem at one state as fractions.

    Parameters
    ----------
    problem : ContactProblem

    Returns
    -------
    G : tuple of tuple of Fraction, (r, r)
        The problem's own to rounding, of the rank that its directions have.
    c : tuple of Fraction, (r,)
        Of a direction that depends on others the sum that belongs to it, where rounding alone makes a difference.
    """
    r = problem.n_rows
    shares = _shares(problem)
    basis = [index for index in range(r) if index not in shares]
    lines = {index: {index: Fraction(1)} for index in basis}
    lines |= {
        index: {b: Fraction(float(y)) for b, y in zip(basis, given, strict=True)} for index, given in shares.items()
    }
    own = {(a, b): Fraction(float(problem.G[a, b])) for a in basis for b in basis}
    half = {i: {b: _sum(y * own[a, b] for a, y in lines[i].items()) for b in basis} for i in range(r)}
    G = tuple(tuple(_sum(half[i][b] * y for b, y in lines[j].items()) for j in range(r)) for i in range(r))
    c = [Fraction(float(value)) for value in problem.c]
    for index, given in shares.items():
        terms, rounding = np.abs(given * problem.c[basis]), np.abs(given) @ problem.rounding[basis]
        limit = _CANCELLED * (problem.rounding[index] + rounding) + r * np.finfo(float).eps * float(np.sum(terms))
        if abs(float(problem.c[index]) - float(given @ problem.c[basis])) <= limit:
            c[index] = _sum(y * c[b] for b, y in lines[index].items())
    return G, tuple(c)


def _shares(problem: ContactProblem) -> dict[int, NDArray[np.float64]]:
    """Of every direction that depends on others: its multiples of the independent ones."""
    row = row_scale(problem)
    directions = np.linalg.cholesky(problem.terms.M).T @ problem.response_W / row
    chosen = _independent(directions, max(_DEPENDENT, float(lost_share(problem))))
    others = [index for index in range(problem.n_rows) if index not in chosen]
    if not others:
        return {}
    shares = np.linalg.lstsq(directions[:, chosen], directions[:, others], rcond=None)[0]
    shares = shares * row[others] / row[chosen][:, None]
    return {index: shares[:, place] for place, index in enumerate(others)}


def _independent(directions: NDArray[np.float64], least: float) -> Sequence[int]:
    """Indices of independent columns, in order; the one of which most is left is taken next."""
    left, chosen = directions.copy(), list[int]()
    while len(chosen) < left.shape[1]:
        lengths = np.linalg.norm(left, axis=0)
        lengths[chosen] = 0.0
        best = int(np.argmax(lengths))
        if lengths[best] <= least:
            break
        unit = left[:, best] / lengths[best]
        for _ in range(2):  # the second time for the rounding of the first
            left = left - np.outer(unit, unit @ left)
        chosen.append(best)
    return sorted(chosen)


def _sum(values: Iterable[Fraction]) -> Fraction:
    return sum(values, Fraction(0))
