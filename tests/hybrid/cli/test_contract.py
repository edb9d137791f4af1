"""The keys of the JSON answers that other programs rely on, and that nothing else is printed with them."""

import json

import pytest

from hybrid.cli import main
from hybrid.cli.program import program
from tests.hybrid.numeric.test_lint import rod_log

PINS = ["--pin=phi=pi/3", "--pin=phi_dot=1/2", "--pin=slip.tip=-1", "--param=mu=3/2"]
SWEPT = ["--axis=phi=0:pi:9", "--axis=phi_dot=-3:3:9", "--pin=slip.tip=-1"]
VERDICT = {"mechanism", "parameters", "state", "verdict", "count", "branches", "certificate", "margin", "contact"}

CONTRACT = {
    "list": ([], {"names"}),
    "show": (["rod_on_incline"], {"name", "title", "coordinates", "parameters", "contacts", "equations"}),
    "check": (["rod_on_incline"], {"errors"}),
    "verdict": (["rod_on_incline", *PINS], VERDICT),
    "graph": (["rod_on_incline"], {"nodes", "edges"}),
    "critical-friction": (["rod_on_incline", "--over=phi=0:pi"], {"minimum", "at", "paradox_intervals"}),
    "map": (
        ["rod_on_incline", *SWEPT],
        {"axes", "cells", "verdict_fractions", "mode_fractions", "sampled", "general_cells", "branch"},
    ),
    "certify": (
        ["rod_on_incline", "--axis=phi=0:pi", "--axis=phi_dot=-3:3", "--pin=slip.tip=-1", "--gap=0.01"],
        {"axes", "gap", "gap_wanted", "complete", "regions", "undecided", "absent", "witness", "evaluations", "boxes"}
        | {"branch", "slice"},
    ),
    "simulate": (
        ["rod_on_incline", "--pin=phi=0.4", "--pin=phi_dot=0.5", "--pin=slip.tip=0", "--t-end=1"],
        {"events", "termination", "final", "energy"},
    ),
    "ensemble": (
        ["rod_on_incline", "--vary=phi=0.2:2.9", "--vary=slip.tip=-1:1", "--pin=phi_dot=0", "--n=3", "--t-end=0.1"],
        {"n", "seed", "terminations", "verdicts", "events", "handed_over", "handed_over_reasons", "seconds"}
        | {"compile_seconds", "statistics"},
    ),
    "impact": (
        ["rod_on_incline", *PINS, "--law=energetic"],
        {"law", "v_before", "v_after", "gap_dot_after", "slip_after", "impulse_N", "impulse_T"}
        | {"energy_change", "phases", "duration", "warnings"},
    ),
    "compare": (["rod_on_incline", *PINS, "--stiffness=1e4"], {"verdict", "rows", "observed_order", "notes"}),
    "compare-map": (["rod_on_incline", *SWEPT], {"axes", "cells", "shares", "stiffness", "penalty", "exceptions"}),
    "sensitivity": (
        [
            "two_carts",
            "--pin=q1=1",
            "--pin=q2=2",
            "--pin=q1_dot=1",
            "--pin=q2_dot=0",
            "--t-end=2",
            "--functional=q1_dot**2 + q2_dot**2",
            "--wrt=k1,k2",
        ],
        {"value", "gradient", "check", "events", "refusal", "refusals", "end", "notes"},
    ),
    "restitution": (["rod_on_incline", "--over=phi=0.1:1.5:9"], {"axes", "restitution", "absorbed"}),
    "report": (["rod_on_incline", *PINS], VERDICT),
    "explore": (["rod_on_incline", "--offline=page.html"], {"page"}),
    "lint": (
        ["rod.xml", "--log=rod.npz"],
        {"frames", "counted", "resting", "left_out", "verdict_fractions", "by_friction", "critical_factor", "worst"}
        | {"friction_in_force", "thresholds", "notes"},
    ),
    "import": (["rod.xml"], {"name", "file", "coordinates", "contacts", "text", "notes"}),
    "new": (["seal"], {"name", "file", "text"}),
    "schema": ([], {"$schema", "title", "type", "properties", "required"}),
    "lcp": (["problem.json"], {"status", "solutions", "continua", "complete", "classes", "certificate"}),
    "doctor": ([], {"ok", "python", "libraries", "checks"}),
}


def test_every_command_has_a_contract():
    assert set(CONTRACT) == set(program.commands)


@pytest.mark.parametrize("command", CONTRACT)
def test_json_is_one_object_with_the_promised_keys(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if command in ("lint", "import"):
        rod_log(tmp_path)
    (tmp_path / "problem.json").write_text('{"M": [[1.0]], "q": [-1.0]}', encoding="utf-8")
    arguments, keys = CONTRACT[command]
    assert main([command, *arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer) >= keys


@pytest.mark.parametrize("command", CONTRACT)
def test_bad_input_prints_nothing_on_standard_output(command, capsys):
    assert main([command, "--json", "--no-such-option"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
