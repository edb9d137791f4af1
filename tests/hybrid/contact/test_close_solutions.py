"""Solutions that lie next to each other: two of them are not one, and what cannot be told apart is said to be so."""

from fractions import Fraction

import numpy as np
import pytest

import hybrid
from hybrid import (
    Constraint,
    Contact,
    EnergyDynamics,
    EquationDynamics,
    FrictionElement,
    Mechanism,
    derive,
    select,
    solve_state,
)
from hybrid.analysis import Axis, region_map
from hybrid.contact import classification
from hybrid.contact.batches import CellVerdict
from hybrid.contact.modes import ActiveElement, ElementKind
from hybrid.contact.selection import select_in_floats, select_problem
from tests.random_problems import problem_from

CONTACT, BILATERAL = ElementKind.CONTACT, ElementKind.BILATERAL


def sliding(side, mu=2.0, static=None, kind=CONTACT):
    return ActiveElement("tip", kind, 0, (1,), (side,) if side else None, mu, mu if static is None else static)


@pytest.mark.parametrize("b", [sign * size for size in (1e-6, 1e-9, 3e-10, 5e-11, 1e-12) for sign in (1, -1)])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_sliding_with_a_tiny_free_acceleration_has_none_two_or_one_solution_by_its_inertia_factor(b, side):
    G = [[1.0, 0.75], [0.75, 1.0]]
    A = Fraction(1) - Fraction(side) * 2 * Fraction(3, 4)  # a_N = A lambda + b >= 0, lambda >= 0, one of them zero
    count = (b >= 0) + (-Fraction(b) / A > 0)
    found = select_problem(problem_from(np.array(G), np.array([b, 1.0]), [sliding(side)])).verdict.name
    expected = {0: "INCONSISTENT", 1: "UNIQUE", 2: "INDETERMINATE"}[count]
    assert found in ({expected} if A > 0 or abs(b) > 1e-8 else {expected, "UNDECIDED"})


@pytest.mark.parametrize("excess", [1e-6, 1e-8, 1e-9, 1e-11, -1e-11, -1e-9, -1e-6])
def test_static_friction_above_kinetic_next_to_the_kinetic_limit(excess):
    # pressed with 1 and pulled by 0.5 (1 + excess): sliding needs a pull above 0.5, sticking one below 1
    problem = problem_from(np.eye(2), np.array([-1.0, 0.5 * (1 + excess)]), [sliding(0, 0.5, 1.0)])
    found = select_problem(problem).verdict.name
    expected = "INDETERMINATE" if excess > 0 else "UNIQUE"
    assert found in ({expected} if abs(excess) > 1e-7 else {expected, "UNDECIDED"})


def test_two_solutions_with_almost_the_same_accelerations_are_not_called_one():
    # friction so large that its force hardly depends on the side to which the rail presses: two motions, 1e-9 apart
    g, k, h, b, c = (Fraction(value) for value in (1.0625, -1.46875, 2.03125, -2.5, 0.609375))
    mu, rail = 10**6, sliding(1.0, 1e6, None, BILATERAL)
    problem = problem_from(np.array([[g, k], [k, h]], dtype=float), np.array([b, c], dtype=float), [rail])
    accelerations = set()
    for side in (1, -1):
        force = -b / (g - side * mu * k)
        if force * side > 0:
            accelerations.add(k * force - side * mu * h * force + c)
    assert len(accelerations) == 2
    assert select_problem(problem).verdict.name in ("INDETERMINATE", "UNDECIDED")


def bodies(masses, forces, **parts):
    n = len(masses)
    return derive(
        Mechanism(
            name="bodies",
            coordinates=[f"x{i}" for i in range(n)],
            dynamics=EquationDynamics(
                mass_matrix=[[masses[i] if i == j else 0 for j in range(n)] for i in range(n)], forces=list(forces)
            ),
            **parts,
        )
    )


