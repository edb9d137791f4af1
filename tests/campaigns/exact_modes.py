"""Every mode of a contact problem in rational numbers, written from the laws of Signorini and Coulomb alone.

Nothing here is taken from the packages under test. Rigid constraints without friction are parts like all others, with
one mode, so that nothing is eliminated before a mode is chosen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

import attrs

Vector = list[Fraction]
Matrix = list[Vector]


class Unclear(Exception):
    """The answer hangs on a number that this computation does not tell from zero."""


@attrs.frozen
class Part:
    """One part that transmits force: rows of its directions among the unknowns, and its law.

    ``kind`` is "contact" (normal force not negative), "rail" (of any sign) or "element" (none); ``slip`` is the unit
    direction of slip, None at rest and without friction. For an element the coefficients are limit forces.
    """

    kind: str
    rows: tuple[int, ...]
    slip: tuple[Fraction, ...] | None
    friction: Fraction
    static: Fraction


@attrs.frozen
class Answer:
    """All solutions: their accelerations (of the rows), whether they form a continuum, and how far forces differ.

    ``forces`` is the dimension of the largest set of forces of the parts asked for; ``is_force_unique`` is about all.
    """

    accelerations: tuple[tuple[Fraction, ...], ...]
    is_continuum: bool
    dimension: int
    is_force_unique: bool

    @property
    def verdict(self) -> str:
        """The verdict's name."""
        if not self.accelerations:
            return "INCONSISTENT"
        if self.is_continuum or len(self.accelerations) > 1:
            return "INDETERMINATE"
        return "UNIQUE" if self.is_force_unique else "HYPERSTATIC"


# A condition is a row of coefficients (of the forces, then 1): zero or not negative. An option is one mode of one part.
Option = tuple[Matrix, Matrix]


def solve(G: Matrix, c: Vector, parts: Sequence[Part], *, reported: Sequence[int]) -> Answer:
    """All solutions of ``a = G lambda + c`` with the laws of the parts; dimensions of sets of the reported forces."""
    accelerate = [[*line, rest] for line, rest in zip(G, c, strict=True)]
    pieces = []
    for options in itertools.product(*(list(modes_of(part, accelerate)) for part in parts)):
        piece = generators(*merged(options))
        if piece is not None:
            pieces.append(piece)
    return united(accelerate, pieces, reported)


def merged(options: Iterable[Option]) -> Option:
    """The conditions of one mode of all parts."""
    chosen = tuple(options)
    return [row for zero, _ in chosen for row in zero], [row for _, least in chosen for row in least]


def united(accelerate: Matrix, pieces: Sequence[tuple[Matrix, Matrix]], reported: Sequence[int]) -> Answer:
    """All solutions from the vertices and rays of the sets of forces of the modes that have any."""
    accelerations: dict[tuple[Fraction, ...], None] = {}
    points: set[tuple[Fraction, ...]] = set()
    is_continuum, dimension, has_rays = False, 0, False
    for vertices, rays in pieces:
        found = {tuple(dot(row, [*x, Fraction(1)]) for row in accelerate): None for x in vertices}
        along = any(dot(row, [*ray, Fraction(0)]) for ray in rays for row in accelerate)
        is_continuum |= len(found) > 1 or along
        accelerations |= found
        points |= {tuple(x) for x in vertices}
        has_rays |= bool(rays)
        spread = [[a - b for a, b in zip(x, vertices[0], strict=True)] for x in vertices[1:]] + rays
        dimension = max(dimension, rank([[line[i] for i in reported] for line in spread]))
    return Answer(tuple(accelerations), is_continuum, dimension, len(points) == 1 and not has_rays)


def modes_of(part: Part, accelerate: Matrix) -> Iterator[Option]:
    """The modes of one part; for a spatial contact at rest, see ``exact_cones``."""
    n = len(accelerate)

    def force(*terms: tuple[int, Fraction], constant: Fraction = Fraction(0)) -> Vector:
        row = [Fraction(0)] * (n + 1)
        for index, value in terms:
            row[index] += value
        row[n] += constant
        return row

    one = Fraction(1)
    if part.kind == "element":
        yield from _element(part, accelerate[part.rows[0]], force)
        return
    normal, *tangents = part.rows
    if part.kind == "contact":
        yield [force((row, one)) for row in part.rows], [accelerate[normal]]
    sides = (one,) if part.kind == "contact" else (one, -one)
    if part.kind == "rail" and not tangents:
        yield [accelerate[normal]], []
        return
    for side in sides:
        closed, pressing = accelerate[normal], force((normal, side))
        if not tangents:
            yield [closed], [pressing]
        elif part.slip is not None:
            laws = [
                force((row, one), (normal, side * part.friction * u))
                for row, u in zip(tangents, part.slip, strict=True)
            ]
            yield [closed, *laws], [pressing]
        else:
            (row,) = tangents
            cone = [force((normal, side * part.static), (row, sign)) for sign in (one, -one)]
            yield [closed, accelerate[row]], [pressing, *cone]
            for sign in (one, -one):
                law = force((row, one), (normal, sign * side * part.friction))
                yield [closed, law], [pressing, [sign * value for value in accelerate[row]]]


