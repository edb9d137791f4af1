"""Gradients of motions whose coordinates or velocities are nothing but rounding for a while, against closed forms."""

import numpy as np
import pytest
from scipy.integrate import quad

from hybrid import Contact, EnergyDynamics, Functional, Mechanism, State, derive, sensitivity, simulate, solve_state
from hybrid.contact import EnergeticImpact

G, HALF, HIGH = 9.81, 0.5, 0.1  # m/s^2, half the length and half the height of the block, in m


@pytest.fixture(scope="module")
def block():
    return derive(
        Mechanism(
            name="block",
            coordinates=["x", "y", "p"],
            parameters={"m": 1, "l": HALF, "w": HIGH, "mu": 0.3},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2 + p_dot**2/64", potential="m*9.81*y"),
            contact=[
                Contact(name="a", gap="y - l*sin(p) - w*cos(p)", tangent="x - l*cos(p) + w*sin(p)", friction="mu"),
                Contact(name="b", gap="y + l*sin(p) - w*cos(p)", tangent="x + l*cos(p) + w*sin(p)", friction="mu"),
            ],
        )
    )


@pytest.mark.parametrize(
    ("integrand", "slope"),
    [
        # By conservation of energy about the corner, w(p)^2 = w0^2 + 2 G (h(p0) - h(p))/J. The integral of f over time
        # is that of f/w over p up to 0, and f(0, 0) until the end; dw/dw0 = w0/w.
        ("p_dot**2", lambda p, w: 1 / w),
        ("p**4", lambda p, w: -(p**4) / w**3),
        ("cos(p)", lambda p, w: (1 - np.cos(p)) / w**3),
    ],
)
def test_a_block_that_falls_flat_on_its_face_and_rests(block, integrand, slope):
    w0, p0 = 0.2, -0.15
    pins = {"x": 0, "p": p0, "p_dot": w0, "gap.b": 0, "gap_dot.b": 0, "slip.b": 0}
    motion = simulate(block, solve_state(block, pins), t_end=1, law=EnergeticImpact(), parameters={"mu": 5})
    assert [event.elements for event in motion.events] == [("a",)]
    assert abs(motion.q[2]) < 1e-15  # it lies flat but for rounding
    inertia = 1 / 32 + HALF**2 + HIGH**2

    def speed(p):
        return np.sqrt(w0**2 + 2 * G * (_height(p0) - _height(p)) / inertia)

    expected = w0 * quad(lambda p: slope(p, speed(p)), p0, 0, epsabs=1e-14, epsrel=1e-12)[0]
    found = sensitivity(motion, Functional(integrand), ["p_dot"], pins=pins)
    assert found.refusal is None
    assert found.gradient["p_dot"] == pytest.approx(expected, rel=1e-10, abs=1e-13)


def _height(p):
    return HALF * np.sin(-p) + HIGH * np.cos(p)


@pytest.mark.parametrize(
    ("integrand", "slope"),
    [
        # With the deceleration mu G it stops after v0/(mu G): the integral of x_dot^2 is v0^3/(3 mu G).
        ("x_dot**2 + p_dot**2", -(1.5**3) / (3 * 0.3**2 * G)),
        ("x_dot**2 + p**2", -(1.5**3) / (3 * 0.3**2 * G)),
        ("cos(p)", 0.0),
        ("p_dot**2", 0.0),
    ],
)
def test_a_block_that_slides_on_its_face_and_turns_by_rounding_alone(block, integrand, slope):
    motion = simulate(block, State([0, HIGH, 0], [1.5, 0, 0]), t_end=1, law=EnergeticImpact())
    assert abs(motion.q[2]) < 1e-15
    found = sensitivity(motion, Functional(integrand), ["mu"])
    assert found.refusal is None
    assert found.gradient["mu"] == pytest.approx(slope, rel=1e-11, abs=1e-13)
