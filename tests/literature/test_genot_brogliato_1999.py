"""Painleve's rod: Genot and Brogliato 1999, Hogan and Kristiansen 2017, Champneys and Varkonyi 2016.

alpha = m l^2 / J, 3 for a uniform rod; m = l = g = 1. The printed digits were recomputed from the closed
forms.
"""

from __future__ import annotations

from math import atan, cos, degrees, pi, radians, sin, sqrt, tan

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from hybrid import Termination, simulate, solve_state
from hybrid.analysis import Axis, ForceAtPoint, genot_brogliato_points
from hybrid.contact import Verdict, verify_certificate
from hybrid.contact.sliding import sliding_terms
from hybrid.motion import Penalty
from tests.catalogue import decide, delassus, dynamics_of, labels, least_critical_friction, problem_at

# (theta, theta_dot) -> number of solutions and normal forces of the sliding ones, alpha = 3, mu = 1.5.
SOLUTIONS = [
    (0.5, 0.0, Verdict.UNIQUE, {"slide+": 0.705645}),
    (1.0, 0.5, Verdict.INCONSISTENT, {}),
    (1.0, 1.3, Verdict.INDETERMINATE, {"free": 0.0, "slide+": 2.480823}),
    (1.4, 0.5, Verdict.UNIQUE, {"slide+": 2.263562}),
    (0.5, 2.0, Verdict.UNIQUE, {"free": 0.0}),
]

# mu -> ends of the interval of theta with a paradox, in degrees, alpha = 3.
INTERVALS = [
    (1.4, 55.5858, 69.9519),
    (1.5, 50.6416, 73.0485),
    (5 / 3, 45.0, 75.9638),
    (2.0, 37.3774, 79.1877),
]


def sliding(theta, theta_dot, mu, **parameters):
    pins = {"theta": theta, "theta_dot": theta_dot, "slip.tip": 1}
    return sliding_terms(problem_at("painleve_rod", pins, mu=mu, **parameters), "tip")


def critical(theta, alpha):
    G = delassus("painleve_rod", [0.0, 0.0, theta], alpha=alpha)
    return G[0, 0] / abs(G[0, 1])


@pytest.mark.parametrize(("theta", "theta_dot", "verdict", "forces"), SOLUTIONS)
def test_number_of_solutions_and_their_forces(theta, theta_dot, verdict, forces):
    found = decide("painleve_rod", {"theta": theta, "theta_dot": theta_dot, "slip.tip": 1}, mu=1.5)
    assert found.verdict is verdict
    assert found.count == len(forces)
    assert {b.mode.label: b.lambda_N["tip"] for b in found.branches} == pytest.approx(forces, abs=5e-7)
    assert (found.certificate is not None) == (verdict is Verdict.INCONSISTENT)
    assert found.certificate is None or verify_certificate(found.certificate)


@pytest.mark.parametrize("theta_dot", [0.5, 1.3])
def test_inertia_factor_and_free_acceleration_at_the_paradox(theta_dot):
    terms = sliding(1.0, theta_dot, 1.5)
    assert terms.A_plus == pytest.approx(-0.170139, abs=5e-7)
    assert terms.b == pytest.approx({0.5: -0.789632, 1.3: 1.3**2 * sin(1.0) - 1}[theta_dot], abs=5e-7)


@pytest.mark.parametrize("alpha", [0.7, 1.0, 3.0, 8.0])
def test_least_critical_friction_over_postures(alpha):
    # mu_P = 2 sqrt(1 + alpha) / alpha at tan theta = sqrt(1 + alpha); 4/3 at 63.43495 degrees for a
    # uniform rod. The minimum is quadratic, so its place is good to the square root of the rounding unit
    # only.
    found = minimize_scalar(lambda t: critical(t, alpha), bounds=(0.01, 1.56), options={"xatol": 1e-10})
    assert found.fun == pytest.approx(2 * sqrt(1 + alpha) / alpha, rel=1e-12)
    assert found.x == pytest.approx(atan(sqrt(1 + alpha)), abs=1e-6)
    if alpha == 3.0:
        assert found.fun == pytest.approx(4 / 3, rel=1e-12)
        assert degrees(found.x) == pytest.approx(63.43495, abs=1e-4)


@pytest.mark.parametrize("alpha", [0.7, 1.0, 3.0, 8.0])
def test_critical_friction_finds_minimum_and_posture(alpha):
    found = least_critical_friction("painleve_rod", "theta=0:pi/2", alpha=alpha)
    assert found.minimum == pytest.approx(2 * sqrt(1 + alpha) / alpha, rel=1e-12)
    assert found.at["theta"] == pytest.approx(atan(sqrt(1 + alpha)), abs=1e-9)
    assert found.mode == "slide+"


@pytest.mark.parametrize(("mu", "low", "high"), INTERVALS)
def test_critical_friction_finds_the_paradoxical_postures(mu, low, high):
    found = least_critical_friction("painleve_rod", "theta=0:pi", mu=mu)
    (interval,) = found.paradox_intervals["slide+"]
    assert np.degrees(interval) == pytest.approx([low, high], abs=5e-5)
    exact = [atan((3 * mu + sign * sqrt(9 * mu * mu - 16)) / 2) for sign in (-1, 1)]
    assert interval == pytest.approx(exact, abs=1e-12)
    (mirrored,) = found.paradox_intervals["slide-"]
    assert mirrored == pytest.approx([pi - exact[1], pi - exact[0]], abs=1e-12)


