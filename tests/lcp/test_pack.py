"""Problems from the literature: their solution sets, and what Lemke's method does on each.

Sources: Murty, Linear Complementarity, Linear and Nonlinear Programming, 1988, chapters 2 and 6; Kostreva,
Mathematical Programming 16 (1979) 127; Cottle, Pang and Stone, The Linear Complementarity Problem, 1992;
Fathi, Mathematical Programming 17 (1979) 335.
"""

from fractions import Fraction as F

import attrs
import numpy as np
import pytest

from lcp import LCP, Lemke, Status, enumerate_solutions, exact


@attrs.frozen
class Case:
    name: str
    M: list
    q: list
    isolated: list
    status: Status
    n_pivots: int | None = None
    continua: int = 0
    covering: list | None = None


CASES = [
    Case(
        "Murty 2.8",
        [[1, -1, -1, -1], [-1, 1, -1, -1], [1, 1, 2, 0], [1, 1, 0, 2]],
        [3, 5, -9, -5],
        [[2, 1, 3, 1]],
        Status.SOLVED,
        5,
    ),
    Case("Murty 2.9", [[-1, 0, -3], [1, -2, -5], [-2, -1, -2]], [-3, -2, -1], [], Status.RAY),
    Case("Murty 2.11", [["-3/2", 2], [-4, 4]], [-5, 17], [[27, "91/4"]], Status.SOLVED),
    Case(
        "Murty 2.11 with d = (5, 16)",
        [["-3/2", 2], [-4, 4]],
        [-5, 17],
        [[27, "91/4"]],
        Status.RAY,
        covering=[5, 16],
    ),
    Case(
        "Kostreva 1",
        [[1, 2, 0], [0, 1, 2], [2, 0, 1]],
        [-1, -1, -1],
        [["1/3", "1/3", "1/3"]],
        Status.SOLVED,
        4,
    ),
    Case("Kostreva 2", [[1, -1, 3], [2, -1, 3], [-1, -2, 0]], [-1, -1, -1], [], Status.RAY),
    Case("CPS 1", [[1, 1], [1, 1]], [-1, -1], [], Status.SOLVED, continua=1),
    Case("CPS 2", [[0, 2, -1], [-1, 0, 1], [2, -2, 0]], [-3, 6, -1], [[6, "3/2", 0]], Status.SOLVED, 3),
    Case(
        "CPS 3",
        [[0, 0, 10, 30], [0, 0, 20, 15], [10, 30, 0, 0], [20, 15, 0, 0]],
        [-1, -1, -1, -1],
        [[0, "1/15", 0, "1/15"], ["1/30", "1/45", "1/30", "1/45"], ["1/10", 0, "1/10", 0]],
        Status.RAY,
        1,
    ),
    Case(
        "CPS 4",
        [[11, 0, 10, 1], [0, 11, 10, 1], [10, 10, 21, 1], [-1, -1, -1, 0]],
        [50, 50, 10, -6],
        [],
        Status.RAY,
    ),
    Case("CPS 5", [[1, -1], [-1, 1]], [1, -1], [], Status.SOLVED, continua=1),
    Case("Painleve, inconsistent", [[-1]], [-1], [], Status.RAY),
    Case("Painleve, indeterminate", [[-1]], [1], [[0], [1]], Status.SOLVED, 0),
    Case("zero diagonal", [[0, 1], [1, 0]], [-1, -1], [[1, 1]], Status.RAY, 1),
]


def fractions(case: Case) -> exact.RationalLCP:
    return exact.RationalLCP([[F(entry) for entry in row] for row in case.M], [F(entry) for entry in case.q])


def floats(case: Case) -> LCP:
    problem = fractions(case)
    return LCP([[float(entry) for entry in row] for row in problem.M], [float(entry) for entry in problem.q])


