"""Classes of matrices: textbook members, witnesses that really witness, and what follows for the problems."""

import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lcp import LCP, LCPError, Lemke, Status, enumerate_solutions, solve
from lcp.block_pivoting import BlockPrincipalPivoting
from lcp.classes import (
    is_copositive,
    is_copositive_plus,
    is_nondegenerate,
    is_p_matrix,
    is_strictly_semimonotone,
)
from tests.lcp.families import FAMILIES
from tests.lcp.test_pack import EXPONENTIAL, murty_lower, staircase

HORN = [[1, -1, 1, 1, -1], [-1, 1, -1, 1, 1], [1, -1, 1, -1, 1], [1, 1, -1, 1, -1], [-1, 1, 1, -1, 1]]


def determinant(M, subset):
    return float(np.linalg.det(np.array(M, dtype=float)[np.ix_(subset, subset)]))


small_matrices = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=n, max_size=n)
)


@given(small_matrices)
def test_minors_decide_as_all_determinants_do(M):
    n = len(M)
    # integer determinants below 6 * 4**3 are recovered exactly by rounding
    minors = [
        round(determinant(M, subset)) for size in range(1, n + 1) for subset in itertools.combinations(range(n), size)
    ]
    p, nondegenerate = is_p_matrix(M), is_nondegenerate(M)
    assert bool(p) == all(minor > 0 for minor in minors)
    assert bool(nondegenerate) == all(minors)
    if not p:
        assert round(determinant(M, p.minor)) <= 0
    if not nondegenerate:
        assert round(determinant(M, nondegenerate.minor)) == 0


@given(small_matrices)
def test_copositive_and_semimonotone_witnesses_violate_their_class(M):
    A = np.array(M, dtype=object)
    x = is_copositive(M).vector
    if x is not None:
        assert min(x) >= 0
        assert np.array(x) @ A @ np.array(x) < 0
    x = is_copositive_plus(M).vector
    if x is not None and is_copositive(M):
        assert min(x) >= 0
        assert np.array(x) @ A @ np.array(x) == 0
        assert any((A + A.T) @ np.array(x))
    x = is_strictly_semimonotone(M).vector
    if x is not None:
        assert any(x)
        assert all(a <= 0 or b <= 0 for a, b in zip(x, A @ np.array(x), strict=True))


@given(small_matrices)
def test_members_have_no_violation_on_a_grid(M):
    n, A = len(M), np.array(M)
    grid = np.array(list(itertools.product(range(4), repeat=n)))[1:]
    forms = np.einsum("ki,ij,kj->k", grid, A, grid)
    if is_copositive(M):
        assert (forms >= 0).all()
    if is_copositive_plus(M):
        assert not ((forms == 0) & (grid @ (A + A.T)).any(axis=1)).any()
    if is_strictly_semimonotone(M):
        assert ((grid > 0) & (grid @ A.T > 0)).any(axis=1).all()


def test_horn_matrix_is_copositive_but_not_positive_semidefinite():
    # A. Horn, in Hall and Newman, Proceedings of the Cambridge Philosophical Society 59 (1963) 329
    assert is_copositive(HORN)
    assert np.linalg.eigvalsh(np.array(HORN, dtype=float)).min() < -0.1
    assert not is_copositive(np.array(HORN) - 0.01 * np.eye(5))


def test_the_sliding_painleve_case_is_no_p_matrix():
    assert is_p_matrix([[-1]]).minor == (0,)


def test_p_matrix_verdict_is_exact_for_rational_input():
    third = F(1, 3)
    singular = [[third, third], [third, third]]
    assert is_p_matrix(singular).minor == (0, 1)
    barely = [[third, third], [third, third + F(1, 10**30)]]
    assert is_p_matrix(barely)


@pytest.mark.parametrize("kind", [np.array, lambda M: list(np.array(M)), lambda M: M])
def test_integers_of_any_size_are_exact(kind):
    big = 2**60 + 1  # no float
    assert is_p_matrix(kind([[big, big], [big, big + 1]]))  # determinant big
    assert is_p_matrix(kind([[2**40, 1], [1, 2**40]]))  # determinant beyond 2**63
    assert is_copositive_plus(kind([[big, -big], [-big, big]]))
    assert not is_copositive(kind([[big, -big], [-big, big - 1]]))  # -1 at (1, 1)


