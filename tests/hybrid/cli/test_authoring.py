"""``painleve new`` and ``schema``: what they write, and that nothing is lost."""

import json

from hybrid.cli import main
from hybrid.declaration.writing import mechanism_schema


def test_a_new_file_is_found_valid_and_moves(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "seal"]) == 0
    assert main(["check", "seal.toml"]) == 0
    capsys.readouterr()
    # a block of 1 kg on a floor with mu = 0.3, pushed with m*g/4: from 1 m/s it slows down with g*(0.3 - 0.25)
    assert main(["simulate", "seal.toml", "--pin=x=0", "--pin=x_dot=1", "--t-end=1", "--json"]) == 0
    assert abs(json.loads(capsys.readouterr().out)["final"]["v"]["x_dot"] - (1 - 9.81 * 0.05)) < 1e-9


def test_the_name_of_the_file_names_the_mechanism(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "seal.toml", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["name"], answer["file"]) == ("seal", "seal.toml")
    assert [path.name for path in tmp_path.iterdir()] == ["seal.toml"]


def test_a_file_that_is_there_is_left_alone(tmp_path, capsys):
    file = tmp_path / "seal.toml"
    file.write_text("mine")
    assert main(["new", "seal", "-o", str(file)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert file.read_text() == "mine"


def test_a_name_that_is_none_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "../seal"]) == 2
    assert "must be a short name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_schema_is_printed_and_written(tmp_path, capsys):
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == mechanism_schema()
    file = tmp_path / "mechanism.schema.json"
    assert main(["schema", "-o", str(file)]) == 0
    assert json.loads(file.read_text()) == mechanism_schema()
    assert "#:schema ./mechanism.schema.json" in capsys.readouterr().out