@pytest.mark.parametrize(("mu", "low", "high"), INTERVALS)
def test_postures_with_a_negative_inertia_factor(mu, low, high):
    middle = atan(2)
    ends = [brentq(lambda t: sliding(t, 0, mu).A_plus, *bracket) for bracket in ((0.1, middle), (middle, 1.5))]
    assert np.degrees(ends) == pytest.approx([low, high], abs=5e-5)
    exact = [(3 * mu + sign * sqrt(9 * mu * mu - 16)) / 2 for sign in (-1, 1)]
    assert np.tan(ends) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize(("mu", "rate"), [(1.5, 1.137249), (1.6, 1.169079)])
def test_singular_point_where_inertia_factor_and_free_acceleration_vanish(mu, rate):
    theta = brentq(lambda t: sliding(t, 0, mu).A_plus, 0.1, atan(2))
    theta_dot = brentq(lambda w: sliding(theta, w, mu).b, 0.5, 2)
    assert theta_dot == pytest.approx(rate, abs=5e-7)
    assert theta_dot == pytest.approx(sqrt(1 / sin(theta)), rel=1e-10)


@pytest.mark.parametrize(("alpha", "mu"), [(3.0, 1.4), (3.0, 1.6), (5.0, 1.2)])
def test_verdicts_around_the_singular_point_are_the_four_of_the_table(alpha, mu):
    theta = brentq(lambda t: sliding(t, 0, mu, alpha=alpha).A_plus, 0.1, atan(sqrt(1 + alpha)))
    rate = sqrt(1 / sin(theta))
    pins = {"slip.tip": 1}
    found = {
        (i, j): labels(
            decide(
                "painleve_rod",
                {**pins, "theta": theta + i * 1e-3, "theta_dot": rate + j * 0.1},
                mu=mu,
                alpha=alpha,
            )
        )
        for i in (-1, 1)
        for j in (-1, 1)
    }
    assert found == {(-1, -1): ["slide+"], (-1, 1): ["free"], (1, -1): [], (1, 1): ["free", "slide+"]}


def test_sliding_with_the_other_sign_of_slip_has_no_paradox_on_this_side():
    for theta in np.linspace(0.05, pi / 2, 20):
        pins = {"theta": theta, "theta_dot": 0.5, "slip.tip": -1}
        assert decide("painleve_rod", pins, mu=5).verdict is Verdict.UNIQUE


@pytest.mark.parametrize("mu", [1.4, 1.6])
def test_node_eigenvalues_of_the_rescaled_flow(mu):
    # In time dt = A d(tau) the linearised flow of theta, theta_dot at A = b = 0 has the eigenvalues
    # A'(theta) omega and -2 omega tan(theta). Their ratio reaches 1 at mu_GB = 4 sqrt(1 + alpha) /
    # (sqrt(3) alpha) = 8 / (3 sqrt 3), below which the contact force stays bounded on the way to the
    # node.
    theta = brentq(lambda t: sliding(t, 0, mu).A_plus, 0.1, atan(2))
    omega = sqrt(1 / sin(theta))

    def rescaled(x):
        # theta' = A theta_dot, theta_dot' = A (acceleration of the sliding branch)
        pins = {"theta": x[0], "theta_dot": x[1], "slip.tip": 1}
        problem = problem_at("painleve_rod", pins, mu=mu)
        terms = sliding_terms(problem, "tip")
        turn = -3 * (cos(x[0]) - mu * sin(x[0])) * -terms.b  # A theta'' = moment of A lambda_N = -b
        return np.array([terms.A_plus * x[1], turn])

    x0, step = np.array([theta, omega]), 1e-5
    jacobian = np.column_stack([(rescaled(x0 + d) - rescaled(x0 - d)) / (2 * step) for d in np.eye(2) * step])
    slope = -3 * sin(2 * theta) - 3 * mu * cos(2 * theta)  # dA/dtheta of A = 1 + 3 c (c - mu s)
    # Central differences of step 1e-5 leave 1e-10 of truncation and 1e-11 of rounding.
    assert sorted(np.linalg.eigvals(jacobian)) == pytest.approx(
        sorted([slope * omega, -2 * omega * tan(theta)]), rel=1e-7
    )
    ratio = 2 * tan(theta) / -slope
    assert (ratio > 1) == (mu < 8 / (3 * sqrt(3)))


def points(mu, **parameters):
    plane = [Axis("theta", 0, pi / 2), Axis("theta_dot", -5, 5)]
    parameters = {"mu": mu, **parameters}
    return genot_brogliato_points(dynamics_of("painleve_rod"), over=plane, pins={"slip.tip": 1}, parameters=parameters)


