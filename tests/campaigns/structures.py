"""Random declared structures whose terms at one state are known in rational numbers, written down by hand.

The coordinates are at 0 at time 0. Every displacement (gap, tangent, constraint) is declared as

    p . x + b t + a t^2/2 + k x_0^2/2,    sin(p . x + b t) + the rest,    or    exp(p . x + b t) - 1 + the rest,

so that its gradient is p, its rate ``p . v + b``, and the part of its second derivative that is not ``p . x''`` is
``a + k v_0^2``, and the square of the rate more with the exponential.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import attrs
import numpy as np

from hybrid import Constraint, Contact, Dynamics, EquationDynamics, FrictionElement, Mechanism, State, derive
from tests.campaigns.exact_modes import Matrix, Part, Vector

NORMALS = {
    "smooth": 1,
    "contact": 1,
    "static": 1,
    "spatial": 1,
    "element": 0,
    "held element": 0,
    "rail": 1,
    "rough": 1,
}
TANGENTS = {
    "smooth": 0,
    "contact": 1,
    "static": 1,
    "spatial": 2,
    "element": 1,
    "held element": 1,
    "rail": 0,
    "rough": 1,
}
KINDS = tuple(NORMALS)


@attrs.frozen
class Style:
    """How the numbers of a case are drawn.

    ``denominator`` of fractions up to ``size``; ``is_turned`` mixes all coordinates by a rational rotation, so that no
    number is a float; ``blocked`` is the share of directions that depend on those before, ``idle`` of data that vanish.
    ``is_light`` makes mass matrices of condition 1e3 to 1e11 out of numbers that floats hold exactly.
    """

    size: int
    denominator: int
    is_turned: bool
    blocked: float
    idle: float
    is_light: bool = False


@attrs.frozen(eq=False)
class Structure:
    """A derived mechanism and what each of its parts is."""

    kinds: tuple[str, ...]
    forms: tuple[str, ...]
    n: int
    dynamics: Dynamics


@attrs.frozen(eq=False)
class Case:
    """Parameters and state of a structure, and the same problem in rational numbers."""

    parameters: dict[str, float]
    state: State
    G: Matrix
    c: Vector
    parts: tuple[Part, ...]
    reported: tuple[int, ...]
    answer_to: Matrix
    a_free: Vector


def structure(kinds: Sequence[str], n: int, rng: np.random.Generator) -> Structure:
    """Declare and derive a mechanism of these parts with ``n`` coordinates; all its numbers are parameters."""
    forms = [str(rng.choice(["", "", "sin", "exp"])) for kind in kinds for _ in range(NORMALS[kind] + TANGENTS[kind])]
    parameters = {f"m{i}{j}": float(i == j) for i in range(n) for j in range(i, n)} | {f"h{i}": 0.0 for i in range(n)}
    contacts, elements, constraints, row = [], [], [], 0
    for index, kind in enumerate(kinds):
        count = NORMALS[kind] + TANGENTS[kind]
        texts = [_displacement(row + i, n, forms[row + i], parameters) for i in range(count)]
        row += count
        name, mu, static = f"part{index}", f"mu{index}", f"static{index}"
        parameters |= {mu: 0.5, static: 0.5}
        if kind == "smooth":
            contacts.append(Contact(name=name, gap=texts[0]))
        elif kind in ("contact", "spatial"):
            contacts.append(Contact(name=name, gap=texts[0], tangent=texts[1:], friction=mu))
        elif kind == "static":
            contacts.append(Contact(name=name, gap=texts[0], tangent=texts[1:], friction=mu, static_friction=static))
        elif kind == "element":
            elements.append(FrictionElement(name=name, tangent=texts[0], limit=mu))
        elif kind == "held element":
            elements.append(FrictionElement(name=name, tangent=texts[0], limit=mu, static_limit=static))
        elif kind == "rail":
            constraints.append(Constraint(name=name, equation=texts[0]))
        else:
            constraints.append(Constraint(name=name, equation=texts[0], tangent=texts[1], friction=mu))
    mass = [[f"m{min(i, j)}{max(i, j)}" for j in range(n)] for i in range(n)]
    mechanism = Mechanism(
        name="-".join(kind.replace(" ", "_") for kind in kinds),
        coordinates=[f"x{i}" for i in range(n)],
        parameters=parameters,
        dynamics=EquationDynamics(mass_matrix=mass, forces=[f"h{i}" for i in range(n)]),
        contact=contacts,
        friction=elements,
        constraint=constraints,
    )
    return Structure(tuple(kinds), tuple(forms), n, derive(mechanism))


def _displacement(row: int, n: int, form: str, parameters: dict[str, float]) -> str:
    parameters |= {f"p{row}_{i}": 0.0 for i in range(n)} | {f"{name}{row}": 0.0 for name in "abk"}
    first = " + ".join(f"p{row}_{i}*x{i}" for i in range(n)) + f" + b{row}*t"
    first = {"": first, "sin": f"sin({first})", "exp": f"exp({first}) - 1"}[form]
    return f"{first} + a{row}*t**2/2 + k{row}*x0**2/2"


def case(built: Structure, style: Style, slips: Sequence[str], rng: np.random.Generator) -> Case:
    """Draw numbers for a structure; ``slips`` says for every part "rest", "slip", "+0" or "-0"."""
    n = built.n
    draw = _Draw(style, rng)
    M, h, v = draw.mass(n), draw.vector(n, idle=style.idle), draw.vector(n, idle=0.5)
    rows: Matrix = []
    zeta: Vector = []
    parts: list[Part] = []
    reported: list[int] = []
    sides: dict[str, tuple[float, ...]] = {}
    parameters = {f"m{i}{j}": M[i][j] for i in range(n) for j in range(i, n)} | {f"h{i}": h[i] for i in range(n)}
    for index, (kind, slipping) in enumerate(zip(built.kinds, slips, strict=True)):
        start, tangents = len(rows), TANGENTS[kind]
        slip = draw.slip(slipping, tangents)
        rates = [Fraction(0)] * NORMALS[kind] + list(slip if slipping == "slip" else [Fraction(0)] * tangents)
        if slipping in ("+0", "-0") and tangents:
            sides[f"part{index}"] = tuple(float(value) for value in slip)
        for rate in rates:
            row = len(rows)
            p = draw.direction(n, rows)
            a, k = draw.number(idle=0.6), draw.number(idle=0.6)
            b = rate - sum((x * y for x, y in zip(p, v, strict=True)), Fraction(0))
            parameters |= {f"p{row}_{i}": p[i] for i in range(n)} | {f"a{row}": a, f"b{row}": b, f"k{row}": k}
            rows.append(p)
            zeta.append(a + k * v[0] ** 2 + (rate**2 if built.forms[row] == "exp" else 0))
        mu = draw.friction()
        static = mu + abs(draw.number(idle=0.2)) if kind in ("static", "held element") else mu
        parameters |= {f"mu{index}": mu, f"static{index}": static}
        law = {"rail": "rail", "rough": "rail", "element": "element", "held element": "element"}.get(kind, "contact")
        own = tuple(range(start, len(rows)))
        length = {1: abs, 2: _length}.get(tangents, lambda *_: Fraction(1))(*slip) if slip else Fraction(1)
        unit = tuple(value / length for value in slip) if slip and slipping != "rest" else None
        parts.append(Part(law, own, unit, mu, static))
        reported += own if kind != "rail" else ()
    G, c, answer_to, a_free = delassus(M, h, rows, zeta)
    state = State([0.0] * n, [float(value) for value in v], sides=sides)
    floats = {name: float(value) for name, value in parameters.items()}
    return Case(floats, state, G, c, tuple(parts), tuple(reported), answer_to, a_free)


def _length(first: Fraction, second: Fraction) -> Fraction:
    """Of a multiple of a Pythagorean pair."""
    square = first**2 + second**2
    return Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))


def delassus(M: Matrix, h: Vector, rows: Matrix, zeta: Vector) -> tuple[Matrix, Vector, Matrix, Vector]:
    n = len(h)
    left = [[*M[i], *(row[i] for row in rows), h[i]] for i in range(n)]
    for column in range(n):
        pivot = left[column]
        left[column] = pivot = [value / pivot[column] for value in pivot]
        for i in range(n):
            if i != column and left[i][column]:
                factor = left[i][column]
                left[i] = [a - factor * b for a, b in zip(left[i], pivot, strict=True)]
    response = [[left[i][n + j] for j in range(len(rows))] for i in range(n)]
    a_free = [left[i][-1] for i in range(n)]
    G = [[sum((p[i] * response[i][j] for i in range(n)), Fraction(0)) for j in range(len(rows))] for p in rows]
    c = [sum((x * y for x, y in zip(p, a_free, strict=True)), z) for p, z in zip(rows, zeta, strict=True)]
    return G, c, response, a_free


class _Draw:
    def __init__(self, style: Style, rng: np.random.Generator) -> None:
        self.style, self.rng = style, rng

    def number(self, *, idle: float = 0.0) -> Fraction:
        if idle and self.rng.random() < idle:
            return Fraction(0)
        return Fraction(int(self.rng.integers(-self.style.size, self.style.size + 1)), self.style.denominator)

    def vector(self, n: int, *, idle: float = 0.0) -> Vector:
        if idle and self.rng.random() < idle:
            return [Fraction(0)] * n
        return [self.number() for _ in range(n)]

    def mass(self, n: int) -> Matrix:
        root = [[self.number() for _ in range(n)] for _ in range(n)]
        if self.style.is_light:
            root = [[value if j < i else Fraction(0) for j, value in enumerate(line)] for i, line in enumerate(root)]
            for i in range(n):
                root[i][i] = Fraction(int(self.rng.integers(1, 4)), 2)
            light = int(self.rng.integers(n))
            root[light][light] = Fraction(1, 2 ** int(self.rng.integers(5, 19)))
        M = [[sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0)) for y in root] for x in root]
        if not self.style.is_light:
            for i in range(n):
                M[i][i] += Fraction(int(self.rng.integers(1, 4)), 2)
        return M

    def direction(self, n: int, before: Matrix) -> Vector:
        """A gradient; at times a sum of multiples of one or two that are there already."""
        if before and self.rng.random() < self.style.blocked:
            chosen = [before[int(self.rng.integers(len(before)))] for _ in range(int(self.rng.integers(1, 3)))]
            shares = [self.number() or Fraction(1) for _ in chosen]
            p = [sum((s * q[i] for s, q in zip(shares, chosen, strict=True)), Fraction(0)) for i in range(n)]
        else:
            p = self.vector(n)
            if self.style.is_turned and n > 1:
                i, j = self.rng.choice(n, 2, replace=False)
                p[i], p[j] = (3 * p[i] - 4 * p[j]) / 5, (4 * p[i] + 3 * p[j]) / 5
        return p if any(p) else [Fraction(int(i == 0)) for i in range(n)]

    def slip(self, how: str, tangents: int) -> tuple[Fraction, ...]:
        if not tangents:
            return ()
        sign = Fraction(-1 if how == "-0" or (how == "slip" and self.rng.random() < 0.5) else 1)
        if tangents == 1:
            return (sign,) if how != "slip" else (sign * (abs(self.number()) or 1),)
        pairs = [(1, 0), (0, 1), (3, 4), (4, 3), (5, 12), (8, -15), (-4, 3), (7, -24)]
        first, second = pairs[int(self.rng.integers(len(pairs)))]
        return (sign * first, sign * second)

    def friction(self) -> Fraction:
        return abs(self.number(idle=0.05)) * Fraction(3, 2) * self.style.denominator / self.style.size
