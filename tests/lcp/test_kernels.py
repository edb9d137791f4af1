"""The compiled kernels against the checked solvers, problem by problem."""

import subprocess
import sys
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

from lcp import LCP, LCPError, Lemke, Status, enumerate_solutions
from lcp.kernels import NO_BASIS, count_batch, lemke_into, minors, solutions_into, solve_batch, solve_into
from lcp.kernels.generate import MODULES, source
from lcp.kernels.pivoting import FAILED, NONE, RAY
from tests.lcp.families import FAMILIES

ALL = pytest.mark.parametrize("family", FAMILIES)


def writable(problem):
    """Copies: read-only arrays are another type to the compiler, which would compile everything twice."""
    return problem.M.copy(), problem.q.copy()


@ALL
def test_thin_lemke_ends_as_lemke_does(family):
    rng = np.random.default_rng(1)
    for _ in range(100):
        problem = FAMILIES[family](rng, int(rng.integers(1, 21)))
        z, solution = np.empty(problem.n), Lemke().solve(problem)
        code = lemke_into(*writable(problem), z)
        assert code != FAILED
        assert (code == RAY) == (solution.status is Status.RAY)
        if code >= 0:
            assert problem.residual(z) <= 1e-8
            assert (z >= 0).all()


@ALL
def test_thin_solver_finds_every_solvable_small_problem(family):
    rng = np.random.default_rng(3)
    for _ in range(150):
        problem = FAMILIES[family](rng, int(rng.integers(1, 5)))
        z, truth = np.empty(problem.n), enumerate_solutions(problem)
        code = solve_into(*writable(problem), z)
        if code > 0:
            assert problem.residual(z) <= 1e-8
            assert (z >= 0).all()
        elif code == NONE:
            assert truth.is_empty
        else:
            # Lemke's method may miss a solution, but only where a sign was not clear enough for the minors
            assert code == RAY


@ALL
def test_thin_enumeration_finds_what_the_checked_one_finds(family):
    rng = np.random.default_rng(2)
    for _ in range(100):
        problem = FAMILIES[family](rng, int(rng.integers(1, 11)))
        Z, truth = np.empty((200, problem.n)), enumerate_solutions(problem)
        found = solutions_into(*writable(problem), Z)
        if truth.continua:
            assert found < 0
            continue
        count = found if found >= 0 else -1 - found
        assert count == len(truth.isolated)
        for z in Z[:count]:
            assert problem.residual(z) <= 1e-8
            # 1e-6: isolated solutions of these dyadic problems lie much farther apart
            assert np.abs(truth.isolated - z).max(axis=1).min() <= 1e-6 * max(1.0, z.max())


def stacked(rng, n, count):
    return rng.normal(size=(count, n, n)), rng.normal(size=(count, n))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("count", [1, 255, 256, 700])