@pytest.mark.parametrize("pull", [-1e-9, 1e-9, -1e-7])
def test_a_light_body_beside_a_heavy_one_does_what_it_does_alone(pull):
    floors = [Contact(name=f"floor{i}", gap=f"x{i}") for i in range(2)]
    pair = bodies([1e-7, 1e8], [pull, -9.81e8], contact=floors)
    found = select(pair, hybrid.State([0, 0], [0, 0]))
    assert found.verdict.name == "UNIQUE"
    np.testing.assert_allclose(found.branches[0].acceleration, [max(pull, 0.0) / 1e-7, 0.0], atol=1e-12)


@pytest.mark.parametrize("factor", [1.0, 1e-6, 1e6])
def test_constraints_of_light_and_heavy_bodies_both_hold(factor):
    rails = [Constraint(name="light", equation="x0"), Constraint(name="heavy", equation=f"{factor}*x1")]
    floor = Contact(name="floor", gap="x2 - x1")
    triple = bodies([1e-6, 1e6, 1], [1, 2, -3], constraint=rails, contact=[floor])
    found = select(triple, hybrid.State([0, 0, 0], [0, 0, 0]))
    assert found.verdict.name == "UNIQUE"
    # each is the difference of two accelerations of this size, which may leave some units in the last place
    assert (abs(found.branches[0].acceleration) <= 1e-14 * np.array([1 / 1e-6, 5 / 1e6, 3])).all()
    assert found.branches[0].lambda_N["floor"] == pytest.approx(3.0, rel=1e-12)


@pytest.mark.parametrize("pull", [0.0, 1.0])
def test_a_spatial_contact_without_friction_presses_and_its_slip_is_no_question(pull):
    floor = Contact(name="floor", gap="x2", tangent=["x0", "x1"])
    ball = bodies([1, 1, 1], [pull, 0, -9.81], contact=[floor])
    found = select(ball, hybrid.State([0, 0, 0], [0, 0, 0]))
    label = "slide" if pull else "stick"  # as it begins to move; no force depends on it
    assert (found.verdict.name, found.branches[0].mode.label) == ("UNIQUE", label)
    np.testing.assert_allclose(found.branches[0].acceleration, [pull, 0, 0], atol=1e-15)


def _cell(found, i, j):
    return {label for k, label in enumerate(found.labels) if int(found.modes[i, j]) >> k & 1}


def test_cells_where_friction_vanishes_have_the_modes_of_their_states():
    floor = Contact(name="floor", gap="x1", tangent="x0", friction="max(mu, 0)")
    block = derive(
        Mechanism(
            name="block",
            coordinates=["x0", "x1"],
            parameters={"mu": 1, "pull": 0},
            dynamics=EquationDynamics(mass_matrix=[[1, 0], [0, 1]], forces=["pull", -1]),
            contact=[floor],
        )
    )
    axes = [Axis("mu", -1, 1, 4), Axis("pull", -2, 2, 5)]
    pins = {"x0": 0, "x0_dot": 0}
    found = region_map(block, axes=axes, pins=pins)
    for i, mu in enumerate(axes[0].values):
        for j, pull in enumerate(axes[1].values):
            values = {"mu": mu, "pull": pull}
            verdict = select(block, solve_state(block, pins, parameters=values), parameters=values)
            assert _cell(found, i, j) == {verdict.branches[0].mode.label}


def test_cells_with_one_acceleration_and_two_forces_are_hyperstatic():
    # friction and guidance along one line: lambda_N (1 - s mu) = -pull, where s is the sign of lambda_N
    guide = Constraint(name="guide", equation="x0", friction="mu", slip="x0_dot + 1")
    press = derive(
        Mechanism(
            name="press",
            coordinates=["x0"],
            parameters={"mu": 1, "pull": 0},
            dynamics=EquationDynamics(mass_matrix=[[1]], forces=["pull"]),
            constraint=[guide],
        )
    )
    axes = [Axis("mu", 0, 3, 6), Axis("pull", -2, 2, 4)]
    found = region_map(press, axes=axes)
    for i, mu in enumerate(axes[0].values):
        for j, pull in enumerate(axes[1].values):
            forces = [-pull / (1 - side * mu) for side in (1, -1) if -pull / (1 - side * mu) * side > 0]
            expected = {0: "INCONSISTENT", 1: "UNIQUE", 2: "HYPERSTATIC"}[len(forces)]
            values = {"mu": mu, "pull": pull}
            assert CellVerdict(int(found.verdict[i, j])).name == expected
            assert select(press, solve_state(press, {}, parameters=values), parameters=values).verdict.name == expected


