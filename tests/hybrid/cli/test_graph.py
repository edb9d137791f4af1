"""``painleve graph``: the same automaton in every format."""

import json
from xml.etree import ElementTree

import pytest

from hybrid.cli import main

# One planar contact with friction: four modes and the impact.
NODES = {"free", "stick", "slide+", "slide-", "impact"}


def test_json_has_the_four_modes_and_the_impact(capsys):
    assert main(["graph", "rod_on_incline", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert {node["key"] for node in record["nodes"]} == NODES
    assert {edge["source"] for edge in record["edges"]} <= NODES
    assert {edge["target"] for edge in record["edges"]} <= NODES


def test_the_json_file_is_read_back(tmp_path):
    from hybrid.automaton import build_automaton
    from hybrid.automaton.export import from_json
    from hybrid.automaton.outline import outline
    from hybrid.dynamics import derive
    from mechanisms import load

    file = tmp_path / "rod.json"
    assert main(["graph", "rod_on_incline", "-o", str(file)]) == 0
    read = from_json(file.read_text(encoding="utf-8"))
    assert read == outline(build_automaton(derive(load("rod_on_incline"))))


@pytest.mark.parametrize(("form", "ending"), [("svg", "svg"), ("spaceex", "xml")])
def test_markup_is_well_formed_and_names_every_mode(form, ending, capsys, tmp_path):
    assert main(["graph", "rod_on_incline", "--format", form]) == 0
    printed = capsys.readouterr().out
    root = ElementTree.fromstring(printed.encode())
    assert root.tag.endswith({"svg": "svg", "spaceex": "sspaceex"}[form])
    file = tmp_path / f"rod.{ending}"
    assert main(["graph", "rod_on_incline", "-o", str(file)]) == 0
    assert file.read_text(encoding="utf-8").strip() == printed.strip()


def test_format_that_contradicts_the_ending_of_the_file_is_refused(capsys, tmp_path):
    file = tmp_path / "rod.svg"
    assert main(["graph", "rod_on_incline", "--format", "spaceex", "-o", str(file)]) == 2
    assert "its ending stands for svg, --format says spaceex" in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.parametrize(("form", "start"), [("dot", 'digraph "rod_on_incline" {'), ("mermaid", "stateDiagram-v2")])
def test_diagrams_as_text(form, start, capsys):
    assert main(["graph", "rod_on_incline", "--format", form]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(start)
    assert all(f'"{node}"' in shown for node in NODES)


def test_a_summary_for_people(capsys):
    assert main(["graph", "bouncing_ball"]) == 0
    shown = capsys.readouterr().out
    assert "bouncing_ball: 3 nodes" in shown
    assert "impact" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "svgg"], "svg"),
        (["-o", "rod.txt"], "--format"),
        (["-o", "no/such/folder/rod.svg"], "no/such/folder"),
    ],
)
def test_a_bad_request_is_bad_input(arguments, message, capsys):
    assert main(["graph", "bouncing_ball", *arguments]) == 2
    assert message in capsys.readouterr().err
