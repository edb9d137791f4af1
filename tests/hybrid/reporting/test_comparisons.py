"""Pages on a comparison: what stands on them, that nothing else is needed, and that plots show the histories."""

from __future__ import annotations

import itertools
import re

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import derive, solve_state
from hybrid.analysis.comparison.table import compare
from hybrid.cli import main
from hybrid.declaration import mechanism_from_toml
from hybrid.reporting import build_comparison, comparison_record, render_comparison_html, render_comparison_markdown
from hybrid.reporting.histories import history_panels, history_units, plot_convergence, plot_panel

STATES = {
    "INCONSISTENT": ({"theta": 1, "theta_dot": 0.5, "slip.tip": 1}, {"mu": 1.4}),
    "INDETERMINATE": ({"theta": 1, "theta_dot": 1.3, "slip.tip": 1}, {"mu": 1.5}),
    "UNIQUE": ({"theta": 0.5, "theta_dot": 0, "slip.tip": 1}, {"mu": 0.5}),
    "IMPACT": ({"theta": 1, "theta_dot": 0, "slip.tip": 1, "gap_dot.tip": -1}, {"mu": 0.5}),
}


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("painleve_rod"))


@pytest.fixture(scope="module")
def reports(rod):
    found = {}
    for verdict, (pins, parameters) in STATES.items():
        state = solve_state(rod, pins, parameters=parameters)
        found[verdict] = build_comparison(rod, state, stiffness=(1e6, 1e8), parameters=parameters)
    return found


