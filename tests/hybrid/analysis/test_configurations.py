"""Search for singular configurations, and configuration spaces as curves."""

import numpy as np
import pytest

from hybrid import StateError, configuration_curves, singular_configurations
from hybrid.dynamics import SingularityKind
from tests.catalogue import dynamics_of
from tests.constrained import particle

SQUARE = {"x": (-2.0, 2.0), "y": (-2.0, 2.0)}


def test_every_crossing_of_three_lines_is_found():
    # x (y - 1) (y + x - 1/2): the lines meet at (0, 1), (0, 1/2) and (-1/2, 1)
    points = singular_configurations(particle("x*(y - 1)*(y + x - 1/2)"), box=SQUARE, starts=20)
    found = np.array([point.q for point in points])
    np.testing.assert_allclose(found, [[-0.5, 1], [0, 0.5], [0, 1]], atol=1e-10)
    assert {point.kind for point in points} == {SingularityKind.TRANSVERSAL}


def test_points_outside_the_box_are_left_out():
    box = {"x": (-2.0, 2.0), "y": (-2.0, 0.8)}
    (point,) = singular_configurations(particle("x*(y - 1)*(y + x - 1/2)"), box=box, starts=20)
    np.testing.assert_allclose(point.q, [0, 0.5], atol=1e-10)


def test_touching_circles_are_found_with_their_place_and_curvatures():
    # both pass (1, 0): radii 1 and 2, so that x'' = -1 and +1/2 by the length along their common tangent
    touching = particle("(x**2 + y**2 - 1)*((x - 3)**2 + y**2 - 4)")
    (point,) = singular_configurations(touching, box=SQUARE, starts=20)
    np.testing.assert_allclose(point.q, [1, 0], atol=1e-7)
    assert point.kind is SingularityKind.TANGENCY
    np.testing.assert_allclose(sorted(branch.curvature[0] for branch in point.branches), [-1, 0.5], rtol=1e-3)


def test_isolated_point_beside_a_curve():
    # y^2 = x^2 (x - 1): the origin belongs to the space, alone
    (point,) = singular_configurations(particle("y**2 - x**2*(x - 1)"), box=SQUARE, starts=20)
    np.testing.assert_allclose(point.q, [0, 0], atol=1e-10)
    assert point.kind is SingularityKind.ISOLATED
    curves = configuration_curves(particle("y**2 - x**2*(x - 1)"), box=SQUARE, starts=12).curves
    assert len(curves) == 1
    assert curves[0][:, 0].min() == pytest.approx(1, abs=1e-3)


def test_change_points_of_a_parallelogram_are_where_its_bars_lie_in_one_line():
    box = {"theta1": (-1.0, 4.0), "theta2": (-1.0, 1.0), "theta3": (-1.0, 4.0)}
    points = singular_configurations(dynamics_of("four_bar"), box=box, starts=30)
    np.testing.assert_allclose([p.q for p in points], [[0, 0, 0], [np.pi, 0, np.pi]], atol=1e-9)


def test_linkage_that_misses_all_change_points_has_none():
    box = dict.fromkeys(("theta1", "theta2", "theta3"), (-3.2, 3.2))
    parameters = {"l1": 1, "l2": 3, "l3": 2.5, "d": 2}
    assert singular_configurations(dynamics_of("four_bar"), box=box, parameters=parameters, starts=8) == ()


def test_curves_of_crossing_lines_and_of_a_circle():
    lines = configuration_curves(particle("(y - x)*(y + x)"), box=SQUARE, starts=12)
    assert len(lines.curves) == 2
    for curve in lines.curves:
        side = np.sign(curve[0, 0] * curve[0, 1])
        np.testing.assert_allclose(curve[:, 1], side * curve[:, 0], atol=1e-9)
        assert np.ptp(curve[:, 0]) > 3.9
    (circle,) = configuration_curves(particle("x**2 + y**2 - 1"), box=SQUARE, starts=12).curves
    np.testing.assert_allclose(np.linalg.norm(circle, axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(circle[0], circle[-1], atol=1e-12)
    turned = np.unwrap(np.arctan2(circle[:, 1], circle[:, 0]))
    assert abs(turned[-1] - turned[0]) == pytest.approx(2 * np.pi, abs=1e-9)


def test_curves_through_a_tangency_keep_to_their_side():
    found = configuration_curves(particle("y**2 - x**4"), box={"x": (-1.0, 1.0), "y": (-1.0, 1.0)}, starts=12)
    assert sorted(np.sign(curve[:, 1].sum()) for curve in found.curves) == [-1, 1]
    for curve in found.curves:
        np.testing.assert_allclose(np.abs(curve[:, 1]), curve[:, 0] ** 2, atol=1e-9)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ({"x": (0, 1)}, "missing: y"),
        ({"x": (0, 1), "yy": (0, 1)}, "names 'yy'.*did you mean 'y'"),
        ({"x": (0, 1), "y": (1, 0)}, "lower end first"),
        ({"x": (0, 1), "y": (0, float("inf"))}, "finite"),
    ],
)
def test_bad_boxes_are_refused(box, message):
    for ask in (singular_configurations, configuration_curves):
        with pytest.raises(StateError, match=message):
            ask(particle("x*y"), box=box)


def test_mechanisms_without_curves_are_refused():
    with pytest.raises(StateError, match="has no rigid constraint"):
        singular_configurations(dynamics_of("bouncing_ball"), box={"y": (0, 1)})
    with pytest.raises(StateError, match="2 degrees of freedom"):
        configuration_curves(particle("z", coordinates="xyz"), box=dict.fromkeys("xyz", (-1, 1)))


def test_search_without_starts_is_refused():
    pendulum = dynamics_of("singular_pendulum")
    box = {"u": (-1, 1), "theta": (-1, 1)}
    for search in (singular_configurations, configuration_curves):
        with pytest.raises(StateError, match="at least 1, not 0"):
            search(pendulum, box=box, starts=0)
