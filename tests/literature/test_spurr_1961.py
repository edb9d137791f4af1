"""Sprag-slip of a brake shoe: Spurr 1961, Neimark and Fufaev 1995.

A shoe hinged at O with contact at (a, h) from O and pressing moment Q: J phi'' = Q - N a + s mu N h, so
that the inertia factor is (a^2 - s mu a h) / J; it locks itself for mu > a / h, and otherwise N = Q / (a
- s mu h).
"""

from __future__ import annotations

import pytest

from hybrid.contact import Verdict
from hybrid.contact.sliding import sliding_terms
from tests.catalogue import decide, labels, least_critical_friction, problem_at


@pytest.mark.parametrize(("a", "h", "mu", "Q"), [(1.0, 2.0, 0.3, 1.0), (0.4, 0.5, 0.79, 3.0), (2.0, 1.0, 1.9, 0.1)])
def test_normal_force_below_self_locking(a, h, mu, Q):
    found = decide("brake_shoe", {}, a=a, h=h, mu=mu, Q=Q)
    assert found.verdict is Verdict.UNIQUE
    assert labels(found) == ["slide+"]
    assert found.branches[0].lambda_N["tip"] == pytest.approx(Q / (a - mu * h), rel=1e-12)


@pytest.mark.parametrize(("a", "h", "J"), [(1.0, 2.0, 1.0), (0.4, 0.5, 2.0), (2.0, 1.0, 0.7)])
def test_critical_friction_is_the_cotangent_of_the_inclination(a, h, J):
    terms = sliding_terms(problem_at("brake_shoe", {}, a=a, h=h, J=J, mu=0.9), "tip")
    assert terms.critical_friction == pytest.approx(a / h, rel=1e-12)
    assert terms.A_plus == pytest.approx((a * a - 0.9 * a * h) / J, rel=1e-12)
    assert terms.A_minus == pytest.approx((a * a + 0.9 * a * h) / J, rel=1e-12)


def test_least_critical_friction_is_at_the_highest_hinge():
    found = least_critical_friction("brake_shoe", "h=0.5:4", a=0.8)
    assert found.minimum == pytest.approx(0.8 / 4, rel=1e-12)
    assert found.at == pytest.approx({"h": 4}, abs=1e-9)


def test_pressed_shoe_beyond_self_locking_has_no_solution_and_a_lifted_one_has_two():
    assert decide("brake_shoe", {}, mu=0.500001).verdict is Verdict.INCONSISTENT
    assert decide("brake_shoe", {}, mu=0.499999).verdict is Verdict.UNIQUE
    assert labels(decide("brake_shoe", {}, mu=0.6, Q=-1)) == ["free", "slide+"]


def test_belt_that_runs_away_from_the_hinge_never_locks():
    found = decide("brake_shoe", {}, mu=5, belt_speed=-1)
    assert labels(found) == ["slide-"]
    assert found.branches[0].lambda_N["tip"] == pytest.approx(1 / (1 + 5 * 2), rel=1e-12)
