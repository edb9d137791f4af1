"""Rigid laws and compliant contacts side by side, as a library and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mechanisms
from hybrid import KelvinVoigt, StateError, compare, derive, solve_state
from hybrid.cli import main
from hybrid.contact.impacts.impact import ImpactProblem
from hybrid.contact.impacts.laws import VelocityProblem
from hybrid.contact.modes import ActiveElement, ElementKind
from tests.random_problems import problem_from

INCONSISTENT = {"theta": 1, "theta_dot": 0.5, "slip.tip": 1}


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("painleve_rod"))


@pytest.fixture(scope="module")
def paradox(rod):
    parameters = {"mu": 1.4, "e": 0.5}
    state = solve_state(rod, INCONSISTENT, parameters=parameters)
    return compare(rod, state, stiffness=(1e6, 1e8, 1e10), parameters=parameters)


@pytest.mark.parametrize(("step", "impulse"), [(None, None), (1e-3, 0.341603)])
def test_velocity_problem_of_an_inconsistent_state_has_a_finite_impulse(step, impulse):
    # Stewart and Trinkle 1996: copositive, so Lemke's method succeeds
    # P_N = v0 W_NT / det W as h -> 0, with det W = 1 + alpha
    c, s = np.cos(1.0), np.sin(1.0)
    G = np.array([[1 + 3 * c * c, 3 * s * c], [3 * s * c, 1 + 3 * s * s]])
    element = ActiveElement("tip", ElementKind.CONTACT, 0, (1,), None, 1.4, 1.4)
    b = -1 + 0.25 * s
    problem = ImpactProblem(problem_from(G, np.array([b, 0.0]), [element]), np.array([0.0, 1.0]), np.zeros(1))
    values = VelocityProblem(step).impulses(problem).values
    closed = 3 * s * c / 4 - (step or 0.0) * b * G[1, 1] / 4
    assert values[0] == pytest.approx(closed, abs=1e-9)
    if impulse is not None:
        assert values[0] == pytest.approx(impulse, abs=6e-7)


def test_every_method_on_an_inconsistent_state(paradox):
    assert paradox.verdict == "INCONSISTENT"
    methods = [row.method for row in paradox.rows]
    laws = ["newton", "poisson", "energetic", "kelvin-voigt", "velocity LCP"]
    assert methods == ["rigid LCP", *laws, "penalty K=1e+06", "penalty K=1e+08", "penalty K=1e+10"]
    assert paradox.row("rigid LCP").v_after == {}
    # Hogan and Kristiansen 2017, delta = 0.5
    assert paradox.row("kelvin-voigt").gap_dot_after["tip"] == pytest.approx(0.04577472, abs=6e-9)
    # energetic law with e = 1/2: half of the undamped limit 0.06996020
    assert paradox.row("energetic").gap_dot_after["tip"] == pytest.approx(0.0349801, abs=6e-9)
    assert paradox.row("velocity LCP").impulse_N["tip"] == pytest.approx(0.3409865, abs=6e-8)
    assert paradox.row("newton").outcome == "no impulse"


def test_penalty_runs_approach_the_limit_slowly_where_the_departure_is_slow(paradox):
    errors = [row.error for row in paradox.rows if row.stiffness]
    assert errors == sorted(errors, reverse=True)
    # theory: -1/2 in the end; abs(A) = 0.034 keeps these stiffnesses before it
    assert -0.5 < paradox.observed_order < -0.25
    # the least squares line of three points by numpy, and the textbook's standard error of its slope
    x, y = np.log([1e6, 1e8, 1e10]), np.log(errors)
    slope, offset = np.polyfit(x, y, 1)
    scatter = np.sum((y - slope * x - offset) ** 2) / 1 / np.sum((x - x.mean()) ** 2)
    assert paradox.fit.order == pytest.approx(slope, rel=1e-10)
    assert paradox.fit.standard_error == pytest.approx(np.sqrt(scatter), rel=1e-8)
    assert (paradox.fit.stiffness, paradox.fit.runs) == ((1e6, 1e10), 3)


def test_modes_and_times_to_stick_of_an_inconsistent_state(paradox):
    modes = {row.method: row.mode for row in paradox.rows}
    assert modes["rigid LCP"] == "none"
    assert (modes["newton"], modes["velocity LCP"], modes["kelvin-voigt"]) == ("slide+", "stick", "free")
    assert paradox.row("kelvin-voigt").time_to_stick == {"tip": np.inf}
    assert paradox.row("newton").time_to_stick == {}
    # departure from rest at abs(b) = 0.79 along exp(lam s) takes log(sqrt(K)) / lam and a constant
    c, s = np.cos(1.0), np.sin(1.0)
    A = 1 + 3 * c * (c - 1.4 * s)
    lam = np.sqrt((0.25 * A) ** 2 - A) - 0.25 * A
    times = [row.time_to_stick["tip"] for row in paradox.rows if row.stiffness]
    growth = np.diff(times) * lam
    # the further from rest the slip stops, the less the constant changes: 1/10 of its distance at the lower pair
    assert growth == pytest.approx([np.log(10), np.log(10)], rel=0.25)
    assert abs(growth[1] - np.log(10)) < abs(growth[0] - np.log(10))


def test_time_to_stick_of_an_oblique_rod_is_the_published_one():
    dynamics = derive(mechanisms.load("oblique_rod"))
    pins = {"psi": 0, "theta": "pi/3", "psi_dot": 4, "theta_dot": 4}
    pins |= {"slip.tip.1": 0.05, "slip.tip.2": -0.05, "gap_dot.tip": -0.04}
    found = compare(dynamics, solve_state(dynamics, pins), stiffness=(), parameters={"mu": 1.7}, samples=30)
    # Miller and Rubinovich 2017, recomputed: 0.49591903785
    assert found.row("kelvin-voigt").time_to_stick["tip"] == pytest.approx(0.49591903785, abs=1e-10)
    history = found.histories["kelvin-voigt"]["tip"]
    assert history.s[-1] == pytest.approx(2.525948179, abs=1e-8)
    assert history.penetration[0] == 0.0
    assert history.gap_dot[-1] == pytest.approx(found.row("kelvin-voigt").gap_dot_after["tip"], abs=1e-12)


def test_history_of_a_penalty_run_is_its_motion(rod):
    state = solve_state(rod, {"theta": 1, "theta_dot": 0, "slip.tip": 1, "gap_dot.tip": -1})
    found = compare(rod, state, stiffness=(1e6,), samples=400)
    row, history = found.row("penalty K=1e+06"), found.histories["penalty K=1e+06"]["tip"]
    assert history.s[-1] == pytest.approx(row.duration, rel=1e-12)
    assert history.gap_dot[-1] == pytest.approx(row.gap_dot_after["tip"], abs=1e-9)
    # velocities are the slope of the penetration, impulses the integral of the force; trapezoids over 800 samples
    moved = np.sum((history.gap_dot[1:] + history.gap_dot[:-1]) / 2 * np.diff(history.s))
    assert history.penetration[-1] == pytest.approx(-moved, abs=1e-4)
    pushed = np.sum((history.force_N[1:] + history.force_N[:-1]) / 2 * np.diff(history.s))
    assert pushed == pytest.approx(row.impulse_N["tip"], rel=1e-4)
    assert history.impulse_N[-1] == pytest.approx(row.impulse_N["tip"], rel=1e-12)


def test_notes_say_what_happens_and_where_the_laws_disagree(paradox):
    assert paradox.notes[0].startswith("an impact without collision: no contact mode is consistent")
    assert any(note.startswith("the laws disagree on gap_dot.tip") for note in paradox.notes)
    assert any("newton: answered without an impulse" in note for note in paradox.notes)


def test_oblique_rod_converges_with_order_one_half():
    dynamics = derive(mechanisms.load("oblique_rod"))
    pins = {"psi": 0, "theta": "pi/3", "psi_dot": 4, "theta_dot": 4}
    pins |= {"slip.tip.1": 0.05, "slip.tip.2": -0.05, "gap_dot.tip": -0.04}
    parameters = {"mu": 0.5}
    found = compare(dynamics, solve_state(dynamics, pins), stiffness=(1e8, 1e10), parameters=parameters)
    assert found.verdict == "IMPACT"
    # Miller and Rubinovich 2017: errors 0.0139 and 0.00141
    assert [row.error for row in found.rows if row.stiffness] == pytest.approx([0.0139, 0.00141], rel=5e-3)
    assert found.observed_order == pytest.approx(-0.497, abs=2e-3)


def test_two_contacts_converge_to_their_joint_limit_with_order_one_half():
    # rod that falls almost flat: finite stiffness is the second road for the limit of several contacts
    dynamics = derive(mechanisms.load("rod_two_ends"))
    pins = {"gap.left": 0, "gap.right": 0, "gap_dot.left": -1, "gap_dot.right": -0.2, "x": 0, "x_dot": 0.3}
    found = compare(dynamics, solve_state(dynamics, pins), stiffness=(1e6, 1e8))
    assert found.observed_order == pytest.approx(-0.5, abs=0.01)
    assert any("depends on the stiffness ratio of contact 'right'" in note for note in found.notes)
    names = [row.method for row in found.rows]
    assert names[:2] == ["newton", "poisson"]  # no accelerations decide an impact


def test_errors_of_the_integration_make_no_order():
    ball = derive(mechanisms.load("bouncing_ball"))
    found = compare(ball, solve_state(ball, {"gap_dot.floor": -1}), damping=0.0)
    assert found.observed_order is None
    assert found.row("kelvin-voigt").gap_dot_after["floor"] == pytest.approx(1.0, abs=1e-14)


def test_vanishing_slip_comes_to_rest(rod):
    parameters = {"mu": 1.5}
    state = solve_state(rod, {"theta": 1, "theta_dot": 0.5, "slip.tip": "+0"}, parameters=parameters)
    found = compare(rod, state, stiffness=(1e4,), parameters=parameters)
    assert found.verdict == "INCONSISTENT"
    assert "comes to rest" in found.notes[0]
    outcome = found.row("penalty K=10000").outcome
    assert "still in contact at t = " in outcome
    assert outcome.endswith(": stick")
    assert not any("strike" in note for note in found.notes)


def test_run_too_soft_for_a_frozen_posture_is_ended_and_said_to_tell_nothing(rod, monkeypatch):
    # the contact would press for about pi sqrt(m/K) = 100, in which the rod swings to and fro
    monkeypatch.setattr(
        KelvinVoigt.pass_through, "__kwdefaults__", KelvinVoigt.pass_through.__kwdefaults__ | {"effort": 500}
    )
    state = solve_state(rod, {"theta": 1, "theta_dot": 0.5, "slip.tip": 1}, parameters={"mu": 1.4})
    seen = []
    found = compare(
        rod,
        state,
        stiffness=(1e-3, 1e6),
        parameters={"mu": 1.4},
        progress=lambda done, total: seen.append((done, total)),
    )
    soft, stiff = (row for row in found.rows if row.stiffness)
    assert "still in contact at t = " in soft.outcome
    assert soft.error is None
    assert stiff.error is not None
    assert found.fit is None
    [note] = [note for note in found.notes if note.startswith("penalty")]
    assert note.startswith("penalty K=0.001 is still in contact at t = ")
    assert "the posture" in note
    assert "larger stiffness" in note
    assert seen == [(0, 2), (1, 2)]


@pytest.mark.parametrize("stiffness", [1e6, [0.0], [1e6, float("nan")], ["1e6"], [1e6, 1e7, 1e6]])
def test_stiffnesses_that_are_no_different_numbers_above_zero_are_refused(rod, stiffness):
    state = solve_state(rod, INCONSISTENT)
    with pytest.raises(ValueError, match="stiffness"):
        compare(rod, state, stiffness=stiffness)


def test_methods_agree_where_the_mode_is_unique(rod):
    state = solve_state(rod, {"theta": 0.5, "theta_dot": 0, "slip.tip": 1})
    found = compare(rod, state, stiffness=(1e6, 1e8))
    assert found.verdict == "UNIQUE"
    assert found.row("rigid LCP").outcome == "UNIQUE: slide+"
    assert [row.outcome for row in found.rows if row.stiffness] == ["slide+", "slide+"]
    assert found.row("kelvin-voigt").outcome == "no impulse"
    assert found.row("velocity LCP").outcome == "no impulse"
    assert {row.mode for row in found.rows} == {"slide+"}
    assert found.observed_order < -0.4
    assert len(found.notes) == 1


def test_indeterminate_state_lifts_off_from_rest(rod):
    state = solve_state(rod, {"theta": 1, "theta_dot": 1.3, "slip.tip": 1})
    found = compare(rod, state, stiffness=(1e6,))
    assert found.verdict == "INDETERMINATE"
    assert found.observed_order is None
    assert found.notes[0].startswith("the contact lifts off")
    assert found.row("penalty K=1e+06").outcome == "free; released"
    assert found.row("rigid LCP").mode == "free | slide+"


def test_penalty_runs_on_both_sides_of_the_separatrix_lift_off_and_strike(rod):
    # Hogan and Kristiansen 2017: w_crit = lam_- b / (abs(A) sqrt(K)), d = 1/4 here
    state = solve_state(rod, {"theta": 1, "theta_dot": 1.3, "slip.tip": 1})
    found = compare(rod, state, stiffness=(1e6, 1e8))
    c, s = np.cos(1.0), np.sin(1.0)
    A, b = 1 + 3 * c * (c - 1.5 * s), -1 + 1.69 * s
    lam = -A * 0.25 - np.sqrt(A * A / 16 - A)
    for K in (1e6, 1e8):
        slow, fast = (found.row(f"penalty K={K:g}, {share} w_crit") for share in ("0.5", "2"))
        assert fast.approach == pytest.approx(2 * lam * b / abs(A) / np.sqrt(K), rel=1e-9)
        assert (slow.outcome, slow.mode) == ("slide+; released", "free")
        # gravity lets the tip slip again once the normal force is too small to hold it
        assert fast.outcome == "slide+ -> stick -> slide-; released"
        assert slow.error is None
    errors = [found.row(f"penalty K={K:g}, 2 w_crit").error for K in (1e6, 1e8)]
    assert errors[1] < errors[0] / 3
    assert found.fit.standard_error is None
    assert found.fit.stiffness == (1e6, 1e8)


def test_separated_contact_is_refused():
    ball = derive(mechanisms.load("bouncing_ball"))
    with pytest.raises(StateError, match="separate already"):
        compare(ball, solve_state(ball, {"gap.floor": 1, "gap_dot.floor": 0}))


def run(capsys, *arguments, status=0):
    assert main(list(arguments)) == status
    return capsys.readouterr()


PINS = [f"--pin={name}={value}" for name, value in INCONSISTENT.items()]
ROD = ["painleve_rod", "--param", "mu=1.4", *PINS]


def test_command_impact_keeps_its_keys(capsys):
    answer = json.loads(run(capsys, "impact", *ROD, "--law", "kelvin-voigt", "--json").out)
    assert set(answer) == {
        "law",
        "v_before",
        "v_after",
        "gap_dot_after",
        "slip_after",
        "impulse_N",
        "impulse_T",
        "energy_change",
        "phases",
        "duration",
        "warnings",
    }
    assert answer["gap_dot_after"]["tip"] == pytest.approx(0.04577472, abs=6e-9)
    assert [phase["kind"] for phase in answer["phases"]] == ["slide+", "stick"]
    assert answer["phases"][0]["duration"] is None  # infinite: the departure from rest
    assert answer["phases"][1]["duration"] > 0


@pytest.mark.parametrize("law", ["newton", "poisson", "energetic"])
def test_command_impact_knows_the_rigid_laws(capsys, law):
    arguments = ["bouncing_ball", "--pin", "gap_dot.floor=-2", "--law", law, "--restitution", "0.5", "--json"]
    answer = json.loads(run(capsys, "impact", *arguments).out)
    assert answer["gap_dot_after"]["floor"] == pytest.approx(1.0, abs=1e-12)
    assert answer["duration"] == 0


def test_command_compare_keeps_its_keys(capsys):
    answer = json.loads(run(capsys, "compare", *ROD, "--stiffness", "1e6,1e8", "--json").out)
    assert set(answer) >= {"verdict", "rows", "observed_order", "notes"}
    assert answer["verdict"] == "INCONSISTENT"
    keys = {"method", "outcome", "v_after", "gap_dot_after", "slip_after", "energy_change"}
    assert all(set(row) >= keys for row in answer["rows"])
    assert len(answer["rows"]) == 8
    shown = run(capsys, "compare", *ROD, "--stiffness", "1e6").out
    assert "kelvin-voigt" in shown
    assert "impact without collision" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", *ROD, "--stiffness", "0"], "above 0"),
        (["compare", *ROD, "--stiffness", "soft"], "numbers separated by commas"),
        (["compare", *ROD, "--damping", "-1"], "damping"),
        (["impact", *ROD, "--law", "kelvin-voigt", "--restitution", "0.5"], "--damping"),
        (["impact", *ROD, "--law", "newton", "--damping", "0.5"], "--restitution"),
        (["impact", "bouncing_ball", "--pin", "gap.floor=1", "--pin", "gap_dot.floor=0"], "no contact is closed"),
        (["compare", "bouncing_ball", "--pin", "gap_dot.floor=1"], "separate already"),
        (["compare", "bouncing_ball", "--pin", "gap.floor=1", "--pin", "gap_dot.floor=-1"], "gap.floor = 1"),
        (["compare", *ROD, "--param", "delta=-1"], "contact.tip.damping: must not be negative"),
        (["compare", *ROD, "--stiffness", "-1e6"], "above 0, got -1e+06"),
        (["compare", *ROD, "--stiffness", "inf"], "above 0, got inf"),
        (["compare-map", "painleve_rod", "--axis", "theta=0:1:3", "--stiffness", "1e6"], "two axes"),
        (["compare-map", *ROD[:3], "--axis=theta=0:1:3", "--axis=theta_dot=0:1:3", "--stiffness=0"], "above 0"),
    ],
)
def test_bad_input_is_said_with_exit_status_2(capsys, arguments, message):
    assert message in run(capsys, *arguments, status=2).err


def test_an_impact_that_cannot_end_is_said_and_compared_all_the_same(capsys):
    # Spurr 1961: the hinged shoe locks itself above mu = a/h = 1/2
    shoe = ["brake_shoe", "--param", "mu=0.8", "--pin", "phi=0", "--pin", "phi_dot=0"]
    assert "friction locks the mechanism" in run(capsys, "impact", *shoe, "--law", "kelvin-voigt", status=3).err
    answer = json.loads(run(capsys, "compare", *shoe, "--stiffness", "1e6", "--json").out)
    assert any("cannot end" in note for note in answer["notes"])
    assert "kelvin-voigt" not in [row["method"] for row in answer["rows"]]
    assert answer["rows"][-1]["mode"] == "stick"


def test_dependence_on_stiffness_ratios_is_said_where_none_is_declared(capsys):
    pins = {"gap.left": 0, "gap.right": 0, "gap_dot.left": -1, "gap_dot.right": -0.2, "x": 0, "x_dot": 0.3}
    arguments = ["rod_two_ends", *(f"--pin={name}={value}" for name, value in pins.items())]
    answer = json.loads(run(capsys, "impact", *arguments, "--law", "kelvin-voigt", "--json").out)
    (warning,) = answer["warnings"]
    assert "depends on the stiffness ratio of contact 'right' to the others (taken as 1)" in warning
    assert "declare stiffness_ratio" in warning
