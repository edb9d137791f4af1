"""The compiled kernels against the checked solvers, problem by problem."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from lcp import LCP, LCPError, Lemke, Status, enumerate_solutions, exact, loaded, path
from lcp.kernels import (
    cones,
    enumerate_batch,
    pivoting,
    solve_batch,
    solve_into,
    transforms,
)
from lcp.kernels.pivoting import FAILED, RAY
from tests.lcp.families import FAMILIES
from tests.lcp.rational_bases import solving_bases

ALL = pytest.mark.parametrize("family", FAMILIES)


def writable(problem):
    """Copies: read-only arrays are another type to the compiler, which would compile everything twice."""
    return problem.M.copy(), problem.q.copy()


@ALL
def test_low_level_solver_ends_as_lemke_does_or_fails(family):
    rng = np.random.default_rng(1)
    for _ in range(200):
        problem = FAMILIES[family](rng, int(rng.integers(1, 50)))
        z, solution = np.empty(problem.n), Lemke().solve(problem)
        code = solve_into(*writable(problem), z)
        if code == FAILED:
            continue
        assert (code == RAY) == (solution.status is Status.RAY)
        if code > 0:
            assert solution.status is Status.SOLVED
            assert problem.residual(z) <= 1e-8
            assert (z >= 0).all()


def test_a_search_leaves_entries_alone_whose_products_vanish():
    M = np.array(
        [
            [9.681479787123296e-122, 6.842277657836021e-49, 0.0, 262144.0],
            [1.130782121458166e74, 2.923003274661806e48, 0.0, -7.62939453125e-06],
            [1.8367099231598242e-40, -4.9784122222889134e-60, -1.3952482803738708e-104, 5.0052077379577523e-147],
            [1.2689709186578246e-116, -2.325883917745942e136, 2.817681462947307e-132, -1.262177448353619e-29],
        ]
    )
    q = np.array([-3.3409558876152446e-52, 68719476736.0, 0.0625, 0.0])
    for scale in (1.0, 1e-70):  # the largest entries, or the smallest ones alone, are out of range
        assert cones.every_solution(scale * M, q, np.empty((8, 4))) == -1


@pytest.mark.parametrize("n", [1, 2, 4, 8, 16])
def test_low_level_solver_hardly_ever_fails(n):
    rng, failed = np.random.default_rng(n), 0
    for _ in range(1000):
        failed += solve_into(rng.normal(size=(n, n)), rng.normal(size=n), np.empty(n)) == FAILED
    assert failed < (300 if n > 8 else 20)  # large gaussian matrices have pivots of every size


@ALL
def test_path_is_the_same_in_python_and_compiled(family):
    rng = np.random.default_rng(3)
    for _ in range(100):
        problem = FAMILIES[family](rng, int(rng.integers(1, 9)))
        n = problem.n
        if (problem.q >= 0).all():
            continue
        lists, arrays = ([0.0] * n, [0.0] * n), (np.empty(n), np.empty(n))
        rows = [[0.0] * (n + 2) for _ in range(n + 1)]
        code = path.follow(problem.M.tolist(), problem.q.tolist(), *lists, rows, [0] * (2 * n + 1))
        compiled = pivoting.follow_into(*writable(problem), *arrays)
        if path.DOUBTFUL not in (code, compiled):  # either may find rounding of its own too large
            assert code == compiled
            # a compiler may round products and sums once together
            np.testing.assert_allclose(arrays, lists, rtol=1e-9, atol=1e-9 * max(1.0, *lists[0], *lists[1]))


@pytest.mark.parametrize("skew", [0.0, 1.0])
@pytest.mark.parametrize("n", [5, 16, 17, 50, 100])
def test_low_level_solver_finds_the_solution_of_a_definite_problem(n, skew):
    # z and w are given, and a matrix with a positive definite symmetric part has one solution only
    rng = np.random.default_rng(n)
    A, B = rng.normal(size=(2, n, n))
    M = A @ A.T / n + np.eye(n) + skew * (B - B.T)
    is_basic = rng.random(n) < 0.5
    z, w = np.where(is_basic, rng.random(n), 0.0), np.where(is_basic, 0.0, rng.random(n))
    found = np.empty(n)
    assert solve_into(M, w - M @ z, found) > 0
    # the smallest eigenvalue of the symmetric part is at least one: the error of z is at most that of w, some roundings
    np.testing.assert_allclose(found, z, atol=1e-11)


@pytest.mark.parametrize(("n", "count"), [(3, 40), (5, 30), (6, 6)])
def test_transforms_decide_rightly_or_not_at_all_near_degenerate_problems(n, count):
    rng = np.random.default_rng(n)
    decided = 0
    for k in range(count):
        M = rng.integers(-199, 200, size=(n, n)) / 64.0  # minors that vanish would leave all in doubt
        is_basic = rng.random(n) < 0.5
        z, w = np.where(is_basic, rng.integers(0, 3, n), 0.0), np.where(is_basic, 0.0, rng.integers(0, 3, n))
        # a variable that was zero is now a tiny number of either sign, exactly as q holds it
        q = w - M @ z + rng.choice([-1.0, 1.0], n) * 10.0 ** -(k % 17)
        largest, size = np.abs(M).max(), np.abs(q).max()
        bases, T = np.empty(2**n, np.int64), np.empty(transforms.room(n))
        found = transforms.solving_bases(M, q, 1.0 / largest, 1.0 / size, T, bases)
        if found >= 0:
            decided += 1
            assert set(bases[:found].tolist()) == solving_bases(M, q)
    assert decided >= count // 6  # what is in doubt goes to the search; but the test would be empty if all were


@ALL
def test_batch_of_all_solutions_is_what_the_checked_enumeration_finds(family):
    rng = np.random.default_rng(5)
    problems = [FAMILIES[family](rng, int(rng.integers(1, 11))) for _ in range(160)]
    for n in sorted({problem.n for problem in problems}):
        same = [problem for problem in problems if problem.n == n]
        batch = enumerate_batch([problem.M for problem in same], [problem.q for problem in same])
        for k, problem in enumerate(same):
            truth, Z = enumerate_solutions(problem), batch.z[batch.first[k] : batch.first[k + 1]]
            if truth.continua:
                assert batch.is_undecided[k]
                continue
            assert len(Z) == len(truth.isolated)
            for z in Z:
                assert problem.residual(z) <= 1e-8
                assert np.abs(truth.isolated - z).max(axis=1).min() <= 1e-6 * max(1.0, z.max())


@ALL
def test_loaded_kernels_find_the_solutions_of_rational_arithmetic(family, monkeypatch):
    rng = np.random.default_rng(17)
    problems = [FAMILIES[family](rng, int(rng.integers(1, 7))) for _ in range(40)]
    monkeypatch.setattr(loaded, "kernels", [loaded.Kernels(pivoting.follow_into, cones.every_solution)])
    for problem in problems:
        found, truth = enumerate_solutions(problem), exact.enumerate_solutions(problem)
        assert found.complete
        assert len(found.isolated) == len(truth.isolated)
        assert len(found.continua) == len(truth.continua)
        for z in np.array(truth.isolated, dtype=float).reshape(-1, problem.n):
            assert np.abs(found.isolated - z).max(axis=1).min() <= 1e-6 * max(1.0, z.max())


def test_loaded_kernels_have_room_for_every_solution(monkeypatch):
    # M = -I, q = 1: 2**7 = 128 solutions, more than the first call has rows for
    monkeypatch.setattr(loaded, "kernels", [loaded.Kernels(pivoting.follow_into, cones.every_solution)])
    found = enumerate_solutions(LCP(-np.eye(7), np.ones(7)))
    assert found.complete
    assert {tuple(z) for z in found.isolated.tolist()} == set(itertools.product((0.0, 1.0), repeat=7))


@pytest.mark.parametrize("n", [1, 3, 5, 6])
def test_batch_has_room_for_every_solution(n):
    # M = -I, q = 1: each index may be basic with z = 1 or not, independently of the others
    N = 150
    batch = enumerate_batch(np.repeat(-np.eye(n)[None], N, axis=0), np.ones((N, n)))
    assert batch.first.tolist() == [2**n * k for k in range(N + 1)]
    assert not batch.is_undecided.any()
    vertices = {tuple(float(b >> i & 1) for i in range(n)) for b in range(2**n)}
    for k in range(N):
        assert {tuple(z) for z in batch.z[batch.first[k] : batch.first[k + 1]].tolist()} == vertices


def stacked(rng, n, count):
    return rng.normal(size=(count, n, n)), rng.normal(size=(count, n))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
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
        assert bases == {b for b in range(2**n) if batch.bases[k] >> b & 1}


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


@pytest.mark.parametrize("count", [1, 7, 9, 167, 603])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_layouts_agree(n, count):
    M, q = stacked(np.random.default_rng(n), n, count)
    last = np.moveaxis(M, 0, 2), q.T
    by_first, by_last = solve_batch(M, q), solve_batch(*last, problems_last=True)
    np.testing.assert_array_equal(by_first.count, by_last.count)
    np.testing.assert_array_equal(by_first.bases, by_last.bases)
    # the same operations in another order of problems; a product and sum may be rounded together or not
    np.testing.assert_allclose(by_first.z, by_last.z.T, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("M", "q", "message"),
    [
        (np.zeros((3, 2, 2)), np.zeros((3, 3)), "do not match"),
        (np.zeros((3, 2, 3)), np.zeros((3, 2)), "do not match"),
        (np.zeros((2, 2)), np.zeros(2), "axes"),
        (np.zeros((3, 0, 0)), np.zeros((3, 0)), "1 to"),
        (np.zeros((1, 31, 31)), np.zeros((1, 31)), "1 to"),
        ([[["a"]]], [[1.0]], "real numbers"),
        (np.full((3, 2, 2), np.nan), np.zeros((3, 2)), "finite"),
        (np.ones((300, 2, 2)), np.append(np.zeros((299, 2)), [[0, np.inf]], axis=0), "finite"),
        (np.full((3, 5, 5), np.nan), np.zeros((3, 5)), "finite"),
        (np.full((3, 3, 3), 1e200), np.ones((3, 3)), "1e70"),
        (np.full((3, 3, 3), 1e-200), np.ones((3, 3)), "1e70"),
    ],
)
def test_malformed_batch_is_refused_with_its_reason(M, q, message):
    with pytest.raises(LCPError, match=message if np.ndim(q) != 2 or np.shape(q)[1] < 5 else "1 to 4"):
        solve_batch(M, q)
    if message != "1e70":  # these entries are no trouble to a search
        with pytest.raises(LCPError, match=message):
            enumerate_batch(M, q)


def test_signs_of_minors_are_for_four_unknowns_and_the_refusal_says_what_takes_more():
    with pytest.raises(LCPError, match="1 to 4 unknowns, got 5; enumerate_batch takes more"):
        solve_batch(np.eye(5)[None], -np.ones((1, 5)))


@pytest.mark.parametrize("n", [1, 3, 5, 9])
def test_low_level_call_refuses_what_does_not_fit_before_it_writes(n):
    M, q, fitting = np.eye(n), -np.ones(n), np.empty(n)
    for problem, answer, message in (
        ((M, q), np.empty(n - 1), "columns"),
        ((M, q), np.empty(n, np.float32), "float64"),
        ((M, np.append(q, 1.0)), fitting, "square"),
        ((np.ones((n, n + 1)), q), fitting, "square"),
        ((M * np.nan, q), fitting, "finite"),
        ((M, q * np.inf), fitting, "finite"),
    ):
        with pytest.raises(LCPError, match=message):
            solve_into(*problem, answer)


def test_low_level_call_refuses_other_types_than_arrays_of_float64():
    M, q, answer = np.eye(2), -np.ones(2), np.empty(2)
    read_only = np.empty(2)
    read_only.flags.writeable = False
    for arguments, message in (
        ((M.tolist(), q, answer), "M must be a NumPy array of float64, got list"),
        ((M, [-1, -1.0], answer), "q must be a NumPy array of float64, got list"),
        ((M, q, None), "got NoneType"),
        ((M + 0j, q, answer), "complex128"),
        ((M, q.astype(np.float32), answer), "float32"),
        ((M.astype(object), q, answer), "object"),
        ((M, q.astype(">f8"), answer), ">f8"),
        # these would have been cut to integers without a word
        ((M, q, answer.astype(np.int64)), "int64"),
        ((M, q[None], answer), r"1 axis, got float64 and shape \(1, 2\)"),
        ((M, q, answer[None]), "shape"),
        ((M, q, read_only), "read-only"),
    ):
        with pytest.raises(LCPError, match=message):
            solve_into(*arguments)


def test_low_level_call_reads_arrays_that_are_read_only_or_not_contiguous():
    M, q, z = np.zeros((4, 4))[::2, ::2], np.array([-1.0, 0.0, -2.0, 0.0])[::2], np.empty(2)
    M[:], q.flags.writeable = [[2.0, 1.0], [0.0, 4.0]], False
    assert solve_into(M, q, z) > 0
    np.testing.assert_allclose(z, [0.25, 0.5], rtol=1e-14)


def test_low_level_call_does_not_write_an_answer_over_the_problem():
    room = np.zeros(8)
    M, q = room[:4].reshape(2, 2), room[4:6]
    M[:], q[:] = np.eye(2), [-1.0, -2.0]
    assert solve_into(M, q, room[6:8]) > 0  # next to each other
    for shared in (room[5:7], room[3:5], room[3::-1][:2]):
        with pytest.raises(LCPError, match="share memory"):
            solve_into(M, q, shared)
    assert room[:6].tolist() == [1.0, 0.0, 0.0, 1.0, -1.0, -2.0]


@pytest.mark.parametrize("n", [3, 6, 9])
def test_rows_and_columns_of_very_different_size_hide_no_solution_and_feign_none(n):
    # M = -R C, q = R (1, ..., 1, 0): z_i = 1 / C_i or 0 for every i but the last, which is 0: 2**(n - 1) solutions;
    # with q_0 = -R_0 there is none
    rows, columns = 2.0 ** np.linspace(-40, 40, n).round(), 2.0 ** np.linspace(30, -30, n).round()
    M, q = -np.diag(rows * columns), rows * (np.arange(n) < n - 1)
    batch = enumerate_batch([M, M], [q, np.where(np.arange(n) == 0, -rows, q)])
    assert batch.first.tolist() == [0, 2 ** (n - 1), 2 ** (n - 1)]
    points = {tuple(z) for z in (batch.z * columns).tolist()}
    assert points == {tuple(float(b >> i & 1) for i in range(n)) for b in range(2 ** (n - 1))}


@pytest.mark.parametrize("size", [1e-90, 1e-12, 1e90])
def test_low_level_solver_depends_on_no_unit(size):
    for n in (3, 7, 20):
        z, wanted = np.empty(n), 1.0 + np.arange(n) / n
        assert solve_into(size * np.eye(n), -size * wanted, z) > 0
        np.testing.assert_allclose(z, wanted, rtol=1e-14)
        assert solve_into(-np.eye(n), -size * wanted, z) == RAY


def test_low_level_solver_fails_at_what_has_ties_or_wants_scaling():
    for M, q in (
        (np.eye(2), [-1.0, -1.0]),
        (np.eye(2), [-1.0, -1.0 + 1e-12]),
        (np.diag([1.0, 1e-6]), [-1.0, -2.0]),
        (np.array([[1.0, 2.0], [0.0, 0.0]]), [-1.0, -2.0]),
        (1e-300 * np.eye(2), [-1.0, -2.0]),
    ):
        assert solve_into(M, np.array(q), np.empty(2)) == FAILED


@pytest.mark.parametrize("kind", ["U4", "M8[s]", complex])
@pytest.mark.parametrize("call", [solve_batch, enumerate_batch])
def test_batches_of_other_things_than_real_numbers_are_refused(call, kind):
    with pytest.raises(LCPError, match="real"):
        call(np.ones((1, 1, 1), int).astype(kind), [[1]])


def test_complex_and_huge_integer_batches_are_refused():
    for M, q in (([[[1j]]], [[1.0]]), ([[[1.0]]], [[1j]]), ([[[10**400]]], [[1]])):
        for call in (solve_batch, enumerate_batch):
            with pytest.raises(LCPError, match="real"):
                call(M, q)


def test_empty_integer_and_read_only_batches():
    assert solve_batch(np.zeros((0, 2, 2)), np.zeros((0, 2))).count.shape == (0,)
    assert enumerate_batch(np.zeros((0, 2, 2)), np.zeros((0, 2))).z.shape == (0, 2)
    M = np.broadcast_to(np.eye(2, dtype=int), (5, 2, 2))
    batch = solve_batch(M, np.full((5, 2), -3))
    assert batch.count.tolist() == [1] * 5
    assert (batch.z == 3).all()


def test_importing_the_package_imports_neither_numba_nor_cvxpy_nor_scipy():
    code = "import sys, lcp, lcp.exact; print([m for m in ('numba', 'cvxpy', 'scipy') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
