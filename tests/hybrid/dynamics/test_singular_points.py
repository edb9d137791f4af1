"""Singular points of configuration spaces with known branches."""

import numpy as np
import pytest

from hybrid.dynamics import ConfigurationSpace, SingularityKind, classify_configuration
from tests.constrained import particle

KIND = SingularityKind


def classified(*equations, at=(0.0, 0.0), coordinates="xy"):
    space = ConfigurationSpace(particle(*equations, coordinates=coordinates))
    return classify_configuration(space, np.array(at))


# normal forms of plane curve singularities; the branches follow from factoring by hand
@pytest.mark.parametrize(
    ("equation", "kind", "order"),
    [
        ("(y - x)*(y + 2*x + x**2)", KIND.TRANSVERSAL, 1),
        ("y**2 - x**2 - x**3", KIND.TRANSVERSAL, 1),
        ("x*y", KIND.TRANSVERSAL, 1),
        ("(y - x**2)*(y + 3*x**2)", KIND.TANGENCY, 2),
        ("(y - x**2)*(y - 2*x**2 + x**3)", KIND.TANGENCY, 2),
        ("(y - x**2)*(y - x**2 - x**3)", KIND.TANGENCY, 3),
        ("y**2 - x**8", KIND.TANGENCY, 4),
        ("y**2 - x**3", KIND.CUSP, 1),
        ("y**2 - x**5", KIND.CUSP, 2),
        ("x**2 + 3*y**2", KIND.ISOLATED, 0),
        ("y**2 + x**4", KIND.ISOLATED, 0),
        ("x**3 - x*y**2", KIND.UNDECIDED, 0),  # three lines: no quadratic form
    ],
)
def test_kind_of_plane_singularities(equation, kind, order):
    point = classified(equation)
    assert point.kind is kind
    assert point.order == order
    assert (point.rank, point.regular_rank) == (0, 1)
    assert len(point.branches) == {KIND.TRANSVERSAL: 2, KIND.TANGENCY: 2, KIND.CUSP: 1}.get(kind, 0)
    assert bool(point.note) == (kind is KIND.UNDECIDED)


def test_tangents_and_curvatures_of_crossing_branches():
    # y = x has no curvature; y = -2 x - x^2 has y'' = -2 over dx, and s^2 = 5 x^2 to first order
    point = classified("(y - x)*(y + 2*x + x**2)")
    by_slope = {round(float(b.tangent[1] / b.tangent[0])): b for b in point.branches}
    assert set(by_slope) == {1, -2}
    np.testing.assert_allclose(by_slope[1].tangent, np.array([1, 1]) / np.sqrt(2), atol=1e-12)
    np.testing.assert_allclose(by_slope[1].curvature, 0, atol=1e-8)
    # held at its length along the tangent, the branch bends only across it: -2/5 across, times cos of the slope
    across = np.array([2, 1]) / np.sqrt(5)
    bend = by_slope[-2].curvature
    assert bend @ by_slope[-2].tangent == pytest.approx(0, abs=1e-8)
    assert bend @ across == pytest.approx(-2 / 5 / np.sqrt(5), rel=1e-4)
    posture = by_slope[-2].at(point.q, 1e-3)
    assert posture[1] == pytest.approx(-2 * posture[0] - posture[0] ** 2, abs=1e-9)


def test_curvatures_tell_touching_branches_apart():
    point = classified("(y - x**2)*(y + 3*x**2)")
    assert [branch.tangent.tolist() for branch in point.branches] == [[1, 0], [1, 0]]
    assert sorted(branch.curvature[1] for branch in point.branches) == pytest.approx([-6, 2], rel=1e-6)
    assert "contact of order 2, curvatures" in point.describe()


def test_degenerate_point_is_placed_from_a_posture_nearby():
    for moved in (3e-4, -3e-4):
        space = ConfigurationSpace(particle("(y - (x - 1)**2)*(y + (x - 1)**2)"))
        point = classify_configuration(space, np.array([1 + moved, 0.0]), lost=1e-2)
        np.testing.assert_allclose(point.q, [1, 0], atol=1e-7)
        assert point.kind is KIND.TANGENCY