def _element(part: Part, accelerate: Vector, force: Callable[..., Vector]) -> Iterator[Option]:
    (row,) = part.rows
    one = Fraction(1)
    if part.slip is not None:
        yield [force((row, one), constant=part.slip[0] * part.friction)], []
        return
    yield [accelerate], [force((row, sign), constant=part.static) for sign in (one, -one)]
    for sign in (one, -one):
        yield [force((row, one), constant=sign * part.friction)], [[sign * value for value in accelerate]]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """Scalar product."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))


def rank(rows: Sequence[Sequence[Fraction]]) -> int:
    """Number of rows that do not depend on the others."""
    return len(_echelon(rows)[1])


def _whole(row: Sequence[Fraction]) -> list[int]:
    """A row of integers in the same proportions."""
    common = math.lcm(*(value.denominator for value in row))
    whole = [value.numerator * (common // value.denominator) for value in row]
    divisor = math.gcd(*whole)
    return [value // divisor for value in whole] if divisor > 1 else whole


def _echelon(rows: Sequence[Sequence[Fraction]]) -> tuple[list[list[int]], list[int]]:
    """Reduced rows in integers, one for each pivot, and the columns of the pivots (fraction-free Gauss and Jordan)."""
    left = [_whole(row) for row in rows if any(row)]
    done: list[list[int]] = []
    pivots: list[int] = []
    for column in range(len(left[0]) if left else 0):
        place = next((i for i, row in enumerate(left) if row[column]), None)
        if place is None:
            continue
        pivot = left.pop(place)
        done = [_eliminated(row, pivot, column) for row in done]
        left = [row for row in (_eliminated(row, pivot, column) for row in left) if any(row)]
        done.append(pivot)
        pivots.append(column)
    return done, pivots


def _eliminated(row: list[int], pivot: list[int], column: int) -> list[int]:
    factor = row[column]
    if not factor:
        return row
    new = [pivot[column] * a - factor * b for a, b in zip(row, pivot, strict=True)]
    divisor = math.gcd(*new)
    return [value // divisor for value in new] if divisor > 1 else new


def generators(zero: Matrix, least: Matrix) -> tuple[Matrix, Matrix] | None:
    """Vertices and rays of ``{x : zero (x, 1) = 0, least (x, 1) >= 0}``; None if it is empty."""
    n = len(zero[0]) - 1 if zero else len(least[0]) - 1
    rows, pivots = _echelon(zero)
    if n in pivots:  # 0 = 1
        return None
    free = [column for column in range(n) if column not in pivots]
    basis = []  # of the solutions (x, s) of the homogeneous equations
    for column in (*free, n):
        vector = [Fraction(0)] * (n + 1)
        vector[column] = Fraction(1)
        for row, pivot in zip(rows, pivots, strict=True):
            vector[pivot] = Fraction(-row[column], row[pivot])
        basis.append(vector)
    cuts = [[dot(row, vector) for vector in basis] for row in least]
    if not free:
        return ([basis[0][:n]], []) if all(cut[0] >= 0 for cut in cuts) else None
    cuts.append([Fraction(0)] * len(free) + [Fraction(1)])
    vertices, rays = [], []
    for generator in _extreme(cuts):
        x = [sum((g * vector[i] for g, vector in zip(generator, basis, strict=True)), Fraction(0)) for i in range(n)]
        if generator[-1]:
            vertices.append([value / generator[-1] for value in x])
        else:
            rays.append(x)
    return (vertices, rays) if vertices else None


def _extreme(cuts: Matrix) -> Iterator[Vector]:
    """Generators of the cone ``cuts t >= 0``: every line both ways, then the extreme rays beside them."""
    size = len(cuts[0])
    rows, pivots = _echelon(cuts)
    for column in (column for column in range(size) if column not in pivots):
        line = [Fraction(0)] * size
        line[column] = Fraction(1)
        for row, pivot in zip(rows, pivots, strict=True):
            line[pivot] = Fraction(-row[column], row[pivot])
        yield line
        yield [-value for value in line]
    rank = len(pivots)
    seen: set[tuple[Fraction, ...]] = set()
    for chosen in itertools.combinations(cuts, rank - 1):
        held = [[row[column] for column in pivots] for row in chosen]  # in the space beside the lines
        found, places = _echelon(held)
        if len(places) != rank - 1:
            continue
        (open_column,) = set(range(rank)) - set(places)
        ray = [Fraction(0)] * size
        ray[pivots[open_column]] = Fraction(1)
        for row, place in zip(found, places, strict=True):
            ray[pivots[place]] = Fraction(-row[open_column], row[place])
        for sign in (1, -1):
            vector = tuple(sign * value for value in ray)
            if vector not in seen and all(dot(cut, vector) >= 0 for cut in cuts):
                seen.add(vector)
                yield list(vector)
