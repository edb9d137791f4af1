"""Units of a declaration, against dimensions by hand; what has no unit is unknown and never an error."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

import mechanisms
from hybrid.declaration import evaluate, mechanism_from_toml, parse_expression
from hybrid.declaration.unit_names import UnitError, read_unit
from hybrid.errors import DeclarationError

ROD = {
    "m": "kg", "l": "m", "I": "kg m^2", "g": "m/s^2", "k": "N/m", "mu": "1", "F": "N", "w": "rad/s",
    "kinetic": "m*(x_dot**2 + y_dot**2)/2 + I*phi_dot**2/2",
    "potential": "m*g*y", "force": "F*sin(w*t)", "gap": "y - l*sin(phi)", "tangent": "x - l*cos(phi)",
    "friction": "mu", "inertia": "m*l**2/3", "damping": "0", "limit": "F", "definition": "l/2",
}  # fmt: skip
FILE = """name = "rod"
coordinates = ["x", "y", "phi"]
[parameters]
m = {{ value = 1, unit = "{m}" }}
l = {{ value = 1, unit = "{l}" }}
I = {{ value = "{inertia}", unit = "{I}" }}
g = {{ value = 9.81, unit = "{g}" }}
k = {{ value = 3, unit = "{k}" }}
mu = {{ value = 0.5, unit = "{mu}" }}
F = {{ value = 2, unit = "{F}" }}
w = {{ value = 2, unit = "{w}" }}
[definitions]
half = "{definition}"
[dynamics]
kinetic = "{kinetic}"
potential = "{potential}"
[forces]
x = "{force}"
[[contact]]
name = "tip"
gap = "{gap}"
tangent = "{tangent}"
friction = "{friction}"
damping = "{damping}"
[[friction]]
name = "seal"
tangent = "x"
limit = "{limit}"
"""


def faults(**changes):
    """Line, field and message of everything that is wrong."""
    try:
        mechanism_from_toml(FILE.format(**{**ROD, **changes}), source="rod.toml")
    except DeclarationError as error:
        return [(problem.line, problem.field, problem.message) for problem in error.problems]
    return []


@pytest.mark.parametrize(
    "changes",
    [
        {},
        dict.fromkeys(("m", "l", "I", "g", "k", "mu", "F", "w"), ""),
        {"l": "", "gap": "y - l*sin(phi) + x"},
        {"potential": "m*9.81*y"},  # a number may have a unit that is not written
        {"potential": "m*g*(y + 0.3) + 5*x**2"},
        {"gap": "y - 0.1*sin(3*x) - 2", "force": "F*sin(3*t)"},
        {"tangent": "(x + x**2/2)/sqrt(1 + x**2)"},
        {"force": "-F*tanh(x_dot) - F*max(0, sign(x_dot))"},
        {"damping": "sqrt(m)/4"},  # by hand: sqrt(J) s/m = kg^(1/2)
        {"gap": "phi - 0.3", "damping": "sqrt(I)"},  # an angular gap: sqrt(J) s = kg^(1/2) m
        {"potential": "k*(y - half)**2/2 + k*l*abs(x) + F*atan2(y, x)*l"},
        {"m": "t", "l": "mm", "I": "t mm^2", "g": "mm/s^2", "k": "N/mm"},  # consistent: N = t mm/s^2
        {"w": "1/s", "mu": "-", "g": "N/kg", "I": "J s^2", "k": "kg/s²"},
    ],
)
def test_what_fits_or_is_unknown_is_valid(changes):
    assert faults(**changes) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"l": "kgs"}, [(5, "parameters.l.unit", "unknown unit 'kgs'")]),
        ({"inertia": "m*l/3"}, [(6, "parameters.I", "is kg m, but its unit is kg m^2")]),
        ({"F": "N m"}, [
            (18, "forces.x", "a force must be kg m/s^2 here, not kg m^2/s^2"),
            (28, "friction.seal.limit", "a friction limit must be kg m/s^2 here, not kg m^2/s^2"),
        ]),
        ({"w": "1"}, [(18, "forces.x", "sin takes a pure number or an angle in radians, not s")]),
        ({"friction": "mu*l"}, [
            (23, "contact.tip.friction", "a friction coefficient must be a pure number here, not m")
        ]),
        ({"gap": "l*y"}, [(21, "contact.tip.gap", "a gap must be a length or an angle, not m^2")]),
        ({"gap": "y - l**2*sin(phi)"}, [(21, "contact.tip.gap", "m and m^2 are added")]),
        ({"gap": "max(y, F)"}, [(21, "contact.tip.gap", "m and kg m/s^2 are compared by max")]),
        ({"potential": "m*y"}, [(16, "dynamics.potential", "the potential energy must be kg m^2/s^2 here, not kg m")]),
        ({"damping": "m"}, [(24, "contact.tip.damping", "a contact damping must be kg^(1/2) here, not kg")]),
        ({"definition": "l + w"}, [(13, "definitions.half", "m and 1/s are added")]),
        ({"tangent": "x - k*cos(phi)"}, [(22, "contact.tip.tangent", "m and kg/s^2 are added")]),
    ],
)  # fmt: skip
def test_a_contradiction_is_named_with_its_line_and_field(changes, expected):
    found = faults(**changes)
    assert [item for item in found if item in expected] == expected


def test_millimetres_beside_metres_are_found():
    found = faults(k="N/mm", potential="m*g*y + k*x**2/2")
    assert "contact.tip.gap" in [field for _, field, _ in found]
    assert all("times the SI unit" in message for _, _, message in found)


def test_a_parameter_in_another_scale_than_its_unit_is_told_both():
    message = "is in the SI unit, but its unit kg mm^2 is 1e-06 times the SI unit"
    assert faults(inertia="m*l**2/3", I="kg mm^2") == [(6, "parameters.I", message)]


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("Nm", "did you mean 'nm' or 'N m'?"),
        ("Nmm", "did you mean 'N mm'?"),
        ("Kg", "did you mean 'kg' or 'K g'?"),
        ("kgs", "did you mean 'kg'?"),  # a plural
        ("furlong", "leave an own unit out"),
    ],
)
def test_what_may_have_been_meant_by_an_unknown_unit_is_named(written, hint):
    with pytest.raises(UnitError) as caught:
        read_unit(written)
    assert caught.value.hint == hint


def test_degrees_beside_radians_are_found_in_words():
    both = (21, "contact.tip.gap", "an angle in degrees and an angle in radians are added")
    assert both in faults(w="deg", k="rad", force="F", gap="y - l*sin(w + k)")
    message = "sin takes a pure number or an angle in radians, not an angle in degrees"
    assert (21, "contact.tip.gap", message) in faults(w="deg", force="F", gap="y - l*sin(w)")


def test_a_length_in_seconds_is_found_wherever_it_is_used():
    found = faults(l="s")
    assert (6, "parameters.I", "is kg s^2, but its unit is kg m^2") in found
    assert (21, "contact.tip.gap", "m and s are added") in found


@pytest.mark.parametrize(
    ("text", "kg", "m", "s"),
    [
        ("N", 1, 1, -2), ("N m", 1, 2, -2), ("N/m", 1, 0, -2), ("kg m^2/s^2", 1, 2, -2),
        ("kg^(1/2)", Fraction(1, 2), 0, 0), ("m s⁻²", 0, 1, -2),
        ("W/(m s)", 1, 1, -4), ("W/m s", 1, 1, -4), ("m/s*kg", 1, 1, -1), ("1/s", 0, 0, -1), ("Pa", 1, -1, -2),
        ("kg*m**2", 1, 2, 0), ("-", 0, 0, 0), ("m^-1", 0, -1, 0), ("J·s", 1, 2, -1),
    ],
)  # fmt: skip
def test_units_are_read_as_by_hand(text, kg, m, s):
    read = read_unit(text)
    assert [read.get(name, 0) for name in ("kg", "m", "s")] == [kg, m, s]
    assert not read.keys() - {"kg", "m", "s"}


@pytest.mark.parametrize(
    ("text", "two", "five"), [("mm", -3, -3), ("km", 3, 3), ("g", -3, -3), ("kg", 0, 0), ("µm", -6, -6)]
)
def test_prefixes_are_powers_of_ten(text, two, five):
    assert [read_unit(text).get(prime, 0) for prime in ("2", "5")] == [two, five]


@pytest.mark.parametrize(
    ("text", "hint"),
    [("Nm", "did you mean"), ("sec", "own unit"), ("m^x", ""), ("(m", ""), ("m)", ""), ("m^(1/0)", ""), ("3 m", "")],
)
def test_what_is_no_unit_is_refused(text, hint):
    with pytest.raises(UnitError) as caught:
        read_unit(text)
    assert hint in caught.value.hint


@pytest.mark.parametrize(("text", "meant"), [("kgg", "'kg'"), ("mmm", "'mm'"), ("kgm", "'kg m'")])
def test_a_doubled_letter_is_taken_for_no_product(text, meant):
    with pytest.raises(UnitError) as caught:
        read_unit(text)
    assert caught.value.hint == f"did you mean {meant}?"


def test_the_catalogue_and_the_documented_mechanisms_are_clean():
    for name in mechanisms.names():
        mechanisms.load(name)
    readme = Path(__file__).parents[3] / "README.md"
    (chalk,) = (text for text in re.findall(r"```toml\n(.*?)```", readme.read_text(), re.DOTALL) if "chalk" in text)
    assert mechanism_from_toml(chalk).parameters["m"].unit == "kg"


@pytest.mark.parametrize(
    ("text", "turns"), [("90 deg", 1 / 4), ("-45deg", -1 / 8), ("180 deg/3 + pi", 2 / 3), ("2*30 deg", 1 / 6)]
)
def test_degrees_are_angles(text, turns):
    found = evaluate(parse_expression(text, known=()), {})
    assert found == pytest.approx(turns * 2 * 3.141592653589793, rel=1e-15)


def test_a_parameter_may_be_called_deg_and_an_angle_be_written_in_degrees():
    text = FILE.format(**{**ROD, "gap": "y - l*sin(phi - 65 deg)"})
    assert mechanism_from_toml(text).contact[0].gap.endswith("65 deg)")
    with pytest.raises(DeclarationError, match=r"multiplication is written \*"):
        parse_expression("2 deg", known=("deg",))
