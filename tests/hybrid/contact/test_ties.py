"""States on the boundary of modes: decided by structure or exactly, never left open where nothing is in doubt."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product

import attrs
import numpy as np
import pytest

from hybrid import (
    Contact,
    EnergyDynamics,
    EquationDynamics,
    Mechanism,
    State,
    derive,
    region_map,
    select,
    simulate,
    verify_certificate,
)
from hybrid.analysis import Axis
from hybrid.contact.batches import CellTable, CellVerdict, decide_together
from hybrid.contact.modes import ActiveElement, ElementKind
from hybrid.contact.selection import select_problem
from hybrid.tolerances import Tolerances
from tests.random_problems import problem_from


def body_on_feet(places, *, height="0.4"):
    """A rigid body with collinear feet at given places beside its centre, which is above the floor by a height."""
    return derive(
        Mechanism(
            name="body_on_feet",
            coordinates=["x", "y", "phi"],
            parameters={"m": 1, "J": 0.5, "g": 9.81, "mu": 0.5, "F": 0},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2 + J*phi_dot**2/2", potential="m*g*y"),
            forces={"x": "F"},
            contact=[
                Contact(
                    name=f"foot{i}",
                    gap=f"y + ({place})*sin(phi) + {height}*(1 - cos(phi))",
                    tangent=f"x + ({place})*cos(phi) + {height}*sin(phi)",
                    friction="mu",
                )
                for i, place in enumerate(places)
            ],
        )
    )


@pytest.mark.parametrize("pull", [0.0, 3.0])
def test_four_collinear_feet_at_rest_share_the_load(pull):
    places = np.array([-1.0, -0.3, 0.4, 1.0])
    body = body_on_feet(places)
    found = select(body, State(np.zeros(3), np.zeros(3)), parameters={"F": pull})
    assert found.verdict.name == "HYPERSTATIC"
    np.testing.assert_allclose(found.branches[0].acceleration, 0.0, atol=1e-13)
    # equilibrium by hand: three equations for eight forces, each foot inside its cone; floor 0.4 below the centre
    assert found.force_set.dimension == 8 - 3
    assert found.force_set.rays.size == 0
    N, T = found.force_set.vertices[:, ::2], found.force_set.vertices[:, 1::2]
    np.testing.assert_allclose(N.sum(axis=1), 9.81, rtol=1e-9)
    np.testing.assert_allclose(T.sum(axis=1), -pull, atol=1e-8)
    np.testing.assert_allclose(N @ places + 0.4 * T.sum(axis=1), 0.0, atol=1e-8)
    assert (0.5 * N - np.abs(T)).min() > -1e-8


def clamped_block(mu_floor="3/10", mu_ceiling="1/5"):
    """A block of 1 kg between a floor and a ceiling that it touches both, pulled along them by F."""
    return derive(
        Mechanism(
            name="clamped_block",
            coordinates=["x", "y"],
            parameters={"F": 0},
            dynamics=EquationDynamics(mass_matrix=[[1, 0], [0, 1]], forces=["F", "-9.81"]),
            contact=[
                Contact(name="floor", gap="y", tangent="x", friction=mu_floor),
                Contact(name="ceiling", gap="-y", tangent="x", friction=mu_ceiling),
            ],
        )
    )


def test_a_block_that_slides_while_clamped_has_a_continuum_of_accelerations():
    # floor - ceiling = weight, any ceiling force P >= 0: a = -0.3 (9.81 + P) - 0.2 P, at most -0.3*9.81
    found = select(clamped_block(), State([0, 0], [1, 0]))
    assert found.verdict.name == "INDETERMINATE"
    (corner,) = found.branches
    assert corner.mode.label == "floor=slide+,ceiling=slide+"
    # a force and a weight of 9.81 cancel, each rounded to 2e-15
    np.testing.assert_allclose(corner.acceleration, [-0.3 * 9.81, 0.0], rtol=1e-13, atol=1e-14)
    assert min(slack.value for slack in corner.slacks) >= -1e-14
    (forces,) = found.continua
    np.testing.assert_allclose(forces.rays, [[1.0, -0.3, 1.0, -0.2]], atol=1e-13)
    assert "continuum" in found.notes[0]
    assert "without bound along lambda_N.floor +1, lambda_T.floor -0.3" in found.notes[0]


def test_a_bounded_continuum_is_told_by_its_two_ends():
    # at rest, pulled by 7 N: a = 7 - 0.3 (9.81 + P) - 0.2 P >= 0 down to the P that holds the block, which may stick
    found = select(clamped_block(), State([0, 0], [0, 0]), parameters={"F": 7.0})
    assert found.verdict.name == "INDETERMINATE"
    accelerations = sorted(branch.acceleration[0] for branch in found.branches)
    np.testing.assert_allclose(accelerations, [0.0, 7 - 0.3 * 9.81], atol=1e-13)
    (forces,) = found.continua
    squeeze = (7 - 0.3 * 9.81) / 0.5
    ends = [[9.81, -0.3 * 9.81, 0.0, 0.0], [9.81 + squeeze, -0.3 * (9.81 + squeeze), squeeze, -0.2 * squeeze]]
    np.testing.assert_allclose(forces.vertices[np.argsort(forces.vertices[:, 2])], ends, rtol=1e-12, atol=1e-12)
    assert not forces.rays.size


def jamming_wedge():
    """A point in a wedge of two walls, pulled out by 1 N; both normals rise above the horizontal by arctan(3/4)."""
    return derive(
        Mechanism(
            name="wedge",
            coordinates=["x", "y"],
            parameters={"mu": 1},
            dynamics=EquationDynamics(mass_matrix=[[1, 0], [0, 1]], forces=["0", "1"]),
            contact=[
                Contact(name="left", gap="4/5*x + 3/5*y", tangent="-3/5*x + 4/5*y", friction="mu"),
                Contact(name="right", gap="-4/5*x + 3/5*y", tangent="3/5*x + 4/5*y", friction="mu"),
            ],
        )
    )


@pytest.mark.parametrize("excess", [1e-2, 1e-4, 1e-6])
def test_a_set_of_forces_that_is_about_to_vanish_shows_in_the_margin(excess):
    """The walls can press on each other through the point where both cones hold the horizontal, mu > 3/4."""
    wedge, rest = jamming_wedge(), State([0, 0], [0, 0])
    assert select(wedge, rest, parameters={"mu": 0.75 - excess}).verdict.name == "UNIQUE"  # it leaves
    found = select(wedge, rest, parameters={"mu": 0.75 + excess})
    assert (found.verdict.name, len(found.branches)) == ("INDETERMINATE", 2)
    assert found.margin == min(branch.margin for branch in found.branches)
    # At the corner T = -mu N at both walls. Horizontal forces f from each wall raise T + mu N by f (4/5 mu - 3/5); the
    # middle is the corner and both edges, opposite forces of size near 1 (1/2 to 2, as the axes of the set lie).
    assert 0.8 * excess * 0.5 < found.margin < 0.8 * excess * 2 * 2


def test_cells_count_the_set_of_forces_as_a_single_state_does():
    """A block of 1 N on two feet, pulled at the floor: each foot bears 1/2, in the middle of the set also F/2 along."""
    block = derive(
        Mechanism(
            name="block",
            coordinates=["x", "y", "phi"],
            parameters={"F": 0, "mu": 0.5},
            dynamics=EquationDynamics(mass_matrix=np.eye(3, dtype=int).tolist(), forces=["F", "-1", "0"]),
            contact=[
                Contact(name="left", gap="y - phi", tangent="x", friction="mu"),
                Contact(name="right", gap="y + phi", tangent="x", friction="mu"),
            ],
        )
    )
    rest = dict.fromkeys(["x", "y", "phi", "x_dot", "y_dot", "phi_dot"], 0)
    cells = region_map(block, axes=[Axis("F", 0.0, 0.5, 6), Axis("mu", 0.55, 0.95, 3)], pins=rest)
    assert cells.verdict_fractions == {"HYPERSTATIC": 1.0}
    F, mu = cells.axes[0].values[:, None], cells.axes[1].values[None, :]
    # The data have the size 1/sqrt(2): the free acceleration 1 along gaps of length sqrt(2). A foot holds by
    # mu/2 - F/2; that both slip against the pull is refuted by F.
    np.testing.assert_allclose(cells.margin, np.minimum((mu - F) / 2, F) * 2**0.5, rtol=1e-12)
    for i, j in np.ndindex(cells.margin.shape):
        own = {"F": float(F[i, 0]), "mu": float(mu[0, j])}
        single = select(block, State([0, 0, 0], [0, 0, 0]), parameters=own)
        assert single.margin == pytest.approx(cells.margin[i, j], rel=1e-12)


def test_maps_and_motions_stop_at_a_continuum_of_accelerations():
    found = region_map(
        clamped_block(), axes=[Axis("F", 0, 8, 2), Axis("x_dot", -1, 1, 2)], pins={"x": 0, "gap.floor": 0, "y_dot": 0}
    )
    assert found.verdict_fractions == {"INDETERMINATE": 1.0}
    motion = simulate(clamped_block(), State([0, 0], [1, 0]), t_end=1.0)
    assert motion.termination.name == "INDETERMINATE"
    assert motion.t == 0.0


def test_a_block_without_friction_between_floor_and_ceiling_shares_no_doubt():
    # the clamping forces are as undetermined, and they brake nothing
    found = select(clamped_block("0", "0"), State([0, 0], [1, 0]), parameters={"F": 2.0})
    assert found.verdict.name == "HYPERSTATIC"
    np.testing.assert_allclose(found.branches[0].acceleration, [2.0, 0.0], atol=1e-13)


def test_forces_undetermined_at_one_friction_alone_stay_a_tie():
    # one contact with A = G_NN - mu G_NT = 0 and b = 0 (Genot and Brogliato 1999): beside it none, one or two modes
    element = ActiveElement("tip", ElementKind.CONTACT, 0, (1,), (1.0,), 2.0, 2.0)
    problem = problem_from(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0.0, 1.0]), [element])
    assert select_problem(problem).verdict.name == "UNDECIDED"


def _solved(rows, right):
    """Solution of a square system of fractions by elimination, or None."""
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    n = len(table)
    for k in range(n):
        pivot = next((i for i in range(k, n) if table[i][k]), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [value / table[k][k] for value in table[k]]
        for i in range(n):
            if i != k:
                table[i] = [a - table[i][k] * b for a, b in zip(table[i], table[k], strict=True)]
    return [row[-1] for row in table]


def _consistent_modes(G, c, contacts):
    """Modes of planar contacts (slip sign or 0, kinetic, static) that hold exactly; forces N, T of each in turn."""
    G = [[Fraction(float(value)) for value in row] for row in G]
    c = [Fraction(float(value)) for value in c]
    r, found = len(c), []
    choices = [("free", "slide") if sign else ("free", "stick", "+", "-") for sign, _, _ in contacts]
    for modes in product(*choices):
        rows, right = [], []

        def unit(index):
            return [Fraction(int(k == index)) for k in range(r)]

        for i, (mode, (sign, kinetic, _)) in enumerate(zip(modes, contacts, strict=True)):
            N, T = 2 * i, 2 * i + 1
            if mode == "free":
                rows += [unit(N), unit(T)]
                right += [Fraction(0)] * 2
                continue
            rows.append(G[N])
            right.append(-c[N])
            if mode == "stick":
                rows.append(G[T])
                right.append(-c[T])
            else:
                side = {"slide": sign, "+": 1, "-": -1}[mode]
                rows.append([t + side * Fraction(kinetic) * n for n, t in zip(unit(N), unit(T), strict=True)])
                right.append(Fraction(0))
        forces = _solved(rows, right)
        assert forces is not None  # generic data
        a = [sum((g * f for g, f in zip(row, forces, strict=True)), start) for row, start in zip(G, c, strict=True)]
        holds = True
        for i, (mode, (_, _, static)) in enumerate(zip(modes, contacts, strict=True)):
            N, T = 2 * i, 2 * i + 1
            holds &= a[N] >= 0 if mode == "free" else forces[N] >= 0
            holds &= mode != "stick" or abs(forces[T]) <= Fraction(static) * forces[N]
            holds &= mode != "+" or a[T] >= 0
            holds &= mode != "-" or a[T] <= 0
        if holds:
            found.append(modes)
    return found


def _problems_with_static_friction(n):
    """Random problems of a contact that slips beside one at rest, whose static friction is twice the kinetic one."""
    rng = np.random.default_rng(20170112)
    for _ in range(n):
        W = rng.integers(-8, 9, size=(4, 3)) / 4.0
        G, c = W @ W.T + np.eye(4) / 64, rng.integers(-64, 65, size=4) / 8.0
        mu = float(rng.integers(1, 9))
        contacts = [(-1, mu, mu), (0, mu, 2 * mu)]
        elements = [
            ActiveElement("a", ElementKind.CONTACT, 0, (1,), (-1.0,), mu, mu),
            ActiveElement("b", ElementKind.CONTACT, 2, (3,), None, mu, 2 * mu),
        ]
        yield problem_from(G, c, elements), _consistent_modes(G, c, contacts)


def test_inconsistency_with_static_friction_is_proved_mode_by_mode():
    verdicts = {"INCONSISTENT": 0, "UNIQUE": 0, "INDETERMINATE": 0}
    for problem, modes in _problems_with_static_friction(120):
        found = select_problem(problem)
        expected = {0: "INCONSISTENT", 1: "UNIQUE"}.get(len(modes), "INDETERMINATE")
        assert found.verdict.name == expected
        verdicts[expected] += 1
        if found.certificate is None:
            continue
        assert expected == "INCONSISTENT"
        assert verify_certificate(found.certificate)
        assert len(found.certificate.refutations) == 2 * 4
        single = {name: getattr(problem, name)[None] for name in ("G", "c", "rounding", "response_W")}
        batch = attrs.evolve(problem, **single)
        table = CellTable.of((1,))
        decide_together(batch, np.ones(1, bool), Tolerances(), table)
        assert table.verdict.tolist() == [CellVerdict.INCONSISTENT]
    assert min(verdicts.values()) >= 3


def test_a_doctored_refutation_of_modes_is_rejected():
    inconsistent = (problem for problem, modes in _problems_with_static_friction(120) if not modes)
    first, second = (select_problem(problem).certificate for problem in islice(inconsistent, 2))
    doctored = [
        attrs.evolve(first, refutations=()),
        attrs.evolve(first, violations=()),
        attrs.evolve(first, violations=(), refutations=()),
        attrs.evolve(first, refutations=first.refutations[::-1]),
        attrs.evolve(first, refutations=(first.refutations[0],) * 8),
        attrs.evolve(first, violations=first.violations[::-1]),
        attrs.evolve(first, refutations=second.refutations),
        attrs.evolve(first, problem=second.problem),
    ]
    item = first.refutations[3]
    for change in (
        {"constant": -item.constant},
        {"constant": item.constant / 2},
        {"inequalities": tuple(-value for value in item.inequalities)},
        {"inequalities": item.inequalities[1:]},
        {"equations": tuple(value + 1 for value in item.equations)},
        {"mode": first.refutations[0].mode},
    ):
        changed = (*first.refutations[:3], attrs.evolve(item, **change), *first.refutations[4:])
        doctored.append(attrs.evolve(first, refutations=changed))
    assert verify_certificate(first)
    assert verify_certificate(second)
    assert [verify_certificate(certificate) for certificate in doctored] == [False] * len(doctored)
