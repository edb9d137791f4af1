"""Sliding beside a brake: one that slips is a known force and belongs to b, one at rest leaves no closed form.

A plate stands with a corner on a floor, and a brake of limit F acts on its angle. By hand, with M = diag(m, m, J),
r = (0.4, 0.3) and the arms u = 0.4 sin(th) - 0.3 cos(th) and w = 0.3 sin(th) + 0.4 cos(th):
W_N = (0, 1, u), W_T = (1, 0, w), G_NN = 1/m + u^2/J, G_NT = u w/J, b = -g + w th_dot^2 - F sign(th_dot) u/J.
"""

from math import cos, pi, sin, sqrt

import pytest

from hybrid import ComputationError, StateError, derive, mechanism_from_toml, select, solve_state
from hybrid.analysis import Axis, genot_brogliato_points
from hybrid.contact import contact_problem, sliding_terms
from hybrid.declaration.parser import parse_expression
from hybrid.declaration.tree import evaluate
from hybrid.dynamics.readable import readable_equations
from hybrid.explorer.mapping import critical_answer
from hybrid.explorer.questions import Question
from hybrid.reporting import build_report, render_markdown, report_record, verdict_record

M, J, G = 2.0, 0.3, 9.81
REASON = "corner alone has neither a closed form of sliding nor a critical friction: brake is at rest"


def plate(brake='tangent = "th"'):
    return derive(
        mechanism_from_toml(f"""
name = "plate"
coordinates = ["x", "y", "th"]
parameters = {{ m = {M}, J = {J}, mu = 0.7, F = 40 }}
dynamics = {{ kinetic = "m*(x_dot**2 + y_dot**2)/2 + J*th_dot**2/2", potential = "m*{G}*y" }}
friction = [{{ name = "brake", limit = "F", {brake} }}]
[[contact]]
name = "corner"
gap = "y - 0.3*sin(th) - 0.4*cos(th)"
tangent = "x - 0.3*cos(th) + 0.4*sin(th)"
friction = "mu"
""")
    )


def arms(th):
    return 0.4 * sin(th) - 0.3 * cos(th), 0.3 * sin(th) + 0.4 * cos(th)


def pins(th, th_dot):
    return {"x": 0.3, "gap.corner": 0, "th": th, "gap_dot.corner": 0, "slip.corner": -1, "th_dot": th_dot}


def record_of(dynamics, th, th_dot, **parameters):
    state = solve_state(dynamics, pins(th, th_dot), parameters=parameters)
    selection = select(dynamics, state, parameters=parameters)
    return verdict_record(dynamics, state, selection, parameters=parameters)


@pytest.mark.parametrize("th_dot", [-0.37, 0.37])
def test_a_brake_that_slips_is_a_known_force(th_dot):
    dynamics, (u, w) = plate(), arms(0.9)
    by_hand = -G + w * th_dot**2 - (40 if th_dot > 0 else -40) * u / J
    terms = record_of(dynamics, 0.9, th_dot, mu=0.3)["contact"]["corner"]
    assert terms == {  # sums of numbers below 60
        "A_slide+": pytest.approx(1 / M + u * u / J - 0.3 * u * w / J, abs=1e-12),
        "A_slide-": pytest.approx(1 / M + u * u / J + 0.3 * u * w / J, abs=1e-12),
        "b": pytest.approx(by_hand, abs=1e-12),
        "critical_friction": pytest.approx((1 / M + u * u / J) / (u * w / J), abs=1e-12),
    }
    values = {"m": M, "J": J, "F": 40.0, "th": 0.9, "th_dot": th_dot}
    formula = parse_expression(readable_equations(dynamics)["contact"]["corner"]["b"], known=values)
    assert evaluate(formula, values) == pytest.approx(by_hand, abs=1e-12)


def test_the_sentences_of_a_report_are_those_of_its_verdict():
    dynamics = plate()
    axes = [Axis("mu", 0, 1, 2), Axis("J", 0.2, 0.4, 2)]
    report = build_report(
        dynamics, solve_state(dynamics, pins(0.9, -0.37)), parameters={"mu": 0.3}, axes=axes, pins=pins(0.9, -0.37)
    )
    (branch,) = report.selection.branches
    assert (branch.mode.label, branch.lambda_N["corner"]) == ("corner=free,brake=slide-", 0.0)
    # b = -9.744 + 0.4228 * 40 = 7.169
    assert branch.contact_acceleration["corner"].normal == pytest.approx(7.16925, abs=1e-5)
    assert "slide-: A \\> 0 and b \\> 0, the contact separates" in render_markdown(report)


