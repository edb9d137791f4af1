"""Singular points of configuration spaces with known branches."""

import numpy as np
import pytest

from hybrid import (
    Constraint,
    EnergyDynamics,
    Mechanism,
    State,
    derive,
    select,
    simulate,
    singular_configurations,
    solve_state,
)
from hybrid.analysis.configuration.realisation import half_branches
from hybrid.dynamics import ConfigurationSpace, SingularityKind, classify_configuration
from hybrid.errors import HybridError
from hybrid.motion import singular_points_of
from tests.catalogue import dynamics_of
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


def test_more_than_two_directions_make_a_cone():
    cone = classified("x**2 + y**2 - z**2", at=(0.0, 0.0, 0.0), coordinates="xyz")
    assert cone.kind is KIND.CONE
    assert cone.branches == ()
    point = classified("x**2 + y**2 + z**2", at=(0.0, 0.0, 0.0), coordinates="xyz")
    assert point.kind is KIND.ISOLATED


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


@pytest.mark.parametrize(
    "constraints",
    [
        ("x*y", "(x - z)*(y - z)"),  # four lines
        ("x*y", "x*z"),  # x = 0 and y = z = 0
        ("x**2 + y**2 - z**2", "x**3 - y*z**2"),  # on z = 1, x^3 = y on a circle; to second order only the first counts
        ("x*y", "x*(y - x)"),  # x = 0: nearby one is independent, but no form alone tells the branches
    ],
)
def test_where_two_constraints_are_lost_at_once_the_kind_is_undecided(constraints):
    point = classified(*constraints, at=(0.0, 0.0, 0.0), coordinates="xyz")
    assert (point.rank, point.kind, point.branches) == (0, KIND.UNDECIDED, ())
    assert point.describe().endswith("2 constraints are lost at once")


def test_a_definite_form_of_one_of_two_lost_constraints_leaves_no_direction():
    point = classified("x**2 + y**2 + z**2", "x**3 - y*z**2", at=(0.0, 0.0, 0.0), coordinates="xyz")
    assert (point.rank, point.regular_rank, point.kind) == (0, 2, KIND.ISOLATED)


def slopes(point, over=0, of=1):
    return sorted(float(branch.tangent[of] / branch.tangent[over]) for branch in point.branches)


# the square of the slope is good to rounding, or to the fit of the growth where it is below 1e-7
@pytest.mark.parametrize("square", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10])
def test_branches_that_cross_at_a_small_angle_are_told_from_branches_that_touch(square):
    point = classified(f"y**2 - {square}*x**2")
    assert (point.kind, point.order) == (KIND.TRANSVERSAL, 1)
    assert slopes(point) == pytest.approx([-np.sqrt(square), np.sqrt(square)], rel=1e-6)
    # y^2 = x^2 (a - x) is x = a - t^2, y = t x: it passes the origin with the slopes t = +-sqrt(a)
    if square >= 1e-6:  # below, the eigenvalue is at the rounding of the form
        loop = classified(f"y**2 - {square}*x**2 + x**3")
        assert (loop.kind, loop.order) == (KIND.TRANSVERSAL, 1)
        assert slopes(loop) == pytest.approx([-np.sqrt(square), np.sqrt(square)], rel=1e-6)


@pytest.mark.parametrize("excess", [1e-1, 1e-4, 1e-6])
def test_pendulum_beside_its_tangency_has_the_slopes_of_the_osculating_circle(excess):
    # on a circle of radius rho = b^2/4, r = 1 + (1 - 1/rho) u^2/2 + ..., and the rod's length asks for r - 1 = theta^2
    b = 2 + excess
    point = classify_configuration(ConfigurationSpace(dynamics_of("singular_pendulum").at({"b": b})), np.zeros(2))
    slope = np.sqrt((1 - 4 / b**2) / 2)
    assert point.kind is KIND.TRANSVERSAL
    assert slopes(point) == pytest.approx([-slope, slope], rel=1e-4)


def crank_in_metres(radius):
    """x (x - 2 r cos(theta)) = 0 for a mass of 1 kg and a wheel of its own radius of gyration r."""
    return derive(
        Mechanism(
            name="crank",
            coordinates=["x", "theta"],
            parameters={"r": radius, "m": 1},
            dynamics=EnergyDynamics(kinetic="m*x_dot**2/2 + m*r**2*theta_dot**2/2"),
            constraint=[Constraint(name="c", equation="x**2 - 2*x*r*cos(theta)")],
        )
    )


@pytest.mark.parametrize("radius", [5e-4, 5e-3, 2e-2, 50.0])
def test_units_of_the_coordinates_do_not_decide_the_kind(radius):
    crank = crank_in_metres(radius)
    at = np.array([0, np.pi / 2])
    box = {"x": (-radius, radius), "theta": (1, 2)}
    (searched,) = singular_configurations(crank, box=box, starts=20)
    (met,) = singular_points_of(simulate(crank, State([0, 1.0], [0, 1.0]), t_end=2))
    for point in (classify_configuration(ConfigurationSpace(crank), at), searched, met):
        np.testing.assert_allclose(point.q, at, atol=1e-9)
        assert (point.kind, point.order) == (KIND.TRANSVERSAL, 1)
        # x = 0 and x = 2 r cos(theta)
        assert slopes(point, over=1, of=0) == pytest.approx([-2 * radius, 0], abs=1e-9 * radius)
    ends = half_branches(ConfigurationSpace(crank), searched, 1e-2)
    assert sorted(end.label for end in ends) == ["theta+", "theta-", "x+, theta-", "x-, theta+"]