@pytest.mark.parametrize("M", [5, None, [1, 2], np.float64(3), [[1, 2], [3]], [["a"]], [[1j]], np.zeros((2, 2, 2))])
@pytest.mark.parametrize("test", [is_p_matrix, is_nondegenerate, is_copositive_plus, is_strictly_semimonotone])
def test_what_is_no_square_matrix_of_numbers_is_refused(test, M):
    with pytest.raises(LCPError):
        test(M)


def test_a_matrix_that_is_not_square_is_told_by_its_rows():
    with pytest.raises(LCPError, match="its rows are 1, and one has 2 entries"):
        is_p_matrix([[1, 2]])


def test_members_are_members_of_the_larger_classes():
    rng = np.random.default_rng(1)
    for _ in range(20):
        M = FAMILIES["P, not PSD"](rng, 4).M
        assert is_p_matrix(M)
        assert is_nondegenerate(M)
        assert is_strictly_semimonotone(M)
        psd = FAMILIES["PSD"](rng, 4).M
        assert is_copositive_plus(psd)


def test_too_large_matrix_is_refused_with_its_count():
    with pytest.raises(LCPError, match="1048575 principal minors"):
        is_p_matrix(np.eye(20))


@pytest.mark.parametrize("family", ["P", "P, not PSD"])
@pytest.mark.parametrize("n", [1, 5, 20, 100])
def test_block_pivoting_finds_the_unique_solution(family, n):
    rng = np.random.default_rng(n)
    for _ in range(5):
        problem = FAMILIES[family](rng, n)
        ours, lemke = BlockPrincipalPivoting().solve(problem), Lemke().solve(problem)
        assert ours.status is Status.SOLVED
        # 1e-6: the matrices have condition numbers up to 1e8
        np.testing.assert_allclose(ours.z, lemke.z, rtol=1e-6, atol=1e-6 * max(1.0, lemke.z.max()))


@pytest.mark.parametrize("family", ["copositive", "gaussian", "degenerate"])
def test_block_pivoting_never_claims_a_false_success(family):
    rng = np.random.default_rng(2)
    for _ in range(100):
        problem = FAMILIES[family](rng, int(rng.integers(1, 8)))
        solution = BlockPrincipalPivoting().solve(problem)
        if solution.status is Status.SOLVED:
            assert problem.residual(solution.z) <= 1e-8
            assert not enumerate_solutions(problem).is_empty


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [3, 25])
def test_the_front_door_solves_what_lemke_solves(family, n):
    rng = np.random.default_rng(n)
    for _ in range(10):
        problem = FAMILIES[family](rng, n)
        ours, lemke = solve(problem), Lemke().solve(problem)
        assert ours.status is lemke.status
        if ours.status is Status.SOLVED:
            assert problem.residual(ours.z) <= 1e-8


def test_the_front_door_takes_blocks_for_large_definite_matrices_only():
    A = np.random.default_rng(5).normal(size=(60, 60))
    q = -np.ones(60)
    definite = LCP(A @ A.T + np.eye(60), q)
    assert solve(definite).n_pivots < 20 < Lemke().solve(definite).n_pivots
    gaussian = LCP(A, q)
    assert solve(gaussian).n_pivots == Lemke().solve(gaussian).n_pivots


@pytest.mark.parametrize("n", [3, 6, 10])
def test_least_index_rule_needs_two_to_the_n_minus_one_pivots_on_murty_upper(n):
    M, q, z = EXPONENTIAL["Murty upper"](n)
    solution = BlockPrincipalPivoting(blocks=False).solve(LCP(M, q))
    np.testing.assert_allclose(solution.z, z, rtol=1e-12, atol=1e-9)
    assert solution.n_pivots == 2**n - 1


def test_block_pivoting_on_murty_lower_takes_few_systems():
    solution = BlockPrincipalPivoting().solve(LCP(murty_lower(10), staircase(10)))
    assert solution.z.tolist() == [2.0**11 - 2] + [0] * 9
