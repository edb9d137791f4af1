"""Impulses of planar contacts by their definition, in exact rational numbers; shares nothing with the package.

Every mode of every contact is tried. A mode whose equations leave one freedom of the impulses is a segment of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

__all__ = ["Matrix", "Vector", "impulse_solutions", "inverse", "product", "routh_impulse", "times"]

Vector = list[Fraction]
Matrix = list[Vector]
Segment = tuple[Vector, Vector | None]  # a solution and the direction along which it may be moved


def times(A: Matrix, x: Vector) -> Vector:
    """The product of a matrix with a vector."""
    return [sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) for row in A]


def product(A: Matrix, B: Matrix) -> Matrix:
    """The product of two matrices."""
    columns = [list(column) for column in zip(*B, strict=True)]
    return [[sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in columns] for row in A]


def inverse(A: Matrix) -> Matrix:
    """The inverse of a regular matrix."""
    n = len(A)
    columns = [_solved(A, [Fraction(int(i == j)) for i in range(n)]) for j in range(n)]
    if any(found is None or found[1] for found in columns):
        raise ValueError("a singular matrix")
    return [[found[0][i] for found in columns if found] for i in range(n)]


def _solved(A: Matrix, b: Vector) -> tuple[Vector, list[Vector]] | None:
    """A solution of a square system with a basis of its null space; None if there is none."""
    n, rows, pivots = len(b), [[*row, right] for row, right in zip(A, b, strict=True)], list[int]()
    for column in range(n):
        at = len(pivots)
        pivot = next((i for i in range(at, n) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[at], rows[pivot] = rows[pivot], rows[at]
        lead = rows[at][column]
        rows[at] = [value / lead for value in rows[at]]
        for i in range(n):
            if i != at and rows[i][column]:
                share = rows[i][column]
                rows[i] = [x - share * y for x, y in zip(rows[i], rows[at], strict=True)]
        pivots.append(column)
    if any(row[n] for row in rows[len(pivots) :]):
        return None
    point = [Fraction(0)] * n
    for row, column in zip(rows, pivots, strict=False):
        point[column] = row[n]
    basis = []
    for column in sorted(set(range(n)) - set(pivots)):
        direction = [Fraction(0)] * n
        direction[column] = Fraction(1)
        for row, pivot in zip(rows, pivots, strict=False):
            direction[pivot] = -row[column]
        basis.append(direction)
    return point, basis


def impulse_solutions(G: Matrix, gamma: Vector, mu: Vector, preload: Vector | None = None) -> tuple[list[Vector], bool]:
    """All impulses with ``0 <= gamma_N+ complementary to P_N - preload >= 0`` and Coulomb's law with the final slip.

    Rows are normal and tangential ones in turn. Of impulses that may be moved along a segment one end is given.

    Returns
    -------
    list of impulses, and whether all were found
        Not all are where the equations of a mode leave several freedoms.
    """
    k, found, complete = len(mu), list[Vector](), True
    given = preload or [Fraction(0)] * k
    # a contact that is only preloaded still rubs; without preload it gives nothing at all
    labels = [[f"{n}{t}" for n in "cp" for t in "s+-"] if p else ["f", *(f"c{t}" for t in "s+-")] for p in given]
    for mode in itertools.product(*labels):
        solved = _mode(G, gamma, mu, given, mode)
        if solved is None:
            continue
        point, basis = solved
        if len(basis) > 1:
            complete = False
            continue
        best = _feasible(point, basis[0] if basis else None, list(_slacks(G, gamma, mu, given, mode)))
        if best is not None and best not in found:
            found.append(best)
    return found, complete


def _mode(
    G: Matrix, gamma: Vector, mu: Vector, given: Vector, mode: Sequence[str]
) -> tuple[Vector, list[Vector]] | None:
    size = len(gamma)
    A, b = [[Fraction(0)] * size for _ in range(size)], [Fraction(0)] * size
    for i, label in enumerate(mode):
        N, T = 2 * i, 2 * i + 1
        if label[0] == "c":
            A[N], b[N] = list(G[N]), -gamma[N]
        else:
            A[N][N], b[N] = Fraction(1), given[i]
        if label == "f":
            A[T][T] = Fraction(1)
        elif label[1] == "s":
            A[T], b[T] = list(G[T]), -gamma[T]
        else:
            A[T][T], A[T][N] = Fraction(1), mu[i] if label[1] == "+" else -mu[i]
    return _solved(A, b)


def _slacks(
    G: Matrix, gamma: Vector, mu: Vector, given: Vector, mode: Sequence[str]
) -> Iterator[tuple[Vector, Fraction]]:
    """Linear functions of the impulses that must not be negative: coefficients and constant."""
    size = len(gamma)

    def unit(row: int, value: Fraction | int = 1, other: int = 0, share: Fraction | int = 0) -> Vector:
        x = [Fraction(0)] * size
        x[row] += value
        x[other] += share
        return x

    for i, label in enumerate(mode):
        N, T = 2 * i, 2 * i + 1
        yield (unit(N), -given[i]) if label[0] == "c" else (list(G[N]), gamma[N])
        if label != "f" and label[1] == "s":
            yield unit(T, 1, N, mu[i]), Fraction(0)
            yield unit(T, -1, N, mu[i]), Fraction(0)
        elif label != "f":
            sign = 1 if label[1] == "+" else -1
            yield [sign * value for value in G[T]], sign * gamma[T]


def _feasible(point: Vector, direction: Vector | None, slacks: list[tuple[Vector, Fraction]]) -> Vector | None:
    low: Fraction | None = None
    high: Fraction | None = None
    for coefficients, constant in slacks:
        value = constant + sum((a * x for a, x in zip(coefficients, point, strict=True)), Fraction(0))
        slope = Fraction(0)
        if direction is not None:
            slope = sum((a * x for a, x in zip(coefficients, direction, strict=True)), Fraction(0))
        if not slope:
            if value < 0:
                return None
        elif slope > 0:
            low = -value / slope if low is None else max(low, -value / slope)
        else:
            high = -value / slope if high is None else min(high, -value / slope)
    if low is not None and high is not None and low > high:
        return None
    place = low if low is not None else high
    if direction is None or place is None:
        return point
    return [x + place * d for x, d in zip(point, direction, strict=True)]


def routh_impulse(G: Matrix, gamma: Vector, mu: Fraction, e: Fraction) -> Vector:
    """Impulses of one planar contact under Poisson's law, along the normal impulse (Routh 1860), exactly."""
    vN, vT = gamma
    total, tangential, target = Fraction(0), Fraction(0), None
    if vN > 0:
        return [Fraction(0), Fraction(0)]
    is_first = True
    while True:
        rate_N, rate_T, ratio = _rates(G, vT, mu)
        if is_first and vN == 0 and rate_N >= 0:
            return [Fraction(0), Fraction(0)]
        is_first = False
        ways = []
        if vT and rate_T * vT < 0:
            ways.append((-vT / rate_T, "stop"))
        if target is None and rate_N > 0:
            ways.append((-vN / rate_N, "compressed"))
        if target is not None:
            ways.append((target - total, "over"))
        step, event = min(ways)
        total, tangential = total + step, tangential + ratio * step
        vN, vT = vN + rate_N * step, Fraction(0) if event == "stop" else vT + rate_T * step
        if event == "compressed":
            target = (1 + e) * total
        if event == "over":
            return [total, tangential]


def _rates(G: Matrix, vT: Fraction, mu: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    if vT:
        ratio = -mu if vT > 0 else mu
    elif abs(G[0][1]) <= mu * G[1][1]:
        ratio = -G[0][1] / G[1][1]
    else:
        ratio = -mu if G[0][1] > 0 else mu
    rate_T = Fraction(0) if not vT and abs(G[0][1]) <= mu * G[1][1] else G[0][1] + ratio * G[1][1]
    return G[0][0] + ratio * G[0][1], rate_T, ratio
