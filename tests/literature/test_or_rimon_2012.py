"""Mass added to the foot of a sliding rod: Or and Rimon 2012.

A rod with a slider M at its foot is a free rod of alpha = m^2 l^2 / ((M + m) J + M m l^2), so that
mu_P = 2 sqrt(1 + alpha) / alpha.
"""

from __future__ import annotations

from math import atan, sqrt

import pytest
from scipy.optimize import minimize_scalar

from hybrid.contact import Verdict
from tests.catalogue import decide, delassus, labels, least_critical_friction
from tests.closed_forms import slider_pendulum_alpha

UNIFORM = [
    (0.0, 1.33333),
    (0.05, 1.496663),
    (0.1, 1.654623),
    (0.25, 2.108185),
    (0.5, 2.828427),
    (1.0, 4.21637),
]


def by_minimisation(**parameters):
    def critical(theta):
        G = delassus("slider_pendulum", [0.0, 0.0, theta], **parameters)
        return G[0, 0] / abs(G[0, 1])

    return minimize_scalar(critical, bounds=(0.01, 1.56), options={"xatol": 1e-10})


@pytest.mark.parametrize(("M", "expected"), UNIFORM)
def test_slider_under_a_uniform_rod(M, expected):
    found = by_minimisation(M=M)
    second = least_critical_friction("slider_pendulum", "theta=0:pi/2", M=M)
    assert second.minimum == pytest.approx(expected, abs=5e-6)
    assert second.minimum == pytest.approx(found.fun, rel=1e-12)
    assert found.fun == pytest.approx(4 * sqrt((M + 1) * (4 * M + 1)) / 3, rel=1e-12)


@pytest.mark.parametrize(("M", "m"), [(0.25, 1.0), (1.0, 1.0), (0.5, 3.0)])
def test_slider_under_a_point_mass(M, m):
    found = least_critical_friction("slider_pendulum", "theta=0:pi/2", M=M, m=m, J=0)
    assert found.minimum == pytest.approx(by_minimisation(M=M, m=m, J=0).fun, rel=1e-12)
    assert found.minimum == pytest.approx(2 * sqrt(M * (M + m)) / m, rel=1e-12)


def test_verdict_changes_at_the_least_critical_friction():
    # The inertia factor changes sign at mu_P in the worst posture tan theta = sqrt(1 + alpha); the free
    # acceleration of a slider on the floor is -g there at rest.
    alpha = slider_pendulum_alpha({"M": 0.25, "m": 1, "l": 1, "J": 1 / 3})
    pins = {"theta": atan(sqrt(1 + alpha)), "theta_dot": 0, "slip.floor": 1}
    limit = 2 * sqrt(1 + alpha) / alpha
    assert labels(decide("slider_pendulum", pins, mu=limit - 1e-6)) == ["slide+"]
    assert decide("slider_pendulum", pins, mu=limit + 1e-6).verdict is Verdict.INCONSISTENT
