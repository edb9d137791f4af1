"""Answers do not depend on units: entries of very different sizes, against rational arithmetic."""

import numpy as np
import pytest

from lcp import LCP, Lemke, Polytope, Status, enumerate_solutions, exact, solve


@pytest.mark.parametrize(
    ("M", "q"),
    [
        ([[-1e300, -1e-300], [0, 1]], [0, -1]),  # z_2 = 1 leaves w_1 <= -1e-300
        ([[1, 0], [0, 0]], [-1e300, -1e-300]),  # w_2 = -1e-300
        ([[1, 0], [0, -1]], [-1e300, -1e-300]),
    ],
)
def test_an_entry_that_scaling_makes_zero_still_excludes_every_solution(M, q):
    problem = LCP(M, q)
    found = enumerate_solutions(problem)
    assert found.is_empty
    assert found.complete
    assert exact.verify(problem, exact.refute(problem))


def test_an_entry_that_scaling_makes_zero_still_excludes_a_ray():
    # w_1 = 1e300 z_2 + 1 > 0 and w_2 = 1e-300 z_1 + 1 > 0, so z_1 = z_2 = 0; z_3 is free
    (continuum,) = enumerate_solutions(LCP([[0, 1e300, 0], [1e-300, 0, 0], [0, 0, 0]], [1, 1, 0])).continua
    assert continuum.vertices.tolist() == [[0, 0, 0]]
    assert continuum.rays.tolist() == [[0, 0, 1]]


def nearly_singular(rng):
    """A block whose solution along its small singular value is large, and next to it small unknowns."""
    k = int(rng.integers(1, 4))
    n = k + int(rng.integers(1, 3))
    along = np.abs(rng.normal(size=k))
    along /= np.linalg.norm(along)
    sizes = np.append(0.5 + rng.random(k - 1), 10.0 ** rng.uniform(-6, -3))
    left, right = (np.linalg.qr(a)[0] for a in (rng.normal(size=(k, k)), np.column_stack([along, np.eye(k)[:, 1:]])))
    M, q = np.zeros((n, n)), np.zeros(n)
    M[:k, :k] = (left * sizes) @ right.T[::-1]
    q[:k] = -M[:k, :k] @ (along * rng.uniform(0.1, 1.0) / sizes[-1])
    M[k:, k:] = rng.normal(size=(n - k, n - k))
    q[k:] = rng.normal(size=n - k) * 10.0 ** rng.uniform(-7, -1)
    return LCP(M, q)


def test_small_unknowns_next_to_large_ones_are_neither_cut_off_nor_brought_together():
    rng = np.random.default_rng(1)
    for _ in range(1500):
        problem = nearly_singular(rng)
        found, truth = enumerate_solutions(problem), exact.enumerate_solutions(problem)
        assert found.complete
        # isolated solutions differ in their supports
        wanted = {tuple(entry > 0 for entry in z) for z in truth.isolated}
        assert len(wanted) == len(truth.isolated) == len(found.isolated)
        assert {tuple(z > 0) for z in found.isolated} == wanted


@pytest.mark.parametrize(("size", "q_size"), [(1e-50, 1e-50), (1e-10, 1e-12), (1.0, 1e-30), (1e40, 1e-40)])
def test_the_front_door_for_large_matrices_has_no_unit(size, q_size):
    n, rng = 30, np.random.default_rng(2)
    diagonal, q = 0.5 + rng.random(n), rng.normal(size=n)
    solution = solve(LCP(size * np.diag(diagonal), q_size * q))
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, np.maximum(-q_size * q, 0) / (size * diagonal), rtol=1e-14)


def test_rounding_of_a_large_row_is_no_success_next_to_a_small_q():
    # w_2 is a sum of numbers of 3e11 and is known to 1e-5 only
    problem = LCP([[1, 0.5], [-0.3e12, 1e12]], [-1, -1])
    for solution in (Lemke().solve(problem), solve(problem)):
        assert solution.status is not Status.SOLVED or problem.residual(solution.z) <= 1e-8


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e12, 1e300])
def test_unbounded_continuum_far_away_has_its_dimension(size):
    # z_2 = size is the one value of z_2, and z_1 is free
    (continuum,) = enumerate_solutions(LCP([[0, 0], [0, 1]], [0, -size])).continua
    assert continuum.dimension == 1
    assert continuum.vertices.tolist() == [[0, size]]
    assert continuum.rays.tolist() == [[1, 0]]


def test_a_ray_is_a_dimension_whatever_its_length():
    assert Polytope([[1e12, 0.0]], [[0.0, 1e-9]]).dimension == 1
    assert Polytope([[0.0, 0.0]], [[1e-200, 0.0], [1e-200, 1e-200]]).dimension == 2


def test_rays_of_problems_too_large_for_rational_arithmetic_have_largest_entry_one():
    # order 13, columns of very different sizes; z_1 and z_2 grow along (1, 1): w_1 = 1e9 (z_1 - z_2), w_2 = -1e-9 w_1
    M, q = np.eye(13), -np.ones(13)
    M[:2, :2], q[:2] = [[1e9, -1e9], [-1e-9, 1e-9]], 0.0
    (continuum,) = enumerate_solutions(LCP(M, q)).continua
    np.testing.assert_allclose(continuum.rays, [[1, 1, *[0] * 11]], atol=1e-12)