@pytest.mark.parametrize(("alpha", "mu"), [(3.0, 1.4), (3.0, 1.5), (3.0, 1.6), (3.0, 5.0), (5.0, 1.2)])
def test_all_singular_points_and_their_eigenvalues(alpha, mu):
    found = points(mu, alpha=alpha)
    root = sqrt(mu * mu * alpha * alpha - 4 * (1 + alpha))
    first, second = (atan((mu * alpha + sign * root) / 2) for sign in (-1, 1))
    expected = [(t, sign * sqrt(1 / sin(t))) for t in (first, second) for sign in (-1, 1)]
    # Newton's method with differences: the points are good to rounding over the slope of A, which is at
    # least 0.1.
    np.testing.assert_allclose([list(p.at.values()) for p in found], expected, atol=1e-11)
    for point, (theta, omega) in zip(found, expected, strict=True):
        slope = -alpha * (sin(2 * theta) + mu * cos(2 * theta))
        # Sixth-order differences leave about 1e-11.
        assert np.real(point.eigenvalues) == pytest.approx([slope * omega, -2 * omega * tan(theta)], rel=1e-8)
        assert point.is_node == (theta == first)
        # Sliding motions run into the first point where they raise the centre (theta_dot > 0).
        assert (point.force is ForceAtPoint.NOT_APPROACHED) == (theta == second or omega < 0)


@pytest.mark.parametrize("alpha", [1.0, 3.0, 8.0])
def test_contact_force_stays_bounded_up_to_the_friction_of_genot_and_brogliato(alpha):
    # mu_GB = 4 sqrt(1 + alpha) / (sqrt(3) alpha), 8 / (3 sqrt(3)) = 1.5396007 for a uniform rod, where
    # the two eigenvalues are equal; there cos(theta)^2 = 3 / (4 + alpha).
    limit = 4 * sqrt(1 + alpha) / (sqrt(3) * alpha)
    if alpha == 3:
        assert limit == pytest.approx(1.5396007, abs=5e-8)

    def node(mu):
        (found,) = (p for p in points(mu, alpha=alpha) if p.force is not ForceAtPoint.NOT_APPROACHED)
        return found

    assert node(limit * (1 - 1e-4)).force is ForceAtPoint.BOUNDED
    assert node(limit * (1 + 1e-4)).force is ForceAtPoint.UNBOUNDED
    assert node(limit).exponent == pytest.approx(0, abs=1e-7)
    assert cos(node(limit).at["theta"]) ** 2 == pytest.approx(3 / (4 + alpha), rel=1e-10)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (-1e-3, "singular", "stays bounded; it falls to zero before that point"),
        (0.0, "singular", "whether it stays bounded is not decided"),
        (1e-3, "impact without collision", "grows like A_s^"),
    ],
)
def test_motions_tell_a_bounded_force_from_one_that_grows(change, kind, words):
    # The exponent is the ratio of the eigenvalues less 1. On the bounded side the force tends to w^3 cos(theta) over
    # minus the rate of -A_s and the exponent, which is negative: the rod lifts off just before the point.
    mu = 8 / (3 * sqrt(3)) * (1 + change)
    theta = atan((3 * mu - sqrt(9 * mu * mu - 16)) / 2)
    exponent = 2 * tan(theta) / (3 * (sin(2 * theta) + mu * cos(2 * theta))) - 1
    rod = dynamics_of("painleve_rod")
    pins = {"theta": theta - 0.02, "theta_dot": 0.3 / sqrt(sin(theta)), "slip.tip": 20}
    start = solve_state(rod, pins, parameters={"mu": mu})
    motion = simulate(rod, start, t_end=0.1, parameters={"mu": mu}, rule=Penalty())
    assert (motion.events[0].kind.value, words in motion.events[0].note) == (kind, True)
    assert np.sign(round(exponent, 9)) == -np.sign(change)
    stopped = simulate(rod, start, t_end=0.1, parameters={"mu": mu})
    assert (stopped.termination, words in stopped.cause, "grow" in stopped.cause) == (
        Termination.SINGULAR, True, change > 0
    )  # fmt: skip
    if change > 0:
        assert float(stopped.cause.rsplit("^", 1)[1]) == pytest.approx(exponent, abs=1e-5)


def test_uniform_rod_at_45_degrees_has_its_paradox_at_five_thirds():
    # The rod of Glocker's impact without collision, 1995, section 5.3.4: mu = 5/3, J = 1/3, g = 10. It
    # slides into the singular point at 45 degrees and theta_dot = sqrt(10 / sin 45 degrees) = 3.7606031.
    terms = sliding(radians(45), sqrt(10 / sin(radians(45))), 5 / 3, g=10)
    assert terms.A_plus == pytest.approx(0, abs=1e-12)
    assert terms.b == pytest.approx(0, abs=1e-12)
    (found,) = (p for p in points(5 / 3, g=10) if p.force is ForceAtPoint.UNBOUNDED)
    assert degrees(found.at["theta"]) == pytest.approx(45, abs=1e-9)
    assert found.at["theta_dot"] == pytest.approx(3.7606031, abs=5e-8)
    assert sqrt(10 / sin(radians(45))) == pytest.approx(3.7606031, abs=5e-8)
