"""Friction cones: the force of every consistent mode in the cone that Coulomb's law allows it."""

import numpy as np
import pytest

from hybrid import derive, select, solve_state
from hybrid.cli import main
from hybrid.declaration import mechanism_from_toml
from hybrid.reporting import friction_cones, plot_cones
from tests.catalogue import dynamics_of


def cones(name, pins, parameters=None):
    dynamics = dynamics_of(name)
    return friction_cones(select(dynamics, solve_state(dynamics, pins, parameters=parameters), parameters=parameters))


def arrows(axes):
    from matplotlib.patches import FancyArrowPatch

    return [patch._posA_posB[1] for patch in axes.patches if isinstance(patch, FancyArrowPatch)]


def heavy_edge(axes):
    (edge,) = [line for line in axes.get_lines() if line.get_label() == "_edge"]
    return edge.get_xydata()[1]


@pytest.mark.parametrize("slip", [1, -1])
def test_a_sliding_force_ends_on_the_heavy_edge_against_the_slip(slip):
    (cone,) = cones("rod_on_incline", {"phi": 1.2, "phi_dot": 0, "slip.tip": slip})
    axes = plot_cones((cone,)).axes[0]
    ((T, N),) = arrows(axes)
    assert pytest.approx(-slip * 0.5 * N, rel=1e-12) == T
    # the tip stays on the plane: 0 = (G_NN - slip*mu*G_NT) N - g
    # with G_NN = 1 + 3 cos^2, G_NT = -3 sin cos and m = l = g = 1
    sin, cos = np.sin(1.2), np.cos(1.2)
    assert pytest.approx(1 / (1 + 3 * cos**2 + slip * 0.5 * 3 * sin * cos), rel=1e-9) == N
    edge = heavy_edge(axes)
    assert edge[0] / edge[1] == pytest.approx(-slip * 0.5)


def test_a_resting_block_has_both_cones_and_both_forces():
    # on a slope of 30 degrees: kinetic 0.5, static 0.6; tan 30 = 0.577 lies between them, so that it sticks or slides
    (cone,) = cones("block_on_incline", {"x": 0, "x_dot": 0})
    assert (cone.friction, cone.static_friction, cone.direction) == (0.5, 0.6, None)
    (stick, slide) = cone.forces.values()
    assert abs(stick[0] / stick[1]) == pytest.approx(np.tan(np.pi / 6), rel=1e-9)
    assert abs(slide[0] / slide[1]) == pytest.approx(0.5, rel=1e-9)
    axes = plot_cones((cone,)).axes[0]
    dashed = [line.get_xydata()[1] for line in axes.get_lines() if line.get_label() == "_static"]
    assert sorted(x / y for x, y in dashed) == pytest.approx([-0.6, 0.6])
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["1: stick", "2: slide+"]
    lines = axes.get_legend().get_lines()
    assert len({line.get_color() for line in lines}) == len({line.get_linestyle() for line in lines}) == 2


def test_without_a_consistent_mode_the_cone_is_empty_and_says_so():
    (cone,) = cones("rod_on_incline", {"phi": 2, "phi_dot": 0, "slip.tip": 1}, {"mu": 1.5})
    axes = plot_cones((cone,)).axes[0]
    assert arrows(axes) == []
    assert "no mode is consistent" in axes.texts[0].get_text()


def test_a_rail_that_holds_both_ways_has_two_cones():
    (cone,) = cones("painleve_klein", {"x1": 0, "x1_dot": 1})
    polygons = [patch for patch in plot_cones((cone,)).axes[0].patches if patch.get_label() == "_cone"]
    assert sorted(np.sign(patch.get_xy()[1:3, 1].mean()) for patch in polygons) == [-1, 1]


