"""Vertices and rays against figures known by hand and against linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog

from lcp.polytopes import Polytope, cone_generators, polytope


def cube(n):
    return np.vstack([np.eye(n), -np.eye(n)]), np.append(np.zeros(n), np.ones(n))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_cube_has_two_to_the_n_vertices(n):
    found = polytope(*cube(n))
    assert len(found.vertices) == 2**n
    assert set(found.vertices.ravel()) == {0, 1}
    assert found.rays.size == 0
    assert found.dimension == n


@pytest.mark.parametrize("n", [2, 3, 4])
def test_simplex_in_the_cube(n):
    found = polytope(*cube(n), equalities=(np.ones((1, n)), [1.0]))
    assert sorted(found.vertices.tolist()) == sorted(np.eye(n).tolist())
    assert found.dimension == n - 1


def test_octahedron():
    signs = np.array([[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)])
    found = polytope(signs, np.ones(8))
    assert sorted(found.vertices.tolist()) == sorted(np.vstack([np.eye(3), -np.eye(3)]).tolist())


def test_orthant_has_one_vertex_and_the_axes():
    found = polytope(np.eye(3), np.zeros(3))
    assert found.vertices.tolist() == [[0, 0, 0]]
    assert sorted(found.rays.tolist()) == sorted(np.eye(3).tolist())
    assert found.dimension == 3


def test_half_plane_has_a_line_as_two_rays():
    found = polytope([[0.0, 1.0]], [-2.0])
    assert found.vertices[0][1] == 2
    assert sorted(found.rays.tolist()) == [[-1, 0], [0, 1], [1, 0]]


def test_whole_space_and_point_and_empty_set():
    assert polytope(np.zeros((0, 2)), []).dimension == 2
    point = polytope([[1.0], [-1.0]], [-3.0, 3.0])
    assert point.vertices.tolist() == [[3]]
    assert point.dimension == 0
    assert polytope([[1.0], [-1.0]], [-3.0, 2.0]) is None
    assert polytope(np.eye(1), [0.0], equalities=([[1.0]], [-1.0])) is None
    assert polytope(np.eye(1), [0.0], equalities=([[0.0]], [1.0])) is None


def test_rays_do_not_depend_on_units():
    small, large = polytope(*cube(2)), polytope(cube(2)[0], 1e9 * cube(2)[1])
    np.testing.assert_allclose(1e9 * np.array(sorted(small.vertices.tolist())), sorted(large.vertices.tolist()))


@pytest.mark.parametrize("seed", range(10))
def test_extremes_in_every_direction_agree_with_linear_programs(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(5, 12))
    A, b = rng.integers(-3, 4, (m, n)).astype(float), rng.integers(-1, 5, m).astype(float)
    found = polytope(A, b)
    for _ in range(10):
        c = rng.normal(size=n)
        program = linprog(c, A_ub=-A, b_ub=b, bounds=(None, None))
        if found is None:
            assert program.status == 2
        elif (found.rays @ c < -1e-9).any():
            assert program.status in (3, 4)  # HiGHS calls some unbounded programs "infeasible or unbounded"
        else:
            assert program.fun == pytest.approx(float((found.vertices @ c).min()), abs=1e-7)


def test_integer_cone_is_exact():
    # the cone over a square has four extreme rays, none of them from a pair that is not adjacent
    rows = [[1, 0, 0], [0, 1, 0], [-1, 0, 1], [0, -1, 1]]
    rays = cone_generators(rows, dimension=3, tolerance=0, unit=1).rays
    assert sorted(rays) == [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]]


def test_dimension_ignores_rounding():
    assert Polytope([[1e6, 1e6], [1e6 + 1e-9, 1e6]], np.zeros((0, 2))).dimension == 0


@pytest.mark.parametrize("size", [1e-200, 1e-13, 1e11, 1e200])
def test_sets_near_and_far_are_not_empty(size):
    (far,) = polytope([[1.0]], [-size]).vertices  # x >= size
    np.testing.assert_allclose(far, [size], rtol=1e-14)
    interval = polytope([[1.0], [-1.0]], [-size, 2 * size])
    np.testing.assert_allclose(sorted(interval.vertices.ravel()), [size, 2 * size], rtol=1e-14)
    assert interval.dimension == 1
    both = polytope([[1.0], [-1.0]], [-1.0, 1e12])
    np.testing.assert_allclose(sorted(both.vertices.ravel()), [1, 1e12], rtol=1e-9)
