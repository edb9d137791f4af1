"""``painleve list``, ``show`` and ``check``."""

import json
import os
import subprocess
import sys
import time

import pytest

import mechanisms
from hybrid.cli import main
from hybrid.cli.arguments import catalogues


def printed(capsys, *arguments, status=0):
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def test_list_names_the_catalogue(capsys):
    assert printed(capsys, "list")["names"] == list(mechanisms.names())
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in mechanisms.names())


def test_a_catalogue_that_cannot_be_loaded_is_reported_and_left_out(capsys, monkeypatch):
    from importlib.metadata import EntryPoint

    import hybrid.cli.arguments as loading

    found = [
        EntryPoint("broken", "no_such_package", loading.GROUP),
        EntryPoint("mechanisms", "mechanisms", loading.GROUP),
    ]
    monkeypatch.setattr(loading, "entry_points", lambda group: found)
    assert list(catalogues()) == ["mechanisms"]
    assert "broken" in capsys.readouterr().err


@pytest.mark.parametrize("name", mechanisms.names())
def test_show_gives_what_is_promised(name, capsys):
    answer = printed(capsys, "show", name)
    declared = mechanisms.load(name)
    assert {"name", "title", "coordinates", "parameters", "contacts", "equations"} <= set(answer)
    assert answer["coordinates"] == list(declared.coordinates)
    assert all(set(item) >= {"value", "unit", "doc"} for item in answer["parameters"].values())
    assert {item["name"] for item in answer["contacts"]} >= {contact.name for contact in declared.contact}
    n = len(declared.coordinates)
    assert [len(row) for row in answer["equations"]["M"]] == [n] * n
    assert len(answer["equations"]["h"]) == n


def test_show_has_the_sliding_terms_of_the_rod_as_formulas(capsys):
    # Genot and Brogliato 1999, with alpha = m l^2 / J and the tip at x - l cos phi:
    # A_s = (1 + alpha c (c + s mu sin phi)) / m
    from math import cos, sin

    terms = printed(capsys, "show", "rod_on_incline")["equations"]["contact"]["tip"]
    values = {"m": 2.0, "l": 0.7, "mu": 0.8, "phi": 1.1, "I": 0.3}
    alpha = values["m"] * values["l"] ** 2 / values["I"]
    c, s = cos(1.1), sin(1.1)
    names = {"__builtins__": {}, "sin": sin, "cos": cos, **values}
    assert eval(terms["A_slide+"], names) == pytest.approx((1 + alpha * c * (c + 0.8 * s)) / 2.0, rel=1e-13)
    assert eval(terms["A_slide-"], names) == pytest.approx((1 + alpha * c * (c - 0.8 * s)) / 2.0, rel=1e-13)
    assert set(terms) >= {"G_NN", "G_NT", "G_TT", "b", "critical_friction"}


def test_show_for_people_names_parameters_with_units(capsys):
    assert main(["show", "rod_on_incline", "--param", "m=3"]) == 0
    shown = capsys.readouterr().out
    assert "kg m^2" in shown
    assert "A_slide-" in shown
    assert "free, stick, slide+, slide-" in shown


def test_show_for_people_says_that_the_forces_hold_the_middle_of_a_one_way_brake(tmp_path, capsys):
    file = tmp_path / "cart.toml"
    for limit, is_said in (("0", True), ("2", False)):  # with equal limits the middle is zero
        file.write_text(f"""
            name = "cart"
            coordinates = ["x"]
            dynamics = {{ kinetic = "x_dot**2/2" }}
            friction = [{{ name = "pad", tangent = "x", limit = "2", reverse_limit = "{limit}" }}]
        """)
        assert main(["show", str(file)]) == 0
        assert ("h and b include the force mean_T" in capsys.readouterr().out) is is_said


def test_show_resolves_parameters_that_depend_on_others(capsys):
    values = printed(capsys, "show", "rod_on_incline", "--param", "m=3", "--param", "l=2")["parameters"]
    assert values["I"]["value"] == pytest.approx(3 * 2**2 / 3)
    assert values["I"]["unit"] == "kg m^2"


@pytest.mark.parametrize("name", mechanisms.names())
def test_check_finds_no_error_in_the_catalogue(name, capsys):
    answer = printed(capsys, "check", str(mechanisms.path(name)))
    assert (answer["ok"], answer["errors"], answer["name"], answer["warnings"]) == (True, [], name, [])