@pytest.mark.parametrize(
    "verdict", [name if name == "INCONSISTENT" else pytest.param(name, marks=pytest.mark.long) for name in STATES]
)
def test_page_needs_nothing_else_and_has_every_method(reports, verdict):
    report = reports[verdict]
    page = render_comparison_html(report)
    assert report.comparison.verdict == verdict
    for row in report.comparison.rows:
        assert f"<td>{row.method}</td>" in page
    # nothing is loaded: no scripts, no addresses outside namespaces of SVG
    assert "<script" not in page
    assert not re.findall(r"(?:src|href)=\"(?!#)", page)
    identifiers = re.findall(r'\sid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))
    assert "Where they disagree" in page or verdict == "UNIQUE"
    text = render_comparison_markdown(report)
    assert text.startswith("# ")
    assert "## What every method says" in text


def test_page_escapes_what_is_declared(reports):
    report = reports["UNIQUE"]
    declared = attrs.evolve(report.dynamics.mechanism, title="<script>alert(1)</script>")
    page = render_comparison_html(attrs.evolve(report, dynamics=attrs.evolve(report.dynamics, mechanism=declared)))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_panels_of_an_impact_end_where_the_limit_ends(reports):
    found = reports["IMPACT"].comparison
    panels = {panel.key: panel for panel in history_panels(found, "tip")}
    assert set(panels) == {"force_N", "force_T", "gap_dot", "slip", "penetration", "impulse_T"}
    s, force = panels["force_N"].lines["kelvin-voigt"]
    limit = found.row("kelvin-voigt")
    assert s[[0, -1]] == pytest.approx([0.0, limit.duration], abs=1e-12)
    # the force has fallen to zero at the end of contact: that is what ends it
    assert force[-1] == pytest.approx(0.0, abs=1e-12)
    assert panels["gap_dot"].lines["kelvin-voigt"][1][-1, 0] == pytest.approx(limit.gap_dot_after["tip"], abs=1e-12)
    stiff = panels["force_N"].lines["penalty K=1e+08"]
    soft = panels["force_N"].lines["penalty K=1e+06"]
    peaks = [values.max() for _, values in (stiff, soft)]
    assert abs(peaks[0] - force.max()) < abs(peaks[1] - force.max())


def test_axes_of_panels_have_their_units(reports):
    for verdict, roots in (("IMPACT", "kg^(1/2) m/s"), ("UNIQUE", "N")):
        page = render_comparison_html(reports[verdict])
        labels = re.findall(r"<!-- (.*?) -->", page)
        assert any("v_T" in label and label.endswith("(m/s)") for label in labels)
        assert any("F_N" in label and label.endswith(f"({roots})") for label in labels)
    # sqrt(K) = sqrt(N/m) = kg^(1/2)/s
    assert any("g_N" in label and label.endswith("(kg^(1/2) m/s^2)") for label in labels)


def test_panels_where_one_mode_persists_show_the_force_itself_settling(reports):
    found = reports["UNIQUE"].comparison
    panels = {panel.key: panel for panel in history_panels(found, "tip")}
    # -b / A of the sliding rod, with theta_dot = 0
    c, s = np.cos(0.5), np.sin(0.5)
    rigid = 1 / (1 + 3 * c * (c - 0.5 * s))
    assert panels["force_N"].rigid == pytest.approx((rigid,), rel=1e-12)
    assert panels["force_T"].rigid == pytest.approx((-0.5 * rigid,), rel=1e-12)
    settled = panels["force_N"].lines["penalty K=1e+08"][1][-1, 0]
    # the error that the comparison reports, which falls with the stiffness
    assert settled == pytest.approx(rigid, rel=2 * found.row("penalty K=1e+08").error)


def test_departures_are_counted_from_the_greatest_force(reports):
    for verdict in ("INCONSISTENT", "INDETERMINATE"):
        panel = history_panels(reports[verdict].comparison, "tip")[0]
        for s, force in panel.lines.values():
            assert s[int(np.argmax(force))] == pytest.approx(0.0, abs=1e-12)
    # runs that lift off are not drawn
    assert all("0.5 w_crit" not in method for method in panel.lines)


def test_figures_draw_every_line_of_their_panel(reports):
    for verdict in ("UNIQUE", "INDETERMINATE"):
        for panel in history_panels(reports[verdict].comparison, "tip"):
            axes = plot_panel(panel).axes[0]
            labels = [text.get_text() for text in axes.get_legend().get_texts()]
            assert len(labels) >= len(panel.lines), (verdict, panel.key)
            assert axes.get_title() == panel.title
    figure = plot_convergence(reports["IMPACT"].comparison)
    fit, reference, points = figure.axes[0].lines
    drawn = np.polyfit(np.log(fit.get_xdata()), np.log(fit.get_ydata()), 1)[0]
    assert drawn == pytest.approx(reports["IMPACT"].comparison.observed_order, rel=1e-9)
    slope = np.polyfit(np.log(reference.get_xdata()), np.log(reference.get_ydata()), 1)[0]
    assert slope == pytest.approx(-0.5, rel=1e-9)
    assert points.get_xdata() == pytest.approx([1e6, 1e8])


@pytest.mark.parametrize(
    "pins", [pytest.param({"slip.tip": 1}, marks=pytest.mark.long), {"slip.tip": 1e-3}], ids=["", "long numbers"]
)
def test_numbers_of_ticks_do_not_touch_and_no_label_is_cut_off(rod, pins):
    start = solve_state(rod, {**STATES["INCONSISTENT"][0], **pins}, parameters={"mu": 1.4})
    report = build_comparison(rod, start, stiffness=(1e6, 1e8), parameters={"mu": 1.4})
    units = history_units(rod, "tip", has_mode=False)
    panels = history_panels(report.comparison, "tip", units=units)
    assert len(panels) == 6
    for figure in map(plot_panel, panels):
        figure.canvas.draw()
        axes = figure.axes[0]
        label = axes.xaxis.label.get_window_extent()
        assert figure.bbox.x0 <= label.x0 <= label.x1 <= figure.bbox.x1
        boxes = [tick.label1.get_window_extent() for tick in axes.xaxis.get_major_ticks()]
        assert all(after.x0 - before.x1 > 0.3 * before.height for before, after in itertools.pairwise(boxes))


def test_no_fit_and_no_course_leave_no_plot():
    ball = derive(mechanisms.load("bouncing_ball"))
    found = compare(ball, solve_state(ball, {"gap_dot.floor": -1}), stiffness=())
    assert plot_convergence(found) is None
    assert history_panels(found, "floor") == ()


@pytest.mark.long
def test_every_contact_has_its_course_on_a_page():
    rod = derive(mechanisms.load("rod_two_ends"))
    pins = {"gap.left": 0, "gap.right": 0, "gap_dot.left": -1, "gap_dot.right": -0.2, "x": 0, "x_dot": 0.3}
    page = render_comparison_html(build_comparison(rod, solve_state(rod, pins), stiffness=(1e6,)))
    assert "History of left" in page
    assert "History of right" in page


def test_a_contact_without_friction_has_no_friction_to_draw():
    ball = derive(mechanisms.load("bouncing_ball"))
    page = render_comparison_html(build_comparison(ball, solve_state(ball, {"gap_dot.floor": -1}), stiffness=(1e6,)))
    assert "Friction force" not in page
    # normal force, velocity and penetration; one run has no convergence
    assert page.count("<figure>") == 3


def test_record_keeps_the_numbers(reports):
    report = reports["INCONSISTENT"]
    record = comparison_record(report.dynamics, report.state, report.comparison)
    limit = next(row for row in record["rows"] if row["method"] == "kelvin-voigt")
    # Hogan and Kristiansen 2017
    assert limit["gap_dot_after"]["tip"] == pytest.approx(0.04577472, abs=6e-9)
    assert limit["time_to_stick"] == {"tip": None}
    assert limit["mode"] == "free"
    assert record["order_stiffness"] == [1e6, 1e8]
    assert record["order_standard_error"] is None


@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_command_writes_the_page(ending, capsys, tmp_path):
    path = tmp_path / f"page.{ending}"
    pins = ["--pin=gap_dot.floor=-1", "--stiffness=1e6,1e8"]
    assert main(["compare", "bouncing_ball", *pins, "-o", str(path)]) == 0
    assert str(path)[:40] in capsys.readouterr().out
    text = path.read_text(encoding="utf-8")
    assert "penalty K=1e+08" in text
    if ending != "json":
        text = re.sub("</?span>", "", text)  # an option keeps to its line
        assert "painleve compare bouncing_ball --pin gap_dot.floor=-1 --stiffness 1e+06,1e+08" in text


def test_page_is_refused_before_anything_is_computed(capsys, tmp_path):
    assert main(["compare", "bouncing_ball", "--pin=gap_dot.floor=-1", "-o", str(tmp_path / "page.pdf")]) == 2
    assert ".html, .md, .json" in capsys.readouterr().err
    assert main(["compare", "bouncing_ball", "--pin=gap_dot.floor=-1", "-o", str(tmp_path / "no" / "page.html")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_command_on_the_page_repeats_the_same_stiffness(tmp_path, capsys):
    page = tmp_path / "page.md"
    asked = ["--stiffness=1234567.8,0.1e9", "--damping=0.123456789"]
    assert main(["compare", "bouncing_ball", "--pin=y_dot=-1", *asked, "-o", str(page)]) == 0
    words = page.read_text(encoding="utf-8").split("## Reproduction")[1].split()
    assert [float(K) for K in words[words.index("--stiffness") + 1].split(",")] == [1234567.8, 1e8]
    assert float(words[words.index("--damping") + 1]) == 0.123456789


def test_horizontal_axes_have_their_units():
    # by hand: K in N/m = kg/s^2, so s = sqrt(K) t is in kg^(1/2), and an impulse in N s
    ball = derive(mechanisms.load("bouncing_ball"))
    found = build_comparison(ball, solve_state(ball, {"gap_dot.floor": -1}), stiffness=(1e6, 1e8)).comparison
    units = history_units(ball, "floor", has_mode=False)
    for panel in history_panels(found, "floor", units=units):
        assert plot_panel(panel).axes[0].get_xlabel() == "fast time $s = \\sqrt{K}\\,t$ (kg^(1/2))"
    assert units["stiffness"] == "kg/s^2"
    rod = derive(mechanisms.load("painleve_rod"))
    pins, parameters = STATES["INCONSISTENT"]
    ladder = build_comparison(rod, solve_state(rod, pins, parameters=parameters), parameters=parameters).comparison
    assert plot_convergence(ladder).axes[0].get_xlabel() == "stiffness $K$"
    assert plot_convergence(ladder, unit="kg/s^2").axes[0].get_xlabel() == "stiffness $K$ (kg/s^2)"
    assert history_units(rod, "tip", has_mode=False)["impulse_N"] == "N s"


def test_tables_have_the_units_of_a_state_and_none_where_none_are_declared(reports):
    text = render_comparison_markdown(reports["IMPACT"])
    assert "| normal velocity (m/s) | slip (m/s) | normal impulse (N s) | friction impulse (N s) |" in text
    assert "| change of energy (J) |" in text
    bare = derive(mechanism_from_toml(
        'name = "bare"\ncoordinates = ["y"]\n[dynamics]\nkinetic = "y_dot**2/2"\npotential = "9.81*y"\n'
        '[[contact]]\nname = "floor"\ngap = "y"\n'
    ))  # fmt: skip
    text = render_comparison_markdown(build_comparison(bare, solve_state(bare, {"y_dot": -1}), stiffness=(1e6,)))
    assert "| normal velocity | slip | normal impulse | friction impulse |" in text
    assert "| change of energy |" in text
