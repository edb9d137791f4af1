"""Verdicts of random declared structures against an exact enumeration of every mode.

One to four parts of every kind (contacts without and with friction, with static friction above kinetic, spatial;
friction elements; rails with and without friction) are declared, derived and decided on the public road; the
expected answer comes from the rational numbers that went into the declaration. Verdicts, numbers of accelerations, the
accelerations, dimensions of sets of forces, and the laws at the reported numbers are compared, and so are the verdicts
of all cases of one structure decided together, as a map decides them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from hybrid import Selection, Verdict, select, verify_certificate
from hybrid.contact import Branch, CellVerdict, classify
from hybrid.dynamics.state import States
from hybrid.errors import StateError
from tests.campaigns.exact_cones import solve_at_rest
from tests.campaigns.exact_modes import Answer, Unclear, rank, solve
from tests.campaigns.structures import KINDS, TANGENTS, Case, Structure, Style, case, structure
from tests.campaigns.tally import Tally

_CASES = 100  # of one structure: deriving it costs as much as some ten of them
# Condition numbers of small rational problems reach 1e5; a comparison in floats then keeps 1e-16 * 1e5 * 100.
_SAME = 1e-7
_AT_ONCE = 16

_GENERIC = Style(size=1000, denominator=256, is_turned=True, blocked=0.0, idle=0.0)
_MIXED = Style(size=20, denominator=7, is_turned=True, blocked=0.35, idle=0.3)
_LIGHT = Style(size=1024, denominator=256, is_turned=False, blocked=0.0, idle=0.0, is_light=True)
_PLAIN = Style(size=3, denominator=2, is_turned=False, blocked=0.25, idle=0.3)

_STYLES = (("generic", _GENERIC, 3), ("mixed", _MIXED, 4), ("ties", _PLAIN, 3), ("light", _LIGHT, 2))


def run(n: int, *, seed: int) -> Tally:
    """Decide about ``n`` cases: generic ones with one or two contacts, mixed structures, ties, light bodies."""
    total = Tally()
    rng = np.random.default_rng(seed)
    while total.tried < n:
        for name, style, share in _STYLES:
            count = min(_CASES, max(1, n // 40)) * share // 3
            kinds, freedom = _kinds(name, rng)
            built = structure(kinds, freedom, rng)
            tally = _structure(built, style, count, rng, f"{name} {'+'.join(kinds)}")
            total += attrs.evolve(tally, parts={name: tally})
    return total


def _kinds(name: str, rng: np.random.Generator) -> tuple[list[str], int]:
    """Kinds of the parts and number of coordinates; at most one spatial contact, which may be at rest."""
    if name in ("generic", "light"):
        kinds = [str(kind) for kind in rng.choice(["smooth", "contact"], size=int(rng.integers(1, 3)), p=[0.2, 0.8])]
        return kinds, int(rng.integers(sum(1 + TANGENTS[kind] for kind in kinds), 5))
    count = int(rng.choice([1, 2, 3, 4], p=[0.25, 0.4, 0.25, 0.1]))
    kinds = [str(kind) for kind in rng.choice(KINDS, size=count)]
    spatial = [i for i, kind in enumerate(kinds) if kind == "spatial"]
    for i in spatial[1:]:
        kinds[i] = "smooth"
    return kinds, int(rng.integers(2, 5))


def _structure(built: Structure, style: Style, count: int, rng: np.random.Generator, label: str) -> Tally:
    tally = Tally()
    drawn_slips = rng.choice(["rest", "slip", "+0", "-0"], size=len(built.kinds), p=[0.4, 0.3, 0.15, 0.15])
    slips = [str(how) for how in drawn_slips]
    posed = []
    for _ in range(count):
        drawn = case(built, style, slips, rng)
        try:
            truth = _truth(drawn)
        except Unclear:
            continue
        if truth is not None:
            posed.append((drawn, truth))
    refused = list[tuple[Case, Answer]]()
    for drawn, truth in posed:
        tally.tried += 1
        try:
            found = select(built.dynamics, drawn.state, parameters=drawn.parameters)
        except StateError as error:
            if "the mass matrix is singular" not in str(error) or not style.is_light:
                raise
            tally.undecided += 1  # no energy in floats, and said so; a map calls it unreachable
            refused.append((drawn, truth))
            continue
        if found.verdict is Verdict.UNDECIDED:
            tally.undecided += 1
        elif error := _difference(built, drawn, truth, found, has_digits=not style.is_light):
            tally.wrong.append(f"{label} {'/'.join(slips)}: {error}; {_described(drawn)}")
    posed = [item for item in posed if item not in refused]
    if posed:
        tally.wrong += _together(built, [drawn for drawn, _ in posed], [truth for _, truth in posed], label)
    return tally


def _truth(drawn: Case) -> Answer | None:
    """The exact answer; None where constraints contradict each other or are singular, no question of contact."""
    rails = [part.rows[0] for part in drawn.parts if part.kind == "rail"]
    among = [[drawn.G[i][j] for j in rails] for i in rails]
    if rank(among) < len(rails) and any(drawn.parameters[f"k{row}"] for row in rails):
        return None  # dependent here and not nearby
    smooth = [part.rows[0] for part in drawn.parts if part.kind == "rail" and len(part.rows) == 1]
    held = [[drawn.G[i][j] for j in smooth] for i in smooth]
    if rank(held) < rank([[*line, drawn.c[i]] for line, i in zip(held, smooth, strict=True)]):
        return None
    resting = any(len(part.rows) == 3 and part.slip is None for part in drawn.parts)
    return (solve_at_rest if resting else solve)(drawn.G, drawn.c, drawn.parts, reported=drawn.reported)


def _difference(built: Structure, drawn: Case, truth: Answer, found: Selection, *, has_digits: bool) -> str:
    """What contradicts the exact answer; empty if nothing does. Numbers of ill-conditioned masses keep few digits."""
    if found.verdict.name != truth.verdict:
        return f"{found.verdict.name}, exactly {truth.verdict}"
    if found.verdict is Verdict.INCONSISTENT:
        return "" if verify_certificate(found.certificate) else "a certificate that does not verify"
    rows = np.array([[float(drawn.parameters[f"p{i}_{j}"]) for j in range(built.n)] for i in range(len(drawn.c))])
    size = 1.0 + max(float(np.max(np.abs(branch.acceleration))) for branch in found.branches)
    if not has_digits:
        return "" if truth.is_continuum or found.count == len(truth.accelerations) else f"{found.count} accelerations"
    if not truth.is_continuum:
        if found.count != len(truth.accelerations):
            return f"{found.count} accelerations, exactly {len(truth.accelerations)}"
        drift = np.array([float(value) for value in _drift(drawn, rows)])
        for exact in truth.accelerations:
            apart = [
                np.max(np.abs(rows @ branch.acceleration + drift - [float(value) for value in exact]))
                for branch in found.branches
            ]
            if min(apart) > _SAME * (size + max(abs(float(value)) for value in exact)):
                return f"accelerations differ by {min(apart):.1e}"
        if found.force_set is not None and found.force_set.dimension != truth.dimension:
            return f"forces of dimension {found.force_set.dimension}, exactly {truth.dimension}"
    return next((error for branch in found.branches if (error := _broken_law(built, drawn, branch, size))), "")


def _drift(drawn: Case, rows: np.ndarray) -> list[Fraction]:
    """Part of the contact accelerations that no acceleration of the coordinates causes."""
    n = len(drawn.a_free)
    exact = [[Fraction(float(value)) for value in row] for row in rows]
    shares = [sum((p[i] * drawn.a_free[i] for i in range(n)), Fraction(0)) for p in exact]
    return [c - share for c, share in zip(drawn.c, shares, strict=True)]


def _broken_law(built: Structure, drawn: Case, branch: Branch, size: float) -> str:
    """The law of contact or friction that the reported numbers break."""
    G = np.array([[float(value) for value in row] for row in drawn.G])
    for index, (kind, part) in enumerate(zip(built.kinds, drawn.parts, strict=True)):
        if kind == "rail":
            continue
        name, mu, static = f"part{index}", float(part.friction), float(part.static)
        T = np.array(branch.lambda_T.get(name, ()))
        N = branch.lambda_N.get(name, 0.0)
        a = branch.contact_acceleration[name]
        unit = float(np.sqrt(max(np.max(np.diag(G)[list(part.rows)]), 1e-12)))
        force, rate = _SAME * (size / unit**2 + abs(N) + np.sum(np.abs(T))), _SAME * (size + unit**2 * abs(N))
        if part.kind != "element":
            if abs(a.normal) > rate and (part.kind == "rail" or a.normal < 0 or abs(N) > force):
                return f"{name} presses {N:.3g} at a_N = {a.normal:.3g}"
            if part.kind == "contact" and force < -N:
                return f"{name} pulls {N:.3g}"
        if not T.size:
            continue
        limit = 1.0 if part.kind == "element" else abs(N)
        if np.linalg.norm(T) > static * limit + force:
            return f"{name} bears {T} with {limit * static:.3g}"
        motion = np.array(a.tangential) if part.slip is None else np.array([float(value) for value in part.slip])
        speed = float(np.linalg.norm(motion))
        if speed > rate and np.linalg.norm(T + mu * limit * motion / speed) > force + limit * rate / speed:
            return f"{name} slips along {motion} under {T}, which is not friction of {mu * limit:.3g}"
    return ""


def _together(built: Structure, cases: Sequence[Case], truths: Sequence[Answer], label: str) -> list[str]:
    """What the same cases, decided at once, answer otherwise."""
    wrong = []
    groups: dict[tuple[Any, ...], list[int]] = {}
    for index, drawn in enumerate(cases):
        groups.setdefault(tuple(sorted(drawn.state.sides.items())), []).append(index)
    # a map holds 64 different modes, and four contacts have more
    parts = [
        (sides, chosen[i : i + _AT_ONCE]) for sides, chosen in groups.items() for i in range(0, len(chosen), _AT_ONCE)
    ]
    for sides, chosen in parts:
        velocities = np.array([cases[index].state.v for index in chosen])
        states = States(np.zeros_like(velocities), velocities, np.zeros(len(chosen)), dict(sides))
        names = cases[0].parameters
        parameters = {name: np.array([cases[index].parameters[name] for index in chosen]) for name in names}
        cells = classify(built.dynamics, states, parameters=parameters).verdict
        for index, cell in zip(chosen, cells, strict=True):
            found = CellVerdict(int(cell)).name
            if found not in (truths[index].verdict, "UNDECIDED"):
                wrong.append(f"{label} together: {found}, exactly {truths[index].verdict}; {_described(cases[index])}")
    return wrong


def _described(drawn: Case) -> str:
    return f"{drawn.parameters} v={drawn.state.v.tolist()} {drawn.state.sides}"
