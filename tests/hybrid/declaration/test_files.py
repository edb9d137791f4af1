"""Mechanism files: every error in its place, whatever way the file is written; files that are no mechanism files."""

import os
import re

import attrs
import pytest
from hypothesis import given, strategies as st

import mechanisms
from hybrid.declaration import (
    Contact,
    Drawing,
    EnergyDynamics,
    EquationDynamics,
    FrictionElement,
    Mechanism,
    Parameter,
    mechanism_from_toml,
    mechanism_to_toml,
    read_mechanism,
)
from hybrid.errors import DeclarationError

BALL = """\
name = "ball"
coordinates = ["y"]
[parameters]
m = 2
[dynamics]
kinetic = "m*y_dot**2/2"
"""


def problems(text: str):
    with pytest.raises(DeclarationError) as caught:
        mechanism_from_toml(text, source="ball.toml")
    return caught.value.problems


def message(text: str) -> str:
    return "\n".join(str(problem).removeprefix("ball.toml:") for problem in problems(text))


# Each document holds the unknown name ``wrong`` once; its place is found by searching the text.
@pytest.mark.parametrize(
    "text",
    [
        BALL + '[[contact]]\nname = "floor"\ngap = "y + wrong"\n',
        BALL
        + '[[contact]]\nname = "a"\ngap = "y"\n# gap = 1\n[[contact]]\nname="b"\n   gap   =   \'y + wrong\' # gap\n',
        'contact = [\n  { name = "a", gap = "y" },\n  # gap\n  { name = "b", gap = "y + wrong" },\n]\n' + BALL,
        BALL + 'potential = """\nm*y +\n   wrong"""\n',
        BALL + "potential = '''m*y\n+ wrong'''\n",
        BALL + 'potential = "m*(y - wrong)"\r\n'.replace("\n", "\r\n"),
        BALL.replace("\n", "\r\n") + 'potential = "m*(y - wrong)"\r\n',
        BALL.replace("m = 2", 'm = { unit = "kg", value = "3 + wrong", doc = "mass" }'),
        BALL.replace("m = 2", "m.value = '3 + wrong'\nm.unit = 'kg'"),
        BALL.replace("m = 2", 'm = "2"\nk = "wrong"'),
        BALL + '[parameters.k]\nvalue = "2*wrong"\n',
        BALL + '[definitions]\n"a" = "wrong"\n',
        BALL + "[forces]\ny = '-wrong'\n",
        'dynamics.kinetic = "y_dot**2*wrong"\nname = "ball"\ncoordinates = ["y"]\n',
        'name = "ball"\ncoordinates = ["y"]\ndynamics = { mass_matrix = [["1"]], forces = [ "wrong" ] }\n',
        'name = "b"\ncoordinates = ["y","z"]\n'
        '[dynamics]\nmass_matrix = [\n[1, "0"], # wr\n  ["0", "wrong"],\n]\nforces=[0,0]\n',
        BALL + '[[contact]]\nname = "floor"\ngap = "y"\nslip = ["y_dot", "wrong*y_dot"]\n',
        BALL + '[[contact]]\nname = "floor"\ngap = "y"\nslip = "wrong"\n',
        BALL + '[[friction]]\nname = "seal"\ntangent = "y"\nlimit = "2 + wrong"\n',
        BALL + '[[constraint]]\nname = "rail"\nequation = "y + wrong"\n',
        BALL + '[drawing]\nlinks = []\npoints.a = ["0", "y + wrong"]\n',
        BALL + '[drawing.points]\na = [0, "wrong"]\n',
        "\N{BYTE ORDER MARK}" + BALL + 'potential = "m*(y - wrong)"\n',
    ],
)
def test_unknown_name_is_reported_where_it_stands(text):
    (problem,) = [item for item in problems(text) if "'wrong'" in item.message]
    text = text.removeprefix("\N{BYTE ORDER MARK}")
    before = text[: text.index("wrong")]
    assert (problem.line, problem.column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert str(problem).startswith(f"ball.toml:{problem.line}:{problem.column}: ")


def test_text_with_escapes_is_reported_at_its_key():
    (problem,) = problems(BALL + 'potential = "m*\\u0079*wrong"\n')
    assert (problem.line, problem.column) == (7, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # fields and tables
        (BALL + "titlex = 1\n", "7:1: dynamics: unknown field 'titlex'; known are kinetic, potential"),
        ("titlex = 'x'\n" + BALL, "1:1: unknown table or field 'titlex'; did you mean 'title'?"),
        (
            BALL + "[[contacts]]\nname = 'a'\ngap = 'y'\n",
            "7:1: unknown table or field 'contacts'; did you mean 'contact'?",
        ),
        (
            BALL + "[[contact]]\nname = 'a'\ngap = 'y'\nstifness_ratio = 1\n",
            "10:1: contact.a: unknown field 'stifness_ratio'; did you mean 'stiffness_ratio'?",
        ),
        (
            BALL.replace("m = 2", "m = { value = 2, unti = 'kg' }"),
            "4:18: parameters.m: unknown field 'unti'; did you mean 'unit'?",
        ),
        (
            BALL.replace("[parameters]", "[parameter]"),
            "3:1: unknown table or field 'parameter'; did you mean 'parameters'?",
        ),
        (BALL.replace("kinetic", "kinetik"), "6:1: dynamics: unknown field 'kinetik'; did you mean 'kinetic'?"),
        (
            BALL + "mass_matrix = [['1']]\n",
            "5:1: dynamics: must give either kinetic and potential, or mass_matrix and forces",
        ),
        # types
        (BALL.replace("m = 2", "m = true"), "4:1: parameters.m: must be a number or an expression, not true"),
        (BALL.replace("m = 2", "m = nan"), "4:1: parameters.m: must be finite, not nan"),
        (BALL.replace("m = 2", "m = -inf"), "4:1: parameters.m: must be finite, not -inf"),
        (
            BALL.replace("m = 2", "m = 1979-05-27"),
            "4:1: parameters.m: must be a number or an expression, not 1979-05-27",
        ),
        (
            BALL.replace("m = 2", "m = 1" + "0" * 400),
            "4:1: parameters.m: must be smaller than 1.8e308, not a longer one",
        ),
        (BALL.replace('["y"]', '"y"'), "2:1: coordinates: must be a list of texts, not 'y'"),
        (BALL.replace('["y"]', "[1]"), "2:1: coordinates: must be a text, not 1"),
        (BALL.replace('"ball"', "3"), "1:1: name: must be a text, not 3"),
        (BALL.replace('"m*y_dot**2/2"', "[1]"), "6:1: dynamics.kinetic: must be an expression or a number, not a list"),
        ("contact = 3\n" + BALL, "1:1: contact: must be an array of tables; write [[contact]] above each"),
        (
            BALL + "[contact]\nname = 'a'\ngap = 'y'\n",
            "7:1: contact: must be an array of tables; write [[contact]] instead of [contact]",
        ),
        ("contact = [3]\n" + BALL, "1:12: contact[1]: must be a table; write [[contact]] above each"),
        ("forces = 3\n" + BALL, "1:1: forces: must be a table; write [forces] above its lines"),
        ("drawing = 3\n" + BALL, "1:1: drawing: must be a table"),
        (
            "dynamics = 3\n" + BALL.partition("[dynamics]")[0],
            "1:1: dynamics: must be a table; write [dynamics] above its lines",
        ),
        # missing
        (BALL.replace('name = "ball"\n', ""), " name: is missing; write it above the first [table]"),
        (BALL.partition("[dynamics]")[0], " dynamics: is missing"),
        (BALL + "[[contact]]\ngap = 'y'\n", "7:1: contact[1].name: is missing"),
        (BALL + "[[contact]]\nname = 'a'\n", "7:1: contact.a.gap: is missing"),
        (BALL.replace("m = 2", "m = { unit = 'kg' }"), "4:1: parameters.m.value: is missing"),
        # duplicates
        (BALL.replace("m = 2", "m = 2\nm = 3"), "5:1: 'm' is given twice"),
        (BALL + "[parameters]\n", "7:1: '[parameters]' is given twice"),
        (
            BALL + "[[contact]]\nname='a'\ngap='y'\n[[contact]]\nname='a'\ngap='y'\n",
            "11:1: contact.a.name: 'a' is already a contact",
        ),
        # syntax
        (
            BALL.replace('"m*y_dot**2/2"', "m*y_dot**2/2"),
            "6:11: invalid value; a text or an expression stands in quotes",
        ),
        ("m = { value = 1 unit = 'kg' }", "1:17: unclosed inline table; a comma stands between two entries"),
        ("coordinates = ['x' 'y']", "1:20: unclosed array; a comma stands between two entries"),
        ("coordinates = ['x'", "1:19: unclosed array at the end of the file"),
        (BALL + 'potential = "m*y\n', "7:17: a text ends with a quote on its line"),
        (BALL + "potential\n", "7:10: expected '=' after a key in a key/value pair"),
        (
            "",
            " name: is missing; write it above the first [table]\n"
            " coordinates: is missing; write it above the first [table]\n dynamics: is missing",
        ),
    ],
)
def test_file_error_names_line_column_field_and_what_was_expected(text, expected):
    assert message(text) == expected


