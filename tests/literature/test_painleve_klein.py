"""Painleve 1895 and Klein 1910: two masses on parallel rough rails, joined by a massless rod at the angle phi.

With T the rod's force, positive in compression, and s the sign of the velocity,
m1 x'' = P1 - s mu1 sin(phi) |T| + T cos(phi) and m2 x'' = P2 - s mu2 sin(phi) |T| - T cos(phi), so that
cos(phi) (m1 + m2) T - s sin(phi) (m2 mu1 - m1 mu2) |T| = m1 P2 - m2 P1.
"""

from __future__ import annotations

from math import cos, sin, tan

import numpy as np
import pytest

from hybrid import Axis, Verdict, build_report, region_map, render_markdown, solve_state, verify_certificate
from tests.catalogue import decide, dynamics_of, labels

PINS = {"x1": 0}


def solutions(p: dict[str, float], s: int) -> list[tuple[float, float]]:
    """Every force T with its acceleration: one equation for T > 0 and one for T < 0."""
    right = p["m1"] * p["P2"] - p["m2"] * p["P1"]
    found = []
    for side in (1, -1):
        slope = cos(p["phi"]) * (p["m1"] + p["m2"])
        slope -= side * s * sin(p["phi"]) * (p["m2"] * p["mu1"] - p["m1"] * p["mu2"])
        T = right / slope
        if T * side > 0:
            drag = s * p["mu1"] * sin(p["phi"]) * abs(T)
            found.append((T, (p["P1"] - drag + T * cos(p["phi"])) / p["m1"]))
    return found


def draw(generator: np.random.Generator) -> dict[str, float]:
    masses = {"m1": (0.5, 2), "m2": (0.5, 2), "phi": (0.3, 1.4)}
    box = masses | {"mu1": (0, 4), "mu2": (0, 4), "P1": (-2, 2), "P2": (-2, 2)}
    return {name: float(generator.uniform(*interval)) for name, interval in box.items()}


def test_both_rails_rough_every_solution_is_found():
    generator = np.random.default_rng(12)
    counts = {0: 0, 1: 0, 2: 0}
    for _ in range(40):
        p, s = draw(generator), int(generator.choice([1, -1]))
        found = decide("painleve_klein", PINS | {"x1_dot": s}, **p)
        expected = solutions(p, s)
        counts[len(expected)] += 1
        assert found.count == len(expected)
        assert found.verdict is (Verdict.INCONSISTENT, Verdict.UNIQUE, Verdict.INDETERMINATE)[len(expected)]
        branches = sorted((b.acceleration[0], b.lambda_N["rail1"]) for b in found.branches)
        # the first rail pushes back the rod's force across the rails
        hand = sorted((a, -T * sin(p["phi"])) for T, a in expected)
        np.testing.assert_allclose(branches, hand, rtol=1e-10, atol=1e-12)
        for branch in found.branches:
            assert branch.lambda_N["rail2"] == pytest.approx(-branch.lambda_N["rail1"], rel=1e-12)
        if not expected:
            assert verify_certificate(found.certificate)
    assert min(counts.values()) >= 3  # the box shows none, one and two


@pytest.mark.parametrize("mu2", [0.0, 0.7])
@pytest.mark.parametrize("s", [1, -1])
def test_paradox_begins_at_the_critical_friction(s, mu2):
    m1, m2, phi = 1.0, 2.0, 1.1
    critical = ((m1 + m2) / tan(phi) + m1 * mu2) / m2
    if mu2 == 0:
        assert critical == pytest.approx((m1 + m2) / (m2 * tan(phi)))
    for mu1, paradoxical in ((critical * (1 - 1e-9), False), (critical * (1 + 1e-9), True)):
        for P1 in (1.0, -1.0):
            found = decide("painleve_klein", PINS | {"x1_dot": s}, m1=m1, m2=m2, phi=phi, mu1=mu1, mu2=mu2, P1=P1)
            assert (found.count != 1) == paradoxical
    # the determinant of one sign has two solutions, of the other none
    counts = {
        P1: decide("painleve_klein", PINS | {"x1_dot": s}, m1=m1, m2=m2, phi=phi, mu1=2 * critical, P1=P1).count
        for P1 in (1.0, -1.0)
    }
    assert counts == {s * 1.0: 2, s * -1.0: 0}