each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@each_case
def test_all_solutions_are_the_published_ones(case):
    found = enumerate_solutions(floats(case))
    expected = np.array([[float(F(entry)) for entry in z] for z in case.isolated]).reshape(-1, len(case.q))
    assert found.complete
    assert len(found.continua) == case.continua
    # 1e-13: a handful of operations on numbers below 100
    np.testing.assert_allclose(found.isolated, expected, rtol=0, atol=1e-13)


@each_case
def test_all_solutions_in_rational_arithmetic_are_the_published_ones(case):
    found = exact.enumerate_solutions(fractions(case))
    assert found.isolated == tuple(tuple(F(entry) for entry in z) for z in case.isolated)
    assert len(found.continua) == case.continua


@each_case
def test_no_solution_is_proved_exactly_where_none_is_published(case):
    certificate = exact.refute(fractions(case))
    assert (certificate is None) == bool(case.isolated or case.continua)
    assert certificate is None or exact.verify(fractions(case), certificate)


@each_case
def test_lemke_does_what_is_published(case):
    solution = Lemke(covering=case.covering).solve(floats(case))
    assert solution.status is case.status
    if case.n_pivots is not None:
        assert solution.n_pivots == case.n_pivots
    if case.status is Status.SOLVED:
        assert floats(case).residual(solution.z) <= 1e-14  # solutions below 30, q below 20


@each_case
def test_lemke_in_rational_arithmetic_takes_the_same_path(case):
    ours = exact.lemke(fractions(case), covering=case.covering)
    solution = Lemke(covering=case.covering).solve(floats(case))
    assert (ours.status, ours.n_pivots) == (solution.status, solution.n_pivots)
    np.testing.assert_allclose(solution.z, [float(entry) for entry in ours.z], rtol=0, atol=1e-13)


def test_cps_1_has_the_segment_between_the_unit_vectors():
    (segment,) = enumerate_solutions(LCP(np.ones((2, 2)), [-1, -1])).continua
    assert segment.dimension == 1
    assert sorted(segment.vertices.tolist()) == [[0, 1], [1, 0]]
    assert segment.rays.size == 0


def test_a_continuum_of_contacts_redundant_but_for_rounding_is_kept_beside_others():
    # z1 + z2 = 1 but for a rounding, and any z3: literally only the ray along z3 from z1 = 1 is left
    M = [[1, 1, 0], [1, 1 + 2.0**-52, 0], [0, 0, 0]]
    found = enumerate_solutions(LCP(M, [-1, -1, 0]))
    assert [continuum.dimension for continuum in found.continua] == [2]
    assert not found.complete


def test_cps_5_has_a_vertex_and_an_unbounded_edge():
    (edge,) = enumerate_solutions(LCP([[1, -1], [-1, 1]], [1, -1])).continua
    assert edge.vertices.tolist() == [[0, 1]]
    assert edge.rays.tolist() == [[1, 1]]


def test_minus_identity_has_two_to_the_n_solutions():
    found = enumerate_solutions(LCP(-np.eye(8), np.ones(8)))
    assert len(found.isolated) == 256
    assert set(found.isolated.ravel()) == {0, 1}
    assert found.complete


@pytest.mark.parametrize("k", [1, 2, 5])
def test_independent_indeterminate_contacts_multiply(k):
    found = enumerate_solutions(LCP(-np.diag(np.arange(1.0, k + 1)), np.ones(k)))
    assert len(found.isolated) == 2**k


def murty_lower(n):
    return np.eye(n) + 2 * np.tril(np.ones((n, n)), -1)


def staircase(n):
    return -(2.0 ** (n + 1) - 2.0 ** np.arange(1, n + 1))


EXPONENTIAL = {
    "Murty lower": lambda n: (murty_lower(n), -np.ones(n), np.eye(n)[0]),
    "Fathi": lambda n: (murty_lower(n) @ murty_lower(n).T, -np.ones(n), np.eye(n)[0]),
    "Murty upper": lambda n: (murty_lower(n).T, staircase(n), 2.0**n * np.eye(n)[n - 1]),
}