def test_all_errors_come_at_once_in_the_order_of_the_file():
    text = (
        BALL.replace("m = 2", "m = true\nk = 'zz'")
        + "potential = 'm*h'\n[[contact]]\nname = 'a'\ngap = 'y + y_dot'\nfrction = 1\nrestitution = [1]\n"
        + "[[contact]]\ngap = '2^y'\n"
    )
    assert [(item.line, item.field) for item in problems(text)] == [
        (4, "parameters.m"),
        (5, "parameters.k"),
        (8, "dynamics.potential"),
        (11, "contact.a.gap"),
        (12, "contact.a"),
        (13, "contact.a.restitution"),
        (14, "contact[2].name"),
        (15, "contact[2].gap"),
    ]


def test_misspelt_tables_hide_no_other_error():
    text = (
        BALL.replace("coordinates", "coordinate").replace("[parameters]", "[parameter]").replace("m = 2", "m = true")
        + "potential = 'm*h'\n[[contacts]]\nname = 'a'\ngap = 'y + q'\nfrction = 1\n"
    )
    assert [(item.line, item.column, item.message.split(",")[0]) for item in problems(text)] == [
        (2, 1, "unknown table or field 'coordinate'"),
        (3, 1, "unknown table or field 'parameter'"),
        (4, 1, "must be a number or an expression"),
        (7, 16, "unknown name 'h'"),
        (8, 1, "unknown table or field 'contacts'"),
        (10, 12, "unknown name 'q'"),
        (11, 1, "unknown field 'frction'"),
    ]


