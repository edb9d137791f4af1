"""Boundaries of regions against the curves of the rod by hand."""

from itertools import combinations, pairwise
from math import pi, sqrt

import numpy as np
import pytest

from hybrid.analysis import Axis, region_map
from hybrid.analysis.maps.boundaries import _nearest_pairs, chains, common_points
from tests.catalogue import dynamics_of
from tests.incline import slide, stick_forces

A_ROOTS = (1.8666563496203272, 2.257730027216795)  # of 1 + 3 c^2 + 3 mu s c at mu = 1.5, tan = (4.5 -+ sqrt(4.25))/-2


def boundaries(slip, n=50, low=0.0, high=pi, **parameters):
    found = region_map(
        dynamics_of("rod_on_incline"),
        axes=[Axis("phi", low, high, n), Axis("phi_dot", -3, 3, n)],
        pins={"slip.tip": slip},
        parameters=parameters,
        with_boundaries=True,
    )
    return found, {
        pair: [curve.points for curve in found.boundaries if curve.between == pair]
        for pair in sorted({curve.between for curve in found.boundaries})
    }


def lift_off(points):
    """Free acceleration of the tip, zero on the curve."""
    return points[:, 1] ** 2 * np.sin(points[:, 0]) - 1


def test_roots_by_hand():
    assert np.tan(A_ROOTS) == pytest.approx([-(4.5 + s * sqrt(4.25)) / 2 for s in (1, -1)], rel=1e-12)


