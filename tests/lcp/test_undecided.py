"""The compiled calls near degeneracy: what they do not mark as undecided is what rational arithmetic finds."""

import numpy as np
import pytest

from lcp import LCP, LCPError, exact
from lcp.kernels import UNDECIDED, enumerate_batch, solve_batch
from tests.lcp.families import FAMILIES, nearly_degenerate
from tests.lcp.rational_bases import solving_bases

ALL = pytest.mark.parametrize("family", FAMILIES)


def assert_unmarked_enumerations_are_right(family, count, largest, seed):
    """At least a quarter of them must be decided, or the test would show nothing."""
    rng, decided = np.random.default_rng(seed), 0
    for _ in range(count):
        problem = nearly_degenerate(rng, int(rng.integers(1, largest + 1)), family)
        batch = enumerate_batch([problem.M], [problem.q])
        if batch.is_undecided[0]:
            continue
        decided += 1
        truth = exact.enumerate_solutions(problem)
        assert not truth.continua, problem
        assert len(batch.z) == len(truth.isolated), problem
        # each basis of a solution once: supports differ where solutions do, or else all between would be solutions
        assert {tuple(z > 0) for z in batch.z} == {tuple(x > 0 for x in z) for z in truth.isolated}, problem
    assert decided >= count // 4


@ALL
def test_unmarked_enumerations_of_nearly_degenerate_problems_are_right(family):
    assert_unmarked_enumerations_are_right(family, 300, 5, seed=1)
    assert_unmarked_enumerations_are_right(family, 20, 9, seed=2)


@pytest.mark.long
@ALL
def test_many_unmarked_enumerations_of_nearly_degenerate_problems_are_right(family):
    assert_unmarked_enumerations_are_right(family, 10_000, 5, seed=3)
    assert_unmarked_enumerations_are_right(family, 1_000, 10, seed=4)


def assert_unmarked_bases_are_right(family, count, seed):
    """Both layouts of memory; at least half of the problems must be decided."""
    rng, decided = np.random.default_rng(seed), 0
    problems = [nearly_degenerate(rng, int(rng.integers(1, 5)), family) for _ in range(count)]
    for n in sorted({problem.n for problem in problems}):
        same = [problem for problem in problems if problem.n == n]
        M, q = np.array([problem.M for problem in same]), np.array([problem.q for problem in same])
        batch = solve_batch(M, q)
        last = np.moveaxis(M, 0, 2), q.T
        np.testing.assert_array_equal(solve_batch(*last, problems_last=True).count, batch.count)
        for k in np.flatnonzero(batch.count != UNDECIDED):
            decided += 1
            expected = solving_bases(M[k], q[k])
            assert batch.count[k] == len(expected), same[k]
            assert {b for b in range(2**n) if batch.bases[k] >> b & 1} == expected, same[k]
            assert expected or not batch.z[k].any(), same[k]
    assert decided >= count // 2


@ALL
def test_unmarked_bases_of_nearly_degenerate_problems_are_right(family):
    assert_unmarked_bases_are_right(family, 400, seed=1)


@pytest.mark.long
@ALL
def test_many_unmarked_bases_of_nearly_degenerate_problems_are_right(family):
    assert_unmarked_bases_are_right(family, 20_000, seed=2)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_well_conditioned_bases_are_hardly_ever_undecided(n):
    rng = np.random.default_rng(n)
    counts = solve_batch(rng.normal(size=(200_000, n, n)), rng.normal(size=(200_000, n))).count
    assert (counts == UNDECIDED).mean() < 1e-5


def test_zeros_of_a_friction_law_leave_nothing_undecided():
    # r_N, r_T + mu r_N and the backward part of the slip; minors that vanish are sums of zeros
    rng = np.random.default_rng(5)
    N = 2000
    M, q = np.zeros((N, 3, 3)), np.zeros((N, 3))
    M[:, :2, :2], q[:, :2] = rng.normal(size=(N, 2, 2)), rng.normal(size=(N, 2))
    M[:, 1, 2], M[:, 2, 0], M[:, 2, 1] = 1.0, rng.random(N), -1.0
    batch = solve_batch(M, q)
    assert (batch.count != UNDECIDED).all()
    for k in range(0, N, 20):
        assert {b for b in range(8) if batch.bases[k] >> b & 1} == solving_bases(M[k], q[k])


