"""Rod on an incline: Mamaev and Ivanova, Russian Journal of Nonlinear Dynamics 9 (2013) 567.

Uniform rod, m = g = l = 1, I = 1/3, lower end on the plane; epsilon is the slope's tangent. Figures were
recomputed by hand (``tests/incline.py``) where the paper prints fewer digits.
"""

from __future__ import annotations

from math import atan, pi, sqrt

import numpy as np
import pytest
from scipy import ndimage
from scipy.optimize import brentq, minimize_scalar

from hybrid.contact import Verdict
from hybrid.contact.sliding import sliding_terms
from tests.catalogue import (
    classified,
    decide,
    delassus,
    is_consistent,
    labels,
    least_critical_friction,
    problem_at,
)
from tests.incline import slide

# Roots of the inertia factor A at mu = 1.5 for either direction of slip.
A_ROOTS = {"A_plus": (1.86665634962, 2.25773002722), "A_minus": (0.883862626373, 1.27493630397)}

# Angle at which the rod with slip < 0 is in moment balance: the saddle of the sliding motion.
SEPARATRIX = [(0.01, 1.56079666011), (0.5, 1.10714871779), (0.75, 0.927295218002), (3.0, 0.321750554397)]

# mu -> least slope at which sticking and separation overlap.
EPSILON_MINUS = [(1.4, 0.3649218941), (1.5, 0.3048058984), (2.0, 0.1909830056), (5.0, 0.0678959631)]


def sliding(phi, phi_dot=0.0, **parameters):
    pins = {"phi": phi, "phi_dot": phi_dot, "slip.tip": 0}
    return sliding_terms(problem_at("rod_on_incline", pins, **parameters), "tip")


def test_least_critical_friction_is_four_thirds():
    def critical(phi):
        G = delassus("rod_on_incline", [0.0, 0.0, phi])
        return G[0, 0] / abs(G[0, 1])

    for bounds in ((0.01, 1.56), (1.58, 3.13)):
        found = minimize_scalar(critical, bounds=bounds, method="bounded", options={"xatol": 1e-10})
        assert found.fun == pytest.approx(4 / 3, rel=1e-12)


def test_critical_friction_finds_four_thirds_and_the_roots():
    found = least_critical_friction("rod_on_incline", "phi=0:pi", mu=1.5)
    assert found.minimum == pytest.approx(4 / 3, rel=1e-12)
    assert min(found.at["phi"], pi - found.at["phi"]) == pytest.approx(atan(2), abs=1e-9)
    assert found.paradox_intervals["slide+"] == (pytest.approx(A_ROOTS["A_plus"], abs=1e-11),)
    assert found.paradox_intervals["slide-"] == (pytest.approx(A_ROOTS["A_minus"], abs=1e-11),)


@pytest.mark.parametrize("factor", sorted(A_ROOTS))
def test_roots_of_the_inertia_factor(factor):
    middle = {"A_plus": pi - atan(2), "A_minus": atan(2)}[factor]  # where A is least
    ends = [(middle - 0.6, middle), (middle, middle + 0.4)]
    found = [brentq(lambda p: getattr(sliding(p, mu=1.5), factor), *end, xtol=1e-14) for end in ends]
    assert found == pytest.approx(A_ROOTS[factor], abs=1e-11)


@pytest.mark.parametrize(("mu", "angle"), SEPARATRIX)
def test_separatrix_angle_is_where_the_contact_force_passes_through_the_centre(mu, angle):
    def turning(phi):
        (branch,) = decide("rod_on_incline", {"phi": phi, "phi_dot": 0, "slip.tip": -1}, mu=mu).branches
        assert branch.mode.label == "slide-"
        return branch.acceleration[2]

    found = brentq(turning, angle - 0.01, min(angle + 0.01, pi / 2 - 1e-9), xtol=1e-13)
    assert found == pytest.approx(angle, abs=1e-9)
    assert found == pytest.approx(atan(1 / mu), abs=1e-11)
    assert turning(found - 1e-3) < 0 < turning(found + 1e-3)  # a saddle: it falls away on either side


def stick_ratio(phi, epsilon):
    """Friction over normal force of the resting rod, from the sticking branch at a large friction."""
    found = decide("rod_on_incline", {"phi": phi, "phi_dot": 0, "slip.tip": 0}, mu=50, epsilon=epsilon)
    (stick,) = (branch for branch in found.branches if branch.mode.label == "stick")
    return stick.lambda_T["tip"][0] / stick.lambda_N["tip"]


