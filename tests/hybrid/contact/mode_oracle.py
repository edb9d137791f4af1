"""The linear system of one mode in rational numbers, row by row from the laws: nothing here comes from the packages.

Unknowns are the accelerations ``a`` and, of every force element, its normal and its tangential force. Forces act
along the gradients of gaps and tangents (Pfeiffer and Glocker 1996, chapter 5):

    M a - sum(W_N lambda_N + W_T lambda_T) = h,    a_N = W_N . a + zeta_N,    a_T = W_T . a + zeta_T

and every element adds as many rows as it has forces; a spatial contact has two tangents, the second one under the
letter ``U``. Each row and each inequality has a kind, by which a test can turn it wrong on purpose.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

Vector = Sequence[Fraction]
Force = tuple[str, str]

ROW_KINDS = (
    "balance",
    "rigid",
    "free normal",
    "free tangent",
    "frictionless",
    "closed",
    "stick",
    "slide+",
    "slide-",
    "spatial stick, first",
    "spatial stick, second",
    "spatial slide, first",
    "spatial slide, second",
    "rail",
    "rail stick",
    "rail slide+, N > 0",
    "rail slide+, N < 0",
    "rail slide-, N > 0",
    "rail slide-, N < 0",
    "element stick",
    "element slide+",
    "element slide-",
)
INEQUALITY_KINDS = ("parts", "presses", "cone+", "cone-", "cone", "limit+", "limit-", "starts+", "starts-")
GUARD_KINDS = ("slips+", "slips-", "slips")
SLIP = (Fraction(3), Fraction(-4))
"""Of spatial contacts in motion: its magnitude, 5, is rational."""


class ActiveElement(NamedTuple):
    """Of the kind "contact", "spatial", "element", "rail" (bilateral, rough) or "rigid"; no tangent: no friction.

    ``friction`` and ``static`` are coefficients, for an element the limit forces.
    """

    name: str
    kind: str
    normal: Vector | None
    tangent: Vector | None
    zeta_N: Fraction
    zeta_T: Fraction
    friction: Fraction
    static: Fraction
    second: Vector | None = None
    zeta_U: Fraction = Fraction(0)

    @property
    def directions(self) -> list[tuple[Force, Vector]]:
        found = (("N", self.normal), ("T", self.tangent), ("U", self.second))
        return [((self.name, letter), W) for letter, W in found if W is not None]

    @property
    def forces(self) -> list[Force]:
        return [force for force, _ in self.directions]


class System(NamedTuple):
    """A mechanism at one posture, with the velocities ``v``."""

    M: Sequence[Vector]
    h: Vector
    v: Vector
    elements: tuple[ActiveElement, ...]

    @property
    def is_moving(self) -> bool:
        return any(self.v)


class Law(NamedTuple):
    """What a force element does: ``label`` as in the packages, and the sign of its normal force where it is a rail."""

    label: str
    side: int = 1


Mode = Mapping[str, Law]


class Row(NamedTuple):
    """``sum of accelerations[i] a_i + sum of forces[f] lambda_f = right``."""

    kind: str
    accelerations: Vector
    forces: Mapping[Force, Fraction | int]
    right: Fraction | int


class Solved(NamedTuple):
    """Values by name: ``("a", i)``, ``(element, "N")``, ``(element, "T")`` and every inequality ``(element, kind)``."""

    values: dict[tuple[str, str | int], Fraction]
    inequalities: list[tuple[str, str]]

    @property
    def is_consistent(self) -> bool:
        return all(self.values[key] >= 0 for key in self.inequalities)


def rows(system: System, mode: Mode) -> Iterator[Row]:
    """The equations of a mode."""
    none = [Fraction(0)] * len(system.h)
    for i, inertia in enumerate(system.M):
        forces = {force: -W[i] for c in system.elements for force, W in c.directions}
        yield Row("balance", inertia, forces, system.h[i])
    for c in system.elements:
        N, T, U = ((c.name, letter) for letter in "NTU")
        label, side = mode.get(c.name, Law("rigid"))
        match c.kind, label:
            case "rigid", _:
                yield Row("rigid", c.normal, {}, -c.zeta_N)
            case "contact" | "spatial", "free":
                yield Row("free normal", none, {N: 1}, 0)
                if c.tangent is not None:
                    yield Row("free tangent", none, {T: 1}, 0)
                if c.second is not None:
                    yield Row("free tangent", none, {U: 1}, 0)
            case "contact", "closed":
                yield Row("frictionless", c.normal, {}, -c.zeta_N)
            case "contact" | "spatial", _:
                yield Row("closed", c.normal, {}, -c.zeta_N)
            case "rail", _:
                yield Row("rail", c.normal, {}, -c.zeta_N)
        match c.kind, label, side:
            case "contact", "stick", _:
                yield Row("stick", c.tangent, {}, -c.zeta_T)
            case "contact", "slide+", _:
                yield Row("slide+", none, {T: 1, N: c.friction}, 0)
            case "contact", "slide-", _:
                yield Row("slide-", none, {T: 1, N: -c.friction}, 0)
            case "spatial", "stick", _:
                yield Row("spatial stick, first", c.tangent, {}, -c.zeta_T)
                yield Row("spatial stick, second", c.second, {}, -c.zeta_U)
            case "spatial", "slide", _:
                size = length(SLIP)
                yield Row("spatial slide, first", none, {T: 1, N: c.friction * SLIP[0] / size}, 0)
                yield Row("spatial slide, second", none, {U: 1, N: c.friction * SLIP[1] / size}, 0)
            case "rail", "stick", _:
                yield Row("rail stick", c.tangent, {}, -c.zeta_T)
            case "rail", "slide+", 1:
                yield Row("rail slide+, N > 0", none, {T: 1, N: c.friction}, 0)
            case "rail", "slide+", -1:
                yield Row("rail slide+, N < 0", none, {T: 1, N: -c.friction}, 0)
            case "rail", "slide-", 1:
                yield Row("rail slide-, N > 0", none, {T: 1, N: -c.friction}, 0)
            case "rail", "slide-", -1:
                yield Row("rail slide-, N < 0", none, {T: 1, N: c.friction}, 0)
            case "element", "stick", _:
                yield Row("element stick", c.tangent, {}, -c.zeta_T)
            case "element", "slide+", _:
                yield Row("element slide+", none, {T: 1}, -c.friction)
            case "element", "slide-", _:
                yield Row("element slide-", none, {T: 1}, c.friction)


def turned(row: Row) -> Row:
    """The row with the sign of its last term turned; of a single term, a force that is zero, the force becomes one."""
    if row.right:
        return row._replace(right=-row.right)
    if len(row.forces) > 1:
        last = list(row.forces)[-1]
        return row._replace(forces={**row.forces, last: -row.forces[last]})
    return row._replace(right=1)


def solve(system: System, mode: Mode, *, wrong: str = "") -> Solved | None:
    """Solve a mode; None where its equations are singular.

    ``wrong`` names a kind of row, inequality or guard whose sign is turned.
    """
    n = len(system.h)
    place = {force: n + i for i, force in enumerate(f for c in system.elements for f in c.forces)}
    matrix = []
    for row in rows(system, mode):
        row = turned(row) if row.kind == wrong else row
        line = [*row.accelerations, *[Fraction(0)] * len(place), Fraction(row.right)]
        for force, value in row.forces.items():
            line[place[force]] += value
        matrix.append(line)
    unknown = eliminated(matrix)
    if unknown is None:
        return None
    values: dict[tuple[str, str | int], Fraction] = {("a", i): unknown[i] for i in range(n)}
    values |= {force: unknown[index] for force, index in place.items()}
    found = list(inequalities(system, mode, unknown[:n], values))
    signed = {(name, kind): -value if kind == wrong else value for name, kind, value in found}
    return Solved(values | signed, [key for key in signed if key[1] not in GUARD_KINDS])


def inequalities(
    system: System, mode: Mode, a: Vector, values: Mapping[tuple[str, str | int], Fraction]
) -> Iterator[tuple[str, str, Fraction]]:
    """What a mode requires, force element by force element; of a slide its slip, and at rest that the slip begins."""
    for c in system.elements:
        if c.kind == "rigid":
            continue
        label, side = mode[c.name]
        if label == "free":
            yield c.name, "parts", dot(c.normal, a) + c.zeta_N
            continue
        if c.normal is not None:
            yield c.name, "presses", side * values[c.name, "N"]
        if c.tangent is None:
            continue
        if c.second is not None:
            if label == "stick":
                held = values[c.name, "T"], values[c.name, "U"]
                yield c.name, "cone", c.static * values[c.name, "N"] - length(held)
            else:
                yield c.name, "slips", length((dot(c.tangent, system.v), dot(c.second, system.v)))
            continue
        slip, a_T = dot(c.tangent, system.v), dot(c.tangent, a) + c.zeta_T
        if label == "stick":
            word = "limit" if c.normal is None else "cone"
            limit = c.static if c.normal is None else c.static * side * values[c.name, "N"]
            yield c.name, f"{word}+", limit + values[c.name, "T"]
            yield c.name, f"{word}-", limit - values[c.name, "T"]
        else:
            yield c.name, f"slips{label[-1]}", slip if label == "slide+" else -slip
            if not system.is_moving:
                yield c.name, f"starts{label[-1]}", a_T if label == "slide+" else -a_T


def modes(system: System) -> Iterator[Mode]:
    """Every mode that the velocities allow: at rest all, in motion slides in the direction of the slip.

    A slip in space that begins is left out, as its direction is not rational.
    """
    choices: list[list[tuple[str, Law]]] = []
    for c in system.elements:
        if c.kind == "rigid":
            continue
        labels = ["closed"]
        if c.second is not None:
            labels = ["slide" if system.is_moving else "stick"]
        elif c.tangent is not None:
            slip = dot(c.tangent, system.v)
            labels = ["slide+" if slip > 0 else "slide-"] if system.is_moving else ["stick", "slide+", "slide-"]
        labels += ["free"] * (c.kind in ("contact", "spatial"))
        sides = (1, -1) if c.kind == "rail" else (1,)
        choices.append([(c.name, Law(label, side)) for label in labels for side in sides])
    return (dict(choice) for choice in itertools.product(*choices))


def dot(x: Vector, y: Vector) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def length(x: Vector) -> Fraction:
    """Euclidean length to twenty digits, exact where it is rational and short."""
    return Fraction(math.isqrt(int(dot(x, x) * 10**40)), 10**20)


def eliminated(matrix: list[list[Fraction]]) -> list[Fraction] | None:
    """Solution of the linear system whose rows end with the right side; None if it is singular."""
    size, lines = len(matrix), [list(line) for line in matrix]
    for column in range(size):
        place = next((i for i in range(column, size) if lines[i][column]), None)
        if place is None:
            return None
        lines[column], lines[place] = lines[place], lines[column]
        first, pivot = lines[column], lines[column][column]
        lines[column] = first = [value / pivot if value else value for value in first]
        for i, line in enumerate(lines):
            if i != column and line[column]:
                share = line[column]
                lines[i] = [x - share * y if y else x for x, y in zip(line, first, strict=True)]
    return [line[-1] for line in lines]


def random_system(kinds: Sequence[str], *, seed: int, moving: bool) -> System:
    """Force elements of the given kinds ("smooth": without tangent) on a random mechanism of just enough freedom.

    In motion no gap changes, and spatial contacts slip as ``SLIP`` says.
    """
    rng = random.Random(seed)
    n_normals = sum(kind != "element" for kind in kinds)
    n = n_normals + sum(kind in ("contact", "rail", "element") for kind in kinds) + 2 * kinds.count("spatial") + 1

    def vector(size: int = n) -> list[Fraction]:
        return [Fraction(rng.randint(-4, 4), rng.choice((1, 2, 3))) for _ in range(size)]

    A = [[rng.randint(-2, 2) for _ in range(n)] for _ in range(n)]
    M = [[Fraction(sum(A[k][i] * A[k][j] for k in range(n)) + (i == j)) for j in range(n)] for i in range(n)]
    elements = []
    for index, kind in enumerate(kinds):
        friction = Fraction(rng.randint(1, 6), 4)
        elements.append(
            ActiveElement(
                f"{kind}{index}",
                "contact" if kind == "smooth" else kind,
                None if kind == "element" else vector(),
                vector() if kind in ("contact", "spatial", "rail", "element") else None,
                Fraction(rng.choice((-3, -1, 1, 2)), 2),
                Fraction(rng.choice((-3, -1, 1, 2)), 2),
                friction,
                friction + Fraction(rng.randint(1, 3), 4) * (kind in ("contact", "spatial", "element")),
                vector() if kind == "spatial" else None,
                Fraction(1, 3),
            )
        )
    velocities = [(c.normal, Fraction(0)) for c in elements if c.normal is not None]
    for c in elements:
        if c.second is not None:
            velocities += zip((c.tangent, c.second), SLIP, strict=True)
    h, v = vector(), with_velocities(velocities, vector()) if moving else [Fraction(0)] * n
    return System(M, h, v, tuple(elements))


def with_velocities(wanted: Sequence[tuple[Vector, Fraction]], x: Vector) -> list[Fraction]:
    """A vector that is changed along independent directions until its products with them are the given ones."""
    directions = [direction for direction, _ in wanted]
    gram = [[dot(a, b) for b in directions] + [dot(a, x) - value] for a, value in wanted]
    shares = eliminated(gram)
    if shares is None:
        raise ValueError("dependent directions: take another seed")
    return [value - sum(s * d[i] for s, d in zip(shares, directions, strict=True)) for i, value in enumerate(x)]
