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


def integer_body(rng):
    """Redundant and contradictory contacts on a mass of one, in small integers, and the exact acceleration."""
    n, k = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    W, h = rng.integers(-2, 3, (n, k)), rng.integers(-3, 4, n)
    zeta = rng.integers(-1, 3, k)
    if rng.random() < 0.5:  # all contacts meet at one acceleration
        zeta = -(W.T @ rng.integers(-2, 3, n)) + rng.integers(0, 2, k) * (rng.random(k) < 0.5)
    forces = exact.find_solution(exact.RationalLCP(W.T @ W, W.T @ h + zeta))
    return W, h, zeta, None if forces is None else np.array(h + W @ np.array(forces), dtype=float)


@pytest.mark.parametrize("solve", [gauss_lcp, gauss_least_constraint])
def test_redundant_and_contradictory_contacts_in_any_units(solve):
    rng, refused = np.random.default_rng(4), 0
    for _ in range(400):
        W, h, zeta, acceleration = integer_body(rng)
        mass, size, lengths = 10.0 ** rng.integers(-6, 7), 10.0 ** rng.integers(-9, 10), 10.0 ** rng.integers(-3, 4, 6)
        lengths = lengths[: len(zeta)]
        body = mass * np.eye(len(h)), mass * size * h, W * lengths, size * zeta * lengths
        if acceleration is None:
            refused += 1
            with pytest.raises(LCPError):
                solve(*body)
        else:
            # 1e-7: integers below ten whose inequalities may hold by rounding, 1e-11, on inclined contacts
            np.testing.assert_allclose(solve(*body).acceleration / size, acceleration, atol=1e-7)
    assert 10 < refused < 200


@pytest.mark.parametrize("solve", [gauss_lcp, gauss_least_constraint])
@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e-6, 1e6, 1e100])
def test_forces_do_not_depend_on_units(solve, size):
    # gravity -1 on a mass of two, and W in units of 1 / size
    for W in (1.0, size):
        answer = solve([[2.0]], [-2.0 * size], [[W]], [0.0])
        np.testing.assert_allclose(answer.lambda_N, [2.0 * size / W], rtol=1e-9)
        np.testing.assert_allclose(answer.acceleration, [0.0], atol=1e-9 * size)


@pytest.mark.parametrize("solve", [gauss_lcp, gauss_least_constraint])
def test_distant_contact_does_not_hide_a_near_one(solve):
    answer = solve([[1.0]], [-1.0], [[1.0, 1.0, 0.0]], [0.0, 1e12, 1e15])
    np.testing.assert_allclose(answer.lambda_N, [1, 0, 0], atol=1e-9)
    with pytest.raises(LCPError, match=r"no acceleration|no solution"):
        solve([[1.0]], [-1.0], [[1.0, -1.0, 0.0]], [0.0, -1e-3, 1e15])


@pytest.mark.parametrize("solve", [gauss_lcp, gauss_least_constraint])
def test_no_coordinates(solve):
    nothing = np.zeros((0, 0)), []
    assert solve(*nothing, np.zeros((0, 1)), [1.0]).lambda_N.tolist() == [0]
    with pytest.raises(LCPError, match=r"no acceleration|no solution"):
        solve(*nothing, np.zeros((0, 1)), [-1.0])


@pytest.mark.parametrize("solve", [gauss_lcp, gauss_least_constraint])
def test_mass_matrix_may_be_asymmetric_by_rounding(solve):
    found = solve([[1, 1e-17], [0, 1]], [1, 2], [[1], [0]], [0]).acceleration
    np.testing.assert_allclose(found, [1, 2], rtol=1e-14)  # a factorisation and two solves of order two


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("inverse_mass", [1e-9, 1.0, 1e9])
def test_relaxed_cone_does_not_depend_on_units(size, inverse_mass):
    # the sliding force f (1, -mu): least of |f|^2 (1 + mu^2) / 2 - f (1 + 2 mu), f = 2 / 1.25 for mu = 1 / 2
    relaxed = friction_cone_relaxation(inverse_mass * np.eye(3), [-size, 2 * size, 0.0], [0.5])
    unit = size / inverse_mass
    np.testing.assert_allclose(relaxed.lambda_N / unit, [1.6], rtol=1e-6)
    np.testing.assert_allclose(relaxed.lambda_T / unit, [[-0.8, 0]], atol=1e-6)
    np.testing.assert_allclose(relaxed.dilation / size, [0.6], rtol=1e-5)


def test_relaxed_cone_of_no_contact():
    assert friction_cone_relaxation(np.zeros((0, 0)), [], []).lambda_T.shape == (0, 2)


@pytest.mark.parametrize("G", [-np.eye(3), np.diag([1.0, 1.0, -0.1]), [[1, 0, 0], [5, 1, 0], [0, 0, 1]]])
def test_relaxed_cone_needs_a_symmetric_positive_semidefinite_matrix(G):
    with pytest.raises(LCPError, match="semidefinite"):
        friction_cone_relaxation(G, [-1.0, 0, 0], [0.5])
