"""Pictures of configuration spaces."""

import numpy as np
import pytest

from hybrid import State, StateError, configuration_curves, realisation_study, singular_configurations
from hybrid.reporting import figure_svg, plot_configuration_space, plot_realisation
from tests.constrained import particle

BOX = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}


@pytest.fixture(scope="module")
def cross():
    return particle("x*y", potential="x/10")


def test_curves_points_and_tangents_are_drawn(cross):
    curves = configuration_curves(cross, box=BOX, starts=8)
    points = singular_configurations(cross, box=BOX, starts=4)
    figure = plot_configuration_space(curves, points=points, title="two lines")
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("$x$", "$y$", "two lines")
    lines = [line.get_xydata() for line in axes.lines]
    # two curves, two tangents, one mark
    assert len(lines) == 5
    np.testing.assert_allclose(lines[-1], [[0, 0]], atol=1e-9)
    for tangent in lines[2:4]:
        np.testing.assert_allclose(tangent.sum(axis=0), 0, atol=1e-12)
        assert np.prod(tangent[0]) == pytest.approx(0, abs=1e-12)
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert labels == ["configuration space", "transversal crossing"]
    assert figure_svg(figure) == figure_svg(figure)


def test_paths_of_a_study_are_drawn_over_the_space(cross):
    curves = configuration_curves(cross, box=BOX, starts=8)
    study = realisation_study(cross, State([0.5, 0], [-1, 0]), constraints="c0", stiffness=[1e2, 1e3], t_end=0.8)
    figure = plot_realisation(study, curves, plane=("y", "x"))
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert labels == [
        "configuration space", "spring, stiffness 100", "spring, stiffness 1000", "rigid, smooth continuation",
        "transversal crossing",
    ]  # fmt: skip
    rigid = figure.axes[0].lines[4].get_xydata()
    # turned: y to the right, x upwards
    np.testing.assert_allclose(rigid[[0, -1]], [[0, 0.5], [0, study.rigid.q[0]]], atol=1e-9)


def test_plane_of_no_coordinate_is_refused(cross):
    curves = configuration_curves(cross, box=BOX, starts=8)
    with pytest.raises(StateError, match="names 'z', which is no coordinate; the coordinates are x, y"):
        plot_configuration_space(curves, plane=("x", "z"))
