"""Formulas that are shown are right, short, and worked out in seconds however large the mechanism is."""

import math
import time

import numpy as np
import pytest

from hybrid import Contact, EnergyDynamics, EquationDynamics, Mechanism, derive
from hybrid.declaration.parser import parse_expression
from hybrid.declaration.tree import evaluate
from hybrid.dynamics.readable import TOO_LONG, readable_equations
from tests.catalogue import dynamics_of


def chain(n):
    """Point masses on a chain of n rods over a rough floor; the mass matrix is full."""
    angles = [f"q{i}" for i in range(n)]
    definitions, kinetic, potential = {}, [], []
    for i in range(n):
        before = (f"x{i - 1} + ", f"y{i - 1} - ", f"u{i - 1} + ", f"w{i - 1} + ") if i else ("", "-", "", "")
        definitions |= {
            f"x{i}": f"{before[0]}l*sin(q{i})",
            f"y{i}": f"{before[1]}l*cos(q{i})",
            f"u{i}": f"{before[2]}l*cos(q{i})*q{i}_dot",
            f"w{i}": f"{before[3]}l*sin(q{i})*q{i}_dot",
        }
        kinetic.append(f"m*(u{i}**2 + w{i}**2)/2")
        potential.append(f"m*g*y{i}")
    return Mechanism(
        name="chain",
        coordinates=angles,
        parameters={"m": 1, "l": 1, "g": 9.81, "mu": 0.5},
        definitions=definitions,
        dynamics=EnergyDynamics(kinetic=" + ".join(kinetic), potential=" + ".join(potential)),
        contact=[Contact(name="tip", gap=f"y{n - 1} + 3", tangent=f"x{n - 1}", friction="mu")],
    )


def texts(item):
    if isinstance(item, str):
        return [item]
    return [text for part in (item.values() if isinstance(item, dict) else item) for text in texts(part)]


def test_formulas_of_seven_coordinates_take_seconds_and_lines():
    dynamics = derive(chain(7))
    start = time.process_time()
    written = readable_equations(dynamics)
    # 0.5 s on one core; simplifying everything took more than four minutes
    assert time.process_time() - start < 10
    assert max(map(len, texts(written))) < 1000
    assert written["h"][0].startswith(TOO_LONG)
    assert written["contact"]["tip"]["G_NN"] == f"{TOO_LONG}: W_N^T M^-1 W_N"
    assert written["contact"]["tip"]["A_slide+"] == "G_NN - mu*G_NT"
    assert written["contact"]["tip"]["critical_friction"] == "G_NN/abs(G_NT)"


def test_formulas_can_be_put_back_into_a_mechanism_file():
    """SymPy's Abs, Max, Min, Heaviside and E have other names there, or none: the equations are read as new ones."""
    kinked = Mechanism(
        name="kinked",
        coordinates=["x", "y"],
        parameters={"k": 3, "mu": 0.5},
        dynamics=EnergyDynamics(
            kinetic="x_dot**2 + y_dot**2",
            potential="k*max(x - 1, 0)**2/2 + k*abs(x)**3 + min(x, y)*exp(1)",
        ),
        forces={"x": "-abs(x_dot)*x_dot - sign(y_dot)*max(x, y, 0)", "y": "atan2(y, x) + min(x, 2)"},
        contact=[Contact(name="tip", gap="y - abs(x)", tangent="x + 2*y", friction="max(mu, 0.1)")],
    )
    dynamics = derive(kinked)
    written = readable_equations(dynamics)
    said = " ".join(texts(written))
    assert all(name in said for name in ("abs(", "max(", "min(", "sign("))
    again = derive(
        Mechanism(
            name="again",
            coordinates=["x", "y"],
            parameters={"k": 3, "mu": 0.5},
            dynamics=EquationDynamics(mass_matrix=written["M"], forces=written["h"]),
            contact=[Contact(name="tip", gap=written["gap"]["tip"], slip=written["slip"]["tip"], friction="mu")],
        )
    )
    for q in ([1.5, 0.7], [-0.4, 0.9], [1.0, 1.0], [0.0, 0.3]):  # on either side of every kink, and on three of them
        first, second = (each.terms(q, [0.3, -0.8]) for each in (dynamics, again))
        for name in ("M", "h", "gap", "W_N", "W_T", "slip"):
            assert getattr(second, name) == pytest.approx(getattr(first, name), rel=1e-13, abs=1e-13)
    values = {**kinked.parameter_values(), "x": 1.5, "y": 0.7}
    terms = dynamics.terms([1.5, 0.7], [0.3, -0.8])
    W_N, W_T = terms.W_N[:, 0], terms.W_T[:, 0]
    for key, sign in (("A_slide+", 1), ("A_slide-", -1)):  # M is twice the unit matrix
        found = evaluate(parse_expression(written["contact"]["tip"][key], known=values), values)
        assert found == pytest.approx(W_N @ (W_N - sign * 0.5 * W_T) / 2, rel=1e-13)


@pytest.mark.parametrize("name", ["two_link_arm", "woodpecker", "oblique_rod", "slider_pendulum", "double_pendulum"])
def test_formulas_have_the_values_of_the_matrices(name):
    dynamics = dynamics_of(name)
    random = np.random.default_rng(3)
    q, v = random.uniform(0.2, 1.2, (2, dynamics.n))
    terms = dynamics.terms(q, v)
    mechanism = dynamics.mechanism
    names = {"sin": math.sin, "cos": math.cos, "tan": math.tan, "sqrt": math.sqrt, "abs": abs}
    names |= {**mechanism.parameter_values({}), **dict(zip(mechanism.coordinates, q, strict=True))}
    names |= dict(zip(mechanism.velocities, v, strict=True)) | {"t": 0.0}
    written = readable_equations(dynamics)

    def value(text):
        return eval(text, {"__builtins__": {}}, names)

    for row, expected in zip(written["M"], terms.M, strict=True):
        assert [value(entry) for entry in row] == pytest.approx(expected, rel=1e-11, abs=1e-13)
    # Delassus terms by a numerical inverse of the bordered mass matrix; 1e-9 leaves room for its condition
    m = len(terms.J)
    bordered = np.block([[terms.M, -terms.J.T], [terms.J, np.zeros((m, m))]])
    for index, contact in enumerate(dynamics.contacts):
        found = written["contact"][contact]
        W = terms.W_N[:, index]
        response = np.linalg.solve(bordered, np.append(W, np.zeros(m)))[: dynamics.n]
        free = np.linalg.solve(bordered, np.append(terms.h, -terms.zeta_B))[: dynamics.n]
        for key, expected in (("G_NN", W @ response), ("b", W @ free + terms.zeta_N[index])):
            if not found[key].startswith(TOO_LONG):
                assert value(found[key]) == pytest.approx(expected, rel=1e-9, abs=1e-10)
        if "by_name" in found:
            names |= {"G_NN": W @ response, "G_NT": response @ terms.W_T[:, dynamics.columns[contact].start]}
            assert value(found["by_name"]["A_slide-"]) == pytest.approx(value(found["A_slide-"]), rel=1e-9)