def test_crossing_at_a_small_angle_is_placed_from_a_posture_nearby():
    space = ConfigurationSpace(particle("(y - (x - 1)/100)*(y + (x - 1)/100 + (x - 1)**2/10)"))
    point = classify_configuration(space, np.array([1 + 1e-4, 1e-6]), lost=1e-1)
    np.testing.assert_allclose(point.q, [1, 0], atol=1e-12)
    assert slopes(point) == pytest.approx([-0.01, 0.01], rel=1e-9)


@pytest.mark.parametrize(
    "equation",
    [
        "x*y",  # two planes
        "(x - z**2)*(y - x**2 + sin(z))",
        "(y - x**2)*(y + 3*x**2)",  # touching surfaces
        "y**2 - x**3",
        "x**2 + y**2",  # a line, singular everywhere
        "(x - z**2)**2 + y**2",
        "y**2 - z*x**2",  # singular along z, pinched at the origin
        "y**2 + z**2 - x**4",
    ],
)
def test_a_form_that_is_degenerate_in_three_directions_leaves_the_kind_undecided(equation):
    point = classified(equation, at=(0.0, 0.0, 0.0), coordinates="xyz")
    assert (point.kind, point.branches) == (KIND.UNDECIDED, ())
    assert point.describe().endswith("its quadratic form in 3 directions is degenerate")


@pytest.mark.parametrize("angle", [-1.2, 0.3, 1.1])
@pytest.mark.parametrize(
    "equation", ["(x**2 + y**2 - 1)**2*(3 + x)", "x**4 + 2*x**2*y**2 + y**4 - 2*x**2 - 2*y**2 + 1"]
)
def test_no_posture_of_a_curve_that_is_singular_throughout_is_isolated(equation, angle):
    point = classified(equation, at=(np.cos(angle), np.sin(angle)))
    assert point.kind is KIND.UNDECIDED
    assert "could not be told apart" in point.note


@pytest.mark.parametrize("scale", [1e-3, 1.0])
@pytest.mark.parametrize("turn", [0.4, 1.3, 2.5])
def test_kind_does_not_depend_on_the_coordinates(scale, turn):
    # u and v in turned coordinates; a cusp and a tangency keep their kind at a posture that is known to 1e-9 only
    u, v = f"({np.cos(turn)}*x + {np.sin(turn)}*y)", f"({np.cos(turn)}*y - {np.sin(turn)}*x)"
    at = scale * 1e-9 * np.array([1.0, -2.0])
    forms = {
        f"({v} - {u}**2)*({v} + {u}**2/2 + sin({u})**3)": KIND.TANGENCY,
        f"{v}**2 - {u}**3 + {v}**3": KIND.CUSP,
        f"{v}**2 + {u}**2/1000 + {v}**3": KIND.ISOLATED,
        f"({v} - {u}/300 + {u}**2)*({v} + {u}/300)": KIND.TRANSVERSAL,
    }
    for text, kind in forms.items():
        equation = text.replace("x", f"(x/{scale})").replace("y", f"(y/{scale})")
        space = ConfigurationSpace(particle(equation), reach=0.05 * scale)
        point = classify_configuration(space, at, lost=1e-3)
        assert point.kind is kind
        for branch in point.branches:
            rise = np.array([-np.sin(turn), np.cos(turn)]) @ branch.tangent
            assert abs(rise) == pytest.approx(1 / np.hypot(1, 300) if kind is KIND.TRANSVERSAL else 0, abs=1e-6)


def test_motion_on_planes_that_cross_stops_where_they_do():
    planes = particle("x*y", coordinates="xyz")
    motion = simulate(planes, State([1.0, 0, 0], [-1.0, 0, 0.5]), t_end=3)
    (point,) = singular_points_of(motion)
    np.testing.assert_allclose(point.q, [0, 0, 0.5], atol=1e-9)
    assert "of undecided kind" in motion.cause


@pytest.mark.parametrize("u", [1e-7, 1e-6, 1e-5, 2e-5])
def test_no_acceleration_is_claimed_where_the_rounding_of_the_posture_decides_it(u):
    pendulum = dynamics_of("singular_pendulum")
    # An error of 1e-15 in the constraint moves the posture by 1e-15/u, its gradient by as much, and the acceleration
    # u_dot^2/u by 1e-15/u^3: by 1e3 at 1e-6, where it is -4.7e-6.
    with pytest.raises(HybridError, match=r"BC.*transversal crossing of the configuration space at u = 0, theta = 0"):
        select(pendulum, solve_state(pendulum, {"u": u, "u_dot": 1}))


def test_beside_a_crossing_the_acceleration_grows_in_proportion_to_the_distance():
    pendulum = dynamics_of("singular_pendulum")
    slopes = []
    for u in (1e-3, 1e-2):
        (branch,) = select(pendulum, solve_state(pendulum, {"u": u, "u_dot": 1})).branches
        slopes.append(branch.acceleration[0] / u)
    # The branch is smooth and symmetric, so that the acceleration is odd in u: the slopes differ by u^2, and by the
    # rounding above, 1e-15/u^4 = 1e-3.
    assert slopes[0] == pytest.approx(slopes[1], abs=2e-3)
