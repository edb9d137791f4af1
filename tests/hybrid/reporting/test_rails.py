"""A rough rail never opens: its report speaks of forces to either side, in their units, and of no impact."""

import pytest

from hybrid import Constraint, EnergyDynamics, Mechanism, Parameter, derive, solve_state
from hybrid.automaton import build_automaton
from hybrid.reporting import build_report, plot_automaton, render_html, render_markdown
from hybrid.reporting.wording import bilateral_sentence


def bead():
    """A bead of 2 kg on a straight rough rail whose slip is counted along x, so that it is not along the rail."""
    return Mechanism(
        name="bead",
        coordinates=["x", "y"],
        parameters={"m": Parameter(2, unit="kg"), "g": Parameter(10, unit="m/s^2"), "mu": Parameter(0.5, unit="1")},
        dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2", potential="m*g*y"),
        constraint=[Constraint(name="rail", equation="y - 0.3*x", tangent="x", friction="mu")],
    )


@pytest.mark.parametrize("A", [0.4, -0.4])
@pytest.mark.parametrize("other", [0.7, -0.7])
@pytest.mark.parametrize("b", [2.0, -2.0])
def test_sentence_of_a_rail_counts_the_roots_of_its_equation(A, other, b):
    # 0 = A x + b for a positive force, 0 = other x + b for a negative one
    positive, negative = -b / A > 0, -b / other < 0
    sentence = bilateral_sentence("slide+", A, other, b)
    assert ("positive" in sentence) is positive
    assert ("negative" in sentence) is negative
    assert ("no normal force" in sentence) is (not positive and not negative)


def test_report_on_a_rail_has_units_and_neither_separation_nor_an_unreached_impact():
    dynamics = derive(bead())
    report = build_report(dynamics, solve_state(dynamics, {"x": 0, "slip.rail": 1}))
    for text in (render_html(report), render_markdown(report)):
        assert "separat" not in text  # codespell:ignore separat
        assert "stays closed" not in text
    # the normal force makes the gradient (-0.3, 1) a force in newtons, along y - 0.3 x in metres
    assert report.dynamics.mechanism.units().forces == {"rail": "N"}
    assert "λ\\_N (N)" in render_markdown(report)
    graph = build_automaton(dynamics).graph
    assert all(graph.in_degree(node) or graph.nodes[node]["kind"] == "mode" for node in graph)
    # in the picture too: a dot at each mode that a paradox leaves by an impact, which the legend explains
    leaving = [node for node in graph.predecessors("impact") if node != "impact"] if "impact" in graph else []
    axes = plot_automaton(build_automaton(dynamics)).axes[0]
    assert sum(line.get_marker() == "o" for line in axes.lines) == len(set(leaving))
    assert ("a paradox leads to the impact" in [text.get_text() for text in axes.get_legend().texts]) is bool(leaving)
    assert ("impact" in [text.get_text() for text in axes.texts]) is bool(leaving)