@pytest.mark.parametrize(
    "field", [field.name for field in attrs.fields(Mechanism) if field.init and field.name != "source"]
)
def test_every_table_is_read_under_a_nearly_right_name(field):
    empty = {"title": "''", "references": "[]", "definitions": "{}", "forces": "{}", "drawing": "{}"}
    empty |= {"contact": "[]", "friction": "[]", "constraint": "[]"}
    text = f"{field} = {empty[field]}\n{BALL}" if field in empty else BALL
    (problem,) = problems(text.replace(field, f"{field}_", 1))
    assert (problem.message, problem.hint) == (f"unknown table or field '{field}_'", f"did you mean '{field}'?")


def test_a_table_of_another_kind_is_not_taken_for_a_misspelt_one():
    told = message(BALL.replace("[parameters]", "[constants]"))
    assert "unknown table or field 'constants'" in told
    assert "array of tables" not in told
    twice = message(BALL + "[parameter]\nk = 'wrong'\n")
    assert twice.endswith("7:1: unknown table or field 'parameter'; did you mean 'parameters'?")


def test_missing_declarations_of_names_do_not_drown_the_cause():
    assert len(problems(BALL.replace("coordinates", "coordinate") + "potential = 'm*y'\n")) == 1
    assert len(problems(BALL.replace('coordinates = ["y"]', "coordinate = 'y'") + "potential = 'm*y'\n")) == 2
    assert len(problems(BALL.replace("[parameters]", "[params]").replace("m = 2", "mm = 2\nn = 3"))) >= 1


def test_number_of_listed_errors_is_limited():
    text = BALL + "[definitions]\n" + "".join(f"d{n} = 'q{n}'\n" for n in range(500))
    listed = problems(text)
    assert len(listed) == 100
    assert listed[-1].message == "there are more errors, not listed"


@pytest.mark.parametrize("name", mechanisms.names())
def test_catalogue_survives_writing_and_reading(name):
    mechanism = mechanisms.load(name)
    assert mechanism_from_toml(mechanism_to_toml(mechanism)) == mechanism