@pytest.mark.parametrize("family", EXPONENTIAL)
@pytest.mark.parametrize("n", [2, 5, 10])
def test_exponential_examples_take_two_to_the_n_pivots(family, n):
    M, q, z = EXPONENTIAL[family](n)
    solution = Lemke().solve(LCP(M, q))
    assert solution.status is Status.SOLVED
    assert solution.n_pivots == 2**n
    np.testing.assert_allclose(solution.z, z, rtol=1e-12, atol=1e-12)
    found = enumerate_solutions(LCP(M, q))
    assert found.complete
    assert len(found.isolated) == 1


@pytest.mark.parametrize("family", EXPONENTIAL)
def test_exponential_examples_take_as_many_pivots_in_rational_arithmetic(family):
    M, q, z = EXPONENTIAL[family](8)
    solution = exact.lemke(LCP(M, q))
    assert (solution.status, solution.n_pivots) == (Status.SOLVED, 256)
    assert solution.z == tuple(F(entry) for entry in z)


@pytest.mark.parametrize("n", [3, 6, 10])
def test_lower_matrix_with_the_other_vector_takes_two_pivots(n):
    solution = Lemke().solve(LCP(murty_lower(n), staircase(n)))
    assert solution.n_pivots == 2
    assert solution.z.tolist() == [2.0 ** (n + 1) - 2] + [0] * (n - 1)


def naive_lemke_bases(case: Case, limit: int = 50) -> list[frozenset[int]]:
    """Bases visited by the textbook tableau that breaks ties by the first row, in rational numbers."""
    problem, n = fractions(case), len(case.q)
    rows = [
        [F(i == j) for j in range(n)] + [-entry for entry in problem.M[i]] + [F(-1), problem.q[i]] for i in range(n)
    ]
    basis, column, row = list(range(n)), 2 * n, min(range(n), key=lambda i: problem.q[i])
    visited = []
    for _ in range(limit):
        left, basis[row] = basis[row], column
        pivot = rows[row][column]
        rows[row] = [entry / pivot for entry in rows[row]]
        for i in range(n):
            if i != row and rows[i][column]:
                f = rows[i][column]
                rows[i] = [a - f * b for a, b in zip(rows[i], rows[row], strict=True)]
        visited.append(frozenset(basis))
        if left == 2 * n:
            break
        column = left + n if left < n else left - n
        able = [i for i in range(n) if rows[i][column] > 0]
        if not able:
            break
        row = min(able, key=lambda i: rows[i][-1] / rows[i][column])
    return visited


@pytest.mark.parametrize("name", ["Kostreva 1", "Kostreva 2"])
def test_first_row_tie_breaking_cycles_where_ours_ends(name):
    (case,) = [case for case in CASES if case.name == name]
    visited = naive_lemke_bases(case)
    assert len(visited) == 50
    assert len(set(visited)) < 10
    assert Lemke().solve(floats(case)).status is case.status


def test_projected_gauss_seidel_cycles_on_kostreva_1():
    (case,) = [case for case in CASES if case.name == "Kostreva 1"]
    problem, z, seen = floats(case), np.zeros(3), []
    for _ in range(8):
        seen.append(tuple(z.tolist()))
        for i in range(3):
            z[i] = max(0.0, z[i] - (problem.M[i] @ z + problem.q[i]) / problem.M[i, i])
    assert set(seen[1:]) == {(1, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 0)}
    assert seen[1:5] == [*seen[5:], seen[4]]


def test_newton_min_cycles_on_kostreva_1_from_the_first_index():
    (case,) = [case for case in CASES if case.name == "Kostreva 1"]
    problem, active, seen = floats(case), (0,), []
    while active not in seen:
        seen.append(active)
        z = np.zeros(3)
        z[list(active)] = np.linalg.solve(problem.M[np.ix_(active, active)], -problem.q[list(active)])
        active = tuple(np.flatnonzero(z > problem.w(z)).tolist())
    assert seen == [(0,), (0, 1), (1, 2), (0, 2)]
    assert active == (0, 1)