def test_batch_counts_every_solution_of_every_problem(n, count):
    rng = np.random.default_rng(n)
    M, q = stacked(rng, n, count)
    batch = solve_batch(M, q)
    for k in range(0, count, 1 + count // 60):
        problem = LCP(M[k], q[k])
        truth = enumerate_solutions(problem)
        assert batch.count[k] == len(truth.isolated)  # gaussian problems are nondegenerate
        if batch.count[k]:
            assert problem.residual(batch.z[k]) <= 1e-7
        else:
            assert not batch.z[k].any()
        bases = {sum(1 << i for i in np.flatnonzero(z)) for z in truth.isolated}
        if n <= 4:
            assert bases == {b for b in range(2**n) if batch.bases[k] >> b & 1}
        else:
            listed = [int(b) for b in batch.bases[k] if b != NO_BASIS]
            assert sorted(bases) == sorted(listed)
            assert not listed or listed[0] == sum(1 << i for i in np.flatnonzero(batch.z[k]))


def solving_bases(M, q):
    """Nonsingular complementary bases whose basic point is nonnegative, in rational arithmetic."""
    n, bases = len(q), set()
    for b in range(2**n):
        inside = [i for i in range(n) if b >> i & 1]
        # columns -M_j for z_j basic, e_i for w_i basic: C x = q
        C = [[F(int(i == j)) if j not in inside else F(-int(M[i, j])) for j in range(n)] for i in range(n)]
        x = solved(C, [F(int(v)) for v in q])
        if x is not None and min(x) >= 0:
            bases.add(b)
    return bases


def solved(C, right):
    rows = [[*row, value] for row, value in zip(C, right, strict=True)]
    n = len(rows)
    for k in range(n):
        p = next((i for i in range(k, n) if rows[i][k]), None)
        if p is None:
            return None
        rows[k], rows[p] = rows[p], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_bases_of_degenerate_integer_problems_are_those_of_rational_arithmetic(n):
    # minors and numerators of such integers are computed without rounding, so that a sign of zero is a zero
    rng = np.random.default_rng(n)
    M, q = rng.integers(-2, 3, size=(200, n, n)), rng.integers(-2, 3, size=(200, n))
    batch = solve_batch(M, q)
    for k in range(200):
        expected = solving_bases(M[k], q[k])
        assert {b for b in range(2**n) if batch.bases[k] >> b & 1} == expected
        assert batch.count[k] == len(expected)
        if expected:
            # 1e-14: one division after exact integers
            w = M[k] @ batch.z[k] + q[k]
            assert np.abs(np.minimum(w, batch.z[k])).max() <= 1e-14 * (1.0 + np.abs(batch.z[k]).max() * 8)
            assert set(np.flatnonzero(batch.z[k])) <= {i for i in range(n) if min(expected) >> i & 1}


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_layouts_agree(n):
    M, q = stacked(np.random.default_rng(n), n, 600)
    last = np.moveaxis(M, 0, 2), q.T
    np.testing.assert_array_equal(count_batch(M, q), count_batch(*last, problems_last=True))
    by_first, by_last = solve_batch(M, q), solve_batch(*last, problems_last=True)
    # the same operations in another order of problems; a product and sum may be rounded together or not
    np.testing.assert_allclose(by_first.z, by_last.z.T, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("M", "q", "message"),
    [
        (np.zeros((3, 2, 2)), np.zeros((3, 3)), "do not match"),
        (np.zeros((3, 2, 3)), np.zeros((3, 2)), "do not match"),
        (np.zeros((2, 2)), np.zeros(2), "axes"),
        (np.zeros((3, 0, 0)), np.zeros((3, 0)), "1 to 30"),
        (np.zeros((1, 31, 31)), np.zeros((1, 31)), "1 to 30"),
        ([[["a"]]], [[1.0]], "real numbers"),
        (np.full((3, 2, 2), np.nan), np.zeros((3, 2)), "finite"),
        (np.ones((300, 2, 2)), np.append(np.zeros((299, 2)), [[0, np.inf]], axis=0), "finite"),
        (np.full((3, 5, 5), np.nan), np.zeros((3, 5)), "finite"),
        (np.full((3, 3, 3), 1e200), np.ones((3, 3)), "1e70"),
        (np.full((3, 3, 3), 1e-200), np.ones((3, 3)), "1e70"),
    ],
)
def test_malformed_batch_is_refused_with_its_reason(M, q, message):
    for solve in (solve_batch, count_batch):
        with pytest.raises(LCPError, match=message):
            solve(M, q)


def test_empty_integer_and_read_only_batches():
    assert count_batch(np.zeros((0, 2, 2)), np.zeros((0, 2))).shape == (0,)
    M = np.broadcast_to(np.eye(2, dtype=int), (5, 2, 2))
    batch = solve_batch(M, np.full((5, 2), -3))
    assert batch.count.tolist() == [1] * 5
    assert (batch.z == 3).all()


def test_importing_the_package_imports_neither_numba_nor_cvxpy_nor_scipy():
    code = "import sys, lcp, lcp.exact; print([m for m in ('numba', 'cvxpy', 'scipy') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_minors_are_what_their_generator_writes(name):
    assert Path(minors.__file__).with_name(name).read_text(encoding="utf-8") == source(MODULES[name])
