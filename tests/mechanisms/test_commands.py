"""The commands on the catalogue's page run as they stand, and find what the page says of their mechanisms."""

import json
import re
import shlex
from pathlib import Path

import pytest

from hybrid.cli import main
from mechanisms import names

PAGE = (Path(__file__).parents[2] / "docs/reference/catalogue.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


def answer(line, capsys):
    command, *arguments = shlex.split(line)
    assert command == "painleve"
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def command_of(name, kind="simulate"):
    return next(line for line in COMMANDS if line.startswith(f"painleve {kind} {name} "))


@pytest.mark.parametrize("line", COMMANDS, ids=lambda line: " ".join(line.split()[1:3]))
def test_command_of_the_page_runs(line, capsys):
    found = answer(line, capsys)
    if line.startswith("painleve simulate"):
        assert found["termination"] == "END_TIME"
        assert found["events"]
        energy = found["energy"]
        assert energy["dissipated"] >= -1e-12


def test_the_page_lists_every_mechanism_in_its_table():
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(rows) == list(names())


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("three_ball_chain", ["impact"]),
        ("spatial_ball", ["slip end"]),
        ("coulomb_oscillator", ["slip end", "slip end"]),
    ],
)
def test_events_of_a_command(name, kinds, capsys):
    assert [event["kind"] for event in answer(command_of(name), capsys)["events"]] == kinds


def test_smoother_woodpecker_slides_down(capsys):
    found = answer(command_of("woodpecker", "verdict"), capsys)
    assert [branch["mode"]["lower"] for branch in found["branches"]] == ["slide-"]
