"""A sample of the campaign of verdicts; `make campaign` runs the whole."""

from fractions import Fraction

import numpy as np

from hybrid import State, Verdict, select
from hybrid.contact import CellVerdict, classify
from hybrid.dynamics.state import States
from tests.campaigns.exact_modes import Part, solve
from tests.campaigns.structures import delassus, structure
from tests.campaigns.verdicts import run


def test_verdicts_of_random_structures_are_those_of_an_exact_enumeration():
    tally = run(150, seed=7)
    assert tally.wrong == []
    assert tally.tried >= 150
    generic = tally.parts["generic"]
    assert generic.undecided <= 0.02 * generic.tried
    mixed = tally.parts["mixed"]
    assert mixed.undecided <= 0.05 * mixed.tried


# Some micrograms beside kilograms: the equations of both sliding modes have determinants of 1e-9 of their rows, so that
# rounding of 1e-15 changes their forces by 1e-6, and the tangential acceleration of part1 has a sign of 1e-8 only.
_LIGHT = {
    "m00": 3.725290298461914e-09, "m01": -3.0994415283203125e-05, "m02": 7.152557373046875e-06,
    "m03": -0.00011515617370605469, "m11": 1.25787353515625, "m12": -2.73138427734375, "m13": 3.840911865234375,
    "m22": 9.40264892578125, "m23": -9.939239501953125, "m33": 14.675979614257812,
    "h0": -2.015625, "h1": -3.51171875, "h2": 1.94921875, "h3": 3.609375,
    "p0_0": 2.7421875, "p0_1": 0.7109375, "p0_2": 3.21484375, "p0_3": 1.64453125,
    "p1_0": -2.23046875, "p1_1": 0.171875, "p1_2": -2.15234375, "p1_3": 2.921875,
    "p2_0": -3.8984375, "p2_1": 1.33203125, "p2_2": -1.734375, "p2_3": -3.6015625,
    "p3_0": -2.11328125, "p3_1": -2.8046875, "p3_2": 0.4296875, "p3_3": 3.0703125,
    "a0": 2.73828125, "b0": 24.950592041015625, "k0": 0.05078125, "b1": -1.809783935546875,
    "a2": -1.65625, "b2": -27.272689819335938, "k2": 2.22265625, "b3": 2.0617218017578125, "k3": -0.47265625,
    "mu0": 1.28759765625, "static0": 1.28759765625, "mu1": 0.30615234375, "static1": 0.30615234375,
}  # fmt: skip


def test_signs_that_rounding_of_nearly_singular_equations_decides_are_not_guessed():
    built = structure(["contact", "contact"], 4, np.random.default_rng(1))
    number = {name: Fraction(value) for name, value in _LIGHT.items()}
    v = [Fraction(value) for value in (-2.76953125, -1.70703125, -3.12890625, -3.69921875)]
    M = [[number[f"m{min(i, j)}{max(i, j)}"] for j in range(4)] for i in range(4)]
    rows = [[number[f"p{i}_{j}"] for j in range(4)] for i in range(4)]
    rates = [sum(x * y for x, y in zip(row, v, strict=True)) + number.get(f"b{i}", 0) for i, row in enumerate(rows)]
    assert rates == [0, 0, 0, 0]  # part0 is about to slip forwards
    zeta = [number.get(f"a{i}", 0) + number.get(f"k{i}", 0) * v[0] ** 2 for i in range(4)]
    G, c, *_ = delassus(M, [number[f"h{i}"] for i in range(4)], rows, zeta)
    parts = [
        Part("contact", (0, 1), (Fraction(1),), number["mu0"], number["mu0"]),
        Part("contact", (2, 3), None, number["mu1"], number["mu1"]),
    ]
    exact = solve(G, c, parts, reported=range(4))
    assert exact.verdict == "UNIQUE"
    sides = {"part0": (1.0,)}
    state = State([0] * 4, [float(value) for value in v], sides=sides)
    found = select(built.dynamics, state, parameters=_LIGHT)
    assert found.verdict in (Verdict.UNIQUE, Verdict.UNDECIDED)
    many = States(np.zeros((2, 4)), np.array([v, v], dtype=float), np.zeros(2), sides)
    cells = classify(built.dynamics, many, parameters=_LIGHT)
    assert set(cells.verdict) <= {CellVerdict.UNIQUE, CellVerdict.UNDECIDED}