@pytest.mark.parametrize("n", [31, 50])
def test_curves_of_the_slipping_rod(n):
    found, curves = boundaries("+0", n=n, mu=1.5)
    assert {pair: len(pieces) for pair, pieces in curves.items()} == {
        ("free", "free|slide+"): 4,
        ("free", "slide+"): 4,
        ("free|slide+", "none"): 2,
        ("none", "slide+"): 2,
    }
    for pair in (("free", "slide+"), ("free|slide+", "none")):
        for points in curves[pair]:
            # to 1e-10 of the axes: 6e-10 in phi_dot, and the curve's slope is below 10^2 there
            assert np.max(np.abs(lift_off(points)) / (1 + points[:, 1] ** 2)) < 2e-9
    for pair in (("free", "free|slide+"), ("none", "slide+")):
        places = sorted(float(np.mean(points[:, 0])) for points in curves[pair])
        assert places == pytest.approx(sorted(A_ROOTS * (len(places) // 2)), abs=1e-9)
        for points in curves[pair]:
            assert np.ptp(points[:, 0]) < 2e-9
            assert np.all(np.diff(points[:, 1]) != 0)
    # the four regions meet where A = b = 0 (Genot and Brogliato 1999), and every curve ends there or on the rim
    meetings = {(round(phi, 8), round(s / sqrt(np.sin(phi)), 8)) for phi in A_ROOTS for s in (-1, 1)}
    ends = {tuple(points[k].round(8)) for pieces in curves.values() for points in pieces for k in (0, -1)}
    on_rim = {end for end in ends if min(end[0], pi - end[0]) < 1e-7 or 3 - abs(end[1]) < 1e-7}
    assert ends - on_rim == meetings
    assert len(on_rim) == 8
    assert not any(curve.is_closed for curve in found.boundaries)


def test_curves_of_the_resting_rod():
    # mu = 0.5 < 3/4: the domain of pendulum motion has two holes, closed curves about phi_dot = 0
    mu, epsilon = 0.5, 0.0
    found, curves = boundaries(0, n=60, mu=mu, epsilon=epsilon)
    for pair, pieces in curves.items():
        for points in pieces:
            phi, w = points[:, 0], points[:, 1] ** 2
            N, T = (line[0] + line[1] * w for line in stick_forces(phi, epsilon))
            if "stick" in pair:
                assert np.max(np.abs(np.abs(T) - mu * N)) < 1e-8
            elif "free" in pair:
                assert np.max(np.abs(lift_off(points)) / (1 + w)) < 2e-9
            else:  # slide+ and slide- meet where the tip has no tangential acceleration
                _, _, tangential = slide(phi, epsilon, mu, 1)
                assert np.max(np.abs(N)) < 1e-8 or np.max(np.abs(tangential[0] + tangential[1] * w)) < 1e-8
    assert {pair: sum(len(points) for points in pieces) > 20 for pair, pieces in curves.items()} == {
        ("free", "slide+"): True,
        ("free", "slide-"): True,
        ("slide+", "stick"): True,
        ("slide-", "stick"): True,
    }
    closed = [curve for curve in found.boundaries if curve.is_closed]
    assert {curve.between for curve in closed} == {("slide+", "stick"), ("slide-", "stick")}
    for curve in closed:
        assert curve.points[:, 1].max() == pytest.approx(-curve.points[:, 1].min(), abs=1e-2)
        # around the hole once, in order: the area by the shoelace formula is that of a hole, not of a tangle
        x, y = curve.points.T
        area = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2
        assert 0.7 < area / (np.ptp(x) * np.ptp(y)) < 0.9  # an ellipse has pi/4


def test_the_finer_map_has_the_same_curves():
    _, coarse = boundaries(0, n=40, mu=1.5, epsilon=1)
    _, fine = boundaries(0, n=120, mu=1.5, epsilon=1)
    assert {pair: len(pieces) for pair, pieces in coarse.items()} == {
        pair: len(pieces) for pair, pieces in fine.items()
    }
    ends = [
        sorted(tuple(points[k].round(7)) for pieces in curves.values() for points in pieces for k in (0, -1))
        for curves in (coarse, fine)
    ]
    assert np.array(ends[0]) == pytest.approx(np.array(ends[1]), abs=2e-7)


def test_a_region_narrower_than_a_cell_is_crossed_between_its_neighbours():
    # Ten cells: the paradoxical postures are little wider than one of them.
    _, curves = boundaries("+0", n=10, mu=1.5)
    assert ("free|slide+", "none") in curves
    for points in curves["free|slide+", "none"]:
        inner = points[(points[:, 0] > A_ROOTS[0]) & (points[:, 0] < A_ROOTS[1])]
        assert np.max(np.abs(lift_off(inner))) < 5e-9


def test_a_parameter_axis_has_a_boundary_at_the_critical_friction():
    # over theta and mu at rest of the rod in the rod's plane: mu_c = (1 + 3 c^2) / (3 s c)
    found = region_map(
        dynamics_of("painleve_rod"),
        axes=[Axis("theta", 0.3, 1.5, 40), Axis("mu", 0.5, 3, 40)],
        pins={"theta_dot": 0, "slip.tip": "+0"},
        with_boundaries=True,
    )
    (curve,) = found.boundaries
    assert curve.between == ("none", "slide+")
    s, c = np.sin(curve.points[:, 0]), np.cos(curve.points[:, 0])
    assert curve.points[:, 1] == pytest.approx((1 + 3 * c * c) / (3 * s * c), abs=2e-9)
    assert curve.points[:, 1].min() == pytest.approx(4 / 3, abs=1e-3)


def test_map_of_one_region_has_no_boundary():
    found, curves = boundaries("+0", n=8, low=0.0, high=0.1, mu=0.1)
    assert (found.regions, curves) == (("slide+",), {})


def test_chains_are_joined_in_order_whatever_the_order_of_their_links():
    ring = np.array([[3, 4], [0, 1], [2, 3], [4, 0], [1, 2]])
    (loop,) = chains(5, ring)
    assert loop[0] == loop[-1]
    steps = {frozenset(pair) for pair in pairwise(loop)}
    assert steps == {frozenset(pair) for pair in ring.tolist()}
    # two curves that end in the same point, and one that runs from that point to itself
    pairs = np.array([[0, 9], [0, 1], [2, 9], [3, 9], [3, 9]])
    assert sorted(chains(4, pairs)) == [[9, 0, 1], [9, 2], [9, 3, 9]]


@pytest.mark.parametrize(("high", "n"), [(1.0, 1), (1.0, 12), (0.1, 12)])
def test_an_axis_of_slip_that_begins_at_zero_has_no_curves_at_its_rim(high, n):
    """Past lift-off and A = 0 the rod slips or nothing holds; rest is the rim alone, which is not looked at."""
    found = region_map(
        dynamics_of("rod_on_incline"),
        axes=[Axis("slip.tip", 0.0, high, n), Axis("phi_dot", -3, 3, 20)],
        pins={"phi": 2.0},
        parameters={"mu": 1.5},
        with_boundaries=True,
    )
    # sin(2) phi_dot^2 = 1 is lift-off: two straight curves across the map, between A < 0 < b and A, b < 0
    assert [curve.between for curve in found.boundaries] == [("free|slide+", "none")] * 2
    for curve in found.boundaries:
        assert np.abs(np.sin(2.0) * curve.points[:, 1] ** 2 - 1).max() < 4e-9
        assert sorted(curve.points[[0, -1], 0]) == pytest.approx([0.0, high], abs=2e-9 * high)


def test_points_where_curves_meet_on_the_rim_are_not_looked_for_beyond_it():
    # friction below zero, which the axis does not reach, has no meaning
    found = region_map(
        dynamics_of("rod_on_incline"),
        axes=[Axis("phi", 0, pi, 24), Axis("mu", 0, 3, 24)],
        pins={"phi_dot": 0, "slip.tip": 0},
        parameters={"epsilon": 0.3},
        with_boundaries=True,
    )
    points = np.concatenate([curve.points for curve in found.boundaries])
    assert np.all((points >= [0, 0]) & (points <= [pi, 3]))
    assert points[:, 1].min() < 0.01  # curves do end at that rim


def test_nearest_crossings_are_paired_one_after_the_other():
    # half of the points lie on a lattice, where many are equally far apart: the first pair in order is taken
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.integers(0, 4, (40, 2)).astype(float), rng.random((40, 2))])
    for size in (1, 2, 7, 40, 64, 65):
        group = rng.permutation(80)[:size].tolist()
        left, wanted = list(group), []
        while 1 < len(left) <= 64:
            apart = {pair: float(np.sum((points[pair[0]] - points[pair[1]]) ** 2)) for pair in combinations(left, 2)}
            wanted.append(min(apart, key=apart.__getitem__))
            left = [item for item in left if item not in wanted[-1]]
        assert _nearest_pairs(group, points) == wanted
        assert group == left


def test_no_meeting_point_is_looked_for_where_rounding_decides():
    asked = []

    def by_rounding(x, y):  # the last bits of the coordinates decide between three regions
        asked.append(np.broadcast(x, y).size)
        return np.asarray(x + 3 * y).view(np.uint64) % np.uint64(3)

    square, rim = np.array([[0.25, 0.5]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    point = common_points(by_rounding, square, np.array([[0.125, 0.125]]), rim=rim)
    assert ((square <= point) & (point <= square + 0.125)).all()
    # one lattice of 17 x 17 nodes was asked for, none within one of its parts
    assert asked.count(17**2) == 1