@pytest.mark.parametrize(
    ("kinetic", "is_warned"),
    [
        ("m*(x_dot**2 + y_dot**2)/2", True),
        ("(m*x_dot**2 + y_dot**2)/2", True),
        ("(x_dot**2 + y_dot**2)/2 + x_dot*y_dot*cos(x)", False),  # det = sin(x)**2 is positive but at x = 0
        ("(x_dot**2 + y_dot**2)/(2*sqrt(x))", False),  # undefined where x < 0
    ],
)
def test_check_warns_of_masses_with_which_no_verdict_can_be_given(kinetic, is_warned, capsys, tmp_path):
    file = tmp_path / "light.toml"
    lines = [
        'name = "light"',
        'coordinates = ["x", "y"]',
        "[dynamics]",
        f'kinetic = "{kinetic}"',
        "[parameters]",
        "m = -1",
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    assert main(["check", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    assert [json.loads(out)["ok"], len(json.loads(out)["warnings"])] == [True, int(is_warned)]
    assert err.startswith("warning: the mass matrix is not positive definite") == is_warned
    assert main(["verdict", str(file), "--pin", "x=0.5", "--pin", "y=0", "--pin", "x_dot=0", "--pin", "y_dot=0"]) == (
        2 if is_warned else 0
    )


def test_check_reports_every_error_with_its_place(capsys, tmp_path):
    file = tmp_path / "wrong.toml"
    lines = [
        'name = "wrong"',
        'coordinates = ["x", "y"]',
        "[dynamics]",
        'kinetic = "m*(x_dot**2 + y_dot**2)/2"',
        "[parameters]",
        "m = 1",
        "[[contact]]",
        'name = "tip"',
        'gap = "yy"',
        'tangent = "x"',
        'frction = "0.5"',
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    assert main(["check", str(file), "--json"]) == 2
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert answer["ok"] is False
    places = {(error["line"], error["column"] is not None) for error in answer["errors"]}
    assert {(9, True), (11, True)} <= places
    assert f"{file}:9" in err
    assert "friction" in err
    assert len(err.splitlines()) == len(answer["errors"])


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00\x01",
        b"",
        b"[[[",
        b'name = "a"\n' + b"#" * 10_000_000,
        b'name = "rod"\ncoordinates = ["x"]\n[dynamics]\nkinetic = "9**9**9**9*x_dot**2"\n',
        b'name = "rod"\ncoordinates = ["x"]\n[dynamics]\nkinetic = "__import__(\'os\').abort()*x_dot**2"\n',
        b'name = "rod"\ncoordinates = ["x"]\n[dynamics]\nkinetic = "' + b"(" * 100_000 + b'"\n',
    ],
    ids=["binary", "empty", "no TOML", "10 MB", "tower of powers", "code", "deep"],
)
def test_a_bad_file_is_one_clear_message_and_quick(content, capsys, tmp_path):
    file = tmp_path / "bad.toml"
    file.write_bytes(content)
    start = time.perf_counter()
    assert main(["verdict", str(file), "--json", "--pin", "x=0"]) == 2
    assert time.perf_counter() - start < 2.0
    out, err = capsys.readouterr()
    assert out == ""
    assert "bad.toml" in err
    assert "Traceback" not in err
    assert "defect" not in err


def test_a_file_that_does_not_exist_is_bad_input(capsys):
    assert main(["show", "no_such_file.toml"]) == 2
    assert "no_such_file.toml" in capsys.readouterr().err


def test_a_name_with_the_signs_of_a_terminal_cannot_steer_it(tmp_path):
    # click leaves them out where nobody looks; a terminal gets what is written
    ours, theirs = os.openpty()
    file = tmp_path / "\x1b[31mred\x1b]0;title\x07.json"
    file.write_text('{"M": [[1]], "q": [1], "\\u001b[31m": 1}', encoding="utf-8")
    subprocess.run([sys.executable, "-m", "hybrid", "lcp", str(file)], stderr=theirs, stdout=theirs, check=False)
    os.close(theirs)
    said = os.read(ours, 10_000)
    os.close(ours)
    assert b"unknown field" in said
    assert b"x1b[31m" in said
    assert b"\x1b" not in said
    assert b"\x07" not in said
