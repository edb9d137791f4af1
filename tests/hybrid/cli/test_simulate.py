"""``painleve simulate``: events, ends, rules and plots at the command line."""

import json
import re

import numpy as np
import pytest

from hybrid.cli import main
from hybrid.cli.motion import motion_tables
from hybrid.motion import load
from hybrid.motion.run import Run

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
    assert {branch["choice"] for branch in found["limbs"]} == {"", "free", "slide+"}


def test_plot_is_written_with_every_mode_named(tmp_path, capsys):
    path = tmp_path / "motion.svg"
    assert main(["simulate", *ROD, "--t-end=2", f"--plot={path}"]) == 0
    assert "slip start" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8").lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--t-end=-1"], "t_end"),
        (["--t-end=0"], "t_end"),
        (["--t-end=nan"], "'--t-end': nan is not a finite number"),
        (["--t-end=1", "--plot-kind=phase"], "--plot-kind says what --plot FILE shows: give both, or neither"),
        (["--t-end=1", "--method=time-stepping", "--step=2"], "step 2 is longer than the motion, which takes 1"),
        (["--t-end=1", "--method=time-stepping", "--step=inf"], "'--step': inf is not a finite number"),
    ],
)
def test_bad_words_are_named(words, message, capsys):
    assert main(["simulate", *ROD, *words]) == 2
    assert message in capsys.readouterr().err


def test_motion_is_animated_drawn_and_kept(tmp_path, capsys):
    page, drawing, kept = (tmp_path / name for name in ("motion.html", "motion.svg", "motion.npz"))
    outputs = [f"--animate={page}", f"--plot={drawing}", f"--output={kept}"]
    found = answer(capsys, *ROD, "--t-end=1", *outputs)
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    read = load(kept)
    assert [event.t for event in read.events] == [event["t"] for event in found["events"]]
    assert drawing.exists()


def test_time_stepping_answers_in_the_same_words(capsys):
    found = answer(capsys, *ROD, "--t-end=2", "--method=time-stepping", "--step=1e-3")
    exact = answer(capsys, *ROD, "--t-end=2")
    assert set(found) == set(exact)
    assert (found["method"], exact["method"]) == ("time-stepping", "event-driven")
    assert [event["mode_after"] for event in found["events"]] == [event["mode_after"] for event in exact["events"]]
    times = [[event["t"] for event in motion["events"]] for motion in (found, exact)]
    assert times[0] == pytest.approx(times[1], abs=2e-3)
    assert found["final"]["q"] == pytest.approx(exact["final"]["q"], abs=1e-3)


BAD = {
    "needs a step: add --step": ["--method=time-stepping"],
    "chooses its steps: leave out --step, or add --method time-stepping": ["--step=0.1"],
    "'time-stepping'": ["--method=timestepping"],
    "Newton's law": ["--method=time-stepping", "--step=1e-2", "--law=poisson"],
    "leave out rule": ["--method=time-stepping", "--step=1e-2", "--rule=penalty"],
    "no branches": ["--method=time-stepping", "--step=1e-2", "--rule=branch"],
    "must end in .svg, .png, .pdf": ["--plot=motion.txt"],
    "must end in .html": ["--animate=motion.svg"],
    "must end in .npz": ["-o", "motion.h5"],
}


