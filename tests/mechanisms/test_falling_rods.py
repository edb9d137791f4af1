"""Rods that fall until they lie flat, and a rod that is dropped on its end."""

from math import cos, sin, sqrt

import numpy as np
import pytest
from scipy.integrate import quad

from hybrid import State, Termination, simulate, solve_state
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact
from tests.catalogue import dynamics_of

LAWS = [NewtonImpact(), PoissonImpact(), EnergeticImpact()]
FALL = {"phi": 0.4, "phi_dot": 0.5}


def smooth_fall(phi):
    """Time and final rate of a rod that falls from rest at phi on a smooth floor; m = l = g = 1, I = 1/3.

    The centre falls straight down: (1/3 + cos^2) phi'^2/2 = sin(phi_0) - sin(phi), and phi = phi_0 - u^2.
    """

    def integrand(u):
        angle = phi - u * u
        # sin(phi_0) - sin(angle) = 2 cos(phi_0 - u^2/2) sin(u^2/2)
        return sqrt((1 / 3 + cos(angle) ** 2) / (2 * cos(phi - u * u / 2) * np.sinc(u * u / 2 / np.pi) / 2)) * sqrt(2)

    time = quad(integrand, 0, sqrt(phi), epsabs=1e-14, epsrel=1e-13)[0]
    return time, -sqrt(1.5 * sin(phi))


@pytest.mark.parametrize("name", ["rod_on_incline", "rod_two_ends"])
@pytest.mark.parametrize("phi", [0.3, 1.0, 1.5])
def test_rod_on_a_smooth_floor_falls_flat_by_quadrature(name, phi):
    time, rate = smooth_fall(phi)
    start = State([cos(phi), sin(phi), phi], [0, 0, 0])
    motion = simulate(dynamics_of(name), start, t_end=20, until="phi", parameters={"mu": 0})
    assert motion.t == pytest.approx(time, abs=1e-11)
    assert motion.v == pytest.approx([0, rate, rate], abs=1e-11)
    assert motion.q[0] == pytest.approx(cos(phi), abs=1e-12)


def fall(name, law=None, **options):
    contact = "tip" if name == "rod_on_incline" else "left"
    pins = FALL | {f"gap.{contact}": 0, f"gap_dot.{contact}": 0, f"slip.{contact}": 0}
    return simulate(dynamics_of(name), solve_state(dynamics_of(name), pins), law=law, **options)


def test_rod_with_two_ends_falls_as_the_rod_with_one_until_the_other_lands():
    one = fall("rod_on_incline", t_end=3, until="phi")
    both = fall("rod_two_ends", NewtonImpact(), t_end=10)
    # sticks, slides back, slides forth, lands: times integrated by hand for mu = 1/2 (Mamaev and Ivanova 2013)
    expected = (0.16127030015596155, 1.8426260578936584, 2.0384518525054145)
    assert [event.t for event in one.events] == pytest.approx(expected, abs=1e-11)
    assert [event.t for event in both.events[:3]] == pytest.approx(expected, abs=1e-11)
    landing = both.events[2]
    assert landing.elements == ("right",)
    assert landing.v_before == pytest.approx(one.v, abs=1e-10)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["painleve fall", "steep fall", "thrown"])
def test_rod_comes_to_lie_flat_at_rest(law, name):
    starts = {
        "painleve fall": State([cos(0.4), sin(0.4), 0.4], [0, 0, 0]),
        "steep fall": State([cos(1.4), sin(1.4), 1.4], [0.1, 0, 0]),
        "thrown": State([0, 1.5, 0.8], [1, 0, -1]),
    }
    start = starts[name]
    rod = dynamics_of("rod_two_ends")
    motion = simulate(rod, start, t_end=30, law=law, parameters={"e": 0.3})
    assert motion.termination is Termination.END_TIME, motion.cause
    assert motion.arcs[-1].mode.label == "left=stick,right=stick"
    assert motion.q[1:] == pytest.approx([0, 0], abs=1e-12)
    assert np.array_equal(motion.v, [0, 0, 0])
    balance = motion.energy()
    assert balance.friction < 1e-15  # what the impacts take by friction is theirs
    assert abs(balance.residual) < 1e-9
    for arc in motion.arcs:
        q, v = arc.sample(np.linspace(arc.start, arc.end, 40))
        assert np.min(rod.kinematics(q, v)["gap"]) > -1e-9


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(
    ("mu", "impulse_N", "slip"),
    [
        (0.1, 0.63829787, -0.79787234),
        (0.3, 0.73170732, -0.54878049),
        (0.5, 0.85714286, -0.21428571),
        (0.6, 0.9375, 0.0),
        (0.9, 0.9375, 0.0),
    ],
)
def test_rod_dropped_at_45_degrees(law, side, mu, impulse_N, slip):
    # one metre per second at the floor, restitution 1/2: all laws agree, (1 + e)/(G_NN + mu G_NT) while it slips
    angle = np.pi / 4 if side > 0 else 3 * np.pi / 4
    start = State([0, sin(angle) + 0.5, angle], [0, 0, 0])
    parameters = {"mu": mu, "e": 0.5}
    motion = simulate(dynamics_of("rod_on_incline"), start, t_end=1.2, law=law, parameters=parameters)
    event = motion.events[0]
    assert event.t == pytest.approx(1, abs=1e-13)
    assert event.v_before == pytest.approx([0, -1, 0], abs=1e-13)
    assert event.impact.impulse_N["tip"] == pytest.approx(impulse_N, abs=5e-9)
    assert event.impact.slip_after["tip"][0] == pytest.approx(side * slip, abs=5e-9)
    assert event.impact.gap_dot_after["tip"] == pytest.approx(0.5, abs=1e-12)
