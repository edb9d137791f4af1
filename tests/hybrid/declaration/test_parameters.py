"""Values of parameters: expressions of one another, replacements, ranges."""

import attrs
import numpy as np
import pytest

from hybrid.declaration import Contact, EnergyDynamics, Mechanism, Parameter
from hybrid.errors import DeclarationError


@pytest.fixture
def rod() -> Mechanism:
    return Mechanism(
        name="rod",
        coordinates=["y"],
        parameters={"I": "m*l**2/3", "m": 2, "l": 3, "weight": "m*g", "g": 10, "mu": 0.5, "e": 0.25},
        definitions={"rough": "2*mu"},
        dynamics=EnergyDynamics(kinetic="m*y_dot**2/2", potential="weight*y"),
        contact=[
            Contact(name="floor", gap="y", slip="y_dot", friction="rough - 0.5", restitution="e", static_friction="1")
        ],
    )


def test_parameters_may_be_expressions_of_later_ones(rod):
    assert rod.parameter_values() == {"I": 6, "m": 2, "l": 3, "weight": 20, "g": 10, "mu": 0.5, "e": 0.25}
    assert list(rod.parameter_values()) == list(rod.parameters)


def test_what_depends_on_a_replaced_parameter_follows_it(rod):
    values = rod.parameter_values({"m": 4})
    assert (values["I"], values["weight"], values["m"]) == (12, 40, 4)


def test_replacing_an_expression_cuts_its_dependence(rod):
    values = rod.parameter_values({"I": 1, "m": 4})
    assert (values["I"], values["weight"]) == (1, 40)


def test_replacement_may_be_an_expression(rod):
    values = rod.parameter_values({"m": "l/2", "mu": "4/3 - 0.6"})
    assert (values["m"], values["I"]) == (1.5, 4.5)
    assert values["mu"] == pytest.approx(4 / 3 - 0.6, rel=1e-15)


def test_replacements_are_vectorised(rod):
    m, length = np.array([1.0, 2.0]), np.array([[3.0], [6.0]])
    values = rod.parameter_values({"m": m, "l": length})
    np.testing.assert_allclose(values["I"], m * length**2 / 3, rtol=1e-15)
    assert values["g"] == 10


def test_integers_and_complex_numbers_are_taken(rod):
    assert rod.parameter_values({"m": np.array([1, 2])})["I"].tolist() == [3.0, 6.0]
    assert rod.parameter_values({"m": 2 + 1e-20j})["weight"].imag == pytest.approx(1e-19, rel=1e-15)


def test_returned_values_are_the_callers_own(rod):
    rod.parameter_values()["m"] = 7
    assert rod.parameter_values()["m"] == 2


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"mu_": 1}, "unknown parameter 'mu_'; did you mean 'mu'?"),
        ({"y": 1}, "unknown parameter 'y'; the parameters are I, m, l, weight, g, mu, e"),
        ({"m": float("nan")}, "parameters.m: must be a finite number"),
        ({"m": [1.0, float("inf")]}, "parameters.m: must be a finite number"),
        ({"m": "1/(l - 3)"}, "parameters.m: must be a finite number"),
        ({"m": 1e200, "l": 1e200}, "parameters.I: must be a finite number"),
        ({"m": "q"}, "parameters.m (column 1): unknown name 'q'"),
        ({"m": "y"}, "parameters.m (column 1): unknown name 'y'"),
        ({"m": "2^3"}, "parameters.m (column 2): unexpected '^'; power is written **"),
        ({"m": "weight"}, "parameters.m: refers to itself in a circle: m -> weight -> m"),
        ({"m": True}, "parameters.m: must be a number or an array of numbers"),
        ({"m": None}, "parameters.m: must be a number or an array of numbers"),
        ({"m": 10**400}, "parameters.m: must be a finite number"),
        ({"m": [1, [2, 3]]}, "parameters.m: must be a number or an array of numbers"),
        ({"m": ["1", "2"]}, "parameters.m: must be a number or an array of numbers"),
        ({"mu": 0.2}, "contact.floor.friction: must not be negative, not -0.1"),
        ({"mu": [0.5, 0.2, 0.1]}, "contact.floor.friction: must not be negative, not -0.3"),
        ({"mu": 0.8}, "contact.floor.static_friction: must be at least friction, which is 1.1, not 1"),
        ({"e": 1.5}, "contact.floor.restitution: must lie between 0 and 1, not 1.5"),
        ({"e": -1}, "contact.floor.restitution: must not be negative, not -1"),
    ],
)
def test_bad_replacement_is_refused(rod, overrides, message):
    with pytest.raises(DeclarationError) as caught:
        rod.parameter_values(overrides)
    assert str(caught.value).startswith(message)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("9.81 m/s^2", 6, 'write { value = 9.81, unit = "m/s^2" }'),
        ("9.81 m/s", 6, 'write { value = 9.81, unit = "m/s" }'),
        ("1 kg", 3, 'write { value = 1, unit = "kg" }'),
        ("-.5e-1kg m^2 ", 7, 'write { value = -0.05, unit = "kg m^2" }'),
        ("30 deg/s", 4, 'write { value = 30, unit = "deg/s" }'),
        ("5%", 2, 'write { value = 5, unit = "%" }'),
        ("2 m", 3, 'write { value = 2, unit = "m" }, or 2*m for a product'),  # the rod has a parameter m
    ],
)
@pytest.mark.parametrize("is_table", [True, False])
def test_a_unit_within_a_value_is_told_where_it_belongs(rod, text, column, hint, is_table):
    own = Parameter(text, unit="kg") if is_table else text
    with pytest.raises(DeclarationError) as caught:
        attrs.evolve(rod, parameters={**rod.parameters, "new": own})
    assert str(caught.value) == f"parameters.new (column {column}): a value holds no unit; {hint}"
    with pytest.raises(DeclarationError) as caught:
        rod.parameter_values({"m": text})
    number = hint.split()[4].rstrip(",")
    told = f"give the number alone, {number}, in the unit that is declared"
    assert str(caught.value) == f"parameters.m (column {column}): a value holds no unit; {told}"


@pytest.mark.parametrize(
    "text", ["2 l", "2*q", "2^3", "1 kg + 2", "5 kgs", "1 kg^(1/0)", "1e999 kg", "1 " + "kg " * 99]
)
def test_what_is_no_number_with_a_unit_keeps_its_own_advice(rod, text):
    with pytest.raises(DeclarationError) as caught:
        rod.parameter_values({"m": text})
    assert "unit" not in str(caught.value)


def test_all_bad_replacements_are_named(rod):
    with pytest.raises(DeclarationError) as caught:
        rod.parameter_values({"a": 1, "b": 2, "m": float("nan")})
    assert len(caught.value.problems) == 3


def test_ranges_can_be_checked_on_their_own(rod):
    rod.check_parameters(rod.parameter_values())
    with pytest.raises(DeclarationError, match=r"must not be negative, not -0\.5"):
        rod.check_parameters({**rod.parameter_values(), "mu": 0.0})