def test_a_spatial_force_is_drawn_by_its_magnitude_on_the_cone():
    pins = {
        "x": 0,
        "y": 0,
        "psi": 0.3,
        "theta": 0.7,
        "psi_dot": 0.2,
        "theta_dot": 0.1,
        "slip.tip.1": 1,
        "slip.tip.2": 0.2,
    }
    (cone,) = cones("oblique_rod", pins)
    ((T, N),) = arrows(plot_cones((cone,)).axes[0])
    assert pytest.approx(1.7 * N, rel=1e-9) == T  # it slips, with the friction that the catalogue declares


def test_half_the_opening_is_the_angle_of_friction():
    axes = plot_cones(cones("rod_on_incline", {"phi": 1.2, "phi_dot": 0, "slip.tip": 1})).axes[0]
    figure = axes.get_figure()
    figure.canvas.draw()
    tip, edge = axes.transData.transform([(0, 0), heavy_edge(axes)])
    assert abs(np.arctan2(edge[0] - tip[0], edge[1] - tip[1])) == pytest.approx(np.arctan(0.5), abs=1e-3)


def test_the_command_draws_them_or_says_that_there_are_none(tmp_path, capsys):
    file = tmp_path / "cone.svg"
    pins = ["--pin=phi=2", "--pin=phi_dot=1.5", "--pin=slip.tip=1", "--param=mu=1.5"]
    assert main(["verdict", "rod_on_incline", *pins, f"--plot={file}", "--plot-style=single"]) == 0
    assert file.read_text().startswith("<?xml")
    assert f"Drawn in {file}." in capsys.readouterr().out.replace("\n", "")
    assert main(["verdict", "bouncing_ball", f"--plot={tmp_path / 'ball.svg'}"]) == 2
    assert "has friction" in capsys.readouterr().err


TABLE = """
name = "table"
coordinates = ["x", "y", "phi"]
[dynamics]
kinetic = "10*(x_dot**2 + y_dot**2) + 1.5*phi_dot**2"
potential = "196.2*y - 50*x"
[[contact]]
name = "left"
gap = "y - 0.5*sin(phi) - 0.6*cos(phi)"
tangent = "x - 0.5*cos(phi) + 0.6*sin(phi)"
friction = "{left}"
[[contact]]
name = "right"
gap = "y + 0.5*sin(phi) - 0.6*cos(phi)"
tangent = "x + 0.5*cos(phi) + 0.6*sin(phi)"
friction = "0.5"
"""


@pytest.mark.parametrize(("left", "is_set"), [(0.5, True), (0.0, False)])
def test_where_legs_may_share_a_push_in_many_ways_the_panels_say_so(left, is_set):
    # two rough legs bear 50 N in any shares up to half their loads of 68.1 N and 128.1 N; one alone bears all of it
    table = derive(mechanism_from_toml(TABLE.format(left=left)))
    selection = select(table, solve_state(table, {"x": 0, "y": 0.6, "phi": 0, "x_dot": 0, "y_dot": 0, "phi_dot": 0}))
    found = friction_cones(selection)
    assert [(cone.contact, bool(cone.sets)) for cone in found] == (
        [("left", True), ("right", True)] if is_set else [("right", False)]
    )
    words = [text.get_text() for axes in plot_cones(found).axes for text in axes.texts]
    assert words.count("one force\nof a set") == (2 if is_set else 0)


def test_the_title_stands_close_above_panels_with_legends_beside_them():
    table = derive(mechanism_from_toml(TABLE.format(left=0.5)))
    selection = select(table, solve_state(table, {"x": 0, "y": 0.6, "phi": 0, "x_dot": 0, "y_dot": 0, "phi_dot": 0}))
    figure = plot_cones(friction_cones(selection), title="A table")
    figure.draw_without_rendering()
    title = figure._suptitle.get_window_extent().y0
    above = [(title - axes.get_window_extent().y1) / figure.dpi for axes in figure.axes]
    assert 0.0 < min(above) <= max(above) < 0.5  # inches: room for two lines of a longer title
