"""Words on plots: they fit, they are shown as they are written, and quantities have their units."""

import attrs
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hybrid import derive, mechanism_from_toml, solve_state
from hybrid.analysis import Axis, region_map
from hybrid.analysis.maps.axes import quantities_with_units
from hybrid.declaration import Drawing
from hybrid.reporting import build_report, plot_map, render_html, render_markdown, report_record
from hybrid.reporting.symbols import axis_label, heading, with_unit
from hybrid.reporting.touching import plot_posture, posture
from tests.catalogue import dynamics_of, load
from tests.hybrid.reporting.states import solved

# the largest automaton that is drawn; drawing one takes longer than all the rest
AUTOMATON = "hybrid.reporting.report.MAX_DRAWN_NODES"
TITLES = ["Rod", "A uniform rod with its lower end on a rough inclined plane, " * 2, "5$ or 6$"]


def drawn_map(title="", **options):
    rod = dynamics_of("rod_on_incline")
    axes = [Axis("phi", 1, 2, 8), Axis("phi_dot", -1, 1, 8)]
    found = region_map(rod, axes=axes, pins={"slip.tip": "+0"}, parameters={"mu": 1.5})
    figure = plot_map(found, title=title, **options)
    figure.draw_without_rendering()
    return figure


@pytest.mark.parametrize("title", TITLES)
def test_heading_of_a_map_is_within_the_picture_and_beside_the_legend(title):
    figure = drawn_map(title)
    box, legend = figure.axes[0].title.get_window_extent(), figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= max(legend.x0, figure.bbox.x0 + 1)
    assert box.y1 <= figure.bbox.y1


@pytest.mark.parametrize("title", TITLES)
def test_heading_is_no_wider_than_its_room(title):
    figure = Figure(figsize=(12, 4))
    words = figure.text(0, 0, heading(title, inches=5.0, size=10), fontsize=10, family="DejaVu Sans")
    width = words.get_window_extent(FigureCanvasAgg(figure).get_renderer()).width / figure.dpi
    assert width <= 5.0
    assert words.get_text().replace("\n", "").replace(" ", "").replace("\\$", "$") == title.replace(" ", "")


def test_dollars_of_units_and_points_are_shown_as_they_are():
    figure = Figure()
    for number, text in enumerate([axis_label("cost", "$/m"), with_unit("$x$", "5$ or $")]):
        figure.text(0, number / 10, text)
    figure.draw_without_rendering()  # an unpaired dollar would leave the formula unread, or end in an error
    assert axis_label("cost", "$/m") == "$\\mathit{cost}$  (\\$/m)"
    rod = load("rod_on_incline")
    drawing = Drawing(points={"$\\frac$": ("x", "y"), "a$b$c_{": ("x + l*cos(phi)", "y")}, links=())
    dynamics, state, _ = solved("rod_on_incline")
    dynamics = derive(attrs.evolve(rod, drawing=drawing))
    plot_posture(posture(dynamics, state)).draw_without_rendering()


def test_a_state_outside_the_map_is_not_marked():
    inside, outside = drawn_map(state=(1.5, 0.0)), drawn_map(state=(0.5, 0.0))
    marks = [[line for line in figure.axes[0].lines if line.get_marker() == "*"] for figure in (inside, outside)]
    assert [len(found) for found in marks] == [1, 0]
    words = [[text.get_text() for text in figure.legends[0].get_texts()] for figure in (inside, outside)]
    assert "the state" in words[0]
    assert "the state" not in words[1]


def test_page_says_that_the_state_lies_outside_of_the_chosen_map(monkeypatch):
    monkeypatch.setattr(AUTOMATON, 0)
    dynamics, state, parameters = solved("rod_on_incline")
    for low, is_outside in ((0.1, True), (1.9, False)):
        axes = [Axis("phi", low, low + 0.5, 4), Axis("phi_dot", -1, 1, 4)]
        page = render_html(build_report(dynamics, state, parameters=parameters, axes=axes))
        assert ("The state itself lies outside" in page) == is_outside


@pytest.mark.parametrize("axis", [Axis("slip.tip", -1, 1, 20), Axis("gap.tip", 0, 1, 20)], ids=lambda axis: axis.name)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_pin_may_be_an_axis_of_a_report(axis, is_first, monkeypatch):
    monkeypatch.setattr(AUTOMATON, 0)
    dynamics, _, parameters = solved("rod_on_incline")
    state = solve_state(dynamics, {"phi": 2, "phi_dot": 0, "slip.tip": 0.5}, parameters=parameters)
    other = Axis("phi_dot", -2, 2, 20)
    axes = [axis, other] if is_first else [other, axis]
    report = build_report(dynamics, state, parameters=parameters, axes=axes)
    for text in (render_html(report), render_markdown(report)):
        assert axis.name in text


def test_units_of_gaps_and_slips_by_hand():
    found = quantities_with_units(dynamics_of("rod_on_incline"))
    expected = {"x": "m", "phi": "rad", "phi_dot": "rad/s", "gap.tip": "m", "gap_dot.tip": "m/s", "slip.tip": "m/s"}
    assert {name: found[name] for name in expected} == expected
    assert (found["t"], found["g"]) == ("s", load("rod_on_incline").parameters["g"].unit)
    found = quantities_with_units(dynamics_of("oblique_rod"))
    assert (found["slip.tip.1"], found["slip.tip.2"]) == ("m/s", "m/s")


BESIDE_A_RAIL = """
name = "beside"
coordinates = ["x", "y", "phi"]
parameters = { m = 1, l = 0.5, g = 9.81, mu = 1.5, mu_B = 0.3 }
dynamics = { kinetic = "m*(x_dot**2 + y_dot**2)/2 + m*l**2*phi_dot**2/6", potential = "m*g*y" }
constraint = [{ name = "guide", equation = "x", tangent = "y", friction = "mu_B" }]
contact = [{ name = "tip", gap = "y - l*sin(phi)", tangent = "x - l*cos(phi)", friction = "mu" }]
"""


def test_beside_a_rough_rail_no_critical_friction_of_the_contact_alone_is_told(monkeypatch):
    monkeypatch.setattr(AUTOMATON, 0)
    dynamics = derive(mechanism_from_toml(BESIDE_A_RAIL))
    state = solve_state(dynamics, {"phi": 1, "phi_dot": -1e-3})
    # of the tip alone: 2 (3 cos(phi)^2 + 1)/(3 sin(2 phi)) = 1.375 < mu; the friction of the rail decides otherwise
    assert 2 * (3 * np.cos(1) ** 2 + 1) / (3 * np.sin(2)) < 1.5
    axes = [Axis("phi", 0.9, 1.1, 3), Axis("mu", 1.0, 1.5, 3)]
    report = build_report(dynamics, state, axes=axes)
    assert report.selection.verdict.name == "UNIQUE"
    record = report_record(report)
    assert record["critical_friction"] == {}
    assert "tip" not in record["contact"]
    assert "Critical friction" not in render_html(report)
    assert "Critical friction" not in render_markdown(report)