@pytest.mark.parametrize("n", [2, 3, 4])
def test_undecided_problem_has_no_answer_in_a_batch(n):
    M, q = np.eye(n), -np.ones(n)
    M[:2, :2] = [[0.1 * 3, 0.3], [0.1 * 3, 0.3]]  # 0.1 * 3 is a unit in the last place more than 0.3
    batch = solve_batch([M], [q])
    assert batch.count.tolist() == [UNDECIDED]
    assert not batch.z.any()
    assert not batch.bases.any()


@pytest.mark.parametrize(("n", "count"), [(3, 4000), (4, 4000), (6, 2000), (8, 2000), (10, 1000), (12, 500)])
@pytest.mark.parametrize("definite", [False, True])
def test_well_conditioned_problems_are_hardly_ever_undecided(definite, n, count):
    rng = np.random.default_rng(n)
    A, q = rng.normal(size=(count, n, n)), rng.normal(size=(count, n))
    batch = enumerate_batch(A @ np.swapaxes(A, 1, 2) + np.eye(n) if definite else A, q)
    assert batch.is_undecided.mean() < 1e-3
    if definite:
        assert (np.diff(batch.first) == 1).all()


@pytest.mark.parametrize("n", [1, 3, 6, 10])
def test_solution_beyond_the_largest_float_is_undecided(n):
    batch = enumerate_batch([1e-300 * np.eye(n)], [np.full(n, -1e300)])
    assert batch.is_undecided.all()


@pytest.mark.parametrize(
    ("M", "q"),
    [
        ([[1, 0], [1 + 2.0**-32, -1]], [2.0**-32 - 1, -1]),  # z1 = 1 - 2^-32 leaves row 2 at -2^-64: cancelled to 0
        ([[2.0**-43, 0], [0, 1]], [-1, -1]),  # one solution, (2^43, 1)
        ([[0, 1], [0, 0]], [0, -(2.0**-45)]),  # row 2 is -2^-45 >= 0
        ([[1, 1e-250], [1e-250, 1]], [-1, 1e-300]),  # too small for products
    ],
)
def test_numbers_near_rounding_are_taken_literally_or_left_undecided(M, q):
    batch = enumerate_batch([M], [q])
    truth = exact.enumerate_solutions(LCP(M, q))
    assert batch.is_undecided[0] or (not truth.continua and len(batch.z) == len(truth.isolated))


def nearly_zero(rng, n):
    """A problem of which some minors or numerators are about as large as their rounding."""
    M, q, small = rng.normal(size=(n, n)), rng.normal(size=n), 2.0 ** rng.uniform(-60, -35)
    kind = rng.integers(4)
    if kind == 0:  # two rows alike
        M[0] = rng.normal() * M[1] + small * rng.normal(size=n)
    elif kind == 1:  # rank one
        M = np.outer(rng.normal(size=n), rng.normal(size=n)) + small * M
    elif kind == 2:  # a degenerate solution
        z = rng.integers(0, 2, n) * rng.uniform(0.5, 2, n)
        q = np.where(z > 0, 0.0, rng.integers(0, 2, n)) - M @ z + small * q
    else:  # rows and columns of other units
        M *= np.outer(2.0 ** rng.integers(-30, 30, n), 2.0 ** rng.integers(-30, 30, n))
    return M, q


@pytest.mark.parametrize("n", [2, 3, 4])
def test_counts_by_signs_are_those_of_rational_arithmetic_where_rounding_may_decide(n):
    rng = np.random.default_rng(20 + n)
    M, q = (np.array(parts) for parts in zip(*(nearly_zero(rng, n) for _ in range(300)), strict=True))
    answers = solve_batch(M, q)
    decided = np.flatnonzero(answers.count != UNDECIDED)
    assert 60 < len(decided) < 300  # some are, some are not
    for k in decided:
        expected = solving_bases(M[k], q[k])
        assert answers.count[k] == len(expected)
        assert answers.bases[k] == sum(1 << basis for basis in expected)


def test_counts_of_entries_out_of_range_are_refused_and_not_guessed():
    # q**4 is zero in floating point, so it says nothing of how clear the signs are
    M = np.array(
        [
            [-8.123822184461878e75, 5.571161625475525e75, -5.1803072109699814e75],
            [-8.327537381802707e75, -8.602688587068773e75, 9.024073054137642e75],
            [7.38938240411335e75, 2.0398634332712716e75, -7.819389362120699e74],
        ]
    )
    q = np.array([3.6042754021736975e-86, 3.694657202532262e-86, -2.5028047486479977e-86])
    with pytest.raises(LCPError, match="1e70"):
        solve_batch([M], [q])
    with pytest.raises(LCPError, match="1e70"):
        solve_batch(1e150 * np.array([[[3.0, 1.0], [1.0, 3.0]]]), [[-1.0, -1.0]])
