"""Figures of every plot function show themselves in a notebook, in which nobody has chosen a backend of matplotlib."""

import ast
from pathlib import Path
from xml.etree import ElementTree

import pytest

import mechanisms
from hybrid import State, derive, plot_motion, simulate
from hybrid.reporting import figure_svg

REPORTING = Path(__file__).parents[3] / "hybrid" / "reporting"


def test_a_figure_is_its_picture():
    ball = derive(mechanisms.load("bouncing_ball"))
    figure = plot_motion(simulate(ball, State([1.0], [0.0]), t_end=0.4))
    shown = figure._repr_svg_()
    width, height = map(float, ElementTree.fromstring(shown).attrib["viewBox"].split()[2:])
    assert [width, height] == pytest.approx(72 * figure.get_size_inches())
    assert shown == figure_svg(figure)


def test_no_plot_function_makes_a_figure_of_another_kind():
    makers = [
        (path.name, node.func.id)
        for path in REPORTING.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.lower().endswith("figure")
    ]
    makers = [maker for maker in makers if maker[1] != "save_figure"]
    assert len(makers) > 10
    assert {name for _, name in makers} == {"DisplayedFigure", "new_figure"}