@pytest.mark.parametrize(
    ("epsilon", "sign", "bounds", "expected"),
    [
        (0.0, 1, (0.1, 1.4), 0.75),
        (0.0, -1, (1.7, 3.0), 0.75),
        (0.25, 1, (0.1, 1.4), 8 / 19),
        (0.25, -1, (1.7, 3.1), 16 / 13),
    ],
)
def test_friction_from_which_the_rod_can_rest_at_every_angle_of_one_half(epsilon, sign, bounds, expected):
    # Below this friction the domain of pendulum motion has a hole about the line phi_dot = 0.
    found = minimize_scalar(
        lambda phi: -sign * stick_ratio(phi, epsilon),
        bounds=bounds,
        method="bounded",
        options={"xatol": 1e-8},
    )
    assert -found.fun == pytest.approx(expected, abs=1e-12)


def stick_domain(mu, epsilon):
    """Cells of phi in (0, pi), phi_dot in [-6, 6] at which sticking is consistent."""
    phi, phi_dot = (np.arange(300) + 0.5) * pi / 300, np.linspace(-6, 6, 301)
    pins = {"phi": phi[:, None], "phi_dot": phi_dot[None, :], "slip.tip": 0.0}
    return is_consistent(classified("rod_on_incline", pins, mu=mu, epsilon=epsilon), "stick")


def count_pieces_and_holes(domain):
    # Pieces touch by edges, holes by edges and corners, so that a diagonal line of cells separates.
    pieces = ndimage.label(domain)[1]
    outside, n = ndimage.label(~domain, structure=np.ones((3, 3)))
    rim = {*outside[0], *outside[-1], *outside[:, 0], *outside[:, -1]}
    return pieces, n - len(rim - {0})


@pytest.mark.parametrize(
    ("epsilon", "mu", "expected"),
    [
        # On level ground the domain is one piece with two holes, which close at mu = 3/4.
        (0.0, 0.3, (1, 2)),
        (0.0, 0.7, (1, 2)),
        (0.0, 0.8, (1, 0)),
        (0.0, 1.5, (1, 0)),
        # On a slope it falls into pieces for mu < epsilon, the hole at phi < pi/2 closes at 8/19, and the
        # one at phi > pi/2 (open to phi = pi for mu < 1) at 16/13.
        (0.25, 0.2, (3, 1)),
        (0.25, 0.3, (1, 1)),
        (0.25, 0.39, (1, 1)),
        (0.25, 0.45, (1, 0)),
        (0.25, 1.1, (1, 1)),
        (0.25, 1.3, (1, 0)),
    ],
)
def test_topology_of_the_domain_of_pendulum_motion(epsilon, mu, expected):
    assert count_pieces_and_holes(stick_domain(mu, epsilon)) == expected


@pytest.mark.parametrize(("epsilon", "sign"), [(0.25, -1), (0.25, 1), (0.6, -1), (0.6, 1)])
def test_domain_falls_into_pieces_where_friction_cannot_hold_the_slope(epsilon, sign):
    # Beyond tan(phi) = -1/epsilon and outside the friction cone, no rate of turning lets the tip stick when
    # mu < epsilon; the contact force would have to pull.
    mu = epsilon + sign * 1e-3
    phi = pi - (atan(1 / mu) + atan(1 / epsilon)) / 2  # between the directions -1/mu and -1/epsilon
    pins = {"phi": phi, "phi_dot": np.linspace(0, 100, 400_001), "slip.tip": 0.0}
    found = classified("rod_on_incline", pins, mu=mu, epsilon=epsilon)
    assert is_consistent(found, "stick").any() == (sign > 0)


@pytest.mark.parametrize(("mu", "expected"), EPSILON_MINUS)
def test_slope_from_which_sticking_and_separation_overlap(mu, expected):
    # The last overlap is at A_+ = b = 0; there the sticking force changes sign with the slope.
    phi = brentq(lambda p: sliding(p, mu=mu).A_plus, pi / 2, pi - atan(2), xtol=1e-15)
    phi_dot = brentq(lambda w: sliding(phi, w, mu=mu).b, 0.5, 10, xtol=1e-15)
    pins = {"phi": phi, "phi_dot": phi_dot, "slip.tip": 0}

    def sticking_force(epsilon):
        problem = problem_at("rod_on_incline", pins, mu=mu, epsilon=epsilon)
        return np.linalg.solve(problem.G, -problem.c)[0]

    found = brentq(sticking_force, 0, 1, xtol=1e-14)
    assert found == pytest.approx(expected, abs=1e-8)
    assert found == pytest.approx((mu - sqrt(mu * mu - 16 / 9)) / (2 * (1 + 1 / 3)), abs=1e-11)


