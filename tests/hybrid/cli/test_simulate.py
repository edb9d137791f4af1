"""``painleve simulate``: events, ends, rules and plots at the command line."""

import json

import numpy as np
import pytest

from hybrid.cli import main

ROD = ["rod_on_incline", "--pin=phi=0.4", "--pin=phi_dot=0.5", "--pin=slip.tip=0"]


def answer(capsys, *arguments):
    assert main(["simulate", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_events_of_the_rod_as_the_literature_has_them(capsys):
    # Mamaev and Ivanova 2013 with mu = 1/2 on a level plane; times recomputed with 40 digits
    found = answer(capsys, *ROD, "--t-end=2")
    assert [event["t"] for event in found["events"]] == pytest.approx(
        [0.161270300155961566, 1.842626057893658402], abs=1e-10
    )
    assert [event["mode_after"] for event in found["events"]] == [{"tip": "slide-"}, {"tip": "slide+"}]
    assert found["termination"] == "END_TIME"
    energy = found["energy"]
    assert energy["initial"] - energy["dissipated"] == pytest.approx(energy["final"], abs=1e-10)


def test_bouncing_ball_rests_after_its_accumulation(capsys):
    pins = ["--pin=gap.floor=1", "--pin=gap_dot.floor=0", "--param=e=0.8", "--param=g=9.81"]
    found = answer(capsys, "bouncing_ball", *pins, "--t-end=6")
    # sqrt(2h/g)(1 + e)/(1 - e)
    limit = np.sqrt(2 / 9.81) * 1.8 / 0.2
    (accumulation,) = [event for event in found["events"] if event["kind"].startswith("accumulation")]
    assert accumulation["t"] == pytest.approx(limit, abs=1e-9)
    assert found["final"]["v"] == {"y_dot": 0.0}


PARADOX = ["rod_on_incline", "--pin=phi=2.0", "--pin=phi_dot=0", "--pin=slip.tip=1", "--param=mu=1.5", "--t-end=0.1"]


def test_paradox_stops_the_motion_and_the_penalty_rule_carries_it_on(capsys):
    stopped = answer(capsys, *PARADOX)
    assert stopped["termination"] == "INCONSISTENT"
    assert stopped["final"]["t"] == 0.0
    resolved = answer(capsys, *PARADOX, "--rule=penalty")
    assert resolved["final"]["t"] > 0.0
    assert resolved["energy"]["final"] <= resolved["energy"]["initial"]


def test_branches_are_followed_where_several_modes_are_consistent(capsys):
    pins = ["--pin=phi=2.0", "--pin=phi_dot=1.3", "--pin=slip.tip=1", "--param=mu=1.5"]
    found = answer(capsys, "rod_on_incline", *pins, "--t-end=0.01", "--rule=branch")
    assert {limb["choice"] for limb in found["limbs"]} == {"", "free", "slide+"}


def test_plot_is_written_with_every_mode_named(tmp_path, capsys):
    path = tmp_path / "motion.svg"
    assert main(["simulate", *ROD, "--t-end=2", f"--plot={path}"]) == 0
    assert "slip start" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8").lstrip().startswith("<?xml")


@pytest.mark.parametrize("t_end", ["-1", "0", "nan"])
def test_end_before_the_start_is_bad_input(t_end, capsys):
    assert main(["simulate", *ROD, f"--t-end={t_end}"]) == 2
    assert "t_end" in capsys.readouterr().err
