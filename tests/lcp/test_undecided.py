"""The compiled calls near degeneracy: what they do not mark as undecided is what rational arithmetic finds."""

import numpy as np
import pytest

from lcp import LCP, exact
from lcp.kernels import enumerate_batch, solutions_into
from tests.lcp.families import FAMILIES, nearly_degenerate

ALL = pytest.mark.parametrize("family", FAMILIES)


def assert_unmarked_enumerations_are_right(family, count, largest, seed):
    """At least a quarter of them must be decided, or the test would show nothing."""
    rng, decided = np.random.default_rng(seed), 0
    for _ in range(count):
        problem = nearly_degenerate(rng, int(rng.integers(1, largest + 1)), family)
        Z = np.empty((300, problem.n))
        found = solutions_into(problem.M.copy(), problem.q.copy(), Z)
        if found < 0:
            continue
        decided += 1
        truth = exact.enumerate_solutions(problem)
        assert not truth.continua, problem
        assert found == len(truth.isolated), problem
        # each basis of a solution once: supports differ where solutions do, or else all between would be solutions
        assert {tuple(z > 0) for z in Z[:found]} == {tuple(x > 0 for x in z) for z in truth.isolated}, problem
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
