"""Verdicts do not depend on units, coordinates, order, mirrors or last bits.

Every mechanism is declared with its numbers as parameters: the mass matrix ``M``, the forces ``f`` and, of every gap,
tangent and constraint, the constant, the gradient and the curvature in ``d + a.q + q.B q/2``. A transformation turns
these numbers into those of another declaration of the same mechanism, by the formulas of mechanics written out here;
what the package says of both must agree, carried back by the same formulas. A rod with two ends, whose angle no change
of units touches, is compared in other units, at states and along motions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import attrs
import numpy as np

import mechanisms
from hybrid import (
    Constraint,
    Contact,
    EquationDynamics,
    FrictionElement,
    HybridError,
    Mechanism,
    State,
    derive,
    simulate,
)
from hybrid.contact import NewtonImpact, Verdict, select
from tests.campaigns.tally import Tally

SAME = 1e-6  # of the largest force or acceleration: rounding of 1e-16 times the condition of the changes, squared
MOTIONS = 400  # cases for one motion
FLIP = {"slide+": "slide-", "slide-": "slide+"}


@attrs.frozen
class Kind:
    """What a structure has: coordinates, contacts, tangents of each, a rail, whether it is rough, an element."""

    n: int
    contacts: int
    dimension: int = 1
    rail: bool = False
    is_rough: bool = False
    element: bool = False


KINDS = (
    Kind(3, 1),
    Kind(4, 2),
    Kind(3, 3),
    Kind(4, 1, rail=True),
    Kind(4, 2, rail=True),
    Kind(4, 1, rail=True, is_rough=True),
    Kind(4, 1, element=True),
    Kind(5, 1, dimension=2),
    Kind(3, 2, dimension=0),
)


@attrs.define
class Form:
    """A function of position ``d + a.q + q.B q/2``."""

    d: float
    a: np.ndarray
    B: np.ndarray

    def gradient(self, q):
        return self.a + self.B @ q


@attrs.define
class Case:
    """The numbers of a declaration, and a state of it."""

    M: np.ndarray
    f: np.ndarray
    gaps: list[Form]
    tangents: list[list[Form]]
    others: list[Form]  # the rail, the tangent of a rough rail or of an element
    friction: list[float]
    limit: float
    q: np.ndarray
    v: np.ndarray
    sides: dict[str, tuple[float, ...]]


def forms_of(kind: Kind) -> list[str]:
    """Names of the functions of position, in the order of a case."""
    names = [f"g{i}" for i in range(kind.contacts)]
    names += [f"t{i}{axis}" for i in range(kind.contacts) for axis in range(kind.dimension)]
    return names + ["r"] * kind.rail + ["u"] * (kind.is_rough or kind.element)


@cache
def derived(kind: Kind):
    """The mechanism of a kind, all its numbers parameters of the value 1."""
    n, places = kind.n, range(kind.n)
    names = [f"M{i}{j}" for i in places for j in range(i, n)] + [f"f{i}" for i in places] + ["limit", "mu_r"]
    names += [f"mu{i}" for i in range(kind.contacts)]
    texts = {}
    for form in forms_of(kind):
        names += [
            f"{form}d",
            *(f"{form}a{i}" for i in places),
            *(f"{form}B{i}{j}" for i in places for j in range(i, n)),
        ]
        square = [f"{form}B{i}{j}*q{i}*q{j}" + ("/2" if i == j else "") for i in places for j in range(i, n)]
        texts[form] = " + ".join([f"{form}d", *(f"{form}a{i}*q{i}" for i in places), *square])
    contacts = []
    for i in range(kind.contacts):
        tangent = [texts[f"t{i}{axis}"] for axis in range(kind.dimension)]
        rough = {"tangent": tangent, "friction": f"mu{i}"} if tangent else {}
        contacts.append(Contact(name=f"c{i}", gap=texts[f"g{i}"], **rough))
    rough = {"tangent": texts["u"], "friction": "mu_r"} if kind.is_rough else {}
    mechanism = Mechanism(
        name="any",
        coordinates=[f"q{i}" for i in places],
        parameters=dict.fromkeys(names, 1.0),
        dynamics=EquationDynamics(
            mass_matrix=[[f"M{min(i, j)}{max(i, j)}" for j in places] for i in places],
            forces=[f"f{i}" for i in places],
        ),
        contact=contacts,
        constraint=[Constraint(name="rail", equation=texts["r"], **rough)] if kind.rail else [],
        friction=[FrictionElement(name="seal", tangent=texts["u"], limit="limit")] if kind.element else [],
    )
    return derive(mechanism)


def all_forms(case: Case) -> list[Form]:
    return [*case.gaps, *(form for tangent in case.tangents for form in tangent), *case.others]


def parameters(kind: Kind, case: Case) -> dict[str, float]:
    """The values of the parameters."""
    pairs = [(i, j) for i in range(kind.n) for j in range(i, kind.n)]
    values = {f"M{i}{j}": float(case.M[i, j]) for i, j in pairs} | {f"f{i}": float(x) for i, x in enumerate(case.f)}
    values |= {f"mu{i}": mu for i, mu in enumerate(case.friction[: kind.contacts])}
    values |= {"limit": case.limit, "mu_r": case.friction[-1]}
    for name, form in zip(forms_of(kind), all_forms(case), strict=True):
        values |= {f"{name}d": float(form.d)} | {f"{name}a{i}": float(x) for i, x in enumerate(form.a)}
        values |= {f"{name}B{i}{j}": float(form.B[i, j]) for i, j in pairs}
    return values


def random_case(kind: Kind, rng: np.random.Generator) -> Case:
    """Numbers of size 1; contacts open, sliding, at rest, or with a slip that vanishes from a side."""
    n, k = kind.n, kind.contacts
    root = rng.normal(size=(n, n))
    q = rng.normal(size=n)

    def form(*, closed: bool = True) -> Form:
        B = rng.normal(size=(n, n)) / 2
        found = Form(0.0, rng.normal(size=n), B + B.T)
        found.d = float(-(found.a @ q) - q @ found.B @ q / 2) + (0.0 if closed else float(rng.uniform(0.1, 1)))
        return found

    closed = [i == 0 or rng.random() < 0.8 for i in range(k)]
    gaps = [form(closed=is_closed) for is_closed in closed]
    tangents = [[form() for _ in range(kind.dimension)] for _ in range(k)]
    others = [form() for _ in range(kind.rail + (kind.is_rough or kind.element))]
    held = [gap for gap, is_closed in zip(gaps, closed, strict=True) if is_closed] + others[: kind.rail]
    sides: dict[str, tuple[float, ...]] = {}
    for i in range(k):
        state = rng.choice(["rest", "side", "slides"]) if closed[i] and kind.dimension else "slides"
        if state != "slides" and len(held) + kind.dimension < n:
            held += tangents[i]
            if state == "side":
                side = rng.normal(size=kind.dimension)
                sides[f"c{i}"] = tuple(side / np.linalg.norm(side))
    rows = np.array([item.gradient(q) for item in held])
    v = rng.normal(size=n)
    v -= np.linalg.pinv(rows) @ (rows @ v)  # zero velocities that are only as zero as rounding leaves them
    friction = [float(x) for x in rng.uniform(0, 2.5, k + 1)]
    M, f = root @ root.T + 0.3 * np.eye(n), rng.normal(size=n) * 3
    return Case(M, f, gaps, tangents, others, friction, float(rng.uniform(0.1, 2)), q, v, sides)


@attrs.define
class Change:
    """Another declaration: new coordinates ``q = A p``, units, signs of tangents, order of contacts, last bits."""

    name: str
    A: np.ndarray
    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0
    signs: np.ndarray | None = None  # of every contact's tangents, then of the other tangent
    order: np.ndarray | None = None  # the new contact i is the old order[i]
    bits: np.random.Generator | None = None

    def applied(self, kind: Kind, case: Case) -> Case:
        A, inverse = self.A, np.linalg.inv(self.A)
        order = range(kind.contacts) if self.order is None else self.order
        signs = np.ones(kind.contacts + 1) if self.signs is None else self.signs
        energy = self.mass * self.length**2 / self.time**2

        def turned(form: Form, sign: float = 1.0) -> Form:
            s = sign * self.length
            return Form(s * form.d, s * (A.T @ form.a), s * (A.T @ form.B @ A))

        others = [turned(form) for form in case.others[: kind.rail]]
        others += [turned(form, signs[-1]) for form in case.others[kind.rail :]]
        new = Case(
            M=A.T @ case.M @ A * (energy * self.time**2),
            f=A.T @ case.f * energy,
            gaps=[turned(case.gaps[i]) for i in order],
            tangents=[[turned(form, signs[i]) for form in case.tangents[i]] for i in order],
            others=others,
            friction=[*(case.friction[i] for i in order), case.friction[-1]],
            limit=case.limit * energy / self.length,
            q=inverse @ case.q,
            v=inverse @ case.v / self.time,
            sides={
                f"c{place}": tuple(signs[i] * x for x in case.sides[f"c{i}"])
                for place, i in enumerate(order)
                if f"c{i}" in case.sides
            },
        )
        if self.bits is not None:
            new.M = np.triu(self._stirred(new.M)) + np.triu(self._stirred(new.M), 1).T
            new.f, new.q, new.v = (self._stirred(x) for x in (new.f, new.q, new.v))
            for form in all_forms(new):
                form.a, form.B = self._stirred(form.a), self._stirred(form.B)
        return new

    def _stirred(self, x: np.ndarray) -> np.ndarray:
        return x * (1 + np.finfo(float).eps * self.bits.integers(-1, 2, np.shape(x)))

    def back(self, name: str) -> tuple[str, float]:
        """Name of a force element in the old declaration, and the sign of its tangents."""
        if name not in [f"c{i}" for i in range(9)]:
            return name, 1.0 if self.signs is None else self.signs[-1]
        i = int(name[1:]) if self.order is None else int(self.order[int(name[1:])])
        return f"c{i}", 1.0 if self.signs is None else self.signs[i]


def changes(kind: Kind, rng: np.random.Generator) -> Iterator[Change]:
    """One of every kind: units, coordinates of unlike sizes, a mirror, the order, last bits, and all at once."""
    n, k = kind.n, kind.contacts
    length, mass, time = (float(10.0**x) for x in rng.uniform(-9, 9, 3))
    signs = rng.choice([-1.0, 1.0], k + 1)
    mixed = np.linalg.qr(rng.normal(size=(n, n)))[0] @ np.diag(10.0 ** rng.uniform(-1, 1, n)) @ _mild(n, rng)
    own = np.diag(10.0 ** rng.uniform(-9, 9, n))
    yield Change("units", np.eye(n) / length, length=length, mass=mass, time=time)
    yield Change("coordinates", mixed)
    yield Change("units of each coordinate", own)
    yield Change("mirror", np.diag(rng.choice([-1.0, 1.0], n)), signs=signs)
    yield Change("order", np.eye(n)[rng.permutation(n)], order=rng.permutation(k))
    yield Change("last bits", np.eye(n), bits=rng)
    yield Change("all", mixed / length, length, mass, time, signs=signs, order=rng.permutation(k), bits=rng)


def _mild(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.eye(n) + 0.5 * rng.uniform(-1, 1, (n, n)) / n


@attrs.define
class Answer:
    """What the package says: the verdict and, of every branch, labels, forces and contact accelerations."""

    verdict: str
    branches: dict[frozenset, dict[str, np.ndarray]] = attrs.field(factory=dict)


def answer_of(dynamics, state: State, values: dict[str, float], change: Change | None = None) -> Answer:
    """The answer, carried back to the old declaration."""
    try:
        selection = select(dynamics, state, parameters=values)
    except HybridError as error:
        return Answer(f"{type(error).__name__}: {error}")
    back = (lambda name: (name, 1.0)) if change is None else change.back
    length, mass, time = (1.0, 1.0, 1.0) if change is None else (change.length, change.mass, change.time)
    found = Answer(selection.verdict.name)
    for branch in selection.branches:
        labels, numbers = set(), {}
        for name, label in branch.mode.items():
            old, sign = back(name)
            labels.add((old, FLIP.get(label.value, label.value) if sign < 0 else label.value))
            force = mass * length / time**2
            if name in branch.lambda_N:
                numbers[f"N {old}"] = np.atleast_1d(branch.lambda_N[name]) / force
            if name in branch.lambda_T:
                numbers[f"T {old}"] = sign * np.atleast_1d(branch.lambda_T[name]) / force
            if name in branch.contact_acceleration:
                at, unit = branch.contact_acceleration[name], length / time**2
                numbers[f"a {old}"] = np.array([at.normal or 0.0, *(sign * x for x in at.tangential)]) / unit
        found.branches[frozenset(labels)] = numbers
    return found


def disagreement(one: Answer, other: Answer) -> str | None:
    """What differs, in words; of several solutions one may be a continuum of forces, any of which may be shown."""
    if one.verdict != other.verdict:
        return f"{one.verdict} against {other.verdict}"
    if one.verdict in (Verdict.HYPERSTATIC.name, Verdict.INCONSISTENT.name):
        return None
    if set(one.branches) != set(other.branches):
        return f"{sorted(map(sorted, one.branches))} against {sorted(map(sorted, other.branches))}"
    for labels, numbers in one.branches.items():
        for kind in "NTa" if one.verdict == Verdict.UNIQUE.name else "a":
            names = [name for name in numbers if name[0] == kind]
            size = max((float(np.max(np.abs(numbers[name]), initial=0.0)) for name in numbers), default=0.0)
            for name in names:
                if np.max(np.abs(numbers[name] - other.branches[labels][name]), initial=0.0) > SAME * max(size, 1.0):
                    return f"{name}: {numbers[name]} against {other.branches[labels][name]}"
    return None


def compared(tally: Tally, one: Answer, other: Answer, words: str) -> None:
    """Count a comparison."""
    tally.tried += 1
    if "UNDECIDED" in (one.verdict, other.verdict):
        tally.undecided += 1
    elif (differs := disagreement(one, other)) is not None:
        tally.wrong.append(f"{words}: {differs}")


def rod_in_units(tally: Tally, rng: np.random.Generator, words: str, *, moves: bool) -> None:
    """The rod with two ends in other units, at a state or along a motion."""
    rod = _rod()
    length, mass, time = (float(10.0**x) for x in rng.uniform(-9, 9, 3))
    phi, phi_dot, slip = rng.uniform(0.0, 1.4), rng.uniform(-2, 2), rng.choice([0.0, 1.0, -0.5])
    flat = rng.random() < 0.3 and not moves
    q = np.array([0.3, 0.0 if flat else np.sin(phi), 0.0 if flat else phi])
    v = np.array([slip if flat else slip - np.sin(phi) * phi_dot, 0 if flat else np.cos(phi) * phi_dot, phi_dot])
    v[2] *= not flat
    if moves:
        q, v = np.array([0.0, rng.uniform(1.1, 1.5), phi]), np.array([slip, 0.0, phi_dot])
    values = {"m": 1.0, "l": 1.0, "g": 1.0, "mu": float(rng.uniform(0, 3)), "e": 0.3}
    scaled = values | {"m": mass, "l": length, "g": length / time**2}
    units = np.array([length, length, 1.0])
    starts = [(State(q, v), values), (State(q * units, v * units / time), scaled)]
    if not moves:
        change = Change("units", np.eye(3), length=length, mass=mass, time=time)
        answers = [answer_of(rod, state, own, item) for (state, own), item in zip(starts, (None, change), strict=True)]
        compared(tally, *answers, f"{words} units of the rod {length:.3g} m, {mass:.3g} kg, {time:.3g} s")
        return
    ends = [
        simulate(rod, state, t_end=1.5 * unit, law=NewtonImpact(), parameters=own)
        for (state, own), unit in zip(starts, (1.0, time), strict=True)
    ]
    one, other = (_history(motion, *unit) for motion, unit in zip(ends, ((1.0, 1.0), (units, time)), strict=True))
    tally.tried += 1
    if one[:2] != other[:2] or np.max(np.abs(one[2] - other[2])) > SAME:
        tally.wrong.append(f"{words} motion of the rod, units {length} {mass} {time}: {one} against {other}")


@cache
def _rod():
    return derive(mechanisms.load("rod_two_ends"))


def _history(motion, units, time) -> tuple[str, list[str], np.ndarray]:
    kinds = [event.kind.value for event in motion.events]
    return motion.termination.name, kinds, np.array([*(motion.q / units), motion.t / time])


def run(n: int, *, seed: int, kinds: tuple[Kind, ...] = KINDS) -> Tally:
    """About ``n`` comparisons; every eighth is of the rod."""
    rng, tally, number = np.random.default_rng(seed), Tally(), 0
    while tally.tried < n:
        kind, number = kinds[number % len(kinds)], number + 1
        case, dynamics, words = random_case(kind, rng), derived(kind), f"seed {seed} case {number} {kind}"
        state = State(case.q, case.v, sides=case.sides)
        first = answer_of(dynamics, state, parameters(kind, case))
        for change in changes(kind, rng):
            new = change.applied(kind, case)
            state = State(new.q, new.v, sides=new.sides)
            second = answer_of(dynamics, state, parameters(kind, new), change)
            compared(tally, first, second, f"{words} {change.name}")
        rod_in_units(tally, rng, words, moves=number % (MOTIONS // 8) == 0)
    return tally
