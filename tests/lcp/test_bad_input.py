"""A clear LCPError, or the right answer."""

import numpy as np
import pytest

from lcp import LCP, LCPError, Lemke, Polytope, Status, enumerate_solutions, exact, solve
from lcp.exact.search import enumerate_solutions as enumerate_exactly
from lcp.polytopes import polytope


@pytest.mark.parametrize(
    ("M", "q", "message"),
    [
        ([[1, 2]], [1], "square"),
        ([1, 2], [1, 2], "2 axes"),
        (np.eye(2), [1, 2, 3], "same order"),
        (np.eye(2), [[1], [2]], "1 axes"),
        ([[np.nan]], [1], r"M\[0, 0\] is nan"),
        ([[1]], [np.inf], r"q\[0\] is inf"),
        ([[1]], [-np.inf], r"q\[0\] is -inf"),
        ([[1j]], [1], "complex"),
        ([["a"]], [1], "real numbers"),
        (np.ma.array([[1.0]], mask=[[True]]), [1], "masked"),
        ([[1, 2], [3]], [1, 2], "real numbers"),
        ([[None]], [1], "real numbers|finite"),
        ([[10**400]], [1], "real numbers"),
        ({}, [1], "real numbers"),
    ],
)
def test_malformed_problem_is_refused_with_its_reason(M, q, message):
    with pytest.raises(LCPError, match=message):
        LCP(M, q)


def test_problem_of_order_zero_is_solved_by_the_empty_vector():
    problem = LCP(np.zeros((0, 0)), [])
    assert problem.residual([]) == 0
    assert Lemke().solve(problem).status is Status.SOLVED
    assert enumerate_solutions(problem).isolated.shape == (1, 0)
    assert exact.refute(problem) is None


def test_integer_boolean_and_read_only_arrays_are_copied():
    q = np.array([-1, -2])
    q.flags.writeable = False
    problem = LCP(np.eye(2, dtype=bool), q)
    assert problem.q.dtype == np.float64
    assert Lemke().solve(problem).z.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        problem.M[0, 0] = 5


def test_caller_cannot_change_the_problem_through_his_array():
    M = np.eye(2)
    problem = LCP(M, [1, 1])
    M[0, 0] = 9
    assert problem.M[0, 0] == 1


def test_problems_compare_and_hash_by_value():
    assert LCP([[1]], [0.0]) == LCP([[1.0]], [-0.0])
    assert LCP([[1]], [0]) != LCP([[1]], [1])
    assert len({LCP([[1]], [0]), LCP([[1]], [0])}) == 1


def test_enumeration_of_a_large_order_is_refused_with_its_count():
    with pytest.raises(LCPError, match="1073741824 complementary bases"):
        enumerate_solutions(LCP(np.eye(30), np.ones(30)))


@pytest.mark.parametrize("covering", [[1, 1, 1], [0, 1], [-1, 1], [np.nan, 1]])
def test_covering_vector_must_cover(covering):
    with pytest.raises(LCPError, match="covering"):
        Lemke(covering=covering).solve(LCP(np.eye(2), [-1, -1]))
    if len(covering) == 2 and not np.isnan(covering).any():
        with pytest.raises(LCPError, match="covering"):
            exact.lemke(LCP(np.eye(2), [-1, -1]), covering=covering)


@pytest.mark.parametrize(
    ("M", "q", "z"),
    [
        ([[1e300]], [-1e300], [1]),
        ([[1e-300]], [-1e-300], [1]),
        ([[1e300]], [-1e-5], [1e-305]),
        ([[1e300, 0], [0, 1e-300]], [-1e300, -1e-300], [1, 1]),
        ([[2e300, 1e300], [1e300, 2e300]], [-3e300, -3e300], [1, 1]),
        ([[1e-300, 1e0], [0, 1e300]], [-1e-300, 0], [1, 0]),
    ],
)
def test_entries_of_extreme_size_are_solved(M, q, z):
    problem = LCP(M, q)
    solution = Lemke().solve(problem)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, z, rtol=1e-14)
    np.testing.assert_allclose(enumerate_solutions(problem).isolated, [z], rtol=1e-14)
    assert exact.refute(problem) is None


def test_solution_beyond_the_largest_float_is_an_error_not_an_answer():
    problem = LCP([[1e-300]], [-1e300])
    with pytest.raises(LCPError, match="largest floating-point number"):
        Lemke().solve(problem)
    with pytest.raises(LCPError, match="largest floating-point number"):
        enumerate_solutions(problem)


def test_extreme_infeasible_problem_is_not_called_solved():
    problem = LCP([[-1e300]], [-1e-300])
    assert Lemke().solve(problem).status is Status.RAY
    assert enumerate_solutions(problem).is_empty
    certificate = exact.refute(problem)
    assert exact.verify(problem, certificate)


def test_false_answer_with_huge_entries_is_not_hidden_by_its_own_size():
    # w = -1 at any such z, which a residual scaled by |z| would call 1e-16
    assert LCP([[0.0, 0.0], [0.0, 1.0]], [-1.0, 1.0]).residual([1e16, 0.0]) == 1.0