def test_other_constraints_are_eliminated_before_the_form_is_read():
    # on the sphere of radius 1 about (0, 0, 1), cut by the plane z = x^2 - y^2 bends the same way: to second order
    # z = (x^2 + y^2)/2 on the sphere, so that x^2 - 3 y^2 = 0 on the intersection
    point = classified("x**2 + y**2 + (z - 1)**2 - 1", "z - x**2 + y**2", at=(0.0, 0.0, 0.0), coordinates="xyz")
    assert point.kind is KIND.TRANSVERSAL
    assert (point.rank, point.regular_rank) == (1, 2)
    slopes = sorted(branch.tangent[1] / branch.tangent[0] for branch in point.branches)
    np.testing.assert_allclose(slopes, np.array([-1, 1]) / np.sqrt(3), rtol=1e-10)
    np.testing.assert_allclose([branch.tangent[2] for branch in point.branches], 0, atol=1e-12)


def test_more_than_two_directions_make_a_cone_and_a_plane_of_tangents_stays_undecided():
    cone = classified("x**2 + y**2 - z**2", at=(0.0, 0.0, 0.0), coordinates="xyz")
    assert cone.kind is KIND.CONE
    assert cone.branches == ()
    point = classified("x**2 + y**2 + z**2", at=(0.0, 0.0, 0.0), coordinates="xyz")
    assert point.kind is KIND.ISOLATED
    both = classified("x*y", "x*z", at=(0.0, 0.0, 0.0), coordinates="xyz")
    assert both.kind is KIND.UNDECIDED
    assert "do not tell a finite set of branches" in both.note  # x = 0 and y = z = 0


def test_redundant_constraints_are_no_singular_configuration():
    # the second constraint repeats the first: the rank is 1 everywhere
    space = ConfigurationSpace(particle("x**2 + y**2 - 1", "3*(x**2 + y**2 - 1)"))
    assert classify_configuration(space, np.array([0.6, 0.8])) is None
    assert space.regularity(np.array([0.6, 0.8])).regular_rank == 1
    crossing = ConfigurationSpace(particle("x*y", "2*x*y"))
    assert classify_configuration(crossing, np.zeros(2)).kind is KIND.TRANSVERSAL


def test_regular_postures_are_none():
    assert classified("x*y", at=(0.3, 0.0)) is None


def test_distances_are_those_to_the_curve():
    space = ConfigurationSpace(particle("x**2 + y**2 - 1"))
    q = np.array([[0.5, 0.0], [0.0, 1.2], [3.0, 4.0]])
    # Gauss and Newton's method keeps to the radius of a circle
    np.testing.assert_allclose(space.distances(q), [0.5, 0.2, 4.0], rtol=1e-12)


def test_branches_where_two_constraints_are_lost_at_once():
    # x y = 0 and (x - z)(y - z) = 0 are four lines through the origin
    space = ConfigurationSpace(particle("x*y", "(x - z)*(y - z)", coordinates="xyz"))
    point = classify_configuration(space, np.zeros(3))
    assert (point.rank, point.regular_rank, point.kind) == (0, 2, SingularityKind.TRANSVERSAL)
    found = sorted(tuple(np.round(branch.tangent / np.abs(branch.tangent).max(), 9)) for branch in point.branches)
    assert found == [(0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1)]
    np.testing.assert_allclose([branch.curvature for branch in point.branches], 0, atol=1e-6)
    # a cone and a hyperboloid's cone inside it meet in the origin alone
    alone = ConfigurationSpace(particle("x**2 + y**2 - z**2", "x**2 + y**2 - 2*z**2 + x**3", coordinates="xyz"))
    assert classify_configuration(alone, np.zeros(3)).kind is SingularityKind.ISOLATED
