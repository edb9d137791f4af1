"""One spatial contact at rest: its circular cone and the directions in which it may start to slip, from exact signs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import attrs
import numpy as np

from tests.campaigns.exact_modes import (
    Answer,
    Matrix,
    Option,
    Part,
    Unclear,
    Vector,
    dot,
    generators,
    merged,
    modes_of,
    united,
)

_WIDTH = Fraction(1, 2**70)  # of the interval in which a root lies when signs are taken there
_NEARLY_DOUBLE = 1e-4
_CLEAR = Fraction(1, 10**9)  # a sign at the middle of such an interval is that at the root


def solve_at_rest(G: Matrix, c: Vector, parts: Sequence[Part], *, reported: Sequence[int]) -> Answer:
    """As ``solve``, with exactly one spatial contact at rest."""
    accelerate = [[*line, rest] for line, rest in zip(G, c, strict=True)]
    place = next(i for i, part in enumerate(parts) if part.slip is None and len(part.rows) == 3)
    spatial = parts[place]
    pieces = []
    for others in itertools.product(*(list(modes_of(part, accelerate)) for part in parts if part is not spatial)):
        for zero, least in (_free(spatial, accelerate), _stick(spatial, accelerate)):
            piece = generators(*merged([*others, (zero, least)]))
            if piece is not None and len(zero) == 3 and zero[0] is accelerate[spatial.rows[0]]:
                piece = _within_cone(piece, spatial)
            if piece is not None:
                pieces.append(piece)
        if spatial.friction:
            pieces += _slides(spatial, accelerate, others)
    return _told_apart(united(accelerate, pieces, reported))


def _free(spatial: Part, accelerate: Matrix) -> Option:
    return [_unit(row, len(accelerate)) for row in spatial.rows], [accelerate[spatial.rows[0]]]


def _stick(spatial: Part, accelerate: Matrix) -> Option:
    if not spatial.static:  # no friction: the contact presses and slips freely
        normal, *tangents = spatial.rows
        n = len(accelerate)
        return [accelerate[normal], *(_unit(row, n) for row in tangents)], [_unit(normal, n)]
    return [accelerate[row] for row in spatial.rows], [_unit(spatial.rows[0], len(accelerate))]


def _unit(index: int, n: int) -> Vector:
    return [Fraction(int(i == index)) for i in range(n + 1)]


def _within_cone(piece: tuple[Matrix, Matrix], spatial: Part) -> tuple[Matrix, Matrix] | None:
    vertices, rays = piece
    if len(vertices) > 1 or rays:
        raise Unclear("a set of forces cut by a circular cone")
    normal, first, second = (vertices[0][row] for row in spatial.rows)
    room = (spatial.static * normal) ** 2 - first**2 - second**2
    return piece if room >= 0 else None


def _slides(spatial: Part, accelerate: Matrix, others: Sequence[Option]) -> list[tuple[Matrix, Matrix]]:
    """Incipient slip in every direction ``u`` with ``a_T`` along ``u`` and friction against it."""

    def at(tau: Fraction) -> tuple[Fraction, Vector | None, tuple[Fraction, Fraction], Matrix]:
        u = ((1 - tau**2) / (1 + tau**2), 2 * tau / (1 + tau**2))
        (_, own) = modes_of(attrs.evolve(spatial, slip=u), accelerate)
        equations, least = merged([*others, own])
        determinant, x = _cramer(equations)
        return determinant, x, u, least

    def misalignment(tau: Fraction) -> Fraction:
        """A polynomial in tau of degree 4: the determinant is linear in u, and so is the acceleration times it."""
        determinant, x, u, _ = at(tau)
        if x is None:
            raise Unclear("singular equations of slip")
        a, b = (dot(accelerate[row], [*x, Fraction(1)]) for row in spatial.rows[1:])
        return determinant * (a * u[1] - b * u[0]) * (1 + tau**2) ** 2

    found = []
    for tau in _roots([misalignment(Fraction(k)) for k in range(-2, 3)]):
        _, x, u, least = at(tau)
        if x is None:
            raise Unclear("singular equations of slip")
        a = [dot(accelerate[row], [*x, Fraction(1)]) for row in spatial.rows[1:]]
        values = [dot(row, [*x, Fraction(1)]) for row in least] + [a[0] * u[0] + a[1] * u[1]]
        size = 1 + max(abs(value) for value in x)
        if any(abs(value) < _CLEAR * size for value in values):
            raise Unclear("a condition at a root")
        if all(value > 0 for value in values):
            found.append(([x], []))
    return found


def _cramer(rows: Matrix) -> tuple[Fraction, Vector | None]:
    """Determinant of square equations ``rows (x, 1) = 0`` and their solution."""
    left = [list(row) for row in rows]
    n, determinant = len(left), Fraction(1)
    for column in range(n):
        place = next((i for i in range(column, n) if left[i][column]), None)
        if place is None:
            return Fraction(0), None
        if place != column:
            left[column], left[place] = left[place], left[column]
            determinant = -determinant
        pivot = left[column]
        determinant *= pivot[column]
        for i in range(n):
            if i != column and left[i][column]:
                factor = left[i][column] / pivot[column]
                left[i] = [a - factor * b if b else a for a, b in zip(left[i], pivot, strict=True)]
    return determinant, [-left[i][n] / left[i][i] for i in range(n)]


def _roots(values: Sequence[Fraction]) -> list[Fraction]:
    """Real roots of the polynomial of degree 4 with these values at -2, -1, 0, 1, 2."""
    a, b, c, d, e = values
    # finite differences of five equidistant points
    coefficients = [
        (a - 4 * b + 6 * c - 4 * d + e) / 24,
        (-a + 2 * b - 2 * d + e) / 12,
        (-a + 16 * b - 30 * c + 16 * d - e) / 24,
        (a - 8 * b + 8 * d - e) / 12,
        c,
    ]

    def value(tau: Fraction) -> Fraction:
        total = Fraction(0)
        for coefficient in coefficients:
            total = total * tau + coefficient
        return total

    size = max(map(abs, coefficients))
    if not size or abs(coefficients[0]) < _CLEAR * size:
        raise Unclear("a root at infinity")
    close = np.roots([float(coefficient / size) for coefficient in coefficients])
    found = []
    for root in close:
        share = abs(root.imag) / (1 + abs(root))
        if share > _NEARLY_DOUBLE:
            continue
        if sum(abs(root - other) < 10 * _NEARLY_DOUBLE * (1 + abs(root)) for other in close) > 1:
            raise Unclear("a root that is nearly double")
        reach = Fraction(1e-7 * (1 + abs(root)))
        low, high = Fraction(float(root.real)) - reach, Fraction(float(root.real)) + reach
        if (value(low) > 0) == (value(high) > 0):
            raise Unclear("a root without a change of sign")
        is_rising = value(high) > 0
        while high - low > _WIDTH:
            middle = Fraction(round((low + high) / 2 * 2**80), 2**80)
            low, high = (low, middle) if (value(middle) > 0) == is_rising else (middle, high)
        found.append((low + high) / 2)
    return found


def _told_apart(answer: Answer) -> Answer:
    points = [np.array([float(value) for value in point]) for point in answer.accelerations]
    for first, second in itertools.combinations(points, 2):
        if np.max(np.abs(first - second)) < 1e-6 * (1 + np.max(np.abs(first))):
            raise Unclear("two solutions that nearly meet")
    return answer