def test_equally_rough_rails_with_equal_masses_have_no_paradox():
    for mu in (0.5, 5.0, 500.0):
        assert decide("painleve_klein", PINS | {"x1_dot": 1}, mu1=mu, mu2=mu).count == 1


def test_map_over_both_frictions_shows_the_wedges_of_the_formula():
    axes = [Axis.parse("mu1=0:4:40"), Axis.parse("mu2=0:4:40")]
    found = region_map(dynamics_of("painleve_klein"), axes=axes, pins={"x1": 0, "x1_dot": 1})
    # m1 = m2 = 1, P1 = 1, P2 = 0: paradox where |mu1 - mu2| > 2/tan(1), cells by their centres
    centres = (np.arange(40) + 0.5) * 0.1
    difference = centres[:, None] - centres[None, :]
    two, none = np.mean(difference > 2 / tan(1)), np.mean(difference < -2 / tan(1))
    assert found.verdict_fractions["INDETERMINATE"] == pytest.approx(two, abs=1e-12)
    assert found.verdict_fractions["INCONSISTENT"] == pytest.approx(none, abs=1e-12)
    assert found.mode_fractions["none"] == pytest.approx(none, abs=1e-12)


def test_boundary_of_the_paradox_is_drawn_where_two_solutions_share_their_labels():
    axes = [Axis.parse("phi=0.1:1.5:20"), Axis.parse("mu1=0:3:20")]
    found = region_map(dynamics_of("painleve_klein"), axes=axes, pins={"x1": 0, "x1_dot": 1}, with_boundaries=True)
    sliding = "rail1=slide+,rail2=slide+"
    assert set(found.mode_fractions) == {sliding, f"{sliding} (indeterminate)"}
    (boundary,) = found.boundaries
    phi, mu = boundary.points.T
    # unit masses, one rough rail: mu1 = (m1 + m2) cot(phi)/m2; bisected to about 1e-9 of the axes
    np.testing.assert_allclose(mu * np.tan(phi), 2, atol=1e-6)
    assert phi.min() < 0.6
    assert phi.max() > 1.49


def test_report_tells_both_solutions_and_no_critical_friction_of_one_rail_alone():
    klein = dynamics_of("painleve_klein")
    pins, parameters = {"x1": 0, "x1_dot": 1}, {"mu1": 2}
    state = solve_state(klein, pins, parameters=parameters)
    axes = [Axis.parse("mu1=0:4:8"), Axis.parse("P1=-1:1:8")]
    page = render_markdown(build_report(klein, state, parameters=parameters, axes=axes, pins=pins))
    assert "several contact modes are consistent" in page.lower()
    T = [T for T, _ in solutions({"m1": 1, "m2": 1, "phi": 1, "mu1": 2, "mu2": 0, "P1": 1, "P2": 0}, 1)]
    for force in T:
        assert f"{abs(force) * sin(1):.6f}"[:6] in page
    assert "critical friction" not in page.lower()


@pytest.mark.parametrize(("mu", "wedged"), [(0.5, False), (0.8, True)])
def test_at_rest_the_rod_wedges_between_rails_rougher_than_the_cotangent(mu, wedged):
    # both rest: m2 holds for |T| cos(phi) <= mu |T| sin(phi), m1 for |P1 + T cos(phi)| <= mu |T| sin(phi)
    P1, phi = 0.1, 1.0
    assert (mu * tan(phi) >= 1) == wedged
    found = decide("painleve_klein", PINS | {"x1_dot": 0}, mu1=mu, mu2=mu, P1=P1)
    if not wedged:
        assert found.verdict is Verdict.UNIQUE
        assert labels(found) == ["rail1=slide+,rail2=slide+"]
        return
    assert found.verdict is Verdict.HYPERSTATIC
    assert labels(found) == ["rail1=stick,rail2=stick"]
    np.testing.assert_allclose(found.branches[0].acceleration, 0, atol=1e-12)
    # the rod's force from -P1/(mu sin + cos) down, or from P1/(mu sin - cos) up, without bound
    ends = [-P1 / (mu * sin(phi) + cos(phi)), P1 / (mu * sin(phi) - cos(phi))]
    normal = found.force_set.names.index("lambda_N.rail1")
    assert sorted(found.force_set.vertices[:, normal]) == pytest.approx(sorted(-T * sin(phi) for T in ends), rel=1e-9)
    assert sorted(found.force_set.rays[:, normal]) == pytest.approx([-1, 1], rel=1e-9)
