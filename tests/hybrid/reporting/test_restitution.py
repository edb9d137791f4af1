"""The plot of restitution over posture and incidence."""

import numpy as np
import pytest

from hybrid.analysis import Axis
from hybrid.analysis.comparison.restitution import RestitutionMap, restitution_map
from hybrid.analysis.maps.axes import quantities_with_units
from hybrid.reporting.restitution import plot_restitution, restitution_record
from tests.catalogue import dynamics_of


@pytest.mark.parametrize(("cells", "angles"), [(1, 1), (1, 40), (3, 1), (2, 3)])
def test_cells_of_a_sweep_fill_the_frame(cells, angles):
    rod = dynamics_of("rod_on_incline")
    # so rough that restitution passes 1, where the plot has a line
    found = restitution_map(
        rod, over=Axis("mu", 1.4, 1.5, cells), incidence=Axis("incidence", -1.4, 1.0, angles), pins={"phi": 1}
    )
    figure = plot_restitution(found)
    figure.draw_without_rendering()
    for axes, values in zip(figure.axes[:2], (found.restitution, found.absorbed), strict=True):
        assert axes.get_xlim() == pytest.approx((np.degrees(-1.4), np.degrees(1.0)))
        assert axes.get_ylim() == pytest.approx((1.4, 1.5))
        mesh = axes.collections[0]
        np.testing.assert_array_equal(np.ravel(mesh.get_array()), values.ravel())
        corners = mesh.get_coordinates()
        np.testing.assert_allclose(corners[0, 0], [np.degrees(-1.4), 1.4], rtol=1e-12)
        np.testing.assert_allclose(corners[-1, -1], [np.degrees(1.0), 1.5], rtol=1e-12)


def test_the_line_is_around_what_exceeds_one_by_more_than_rounding():
    values = np.full((8, 8), 0.5)
    values[:4] = 1.0 + np.spacing(1.0) * (np.indices((4, 8)).sum(axis=0) % 3 - 1)
    axes = Axis("mu", 0, 1, 8), Axis("incidence", -1, 1, 8)

    def lines():
        plotted = plot_restitution(RestitutionMap(axes, values, values, values)).axes[0]
        return [path for item in plotted.collections[1:] for path in item.get_paths()]

    assert not lines()
    values[6:, 6:] = 1.5
    (line,) = lines()
    assert line.vertices[:, 1].min() >= axes[0].values[5]


def test_posture_of_the_plot_has_its_unit():
    rod = dynamics_of("rod_on_incline")
    axis = Axis("phi", 0.1, 1.5, 3)
    found = restitution_map(rod, over=axis, incidence=Axis("incidence", -1, 1, 3))
    assert plot_restitution(found, units=quantities_with_units(rod)).axes[0].get_ylabel() == "$\\varphi$  (rad)"


def test_a_sweep_without_a_value_in_any_cell_names_no_extremes():
    axes = Axis("mu", 0, 3, 3), Axis("incidence", -1, 1, 2)
    nothing = np.full((3, 2), np.nan)
    empty = RestitutionMap(axes, nothing, nothing, nothing)
    none = {"value": None, "at": {"mu": None, "incidence": None}}
    record = restitution_record(empty)
    assert record["restitution"] == record["absorbed"] == {"least": none, "greatest": none}
    plot_restitution(empty).draw_without_rendering()
    # of some cells, those that have one count
    some = nothing.copy()
    some[1, 0], some[2, 1] = 0.25, 0.75
    found = restitution_record(RestitutionMap(axes, some, some, some))["restitution"]
    assert found["least"] == {"value": 0.25, "at": {"mu": 1.5, "incidence": -0.5}}
    assert found["greatest"] == {"value": 0.75, "at": {"mu": 2.5, "incidence": 0.5}}