def test_every_field_survives_writing_and_reading():
    mechanism = Mechanism(
        name="all-of.it",
        title='Quotes " and \\ and\nlines and \N{GREEK SMALL LETTER MU}',
        references=["One", "Two, 1999"],
        coordinates=["x", "lambda"],
        parameters={
            "m": Parameter(1e-300, unit="kg", doc='"heavy"'),
            "k": -1e17,
            "I": "m*2",
            "E": Parameter("k", unit="J"),
        },
        definitions={"N": "x + lambda"},
        dynamics=EquationDynamics(mass_matrix=[["1", 0], [0, "2"]], forces=["-N", "t"]),
        forces={"x": "1"},
        contact=[
            Contact(name="a", gap="x", tangent=["lambda"], friction=0.5, static_friction="0.6", restitution=1),
            Contact(name="b", gap="N", slip=["x_dot", "lambda_dot"], damping=1, stiffness_ratio=2),
            Contact(name="c", gap="x"),
        ],
        friction=[FrictionElement(name="d", limit=1, slip="x_dot", static_limit=2)],
        drawing=Drawing(points={"tip of it": ["x", "0", 1], "o": [0, 0, "lambda"]}, links=[["tip of it", "o"]]),
    )
    assert mechanism_from_toml(mechanism_to_toml(mechanism)) == mechanism


@given(
    title=st.text(st.characters(exclude_categories=["Cs"]), max_size=30).filter(
        lambda s: all(c.isprintable() for c in s)
    ),
    value=st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_title_and_value_survive_writing_and_reading(title, value):
    mechanism = Mechanism(
        name="a",
        title=title,
        coordinates=["x"],
        parameters={"m": value},
        dynamics=EnergyDynamics(kinetic="x_dot**2"),
    )
    again = mechanism_from_toml(mechanism_to_toml(mechanism))
    assert again == mechanism
    assert again.parameters["m"].value.hex() == float(value).hex() or value == 0


def read_error(path) -> str:
    with pytest.raises(DeclarationError) as caught:
        read_mechanism(path)
    (problem,) = caught.value.problems
    assert problem.source == str(path) or "\0" in str(path)
    return problem.message


def test_file_is_read_with_its_name(tmp_path):
    path = tmp_path / "ball.toml"
    path.write_text(BALL)
    assert read_mechanism(path).source == str(path)
    assert read_mechanism(str(path)) == mechanism_from_toml(BALL)


def test_what_is_no_readable_file_is_refused(tmp_path):
    assert read_error(tmp_path / "nowhere.toml") == "there is no such file"
    assert read_error(tmp_path) == "cannot be read: it is a directory"
    assert read_error(tmp_path / ("x" * 5000)) == "cannot be read: file name too long"
    assert read_error("a\0b") == "is no name of a file"
    os.mkfifo(tmp_path / "pipe")
    assert read_error(tmp_path / "pipe") == "cannot be read: it is not an ordinary file"


def test_forbidden_file_is_refused(tmp_path, monkeypatch):
    # As root nothing is forbidden, so the refusal of the system is played.
    path = tmp_path / "secret.toml"
    path.write_text(BALL)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refuse)
    assert read_error(path) == "may not be read: permission denied"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", r"is not a UTF-8 text \(byte 0x89 in line 1\); save it as UTF-8"),
        (b'name = "ball"\n\xff\xfe', r"is not a UTF-8 text \(byte 0xff in line 2\); save it as UTF-8"),
        ("name = 'ball'".encode("utf-16"), r"is not a UTF-8 text \(byte 0xff in line 1\); save it as UTF-8"),
        (b"name\0 = 3", "is not a text: it holds null characters"),
        (b"# padding\n" * 1_000_000, "is larger than 128 kB; a mechanism file has a few"),
    ],
)
def test_file_that_is_no_text_or_too_large_is_refused(content, expected, tmp_path):
    path = tmp_path / "file.toml"
    path.write_bytes(content)
    assert re.fullmatch(expected, read_error(path))


@pytest.mark.parametrize("text", [3, None, b"name = 'x'", ["name"]])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(DeclarationError, match="must be a text"):
        mechanism_from_toml(text)