@pytest.mark.parametrize("exponent", [10, 25, 35, 40])
def test_nearly_singular_basis_is_settled_in_rational_arithmetic(exponent):
    eps = 2.0**-exponent
    problem = LCP([[1, 1], [1, 1 + eps]], [-1, -1 - eps / 2])
    found = enumerate_solutions(problem)
    assert found.complete
    assert exact.enumerate_solutions(problem).isolated == ((0.5, 0.5),)
    np.testing.assert_allclose(found.isolated, [[0.5, 0.5]], atol=1e-3)  # condition number 4 / eps
    assert problem.residual(Lemke().solve(problem).z) < 1e-8


@pytest.mark.parametrize(
    ("M", "q", "expected"),
    [
        # z_2 = 0 or 1 / 16384, and z_1 = 0 as w_1 >= 1; the two were one after scaling
        ([[2.0**-19, 0], [-(2.0**-20), -16384]], [1, 1], [[0, 0], [0, 1 / 16384]]),
        # two problems of one unknown with two solutions each, 1e20 apart in size
        ([[-1, 0], [0, -1]], [1e20, 1], [[0, 0], [0, 1], [1e20, 0], [1e20, 1]]),
    ],
)
def test_solutions_that_scaling_brings_together_remain_two(M, q, expected):
    found = enumerate_solutions(LCP(M, q))
    assert found.complete
    np.testing.assert_array_equal(found.isolated, expected)


def test_redundant_contacts_keep_their_continuum_in_spite_of_rounding():
    W = np.array([[0.1, 0.2, 0.3], [0.7, 0.7, 0.7]])  # three parallel forces on two degrees of freedom
    found = enumerate_solutions(LCP(W.T @ W, -W.T @ np.array([0.2, 0.7])))
    assert not found.complete  # the rounded numbers, taken literally, prove no continuum
    assert [continuum.dimension for continuum in found.continua] == [1]


@pytest.mark.parametrize(
    ("M", "q"),
    [
        ([[1, 0], [1 + 2.0**-32, -1]], [2.0**-32 - 1, -1]),  # z1 = 1 - 2^-32 leaves row 2 at -2^-64: cancelled to 0
        ([[2.0**-43, 0], [0, 1]], [-1, -1]),  # one solution, (2^43, 1)
        ([[0, 1], [0, 0]], [0, -(2.0**-45)]),  # row 2 is -2^-45 >= 0
    ],
)
def test_numbers_near_rounding_are_taken_literally(M, q):
    problem = LCP(M, q)
    found = enumerate_solutions(problem)
    truth = enumerate_exactly(problem)
    assert found.complete
    assert (len(found.isolated), len(found.continua)) == (len(truth.isolated), len(truth.continua))


@pytest.mark.parametrize("z", [[1], [1, 2, 3]])
def test_residual_of_a_point_of_another_order_is_an_error(z):
    with pytest.raises(LCPError, match="shape"):
        LCP(np.eye(2), [1, 1]).residual(z)


def test_residual_of_a_complex_point_is_an_error():
    with pytest.raises(LCPError, match="real"):
        LCP([[1]], [1]).residual(np.array([1j]))


def test_residual_of_a_point_that_is_not_finite_is_infinite():
    assert LCP([[1]], [1]).residual([np.nan]) == np.inf
    assert LCP([[1]], [1]).residual([np.inf]) == np.inf


def test_polytope_needs_a_vertex_and_matching_rays():
    with pytest.raises(LCPError, match="vertex"):
        Polytope(np.zeros((0, 2)), [[1, 0]])
    with pytest.raises(LCPError, match="vertex"):
        Polytope([[0, 0]], [[1, 0, 0]])
    with pytest.raises(LCPError, match="do not match"):
        polytope(np.eye(2), [1, 2, 3])


@pytest.mark.parametrize("basis", [[0, 0], [2], [-1]])
def test_basis_must_consist_of_different_valid_indices(basis):
    with pytest.raises(LCPError, match="basis"):
        exact.basic_solution(LCP(np.eye(2), [1, 1]), basis)


def test_rational_problem_refuses_what_is_not_a_number():
    with pytest.raises(LCPError, match="rational"):
        exact.RationalLCP([[float("nan")]], [1])
    with pytest.raises(LCPError, match="square"):
        exact.RationalLCP([[1, 2]], [1])


@pytest.mark.parametrize(
    "data",
    [{}, {"refutations": 3}, {"refutations": [3]}, {"refutations": [{"zero_w": []}]}],
)
def test_malformed_certificate_is_an_error(data):
    with pytest.raises(LCPError):
        exact.certificate_from_json(data)


@pytest.mark.parametrize("given", [3, None, "x", [[1.0]]])
@pytest.mark.parametrize("asked", [solve, Lemke().solve, enumerate_solutions, exact.refute, exact.find_solution])
def test_what_is_no_problem_is_refused_with_how_to_write_one(asked, given):
    with pytest.raises(LCPError, match=rf"as LCP\(M, q\), got {type(given).__name__}"):
        asked(given)


@pytest.mark.parametrize("bad", [{"tolerance": t} for t in (-1, np.nan, np.inf, "x", None)] + [{"max_n": "x"}])
def test_a_limit_of_the_enumeration_that_is_none_is_refused(bad):
    with pytest.raises(LCPError, match=next(iter(bad))):
        enumerate_solutions(LCP([[0, 0], [0, 1]], [0, -1]), **bad)
