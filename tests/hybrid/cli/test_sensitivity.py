"""``painleve sensitivity``: the gradient, its check, refusals as answers, bad input, and what it writes."""

import json
import re

import pytest

from hybrid.cli import main

CARTS = ["sensitivity", "two_carts", "--pin=q1=1", "--pin=q2=2", "--pin=q1_dot=1", "--pin=q2_dot=0", "--t-end=2"]
PARADOX = ["sensitivity", "painleve_rod", "--pin=theta=1", "--pin=theta_dot=0.5", "--pin=slip.tip=1", "--param=mu=1.5"]
KINETIC = "--functional=q1_dot**2 + q2_dot**2"


def answer(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_two_carts(capsys):
    found = answer(capsys, *CARTS, KINETIC, "--wrt=k1,k2", "--law=newton")
    # derived in 40 digits, see tests/literature/test_klepfish_2003.py
    expected = {"k1": 1.427910692974, "k2": 1.198153357425}
    assert found["value"] == pytest.approx(5.962318261668, abs=1e-11)
    assert found["gradient"] == pytest.approx(expected, abs=1e-9)
    assert found["check"]["forward"] == pytest.approx(expected, abs=1e-9)
    assert found["check"]["finite_difference"] == pytest.approx(expected, abs=1e-7)
    assert [(event["kind"], event["contact"]) for event in found["events"]] == [("impact", "stop")]
    assert found["events"][0]["t"] == pytest.approx(1.684902874555358, abs=1e-12)
    assert found["refusal"] is None


def test_pins_and_the_parameters_they_follow(capsys):
    arguments = ["sensitivity", "rod_on_incline", "--pin=phi=0.4", "--pin=phi_dot=mu", "--pin=slip.tip=0"]
    found = answer(capsys, *arguments, "--t-end=1", "--terminal=phi", "--wrt=mu,phi", "--no-check")
    assert found["check"] == {"forward": {}, "finite_difference": {}, "warnings": []}
    apart = answer(
        capsys,
        "sensitivity",
        "rod_on_incline",
        "--pin=phi=0.4",
        "--pin=phi_dot=0.5",
        "--pin=slip.tip=0",
        "--t-end=1",
        "--terminal=phi",
        "--wrt=mu,phi_dot",
        "--no-check",
    )["gradient"]
    # where the velocity is pinned to mu = 0.5, a change of mu changes both
    assert found["gradient"]["mu"] == pytest.approx(apart["mu"] + apart["phi_dot"], abs=1e-12)


def test_the_check_warns_where_differences_tell_nothing(capsys):
    # mu is at its bound mu_s: there is no oscillator with a larger one
    asked = ["sensitivity", "coulomb_oscillator", "--pin=x=0.5", "--pin=x_dot=0", "--t-end=1", "--terminal=x"]
    assert main([*asked, "--wrt=mu,mu_s"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Warning: differences with respect to mu give" in shown
    assert "to one side alone" in shown
    found = answer(capsys, *asked, "--wrt=k")
    assert found["check"]["warnings"] == []
    assert found["check"]["deviation"] < 1e-7


def test_a_name_without_derivative_is_named_beside_the_others(capsys):
    # by hand: dropped from 1 with e = 0 the ball rests from sqrt(2/g) on; m y_dot^2 until then is m g^2 t^3/3
    asked = ["sensitivity", "bouncing_ball", "--pin=gap.floor=1", "--pin=y_dot=0", "--t-end=1", "--param=e=0"]
    asked += ["--functional=m*y_dot**2", "--wrt=e,m", "--no-check"]
    found = answer(capsys, *asked)
    assert found["gradient"] == {"m": pytest.approx(9.81**2 * (2 / 9.81) ** 1.5 / 3, rel=1e-11)}
    assert found["refusal"] is None
    assert list(found["refusals"]) == ["e"]
    assert set(found["refusals"]["e"]) == {"t", "verdict", "reason"}
    assert main(asked) == 0
    assert "With respect to e: " in " ".join(capsys.readouterr().out.split())


def test_a_refusal_is_an_answer(capsys):
    found = answer(capsys, *PARADOX, "--t-end=1", "--functional=x", "--wrt=mu")
    assert found["refusal"]["t"] == 0
    assert found["refusal"]["verdict"] == "no derivative exists"
    assert "no contact mode is consistent" in found["refusal"]["reason"]
    assert found["value"] is None
    assert found["gradient"] == {}
    assert main([*PARADOX, "--t-end=1", "--functional=x", "--wrt=mu"]) == 0
    assert "no derivative exists" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (["--wrt=k1"], "give --functional or --terminal"),
        ([KINETIC, "--wrt=k3"], "'k3' is neither a parameter nor a pin"),
        (["--functional=q1_dto", "--wrt=k1"], "q1_dot"),
        (["--functional=q1", "--wrt=,"], "names separated by commas"),
        (["--functional=q1", "--wrt=k1", "--plot=motion.txt"], ".svg"),
    ],
)
def test_bad_input(capsys, arguments, known):
    assert main([*CARTS, *arguments, "--law=newton"]) == 2
    assert known in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("functional", "words"),
    [
        (["--terminal=q1"], "change of q1 at the end (m)"),
        (["--functional=q1_dot"], "change of the integral of q1_dot (m)"),  # m/s over s
        (["--functional=q1_dot", "--terminal=q2"], "change of the integral of q1_dot plus q2 at the end (m)"),
        (["--functional=q1", "--terminal=q2"], "change of the integral of q1 plus q2 at the end"),
        (["--functional=q1_dot**2"], "change of the integral of q1_dot**2"),
    ],
)
def test_the_axis_of_a_plot_says_what_changes(functional, words, tmp_path):
    plot = tmp_path / "tornado.svg"
    assert main([*CARTS, *functional, "--wrt=k1", "--law=newton", "--no-check", f"--plot={plot}"]) == 0
    lines = re.findall(r"<!-- (.*?) -->", plot.read_text(encoding="utf-8"), re.DOTALL)
    assert f"{words}\nwhen each grows by 1 % of its absolute value" in "\n".join(lines)


def test_pages_and_plot(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = [*CARTS, KINETIC, "--wrt=k1,k2", "--law=newton", "--no-check"]
    assert main([*asked, "--plot=tornado.svg", "-o", "page.html"]) == 0
    assert "<svg" in (tmp_path / "tornado.svg").read_text(encoding="utf-8")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("grows by 1 % of its absolute value") == 2  # below the table, and on the axis
    assert page.startswith("<!DOCTYPE html>")
    assert "http" not in page.replace("http://www.w3.org", "")
    assert page.count("<svg") == 1
    assert "1.4279" in page
    assert main([*asked, "-o", "page.md"]) == 0
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| `k1` |" in text
    assert "painleve sensitivity two_carts" in text
    assert main([*asked, "-o", "page.json"]) == 0
    record = json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))
    assert record["gradient"]["k1"] == pytest.approx(1.42791069)
    capsys.readouterr()


def test_page_of_a_refusal(tmp_path, capsys):
    for name in ("page.html", "page.md"):
        assert main([*PARADOX, "--t-end=1", "--functional=x", "--wrt=mu", "-o", str(tmp_path / name)]) == 0
        assert "No derivative exists" in (tmp_path / name).read_text(encoding="utf-8")
    capsys.readouterr()