def test_the_force_of_the_equation_is_that_of_the_motion():
    found = record_of(plate(), 0.9, -0.37, mu=1.3, F=0.4)
    (branch,) = found["branches"]
    terms = found["contact"]["corner"]
    assert branch["mode"] == {"corner": "slide-", "brake": "slide-"}
    assert -terms["b"] / terms["A_slide-"] == pytest.approx(branch["lambda_N"]["corner"], rel=1e-13)
    assert branch["lambda_N"]["corner"] == pytest.approx(11.6838, abs=1e-4)


def test_beside_a_brake_at_rest_the_contact_has_no_closed_form():
    dynamics, parameters = plate(), {"mu": 3.0}
    state = solve_state(dynamics, pins(0.2, 0), parameters=parameters)
    report = build_report(dynamics, state, parameters=parameters, axes=[Axis("th", 0.1, 0.3, 2), Axis("mu", 1, 4, 2)])
    record = report_record(report)
    assert [item["mode"]["brake"] for item in record["branches"]] == ["stick", "slide+"]
    # held, the plate is a point mass: lambda_N = m g. Let go, (1/m + u^2/J + 3 u w/J) lambda_N = g + 40 u/J
    u, w = arms(0.2)
    let_go = (G + 40 * u / J) / (1 / M + u * u / J + 3 * u * w / J)
    assert [item["lambda_N"]["corner"] for item in record["branches"]] == pytest.approx([M * G, let_go], rel=1e-12)
    assert (record["contact"], record["critical_friction"]) == ({}, {})
    assert [note for note in record["notes"] if note.startswith(REASON)]
    page = render_markdown(report)
    assert REASON in page
    assert "Sliding in closed form" not in page
    assert "## Critical friction" not in page
    with pytest.raises(ComputationError, match=REASON):
        sliding_terms(contact_problem(dynamics, state), "corner")
    texts = {key: str(value) for key, value in pins(0.2, 0).items()}
    question = Question("critical", pins=texts, parameters={"mu": "3"})
    (answer,) = critical_answer(dynamics, question)
    assert REASON in answer["refusal"]


@pytest.mark.parametrize(("brake", "parameters"), [('tangent = "x"', {}), ('tangent = "th"', {"F": 0.0})])
def test_a_brake_that_pushes_nothing_along_the_normal_changes_nothing(brake, parameters):
    # at rest along the floor, or without friction
    dynamics, (u, w) = plate(brake), arms(0.9)
    at = {"x": 0.3, "gap.corner": 0, "th": 0.9, "gap_dot.corner": 0, "th_dot": 0, "x_dot": 0}
    state = solve_state(dynamics, at, parameters=parameters)
    record = verdict_record(dynamics, state, select(dynamics, state, parameters=parameters), parameters=parameters)
    assert record["contact"]["corner"]["b"] == pytest.approx(-G, rel=1e-14)
    assert record["contact"]["corner"]["critical_friction"] == pytest.approx((1 / M + u * u / J) / (u * w / J))
    assert not any("closed form" in note for note in record["notes"])


def test_points_where_both_terms_vanish_have_the_force_of_the_brake():
    dynamics = plate()
    parameters = {"F": 0.5, "mu": (1 / M + arms(0.2)[0] ** 2 / J) / -(arms(0.2)[0] * arms(0.2)[1] / J)}
    plane = [Axis("th", 0.15, 0.25), Axis("th_dot", 1, 9)]
    held = {"x": 0.3, "gap.corner": 0, "gap_dot.corner": 0, "slip.corner": -1}
    (point,) = genot_brogliato_points(dynamics, over=plane, pins=held, parameters=parameters)
    u, w = arms(0.2)
    assert point.at == {
        "th": pytest.approx(0.2, abs=1e-9),
        "th_dot": pytest.approx(sqrt((G + 0.5 * u / J) / w), abs=1e-9),  # Newton's method, to 1e-9 of the plane
    }
    resting = [Axis("th", 0, pi / 2), Axis("mu", 0, 3)]
    with pytest.raises(StateError, match="a friction element at rest pushes"):
        genot_brogliato_points(dynamics, over=resting, pins=held | {"th_dot": 0})