@pytest.mark.parametrize(("mu", "epsilon_minus"), EPSILON_MINUS)
def test_modes_overlap_just_above_that_slope_and_not_below(mu, epsilon_minus):
    phi_0 = pi - atan(3 * mu / 2 + sqrt(9 * mu * mu - 16) / 2)
    phi, w = np.meshgrid(phi_0 + np.linspace(-2e-3, 2e-3, 81), np.linspace(-2e-3, 8e-3, 81))
    pins = {"phi": phi, "phi_dot": np.sqrt((1 + w) / np.sin(phi)), "slip.tip": 0.0}
    for epsilon, overlap in ((epsilon_minus - 1e-3, False), (epsilon_minus + 1e-3, True)):
        found = classified("rod_on_incline", pins, mu=mu, epsilon=epsilon)
        assert (is_consistent(found, "stick") & is_consistent(found, "free")).any() == overlap


def test_overlap_state_has_three_solutions_on_the_steep_slope_only():
    # mu = 1.5, epsilon = 1: a rod leaning up the slope that turns slightly faster than the plane can hold it.
    phi = pi - atan(2)
    rate = sqrt(1.02 / np.sin(phi))
    pins = {"phi": phi, "phi_dot": rate, "slip.tip": 0}
    steep = decide("rod_on_incline", pins, mu=1.5, epsilon=1)
    assert steep.verdict is Verdict.INDETERMINATE
    assert labels(steep) == ["free", "slide+", "stick"]
    assert labels(decide("rod_on_incline", pins, mu=1.5, epsilon=0.1)) == ["free"]


def flow_by_hand(phi, w, side, *, mu, epsilon):
    """What infinitesimal slip of one sign does: theory of the sliding motion A N + b = 0 on that side."""
    A, b, tangential = (np.asarray(part) for part in slide(np.array(phi), epsilon, mu, side))
    b, tangential = b[0] + b[1] * w, (tangential[0] + tangential[1] * w) / A
    if -b / A <= 0:
        return "separates" if b > 0 else "none"
    return "to sticking" if side * tangential < 0 else "away"


@pytest.mark.parametrize(("mu", "epsilon"), [(0.5, 0.25), (1.5, 0.0), (1.5, 1.0), (3.0, 0.4)])
def test_flow_at_vanishing_slip_and_the_paradoxes_that_follow_from_it(mu, epsilon):
    generator = np.random.default_rng(7)
    seen = set()
    for phi, phi_dot in generator.uniform((0.02, -3), (pi - 0.02, 3), size=(60, 2)):
        found = decide("rod_on_incline", {"phi": phi, "phi_dot": phi_dot, "slip.tip": 0}, mu=mu, epsilon=epsilon)
        report = found.tangential["tip"]
        flows = [flow_by_hand(phi, phi_dot**2, side, mu=mu, epsilon=epsilon) for side in (1, -1)]
        assert [report.plus.flow, report.minus.flow] == flows
        consistent = labels(found)
        seen |= set(consistent)
        # Both directions admitted, a contact at rest always has a solution.
        assert consistent
        assert bool(report.algebraic) == (len(consistent) > 1)
        assert bool(report.dynamic) == ("stick" in consistent and flows != ["to sticking"] * 2)
    assert seen == {"stick", "slide+", "slide-", "free"}


def test_paradox_of_a_rod_that_rests_on_level_ground_is_dynamic():
    # mu = 1.5 > 4/3, tan(phi) = 2: sticking is the only solution at rest, but the slightest slip to -x has
    # none.
    found = decide("rod_on_incline", {"phi": atan(2), "phi_dot": 0, "slip.tip": 0}, mu=1.5)
    report = found.tangential["tip"]
    assert labels(found) == ["stick"]
    assert not report.algebraic
    assert report.dynamic
    assert (report.plus.flow, report.minus.flow) == ("to sticking", "none")
    slipping = decide("rod_on_incline", {"phi": atan(2), "phi_dot": 0, "slip.tip": "-0"}, mu=1.5)
    assert slipping.verdict is Verdict.INCONSISTENT
