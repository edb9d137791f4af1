"""No wrong answer, no false success, no false none: against rational arithmetic and brute force."""

import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.optimize import linprog

from lcp import LCP, Lemke, Status, enumerate_solutions, exact
from tests.lcp.families import FAMILIES, contacts

SOLVED_BY_LEMKE = {"P", "P, not PSD"}  # Cottle, Pang and Stone 1992, theorem 4.4.9
RAY_PROVES_NONE = {"P", "P, not PSD", "PSD"}  # copositive-plus: theorem 4.4.13

# The natural residual of a solution with entries of size s has rounding of about 1e-16 n s max|M|; the worst
# entries here are near 1e4.
RESIDUAL = 1e-8


def check_against_rational_arithmetic(problem: LCP, family: str) -> None:
    found, truth = enumerate_solutions(problem), exact.enumerate_solutions(problem)
    assert found.complete
    assert len(found.isolated) == len(truth.isolated)
    assert len(found.continua) == len(truth.continua)
    wanted = [np.array([float(entry) for entry in z]) for z in truth.isolated]
    for ours in found.isolated:
        assert problem.residual(ours) <= RESIDUAL
        nearest = min(range(len(wanted)), key=lambda k: float(np.abs(wanted[k] - ours).max()))
        z = wanted.pop(nearest)
        np.testing.assert_allclose(ours, z, rtol=1e-6, atol=1e-6 * max(1.0, z.max()))
    for continuum in found.continua:
        middle = continuum.vertices.mean(axis=0)
        for z in (*continuum.vertices, middle, *(middle + ray for ray in continuum.rays)):
            assert problem.residual(z) <= RESIDUAL
    certificate = exact.refute(problem)
    assert (certificate is None) == bool(truth.isolated or truth.continua)
    assert certificate is None or exact.verify(problem, certificate)
    solution = Lemke().solve(problem)
    check_lemke(problem, solution, family, is_solvable=certificate is None)


def check_lemke(problem, solution, family, *, is_solvable):
    assert solution.status in (Status.SOLVED, Status.RAY)
    if solution.status is Status.SOLVED:
        assert is_solvable
        assert problem.residual(solution.z) <= RESIDUAL
        assert (solution.z >= 0).all()
    elif family in RAY_PROVES_NONE:
        assert not is_solvable
    if family in SOLVED_BY_LEMKE:
        assert solution.status is Status.SOLVED


