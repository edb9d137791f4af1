"""Genot-Brogliato points: closed forms of the rod, and trajectories that run into them."""

from math import atan, cos, pi, sin, sqrt, tan

import numpy as np
import pytest

from hybrid.analysis import Axis, ForceAtPoint, genot_brogliato_points
from hybrid.errors import StateError
from tests.catalogue import dynamics_of

PLANE = [Axis("theta", 0, pi / 2), Axis("theta_dot", 0, 4)]
MU_GB = 8 / (3 * sqrt(3))


def points(mu, slip=1, plane=PLANE, **parameters):
    rod = dynamics_of("painleve_rod")
    return genot_brogliato_points(rod, over=plane, pins={"slip.tip": slip}, parameters={"mu": mu, **parameters})


@pytest.mark.parametrize("alpha", [2.0, 3.0, 8.0])
@pytest.mark.parametrize("excess", [1.001, 1.1, 1.3, 2.0])
def test_rod_points_and_eigenvalues(alpha, excess):
    # p = 1 + alpha c (c - mu s), b = -1 + omega^2 s: p = b = 0 at the two roots of p, omega = 1/sqrt(s);
    # eigenvalues p' omega and -2 omega tan(theta) (Genot and Brogliato 1999)
    mu = excess * 2 * sqrt(1 + alpha) / alpha
    found = points(mu, alpha=alpha)
    root = sqrt((mu * alpha) ** 2 - 4 * (1 + alpha))
    thetas = [atan((mu * alpha + sign * root) / 2) for sign in (-1, 1)]
    assert [point.at["theta"] for point in found] == pytest.approx(thetas, abs=1e-12 / (excess - 1))
    for point in found:
        theta, omega = point.at.values()
        assert omega == pytest.approx(1 / sqrt(sin(theta)), rel=1e-13)
        slope = -alpha * (sin(2 * theta) + mu * cos(2 * theta))
        expected = (slope * omega, -2 * omega * tan(theta))
        scale = max(map(abs, expected))
        assert point.eigenvalues == pytest.approx(expected, abs=1e-10 * scale)
        assert point.mode.value == "slide+"
    assert [point.is_node for point in found] == [True, False]


@pytest.mark.parametrize(("mu", "rate"), [(1.5, 1.137249), (1.6, 1.169079)])
def test_rates_at_the_first_point(mu, rate):
    assert points(mu)[0].at["theta_dot"] == pytest.approx(rate, abs=5e-7)


@pytest.mark.parametrize(
    ("mu", "force"),
    [(1.35, "BOUNDED"), (MU_GB - 1e-6, "BOUNDED"), (MU_GB + 1e-6, "UNBOUNDED"), (3.0, "UNBOUNDED")],
)
def test_force_stays_bounded_below_8_over_3_sqrt_3_only(mu, force):
    node, other = points(mu)
    assert node.force is ForceAtPoint[force]
    assert other.force is ForceAtPoint.NOT_APPROACHED


def test_eigenvalues_are_equal_at_the_published_friction():
    node = points(MU_GB)[0]
    assert node.eigenvalues[0].real / node.eigenvalues[1].real == pytest.approx(1, abs=1e-11)
    assert node.exponent == pytest.approx(0, abs=1e-11)


@pytest.mark.parametrize("alpha", [1.0, 3.0, 10.0])
def test_that_friction_is_two_over_root_three_of_the_critical_one(alpha):
    node = points(4 * sqrt(1 + alpha) / (sqrt(3) * alpha), alpha=alpha)[0]
    assert node.exponent == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("mu", [1.45, 1.8])
def test_force_on_the_way_to_the_node(mu):
    # Follow the sliding equations in the rescaled time, with p and b by hand, and watch lambda_N = -b/p: it goes
    # like p^exponent when that is negative, else to the limit. (A negative one means that a real rod lifts off.)
    node = points(mu)[0]

    def factors(x):
        s, c = sin(x[0]), cos(x[0])
        return 1 + 3 * c * (c - mu * s), -1 + x[1] ** 2 * s, 3 * (c - mu * s)

    def rates(x):
        p, b, turn = factors(x)
        return np.array([p * x[1], b * turn])

    x, step, seen = np.array([*node.at.values()]) - [0.02, 0.05], 1e-3, []
    while (p := factors(x)[0]) > 1e-6:
        seen.append((p, -factors(x)[1] / p))
        k1 = rates(x)
        k2 = rates(x + step / 2 * k1)
        k3 = rates(x + step / 2 * k2)
        x = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + rates(x + step * k3))
    (p1, N1), (p2, N2) = seen[-500], seen[-1]
    if node.force is ForceAtPoint.UNBOUNDED:
        assert np.log(N2 / N1) / np.log(p2 / p1) == pytest.approx(node.exponent, rel=1e-2)
        assert N2 > N1 > 20
    else:
        assert node.exponent > 0
        left = [(N - node.limit_force) / p**node.exponent for p, N in (seen[-500], seen[-1])]
        assert left[1] == pytest.approx(left[0], rel=1e-2)
        assert abs(N2 - node.limit_force) < 0.05 * abs(N2)  # p^exponent is 6e-4 here


def test_glockers_rod_runs_into_45_degrees():
    # mu = 5/3, g = 10: theta_dot = sqrt(10 / sin 45 degrees) = 3.7606031
    node = points(5 / 3, plane=[Axis("theta", 0.3, 1.0), Axis("theta_dot", 0, 8)], g=10)[0]
    assert node.at == {"theta": pytest.approx(pi / 4, abs=1e-12), "theta_dot": pytest.approx(3.7606031, abs=5e-8)}
    assert node.force is ForceAtPoint.UNBOUNDED


def test_slip_chooses_the_mode():
    rod = dynamics_of("rod_on_incline")
    plane = [Axis("phi", 0, pi), Axis("phi_dot", -4, 4)]
    found = {
        slip: genot_brogliato_points(rod, over=plane, pins={"slip.tip": slip}, parameters={"mu": 1.5})
        for slip in (0, "+0", "-0", 2)
    }
    assert [len(found[slip]) for slip in (0, "+0", "-0", 2)] == [8, 4, 4, 4]
    assert {point.mode.value for point in found["+0"]} == {"slide+"}
    assert {point.mode.value for point in found["-0"]} == {"slide-"}
    # a rod that turns the other way leaves the point instead of reaching it
    for point in found["-0"]:
        approached = point.force is not ForceAtPoint.NOT_APPROACHED
        assert approached == (point.at["phi"] < 1 and point.at["phi_dot"] > 0)


def test_there_are_none_below_the_critical_friction():
    assert points(1.3) == ()


def test_units_do_not_matter_to_the_exponent():
    # The same rod in millimetres and milliseconds: the flow is the same up to the unit of time.
    plane = [PLANE[0], Axis("theta_dot", 0, 400)]
    node, other = points(1.6)[0], points(1.6, plane=plane, l=1e-3, g=9.81)[0]
    assert other.exponent == pytest.approx(node.exponent, rel=1e-9)
    assert other.at["theta"] == pytest.approx(node.at["theta"], abs=1e-12)


def test_what_is_refused():
    with pytest.raises(StateError, match="two quantities"):
        genot_brogliato_points(dynamics_of("painleve_rod"), over=PLANE[:1])
    with pytest.raises(StateError, match="spatial"):
        genot_brogliato_points(dynamics_of("oblique_rod"), over=PLANE)
