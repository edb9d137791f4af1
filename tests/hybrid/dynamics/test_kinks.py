"""Terms of declarations with jumps, kinks and constants, against differences of Python's own evaluation."""

import math

import pytest

from hybrid import Contact, EnergyDynamics, EquationDynamics, Mechanism, build_automaton, derive

NAMES = {name: getattr(math, name) for name in ("sin", "cos", "exp", "log", "sqrt", "asin", "acos", "atan2")}
NAMES |= {"abs": abs, "min": min, "max": max, "sign": lambda x: math.copysign(1.0, x) if x else 0.0}


def value(text, x, t=0.3):
    return eval(text, {"__builtins__": {}}, {**NAMES, "x": x, "t": t})


KINKS = [
    "0.1*sign(x)",
    "x*sign(x - 1)",
    "abs(log(x))",
    "abs(asin(x/3) - 1)",
    "abs(acos(x/3) - 1)",
    "sign(sqrt(x) - 1)*x**2",
    "abs(x**1.5 - 1)",
    "abs(x**x - 2)",
    "max(log(x), x - 1.5)",
    "abs(sqrt(x) - t)",
    "exp(1)*x",
    "atan2(sign(x - 1), x)",
]


def slope(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / (2 * h)


@pytest.mark.parametrize("text", KINKS)
@pytest.mark.parametrize("x", [0.7, 2.1])
def test_gap_its_gradient_and_its_acceleration(text, x):
    point = Mechanism(
        name="point",
        coordinates=["x", "y"],
        dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2"),
        contact=[Contact(name="wall", gap=f"y + {text}", tangent="x", friction=0.3)],
    )
    found = derive(point).terms([x, 0.0], [2.0, 0.0], t=0.3)
    assert found.gap[0] == pytest.approx(value(text, x), rel=1e-14)
    assert found.W_N[0, 0] == pytest.approx(slope(lambda s: value(text, s), x), rel=1e-8, abs=1e-9)
    course = [value(text, x + 2 * s, 0.3 + s) for s in (-1e-4, 0.0, 1e-4)]
    assert found.gap_dot[0] == pytest.approx((course[2] - course[0]) / 2e-4, rel=1e-6, abs=1e-7)
    assert found.zeta_N[0] == pytest.approx((course[2] - 2 * course[1] + course[0]) / 1e-8, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("text", [kink for kink in KINKS if "t)" not in kink])
def test_forces_of_a_potential_with_kinks_and_the_power_of_one_that_jumps_in_time(text):
    dynamics = EnergyDynamics(kinetic="x_dot**2/2", potential=f"({text})*(2 + sign(t - 1))")
    point = derive(Mechanism(name="point", coordinates=["x"], dynamics=dynamics))
    found = point.terms([2.1], [0.5], t=0.3)
    assert found.h[0] == pytest.approx(-slope(lambda s: value(text, s), 2.1), rel=1e-8, abs=1e-9)
    energy, power = point.energy([2.1], [0.5], t=0.3)
    assert (float(energy), float(power)) == (pytest.approx(0.125 + value(text, 2.1), rel=1e-14), 0.0)


def test_mass_that_jumps_with_the_posture_and_the_time():
    dynamics = EquationDynamics(mass_matrix=[["3 + sign(x) + sign(t - 1)"]], forces=["x"])
    point = derive(Mechanism(name="point", coordinates=["x"], dynamics=dynamics))
    assert float(point.terms([0.5], [1.0]).M[0, 0]) == 3.0
    assert [float(item) for item in point.energy([0.5], [2.0])] == [6.0, 1.0]


def test_a_product_of_numbers_beyond_the_range_of_floats_has_no_finite_value():
    point = Mechanism(
        name="point",
        coordinates=["x"],
        dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="1e300*1e-300*x + 0*x*1e300*1e300"),
        contact=[Contact(name="wall", gap="x*1e200*1e200")],
    )
    assert math.isinf(derive(point).terms([1.0], [0.0]).gap[0])


def test_a_derivative_without_a_value_is_no_number():
    wall = Contact(name="wall", gap="x + (y - y)**x")  # 0**x, whose derivative SymPy leaves undefined
    point = Mechanism(
        name="point", coordinates=["x", "y"], dynamics=EnergyDynamics(kinetic="x_dot**2 + y_dot**2"), contact=[wall]
    )
    assert math.isnan(derive(point).terms([1.0, 0.0], [0.0, 0.0]).W_N[0, 0])


def test_formulas_are_written_in_the_language_of_the_file():
    point = Mechanism(
        name="point",
        coordinates=["x", "y"],
        dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="exp(1)*y*max(x, 1)"),
        contact=[Contact(name="wall", gap="y", tangent="x", friction=0.3)],
    )
    fields = build_automaton(derive(point)).location("free").vector_field.text
    at = {**NAMES, "x": 2.0, "y": 1.5}
    found = [eval(line.partition("=")[2], {"__builtins__": {}}, at) for line in fields]
    assert found == pytest.approx([-math.e * 1.5, -math.e * 2.0], rel=1e-14)