def run_gate(family: str, *, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        problem = FAMILIES[family](rng, int(rng.integers(1, 13)))
        check_against_rational_arithmetic(problem, family)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_answer_agrees_with_rational_arithmetic(family):
    run_gate(family, count=200, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_every_answer_agrees_with_rational_arithmetic_on_thousands(family):
    run_gate(family, count=2000, seed=2)


def brute_force_points(problem: LCP) -> set[tuple[F, ...]]:
    """Solutions at nonsingular complementary bases, by Gaussian elimination of each of the 2**n."""
    n = problem.n
    M = [[F(entry) for entry in row] for row in problem.M.tolist()]
    q = [F(entry) for entry in problem.q.tolist()]
    points = set()
    for size in range(n + 1):
        for basis in itertools.combinations(range(n), size):
            inner = gauss([[M[i][j] for j in basis] for i in basis], [-q[i] for i in basis])
            if inner is None:
                continue
            z = [F(0)] * n
            for i, value in zip(basis, inner, strict=True):
                z[i] = value
            w = [sum((a * b for a, b in zip(row, z, strict=True)), c) for row, c in zip(M, q, strict=True)]
            if min(z) >= 0 and min(w) >= 0:
                points.add(tuple(z))
    return points


def gauss(A: list[list[F]], b: list[F]) -> list[F] | None:
    rows = [[*row, c] for row, c in zip(A, b, strict=True)]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


@pytest.mark.parametrize("family", FAMILIES)
def test_solution_set_holds_every_basic_solution_of_a_brute_force_search(family):
    rng = np.random.default_rng(3)
    for _ in range(25):
        problem = FAMILIES[family](rng, int(rng.integers(1, 5)))
        points, truth = brute_force_points(problem), exact.enumerate_solutions(problem)
        vertices = {z for piece in truth.continua for z in piece.vertices}
        assert set(truth.isolated) <= points  # an isolated solution has a nonsingular basis among its own
        assert points <= set(truth.isolated) | vertices


@pytest.mark.parametrize("family", ["PSD", "copositive", "degenerate", "friction"])
def test_every_complementary_face_with_a_point_is_covered(family):
    """Linear programs (HiGHS) decide for each basis, singular ones included, whether it holds a solution."""
    rng = np.random.default_rng(4)
    for _ in range(12):
        problem = FAMILIES[family](rng, int(rng.integers(1, 5)))
        has_point = any(
            linprog(
                np.zeros(problem.n),
                A_ub=-problem.M,
                b_ub=problem.q,
                A_eq=problem.M[list(basis)] if basis else None,
                b_eq=-problem.q[list(basis)] if basis else None,
                bounds=[(0, None if i in basis else 0) for i in range(problem.n)],
            ).status
            == 0
            for size in range(problem.n + 1)
            for basis in itertools.combinations(range(problem.n), size)
        )
        assert has_point != enumerate_solutions(problem).is_empty


def mode_count(problem: LCP) -> int:
    """Physical solutions of one resting planar contact, mode by mode; unknowns (lambda_N, lambda_R, a_L)."""
    M, q = problem.M, problem.q
    mu = M[2, 0] / 2
    G_NT, G_TT = M[0, 1], M[1, 1]
    G_NN, G_TN = M[0, 0] + mu * G_NT, M[1, 0] + mu * G_TT
    found = set()
    if q[0] >= 0:
        found.add((0.0, 0.0))
    for s in (1, -1):
        A = G_NN - s * mu * G_NT
        force = -q[0] / A if A else -1.0
        if force > 0 and s * ((G_TN - s * mu * G_TT) * force + q[1]) > 0:
            found.add((force, -s * mu * force))
    G = np.array([[G_NN, G_NT], [G_TN, G_TT]])
    if np.linalg.det(G) > 1e-9:
        normal, tangential = np.linalg.solve(G, -q[:2])
        if normal > 0 and abs(tangential) <= mu * normal:
            found.add((float(normal), float(tangential)))
    return len(found)


def sliding_count(problem: LCP) -> int:
    """Forces lambda >= 0 with b + A lambda >= 0 and lambda (b + A lambda) = 0 of a sliding contact."""
    A, b = problem.M.item(), problem.q.item()
    return int(b >= 0) + int(A != 0 and -b / A > 0)


def test_three_hundred_one_contact_friction_problems_have_the_right_counts():
    rng, counts = np.random.default_rng(5), {0: 0, 1: 0, 2: 0, 3: 0}
    wanted = {0: 75, 1: 125, 2: 75, 3: 25}
    while sum(counts.values()) < 300:
        resting = int(rng.integers(0, 2))
        mu = float(rng.integers(4, 33)) / 8
        problem = contacts(rng, resting=resting, slipping=1 - resting, dof=3, mu=mu)
        count = mode_count(problem) if resting else sliding_count(problem)
        if counts[count] == wanted[count]:
            continue
        counts[count] += 1
        found = enumerate_solutions(problem)
        assert found.complete
        points = [*found.isolated, *(vertex for piece in found.continua for vertex in piece.vertices)]
        # the acceleration to the left is free up to a continuum where the contact separates: compare forces
        forces = {tuple(np.round(z[:2] - (mu * z[0] * np.eye(2)[1] if resting else 0), 9)) for z in points}
        assert len(forces) == count


@pytest.mark.parametrize("family", ["P", "P, not PSD", "PSD", "copositive", "gaussian", "degenerate"])
def test_lemke_up_to_a_hundred_unknowns_never_claims_a_false_success(family):
    run_large_gate(family, count=40, seed=6)


@pytest.mark.long
@pytest.mark.parametrize("family", ["P", "P, not PSD", "PSD", "copositive", "gaussian", "degenerate"])
def test_lemke_up_to_a_hundred_unknowns_never_claims_a_false_success_on_thousands(family):
    run_large_gate(family, count=2000, seed=7)


def run_large_gate(family, *, count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        problem = FAMILIES[family](rng, int(rng.choice([13, 20, 50, 100])))
        solution = Lemke().solve(problem)
        if solution.status is Status.SOLVED:
            assert problem.residual(solution.z) <= RESIDUAL
            assert (solution.z >= 0).all()
        assert solution.status in (Status.SOLVED, Status.RAY)
        if family in SOLVED_BY_LEMKE:
            assert solution.status is Status.SOLVED
        if family in RAY_PROVES_NONE and solution.status is Status.RAY:
            assert not is_feasible(problem)


def is_feasible(problem):
    """Whether M z + q >= 0, z >= 0 has a point, by HiGHS."""
    return linprog(np.zeros(problem.n), A_ub=-problem.M, b_ub=problem.q).status == 0
