"""Gauss' principle as a quadratic program and as an LCP; Farkas vectors; the relaxed friction cone."""

import numpy as np
import pytest

from lcp import LCP, LCPError, exact
from lcp.convex import farkas_certificate, friction_cone_relaxation, gauss_least_constraint
from lcp.gauss import gauss_lcp
from tests.lcp.families import FAMILIES


def random_body(rng):
    n, k = (int(a) for a in rng.integers(1, 6, 2))
    A = rng.normal(size=(n, n))
    return A @ A.T + np.eye(n), 10 * rng.normal(size=n), rng.normal(size=(n, k)), rng.normal(size=k)


def test_quadratic_program_and_complementarity_problem_agree():
    rng, decided = np.random.default_rng(1), 0
    for _ in range(60):
        body = random_body(rng)
        try:
            by_lcp = gauss_lcp(*body)
        except LCPError:
            with pytest.raises(LCPError, match="no solution"):
                gauss_least_constraint(*body)
            continue
        by_qp = gauss_least_constraint(*body)
        decided += 1
        assert max(by_lcp.residual, by_qp.residual) < 1e-10
        # the acceleration is unique; forces are, too, unless there are redundant contacts
        np.testing.assert_allclose(by_qp.acceleration, by_lcp.acceleration, rtol=1e-8, atol=1e-8)
    assert decided > 30


def test_ball_on_a_floor_carries_its_weight():
    solution = gauss_least_constraint([[3.0]], [-3 * 9.81], [[1.0]], [0.0])
    np.testing.assert_allclose(solution.lambda_N, [3 * 9.81], rtol=1e-12)
    np.testing.assert_allclose(solution.acceleration, [0], atol=1e-12)


def test_least_constraint_is_least():
    rng = np.random.default_rng(2)
    M, h, W_N, zeta_N = random_body(rng)
    best = gauss_least_constraint(M, h, W_N, zeta_N).acceleration

    def constraint(a):
        return (a - np.linalg.solve(M, h)) @ M @ (a - np.linalg.solve(M, h))

    for _ in range(200):
        other = best + 0.1 * rng.normal(size=best.shape)
        if (W_N.T @ other + zeta_N >= 0).all():
            assert constraint(other) >= constraint(best) - 1e-9


def test_no_contact_means_free_acceleration():
    solution = gauss_least_constraint([[2.0]], [4.0], np.zeros((1, 0)), [])
    np.testing.assert_allclose(solution.acceleration, [2], rtol=1e-15)


@pytest.mark.parametrize("solve", [gauss_lcp, gauss_least_constraint])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.0]], [1.0], [[1.0]], [0.0]), "positive definite"),
        (([[-1.0]], [1.0], [[1.0]], [0.0]), "positive definite"),
        (([[2.0, 1.0], [0.5, 2.0]], [1.0, 1.0], np.zeros((2, 0)), []), "symmetric"),
        (([[1.0]], [1.0, 2.0], [[1.0]], [0.0]), "shapes"),
        (([[1.0]], [np.nan], [[1.0]], [0.0]), "finite"),
        (([[1.0]], [0.0], [[1.0, -1.0]], [-1.0, -1.0]), "no acceleration|no solution"),
    ],
)
def test_misuse_is_a_clear_error(solve, arguments, message):
    with pytest.raises(LCPError, match=message):
        solve(*arguments)


@pytest.mark.parametrize("family", ["degenerate", "copositive", "friction", "Painleve"])
def test_farkas_vector_exists_exactly_where_the_inequalities_contradict(family):
    rng = np.random.default_rng(3)
    for _ in range(25):
        problem = FAMILIES[family](rng, int(rng.integers(1, 7)))
        y, certificate = farkas_certificate(problem), exact.refute(problem)
        assert (y is not None) == (certificate is not None and certificate.is_farkas)
        if y is not None:
            assert (y >= 0).all()
            assert (y @ problem.M <= 1e-6 * np.abs(problem.M).max()).all()
            assert y @ problem.q < 0


def test_feasible_problem_without_solution_has_no_farkas_vector():
    problem = LCP([[1, -1, 3], [2, -1, 3], [-1, -2, 0]], [-1, -1, -1])
    certificate = exact.refute(problem)
    assert certificate is not None
    assert (farkas_certificate(problem) is None) == (not certificate.is_farkas)


def test_relaxed_cone_is_coulomb_where_the_contact_sticks():
    relaxed = friction_cone_relaxation(np.eye(3), [-10.0, 1.0, 2.0], [0.5])
    np.testing.assert_allclose(relaxed.lambda_N, [10], rtol=1e-6)
    np.testing.assert_allclose(relaxed.lambda_T, [[-1, -2]], rtol=1e-6)
    np.testing.assert_allclose(relaxed.contact_acceleration, np.zeros((1, 3)), atol=1e-5)


def test_relaxed_cone_dilates_by_mu_times_the_slip_where_the_contact_slides():
    mu, push = 0.5, 20.0
    relaxed = friction_cone_relaxation(np.eye(3), [-10.0, push, 0.0], [mu])
    slip = np.linalg.norm(relaxed.contact_acceleration[0, 1:])
    assert slip > 1
    # optimality puts the acceleration on the boundary of the dual cone: a_N = mu |a_T|
    assert relaxed.dilation[0] == pytest.approx(mu * slip, rel=1e-5)
    np.testing.assert_allclose(np.hypot(*relaxed.lambda_T[0]), mu * relaxed.lambda_N[0], rtol=1e-5)


@pytest.mark.parametrize("mu", [[-0.1], [0.1, 0.2]])
def test_friction_must_be_one_coefficient_per_contact_and_not_negative(mu):
    with pytest.raises(LCPError, match="mu"):
        friction_cone_relaxation(np.eye(3), [-1.0, 0, 0], mu)