def test_cells_of_a_body_on_three_feet_are_decided_together(monkeypatch):
    # of three level feet sets of forces hold the body, or a foot slips along a set that is a point: neither is a tie
    alone = []

    def counted(*arguments, **options):
        alone.append(arguments)
        return select_in_floats(*arguments, **options)

    monkeypatch.setattr(classification, "select_in_floats", counted)
    feet = [Contact(name=f"foot{x + 1}", gap=f"y + ({x})*a", tangent="x", friction="1/2") for x in (-1, 0, 1)]
    dynamics = EquationDynamics(mass_matrix=[[1, 0, 0], [0, 1, 0], [0, 0, "1/2"]], forces=["push", "-10", "turn"])
    body = Mechanism(
        name="body",
        coordinates=["x", "y", "a"],
        parameters={"push": 0, "turn": 0},
        dynamics=dynamics,
        contact=feet,
    )
    pins = dict.fromkeys(["x", "y", "a", "x_dot", "y_dot", "a_dot"], 0)
    found = region_map(derive(body), axes=[Axis("push", -11, 11, 12), Axis("turn", -13, 13, 12)], pins=pins)
    assert not alone
    for i, push in enumerate(found.axes[0].values):
        for j, turn in enumerate(found.axes[1].values):  # it tips beyond 10, and slips beyond 5 without changing feet
            is_held = abs(turn) < 10
            assert CellVerdict(int(found.verdict[i, j])).name == ("HYPERSTATIC" if is_held else "UNIQUE"), (push, turn)


def test_gauss_principle_tells_independent_bodies_of_very_different_mass_apart():
    floors = [Contact(name=f"floor{i}", gap=f"x{i}") for i in range(2)]
    pair = bodies([1e-9, 1e9], [-1e-9, -1e9], contact=floors)
    assert select(pair, hybrid.State([0, 0], [0, 0]), solver="gauss").verdict.name == "UNIQUE"


@pytest.mark.parametrize("seed", range(20))
def test_what_rounding_of_huge_forces_hides_is_left_open(seed):
    # A = 1e-9: the sliding contact presses with 1e9, and what it does to the other one cancels but for rounding
    rng = np.random.default_rng(seed)
    g, coupling = rng.uniform(0.3, 0.8), rng.uniform(0.1, 0.3)
    mu = float((1 - 1e-9) / g)
    G = np.array([[1.0, g, mu * coupling], [g, 1.0, coupling], [mu * coupling, coupling, 1.0]])
    c = np.array([-1.0, 0.0, float(rng.choice([-1, 1]) * rng.uniform(1, 9) * 1e-9)])
    elements = [
        ActiveElement("a", CONTACT, 0, (1,), (1.0,), mu, mu),
        ActiveElement("b", CONTACT, 2, (), None, 0.0, 0.0),
    ]
    exact_G, exact_mu = [[Fraction(float(entry)) for entry in row] for row in G], Fraction(mu)
    A = exact_G[0][0] - exact_mu * exact_G[0][1]
    follows = exact_G[2][0] - exact_mu * exact_G[2][1]
    force = -Fraction(float(c[0])) / A  # of a, where b is free
    opens = follows * force + Fraction(float(c[2])) >= 0
    found = select_problem(problem_from(G, c, elements))
    if found.verdict.name != "UNDECIDED":
        # the two modes of b meet: either is listed, and with both the verdict that there is one solution is right
        branch = found.branches[0]
        listed = {mode["b"].value for mode in (branch.mode, *branch.equivalent_modes)}
        assert found.verdict.name == "UNIQUE"
        assert ("free" if opens else "closed") in listed


