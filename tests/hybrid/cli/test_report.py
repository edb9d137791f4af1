"""``painleve report``: one page that needs nothing else, and the same as Markdown and JSON."""

import json
import re

import pytest

from hybrid.cli import main

ARGUMENTS = ["report", "rod_on_incline", "--param=mu=3/2", "--pin=phi=pi/3", "--pin=phi_dot=1/2", "--pin=slip.tip=-1"]
VERDICT_KEYS = {"mechanism", "parameters", "state", "verdict", "count", "branches", "certificate", "margin", "contact"}


def test_the_page_needs_nothing_from_elsewhere(capsys, tmp_path):
    file = tmp_path / "rod.html"
    assert main([*ARGUMENTS, "-o", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "rod_on_incline: INCONSISTENT" in shown
    assert str(file) in shown
    page = file.read_text(encoding="utf-8")
    assert "INCONSISTENT" in page
    assert "<svg" in page
    assert "<script" not in page
    # Only the names of XML formats look like addresses.
    assert set(re.findall(r"https?://[^\s\"'<>)]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.findall(r"(?:src|href)=[\"'](?!#|data:)", page)


def test_the_page_quotes_the_command_that_makes_it(capsys, tmp_path):
    file = tmp_path / "rod.md"
    assert main([*ARGUMENTS, "-o", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    assert "painleve report rod_on_incline --param mu=3/2 --pin phi=pi/3" in text


def test_json_is_the_verdict_and_more(capsys, tmp_path):
    file = tmp_path / "rod.json"
    assert main([*ARGUMENTS, "--json", "-o", str(file)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert set(printed) > VERDICT_KEYS
    assert printed["verdict"] == "INCONSISTENT"
    assert json.loads(file.read_text(encoding="utf-8")) == printed


def test_without_a_file_name_the_page_is_named_after_the_mechanism(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["report", "bouncing_ball"]) == 0
    assert (tmp_path / "bouncing_ball.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "rod.pdf"], ".html, .md, .json"),
        (["-o", "no/such/folder/rod.html"], "no/such/folder"),
        (["--axis", "phi=0:1:9"], "two axes, got 1"),
    ],
)
def test_a_bad_request_is_bad_input(arguments, message, capsys):
    assert main([*ARGUMENTS, *arguments]) == 2
    assert message in capsys.readouterr().err