@pytest.mark.parametrize("message", BAD)
def test_what_cannot_be_done_is_said_before_it_is_tried(message, capsys):
    assert main(["simulate", *ROD, "--t-end=2", *BAD[message]]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_a_mechanism_without_drawing_is_told_how_to_declare_one(tmp_path, capsys):
    path = tmp_path / "mass.toml"
    path.write_text('name = "mass"\ncoordinates = ["x"]\n[dynamics]\nkinetic = "x_dot**2/2"\n', encoding="utf-8")
    pins = ["--pin=x=0", "--pin=x_dot=1", "--t-end=1"]
    assert main(["simulate", str(path), *pins, f"--animate={tmp_path / 'motion.html'}"]) == 2
    assert "declare them as [drawing] points" in capsys.readouterr().err
    assert not (tmp_path / "motion.html").exists()


FALL = ["rod_two_ends", "--pin=x=0", "--pin=y=1.6", "--pin=phi=0.5", "--pin=x_dot=0.3", "--pin=y_dot=0"]
FALL += ["--pin=phi_dot=0.2", "--param=e=0.4", "--t-end=4"]


@pytest.mark.parametrize("method", [[], ["--method=time-stepping", "--step=1e-2"]], ids=["events", "steps"])
def test_interrupt_gives_keeps_and_draws_what_was_computed(method, tmp_path, capsys, monkeypatch):
    def impatient(_, done, total):
        if done > 0.65 * total:
            raise KeyboardInterrupt

    whole = answer(capsys, *FALL, *method)
    monkeypatch.setattr("hybrid.progress.ProgressBar.advance", impatient)
    kept, page = tmp_path / "motion.npz", tmp_path / "motion.html"
    assert main(["simulate", *FALL, *method, "--json", "-o", str(kept), f"--animate={page}"]) == 130
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["termination"] == "INTERRUPTED"
    assert 2.6 < found["final"]["t"] < 4.0
    *settled, last = found["events"]  # what follows the last one was not decided
    assert settled == whole["events"][: len(settled)]
    assert last["t"] == whole["events"][len(settled)]["t"]
    assert len(settled) >= 2
    assert f"interrupted at t = {found['final']['t']:.10g}" in err
    assert load(kept).t == found["final"]["t"]
    assert page.exists()


def test_interrupted_branches_are_not_followed_further(capsys, monkeypatch):
    pins = ["--pin=phi=2.0", "--pin=phi_dot=1.3", "--pin=slip.tip=1", "--param=mu=1.5"]
    real = Run._arc

    def impatient(run, choice, moment, trial):
        if choice.mode.label == "free":
            raise KeyboardInterrupt
        return real(run, choice, moment, trial)

    monkeypatch.setattr(Run, "_arc", impatient)
    assert main(["simulate", "rod_on_incline", *pins, "--t-end=0.01", "--rule=branch", "--json"]) == 130
    found = json.loads(capsys.readouterr().out)
    assert not found["complete"]
    assert [branch["termination"] for branch in found["limbs"]].count("INTERRUPTED") == 1
    assert found["limbs"][-1]["termination"] == "INTERRUPTED"


def test_motion_ends_where_an_expression_falls_to_zero(capsys):
    found = answer(capsys, *ROD, "--t-end=3", "--until=phi")
    assert found["termination"] == "UNTIL"
    # flat by an integration of the rod's own equations over its three arcs, mu = 1/2
    assert found["final"]["t"] == pytest.approx(2.0384518525054145, abs=1e-10)
    assert found["final"]["q"]["phi"] == pytest.approx(0.0, abs=1e-12)


def test_condition_that_is_never_met_and_a_motion_without_events_are_said(capsys):
    assert main(["simulate", *ROD, "--t-end=0.01", "--until=phi"]) == 0  # it is flat at 2.04 only, as above
    shown = capsys.readouterr().out
    assert "--until: phi did not fall to zero." in shown
    assert "No events." in shown
    assert "mode before" not in shown


def test_unknown_name_in_the_condition_is_told_with_what_was_meant(capsys):
    assert main(["simulate", *ROD, "--t-end=3", "--until=phy"]) == 2
    assert "did you mean 'phi'" in capsys.readouterr().err


def test_a_condition_without_a_value_at_the_start_is_refused_and_named(capsys):
    """One whose value is only in question there, as sin(t)/t, is followed."""
    assert main(["simulate", *ROD, "--t-end=3", "--until=sqrt(x - 10)"]) == 2
    assert "until: 'sqrt(x - 10)' has no finite value at the start" in capsys.readouterr().err
    assert main(["simulate", *ROD, "--t-end=0.5", "--until=sin(t)/t - 0.99"]) == 0
    assert "the condition to stop at was met at t = 0.245" in capsys.readouterr().out  # t^2/6 = 0.01, nearly


def test_branches_take_no_condition_to_stop_at(capsys):
    assert main(["simulate", *ROD, "--t-end=3", "--until=phi", "--rule=branch"]) == 2
    assert "--until" in capsys.readouterr().err


def test_singular_posture_stops_the_motion_or_is_passed_smoothly(capsys):
    start = ["singular_pendulum", "--pin=u=1/2", "--pin=u_dot=0", "--t-end=2"]
    assert answer(capsys, *start)["termination"] == "SINGULAR_CONFIGURATION"
    passed = answer(capsys, *start, "--singular=smooth")
    assert passed["termination"] == "END_TIME"
    # Burian 2024 with b = 3; recomputed in one coordinate along the branch with 40 digits
    assert passed["final"]["q"]["u"] == pytest.approx(-0.22066744, abs=1e-8)


PENDULUM = ["singular_pendulum", "--pin=u=1/2", "--pin=u_dot=0"]


def test_singular_posture_is_passed_with_a_spring_in_place_of_the_rod(tmp_path, capsys):
    drawing, page, kept = (tmp_path / name for name in ("motion.png", "motion.html", "motion.npz"))
    files = [f"--plot={drawing}", f"--animate={page}", f"--output={kept}"]
    found = answer(capsys, *PENDULUM, "--t-end=2", "--singular=realise", "--stiffness=BC=1e6", *files)
    assert found["termination"] == "END_TIME"
    assert found["handed_over"] == {"t": pytest.approx(0.737896267, abs=1e-8), "stiffness": {"BC": 1e6}}
    # along the smooth branch, Burian 2024 with b = 3, less and less strayed from as the stiffness grows
    assert found["final"]["q"]["u"] == pytest.approx(-0.22066744, abs=1e-5)
    assert abs(found["energy"]["residual"]) < 1e-9
    assert load(kept).springs.t == found["handed_over"]["t"]
    assert drawing.stat().st_size > 0
    assert page.stat().st_size > 0
    assert answer(capsys, *PENDULUM, "--t-end=0.1")["handed_over"] is None


def test_hand_over_is_told_with_its_time_and_reason(capsys):
    assert main(["simulate", *PENDULUM, "--t-end=0.8", "--singular=realise", "--stiffness=1e4"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    known = re.search(r"since t = (\S+) with a spring in place of BC \(stiffness 10000\)", out)
    assert float(known[1]) == pytest.approx(0.737896267, abs=1e-8)  # of a double zero, as above
    assert "Note: t = 0.737896267: transversal crossing of the configuration space" in out


def test_notes_are_in_the_order_of_time():
    events = [
        {"t": t, "kind": "choice", "contact": "", "mode_before": {}, "mode_after": {}, "note": f"said of {t:g}"}
        for t in (0.5, 2.0, 10.0)
    ]
    warnings = ["t = 1.5: warned", "of the whole motion"]
    final = {"t": 11.0, "q": {}, "v": {}}
    answer = {"mechanism": "m", "cause": "c", "events": events, "final": final, "energy": {}, "warnings": warnings}
    said = [str(line).removeprefix("Note: ") for line in motion_tables(answer) if str(line).startswith("Note: ")]
    expected = ["of the whole motion", "t = 0.5: said of 0.5", "t = 1.5: warned", "t = 2: said of 2"]
    assert said == [*expected, "t = 10: said of 10"]


SPRINGS = {
    "springs need a stiffness": ["--singular=realise"],
    "--stiffness is that of the springs": ["--stiffness=1e4"],
    "did you mean 'BC'": ["--singular=realise", "--stiffness=Bc=1e4"],
    "must be a positive number, not -1.0": ["--singular=realise", "--stiffness=-1"],
    "stiffness.BC: must be a positive number, not 0.0": ["--singular=realise", "--stiffness=BC=0"],
    "give each constraint once": ["--singular=realise", "--stiffness=1", "--stiffness=BC=1"],
    "expected NAME=VALUE": ["--singular=realise", "--stiffness==1"],
    "leave out --until and --singular": ["--singular=realise", "--stiffness=1", "--rule=branch"],
    "leave out singular": ["--singular=realise", "--stiffness=1", "--method=time-stepping", "--step=0.1"],
}


@pytest.mark.parametrize("message", SPRINGS)
def test_wrong_springs_are_bad_input(message, capsys):
    assert main(["simulate", *PENDULUM, "--t-end=1", *SPRINGS[message]]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_branches_are_drawn_together_and_kept_one_by_one(tmp_path, capsys):
    pins = ["--pin=phi=2.0", "--pin=phi_dot=1.3", "--pin=slip.tip=1", "--param=mu=1.5"]
    drawing, kept = tmp_path / "tree.svg", tmp_path / "tree.npz"
    asked = [*pins, "--t-end=0.01", "--rule=branch", f"--plot={drawing}", f"--output={kept}"]
    assert main(["simulate", "rod_on_incline", *asked]) == 0
    out = capsys.readouterr().out
    assert "Parts of the tree" in out
    assert drawing.exists()
    assert not kept.exists()
    ends = [load(tmp_path / f"tree-{part}.npz").t for part in range(3)]
    assert ends == [0.0, 0.01, 0.01]


def test_an_interrupt_while_writing_does_not_take_the_answer_away(tmp_path, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("hybrid.reporting.save_figure", interrupt)
    kept = tmp_path / "motion.npz"
    assert main(["simulate", *ROD, "--t-end=1", "--json", "-o", str(kept), f"--plot={tmp_path / 'motion.svg'}"]) == 130
    out, err = capsys.readouterr()
    assert json.loads(out)["final"]["t"] == load(kept).t == 1.0
    assert "not all of them" in err


def declared_in(path, text):
    file = path / "declared.toml"
    file.write_text(text)
    return str(file)


RUNAWAY = """
name = "runaway"
coordinates = ["x"]
[dynamics]
kinetic = "x_dot**2/2"
potential = "0"
[forces]
x = "x_dot**2"
"""
SQUEEZED = """
name = "squeezed"
coordinates = ["x"]
[dynamics]
kinetic = "x_dot**2/2"
potential = "0"
[[contact]]
name = "left"
gap = "x"
[[contact]]
name = "right"
gap = "1 - t - x"
"""
RATTLING = """
name = "rattling"
coordinates = ["x"]
[dynamics]
kinetic = "x_dot**2/2"
potential = "0"
[[contact]]
name = "left"
gap = "x"
restitution = 1
[[contact]]
name = "right"
gap = "1e-9 - x"
restitution = 1
"""


@pytest.mark.parametrize(
    ("text", "pins", "termination"),
    [
        (RUNAWAY, ["x=0", "x_dot=1"], "STEP_SIZE"),  # x_dot = 1/(1 - t)
        (SQUEEZED, ["x=0", "x_dot=0"], "NOT_COMPUTED"),  # the right wall leaves no room at t = 1
    ],
)
def test_a_motion_that_could_not_be_computed_further_is_given_with_status_3(text, pins, termination, tmp_path, capsys):
    kept = tmp_path / "motion.npz"
    asked = [declared_in(tmp_path, text), *(f"--pin={pin}" for pin in pins), "--t-end=3", "--law=newton"]
    assert main(["simulate", *asked, "--json", "-o", str(kept)]) == 3
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["termination"] == termination
    assert found["final"]["t"] == load(kept).t == pytest.approx(1.0, abs=1e-6)
    assert found["cause"] in err


def test_a_motion_of_too_many_events_is_given_with_status_3(tmp_path, capsys):
    # 1e9 impacts in a unit of time between two walls 1e-9 apart
    asked = [declared_in(tmp_path, RATTLING), "--pin=x=0.5e-9", "--pin=x_dot=1", "--t-end=1", "--law=newton", "--json"]
    assert main(["simulate", *asked]) == 3
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["termination"] == "CROWDED"
    assert len(found["events"]) / found["final"]["t"] == pytest.approx(1e9, rel=0.01)
    assert found["cause"] in err


IN_A_DRUM = """
name = "bead"
coordinates = ["x", "z"]
[dynamics]
kinetic = "(x_dot**2 + z_dot**2)/2"
potential = "9.81*z"
[[contact]]
name = "wall"
gap = "1/2 - sqrt(x**2 + z**2)"
"""


@pytest.mark.parametrize("asked", ["simulate", "simulate --method time-stepping --step 1e-4", "ensemble --n 2"])
def test_another_position_of_the_pins_is_named(asked, tmp_path, capsys):
    (tmp_path / "bead.toml").write_text(IN_A_DRUM)
    command, *options = asked.split()
    at = ["--vary=x_dot=0:1e-9", "--pin=x=3/10"] if command == "ensemble" else ["--pin=x=3/10", "--pin=x_dot=0"]
    assert main([command, str(tmp_path / "bead.toml"), *at, "--t-end=1e-3", *options, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    (note,) = answer["notes" if command == "ensemble" else "warnings"]
    assert note.endswith("the pins have another position: x = 0.3, z = -0.4")  # 3, 4, 5