@pytest.mark.parametrize("mass", ["1/10000", "1/1000000", "1/100000000"])
def test_a_light_coordinate_that_is_held_does_not_make_one_acceleration_of_many(mass):
    # x is held by the rail, z = -y by the contact. With the forces n and n (slip -1) of the rail, p and Q of the
    # contact, 1 - 3 n + Q = 0, 7/2 + n + 2 Q = 2 p and 8 y'' = 1/2 - n: any Q within p/10 will do, and the mass of x is
    # in none of these
    ends = [side / 10 * (23 / 12) / (1 - side * 7 / 60) for side in (1, -1)]  # Q of p = 23/12 + 7/6 Q
    expected = [(1 / 2 - (1 + Q) / 3) / 8 for Q in ends]
    coordinates = ["x", "y", "z"]
    dynamics = EquationDynamics(
        mass_matrix=[[mass, "0", "0"], ["0", "5", "1"], ["0", "1", "5"]], forces=["1", "-3/2", "-2"]
    )
    rail = Constraint(name="rail", equation="-2*x-y-z", slip="-x_dot+z_dot-1", friction="1")
    contact = Contact(name="c", gap="y+z", slip="x_dot-y_dot-z_dot", friction="1/10")
    held = Mechanism(name="held", coordinates=coordinates, dynamics=dynamics, constraint=[rail], contact=[contact])
    found = select(derive(held), hybrid.State([0, 0, 0], [0, 0, 0]))
    assert found.verdict.name == "INDETERMINATE"
    assert sorted(branch.acceleration[1] for branch in found.branches) == pytest.approx(expected)


@pytest.mark.parametrize("force", [1e-6, 1e-8, 1e-9, 1e-11])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_clamp_holds_or_lets_go_however_small_the_pull(force, is_known):
    # the brake holds x by up to 1 with the contact, whose friction holds y; without it nothing does, and y'' = force
    clamp = derive(
        Mechanism(
            name="clamp",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="0"),
            forces={"y": str(force)},
            friction=[FrictionElement(name="brake", slip="x_dot", limit="1")],
            contact=[Contact(name="c", gap="x", tangent="y", friction="2")],
        )
    )
    state = hybrid.State([0, 0], [0, 0])
    found = select(clamp, state) if is_known else select_in_floats(clamp, state)
    if is_known or force > 1e-7:
        assert found.verdict.name == "INDETERMINATE"
        assert sorted(branch.acceleration[1] for branch in found.branches) == pytest.approx([0, force], abs=1e-15)
    assert found.verdict.name in ("INDETERMINATE", "UNDECIDED")


def feet(*gaps, force):
    names = [f"c{number}" for number in range(len(gaps))]
    dynamics = EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential=f"-({force})*y")
    contacts = [Contact(name=name, gap=gap) for name, gap in zip(names, gaps, strict=True)]
    return derive(Mechanism(name="feet", coordinates=["x", "y"], dynamics=dynamics, contact=contacts))


@pytest.mark.parametrize(
    ("gaps", "force", "verdict"),
    [
        (("y", "y"), "3", "UNIQUE"),  # both lift off
        (("y", "y"), "-3", "HYPERSTATIC"),
        (("y", "y"), "0", "UNIQUE"),  # no positive forces cancel
        (("y", "y", "y + x"), "3", "UNIQUE"),
        (("y", "-y"), "0", "HYPERSTATIC"),  # clamped
        (("y", "x", "x"), "-3", "UNIQUE"),  # two that touch without load
    ],
)
@pytest.mark.parametrize("solver", ["gauss", "enumeration"])
def test_forces_of_what_lifts_off_are_not_called_undetermined(gaps, force, verdict, solver):
    found = select(feet(*gaps, force=force), hybrid.State([0, 0], [0, 0]), solver=solver)
    assert found.verdict.name == verdict
