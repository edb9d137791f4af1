"""Housner, The behavior of inverted pendulum structures during earthquakes, BSSA 53 (1963) 403.

A block of half width b and half height h turns about one corner, then about the other: with R^2 = b^2 + h^2 and
tan(alpha) = b/h, psi = alpha - |phi| obeys psi'' = p^2 sin(psi), p^2 = 3 g/(4 R).
"""

from math import acosh, atan2, cos, hypot, pi, sin, sqrt

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad

from hybrid import State, Termination, simulate
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact
from tests.catalogue import dynamics_of

G = 9.81
LAWS = [NewtonImpact(), PoissonImpact(), EnergeticImpact()]


def tilted(b, h, phi):
    """The block at rest on one corner, turned by phi."""
    corner = complex(-b if phi > 0 else b, -h) * complex(cos(phi), sin(phi))
    return State([-corner.real, -corner.imag, phi], [0, 0, 0])


def quarter(b, h, phi):
    """Time in which the block falls from rest at phi to upright: by energy, psi' = p sqrt(2 (cos psi_0 - cos psi)).

    With psi = psi_0 + u^2 and the difference of cosines as a product, nothing cancels and nothing is singular.
    """
    alpha, p = atan2(b, h), sqrt(3 * G / (4 * hypot(b, h)))

    def integrand(u):
        return 1 / sqrt(sin(alpha - phi + u * u / 2) * np.sinc(u * u / (2 * pi)) / 2)

    return quad(integrand, 0, sqrt(phi), epsabs=1e-14, epsrel=1e-13)[0] / p


def amplitude(b, h, phi, ratio):
    """Amplitude after one impact that multiplies the rate by ``ratio``: cos(alpha - phi) - cos(alpha) is the energy."""
    with mp.workdps(40):
        alpha = mp.atan2(b, h)
        fall = (mp.cos(alpha - phi) - mp.cos(alpha)) * ratio**2
        return float(alpha - mp.acos(mp.cos(alpha) + fall))


def impacts(motion):
    return [event for event in motion.events if event.impact is not None]


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("side", [1, -1])
def test_quarter_period_of_the_block(share, side):
    b, h = 0.2, 0.6
    phi = share * atan2(b, h)
    motion = simulate(dynamics_of("rocking_block"), tilted(b, h, side * phi), t_end=9, until=f"{side}*phi")
    assert motion.t == pytest.approx(quarter(b, h, phi), abs=1e-11)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_slender_block_has_the_linearised_quarter_period(share):
    # T/4 = acosh(1/(1 - phi/alpha))/p; sin(alpha) = alpha to alpha^2/6
    b, h = 0.003, 1.0
    alpha, p = atan2(b, h), sqrt(3 * G / (4 * hypot(b, h)))
    parameters = {"b": b, "h": h}
    motion = simulate(
        dynamics_of("rocking_block"), tilted(b, h, share * alpha), t_end=9, until="phi", parameters=parameters
    )
    assert motion.t == pytest.approx(acosh(1 / (1 - share)) / p, rel=alpha**2)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("b", "h", "ratio"), [(0.5, 1.0, 0.7), (0.2, 0.6, 0.85), (1.0, 1.0, 0.25)])
def test_impact_keeps_one_minus_three_halves_sine_squared_of_the_rate(law, b, h, ratio):
    # angular momentum about the corner that is hit; without restitution all laws agree. r = ratio^2 of the energy.
    alpha = atan2(b, h)
    assert ratio == pytest.approx(1 - 1.5 * sin(alpha) ** 2)
    start = tilted(b, h, 0.1 * alpha)
    motion = simulate(dynamics_of("rocking_block"), start, t_end=0.35, law=law, parameters={"b": b, "h": h, "mu": 2})
    first = impacts(motion)[0]
    assert first.elements == ("right",)
    assert first.v_after[2] / first.v_before[2] == pytest.approx(ratio, abs=1e-12)
    turning = 4 / 3 * (b * b + h * h) * first.v_before[2] ** 2 / 2
    assert first.impact.energy_change == pytest.approx((ratio**2 - 1) * turning, rel=1e-11)
    assert first.impact.impulse_N["left"] == pytest.approx(0, abs=1e-14)
    # friction that the impact takes: 3 sin cos/(4 - 3 sin^2), 0.352941, 0.243243 and 0.6
    needed = 3 * sin(alpha) * cos(alpha) / (4 - 3 * sin(alpha) ** 2)
    found = abs(first.impact.impulse_T["right"][0]) / first.impact.impulse_N["right"]
    assert found == pytest.approx(needed, rel=1e-11)


@pytest.mark.parametrize("law", LAWS)
def test_flat_block_stops_at_once(law):
    # b/h > sqrt(2): both corners take part, (0.0555556, 1.4444444) for unit mass and rate
    start = tilted(1.5, 1.0, 0.05)
    motion = simulate(dynamics_of("rocking_block"), start, t_end=1, law=law, parameters={"b": 1.5, "h": 1.0, "mu": 5})
    (impact,) = impacts(motion)
    rate = abs(impact.v_before[2])
    assert impact.v_after == pytest.approx([0, 0, 0], abs=1e-13)
    assert impact.impact.impulse_N["left"] / rate == pytest.approx(0.0555556, abs=5e-8)
    assert impact.impact.impulse_N["right"] / rate == pytest.approx(1.4444444, abs=5e-8)
    assert motion.arcs[-1].mode.label == "left=stick,right=stick"


def test_rocking_dies_out_by_half_periods_of_falling_amplitude():
    b, h, ratio = 0.2, 0.6, 0.85
    phi = 0.5 * atan2(b, h)
    motion = simulate(dynamics_of("rocking_block"), tilted(b, h, phi), t_end=5, law=NewtonImpact())
    times = [quarter(b, h, phi)]
    for _ in range(12):
        phi = amplitude(b, h, phi, ratio)
        times.append(times[-1] + 2 * quarter(b, h, phi))
    found = impacts(motion)
    assert [event.t for event in found[: len(times)]] == pytest.approx(times, abs=1e-9)
    assert [event.elements[0] for event in found[:4]] == ["right", "left", "right", "left"]
    assert motion.termination is Termination.END_TIME
    assert motion.arcs[-1].mode.label == "left=stick,right=stick"
    assert abs(motion.q[2]) < 1e-12
    # all impacts that were not made: 1e-11 of the energy of the first fall
    assert abs(motion.energy().residual) < 1e-9


def test_rocking_ends_where_its_half_periods_accumulate():
    b, h, ratio = 0.2, 0.6, 0.85
    phi = 0.5 * atan2(b, h)
    motion = simulate(dynamics_of("rocking_block"), tilted(b, h, phi), t_end=5, law=NewtonImpact())
    limit = quarter(b, h, phi)
    while phi > 1e-20:
        phi = amplitude(b, h, phi, ratio)
        limit += 2 * quarter(b, h, phi)
    assert motion.events[-1].t == pytest.approx(limit, abs=1e-8)


def test_block_at_rest_beyond_its_diagonal_falls_over():
    alpha = atan2(0.2, 0.6)
    motion = simulate(dynamics_of("rocking_block"), tilted(0.2, 0.6, 1.001 * alpha), t_end=20, until=f"phi - {pi / 3}")
    assert motion.termination is Termination.UNTIL
